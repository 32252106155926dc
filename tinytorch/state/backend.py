"""The active backend: its scope, each thread's choice, the process default, and inheritance."""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable
from typing import Any

from ..backends import (
    Backend,
    BackendLike,
    BackendUnavailableError,
    UnknownBackendError,
    check,
    load,
)
from .context_managers import Scope
from .scopes import INHERITED, Inherited, Settings, Slot, thread
from .tracebacks import short

#: The environment variable that names the default backend of the process.
VARIABLE = "TINYTORCH_BACKEND"
#: The environment variable that, set to 0, keeps new threads from inheriting a backend.
INHERIT_VARIABLE = "TINYTORCH_THREAD_INHERIT"

BACKEND: Slot[Backend] = Slot("backend")
_scoped = BACKEND.var.get
default: Backend | None = None
#: Whether a backend of several devices is loaded; tests of each backend would be slow.
several: bool = False


def current_backend() -> Backend:
    """Return the active backend: of the innermost scope, this thread, the process, or NumPy."""
    frame = _scoped()
    if frame is None:
        found = thread.backend if BACKEND.by_thread else None
        if found is not None and isinstance(found, Inherited):
            found = found.value()
    elif frame.entry.live:
        found = frame.value
    else:
        found = BACKEND.explicit()
    if found is None:
        found = default if default is not None else _first_default()
    return found.here() if several and found.several else found


def _follow_devices() -> None:
    """Note that a backend of several devices is loaded."""
    global several
    several = True


Backend.when_several.append(_follow_devices)


def get_backend() -> str:
    """Return the name of the active backend.

    It is the backend of the innermost ``backend_context``. Outside of any it is this thread's
    choice: of ``set_backend``, or inherited from the thread that started it (its scopes, each until
    it exits, and its choice). Without a choice it is the process default
    (``set_default_backend``), which is initialized from the environment variable
    ``TINYTORCH_BACKEND``, or is ``"numpy"``.

    Raises:
        UnknownBackendError: If the environment variable decides, and no backend has that name.
        BackendUnavailableError: If it decides, and that backend cannot be used here.

    Example:
        >>> tt.get_backend()
        'numpy'
    """
    return current_backend().name


@short
def set_backend(backend: BackendLike) -> None:
    """Choose the backend on which this thread creates tensors.

    Other threads are not affected, whether this is the main thread or not. Threads that are
    started afterwards inherit the choice and keep it. Inside a ``backend_context`` it replaces
    that scope's backend until the block exits. Existing tensors stay on their backend.

    Args:
        backend: A registered name, a ``BackendType``, a ``Backend`` or a class of one.

    Raises:
        UnknownBackendError: If no backend has that name (a ValueError).
        BackendUnavailableError: If its package or a usable device is missing (an
            ImportError).
        TypeError: If ``backend`` is none of the above. After an error nothing has changed.

    Example:
        >>> tt.set_backend("numpy")
        >>> tt.get_backend()
        'numpy'
        >>> tt.reset_backend()
    """
    BACKEND.assign(load(backend))


def reset_backend() -> None:
    """Reset the choice of ``set_backend``, or the one that this thread inherited.

    The thread follows the process default again. Inside a ``backend_context``, the backend with
    which the scope was entered is restored instead, and the thread's choice stays.

    Example:
        >>> tt.set_backend("numpy")
        >>> tt.reset_backend()
    """
    BACKEND.revert()


class backend_context(Scope):  # a context manager, named as a function
    """Make a backend the active one inside a ``with`` block or a function.

    The scope belongs to the current task. Existing threads and tasks are not affected, while
    ``asyncio.to_thread``, new tasks and ``contextvars.copy_context`` propagate it. A thread that is
    started inside (also as a Timer, or by a pool, ``run_in_executor`` or Dask) has it until the
    block exits, and afterwards the backend that it would have without the scope. The scope exits
    with the block, also after an error. One object may be entered again, also while it is entered,
    and by several threads or tasks at once.

    As a decorator it works on functions, coroutines, generators and asynchronous generators. Those
    that pause are outside of the scope until they are resumed.

    Args:
        backend: A registered name, a ``BackendType``, a ``Backend`` or a class of one. It is
            loaded when the block is entered.

    Raises:
        UnknownBackendError: If no backend has that name.
        TypeError: If ``backend`` is none of the above.
        BackendUnavailableError: At entry, if its package or a usable device is missing.

    Example:
        >>> with tt.backend_context("numpy") as backend:
        ...     print(tt.get_backend(), backend)
        numpy numpy
        >>> @tt.backend_context("numpy")
        ... def active():
        ...     return tt.get_backend()
        >>> active()
        'numpy'
    """

    __slots__ = ("_backend",)

    def __init__(self, backend: BackendLike) -> None:
        super().__init__()
        self._backend = check(backend)

    def __repr__(self) -> str:
        return f"backend_context({str(self._backend)!r})"

    def __enter__(self) -> Backend:
        super().__enter__()
        backend: Backend = self._entries[-1].settings[0][1]  # no call, which Ctrl-C could interrupt
        return backend

    def _settings(self) -> Settings:
        return backend_settings(self._backend)


def backend_settings(backend: BackendLike) -> Settings:
    """Load a backend and return the settings of a scope in which it is active."""
    return ((BACKEND, load(backend)),)


@short
def set_default_backend(backend: BackendLike | None) -> None:
    """Set the backend of all threads that have no choice of their own, with immediate effect.

    Args:
        backend: As for ``set_backend``; None for the environment variable
            ``TINYTORCH_BACKEND``, read again at the next use, or ``"numpy"``.

    Raises:
        UnknownBackendError, BackendUnavailableError, TypeError: As ``set_backend``; after an
            error nothing has changed.

    Example:
        >>> tt.set_default_backend("numpy")
        >>> tt.set_default_backend(None)
    """
    global default
    default = None if backend is None else load(backend)


def get_default_backend() -> str:
    """Return the name of the backend of threads that have no choice of their own.

    Raises:
        UnknownBackendError, BackendUnavailableError: If the environment variable
            ``TINYTORCH_BACKEND`` decides, and no backend of that name can be used here.

    Example:
        >>> tt.get_default_backend()
        'numpy'
    """
    return (default if default is not None else _first_default()).name


def _first_default() -> Backend:
    """Initialize the process default: from the environment variable, or NumPy."""
    global default
    name = os.environ.get(VARIABLE)
    if not name or name.isspace():
        found = load("numpy")
    else:
        try:
            found = load(name)
        except (UnknownBackendError, BackendUnavailableError) as error:
            raise error.within(f"environment variable {VARIABLE}={name}") from error.__cause__
    if default is None:  # another thread may have set one meanwhile
        default = found
    return found


def _snapshot() -> Backend | Inherited[Backend] | None:
    """Return the state that a new thread inherits; None if it follows the process default."""
    if os.environ.get(INHERIT_VARIABLE) == "0":
        return None
    found = BACKEND.inherit()
    if found.value() is None:
        return None
    BACKEND.by_thread = True
    return found if found.frames else found.choice


def _inherit_on_start() -> None:
    """Wrap ``Thread.start`` so that it stores a snapshot in the new Thread object.

    ``start`` is wrapped once per process, also if other libraries wrap it afterwards. A second
    copy of this module only replaces the ``_snapshot`` of the first one.
    """
    thread_class: Any = threading.Thread
    hook = "_tinytorch_snapshot"
    installed = hasattr(thread_class, hook)
    setattr(thread_class, hook, staticmethod(_snapshot))
    if not installed:
        thread_class.start = _wrap_start(thread_class.start)


def _wrap_start(start: Callable[[threading.Thread], None]) -> Callable[[threading.Thread], None]:
    """Return a ``Thread.start`` that first stores a snapshot of the starting thread's backend."""

    @functools.wraps(start)
    def start_with_snapshot(self: Any) -> None:
        if not hasattr(self, INHERITED):  # a second start fails; it must not change the first
            setattr(self, INHERITED, self._tinytorch_snapshot())
        start(self)

    return start_with_snapshot


_inherit_on_start()
