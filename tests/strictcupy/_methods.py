"""The methods and operators of the stand-in's array, from the manifest's signatures."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy

from . import _devices, _index
from ._array import ndarray, row_major, unwrap, view_of, wrap, wrap_result
from ._formulas import FORMULAS
from ._functions import check_host_numbers, checker, has_order
from ._low import reject_bfloat16
from ._manifest import methods, names
from ._sync import log_sync
from ._ufunc import ufunc

_OPERATORS = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "true_divide",
    "floordiv": "floor_divide", "mod": "remainder", "pow": "power", "and": "bitwise_and",
    "or": "bitwise_or", "xor": "bitwise_xor", "lshift": "left_shift", "rshift": "right_shift",
    "divmod": "divmod",
}  # fmt: skip
_COMPARISONS = {
    "lt": "less", "le": "less_equal", "eq": "equal", "ne": "not_equal", "gt": "greater",
    "ge": "greater_equal",
}  # fmt: skip
_UNARY = {"neg": "negative", "pos": "positive", "invert": "invert", "abs": "absolute"}
_WAITING = frozenset({"argpartition", "nonzero", "compress", "dump", "dumps", "tofile"})
# A view needs no kernel, and a copy is the way from one device to another.
_ON_ANY_DEVICE = frozenset({"copy", "ravel", "reshape", "squeeze", "swapaxes", "transpose"})
_UFUNCS = names("cupy")


def install() -> None:
    """Give ``ndarray`` every method and operator that CuPy's has and this class lacks."""
    for name, spec in methods("ndarray").items():
        if name not in vars(ndarray):
            setattr(ndarray, name, reject_bfloat16(name, _OWN.get(name) or _method(name, spec)))
    _install_operators()
    setattr(ndarray, "__getitem__", _index.getitem)
    setattr(ndarray, "__setitem__", _index.setitem)


def _method(name: str, spec: dict[str, Any]) -> Callable[..., Any]:
    check = checker(name, spec)
    own = FORMULAS.get(name)
    twin = own or getattr(numpy.ndarray, name, None) or getattr(numpy, name, None)
    if twin is None:
        return _refusing(name)
    anywhere, ordered = name in _ON_ANY_DEVICE, has_order(name, spec)
    waits, takes_numbers = name in _WAITING, name in ("reshape", "transpose")

    def method(self: ndarray, *args: Any, **kwargs: Any) -> Any:
        check(args, kwargs)
        if takes_numbers:
            check_host_numbers(args)
        if waits:
            log_sync(name)
        if not anywhere:
            _devices.check(self)
        with numpy.errstate(all="ignore"):
            named = {key: unwrap(value) for key, value in kwargs.items()}
            result = twin(self._host, *map(unwrap, args), **named)
        out = kwargs.get("out")
        if type(out) is ndarray:
            return out
        return wrap_result(result if ordered else row_major(result), (self,))

    method.__name__ = name
    return method


def _refusing(name: str) -> Callable[..., Any]:
    def method(self: ndarray, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"CuPy has ndarray.{name}; strictcupy does not model it")

    return method


def _install_operators() -> None:
    for dunder, name in _OPERATORS.items():
        function = ufunc(name, _UFUNCS[name], FORMULAS.get(name, getattr(numpy, name)))
        setattr(ndarray, f"__{dunder}__", _binary(function))
        setattr(ndarray, f"__r{dunder}__", _reflect(function))
        if dunder != "divmod":
            setattr(ndarray, f"__i{dunder}__", _in_place(function))
    for dunder, name in _COMPARISONS.items():
        function = ufunc(name, _UFUNCS[name], getattr(numpy, name))
        setattr(ndarray, f"__{dunder}__", _comparison(function, dunder))
    for dunder, name in _UNARY.items():
        setattr(ndarray, f"__{dunder}__", _unary(ufunc(name, _UFUNCS[name], getattr(numpy, name))))
    setattr(ndarray, "__matmul__", _matmul(operator.matmul))
    setattr(ndarray, "__rmatmul__", _refuse_reflected)


def _defers_to(other: Any) -> bool:
    """Whether the other operand's class asks for its own reflected operator."""
    return (
        type(other) is not ndarray
        and not isinstance(other, (numpy.ndarray, numpy.generic))
        and getattr(other, "__array_ufunc__", False) is None
    )


def _binary(function: ufunc) -> Callable[[ndarray, Any], Any]:
    def method(self: ndarray, other: Any) -> Any:
        return NotImplemented if _defers_to(other) else function(self, other)

    return method


def _reflect(function: ufunc) -> Callable[[ndarray, Any], Any]:
    def method(self: ndarray, other: Any) -> Any:
        return function(other, self)

    return method


def _in_place(function: ufunc) -> Callable[[ndarray, Any], Any]:
    def method(self: ndarray, other: Any) -> Any:
        return function(self, other, self)

    return method


def _unary(function: ufunc) -> Callable[[ndarray], Any]:
    def method(self: ndarray) -> Any:
        return function(self)

    return method


def _comparison(function: ufunc, dunder: str) -> Callable[[ndarray, Any], Any]:
    def method(self: ndarray, other: Any) -> Any:
        if type(other) is ndarray or not _never_equal(other):
            return function(self, other)
        if dunder in ("eq", "ne"):
            return wrap(numpy.full(self.shape, dunder == "ne"))
        raise TypeError(f"Unsupported type {type(other)}")

    return method


def _never_equal(other: Any) -> bool:
    return other is None or getattr(type(other), "__eq__") is object.__eq__


def _matmul(operation: Callable[[Any, Any], Any]) -> Callable[[ndarray, Any], Any]:
    def method(self: ndarray, other: Any) -> Any:
        if type(other) is not ndarray:
            return NotImplemented if _defers_to(other) else _refuse(other)
        _devices.check(self, other)
        check_product(self, other)
        with numpy.errstate(all="ignore"):
            return wrap(operation(self._host, other._host))

    return method


def _refuse_reflected(self: ndarray, other: Any) -> Any:
    return NotImplemented if _defers_to(other) else _refuse(other)


def check_product(a: ndarray, b: ndarray) -> None:
    """Refuse, in CuPy's words, what cannot be multiplied."""
    if not (a.ndim and b.ndim):
        raise ValueError("Scalar operands are not allowed, use '*' instead")
    if a.shape[-1] != b.shape[-2 if b.ndim > 1 else -1]:
        raise ValueError("Axis dimension mismatch")


def _refuse(other: Any) -> Any:
    raise TypeError(f"Unsupported type {type(other)}")


# Methods whose meaning differs from NumPy's.


def _take(self: ndarray, indices: Any, axis: Any = None, out: Any = None) -> Any:
    _devices.check(self, indices, out)
    index = indices if isinstance(indices, int) else _index_array(indices)
    result = numpy.take(self._host, index, axis, mode="wrap")
    if out is None:
        return wrap(result)
    if out.dtype != result.dtype:
        raise TypeError("Output dtype mismatch")
    if out.shape != result.shape:
        raise ValueError("Output shape mismatch")
    out._host[...] = result
    return out


def _index_array(indices: Any) -> Any:
    if isinstance(indices, ndarray):
        return indices._host
    log_sync("upload")
    return numpy.asarray(indices, int)


def _put(self: ndarray, indices: Any, values: Any, mode: str = "wrap") -> None:
    _devices.check(self, indices, values)
    if mode == "raise":
        log_sync("put")
    host_values = values._host if isinstance(values, ndarray) else numpy.asarray(values)
    numpy.put(self._host, _index_array(indices), host_values, mode=mode)  # type: ignore[arg-type]


def _repeat(self: ndarray, repeats: Any, axis: Any = None) -> ndarray:
    if isinstance(repeats, (ndarray, list, tuple)):
        log_sync("repeat")
    return wrap(numpy.repeat(self._host, unwrap(repeats), axis))


def _sort(self: ndarray, axis: int = -1, kind: Any = None) -> None:
    check_kind(kind)
    _check_in_order(self)
    self._host[...] = numpy.take_along_axis(self._host, stable_order(self._host, axis), axis)


def _partition(self: ndarray, kth: Any, axis: int = -1) -> None:
    _check_in_order(self)
    length = self.shape[axis]
    for place in (kth,) if isinstance(kth, int) else kth:
        at = place + length if place < 0 else place
        if not 0 <= at < length:
            raise ValueError(f"kth(={at}) out of bounds {length}")
    self._host.partition(kth, axis)


def _check_in_order(array: ndarray) -> None:
    _devices.check(array)
    if not array.ndim:
        raise numpy.exceptions.AxisError("Sorting arrays with the rank of zero is not supported")
    if not array._host.flags.c_contiguous:
        raise NotImplementedError("Sorting non-contiguous array is not supported.")


def _argsort(self: ndarray, axis: Any = -1, kind: Any = None) -> ndarray:
    check_kind(kind)
    _devices.check(self)
    order = stable_order(self._host, axis)
    if axis is None or not order.ndim:
        return wrap(order)
    # CuPy sorts rows, and shows them where they belong.
    rows = numpy.ascontiguousarray(numpy.moveaxis(order, axis, -1))
    return wrap(numpy.moveaxis(rows, -1, axis))


def stable_order(host: Any, axis: Any) -> Any:
    """Return the order of elements: by their bits in one dimension, a NaN with a sign first."""
    if host.dtype.char not in "fd" or host.ndim != 1 and axis is not None:
        return host.argsort(axis, kind="stable")
    flat = host.ravel()
    return numpy.lexsort((flat, ~(numpy.isnan(flat) & numpy.signbit(flat))))


def check_kind(kind: Any) -> None:
    """Refuse the sorting algorithms that CuPy does not know."""
    if kind is not None and kind != "stable":
        raise ValueError("kind can only be None or 'stable'")


def _diagonal(self: ndarray, offset: int = 0, axis1: int = 0, axis2: int = 1) -> ndarray:
    host = numpy.diagonal(self._host, offset, axis1, axis2)
    host.flags.writeable = self._host.flags.writeable  # NumPy hands it out read-only
    return view_of(host, self)


def _dot(self: ndarray, b: ndarray, out: Any = None) -> Any:
    if not isinstance(b, ndarray):
        raise TypeError(f"Unsupported type {type(b)}")
    return wrap_result(numpy.dot(unwrap(self), unwrap(b), unwrap(out)))


def _argextreme(name: str) -> Callable[..., Any]:
    def method(
        self: ndarray, axis: Any = None, out: Any = None, dtype: Any = None, keepdims: bool = False
    ) -> Any:
        _devices.check(self, out)
        result = getattr(numpy, name)(self._host, axis, keepdims=keepdims)
        result = numpy.asarray(result).astype(dtype or numpy.int64)
        if out is None:
            return wrap(result)
        out._host[...] = result
        return out

    return method


_OWN: dict[str, Callable[..., Any]] = {
    "take": _take,
    "put": _put,
    "repeat": _repeat,
    "sort": _sort,
    "partition": _partition,
    "argsort": _argsort,
    "diagonal": _diagonal,
    "dot": _dot,
    "argmax": _argextreme("argmax"),
    "argmin": _argextreme("argmin"),
}
