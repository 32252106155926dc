"""NumPy's functions without its warnings, and its indices in 64 bits.

Warnings at lines of this package are dropped, see ``facade.packages``; those at lines of NumPy's
own modules are not. ``numpy.errstate`` would take a third as long as a small Fourier transform
does: a call in a context in which NumPy ignores errors takes half of that. Only NumPy runs in
there, so the values of other context variables do not matter.

Indices are int64 also where NumPy's have the 32 bits of an address, as in the browser's Python.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextvars import Context
from functools import wraps
from importlib import import_module
from types import FunctionType
from typing import Any

import numpy

_SILENCE = Context()
_SILENCE.run(numpy.seterr, all="ignore")
# Of its own for each call: a context cannot be entered twice, by threads or within itself.
_silence = _SILENCE.copy


def quiet(function: Callable[..., Any]) -> Callable[..., Any]:
    """``function`` of NumPy's, without warnings of floating-point errors."""

    @wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        return _silence().run(function, *args, **options)

    return call


class QuietNamespace:
    """A submodule of NumPy's with quiet functions, imported when one is asked for."""

    def __init__(self, module: str) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        found = getattr(import_module(self._module), name)
        if isinstance(getattr(found, "__wrapped__", found), FunctionType):
            found = quiet(found)
        setattr(self, name, found)
        return found


#: What gives indices, of NumPy's functions and of the backend's own.
FUNCTIONS = (
    "argmax", "argmin", "argpartition", "argsort", "argwhere", "bincount", "digitize",
    "flatnonzero", "indices", "lexsort", "nanargmax", "nanargmin", "nonzero", "ravel_multi_index",
    "searchsorted", "tril_indices", "triu_indices", "unravel_index",
    "last_true", "leading", "order", "pick",
)  # fmt: skip
#: Functions of which not every result is one: with one argument, and after the first result.
POSITIONS, WITH_VALUES = ("where",), ("unique",)
#: Functions that there refuse int64 indices, and the place of that argument.
TAKERS = {"bincount": 0, "put": 1, "repeat": 1, "take": 1}


def is_narrow() -> bool:
    """Whether NumPy's indices have fewer bits than PyTorch's."""
    return numpy.dtype(numpy.intp).itemsize < 8


def widen(backend: type) -> None:
    """Have the functions of a backend on NumPy take and give int64 indices."""
    for name, place in TAKERS.items():
        _accept(backend, name, place)
    for name in FUNCTIONS:
        _replace(backend, name, lambda found, count: _wide(found))
    for name in POSITIONS:
        _replace(backend, name, lambda found, count: _wide(found) if count == 1 else found)
    for name in WITH_VALUES:
        _replace(backend, name, _after_first)


def _accept(backend: type, name: str, place: int) -> None:
    own = getattr(backend, name, None)
    function: Any = own or getattr(numpy, name)

    @functools.wraps(function)
    def taking(self: Any, *args: Any, **options: Any) -> Any:
        args = (*args[:place], *map(_narrow, args[place : place + 1]), *args[place + 1 :])
        return function(self, *args, **options) if own else function(*args, **options)

    setattr(backend, name, taking)


def _narrow(indices: Any) -> Any:
    """int64 indices as NumPy's; what has too many bits stays out of bounds."""
    if not isinstance(indices, numpy.ndarray) or indices.dtype != "int64":
        return indices
    bounds = numpy.iinfo(numpy.int32)
    return indices.clip(bounds.min, bounds.max).astype(numpy.int32)


def _replace(backend: type, name: str, change: Callable[[Any, int], Any]) -> None:
    own = getattr(backend, name, None)
    function: Any = own or getattr(numpy, name)

    @functools.wraps(function)
    def wide(self: Any, *args: Any, **options: Any) -> Any:
        found = function(self, *args, **options) if own else function(*args, **options)
        return change(found, len(args))

    setattr(backend, name, wide)


def _wide(found: Any) -> Any:
    if isinstance(found, tuple):
        return tuple(map(_wide, found))
    return found.astype("int64", copy=False) if isinstance(found, numpy.ndarray) else found


def _after_first(found: Any, count: int) -> Any:
    return (found[0], *map(_wide, found[1:])) if isinstance(found, tuple) else found
