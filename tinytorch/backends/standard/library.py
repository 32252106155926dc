"""Functions on raw arrays of an array library, with defaults by the array API standard.

Reference:
    https://data-apis.org/array-api/2024.12/
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar, TypeAlias

import numpy

from . import indexing

#: Array of the library.
Raw: TypeAlias = Any
Dtype: TypeAlias = "numpy.dtype[Any]"
Shape: TypeAlias = Sequence[int]
Elementwise: TypeAlias = Callable[..., Any]

#: Names of the dtypes that the standard has, and float16.
DTYPES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "float32", "float64", "complex64", "complex128",
)  # fmt: skip
#: Names of the standard's reductions.
REDUCTIONS = "sum prod mean max min any all std var argmax argmin".split()
#: The standard's names of NumPy's ufuncs, where the two differ.
RENAMED = {
    "absolute": "abs", "abs": "abs", "arccos": "acos", "arccosh": "acosh", "arcsin": "asin",
    "arcsinh": "asinh", "arctan": "atan", "arctan2": "atan2", "arctanh": "atanh",
    "bitwise_not": "bitwise_invert", "bitwise_invert": "bitwise_invert", "conjugate": "conj",
    "invert": "bitwise_invert", "left_shift": "bitwise_left_shift", "power": "pow",
    "right_shift": "bitwise_right_shift", "rint": "round", "true_divide": "divide",
}  # fmt: skip
#: NumPy's ufuncs that have the same name in the standard.
SAME_NAME = frozenset(
    "acos acosh add asin asinh atan atan2 atanh bitwise_and bitwise_left_shift bitwise_or "
    "bitwise_right_shift bitwise_xor ceil conj copysign cos cosh divide equal exp expm1 floor "
    "floor_divide greater greater_equal hypot isfinite isinf isnan less less_equal log log10 log1p "
    "log2 logaddexp logical_and logical_not logical_or logical_xor maximum minimum multiply "
    "negative nextafter not_equal positive pow reciprocal remainder sign signbit sin sinh sqrt "
    "square subtract tan tanh trunc".split()
)


class ArrayLibrary:
    """Array library: functions on raw arrays, which a backend needs.

    A library that follows the standard needs no subclass. One that differs, or has a faster way,
    overrides single methods. All arguments named ``raw`` are arrays of the library, dtypes are
    NumPy's, axes are valid and not negative, and the results are new arrays unless stated.

    Args:
        name: Name of the backend, for errors.
        namespace: Module or object with the standard's functions.
        array_class: The class of the library's arrays.
        version: Version of the library.

    Attributes:
        strided: Whether arrays are memory with strides: indexing by slices then returns views,
            and arrays can be written. Otherwise they are used as immutable values.
        lazy: Whether arrays are computed when they are read. Checks of indices then read them at
            once, because a later check would compute them again.
        caches_scalars: Whether 0-d arrays of Python scalars may be reused by later calls.
        computes_bools: Whether sums, products, comparisons and the like accept bools.
        functions_with_out: Ufuncs of two operands whose function accepts ``out=``.
        native: The library's dtypes, by NumPy's.
        numpy_dtypes: NumPy's dtypes, by the library's.
    """

    strided = False
    lazy = False
    caches_scalars = True
    computes_bools = False
    functions_with_out: ClassVar[frozenset[str]] = frozenset()
    name: str
    namespace: Any
    array_class: type[Any]
    native: dict[Dtype, Any]
    numpy_dtypes: dict[Any, Dtype]
    formulas: dict[str, Callable[..., Any]]

    def __init__(
        self, name: str, namespace: Any, array_class: type, version: str = "unknown"
    ) -> None:
        self.name, self.namespace, self.array_class = name, namespace, array_class
        self.version = version
        found = {numpy.dtype(word): self.find_dtype(word) for word in DTYPES}
        self.native = {dtype: native for dtype, native in found.items() if native is not None}
        self.numpy_dtypes = {native: dtype for dtype, native in self.native.items()}
        self.formulas = self.make_formulas()

    # -- dtypes -----------------------------------------------------------------------------

    def find_dtype(self, word: str) -> Any:
        """Return the library's dtype called ``word`` in the standard; None if there is none."""
        found = getattr(self.namespace, word, None)
        is_numpys = isinstance(found, type) and issubclass(found, numpy.generic)
        return numpy.dtype(found) if is_numpys else found

    def native_dtype(self, dtype: Dtype) -> Any:
        """Return the library's dtype; raise TypeError if there is none."""
        try:
            return self.native[dtype]
        except KeyError:
            raise TypeError(f"backend {self.name!r} has no dtype {dtype}") from None

    def numpy_dtype(self, native: Any) -> Dtype:
        """Return NumPy's dtype for a dtype of the library."""
        return self.numpy_dtypes[native]

    # -- host -------------------------------------------------------------------------------

    def from_host(self, host: numpy.ndarray[Any, Any]) -> Raw:
        """Convert a NumPy array."""
        return self.namespace.asarray(host, dtype=self.native_dtype(host.dtype))

    def to_host(self, raw: Raw) -> numpy.ndarray[Any, Any]:
        """Convert to a NumPy array, which may share memory."""
        return numpy.from_dlpack(raw) if hasattr(raw, "__dlpack__") else numpy.asarray(raw)

    def item(self, raw: Raw) -> Any:
        """Return the only element as a Python scalar."""
        return self.to_host(raw).item()

    def scalar(self, value: Any, dtype: Dtype) -> Raw:
        """Return a 0-d operand; OverflowError if an integer exceeds ``dtype``."""
        return self.from_host(numpy.asarray(value, dtype))

    def has_values(self, raw: Raw) -> bool:
        """Whether the elements can be read; False for the arrays of a traced function."""
        return True

    def trace(self) -> Any:
        """Return a key of the function that is traced; arrays made in one do not leave it."""
        return None

    def is_tracing(self) -> bool:
        """Whether a function is traced, for whichever purpose."""
        return False

    def is_compiling(self) -> bool:
        """Whether operations are traced, to run later on other values."""
        return False

    # -- values -----------------------------------------------------------------------------

    def full(self, shape: Shape, value: Any, dtype: Dtype) -> Raw:
        """Return an array filled with a Python scalar."""
        value = numpy.asarray(value).astype(dtype).item()
        return self.namespace.full(tuple(shape), value, dtype=self.native_dtype(dtype))

    def astype(self, raw: Raw, dtype: Dtype) -> Raw:
        """Cast as NumPy does, but without the imaginary part where ``dtype`` is real."""
        if self.numpy_dtype(raw.dtype).kind == "c" and dtype.kind != "c":
            raw = raw != self.scalar(0, self.numpy_dtype(raw.dtype)) if dtype.kind == "b" else (
                self.namespace.real(raw)
            )  # fmt: skip
        return self.namespace.astype(raw, self.native_dtype(dtype))

    def copy(self, raw: Raw) -> Raw:
        """Return ``raw`` in memory of its own; values need no copy."""
        return raw

    def bitcast(self, raw: Raw, dtype: Dtype) -> Raw | None:
        """Reinterpret the bits of the last dimension; None if the library cannot."""
        return None

    def join_complex(self, real: Raw, imag: Raw) -> Raw | None:
        """Complex numbers of given parts; None if the library has no such function."""
        return None

    def reshape(self, raw: Raw, shape: Shape) -> Raw:
        """Row-major reshape. ``shape`` has no -1."""
        return self.namespace.reshape(raw, tuple(shape))

    def permute(self, raw: Raw, axes: Sequence[int]) -> Raw:
        """Permute the dimensions."""
        return self.namespace.permute_dims(raw, tuple(axes))

    def broadcast_to(self, raw: Raw, shape: Shape) -> Raw:
        """Broadcast to ``shape``."""
        return self.namespace.broadcast_to(raw, tuple(shape))

    def flip(self, raw: Raw, axes: Sequence[int]) -> Raw:
        """Reverse some dimensions."""
        return self.namespace.flip(raw, axis=tuple(axes))

    def roll(self, raw: Raw, shift: Any, axis: Any) -> Raw:
        """Rotate elements, as ``numpy.roll``."""
        return self.namespace.roll(raw, shift, axis=axis)

    def concatenate(self, raws: Sequence[Raw], axis: int) -> Raw:
        """Join arrays of one dtype."""
        return self.namespace.concat(list(raws), axis=axis)

    def where(self, condition: Raw, x: Raw, y: Raw) -> Raw:
        """Choose elements; ``x`` and ``y`` have one dtype."""
        return self.namespace.where(condition, x, y)

    def arange(self, stop: int) -> Raw:
        """Return int64 integers from 0."""
        return self.from_host(numpy.arange(stop))

    def draw(self, name: str, key: int, shape: Shape, dtype: Dtype) -> Raw:
        """Draw random numbers. The standard has none: a backend without this method has PyTorch's.

        Args:
            name: ``"uniform"``, for numbers in [0, 1), or ``"normal"``, for mean 0 and variance 1.
            key: Integer from 0 to 2**63 - 1. The numbers depend on it alone.
            shape: Shape of the result.
            dtype: float32 or float64.
        """
        raise NotImplementedError(f"backend {self.name!r} has no random numbers of its own")

    # -- indexing ---------------------------------------------------------------------------

    def as_index(self, raw: Raw) -> Raw:
        """Convert integers to the dtype of indices, int64."""
        wanted = self.native_dtype(numpy.dtype("int64"))
        return raw if raw.dtype == wanted else self.namespace.astype(raw, wanted)

    def slice(self, raw: Raw, key: tuple[Any, ...]) -> Raw:
        """``raw[key]`` for integers, slices, None and an Ellipsis, all of Python."""
        return raw[key]

    def read_at(self, raw: Raw, key: tuple[Any, ...]) -> Raw:
        """``raw[key]`` as NumPy; ``key`` may hold raw arrays of int64 or bool."""
        places = indexing.places(self, tuple(raw.shape), key)
        return self.read_places(self.reshape(raw, (-1,)), places)

    def write_at(self, raw: Raw, key: tuple[Any, ...], value: Raw) -> Raw:
        """Return a copy of ``raw`` with ``value`` at ``key``; of repeated places, the last."""
        places = indexing.places(self, tuple(raw.shape), key)
        value = self.broadcast_to(value, tuple(places.shape))
        flat = self.reshape(raw, (-1,))
        flat = self.write_places(flat, self.reshape(places, (-1,)), self.reshape(value, (-1,)))
        return self.reshape(flat, tuple(raw.shape))

    def write_slice(self, raw: Raw, key: tuple[Any, ...], value: Raw) -> Raw:
        """``write_at`` for a key of slices with step 1, one per dimension."""
        dims = enumerate(zip(key, raw.shape, strict=True))
        at = next((d for d, (part, size) in dims if part != slice(0, size)), None)
        if at is None:
            return value
        full = (slice(None),) * at
        inner = self.slice(raw, (*full, key[at], ...))
        sizes = tuple(inner.shape)
        value = self.write_slice(
            inner, (*(slice(0, size) for size in sizes[: at + 1]), *key[at + 1 :]), value
        )
        before = self.slice(raw, (*full, slice(0, key[at].start), ...))
        after = self.slice(raw, (*full, slice(key[at].stop, None), ...))
        return self.concatenate([x for x in (before, value, after) if x.shape[at]], at)

    def read_places(self, flat: Raw, places: Raw) -> Raw:
        """``flat[places]`` for int64 places of any shape, not negative."""
        found = self.namespace.take(flat, self.reshape(places, (-1,)), axis=0)
        return self.reshape(found, tuple(places.shape))

    def write_places(self, flat: Raw, places: Raw, values: Raw) -> Raw:
        """Return a copy of ``flat`` with ``values`` at ``places``, both 1-d."""
        return indexing.write_places(self, flat, places, values)

    def add_at(self, raw: Raw, key: tuple[Any, ...], values: Raw) -> Raw:
        """Return ``raw`` with ``values`` added at ``key``, repeated places summed."""
        places = indexing.places(self, tuple(raw.shape), key)
        values = self.broadcast_to(values, tuple(places.shape))
        flat = self.reshape(raw, (-1,))
        flat = indexing.add_places(
            self, flat, self.reshape(places, (-1,)), self.reshape(values, (-1,))
        )
        return self.reshape(flat, tuple(raw.shape))

    def take(self, raw: Raw, index: Raw, axis: int) -> Raw:
        """``numpy.take`` along one dimension for int64 indices of any shape."""
        flat = indexing.wrap_negative(self, self.reshape(index, (-1,)), raw.shape[axis])
        found = self.namespace.take(raw, flat, axis=axis)
        shape = *raw.shape[:axis], *index.shape, *raw.shape[axis + 1 :]
        return self.reshape(found, shape) if len(index.shape) != 1 else found

    def take_along_axis(self, raw: Raw, index: Raw, axis: int) -> Raw:
        """``numpy.take_along_axis``, which broadcasts the two."""
        index = indexing.wrap_negative(self, index, raw.shape[axis])
        shape = indexing.shape_beside(tuple(raw.shape), tuple(index.shape), axis)
        raw = self.broadcast_to(raw, (*shape[:axis], raw.shape[axis], *shape[axis + 1 :]))
        index = self.broadcast_to(index, (*shape[:axis], index.shape[axis], *shape[axis + 1 :]))
        return self.namespace.take_along_axis(raw, index, axis=axis)

    def nonzero(self, raw: Raw) -> tuple[Raw, ...]:
        """``numpy.nonzero`` of an array of at least one dimension."""
        return tuple(self.namespace.nonzero(raw))

    def searchsorted(self, sequence: Raw, values: Raw, side: str) -> Raw:
        """``numpy.searchsorted``; the standard wants values of one dimension."""
        flat = self.reshape(values, (-1,))
        found = self.namespace.searchsorted(sequence, flat, side=side)
        return self.reshape(found, tuple(values.shape))

    # -- reductions, order, products --------------------------------------------------------

    def reduce(self, name: str, raw: Raw, axis: Any, keepdims: bool, **options: Any) -> Raw:
        """Reduce by a function of the standard.

        Args:
            name: sum, prod, mean, max, min, any, all, std, var, argmax or argmin.
            raw: The array. Sums and products of integers may have a wider dtype.
            axis: None, an integer or a tuple.
            keepdims: Whether reduced dimensions stay with size 1.
            **options: ``correction`` of ``std`` and ``var``.
        """
        if name in ("max", "min") and self.numpy_dtype(raw.dtype).kind == "b":
            name = "any" if name == "max" else "all"
        return getattr(self.namespace, name)(raw, axis=axis, keepdims=keepdims, **options)

    def reduction(self, name: str) -> Callable[..., Raw]:
        """Return the function ``reduce`` of one name; its arguments are passed by position."""
        return partial(self.reduce, name)

    def accumulate(self, name: str, raw: Raw, axis: int) -> Raw:
        """Cumulative ``"sum"`` or ``"prod"`` of the dtype of ``raw``."""
        return getattr(self.namespace, f"cumulative_{name}")(raw, axis=axis, dtype=raw.dtype)

    def sort(self, raw: Raw, axis: int) -> Raw:
        """Sort along ``axis``, NaN last."""
        return self.namespace.sort(raw, axis=axis, stable=True)

    def argsort(self, raw: Raw, axis: int) -> Raw:
        """Return int64 indices that sort along ``axis``; the sort is stable."""
        return self.namespace.argsort(raw, axis=axis, stable=True)

    def matmul(self, a: Raw, b: Raw) -> Raw:
        """Matrix product of arrays of one dtype, not bool."""
        return self.namespace.matmul(a, b)

    # -- functions by NumPy's names ---------------------------------------------------------

    def elementwise(self, name: str) -> Elementwise | None:
        """Return the function of raw arrays for NumPy's ufunc ``name``; None if there is none.

        Its operands have one dtype, or are what ``scalar`` returns. The caller casts a result of
        another dtype than NumPy's.
        """
        found = self.formulas.get(name)
        if found is None and (name in SAME_NAME or name in RENAMED):
            found = getattr(self.namespace, RENAMED.get(name, name), None)
        return found

    def make_formulas(self) -> dict[str, Elementwise]:
        """Return functions for ufuncs that the standard lacks, by functions that it has."""
        from .formulas import make_formulas

        return make_formulas(self)

    def function(self, name: str) -> Callable[..., Any] | None:
        """Return the library's function with NumPy's name and arguments; None if unknown."""
        return None

    def submodule_function(self, module: str, name: str) -> Callable[..., Any] | None:
        """Return ``linalg`` or ``fft`` function ``name`` with NumPy's arguments, or None."""
        function = getattr(getattr(self.namespace, module, None), name, None)
        if function is None or module != "linalg":
            return function
        from .submodules import adapt

        return adapt(self, name, function)

    def call(self, function: Callable[..., Any], args: Any, options: Any) -> Any:
        """Call a function of ``linalg`` or ``fft``; errors become NumPy's."""
        return function(*args, **options)

    def kernels(self, backend: Any) -> dict[str, Callable[..., Any]]:
        """Return fused kernels by the names that ``Backend.fused`` has, for arrays of the backend.

        A kernel returns None for arguments that it does not support.
        """
        return {}


def row_major(shape: Shape) -> tuple[int, ...]:
    """Row-major strides in elements."""
    steps, step = [], 1
    for size in reversed(shape):
        steps.append(step)
        step *= max(size, 1)
    return tuple(reversed(steps))


def is_dense(shape: Shape, steps: Sequence[int]) -> bool:
    """Whether elements lie in row-major order without gaps."""
    step = 1
    for size, each in zip(reversed(shape), reversed(steps), strict=True):
        if size != 1:
            if each != step:
                return not math.prod(shape)
            step *= size
    return True
