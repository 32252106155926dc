"""The embedded backend: NumPy, on the CPU."""

from __future__ import annotations

from typing import Any

import numpy

from .base import Array, Backend


class NumpyBackend(Backend):
    """NumPy, the library every other backend is described against."""

    name = "numpy"
    library = numpy
    array_type = numpy.ndarray
    block_elements = 65536

    def to_numpy(self, array: Array) -> numpy.ndarray[Any, Any]:
        return array  # type: ignore[no-any-return]

    def from_numpy(self, array: numpy.ndarray[Any, Any]) -> Array:
        return array

    def info(self) -> dict[str, str]:
        """Library, version, and the BLAS that NumPy has loaded."""
        from . import openblas  # asked by --info alone

        return {**super().info(), **openblas.info()}
