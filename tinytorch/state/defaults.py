"""Default dtype and default random generators."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any

from .. import dtypes
from ..backends import Backend
from . import backend as _backend
from .backend import BACKEND, current_backend
from .context_managers import Scope
from .scopes import Settings, Slot, thread
from .tracebacks import short
from .variable import Variable

DTYPE: Slot[dtypes.dtype] = Slot("dtype")
_scoped_dtype = DTYPE.var.get
_scoped_backend = BACKEND.var.get
_default_dtype = dtypes.float32


def default_dtype() -> dtypes.dtype:
    """Return the dtype of floats that are created without one; see ``get_default_dtype``."""
    frame = _scoped_dtype()
    if frame is None:
        if not DTYPE.by_thread:
            return _default_dtype
        chosen = thread.dtype
    else:
        chosen = frame.value if frame.entry.live else DTYPE.explicit()
    return _default_dtype if chosen is None else chosen


dtypes.finfo._default = staticmethod(default_dtype)

#: Last result of ``place_of_new``, and the defaults for which it holds without other choices.
_found: tuple[Any, Any, Any] = (None, None, None)


def place_of_new() -> tuple[Backend, Any]:
    """Return the active backend, and the default dtype in the form of its library."""
    global _found
    chosen = BACKEND.by_thread or DTYPE.by_thread or _backend.several
    if not chosen and _scoped_backend() is None and _scoped_dtype() is None:
        default, dtype, place = _found
        if default is not _backend.default or dtype is not _default_dtype or default is None:
            place = current_backend(), current_backend().native_dtype(_default_dtype)
            _found = _backend.default, _default_dtype, place
        return place  # type: ignore[no-any-return]
    xp = current_backend()
    return xp, xp.native_dtype(default_dtype())


def get_default_dtype() -> dtypes.dtype:
    """Return the dtype of Python floats and of creation functions without a ``dtype``.

    Example:
        >>> tt.get_default_dtype()
        tinytorch.float32
    """
    return default_dtype()


@short
def set_default_dtype(d: Any) -> None:
    """Set the dtype of floats that are created without one, for the whole process.

    Inside a ``default_dtype_context`` it holds for that scope alone, until it exits.

    Args:
        d: A floating-point dtype, or its name.

    Raises:
        TypeError: If ``d`` is not a floating-point dtype.

    Example:
        >>> tt.set_default_dtype(tt.float64)
        >>> tt.tensor(1.5).dtype
        tinytorch.float64
        >>> tt.set_default_dtype(tt.float32)
    """
    global _default_dtype
    dtype = _check_floating(d)
    if DTYPE.top() is not None:
        DTYPE.assign(dtype)
        return
    _default_dtype = dtype
    if DTYPE.by_thread:
        DTYPE.choose(None)  # the dtype of a State in this thread must not hide the new one


class default_dtype_context(Scope):
    """Set the default dtype of floats inside a ``with`` block or a function.

    Other threads and tasks keep their own.

    Args:
        d: A floating-point dtype, or its name.

    Raises:
        TypeError: If ``d`` is not a floating-point dtype.

    Example:
        >>> with tt.default_dtype_context(tt.float64):
        ...     tt.get_default_dtype()
        tinytorch.float64
    """

    __slots__ = ("_dtype",)

    def __init__(self, d: Any) -> None:
        super().__init__()
        self._dtype = _check_floating(d)

    def _settings(self) -> Settings:
        return ((DTYPE, self._dtype),)


def _check_floating(d: Any) -> dtypes.dtype:
    """Return ``d``, a dtype or its name, as a dtype; TypeError if it is not floating point."""
    dtype = dtypes.as_dtype(d)
    if not dtype.is_floating_point:
        raise TypeError(
            f"only floating-point types are supported as the default type, got {dtype.name}"
        )
    return dtype


# -- random generators ---------------------------------------------------------------

_GENERATOR: Slot[tuple[Backend, Any]] = Slot("generator")
_scoped_generator = _GENERATOR.var.get
_generators: dict[Backend, Any] = {}
_generators_lock = threading.RLock()


def default_generator(backend: Backend) -> Any:
    """Make the default generator of a backend, with a seed from the operating system.

    ``set_generator_factory`` replaces this function.
    """
    return backend.make_generator(int.from_bytes(os.urandom(8), "little"))


_make_generator: Callable[[Backend], Any] = default_generator


def set_generator_factory(make: Callable[[Backend], Any]) -> None:
    """Set the function ``make(backend)`` that makes default generators from now on."""
    global _make_generator
    _make_generator = make


def generator(backend: Backend | None = None) -> Any:
    """Return the generator of random functions that are called without one.

    It is the generator of the innermost ``generator_context`` for the backend, else the
    process's, which is made at its first use.

    Args:
        backend: The backend of the generator. Default: the active one.
    """
    if backend is None:
        backend = current_backend()
    if Backend.recordings and backend.recorded is not None:
        return backend.drawing(generator(backend.recorded))
    frame = None if _scoped_generator() is None else _GENERATOR.top()
    while frame is not None:
        if frame.entry.live and frame.value[0] is backend:
            return frame.value[1]
        frame = frame.parent
    found = _generators.get(backend)
    return _shared_generator(backend) if found is None else found


def _shared_generator(backend: Backend) -> Any:
    """Return the process's generator for a backend, which is made at its first use."""
    with _generators_lock:
        if backend not in _generators:
            _generators[backend] = _make_generator(backend)
        return _generators[backend]


def set_generator(generator: Any, backend: Backend | None = None) -> None:
    """Make ``generator`` the process's default for a backend (default: the active one)."""
    with _generators_lock:
        _generators[current_backend() if backend is None else backend] = generator


#: Callback of this context for each generator that a program passes to a random function: called
#: with the generator's engine before it draws.
DRAWN: Variable[Callable[[Any], None] | None] = Variable("drawn", None)


class generator_context(Scope):
    """Make random functions use ``generator`` inside a ``with`` block or a function.

    Args:
        generator: The generator, which ``generator()`` returns inside.
        backend: The backend of the generator. Default: the one that is active at entry.
    """

    __slots__ = ("_backend", "_generator")

    def __init__(self, generator: Any, backend: Backend | None = None) -> None:
        super().__init__()
        self._generator = generator
        self._backend = backend

    def _settings(self) -> Settings:
        backend = current_backend() if self._backend is None else self._backend
        return ((_GENERATOR, (backend, self._generator)),)
