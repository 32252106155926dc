"""Tensor's own methods and attributes, about which modes and classes of tensors are asked first.

Operations ask themselves, see ``template``; here is what Tensor defines in its own body.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any, TypeVar

from ..state.tracebacks import shorten
from . import torch_function
from .torch_function import PLAIN

T = TypeVar("T", bound=type)

#: Special methods that ask about the method of the name that their operation has; a reflected
#: one stands for the same as the plain one does. The others ask about themselves, as PyTorch's do.
_BY_OPERATION = frozenset(
    f"__{name}__"
    for name in (
        "add", "radd", "sub", "mul", "rmul", "truediv", "mod", "matmul", "neg", "pos", "abs", "ne",
        "lt", "le", "gt", "ge", "rand", "ror", "rxor",
    )
)  # fmt: skip
_INPLACE = frozenset(f"__i{name}__" for name in ("add", "sub", "mul", "truediv", "floordiv", "mod"))
#: What nobody is asked about: the makings of a tensor, and the protocols of other libraries.
_UNASKED = frozenset((
    "__array_function__", "__array_interface__", "__array_namespace__", "__array_ufunc__",
    "__arrow_array__", "__cuda_array_interface__",
    "__class_getitem__", "__dict__", "__dlpack_device__", "__hash__", "__init_subclass__",
    "__iter__", "__new__", "__torch_function__", "__weakref__", "as_subclass",
))  # fmt: skip


def asked_first(cls: T) -> T:
    """Decorator of a class of tensors: whoever wants to be is asked about its members."""
    for name, value in list(vars(cls).items()):
        if isinstance(value, (FunctionType, property)):
            attach(cls, name, value)
    return cls


def attach(cls: type, name: str, value: Any) -> None:
    """Give a class of tensors a method or attribute that is asked about."""
    if _may_be_asked(name, value):
        if isinstance(value, FunctionType):
            value = asking(value)
        elif isinstance(value, property):
            value = _AskedProperty(value.fget, value.fset, value.fdel)
    setattr(cls, name, value)


def _may_be_asked(name: str, value: Any) -> bool:
    public = name.startswith("__") or not name.startswith("_")
    return public and name not in _UNASKED and hasattr(value, "__get__")


@functools.cache
def asking(function: FunctionType) -> Any:
    """A method that asks before it does what ``function`` does."""
    method: Any
    code = function.__code__
    if code.co_argcount == 1 and not code.co_kwonlyargcount and not code.co_flags & 0x0C:

        def method(self: Any) -> Any:
            try:
                if self.__class__ in PLAIN:
                    return function(self)
                return _asked(method, function, self)
            except Exception as error:
                shorten(error)
                raise

    else:

        def method(self: Any, *args: Any, **options: Any) -> Any:
            try:
                if self.__class__ in PLAIN:
                    return function(self, *args, **options)
                return _asked(method, function, self, *args, **options)
            except Exception as error:
                shorten(error, function, options)
                raise

    return functools.update_wrapper(method, function)


class _AskedProperty(property):
    """An attribute of which somebody may be asked what it is."""

    def __init__(self, fget: Any, fset: Any = None, fdel: Any = None) -> None:
        def get(self: Any) -> Any:
            try:
                if self.__class__ in PLAIN:
                    return fget(self)
                return _asked(whole.__get__, fget, self)
            except Exception as error:
                shorten(error)
                raise

        def set(self: Any, value: Any) -> None:
            try:
                if self.__class__ in PLAIN:
                    fset(self, value)
                else:
                    _asked(whole.__set__, fset, self, value)
            except Exception as error:
                shorten(error)
                raise

        whole = self
        super().__init__(functools.wraps(fget)(get), None if fset is None else set, fdel)
        self.__doc__ = fget.__doc__


def _asked(face: Any, function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    values = torch_function.relevant(args, options)
    if values or torch_function.must_ask():
        return torch_function.ask(face, values, args, options)
    return function(*args, **options)


def names(cls: type) -> Iterator[str]:
    """The names of Tensor that a class may be asked about."""
    found = {name: value for base in cls.__mro__[-2::-1] for name, value in vars(base).items()}
    for name, value in found.items():
        if _may_be_asked(name, value):
            yield name


def member(cls: type, name: str) -> Any:
    """What stands behind the name ``name`` of Tensor: a function or a descriptor."""
    found = inspect.getattr_static(cls, name)
    if hasattr(found, "_load"):  # the family of operations that defines it is not there yet
        getattr(cls, name)
        found = inspect.getattr_static(cls, name)
    return found


def operator_face(cls: type, name: str) -> Any:
    """The function that classes are asked about for Tensor's operator ``name``."""
    found = member(cls, name)
    op = getattr(found, "op", None)
    if op is not None and name in _BY_OPERATION:
        return member(cls, op.name)
    return member(cls, f"{op.name}_") if op is not None and name in _INPLACE else found
