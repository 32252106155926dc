"""Nodes of a recorded program on another backend: its functions in the place of NumPy's.

A node has a function of NumPy's arrays: a ufunc, a method of an array or of the NumPy backend, a
kernel. ``lower`` returns the function of the same name for the arrays of a ``StandardBackend``,
whose interface is NumPy's. Values are immutable there, so a write is a new array.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any

import numpy

from ..backends import load
from ..backends.standard.backend import CHECKS, StandardBackend, StandardGenerator
from .backend import KernelCall, _check_true
from .calls import InLayout, IntoOut, ViewPart
from .graph import Kind, Node, Value
from .numbers import OnFloats, ToDtype, WithFloats
from .replay import bind
from .traced_memory import map_tree, window

_NUMPY = load("numpy")
_XP: ContextVar[Any] = ContextVar("lowering")


class KeyedGenerator(StandardGenerator):
    """Generator that draws the library's numbers from given keys.

    Args:
        backend: The backend.
        keys: Scalars of int64, one for each draw.
    """

    def __init__(self, backend: Any, keys: Sequence[Any]) -> None:
        self._backend, self._keys = backend, iter(keys)

    def _next_key(self) -> Any:
        return next(self._keys)

    def _check_not_compiling(self) -> None:
        """Accept a draw: its key is an input of the compiled function."""


class NodeLowering:
    """Computation of nodes on a backend.

    Args:
        backend: The backend.
        keys: A key for each draw, in order.

    Attributes:
        conditions: Conditions that held when the program was recorded.
        checks: Arrays, each with the function that raises if its copy shows invalid arguments.
    """

    def __init__(self, backend: StandardBackend, keys: Sequence[Any]) -> None:
        self.backend = backend
        self.draws = KeyedGenerator(backend, keys)
        self.conditions: list[Any] = []
        self.checks: list[tuple[Any, Callable[[Any], None]]] = []

    def run(self, node: Node, values: dict[Value, Any]) -> None:
        """Compute the outputs of a node."""
        tokens = _XP.set(self.backend), CHECKS.set(self.checks)
        try:
            args, kwargs = bind(node.args, values), bind(node.kwargs, values)
            result = self._compute(node, map_tree(self._place, args), map_tree(self._place, kwargs))
        finally:
            _XP.reset(tokens[0])
            CHECKS.reset(tokens[1])
        is_several = isinstance(result, (tuple, list))
        for index, value in enumerate(node.outputs):
            if value is not None:
                found = self.backend.library.asarray(result[index] if is_several else result)
                if found.shape != value.shape or found.dtype != value.dtype:
                    raise TypeError(
                        f"expected a result of shape {value.shape} and dtype {value.dtype}, got "
                        f"{found.shape} and {found.dtype}"
                    )
                values[value] = found

    def _place(self, item: Any) -> Any:
        """Return an argument on the backend; of an array of NumPy's a constant."""
        return self.backend.from_numpy(item) if isinstance(item, numpy.ndarray) else item

    def _compute(self, node: Node, args: Any, kwargs: Any) -> Any:
        """Return the result of a node, an array or several."""
        function: Any = node.function
        if node.kind is Kind.CONSTANT:
            return args[0]
        if node.kind is Kind.DRAW:
            return getattr(self.draws, function.__name__)(*args, **kwargs)
        if function is _check_true:
            self.conditions.append(args[0].all().raw)
            return None
        if node.kind in (Kind.PUT, Kind.MUTATE):
            target = self.backend.library.wrap(args[0].raw)  # a store of its own
            if node.kind is Kind.MUTATE:
                lower(node.name, function)(target, *args[1:], **kwargs)
            else:
                put_part(target, args[1], node.views)
            return target
        return lower(node.name, function)(*args, **kwargs)


def put_part(target: Any, part: Any, views: Any) -> None:
    """Write to the part of an array that view operations select."""
    for function, args, kwargs in views:
        target = lower("", function)(target, *args, **kwargs)
    target[...] = part


def lower(name: str, function: Any) -> Callable[..., Any]:
    """Return the function of the backend's arrays for a function of NumPy's.

    Args:
        name: Name of the node.
        function: Its function.
    """
    xp: Any = _XP.get()
    found: Any = function
    kind = function.__class__
    if kind in _WRAPPERS:
        return functools.partial(_WRAPPERS[kind], name, function)
    if isinstance(function, numpy.ufunc):
        word = function.__name__
        is_numpys = getattr(numpy, word, None) is function
        found = getattr(xp.library, word) if is_numpys else xp.special(word)
    elif isinstance(owner := getattr(function, "__self__", None), numpy.ufunc):
        found = getattr(getattr(xp.library, owner.__name__), function.__name__)
    elif owner is _NUMPY:
        word = function.__name__
        found = _add_scaled if word == "add_scaled" else getattr(xp, word)
    elif getattr(function, "__objclass__", None) is numpy.ndarray:
        found = _ArrayMethod(function)
    elif name.startswith("special."):
        found = xp.special(name.partition(".")[2])
    elif name.startswith("numpy."):
        found = functools.reduce(getattr, name.split(".")[1:], xp.library)
    elif function is window:
        found = _window
    return found  # type: ignore[no-any-return]


class _ArrayMethod:
    """Method of an array by its name."""

    __slots__ = ("name",)

    def __init__(self, function: Any) -> None:
        self.name = function.__name__

    def __call__(self, array: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(array, self.name)(*args, **kwargs)


def _window(root: Any, shape: Any, strides: Any, offset: int, dtype: Any) -> Any:
    """View of an array by an offset and strides in bytes."""
    if root.dtype != dtype:
        raise TypeError(f"expected memory of dtype {dtype}, got {root.dtype}")
    size = root.dtype.itemsize
    return root.window(offset // size, shape, tuple([step // size for step in strides]))


def _add_scaled(
    target: Any, array: Any, scale: Any, keep: Any = 1.0, buffer: Any = None
) -> None:  # fmt: skip
    """``xp.add_scaled`` without a branch on its numbers, which may be traced."""
    target[...] = target * keep + array * scale


def _call_with_floats(name: str, wrapper: WithFloats, *args: Any, **kwargs: Any) -> Any:
    """Call a function with 0-d arrays of the dtype of its first argument in the place of floats."""
    dtype = args[0].dtype

    def fit(place: Any, arg: Any) -> Any:
        return arg.astype(dtype) if place in wrapper.places else arg

    args = tuple([fit(i, arg) for i, arg in enumerate(args)])
    return lower(name, wrapper.function)(*args, **{k: fit(k, arg) for k, arg in kwargs.items()})


def _call_into_out(name: str, wrapper: IntoOut, out: Any, *args: Any, **kwargs: Any) -> None:
    """Call a function and write its result to ``out``."""
    lower(name, wrapper.function)(*args, out=out, **kwargs)


def _call_partial(name: str, wrapper: Any, *args: Any, **kwargs: Any) -> Any:
    """Call a function with arguments that are bound, the backend among them."""
    bound = [_XP.get() if arg is _NUMPY else arg for arg in wrapper.args]
    return lower(name, wrapper.func)(*bound, *args, **wrapper.keywords, **kwargs)


def _call_on_floats(name: str, wrapper: OnFloats, *args: Any) -> Any:
    """Call a function of numbers with scalars of float64."""
    raws = [arg.raw if hasattr(arg, "raw") else arg for arg in args]
    run = (lambda raw: raw) if wrapper.function is float else wrapper.function
    xp = _XP.get()
    return xp.library.wrap_as(run(*raws), numpy.dtype("float64"))


_WRAPPERS: dict[type, Callable[..., Any]] = {
    WithFloats: _call_with_floats,
    IntoOut: _call_into_out,
    functools.partial: _call_partial,
    OnFloats: _call_on_floats,
    ToDtype: lambda name, wrapper, value: value.astype(wrapper.dtype),
    ViewPart: lambda name, w, *args, **kw: lower(name, w.function)(*args, **kw)[w.index],
    InLayout: lambda name, wrapper, *args: lower(name, wrapper.ufunc)(*args),
    KernelCall: lambda name, wrapper, *args: wrapper.run(_XP.get(), *args),
}
