"""Default implementations of a backend's operations: indexing, scans, special functions.

Scans go by doubling, for libraries whose functions of two arrays cannot accumulate. NumPy's can,
but slice after slice is several times faster where slices are large, and the last true element is
found sooner by repeating its place.

Reference:
    W. D. Hillis, G. L. Steele, Data parallel algorithms, Communications of the ACM 29, 1986.
"""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy

from .devices import Array, Placement
from .errors import how_to_install

OUT_OF_BOUNDS = "{name}(): index {index} is out of bounds for dimension {dim} with size {size}"


class Indices(Placement):
    """Part of ``Backend`` for indexing, sorting and scans, with defaults."""

    library: ModuleType

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    def write_zeros(self, target: Array) -> None:
        """Write zeros to all of ``target``."""
        target.fill(0)

    def write_item(self, target: Array, index: Any, value: Any) -> None:
        """``target[index] = value`` in place."""
        target[index] = value

    def write_masked(self, target: Array, mask: Array, values: Array) -> None:
        """Write the k-th element of ``values`` to ``target`` at the k-th True of ``mask``.

        The arrays are row-major, and ``values`` has at least one element.
        """
        xp = self.library
        if target.dtype.num > 255:  # libraries' ``where`` does not accept bfloat16
            target, values = (array.view(f"i{array.itemsize}") for array in (target, values))
        rank = xp.cumsum(mask.reshape(-1), dtype="int64") - 1
        chosen = xp.take(values.reshape(-1), xp.clip(rank, 0, values.size - 1))
        target[...] = xp.where(mask, chosen.reshape(mask.shape), target)

    def index_add(self, target: Array, index: Any, values: Array) -> None:
        """``target[index] += values`` in place, repeated indices summed."""
        self.library.add.at(target, index, values)

    def sparse_product(
        self, values: Array, rows: Array, columns: Array, size: int, dense: Array
    ) -> Array | None:
        """Product of a sparse matrix of ``size`` rows and a dense matrix or vector, or None.

        ``values`` are the elements of the sparse matrix at the int64 indices ``rows`` and
        ``columns``, which may repeat. None: the caller computes it with ``index_add``.
        """
        return None

    def index_combine(self, name: str, target: Array, index: Array, values: Array) -> None:
        """``index_add`` with the ufunc ``name`` instead of a sum; all arrays are 1-d."""
        getattr(self.library, name).at(target, index, values)

    def accumulate(self, name: str, array: Array, axis: int) -> Array:
        """Cumulative results of the ufunc ``name`` along ``axis``."""
        return getattr(self.library, name).accumulate(array, axis=axis)

    def scan(self, combine: Callable[[Array, Array], Array], array: Array, axis: int) -> Array:
        """Cumulative results of an associative function of two arrays along ``axis``."""

        return scan(self, combine, array, axis)

    def order(self, array: Array, axis: int, descending: bool = False) -> Array:
        """int64 indices that sort along ``axis``. The sort is stable and NaN is largest."""
        xp = self.library
        if not descending:
            return self.astype(self.argsort(array, axis=axis, kind="stable"), "int64")
        # A stable sort of the reversed elements, reversed, keeps equal elements in their order.
        found = self.argsort(xp.flip(array, axis), axis=axis, kind="stable")
        return array.shape[axis] - 1 - self.astype(xp.flip(found, axis), "int64")

    def leading(self, array: Array, count: int, axis: int, descending: bool = False) -> Array:
        """First ``count`` indices of ``order`` along ``axis``; equal elements in any order."""
        return self.order(array, axis, descending)[(slice(None),) * axis + (slice(0, count),)]

    def pick(self, array: Array, axis: int, place: Any) -> Array:
        """Indices of the elements at one position of ``order``; ``axis`` has size 1.

        The position is an int, or an int64 array with one for each row, in which ``axis`` has
        size 1.
        """
        if place.__class__ is int:
            return self.order(array, axis)[(slice(None),) * axis + (slice(place, place + 1),)]
        return self.library.take_along_axis(self.order(array, axis), place, axis)

    def last_true(self, mask: Array, axis: int) -> Array:
        """int64 index of the last True up to each position along ``axis``; 0 if there is none."""
        place = self.library.arange(mask.shape[axis], dtype="int64")
        place = place.reshape(tuple(-1 if i == axis else 1 for i in range(mask.ndim)))
        return self.accumulate("maximum", self.library.where(mask, place, 0), axis)

    def take_valid(self, array: Array, index: Array) -> Array:
        """Elements of a one-dimensional array at indices that are not negative and in bounds."""
        return array.take(index)

    def take_in_each(self, array: Array, index: Array) -> Array:
        """Read all channels of an example at the same positions.

        Args:
            array: Array of shape ``(batch, channels, size)``.
            index: Valid indices of shape ``(batch, n)``.

        Returns:
            Array of shape ``(batch, channels, n)``.
        """
        return self.library.take_along_axis(array, index[:, None, :], axis=2)

    def check_read(self, index: Any) -> None:
        """Raise if the number of elements at ``index`` depends on values that do not exist."""

    def check_indices(
        self,
        name: str,
        index: Array,
        size: int,
        dim: int,
        negative: bool = True,
        text: str = OUT_OF_BOUNDS,
        error: type[Exception] = IndexError,
    ) -> None:
        """Raise ``error`` if an element of ``index`` is out of bounds for ``size``."""
        if not index.size:
            return
        low, high = self.ends(index)
        if high >= size or low < (-size if negative else 0):
            wrong = high if high >= size else low
            raise error(text.format(name=name, index=wrong, dim=dim, size=size))

    def ends(self, index: Array) -> tuple[int, int]:
        """Minimum and maximum of integers; the host waits."""
        return _ends(index)

    def extremes(self, index: Array) -> tuple[int, int] | None:
        """Minimum and maximum; None if ``index`` is empty or the host would have to wait."""
        return self.ends(index) if index.size else None

    def check_extremes(self, name: str, extremes: Array, size: int, dim: int, text: str) -> None:
        """``check_indices`` for indices whose minimum and maximum are known."""
        self.check_indices(name, extremes, size, dim, False, text)

    def holds(self, valid: Array) -> bool:
        """Whether all elements are True, which is expected; the host waits.

        A backend that records continues as if it were always so, and a replay raises where it is
        not.
        """
        return bool(valid.all())

    def check_all(self, valid: Array, message: str) -> None:
        """Raise RuntimeError with ``message`` unless every element of ``valid`` is True."""
        if not bool(valid.all()):
            raise RuntimeError(message)


def _ends(index: Array) -> tuple[int, int]:
    """Minimum and maximum of ``index``; Python's functions are faster on few elements."""
    if index.size <= 64:
        numbers = index.reshape(-1).tolist()
        return min(numbers), max(numbers)
    return int(index.min()), int(index.max())


if TYPE_CHECKING:
    from .devices import Array

Combine = Callable[[Any, Any], Any]

#: With at least this many elements for each True, ``last_true`` visits the True elements alone.
_FEW = 8

#: From this many elements in a slice on, one call per slice is faster.
_LARGE = 512
#: Least number of adjacent elements of a slice for that.
_SIDE_BY_SIDE = 64


def scan(xp: Indices, combine: Combine, array: Array, axis: int) -> Array:
    """Cumulative results of an associative ``combine`` along ``axis``, in log2(size) steps.

    Args:
        xp: The backend.
        combine: Function of the results of the earlier and the later part.
        array: Array of at least one dimension.
        axis: The dimension of the scan.

    Returns:
        Array of the same shape; element i combines elements 0 to i.
    """
    out = xp.moveaxis(array, axis, 0)
    step = 1
    while step < array.shape[axis]:
        out = xp.concatenate((out[:step], combine(out[:-step], out[step:])))
        step *= 2
    return xp.moveaxis(out, 0, axis)


def index_combine(
    xp: Indices, combine: Combine, target: Array, index: Array, values: Array
) -> None:
    """``target[i] = combine(target[i], v)`` for every pair of ``index`` and ``values``.

    The pairs are sorted by index, and a scan combines the values of equal indices. The last
    result of each index is written.

    Args:
        xp: The backend.
        combine: An associative function of two arrays.
        target: Array of shape ``(size,)``, changed in place.
        index: Integer array of shape ``(n,)``, each within ``target``.
        values: Array of shape ``(n,)``.
    """
    if not index.size:
        return
    order = xp.argsort(index)
    index, values = index[order], values[order]
    step = 1
    while step < index.size:
        joined = combine(values[:-step], values[step:])
        same = index[step:] == index[:-step]
        values = xp.concatenate((values[:step], xp.where(same, joined, values[step:])))
        step *= 2
    size = target.size
    # All but the last result of each index are written to one element beyond the end.
    slot = xp.concatenate((xp.where(index[1:] == index[:-1], size, index[:-1]), index[-1:]))
    longer = xp.concatenate((target, target[:1]))
    longer[slot] = combine(longer[slot], values)
    target[...] = longer[:-1]


def accumulate(ufunc: Any, array: Any, axis: int, dtype: Any = None, out: Any = None) -> Any:
    """``ufunc.accumulate``, faster if the slices across ``axis`` are large.

    It then calls the ufunc on whole slices. The arguments are NumPy's.
    """
    if not _has_large_slices(array.shape, axis):
        return ufunc.accumulate(array, axis, dtype, out)
    if out is None:
        first = array[(slice(1),) * array.ndim]  # shows the dtype of NumPy's results
        out = numpy.empty(array.shape, ufunc.accumulate(first, axis, dtype).dtype)
    results, slices = numpy.moveaxis(out, axis, 0), numpy.moveaxis(array, axis, 0)
    results[0] = slices[0]
    native = out.dtype if dtype is None else dtype
    for before, one, result in zip(results, slices[1:], results[1:], strict=False):
        ufunc(before, one, out=result, dtype=native, casting="unsafe")
    return out


def _has_large_slices(shape: tuple[int, ...], axis: int) -> bool:
    """Whether slices across ``axis`` are large enough for one call of NumPy per slice."""
    beside = math.prod(shape[axis + 1 :])
    return (
        shape[axis] > 0 and beside >= _SIDE_BY_SIDE and (math.prod(shape[:axis]) * beside >= _LARGE)
    )


def last_true(mask: Any, axis: int) -> Any:
    """``Backend.last_true`` for NumPy; None if ``mask`` has so many True that a scan is as fast."""
    if _has_large_slices(mask.shape, axis):
        return _last_true_by_slices(mask, axis)
    if not mask.size or mask.shape[axis] < _FEW:
        return None
    rows = numpy.array(numpy.moveaxis(mask, axis, -1), order="C")  # a copy to write to
    rows[..., 0] = True
    places = numpy.flatnonzero(rows)
    if places.size * _FEW > mask.size:
        return None
    lengths = numpy.diff(places, append=mask.size)
    out = numpy.repeat(places % rows.shape[-1], lengths).reshape(rows.shape)
    return numpy.ascontiguousarray(numpy.moveaxis(out, -1, axis))


def _last_true_by_slices(mask: Any, axis: int) -> Any:
    """``last_true``, one slice across ``axis`` after the other."""
    out = numpy.empty(mask.shape, numpy.int64)
    last = numpy.zeros((*mask.shape[:axis], *mask.shape[axis + 1 :]), numpy.int64)
    slices = zip(numpy.moveaxis(out, axis, 0), numpy.moveaxis(mask, axis, 0), strict=True)
    for position, (result, true) in enumerate(slices):
        numpy.copyto(last, position, where=true)
        result[...] = last
    return out


if TYPE_CHECKING:
    from .base import Array, Backend

#: Arrays of at most so many elements are cached, and so many of them.
_FEW_ELEMENTS = 4096
_MOST = 64


class SmallArrays(dict[Any, "Array"]):
    """Cache of small arrays on the CPU that depend on shapes alone.

    An array of a device is computed by a stream, which another stream would have to wait for.
    """

    def __init__(self, xp: Backend, make: Callable[[Any], Array]) -> None:
        self.make: Callable[[Any], Array] = make
        self.most: int = _MOST if xp.device_type == "cpu" else 0

    def __missing__(self, key: Any) -> Array:
        array = self.make(key)
        if array.size <= _FEW_ELEMENTS and self.most:
            if len(self) >= self.most:
                self.clear()
            self[key] = array
        return array


def row_starts(xp: Backend, shape: tuple[int, ...]) -> Array:
    """Offsets of the first elements of the rows of a row-major array."""
    return xp.arange(0, math.prod(shape), shape[-1]).reshape(shape[:-1])


def lane_starts(xp: Backend, key: tuple[tuple[int, ...], int, tuple[int, ...]]) -> Array:
    """Offsets of the lanes along a dimension of a row-major array.

    Args:
        xp: The backend.
        key: Sizes of the result, of which that of the lanes' dimension counts as 1; that
            dimension; the shape of the array.
    """
    counts, at, shape = key
    offsets: Any = 0
    for d, count in enumerate(counts):
        if d != at:
            steps = xp.arange(count, dtype="int64") * math.prod(shape[d + 1 :])
            form = tuple(-1 if i == d else 1 for i in range(len(counts)))
            offsets = offsets + steps.reshape(form)
    return offsets


@functools.cache
def _error_formulas() -> Any:
    """The module of the error functions. An import at each call takes longer than some of them."""
    from .numpy import float_functions

    return float_functions


@functools.cache
def _gamma_formulas() -> Any:
    """The module of the gamma functions; see ``_error_formulas``."""
    from .numpy import gamma_formulas

    return gamma_formulas


class SpecialFunctions(Indices):
    """Part of ``Backend`` for special functions, by formulas of this package or by SciPy."""

    def erf(self, array: Array) -> Array:
        """Error function of a real floating-point array."""
        return self._error_function("erf", array)

    def erfc(self, array: Array) -> Array:
        """``1 - erf(x)``."""
        return self._error_function("erfc", array)

    def erfcx(self, array: Array) -> Array:
        """``exp(x^2) * erfc(x)``."""
        return self._error_function("erfcx", array)

    def erfinv(self, array: Array) -> Array:
        """Inverse of the error function."""
        return self._error_function("erfinv", array)

    def ndtri(self, array: Array) -> Array:
        """Inverse of ``ndtr``."""
        return self._error_function("ndtri", array)

    def ndtr(self, array: Array) -> Array:
        """``P(X <= x)`` for a standard normal X; in float32 with an absolute error of 1e-7."""
        return self._error_function("ndtr", array)

    def digamma(self, array: Array) -> Array:
        """Derivative of the logarithm of the gamma function, of a real floating-point array."""
        return self._apply_formula(_gamma_formulas().digamma, array)

    def trigamma(self, array: Array) -> Array:
        """Derivative of ``digamma``."""
        return self._apply_formula(_gamma_formulas().trigamma, array)

    def _error_function(self, name: str, array: Array) -> Array:
        """Apply the formula of this package called ``name``, for float32 or for float64."""
        single = array.dtype.itemsize <= 4
        return self._apply_formula(_error_formulas().formula(name, single), array)

    def _apply_formula(self, formula: Callable[[Any, Array], Array], array: Array) -> Array:
        """Apply ``formula(xp, array)`` block by block; float16 is computed in float32."""
        wide = array.astype("float32", copy=False) if array.dtype.itemsize < 4 else array
        values = self.blockwise(lambda part: formula(self, part), wide)
        return values.astype(array.dtype, copy=False)

    def special(self, name: str) -> Callable[..., Array]:
        """Return SciPy's special function ``name`` for this library's arrays, or a formula.

        Raises:
            ImportError: If it needs a package that is not installed.
        """
        found = getattr(sys.modules.get("scipy.special"), name, None)
        if found is not None and sys.modules.get("scipy") is not None:
            return found  # type: ignore[no-any-return]
        try:
            from scipy import special
        except ImportError as error:
            formulas = _gamma_formulas().FORMULAS
            if name in formulas:
                return functools.partial(formulas[name], self)
            raise ImportError(
                f"the special function {name!r} is SciPy's: "
                f"install it with `{how_to_install('scipy')}`"
            ) from error
        return getattr(special, name)  # type: ignore[no-any-return]
