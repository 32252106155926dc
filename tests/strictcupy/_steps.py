"""The steps of dimensions of one element in CuPy's views, where they are not NumPy's.

Nothing is ever read by them, but what a tensor's order in memory is may hang on them. Read off
``_get_strides_for_nocopy_reshape`` in ``cupy/_core/_routines_manipulation.pyx``: where the array is
not dense, a new dimension has the step of the one before it.
"""

from __future__ import annotations

from typing import Any

import numpy


def reshape(a: Any, *shape: Any, order: str = "C") -> Any:
    """``numpy.reshape`` and the method, with CuPy's steps."""
    if shape and isinstance(shape[-1], str):
        *shape, order = shape  # type: ignore[assignment]
    return _as_cupys(a.reshape(*shape, order=order), a)


def expand_dims(a: Any, axis: Any) -> Any:
    """``numpy.expand_dims``, with CuPy's steps."""
    return _as_cupys(numpy.expand_dims(a, axis), a)


def _as_cupys(view: Any, source: Any) -> Any:
    owner = source if source.base is None else source.base
    if view.base is not owner or source.flags.c_contiguous or not view.size > 1:
        return view
    if not (isinstance(owner, numpy.ndarray) and owner.flags.c_contiguous):
        return view  # NumPy makes no array of any steps in such memory
    offset = view.ctypes.data - owner.ctypes.data
    steps = _steps(view.shape, view.strides, _outermost(source))
    made = numpy.ndarray(view.shape, view.dtype, owner, offset, steps)
    made.flags.writeable = view.flags.writeable
    return made


def _steps(shape: Any, steps: Any, before: int) -> list[int]:
    """``steps``, but of dimensions of one element what the last longer one has."""
    made = []
    for size, step in zip(shape, steps, strict=True):
        before = before if size == 1 else step
        made.append(before)
    return made


def _outermost(array: Any) -> int:
    """Extent of the outermost dimension of ``array``, merged with others where strides allow."""
    long = [(n, s) for n, s in zip(array.shape, array.strides, strict=True) if n > 1]
    size, step = long[0]
    for n, s in long[1:]:
        if step != n * s:
            break
        size, step = size * n, s
    return int(size * step)
