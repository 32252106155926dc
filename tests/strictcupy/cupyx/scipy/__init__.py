"""``cupyx.scipy``, which holds ``special`` alone."""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["special"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'cupyx.scipy' has no attribute {name!r}")
    return importlib.import_module(f"{__name__}.{name}")
