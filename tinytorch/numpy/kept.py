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
from enum import Enum
from typing import Any

from ..core.device import device
from ..core.holder import Holder
from ..core.tensor import Tensor
from ..dtypes import dtype
from ..state.tracebacks import shorten
from . import direct
from .functions.files import Archive
from .ndarray import array_of_tensor, ndarray, wrap_result

#: Classes of arguments that hold no array, of which there are many.
_VALUES = frozenset((int, float, bool, complex, str, type(None), slice, type, dtype, device))
#: Functions whose result is an array in NumPy where it has no dimensions, and not a scalar.
_ARRAYS = frozenset(
    """array asanyarray asarray asarray_chkfinite block broadcast_arrays broadcast_to copy cov
    cross empty empty_like from_dlpack full full_like i0 isin ones ones_like piecewise
    real_if_close require reshape resize roll select tensordot tile unique_all unique_inverse where
    zeros zeros_like""".split()
)
#: Functions whose result is a scalar where their argument is one.
_LIKE_FIRST = frozenset("imag permute_dims real squeeze transpose trim_zeros".split())


class Scalars(Enum):
    """When a result without dimensions is a scalar of NumPy's, and not an array."""

    ALWAYS = 1
    NEVER = 2
    #: When the first argument is one.
    LIKE_FIRST = 3


def scalars_of(name: str) -> Scalars:
    """When a result without dimensions of NumPy's function of this name is a scalar."""
    if name in _LIKE_FIRST:
        return Scalars.LIKE_FIRST
    return Scalars.NEVER if name in _ARRAYS else Scalars.ALWAYS


def kept(
    function: Callable[..., Any],
    always: bool = False,
    host: Callable[..., Any] | None = None,
    scalars: Scalars = Scalars.ALWAYS,
) -> Any:
    """A function on Tensors as one on whatever NumPy takes, which keeps the class.

    Args:
        function: Takes and gives Tensors.
        always: Whether the result is an array also where Tensors were given.
        host: NumPy's own function, which is called where that gives the same.
        scalars: Of which results without dimensions NumPy makes scalars.
    """

    most = -1 if host is None else _before_out(function)
    wrapper = {Scalars.ALWAYS: wrap_result, Scalars.NEVER: array_of_tensor}.get(scalars)

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
                if getattr(options.get("out"), "_scalar", False):
                    raise TypeError("return arrays must be of ArrayType, got a scalar for out=")
                result = function(*given, **{name: opened(a, met) for name, a in options.items()})
            else:
                result = function(*given)
            if met and not always:
                return result
            wrap = wrapper or _wrapper_like(args)
            if options or result.__class__ is not Tensor:
                return closed(result, (*args, *options.values()), wrap)
            for a in args:
                if a.__class__ is ndarray and a._tensor is result:
                    return _given_again(a, wrap)
            return wrap(result)
        except Exception as error:
            shorten(error)
            raise

    functools.update_wrapper(public, function)
    return public


def _wrapper_like(args: tuple[Any, ...]) -> Callable[[Any], ndarray]:
    is_scalar = bool(args) and getattr(args[0], "_scalar", False)
    return wrap_result if is_scalar else array_of_tensor


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


def closed(
    result: Any, given: tuple[Any, ...] = (), wrap: Callable[[Any], ndarray] = wrap_result
) -> Any:
    """A result with its Tensors as arrays; one that was given as an array is that again."""
    if isinstance(result, Tensor):
        for value in given:
            for array in value if value.__class__ is tuple else (value,):
                if array.__class__ is ndarray and array._tensor is result:
                    return _given_again(array, wrap)
        return wrap(result)
    if isinstance(result, Archive):
        return result.of(array_of_tensor)
    if isinstance(result, (tuple, list)):
        parts = [closed(part, given, wrap) for part in result]
        return type(result)(*parts) if hasattr(result, "_fields") else type(result)(parts)
    return result


def _given_again(array: ndarray, wrap: Callable[[Any], ndarray]) -> ndarray:
    """An argument that is the result; of a scalar, where the result is an array, a copy."""
    if array._scalar and wrap is array_of_tensor:
        return array_of_tensor(array._tensor.clone())
    return array


def called_back(function: Callable[..., Any], met: list[Tensor]) -> Callable[..., Any]:
    """A function that is an argument: it, too, is given arrays where no Tensor was."""

    @functools.wraps(function)
    def callback(*args: Any, **options: Any) -> Any:
        if met:
            return function(*args, **options)
        named = {name: closed(value) for name, value in options.items()}
        return opened(function(*map(closed, args), **named), [])

    return callback
