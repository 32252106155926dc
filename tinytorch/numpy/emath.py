"""Functions whose results are complex where no real number is: ``numpy.emath`` by its names."""

from __future__ import annotations

from .arrays import namespace
from .functions import emath as _on_tensors

__all__ = _on_tensors.__all__
__getattr__, __dir__ = namespace(_on_tensors, __name__)
