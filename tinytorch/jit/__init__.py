"""``torch.jit`` as far as it is Python: marks that mean nothing here, and no TorchScript."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, Final, NoReturn, TypeVar

from ..nn import Module

__all__ = [
    "Final", "ScriptFunction", "ScriptModule", "TracerWarning", "annotate", "export", "freeze",
    "ignore", "is_scripting", "is_tracing", "load", "save", "script", "script_if_tracing", "trace",
    "unused",
]  # fmt: skip

_F = TypeVar("_F", bound=Callable[..., Any])


def _refuse(name: str) -> NoReturn:
    raise NotImplementedError(
        f"jit.{name}: tinytorch runs Python as it is written and has no TorchScript; call the "
        "function or module itself, and keep weights with save() and load()"
    )


class TracerWarning(Warning):
    """What a tracer warns with in PyTorch, of code that it cannot follow; never given here."""


class ScriptFunction:
    """What ``torch.jit.script`` makes of a function; nothing here is an instance of it.

    Raises:
        NotImplementedError: If it is called.

    Example:
        >>> import tinytorch as tt
        >>> isinstance(tt.add, tt.jit.ScriptFunction)
        False
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _refuse("ScriptFunction")


class ScriptModule(Module):
    """What ``torch.jit.script`` makes of a module; nothing here is an instance of it.

    Raises:
        NotImplementedError: If it is called.

    Example:
        >>> import tinytorch as tt
        >>> isinstance(tt.nn.Linear(1, 1), tt.jit.ScriptModule)
        False
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _refuse("ScriptModule")


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


def freeze(mod: Any, *args: Any, **kwargs: Any) -> Any:
    """Not available: there is no TorchScript here.

    Raises:
        NotImplementedError: Always.

    Example:
        >>> import tinytorch as tt
        >>> tt.jit.freeze(tt.nn.Linear(1, 1))
        Traceback (most recent call last):
            ...
        NotImplementedError: jit.freeze: tinytorch runs ...
    """
    _refuse("freeze")


def save(m: Any, f: Any, *args: Any, **kwargs: Any) -> None:
    """Not available: there is no TorchScript here.

    Raises:
        NotImplementedError: Always.

    Example:
        >>> import tinytorch as tt
        >>> tt.jit.save(tt.nn.Linear(1, 1), "model.pt")
        Traceback (most recent call last):
            ...
        NotImplementedError: jit.save: tinytorch runs ...
    """
    _refuse("save")


def load(f: Any, *args: Any, **kwargs: Any) -> Any:
    """Not available: there is no TorchScript here.

    Raises:
        NotImplementedError: Always.

    Example:
        >>> import tinytorch as tt
        >>> tt.jit.load("model.pt")
        Traceback (most recent call last):
            ...
        NotImplementedError: jit.load: tinytorch runs ...
    """
    _refuse("load")


def is_scripting() -> bool:
    """False.

    Example:
        >>> import tinytorch as tt
        >>> tt.jit.is_scripting()
        False
    """
    return False


def is_tracing() -> bool:
    """False.

    Example:
        >>> import tinytorch as tt
        >>> tt.jit.is_tracing()
        False
    """
    return False


def annotate(the_type: Any, the_value: Any) -> Any:
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


def export(fn: _F) -> _F:
    """``fn`` itself.

    Example:
        >>> import tinytorch as tt
        >>> tt.jit.export(len) is len
        True
    """
    return fn


def ignore(drop: Any = False, **kwargs: Any) -> Any:
    """The function itself, or a decorator that returns it.

    Args:
        drop: A function, or what TorchScript would do with its calls.

    Example:
        >>> import tinytorch as tt
        >>> tt.jit.ignore(len) is tt.jit.ignore(drop=True)(len) is len
        True
    """
    return drop if callable(drop) else export


def script_if_tracing(fn: _F) -> _F:
    """``fn`` itself.

    Example:
        >>> import tinytorch as tt
        >>> tt.jit.script_if_tracing(len) is len
        True
    """
    return fn


def unused(fn: _F) -> _F:
    """``fn`` itself.

    Example:
        >>> import tinytorch as tt
        >>> tt.jit.unused(len) is len
        True
    """
    return fn


import_module(f"{__name__}.annotations")  # in the place of what `from __future__` left
interface = _overload = _overload_method = _script_if_tracing = export
