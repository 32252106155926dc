"""Comparison of values other than tensors, and what of an object is compared."""

from __future__ import annotations

import enum
import functools
import gc
import itertools
import random
import weakref
from array import array
from collections import OrderedDict
from collections.abc import Callable
from contextvars import ContextVar
from functools import partial
from keyword import iskeyword
from operator import is_
from types import (
    BuiltinFunctionType, CellType, GeneratorType, MappingProxyType, MethodType,
)  # fmt: skip
from typing import Any

import numpy

from .. import dtypes
from ..core.device import device
from ..core.layout import layout, memory_format
from ..core.size import Size

MISSING = object()
#: Classes whose instances have parts that only the garbage collector finds: the dict behind a
#: proxy, the cache of a function.
_OPAQUE_OWNERS: tuple[type[Any], ...] = MappingProxyType, type(functools.lru_cache(abs))
#: Types of values that are compared by value.
SIMPLE = frozenset((
    int, bool, str, bytes, type(None), dtypes.dtype, device, layout, memory_format, Size, slice,
    range, type(...), numpy.dtype,
))  # fmt: skip
FLOATS = frozenset((float, complex))


def is_same(a: Any, b: Any) -> bool:
    """Whether two values are identical, or of one simple type and equal."""
    if a is b:
        return True
    kind = type(a)
    if kind is not type(b):
        return False
    if kind in SIMPLE or isinstance(a, enum.Enum):
        return bool(a == b)
    if kind in FLOATS:  # NaN, and the sign of zero
        return repr(a) == repr(b)
    if kind is tuple:
        return len(a) == len(b) and (all(map(is_, a, b)) or all(map(is_same, a, b)))
    if kind is MethodType:
        return a.__self__ is b.__self__ and a.__func__ is b.__func__
    return False


def is_simple(value: Any) -> bool:
    """Whether ``is_same`` compares a value by its contents."""
    kind = type(value)
    if kind is tuple:
        return all(map(is_simple, value))
    return kind in SIMPLE or kind in FLOATS or isinstance(value, enum.Enum)


def stream_state(value: Any) -> Any:
    """State of a random generator or an iterator, to be compared; None for other values."""
    if isinstance(value, random.Random):
        return value.getstate()
    if isinstance(value, numpy.random.Generator):
        return repr(value.bit_generator.state)
    if isinstance(value, numpy.random.RandomState):
        return repr(value.get_state(legacy=False))
    if isinstance(value, GeneratorType):
        return None if value.gi_frame is None else value.gi_frame.f_lasti, id(value.gi_frame)
    if isinstance(value, itertools.count):
        return repr(value)
    if isinstance(value, type) or not hasattr(type(value), "__next__"):
        return None
    hint = getattr(type(value), "__length_hint__", None)
    if hint is not None:
        return hint(value)
    # The state of other iterators of C cannot be read: two states are never equal.
    return None if hasattr(value, "__dict__") else object()


def parts_of(value: Any) -> tuple[Any, ...] | None:
    """Return what a method, a property or another wrapper of values stands for; None for others."""
    if isinstance(value, MethodType):
        return value.__func__, value.__self__
    if isinstance(value, (staticmethod, classmethod)):
        return (value.__func__,)
    if isinstance(value, property):
        return value.fget, value.fset
    if isinstance(value, (functools.partial, functools.partialmethod)):
        return value.func, value.args, value.keywords
    if isinstance(value, functools.cached_property):
        return (value.func,)
    if isinstance(value, BuiltinFunctionType):
        return (value.__self__,)
    return tuple(gc.get_referents(value)) if isinstance(value, _OPAQUE_OWNERS) else None


def contents_reader(value: Any) -> Callable[[], Any] | None:
    """Return a function that returns what a value holds; None for values without contents."""
    if isinstance(value, (bytearray, array, memoryview)):
        return partial(bytes, value)
    if isinstance(value, weakref.ref):
        return value
    return partial(_read_variable, value) if isinstance(value, ContextVar) else None


def _read_variable(variable: ContextVar[Any]) -> Any:
    """Return the value of a context variable, which may be its default, or None."""
    try:
        return variable.get()
    except LookupError:
        return None


def read_array(array: Any) -> tuple[Any, bytes]:
    """Return the shape and the bytes of an array of NumPy's."""
    return array.shape, array.tobytes()


def read_items(values: Any) -> tuple[Any, ...]:
    """Return the items of a list, or the keys and values of a dict."""
    return (*values, *values.values()) if isinstance(values, dict) else tuple(values)


def instance_dict(value: Any) -> Any:
    """Return the ``__dict__`` of an object without a call of code of its class, or None."""
    try:
        return object.__getattribute__(value, "__dict__")
    except AttributeError:
        return None


def has_contents(cell: CellType) -> bool:
    """Whether a cell of a closure is not empty."""
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


def is_unset(value: Any) -> bool:
    """Whether a value says that something has not been created yet."""
    return value is MISSING or value is None or value is False


def is_unchanged(entry: tuple[Any, Any, str]) -> bool:
    """Whether an array of NumPy's is as it was, byte for byte."""
    array, before, _ = entry
    return bool(read_array(array) == before)


#: Comparisons by loops after which they are compiled, and most terms of an expression: compiling
#: one takes as long as a hundred comparisons.
OFTEN, MOST_TERMS = 10, 1000
#: Containers that are false if and only if they are empty.
_CONTAINERS = frozenset((dict, OrderedDict, list))


class GuardText:
    """Expression that is true if some values are as they were, for programs that run often.

    A call of a small program takes microseconds, of which a loop over the values is a large part.

    Attributes:
        terms: The texts of the comparisons.
    """

    def __init__(self) -> None:
        self.terms: list[str] = []
        self._space: dict[str, Any] = {}
        self._names: dict[int, str] = {}

    def share(self, thing: Any) -> str:
        """Return the name of an object in the expression."""
        name = self._names.setdefault(id(thing), f"v{len(self._names)}")
        self._space[name] = thing
        return name

    def add_size(self, container: Any, size: int) -> None:
        """Compare the number of items of a container."""
        name = self.share(container)
        is_empty = not size and type(container) in _CONTAINERS
        self.terms.append(f"not {name}" if is_empty else f"len({name}) == {size}")

    def add_type(self, value: Any, kind: type) -> None:
        """Compare the class of a value."""
        self.terms.append(f"type({self.share(value)}) is {self.share(kind)}")

    def add_items(self, container: Any, keys: Any, items: Any) -> None:
        """Compare the identity of items of a list or dict; ``items`` may have more."""
        name = self.share(container)
        for key, item in zip(keys, items, strict=False):
            text = repr(key) if key.__class__ in (str, int) else self.share(key)
            self.terms.append(f"{name}[{text}] is {self.share(item)}")

    def add_order(self, container: Any, keys: list[Any]) -> None:
        """Compare the keys of a dict, in order."""
        self.terms.append(f"list({self.share(container)}) == {self.share(keys)}")

    def add_attribute(self, owner: Any, name: str, value: Any) -> None:
        """Compare the identity of an attribute."""
        if name.isidentifier() and not iskeyword(name):
            self.terms.append(f"{self.share(owner)}.{name} is {self.share(value)}")
        else:
            self.terms.append(f"getattr({self.share(owner)}, {name!r}) is {self.share(value)}")

    def compile(self) -> Callable[[], bool]:
        """Return the function of the expression; it raises if something was deleted."""
        text = f"def holds():\n    return {' and '.join(self.terms) or 'True'}\n"
        exec(compile(text, "<guards>", "exec"), self._space)
        return self._space["holds"]  # type: ignore[no-any-return]
