"""Functions of CuPy that differ from NumPy's: creation, transfers, indices, kernels."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, NoReturn

import numpy

from . import _array, _devices, _kernels, _methods, cuda
from ._array import (
    flatiter,
    ndarray,
    poison_empty,
    row_major,
    unwrap,
    upload,
    view_of,
    wrap,
    wrap_result,
)  # fmt: skip
from ._functions import function
from ._manifest import names
from ._sync import log_sync
from ._ufunc import ufunc

_HOST_CALLBACKS = (
    "apply_along_axis apply_over_axes fromfunction fromiter piecewise vectorize poly1d "
    "broadcast save savez savez_compressed savetxt load loadtxt genfromtxt fromfile "
    "DataSource format_parser"
).split()


# Creation and transfers


def array(
    obj: Any, dtype: Any = None, copy: Any = True, order: Any = "K", subok: bool = False,
    ndmin: int = 0, *, blocking: bool = False,
) -> Any:  # fmt: skip
    """Return a device array; a device array is not copied where ``copy`` is None or False."""
    if not isinstance(obj, ndarray):
        made = upload(obj, dtype, copy, order, ndmin)
        if blocking:
            cuda.get_current_stream().synchronize()
        return made
    host = obj._host
    elsewhere = obj._device != _devices.current()
    if elsewhere and order == "K" and obj.size and not obj.flags.forc:
        raise NotImplementedError("CuPy cannot copy non-contiguous array between devices.")
    copied = numpy.array(host, dtype, copy=copy or elsewhere or None, order=order, ndmin=ndmin)
    return obj if copied is host else wrap(copied)


def asarray(
    a: Any, dtype: Any = None, order: Any = None, *, copy: Any = None, blocking: bool = False
) -> Any:
    """Return ``a`` on the device; no copy where it is there already with this dtype."""
    return array(a, dtype, copy, order or "K", blocking=blocking)


def ascontiguousarray(a: Any, dtype: Any = None) -> Any:
    """Return ``a`` in C order with at least one axis."""
    return array(a, dtype, None, "C", ndmin=1)


def asfortranarray(a: Any, dtype: Any = None) -> Any:
    """Return ``a`` in Fortran order."""
    return array(a, dtype, None, "F")


def asnumpy(
    a: Any, stream: Any = None, order: Any = "C", out: Any = None, *, blocking: bool = True
) -> Any:
    """Return a copy on the host, after a wait."""
    if not isinstance(a, ndarray):
        return numpy.array(a, order=order)
    log_sync("asnumpy")
    return a._download(order, out) if blocking or out is None else a.get(stream, order, out, False)


def empty(shape: Any, dtype: Any = float, order: Any = "C") -> ndarray:
    """Return an array of poison, since its values are undefined."""
    return wrap(poison_empty(shape, dtype, order))


def empty_like(
    prototype: Any, dtype: Any = None, order: Any = "K", subok: Any = None, shape: Any = None
) -> ndarray:
    """Return a poisoned array with the shape and dtype of ``prototype``."""
    host = numpy.empty_like(unwrap(prototype), dtype, order, False, shape)
    _array.check_dtype(host.dtype)
    host.fill(_array.poison(host.dtype))
    return wrap(host)


# Indices


def take(a: Any, indices: Any, axis: Any = None, out: Any = None) -> Any:
    """Take with every out-of-bounds index wrapped around, without an error."""
    return a.take(indices, axis, out)


def put(a: Any, ind: Any, v: Any, mode: str = "wrap") -> None:
    """Put with ``mode="wrap"``, the opposite of NumPy's default."""
    a.put(ind, v, mode)


def take_along_axis(a: ndarray, indices: ndarray, axis: Any) -> ndarray:
    """Gather with wrapped indices."""
    host, index, axis = _flat_or_axis(a, indices, axis)
    return wrap(row_major(numpy.take_along_axis(host, index, axis)))


def put_along_axis(arr: ndarray, indices: ndarray, values: Any, axis: Any) -> None:
    """Scatter with wrapped indices."""
    host, index, axis = _flat_or_axis(arr, indices, axis)
    numpy.put_along_axis(host, index, unwrap(values), axis)


def _flat_or_axis(a: ndarray, indices: ndarray, axis: int | None) -> tuple[Any, Any, Any]:
    size = a.size if axis is None else a.shape[axis]
    index = unwrap(indices)
    if index.dtype.kind not in "iu":
        raise IndexError("`indices` must be an integer array")
    _devices.check(a)
    return a._host, numpy.remainder(index, size) if size else index, axis


def ravel_multi_index(multi_index: Any, dims: Any, mode: Any = "wrap", order: Any = "C") -> Any:
    """Return flat indices; by default what is out of bounds is wrapped around, unlike NumPy's."""
    return _ravel_multi_index(multi_index, dims, mode, order)


def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """Choose by ``condition``; with one argument the host waits for the number of results."""
    if isinstance(condition, (bool, int, float)):
        raise AttributeError(f"{type(condition).__name__!r} object has no attribute 'astype'")
    if x is None and y is None:
        return condition.nonzero()
    if x is None or y is None:
        raise ValueError("Must provide both 'x' and 'y' or neither.")
    for operand in (condition, x, y):
        if isinstance(operand, (numpy.ndarray, list, tuple)):
            raise TypeError(f"Unsupported type {type(operand)}")
    return wrap(row_major(numpy.where(unwrap(condition), unwrap(x), unwrap(y))))


def sort(a: ndarray, axis: Any = -1, kind: Any = None) -> ndarray:
    """Sort a copy; CuPy has one algorithm, a stable one."""
    _methods.check_kind(kind)
    _devices.check(a)
    host = a._host.ravel() if axis is None else a._host
    order = _methods.stable_order(host, axis)
    return wrap(row_major(numpy.take_along_axis(host, order, axis)))


def argsort(a: Any, axis: Any = -1, kind: Any = None) -> Any:
    """Return the stable order of ``a``."""
    return a.argsort(axis, kind)


def lexsort(keys: Any) -> ndarray:
    """Sort by the rows of one 2-D device array; a sequence of keys is refused."""
    if not isinstance(keys, ndarray):
        raise AttributeError(f"{type(keys).__name__!r} object has no attribute 'ndim'")
    _devices.check(keys)
    return wrap(numpy.lexsort(keys._host))


def argmax(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False
) -> Any:
    """Return the index of the largest element."""
    return a.argmax(axis, out, dtype, keepdims)


def argmin(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False
) -> Any:
    """Return the index of the smallest element."""
    return a.argmin(axis, out, dtype, keepdims)


def repeat(a: Any, repeats: Any, axis: Any = None) -> Any:
    """Repeat elements; counts for each of them make the host wait."""
    return a.repeat(repeats, axis)


def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """Return a diagonal as a view that can be written to, unlike NumPy's."""
    return a.diagonal(offset, axis1, axis2)


def broadcast_to(array: ndarray, shape: Any) -> ndarray:
    """Return an expanded view that can be written to, unlike NumPy's."""
    host = numpy.broadcast_to(unwrap(array), shape)
    if array._host.flags.writeable:
        host.flags.writeable = True
    return array if host is array._host else view_of(host, array)


def matmul(x1: Any, x2: Any, /, out: Any = None, **kwargs: Any) -> Any:
    """Multiply matrices, both of them device arrays."""
    for operand in (x1, x2):
        if not isinstance(operand, ndarray):
            raise TypeError(f"Unsupported type {type(operand)}")
    _methods.check_product(x1, x2)
    return _matmul(x1, x2, **kwargs) if out is None else _matmul(x1, x2, out=out, **kwargs)


def _row_major_matmul(x1: Any, x2: Any, **kwargs: Any) -> Any:
    """NumPy's product, but with batches of matrices in C order, as CuPy allocates them."""
    if x1.dtype.char == x2.dtype.char == "E":  # cuBLAS sums it in float32
        wide = numpy.matmul(x1.astype("float32"), x2.astype("float32"), order="C", **kwargs)
        return wide.astype(x1.dtype)
    return numpy.matmul(x1, x2, order="C", **kwargs)


def full(shape: Any, fill_value: Any, *args: Any, **kwargs: Any) -> Any:
    """Return an array of one value, which cannot be a list."""
    _check_fill_value(fill_value)
    return _full(shape, fill_value, *args, **kwargs)


def full_like(a: Any, fill_value: Any, *args: Any, **kwargs: Any) -> Any:
    """Return an array like ``a`` of one value, which cannot be a list."""
    _check_fill_value(fill_value)
    return _full_like(a, fill_value, *args, **kwargs)


def _check_fill_value(fill_value: Any) -> None:
    if isinstance(fill_value, (list, tuple)):
        raise AttributeError(f"{type(fill_value).__name__!r} object has no attribute 'dtype'")


_full = function("full", names("cupy")["full"], numpy.full)
_full_like = function("full_like", names("cupy")["full_like"], numpy.full_like)
_ravel_multi_index = function(
    "ravel_multi_index", names("cupy")["ravel_multi_index"], numpy.ravel_multi_index
)
_matmul = function("matmul", names("cupy")["matmul"], _row_major_matmul)


# The library itself


def get_array_module(*args: Any) -> Any:
    """Return this module where an argument is a device array, else NumPy."""
    on_device = any(isinstance(arg, ndarray) for arg in args)
    return sys.modules[__package__ or "strictcupy"] if on_device else numpy


def is_available() -> bool:
    """Return True: the stand-in's device is always there."""
    return True


def _refuse(name: str) -> Callable[..., NoReturn]:
    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(f"CuPy has {name}; strictcupy does not model it")

    return refuse


class _Grid:
    """``mgrid``, ``ogrid``, ``r_`` and ``c_``: NumPy's, on the device."""

    def __init__(self, twin: Any) -> None:
        self._twin = twin

    def __getitem__(self, key: Any) -> Any:
        return wrap_result(self._twin[unwrap(key)])


OWN: dict[str, Any] = {
    **{name: _refuse(f"cupy.{name}") for name in _HOST_CALLBACKS},
    "ndarray": ndarray,
    "ufunc": ufunc,
    "flatiter": flatiter,
    "array": array,
    "asarray": asarray,
    "asanyarray": asarray,
    "ascontiguousarray": ascontiguousarray,
    "asfortranarray": asfortranarray,
    "asnumpy": asnumpy,
    "empty": empty,
    "empty_like": empty_like,
    "full": full,
    "full_like": full_like,
    "take": take,
    "put": put,
    "broadcast_to": broadcast_to,
    "take_along_axis": take_along_axis,
    "put_along_axis": put_along_axis,
    "where": where,
    "sort": sort,
    "argsort": argsort,
    "lexsort": lexsort,
    "argmax": argmax,
    "argmin": argmin,
    "repeat": repeat,
    "matmul": matmul,
    "ravel_multi_index": ravel_multi_index,
    "diagonal": diagonal,
    "get_array_module": get_array_module,
    "is_available": is_available,
    "get_default_memory_pool": cuda.get_default_memory_pool,
    "get_default_pinned_memory_pool": cuda.get_default_memory_pool,
    "ElementwiseKernel": _kernels.ElementwiseKernel,
    "RawKernel": _refuse("cupy.RawKernel"),
    "RawModule": _kernels.RawModule,
    "ReductionKernel": _refuse("cupy.ReductionKernel"),
    "fuse": _refuse("cupy.fuse"),
    "mgrid": _Grid(numpy.mgrid),
    "ogrid": _Grid(numpy.ogrid),
    "r_": _Grid(numpy.r_),
    "c_": _Grid(numpy.c_),
    "AxisError": numpy.exceptions.AxisError,
    "ComplexWarning": numpy.exceptions.ComplexWarning,
    "RankWarning": numpy.exceptions.RankWarning,
    "VisibleDeprecationWarning": numpy.exceptions.VisibleDeprecationWarning,
    "TooHardError": numpy.exceptions.TooHardError,
    "cfloat": numpy.complex128,
    "complex_": numpy.complex128,
    "float_": numpy.float64,
    "singlecomplex": numpy.complex64,
    "annotations": None,
}
