"""Sizes along one, two or three dimensions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

#: One number for every dimension, or one each.
Sizes: TypeAlias = int | tuple[int, ...]


def each(count: int, value: Any) -> tuple[Any, ...]:
    """``value`` as a tuple: itself if it has several, else repeated ``count`` times."""
    if isinstance(value, Iterable):
        return tuple(value)
    return (value,) * count
