"""Sums of float arrays in NumPy, as products with ones.

``numpy.add.reduce`` adds one row after the other without using the width of the processor;
a matrix-vector product does, and in two threads. The order of the additions differs: sums of
a few hundred elements are summed up in turn, so that the error grows as that of pairwise
summation does, with the logarithm of the number of rows. On a few elements a product is called
in a third of the time.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy

from . import threads

#: Below this many elements a sum over several dimensions is left to ``add.reduce``.
FEW = 8192
#: Up to here one product of vectors gives the sum of everything.
_SHORT = 1024
_ROW = 512
#: Rows and columns up to this size are summed in one go.
LONG_ROW = 1024


@functools.lru_cache(maxsize=256)
def _ones(count: int, char: str) -> Any:
    return numpy.ones(count, char)


class _Ones(dict[int, Any]):
    """Vectors of ones by their size; None where that is not short."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype

    def __missing__(self, size: int) -> Any:
        if size > _SHORT:
            return None
        ones = self[size] = numpy.ones(size, self.dtype)
        return ones


def no_ones(size: int) -> None:
    """For the dtypes that have no ``SHORT_ONES``."""


#: For each dtype, a function from a size to as many ones; None for a size that is not short.
SHORT_ONES = {numpy.dtype(char): _Ones(char).__getitem__ for char in "fd"}


def short_sum(array: Any, axis: Any, keepdims: bool) -> Any:
    """The sum along one dimension of a small array, the last one or a matrix's first; else None."""
    ones_of = SHORT_ONES.get(array.dtype)
    if ones_of is None:
        return None
    if axis.__class__ is tuple and len(axis) == 1:
        axis = axis[0]
    ndim, shape = array.ndim, array.shape
    if axis == -1 or axis == ndim - 1:
        ones = ones_of(shape[-1])
        if ones is None:
            return None
        if ndim == 2:
            return array.dot(ones)[:, None] if keepdims else array.dot(ones)
        if ndim > 2 and array.flags.c_contiguous:
            sums = array.reshape(math.prod(shape[:-1]), shape[-1]).dot(ones)
            return sums.reshape((*shape[:-1], 1) if keepdims else shape[:-1])
    elif axis == 0 and ndim == 2:
        ones = ones_of(shape[0])
        if ones is not None:
            return ones.dot(array)[None] if keepdims else ones.dot(array)
    return None


def float_sum(array: Any, axis: Any, keepdims: bool) -> Any:
    """The sum over ``axis``, or None where ``add.reduce`` is to do it.

    Args:
        array: float32 or float64 array.
        axis: A dimension, several, or None for all of them.
        keepdims: Whether they stay, with size 1.

    Returns:
        Array or scalar of ``array``'s dtype.
    """
    if array.size < FEW:
        return None
    ndim = array.ndim
    given = range(ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
    axes = tuple(sorted(a % ndim for a in given))
    found = (_sum if array.flags.c_contiguous else _turned)(array, axes)
    if found is None:
        found = _rows_apart(array, axes)
    if found is None:
        if math.prod(array.shape[a] for a in axes) <= LONG_ROW:
            return None
        found = array
        for one in reversed(axes):
            found = _along(found, one)
    if not keepdims:
        return found
    return found.reshape(tuple(1 if i in axes else n for i, n in enumerate(array.shape)))


def _sum(array: Any, axes: tuple[int, ...]) -> Any:
    """The sum over the ascending ``axes``: the first ones, the last ones, or both."""
    ndim, shape = array.ndim, array.shape
    first = 0  # how many of the axes are the array's first dimensions
    while first < len(axes) and axes[first] == first:
        first += 1
    last = len(axes) - first
    if last and axes[first:] != tuple(range(ndim - last, ndim)):
        return None
    if first == ndim:
        return _total(array.reshape(-1))
    outer, inner = math.prod(shape[:first]), math.prod(shape[ndim - last :])
    kept = shape[first : ndim - last]
    if not last:
        return _columns(array.reshape(outer, -1)).reshape(kept)
    sums = _rows(array.reshape(-1, inner)).reshape(outer, *kept)
    return _columns(sums.reshape(outer, -1)).reshape(kept) if first else sums.reshape(kept)


def _turned(array: Any, axes: tuple[int, ...]) -> Any:
    """The sum of an array whose dimensions, in another order, are those of a contiguous one.

    Its rows may lie apart, as every second one of a matrix do.
    """
    order = sorted(range(array.ndim), key=lambda i: -array.strides[i])
    turned = array.transpose(order)
    if not turned[0].flags.c_contiguous or turned.strides[0] < 0:
        return None
    inside = tuple(i for i, a in enumerate(order) if a in axes)
    if turned.flags.c_contiguous:
        found = _sum(turned, inside)
    elif inside == (0,):
        found = _columns(turned.reshape(len(turned), -1)).reshape(turned.shape[1:])
    else:
        return None
    if found is None:
        return None
    left = [a for a in order if a not in axes]
    return found.transpose([left.index(a) for a in sorted(left)])


def _rows_apart(array: Any, axes: tuple[int, ...]) -> Any:
    """The sum over rows that lie anywhere, and over other dimensions."""
    first = array.ndim
    while first - 1 in axes:
        first -= 1
    size = math.prod(array.shape[first:])
    if size < _ROW // 2 or not array[(0,) * first].flags.c_contiguous:
        return None
    part = piece_of(size)
    if part is None:
        return None
    sums = numpy.vecdot(
        array.reshape(*array.shape[:first], -1, part), _ones(part, array.dtype.char)
    )
    return numpy.add.reduce(sums, (*(axis for axis in axes if axis < first), first))


def piece_of(row: int) -> int | None:
    """How many elements of a row to sum up in turn; None where that does not divide it well."""
    if row <= LONG_ROW:
        return row
    part = math.gcd(row, _ROW)
    return part if part >= _ROW // 2 else None


def _along(array: Any, axis: int) -> Any:
    """The sum over one dimension of an array with any strides, in pieces that are views."""
    count = array.shape[axis]
    if count <= _ROW or abs(array.strides[axis]) == min(map(abs, array.strides)):
        return numpy.add.reduce(array, axis)  # pairwise along what lies closest together
    whole = count // _ROW * _ROW
    front = (slice(None),) * axis
    shape = (*array.shape[:axis], -1, _ROW, *array.shape[axis + 1 :])
    parts = numpy.add.reduce(array[(*front, slice(whole))].reshape(shape), axis + 1)
    rest = numpy.add.reduce(array[(*front, slice(whole, None))], axis)
    return _along(parts, axis) + rest


def _total(flat: Any) -> Any:
    whole = flat.size // _ROW * _ROW
    sums = _product(flat[:whole].reshape(-1, _ROW))
    return numpy.add.reduce(sums) + numpy.add.reduce(flat[whole:])


def _rows(matrix: Any) -> Any:
    count, size = matrix.shape
    part = piece_of(size)
    if part is None:
        return numpy.add.reduce(matrix, 1)
    if part == size:
        return _product(matrix)
    return numpy.add.reduce(_product(matrix.reshape(-1, part)).reshape(count, -1), 1)


def _product(matrix: Any) -> Any:
    """The sum of each row."""
    return _matmul(matrix, _ones(matrix.shape[1], matrix.dtype.char))


def _matmul(x1: Any, x2: Any) -> Any:
    """Product of a matrix and a vector of ones, on one of BLAS's threads where it is small."""
    return threads.call(threads.ELEMENT * max(x1.size, x2.size), numpy.matmul, x1, x2)


def _columns(matrix: Any) -> Any:
    count, size = matrix.shape
    char = matrix.dtype.char
    if count <= LONG_ROW:
        return _matmul(_ones(count, char), matrix)
    whole = count // _ROW * _ROW
    parts = _matmul(_ones(_ROW, char), matrix[:whole].reshape(-1, _ROW, size))
    return _columns(parts) + _ones(count - whole, char) @ matrix[whole:]
