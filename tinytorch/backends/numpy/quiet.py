"""NumPy's functions without warnings, and 64-bit indices on platforms with 32-bit addresses.

Warnings at lines of this package are dropped (see ``facade.packages``), but not those at lines of
NumPy's own modules. ``numpy.errstate`` takes a third of the time of a small Fourier transform. A
call in a ``contextvars`` context in which NumPy ignores errors takes half as long. Only NumPy runs
inside it, so the values of other context variables do not matter.

NumPy's indices have 32 bits where addresses do, as in the browser's Python. Here they are int64.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from contextvars import Context
from functools import wraps
from importlib import import_module
from types import FunctionType
from typing import Any

import numpy

_SILENCE = Context()
_SILENCE.run(numpy.seterr, all="ignore")
# Each call gets its own copy, because a context can be entered only once at a time.
_silence = _SILENCE.copy


def quiet(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function of NumPy so that it ignores floating-point errors."""

    @wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        return _silence().run(function, *args, **options)

    return call


class QuietNamespace:
    """Submodule of NumPy whose functions ignore floating-point errors, imported on first access."""

    def __init__(self, module: str) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        found = getattr(import_module(self._module), name)
        if isinstance(getattr(found, "__wrapped__", found), FunctionType):
            found = quiet(found)
        setattr(self, name, found)
        return found


@quiet
def _transform_along(transform: Any, a: Any, axes: Sequence[int], norm: str | None) -> Any:
    """Call a transform of NumPy along one dimension after the other, the last of ``axes`` first."""
    for axis in reversed(axes):
        a = transform(a, None, axis, norm)
    return a


class FourierNamespace(QuietNamespace):
    """``numpy.fft``, whose transforms along several dimensions are several along one.

    NumPy computes them so, too; on few elements its checks of the arguments take a sixth of the
    time. The dimensions are passed by ``axes``, and sizes to the inverse of ``rfftn`` alone.
    """

    def fftn(self, a: Any, axes: Sequence[int], norm: str | None) -> Any:
        return _transform_along(self.fft.__wrapped__, a, axes, norm)

    def ifftn(self, a: Any, axes: Sequence[int], norm: str | None) -> Any:
        return _transform_along(self.ifft.__wrapped__, a, axes, norm)

    def rfftn(self, a: Any, axes: Sequence[int], norm: str | None) -> Any:
        *first, last = axes
        return self.fftn(self.rfft(a, None, last, norm), first, norm)

    def irfftn(self, a: Any, s: Sequence[int], axes: Sequence[int], norm: str | None) -> Any:
        *first, last = axes
        return self.irfft(self.ifftn(a, first[::-1], norm), s[-1], last, norm)


#: Functions of NumPy and of the backend that return indices.
FUNCTIONS = (
    "argmax", "argmin", "argpartition", "argsort", "argwhere", "bincount", "digitize",
    "flatnonzero", "indices", "lexsort", "nanargmax", "nanargmin", "nonzero", "ravel_multi_index",
    "searchsorted", "tril_indices", "triu_indices", "unravel_index",
    "last_true", "leading", "order", "pick",
)  # fmt: skip
#: Functions that return indices only if called with one argument, or after the first result.
POSITIONS, WITH_VALUES = ("where",), ("unique",)
#: Functions that raise for int64 indices on such platforms, and the position of the argument.
TAKERS = {"bincount": 0, "put": 1, "repeat": 1, "take": 1, "take_valid": 1}


def is_narrow() -> bool:
    """Whether NumPy's indices have fewer bits than PyTorch's."""
    return numpy.dtype(numpy.intp).itemsize < 8


def widen(backend: type) -> None:
    """Make the functions of a NumPy backend accept and return int64 indices."""
    for name, place in TAKERS.items():
        _narrow_argument(backend, name, place)
    for name in FUNCTIONS:
        _convert_results(backend, name, lambda found, count: _to_int64(found))
    for name in POSITIONS:
        _convert_results(
            backend, name, lambda found, count: _to_int64(found) if count == 1 else found
        )
    for name in WITH_VALUES:
        _convert_results(backend, name, _to_int64_after_first)


def _narrow_argument(backend: type, name: str, place: int) -> None:
    """Make function ``name`` of a backend class accept int64 indices at position ``place``."""
    method = getattr(backend, name, None)
    function: Any = method or getattr(numpy, name)

    @functools.wraps(function)
    def call_narrowed(self: Any, *args: Any, **options: Any) -> Any:
        args = (*args[:place], *map(_narrow, args[place : place + 1]), *args[place + 1 :])
        return function(self, *args, **options) if method else function(*args, **options)

    setattr(backend, name, call_narrowed)


def _narrow(indices: Any) -> Any:
    """Convert int64 indices to NumPy's; values that do not fit stay out of bounds."""
    if not isinstance(indices, numpy.ndarray) or indices.dtype != "int64":
        return indices
    bounds = numpy.iinfo(numpy.int32)
    return indices.clip(bounds.min, bounds.max).astype(numpy.int32)


def _convert_results(backend: type, name: str, change: Callable[[Any, int], Any]) -> None:
    """Replace function ``name`` of a backend class by one with converted results.

    ``change(result, count)`` converts the result of a call with ``count`` positional arguments.
    """
    method = getattr(backend, name, None)
    function: Any = method or getattr(numpy, name)

    @functools.wraps(function)
    def call_and_convert(self: Any, *args: Any, **options: Any) -> Any:
        found = function(self, *args, **options) if method else function(*args, **options)
        return change(found, len(args))

    setattr(backend, name, call_and_convert)


def _to_int64(found: Any) -> Any:
    """Convert an index array, or each array of a tuple, to int64."""
    if isinstance(found, tuple):
        return tuple(map(_to_int64, found))
    return found.astype("int64", copy=False) if isinstance(found, numpy.ndarray) else found


def _to_int64_after_first(found: Any, count: int) -> Any:
    """Convert all results but the first, the values of ``unique``, to int64."""
    return (found[0], *map(_to_int64, found[1:])) if isinstance(found, tuple) else found
