"""``torch.jit`` as far as it is Python: marks that mean nothing here, and no TorchScript."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, Final, TypeVar, overload

from ..compat.tables.unsupported import TABLES, fill
from ..futures import Future

__all__ = [
    "Attribute", "Error", "Final", "TracerWarning", "annotate", "fork", "ignore", "isinstance",
    "script", "trace", "trace_module", "wait",
]  # fmt: skip

_F = TypeVar("_F", bound=Callable[..., Any])
_T = TypeVar("_T")


class Error(Exception):
    """What TorchScript raises in PyTorch; there to be named in ``except``."""


class TracerWarning(Warning):
    """What a tracer warns with in PyTorch, of code that it cannot follow; never given here."""


def script(obj: _F, *args: Any, **kwargs: Any) -> _F:
    """``obj`` itself: Python runs as it is written, as under PyTorch's ``PYTORCH_JIT=0``.

    Args:
        obj: A function, a class or a module.
        *args: Accepted for compatibility.
        **kwargs: The same.

    Example:
        >>> @tt.jit.script
        ... def double(x):
        ...     return 2 * x
        >>> double(tt.ones(1))
        tensor([2.])
    """
    return obj


def trace(func: _F, example_inputs: Any = None, *args: Any, **kwargs: Any) -> _F:
    """``func`` itself: Python runs as it is written, as under PyTorch's ``PYTORCH_JIT=0``.

    Args:
        func: A function or a module.
        example_inputs: Not looked at.
        *args: Accepted for compatibility.
        **kwargs: The same.

    Example:
        >>> layer = tt.nn.Linear(1, 1)
        >>> tt.jit.trace(layer, tt.ones(1)) is layer
        True
    """
    return func


def trace_module(mod: _F, inputs: Any = None, *args: Any, **kwargs: Any) -> _F:
    """``mod`` itself, as ``trace``.

    Args:
        mod: A module.
        inputs: Not looked at.
        *args: Accepted for compatibility.
        **kwargs: The same.

    Example:
        >>> layer = tt.nn.Linear(1, 1)
        >>> tt.jit.trace_module(layer, {"forward": tt.ones(1)}) is layer
        True
    """
    return mod


def fork(func: Callable[..., _T], *args: Any, **kwargs: Any) -> Future[_T]:
    """What a function gives, as a value that may be waited for; it is called at once.

    Args:
        func: The function.
        *args: Its arguments.
        **kwargs: The same, by name.

    Example:
        >>> tt.jit.wait(tt.jit.fork(max, 1, 2))
        2
    """
    future: Future[_T] = Future()
    future.set_result(func(*args, **kwargs))
    return future


def wait(future: Future[_T]) -> _T:
    """The value of what ``fork`` gave.

    Args:
        future: What ``fork`` gave.

    Example:
        >>> tt.jit.wait(tt.jit.fork(len, "abc"))
        3
    """
    return future.wait()


def isinstance(obj: Any, target_type: Any) -> bool:
    """Whether an object is of a type, ``list[int]`` and such included, or of one of several.

    Args:
        obj: The object.
        target_type: The type, or a tuple of types.

    Example:
        >>> tt.jit.isinstance([1, 2], list[int]), tt.jit.isinstance([1, "a"], list[int])
        (True, False)
    """
    return import_module(f"{__name__}.annotations")._is_instance(obj, target_type)  # type: ignore[no-any-return]


def annotate(the_type: Any, the_value: _T) -> _T:
    """``the_value`` itself.

    Args:
        the_type: What TorchScript would take its type for.
        the_value: Anything.

    Example:
        >>> tt.jit.annotate(list[int], [])
        []
    """
    return the_value


def Attribute(value: _T, type: Any) -> _T:
    """``value`` itself.

    Args:
        value: Anything.
        type: What TorchScript would take its type for.

    Example:
        >>> tt.jit.Attribute([], list[int])
        []
    """
    return value


@overload
def ignore(drop: _F, **kwargs: Any) -> _F: ...
@overload
def ignore(drop: bool = False, **kwargs: Any) -> Callable[[_F], _F]: ...
def ignore(drop: Any = False, **kwargs: Any) -> Any:
    """The function itself, or a decorator that returns it.

    Args:
        drop: A function, or what TorchScript would do with its calls.

    Example:
        >>> tt.jit.ignore(len) is tt.jit.ignore(drop=True)(len) is len
        True
    """
    return drop if callable(drop) else script


import_module(f"{__name__}.annotations")  # in the place of what `from __future__` left
fill(globals(), TABLES["jit"])
