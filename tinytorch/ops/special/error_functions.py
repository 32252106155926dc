"""Error functions, the normal distribution function and its inverse, and entropy."""

from __future__ import annotations

import math
from typing import Any

from ...core.tensor import Tensor
from ...dispatch.op import Array, Backend, Out, Overlap, accepts_none, composite, op, reads_results
from ..checks import check_supported
from ..results import first_result

BOTH = ("", "special")
SPECIAL = ("special",)
_ROOT_PI = math.sqrt(math.pi)
_ROOT_2PI = math.sqrt(2 * math.pi)


@op(inplace=True, promote="float", namespaces=BOTH, method=True)
def erf(xp: Backend, input: Array) -> Array:
    """Error function: ``2/sqrt(pi)`` times the integral of ``exp(-t^2)`` from 0 to ``x``.

    Args:
        input: Tensor of any shape; integers are converted to the default dtype.

    Example:
        >>> tt.erf(tt.tensor([0.0, 1.0]))
        tensor([0.0000, 0.8427])
    """
    check_supported(xp, "erf_vml_cpu", input, unsupported="c")
    return xp.erf(input)


erf.vjp(input=lambda xp, g, input: g * (xp.exp(-(input * input)) * (2 / _ROOT_PI)))


@op(inplace=True, promote="float", namespaces=BOTH, method=True, like=erf)
def erfc(xp: Backend, input: Array) -> Array:
    """``1 - erf(x)``, without cancellation for large ``x``.

    Example:
        >>> tt.erfc(tt.tensor([0.0, 5.0]))
        tensor([1.0000e+00, 1.5375e-12])
    """
    check_supported(xp, "erfc_vml_cpu", input, unsupported="c")
    return xp.erfc(input)


erfc.vjp(input=lambda xp, g, input: g * (xp.exp(-(input * input)) * (-2 / _ROOT_PI)))


@op(inplace=True, promote="float", namespaces=BOTH, method=True, like=erf)
def erfinv(xp: Backend, input: Array) -> Array:
    """Inverse of ``erf``; ±inf at ±1, NaN beyond.

    Example:
        >>> tt.erfinv(tt.tensor([0.0, 0.5, 1.0]))
        tensor([0.0000, 0.4769,    inf])
    """
    check_supported(xp, "erfinv_vml_cpu", input, unsupported="c")
    return xp.erfinv(input)


def _erfinv_gradient(xp: Any, g: Any, input: Any) -> Any:
    # Compute the result again instead of saving it, so that it may be changed in place.
    out = xp.call(erfinv, input)
    return g * (xp.exp(out * out) * (_ROOT_PI / 2))


erfinv.vjp(input=_erfinv_gradient)


@op(promote="float", namespaces=SPECIAL, like=erf)
def erfcx(xp: Backend, input: Array) -> Array:
    """``exp(x^2) * erfc(x)``, which does not underflow for large ``x``.

    Example:
        >>> tt.special.erfcx(tt.tensor([0.0, 10.0]))
        tensor([1.0000, 0.0561])
    """
    check_supported(xp, "erfcx_cpu", input, unsupported="c")
    return xp.erfcx(input)


erfcx.vjp(input=lambda xp, g, input, out: g * (2 * input * out - 2 / _ROOT_PI))


@op(
    promote="float", public=False, node="MulBackward1", returns=first_result,
    strict=True,
)  # fmt: skip
def _ndtr(xp: Backend, input: Array) -> tuple[Array, Array]:
    """``ndtr``, and the argument of its ``erfc``, which is saved for the gradient."""
    check_supported(xp, "erfc_vml_cpu", input, unsupported="c")
    scaled = input * -math.sqrt(0.5)
    return xp.erfc(scaled) * 0.5, scaled


@reads_results(1)
def _ndtr_gradient(xp: Any, g: Any, out: Any) -> Any:
    """Gradient of both results of ``_ndtr``; None for a result without gradient."""
    slope = None if g[0] is None else g[0] * (xp.exp(-(out[1] * out[1])) / _ROOT_2PI)
    if g[1] is None:
        return slope
    further = g[1] * -math.sqrt(0.5)
    return further if slope is None else slope + further


_ndtr.vjp(input=accepts_none(_ndtr_gradient))


@composite(namespaces=SPECIAL, node="MulBackward1", out=Out.CAST, overlap=Overlap.ALLOWED, like=erf)
def ndtr(input: Tensor) -> Tensor:
    """Cumulative distribution function of the standard normal distribution.

    Example:
        >>> tt.special.ndtr(tt.tensor([0.0, 1.96]))
        tensor([0.5000, 0.9750])
    """
    return _ndtr(input)


@op(promote="float", namespaces=SPECIAL, like=erf)
def ndtri(xp: Backend, input: Array) -> Array:
    """Inverse of ``ndtr``; -inf at 0, inf at 1, NaN outside [0, 1].

    Example:
        >>> tt.special.ndtri(tt.tensor([0.5, 0.975]))
        tensor([0.0000, 1.9600])
    """
    check_supported(xp, "ndtri_cpu", input, unsupported="c")
    return xp.ndtri(input)


ndtri.vjp(input=lambda xp, g, out: g * (xp.exp(out * out * 0.5) * _ROOT_2PI))


@op(promote="float", namespaces=SPECIAL, like=erf)
def log_ndtr(xp: Backend, input: Array) -> Array:
    """``log(ndtr(x))``, also where ``ndtr`` underflows to 0.

    Example:
        >>> tt.special.log_ndtr(tt.tensor([0.0, -100.0]))
        tensor([-6.9315e-01, -5.0055e+03])
    """
    check_supported(xp, "log_ndtr_cpu", input, unsupported="c")
    x = input * math.sqrt(0.5)
    tail = xp.log(xp.erfcx(-xp.minimum(x, -0.5)) * 0.5) - x * x
    return xp.where(x < -0.5, tail, xp.log1p(xp.erfc(xp.maximum(x, -0.5)) * -0.5))


def _log_ndtr_gradient(xp: Any, g: Any, input: Any, out: Any) -> Any:
    """Gradient ``exp(-x²/2) / ndtr(x)``; below 0 in a form in which the exponential cancels.

    Each formula is computed only for the arguments of its side, since it overflows on the other.
    """
    negative = input < 0
    below = math.sqrt(2 / math.pi) / xp.call(erfcx, xp.where(negative, input, 0) * -math.sqrt(0.5))
    x, logarithm = xp.where(negative, 0, input), xp.where(negative, 0, out)
    above = xp.exp(x * x * -0.5 - logarithm) / _ROOT_2PI
    return g * xp.where(negative, below, above)


log_ndtr.vjp(input=_log_ndtr_gradient)


@op(promote="float", namespaces=SPECIAL, like=erf)
def entr(xp: Backend, input: Array) -> Array:
    """``-x * log(x)``, the entropy of each element; 0 at 0, -inf below.

    Example:
        >>> tt.special.entr(tt.tensor([0.0, 0.5, -1.0]))
        tensor([0.0000, 0.3466,   -inf])
    """
    check_supported(xp, "entr_cpu", input, unsupported="c")
    zero = xp.number(input.dtype)(0)
    product = -input * xp.log(input)  # NaN at 0 and below
    return xp.where(input == zero, 0, xp.where(input < zero, -math.inf, product))


def _entr_gradient(xp: Any, g: Any, input: Any) -> Any:
    return g * (-1 - xp.log(input))


entr.vjp(input=_entr_gradient)
