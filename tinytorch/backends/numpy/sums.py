"""Sums and products of float arrays in NumPy, several times as fast as its reductions.

- ``float_sum`` and ``short_sum`` multiply by ones. ``numpy.add.reduce`` adds one row after the
  other without using the width of the processor; products of vectors or of a matrix do, in threads.
  The order of the additions differs. A few hundred elements at a time are summed sequentially, so
  the error grows with the logarithm of the number of rows, as in pairwise summation. On few
  elements the call of a product takes a third of the time.
- ``float_prod`` cuts rows into pieces that are multiplied with each other.
  ``numpy.multiply.reduce`` along the last dimension waits for each product before the next.
- ``square_total`` and ``squared_deviation``, for norms and variances, need no array of squares.
- ``add_rows`` adds rows by index, the gradient of a look-up table. ``numpy.add.at`` takes rows one
  element at a time; here the first rows of all indices are added at once, then the second rows, and
  so on. The rows of an index with many rows are summed separately.
- ``add_scaled`` is ``a * x + b * y`` into ``y`` by BLAS's axpy and axpby: one pass over memory in
  BLAS's threads, where NumPy takes two or three and a buffer, four times as long on 200,000
  elements.
- ``logaddexp`` uses NumPy's vectorized ``exp`` and ``log1p``; NumPy's own goes number by number.

Reference:
    Lawson, Hanson, Kincaid, Krogh: Basic Linear Algebra Subprograms for Fortran Usage, ACM
    Transactions on Mathematical Software 5 (1979).
"""

from __future__ import annotations

import ctypes
import functools
import math
from collections.abc import Callable
from typing import Any

import numpy

from . import blas

#: Below this many elements a sum over several dimensions is left to ``add.reduce``.
FEW = 8192
#: Up to this many elements one product of vectors is used for the sum.
_SHORT = 1024
#: Number of elements that are summed sequentially in a longer row.
_ROW = 512
#: From this many elements in a row on, products of vectors are faster than one of a matrix.
_SHORTEST = 64
#: From this many elements on a second thread saves time.
_THREADED = 1 << 19
#: Number of elements whose differences from the mean are squared at a time, in BLAS's one thread.
_DEVIATIONS = 8192
#: Rows and columns up to this size are summed in one go.
LONG_ROW = 1024


@functools.lru_cache(maxsize=256)
def _ones(count: int, char: str) -> Any:
    """``count`` ones of the dtype with the character code ``char``."""
    return numpy.ones(count, char)


class _Ones(dict[int, Any]):
    """Vectors of ones by their size; None for a size above ``_SHORT``."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype

    def __missing__(self, size: int) -> Any:
        if size > _SHORT:
            return None
        ones = self[size] = numpy.ones(size, self.dtype)
        return ones


def no_ones(size: int) -> None:
    """Return None, for the dtypes without ``SHORT_ONES``."""


#: For each dtype, a function from a size to as many ones; None for a size that is not short.
SHORT_ONES = {numpy.dtype(char): _Ones(char).__getitem__ for char in "fd"}


def short_sum(array: Any, axis: Any, keepdims: bool) -> Any:
    """Sum along one dimension of a small array, by a product with ones.

    The dimension is the last one, or the first one of a matrix; None for any other.
    """
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


def squared_deviation(flat: Any, mean: Any) -> Any:
    """Sum in float64 of the squares of a contiguous vector's elements less ``mean``."""
    if flat.size <= _DEVIATIONS:
        part = numpy.subtract(flat, mean, dtype="float64")
        return part.dot(part)

    def work(start: int, stop: int) -> Any:
        total = 0.0
        for at in range(start, stop):
            total += squared_deviation(flat[at * _DEVIATIONS : (at + 1) * _DEVIATIONS], mean)
        return total

    blocks = -(-flat.size // _DEVIATIONS)
    return sum(blas.run(work, blocks) if flat.size >= _THREADED else [work(0, blocks)])


def float_sum(array: Any, axis: Any, keepdims: bool) -> Any:
    """Sum over ``axis``, or None if ``numpy.add.reduce`` is to be used.

    Args:
        array: float32 or float64 array.
        axis: A dimension, several, or None for all of them.
        keepdims: Whether the summed dimensions stay, with size 1.

    Returns:
        Array or scalar of ``array``'s dtype.
    """
    if array.size < FEW:
        return None
    ndim = array.ndim
    given = range(ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
    axes = tuple(sorted(a % ndim for a in given))
    found = (_sum_row_major if array.flags.c_contiguous else _sum_transposed)(array, axes)
    if found is None:
        found = _rows_apart(array, axes)
    if found is None:
        if math.prod(array.shape[a] for a in axes) <= LONG_ROW:
            return None
        found = array
        for a in reversed(axes):
            found = _sum_strided(found, a)
    if not keepdims:
        return found
    return found.reshape(tuple(1 if i in axes else n for i, n in enumerate(array.shape)))


def _sum_row_major(array: Any, axes: tuple[int, ...]) -> Any:
    """Sum a row-major array over ascending ``axes``: leading dimensions, last ones, or both.

    None if other dimensions are among them.
    """
    ndim, shape = array.ndim, array.shape
    first = 0  # how many of the axes are the array's first dimensions
    while first < len(axes) and axes[first] == first:
        first += 1
    last = len(axes) - first
    if last and axes[first:] != tuple(range(ndim - last, ndim)):
        return None
    if first == ndim:
        return _sum_of_all(array.reshape(-1))
    outer, inner = math.prod(shape[:first]), math.prod(shape[ndim - last :])
    left = shape[first : ndim - last]
    if not last:
        return _column_sums(array.reshape(outer, -1)).reshape(left)
    sums = _row_sums(array.reshape(-1, inner)).reshape(outer, *left)
    return _column_sums(sums.reshape(outer, -1)).reshape(left) if first else sums.reshape(left)


def _sum_transposed(array: Any, axes: tuple[int, ...]) -> Any:
    """Sum an array that is row-major with its dimensions in another order; else return None.

    There may be gaps between its rows, as between every second row of a matrix.
    """
    order = sorted(range(array.ndim), key=lambda i: -array.strides[i])
    turned = array.transpose(order)
    if not turned[0].flags.c_contiguous or turned.strides[0] < 0:
        return None
    inside = tuple(i for i, a in enumerate(order) if a in axes)
    if turned.flags.c_contiguous:
        found = _sum_row_major(turned, inside)
    elif inside == (0,):
        found = _column_sums(turned.reshape(len(turned), -1)).reshape(turned.shape[1:])
    else:
        return None
    if found is None:
        return None
    left = [a for a in order if a not in axes]
    return found.transpose([left.index(a) for a in sorted(left)])


def _rows_apart(array: Any, axes: tuple[int, ...]) -> Any:
    """Sum over the last dimensions, contiguous rows with any strides between, and other ones.

    None if the rows are not contiguous or too short.
    """
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
    """Size of the equal pieces of a row that are summed sequentially; None if there is none."""
    if row <= LONG_ROW:
        return row
    part = math.gcd(row, _ROW)
    return part if part >= _ROW // 2 else None


def _sum_strided(array: Any, axis: int) -> Any:
    """Sum over one dimension of an array with any strides, in pieces that are views."""
    count = array.shape[axis]
    if count <= _ROW or abs(array.strides[axis]) == min(map(abs, array.strides)):
        return numpy.add.reduce(array, axis)  # pairwise along the smallest stride
    whole = count // _ROW * _ROW
    front = (slice(None),) * axis
    shape = (*array.shape[:axis], -1, _ROW, *array.shape[axis + 1 :])
    parts = numpy.add.reduce(array[(*front, slice(whole))].reshape(shape), axis + 1)
    rest = numpy.add.reduce(array[(*front, slice(whole, None))], axis)
    return _sum_strided(parts, axis) + rest


def _sum_of_all(flat: Any) -> Any:
    """Sum of all elements of a contiguous vector."""
    whole = flat.size // _ROW * _ROW
    sums = _short_row_sums(flat[:whole].reshape(-1, _ROW))
    return numpy.add.reduce(sums) + numpy.add.reduce(flat[whole:])


def _row_sums(matrix: Any) -> Any:
    """Sum of each row of a contiguous matrix."""
    count, size = matrix.shape
    part = piece_of(size)
    if part is None:
        return numpy.add.reduce(matrix, 1)
    if part == size:
        return _short_row_sums(matrix)
    return numpy.add.reduce(_short_row_sums(matrix.reshape(-1, part)).reshape(count, -1), 1)


def _short_row_sums(matrix: Any) -> Any:
    """Sum of each row of a matrix with short rows, by a product with ones."""
    ones = _ones(matrix.shape[1], matrix.dtype.char)
    if ones.size < _SHORTEST:
        return _multiply_by_ones(matrix, ones)
    return row_products(matrix, ones)


def row_products(a: Any, b: Any) -> Any:
    """Product of each row of the matrix ``a`` and a row of ``b``, or the vector ``b``; in threads.

    BLAS's product of a matrix and a vector takes twice as long for rows in main memory.
    """
    if a.size < _THREADED:
        return numpy.vecdot(a, b)
    out = numpy.empty(len(a), a.dtype)

    def work(start: int, stop: int) -> None:
        numpy.vecdot(a[start:stop], b if b.ndim == 1 else b[start:stop], out=out[start:stop])

    blas.run(work, len(a))
    return out


def square_total(flat: Any) -> Any:
    """Sum of the squares of all elements of a contiguous vector."""
    if flat.size <= LONG_ROW:
        return flat.dot(flat)
    whole = flat.size // _ROW * _ROW
    rows, rest = flat[:whole].reshape(-1, _ROW), flat[whole:]
    return _sum_of_all(row_products(rows, rows)) + rest.dot(rest)


def _multiply_by_ones(a: Any, b: Any) -> Any:
    """``a @ b``, of which one is a vector of ones.

    ``blas.call`` runs a product on one thread if its work, in multiply-adds, is small. Reading the
    memory takes most of the time here, so each element counts as ``blas.ELEMENT`` of them.
    """
    return blas.call(blas.ELEMENT * max(a.size, b.size), numpy.matmul, a, b)


def _column_sums(matrix: Any) -> Any:
    """Sum of each column of a contiguous matrix, in pieces of ``_ROW`` rows if it is long."""
    count, size = matrix.shape
    char = matrix.dtype.char
    if count <= LONG_ROW:
        return _multiply_by_ones(_ones(count, char), matrix)
    whole = count // _ROW * _ROW
    parts = _multiply_by_ones(_ones(_ROW, char), matrix[:whole].reshape(-1, _ROW, size))
    return _column_sums(parts) + _ones(count - whole, char) @ matrix[whole:]


#: Shorter rows are added element by element, and so are fewer elements in all.
_SHORT_ROW_SUMS = 8
_FEW = 4096
#: More rows than this for one place are summed up in one reduction.
_MANY = 32


def add_rows(target: Any, index: Any, values: Any) -> bool:
    """``target[index] += values``, repeated indices summed, if whole rows are added.

    Args:
        target: Array of shape ``(size, ...)``, changed in place.
        index: Integer array of shape ``(n,)``.
        values: Array of shape ``(n, ...)`` and the same dtype.

    Returns:
        Whether it was done; False for other arguments and for short rows.
    """
    if not isinstance(index, numpy.ndarray) or index.ndim != 1 or index.dtype.kind not in "iu":
        return False
    if target.ndim < 2 or values.size < _FEW or target[:1].size < _SHORT_ROW_SUMS:
        return False
    if values.shape != (index.size, *target.shape[1:]) or values.dtype != target.dtype:
        return False
    if index.dtype.kind == "i":
        index = numpy.where(index < 0, index + target.shape[0], index)
    # For each distinct index: where its rows start in ``order``, and their number. The indices
    # with the most rows come first.
    order = numpy.argsort(index, kind="stable")
    ordered = index[order]
    starts = numpy.flatnonzero(numpy.concatenate(([True], ordered[1:] != ordered[:-1])))
    counts = numpy.diff(starts, append=index.size)
    by_count = numpy.argsort(-counts)
    starts, counts = starts[by_count], counts[by_count]
    total = values[order[starts]]
    several = int(numpy.searchsorted(-counts, -_MANY))  # indices with more rows than that
    for i in range(several):
        rows = order[starts[i] : starts[i] + counts[i]]
        total[i] = numpy.add.reduce(values[rows], 0)
    for k in range(1, int(counts[several]) if several < counts.size else 1):
        more = int(numpy.searchsorted(-counts, -k))  # indices with more than k rows
        total[several:more] += values[order[starts[several:more] + k]]
    target[ordered[starts]] += total
    return True


#: Below this many elements the call costs as much as it saves.
_FEW_SCALED_SUMS = 16384
#: Most elements for BLAS: OpenBLAS may count in C's int.
_MOST = 2**31 - 1
#: Elements per block, which stay in the processor's cache.
_BLOCK = 65536
#: By the character of a dtype: the letter of BLAS's routines, and C's type of a scalar.
_NUMBERS = {"f": ("s", ctypes.c_float), "d": ("d", ctypes.c_double)}


def add_scaled(target: Any, array: Any, scale: float, keep: float = 1.0) -> bool:
    """``target = keep * target + scale * array`` in place, by BLAS or in blocks.

    Returns:
        Whether it was done; False for few elements and for arrays that BLAS does not support.
    """
    # BLAS skips a term with factor 0, where NumPy computes NaN for 0 * inf.
    if (
        target.size < _FEW_SCALED_SUMS
        or scale == 0
        or keep == 0
        or not _can_be_added_by_blas(target, array)
    ):
        return False
    name = "axpy" if keep == 1 else "axpby"
    function = _blas_function(target.dtype.char, name) if target.size <= _MOST else None
    if function is None:
        _add_scaled_blocks(target.reshape(-1), array.reshape(-1), scale, keep)
        return True
    x, y = array.ctypes.data, target.ctypes.data
    factor = () if keep == 1 else (keep,)
    work = blas.ELEMENT * target.size
    blas.call(work, function, target.size, scale, x, 1, *factor, y, 1)
    return True


def _add_scaled_blocks(target: Any, array: Any, scale: float, keep: float) -> None:
    """``add_scaled`` by NumPy, in blocks that stay in the cache."""
    buffer = numpy.empty(_BLOCK, target.dtype)
    for start in range(0, target.size, _BLOCK):
        part = target[start : start + _BLOCK]
        if keep != 1:
            part *= keep
        part += numpy.multiply(array[start : start + _BLOCK], scale, out=buffer[: part.size])


def _can_be_added_by_blas(target: Any, array: Any) -> bool:
    """Whether both arrays have one float dtype and shape, are contiguous and aligned."""
    return (
        target.dtype.char in _NUMBERS and target.dtype == array.dtype
        and target.shape == array.shape
        and target.flags.c_contiguous and array.flags.c_contiguous
        and target.flags.writeable and target.flags.aligned and array.flags.aligned
    )  # fmt: skip


@functools.cache
def _blas_function(char: str, name: str) -> Callable[..., None] | None:
    """OpenBLAS's axpy or axpby, by ``name``, for a dtype's character code; None if missing."""
    from . import blas  # imported here, since few programs need it

    found = blas.loaded()
    if found is None:
        return None
    library, prefix, suffix = found
    letter, number = _NUMBERS[char]
    keep = (number,) if name == "axpby" else ()
    name = f"{prefix.replace('openblas_', 'cblas_')}{letter}{name}{suffix}"
    if not hasattr(library, name):
        return None
    size, pointer = ctypes.c_int64 if suffix else ctypes.c_int32, ctypes.c_void_p
    function = library[name]
    function.argtypes = (size, number, pointer, size, *keep, pointer, size)
    function.restype = None
    return function


#: Below this many elements the calls cost more than they save.
_FEW_LOG_SUMS = 1024


def is_faster(a: Any, b: Any) -> bool:
    """Whether ``logaddexp`` below is faster than NumPy's: for large arrays of one float dtype."""
    for x in (a, b):
        if x.__class__ is not numpy.ndarray or x.dtype.char not in "fd" or x.size < _FEW_LOG_SUMS:
            return False
    return bool(a.dtype == b.dtype)


def logaddexp(a: Any, b: Any) -> Any:
    """``log(exp(a) + exp(b))``."""
    larger = numpy.maximum(a, b)
    out = numpy.subtract(a, b)
    numpy.abs(out, out=out)
    numpy.negative(out, out=out)
    numpy.exp(out, out=out)
    numpy.log1p(out, out=out)
    out += larger
    infinite = numpy.isinf(larger)
    if infinite.any():  # the difference of equal infinities is NaN
        numpy.copyto(out, larger, where=infinite)
    return out


#: Below this many elements one reduction is as fast.
_FEW_FLOAT_PRODUCTS = 2048
#: Rows of up to this many elements are multiplied up one by one.
_SHORT_FLOAT_PRODUCTS = 64
#: Least length of a piece, unless it is a quarter of the row: starting a loop takes time.
_LONG = 128
#: Largest number of pieces of a row.
_PIECES = 32


def float_prod(array: Any, axis: Any, dtype: Any, keepdims: bool) -> Any:
    """Product over ``axis``, or None if ``numpy.multiply.reduce`` is to be used.

    Args:
        array: Array.
        axis: A dimension, several, or None for all of them; they must be the last ones.
        dtype: Dtype of the result; None for the array's.
        keepdims: Whether the reduced dimensions stay, with size 1.

    Returns:
        Array or scalar.
    """
    if array.size < _FEW_FLOAT_PRODUCTS or not array.flags.c_contiguous:
        return None
    if dtype is not None and dtype != array.dtype:  # float64 equals None, to NumPy
        return None
    if array.dtype.kind not in "fiu" or array.dtype.char == "e":
        return None
    ndim = array.ndim
    given = range(ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
    axes = sorted(a % ndim for a in given)
    lead = ndim - len(axes)
    if not axes or axes != list(range(lead, ndim)):
        return None
    count = 1
    for size in array.shape[:lead]:
        count *= size
    rows = _shorten_rows(array.reshape(count, -1)) if count else array.reshape(0, 1)
    product: Any = numpy.multiply.reduce(rows, 1, array.dtype)
    if keepdims:
        return product.reshape(array.shape[:lead] + (1,) * len(axes))
    return product.reshape(array.shape[:lead]) if lead else product[0]


def _shorten_rows(rows: Any) -> Any:
    """Reduce rows to at most ``_SHORT_FLOAT_PRODUCTS`` elements with the same products.

    Each round cuts rows into pieces and multiplies these with each other, element by element.
    """
    while rows.shape[1] > _SHORT_FLOAT_PRODUCTS:
        count, size = rows.shape
        pieces = min(_PIECES, max(size // _LONG, 4))
        length = size // pieces
        whole = rows[:, : pieces * length].reshape(count, pieces, length)
        product = numpy.multiply.reduce(whole, 1, rows.dtype)
        rest = rows[:, pieces * length :]
        rows = numpy.concatenate((product, rest), 1) if rest.shape[1] else product
    return rows
