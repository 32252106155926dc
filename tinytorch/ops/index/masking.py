"""Reading and writing elements that a mask selects."""

from __future__ import annotations

from typing import Any

from ... import dtypes
from ...core.tensor import Tensor
from ...dispatch.op import Array, Backend, Mask, Operand, composite, op
from ...dispatch.out import scalar_name
from ...dispatch.promotion import written_number
from ...dispatch.record import keep_versions
from ...graph.nodes import Node
from ...graph.special_nodes import wants_gradient
from ..memory_order import in_rows
from ..shape.broadcasting import broadcast_shapes
from ..shape.sizes import expand
from .assignment import set_writable
from .expanded_writing import opened
from .indexing import getitem


def _filled_name(node: Node) -> str:
    return f"MaskedFillBackward{int(wants_gradient(node, 'value'))}"


@op(method=True, inplace=True, node=_filled_name, elementwise=True)
def masked_fill(xp: Backend, input: Array, mask: Mask, value: Operand) -> Array:
    """``input`` with ``value`` where ``mask`` is true.

    Args:
        input: Tensor of any shape.
        mask: bool tensor whose shape broadcasts with ``input``'s.
        value: A number or 0-d tensor.

    Returns:
        Tensor of the broadcast shape and ``input``'s dtype.

    Raises:
        RuntimeError: If ``mask`` is not bool, ``value`` has dimensions, or it has an
            imaginary part and ``input`` is real.

    Example:
        >>> import tinytorch as tt
        >>> tt.zeros(2).masked_fill(tt.tensor([True, False]), 7.0)
        tensor([7., 0.])
    """
    if mask.dtype.kind != "b":
        raise RuntimeError(
            f"masked_fill only supports boolean masks, but got mask with dtype {mask.dtype.name}"
        )
    if getattr(value, "ndim", 0):
        raise RuntimeError(
            "masked_fill only supports a 0-dimensional value tensor, but got tensor with "
            f"{value.ndim} dimension(s)."
        )
    if hasattr(value, "dtype") and value.dtype.kind == "c" and input.dtype.kind != "c":
        value = _real(xp, input, value)
    value = written_number(value, xp.dtype_of(input))
    return in_rows(xp, xp.where(mask, xp.asarray(value, dtype=input.dtype), input))


def _real(xp: Backend, input: Array, value: Array) -> Array:
    """A complex number as a real one; RuntimeError if it has an imaginary part."""
    if value.imag != 0:
        name = scalar_name(xp.dtype_of(input))
        raise RuntimeError(
            f"masked_fill: value cannot be converted to type {name} without overflow"
        )
    return value.real


def _fill_expanded(input: Any, mask: Any, value: Any) -> Any:
    filled = masked_fill(input, mask, value)
    mask = expand(mask, input.shape)
    with opened("masked_fill", input, value):
        set_writable(input, mask, filled[mask])
    return input


masked_fill.op.registered.expanded = _fill_expanded
masked_fill.vjp(
    input=lambda xp, g, mask: xp.where(mask, 0, g),
    value=lambda xp, g, mask: xp.where(mask, g, 0),
)


@op(node="MaskedScatterBackward0")
def _masked_write(xp: Backend, input: Array, mask: Mask, source: Array) -> Array:
    """The k-th true place of ``mask`` gets the k-th element of the flattened ``source``."""
    if not source.size:
        return xp.array(input)
    place = _ranks(xp, mask, source.size)
    return xp.where(mask, xp.take(source.reshape(-1), place).reshape(mask.shape), input)


def _ranks(xp: Backend, mask: Array, size: int) -> Array:
    """For each element of ``mask`` how many true ones come before, within ``size``."""
    before = xp.cumsum(mask.reshape(-1), dtype=xp.native_dtype(dtypes.int64)) - 1
    return xp.clip(before, 0, size - 1)


@op
def _masked_read(xp: Backend, input: Array, mask: Mask, shape: Any) -> Array:
    """The elements of ``input`` where ``mask`` is true, then zeros, in ``shape``."""
    out = xp.zeros(tuple(shape), input.dtype)
    if out.size:
        places = _ranks(xp, mask, out.size)
        values = xp.where(mask, input, 0).reshape(-1)
        xp.index_add(out.reshape(-1), places, values)
    return out


_masked_write.vjp(
    input=lambda xp, g, mask: xp.where(mask, 0, g),
    source=lambda xp, g, in_shape, mask: xp.call(_masked_read, g, mask, in_shape),
)
_masked_read.vjp(
    input=lambda xp, g, mask: xp.call(_masked_write, xp.astype(mask, g.dtype) * 0, mask, g)
)


@composite(method=True, inplace=True, buffered=True, node="MaskedScatterBackward0")
def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """``input`` with the elements of ``source``, one after the other, where ``mask`` is true.

    Args:
        input: Tensor of any shape.
        mask: bool tensor; the two shapes broadcast.
        source: Tensor of ``input``'s dtype with at least as many elements as ``mask`` has
            true ones.

    Returns:
        Tensor of the broadcast shape.

    Raises:
        RuntimeError: If ``mask`` is not bool, the dtypes differ, or ``source`` is too small.

    Example:
        >>> import tinytorch as tt
        >>> mask = tt.tensor([True, False, True])
        >>> tt.zeros(3).masked_scatter(mask, tt.tensor([1.0, 2.0]))
        tensor([1., 0., 2.])
    """
    if mask._data.dtype.kind != "b":
        raise RuntimeError(
            "masked_scatter_ only supports boolean masks, but got mask with dtype "
            f"{mask.dtype.name}"
        )
    if source.dtype is not input.dtype:
        raise RuntimeError(
            "masked_scatter: expected self and source to have same dtypes but got "
            f"{input.dtype.name} and {source.dtype.name}"
        )
    shape = broadcast_shapes(input.shape, mask.shape)
    mask = expand(mask, shape)
    input._xp.check_all(
        mask._data.sum() <= source.numel(),
        "masked_scatter: number of elements of source < number of ones in mask",
    )
    return _masked_write(expand(input, shape), mask, source)


@composite(method=True, out=True, node="MaskedSelectBackward0", exact_out=True, buffered="apart")
def masked_select(input: Tensor, mask: Tensor) -> Tensor:
    """The elements of ``input`` where ``mask`` is true, in one dimension.

    Args:
        input: Tensor of any shape.
        mask: bool tensor; the two shapes broadcast.

    Returns:
        Tensor of shape ``(number of true elements,)``.

    Raises:
        RuntimeError: If ``mask`` is not bool or the shapes do not broadcast.

    Example:
        >>> import tinytorch as tt
        >>> tt.masked_select(tt.arange(3), tt.tensor([True, False, True]))
        tensor([0, 2])
    """
    if mask._data.dtype.kind != "b":
        raise RuntimeError("masked_select: expected BoolTensor for mask")
    shape = broadcast_shapes(input.shape, mask.shape)
    return keep_versions(getitem(expand(input, shape), expand(mask, shape)), input)
