"""Backends of array-API libraries: the contract of ``Backend`` over a ``ArrayLibrary``."""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any, ClassVar, Self

import numpy

from ... import dtypes
from ..base import Array
from ..default_operations import OUT_OF_BOUNDS, index_combine, scan
from ..deferred import DeferredChecks
from ..errors import BackendUnavailableError
from ..rng.mt19937 import NO_CHANCE, HostGenerator
from ..storage import WritableMemory
from .library import ArrayLibrary
from .names import Names
from .store import StoredArray

#: Bits of an address that number the elements of a store; the bits above number the store.
_ADDRESS_BITS = 40
#: List to which checks of values are appended instead of waiting: while a program is compiled.
CHECKS: ContextVar[list[Any] | None] = ContextVar("checks", default=None)
#: Whether draws are the library's, whatever ``own_random`` is: in programs that are compiled.
OWN_DRAWS: ContextVar[bool] = ContextVar("own_draws", default=False)


class StandardBackend(WritableMemory, DeferredChecks):
    """Backend of a library that follows the array API standard.

    Kernels get arrays with NumPy's interface (``StandardArray``) over the library's. A subclass
    sets ``module`` or overrides ``open``; ``standard_backend`` makes one.

    Attributes:
        module: Module with the standard's functions.
        adapter: Class of the functions on raw arrays.
        raw_library: An instance of ``adapter``.
        library: NumPy's functions by those of ``raw_library``.
        own_random: Whether uniform, normal and Bernoulli numbers are the library's, which draws
            them where its arrays are. Default: False, for PyTorch's numbers.
    """

    module: ClassVar[str]
    adapter: ClassVar[type[ArrayLibrary]] = ArrayLibrary
    device_type = "cpu"
    truncates_slices = True
    own_random = False
    low: frozenset[dtypes.dtype] = frozenset()
    library: Names

    def __init__(self) -> None:
        super().__init__()
        self.raw_library: ArrayLibrary = self.open()
        self.library = Names(self.raw_library)
        self.array_type: type[Any] = self.library.array_type
        self._kernels: dict[str, Callable[..., Any]] | None = None

    def open(self) -> ArrayLibrary:
        """Import the library and return its functions on raw arrays."""
        namespace = importlib.import_module(self.module)
        package = importlib.import_module(self.module.partition(".")[0])
        version = getattr(package, "__version__", "unknown")
        array_class = type(namespace.zeros((1,)))
        return self.adapter(self.name, namespace, array_class, str(version))

    def serve_library(self) -> None:
        """Do nothing: ``__getattr__`` looks the library's names up on first use."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "library" not in self.__dict__:
            raise AttributeError(name)
        value = getattr(self.library, name)
        setattr(self, name, value)
        return value

    # -- raw arrays -------------------------------------------------------------------------

    def adopt(self, data: Any) -> Any:
        is_raw = isinstance(data, self.raw_library.array_class)
        return self.library.wrap(data) if is_raw else data

    def unwrap(self, tensor: Any) -> Any:
        """Return the library's array that a tensor, or an array of this backend, holds."""
        return getattr(tensor, "_data", tensor).raw

    @property
    def host_copies(self) -> int:
        """Number of copies of elements from this backend to the host."""
        return self.library.host_copies

    @property
    def fallbacks(self) -> Counter[str]:
        """Number of computations by NumPy on the host, by function."""
        return self.library.fallbacks

    def on_device(self, device_type: str) -> Self | None:
        if device_type == "cuda" != self.device_type:
            raise BackendUnavailableError(
                f"backend {self.name!r} is active, and its library has no CUDA device here; "
                "tensors of CuPy need set_backend('cupy')",
                backend=self.name,
                reason="no device",
            )
        return self if device_type == self.device_type else None

    # -- dtypes and conversion --------------------------------------------------------------

    def supports(self, dtype: dtypes.dtype) -> bool:
        if dtype in dtypes.LOW:
            return dtype in self.low and super().supports(dtype)
        return dtype.dtype in self.raw_library.native

    def exposes(self, dtype: dtypes.dtype) -> bool:
        return True  # a program may name a dtype that it does not use on this backend

    def native_dtype(self, dtype: dtypes.dtype) -> Any:
        found = super().native_dtype(dtype)
        self.raw_library.native_dtype(found)  # raises if the user's settings exclude it
        return found

    def to_numpy(self, array: Array) -> numpy.ndarray[Any, Any]:
        host: numpy.ndarray[Any, Any] = array.host()
        if self._pending:
            self.raise_pending()
        return host

    def from_numpy(self, array: numpy.ndarray[Any, Any]) -> Array:
        return self.library.wrap(self.raw_library.from_host(array))

    def item(self, array: Array) -> Any:
        value = array.item()
        if self._pending:
            self.raise_pending()
        return value

    # -- memory -----------------------------------------------------------------------------

    def is_view(self, out: Array, source: Array) -> bool:
        return out is source or bool(self.owner(out) == self.owner(source))

    def owner(self, array: Array) -> Any:
        is_stored = isinstance(array, StoredArray)
        return array.store.key if is_stored else array.library.owner(array.raw)

    def address(self, array: Array) -> int:
        if isinstance(array, StoredArray):
            return (array.store.key << _ADDRESS_BITS) + array.offset * array.dtype.itemsize
        return int(array.library.address(array.raw))

    def memory(self, array: Array) -> tuple[Array, int] | None:
        if not array.size or min(array.steps(), default=0) < 0:
            return None
        if isinstance(array, StoredArray):
            return array.whole(), array.offset
        whole, offset = array.library.memory(array.raw)
        return type(array)(whole, array if array.base is None else array.base), offset

    def as_strided(self, array: Array, shape: Sequence[int], strides: Sequence[int]) -> Array:
        itemsize = array.dtype.itemsize
        steps = tuple([int(step) // itemsize for step in strides])
        return array.window(0, tuple([int(size) for size in shape]), steps)

    # -- checks of values -------------------------------------------------------------------

    def check_indices(
        self, name: str, index: Array, size: int, dim: int, negative: bool = True,
        text: str = OUT_OF_BOUNDS, error: type[Exception] = IndexError,
    ) -> None:  # fmt: skip
        if self._can_check(index):
            super().check_indices(name, index, size, dim, negative, text, error)

    def check_extremes(self, name: str, extremes: Array, size: int, dim: int, text: str) -> None:
        if extremes is not None and self._can_check(extremes):  # None: the kernel checks
            super().check_extremes(name, extremes, size, dim, text)

    def check_all(self, valid: Array, message: str) -> None:
        if self._can_check(valid):
            super().check_all(valid, message)

    def _can_check(self, array: Array) -> bool:
        """Whether the elements of an array can be read, now or later."""
        if isinstance(array, numpy.ndarray) or CHECKS.get() is not None:
            return True
        return self.raw_library.has_values(array.raw)

    def _defer(self, answer: Array, check: Callable[[Any], None]) -> None:
        collected = CHECKS.get()
        if collected is not None:
            collected.append((answer.raw, check))
            return
        if self.raw_library.lazy:  # computed again by every reading, so not later
            check(answer.host())
            return
        self._pending.append((answer, check, None))
        if len(self._pending) >= _MOST_PENDING:
            self.raise_pending()

    def _fetch(self, pending: list[Any]) -> list[Any]:
        return [answer.host().reshape(-1) for answer, _, _ in pending]

    # -- operations -------------------------------------------------------------------------

    def diagonal(self, array: Array, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
        return self.library.diagonal(array, offset, axis1, axis2)

    def total(self, array: Array) -> Any:
        integers = array.dtype.kind in "biu"
        return self.library.sum(array, dtype=_INT64 if integers else None)

    def write_zeros(self, target: Array) -> None:
        target[...] = 0

    def index_add(self, target: Array, index: Any, values: Array) -> None:
        self.library.add.at(target, index, values)

    def index_combine(self, name: str, target: Array, index: Array, values: Array) -> None:
        if target.size and index.size:
            index_combine(self, getattr(self.library, name), target, index, values)

    def accumulate(self, name: str, array: Array, axis: int) -> Array:
        return scan(self, getattr(self.library, name), array, axis)

    def special(self, name: str) -> Callable[..., Array]:
        own = self.raw_library.function(f"special.{name}")
        if own is not None:
            return self.library.on_raw(own)
        function = super().special(name)
        is_scipy = isinstance(function, numpy.ufunc) or "scipy" in str(
            getattr(function, "__module__", "")
        )
        return self.library.on_host(f"special.{name}", function) if is_scipy else function

    def kernel(self, name: str) -> Callable[..., Any] | None:
        if self._kernels is None:
            self._kernels = self.raw_library.kernels(self)
        return self._kernels.get(name)

    def synchronize(self) -> None:
        self.raise_pending()

    def check_state(self, array: Array) -> None:
        if self.traces:
            array.check_trace()

    def check_not_compiling(self, what: str) -> None:
        if self.raw_library.is_compiling():
            raise RuntimeError(
                f"{what} while {self.name} traces a function: this would happen once, and not in "
                "each later call. Do it outside and pass the results as arguments"
            )

    def make_generator(self, seed: int) -> Any:
        return StandardGenerator(self, seed)

    def info(self) -> dict[str, str]:
        return {"library": self.module, "version": self.raw_library.version}


_MOST_PENDING = 1024
_INT64 = numpy.dtype("int64")


class StandardGenerator(HostGenerator):
    """PyTorch's random streams, drawn on the host, or numbers of the library.

    The library's numbers are drawn from a key, which is taken from PyTorch's stream. So seeds and
    states of the generator work in both cases.

    A function that is compiled would contain the numbers drawn while it is traced, so a draw
    raises there.
    """

    _backend: Any

    def uniform(
        self, shape: Sequence[int], dtype: Any, low: float = 0.0, high: float = 1.0
    ) -> Array:
        """See ``TorchMT19937``."""
        found = self._draw("uniform", shape, dtype)
        if found is None or (low == 0 and high == 1):
            return super().uniform(shape, dtype, low, high) if found is None else found
        found = found * (high - low) + low
        return self._library.where(found >= high, found.dtype.type(low), found)

    def normal(
        self, shape: Sequence[int], dtype: Any, mean: float = 0.0, std: float = 1.0,
        contiguous: bool = True,
    ) -> Array:  # fmt: skip
        """See ``TorchMT19937``."""
        found = self._draw("normal", shape, dtype)
        if found is None:
            return super().normal(shape, dtype, mean, std, contiguous)
        return found if mean == 0 and std == 1 else found * std + mean

    def bernoulli(self, p: float | Array, shape: Sequence[int], dtype: Any) -> Array:
        """See ``TorchMT19937``."""
        if not isinstance(p, (int, float)):
            self._check_all((p >= 0) & (p <= 1), NO_CHANCE)
        found = self._draw("uniform", shape, numpy.dtype("float32"))
        return super().bernoulli(p, shape, dtype) if found is None else (found < p).astype(dtype)

    def _draw(self, name: str, shape: Sequence[int], dtype: Any) -> Array | None:
        """Numbers of the library, or None to take PyTorch's."""
        backend = self._backend
        if not (backend.own_random or OWN_DRAWS.get()) or numpy.dtype(dtype).char not in "fd":
            return None
        library: ArrayLibrary = backend.raw_library
        if type(library).draw is ArrayLibrary.draw:
            return None
        self._check_not_compiling()
        raw = library.draw(name, self._next_key(), tuple(map(int, shape)), numpy.dtype(dtype))
        return backend.library.wrap(raw)

    def _next_key(self) -> Any:
        """Key of the library's next numbers, from PyTorch's stream."""
        with self._lock:
            return int(self._double_words(1)[0]) >> 1

    def _place(self, array: numpy.ndarray[Any, Any]) -> Array:
        self._check_not_compiling()
        return super()._place(array)

    def manual_seed(self, seed: int) -> None:
        """See ``Words``."""
        self._check_not_compiling()
        super().manual_seed(seed)

    def _check_not_compiling(self) -> None:
        """Raise RuntimeError while the library traces a function."""
        self._backend.check_not_compiling("random numbers are drawn or seeded")


def standard_backend(
    module: str, *, name: str | None = None, library: type[ArrayLibrary] = ArrayLibrary
) -> type[StandardBackend]:
    """Create the backend class of a library that follows the array API standard.

    Args:
        module: Module with the standard's functions, such as ``"array_api_strict"``; imported
            when the backend is first used.
        name: Name of the backend. Default: that of the package.
        library: Subclass of ``ArrayLibrary`` for what the library does differently or faster.

    Returns:
        A class for ``register_backend``.

    Example:
        >>> from tinytorch.backends import standard_backend
        >>> strict = standard_backend("array_api_strict")
        >>> strict.name
        'array_api_strict'
    """
    name = module.partition(".")[0] if name is None else name
    members = {
        "name": name, "module": module, "adapter": library, "__module__": __name__,
        "__doc__": f"Backend over ``{module}``.",
    }  # fmt: skip
    title = "".join(word.capitalize() for word in name.split("_"))
    return type(f"{title}Backend", (StandardBackend,), members)
