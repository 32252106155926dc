"""``numpy.linalg`` on arrays: linear algebra, with gradients."""

from __future__ import annotations

from .arrays import namespace
from .functions import linalg as _on_tensors

__all__ = _on_tensors.__all__
__getattr__, __dir__ = namespace(_on_tensors, __name__)
