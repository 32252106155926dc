"""The embedded backend: NumPy, on the CPU."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy

from .base import Array, Backend
from .float_sums import FEW, float_sum

# log(0) is -inf and 0 / 0 is nan, silently, as in torch. NumPy warns at the line that called it:
# ours. numpy.errstate would say the same in 1.5 us a call, three times what a small operation
# takes, and numpy.seterr would change the user's own NumPy.
warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"tinytorch\.")

#: Elements per block: several blocks of float32 fit the cache, and calls cost little beside them.
_BLOCK = 65536
#: From here on a second thread is worth what it costs to wake it.
_THREADED = 1 << 19
#: Below this many elements numpy.where is fast enough.
_FEW = 16384
_INTEGERS = {2: "int16", 4: "int32", 8: "int64"}
_ZEROS = {numpy.dtype(f"f{size}"): numpy.zeros((), f"f{size}") for size in _INTEGERS}


def _floats(condition: Array, x: Any, y: Any) -> tuple[Array, Array] | None:
    """``x`` and ``y`` as arrays of one float dtype if that, and their shapes, allow selecting."""
    array = x if isinstance(x, numpy.ndarray) and x.ndim else y
    if not isinstance(array, numpy.ndarray) or array.dtype.kind != "f":
        return None
    pair = []
    for value in (x, y):
        if isinstance(value, (int, float)) or getattr(value, "shape", None) == ():
            if getattr(value, "dtype", array.dtype) != array.dtype:
                return None
            value = numpy.asarray(value, array.dtype)
        elif value.dtype != array.dtype or value.shape != condition.shape:
            return None
        pair.append(value)
    return (pair[0], pair[1]) if condition.dtype == bool else None


def _select(x: Array, y: Array, condition: Array) -> Array:
    integer = _INTEGERS[x.dtype.itemsize]
    mask = numpy.negative(condition.view("int8")).astype(integer)
    other = y.view(integer)
    bits = numpy.bitwise_xor(x.view(integer), other)
    bits &= mask
    bits ^= other
    return bits.view(x.dtype)


class NumpyBackend(Backend):
    """NumPy, the library every other backend is described against."""

    name = "numpy"
    library = numpy
    array_type = numpy.ndarray
    block_elements = _BLOCK
    column_bytes = 5 << 18

    def to_numpy(self, array: Array) -> numpy.ndarray[Any, Any]:
        return array  # type: ignore[no-any-return]

    def from_numpy(self, array: numpy.ndarray[Any, Any]) -> Array:
        return array

    def masked(self, array: Array, mask: Array) -> Array:
        return self.where(mask, array, _ZEROS.get(array.dtype, 0))

    def where(self, condition: Array, *values: Any) -> Any:
        """``numpy.where``, several times faster on a large irregular condition."""
        # numpy.where stumbles over its branches there; and a product with the condition, which
        # does not, would make NaN of 0 * inf. So the bits are selected.
        if len(values) == 2 and condition.__class__ is numpy.ndarray and condition.size >= _FEW:
            pair = _floats(condition, *values)
            if pair is not None:
                return self.blockwise(_select, pair[0], pair[1], condition)
        return numpy.where(condition, *values)

    def blockwise(
        self, function: Callable[..., Array], *arrays: Array, unit: int = 1
    ) -> Array:
        size, shape = arrays[-1].size, arrays[-1].shape
        if size < 2 * _BLOCK or not all(
            array.shape == shape and array.flags.c_contiguous or not array.ndim for array in arrays
        ):
            return function(*arrays)
        out = numpy.empty(shape, arrays[0].dtype)
        form = -1 if unit == 1 else (-1, unit)
        flat = [array.reshape(form) if array.ndim else array for array in arrays]
        target = out.reshape(form)
        step = max(1, _BLOCK // unit)

        def work(start: int, stop: int) -> None:
            for at in range(start * step, min(stop * step, len(target)), step):
                piece = slice(at, at + step)
                target[piece] = function(*(a[piece] if a.ndim else a for a in flat))

        blocks = -(-len(target) // step)
        if size < _THREADED:
            work(0, blocks)
        else:
            self.in_parts(work, blocks)
        return out

    def sum(
        self, array: Array, axis: Any = None, dtype: Any = None, out: Any = None,
        keepdims: bool = False, **others: Any,
    ) -> Any:  # fmt: skip
        """``numpy.sum``, several times faster on large float arrays."""
        if array.size >= FEW and array.dtype.char in "fd" and array.flags.c_contiguous:
            if out is None and dtype in (None, array.dtype) and not others:
                ndim = array.ndim
                given = range(ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
                axes = tuple(sorted(a % ndim for a in given))
                found = float_sum(array, axes, self.in_parts)
                if found is not None:
                    if keepdims:
                        kept = (1 if i in axes else n for i, n in enumerate(array.shape))
                        found = found.reshape(tuple(kept))
                    return found
        add_up: Any = numpy.add.reduce  # without the Python around numpy.sum
        return add_up(array, axis, dtype, out, keepdims, **others)

    def diagonal(self, array: Array, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
        out = numpy.diagonal(array, offset, axis1, axis2)
        if array.flags.writeable:  # NumPy hands it out read-only
            out.flags.writeable = True
        return out

    def in_parts(self, work: Callable[[int, int], Any], count: int) -> list[Any]:
        if count < 2:
            return [work(0, count)]
        from . import threads  # what most programs do without

        return threads.run(work, count)

    def info(self) -> dict[str, str]:
        """Library, version, and the BLAS that NumPy has loaded."""
        from . import openblas  # asked by --info alone

        return {**super().info(), **openblas.info()}
