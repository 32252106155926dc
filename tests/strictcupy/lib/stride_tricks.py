"""``cupy.lib.stride_tricks``: views whose strides the caller chooses, writable as on a GPU."""

from __future__ import annotations

from typing import Any

import numpy

from .._array import ndarray, wrap
from .._functions import resolver


def as_strided(x: ndarray, shape: Any = None, strides: Any = None) -> ndarray:
    """Return a view with the given shape and strides in bytes, nothing checked; it has no base."""
    return wrap(numpy.lib.stride_tricks.as_strided(x._host, shape, strides))


__getattr__ = resolver(
    "cupy.lib.stride_tricks", numpy.lib.stride_tricks, {"as_strided": as_strided}, globals()
)
