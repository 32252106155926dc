"""NumPy's array with its methods and operators, and modules of functions that give such arrays."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from ..facade.packages import Namespace, names_of
from . import methods, operators
from .direct import host_function
from .functions.conversion import host
from .kept import kept, scalars_of
from .ndarray import array_of_tensor as array_of_tensor
from .ndarray import ndarray as ndarray
from .ndarray import wrap_result as wrap_result

methods.attach()
operators.attach()


def namespace(
    source: ModuleType, home: str
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of a module that has what ``source`` has, for arrays.

    Args:
        source: A module of functions on Tensors, which lists them in ``__all__``.
        home: The name of the module for arrays.
    """

    made_module = sys.modules[home]
    made_module.__class__ = Namespace

    def found(name: str) -> Any:
        if name == "__all__":  # what ``from tinytorch.numpy.fft import *`` reads
            return source.__all__
        if name not in source.__all__:
            raise AttributeError(f"module {home!r} has no attribute {name!r}", name=name, obj=None)
        value = getattr(source, name)
        if isinstance(value, type):
            return names_of(made_module).setdefault(name, value)
        plain = host_function(name, getattr(host(), home.rpartition(".")[2], None))
        made = kept(value, host=plain, scalars=scalars_of(name))
        made.__module__ = home
        return names_of(made_module).setdefault(name, made)

    return found, lambda: sorted(source.__all__)
