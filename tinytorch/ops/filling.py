"""One value everywhere, in memory that exists."""

from __future__ import annotations

from .._inplace import call_inplace
from .._op import Array, Backend, Operand, composite, op
from .._tensor import Tensor


@op(inplace=True)
def fill(xp: Backend, input: Array, value: Operand) -> Array:
    """``value`` everywhere, in the shape and dtype of ``input``.

    Args:
        input: Tensor of any shape.
        value: A number or 0-d tensor.

    Raises:
        RuntimeError: If ``value`` has dimensions.

    Example:
        >>> import tinytorch as tt
        >>> tt.fill(tt.zeros(2), 3)
        tensor([3., 3.])
    """
    if getattr(value, "ndim", 0):
        raise RuntimeError(
            "fill only supports 0-dimension value tensor but got tensor with "
            f"{value.ndim} dimensions."
        )
    out = xp.empty(input.shape, input.dtype)
    out[...] = value
    return out


fill.vjp(input=lambda xp, g: xp.zeros_like(g), value=lambda xp, g: xp.sum(g))


@composite(method=True)
def zero_(input: Tensor) -> Tensor:
    """Write zeros over ``input``.

    Example:
        >>> import tinytorch as tt
        >>> tt.ones(2).zero_()
        tensor([0., 0.])
    """
    return call_inplace(fill.op, (input, 0), {})
