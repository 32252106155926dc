"""Comparisons and logic, element by element."""

from __future__ import annotations

from typing import Any

from ...core.tensor import Tensor
from ...dispatch.op import Array, Backend, Operand, Out, composite, op
from ..checks import check_supported


@op(method=True, operators=("eq",), promote="arithmetic", inplace=True, strict=True)
def eq(xp: Backend, input: Array, other: Operand) -> Array:
    """``input == other``, element by element.

    Args:
        input: Tensor of any shape.
        other: Tensor or number; the two shapes broadcast.

    Returns:
        bool tensor of the broadcast shape; False where an element is NaN.

    Example:
        >>> tt.eq(tt.tensor([1, 2]), 1)
        tensor([ True, False])
    """
    return xp.equal(input, other)


@op(
    method=True,
    operators=("ne",),
    promote="arithmetic",
    inplace=True,
    aliases=("not_equal",),
    strict=True,
    like=eq,
)
def ne(xp: Backend, input: Array, other: Operand) -> Array:
    """``input != other``, element by element.

    Returns:
        bool tensor of the broadcast shape; True where an element is NaN.

    Example:
        >>> tt.ne(tt.tensor([1, 2]), 1)
        tensor([False,  True])
    """
    return xp.not_equal(input, other)


@op(
    method=True,
    operators=("lt",),
    promote="arithmetic",
    inplace=True,
    aliases=("less",),
    strict=True,
    like=eq,
)
def lt(xp: Backend, input: Array, other: Operand) -> Array:
    """``input < other``, element by element.

    Returns:
        bool tensor of the broadcast shape.

    Raises:
        NotImplementedError: For complex tensors.

    Example:
        >>> tt.lt(tt.tensor([1, 2]), 2)
        tensor([ True, False])
    """
    check_supported(xp, "lt_cpu", input, other, unsupported="c")
    return xp.less(input, other)


@op(
    method=True,
    operators=("le",),
    promote="arithmetic",
    inplace=True,
    aliases=("less_equal",),
    strict=True,
    like=eq,
)
def le(xp: Backend, input: Array, other: Operand) -> Array:
    """``input <= other``, element by element.

    Returns:
        bool tensor of the broadcast shape.

    Raises:
        NotImplementedError: For complex tensors.

    Example:
        >>> tt.le(tt.tensor([1, 2]), 1)
        tensor([ True, False])
    """
    check_supported(xp, "le_cpu", input, other, unsupported="c")
    return xp.less_equal(input, other)


@op(
    method=True,
    operators=("gt",),
    promote="arithmetic",
    inplace=True,
    aliases=("greater",),
    strict=True,
    like=eq,
)
def gt(xp: Backend, input: Array, other: Operand) -> Array:
    """``input > other``, element by element.

    Returns:
        bool tensor of the broadcast shape.

    Raises:
        NotImplementedError: For complex tensors.

    Example:
        >>> tt.gt(tt.tensor([1, 2]), 1)
        tensor([False,  True])
    """
    check_supported(xp, "gt_cpu", input, other, unsupported="c")
    return xp.greater(input, other)


@op(method=True, operators=("ge",), promote="arithmetic", inplace=True,
    aliases=("greater_equal",), strict=True, like=eq)  # fmt: skip
def ge(xp: Backend, input: Array, other: Operand) -> Array:
    """``input >= other``, element by element.

    Returns:
        bool tensor of the broadcast shape.

    Raises:
        NotImplementedError: For complex tensors.

    Example:
        >>> tt.ge(tt.tensor([1, 2]), 2)
        tensor([False,  True])
    """
    check_supported(xp, "ge_cpu", input, other, unsupported="c")
    return xp.greater_equal(input, other)


def _to_truth_values(xp: Backend, values: Array) -> Array:
    """Convert complex values to bools, since CuPy's logical functions do not support them."""
    return xp.not_equal(values, 0) if values.dtype.kind == "c" else values


@op(method=True, inplace=True, strict=True, elementwise=True)
def logical_and(xp: Backend, input: Array, other: Array) -> Array:
    """Whether both elements are nonzero.

    Args:
        input: Tensor of any shape and dtype.
        other: Tensor; the two shapes broadcast, the dtypes may differ.

    Returns:
        bool tensor of the broadcast shape.

    Example:
        >>> tt.logical_and(tt.tensor([0, 1, 2]), tt.tensor([1.0, 1.0, 0.0]))
        tensor([False,  True, False])
    """
    return xp.logical_and(_to_truth_values(xp, input), _to_truth_values(xp, other))


@op(method=True, inplace=True, strict=True, elementwise=True, like=logical_and)
def logical_or(xp: Backend, input: Array, other: Array) -> Array:
    """Whether either element is nonzero.

    Returns:
        bool tensor of the broadcast shape.

    Example:
        >>> tt.logical_or(tt.tensor([0, 1, 0]), tt.tensor([1.0, 1.0, 0.0]))
        tensor([ True,  True, False])
    """
    return xp.logical_or(_to_truth_values(xp, input), _to_truth_values(xp, other))


@op(method=True, inplace=True, strict=True, elementwise=True, like=logical_and)
def logical_xor(xp: Backend, input: Array, other: Array) -> Array:
    """Whether exactly one of the two elements is nonzero.

    Returns:
        bool tensor of the broadcast shape.

    Example:
        >>> tt.logical_xor(tt.tensor([0, 1, 0]), tt.tensor([1.0, 1.0, 0.0]))
        tensor([ True, False, False])
    """
    return xp.logical_xor(xp.not_equal(input, 0), xp.not_equal(other, 0))


@op(method=True, inplace=True, elementwise=True)
def logical_not(xp: Backend, input: Array) -> Array:
    """Whether each element is zero.

    Returns:
        bool tensor of the same shape.

    Example:
        >>> tt.logical_not(tt.tensor([0, 2]))
        tensor([ True, False])
    """
    return xp.logical_not(_to_truth_values(xp, input))


@op(method=True, elementwise=True)
def isnan(xp: Backend, input: Array) -> Array:
    """Whether each element is NaN, in its real or its imaginary part.

    Example:
        >>> tt.isnan(tt.tensor([1.0, float("nan")]))
        tensor([False,  True])
    """
    return xp.isnan(input)


@op(method=True, elementwise=True)
def isinf(xp: Backend, input: Array) -> Array:
    """Whether each element is infinite, of either sign.

    Example:
        >>> tt.isinf(tt.tensor([1.0, float("-inf")]))
        tensor([False,  True])
    """
    return xp.isinf(input)


@op(method=True, elementwise=True)
def isfinite(xp: Backend, input: Array) -> Array:
    """Whether each element is neither infinite nor NaN.

    Example:
        >>> tt.isfinite(tt.tensor([1.0, float("inf")]))
        tensor([ True, False])
    """
    return xp.isfinite(input)


@op(method=True, out=Out.EXACT, elementwise=True)
def isneginf(xp: Backend, input: Array) -> Array:
    """Whether each element is -inf.

    Raises:
        RuntimeError: For complex tensors.

    Example:
        >>> tt.isneginf(tt.tensor([1.0, float("-inf")]))
        tensor([False,  True])
    """
    return _is_infinity("isneginf", xp, input, float("-inf"))


@op(method=True, out=Out.EXACT, elementwise=True)
def isposinf(xp: Backend, input: Array) -> Array:
    """Whether each element is +inf.

    Raises:
        RuntimeError: For complex tensors.

    Example:
        >>> tt.isposinf(tt.tensor([1.0, float("inf")]))
        tensor([False,  True])
    """
    return _is_infinity("isposinf", xp, input, float("inf"))


def _is_infinity(name: str, xp: Backend, input: Array, infinity: float) -> Array:
    """Whether each element equals ``infinity``; False for integers, RuntimeError for complex."""
    if input.dtype.kind == "c":
        raise RuntimeError(f"{name} does not support complex inputs.")
    if input.dtype.kind in "uib":
        return xp.zeros(input.shape, "bool")
    return xp.equal(input, infinity)


@op(method=True, elementwise=True)
def isreal(xp: Backend, input: Array) -> Array:
    """Whether the imaginary part of each element is 0.

    Example:
        >>> tt.isreal(tt.tensor([1 + 0j, 1j]))
        tensor([ True, False])
    """
    return xp.isreal(input)


def _check_same_dtype(name: str, xp: Backend, input: Any, other: Any) -> None:
    """Raise RuntimeError unless both arrays have one dtype."""
    if input.dtype != other.dtype:
        mine, yours = xp.dtype_of(input).name, xp.dtype_of(other).name
        raise RuntimeError(f"{name}: {mine.capitalize()} did not match {yours.capitalize()}")


@op(method=True, strict=True, elementwise=True)
def isclose(
    xp: Backend,
    input: Array,
    other: Array,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    equal_nan: bool = False,
) -> Array:
    """Whether ``|input - other| <= atol + rtol * |other|``, or both are equal.

    Args:
        input: Tensor of any shape.
        other: Tensor of the same dtype; the two shapes broadcast.
        rtol: Relative tolerance; default 1e-5.
        atol: Absolute tolerance; default 1e-8.
        equal_nan: Whether NaN counts as close to NaN; default False.

    Returns:
        bool tensor of the broadcast shape.

    Raises:
        RuntimeError: If the dtypes differ, or a tolerance is negative.

    Example:
        >>> tt.isclose(tt.tensor([1.0, 1.0]), tt.tensor([1.0 + 1e-6, 1.1]))
        tensor([ True, False])
    """
    _check_same_dtype("isclose", xp, input, other)
    for name, value in (("rtol", rtol), ("atol", atol)):
        if not value >= 0:
            raise RuntimeError(f"{name} must be greater than or equal to zero, but got {value}")
    same = xp.equal(input, other)
    if equal_nan and input.dtype.kind in "fc":
        same = same | (xp.isnan(input) & xp.isnan(other))
    if rtol == 0 and atol == 0:
        return same
    if input.dtype.kind in "uib":
        input, other = xp.astype(input, "float64"), xp.astype(other, "float64")
    distance = xp.absolute(input - other)
    allowed = xp.absolute(other * rtol) + atol  # in this order, so that it is rounded as in torch
    return same | (xp.isfinite(distance) & (distance <= allowed))


@composite(method=True, like=isclose)
def allclose(
    input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> bool:
    """Whether ``isclose`` holds for all elements.

    Returns:
        A Python bool.

    Example:
        >>> tt.allclose(tt.ones(2), tt.ones(2) + 1e-7)
        True
    """
    return bool(isclose(input, other, rtol, atol, equal_nan).all())


@op(strict=True)
def _all_equal(xp: Backend, input: Array, other: Array) -> Array:
    """Whether both arrays have one shape and equal elements, as a 0-d bool array."""
    if input.shape != other.shape:
        return xp.asarray(False)
    return xp.asarray(xp.all(xp.equal(input, other)))


@composite(method=True)
def equal(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same shape and the same elements.

    Args:
        input: Tensor of any shape.
        other: Tensor of any shape.

    Returns:
        A Python bool; False if an element is NaN. For a comparison of each element, which is
        NumPy's function of this name, see ``eq``.

    Example:
        >>> tt.equal(tt.ones(2), tt.ones(2)), tt.equal(tt.ones(2), tt.ones(3))
        (True, False)
    """
    found = _all_equal(input, other)
    return bool(found._xp.item(found._data))
