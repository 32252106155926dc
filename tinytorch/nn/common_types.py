"""PyTorch's type aliases of sizes: one number, or one for each dimension."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

__all__: list[str] = []

_size_any_t: TypeAlias = int | tuple[int, ...]
_size_1_t: TypeAlias = int | tuple[int]
_size_2_t: TypeAlias = int | tuple[int, int]
_size_3_t: TypeAlias = int | tuple[int, int, int]
_size_4_t: TypeAlias = int | tuple[int, int, int, int]
_size_5_t: TypeAlias = int | tuple[int, int, int, int, int]
_size_6_t: TypeAlias = int | tuple[int, int, int, int, int, int]
_size_any_opt_t: TypeAlias = int | None | tuple[int | None, ...]
_size_2_opt_t: TypeAlias = int | None | tuple[int | None, int | None]
_size_3_opt_t: TypeAlias = int | None | tuple[int | None, int | None, int | None]
_ratio_2_t: TypeAlias = float | tuple[float, float]
_ratio_3_t: TypeAlias = float | tuple[float, float, float]
_ratio_any_t: TypeAlias = float | tuple[float, ...]

#: One number for every dimension, or one each.
Sizes: TypeAlias = int | tuple[int, ...]


def each(count: int, value: Any) -> tuple[Any, ...]:
    """Return ``value`` as a tuple: an iterable is converted, a number repeated ``count`` times."""
    if isinstance(value, Iterable):
        return tuple(value)
    return (value,) * count
