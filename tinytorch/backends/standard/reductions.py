"""NumPy's reductions, sorts and products over another library."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy

from .library import Dtype, ArrayLibrary

_INT64, _UINT64 = numpy.dtype("int64"), numpy.dtype("uint64")
#: Characters of the dtypes of which sums have the same dtype, and are computed in it.
_SUMMED_AS_THEY_ARE = "fdFD"
_FLOAT32, _FLOAT64 = numpy.dtype("float32"), numpy.dtype("float64")


class Reductions:
    """Part of ``Names`` for reductions, sorts and products."""

    library: ArrayLibrary
    reductions: dict[str, Callable[..., Any]]

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    # -- reductions -------------------------------------------------------------------------

    def _reduce(
        self, name: str, a: Any, axis: Any, out: Any, keepdims: bool, **options: Any
    ) -> Any:
        """Reduce by the library's function."""
        if axis is not None:
            axis = _as_axis(tuple(axis) if axis.__class__ is list else axis, a.ndim)
            if axis == () and name not in ("std", "var"):
                return self.finish(self.library.copy(a.raw), out)
        found = self.reductions[name](a.raw, axis, bool(keepdims), **options)
        return self.wrap(found) if out is None else self.write_out(out, found)

    def _reduce_in(
        self, dtype: Dtype, name: str, a: Any, axis: Any, out: Any, keepdims: bool, **options: Any
    ) -> Any:  # fmt: skip
        """Reduce after a cast to a dtype, which the result has, too."""
        found = self._reduce(name, a.astype(dtype, copy=False), axis, None, keepdims, **options)
        return self.finish(self.cast(found.raw, dtype), out)

    def sum(
        self, a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False
    ) -> Any:
        """Sum; float16 is summed in float32."""
        if dtype is None and a.dtype.char in _SUMMED_AS_THEY_ARE:
            return self._reduce("sum", a, axis, out, keepdims)
        dtype = _dtype_of_sum(a.dtype) if dtype is None else numpy.dtype(dtype)
        if dtype.kind == "f" and dtype.itemsize == 2:
            wide = self._reduce_in(_FLOAT32, "sum", a, axis, None, keepdims)
            return self.finish(wide.astype(dtype).raw, out)
        return self._reduce_in(dtype, "sum", a, axis, out, keepdims)

    def prod(
        self, a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False
    ) -> Any:
        """Product."""
        dtype = _dtype_of_sum(a.dtype) if dtype is None else numpy.dtype(dtype)
        return self._reduce_in(dtype, "prod", a, axis, out, keepdims)

    def mean(
        self, a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False
    ) -> Any:
        """Mean; of integers in float64."""
        if dtype is None and a.dtype.kind == "f":
            return self._reduce("mean", a, axis, out, keepdims)
        dtype = _dtype_of_mean(a.dtype) if dtype is None else numpy.dtype(dtype)
        if dtype.kind == "c":  # the standard has a mean of real numbers alone
            axes = range(a.ndim) if axis is None else numpy.atleast_1d(axis)
            count = math.prod(a.shape[each] for each in axes)
            total = self.sum(a, axis, dtype, None, keepdims)
            return self.finish((total / count).raw, out)
        return self._reduce_in(dtype, "mean", a, axis, out, keepdims)

    def var(
        self, a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: float = 0,
        keepdims: bool = False, correction: float | None = None,
    ) -> Any:  # fmt: skip
        """Variance."""
        return self._deviation("var", a, axis, out, ddof, keepdims, correction)

    def std(
        self, a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: float = 0,
        keepdims: bool = False, correction: float | None = None,
    ) -> Any:  # fmt: skip
        """Standard deviation."""
        return self._deviation("std", a, axis, out, ddof, keepdims, correction)

    def _deviation(
        self, name: str, a: Any, axis: Any, out: Any, ddof: float, keepdims: bool,
        correction: float | None,
    ) -> Any:  # fmt: skip
        """``var`` or ``std``; of complex numbers that of the distances from the mean."""
        correction = ddof if correction is None else correction
        if a.dtype.kind == "c":
            distance = self.absolute(a - self.mean(a, axis, keepdims=True))
            count = a.size // max(1, self.sum(distance, axis).size)
            square = self.sum(distance * distance, axis, None, None, keepdims)
            variance = square / max(count - correction, 0)
            return self.finish((self.sqrt(variance) if name == "std" else variance).raw, out)
        dtype = _dtype_of_mean(a.dtype)
        return self._reduce_in(dtype, name, a, axis, out, keepdims, correction=correction)

    def max(self, a: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
        """Maximum."""
        if 0 in a.shape:
            _check_not_empty("max", a, axis)
        return self._reduce("max", a, axis, out, keepdims)

    def min(self, a: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
        """Minimum."""
        if 0 in a.shape:
            _check_not_empty("min", a, axis)
        return self._reduce("min", a, axis, out, keepdims)

    amax = max
    amin = min

    def ptp(self, a: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
        """Range from the minimum to the maximum."""
        return self.subtract(self.max(a, axis, None, keepdims), self.min(a, axis, None, keepdims))

    def any(self, a: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
        """Whether an element is not 0."""
        return self._reduce("any", self._as_bools(a), axis, out, keepdims)

    def all(self, a: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
        """Whether no element is 0."""
        return self._reduce("all", self._as_bools(a), axis, out, keepdims)

    def _as_bools(self, a: Any) -> Any:
        return a if a.dtype.kind == "b" else a != 0

    def count_nonzero(self, a: Any, axis: Any = None, keepdims: bool = False) -> Any:
        """Number of elements that are not 0."""
        return self.sum(a != 0, axis, None, None, keepdims)

    def argmax(
        self, a: Any, axis: int | None = None, out: Any = None, keepdims: bool = False,
        dtype: Any = None,
    ) -> Any:  # fmt: skip
        """Index of the first maximum."""
        return self._position("argmax", a, axis, out, keepdims)

    def argmin(
        self, a: Any, axis: int | None = None, out: Any = None, keepdims: bool = False,
        dtype: Any = None,
    ) -> Any:  # fmt: skip
        """Index of the first minimum."""
        return self._position("argmin", a, axis, out, keepdims)

    def _position(self, name: str, a: Any, axis: int | None, out: Any, keepdims: bool) -> Any:
        """``argmax`` or ``argmin``: the first NaN, if there is one."""
        if not (a.size if axis is None else a.shape[axis]):
            raise ValueError(f"attempt to get {name} of an empty sequence")
        if not a.size:  # no result either
            shape = [1 if d == axis % a.ndim else n for d, n in enumerate(a.shape)]
            empty = self.zeros(shape, _INT64)
            return self.finish((empty if keepdims else empty.squeeze(axis)).raw, out)
        a = a.astype("uint8") if a.dtype.kind == "b" else a
        found = self._reduce(name, a, axis, None, keepdims)
        return self.finish(self.library.as_index(found.raw), out)

    def cumsum(self, a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
        """Cumulative sum."""
        return self._accumulate("sum", a, axis, dtype, out)

    def cumprod(self, a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
        """Cumulative product."""
        return self._accumulate("prod", a, axis, dtype, out)

    def _accumulate(self, name: str, a: Any, axis: int | None, dtype: Any, out: Any) -> Any:
        """``cumsum`` or ``cumprod``."""
        if axis is None:
            a, axis = a.reshape(-1), 0
        dtype = _dtype_of_sum(a.dtype) if dtype is None else numpy.dtype(dtype)
        raw = self.cast(a.raw, dtype)
        made = self.library.accumulate(name, raw, axis % a.ndim) if a.ndim else raw
        return self.finish(made, out)

    def diff(
        self, a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None
    ) -> Any:
        """Differences of neighbors."""
        axis %= a.ndim
        parts = [x for x in (prepend, a, append) if x is not None]
        a = self.concatenate(parts, axis) if len(parts) > 1 else a
        lead = (slice(None),) * axis
        for _ in range(n):
            later, earlier = a[(*lead, slice(1, None))], a[(*lead, slice(None, -1))]
            a = later != earlier if a.dtype.kind == "b" else later - earlier
        return a

    # -- order ------------------------------------------------------------------------------

    def sort(self, a: Any, axis: int | None = -1, kind: Any = None, **options: Any) -> Any:
        """Sorted copy, NaN last."""
        if axis is None:
            a, axis = a.reshape(-1), 0
        if not a.ndim:
            raise numpy.exceptions.AxisError(axis, 0)
        raw = self.library.sort(self._as_sortable(a).raw, axis % a.ndim)
        return self.wrap(self.cast(raw, a.dtype))

    def _as_sortable(self, a: Any) -> Any:
        """Bools as integers, which the standard sorts."""
        as_integers = a.dtype.kind == "b" and not self.library.computes_bools
        return a.astype("uint8") if as_integers else a

    def argsort(self, a: Any, axis: int | None = -1, kind: Any = None, **options: Any) -> Any:
        """Indices that sort, NaN last; the sort is stable."""
        if axis is None or not a.ndim:
            a, axis = a.reshape(-1), 0
        found = self.library.argsort(self._as_sortable(a).raw, axis % a.ndim)
        return self.wrap(self.library.as_index(found))

    # -- products ---------------------------------------------------------------------------

    def matmul(self, a: Any, b: Any, out: Any = None, **options: Any) -> Any:
        """Matrix product."""
        cls = self.array_type
        if a.__class__ is cls is b.__class__ and a.dtype is b.dtype and a.dtype.kind == "f":
            if len(a.shape) == 2 == len(b.shape) and a.shape[1] == b.shape[0]:
                product = self.library.matmul(a.raw, b.raw)
                return self.wrap(product) if out is None else self.write_out(out, product)
        a, b = self.asarray(a), self.asarray(b)
        if not (a.ndim and b.ndim):
            raise ValueError("matmul: Input operand does not have enough dimensions")
        inner = b.shape[-2 if b.ndim > 1 else -1]
        if a.shape[-1] != inner:
            raise ValueError(
                "matmul: Input operand 1 has a mismatch in its core dimension 0, with gufunc "
                f"signature (n?,k),(k,m?)->(n?,m?) (size {inner} is different from {a.shape[-1]})"
            )
        dtype = a.dtype if a.dtype == b.dtype else numpy.result_type(a.dtype, b.dtype)
        wide = _INT64 if dtype.kind == "b" else dtype
        product = self.library.matmul(self.cast(a.raw, wide), self.cast(b.raw, wide))
        return self.finish(self.cast(product, dtype), out)

    def dot(self, a: Any, b: Any, out: Any = None) -> Any:
        """Product over the last dimension of ``a`` and the last but one of ``b``."""
        if a.__class__ is self.array_type is b.__class__ and len(a.shape) == 2 == len(b.shape):
            return self.matmul(a, b, out)
        a, b = self.asarray(a), self.asarray(b)
        if not (a.ndim and b.ndim):
            return self.multiply(a, b, out=out)
        if b.ndim <= 2:
            return self.matmul(a, b, out)
        return self.tensordot(a, b, ((a.ndim - 1,), (b.ndim - 2,)))

    def tensordot(self, a: Any, b: Any, axes: Any = 2) -> Any:
        """Product over several dimensions."""
        if isinstance(axes, int):
            axes = range(a.ndim - axes, a.ndim), range(axes)
        left, right = (numpy.atleast_1d(each).astype(int).tolist() for each in axes)
        left, right = [d % a.ndim for d in left], [d % b.ndim for d in right]
        of_a = [d for d in range(a.ndim) if d not in left]
        of_b = [d for d in range(b.ndim) if d not in right]
        inner = math.prod(a.shape[d] for d in left)
        shape = [*(a.shape[d] for d in of_a), *(b.shape[d] for d in of_b)]
        x = a.transpose(of_a + left).reshape(math.prod(a.shape[d] for d in of_a), inner)
        y = b.transpose(right + of_b).reshape(inner, math.prod(b.shape[d] for d in of_b))
        return self.matmul(x, y).reshape(shape)

    def outer(self, a: Any, b: Any) -> Any:
        """Products of all pairs of elements."""
        return a.reshape(-1)[:, None] * b.reshape(-1)

    def vecdot(self, a: Any, b: Any, axis: int = -1) -> Any:
        """Product of vectors, the first conjugated."""
        return self.sum(self.conj(a) * b, axis)

    # -- parts of numbers -------------------------------------------------------------------

    def real(self, a: Any) -> Any:
        """Real parts."""
        return a.real

    def imag(self, a: Any) -> Any:
        """Imaginary parts."""
        return a.imag

    def isreal(self, a: Any) -> Any:
        """Whether imaginary parts are 0."""
        return a.imag == 0

    def divmod(self, a: Any, b: Any) -> tuple[Any, Any]:
        """Floor quotient and remainder."""
        return self.floor_divide(a, b), self.remainder(a, b)

    def round(self, a: Any, decimals: int = 0, out: Any = None) -> Any:
        """Round to decimals, ties to even."""
        if a.dtype.kind in "biu" and decimals >= 0:
            return self.finish(self.library.copy(a.raw), out)
        scale = 10.0**decimals
        rounded = self.rint(a * scale) / scale if decimals else self.rint(a)
        return self.finish(self.cast(rounded.raw, a.dtype), out)


def _check_not_empty(name: str, a: Any, axis: Any) -> None:
    """Raise ValueError if ``max`` or ``min`` would reduce no element."""
    axes = range(a.ndim) if axis is None else numpy.atleast_1d(axis)
    if any(a.shape[each] == 0 for each in axes):
        raise ValueError(f"zero-size array to reduction operation {name}imum which has no identity")


@functools.lru_cache(maxsize=256)
def _as_axis(axis: Any, ndim: int) -> Any:
    """Return an axis argument as None, an integer or a tuple, not negative."""
    if axis is None:
        return None
    if isinstance(axis, tuple):
        axes = tuple([_as_axis(each, ndim) for each in axis])
        return axes[0] if len(axes) == 1 else axes
    axis = int(axis)
    if not -ndim <= axis < max(ndim, 1):
        raise numpy.exceptions.AxisError(axis, ndim)
    return axis % ndim if ndim else None


def _dtype_of_sum(dtype: Dtype) -> Dtype:
    """Dtype of NumPy's sums."""
    if dtype.kind in "bi" and dtype.itemsize < 8:
        return _INT64
    return _UINT64 if dtype.kind == "u" and dtype.itemsize < 8 else dtype


def _dtype_of_mean(dtype: Dtype) -> Dtype:
    """Dtype of NumPy's means."""
    return _FLOAT64 if dtype.kind in "biu" else dtype
