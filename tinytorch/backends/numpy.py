"""The embedded backend: NumPy, on the CPU."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy

from .base import Array, Backend

# log(0) is -inf and 0 / 0 is nan, silently, as in torch. NumPy warns at the line that called it:
# ours. numpy.errstate would say the same in 1.5 us a call, three times what a small operation
# takes, and numpy.seterr would change the user's own NumPy.
warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"tinytorch\.")

_INTEGERS = {2: "int16", 4: "int32", 8: "int64"}
_FEW = 4096


class NumpyBackend(Backend):
    """NumPy, the library every other backend is described against."""

    name = "numpy"
    library = numpy
    array_type = numpy.ndarray
    block_elements = 65536
    column_bytes = 1 << 20

    def to_numpy(self, array: Array) -> numpy.ndarray[Any, Any]:
        return array  # type: ignore[no-any-return]

    def from_numpy(self, array: numpy.ndarray[Any, Any]) -> Array:
        return array

    def masked(self, array: Array, mask: Array) -> Array:
        kind, shape = array.dtype.kind, array.shape
        if kind != "f" or array.size < _FEW or mask.shape != shape:
            return numpy.where(mask, array, 0)
        # where() stumbles over its branches on an irregular mask: bits are ten times faster.
        # A product with the mask would be too, but 0 * inf is NaN.
        integer = _INTEGERS[array.dtype.itemsize]
        bits = numpy.negative(mask.view("int8")).astype(integer)
        bits &= array.view(integer)
        return bits.view(array.dtype)

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
