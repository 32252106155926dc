"""Scans by doubling, for libraries whose functions of two arrays cannot accumulate.

NumPy's can. But one by one: slice after slice is several times faster where slices are large, and
where the last true element is, its own repetition tells sooner.

Reference:
    W. D. Hillis, G. L. Steele, Data parallel algorithms, Communications of the ACM 29, 1986.

Where the rows of row-major arrays begin in their flattened form.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy

if TYPE_CHECKING:
    from .devices import Array
    from .indices import Indices

Combine = Callable[[Any, Any], Any]

#: So many elements for every true one are worth looking for these alone.
_FEW = 8

#: Slices of so many elements are worth a call for each, where so many lie side by side.
_LARGE = 512
_SIDE_BY_SIDE = 64


def scan(xp: Indices, combine: Combine, array: Array, axis: int) -> Array:
    """Running results of an associative ``combine`` along ``axis``, in log2(size) steps.

    Args:
        xp: The backend.
        combine: Function of the earlier and the later part.
        array: Array of at least one dimension.
        axis: The dimension to run along.

    Returns:
        Array of the same shape; element i combines elements 0 to i.
    """
    out = xp.moveaxis(array, axis, 0)
    step = 1
    while step < array.shape[axis]:
        out = xp.concatenate((out[:step], combine(out[:-step], out[step:])))
        step *= 2
    return xp.moveaxis(out, 0, axis)


def index_combine(
    xp: Indices, combine: Combine, target: Array, index: Array, values: Array
) -> None:
    """``target[i] = combine(target[i], v)`` for every pair of ``index`` and ``values``.

    Equal indices are brought together by sorting and combined by a scan that does not cross
    from one to the next; the last of each writes.

    Args:
        xp: The backend.
        combine: An associative function of two arrays.
        target: Array of shape ``(size,)``, changed in place.
        index: Integer array of shape ``(n,)``, each within ``target``.
        values: Array of shape ``(n,)``.
    """
    if not index.size:
        return
    order = xp.argsort(index)
    index, values = index[order], values[order]
    step = 1
    while step < index.size:
        joined = combine(values[:-step], values[step:])
        same = index[step:] == index[:-step]
        values = xp.concatenate((values[:step], xp.where(same, joined, values[step:])))
        step *= 2
    size = target.size
    # All but the last of each write to one place beyond the end.
    slot = xp.concatenate((xp.where(index[1:] == index[:-1], size, index[:-1]), index[-1:]))
    longer = xp.concatenate((target, target[:1]))
    longer[slot] = combine(longer[slot], values)
    target[...] = longer[:-1]


def accumulate(ufunc: Any, array: Any, axis: int, dtype: Any = None, out: Any = None) -> Any:
    """``ufunc.accumulate``."""
    if not _has_large_slices(array.shape, axis):
        return ufunc.accumulate(array, axis, dtype, out)
    if out is None:
        first = array[(slice(1),) * array.ndim]  # which NumPy gives the type of its results
        out = numpy.empty(array.shape, ufunc.accumulate(first, axis, dtype).dtype)
    results, slices = numpy.moveaxis(out, axis, 0), numpy.moveaxis(array, axis, 0)
    results[0] = slices[0]
    native = out.dtype if dtype is None else dtype
    for before, one, result in zip(results, slices[1:], results[1:], strict=False):
        ufunc(before, one, out=result, dtype=native, casting="unsafe")
    return out


def _has_large_slices(shape: tuple[int, ...], axis: int) -> bool:
    beside = math.prod(shape[axis + 1 :])
    return (
        shape[axis] > 0 and beside >= _SIDE_BY_SIDE and (math.prod(shape[:axis]) * beside >= _LARGE)
    )


def last_true(mask: Any, axis: int) -> Any:
    """The backend's method of that name; None where so many are true that a scan is as fast."""
    if _has_large_slices(mask.shape, axis):
        return _last_true_by_slices(mask, axis)
    if not mask.size or mask.shape[axis] < _FEW:
        return None
    rows = numpy.array(numpy.moveaxis(mask, axis, -1), order="C")  # a copy, to be written to
    rows[..., 0] = True
    places = numpy.flatnonzero(rows)
    if places.size * _FEW > mask.size:
        return None
    lengths = numpy.diff(places, append=mask.size)
    out = numpy.repeat(places % rows.shape[-1], lengths).reshape(rows.shape)
    return numpy.ascontiguousarray(numpy.moveaxis(out, -1, axis))


def _last_true_by_slices(mask: Any, axis: int) -> Any:
    out = numpy.empty(mask.shape, numpy.int64)
    last = numpy.zeros((*mask.shape[:axis], *mask.shape[axis + 1 :]), numpy.int64)
    slices = zip(numpy.moveaxis(out, axis, 0), numpy.moveaxis(mask, axis, 0), strict=True)
    for place, (result, true) in enumerate(slices):
        numpy.copyto(last, place, where=true)
        result[...] = last
    return out


if TYPE_CHECKING:
    from .base import Array, Backend

#: The starts in arrays of fewer elements than this are kept, of so many shapes.
_FEW_ROW_STARTS = 4096
_MOST = 64


class RowStarts(dict[tuple[int, ...], "Array"]):
    """By the shape of an array, where each of its rows begins; few are kept for the next time."""

    def __init__(self, xp: Backend) -> None:
        self.xp = xp

    def __missing__(self, shape: tuple[int, ...]) -> Array:
        size = math.prod(shape)
        starts = self.xp.arange(0, size, shape[-1]).reshape(shape[:-1])
        if size < _FEW_ROW_STARTS and len(self) < _MOST:
            self[shape] = starts
        return starts
