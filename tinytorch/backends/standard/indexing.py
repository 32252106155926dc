"""NumPy's indexing by the functions of the array API standard, without the host.

The standard has slices, one mask, ``take`` and no scatter. A key with arrays becomes the places of
its elements in the flat array. A write looks each element up among the sorted places.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy

if TYPE_CHECKING:
    from .library import ArrayLibrary, Raw

_INT64 = numpy.dtype("int64")


def expand(key: tuple[Any, ...], ndim: int) -> list[Any]:
    """Return the items of a key with full slices for its Ellipsis and the dimensions it omits.

    Raises:
        IndexError: If it has too many items, or two Ellipses.
    """
    taken = sum(count_dims(item) for item in key)
    if taken > ndim:
        raise IndexError(
            f"too many indices for array: array is {ndim}-dimensional, but {taken} were indexed"
        )
    dots = [i for i, item in enumerate(key) if item is Ellipsis]
    if len(dots) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    rest = [slice(None)] * (ndim - taken)
    at = dots[0] if dots else len(key)
    return [*key[:at], *rest, *key[at + len(dots) :]]


def count_dims(item: Any) -> int:
    """Number of dimensions that an item of a key indexes."""
    if item is None or item is Ellipsis or isinstance(item, bool):
        return 0
    is_mask = "bool" in str(getattr(item, "dtype", ""))
    return len(item.shape) if is_mask else 1


def is_basic(key: tuple[Any, ...]) -> bool:
    """Whether a key has no arrays, masks or NumPy scalars."""
    for item in key:
        c = item.__class__
        if not (c is slice or c is int or item is None or item is Ellipsis):
            return False
    return True


def has_negative_step(key: tuple[Any, ...]) -> bool:
    """Whether a key has a slice with a negative step."""
    for item in key:
        if item.__class__ is slice and item.step is not None and item.step < 0:
            return True
    return False


def places(library: ArrayLibrary, shape: tuple[int, ...], key: tuple[Any, ...]) -> Raw:
    """Places of ``key`` in an array of ``shape``, flattened: int64 of the shape of ``raw[key]``."""
    items, dims = [], []
    dim = 0
    for item in expand(key, len(shape)):
        for part in _split_mask(library, item, shape, dim):
            items.append(part)
            dims.append(dim)
            dim += part is not None and not isinstance(part, bool)
    return _sum_places(library, shape, items, dims)


def _split_mask(library: ArrayLibrary, item: Any, shape: tuple[int, ...], dim: int) -> list[Any]:
    """Return the integer arrays that equal a mask, one for each of its dimensions."""
    if isinstance(item, bool):
        item = library.from_host(numpy.asarray(item))
    if not hasattr(item, "dtype") or library.numpy_dtype(item.dtype).kind != "b":
        return [item]
    if not item.shape:  # one more dimension, of size 0 or 1
        count = int(bool(library.item(item)))
        return [_ExtraDim(library.from_host(numpy.zeros(count, _INT64)))]
    for i, size in enumerate(item.shape):
        if size != shape[dim + i]:
            raise IndexError(
                f"boolean index did not match indexed array along axis {dim + i}; size of axis is "
                f"{shape[dim + i]} but size of corresponding boolean axis is {size}"
            )
    return list(library.nonzero(item))


class _ExtraDim:
    """Array of a 0-d mask, which indexes no dimension."""

    def __init__(self, raw: Raw) -> None:
        self.raw = raw


def _sum_places(
    library: ArrayLibrary, shape: tuple[int, ...], items: list[Any], dims: list[int]
) -> Raw:
    """Sum the offsets of all items of a key, broadcast to the shape of its result."""
    arrays = [i for i, item in enumerate(items) if _is_array(item)]
    if arrays:  # an integer among arrays is an array
        arrays = [i for i, item in enumerate(items) if _is_array(item) or _is_integer(item)]
    shapes = [_array_of(items[i]).shape if _is_array(items[i]) else () for i in arrays]
    common = numpy.broadcast_shapes(*map(tuple, shapes)) if arrays else ()
    adjacent = arrays == list(range(arrays[0], arrays[-1] + 1)) if arrays else False
    at = arrays[0] if adjacent else 0
    layout = _KeyLayout(items, set(arrays), common, at)
    total, start = None, 0
    shift = _count_skipped(dims, items)
    for i, item in enumerate(items):
        if item is None:
            continue
        dim = dims[i] - shift[i]
        if isinstance(item, _ExtraDim):
            offsets = library.reshape(item.raw, layout.shape_of(i, tuple(item.raw.shape)))
        else:
            step = math.prod(shape[dim + 1 :])
            if _is_integer(item):
                start += _wrap(int(item), shape[dim], dim) * step
                continue
            offsets = _offsets(library, item, shape[dim], step, layout, i)
        total = offsets if total is None else total + offsets
    return _add_start(library, total, start, layout.result)


def _count_skipped(dims: list[int], items: list[Any]) -> list[int]:
    """Number of 0-d masks before each item: they are counted in ``dims`` but index nothing."""
    out, count = [], 0
    for item in items:
        out.append(count)
        count += isinstance(item, _ExtraDim)
    return out


def _is_array(item: Any) -> bool:
    return hasattr(item, "dtype") or isinstance(item, _ExtraDim)


def _array_of(item: Any) -> Raw:
    return item.raw if isinstance(item, _ExtraDim) else item


def _is_integer(item: Any) -> bool:
    return isinstance(item, int) and not isinstance(item, bool)


def _wrap(index: int, size: int, dim: int) -> int:
    """Return a valid index that is not negative; raise IndexError for any other."""
    if not -size <= index < size:
        raise IndexError(f"index {index} is out of bounds for axis {dim} with size {size}")
    return index % size


class _KeyLayout:
    """Dimensions of the result of a key with arrays, by NumPy's rule.

    The dimensions of the arrays replace the first one if they are adjacent; else they come first.
    """

    def __init__(
        self, items: list[Any], arrays: set[int], common: tuple[int, ...], at: int
    ) -> None:
        self.items, self.arrays, self.common = items, arrays, common
        kept = [i for i, item in enumerate(items) if i not in arrays and not _is_integer(item)]
        self.before = [i for i in kept if i < at]
        self.after = [i for i in kept if i >= at]
        self.sizes: dict[int, int] = {}
        self.result: list[Any] = [*self.before, *([None] if arrays else []), *self.after]

    def shape_of(self, i: int, own: tuple[int, ...]) -> tuple[int, ...]:
        """Shape in which the offsets of item ``i`` broadcast against all others."""
        if i in self.arrays:
            padded = (1,) * (len(self.common) - len(own)) + own
            return (1,) * len(self.before) + padded + (1,) * len(self.after)
        self.sizes[i] = own[0]
        order = [*self.before, *([-1] * len(self.common)), *self.after]
        return tuple(own[0] if each == i else 1 for each in order)

    def shape(self) -> tuple[int, ...]:
        """Shape of the result."""
        sizes = [self.sizes.get(i, 1) for i in self.before]
        return (*sizes, *self.common, *(self.sizes.get(i, 1) for i in self.after))


def _offsets(
    library: ArrayLibrary, item: Any, size: int, step: int, layout: _KeyLayout, i: int
) -> Raw:  # fmt: skip
    """Offsets of the elements that a slice or an array selects along one dimension."""
    if isinstance(item, slice):
        host = numpy.arange(size)[item] * step
        return library.reshape(library.from_host(host), layout.shape_of(i, host.shape))
    raw = wrap_negative(library, library.as_index(item), size)
    if step != 1:
        raw = raw * library.scalar(step, _INT64)
    return library.reshape(raw, layout.shape_of(i, tuple(raw.shape)))


def _add_start(library: ArrayLibrary, total: Raw | None, start: int, result: Any) -> Raw:
    """Add the offset of the integers of a key."""
    if total is None:
        total = library.from_host(numpy.asarray(start, _INT64))
        return library.reshape(total, (1,) * len(result))
    return total + library.scalar(start, _INT64) if start else total


def wrap_negative(library: ArrayLibrary, index: Raw, size: int) -> Raw:
    """Add ``size`` to negative indices."""
    zero, whole = library.scalar(0, _INT64), library.scalar(size, _INT64)
    return library.where(index < zero, index + whole, index)


def shape_beside(a: tuple[int, ...], b: tuple[int, ...], axis: int) -> tuple[int, ...]:
    """Broadcast two shapes in all dimensions but ``axis``, which gets size 1."""
    rest = [(*shape[:axis], 1, *shape[axis + 1 :]) for shape in (a, b)]
    return numpy.broadcast_shapes(*rest)


def write_places(library: ArrayLibrary, flat: Raw, at: Raw, values: Raw) -> Raw:
    """Copy of ``flat`` with ``values`` at the places ``at``; of repeated places, the last.

    Each element is looked up in the sorted places. The sort is stable, so that the last of equal
    places is the last that was written.
    """
    count, size = at.shape[0], flat.shape[0]
    if not count or not size:
        return flat
    order = library.argsort(at, 0)
    ordered = library.read_places(at, order)
    wanted = library.arange(size)
    found = library.searchsorted(ordered, wanted, "right") - library.scalar(1, _INT64)
    found = library.where(found < library.scalar(0, _INT64), library.scalar(0, _INT64), found)
    hit = library.read_places(ordered, found) == wanted
    return library.where(hit, library.read_places(values, library.read_places(order, found)), flat)


def add_places(library: ArrayLibrary, flat: Raw, at: Raw, values: Raw) -> Raw:
    """Copy of ``flat`` with ``values`` added at ``at``: equal places are summed by doubling."""
    if not at.shape[0] or not flat.shape[0]:
        return flat
    order = library.argsort(at, 0)
    at, values = library.read_places(at, order), library.read_places(values, order)
    step = 1
    while step < at.shape[0]:
        joined = _add(library, values[:-step], values[step:])
        same = at[step:] == at[:-step]
        later = library.where(same, joined, values[step:])
        values = library.concatenate([values[:step], later], 0)
        step *= 2
    return write_places(library, flat, at, _add(library, library.read_places(flat, at), values))


def _add(library: ArrayLibrary, a: Raw, b: Raw) -> Raw:
    """Sum; of bools their union."""
    return a | b if library.numpy_dtype(a.dtype).kind == "b" else a + b
