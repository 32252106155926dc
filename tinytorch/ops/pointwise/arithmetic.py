"""Sums, products, negatives, absolute values and squares, element by element."""

from __future__ import annotations

from typing import Any

from ... import dtypes
from ...core.tensor import Tensor
from ...dispatch.op import Array, Backend, Nodes, Operand, Out, composite, op, rename_nodes
from ...dispatch.promotion import TWO_BOOLS, convert_to_write
from ..checks import check_supported, compute_in_single, is_half, kind_of
from .complex_numbers import direction
from .exponential import square_slope

#: Classes of factors that need no conversion.
_FACTORS = (float, int)


def _to_python_number(alpha: Any) -> Any:
    """Convert a factor to a Python number, since NumPy's scalars would widen the result."""
    return alpha.item() if hasattr(alpha, "item") else alpha


def check_factor(name: str, kind: str, at: str, factor: Any) -> None:
    """Raise for a bool factor of numbers, or a float factor of integers.

    The argument ``at`` of the operation ``name`` is the factor; ``kind`` is the result's kind.
    """
    if isinstance(factor, bool) and kind != "b":
        raise RuntimeError(f"{name}: Boolean {at} only supported for Boolean results.")
    if kind in "uib" and isinstance(factor, (float, complex)):
        raise RuntimeError(
            f"{name}: For integral input tensors, argument {at} must not be a floating point "
            f"number, got {factor}"
        )


def _scale_operand(xp: Backend, name: str, input: Any, other: Any, alpha: Any) -> Any:
    """``alpha * other``; raises for an ``alpha`` that would change the result's dtype."""
    kind, alpha = kind_of(other, input), _to_python_number(alpha)
    check_factor(name, kind, "alpha", alpha)
    if kind == "f" and isinstance(alpha, complex):
        raise RuntimeError(
            f"{name}: For non-complex input tensors, argument alpha must not be a complex number, "
            f"got {alpha}"
        )
    if not hasattr(other, "dtype"):
        # The product of two Python scalars would have the widest dtype.
        other = xp.asarray(other, dtype=input.dtype)
    if kind in "ui":
        alpha = convert_to_write(alpha, xp.dtype_of(other))
    return xp.logical_and(other, alpha) if kind == "b" else xp.multiply(other, alpha)


@op(
    method=True,
    inplace=True,
    operators=("add",),
    promote="arithmetic",
    backend_function="add",
    former_order=("alpha",),
)
def add(
    xp: Backend, input: Operand, other: Operand, *, alpha: float = 1, out: Array | None = None
) -> Array:
    """``input + alpha * other``, element by element.

    Args:
        input: Tensor of any shape.
        other: Tensor or number; the two shapes broadcast.
        alpha: Factor of ``other``; default 1.

    Returns:
        Tensor of the broadcast shape and torch's promoted dtype.

    Raises:
        RuntimeError: If the shapes do not broadcast, or ``alpha`` does not fit the dtype.

    Example:
        >>> tt.add(tt.tensor([1.0, 2.0]), tt.tensor([10.0, 20.0]), alpha=2)
        tensor([21., 42.])
    """
    if alpha.__class__ is not int or alpha != 1:
        usual = alpha.__class__ in _FACTORS and other.__class__ is input.__class__
        if usual and other.dtype.char in "fd" and -1e30 < alpha < 1e30:
            other = other * xp.number(other.dtype)(alpha)
        elif out is None and is_half(input) and is_half(other):
            return compute_in_single(xp, add.kernel, input, other, alpha=alpha)
        else:
            other = _scale_operand(xp, "add", input, other, alpha)
    return xp.add(input, other) if out is None else xp.add(input, other, out=out)


add.vjp(
    input=lambda xp, g: g,
    other=lambda xp, g, alpha: g if alpha == 1 else g * _to_python_number(alpha),
)


@op(method=True, inplace=True, operators=("sub",), promote="difference", like=add,
    backend_function="subtract", aliases=("subtract",), node=Nodes(number="RsubBackward1"),
    former_order=("alpha",))  # fmt: skip
def sub(
    xp: Backend, input: Operand, other: Operand, *, alpha: float = 1, out: Array | None = None
) -> Array:
    """``input - alpha * other``, element by element.

    Returns:
        Tensor of the broadcast shape and torch's promoted dtype.

    Raises:
        RuntimeError: If the shapes do not broadcast, if an operand is bool, or if ``alpha`` does
            not fit the dtype.

    Example:
        >>> tt.sub(tt.tensor([1.0, 2.0]), 1.0)
        tensor([0., 1.])
    """
    if alpha.__class__ is not int or alpha != 1:
        if is_half(input) and is_half(other) and out is None:
            return compute_in_single(xp, sub.kernel, input, other, alpha=alpha)
        other = _scale_operand(xp, "sub", input, other, alpha)
    try:
        return xp.subtract(input, other) if out is None else xp.subtract(input, other, out=out)
    except TypeError as error:
        if kind_of(input, other) != "b":
            raise error
        raise RuntimeError(TWO_BOOLS) from None


sub.vjp(
    input=lambda xp, g: g,
    other=lambda xp, g, alpha: -g if alpha == 1 else g * -_to_python_number(alpha),
)


@op(method=True,
    inplace=True, operators=("mul",), promote="arithmetic", backend_function="multiply",
    aliases=("multiply",), node=Nodes(frees=True), like=add)  # fmt: skip
def mul(xp: Backend, input: Operand, other: Operand, *, out: Array | None = None) -> Array:
    """``input * other``, element by element.

    Returns:
        Tensor of the broadcast shape and torch's promoted dtype.

    Raises:
        RuntimeError: If the shapes do not broadcast.

    Example:
        >>> tt.mul(tt.tensor([1.0, 2.0]), 3)
        tensor([3., 6.])
    """
    return apply_with_scalar(xp, xp.multiply, input, other, out)


def apply_with_scalar(
    xp: Backend, function: Any, input: Operand, other: Operand, out: Array | None = None
) -> Array:
    """Call a function of two operands; float16 with a Python number in float32, as in torch."""
    array = input if hasattr(input, "dtype") else other
    both = hasattr(input, "dtype") is hasattr(other, "dtype")
    if both or array.dtype.char != "e":
        return function(input, other) if out is None else function(input, other, out=out)
    wide = xp.astype(array, xp.native_dtype(dtypes.float32))
    found = function(wide, other) if array is input else function(input, wide)
    if out is None:
        return xp.astype(found, array.dtype)
    out[...] = found
    return out


mul.vjp(input=lambda xp, g, other: g * other, other=lambda xp, g, input: g * input)


#: Product with a number that a composite passes. PyTorch names its node MulBackward1, because it
#: saves the number itself, whereas a caller's number becomes a tensor.
times: Any = rename_nodes(mul.op, "MulBackward1")


@op(
    method=True,
    inplace=True,
    operators=("neg",),
    aliases=("negative",),
    out=Out.EXACT,
    elementwise=True,
)
def neg(xp: Backend, input: Array) -> Array:
    """``-input``, element by element.

    Raises:
        RuntimeError: For a bool tensor.

    Example:
        >>> -tt.tensor([1.0, -2.0])
        tensor([-1.,  2.])
    """
    if input.dtype.kind == "b":
        raise RuntimeError(
            "neg: Negation, the `-` operator, on a bool tensor is not supported. If you are "
            "trying to invert a mask, use the `~` or `logical_not()` operator instead."
        )
    return xp.negative(input)


neg.vjp(input=lambda xp, g: -g)


@composite(method=True, operators=("pos",), elementwise=True)
def positive(input: Tensor) -> Tensor:
    """``+input``, which is the tensor itself.

    Raises:
        RuntimeError: For a bool tensor.

    Example:
        >>> +tt.tensor([1.0, -2.0])
        tensor([ 1., -2.])
    """
    if input._data.dtype.kind == "b":
        raise RuntimeError("positive: The `+` operator, on a bool tensor is not supported.")
    return input


@op(
    method=True,
    inplace=True,
    operators=("abs",),
    aliases=("absolute",),
    out=Out.EXACT_FOR_REALS,
    elementwise=True,
)
def abs(xp: Backend, input: Array) -> Array:
    """Absolute value of each element; for complex numbers the magnitude, a real tensor.

    The gradient at 0 is 0.

    Raises:
        NotImplementedError: For a bool tensor.

    Example:
        >>> tt.tensor([-1.5, 2.0]).abs()
        tensor([1.5000, 2.0000])
    """
    check_supported(xp, "abs_cpu", input, unsupported="b")
    return xp.absolute(input)


def _abs_gradient(xp: Any, g: Any, input: Any) -> Any:
    """``g`` times the direction of ``input``, conjugated for complex numbers."""
    slope = direction(xp, input)
    return g * (xp.conj(slope) if input.dtype.kind == "c" else slope)


abs.vjp(input=_abs_gradient)


@op(method=True, inplace=True, node="PowBackward0", elementwise=True)
def square(xp: Backend, input: Array) -> Array:
    """``input * input``, element by element.

    Example:
        >>> tt.square(tt.tensor([-3.0, 2.0]))
        tensor([9., 4.])
    """
    if input.dtype.kind == "b":
        return xp.astype(input, "int64")
    return xp.square(input)


square.vjp(input=lambda xp, g, input: g * square_slope(xp, input))


@op(method=True, inplace=True, promote="float")
def reciprocal(xp: Backend, input: Array) -> Array:
    """``1 / input``, element by element; inf at 0. For integers it has the default dtype.

    Example:
        >>> tt.reciprocal(tt.tensor([2.0, -4.0]))
        tensor([ 0.5000, -0.2500])
    """
    return xp.true_divide(1, input)


reciprocal.vjp(input=lambda xp, g, out: -g * (out * out))
