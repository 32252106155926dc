"""One value along a diagonal, in memory that exists."""

from __future__ import annotations

import math
from typing import Any

from ...core.tensor import Tensor
from ...dispatch.inplace import call_inplace
from ...dispatch.op import Array, Backend, composite, op
from ...dispatch.promotion import written_number


@op(public=False)
def _diagonal_filled(xp: Backend, input: Array, value: Any, wrap: bool) -> Array:
    """``input`` with ``value`` on its main diagonal."""
    flat = xp.array(xp.reshape(input, (-1,)))
    step = sum(math.prod(input.shape[d:]) for d in range(1, input.ndim)) + 1
    # In a matrix with more rows than columns the steps lead on, past an empty row.
    end = flat.shape[0] if wrap else min(input.shape) * step
    xp.write_item(flat, slice(None, end, step), value)
    return xp.reshape(flat, input.shape)


_diagonal_filled.vjp(input=lambda xp, g, wrap: xp.call(_diagonal_filled, g, 0, wrap))


@composite(namespaces=("Tensor",))
def fill_diagonal_(input: Tensor, fill_value: float, wrap: bool = False) -> Tensor:
    """Write ``fill_value`` over the main diagonal of ``input``.

    Args:
        input: A matrix, or a tensor of more dimensions of one length.
        fill_value: A number.
        wrap: Whether the diagonal of a matrix with more rows than columns begins anew below its
            end, after an empty row; default False.

    Returns:
        ``input``.

    Raises:
        RuntimeError: For fewer than two dimensions, or more than two of different lengths.

    Example:
        >>> import tinytorch as tt
        >>> tt.zeros(2, 3).fill_diagonal_(5)
        tensor([[5., 0., 0.],
                [0., 5., 0.]])
    """
    if input.ndim < 2:
        raise RuntimeError(f"fill_diagonal_: dimensions must larger than 1, got {input.ndim}")
    if input.ndim > 2 and len(set(input.shape)) > 1:
        raise RuntimeError(
            "fill_diagonal_: all dimensions of input must be of equal length, got shape "
            f"{list(input.shape)}"
        )
    value = fill_value.item() if isinstance(fill_value, Tensor) else fill_value
    if isinstance(value, complex) and not input.is_complex():
        raise RuntimeError(
            f"fill_diagonal_: value cannot be converted to type {input.dtype.name} without overflow"
        )
    value = written_number(value, input.dtype)
    return call_inplace(_diagonal_filled.op, (input, value, bool(wrap)), {})
