"""``torch.jit`` as far as it is Python: marks that mean nothing here, and no TorchScript."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, Final, TypeVar, overload

from ..compat.tables.compiling import TABLES, fill

__all__ = ["Final", "TracerWarning", "annotate", "ignore", "script", "trace"]

_F = TypeVar("_F", bound=Callable[..., Any])
_T = TypeVar("_T")


class TracerWarning(Warning):
    """What a tracer warns with in PyTorch, of code that it cannot follow; never given here."""


def script(obj: _F, *args: Any, **kwargs: Any) -> _F:
    """``obj`` itself: Python runs as it is written, as under PyTorch's ``PYTORCH_JIT=0``.

    Args:
        obj: A function, a class or a module.
        *args: Accepted for compatibility.
        **kwargs: The same.

    Example:
        >>> import tinytorch as tt
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
        >>> import tinytorch as tt
        >>> layer = tt.nn.Linear(1, 1)
        >>> tt.jit.trace(layer, tt.ones(1)) is layer
        True
    """
    return func


def annotate(the_type: Any, the_value: _T) -> _T:
    """``the_value`` itself.

    Args:
        the_type: What TorchScript would take its type for.
        the_value: Anything.

    Example:
        >>> import tinytorch as tt
        >>> tt.jit.annotate(list[int], [])
        []
    """
    return the_value


@overload
def ignore(drop: _F, **kwargs: Any) -> _F: ...
@overload
def ignore(drop: bool = False, **kwargs: Any) -> Callable[[_F], _F]: ...
def ignore(drop: Any = False, **kwargs: Any) -> Any:
    """The function itself, or a decorator that returns it.

    Args:
        drop: A function, or what TorchScript would do with its calls.

    Example:
        >>> import tinytorch as tt
        >>> tt.jit.ignore(len) is tt.jit.ignore(drop=True)(len) is len
        True
    """
    return drop if callable(drop) else script


import_module(f"{__name__}.annotations")  # in the place of what `from __future__` left
fill(globals(), TABLES["jit"])
