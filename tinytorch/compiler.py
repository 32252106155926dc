"""``torch.compile`` and ``torch.compiler``: functions that are recorded once and replayed.

The package ``capture`` does the work; it is imported when a function is first compiled.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, overload

from .capture import settings
from .compat.tables.unsupported import TABLES, fill

__all__ = [
    "compile", "disable", "explain", "is_compiling", "is_dynamo_compiling",
    "nested_compile_region", "reset", "set_stance", "substitute_in_graph",
]  # fmt: skip

if TYPE_CHECKING:
    from .capture.explain import Explanation

_F = TypeVar("_F", bound=Callable[..., Any])


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
    """Return a function or module that records its calls and replays them without Python.

    The first call runs ``model`` and records its operations. Later calls replay the recording if
    everything that it depends on is as it was (guards): shapes and dtypes of the arguments, modes,
    attributes, globals. Otherwise they are recorded anew. Where a replay would be wrong, a call
    runs eagerly, with one warning that names the line. See the page "Compiling".

    Args:
        model: A function or a Module. Without it, the result is a decorator.
        fullgraph: Whether it is an error if a call has to run eagerly.
        dynamic: Accepted for compatibility: each shape is recorded.
        backend: ``"numpy"``, ``"c"``, ``"reference"``, ``"jax"`` or ``"cuda"``, an engine of this
            library; the last two are for the backends JAX and CuPy. PyTorch's names and functions
            are accepted; they mean the default engine.
        mode: ``"check"``: run the function at each call, too, and raise if a replay differs.
            PyTorch's modes are accepted.
        options: Accepted for compatibility.
        disable: Whether to return ``model`` itself.

    Raises:
        RuntimeError: If both ``mode`` and ``options`` are given, or the mode or the backend does
            not exist.
        TypeError: If ``model`` is not callable.

    Example:
        >>> @tt.compile
        ... def double(x):
        ...     return 2 * x
        >>> double(tt.ones(1)), double(tt.tensor([3.0]))
        (tensor([2.]), tensor([6.]))
    """
    chosen = settings.make_options(fullgraph=fullgraph, backend=backend, mode=mode, options=options)
    if model is not None and not callable(model):
        raise TypeError(f"compile(): expected a function or a Module, got {type(model).__name__}")

    def decorate(function: Any) -> Any:
        if disable:
            return function
        from .capture.optimized_module import compile_callable

        return compile_callable(function, chosen)

    return decorate if model is None else decorate(model)


@overload
def disable(fn: _F, recursive: bool = True, *, reason: str | None = None) -> _F: ...
@overload
def disable(
    fn: None = None, recursive: bool = True, *, reason: str | None = None
) -> Callable[[_F], _F]: ...
def disable(fn: Any = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """Return a function or module that is not recorded; without it, a decorator.

    A compiled function that calls it runs eagerly.

    Args:
        fn: A function or a Module.
        recursive: Accepted for compatibility.
        reason: Text for the warning.

    Example:
        >>> @tt.compiler.disable
        ... def log(x):
        ...     print(x.item())
        >>> log(tt.tensor(2.0))
        2.0
    """
    from .capture.optimized_module import disable_callable

    def decorate(function: Any) -> Any:
        return disable_callable(function, reason)

    return decorate if fn is None else decorate(fn)


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
    """Set when functions are recorded, for the process or, as a scope or decorator, inside.

    Args:
        stance: ``"default"``; ``"force_eager"``: all calls run eagerly; ``"eager_on_recompile"``:
            calls that match no recording do; ``"fail_on_recompile"``: these raise an error.
            ``"eager_then_compile"`` and ``"aot_eager_then_compile"`` are the default.
        skip_guard_eval_unsafe, force_backend: Accepted for compatibility.

    Raises:
        RuntimeError: If ``stance`` is another string.

    Example:
        >>> with tt.compiler.set_stance("force_eager"):
        ...     y = tt.compile(tt.sin)(tt.zeros(1))
    """

    def __init__(
        self, stance: str = "default", *, skip_guard_eval_unsafe: bool = False,
        force_backend: Any = None,
    ) -> None:  # fmt: skip
        if stance not in settings.STANCES:
            raise RuntimeError(
                f"invalid torch.compile stance {stance!r}: one of {settings.STANCES}"
            )
        self.stance = stance
        self._before = settings.stance.name
        settings.stance.name = stance

    def __call__(self, function: Any) -> Any:
        """Return ``function`` with this stance while it runs."""
        settings.stance.name = self._before
        return super().__call__(function)

    def __enter__(self) -> None:
        """Set the stance."""
        settings.stance.name = self.stance

    def __exit__(self, *error: object) -> None:
        """Restore the previous stance."""
        settings.stance.name = self._before


def is_compiling() -> bool:
    """Whether this thread records a call of a compiled function.

    Example:
        >>> tt.compiler.is_compiling(), tt.compile(lambda: tt.compiler.is_compiling())()
        (False, True)
    """
    recorder = sys.modules.get("tinytorch.capture.recorder")
    return recorder is not None and recorder.current_recorder() is not None


def is_dynamo_compiling() -> bool:
    """Whether this thread records a call of a compiled function; ``is_compiling``.

    Example:
        >>> tt.compiler.is_dynamo_compiling()
        False
    """
    return is_compiling()


def reset() -> None:
    """Forget the recordings of all compiled functions.

    Example:
        >>> tt.compiler.reset()
    """
    compiled = sys.modules.get("tinytorch.capture.compiled")
    if compiled is not None:
        compiled.reset()


def explain(
    f: Callable[..., Any], *extra_args: Any, **extra_kwargs: Any
) -> Callable[..., Explanation]:  # fmt: skip
    """Return a function that records a call of ``f`` and explains the recording.

    Args:
        f: A function or a Module.
        *extra_args, **extra_kwargs: Arguments of the call, PyTorch's former style; the result is
            then the explanation itself.

    Returns:
        An ``Explanation``; as text it shows what was recorded, breaks with their lines, guards,
        memory and the engine.

    Example:
        >>> print(tt.compiler.explain(lambda x: x * 2 + 1)(tt.ones(3)))  # doctest: +ELLIPSIS
        Graph Count: 1
        ...
    """
    from .capture.explain import explain_call

    def call(*args: Any, **kwargs: Any) -> Explanation:
        return explain_call(f, args, kwargs)

    if extra_args or extra_kwargs:
        return call(*extra_args, **extra_kwargs)  # type: ignore[return-value]
    return call


def _identity(function: _F) -> _F:
    """Return ``function``: a decorator that changes nothing."""
    return function


fill(globals(), TABLES["compiler"])
