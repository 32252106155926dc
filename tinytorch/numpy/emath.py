"""``numpy.emath`` on arrays: functions whose results are complex where no real one exists."""

from __future__ import annotations

from .arrays import namespace
from .functions import emath as _on_tensors

__all__ = _on_tensors.__all__
__getattr__, __dir__ = namespace(_on_tensors, __name__)
