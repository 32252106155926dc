"""Division, floor division and remainder, element by element."""

from __future__ import annotations

from typing import Any

from ...dispatch.op import Array, Backend, Nodes, Operand, no_derivative, op, rename_nodes
from ...graph.nodes import Node
from ...graph.special_nodes import argument, name_by_operand
from ...state import default_dtype
from ..checks import check_supported, kind_of
from .arithmetic import apply_with_scalar


def _quotient_name(node: Node) -> str:
    rounded = argument(node, "rounding_mode") in ("floor", "trunc")
    return "DivBackward2" if rounded else "DivBackward0"


@op(method=True,
    inplace=True, operators=("truediv", "div"), promote="quotient", backend_function="true_divide",
    aliases=("divide", "true_divide"),
    node=Nodes(_quotient_name, number="MulBackward0", frees=True),
)  # fmt: skip
def div(xp: Backend, input: Operand, other: Operand, *, rounding_mode: str | None = None) -> Array:
    """``input / other``, element by element, optionally rounded to an integer.

    Args:
        input: Tensor of any shape.
        other: Tensor or number; the two shapes broadcast.
        rounding_mode: None, the default, is true division; for integers the result has the
            default dtype. ``"trunc"`` rounds towards zero and ``"floor"`` rounds down; for
            integers the result is an integer.

    Returns:
        Tensor of the broadcast shape. A float divided by 0 is inf or NaN.

    Raises:
        RuntimeError: For another rounding mode, or if an integer is divided by 0 with rounding.

    Example:
        >>> tt.div(tt.tensor([-7.0, 7.0]), 2)
        tensor([-3.5000,  3.5000])
        >>> tt.div(tt.tensor([-7, 7]), 2, rounding_mode="trunc")
        tensor([-3,  3])
    """
    if rounding_mode is None:
        if kind_of(input, other) in "fc":
            return apply_with_scalar(xp, xp.true_divide, input, other)
        dtype = xp.native_dtype(default_dtype())
        return xp.true_divide(xp.asarray(input, dtype), xp.asarray(other, dtype))
    if rounding_mode == "floor":
        return xp.call(floor_divide, input, other)
    if rounding_mode == "trunc":
        return _truncated_quotient(xp, input, other)
    raise RuntimeError(
        "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found "
        f"'{rounding_mode}'"
    )


div.vjp(
    input=lambda xp, g, other, rounding_mode: (
        g / other if rounding_mode is None else xp.zeros_like(g)
    ),
    other=lambda xp, g, input, other, rounding_mode: (
        -g * (input / other / other) if rounding_mode is None else xp.zeros_like(g)
    ),
)


#: Quotient by a number that a composite passes. PyTorch names its node DivBackward1, because it
#: saves the number itself, whereas a caller's number becomes a tensor.
over: Any = rename_nodes(div.op, "DivBackward1")


def check_divisor(xp: Backend, kernel: str, input: Any, other: Any) -> None:
    """Raise torch's RuntimeError if an integer is divided by 0."""
    check_supported(xp, kernel, input, other, unsupported="bc")
    if kind_of(input, other) in "ui" and getattr(input, "size", 1) != 0:
        message = f"{kernel}: ZeroDivisionError, an integer was divided by 0"
        if not hasattr(other, "dtype"):
            if other == 0 and input.size:
                raise RuntimeError(message)
        else:
            xp.check_all(xp.not_equal(other, 0), message)


def _truncated_quotient(xp: Backend, input: Any, other: Any) -> Array:
    """Quotient rounded towards zero."""
    check_divisor(xp, "div_trunc_cpu", input, other)
    if kind_of(input, other) == "f":
        return xp.trunc(xp.true_divide(input, other))
    quotient = xp.floor_divide(input, other)
    inexact = xp.multiply(quotient, other) != input
    return quotient + (inexact & ((input < 0) != (other < 0)))


@op(
    method=True,
    inplace=True,
    operators=("floordiv",),
    promote="arithmetic",
    node="NotImplemented",
    like=div,
)
def floor_divide(xp: Backend, input: Operand, other: Operand) -> Array:
    """``input / other`` rounded down, element by element.

    Returns:
        Tensor of the broadcast shape and torch's promoted dtype. It is not differentiable: a
        backward pass through it raises RuntimeError, as in torch.

    Raises:
        RuntimeError: If an integer is divided by 0.
        NotImplementedError: For bool and complex tensors.

    Example:
        >>> tt.tensor([-7, 7]) // 2
        tensor([-4,  3])
    """
    check_divisor(xp, "div_floor_cpu", input, other)
    return xp.floor_divide(input, other)


floor_divide.vjp(input=no_derivative("floor_divide"), other=no_derivative("floor_divide"))


@op(
    method=True,
    inplace=True,
    operators=("mod",),
    promote="arithmetic",
    strict=True,
    aliases=(".mod",),
    node=name_by_operand("other", "RemainderBackward0", "RemainderBackward1"),
    like=div,
)
def remainder(xp: Backend, input: Operand, other: Operand) -> Array:
    """Remainder of floor division; it has the sign of ``other``, as Python's ``%``.

    Returns:
        Tensor of the broadcast shape and torch's promoted dtype.

    Raises:
        RuntimeError: If an integer is divided by 0.
        NotImplementedError: For bool and complex tensors.

    Example:
        >>> tt.tensor([-7.0, 7.0]) % 3
        tensor([2., 1.])
    """
    check_divisor(xp, "remainder_cpu", input, other)
    return xp.remainder(input, other)


remainder.vjp(
    input=lambda xp, g: g,
    other=lambda xp, g, input, other: -g * xp.call(div, input, other, rounding_mode="floor"),
)
