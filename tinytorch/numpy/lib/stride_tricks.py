"""Windows into an array's memory: ``numpy.lib.stride_tricks`` by its names."""

from __future__ import annotations

from ..arrays import namespace
from ..functions import stride_tricks as _on_tensors

__all__ = _on_tensors.__all__
__getattr__, __dir__ = namespace(_on_tensors, __name__)
