"""Automatic mixed precision, as ``torch.amp``: ``autocast`` and ``GradScaler``."""

from __future__ import annotations

from ..dispatch.autocast import get_autocast_dtype as get_autocast_dtype
from ..dispatch.autocast import is_autocast_available as is_autocast_available
from .autocast_mode import autocast as autocast
from .autocast_mode import custom_bwd as custom_bwd
from .autocast_mode import custom_fwd as custom_fwd
from .grad_scaler import GradScaler as GradScaler
from .grad_scaler import OptState as OptState

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]
