"""``cupyx``: what CuPy has beyond NumPy. As far as backends need it."""

from __future__ import annotations

import contextlib
import threading
import warnings
from collections.abc import Iterator
from typing import Any

import numpy

from .. import _functions
from .._array import ndarray
from .._pinned import empty_pinned as empty_pinned
from . import scipy

__all__ = [
    "empty_pinned", "errstate", "geterr", "scatter_add", "scatter_max", "scatter_min", "scipy",
    "seterr",
]  # fmt: skip


class _Config(threading.local):
    def __init__(self) -> None:
        self.values: dict[str, str | None] = {
            "divide": None, "over": None, "under": None, "invalid": None, "linalg": "ignore",
        }  # fmt: skip


_config = _Config()


def geterr() -> dict[str, str | None]:
    """Return what happens on each kind of floating-point or solver error."""
    return dict(_config.values)


def seterr(**kinds: str | None) -> dict[str, str | None]:
    """Set ``linalg`` to "ignore" or "raise"; CuPy has no choice for the other kinds."""
    old = geterr()
    if kinds.get("linalg") not in (None, "ignore", "raise"):
        raise NotImplementedError()
    if any(kinds.get(kind) is not None for kind in old if kind != "linalg"):
        raise NotImplementedError()
    _config.values.update(linalg=kinds.get("linalg") or old["linalg"])
    return old


@contextlib.contextmanager
def errstate(**kinds: str | None) -> Iterator[None]:
    """Set error handling inside a block."""
    old = seterr(**kinds)
    try:
        yield
    finally:
        _config.values.update(old)


def _scatter(name: str, ufunc_name: str, a: ndarray, slices: Any, value: Any) -> None:
    warnings.warn(
        f"`ndarray.{name}` is deprecated. Please use `cupy.{ufunc_name}.at` instead.",
        DeprecationWarning,
        stacklevel=3,
    )
    _functions.make("cupy", ufunc_name, numpy).at(a, slices, value)


def scatter_add(a: ndarray, slices: Any, value: Any) -> None:
    """Add with repeated indices counted; deprecated in CuPy in favour of ``cupy.add.at``."""
    _scatter("scatter_add", "add", a, slices, value)


def scatter_max(a: ndarray, slices: Any, value: Any) -> None:
    """Keep the maximum at each index."""
    _scatter("scatter_max", "maximum", a, slices, value)


def scatter_min(a: ndarray, slices: Any, value: Any) -> None:
    """Keep the minimum at each index."""
    _scatter("scatter_min", "minimum", a, slices, value)


__getattr__ = _functions.resolver("cupyx", None, {}, globals())
