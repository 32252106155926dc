"""The default backend: NumPy on the CPU."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import cache, cached_property
from typing import Any, ClassVar

import numpy

from ..base import Array, Backend
from ..default_operations import SmallArrays, accumulate, last_true
from . import blas, float_functions, memory, ordering, sums
from .memory import choose, contiguous, row_after_row, zero_unmasked
from .quiet import FourierNamespace, QuietNamespace, is_narrow, quiet, widen
from .sums import (
    FEW,
    LONG_ROW,
    SHORT_ONES,
    add_rows,
    add_scaled,
    float_prod,
    float_sum,
    no_ones,
    piece_of,
    short_sum,
)

# glibc returns the memory of freed arrays of 128 KB and more to the system at once, and allocating
# it again costs several times as much as filling it. This threshold grows with the largest freed
# block, up to 32 MB (mallopt(3), M_MMAP_THRESHOLD). So free one, of which no page was touched.
numpy.empty((32 << 20) - 8192, "uint8")

#: Elements per block. Several blocks of float32 fit the cache, and the calls take little time.
_BLOCK = 65536
#: From this many elements on a second thread saves time.
_THREADED = 1 << 19
#: Below this many elements numpy.where is fast enough.
_FEW = 16384
#: Up to this many elements OpenBLAS uses one thread for a matrix and a vector.
_FEW_FACTORS = 9216
#: Up to this many elements numpy.matmul's loop over matrices is faster than reshaping them.
_SMALL = 512
#: From this many elements on selecting bits is faster than numpy.where on an irregular mask.
_SOME = 4096
#: From this many elements on the formulas of float_functions beat NumPy's scalar loops.
_SEVERAL = 512
#: The exponential of this bound, also divided by a sum of 2**60 of them, is in float32's range.
_MODERATE = 40.0
#: Up to this many products of numbers ``index_add`` is faster than SciPy's sparse matrices.
_FEW_PRODUCTS = 1024
_HALF = numpy.dtype("float16")
#: Before NumPy 2.1 clip takes the bound where a float32 zero is equal to it.
_CLIP_KEEPS_ZEROS = bool(numpy.signbit(numpy.full(1, -0.0, "float32").clip(0, 1))[0])
_mean = quiet(numpy.mean)
_short_ones = SHORT_ONES.get
_empty = numpy.empty
_zeros = numpy.zeros
_maximum = numpy.maximum
_minimum = numpy.minimum
_ndarray: Any = numpy.ndarray
_where = getattr(numpy.where, "_implementation", numpy.where)  # as ``serve_library`` does
_highest: Any = numpy.maximum.reduce
_lowest: Any = numpy.minimum.reduce
_and_along: Any = numpy.logical_and.reduce
_or_along: Any = numpy.logical_or.reduce
_vecdot: Any = numpy.vecdot
_tri: Any = numpy.tri
_add_up: Any = numpy.add.reduce  # without the Python around numpy.sum
_SCALARS = frozenset((int, float))
_KIND_OF_SCALAR = {int: "i", float: "f"}


@cache
def _scipy_sparse() -> Any:
    """Module ``scipy.sparse``, or None where SciPy is not installed."""
    try:
        from scipy import sparse
    except ImportError:
        return None
    return sparse


class _Zeros(dict[Any, Any]):
    """Zeros as 0-d arrays, by dtype."""

    def __missing__(self, dtype: Any) -> Any:
        zero = self[dtype] = numpy.zeros((), dtype)
        return zero


_ZEROS = _Zeros()


def _or_formula(name: str) -> Callable[..., Any]:
    """Make a method: NumPy's ufunc ``name``, or a faster formula for many float32 elements."""
    ufunc = getattr(numpy, name)

    def apply(self: Backend, array: Array, /, **options: Any) -> Any:
        if array.__class__ is numpy.ndarray and array.dtype.char == "f" and array.size >= _SEVERAL:
            from .float_functions import faster

            formula = None if options else faster(name)
            if formula is not None:
                return self.blockwise(formula, array)
        return ufunc(array, **options)

    apply.__name__, apply.__doc__ = name, ufunc.__doc__
    return apply


def _as_operand(number: Any, other: Any) -> Any:
    """A Python scalar as a 0-d array of the dtype of ``other``, or as it is if that is no float."""
    dtype = getattr(other, "dtype", None)
    if dtype is None or dtype.char not in "fd":
        return number
    return _numbers[dtype](number) if number or number.__class__ is float else _ZEROS[dtype]


def _as_float_pair(condition: Array, x: Any, y: Any) -> tuple[Array, Array] | None:
    """Return ``x`` and ``y`` as arrays of one float dtype if bits can select between them.

    Each must have the shape of the bool array ``condition`` or be a scalar; else return None.
    """
    array = x if isinstance(x, numpy.ndarray) and x.ndim else y
    if not isinstance(array, numpy.ndarray) or array.dtype.kind != "f":
        return None
    pair = []
    for value in (x, y):
        if isinstance(value, (int, float)) or getattr(value, "shape", None) == ():
            if getattr(value, "dtype", array.dtype) != array.dtype:
                return None
            value = numpy.asarray(value, array.dtype)
        elif value.dtype != array.dtype or value.shape != condition.shape:
            return None
        pair.append(value)
    return (pair[0], pair[1]) if condition.dtype == bool else None


def _accumulate(ufunc: Any, array: Array, axis: int | None, dtype: Any, out: Any) -> Array:
    """``accumulate`` of a ufunc; the array is flattened if ``axis`` is None."""
    if axis is None or not array.ndim:
        array, axis = array.reshape(-1), 0
    return accumulate(ufunc, array, axis % array.ndim, dtype, out)


def _roll_along(array: Array, shift: int, axis: int) -> Array:
    """``numpy.roll`` along one nonnegative dimension."""
    before = (slice(None),) * axis
    cut = -shift % (array.shape[axis] or 1)
    parts = array[(*before, slice(cut, None))], array[(*before, slice(None, cut))]
    return numpy.concatenate(parts, axis)


class _Numbers(dict[float, Any]):
    """Cache of Python scalars as 0-d arrays of one dtype, which NumPy takes in half the time."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype
        self.zero = numpy.zeros((), dtype)

    def __missing__(self, number: float) -> Any:
        if number == 0:  # 0.0 and -0.0 are one key
            return self.zero if math.copysign(1, number) > 0 else number
        array = numpy.array(number, self.dtype)
        if number == number and len(self) < 1000:
            self[number] = array
        return array


class _NumbersOf(dict[Any, Callable[[float], Any]]):
    """Functions that convert Python scalars, by dtype."""

    def __missing__(self, dtype: Any) -> Callable[[float], Any]:
        find = self[dtype] = _Numbers(dtype).__getitem__
        return find


_numbers = _NumbersOf()


def _matmul_batches(x1: Array, x2: Array, /, **options: Any) -> Array:
    """``numpy.matmul`` that computes a batch of matrices times one matrix as a single product."""
    if x1.ndim > 2 and x2.ndim == 2 and x1.size > _SMALL and x1.flags.c_contiguous:
        if not options and x1.shape[-1] == x2.shape[0]:
            rows = numpy.matmul(x1.reshape(-1, x2.shape[0]), x2)
            return rows.reshape(*x1.shape[:-1], x2.shape[1])
    return numpy.matmul(x1, x2, order="C", **options)  # whatever the order of the batches


#: Functions of NumPy that call a method of the array; the method takes half the time.
_METHODS = (
    "argmax", "argmin", "argsort", "nonzero", "repeat", "reshape", "searchsorted", "squeeze",
    "swapaxes", "transpose",
)  # fmt: skip


def _prefer_method(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return NumPy's function ``name``, which calls the method of an array at once."""
    method = getattr(numpy.ndarray, name)

    def call(array: Any, /, *args: Any, **options: Any) -> Any:
        if array.__class__ is _ndarray:
            return method(array, *args, **options)
        return function(array, *args, **options)

    call.__name__, call.__doc__ = name, function.__doc__
    return call


class NumpyBackend(Backend):
    """NumPy backend, whose results define those of the other backends."""

    name = "numpy"
    library: Any = numpy
    array_type: type = numpy.ndarray
    fft: QuietNamespace = FourierNamespace("numpy.fft")
    linalg: QuietNamespace = QuietNamespace("numpy.linalg")
    tensordot: Any = staticmethod(quiet(numpy.tensordot))
    block_elements: int = _BLOCK
    column_bytes = 4 << 20
    fuses = False
    checks_indices = True
    can_be_shared: ClassVar[bool] = memory.POSSIBLE

    def native_dtype(self, dtype: Any) -> Any:
        native = dtype.dtype
        is_own = native is not None and native.num < 256  # NumPy numbers its own dtypes so
        return native if is_own else super().native_dtype(dtype)

    item: Any = staticmethod(numpy.ndarray.item)
    scalar: Any = staticmethod(numpy.ndarray.item)

    def served(self, name: str, value: Any) -> Any:
        return _prefer_method(name, value) if name in _METHODS else value

    def to_numpy(self, array: Array) -> numpy.ndarray[Any, Any]:
        return array  # type: ignore[no-any-return]

    def from_numpy(self, array: numpy.ndarray[Any, Any]) -> Array:
        return array

    def is_shared(self, array: Array) -> bool:
        return memory.segment_of(array) is not None

    def move_to_shared(self, array: Array) -> Callable[[Array], Array]:
        return memory.Move(array) if self.can_be_shared else super().move_to_shared(array)

    def masked(self, array: Array, mask: Array) -> Array:
        """``array`` where ``mask`` is True, else 0; for many floats by their bits."""
        if array.__class__ is _ndarray and array.size < _SOME:
            return _where(mask, array, _ZEROS[array.dtype])
        if (
            array.size >= _SOME and array.dtype.kind == "f" and mask.dtype == bool
            and array.__class__ is mask.__class__ is numpy.ndarray and array.shape == mask.shape
        ):  # fmt: skip
            return zero_unmasked(array, mask, self.in_parts)
        return self.where(mask, array, _ZEROS[array.dtype])

    def where(self, condition: Array, x: Any, y: Any) -> Any:
        """``numpy.where``, several times faster on a large irregular condition.

        It is faster on few elements, too: a 0-d array takes less time than a Python scalar, and a
        comparison of 0-d arrays gives a bool of NumPy's, which needs no selection at all.
        """
        if condition.__class__ is numpy.ndarray and condition.size >= _FEW:
            pair = _as_float_pair(condition, x, y)
            if pair is not None:
                return choose(condition, *pair, self.in_parts)
        if y.__class__ in _SCALARS:
            y = _as_operand(y, x)
        elif x.__class__ in _SCALARS:
            x = _as_operand(x, y)
        if condition.__class__ is numpy.bool:
            dtype = getattr(x, "dtype", None)
            if dtype is not None and dtype == getattr(y, "dtype", None) and x.ndim == y.ndim == 0:
                return numpy.array(x if condition else y)
        return _where(condition, x, y)

    def stack(self, arrays: Sequence[Array], axis: int = 0) -> Array:
        """``numpy.stack``, twice as fast along a new first dimension."""
        return numpy.stack(arrays, axis) if axis else numpy.array(arrays)

    def blockwise(self, function: Callable[..., Array], *arrays: Array, unit: int = 1) -> Array:
        """Call ``function`` on blocks of large row-major arrays, in threads. See ``Backend``."""
        size, shape = arrays[-1].size, arrays[-1].shape
        if size < _FEW:
            return function(*arrays)
        if size < 2 * _BLOCK or not all(
            array.shape == shape and array.flags.c_contiguous or not array.ndim for array in arrays
        ):
            with row_after_row(unit, size):
                return function(*arrays)
        out = numpy.empty(shape, arrays[0].dtype)
        form = -1 if unit == 1 else (-1, unit)
        flat = [array.reshape(form) if array.ndim else array for array in arrays]
        target = out.reshape(form)
        step = max(1, _BLOCK // unit)

        def work(start: int, stop: int) -> None:  # compute the blocks from start to stop
            with row_after_row(unit, size):
                for at in range(start * step, min(stop * step, len(target)), step):
                    piece = slice(at, at + step)
                    target[piece] = function(*(a[piece] if a.ndim else a for a in flat))

        blocks = -(-len(target) // step)
        if size < _THREADED:
            work(0, blocks)
        else:
            self.in_parts(work, blocks)
        return out

    def full(self, shape: Any, fill_value: Any, dtype: Any = None, order: Any = "C") -> Array:
        """``numpy.full``, twice as fast for a scalar of the kind of the dtype."""
        kind = _KIND_OF_SCALAR.get(fill_value.__class__)
        if kind is not None and getattr(dtype, "kind", None) == kind:
            out = _empty(shape, dtype, order)
            out.fill(fill_value)
            return out
        return numpy.full(shape, fill_value, dtype, order)

    def ones(self, shape: Any, dtype: Any = None, order: Any = "C") -> Array:
        """``numpy.ones``, twice as fast for a float dtype."""
        out = _empty(shape, dtype, order)
        out.fill(1.0)
        return out

    def eye(self, n: int, m: int | None = None, k: int = 0, dtype: Any = float) -> Array:
        """``numpy.eye``, twice as fast for a float dtype."""
        if k:
            return numpy.eye(n, m, k, dtype)
        m = n if m is None else m
        out = _zeros((n, m), dtype)
        if n and m:
            out.ravel()[: m * m : m + 1] = 1
        return out

    def expand_dims(self, array: Array, axis: Any) -> Array:
        """``numpy.expand_dims``, three times as fast for a nonnegative axis."""
        if axis.__class__ is not int or axis < 0:
            return numpy.expand_dims(array, axis)
        if not axis:  # reshape gives the stride that shows the memory order; [None] gives 0
            return array.reshape((1,) + array.shape)
        shape = list(array.shape)
        shape.insert(axis, 1)
        return array.reshape(shape)

    def total(self, array: Array) -> Any:
        """Sum of all elements; of few floats by a product with ones."""
        dtype = array.dtype
        ones = _short_ones(dtype, no_ones)(array.size)
        if ones is None:
            return super().total(array)
        flat = array if array.ndim == 1 else array.reshape(-1)
        out = _empty((), dtype)
        flat.dot(ones, out)  # which would return a scalar
        return out

    def sum(
        self, array: Array, axis: Any = None, dtype: Any = None, out: Any = None,
        keepdims: bool = False, **others: Any,
    ) -> Any:  # fmt: skip
        """``numpy.sum``, several times faster on large float arrays and on few elements."""
        if dtype is out is None and array.size < FEW and not others:
            found = short_sum(array, axis, keepdims)
            if found is not None:
                return found
        if out is None and not others:
            same_dtype = dtype is None or dtype == array.dtype  # to NumPy float64 equals None
            if same_dtype and array.dtype.char in "fd":
                found = float_sum(array, axis, keepdims)
                if found is not None:
                    return found
            # NumPy numbers its own dtypes up to 255, and ml_dtypes' bfloat16 and float8 above.
            elif array.dtype.num > 255 or (array.dtype if same_dtype else dtype) == _HALF:
                # float16 would be rounded after each addition, so ones would sum to at most 2048.
                half = array.dtype if same_dtype else dtype
                wide = numpy.asarray(array, half).astype(numpy.float32)
                return self.sum(wide, axis, None, None, keepdims).astype(half)
        return _add_up(array, axis, dtype, out, keepdims, **others)

    def mean(
        self, array: Array, axis: Any = None, dtype: Any = None, out: Any = None,
        keepdims: bool = False, **others: Any,
    ) -> Any:  # fmt: skip
        """``numpy.mean``, with the sum above."""
        is_supported = out is None and not others and dtype is None and array.dtype.char in "fd"
        if not is_supported or not array.size:
            return _mean(array, axis, dtype, out, keepdims, **others)
        if axis is None and not keepdims:
            # Two scalars are divided in a seventh of the time of two 0-d arrays.
            return self.total(array)[()] / _numbers[array.dtype](array.size)[()]
        total = self.sum(array, axis, None, None, keepdims)
        return total / _numbers[array.dtype](array.size // total.size)

    def max(
        self, array: Array, axis: Any = None, out: Any = None, keepdims: bool = False, **rest: Any
    ) -> Any:
        """``numpy.max``, without the Python around it."""
        return _highest(array, axis, None, out, keepdims, **rest)

    def min(
        self, array: Array, axis: Any = None, out: Any = None, keepdims: bool = False, **rest: Any
    ) -> Any:
        """``numpy.min``, without the Python around it."""
        return _lowest(array, axis, None, out, keepdims, **rest)

    def all(
        self, array: Array, axis: Any = None, out: Any = None, keepdims: bool = False, **rest: Any
    ) -> Any:
        """``numpy.all``, without the Python around it."""
        return _and_along(array, axis, None, out, keepdims, **rest)

    def any(
        self, array: Array, axis: Any = None, out: Any = None, keepdims: bool = False, **rest: Any
    ) -> Any:
        """``numpy.any``, without the Python around it."""
        return _or_along(array, axis, None, out, keepdims, **rest)

    def ascontiguousarray(self, array: Array, dtype: Any = None) -> Array:
        """``numpy.ascontiguousarray``, in half the time on large transposed arrays."""
        if dtype is None and array.__class__ is numpy.ndarray:
            return contiguous(array)
        return numpy.ascontiguousarray(array, dtype)

    def add_scaled(
        self, target: Array, array: Array, scale: float, keep: float = 1.0,
        buffer: Array | None = None,
    ) -> None:  # fmt: skip
        """Scale and add in one pass for large arrays. See ``Backend``."""
        if not add_scaled(target, array, scale, keep):
            super().add_scaled(target, array, scale, keep, buffer)

    def sum_of_products(self, a: Array, b: Array) -> Array:
        """Sum in pieces short enough for sequential summation, in a third of the time."""
        if a.dtype.char not in "fd":
            return super().sum_of_products(a, b)
        size = a.shape[-1]
        if size <= LONG_ROW:
            return _vecdot(a, b)[..., None]
        part = piece_of(size)
        if part is not None:
            form = (*a.shape[:-1], -1, part)
            sums = numpy.vecdot(a.reshape(form), b.reshape(form))
            return numpy.add.reduce(sums, -1, keepdims=True)
        return super().sum_of_products(a, b)

    def square_total(self, array: Array) -> Any:
        """Sum by products of vectors, for which no array of squares is needed."""
        if array.dtype.char in "fd" and array.flags.c_contiguous:
            return sums.square_total(array.reshape(-1))
        return super().square_total(array)

    def squared_deviation(self, array: Array, mean: Array) -> Any:
        """Sum block by block, in threads."""
        flat = array.reshape(-1) if array.flags.c_contiguous else array.ravel()
        return sums.squared_deviation(flat, mean)

    def between(self, array: Array, low: Any, high: Any) -> Array:
        """Clamp by ``maximum`` and ``minimum``, or by ``clip``. See ``Backend``.

        Of equal float16 numbers ``numpy.maximum`` returns the bound, ``clip`` the array's element.
        On large float32 arrays ``clip`` takes a third of the time with AVX2.
        """
        dtype = array.dtype
        kind = dtype.char
        by_clip = kind == "e" or (kind == "f" and _CLIP_KEEPS_ZEROS and array.size >= _FEW)
        if not by_clip or numpy.ndim(low) or numpy.ndim(high):
            if low is not None:
                low = _as_operand(low, array) if low.__class__ in _SCALARS else low
                array = _maximum(low, array)
            if high is None:
                return array
            high = _as_operand(high, array) if high.__class__ in _SCALARS else high
            return _minimum(high, array)
        low = numpy.array(-numpy.inf if low is None else low, array.dtype)
        return array.clip(low, numpy.array(numpy.inf if high is None else high, array.dtype))

    def broadcast_to(self, array: Array, shape: tuple[int, ...]) -> Array:
        """``numpy.broadcast_to``, several times as fast."""
        old_shape, strides = array.shape, array.strides
        if old_shape == shape and array.__class__ is numpy.ndarray:
            out: Any = array[...]
            out.setflags(False)  # in a fifth of the time of flags.writeable
            return out
        lead = len(shape) - len(old_shape)
        if lead < 0 or array.__class__ is not numpy.ndarray or not array.flags.c_contiguous:
            return numpy.broadcast_to(array, shape)
        if not array.size:
            return numpy.broadcast_to(array, shape)
        steps = (0,) * lead
        if shape[lead:] == old_shape:
            steps += strides
        else:
            for have, want, step in zip(old_shape, shape[lead:], strides):
                if have != want and have != 1:
                    return numpy.broadcast_to(array, shape)
                steps += (step if have == want else 0,)
        out = _ndarray(shape, array.dtype, array, 0, steps)
        out.setflags(False)
        return out

    def moveaxis(self, array: Array, source: Any, destination: Any) -> Array:
        """``numpy.moveaxis``, several times as fast for one dimension."""
        if source.__class__ is not int or destination.__class__ is not int:
            return numpy.moveaxis(array, source, destination)
        order = [*range(array.ndim)]
        order.insert(destination % array.ndim, order.pop(source))
        return array.transpose(order)

    def broadcast_shapes(self, first: tuple[int, ...], second: tuple[int, ...]) -> Any:
        """``numpy.broadcast_shapes`` of two shapes, at once if they are equal."""
        return first if first == second else numpy.broadcast_shapes(first, second)

    def diagonal(self, array: Array, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
        out = array.diagonal(offset, axis1, axis2)
        if array.flags.writeable:  # NumPy returns a read-only view
            out.setflags(True)
        return out

    def as_strided(self, array: Array, shape: Sequence[int], strides: Sequence[int]) -> Array:
        """See ``Backend``. The constructor of arrays takes a fifth of the time of NumPy's function.

        It raises for strides that leave the elements of ``array``.
        """
        if array.flags.c_contiguous and array.size:
            try:
                return _ndarray(shape, array.dtype, array, 0, strides)
            except ValueError:
                pass
        return super().as_strided(array, shape, strides)

    @cached_property
    def lower_triangles(self) -> SmallArrays:
        """Masks of matrices by rows, columns and last diagonal that is True."""
        return SmallArrays(self, lambda key: _tri(*key, bool))

    @cached_property
    def upper_triangles(self) -> SmallArrays:
        """Masks of matrices by rows, columns and the diagonal before the first that is True."""
        return SmallArrays(self, lambda key: ~_tri(*key, bool))

    def tril(self, array: Array, k: int = 0) -> Array:
        """``numpy.tril`` with a cached mask, in a fraction of the time."""
        if array.ndim < 2:
            return numpy.tril(array, k)
        return self.masked(array, self.lower_triangles[(*array.shape[-2:], k)])

    def triu(self, array: Array, k: int = 0) -> Array:
        """``numpy.triu`` with a cached mask, in a fraction of the time."""
        if array.ndim < 2:
            return numpy.triu(array, k)
        return self.masked(array, self.upper_triangles[(*array.shape[-2:], k - 1)])

    def roll(self, array: Array, shift: Any, axis: Any = None) -> Array:
        """``numpy.roll``, along one dimension by one concatenation, in a third of the time.

        Few elements are rolled along one dimension after the other.
        """
        if shift.__class__ is tuple and axis.__class__ is tuple and len(shift) == len(axis) > 0:
            if len(axis) == 1 or array.size < _SOME:
                for moves, dim in zip(shift, axis, strict=True):
                    array = _roll_along(array, moves, dim % array.ndim)
                return array
        if axis is None and shift.__class__ is int:
            return _roll_along(array.reshape(-1), shift, 0).reshape(array.shape)
        return numpy.roll(array, shift, axis)

    def write_masked(self, target: Array, mask: Array, values: Array) -> None:
        numpy.place(target, mask, values)

    def index_add(self, target: Array, index: Any, values: Array) -> None:
        """``target[index] += values``; 16-bit dtypes in float32, whole rows by ``add_rows``."""
        if target.dtype.char == "e" or target.dtype.num > 255:
            # float16 and ml_dtypes' dtypes: in float16 a sum of ones would end at 2048.
            wide = target.astype("float32")
            self.index_add(wide, index, values.astype("float32"))
            target[...] = wide
        elif not add_rows(target, index, values):
            numpy.add.at(target, index, values)

    def sparse_product(
        self, values: Array, rows: Array, columns: Array, size: int, dense: Array
    ) -> Array | None:
        """SciPy's product, where it is installed, of the dtypes that it computes in."""
        is_small = values.size * math.prod(dense.shape[1:]) <= _FEW_PRODUCTS
        sparse = None if is_small or dense.dtype.char not in "fdFD" else _scipy_sparse()
        if sparse is None:
            return None
        matrix = sparse.coo_array((values, (rows, columns)), shape=(size, dense.shape[0]))
        return matrix @ dense

    def order(self, array: Array, axis: int, descending: bool = False) -> Array:
        return ordering.order(array, axis, descending, self.in_parts)

    def leading(self, array: Array, count: int, axis: int, descending: bool = False) -> Array:
        return ordering.leading(array, count, axis, descending, self.in_parts)

    def pick(self, array: Array, axis: int, place: Any) -> Array:
        return ordering.pick(array, axis, place, self.in_parts)

    def prod(
        self, array: Array, axis: Any = None, dtype: Any = None, out: Any = None,
        keepdims: bool = False, **others: Any,
    ) -> Any:  # fmt: skip
        """``numpy.prod``, many times faster along the last dimension of a large array."""
        if out is None and not others:
            found = float_prod(array, axis, dtype, keepdims)
            if found is not None:
                return found
        multiply: Any = numpy.multiply.reduce
        return multiply(array, axis, dtype, out, keepdims, **others)

    def cumsum(
        self, array: Array, axis: int | None = None, dtype: Any = None, out: Any = None
    ) -> Array:
        """``numpy.cumsum`` called from this package, so that its warnings are silenced."""
        return _accumulate(numpy.add, array, axis, dtype, out)

    def cumprod(
        self, array: Array, axis: int | None = None, dtype: Any = None, out: Any = None
    ) -> Array:
        """``numpy.cumprod`` called from this package, so that its warnings are silenced."""
        return _accumulate(numpy.multiply, array, axis, dtype, out)

    def fmod(self, a: Any, b: Any) -> Any:
        found = float_functions.compute_in_float64(float_functions.fmod, self.blockwise, a, b)
        return numpy.fmod(a, b) if found is None else found

    def remainder(self, a: Any, b: Any) -> Any:
        found = float_functions.compute_in_float64(float_functions.remainder, self.blockwise, a, b)
        return numpy.remainder(a, b) if found is None else found

    def floor_divide(self, a: Any, b: Any) -> Any:
        found = float_functions.compute_in_float64(
            float_functions.floor_divide, self.blockwise, a, b
        )
        return numpy.floor_divide(a, b) if found is None else found

    def logaddexp(self, a: Any, b: Any) -> Any:
        """``numpy.logaddexp``, many times faster on large arrays."""
        if sums.is_faster(a, b):
            return self.blockwise(sums.logaddexp, a, b)
        return numpy.logaddexp(a, b)

    def lu(self, matrix: Array) -> tuple[Array, Array, Array] | None:
        return blas.lu(matrix)

    def rows_from_pivots(self, pivots: Array, size: int) -> Array | None:
        return blas.rows_from_pivots(pivots, size)

    def ldl(self, matrix: Array, hermitian: bool) -> tuple[Array, Array, Array] | None:
        return blas.ldl(matrix, hermitian)

    def loses_nan(self, matrix: Array) -> bool:
        """Whether OpenBLAS may ignore NaN: it does not divide a column by a NaN pivot."""
        total = numpy.add.reduce(matrix, None)
        return bool(total != total)

    def is_finite(self, array: Array) -> bool | None:
        """A sum of squares of few elements that is finite has finite elements alone."""
        if array.size < _SOME and array.dtype.char in "fd" and array.flags.c_contiguous:
            flat = array.reshape(-1)
            if math.isfinite(flat.dot(flat)):
                return True
        return super().is_finite(array)

    def is_moderate(self, array: Array, axis: int) -> bool:
        """Check the norm of few elements; else the maximum, and the first element of each row."""
        if array.dtype.char not in "fd":
            return False
        if array.size < _SOME:
            flat = array.ravel()
            return bool(flat.dot(flat) <= _MODERATE**2)
        first = array[(slice(None),) * (axis % array.ndim) + (0,)]
        return bool(
            numpy.maximum.reduce(array, None) <= _MODERATE
            and numpy.minimum.reduce(first, None) >= -_MODERATE
        )

    def sum_along(self, array: Array, axis: int) -> Array:
        """Sum along ``axis``; of the rows of a small matrix by a product with ones."""
        if array.ndim == 2 and axis in (-1, 1):
            ones = _short_ones(array.dtype, no_ones)(array.shape[1])
            if ones is not None and array.size < FEW:
                return array.dot(ones)[:, None]
        return self.sum(array, axis, None, None, True)

    def highest(self, array: Array, axis: int) -> Array:
        """Maximum by ``argmax``, which NumPy computes along rows in a fraction of the time."""
        if axis in (-1, array.ndim - 1) and array.flags.c_contiguous:
            index = array.argmax(-1)
            index += self.row_starts[array.shape]
            return array.ravel()[index][..., None]
        return _highest(array, axis, None, None, True)

    def ends(self, index: Array) -> tuple[int, int]:
        """Minimum and maximum by ``argmin`` and ``argmax``, in a fraction of the time."""
        return index.item(index.argmin()), index.item(index.argmax())

    def take(
        self, array: Array, indices: Any, axis: int | None = None, out: Any = None,
        mode: str = "raise",
    ) -> Array:  # fmt: skip
        """``numpy.take``, without the Python around it."""
        return array.take(indices, axis, out, mode)

    def take_valid(self, array: Array, index: Array) -> Array:
        """See ``Backend``. With this mode NumPy takes half the time on many indices."""
        return array.take(index, mode="wrap")

    def take_in_each(self, array: Array, index: Array) -> Array:
        """Read by ``numpy.take`` with a mode that does not raise, four times as fast."""
        out = numpy.empty((*array.shape[:2], index.shape[1]), array.dtype)
        index = index.astype(numpy.intp, copy=False)

        def work(start: int, stop: int) -> None:
            for at in range(start, stop):
                numpy.take(array[at], index[at], axis=1, out=out[at], mode="clip")

        if out.size < _THREADED:
            work(0, len(array))
        else:
            self.in_parts(work, len(array))
        return out

    def accumulate(self, name: str, array: Array, axis: int) -> Array:
        return accumulate(getattr(numpy, name), array, axis)

    def last_true(self, mask: Array, axis: int) -> Array:
        found = last_true(mask, axis)
        return super().last_true(mask, axis) if found is None else found

    def erf(self, array: Array) -> Array:
        found = float_functions.map_few(math.erf, array)
        return super().erf(array) if found is None else found

    def erfc(self, array: Array) -> Array:
        found = float_functions.map_few(math.erfc, array)
        return super().erfc(array) if found is None else found

    def errstate(self, **options: Any) -> AbstractContextManager[object]:
        return numpy.errstate(**options)

    number: Any = staticmethod(_numbers.__getitem__)

    def constants(self, array: Array, *numbers: float) -> Sequence[Any]:
        """0-d arrays, but Python scalars for a 0-d array, whose results are scalars of NumPy."""
        dtype = array.dtype
        return [*map(_numbers[dtype], numbers)] if array.ndim and dtype.char in "fd" else numbers

    def matmul(self, x1: Array, x2: Array, /, **options: Any) -> Array:
        """``numpy.matmul`` that computes small products in one BLAS thread."""
        if x1.size * x2.shape[-1] > blas.SINGLE or x1.size + x2.size > _FEW_FACTORS:
            return blas.call(blas.products_work(x1, x2), _matmul_batches, x1, x2, **options)
        # dot takes half the time on few elements. For a single 0 BLAS would lose NaN.
        if x1.ndim == x2.ndim == 2 and x1.size > 1 < x2.size and x1.dtype.char in "fdFD":
            if not options:
                return x1.dot(x2)
        return _matmul_batches(x1, x2, **options)

    log1p: Callable[..., Any] = _or_formula("log1p")
    expm1: Callable[..., Any] = _or_formula("expm1")
    cosh: Callable[..., Any] = _or_formula("cosh")
    sinh: Callable[..., Any] = _or_formula("sinh")
    tan: Callable[..., Any] = _or_formula("tan")
    arctanh: Callable[..., Any] = _or_formula("arctanh")

    def row_after_row(self, row: int, size: int) -> AbstractContextManager[None]:
        """Make ``x - x.mean(-1, keepdims=True)`` of long rows three times as fast."""
        return row_after_row(row, size)

    def in_parts(
        self, work: Callable[[int, int], Any], count: int, products: bool = False
    ) -> list[Any]:
        """Call ``work`` on parts of the range in several threads. See ``Backend``.

        Matrix products use one call if OpenBLAS's own threads were used recently and may still run.
        """
        if count < 2 or (products and blas.was_threaded_recently()):
            return [work(0, count)]
        return blas.run(work, count)

    def make_generator(self, seed: int) -> Any:
        """Create a generator of PyTorch's CPU streams, whose draws are NumPy arrays already."""
        from ..rng.mt19937 import TorchMT19937

        return TorchMT19937(seed)

    def info(self) -> dict[str, str]:
        """Library, version, and the BLAS that NumPy has loaded."""
        from . import blas  # only --info needs it here

        return {**super().info(), **blas.info()}


if is_narrow():
    widen(NumpyBackend)
