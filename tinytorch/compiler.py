"""``torch.compile`` and ``torch.compiler`` for programs that use them: nothing is compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, overload

__all__ = [
    "allow_in_graph", "compile", "cudagraph_mark_step_begin", "disable", "is_compiling",
    "is_dynamo_compiling", "is_exporting", "list_backends", "reset",
]  # fmt: skip

_F = TypeVar("_F", bound=Callable[..., Any])


@overload
def compile(
    model: _F,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: str | Callable[..., Any] | None = None,
    mode: str | None = None,
    options: dict[str, Any] | None = None,
    disable: bool = False,
) -> _F: ...
@overload
def compile(
    model: None = None,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: str | Callable[..., Any] | None = None,
    mode: str | None = None,
    options: dict[str, Any] | None = None,
    disable: bool = False,
) -> Callable[[_F], _F]: ...
def compile(
    model: Any = None,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: str | Callable[..., Any] | None = None,
    mode: str | None = None,
    options: dict[str, Any] | None = None,
    disable: bool = False,
) -> Any:
    """``model`` itself: nothing is compiled, so results and errors are those of eager code.

    Args:
        model: A function or a Module. Left out, the result is a decorator.
        fullgraph: Accepted for compatibility, as is everything that follows.
        dynamic: The same.
        backend: The same.
        mode: The same.
        options: The same.
        disable: The same.

    Raises:
        RuntimeError: If both ``mode`` and ``options`` are given, as in PyTorch.
        TypeError: If ``model`` cannot be called.

    Example:
        >>> import tinytorch as tt
        >>> @tt.compile
        ... def double(x):
        ...     return 2 * x
        >>> double(tt.ones(1))
        tensor([2.])
    """
    if mode is not None and options is not None:
        raise RuntimeError(
            "Either mode or options can be specified, but both can't be specified at the same time."
        )
    if model is not None and not callable(model):
        raise TypeError(f"compile(): expected a function or a Module, got {type(model).__name__}")
    return _same if model is None else model


@overload
def disable(fn: _F, recursive: bool = True, *, reason: str | None = None) -> _F: ...
@overload
def disable(
    fn: None = None, recursive: bool = True, *, reason: str | None = None
) -> Callable[[_F], _F]: ...
def disable(fn: Any = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """``fn`` itself; without it, a decorator.

    Args:
        fn: A function or a Module.
        recursive: Accepted for compatibility.
        reason: Accepted for compatibility.

    Example:
        >>> import tinytorch as tt
        >>> tt.compiler.disable(len) is len
        True
    """
    return _same if fn is None else fn


def allow_in_graph(fn: _F) -> _F:
    """``fn`` itself.

    Example:
        >>> import tinytorch as tt
        >>> tt.compiler.allow_in_graph(len) is len
        True
    """
    return fn


def _same(function: _F) -> _F:
    return function


def is_compiling() -> bool:
    """False.

    Example:
        >>> import tinytorch as tt
        >>> tt.compiler.is_compiling()
        False
    """
    return False


def is_dynamo_compiling() -> bool:
    """Whether code is being compiled, as ``is_compiling``: never.

    Example:
        >>> import tinytorch as tt
        >>> tt.compiler.is_dynamo_compiling()
        False
    """
    return is_compiling()


def is_exporting() -> bool:
    """Whether a program is being exported: never.

    Example:
        >>> import tinytorch as tt
        >>> tt.compiler.is_exporting()
        False
    """
    return is_compiling()


def reset() -> None:
    """Nothing: there is nothing to forget.

    Example:
        >>> import tinytorch as tt
        >>> tt.compiler.reset()
    """


def cudagraph_mark_step_begin() -> None:
    """Nothing: there are no graphs of GPU work to begin anew.

    Example:
        >>> import tinytorch as tt
        >>> tt.compiler.cudagraph_mark_step_begin()
    """


def list_backends(exclude_tags: Any = ()) -> list[str]:
    """No compilers.

    Example:
        >>> import tinytorch as tt
        >>> tt.compiler.list_backends()
        []
    """
    return []
