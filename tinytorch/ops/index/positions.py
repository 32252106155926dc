"""Conversion of index tensors to positions in the flattened memory of a row-major array.

In NumPy, writing and adding at positions of one array is several times faster than at tuples of
index arrays. CuPy supports reductions only this way.
"""

from __future__ import annotations

import math
from typing import Any

from ... import dtypes
from ...core.tensor import Tensor
from ...dispatch.op import Array, Backend
from ...warnings import warn


def convert_index(item: Tensor) -> Tensor:
    """Convert an index of another dtype: uint8 is a deprecated mask.

    Raises:
        IndexError: If the dtype is not an integer dtype.
    """
    if item.dtype.name == "uint8":
        warn(
            "indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool "
            "instead."
        )
        return item != 0
    if item.dtype.kind != "u":
        raise IndexError(
            f"tensors used as indices must be long, int, byte or bool tensors, got {item.dtype}"
        )
    return item


def merge_ellipses(index: tuple[Any, ...], ndim: int, consumed: int) -> tuple[Any, ...]:
    """Remove the ellipses after the first from an index.

    In torch each ellipsis skips as many dimensions as the first one. After a second ellipsis
    only ellipses may follow, unless the first one skips no dimension.

    Args:
        index: The items, several of which are an ellipsis.
        ndim: The number of dimensions of the indexed tensor.
        consumed: The number of dimensions that the other items consume.

    Raises:
        IndexError: If an item after the second ellipsis would be beyond the last dimension.
    """
    places = [i for i, item in enumerate(index) if item is Ellipsis]
    kept = tuple(item for i, item in enumerate(index) if i not in places[1:])
    if consumed < ndim and places[1] < len(index) - len(places) + 1:
        beyond = 2 * ndim - consumed
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-ndim}, {ndim - 1}], but got "
            f"{beyond}): something follows the second ellipsis of an index"
        )
    return kept


def is_index_item(item: Any) -> bool:
    """Whether a list that contains the item is a tuple of indices, as in torch."""
    is_item = isinstance(item, (Tensor, slice, list, tuple, range)) or item is None
    return is_item or item is Ellipsis or getattr(item, "ndim", 0) > 0


def is_int64(array: Array) -> bool:
    """Whether the elements are int64; NumPy takes many times as long to make a dtype's name."""
    dtype = array.dtype
    return bool(dtype.kind == "i" and dtype.itemsize == 8)


def to_int64(xp: Backend, array: Array) -> Array:
    """Convert an array of integers to int64."""
    if is_int64(array):
        return array
    return xp.astype(array, xp.native_dtype(dtypes.int64))


def int64_range(xp: Backend, count: int, step: int = 1) -> Array:
    """Array of ``count`` int64 numbers from 0 with a step."""
    return xp.arange(0, count * step, step, dtype=xp.native_dtype(dtypes.int64))


def gather_positions(xp: Backend, index: Array, at: int, shape: tuple[int, ...]) -> Array:
    """Flat positions that ``gather`` reads and ``scatter`` writes.

    Args:
        xp: The backend.
        index: Integer array, not negative, with as many dimensions as ``shape``.
        at: The dimension that is indexed.
        shape: Shape of the indexed array.

    Returns:
        Positions of shape ``(index.size,)``, in row-major order of ``index``.
    """
    index = to_int64(xp, index if index.ndim else index.reshape(1))
    if index.ndim == 1:
        return index
    step = math.prod(shape[at + 1 :]) if at < len(shape) - 1 else 1
    places = (index if step == 1 else index * step) + xp.lane_starts[index.shape, at, shape]
    return places.reshape(-1)


def slice_positions(xp: Backend, index: Array, at: int, shape: tuple[int, ...]) -> Array:
    """Flat positions of the slices that ``index_select`` reads and ``index_add`` writes.

    Args:
        xp: The backend.
        index: Integer array of at most one dimension, not negative.
        at: The dimension that is indexed.
        shape: Shape of the indexed array.

    Returns:
        Positions of shape ``(index.size * elements of a slice,)``, in row-major order.
    """
    shape = shape or (1,)
    inner = math.prod(shape[at + 1 :])
    outer = math.prod(shape[:at])
    chosen = to_int64(xp, index).reshape(-1, 1) * inner + int64_range(xp, inner)
    if outer != 1:
        start = xp.arange(outer, dtype=chosen.dtype) * (shape[at] * inner)
        chosen = start.reshape(-1, 1, 1) + chosen
    return chosen.reshape(-1)


def add_slices(xp: Backend, target: Array, at: int, index: Array, values: Array) -> None:
    """Add the slices of ``values`` along ``at`` to the slices of ``target`` at ``index``.

    Args:
        xp: The backend.
        target: Row-major array, changed in place.
        at: The dimension that is indexed.
        index: Integer array of at most one dimension, not negative.
        values: Array of ``target``'s dtype and shape, except for ``index``'s size at ``at``.
    """
    if not target.ndim:
        target, values = target.reshape(1), values.reshape(-1)
    if at == 0 and target.size:
        xp.index_add(target, index.reshape(-1), values)
    else:
        places = slice_positions(xp, index, at, target.shape)
        xp.index_add(target.reshape(-1), places, values.reshape(-1))


def row_major(xp: Backend, array: Array) -> Array:
    """Copy an array in row-major order, so that its flattened form is a view."""
    return xp.array(array, order="C")


def corner(array: Any, shape: tuple[int, ...]) -> Any:
    """The leading part of ``array`` of the given shape; one element for shape ``()``."""
    if tuple(array.shape) == tuple(shape):
        return array
    return array[tuple(slice(0, n) for n in shape or (1,) * array.ndim)]
