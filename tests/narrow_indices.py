"""NumPy as it is where addresses have 32 bits, as in the browser's Python.

After ``import tests.narrow_indices``, ``import numpy`` binds a module whose functions return int32
indices and int32 sums of small integers. Methods of arrays do not change.
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
    """Convert int64 arrays, also in tuples, to int32."""
    if isinstance(value, tuple):
        parts = [narrow(part) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    wide = isinstance(value, (numpy.ndarray, numpy.generic)) and value.dtype == "int64"
    return value.astype("int32") if wide else value


def _is_wide(*values: Any) -> bool:
    """Whether an argument, or an item of a list, is a dtype or has elements of 64 bits."""
    arrays = [a for v in values for a in (v if isinstance(v, (tuple, list)) else (v,))]
    wide = any(getattr(getattr(a, "dtype", None), "itemsize", 0) == 8 for a in arrays)
    return wide or any(isinstance(v, (type, str, numpy.dtype)) for v in values)


def _return_narrow(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any, **options: Any) -> Any:
        found = function(*args, **options)
        if name in _INDICES or (name == "where" and len(args) == 1):
            return narrow(found)
        if name == "unique" and isinstance(found, tuple):
            return (found[0], *narrow(found[1:]))
        return narrow(found) if name in _SUMS and not _is_wide(*args, *options.values()) else found

    return functools.wraps(function)(call)


def _reject_int64(function: Callable[..., Any], place: int) -> Callable[..., Any]:
    """Wrap a function to raise on int64 indices, as NumPy does on such a machine."""

    def call(*args: Any, **options: Any) -> Any:
        if len(args) > place and getattr(args[place], "dtype", None) == "int64":
            raise TypeError("Cannot cast array data from dtype('int64') to dtype('int32')")
        return function(*args, **options)

    return functools.wraps(function)(call)


class Ufunc:
    """A ufunc whose reductions and accumulations return int32."""

    def __init__(self, ufunc: Any) -> None:
        self._ufunc = ufunc

    def __call__(self, *args: Any, **options: Any) -> Any:
        return self._ufunc(*args, **options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ufunc, name)

    def reduce(self, *args: Any, **options: Any) -> Any:
        found = self._ufunc.reduce(*args, **options)
        return found if _is_wide(*args, *options.values()) else narrow(found)

    def accumulate(self, *args: Any, **options: Any) -> Any:
        found = self._ufunc.accumulate(*args, **options)
        return found if _is_wide(*args, *options.values()) else narrow(found)


def _stand_in() -> ModuleType:
    """Copy of the ``numpy`` module with the narrow functions."""
    module = ModuleType("numpy")
    vars(module).update(vars(numpy))
    for name in (*_INDICES, *_SUMS, "where", "unique"):
        setattr(module, name, _return_narrow(name, getattr(numpy, name)))
    for name, place in {"put": 1, "repeat": 1, "take": 1}.items():
        setattr(module, name, _reject_int64(getattr(numpy, name), place))
    module.bincount = _return_narrow("bincount", _reject_int64(numpy.bincount, 0))  # type: ignore[attr-defined]
    vars(module).update(intp=numpy.int32, add=Ufunc(numpy.add), multiply=Ufunc(numpy.multiply))
    return module


sys.modules["numpy"] = _stand_in()
