"""What ``tinytorch.numpy`` has under a name: NumPy's functions, ready for arrays."""

from __future__ import annotations

import functools
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
    if hasattr(getattr(host(), name, None), "nin"):
        return ufunc(name, function)
    made = kept(function, name in _MAKE_ARRAYS, host_function(name))
    made.__module__ = "tinytorch.numpy"
    return made
