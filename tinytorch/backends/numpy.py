"""The embedded backend: NumPy, on the CPU."""

from __future__ import annotations

import warnings
from typing import Any

import numpy

from .base import Array, Backend

# log(0) is -inf and 0 / 0 is nan, silently, as in torch. NumPy warns at the line that called it:
# ours. numpy.errstate would say the same in 1.5 us a call, three times what a small operation
# takes, and numpy.seterr would change the user's own NumPy.
warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"tinytorch\.")


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
