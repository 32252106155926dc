"""The registry of backends: names, loaders, and one instance of each, made on first use.

Three ways lead in, and all end in the same table: the built-in names below,
``register_backend``, and the entry-point group ``tinytorch.backends`` of any installed
distribution. No array library is imported before its backend is asked for.
"""

from __future__ import annotations

import enum
import importlib
import os
import sys
import threading
from collections.abc import Callable, Mapping
from importlib.machinery import PathFinder
from typing import Any, TypeAlias, TypeVar, overload

from ..warnings import warn
from .base import Backend as Backend
from .errors import BackendUnavailableError as BackendUnavailableError
from .errors import OutOfMemoryError as OutOfMemoryError
from .errors import UnknownBackendError as UnknownBackendError

__all__ = [
    "Backend",
    "BackendLike",
    "BackendType",
    "BackendUnavailableError",
    "UnknownBackendError",
    "check",
    "list_backends",
    "load",
    "loaded",
    "register_backend",
    "registered",
]

#: PyTorch's switches of libraries. Each is a module that is imported on first access.
_SWITCHES = (
    "cpu", "cuda", "cudnn", "cusparselt", "kleidiai", "mha", "miopen", "mkl", "mkldnn", "mps",
    "nnpack", "openmp", "opt_einsum", "quantized", "xnnpack",
)  # fmt: skip
#: The entry-point group in which a distribution declares its backends.
GROUP = "tinytorch.backends"

#: A class, a zero-argument callable, an instance, or any of these as ``"module:attribute"``.
Loader: TypeAlias = "str | Backend | Callable[[], Backend]"
#: Argument that names a backend: a name, a ``Backend`` or a ``Backend`` class.
BackendLike: TypeAlias = "str | Backend | type[Backend]"
_L = TypeVar("_L", bound=Callable[[], Backend])
_V = TypeVar("_V")


def __getattr__(name: str) -> Any:
    if name in _SWITCHES:
        return importlib.import_module(f"{__name__}.{name}")
    if name == "standard_backend":
        return importlib.import_module(f"{__name__}.standard").standard_backend
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    more = {
        "GROUP", "Loader", "OutOfMemoryError", "find_backend_of_type", "is_installed",
        "standard_backend", "withdraw",
    }  # fmt: skip
    return sorted({*__all__, *_SWITCHES, *more})


class BackendType(str, enum.Enum):  # noqa: UP042  # its str() is the class's
    """The built-in backends as constants, equal to their names and accepted wherever they are.

    Example:
        >>> tt.set_backend(tt.BackendType.NUMPY)
        >>> tt.get_backend() == tt.BackendType.NUMPY
        True
    """

    NUMPY = "numpy"
    CUPY = "cupy"
    TORCH = "torch"
    JAX = "jax"
    DASK = "dask"
    ARRAY_API_STRICT = "array_api_strict"

    # An Enum hashes its member's name; equal strings must hash equal to serve as one key.
    __hash__ = str.__hash__

    def __str__(self) -> str:
        return str(self.value)


class _Registration:
    """Loader of a backend's name and, after the first load, the backend."""

    __slots__ = ("backend", "hint", "loader", "loading", "lock", "name")

    def __init__(self, name: str, loader: Loader, hint: str = "") -> None:
        self.name = name
        self.loader = loader
        self.hint = hint
        self.backend: Backend | None = None
        self.loading = False
        self.lock = threading.RLock()

    def load(self) -> Backend:
        """Return the backend. The first caller creates it; other threads wait for it."""
        try:
            # Import before taking the lock: a thread that holds the import lock of that module
            # may be waiting for this lock.
            loader = _import_attribute(self.loader) if isinstance(self.loader, str) else self.loader
            with self.lock:
                if self.backend is None:
                    self.backend = self._make(loader)
                return self.backend
        except BackendUnavailableError:
            raise
        except Exception as error:
            raise _unavailable(self.name, error, self.hint) from error

    def _make(self, loader: Any) -> Backend:
        """Create the backend by ``loader``, or take ``loader`` itself if it is a backend; check it.

        Raises:
            RuntimeError: If the loader loads the same backend again.
        """
        if self.loading:
            raise RuntimeError(f"backend {self.name!r} loads itself while it is loading")
        self.loading = True
        try:
            made = loader if isinstance(loader, Backend) else loader()
        finally:
            self.loading = False
        return _check_backend(self.name, made, fresh=isinstance(loader, type))


#: Backends of array-API libraries by the name of the package: their class, and what to install.
_ARRAY_LIBRARIES = {
    "torch": ("torch_library:TorchBackend", "torch"),
    "jax": ("jax_library:JaxBackend", "jax"),
    "dask": ("dask_library:DaskBackend", "'dask[array]'"),
    "array_api_strict": ("strict_library:ArrayApiStrictBackend", "array-api-strict"),
}
_registry: dict[str, _Registration] = {
    "numpy": _Registration("numpy", "tinytorch.backends.numpy.backend:NumpyBackend"),
    "cupy": _Registration("cupy", "tinytorch.backends.cupy:CupyBackend"),
    "meta": _Registration("meta", "tinytorch.backends.meta:MetaBackend"),
    **{
        name: _Registration(name, f"tinytorch.backends.standard.{source}", f"pip install {package}")
        for name, (source, package) in _ARRAY_LIBRARIES.items()
    },
}
#: Other names of backends: TensorLy's.
_ALIASES = {"pytorch": "torch"}
_BUILT_IN = frozenset(_registry)
#: Backends that ``list_backends`` leaves out: ``meta`` is a device, not a library.
_UNLISTED = frozenset(["meta"])
_of_class: dict[type[Backend], _Registration] = {}
_lock = threading.RLock()


@overload
def register_backend(
    name: str, loader: Loader, *, replace: bool = False, hint: str = ""
) -> None: ...
@overload
def register_backend(
    name: str, loader: None = None, *, replace: bool = False, hint: str = ""
) -> Callable[[_L], _L]: ...
def register_backend(
    name: str, loader: Any = None, *, replace: bool = False, hint: str = ""
) -> Callable[[_L], _L] | None:
    """Register a backend under a name. Its loader runs when the backend is first used.

    An installed distribution needs no call: an entry point in the group
    ``tinytorch.backends`` does the same.

    Args:
        name: Name for ``set_backend`` and ``get_backend``. Look-ups ignore case and surrounding
            blanks.
        loader: A ``Backend`` class, any callable without arguments that returns a
            ``Backend``, a ``Backend``, or one of these as ``"module:attribute"``. Left out,
            ``register_backend`` is a decorator for one.
        replace: Whether to replace a backend already registered under ``name``. Existing arrays
            of the replaced backend stay on it. Default: False.
        hint: Advice for the error message if the backend's package is missing.

    Raises:
        TypeError: If ``name`` is not a string or ``loader`` is none of the above.
        ValueError: If ``name`` is empty, or taken by another loader and not ``replace``.

    Example:
        >>> from tinytorch.backends.numpy import NumpyBackend
        >>> class Mine(NumpyBackend):
        ...     name = "mine"
        >>> tt.register_backend("mine", Mine)
        >>> with tt.backend_context("mine"):
        ...     tt.get_backend()
        'mine'
    """
    if not isinstance(name, str):
        raise TypeError(f"register_backend: expected name to be a str, got {_describe(name)}")
    name = str(name).strip()
    if not name:
        raise ValueError("register_backend: expected a name, got only blanks")
    if loader is None:

        def decorator(made: _L) -> _L:
            register_backend(name, made, replace=replace, hint=hint)
            return made

        return decorator
    if not (isinstance(loader, (str, Backend)) or callable(loader)):
        raise TypeError(
            f"register_backend: expected the loader of {name!r} to be a Backend class, a "
            f"callable without arguments or 'module:attribute', got {_describe(loader)}"
        )
    _add_registration(_Registration(name, loader, hint), replace)
    return None


def _add_registration(new: _Registration, replace: bool) -> None:
    """Add a registration to the registry; with ``replace``, in place of one of the same name.

    A registration of the same loader, by a module that is executed again, is ignored.

    Raises:
        ValueError: If the name has another loader and ``replace`` is False.
    """
    with _lock:
        old = _find(_registry, new.name)
        if old is not None and not replace:
            if _same_source(old.loader, new.loader):
                return  # the module that registers this backend was imported again
            raise ValueError(
                f"register_backend: the name {new.name!r} is taken by {old.loader!r}; "
                "pass replace=True to put another backend in its place"
            )
        _registry[new.name] = new
        if old is not None and old.name != new.name:  # the same name in another case
            del _registry[old.name]


def _same_source(old: Any, new: Any) -> bool:
    """Whether two loaders are one definition, executed twice or not."""
    return bool(old == new) or (bool(_source(new)) and _source(old) == _source(new))


def _source(loader: Any) -> str:
    """``module:attribute`` where the loader is defined; empty if that is not unique."""
    if isinstance(loader, str):
        return loader
    name = str(getattr(loader, "__qualname__", "<unnamed>"))
    module = getattr(loader, "__module__", None)
    return "" if "<" in name or module is None else f"{module}:{name}"


def list_backends() -> list[str]:
    """Names of the registered backends, built-in ones first. Imports none of them.

    A listed backend may be unavailable on this machine; ``load`` raises then. ``meta``, which
    computes nothing, is not listed.

    Example:
        >>> tt.list_backends()[:2]
        ['numpy', 'cupy']
    """
    names = dict.fromkeys([*_registry, *_entry_points()])
    return [name for name in names if name not in _UNLISTED]


def registered() -> dict[str, Loader]:
    """Loaders that the program passed to ``register_backend``, by name.

    A ``Backend`` instance is replaced by its class: an instance is pickled as its name, which
    another process cannot resolve before it has registered the backend.

    Example:
        >>> from tinytorch import backends
        >>> "numpy" in backends.registered()
        False
    """
    return {
        name: type(found.loader) if isinstance(found.loader, Backend) else found.loader
        for name, found in _registry.items()
        if name not in _BUILT_IN
    }


def check(backend: object) -> BackendLike:
    """Return ``backend`` if it is a registered name, a Backend or a Backend class.

    Loads nothing, so that a scope can be created while its backend is unavailable.

    Raises:
        UnknownBackendError: If it is a name under which nothing is registered.
        TypeError: If it is anything else.

    Example:
        >>> from tinytorch import backends
        >>> backends.check("numpy")
        'numpy'
    """
    if isinstance(backend, str):
        _registration(backend)
        return backend
    if isinstance(backend, Backend) or _is_backend_class(backend):
        return backend  # type: ignore[return-value]  # the second test narrows nothing
    raise TypeError(
        "expected a backend's name, a BackendType, a Backend or a class of one; got "
        + ("None (reset_backend() undoes set_backend)" if backend is None else _describe(backend))
    )


def load(backend: BackendLike) -> Backend:
    """Return the backend that ``backend`` names: one instance for all threads.

    Args:
        backend: A registered name, a ``BackendType``, a ``Backend`` (returned as it is) or
            a class of one.

    Raises:
        UnknownBackendError: If no backend has that name.
        BackendUnavailableError: If its package or a usable device is missing.
        TypeError: If ``backend`` is none of the above.

    Example:
        >>> from tinytorch import backends
        >>> backends.load("numpy").name
        'numpy'
    """
    if isinstance(backend, str):
        found = _registry.get(backend)
        if found is None:
            found = _registration(backend)
        return found.load() if found.backend is None else found.backend
    if isinstance(backend, Backend):
        return backend
    return _load_class(check(backend))


def loaded(name: str) -> Backend | None:
    """Return the backend registered under ``name``, or None if it is not loaded. Loads nothing.

    Example:
        >>> from tinytorch import backends
        >>> backends.loaded("numpy") is backends.load("numpy")
        True
    """
    found = _find(_registry, name)
    return None if found is None else found.backend


def withdraw(backend: Backend, error: BackendUnavailableError) -> None:
    """Make every later ``load`` of ``backend`` raise ``error``.

    Called in a forked child, where locks that other threads of the parent held stay locked.
    """

    def fail() -> Backend:
        raise BackendUnavailableError(*error.args, backend=error.backend, reason=error.reason)

    for registration in (*_registry.values(), *_of_class.values()):
        if registration.backend is backend:
            registration.backend, registration.loader = None, fail
            registration.lock, registration.loading = threading.RLock(), False


def is_installed(name: str) -> bool | None:
    """Whether the package of a built-in array library is installed. Imports nothing.

    None for other backends, which have no such package or must be loaded to know.

    Example:
        >>> from tinytorch import backends
        >>> backends.is_installed("numpy") is None
        True
    """
    if name not in _ARRAY_LIBRARIES or name not in _registry:
        return None
    return name in sys.modules or PathFinder.find_spec(name) is not None


def find_backend_of_type(device_type: str) -> BackendLike:
    """Return a backend, or a name for ``load``, whose arrays live on devices of a type.

    The name of a registered backend is returned as it is. Otherwise the first backend, registered
    or of an imported class, that has this ``device_type`` is loaded. If there is none,
    ``device_type`` is returned, for which ``load`` raises.
    """
    if device_type not in _registry:
        for each in [*_registry.values(), *_of_class.values()]:
            if getattr(each.backend or each.loader, "device_type", None) == device_type:
                return each.load()
    return device_type


def _load_class(cls: Any) -> Backend:
    """Return the one backend of a ``Backend`` class, registered or not; create it on first use."""
    for registration in list(_registry.values()):
        if registration.loader is cls or registration.loader == _source(cls):
            return load(registration.name)
    name = getattr(cls, "name", cls.__name__)
    with _lock:
        registration = _of_class.setdefault(cls, _Registration(name, cls))
    return registration.load()


def _is_backend_class(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, Backend)


def _describe(value: object) -> str:
    """Type and repr of a value, for error messages."""
    return f"{type(value).__name__} {value!r}"


def _registration(name: str) -> _Registration:
    """Return the registration of ``name``, from the table or an installed distribution."""
    found = _find(_registry, name)
    if found is None:
        declared = _entry_points()
        known = _find({each: each for each in declared}, name)
        if known is None:
            raise _unknown(name)
        with _lock:
            found = _registry.setdefault(known, _Registration(known, declared[known]))
    return found


def _find(table: Mapping[str, _V], name: str) -> _V | None:
    """Return the entry of a name, ignoring case and surrounding blanks, or None."""
    found = table.get(name)
    if found is None:
        key = name.strip().casefold()
        key = _ALIASES.get(key, key)
        found = next((v for each, v in table.items() if each.casefold() == key), None)
    return found


def _unknown(name: str) -> UnknownBackendError:
    """Build the error for an unregistered name, with the registered name that is most similar."""
    from difflib import get_close_matches

    known = list_backends()
    folded = {each.casefold(): each for each in known}
    near = get_close_matches(name.casefold(), folded, n=1)
    guess = f". Did you mean {folded[near[0]]!r}?" if near else ""
    return UnknownBackendError(
        f"unknown backend {str(name)!r}; the registered backends are: {', '.join(known)}{guess}",
        name=str(name),
        known=tuple(known),
    )


def _is_declared() -> bool:
    """Whether the files of some installed distribution declare a backend.

    ``importlib.metadata`` parses those of all distributions, which takes fifty times as long.
    """
    section = f"[{GROUP}]".encode()
    for folder in dict.fromkeys(sys.path):
        try:
            with os.scandir(folder or ".") as entries:
                found = [e.path for e in entries if e.name.endswith((".dist-info", "gg-info"))]
        except FileNotFoundError:
            continue
        except OSError:  # perhaps a zip file, which only importlib.metadata can read
            return True
        for path in (*found, f"{folder or '.'}{os.sep}EGG-INFO"):
            try:
                with open(f"{path}{os.sep}entry_points.txt", "rb") as file:
                    if section in file.read():
                        return True
            except OSError:  # a distribution without entry points
                continue
    finders = [f for f in sys.meta_path if hasattr(f, "find_distributions")]
    return finders != [PathFinder]


def _entry_points() -> dict[str, str]:
    """Names and ``module:attribute`` of the backends that installed distributions declare."""
    if not _is_declared():
        return {}
    # Imported here because it costs more than the whole registry and few programs need it.
    from importlib.metadata import entry_points

    declared: dict[str, str] = {}
    for point in entry_points(group=GROUP):
        if declared.setdefault(point.name, point.value) != point.value:
            warn(
                f"two installed distributions declare a backend {point.name!r}: "
                f"{declared[point.name]} is used, {point.value} is not",
                RuntimeWarning,
            )
    return declared


def _import_attribute(source: str) -> Any:
    """Import the object that ``module:attribute`` names."""
    from importlib import import_module

    module, _, path = source.partition(":")
    found: Any = import_module(module)
    for attribute in path.split("."):
        try:
            found = getattr(found, attribute)
        except AttributeError:
            raise ImportError(f"module {module!r} has no {path!r}") from None
    return found


def _unavailable(name: str, error: Exception, hint: str) -> BackendUnavailableError:
    """Make the error for a loader that raised ``error``: the cause, and problem to do."""
    if isinstance(error, ModuleNotFoundError) and error.name:
        package = error.name.partition(".")[0]
        return BackendUnavailableError(
            f"backend {name!r} is not available: it needs the package {package!r}, which is "
            f"not installed; {hint or 'install it and ask again'}",
            backend=name,
            reason="not installed",
        )
    problem = "cannot be imported" if isinstance(error, ImportError) else "fails to load"
    return BackendUnavailableError(
        f"backend {name!r} is registered but broken, it {problem}: {type(error).__name__}: {error}",
        backend=name,
    )


def _check_backend(name: str, made: Any, *, fresh: bool) -> Backend:
    """Return the result of a loader, completed, if it is a ``Backend``; else raise.

    Args:
        name: The registered name.
        made: The loader's result.
        fresh: Whether the loader is a class, so that the backend was made for this name and is
            renamed; any other backend must have the registered name.
    """
    if not isinstance(made, Backend):
        raise TypeError(f"its loader must return a Backend, got {_describe(made)}")
    found = vars(made).get("name") or getattr(type(made), "name", None)
    if found != name:
        if not fresh:
            raise ValueError(
                f"its loader returned a backend named {found!r}; backends are reported and "
                "pickled by name, so the two must agree"
            )
        made.name = name
    if not hasattr(type(made), "library"):
        made.serve_library()
    return made


Backend.registry = sys.modules[__name__]
