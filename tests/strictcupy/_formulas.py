"""Formulas that are CuPy's own, by name: where they give other numbers than NumPy's do.

Read off ``cupy.NAME._ops``, and from ``cupy/_core/include/cupy/carray.cuh``. They hold for
floating-point operands, and for ``fmod`` of integers. Sums are those of
``cupy/_core/_routines_math.pyx``, whose ``e->e`` adds floats.
"""

from __future__ import annotations

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
    a, b = _flushed(a), _flushed(b)
    found = _flushed(numpy.nextafter(a, b))
    if found.dtype == "float16":
        found = numpy.where(a == b, a, found)
        return numpy.where(numpy.isfinite(a), found, found.dtype.type("nan"))
    if found.dtype == "float32":
        tiny = numpy.copysign(numpy.finfo("f4").tiny, b)
        return numpy.where((a == 0) & (abs(b) > 0), tiny, found)
    return found


def _flushed(values: Any) -> Any:
    values = numpy.asarray(values)
    if values.dtype != "float32":
        return values
    return numpy.where(abs(values) < numpy.finfo("f4").tiny, numpy.copysign(0, values), values)


def _sum(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False
) -> Any:
    if out is not None or numpy.dtype(a.dtype if dtype is None else dtype) != "float16":
        return numpy.sum(a, axis, dtype, out, keepdims)
    return numpy.sum(a.astype("float16"), axis, "float32", None, keepdims).astype("float16")


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
    "sum": _sum,
    "reshape": _steps.reshape,
    "expand_dims": _steps.expand_dims,
}
