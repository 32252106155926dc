"""LAPACK's LU factorisation, called in the OpenBLAS that NumPy has loaded.

NumPy has the routine inside, for determinants and solutions, but hands out no factors.
"""

from __future__ import annotations

import ctypes
import functools
import math
from collections.abc import Callable
from typing import Any

import numpy

from . import openblas

#: LAPACK's letter for each type of element.
_LETTERS = {"f": "s", "d": "d", "F": "c", "D": "z"}
#: A call costs as much as what NumPy does with this many of a batch's matrices at once.
_WORTH = 4


@functools.cache
def _factorize(char: str) -> tuple[Callable[..., Any], str] | None:
    """The routine for elements of a type and the type of its integers; None if there is none."""
    found = openblas.loaded()
    if found is None or char not in _LETTERS:
        return None
    library, prefix, suffix = found
    name = f"{prefix.removesuffix('openblas_')}{_LETTERS[char]}getrf_{suffix}"
    if not hasattr(library, name):
        return None
    function = library[name]
    function.argtypes = [ctypes.c_void_p] * 6
    function.restype = None
    return function, "int64" if suffix else "int32"


def lu(matrix: Any) -> tuple[Any, Any] | None:
    """Both factors of every matrix in one, and pivots counted from 1; None to do without.

    Args:
        matrix: ``(..., m, n)``.

    Returns:
        ``(..., m, n)``, column after column in memory, and int32 ``(..., min(m, n))``.
    """
    *batch, m, n = matrix.shape
    count = math.prod(batch)
    if not matrix.size or count > 1 and _WORTH * count > m * n:
        return None
    found = _factorize(matrix.dtype.char)
    if found is None:
        return None
    function, integer = found
    columns = numpy.array(numpy.swapaxes(matrix, -1, -2), order="C")  # LAPACK stores columns
    pivots = numpy.empty((*batch, min(m, n)), integer)
    sizes = numpy.array([m, n, 0], integer)
    at = sizes.ctypes.data
    rows, cols, info = at, at + sizes.itemsize, at + 2 * sizes.itemsize
    data, step = columns.ctypes.data, m * n * columns.itemsize
    place, jump = pivots.ctypes.data, pivots.shape[-1] * pivots.itemsize
    for i in range(count):
        function(rows, cols, data + i * step, rows, place + i * jump, info)
    if numpy.isnan(numpy.diagonal(columns, 0, -2, -1)).any():
        return None  # OpenBLAS does not divide a column by such a pivot
    return numpy.swapaxes(columns, -1, -2), pivots.astype("int32")
