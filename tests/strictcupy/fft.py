"""``cupy.fft``: NumPy's transforms with CuPy's parameters."""

from __future__ import annotations

import numpy

from ._functions import resolver

__getattr__ = resolver("cupy.fft", numpy.fft, {"config": None}, globals())
