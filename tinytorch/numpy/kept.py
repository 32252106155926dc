"""The class is kept: arrays in, arrays out; Tensors in, Tensors out.

NumPy's functions are written on Tensors (``numpy.functions``). Here is what lets them be called
with arrays: those go in as the Tensors that they hold, and what comes out is an array again,
unless a Tensor was among the arguments. What is made of nothing but numbers is an array.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from typing import Any

from ..core.device import device
from ..core.holder import Holder
from ..core.tensor import Tensor
from ..dtypes import dtype
from ..state.tracebacks import shorten
from . import direct
from .functions.files import Archive
from .ndarray import array_of_tensor, ndarray

#: Classes of arguments that hold no array, of which there are many.
_VALUES = frozenset((int, float, bool, complex, str, type(None), slice, type, dtype, device))


def kept(
    function: Callable[..., Any], always: bool = False, host: Callable[..., Any] | None = None
) -> Any:
    """A function on Tensors as one on whatever NumPy takes, which keeps the class.

    Args:
        function: Takes and gives Tensors.
        always: Whether the result is an array also where Tensors were given.
        host: NumPy's own function, which is called where that gives the same.
    """

    most = -1 if host is None else _before_out(function)

    def public(*args: Any, **options: Any) -> Any:
        try:
            if host is not None and len(args) <= most:
                result = direct.call(host, args, options)
                if result is not direct.NOT:
                    return result
            met: list[Tensor] = []
            given = [
                a._tensor
                if a.__class__ is ndarray
                else a
                if a.__class__ in _VALUES
                else opened(a, met)
                for a in args
            ]
            if options:
                result = function(*given, **{name: opened(a, met) for name, a in options.items()})
            else:
                result = function(*given)
            if met and not always:
                return result
            if options or result.__class__ is not Tensor:
                return closed(result, (*args, *options.values()))
            for a in args:
                if a.__class__ is ndarray and a._tensor is result:
                    return a
            return array_of_tensor(result)
        except Exception as error:
            shorten(error)
            raise

    functools.update_wrapper(public, function)
    return public


def _before_out(function: Callable[..., Any]) -> int:
    """How many arguments come before one that would be written to."""
    parameters = inspect.signature(function).parameters
    several = any(each.kind is each.VAR_POSITIONAL for each in parameters.values())
    if several or "out" not in parameters:
        return sys.maxsize
    return list(parameters).index("out")


def opened(value: Any, met: list[Tensor]) -> Any:
    """What a function on Tensors is given for an argument; Tensors are added to ``met``."""
    cls = value.__class__
    if cls in _VALUES:
        return value
    if isinstance(value, Holder):
        return value._tensor
    if isinstance(value, Tensor):
        met.append(value)
        return value
    if cls is list or cls is tuple:
        kinds = set(map(type, value))
        if kinds <= _VALUES:
            return value
        return cls(opened(part, met) for part in value)
    if callable(value) and not isinstance(value, type) and not hasattr(value, "dtype"):
        return called_back(value, met)
    return value


def closed(result: Any, given: tuple[Any, ...] = ()) -> Any:
    """A result with its Tensors as arrays; one that was given as an array is that again."""
    if isinstance(result, Tensor):
        for value in given:
            for array in value if value.__class__ is tuple else (value,):
                if array.__class__ is ndarray and array._tensor is result:
                    return array
        return array_of_tensor(result)
    if isinstance(result, Archive):
        return result.of(array_of_tensor)
    if isinstance(result, (tuple, list)):
        parts = [closed(part, given) for part in result]
        return type(result)(*parts) if hasattr(result, "_fields") else type(result)(parts)
    return result


def called_back(function: Callable[..., Any], met: list[Tensor]) -> Callable[..., Any]:
    """A function that is an argument: it, too, is given arrays where no Tensor was."""

    @functools.wraps(function)
    def callback(*args: Any, **options: Any) -> Any:
        if met:
            return function(*args, **options)
        named = {name: closed(value) for name, value in options.items()}
        return opened(function(*map(closed, args), **named), [])

    return callback
