"""NumPy as it is where addresses have 32 bits, as in the browser's Python.

After ``import tests.narrow_indices`` whoever imports ``numpy`` gets one whose indices, and sums of
small integers, are int32. Its functions alone: methods of arrays are as they are.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy
import numpy.fft
import numpy.linalg
import numpy.random  # which are to have NumPy as it is

_INDICES = frozenset((
    "argmax", "argmin", "argpartition", "argsort", "argwhere", "bincount", "digitize",
    "flatnonzero", "lexsort", "nanargmax", "nanargmin", "nonzero", "ravel_multi_index",
    "searchsorted", "tril_indices", "triu_indices", "unravel_index", "count_nonzero", "indices",
))  # fmt: skip
_SUMS = frozenset((
    "sum", "prod", "cumsum", "cumprod", "trace", "nansum", "nanprod",
    "arange", "array", "asarray", "asanyarray", "ascontiguousarray", "full",
))  # fmt: skip


def narrow(value: Any) -> Any:
    """int64 arrays as int32, also in tuples."""
    if isinstance(value, tuple):
        parts = [narrow(part) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    wide = isinstance(value, (numpy.ndarray, numpy.generic)) and value.dtype == "int64"
    return value.astype("int32") if wide else value


def _told(*values: Any) -> bool:
    """Whether a dtype was asked for, or comes with 64 bits of an argument or of those in a list."""
    arrays = [a for v in values for a in (v if isinstance(v, (tuple, list)) else (v,))]
    wide = any(getattr(getattr(a, "dtype", None), "itemsize", 0) == 8 for a in arrays)
    return wide or any(isinstance(v, (type, str, numpy.dtype)) for v in values)


def _narrowed(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any, **options: Any) -> Any:
        found = function(*args, **options)
        if name in _INDICES or (name == "where" and len(args) == 1):
            return narrow(found)
        if name == "unique" and isinstance(found, tuple):
            return (found[0], *narrow(found[1:]))
        return narrow(found) if name in _SUMS and not _told(*args, *options.values()) else found

    return functools.wraps(function)(call)


def _refusing(function: Callable[..., Any], place: int) -> Callable[..., Any]:
    """A function that refuses int64 indices, as NumPy's then do."""

    def call(*args: Any, **options: Any) -> Any:
        if len(args) > place and getattr(args[place], "dtype", None) == "int64":
            raise TypeError("Cannot cast array data from dtype('int64') to dtype('int32')")
        return function(*args, **options)

    return functools.wraps(function)(call)


class Ufunc:
    """A ufunc whose sums are narrow."""

    def __init__(self, ufunc: Any) -> None:
        self._ufunc = ufunc

    def __call__(self, *args: Any, **options: Any) -> Any:
        return self._ufunc(*args, **options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ufunc, name)

    def reduce(self, *args: Any, **options: Any) -> Any:
        found = self._ufunc.reduce(*args, **options)
        return found if _told(*args, *options.values()) else narrow(found)

    def accumulate(self, *args: Any, **options: Any) -> Any:
        found = self._ufunc.accumulate(*args, **options)
        return found if _told(*args, *options.values()) else narrow(found)


def _stand_in() -> ModuleType:
    """NumPy, with these functions in the place of its own."""
    module = ModuleType("numpy")
    vars(module).update(vars(numpy))
    for name in (*_INDICES, *_SUMS, "where", "unique"):
        setattr(module, name, _narrowed(name, getattr(numpy, name)))
    for name, place in {"put": 1, "repeat": 1, "take": 1}.items():
        setattr(module, name, _refusing(getattr(numpy, name), place))
    module.bincount = _narrowed("bincount", _refusing(numpy.bincount, 0))  # type: ignore[attr-defined]
    vars(module).update(intp=numpy.int32, add=Ufunc(numpy.add), multiply=Ufunc(numpy.multiply))
    return module


sys.modules["numpy"] = _stand_in()
