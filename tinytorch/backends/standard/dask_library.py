"""Dask as an array library: lazy arrays of known shapes, computed in chunks."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from .backend import StandardBackend
from .library import Dtype, Elementwise, ArrayLibrary, Raw, Shape

#: Most bytes of an array that has one chunk whatever it is joined from.
_SMALL_BYTES = 1 << 20
#: Most bytes of an array that is joined to one chunk for a reshape.
_WHOLE_BYTES = 1 << 28


class DaskLibrary(ArrayLibrary):
    """Functions on arrays of Dask.

    Sorts, and indices that are arrays themselves, are read when the operation is called.

    Args:
        name: Name of the backend.
        dask: The module.
        array: The module ``dask.array``.
    """

    lazy = True
    computes_bools = True

    def __init__(self, name: str, dask: Any, array: Any) -> None:
        self._core: Any = array.core
        super().__init__(name, array, array.Array, dask.__version__)

    # -- dtypes and the host ----------------------------------------------------------------

    def find_dtype(self, word: str) -> Any:
        return numpy.dtype(word)

    def numpy_dtype(self, native: Any) -> Dtype:
        return native  # type: ignore[no-any-return]

    def from_host(self, host: numpy.ndarray[Any, Any]) -> Raw:
        self.native_dtype(host.dtype)
        if not host.flags.owndata or host.base is not None:
            host = host.copy()  # the caller may write to it before it is read
        return self.namespace.from_array(host, chunks="auto" if host.size else -1)

    def to_host(self, raw: Raw) -> numpy.ndarray[Any, Any]:
        return numpy.asarray(raw.compute())

    def scalar(self, value: Any, dtype: Dtype) -> Raw:
        return numpy.asarray(value, dtype)[()]

    # -- values -----------------------------------------------------------------------------

    def full(self, shape: Shape, value: Any, dtype: Dtype) -> Raw:
        value = numpy.asarray(value).astype(self.native_dtype(dtype))[()]
        return self.namespace.full(tuple(shape), value, dtype=dtype, chunks="auto")

    def astype(self, raw: Raw, dtype: Dtype) -> Raw:
        if raw.dtype.kind == "c" and dtype.kind not in "cb":
            raw = raw.real
        return raw.astype(self.native_dtype(dtype))

    def bitcast(self, raw: Raw, dtype: Dtype) -> Raw | None:
        return raw.view(dtype) if raw.dtype.itemsize == dtype.itemsize else None

    def reshape(self, raw: Raw, shape: Shape) -> Raw:
        try:
            return raw.reshape(tuple(shape))
        except NotImplementedError:  # chunks that the new shape would split
            if raw.nbytes > _WHOLE_BYTES:
                raise
            return raw.rechunk(-1).reshape(tuple(shape))

    def broadcast_to(self, raw: Raw, shape: Shape) -> Raw:
        """Broadcast in chunks; Dask's own chunk is the whole of a new dimension."""
        shape, raw = tuple(shape), self.namespace.asarray(raw)
        old = (1,) * (len(shape) - raw.ndim) + tuple(raw.shape)
        kept = ((1,),) * (len(shape) - raw.ndim) + tuple(raw.chunks)
        wanted = self._core.normalize_chunks("auto", shape, dtype=raw.dtype) if shape else ()
        chunks = tuple(
            own if size == new else each
            for size, new, own, each in zip(old, shape, kept, wanted, strict=True)
        )
        return self.namespace.broadcast_to(raw, shape, chunks)

    def draw(self, name: str, key: int, shape: Shape, dtype: Dtype) -> Raw:
        generator = self.namespace.random.default_rng(key)
        function = generator.random if name == "uniform" else generator.standard_normal
        return function(size=tuple(shape), chunks="auto", dtype=dtype)

    def permute(self, raw: Raw, axes: Sequence[int]) -> Raw:
        return raw.transpose(axes)

    def flip(self, raw: Raw, axes: Sequence[int]) -> Raw:
        return self.namespace.flip(raw, tuple(axes))

    def concatenate(self, raws: Sequence[Raw], axis: int) -> Raw:
        """Join, to one chunk if that is small: writes of elements would leave one chunk of each."""
        joined = self.namespace.concatenate(list(raws), axis=axis)
        return joined.rechunk(-1) if joined.nbytes <= _SMALL_BYTES else joined

    # -- indexing ---------------------------------------------------------------------------

    def as_index(self, raw: Raw) -> Raw:
        return raw.astype("int64")

    def read_at(self, raw: Raw, key: tuple[Any, ...]) -> Raw:
        if any(getattr(item, "dtype", numpy.dtype("int64")).kind == "b" for item in key):
            raise NotImplementedError(
                "an array of Dask of unknown shape: the number of elements at a mask depends on "
                "values; use where(mask, x, 0), or read the mask first"
            )
        return super().read_at(raw, key)

    def nonzero(self, raw: Raw) -> tuple[Raw, ...]:
        return self._convert_all(numpy.nonzero(self.to_host(raw)))

    def read_places(self, flat: Raw, places: Raw) -> Raw:
        return flat[numpy.asarray(places).reshape(-1)].reshape(places.shape)

    def write_places(self, flat: Raw, places: Raw, values: Raw) -> Raw:
        """Copy of ``flat`` with other values: joined, and selected by a table."""
        table = numpy.arange(flat.shape[0])
        at = numpy.asarray(places)
        table[at] = flat.shape[0] + numpy.arange(at.size)
        return self.namespace.concatenate([flat, values])[table]

    def take(self, raw: Raw, index: Raw, axis: int) -> Raw:
        index = numpy.asarray(index)
        found = self.namespace.take(raw, index.reshape(-1), axis=axis)
        return found.reshape((*raw.shape[:axis], *index.shape, *raw.shape[axis + 1 :]))

    def take_along_axis(self, raw: Raw, index: Raw, axis: int) -> Raw:
        rows = numpy.asarray(index)
        raw, index = (self.namespace.moveaxis(x, axis, -1) for x in (raw, self.from_host(rows)))
        shape = numpy.broadcast_shapes(raw.shape[:-1], index.shape[:-1])
        size, count = raw.shape[-1], index.shape[-1]
        raw = self.namespace.broadcast_to(raw, (*shape, size)).reshape(-1)
        rows = numpy.broadcast_to(numpy.moveaxis(rows, axis, -1), (*shape, count))
        starts = numpy.arange(rows.size // max(count, 1)).reshape(*shape, 1) * size
        places = starts + numpy.where(rows < 0, rows + size, rows)
        return self.namespace.moveaxis(self.read_places(raw, places), -1, axis)

    def searchsorted(self, sequence: Raw, values: Raw, side: str) -> Raw:
        return self._call_on_host(numpy.searchsorted, sequence, values, side)

    # -- reductions, order, products --------------------------------------------------------

    def reduce(self, name: str, raw: Raw, axis: Any, keepdims: bool, **options: Any) -> Raw:
        if name in ("std", "var"):
            options = {"ddof": options["correction"]}
        elif name in ("sum", "prod"):
            options["dtype"] = raw.dtype
        return getattr(self.namespace, name)(raw, axis=axis, keepdims=keepdims, **options)

    def accumulate(self, name: str, raw: Raw, axis: int) -> Raw:
        return getattr(self.namespace, f"cum{name}")(raw, axis=axis)

    def sort(self, raw: Raw, axis: int) -> Raw:
        return self._call_on_host(numpy.sort, raw, axis)

    def argsort(self, raw: Raw, axis: int) -> Raw:
        return self._call_on_host(numpy.argsort, raw, axis, "stable")

    def _call_on_host(self, function: Callable[..., Any], *args: Any) -> Raw:
        """Call a function of NumPy's with the arrays among ``args`` copied to the host."""
        arrays = [self.to_host(x) if isinstance(x, self.array_class) else x for x in args]
        return self.from_host(numpy.asarray(function(*arrays)))

    def _convert_all(self, hosts: Sequence[numpy.ndarray[Any, Any]]) -> tuple[Raw, ...]:
        """Convert arrays of NumPy's to arrays of Dask's."""
        return tuple(map(self.from_host, hosts))

    # -- functions by NumPy's names ---------------------------------------------------------

    def make_formulas(self) -> dict[str, Elementwise]:
        return {}

    def elementwise(self, name: str) -> Elementwise | None:
        ufunc = getattr(numpy, name)
        return lambda *raws: _apply(self.namespace, ufunc, raws)

    def submodule_function(self, module: str, name: str) -> Callable[..., Any] | None:
        return None

    def kernels(self, backend: Any) -> dict[str, Callable[..., Any]]:
        from .dask_kernels import make_kernels

        return make_kernels(self.namespace, backend.library.wrap)


class DaskBackend(StandardBackend):
    """Dask as a backend."""

    name = "dask"
    module = "dask.array"

    def adopt(self, data: Any) -> Any:
        if isinstance(data, self.raw_library.array_class) and any(n != n for n in data.shape):
            raise ValueError(
                f"an array of Dask of unknown shape {data.shape} cannot be a tensor; call its "
                "method compute_chunk_sizes() first"
            )
        return super().adopt(data)

    def squared_deviations(self, array: Any, axes: Any, keepdims: bool) -> Any:
        """``Backend.squared_deviations``; two passes would keep all chunks for the second one."""
        count = math.prod(array.shape if axes is None else [array.shape[i] for i in axes])
        found = array.raw.var(axes, dtype=numpy.float64, keepdims=keepdims)
        return self.wrap(found * count)

    def open(self) -> ArrayLibrary:
        import dask
        import dask.array

        return DaskLibrary(self.name, dask, dask.array)


def _apply(names: Any, ufunc: numpy.ufunc, raws: Sequence[Raw]) -> Any:
    """Apply a ufunc to arrays of Dask."""
    if ufunc.nout > 1:
        return getattr(names, ufunc.__name__)(*raws)
    if not any(isinstance(raw, names.Array) for raw in raws):  # a scalar would result
        raws = [names.asarray(raws[0]), *raws[1:]]
    return names.core.elemwise(_QuietUfunc(ufunc), *raws)


class _QuietUfunc:
    """Ufunc that ignores floating-point errors when a chunk is computed."""

    def __init__(self, ufunc: numpy.ufunc) -> None:
        self.ufunc, self.__name__ = ufunc, ufunc.__name__

    def __call__(self, *arrays: Any) -> Any:
        with numpy.errstate(all="ignore"):
            return self.ufunc(*arrays)
