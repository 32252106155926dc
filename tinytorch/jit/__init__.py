"""``torch.jit`` without TorchScript: Python runs the functions and modules.

A model that ``trace`` returned can be saved as a program, which ``load`` reads.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, Final, TypeVar, overload

from ..compat.tables.unsupported import TABLES, fill
from ..futures import Future
from .programs import TopLevelTracedModule as TopLevelTracedModule
from .programs import load as load
from .programs import save as save
from .programs import trace as trace
from .programs import trace_module as trace_module

__all__ = [
    "Attribute", "Error", "Final", "TopLevelTracedModule", "TracerWarning", "annotate", "fork",
    "ignore", "isinstance", "load", "save", "script", "trace", "trace_module", "wait",
]  # fmt: skip

_F = TypeVar("_F", bound=Callable[..., Any])
_T = TypeVar("_T")


class Error(Exception):
    """Error of TorchScript in PyTorch; tinytorch never raises it, but ``except`` can name it."""


class TracerWarning(Warning):
    """Category of a tracer's warnings in PyTorch; tinytorch never issues it."""


def script(obj: _F, *args: Any, **kwargs: Any) -> _F:
    """``obj`` itself: Python runs as it is written, as under PyTorch's ``PYTORCH_JIT=0``.

    Args:
        obj: A function, a class or a module.
        *args, **kwargs: Accepted for compatibility.

    Example:
        >>> @tt.jit.script
        ... def double(x):
        ...     return 2 * x
        >>> double(tt.ones(1))
        tensor([2.])
    """
    return obj


def fork(func: Callable[..., _T], *args: Any, **kwargs: Any) -> Future[_T]:
    """Call a function immediately and return its result as a ``Future``.

    Args:
        func: The function.
        *args: Positional arguments of the function.
        **kwargs: Keyword arguments of the function.

    Example:
        >>> tt.jit.wait(tt.jit.fork(max, 1, 2))
        2
    """
    future: Future[_T] = Future()
    future.set_result(func(*args, **kwargs))
    return future


def wait(future: Future[_T]) -> _T:
    """Value of a future.

    Args:
        future: A future that ``fork`` returned.

    Example:
        >>> tt.jit.wait(tt.jit.fork(len, "abc"))
        3
    """
    return future.wait()


def isinstance(obj: Any, target_type: Any) -> bool:
    """Whether an object is an instance of a type, which may be generic: ``list[int]``.

    Args:
        obj: The object.
        target_type: The type, or a tuple of types, of which one must match.

    Example:
        >>> tt.jit.isinstance([1, 2], list[int]), tt.jit.isinstance([1, "a"], list[int])
        (True, False)
    """
    return import_module(f"{__name__}.annotations")._is_instance(obj, target_type)  # type: ignore[no-any-return]


def annotate(the_type: Any, the_value: _T) -> _T:
    """``the_value`` itself.

    Args:
        the_type: The type that TorchScript would give the value; ignored.
        the_value: Any value.

    Example:
        >>> tt.jit.annotate(list[int], [])
        []
    """
    return the_value


def Attribute(value: _T, type: Any) -> _T:
    """``value`` itself.

    Args:
        value: Any value.
        type: The type that TorchScript would give the value; ignored.

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
    """Return the function, or a decorator that returns its function.

    Args:
        drop: The function, or an option of TorchScript, which is ignored.

    Example:
        >>> tt.jit.ignore(len) is tt.jit.ignore(drop=True)(len) is len
        True
    """
    return drop if callable(drop) else script


# `annotations` now names the module, not the feature that `from __future__` imported.
import_module(f"{__name__}.annotations")
fill(globals(), TABLES["jit"])
