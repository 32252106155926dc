"""Where index tensors point: positions in the flattened memory of a row-major array.

Writing and adding at positions of one array is several times faster in NumPy than at tuples
of index arrays, and CuPy combines in no other way.
"""

from __future__ import annotations

import math
from typing import Any

from ... import dtypes
from ...core.tensor import Tensor
from ...dispatch.op import Array, Backend
from ...warnings import warn


def usable_index(item: Tensor) -> Tensor:
    """An index of other numbers than signed ones: bytes are a mask, as before there were bools.

    Raises:
        IndexError: If it holds no integers.
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


def one_ellipsis(index: tuple[Any, ...], ndim: int, consumed: int) -> tuple[Any, ...]:
    """An index without ellipses after the first: those stand for nothing.

    To torch each of them goes forward by as many dimensions as the first stands for, so that
    nothing but further ellipses may follow unless that is none.

    Args:
        index: The items, several of which are an ellipsis.
        ndim: The number of dimensions of what is indexed.
        consumed: For how many of them the other items stand.

    Raises:
        IndexError: If what follows the second ellipsis would lie beyond the last dimension.
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


def stands_alone(item: Any) -> bool:
    """Whether an item makes a short list that it is in one index per dimension, as in torch."""
    alone = isinstance(item, (Tensor, slice, list, tuple, range)) or item is None
    return alone or item is Ellipsis or getattr(item, "ndim", 0) > 0


def int64(xp: Backend, array: Array) -> Array:
    """The integers of ``array`` as int64."""
    return xp.astype(array, xp.native_dtype(dtypes.int64))


def counting(xp: Backend, count: int, step: int = 1) -> Array:
    """``count`` int64 numbers from 0, ``step`` apart."""
    return xp.arange(0, count * step, step, dtype=xp.native_dtype(dtypes.int64))


def steps_of(shape: tuple[int, ...]) -> tuple[int, ...]:
    """How far apart neighbours along each dimension lie in a row-major array."""
    return tuple(math.prod(shape[i + 1 :]) for i in range(len(shape)))


def along(xp: Backend, index: Array, at: int, shape: tuple[int, ...]) -> Array:
    """What ``gather`` reads and ``scatter`` writes: ``index`` along ``at``, its own place else.

    Args:
        xp: The backend.
        index: Integer array, not negative, with as many dimensions as ``shape``.
        at: The dimension that ``index`` chooses in.
        shape: Shape of what is indexed.

    Returns:
        Positions of shape ``(index.size,)``, in row-major order of ``index``.
    """
    shape = shape or (1,)
    index = int64(xp, index if index.ndim else index.reshape(1))
    steps = steps_of(shape)
    place = None
    for d, count in enumerate(index.shape):
        if d != at:
            here = counting(xp, count, steps[d]) if steps[d] else xp.zeros_like(index[:0])
            here = here.reshape(tuple(-1 if i == d else 1 for i in range(index.ndim)))
            place = here if place is None else place + here
    chosen = index if steps[at] == 1 else index * steps[at]
    return (chosen if place is None else chosen + place).reshape(-1)


def slices(xp: Backend, index: Array, at: int, shape: tuple[int, ...]) -> Array:
    """What ``index_select`` reads and ``index_add`` writes: whole slices along ``at``.

    Args:
        xp: The backend.
        index: Integer array of at most one dimension, not negative.
        at: The dimension that ``index`` chooses in.
        shape: Shape of what is indexed.

    Returns:
        Positions of shape ``(index.size * elements of a slice,)``, in row-major order.
    """
    shape = shape or (1,)
    inner = math.prod(shape[at + 1 :])
    outer = math.prod(shape[:at])
    chosen = int64(xp, index).reshape(-1, 1) * inner + counting(xp, inner)
    if outer != 1:
        start = xp.arange(outer, dtype=chosen.dtype) * (shape[at] * inner)
        chosen = start.reshape(-1, 1, 1) + chosen
    return chosen.reshape(-1)


def add_slices(xp: Backend, target: Array, at: int, index: Array, values: Array) -> None:
    """Add the slices of ``values`` along ``at`` to those of ``target`` that ``index`` names.

    Args:
        xp: The backend.
        target: Row-major array, changed in place.
        at: The dimension that ``index`` chooses in.
        index: Integer array of at most one dimension, not negative.
        values: Array of ``target``'s dtype and shape, but of ``index``'s size at ``at``.
    """
    if at == 0 and target.ndim > 1 and target.size:
        xp.index_add(target, index.reshape(-1), values)
    else:
        places = slices(xp, index, at, target.shape)
        xp.index_add(target.reshape(-1), places, values.reshape(-1))


def row_major(xp: Backend, array: Array) -> Array:
    """A copy whose flattened form is a view of it."""
    return xp.array(array, order="C")


def corner(array: Any, shape: tuple[int, ...]) -> Any:
    """The first ``shape`` of ``array``, which may be larger; one element where it is ``()``."""
    if tuple(array.shape) == tuple(shape):
        return array
    return array[tuple(slice(0, n) for n in shape or (1,) * array.ndim)]
