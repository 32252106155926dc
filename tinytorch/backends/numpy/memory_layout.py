"""NumPy's element-wise work in an order that suits the processor's cache and vectors.

- ``keep`` and ``choose`` select floats by a mask as operations on their bits. ``numpy.where`` is
  slow on a large irregular mask, and a product with the mask would make NaN of ``0 * inf``.
- ``contiguous`` copies a transposed array in strips that the cache holds.
  ``numpy.ascontiguousarray`` goes through the result row by row, that is along a column of its
  source, of which every element lies in another cache line and is read again for the next row.
- ``row_after_row`` shortens NumPy's buffer of 8192 elements. Where several rows fit the buffer,
  operations of two arrays copy into it the values that are repeated along the rows: two to three
  times as slow as one row after the other.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from types import TracebackType
from typing import Any

import numpy

#: Elements per block, in which several passes stay in the processor's cache.
_BLOCK = 65536
#: From here on a second thread is worth what it costs to wake it.
_THREADED = 1 << 19
_INTEGERS = {2: "int16", 4: "int32", 8: "int64"}

Work = Callable[[int, int], Any]


def keep(array: Any, mask: Any, in_parts: Callable[[Work, int], Any]) -> Any:
    """``array`` where ``mask`` holds, else 0.

    Args:
        array: Floating-point array.
        mask: Boolean array of the same shape.
        in_parts: ``Backend.in_parts``.
    """
    if not _is_plain(array, mask):
        return _wide(mask, array.dtype, array)
    out = numpy.empty(array.shape, array.dtype)
    arrays = [_flat(array) for array in (array, mask, out)]

    def work(start: int, stop: int) -> None:
        for x, m, bits in _pieces(arrays, start, stop):
            bits[...] = numpy.negative(m)
            numpy.bitwise_and(bits, x, out=bits)

    return _run(work, out, in_parts)


def choose(mask: Any, x: Any, y: Any, in_parts: Callable[[Work, int], Any]) -> Any:
    """``x`` where ``mask`` holds, else ``y``: arrays of ``mask``'s shape, or 0-d ones.

    Args:
        mask: Boolean array.
        x: Floating-point array.
        y: The same, of the same dtype.
        in_parts: ``Backend.in_parts``.
    """
    integer = _INTEGERS[x.dtype.itemsize]
    if not _is_plain(mask, *(value for value in (x, y) if value.ndim)):
        bits = numpy.bitwise_xor(x.view(integer), y.view(integer))
        bits = numpy.bitwise_and(bits, numpy.negative(mask.view("int8")))
        bits ^= y.view(integer)
        return bits.view(x.dtype)
    out = numpy.empty(mask.shape, x.dtype)
    arrays = [_flat(array) for array in (x, y, mask, out)]

    def work(start: int, stop: int) -> None:
        for a, b, m, bits in _pieces(arrays, start, stop):
            bits[...] = numpy.negative(m)
            bits &= a ^ b
            bits ^= b

    return _run(work, out, in_parts)


def _wide(mask: Any, dtype: Any, array: Any) -> Any:
    integer = _INTEGERS[dtype.itemsize]
    bits = numpy.negative(mask.view("int8")).astype(integer)
    return numpy.bitwise_and(bits, array.view(integer), out=bits).view(dtype)


def _is_plain(*arrays: Any) -> bool:
    return all(array.flags.c_contiguous for array in arrays)


def _flat(array: Any) -> Any:
    """The elements in a row, as integers of their size; a 0-d array as it is."""
    integers = array.view(_INTEGERS.get(array.dtype.itemsize, "int8"))
    return integers.reshape(-1) if array.ndim else integers


def _pieces(arrays: list[Any], start: int, stop: int) -> Any:
    for at in range(start * _BLOCK, min(stop * _BLOCK, len(arrays[-1])), _BLOCK):
        yield [array[at : at + _BLOCK] if array.ndim else array for array in arrays]


def _run(work: Work, out: Any, in_parts: Callable[[Work, int], Any]) -> Any:
    blocks = -(-out.size // _BLOCK)
    if out.size < _THREADED:
        work(0, blocks)
    else:
        in_parts(work, blocks)
    return out


#: Elements of a cache line of float32.
_STRIP = 16
#: Smaller arrays, and shorter rows and columns, fit the cache as they are.
_FEW = 1 << 16
_SHORT = 4 * _STRIP


def contiguous(array: Any) -> Any:
    """``array`` in row-major order: itself, or a copy."""
    if array.size < _FEW or array.flags.c_contiguous or not _is_transposed(array):
        return numpy.ascontiguousarray(array)
    out = numpy.empty(array.shape, array.dtype)
    for start in range(0, array.shape[-1], _STRIP):
        strip = (..., slice(start, start + _STRIP))
        out[strip] = array[strip]
    return out


def _is_transposed(array: Any) -> bool:
    """Whether long columns lie together in memory, and long rows do not."""
    *sizes, row = array.shape
    *steps, step = array.strides
    size = array.itemsize
    return (
        row >= _SHORT
        and abs(step) > size
        and any(abs(s) == size and n >= _SHORT for s, n in zip(steps, sizes, strict=True))
    )


#: Shorter rows are faster in the buffer.
_SHORT_ROW_BROADCASTING = 256
#: Of longer ones no two fit it.
_LONG = 4096
#: Fewer elements than this are not worth two changes of the buffer's size.
_FEW_ROW_BROADCASTING = 32768


class _SmallBuffer:
    """While open, this thread's operations have a buffer smaller than any row."""

    __slots__ = ("_size",)

    def __enter__(self) -> None:
        self._size = numpy.setbufsize(_SHORT_ROW_BROADCASTING)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        numpy.setbufsize(self._size)


_AS_IT_IS: AbstractContextManager[None] = nullcontext()


def row_after_row(row: int, size: int) -> AbstractContextManager[None]:
    """Context for operations on ``size`` elements in rows of ``row``."""
    return (
        _SmallBuffer()
        if _SHORT_ROW_BROADCASTING <= row <= _LONG and size >= _FEW_ROW_BROADCASTING
        else _AS_IT_IS
    )
