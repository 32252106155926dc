"""What ``tinytorch.numpy`` has under a name: NumPy's functions, ready for arrays."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any

from . import functions
from .direct import host_function
from .functions.dialect import host
from .kept import kept
from .ufunc import ufunc

#: Functions whose result is an array, whatever they are given.
_MAKE_ARRAYS = ("array", "asanyarray", "asarray", "ascontiguousarray", "from_dlpack")


@functools.cache
def public(name: str) -> Any:
    """NumPy's function of this name, for arrays and Tensors; None if there is none."""
    function = functions.function_of(name)
    if function is None:
        return None
    if isinstance(getattr(host(), name, None), host().ufunc):
        return ufunc(name, function)
    made = kept(function, name in _MAKE_ARRAYS, host_function(name))
    made.__module__ = "tinytorch.numpy"
    return made


def namespace(
    source: ModuleType, home: str
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of a module that has what ``source`` has, for arrays.

    Args:
        source: A module of functions on Tensors, which lists them in ``__all__``.
        home: The name of the module for arrays.
    """

    @functools.cache
    def found(name: str) -> Any:
        if name not in source.__all__:
            raise AttributeError(f"module {home!r} has no attribute {name!r}", name=name, obj=None)
        value = getattr(source, name)
        if isinstance(value, type):
            return value
        made = kept(value, host=host_function(name, getattr(host(), home.rpartition(".")[2], None)))
        made.__module__ = home
        return made

    return found, lambda: sorted(source.__all__)
