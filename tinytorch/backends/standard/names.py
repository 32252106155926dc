"""NumPy's functions over another library: conversion, creation, shapes and selection.

``Names`` is the ``library`` of a ``StandardBackend``, the namespace that kernels call by NumPy's
names. A name that is not defined here, in ``reductions.py`` or as a ufunc is the library's own of
the same arguments, if it has one, or else NumPy's on the host, which is counted.
"""

from __future__ import annotations

import math
import types
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy

from ..storage import dense_order
from .array import StandardArray
from .library import DTYPES, REDUCTIONS, Dtype, ArrayLibrary, Raw
from .reductions import Reductions
from .store import StoredArray
from .strided import StridedArray
from .submodules import Submodule
from .ufuncs import StandardUfunc

#: Whether computing on the host raises.
_FORBIDDEN: ContextVar[bool] = ContextVar("forbidden", default=False)
_OF_NUMPY = (
    "pi e inf nan newaxis intp finfo iinfo dtype broadcast_shapes exceptions can_cast"
).split() + list(DTYPES)


@contextmanager
def forbid_fallbacks() -> Iterator[None]:
    """Raise RuntimeError where a backend of another library would compute on the host.

    Example:
        >>> from tinytorch.backends.standard import forbid_fallbacks
        >>> with forbid_fallbacks():
        ...     pass
    """
    token = _FORBIDDEN.set(True)
    try:
        yield
    finally:
        _FORBIDDEN.reset(token)


class Names(Reductions, types.ModuleType):
    """NumPy's functions over a library.

    Args:
        library: Functions on raw arrays.

    Attributes:
        array_type: Class of the arrays, a subclass of ``StandardArray``.
        host_copies: Number of copies of elements to the host.
        fallbacks: Number of computations by NumPy on the host, by function.
    """

    ndarray: type[Any]
    wrap: type[Any]
    linalg: Submodule
    fft: Submodule
    __version__: str

    def __init__(self, library: ArrayLibrary) -> None:
        super().__init__(library.name)
        self.library = library
        self.reductions = {name: library.reduction(name) for name in REDUCTIONS}
        base: type[StandardArray] = StridedArray if library.strided else StoredArray
        members = {"__slots__": (), "names": self, "library": library}
        if library.strided:
            members["numpy_dtypes"] = library.numpy_dtypes
        self.array_type: type[Any] = type("ndarray", (base,), members)
        self.ndarray = self.wrap = self.array_type
        self.linalg, self.fft = Submodule(self, "linalg"), Submodule(self, "fft")
        self.__version__ = library.version
        self.host_copies = 0
        self.fallbacks: Counter[str] = Counter()
        self._scalars: dict[Any, Raw] = {}
        for name in _OF_NUMPY:
            setattr(self, name, getattr(numpy, name))

    def __getattr__(self, name: str) -> Any:
        twin = None if name.startswith("__") else getattr(numpy, name, None)
        if twin is None:
            raise AttributeError(f"backend {self.library.name!r} has no {name!r}")
        value = self._find(name, twin)
        setattr(self, name, value)
        return value

    def _find(self, name: str, twin: Any) -> Any:
        """Return the object for a name of NumPy's that this class does not define."""
        if isinstance(twin, numpy.ufunc):
            return StandardUfunc(self, name).as_function()
        if not callable(twin) or isinstance(twin, type):
            return twin
        own = self.library.function(name)
        return self.on_host(name, twin) if own is None else self.on_raw(own)

    # -- operands ---------------------------------------------------------------------------

    def operand(self, value: Any) -> tuple[Any, Any]:
        """Return a key for promotion and the operand: a Python scalar's class, or a dtype."""
        for kind in (bool, int, float, complex):
            if isinstance(value, kind) and not isinstance(value, numpy.generic):
                return kind, value
        if isinstance(value, StandardArray):
            return value.dtype, value.raw
        if isinstance(value, numpy.generic):
            return value.dtype, self.library.scalar(value.item(), value.dtype)
        raise TypeError(f"Unsupported type {type(value)}")

    def fit_operand(self, value: Any, key: Any, dtype: Dtype) -> Raw:
        """Cast an operand, a raw array or Python scalar, to a dtype."""
        if key.__class__ is not type:
            return self.library.astype(value, dtype)
        sign = math.copysign(1.0, value) if key is float else 1.0
        cached = (value, key, dtype, sign)
        found = self._scalars.get(cached)
        if found is None:
            found = self.library.scalar(value, dtype)
            if len(self._scalars) < 1000 and self.library.caches_scalars:
                self._scalars[cached] = found
        return found

    def operand_of(self, value: Any, dtype: Dtype) -> Raw:
        """Return ``value`` as a raw array of ``dtype``, to be written to an array."""
        if isinstance(value, StandardArray):
            return value.raw if value.dtype == dtype else self.library.astype(value.raw, dtype)
        if isinstance(value, (numpy.ndarray, numpy.generic, list, tuple)):
            return self.asarray(value).astype(dtype, copy=False).raw
        if isinstance(value, (float, complex)) and dtype.kind in "biu":
            return self.library.scalar(numpy.asarray(value).astype(dtype).item(), dtype)
        return self.library.scalar(value, dtype)

    def raw_key(self, key: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return a key with raw arrays of int64 or bool, and Python's integers and slices."""
        return tuple(map(self._raw_item, key))

    def _raw_item(self, item: Any) -> Any:
        if isinstance(item, StandardArray):
            return item.raw if item.dtype.kind == "b" else self.library.as_index(item.raw)
        if isinstance(item, slice):
            ends = item.start, item.stop, item.step
            return slice(*[None if end is None else int(end) for end in ends])
        if isinstance(item, (numpy.ndarray, list, tuple)):
            host = numpy.asarray(item)
            host = host if host.dtype.kind == "b" else host.astype("int64")
            return self.library.from_host(host)
        if isinstance(item, (bool, numpy.bool_)):
            return bool(item)
        return int(item) if isinstance(item, numpy.integer) else item

    def cast(self, raw: Raw, dtype: Dtype) -> Raw:
        """Cast a raw array if its dtype is another."""
        same = self.library.numpy_dtype(raw.dtype) == dtype
        return raw if same else self.library.astype(raw, dtype)

    def wrap_as(self, raw: Raw, dtype: Dtype) -> Any:
        """Wrap a raw array, cast to a dtype."""
        return self.wrap(self.cast(raw, dtype))

    def write_out(self, out: Any, raw: Raw, where: Any = True) -> Any:
        """Write a raw result to ``out``, cast as NumPy casts results, and return ``out``."""
        if out.__class__ is tuple:
            (out,) = out
        have = self.library.numpy_dtype(raw.dtype)
        if not numpy.can_cast(have, out.dtype, "same_kind"):
            raise TypeError(f"Cannot cast output operand from {have!r} to {out.dtype!r}")
        shape = tuple(raw.shape)
        if shape != out.shape and numpy.broadcast_shapes(shape, out.shape) != out.shape:
            raise ValueError(f"Out shape is mismatched: expected {shape}, got {out.shape}")
        raw = self.cast(raw, out.dtype)
        if where is not True:
            raw = self.library.where(self.asarray(where).raw, raw, out.raw)
        out.write(raw)
        return out

    def finish(self, raw: Raw, out: Any) -> Any:
        """Wrap a raw result, or write it to ``out``."""
        return self.wrap(raw) if out is None else self.write_out(out, raw)

    # -- the host ---------------------------------------------------------------------------

    def note_fallback(self, name: str) -> None:
        """Count a computation on the host; raise RuntimeError where these are forbidden."""
        if _FORBIDDEN.get():
            raise RuntimeError(
                f"backend {self.library.name!r}: {name} is computed by NumPy on the host, which "
                "forbid_fallbacks() forbids here"
            )
        self.fallbacks[name] += 1

    def to_host_as_fallback(self, name: str, array: Any) -> numpy.ndarray[Any, Any]:
        """Copy an array to the host for the function ``name``, and count it."""
        self.note_fallback(name)
        return array.host()  # type: ignore[no-any-return]

    def view_on_host(self, raw: Raw, dtype: Dtype) -> Raw:
        """Reinterpret bits on the host."""
        host = numpy.ascontiguousarray(self.to_host_as_fallback("view", self.wrap(raw)))
        return self.library.from_host(host.reshape(raw.shape).view(dtype))

    def join_complex(self, real: Raw, imag: Raw) -> Raw:
        """Complex numbers of given parts; on the host if the library has no function for it."""
        joined = self.library.join_complex(real, imag)
        if joined is not None:
            return joined
        parts = [self.to_host_as_fallback("join_complex", self.wrap(x)) for x in (real, imag)]
        host = numpy.empty(tuple(real.shape), numpy.result_type(parts[0], numpy.complex64))
        host.real, host.imag = parts
        return self.library.from_host(host)

    def host_function(self, name: str, twin: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function of raw arrays that NumPy computes on the host."""

        def call(*raws: Raw) -> Any:
            self.note_fallback(name)
            hosts = [self.wrap(raw).host() for raw in raws]
            with numpy.errstate(all="ignore"):
                made = twin(*hosts)
            several = made.__class__ is tuple
            arrays = [
                self.library.from_host(numpy.asarray(x)) for x in (made if several else [made])
            ]
            return tuple(arrays) if several else arrays[0]

        return call

    def on_host(self, name: str, twin: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that copies arrays to the host and calls NumPy's function ``twin``."""

        def call(*args: Any, out: Any = None, **options: Any) -> Any:
            self.note_fallback(name)
            with numpy.errstate(all="ignore"):
                made = twin(*self.to_host(args), **self.to_host(options))
            made = self.from_host(made)
            return made if out is None else self.write_out(out, made.raw)

        return call

    def on_raw(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function of arrays that calls the library's with raw arrays."""

        def call(*args: Any, out: Any = None, **options: Any) -> Any:
            given = {name: value for name, value in options.items() if value is not None}
            made = self.library.call(function, self.unwrap(args), self.unwrap(given))
            made = self.wrap_all(made)
            return made if out is None else self.write_out(out, made.raw)

        return call

    def to_host(self, value: Any) -> Any:
        """Copy the arrays in an argument to the host."""
        return _map(lambda x: x.host() if isinstance(x, StandardArray) else x, value)

    def from_host(self, value: Any) -> Any:
        """Convert the NumPy arrays in a result."""

        def convert(x: Any) -> Any:
            is_numpy = isinstance(x, (numpy.ndarray, numpy.generic))
            return self.wrap(self.library.from_host(numpy.asarray(x))) if is_numpy else x

        return _map(convert, value)

    def unwrap(self, value: Any) -> Any:
        """Return an argument with raw arrays and the library's dtypes."""

        def convert(x: Any) -> Any:
            if isinstance(x, StandardArray):
                return x.raw
            if isinstance(x, numpy.ndarray):
                return self.library.from_host(x)
            is_dtype = isinstance(x, numpy.dtype) or (
                isinstance(x, type) and issubclass(x, numpy.generic)
            )
            return self.library.native_dtype(numpy.dtype(x)) if is_dtype else x

        return _map(convert, value)

    def wrap_all(self, value: Any) -> Any:
        """Wrap the raw arrays in a result."""
        cls = self.library.array_class
        return _map(lambda x: self.wrap(x) if isinstance(x, cls) else x, value)

    def asnumpy(self, array: Any) -> numpy.ndarray[Any, Any]:
        """Copy an array to the host."""
        return array.host()  # type: ignore[no-any-return]

    # -- creation ---------------------------------------------------------------------------

    def asarray(self, a: Any, dtype: Any = None, order: Any = None, *, copy: Any = None) -> Any:
        """Convert to an array, without a copy where possible."""
        if isinstance(a, StandardArray):
            if dtype is None or numpy.dtype(dtype) == a.dtype:
                return a.copy() if copy else a
            return a.astype(dtype)
        if isinstance(a, self.library.array_class):
            return self.asarray(self.wrap(a), dtype, copy=copy)
        if isinstance(a, (list, tuple)) and _holds_array(a):
            return self.stack([self.asarray(x, dtype) for x in a])
        is_numpy = isinstance(a, numpy.ndarray)
        host = a if is_numpy and dtype is None and not copy else numpy.array(a, dtype)
        return self.wrap(self.library.from_host(host))

    def array(
        self, obj: Any, dtype: Any = None, copy: Any = True, order: Any = "K", subok: bool = False,
        ndmin: int = 0,
    ) -> Any:  # fmt: skip
        """Convert to an array, by default a copy."""
        if isinstance(obj, StandardArray):
            dtype = obj.dtype if dtype is None else numpy.dtype(dtype)
            keeps_order = order in ("K", "A")
            axes = dense_order(obj) if keeps_order and not obj.is_row_major() else None
            copy = bool(copy) or not (keeps_order or obj.is_row_major())
            if axes is not None and (copy or dtype != obj.dtype):
                part = obj.transpose(axes).astype(dtype)
                out = part.transpose(sorted(range(obj.ndim), key=axes.__getitem__))
            else:
                out = obj.astype(dtype, copy=copy)
        else:
            out = self.asarray(obj, dtype, copy=True)
        return out.reshape((1,) * (ndmin - out.ndim) + out.shape) if ndmin > out.ndim else out

    def ascontiguousarray(self, a: Any, dtype: Any = None) -> Any:
        """Convert to a row-major array of at least one dimension."""
        a = self.atleast_1d(self.asarray(a, dtype))
        return a if a.is_row_major() else a.copy()

    asfortranarray = ascontiguousarray

    def _fill(self, shape: Any, value: Any, dtype: Any) -> Any:
        """Create an array filled with a Python scalar."""
        shape = (shape,) if isinstance(shape, (int, numpy.integer)) else shape
        shape = tuple([int(size) for size in shape])
        if min(shape, default=0) < 0:
            raise ValueError("negative dimensions are not allowed")
        dtype = numpy.dtype(float if dtype is None else dtype)
        return self.wrap(self.library.full(shape, value, dtype))

    def zeros(self, shape: Any, dtype: Any = None, order: Any = "C") -> Any:
        """Zeros of a shape."""
        return self._fill(shape, 0, dtype)

    def empty(self, shape: Any, dtype: Any = None, order: Any = "C") -> Any:
        """Zeros: the standard has no uninitialized memory that may be read."""
        return self._fill(shape, 0, dtype)

    def ones(self, shape: Any, dtype: Any = None, order: Any = "C") -> Any:
        """Ones of a shape."""
        return self._fill(shape, 1, dtype)

    def full(self, shape: Any, fill_value: Any, dtype: Any = None, order: Any = "C") -> Any:
        """Array filled with a value, which may be an array that broadcasts."""
        if isinstance(fill_value, StandardArray):
            out = self.empty(shape, fill_value.dtype if dtype is None else dtype)
            out[...] = fill_value
            return out
        dtype = numpy.asarray(fill_value).dtype if dtype is None else dtype
        value = fill_value.item() if isinstance(fill_value, numpy.generic) else fill_value
        return self._fill(shape, value, dtype)

    def _fill_like(self, a: Any, value: Any, dtype: Any, order: Any, shape: Any) -> Any:
        """Create an array like ``a``, in its memory order if ``order`` is ``"K"`` or ``"A"``."""
        dtype = a.dtype if dtype is None else dtype
        axes = None
        if shape is None and order in ("K", "A") and not a.is_row_major():
            axes = dense_order(a)
        if axes is None:
            return self._fill(a.shape if shape is None else shape, value, dtype)
        out = self._fill([a.shape[axis] for axis in axes], value, dtype)
        return out.transpose(sorted(range(a.ndim), key=axes.__getitem__))

    def zeros_like(
        self, a: Any, dtype: Any = None, order: Any = "K", subok: Any = None, shape: Any = None
    ) -> Any:
        """Zeros of the shape and dtype of ``a``."""
        return self._fill_like(a, 0, dtype, order, shape)

    empty_like = zeros_like

    def ones_like(
        self, a: Any, dtype: Any = None, order: Any = "K", subok: Any = None, shape: Any = None
    ) -> Any:
        """Ones of the shape and dtype of ``a``."""
        return self._fill_like(a, 1, dtype, order, shape)

    def full_like(
        self, a: Any, fill_value: Any, dtype: Any = None, order: Any = "K", subok: Any = None,
        shape: Any = None,
    ) -> Any:  # fmt: skip
        """Array of the shape and dtype of ``a``, filled with a value."""
        shape = a.shape if shape is None else shape
        return self.full(shape, fill_value, a.dtype if dtype is None else dtype)

    def arange(self, *args: Any, dtype: Any = None) -> Any:
        """Evenly spaced numbers, computed by NumPy and copied to the device."""
        args = tuple([x.item() if isinstance(x, StandardArray) else x for x in args])
        return self.wrap(self.library.from_host(numpy.arange(*args, dtype=dtype)))

    def linspace(self, start: Any, stop: Any, num: int = 50, **options: Any) -> Any:
        """Evenly spaced numbers, computed by NumPy and copied to the device."""
        linspace: Any = numpy.linspace
        return self.from_host(linspace(*self.to_host((start, stop)), num, **options))

    def eye(self, n: int, m: int | None = None, k: int = 0, dtype: Any = float) -> Any:
        """Ones on a diagonal."""
        return self.wrap(self.library.from_host(numpy.eye(n, m, k, dtype)))

    def indices(self, *args: Any, **options: Any) -> Any:
        """Indices of a grid."""
        return self.from_host(numpy.indices(*args, **options))

    # -- shapes -----------------------------------------------------------------------------

    def reshape(self, a: Any, shape: Any, order: Any = "C", copy: Any = None) -> Any:
        """View or copy of another shape."""
        return a.reshape(shape)

    def transpose(self, a: Any, axes: Any = None) -> Any:
        """View with permuted dimensions."""
        return a.transpose(axes)

    permute_dims = transpose

    def swapaxes(self, a: Any, axis1: int, axis2: int) -> Any:
        """View with two dimensions exchanged."""
        return a.swapaxes(axis1, axis2)

    def moveaxis(self, a: Any, source: Any, destination: Any) -> Any:
        """View with dimensions at other positions."""
        pairs = [_as_axes(each, a.ndim) for each in (source, destination)]
        order = [d for d in range(a.ndim) if d not in pairs[0]]
        for to, come in sorted(zip(pairs[1], pairs[0], strict=True)):
            order.insert(to, come)
        return a.transpose(order)

    def ravel(self, a: Any, order: Any = "C") -> Any:
        """View or copy of one dimension."""
        return a.reshape(-1)

    def expand_dims(self, a: Any, axis: Any) -> Any:
        """View with more dimensions of size 1."""
        count = 1 if isinstance(axis, int) else len(axis)
        ndim = a.ndim + count
        axes = _as_axes(axis, ndim)
        return a.slice(tuple([None if d in axes else slice(None) for d in range(ndim)]))

    def squeeze(self, a: Any, axis: Any = None) -> Any:
        """View without dimensions of size 1."""
        return a.squeeze(axis)

    def broadcast_to(self, a: Any, shape: Any) -> Any:
        """View of another shape in which elements repeat."""
        shape = (shape,) if isinstance(shape, int) else tuple([int(size) for size in shape])
        a = self.asarray(a)
        if numpy.broadcast_shapes(a.shape, shape) != shape:
            raise ValueError(
                f"operands could not be broadcast together with remapped shapes {a.shape} {shape}"
            )
        return a.expand(shape)

    def broadcast_arrays(self, *arrays: Any) -> tuple[Any, ...]:
        """Views of a common shape."""
        shape = numpy.broadcast_shapes(*[a.shape for a in arrays])
        return tuple([self.broadcast_to(a, shape) for a in arrays])

    def atleast_1d(self, a: Any) -> Any:
        """View of at least one dimension."""
        return a if a.ndim else a.reshape(1)

    def shape(self, a: Any) -> tuple[int, ...]:
        """Shape of an array, a scalar or nested sequences."""
        return a.shape if isinstance(a, StandardArray) else numpy.shape(a)

    def ndim(self, a: Any) -> int:
        """Number of dimensions."""
        return len(self.shape(a))

    def result_type(self, *operands: Any) -> Dtype:
        """Dtype of a result, by NumPy's rules."""
        return numpy.result_type(
            *[x.dtype if isinstance(x, StandardArray) else x for x in operands]
        )

    def concatenate(
        self, arrays: Sequence[Any], axis: int | None = 0, out: Any = None, dtype: Any = None
    ) -> Any:
        """Join arrays along a dimension."""
        arrays = [self.asarray(a) for a in arrays]
        if axis is None:
            arrays, axis = [a.reshape(-1) for a in arrays], 0
        if len({a.ndim for a in arrays}) != 1:
            raise ValueError("all the input array dimensions must match exactly")
        dtype = self.result_type(*arrays) if dtype is None else numpy.dtype(dtype)
        raws = [a.astype(dtype, copy=False).raw for a in arrays]
        return self.finish(self.library.concatenate(raws, axis % arrays[0].ndim), out)

    concat = concatenate

    def stack(self, arrays: Sequence[Any], axis: int = 0) -> Any:
        """Join arrays of one shape along a new dimension."""
        arrays = [self.asarray(a) for a in arrays]
        axis %= arrays[0].ndim + 1
        return self.concatenate([self.expand_dims(a, axis) for a in arrays], axis)

    def split(self, a: Any, sections: Any, axis: int = 0) -> list[Any]:
        """Views of consecutive parts."""
        size, lead = a.shape[axis], (slice(None),) * (axis % a.ndim)
        whole = isinstance(sections, int)
        ends = [size // sections * i for i in range(1, sections)] if whole else list(sections)
        bounds = zip([0, *ends], [*ends, size], strict=True)
        return [a[(*lead, slice(start, stop))] for start, stop in bounds]

    def flip(self, a: Any, axis: Any = None) -> Any:
        """Copy with reversed dimensions."""
        axes = tuple(range(a.ndim)) if axis is None else tuple(_as_axes(axis, a.ndim))
        return self.wrap(self.library.flip(a.raw, axes))

    def roll(self, a: Any, shift: Any, axis: Any = None) -> Any:
        """Rotate elements."""
        return self.wrap(self.library.roll(a.raw, shift, axis))

    def repeat(self, a: Any, repeats: Any, axis: int | None = None) -> Any:
        """Repeat elements; counts in an array are read by the host."""
        if axis is None:
            a, axis = a.reshape(-1), 0
        counts = repeats.host() if isinstance(repeats, StandardArray) else numpy.asarray(repeats)
        return self.take(a, numpy.repeat(numpy.arange(a.shape[axis]), counts), axis)

    def tile(self, a: Any, reps: Any) -> Any:
        """Repeat the whole array."""
        reps = (reps,) if isinstance(reps, int) else tuple(reps)
        ndim = max(a.ndim, len(reps))
        reps = (1,) * (ndim - len(reps)) + reps
        shape = (1,) * (ndim - a.ndim) + a.shape
        pairs = [size for pair in zip([1] * ndim, shape, strict=True) for size in pair]
        wide = [size for pair in zip(reps, shape, strict=True) for size in pair]
        result = [count * size for count, size in zip(reps, shape, strict=True)]
        return self.broadcast_to(a.reshape(pairs), wide).copy().reshape(result)

    def tril(self, a: Any, k: int = 0) -> Any:
        """Lower triangle; the rest is 0."""
        return self._mask(a, numpy.tri(a.shape[-2], a.shape[-1], k, bool))

    def triu(self, a: Any, k: int = 0) -> Any:
        """Upper triangle; the rest is 0."""
        return self._mask(a, ~numpy.tri(a.shape[-2], a.shape[-1], k - 1, bool))

    def _mask(self, a: Any, mask: numpy.ndarray[Any, Any]) -> Any:
        """``a`` where a mask of the host is True, else 0."""
        return self.where(self.wrap(self.library.from_host(mask)), a, a.dtype.type(0))

    def meshgrid(self, *arrays: Any, indexing: str = "xy", **options: Any) -> tuple[Any, ...]:
        """Coordinates of a grid."""
        order = list(range(len(arrays)))
        if indexing == "xy" and len(arrays) > 1:
            order[:2] = [1, 0]
        shape = tuple([arrays[i].size for i in order])
        lines = [a.reshape([-1 if i == at else 1 for i in order]) for at, a in enumerate(arrays)]
        return tuple([self.broadcast_to(line, shape).copy() for line in lines])

    def diagonal(self, a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
        """View of the diagonals of two dimensions as the last one."""
        x, y = axis1 % a.ndim, axis2 % a.ndim
        steps, rest = a.steps(), [d for d in range(a.ndim) if d not in (x, y)]
        rows, columns = a.shape[x] + min(offset, 0), a.shape[y] - max(offset, 0)
        count = max(0, min(rows, columns))
        start = max(offset, 0) * steps[y] - min(offset, 0) * steps[x] if count else 0
        shape = *(a.shape[d] for d in rest), count
        return a.window(start, shape, (*(steps[d] for d in rest), steps[x] + steps[y]))

    def trace(self, a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, **options: Any) -> Any:
        """Sum of a diagonal."""
        return self.sum(self.diagonal(a, offset, axis1, axis2), -1, **options)

    # -- selection --------------------------------------------------------------------------

    def where(self, condition: Any, x: Any = None, y: Any = None) -> Any:
        """Choose elements; with a condition alone, ``nonzero``."""
        if x is None:
            return self.nonzero(condition)
        condition = self.asarray(condition)
        mask = condition if condition.dtype.kind == "b" else condition != 0
        (of_x, x), (of_y, y) = map(self._choice, (x, y))
        dtype = numpy.result_type(*[_EXAMPLES.get(each, each) for each in (of_x, of_y)])
        x, y = (
            raw if key == dtype and key.__class__ is not type else self.fit_operand(raw, key, dtype)
            for raw, key in ((x, of_x), (y, of_y))
        )
        return self.wrap(self.library.where(mask.raw, x, y))

    def _choice(self, value: Any) -> tuple[Any, Any]:
        """``operand`` for ``where``, which also accepts NumPy's arrays."""
        return self.operand(self.asarray(value) if isinstance(value, numpy.ndarray) else value)

    def clip(self, a: Any, a_min: Any = None, a_max: Any = None, out: Any = None, **k: Any) -> Any:
        """Clamp to bounds."""
        low, high = k.get("min", a_min), k.get("max", a_max)
        result = a if low is None else self.maximum(a, low)
        result = result if high is None else self.minimum(result, high)
        if out is not None:
            return self.write_out(out, result.raw)
        return result.copy() if result is a else result

    def copyto(
        self, target: Any, source: Any, casting: Any = "same_kind", where: Any = True
    ) -> None:
        """Write to all elements, or to those where a mask is True."""
        raw = self.operand_of(source, target.dtype)
        if where is not True:
            raw = self.library.where(self.asarray(where).raw, raw, target.raw)
        target.write(raw)

    def take(
        self, a: Any, indices: Any, axis: int | None = None, out: Any = None, mode: str = "raise"
    ) -> Any:
        """Elements at indices along a dimension."""
        if axis is None:
            a, axis = a.reshape(-1), 0
        axis %= a.ndim
        if isinstance(indices, (int, numpy.integer)):
            return a[(*[slice(None)] * axis, int(indices))]
        index = self.library.as_index(self.asarray(indices).raw)
        return self.finish(self.library.take(a.raw, index, axis), out)

    def take_along_axis(self, a: Any, indices: Any, axis: int | None = -1) -> Any:
        """Elements at an index for each position."""
        if axis is None:
            a, axis = a.reshape(-1), 0
        index = self.library.as_index(indices.raw)
        return self.wrap(self.library.take_along_axis(a.raw, index, axis % a.ndim))

    def nonzero(self, a: Any) -> tuple[Any, ...]:
        """Indices of the elements that are not 0."""
        return tuple(map(self.wrap, self.library.nonzero(self.atleast_1d(a).raw)))

    def flatnonzero(self, a: Any) -> Any:
        """Indices of the elements that are not 0, flattened."""
        return self.nonzero(a.reshape(-1))[0]

    def argwhere(self, a: Any) -> Any:
        """Indices of the elements that are not 0, one row each."""
        return self.stack(self.nonzero(a), 1)

    def compress(self, mask: Any, a: Any, axis: int | None = None) -> Any:
        """Slices where a mask is True."""
        return self.take(a, self.flatnonzero(self.asarray(mask)), axis)

    def searchsorted(self, a: Any, v: Any, side: str = "left", sorter: Any = None) -> Any:
        """Positions in a sorted array."""
        a, v = self.asarray(a) if sorter is None else a[sorter], self.asarray(v)
        dtype = numpy.result_type(a.dtype, v.dtype)
        sequence, values = (x.astype(dtype, copy=False).raw for x in (a, v))
        found = self.library.searchsorted(sequence, values, side)
        return self.wrap(self.library.as_index(found))

    @staticmethod
    @contextmanager
    def errstate(**options: Any) -> Iterator[None]:
        """Do nothing: other libraries do not report floating-point errors."""
        yield


#: Scalars with the promotion of Python's classes.
_EXAMPLES: dict[Any, Any] = {bool: numpy.dtype(bool), int: 0, float: 0.0, complex: 0j}


def _as_axes(axis: Any, ndim: int) -> list[int]:
    """Return one or several dimensions as a list, none negative."""
    given = (axis,) if isinstance(axis, (int, numpy.integer)) else axis
    return [int(each) % ndim for each in given]


def _holds_array(value: Any) -> bool:
    """Whether nested sequences contain arrays."""
    while isinstance(value, (list, tuple)) and value:
        value = value[0]
    return isinstance(value, StandardArray)


def _map(function: Callable[[Any], Any], value: Any) -> Any:
    """Apply a function to the items of nested sequences and dicts."""
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*[_map(function, x) for x in value])
    if isinstance(value, (list, tuple)):
        return type(value)([_map(function, x) for x in value])
    if isinstance(value, dict):
        return {key: _map(function, x) for key, x in value.items()}
    return function(value)
