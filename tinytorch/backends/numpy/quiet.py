"""NumPy's functions that warn of infinities in lines of their own, made silent as PyTorch's are.

Warnings at lines of this package are dropped, see ``facade.packages``; those at lines of NumPy's
own modules are not. ``numpy.errstate`` would take a third as long as a small Fourier transform
does: to call the function in a context in which NumPy ignores errors takes half of that. Nothing
but NumPy runs in there, so that the values of other context variables are of no account.
"""

from __future__ import annotations

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
