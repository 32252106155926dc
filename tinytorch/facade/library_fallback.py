"""Names that only the active backend's library has, such as ``tt.busday_count`` on NumPy.

They are forwarded at every access. Tensors are passed as arrays, and arrays are returned as
tensors. No gradient flows through these functions, so a tensor that requires grad raises. Classes
are returned unchanged, for ``isinstance``; the library converts a tensor passed to them itself.
"""

from __future__ import annotations

import functools
import os
from typing import Any

from .. import dtypes
from ..backends.base import Backend
from ..core.tensor import Tensor, wrap
from ..state import grad_enabled


def forward(backend: Backend, name: str) -> Any:
    """Return ``name`` of the backend's library, wrapped for tensors; None if there is none."""
    if name not in _public_names(backend) or not _is_forwardable(backend, name):
        return None
    value = getattr(backend.library, name)
    if isinstance(value, type):
        return value
    call = _CALLS.get((backend, name))
    if call is None or call.__wrapped__ is not value:
        call = _CALLS[backend, name] = _forward_calls(backend, name, value)
    return call


#: The one wrapper of each function, so that it can be pickled by name.
_CALLS: dict[tuple[Backend, str], Any] = {}


def _forward_calls(backend: Backend, name: str, value: Any) -> Any:
    """Return a function of tensors that calls the library's function ``value`` with arrays."""

    @functools.wraps(value)
    def call(*args: Any, **kwargs: Any) -> Any:
        raw = [_unwrap(backend, name, a) for a in args]
        named = {key: _unwrap(backend, name, v) for key, v in kwargs.items()}
        return _wrap(backend, value(*raw, **named))

    call.__module__, call.__name__, call.__qualname__ = "tinytorch", name, name
    return call


@functools.cache
def library_names(backend: Backend) -> frozenset[str]:
    """Names of the public functions and classes of the backend's library."""
    names = [name for name in _public_names(backend) if not name.startswith("_")]
    return frozenset([name for name in names if callable(getattr(backend.library, name, None))])


@functools.cache
def _public_names(backend: Backend) -> frozenset[str]:
    """Names of the library, except dtypes and modules of its own that are not loaded."""
    library = backend.library
    names = getattr(library, "__all__", None) or dir(library)
    # Access to NumPy's ``testing`` imports it, and 150 further modules.
    folders = getattr(library, "__path__", ())
    modules = {entry.partition(".")[0] for folder in folders for entry in os.listdir(folder)}
    not_loaded = modules - vars(library).keys()
    return frozenset(names) - dtypes.NAMES.keys() - not_loaded


def _is_forwardable(backend: Backend, name: str) -> bool:
    """Whether ``name`` is a public function or class of the backend's library."""
    return not name.startswith("_") and callable(getattr(backend.library, name, None))


def _unwrap(backend: Backend, name: str, value: Any) -> Any:
    """Return an argument for the library's function ``name``, with arrays for tensors.

    Raises:
        RuntimeError: For a tensor that requires grad, or on another backend.
    """
    if isinstance(value, Tensor):
        if value.requires_grad and grad_enabled():
            raise RuntimeError(
                f"{name} is {backend.name}'s own function and not differentiable: got a Tensor "
                "that requires grad; call it on tensor.detach() or under tt.no_grad()"
            )
        if value._xp is not backend:
            raise RuntimeError(
                f"{name} is a function of backend {backend.name!r}, got a Tensor on backend "
                f"{value._xp.name!r}"
            )
        return value._data
    if isinstance(value, (list, tuple)):
        return _rebuild_container(value, [_unwrap(backend, name, v) for v in value])
    return value


def _wrap(backend: Backend, value: Any) -> Any:
    """Return a result of the library with tensors for arrays and NumPy scalars, also in lists."""
    if isinstance(value, backend.array_type):
        return wrap(value, backend)
    if isinstance(value, (list, tuple)):
        return _rebuild_container(value, [_wrap(backend, v) for v in value])
    if hasattr(value, "dtype") and hasattr(value, "ndim"):  # NumPy's scalars
        return wrap(backend.asarray(value), backend)
    return value


def _rebuild_container(value: Any, parts: list[Any]) -> Any:
    """Make a list or tuple of the class of ``value``; a named tuple gets ``parts`` one by one."""
    return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
