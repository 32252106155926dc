"""Copies of transposed arrays in NumPy, in strips that the processor's cache can hold.

``numpy.ascontiguousarray`` goes through the result row by row: along a column of its source, of
which every element lies in another line of the cache, and is read anew for the next row.
"""

from __future__ import annotations

from typing import Any

import numpy

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
