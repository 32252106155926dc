"""Arithmetic and elementary functions, element by element."""

from __future__ import annotations

from .._op import Array, Backend, Operand, op


@op(inplace=True, operators=("add",), promote="arithmetic")
def add(
    xp: Backend, input: Operand, other: Operand, *, alpha: float = 1, out: Array | None = None
) -> Array:
    """``input + alpha * other``, element by element.

    Args:
        input: Tensor of any shape.
        other: Tensor or number; the two shapes broadcast.
        alpha: Factor of ``other``; default 1.
        out: Where to write the result.

    Returns:
        Tensor of the broadcast shape and torch's promoted dtype.

    Raises:
        RuntimeError: If the shapes do not broadcast.

    Example:
        >>> import tinytorch as tt
        >>> tt.add(tt.tensor([1.0, 2.0]), tt.tensor([10.0, 20.0]), alpha=2)
        tensor([21., 42.])
    """
    if alpha != 1:
        other = xp.multiply(other, alpha)
    return xp.add(input, other) if out is None else xp.add(input, other, out=out)


add.vjp(
    input=lambda xp, g: g,
    other=lambda xp, g, alpha: g if alpha == 1 else g * alpha,
)


@op(inplace=True, operators=("sub",), promote="arithmetic", aliases=("subtract",))
def sub(
    xp: Backend, input: Operand, other: Operand, *, alpha: float = 1, out: Array | None = None
) -> Array:
    """``input - alpha * other``, element by element.

    Args:
        input: Tensor of any shape.
        other: Tensor or number; the two shapes broadcast.
        alpha: Factor of ``other``; default 1.
        out: Where to write the result.

    Returns:
        Tensor of the broadcast shape and torch's promoted dtype.

    Raises:
        RuntimeError: If the shapes do not broadcast, or for two bool tensors.

    Example:
        >>> import tinytorch as tt
        >>> tt.sub(tt.tensor([1.0, 2.0]), 1.0)
        tensor([0., 1.])
    """
    if alpha != 1:
        other = xp.multiply(other, alpha)
    return xp.subtract(input, other) if out is None else xp.subtract(input, other, out=out)


sub.vjp(
    input=lambda xp, g: g,
    other=lambda xp, g, alpha: -g if alpha == 1 else g * -alpha,
)


@op(inplace=True, operators=("mul",), promote="arithmetic", aliases=("multiply",))
def mul(xp: Backend, input: Operand, other: Operand, *, out: Array | None = None) -> Array:
    """``input * other``, element by element.

    Args:
        input: Tensor of any shape.
        other: Tensor or number; the two shapes broadcast.
        out: Where to write the result.

    Returns:
        Tensor of the broadcast shape and torch's promoted dtype.

    Raises:
        RuntimeError: If the shapes do not broadcast.

    Example:
        >>> import tinytorch as tt
        >>> tt.mul(tt.tensor([1.0, 2.0]), 3)
        tensor([3., 6.])
    """
    return xp.multiply(input, other) if out is None else xp.multiply(input, other, out=out)


mul.vjp(
    input=lambda xp, g, other: g * other,
    other=lambda xp, g, input: g * input,
)


@op(inplace=True)
def sin(xp: Backend, input: Array) -> Array:
    """Sine of each element of ``input``, in radians.

    Example:
        >>> import tinytorch as tt
        >>> tt.sin(tt.zeros(2))
        tensor([0., 0.])
    """
    return xp.sin(input)


sin.vjp(input=lambda xp, g, input: g * xp.cos(input))
