"""``torch.compile`` and ``torch.compiler``, which compile nothing: functions run eagerly."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any, TypeVar, overload

from .compat.tables.unsupported import TABLES, fill

__all__ = ["compile", "disable", "nested_compile_region", "set_stance", "substitute_in_graph"]

_F = TypeVar("_F", bound=Callable[..., Any])
_MODES = ("default", "lite", "reduce-overhead", "max-autotune-no-cudagraphs", "max-autotune")
#: PyTorch's backends, except those for its own tests, and those of other packages.
_BACKENDS = (
    "aot_eager", "aot_eager_decomp_partition", "aot_eager_default_partitioner", "aot_ts",
    "cudagraphs", "eager", "eager_debug", "eager_noexcept", "hpu_backend", "inductor", "ipex",
    "onnxrt", "openvino", "openxla", "openxla_eval", "tensorrt", "torch_tensorrt", "ts", "tvm",
)  # fmt: skip
_STANCES = (
    "default", "eager_then_compile", "aot_eager_then_compile", "force_eager",
    "eager_on_recompile", "fail_on_recompile",
)  # fmt: skip


@overload
def compile(
    model: _F, *, fullgraph: bool = False, dynamic: bool | None = None,
    backend: str | Callable[..., Any] | None = None, mode: str | None = None,
    options: dict[str, Any] | None = None, disable: bool = False,
) -> _F: ...  # fmt: skip
@overload
def compile(
    model: None = None, *, fullgraph: bool = False, dynamic: bool | None = None,
    backend: str | Callable[..., Any] | None = None, mode: str | None = None,
    options: dict[str, Any] | None = None, disable: bool = False,
) -> Callable[[_F], _F]: ...  # fmt: skip
def compile(
    model: Any = None, *, fullgraph: bool = False, dynamic: bool | None = None,
    backend: str | Callable[..., Any] | None = None, mode: str | None = None,
    options: dict[str, Any] | None = None, disable: bool = False,
) -> Any:  # fmt: skip
    """``model`` itself: nothing is compiled, so results and errors are those of eager code.

    Args:
        model: A function or a Module. Without it, the result is a decorator.
        fullgraph, dynamic, options, disable: Accepted for compatibility.
        backend: Accepted for compatibility, if it is the name of a backend or a function.
        mode: Accepted for compatibility, if it is the name of a mode.

    Raises:
        RuntimeError: If both ``mode`` and ``options`` are given, or the mode or the backend does
            not exist in PyTorch.
        TypeError: If ``model`` is not callable.

    Example:
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
    if mode is not None and backend in (None, "inductor") and mode not in _MODES:
        raise RuntimeError(f"Unrecognized mode={mode}, should be one of: {', '.join(_MODES)}")
    if isinstance(backend, str) and backend not in _BACKENDS:
        raise RuntimeError(
            f"Invalid backend: {backend!r}, expected one of {', '.join(_BACKENDS)} (with each of "
            "them, nothing is compiled)"
        )
    if model is not None and not callable(model):
        raise TypeError(f"compile(): expected a function or a Module, got {type(model).__name__}")
    return _identity if model is None else model


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
        recursive, reason: Accepted for compatibility.

    Example:
        >>> tt.compiler.disable(len) is len
        True
    """
    return _identity if fn is None else fn


def _disable_dynamo(fn: Any = None, recursive: bool = True) -> Any:
    """``disable``, as ``torch._disable_dynamo``."""
    return disable(fn, recursive)


@overload
def nested_compile_region(fn: _F) -> _F: ...
@overload
def nested_compile_region(fn: None = None) -> Callable[[_F], _F]: ...
def nested_compile_region(fn: Any = None) -> Any:
    """``fn`` itself; without it, a decorator.

    Args:
        fn: A function.

    Example:
        >>> tt.compiler.nested_compile_region(len) is len
        True
    """
    return _identity if fn is None else fn


def substitute_in_graph(original_fn: Callable[..., Any], **options: Any) -> Callable[[_F], _F]:
    """Return a decorator that changes nothing.

    PyTorch compiles the decorated function in the place of ``original_fn``.

    Args:
        original_fn: The function to be replaced.
        **options: Accepted for compatibility.

    Example:
        >>> tt.compiler.substitute_in_graph(len)(sum) is sum
        True
    """
    return _identity


class set_stance(contextlib.ContextDecorator):  # named as a function
    """Policy of ``compile``, also a context manager and a decorator; without effect.

    Args:
        stance: ``"default"``, ``"force_eager"``, ``"eager_on_recompile"``,
            ``"fail_on_recompile"``, ``"eager_then_compile"`` or ``"aot_eager_then_compile"``.
        skip_guard_eval_unsafe, force_backend: Accepted for compatibility.

    Raises:
        RuntimeError: If ``stance`` is another string.

    Example:
        >>> with tt.compiler.set_stance("force_eager"):
        ...     y = tt.ones(1) + 1
    """

    def __init__(
        self, stance: str = "default", *, skip_guard_eval_unsafe: bool = False,
        force_backend: Any = None,
    ) -> None:  # fmt: skip
        if stance not in _STANCES:
            raise RuntimeError(f"invalid torch.compile stance {stance!r}: one of {_STANCES}")
        self.stance = stance

    def __enter__(self) -> None:
        """Do nothing."""

    def __exit__(self, *error: object) -> None:
        """Do nothing."""


def _identity(function: _F) -> _F:
    """Return ``function``: a decorator that changes nothing."""
    return function


fill(globals(), TABLES["compiler"])
