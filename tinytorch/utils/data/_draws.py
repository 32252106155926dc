"""Random indices for samplers, drawn on the host whatever backend is active."""

from __future__ import annotations

from typing import Any

from ... import _state, backends, dtypes
from ..._tensor import Tensor

__all__ = ["fresh_generator", "integers", "permutation", "seed", "weighted", "weights"]
