"""array_api_strict, which has the standard's functions and no others, as a backend."""

from __future__ import annotations

from types import FunctionType
from typing import Any

import numpy

from ..numpy.quiet import quiet
from .backend import StandardBackend
from .library import ArrayLibrary, Raw


class StrictLibrary(ArrayLibrary):
    """Functions on arrays of array_api_strict."""

    def to_host(self, raw: Raw) -> numpy.ndarray[Any, Any]:
        return numpy.array(raw)


class _QuietModule:
    """Module whose functions ignore floating-point errors, of which NumPy warns beneath them."""

    def __init__(self, module: Any) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._module, name)
        found = quiet(found) if isinstance(found, FunctionType) else found
        setattr(self, name, found)
        return found


class ArrayApiStrictBackend(StandardBackend):
    """Backend over ``array_api_strict``, which computes by NumPy and raises for all else."""

    name = "array_api_strict"
    module = "array_api_strict"

    def open(self) -> ArrayLibrary:
        import array_api_strict as package

        namespace: Any = _QuietModule(package)
        namespace.linalg, namespace.fft = map(_QuietModule, (package.linalg, package.fft))
        array_class = type(package.zeros((1,)))
        return StrictLibrary(self.name, namespace, array_class, package.__version__)
