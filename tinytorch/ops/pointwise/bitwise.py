"""Bitwise operations on integers and bools, greatest common divisor, least common multiple."""

from __future__ import annotations

from typing import Any

from ...core.tensor import Tensor
from ...dispatch.op import Array, Backend, Operand, Out, composite, op
from ..checks import check_supported


@op(method=True, inplace=True, operators=("and",), promote="arithmetic", strict=True)
def bitwise_and(xp: Backend, input: Operand, other: Operand) -> Array:
    """Bitwise AND of each pair of elements; logical AND for bools.

    Args:
        input: Integer or bool tensor of any shape.
        other: Tensor or number; the two shapes broadcast.

    Raises:
        NotImplementedError: For floating-point tensors.

    Example:
        >>> tt.tensor([6, 5]) & 3
        tensor([2, 1])
    """
    check_supported(xp, "bitwise_and_cpu", input, other, unsupported="fc")
    return xp.bitwise_and(input, other)


@op(
    method=True,
    inplace=True,
    operators=("or",),
    promote="arithmetic",
    strict=True,
    like=bitwise_and,
)
def bitwise_or(xp: Backend, input: Operand, other: Operand) -> Array:
    """Bitwise OR of each pair of elements; logical OR for bools.

    Example:
        >>> tt.tensor([6, 5]) | 3
        tensor([7, 7])
    """
    check_supported(xp, "bitwise_or_cpu", input, other, unsupported="fc")
    return xp.bitwise_or(input, other)


@op(
    method=True,
    inplace=True,
    operators=("xor",),
    promote="arithmetic",
    strict=True,
    like=bitwise_and,
)
def bitwise_xor(xp: Backend, input: Operand, other: Operand) -> Array:
    """Bitwise XOR of each pair of elements; logical XOR for bools.

    Example:
        >>> tt.tensor([6, 5]) ^ 3
        tensor([5, 6])
    """
    check_supported(xp, "bitwise_xor_cpu", input, other, unsupported="fc")
    return xp.bitwise_xor(input, other)


@op(
    method=True,
    inplace=True,
    aliases=("bitwise_invert", ".invert"),
    out=Out.EXACT,
    elementwise=True,
)
def bitwise_not(xp: Backend, input: Array) -> Array:
    """Bitwise NOT of each element; logical NOT for bools.

    Raises:
        NotImplementedError: For floating-point tensors.

    Example:
        >>> ~tt.tensor([True, False])
        tensor([False,  True])
    """
    check_supported(xp, "bitwise_not_cpu", input, unsupported="fc")
    return xp.invert(input)


@composite(operators=("invert",), elementwise=True)
def _invert(input: Tensor) -> Tensor:
    """``~input``: bitwise NOT of each element; logical NOT for bools.

    Raises:
        TypeError: For floating-point and complex tensors.

    Example:
        >>> ~tt.tensor([True, False])
        tensor([False,  True])
    """
    if input._data.dtype.kind in "fc":
        raise TypeError(
            "~ (operator.invert) is only implemented on integer and Boolean-type tensors"
        )
    return bitwise_not(input)


@op(
    method=True,
    inplace=True,
    operators=("lshift",),
    promote="arithmetic",
    strict=True,
    aliases=(".left_shift",),
)
def bitwise_left_shift(xp: Backend, input: Operand, other: Operand) -> Array:
    """``input << other``: each element shifted to the left by ``other`` bits.

    Args:
        input: Integer tensor of any shape.
        other: Tensor or number; the two shapes broadcast. The result is 0 where ``other`` is
            negative, or not less than the number of bits of the dtype.

    Raises:
        NotImplementedError: For floating-point tensors, or if both operands are bool.

    Example:
        >>> tt.tensor([1, 3]) << 2
        tensor([ 4, 12])
    """
    check_supported(xp, "lshift_cpu", input, other, unsupported="fcb")
    bits = _bits(input, other)
    if not hasattr(other, "dtype"):
        return xp.left_shift(input, other) if 0 <= other < bits else xp.zeros_like(input)
    inside = (other >= 0) & (other < bits)
    return xp.where(inside, xp.left_shift(input, xp.where(inside, other, 0)), 0)


@op(
    method=True,
    inplace=True,
    operators=("rshift",),
    promote="arithmetic",
    strict=True,
    aliases=(".right_shift",),
)
def bitwise_right_shift(xp: Backend, input: Operand, other: Operand) -> Array:
    """``input >> other``: each element shifted to the right by ``other`` bits, with its sign.

    Args:
        input: Integer tensor of any shape.
        other: Tensor or number; the two shapes broadcast. Only the sign remains if it is negative,
            or at least the number of bits of the dtype.

    Raises:
        NotImplementedError: For floating-point tensors, or if both operands are bool.

    Example:
        >>> tt.tensor([8, -8]) >> 2
        tensor([ 2, -2])
    """
    check_supported(xp, "rshift_cpu", input, other, unsupported="fcb")
    last = _bits(input, other) - 1
    inside = (other >= 0) & (other <= last)
    if not hasattr(other, "dtype"):
        shifted = xp.right_shift(input, other if inside else last)
        return shifted if inside or shifted.dtype.kind == "i" else xp.zeros_like(shifted)
    shifted = xp.right_shift(input, xp.where(inside, other, last))
    return shifted if shifted.dtype.kind == "i" else xp.where(inside, shifted, 0)


def _bits(*operands: Any) -> int:
    """Number of bits of an element of the operands."""
    return int(next(8 * v.dtype.itemsize for v in operands if hasattr(v, "dtype")))


@op(method=True, inplace=True, promote="arithmetic", strict=True)
def gcd(xp: Backend, input: Array, other: Array) -> Array:
    """The greatest common divisor of each pair of elements; ``gcd(0, 0)`` is 0.

    Args:
        input: Integer tensor of any shape.
        other: Integer tensor; the two shapes broadcast.

    Raises:
        NotImplementedError: For other dtypes.

    Example:
        >>> tt.gcd(tt.tensor([12, -18]), tt.tensor([8, 27]))
        tensor([4, 9])
    """
    check_supported(xp, "gcd_cpu", input, other, unsupported="bfc")
    return xp.gcd(input, other)


@op(method=True, inplace=True, promote="arithmetic", strict=True, like=gcd)
def lcm(xp: Backend, input: Array, other: Array) -> Array:
    """The nonnegative least common multiple of each pair of elements; 0 if either is 0.

    Example:
        >>> tt.lcm(tt.tensor([4, 6]), tt.tensor([6, -15]))
        tensor([12, 30])
    """
    check_supported(xp, "lcm_cpu", input, other, unsupported="bfc")
    return xp.lcm(input, other)
