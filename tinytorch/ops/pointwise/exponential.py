"""Powers, roots, exponentials and logarithms."""

from __future__ import annotations

import math
from typing import Any

from ...dispatch.op import Array, Backend, Operand, op
from ...graph.nodes import Node
from ...graph.special_nodes import is_tensor, wants_gradient
from ..checks import in_single, is_half, refuse


def _power_name(node: Node) -> str:
    if is_tensor(node, "exponent"):
        number = not wants_gradient(node, "input") and not is_tensor(node, "input")
        return "PowBackward2" if number else "PowBackward1"
    return "PowBackward0"


@op(
    method=True,
    inplace=True,
    operators=("pow",),
    promote="power",
    strict=True,
    also=("power",),
    node=_power_name,
)
def pow(xp: Backend, input: Operand, exponent: Operand) -> Array:
    """``input`` to the power of ``exponent``, element by element.

    Args:
        input: Tensor or number.
        exponent: Tensor or number; the two shapes broadcast.

    Returns:
        Tensor of the broadcast shape and torch's promoted dtype; ``x ** 0`` is 1, also for
        0 and NaN. Negative integer exponents in an integer tensor give 0 (±1 to the power of
        them excepted).

    Raises:
        RuntimeError: For integers to the power of a negative number or of one that their dtype
            does not hold.
        NotImplementedError: For bools to the power of bools in a tensor.

    Example:
        >>> import tinytorch as tt
        >>> tt.pow(tt.tensor([2.0, 3.0]), 2)
        tensor([4., 9.])
        >>> 2 ** tt.arange(4)
        tensor([1, 2, 4, 8])
    """
    if exponent.__class__ is int or exponent.__class__ is float:
        return _power_by_number(xp, input, exponent)
    if exponent.__class__ is bool:
        bools = input.dtype.kind == "b"
        return xp.logical_or(input, not exponent) if bools else xp.power(input, int(exponent))
    kind = exponent.dtype.kind if hasattr(exponent, "dtype") else "f"
    refuse(xp, "pow", "b", exponent)
    if kind in "ui":
        return _integer_power(xp, input, exponent)
    return xp.power(input, exponent)


def _power_by_number(xp: Backend, x: Array, exponent: float) -> Array:
    if exponent == 2:
        return xp.multiply(x, x)
    kind = x.dtype.kind
    if kind in "uib":
        if exponent < 0:
            raise RuntimeError("pow: Integers to negative integer powers are not allowed.")
        return xp.power(x, xp.asarray(exponent, x.dtype))
    # Roots and small powers are many times cheaper than the general power.
    if exponent == 0.5 and kind in "fc":
        return xp.sqrt(x)
    if exponent == 3:
        return x * x * x
    if exponent == -1:
        return xp.true_divide(1, x)
    if exponent == -0.5 and _has_reciprocal_root(x):
        return xp.true_divide(1, xp.sqrt(x))
    return xp.power(x, exponent)


def _has_reciprocal_root(x: Any) -> bool:
    """Whether torch takes ``x ** -0.5`` for ``1 / sqrt(x)``, which is -inf at -0."""
    return bool(x.dtype.kind == "f" and x.dtype.itemsize > 2)


def _integer_power(xp: Backend, x: Any, exponent: Array) -> Array:
    """Integer powers; 1 / x^-n rounded towards zero for negative exponents, as torch has it."""
    negative = exponent < 0
    power = xp.power(x, xp.where(negative, xp.zeros_like(exponent), exponent))
    odd = xp.bitwise_and(exponent, 1)
    units = xp.where(xp.equal(x, 1), 1, xp.where(xp.equal(x, -1), 1 - 2 * odd, 0))
    return xp.where(negative, units.astype(power.dtype), power)


def doubled(xp: Any, x: Any) -> Any:
    """The slope of ``x ** 2``: in a graph a power, whose own slope is 0 and not missing."""
    return 2 * x if isinstance(xp, Backend) else 2 * x**1


def _power_gradient(xp: Any, g: Any, input: Any, exponent: Any) -> Any:
    if isinstance(exponent, (int, float, complex)):
        if exponent == 0:
            return xp.zeros_like(g)
        if exponent == 2:
            return g * doubled(xp, input)
        if exponent == 0.5 and _has_reciprocal_root(input):
            return g * (0.5 / xp.sqrt(input))
        return g * (exponent * input ** (exponent - 1))
    # x ** -1 is inf at 0, where the slope of x ** 0 is 0 all the same; also where g is inf.
    return xp.where(exponent == 0, 0, g * (exponent * input ** (exponent - 1)))


def _exponent_gradient(xp: Any, g: Any, input: Any, exponent: Any) -> Any:
    # Computed again, so that what is squared most of the time may be changed in place.
    out = xp.power(input, exponent)
    if isinstance(input, (int, float, complex)):
        if input == 0:
            return g * xp.where(_nonnegative(xp, exponent), 0, out * -math.inf)
        if isinstance(input, complex) or exponent.dtype.kind == "c":
            import cmath

            return g * out * cmath.log(input)
        return g * out * (math.log(input) if input > 0 else math.nan)
    vanishes = (input == 0) & _nonnegative(xp, exponent)
    return g * xp.where(vanishes, 0, out * xp.log(xp.where(vanishes, 1, input)))


def _nonnegative(xp: Any, x: Any) -> Any:
    return (xp.real(x) if x.dtype.kind == "c" else x) >= 0


pow.vjp(input=_power_gradient, exponent=_exponent_gradient)


@op(method=True, inplace=True, promote="float")
def sqrt(xp: Backend, input: Array) -> Array:
    """Square root; NaN for negative numbers. Integers give the default dtype.

    Example:
        >>> import tinytorch as tt
        >>> tt.sqrt(tt.tensor([4.0, 9.0]))
        tensor([2., 3.])
    """
    return xp.sqrt(input)


sqrt.vjp(input=lambda xp, g, out: g / (2 * out))


@op(method=True, inplace=True, promote="float")
def rsqrt(xp: Backend, input: Array) -> Array:
    """``1 / sqrt(input)``; inf at 0. Integers give the default dtype.

    Example:
        >>> import tinytorch as tt
        >>> tt.rsqrt(tt.tensor([4.0, 16.0]))
        tensor([0.5000, 0.2500])
    """
    if is_half(input):
        return in_single(xp, rsqrt.kernel, input)
    return xp.true_divide(1, xp.sqrt(input))


rsqrt.vjp(input=lambda xp, g, out: g * (-0.5 * (out * out * out)))


@op(method=True, inplace=True, promote="float")
def exp(xp: Backend, input: Array) -> Array:
    """``e ** input``. Integers give the default dtype.

    Example:
        >>> import tinytorch as tt
        >>> tt.exp(tt.tensor([0.0, 1.0]))
        tensor([1.0000, 2.7183])
    """
    return xp.exp(input)


exp.vjp(input=lambda xp, g, out: g * out)


@op(inplace=True, promote="float", namespaces=("", "special"), method=True)
def exp2(xp: Backend, input: Array) -> Array:
    """``2 ** input``. Integers give the default dtype.

    Example:
        >>> import tinytorch as tt
        >>> tt.exp2(tt.tensor([0.0, 3.0]))
        tensor([1., 8.])
    """
    return xp.exp2(input)


exp2.vjp(input=lambda xp, g, out: g * (out * math.log(2)))


@op(inplace=True, promote="float", namespaces=("", "special"), method=True)
def expm1(xp: Backend, input: Array) -> Array:
    """``e ** input - 1``, without cancellation near 0.

    Example:
        >>> import tinytorch as tt
        >>> tt.expm1(tt.tensor([1e-10], dtype=tt.float64)).item()
        1.00000000005e-10
    """
    return xp.expm1(input)


expm1.vjp(input=lambda xp, g, out: g * (out + 1))


@op(method=True, inplace=True, promote="float")
def log(xp: Backend, input: Array) -> Array:
    """Natural logarithm; -inf at 0, NaN for negative numbers.

    Example:
        >>> import tinytorch as tt
        >>> tt.log(tt.tensor([1.0, 0.0]))
        tensor([0., -inf])
    """
    return xp.log(input)


log.vjp(input=lambda xp, g, input: g / input)


@op(method=True, inplace=True, promote="float")
def log2(xp: Backend, input: Array) -> Array:
    """Logarithm to base 2.

    Example:
        >>> import tinytorch as tt
        >>> tt.log2(tt.tensor([8.0]))
        tensor([3.])
    """
    return xp.log2(input)


log2.vjp(input=lambda xp, g, input: g / (input * math.log(2)))


@op(method=True, inplace=True, promote="float")
def log10(xp: Backend, input: Array) -> Array:
    """Logarithm to base 10.

    Example:
        >>> import tinytorch as tt
        >>> tt.log10(tt.tensor([10.0]))
        tensor([1.])
    """
    return xp.log10(input)


log10.vjp(input=lambda xp, g, input: g / (input * math.log(10)))


@op(inplace=True, promote="float", namespaces=("", "special"), method=True)
def log1p(xp: Backend, input: Array) -> Array:
    """``log(1 + input)``, without cancellation near 0; -inf at -1.

    Example:
        >>> import tinytorch as tt
        >>> tt.log1p(tt.tensor([1e-10], dtype=tt.float64)).item()
        9.999999999500001e-11
    """
    return _complex_log1p(xp, input) if input.dtype.kind == "c" else xp.log1p(input)


def _complex_log1p(xp: Backend, z: Array) -> Array:
    """``log1p`` of complex numbers: NumPy's loses the digits of small real parts.

    Of ``|1 + z|^2 = 1 + r`` near 1, the logarithm is ``log1p(r)``; ``r = x (2 + x) + y^2``.
    """
    out = xp.asarray(xp.log(z - (-1)))  # + 1 would put -0i on the other side of the cut
    x, y = z.real, z.imag
    near = xp.absolute(z) < 0.5
    x, y = xp.where(near, x, 0), xp.where(near, y, 0)
    real = xp.log1p(x * (2 + x) + y * y) / 2
    xp.copyto(out.real, real, where=near)
    return out


log1p.vjp(input=lambda xp, g, input: g / (input + 1))
