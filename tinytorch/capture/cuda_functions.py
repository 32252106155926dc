"""CuPy's functions for those of NumPy's that a program was recorded with."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

import numpy

from .backend import NUMPY, KernelCall
from .calls import InLayout, IntoOut, ViewPart
from .host_copies import view_memory
from .numpy_engine import as_writable
from .simplify import Fit
from .traced_memory import window


def translate(thing: Any, backend: Any, name: str = "") -> Any:
    """Return what stands for a function, an array or a tuple of these on another backend.

    Args:
        thing: A function or an array of NumPy's, a method of the NumPy backend, an object that
            holds one; anything else is returned as it is.
        backend: The CuPy backend.
        name: The name of the node that calls the function, if it is known.

    Raises:
        NotImplementedError: If the backend does not have the function.
    """
    if isinstance(thing, numpy.ndarray):
        return backend.library.asarray(thing)
    if isinstance(thing, (tuple, list)):
        return thing.__class__([translate(item, backend) for item in thing])
    if isinstance(thing, functools.partial):
        args = [backend if arg is NUMPY else translate(arg, backend) for arg in thing.args]
        return functools.partial(translate(thing.func, backend), *args, **thing.keywords)
    if isinstance(thing, KernelCall):
        return KernelCall(thing.name, thing.run, thing.layouts, backend)
    if isinstance(thing, ViewPart):
        return ViewPart(translate(thing.function, backend, name), thing.index)
    if isinstance(thing, IntoOut):
        return IntoOut(translate(thing.function, backend, name))
    if isinstance(thing, InLayout):  # the engine lays results out
        return translate(thing.ufunc, backend)
    if isinstance(thing, Fit):
        return functools.partial(_fit, backend.library, thing.like)
    if thing is window:
        return functools.partial(view_memory, backend)
    if thing is as_writable:
        return _same
    return _find(thing, backend, name)


def _find(thing: Any, backend: Any, name: str) -> Any:
    """``translate`` of a single function, by the name of its node or its own."""
    owner, own_name = getattr(thing, "__self__", None), getattr(thing, "__name__", "")
    space, _, last = name.rpartition(".")
    if isinstance(thing, numpy.ufunc):
        return find_ufunc(thing, backend)
    if space == "special":
        return backend.special(last)
    if space in ("numpy.fft", "numpy.linalg"):
        return getattr(getattr(backend, space[6:]), last)
    if isinstance(owner, numpy.ufunc):
        return getattr(getattr(backend.library, owner.__name__), own_name)
    if isinstance(thing, types.MethodDescriptorType) and thing.__objclass__ is numpy.ndarray:
        return _Method(own_name)
    if owner is NUMPY or space in ("xp", "numpy"):
        return _member(backend, last or own_name)
    module = getattr(thing, "__module__", None) or ""
    if callable(thing) and not isinstance(thing, type) and module.partition(".")[0] == "numpy":
        return _member(backend, own_name)
    return thing


def find_ufunc(ufunc: Any, backend: Any) -> Callable[..., Any]:
    """Return the function of a backend for a ufunc of NumPy's or SciPy's; it accepts ``out``."""
    name = ufunc.__name__
    found = getattr(backend, name, None)
    if found is None:
        found = backend.special(name)
    return found if isinstance(found, backend.library.ufunc) else _WithOut(found, ufunc.nin)


def _member(backend: Any, name: str) -> Any:
    """Return a function of a backend."""
    try:
        return getattr(backend, name)
    except AttributeError:
        raise NotImplementedError(f"{backend.name} has no function {name}") from None


def _fit(library: Any, like: Any, source: Any) -> Any:
    """Broadcast and cast to the shape and dtype of an array."""
    out = library.empty(like.shape, like.dtype)
    out[...] = source
    return out


class _WithOut:
    """Function of arrays that writes its result to one more argument, if there is one."""

    __slots__ = ("count", "function")

    def __init__(self, function: Callable[..., Any], count: int) -> None:
        self.function, self.count = function, count

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        result = self.function(*args[: self.count], **kwargs)
        if len(args) > self.count:
            args[self.count][...] = result
        return result


class _Method:
    """Method of arrays by its name, as a function."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, array: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(array, self.name)(*args, **kwargs)


def _same(array: Any) -> Any:
    """Return the array: CuPy's cannot be read-only."""
    return array
