"""Formulas that are CuPy's own, by name: where they give other numbers than NumPy's do.

Read off ``cupy.NAME._ops``, and from ``cupy/_core/include/cupy/carray.cuh``. They hold for
floating-point operands, and for ``fmod`` of integers. Sums are those of
``cupy/_core/_routines_math.pyx``, whose ``e->e`` adds floats, where ``cupy/cuda/cub.pyx`` takes
none: of results one behind the other CUB adds halves to halves.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy

from . import _steps


def _true_divide(a: Any, b: Any) -> Any:
    """Complex numbers are divided by way of the divisor's size, which 0 and infinity spoil."""
    if _kind(a, b) != "c":
        return numpy.true_divide(a, b)
    a, b = numpy.asarray(a), numpy.asarray(b)
    scale = 1 / (abs(b.real) + abs(b.imag))
    (ar, ai), (br, bi) = (a.real * scale, a.imag * scale), (b.real * scale, b.imag * scale)
    scale = 1 / (br * br + bi * bi)
    parts = (ar * br + ai * bi) * scale, (ai * br - ar * bi) * scale
    out = numpy.empty(parts[0].shape, numpy.result_type(a, b))
    out.real, out.imag = parts
    return out


def _floor_divide(a: Any, b: Any) -> Any:
    return numpy.floor(a / b) if _kind(a, b) == "f" else numpy.floor_divide(a, b)


def _remainder(a: Any, b: Any) -> Any:
    return a - numpy.floor(a / b) * b if _kind(a, b) == "f" else numpy.remainder(a, b)


def _fmod(a: Any, b: Any) -> Any:
    if _kind(a, b) == "f":
        return numpy.fmod(a, b)
    wide = numpy.fmod(numpy.asarray(a, float), numpy.asarray(b, float))
    return numpy.where(numpy.asarray(b) == 0, 0, wide).astype(numpy.result_type(a, b))


def _nextafter(a: Any, b: Any) -> Any:
    """Kernels are compiled with ``-ftz=true``: CUDA's steps from 0 to the smallest normal float32.

    So the PTX that NVRTC makes of it says. That of float16 is CuPy's own, in ``float16.cuh``.
    """
    a, b = _flush_subnormals(a), _flush_subnormals(b)
    found = _flush_subnormals(numpy.nextafter(a, b))
    if found.dtype == "float16":
        found = numpy.where(a == b, a, found)
        return numpy.where(numpy.isfinite(a), found, found.dtype.type("nan"))
    if found.dtype == "float32":
        tiny = numpy.copysign(numpy.finfo("f4").tiny, b)
        return numpy.where((a == 0) & (abs(b) > 0), tiny, found)
    return found


def _flush_subnormals(values: Any) -> Any:
    values = numpy.asarray(values)
    if values.dtype != "float32":
        return values
    return numpy.where(abs(values) < numpy.finfo("f4").tiny, numpy.copysign(0, values), values)


def _cub_reduction(ufunc: Any) -> Callable[..., Any]:
    """Return a reduction that CuPy leaves to CUB where that has one; CUB keeps to halves."""

    def reduction(
        a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False
    ) -> Any:
        if out is not None or numpy.dtype(a.dtype if dtype is None else dtype) != "float16":
            return ufunc.reduce(a, axis, dtype, out, keepdims)
        rows = None if a.dtype != "float16" else _rows_for_cub(a, axis)
        if rows is None:
            wide = ufunc.reduce(a.astype("float16"), axis, "float32", None, keepdims)
            return wide.astype("float16")
        shape = ufunc.reduce(a, axis, keepdims=keepdims).shape
        return _reduce_pairwise(ufunc, rows).reshape(shape)

    return reduction


def _rows_for_cub(a: Any, axis: Any) -> Any:
    """One row for each result where these lie one behind the other, else None."""
    if not a.flags.c_contiguous or not a.size:
        return None
    axes = range(a.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    reduced = sorted(each % a.ndim for each in axes) if a.ndim else []
    if reduced != list(range(a.ndim - len(reduced), a.ndim)):
        return None
    return a.reshape(-1, math.prod(a.shape[a.ndim - len(reduced) :]))


def _reduce_pairwise(ufunc: Any, rows: Any) -> Any:
    """Combine the columns two by two, rounded each time."""
    while rows.shape[1] > 1:
        even = rows.shape[1] // 2 * 2
        pairs = ufunc(rows[:, 0:even:2], rows[:, 1:even:2])
        rows = numpy.concatenate((pairs, rows[:, even:]), axis=1)
    return rows[:, 0]


def _kind(*operands: Any) -> str:
    return str(numpy.result_type(*operands).kind)


FORMULAS: dict[str, Callable[..., Any]] = {
    "true_divide": _true_divide,
    "divide": _true_divide,
    "floor_divide": _floor_divide,
    "remainder": _remainder,
    "mod": _remainder,
    "fmod": _fmod,
    "fix": numpy.trunc,  # the name is deprecated in NumPy
    "nextafter": _nextafter,
    "sum": _cub_reduction(numpy.add),
    "prod": _cub_reduction(numpy.multiply),
    "reshape": _steps.reshape,
    "expand_dims": _steps.expand_dims,
}
