"""The state as a value that can be propagated to other threads and processes."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Generic, NamedTuple, ParamSpec, TypeVar

from ..backends import Backend, BackendLike, load, loaded
from ..dtypes import dtype
from .backend import BACKEND, backend_context, current_backend, set_backend
from .context_managers import AssignedScope, Scope, decorate
from .defaults import DTYPE, default_dtype
from .grad import GRAD, INFERENCE, count_block, grad_enabled, inference_enabled
from .scopes import Settings
from .tracebacks import short

_P = ParamSpec("_P")
_R = TypeVar("_R")


class State(NamedTuple):
    """What was active somewhere: pickled by name, applied elsewhere.

    Attributes:
        backend: The backend's name; the Backend itself if it goes by no registered name.
        default_dtype: The dtype of floats made without one.
        grad_enabled: Whether operations are recorded.
        inference_mode: Whether inference mode is on.
    """

    backend: BackendLike
    default_dtype: dtype
    grad_enabled: bool
    inference_mode: bool

    def apply(self) -> AssignedScope:
        """Make this the state of the calling thread, or of a ``with`` block.

        As a statement it lasts, for this thread alone; so it can initialise the workers of
        a pool: ``ProcessPoolExecutor(initializer=tt.get_state().apply)``.

        Raises:
            UnknownBackendError, BackendUnavailableError: If the backend cannot be used here;
                nothing has changed then.

        Example:
            >>> import tinytorch as tt
            >>> with tt.no_grad():
            ...     state = tt.get_state()
            >>> with state.apply():
            ...     tt.is_grad_enabled()
            False
        """
        return _Applied(self._settings())

    def _settings(self) -> Settings:
        if self.inference_mode:
            count_block(1)  # for good: nobody knows when a thread has forgotten its choice
        return (
            (BACKEND, load(self.backend)),
            (DTYPE, self.default_dtype),
            (GRAD, self.grad_enabled),
            (INFERENCE, self.inference_mode),
        )


class _Applied(AssignedScope):
    __slots__ = ("_values",)

    def __init__(self, values: Settings) -> None:
        self._values = values
        super().__init__()

    def _settings(self) -> Settings:
        return self._values


def get_state() -> State:
    """The state of this thread and task as a value: backend, default dtype, grad mode.

    It can be pickled and sent to another process, compared, and applied anywhere. Random
    generators are not part of it: workers that repeat each other's numbers are a fault.

    Example:
        >>> import tinytorch as tt
        >>> tt.get_state()
        State(backend='numpy', default_dtype=tinytorch.float32, grad_enabled=True,
            inference_mode=False)
    """
    backend = current_backend()
    return State(_spelled(backend), default_dtype(), grad_enabled(), inference_enabled())


def _spelled(backend: Backend) -> BackendLike:
    """The backend's name if that leads back to it, else the backend itself."""
    return backend.name if loaded(backend.name) is backend else backend


@short
def set_state(state: State | BackendLike) -> None:
    """Make ``state`` this thread's state; a backend alone changes only the backend.

    Args:
        state: What ``get_state`` returned, or whatever ``set_backend`` accepts.

    Raises:
        UnknownBackendError, BackendUnavailableError, TypeError: As ``set_backend``; after an
            error nothing has changed.

    Example:
        >>> import tinytorch as tt
        >>> before = tt.get_state()
        >>> tt.set_state(tt.BackendType.NUMPY)
        >>> tt.set_state(before)
    """
    if isinstance(state, State):
        state.apply()
    else:
        set_backend(state)


def reset_state() -> None:
    """Forget this thread's choices: backend, grad mode, and a State's default dtype.

    Inside scopes, each has the value again that it was entered with, as after
    ``reset_backend``.

    Example:
        >>> import tinytorch as tt
        >>> tt.reset_state()
        >>> tt.get_backend()
        'numpy'
    """
    BACKEND.revert()
    DTYPE.revert()
    GRAD.revert()
    INFERENCE.revert()


def state(state: State | BackendLike) -> Scope:
    """A scope with this state: ``backend_context`` of a backend, or a State's ``apply``.

    Example:
        >>> import tinytorch as tt
        >>> with tt.state(tt.BackendType.NUMPY):
        ...     tt.get_backend()
        'numpy'
    """
    return _StateScope(state) if isinstance(state, State) else backend_context(state)


class _StateScope(Scope):
    __slots__ = ("_state",)

    def __init__(self, state: State) -> None:
        super().__init__()
        self._state = state

    def _settings(self) -> Settings:
        return self._state._settings()


class _Propagated(Generic[_P, _R]):
    """A function with the state it runs under; pickled as long as the function can be."""

    def __init__(self, function: Callable[_P, _R], state: State) -> None:
        functools.update_wrapper(self, function)
        self._function = function
        self._state = state
        self._bound = decorate(function, state._settings)

    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        return self._bound(*args, **kwargs)

    def __reduce__(self) -> tuple[Any, ...]:
        return _Propagated, (self._function, self._state)

    def __repr__(self) -> str:
        return f"propagate({self._function!r}, {self._state!r})"


def propagate(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """``function`` with the caller's present state, for whoever runs it, wherever.

    The workers of a pool keep the state they were born with; this carries the caller's into
    executors, Dask and other processes (the result pickles if ``function`` does). The
    worker's own state is back when ``function`` returns.

    Args:
        function: A function, method, coroutine function or generator function.

    Raises:
        TypeError: If ``function`` is a class or not callable.

    Example:
        >>> import tinytorch as tt
        >>> from concurrent.futures import ThreadPoolExecutor
        >>> with ThreadPoolExecutor(1) as pool, tt.no_grad():
        ...     pool.submit(tt.propagate(tt.is_grad_enabled)).result()
        False
    """
    return _Propagated(function, get_state())
