"""NumPy's functions and modules as kernels see them while a function is recorded."""

from __future__ import annotations

import types
from typing import Any

import numpy

from ..backends.numpy.quiet import QuietNamespace
from .arrays import ProgramArray
from .calls import call, call_numpy, call_ufunc, mutate


class RecordedUfunc:
    """Ufunc of NumPy's whose calls are recorded."""

    def __init__(self, ufunc: Any) -> None:
        self.ufunc, self.__name__ = ufunc, ufunc.__name__
        self.nin, self.nout, self.identity = ufunc.nin, ufunc.nout, ufunc.identity

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return call_ufunc(self.ufunc, args, kwargs)

    def at(self, *args: Any) -> None:
        """``ufunc.at``."""
        mutate(f"{self.__name__}.at", self.ufunc.at, args, {})

    def __getattr__(self, name: str) -> Any:
        method = getattr(self.ufunc, name)
        if name not in ("reduce", "accumulate", "reduceat", "outer"):
            return method
        return lambda *args, **kwargs: call(f"{self.__name__}.{name}", method, args, kwargs)


def wrap_function(name: str, value: Any) -> Any:
    """Return what kernels get for a member of NumPy's or of a module of it."""
    if isinstance(value, numpy.ufunc):
        return RecordedUfunc(value)
    if isinstance(value, (types.ModuleType, QuietNamespace)):
        return RecordedNamespace(name, value)
    if isinstance(value, type):
        return ProgramArray if value is numpy.ndarray else value
    if not callable(value):
        return value
    return lambda *args, **kwargs: call_numpy(name, value, args, kwargs)


class RecordedNamespace:
    """Module of NumPy's whose functions are recorded."""

    def __init__(self, name: str, module: Any) -> None:
        self._name, self._module = name, module
        self.__name__ = getattr(module, "__name__", name)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._module, name)
        made = wrap_function(f"{self._name}.{name}", getattr(value, "_implementation", value))
        setattr(self, name, made)
        return made
