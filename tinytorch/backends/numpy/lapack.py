"""LAPACK's factorisations that NumPy hands out none of, called in the OpenBLAS it has loaded."""

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
#: How many columns LAPACK brings up to date at once, as far as it is given memory for them.
_COLUMNS = 64


@functools.cache
def _routine(name: str, arguments: int, letters: int = 0) -> tuple[Callable[..., Any], str] | None:
    """A routine by its name, and the type of its integers; None if there is none.

    Args:
        name: LAPACK's, with the letter of the type.
        arguments: How many it has, all of them pointers.
        letters: How many of these are strings, whose lengths Fortran has after the last.
    """
    found = openblas.loaded()
    if found is None:
        return None
    library, prefix, suffix = found
    name = f"{prefix.removesuffix('openblas_')}{name}_{suffix}"
    if not hasattr(library, name):
        return None
    function = library[name]
    function.argtypes = [ctypes.c_void_p] * arguments + [ctypes.c_size_t] * letters
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
    letter = _LETTERS.get(matrix.dtype.char)
    found = None if letter is None else _routine(f"{letter}getrf", 6)
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


def ldl(matrix: Any, hermitian: bool) -> tuple[Any, Any, Any] | None:
    """LAPACK's factors, pivots and ``info`` from the lower triangles; None to do without.

    Args:
        matrix: ``(..., n, n)``.
        hermitian: Whether the upper triangle is the conjugate of the lower one.

    Returns:
        ``(..., n, n)``, 0 above the diagonal, and int32 ``(..., n)`` and ``(...,)``.
    """
    *batch, n, _ = matrix.shape
    count = math.prod(batch)
    letter = _LETTERS.get(matrix.dtype.char)
    if not matrix.size or letter is None or count > 1 and _WORTH * count > n * n:
        return None
    kind = "he" if hermitian and letter in "cz" else "sy"
    found = _routine(f"{letter}{kind}trf", 8, letters=1)
    if found is None or not numpy.isfinite(matrix).all():
        return None
    function, integer = found
    columns = numpy.array(numpy.swapaxes(matrix, -1, -2), order="C")  # LAPACK stores columns
    pivots, info = numpy.zeros((*batch, n), integer), numpy.zeros(batch, integer)
    work = numpy.empty(n * _COLUMNS, matrix.dtype)
    sizes = numpy.array([n, work.size], integer)
    order, length = sizes.ctypes.data, sizes.ctypes.data + sizes.itemsize
    for i in range(count):
        function(
            b"L", order, columns.ctypes.data + i * n * n * columns.itemsize, order,
            pivots.ctypes.data + i * n * pivots.itemsize, work.ctypes.data, length,
            info.ctypes.data + i * info.itemsize, 1,
        )  # fmt: skip
    lower = numpy.tril(numpy.swapaxes(columns, -1, -2))
    return lower, pivots.astype("int32"), info.astype("int32")
