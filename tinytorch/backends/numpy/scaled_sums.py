"""``a * x + b * y`` into ``y`` on large NumPy arrays, as BLAS's axpy and axpby.

They take one pass over memory, axpy in BLAS's threads; NumPy takes two or three and a buffer:
four times as long on 200,000 elements.

Reference:
    Lawson, Hanson, Kincaid, Krogh: Basic Linear Algebra Subprograms for Fortran Usage, ACM
    Transactions on Mathematical Software 5 (1979).
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from typing import Any

import numpy

from . import threads

#: Below this many elements the call costs as much as it saves.
_FEW = 16384
#: OpenBLAS may count in C's int.
_MOST = 2**31 - 1
#: Elements that stay in the processor's cache with what is done to them.
_BLOCK = 65536
_NUMBERS = {"f": ("s", ctypes.c_float), "d": ("d", ctypes.c_double)}


def add_scaled(target: Any, array: Any, scale: float, keep: float = 1.0) -> bool:
    """Make ``target`` ``keep * target + scale * array``, or return False: NumPy is to do it."""
    # BLAS takes a factor of 0 for nothing to do, and would not make NaN of 0 * inf.
    if target.size < _FEW or scale == 0 or keep == 0 or not _fit(target, array):
        return False
    name = "axpy" if keep == 1 else "axpby"
    function = _function(target.dtype.char, name) if target.size <= _MOST else None
    if function is None:
        _in_blocks(target.reshape(-1), array.reshape(-1), scale, keep)
        return True
    x, y = array.ctypes.data, target.ctypes.data
    factor = () if keep == 1 else (keep,)
    work = threads.ELEMENT * target.size
    threads.call(work, function, target.size, scale, x, 1, *factor, y, 1)
    return True


def _in_blocks(target: Any, array: Any, scale: float, keep: float) -> None:
    buffer = numpy.empty(_BLOCK, target.dtype)
    for start in range(0, target.size, _BLOCK):
        part = target[start : start + _BLOCK]
        if keep != 1:
            part *= keep
        part += numpy.multiply(array[start : start + _BLOCK], scale, out=buffer[: part.size])


def _fit(target: Any, array: Any) -> bool:
    return (
        target.dtype.char in _NUMBERS and target.dtype == array.dtype
        and target.shape == array.shape
        and target.flags.c_contiguous and array.flags.c_contiguous
        and target.flags.writeable and target.flags.aligned and array.flags.aligned
    )  # fmt: skip


@functools.cache
def _function(char: str, name: str) -> Callable[..., None] | None:
    from . import openblas  # what most programs do without

    found = openblas.loaded()
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
