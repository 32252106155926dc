"""Log-gamma function, its derivatives, incomplete gamma functions, Hurwitz zeta function.

Most are computed by SciPy if it is installed, or by CuPy on a GPU, else by the backend's formulas.
"""

from __future__ import annotations

import math
from typing import Any

from ...core.tensor import Tensor
from ...core.torch_function import attach
from ...dispatch.op import Array, Backend, Operand, Out, Overlap, composite, no_derivative, op
from ..checks import apply_special, as_arrays, as_int, check_supported
from ..shape.views import contiguous

BOTH = ("", "special")


@op(method=True, inplace=True, promote="float", aliases=("special.gammaln",))
def lgamma(xp: Backend, input: Array) -> Array:
    """Logarithm of ``|Γ(x)|``; inf at 0 and at negative integers.

    Args:
        input: Tensor of any shape; integers are converted to the default dtype.

    Example:
        >>> tt.lgamma(tt.tensor([1.0, 5.0]))
        tensor([0.0000, 3.1781])
    """
    check_supported(xp, "lgamma_vml_cpu", input, unsupported="c")
    # SciPy returns -inf at -inf, where PyTorch returns inf.
    found = xp.where(xp.isinf(input), math.inf, apply_special(xp, "gammaln", input))
    if input.dtype.itemsize < 8:
        return found
    # SciPy returns inf at subnormal numbers, where 1 / x overflows but its logarithm does not.
    size = xp.absolute(input)
    return xp.where(size < 1e-300, -xp.log(size), found)


lgamma.vjp(input=lambda xp, g, input: g * xp.call(digamma, input))


@op(
    inplace=True,
    promote="float",
    namespaces=BOTH,
    method=True,
    aliases=("special.psi",),
    like=lgamma,
)
def digamma(xp: Backend, input: Array) -> Array:
    """Derivative of ``lgamma``; ∓inf at ±0, NaN at negative integers.

    Example:
        >>> tt.digamma(tt.tensor([1.0, 0.0]))
        tensor([-0.5772,    -inf])
    """
    check_supported(xp, "digamma_cpu", input, unsupported="c")
    return xp.digamma(input)


digamma.vjp(input=lambda xp, g, input: g * xp.call(_polygamma, input, 1))


@op(elementwise=True)
def _polygamma(xp: Backend, input: Array, n: int) -> Array:
    """``(-1)^(n+1) n! ζ(n + 1, x)`` for ``n >= 1``."""
    check_supported(xp, "polygamma" if n > 1 else "trigamma", input, unsupported="c")
    if n == 1:
        return xp.trigamma(input)
    sign = 1.0 if n % 2 else -1.0
    order = xp.asarray(n + 1, input.dtype)
    return apply_special(xp, "zeta", order, input) * (sign * math.gamma(n + 1))


_polygamma.vjp(input=lambda xp, g, input, n: g * xp.call(_polygamma, input, n + 1))


@composite(namespaces=BOTH, out=Out.CAST, inplace=False, overlap=Overlap.CHECKED)
def polygamma(n: int, input: Tensor) -> Tensor:
    """``n``-th derivative of ``digamma``.

    Args:
        n: The order of the derivative, not negative; 0 is ``digamma`` itself.
        input: Tensor of any shape; integers are converted to the default dtype.

    Raises:
        RuntimeError: If ``n`` is negative.

    Example:
        >>> tt.polygamma(1, tt.tensor([1.0]))
        tensor([1.6449])

    Reference:
        https://dlmf.nist.gov/5.15
    """
    n = as_int("polygamma", "n", n)
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    if n == 0:
        return digamma(input)
    return _polygamma(input if input.is_floating_point() else input + 0.0, n)


def _polygamma_method(self: Tensor, n: int) -> Tensor:
    """``n``-th derivative of ``digamma`` at ``self``; see ``tinytorch.polygamma``.

    Example:
        >>> tt.tensor([1.0]).polygamma(1)
        tensor([1.6449])
    """
    return polygamma(n, self)


def _polygamma_inplace(self: Tensor, n: int) -> Tensor:
    """In-place form of ``Tensor.polygamma``.

    Example:
        >>> tt.tensor([1.0]).polygamma_(1)
        tensor([1.6449])
    """
    from ...dispatch.inplace import assign, call_inplace

    n = as_int("polygamma_", "n", n)
    if n < 0 or not self.is_floating_point():
        return assign(self, polygamma(n, self), "polygamma_")
    # The gradients use the old value.
    return call_inplace(_polygamma.op, (self, n), {}) if n else self.digamma_()


for _name, _method in (("polygamma", _polygamma_method), ("polygamma_", _polygamma_inplace)):
    _method.__name__, _method.__qualname__ = _name, f"Tensor.{_name}"
    attach(Tensor, _name, _method)


@composite(
    method=True,
    out=Out.CAST,
    inplace=True,
    aliases=("special.multigammaln",),
    node="MvlgammaBackward0",
)
def mvlgamma(input: Tensor, p: int) -> Tensor:
    """Logarithm of the multivariate gamma function of dimension ``p``.

    Args:
        input: Tensor of any shape, above ``(p - 1) / 2``; integers are converted to the default
            dtype.
        p: Number of dimensions, at least 1.

    Raises:
        RuntimeError: If ``p`` is below 1, or ``input`` is bool.

    Example:
        >>> tt.mvlgamma(tt.tensor([3.0]), 2)
        tensor([1.5502])

    Reference:
        https://dlmf.nist.gov/35.3
    """
    p = as_int("mvlgamma", "p", p)
    if p < 1:
        raise RuntimeError("p has to be greater than or equal to 1")
    if input.dtype.kind == "b":
        raise RuntimeError("mvlgamma: The input tensor may not be a boolean tensor.")
    x: Any = input if input.is_floating_point() else input + 0.0
    total = lgamma(x) + p * (p - 1) / 4 * math.log(math.pi)
    for j in range(1, p):
        total = total + lgamma(x - j / 2)
    return contiguous(total)


@op(method=True, inplace=True, promote="arithmetic", strict=True, aliases=("special.gammainc",))
def igamma(xp: Backend, input: Array, other: Array) -> Array:
    """Regularized lower incomplete gamma function ``P(a, x)``.

    Args:
        input: The parameter ``a``; tensor of any shape.
        other: The bound ``x``; the two shapes broadcast. Gradients flow only to ``other``.

    Raises:
        NotImplementedError: If a tensor is integer or complex.

    Example:
        >>> tt.igamma(tt.tensor([1.0]), tt.tensor([2.0]))
        tensor([0.8647])

    Reference:
        https://dlmf.nist.gov/8.2
    """
    check_supported(xp, "igamma_cpu", input, unsupported="uibc")
    return apply_special(xp, "gammainc", input, other)


def _gamma_density(xp: Any, a: Any, x: Any) -> Any:
    """Derivative of ``P(a, x)`` by ``x``: ``x^(a-1) e^-x / Γ(a)``."""
    return xp.exp((a - 1) * xp.log(x) - x - xp.call(lgamma, a))


igamma.vjp(
    input=no_derivative("igamma: input", NotImplementedError),
    other=lambda xp, g, input, other: g * _gamma_density(xp, input, other),
)


@op(
    method=True,
    inplace=True,
    promote="arithmetic",
    strict=True,
    aliases=("special.gammaincc",),
    like=igamma,
)
def igammac(xp: Backend, input: Array, other: Array) -> Array:
    """Regularized upper incomplete gamma function ``Q(a, x) = 1 - P(a, x)``.

    Example:
        >>> tt.igammac(tt.tensor([1.0]), tt.tensor([2.0]))
        tensor([0.1353])

    Reference:
        https://dlmf.nist.gov/8.2
    """
    check_supported(xp, "igammac_cpu", input, unsupported="uibc")
    return apply_special(xp, "gammaincc", input, other)


igammac.vjp(
    input=no_derivative("igammac: input", NotImplementedError),
    other=lambda xp, g, input, other: -g * _gamma_density(xp, input, other),
)


@op(promote="float", strict=True, namespaces=("special",))
def zeta(xp: Backend, input: Operand, other: Operand) -> Array:
    """Hurwitz zeta function: the sum of ``(k + q)^-x`` over ``k = 0, 1, ...``.

    Args:
        input: The exponent ``x``; tensor or number.
        other: The offset ``q``; the two shapes broadcast. Gradients flow only to ``other``.

    Example:
        >>> tt.special.zeta(tt.tensor([2.0]), 1.0)
        tensor([1.6449])

    Reference:
        https://dlmf.nist.gov/25.11
    """
    check_supported(xp, "zeta_cpu", input, other, unsupported="c")
    x, q = as_arrays(xp, input, other)
    return apply_special(xp, "zeta", x, q)


zeta.vjp(
    input=no_derivative("zeta", NotImplementedError),
    other=lambda xp, g, input, other: -g * (input * xp.call(zeta, input + 1, other)),
)
