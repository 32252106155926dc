"""``numpy.lib.stride_tricks`` on arrays: views with other shapes and strides."""

from __future__ import annotations

from ..arrays import namespace
from ..functions import stride_tricks as _on_tensors

__all__ = _on_tensors.__all__
__getattr__, __dir__ = namespace(_on_tensors, __name__)
