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
    """Snapshot of the state of a thread and task, which can be pickled and applied elsewhere.

    Attributes:
        backend: The backend's name; the Backend itself if its name is not registered for it.
        default_dtype: The dtype of floats that are created without a dtype.
        grad_enabled: Whether operations are recorded.
        inference_mode: Whether inference mode is on.
    """

    backend: BackendLike
    default_dtype: dtype
    grad_enabled: bool
    inference_mode: bool

    def apply(self) -> AssignedScope:
        """Make this the state of the calling thread, or of a ``with`` block.

        As a statement it has a lasting effect on this thread alone. So it can initialize the
        workers of a pool: ``ProcessPoolExecutor(initializer=tt.get_state().apply)``.

        Raises:
            UnknownBackendError, BackendUnavailableError: If the backend cannot be used here;
                nothing has changed then.

        Example:
            >>> with tt.no_grad():
            ...     state = tt.get_state()
            >>> with state.apply():
            ...     tt.is_grad_enabled()
            False
        """
        return _AppliedState(self._settings())

    def _settings(self) -> Settings:
        if self.inference_mode:
            count_block(1)  # permanent, as there is no event when a thread resets its choice
        return (
            (BACKEND, load(self.backend)),
            (DTYPE, self.default_dtype),
            (GRAD, self.grad_enabled),
            (INFERENCE, self.inference_mode),
        )


class _AppliedState(AssignedScope):
    __slots__ = ("_values",)

    def __init__(self, values: Settings) -> None:
        self._values = values
        super().__init__()

    def _settings(self) -> Settings:
        return self._values


def get_state() -> State:
    """Return a snapshot of the state of this thread and task: backend, default dtype, grad mode.

    It can be pickled and sent to another process, compared, and applied anywhere. Random
    generators are not a part of it, since all workers would then draw the same numbers.

    Example:
        >>> tt.get_state()
        State(backend='numpy', default_dtype=tinytorch.float32, grad_enabled=True,
            inference_mode=False)
    """
    backend = current_backend()
    return State(_registered_name(backend), default_dtype(), grad_enabled(), inference_enabled())


def _registered_name(backend: Backend) -> BackendLike:
    """Return the backend's name if it is registered for it, else the backend itself."""
    return backend.name if loaded(backend.name) is backend else backend


@short
def set_state(state: State | BackendLike) -> None:
    """Make ``state`` the state of this thread; a backend changes the backend only.

    Args:
        state: A result of ``get_state``, or a backend as for ``set_backend``.

    Raises:
        UnknownBackendError, BackendUnavailableError, TypeError: As ``set_backend``; after an
            error nothing has changed.

    Example:
        >>> before = tt.get_state()
        >>> tt.set_state(tt.BackendType.NUMPY)
        >>> tt.set_state(before)
    """
    if isinstance(state, State):
        state.apply()
    else:
        set_backend(state)


def reset_state() -> None:
    """Reset this thread's choices: backend, grad mode, and the default dtype of a State.

    Inside scopes, the values with which they were entered are restored, as by
    ``reset_backend``.

    Example:
        >>> tt.reset_state()
        >>> tt.get_backend()
        'numpy'
    """
    BACKEND.revert()
    DTYPE.revert()
    GRAD.revert()
    INFERENCE.revert()


def state(state: State | BackendLike) -> Scope:
    """Scope with this state: ``backend_context`` for a backend, ``apply`` for a State.

    Example:
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
    """Function bound to a state; it can be pickled if the function can."""

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
    """Bind the caller's state to a function.

    The workers of a pool keep the state that they were started with. The returned function runs
    with the caller's state in executors, Dask and other processes (it can be pickled if
    ``function`` can). The worker's own state is restored when ``function`` returns.

    Args:
        function: A function, method, coroutine function or generator function.

    Raises:
        TypeError: If ``function`` is a class or not callable.

    Example:
        >>> from concurrent.futures import ThreadPoolExecutor
        >>> with ThreadPoolExecutor(1) as pool, tt.no_grad():
        ...     pool.submit(tt.propagate(tt.is_grad_enabled)).result()
        False
    """
    return _Propagated(function, get_state())
