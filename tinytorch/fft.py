"""Discrete Fourier transforms.

The operations themselves live in ``tinytorch.ops``; this is the name they are reached by.
"""

from __future__ import annotations

from . import _facade

__getattr__, __dir__ = _facade.namespace(__name__, "fft")
