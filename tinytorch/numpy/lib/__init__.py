"""``numpy.lib``: ``stride_tricks`` and ``scimath`` on arrays, and NumPy's other names."""

from __future__ import annotations

from typing import Any

from .. import emath as scimath  # noqa: F401
from ..functions.conversion import host
from . import stride_tricks as stride_tricks


def __getattr__(name: str) -> Any:
    return getattr(host().lib, name)


def __dir__() -> list[str]:
    return [name for name in dir(host().lib) if name != "test"]
