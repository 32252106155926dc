"""Stable argsort of NumPy arrays by sorting integers that hold an element and its index.

NumPy sorts 64-bit integers with SIMD instructions, ten times faster than it sorts indices stably.
An element of up to 32 bits becomes the upper half of such an integer, in a form that has the same
order, and its index the lower half. Equal elements thus stay in their order, and the sorted
integers hold the indices. Elements of 64 bits are sorted by NumPy first; if some are equal, their
ranks are used instead of the elements.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

InParts = Callable[[Callable[[int, int], Any], int], list[Any]]
Pack = Callable[[Any], Any]

#: Elements per block, whose keys fit the cache.
_BLOCK = 65536
#: From this many elements on a second thread saves more time than waking it takes.
_THREADED = 1 << 17
#: Rows shorter than this, and few of them, are sorted by NumPy alone.
_FEW = 512
#: Below this many elements an unstable sort of all is faster than finding a part of the order.
_SOME = 4096
#: Factor by which candidates must be fewer than elements for ``_tournament`` to be faster.
_WORTH = 3
_SIGN = numpy.array(0x7FFFFFFF, "int32")


def order(array: Any, axis: int, descending: bool, in_parts: InParts) -> Any:
    """int64 indices that sort along ``axis``, equal elements in their order; NaN is largest."""
    size = array.shape[axis]
    if array.size < _FEW:
        return stable(array, axis, descending)
    rows, shape = _rows(array, axis)
    pack = _packer(rows, descending)
    if pack is None:
        return _restore_shape(_ranked_order(rows, descending), shape, axis)
    return _restore_shape(
        _arrange_blocks(rows, pack, lambda keys: keys.sort(1), 0, size, in_parts), shape, axis
    )


def stable(array: Any, axis: int, descending: bool) -> Any:
    """``order`` by NumPy's own stable sort."""
    if not descending:
        return array.argsort(axis, "stable")
    # A stable sort of the reversed elements, reversed, keeps equal elements in their order.
    backwards = (slice(None),) * axis + (slice(None, None, -1),)
    indices = array[backwards].argsort(axis, "stable")
    return numpy.subtract(array.shape[axis] - 1, indices[backwards])


def leading(array: Any, count: int, axis: int, descending: bool, in_parts: InParts) -> Any:
    """First ``count`` indices of ``order`` along ``axis``; equal elements in any order."""
    size = array.shape[axis]
    if array.size < _SOME:
        part = slice(None, -count - 1, -1) if descending else slice(0, count)
        indices = array.argsort(axis)[(slice(None),) * axis + (part,)]
        return numpy.array(indices, order="C")
    if count == 0 or 2 * count > size:
        cut = (slice(None),) * axis + (slice(0, count),)
        return numpy.ascontiguousarray(order(array, axis, descending, in_parts)[cut])
    parts = int((size / count) ** 0.5)
    if parts > 1 and array.dtype.kind in "fiu" and size > _WORTH * (count * parts + parts):
        return _tournament(array, count, axis, descending, parts, in_parts)
    rows, shape = _rows(array, axis)
    pack = _packer(rows, descending)
    if pack is not None:

        def first(keys: Any) -> None:
            keys.partition(count - 1, 1)
            keys[:, :count].sort(1)

        return _restore_shape(_arrange_blocks(rows, pack, first, 0, count, in_parts), shape, axis)
    cut_at = size - count if descending else count - 1
    chosen = slice(cut_at, None) if descending else slice(0, count)
    candidates = numpy.argpartition(rows, cut_at, axis=1)[:, chosen]
    return _restore_shape(
        _order_candidates(rows, candidates, count, descending, in_parts), shape, axis
    )


def _order_candidates(
    rows: Any, candidates: Any, count: int, descending: bool, in_parts: InParts
) -> Any:
    """First ``count`` candidate indices, sorted by the elements at these indices."""
    chosen = order(numpy.take_along_axis(rows, candidates, 1), 1, descending, in_parts)
    return numpy.take_along_axis(candidates, chosen[:, :count], 1)


def _tournament(
    array: Any, count: int, axis: int, descending: bool, parts: int, in_parts: InParts
) -> Any:
    """``leading`` by searching only the ``count`` groups with the best elements.

    A row is split into ``parts``, and the elements at one position of all parts are a group. An
    element outside the ``count`` best groups is behind the best element of each of them.
    """
    moved = numpy.moveaxis(array, axis, -1)
    if axis != array.ndim - 1 and not moved.flags.c_contiguous:
        moved = numpy.ascontiguousarray(moved)
    rows = moved.reshape(-1, moved.shape[-1])
    length = rows.shape[1] // parts
    groups = rows[:, : parts * length].reshape(-1, parts, length)
    # NaN is largest: maximum propagates it, and fmin ignores it.
    best = numpy.maximum.reduce(groups, 1) if descending else numpy.fmin.reduce(groups, 1)
    cut_at = length - count if descending else count - 1
    chosen = numpy.argpartition(best, cut_at, axis=1)
    chosen = chosen[:, cut_at:] if descending else chosen[:, :count]
    members = chosen[:, None, :] + numpy.arange(0, parts * length, length)[:, None]
    rest = numpy.arange(parts * length, rows.shape[1])
    candidates = numpy.concatenate(
        (members.reshape(len(rows), -1), numpy.broadcast_to(rest, (len(rows), rest.size))), 1
    )
    return _restore_shape(
        _order_candidates(rows, candidates, count, descending, in_parts), moved.shape, axis
    )


def pick(array: Any, axis: int, place: Any, in_parts: InParts) -> Any:
    """int64 indices of the elements at one position of the sorted order along ``axis``.

    Args:
        array: Real array.
        axis: The dimension that is ordered; the result has size 1 there.
        place: The position: an int, or an array with one for each row.
        in_parts: ``Backend.in_parts``.
    """
    if isinstance(place, numpy.ndarray):
        low, high = (place.item(),) * 2 if place.size == 1 else _ends(place)
        if low != high:
            return numpy.take_along_axis(order(array, axis, False, in_parts), place, axis)
        place = low
    if array.size < _FEW:
        cut = (slice(None),) * axis + (slice(place, place + 1),)
        return stable(array, axis, False)[cut]
    rows, shape = _rows(array, axis)
    pack = _packer(rows, False)
    if pack is None:
        indices = numpy.argpartition(rows, place, axis=1)[:, place : place + 1]
    else:
        indices = _arrange_blocks(
            rows, pack, lambda keys: keys.partition(place, 1), place, 1, in_parts
        )
    return _restore_shape(indices, shape, axis)


def _ends(place: Any) -> tuple[int, int]:
    """Minimum and maximum of positions; zeros if there are none."""
    return (int(place.min()), int(place.max())) if place.size else (0, 0)


def _rows(array: Any, axis: int) -> tuple[Any, tuple[int, ...]]:
    """Return the array with one sort per row, and the former shape."""
    moved = numpy.moveaxis(array, axis, -1)
    rows = numpy.ascontiguousarray(moved).reshape(-1, moved.shape[-1])
    return rows, moved.shape


def _restore_shape(rows: Any, shape: tuple[int, ...], axis: int) -> Any:
    """Undo ``_rows``: ``shape`` is the shape that it returned; rows may be shorter now."""
    out = rows.reshape(*shape[:-1], rows.shape[1])
    return numpy.ascontiguousarray(numpy.moveaxis(out, -1, axis))


def _packer(rows: Any, descending: bool) -> Pack | None:
    """Return a function that makes a sort key of each element of a block of rows.

    A key is an int64: the element's rank in its upper bits and its position in the row in the lower
    ones. Sorting keys is therefore stable and yields the indices. None if 64 bits are too few.
    """
    kind, size, shift = rows.dtype.kind, rows.dtype.itemsize, _shift(rows.shape[1])
    if shift > 31:
        return None
    place = numpy.arange(rows.shape[1], dtype="int64")
    low = 0
    if kind in "iu" and (size == 8 or rows.dtype.char == "I"):
        low, high = int(rows.min()), int(rows.max())
        if (high - low).bit_length() + shift > 62:
            return None
    elif kind == "f" and size > 4:
        return None

    def pack(part: Any) -> Any:  # the keys of a block of rows
        keys = _float_key(part) if kind == "f" else part.astype("int64")
        if low:
            keys -= low if low < 1 << 63 else numpy.array(low, "uint64").astype("int64")
        if descending:
            numpy.invert(keys, out=keys)
        keys <<= shift
        keys |= place
        return keys

    return pack


def _float_key(part: Any) -> Any:
    """int64 keys with the order of floats of up to 32 bits; NaN is largest."""
    bits = (part.astype("float32", copy=False) + numpy.float32(0)).view("int32")  # turns -0 into 0
    flip = bits >> 31  # all bits set for negative numbers, whose other bits are inverted
    flip &= _SIGN
    bits ^= flip
    keys = bits.astype("int64")
    # NaNs of either sign get one key, the largest.
    is_nan = part != part
    if is_nan.any():
        keys[is_nan] = 0x7FFFFFFF
    return keys


def _shift(size: int) -> int:
    """Number of bits for positions in a row of ``size`` elements."""
    return max(size - 1, 1).bit_length()


def _arrange_blocks(
    rows: Any, pack: Pack, arrange: Callable[[Any], None], first: int, count: int,
    in_parts: InParts,
) -> Any:  # fmt: skip
    """Sort rows by keys, block by block, and return indices from a range of the order.

    Args:
        rows: Matrix whose rows are sorted separately.
        pack: Function of ``_packer``.
        arrange: Function that sorts or partitions the keys of a block in place.
        first: First position of the order that is returned.
        count: Number of positions.
        in_parts: ``Backend.in_parts``.

    Returns:
        int64 matrix of ``count`` indices for each row.
    """
    out = numpy.empty((len(rows), count), "int64")
    step = max(1, _BLOCK // rows.shape[1])
    mask = (1 << _shift(rows.shape[1])) - 1

    def work(start: int, stop: int) -> None:
        for at in range(start * step, min(stop * step, len(rows)), step):
            keys = pack(rows[at : at + step])
            arrange(keys)
            numpy.bitwise_and(keys[:, first : first + count], mask, out=out[at : at + step])

    blocks = -(-len(rows) // step)
    if rows.size < _THREADED:
        work(0, blocks)
    else:
        in_parts(work, blocks)
    return out


def _ranked_order(rows: Any, descending: bool) -> Any:
    """Stable argsort of rows whose elements have 64 bits, too many for ``_packer``.

    The rows are sorted unstably first. If there are equal elements, the ranks of the distinct
    elements replace them in keys of rank and index, which are sorted again.
    """
    indices = numpy.argsort(rows, axis=1)
    ordered = numpy.take_along_axis(rows, indices, 1)
    rises = ordered[:, 1:] > ordered[:, :-1]
    if rows.dtype.kind == "f":  # the first NaN is larger than the number before it
        is_nan = ordered != ordered
        rises |= is_nan[:, 1:] > is_nan[:, :-1]
    if rises.all():
        return indices[:, ::-1] if descending else indices
    keys = numpy.zeros(rows.shape, "int64")
    numpy.cumsum(rises, axis=1, out=keys[:, 1:])
    if descending:
        numpy.subtract(rows.shape[1], keys, out=keys)
    shift = _shift(rows.shape[1])
    keys <<= shift
    keys |= indices
    keys.sort(1)
    keys &= (1 << shift) - 1
    return keys
