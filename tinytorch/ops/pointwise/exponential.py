"""Powers, roots, exponentials, logarithms, and numerically stable combinations of them."""

from __future__ import annotations

import math
from typing import Any

from ...dispatch.op import Array, Backend, Operand, op
from ...graph.nodes import Node
from ...graph.special_nodes import is_tensor, input_requires_grad
from ..checks import as_arrays, check_supported, compute_in_single, is_half


def _power_name(node: Node) -> str:
    """PyTorch's name of the node, which depends on the operand that is a base_is_number."""
    if is_tensor(node, "exponent"):
        base_is_number = not input_requires_grad(node, "input") and not is_tensor(node, "input")
        return "PowBackward2" if base_is_number else "PowBackward1"
    return "PowBackward0"


@op(
    method=True,
    inplace=True,
    operators=("pow",),
    promote="power",
    strict=True,
    aliases=(".power",),
    node=_power_name,
)
def pow(xp: Backend, input: Operand, exponent: Operand) -> Array:
    """``input`` to the power of ``exponent``, element by element.

    Args:
        input: Tensor or number.
        exponent: Tensor or number; the two shapes broadcast.

    Returns:
        Tensor of the broadcast shape and torch's promoted dtype. ``x ** 0`` is 1, also for
        0 and NaN. For negative exponents in an integer tensor the result is 0, except for powers
        of ±1.

    Raises:
        RuntimeError: For integers to the power of a negative number, or of a number that their
            dtype cannot represent.
        NotImplementedError: If base and exponent are bool tensors.

    Example:
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
    check_supported(xp, "pow", exponent, unsupported="b")
    if kind in "ui":
        return _integer_power(xp, input, exponent)
    return xp.power(input, exponent)


def _power_by_number(xp: Backend, x: Array, exponent: float) -> Array:
    """``x ** exponent`` for a Python number."""
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
    """Whether torch computes ``x ** -0.5`` as ``1 / sqrt(x)``, which is -inf at -0."""
    return bool(x.dtype.kind == "f" and x.dtype.itemsize > 2)


def _integer_power(xp: Backend, x: Any, exponent: Array) -> Array:
    """Integer powers; for negative exponents rounded towards zero, as in torch."""
    negative = exponent < 0
    power = xp.power(x, xp.where(negative, xp.zeros_like(exponent), exponent))
    odd = xp.bitwise_and(exponent, 1)
    units = xp.where(xp.equal(x, 1), 1, xp.where(xp.equal(x, -1), 1 - 2 * odd, 0))
    return xp.where(negative, units.astype(power.dtype), power)


def square_slope(xp: Any, x: Any) -> Any:
    """Derivative of ``x ** 2``; in a recorded graph a power, which is differentiable again."""
    return 2 * x**1 if xp.records else 2 * x


def _power_gradient(xp: Any, g: Any, input: Any, exponent: Any) -> Any:
    """Gradient of the base of a power; ``exponent`` is a Python number or an array."""
    if isinstance(exponent, (int, float, complex)):
        if exponent == 0:
            return xp.zeros_like(g)
        if exponent == 2:
            return g * square_slope(xp, input)
        if exponent == 0.5 and _has_reciprocal_root(input):
            return g * (0.5 / xp.sqrt(input))
        return g * (exponent * input ** (exponent - 1))
    # The derivative of x ** 0 is 0 also at x = 0, where x ** -1 is inf, and where g is inf.
    return xp.where(exponent == 0, 0, g * (exponent * input ** (exponent - 1)))


def _exponent_gradient(xp: Any, g: Any, input: Any, exponent: Any) -> Any:
    """Gradient of the exponent of a power; ``input`` is a Python number or an array."""
    # Compute the power again instead of saving it, so that the result may be changed in place.
    out = xp.power(input, exponent)
    if isinstance(input, (int, float, complex)):
        if input == 0:
            return g * xp.where(_is_nonnegative(xp, exponent), 0, out * -math.inf)
        if isinstance(input, complex) or exponent.dtype.kind == "c":
            import cmath

            return g * out * cmath.log(input)
        return g * out * (math.log(input) if input > 0 else math.nan)
    vanishes = (input == 0) & _is_nonnegative(xp, exponent)
    return g * xp.where(vanishes, 0, out * xp.log(xp.where(vanishes, 1, input)))


def _is_nonnegative(xp: Any, x: Any) -> Any:
    """Whether each element, or its real part, is at least 0."""
    return (xp.real(x) if x.dtype.kind == "c" else x) >= 0


pow.vjp(input=_power_gradient, exponent=_exponent_gradient)


@op(method=True, inplace=True, promote="float")
def sqrt(xp: Backend, input: Array) -> Array:
    """Square root of each element; NaN for negative numbers. Default dtype for integers.

    Example:
        >>> tt.sqrt(tt.tensor([4.0, 9.0]))
        tensor([2., 3.])
    """
    return xp.sqrt(input)


sqrt.vjp(input=lambda xp, g, out: g / (2 * out))


@op(method=True, inplace=True, promote="float")
def rsqrt(xp: Backend, input: Array) -> Array:
    """``1 / sqrt(input)``, element by element; inf at 0. Default dtype for integers.

    Example:
        >>> tt.rsqrt(tt.tensor([4.0, 16.0]))
        tensor([0.5000, 0.2500])
    """
    if is_half(input):
        return compute_in_single(xp, rsqrt.kernel, input)
    return xp.true_divide(1, xp.sqrt(input))


rsqrt.vjp(input=lambda xp, g, out: g * (-0.5 * (out * out * out)))


@op(method=True, inplace=True, promote="float")
def exp(xp: Backend, input: Array) -> Array:
    """``e ** input``, element by element. Default dtype for integers.

    Example:
        >>> tt.exp(tt.tensor([0.0, 1.0]))
        tensor([1.0000, 2.7183])
    """
    return xp.exp(input)


exp.vjp(input=lambda xp, g, out: g * out)


@op(inplace=True, promote="float", namespaces=("", "special"), method=True)
def exp2(xp: Backend, input: Array) -> Array:
    """``2 ** input``, element by element. Default dtype for integers.

    Example:
        >>> tt.exp2(tt.tensor([0.0, 3.0]))
        tensor([1., 8.])
    """
    return xp.exp2(input)


exp2.vjp(input=lambda xp, g, out: g * (out * math.log(2)))


@op(inplace=True, promote="float", namespaces=("", "special"), method=True)
def expm1(xp: Backend, input: Array) -> Array:
    """``e ** input - 1``, element by element, without cancellation near 0.

    Example:
        >>> tt.expm1(tt.tensor([1e-10], dtype=tt.float64)).item()
        1.00000000005e-10
    """
    return xp.expm1(input)


expm1.vjp(input=lambda xp, g, out: g * (out + 1))


@op(method=True, inplace=True, promote="float")
def log(xp: Backend, input: Array) -> Array:
    """Natural logarithm of each element; -inf at 0, NaN for negative numbers.

    Example:
        >>> tt.log(tt.tensor([1.0, 0.0]))
        tensor([0., -inf])
    """
    return xp.log(input)


log.vjp(input=lambda xp, g, input: g / input)


@op(method=True, inplace=True, promote="float")
def log2(xp: Backend, input: Array) -> Array:
    """Logarithm of each element to base 2.

    Example:
        >>> tt.log2(tt.tensor([8.0]))
        tensor([3.])
    """
    return xp.log2(input)


log2.vjp(input=lambda xp, g, input: g / (input * math.log(2)))


@op(method=True, inplace=True, promote="float")
def log10(xp: Backend, input: Array) -> Array:
    """Logarithm of each element to base 10.

    Example:
        >>> tt.log10(tt.tensor([10.0]))
        tensor([1.])
    """
    return xp.log10(input)


log10.vjp(input=lambda xp, g, input: g / (input * math.log(10)))


@op(inplace=True, promote="float", namespaces=("", "special"), method=True)
def log1p(xp: Backend, input: Array) -> Array:
    """``log(1 + input)``, element by element, without cancellation near 0; -inf at -1.

    Example:
        >>> tt.log1p(tt.tensor([1e-10], dtype=tt.float64)).item()
        9.999999999500001e-11
    """
    return _complex_log1p(xp, input) if input.dtype.kind == "c" else xp.log1p(input)


def _complex_log1p(xp: Backend, z: Array) -> Array:
    """``log1p`` of complex numbers, without NumPy's loss of precision for small real parts.

    Near 0, the real part is ``log1p(r) / 2`` with ``r = |1 + z|^2 - 1 = x (2 + x) + y^2``.
    """
    out = xp.asarray(xp.log(z - (-1)))  # + 1 would put -0i on the other side of the branch cut
    x, y = z.real, z.imag
    near = xp.absolute(z) < 0.5
    x, y = xp.where(near, x, 0), xp.where(near, y, 0)
    real = xp.log1p(x * (2 + x) + y * y) / 2
    xp.copyto(out.real, real, where=near)
    return out


log1p.vjp(input=lambda xp, g, input: g / (input + 1))


@op(method=True, promote="arithmetic", strict=True, elementwise=True)
def logaddexp(xp: Backend, input: Array, other: Array) -> Array:
    """``log(exp(input) + exp(other))``, element by element, without overflow.

    Args:
        input: Floating-point or complex tensor of any shape.
        other: Tensor; the two shapes broadcast.

    Raises:
        NotImplementedError: For integers and bools.

    Example:
        >>> tt.logaddexp(tt.tensor([1000.0]), tt.tensor([0.0]))
        tensor([1000.])
    """
    check_supported(xp, "logaddexp_cpu", input, other, unsupported="uib")
    if input.dtype.kind == "f":
        return xp.logaddexp(input, other)
    larger = input.real >= other.real
    high, low = xp.where(larger, input, other), xp.where(larger, other, input)
    return high + xp.log1p(xp.exp(low - high))


def _softmax_share(xp: Any, a: Any, b: Any, base: float) -> Any:
    """``base**a / (base**a + base**b)``; 1/2 for equal infinities."""
    same = (a == b) & xp.isinf(a)  # not finite numbers, which have a second derivative
    difference = xp.where(same, 0, b - xp.where(same, 0, a))
    return 1 / (1 + xp.exp(xp.where(same, 0, difference) * math.log(base)))


logaddexp.vjp(
    input=lambda xp, g, input, other: g * _softmax_share(xp, input, other, math.e),
    other=lambda xp, g, input, other: g * _softmax_share(xp, other, input, math.e),
)


@op(method=True, promote="arithmetic", strict=True, elementwise=True)
def logaddexp2(xp: Backend, input: Array, other: Array) -> Array:
    """``log2(2 ** input + 2 ** other)``, element by element, without overflow.

    Args:
        input: Floating-point tensor of any shape.
        other: Tensor; the two shapes broadcast.

    Raises:
        NotImplementedError: For integers, bools and complex tensors.

    Example:
        >>> tt.logaddexp2(tt.tensor([1000.0]), tt.tensor([1000.0]))
        tensor([1001.])
    """
    check_supported(xp, "logaddexp2_cpu", input, other, unsupported="uibc")
    return xp.logaddexp2(input, other)


logaddexp2.vjp(
    input=lambda xp, g, input, other: g * _softmax_share(xp, input, other, 2),
    other=lambda xp, g, input, other: g * _softmax_share(xp, other, input, 2),
)


@op(inplace=True, promote="float", strict=True, namespaces=("", "special"), method=True)
def xlogy(xp: Backend, input: Operand, other: Operand) -> Array:
    """``input * log(other)``, 0 where ``input`` is 0, and NaN where ``other`` is NaN.

    Args:
        input: Tensor or number.
        other: Tensor or number; the two shapes broadcast.

    Returns:
        Tensor of the broadcast shape; for integers it has the default dtype.

    Example:
        >>> tt.xlogy(tt.tensor([0.0, 2.0]), tt.tensor([0.0, 1.0]))
        tensor([0., 0.])
    """
    return _times_log(xp, input, other, xp.log)


def _times_log(xp: Backend, input: Any, other: Any, log: Any) -> Array:
    """``input * log(other)``, also by ``log1p``; 0 where ``input`` is 0 and ``other`` not NaN."""
    input, other = as_arrays(xp, input, other)
    if input.dtype.kind == "c":
        check_supported(xp, "xlogy_cpu", input, other, unsupported="c")
    zero = xp.number(input.dtype)(0)
    is_zero = xp.equal(input, zero)
    return xp.where(is_zero & xp.equal(other, other), zero, input * log(other))


xlogy.vjp(
    input=lambda xp, g, input, other: _times_log_gradient(xp, g, input, other, xlogy, 0),
    other=lambda xp, g, input, other: g * (input / other),
)


def _times_log_gradient(xp: Any, g: Any, input: Any, other: Any, op: Any, shift: int) -> Any:
    """Gradient of ``input``: ``g * log(other + shift)`` by the operation ``op`` itself.

    It is 0 where ``g`` is 0, and where ``input`` is 0 and the logarithm is not defined.
    """
    undefined = (input == 0) & (other <= -shift)
    return xp.call(op, g, xp.where(undefined, 1 - shift, other))


@op(promote="float", strict=True, namespaces=("special",), like=xlogy)
def xlog1py(xp: Backend, input: Operand, other: Operand) -> Array:
    """``input * log1p(other)``, 0 where ``input`` is 0, and NaN where ``other`` is NaN.

    Returns:
        Tensor of the broadcast shape; for integers it has the default dtype.

    Example:
        >>> tt.special.xlog1py(tt.tensor([0.0, 2.0]), tt.tensor([-1.0, 0.0]))
        tensor([0., 0.])
    """
    return _times_log(xp, input, other, xp.log1p)


xlog1py.vjp(
    input=lambda xp, g, input, other: _times_log_gradient(xp, g, input, other, xlog1py, 1),
    other=lambda xp, g, input, other: g * (input / (other + 1)),
)


@op(inplace=True, promote="float", namespaces=("", "special"), method=True)
def logit(xp: Backend, input: Array, eps: float | None = None) -> Array:
    """``log(x / (1 - x))``, the inverse of ``sigmoid``; NaN outside [0, 1].

    Args:
        input: Tensor of any shape.
        eps: If not None, clamp ``x`` to ``[eps, 1 - eps]`` first; default None.

    Example:
        >>> tt.logit(tt.tensor([0.5, 1.0]))
        tensor([0., inf])
        >>> tt.logit(tt.tensor([1.0]), eps=0.5)
        tensor([0.])
    """
    check_supported(xp, "logit_cpu", input, unsupported="c")
    if eps is not None:
        input = xp.where(input < eps, eps, xp.minimum(input, 1 - eps))
    return xp.log(input / (1 - input))


def _logit_gradient(xp: Any, g: Any, input: Any, eps: Any) -> Any:
    """Gradient of ``logit``: 0 beyond the bounds that ``eps`` sets, NaN outside of ``[0, 1]``."""
    slope = g / ((input + 0) * (1 - input))  # + 0 turns -0 into 0
    if eps is None:
        return xp.where((input < 0) | (input > 1), math.nan, slope)
    return xp.where((input < eps) | (input > 1 - eps), 0, slope)


logit.vjp(input=_logit_gradient)
