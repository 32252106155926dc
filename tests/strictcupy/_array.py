"""The array of the stand-in: a wrapper that holds a NumPy array and never hands it out."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import numpy

from . import _devices, _pinned
from ._manifest import ACCEPTED_DTYPES
from ._sync import log_sync

_PLAIN = frozenset({int, float, complex, bool, str, type(None), type(...), slice, type})
_new = object.__new__


class ndarray:
    """CuPy's array as far as code can tell: refuses implicit conversion, waits are logged."""

    __slots__ = ("__weakref__", "_base", "_device", "_host")

    # With None, NumPy's ufuncs raise TypeError, while its scalars defer to the operators here.
    # (CuPy forwards NumPy's ufuncs; an op must not depend on that.)
    __array_ufunc__ = None
    __array_priority__ = 100
    __hash__ = None  # type: ignore[assignment]
    _host: numpy.ndarray[Any, Any]
    _base: ndarray | None
    #: The number of the device that holds it.
    _device: int

    def __init__(
        self, shape: Any, dtype: Any = float, memptr: Any = None, strides: Any = None,
        order: str = "C",
    ) -> None:  # fmt: skip
        if strides is not None or memptr is not None and order != "C":
            raise NotImplementedError("strictcupy lays arrays over memory row by row alone")
        there = memptr is not None
        self._host = memptr.laid_out(shape, dtype) if there else poison_empty(shape, dtype, order)
        self._base = None
        self._device = _devices.current()

    def __array__(self, dtype: Any = None, copy: Any = None) -> NoReturn:
        raise TypeError(
            "Implicit conversion to a NumPy array is not allowed. "
            "Please use `.get()` to construct a NumPy array explicitly."
        )

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> NoReturn:
        raise TypeError(
            f"{func.__module__}.{func.__name__} was called on a device array; "
            "an operation must go through its backend, xp"
        )

    # Shape and memory

    @property
    def shape(self) -> tuple[int, ...]:
        return self._host.shape

    @shape.setter
    def shape(self, shape: Any) -> None:
        host = self._host.view()
        host.shape = shape
        self._host = host

    @property
    def strides(self) -> tuple[int, ...]:
        return self._host.strides

    @property
    def dtype(self) -> Any:
        return self._host.dtype

    @property
    def ndim(self) -> int:
        return self._host.ndim

    @property
    def size(self) -> int:
        return self._host.size

    @property
    def itemsize(self) -> int:
        return self._host.itemsize

    @property
    def nbytes(self) -> int:
        return self._host.nbytes

    @property
    def flags(self) -> Flags:
        return Flags(self._host.flags, self._base is None)

    @property
    def base(self) -> ndarray | None:
        return self._base

    @property
    def data(self) -> Any:
        from .cuda import MemoryPointer

        return MemoryPointer(self._host, self._device)

    @property
    def device(self) -> Any:
        from .cuda import Device

        return Device(self._device)

    @property
    def flat(self) -> Any:
        return flatiter(self)

    @property
    def T(self) -> ndarray:
        return view_of(self._host.T, self)

    @property
    def mT(self) -> ndarray:
        if self._host.ndim < 2:
            raise ValueError("matrix transpose with ndim < 2 is undefined")
        return view_of(self._host.swapaxes(-1, -2), self)

    @property
    def real(self) -> ndarray:
        return view_of(self._host.real, self) if self._host.dtype.kind == "c" else self

    @real.setter
    def real(self, value: Any) -> None:
        self._host.real = unwrap(value)

    @property
    def imag(self) -> ndarray:
        if self._host.dtype.kind == "c":
            return view_of(self._host.imag, self)
        return wrap(numpy.zeros_like(self._host))

    @imag.setter
    def imag(self, value: Any) -> None:
        if self._host.dtype.kind != "c":
            raise TypeError("cannot set imaginary part of non-complex array")
        self._host.imag = unwrap(value)

    # Conversions, each of which makes the host wait

    def get(
        self, stream: Any = None, order: str = "C", out: Any = None, blocking: bool = True
    ) -> Any:
        from . import _streams

        if blocking or out is None:
            log_sync("get")
            return self._download(order, out)
        if not _pinned.holds(out):
            log_sync("get")  # the driver stages pageable memory, and waits for that
            return self._download(order, out)
        # The values are there only after a wait for the stream.
        now = self._host.copy(order="C" if out.flags.c_contiguous else "F")
        out.fill(poison(out.dtype))
        _streams.later(stream, self._device, _pinned.written_later(out, now))
        return out

    def _download(self, order: str = "C", out: Any = None) -> Any:
        if out is None:
            return self._host.copy(order="C" if order == "C" else order)  # type: ignore[arg-type]
        if not isinstance(out, numpy.ndarray):
            raise TypeError("Only numpy.ndarray can be obtained fromcupy.ndarray")
        if out.dtype != self.dtype:
            raise TypeError(f"{out.dtype} array cannot be obtained from {self.dtype} array")
        if out.shape != self.shape:
            raise ValueError(
                f"Shape mismatch. Expected shape: {self.shape}, actual shape: {out.shape}"
            )
        if not out.flags.forc:
            raise RuntimeError("`out` cannot be specified when copying to non-contiguous ndarray")
        out[...] = self._host
        return out

    def set(self, arr: Any, stream: Any = None) -> None:
        if not isinstance(arr, numpy.ndarray):
            raise TypeError("Only numpy.ndarray can be set to cupy.ndarray")
        if arr.dtype != self.dtype:
            raise TypeError(f"{arr.dtype} array cannot be set to {self.dtype} array")
        if arr.shape != self.shape:
            raise ValueError(f"Shape mismatch. Old shape: {self.shape}, new shape: {arr.shape}")
        if not self._host.flags.forc:
            raise RuntimeError("Cannot set to non-contiguous array")
        from . import _streams

        log_sync("upload")
        self._host[...] = arr
        if stream is not None and _pinned.holds(arr):
            _streams.later(stream, self._device, _pinned.read_later(arr))

    def item(self) -> Any:
        if self._host.size != 1:
            raise ValueError("can only convert an array of size 1 to a Python scalar")
        log_sync("item")
        return self._host.item()

    def tolist(self) -> Any:
        log_sync("tolist")
        return self._host.tolist()

    def tobytes(self, order: Any = "C") -> bytes:
        log_sync("tobytes")
        return self._host.tobytes(order)

    def __bool__(self) -> bool:
        if not self._host.size:
            warnings.warn("The truth value of an empty array", DeprecationWarning, stacklevel=2)
            return False
        if self._host.size > 1:
            raise ValueError(
                "The truth value of an array with more than one element is ambiguous. "
                "Use a.any() or a.all()"
            )
        log_sync("bool")
        return bool(self._host)

    def __int__(self) -> int:
        log_sync("int")
        return int(self._host)

    def __float__(self) -> float:
        log_sync("float")
        return float(self._host)

    def __complex__(self) -> complex:
        log_sync("complex")
        return complex(self._host)

    def __repr__(self) -> str:
        log_sync("repr")
        return repr(self._host)

    def __str__(self) -> str:
        log_sync("repr")
        return str(self._host)

    def __format__(self, format_spec: str) -> str:
        log_sync("repr")
        return format(self._host, format_spec)

    def __reduce__(self) -> tuple[Callable[..., ndarray], tuple[Any]]:
        log_sync("get")
        return upload, (self._download("A"),)

    def __copy__(self) -> ndarray:
        return wrap(self._host.copy())

    def __deepcopy__(self, memo: Any) -> ndarray:
        return wrap(self._host.copy())

    def __len__(self) -> int:
        if not self._host.ndim:
            raise TypeError("len() of unsized object")
        return len(self._host)

    def __iter__(self) -> Iterator[ndarray]:
        if not self._host.ndim:
            raise TypeError("iteration over a 0-d array")
        return (self[index] for index in range(len(self._host)))

    # Methods with a behaviour of their own; ``_methods.py`` adds the others from the manifest.

    def astype(
        self, dtype: Any, order: Any = "K", casting: None = None, subok: None = None,
        copy: bool = True,
    ) -> ndarray:  # fmt: skip
        if casting is not None:
            raise TypeError("casting is not supported yet")
        if subok is not None:
            raise TypeError("subok is not supported yet")
        _devices.check(self)
        check_dtype(numpy.dtype(dtype))
        with numpy.errstate(all="ignore"):
            host = self._host.astype(dtype, order=order, copy=copy)
        return self if host is self._host else wrap(host)

    def view(self, dtype: Any = None, type: Any = None) -> ndarray:
        return view_of(self._host.view() if dtype is None else self._host.view(dtype), self)

    def fill(self, value: Any) -> None:
        _devices.check(self)
        host = unwrap(value) if isinstance(value, ndarray) else numpy.asarray(value, self.dtype)
        if host.shape != ():
            kind = "cupy" if isinstance(value, ndarray) else "numpy"
            raise ValueError(f"non-scalar {kind}.ndarray cannot be used for fill")
        if isinstance(value, ndarray):
            log_sync("fill")  # CuPy reads the value, to hand it to its kernel
        zeros = self.flags.c_contiguous and not host
        self._host[...] = 0 if zeros else host  # CuPy writes zero bytes: -0.0 has a sign no more


class Flags:
    """Flags of an array's memory; an array on a GPU is never read-only."""

    def __init__(self, host: Any, owndata: bool) -> None:
        self.c_contiguous: bool = host.c_contiguous
        self.f_contiguous: bool = host.f_contiguous
        self.owndata = owndata
        self.fnc: bool = host.fnc
        self.forc: bool = host.forc

    def __getitem__(self, name: str) -> bool:
        if name not in ("C_CONTIGUOUS", "F_CONTIGUOUS", "OWNDATA"):
            raise KeyError(f"{name} is not defined for cupy.ndarray.flags")
        return bool(getattr(self, name.lower()))


class flatiter:
    """Iterator that ``array.flat`` returns, with basic indexing of the flattened array."""

    def __init__(self, array: ndarray) -> None:
        self.base = array

    def __getitem__(self, index: Any) -> ndarray:
        return wrap(numpy.asarray(self.base._host.flat[index]))

    def __setitem__(self, index: Any, value: Any) -> None:
        self.base._host.flat[index] = unwrap(value)

    def __iter__(self) -> Iterator[ndarray]:
        return (self[index] for index in range(self.base.size))

    def __len__(self) -> int:
        return self.base.size


def check_dtype(dtype: Any) -> None:
    """Raise CuPy's ValueError for a dtype that no device array can have."""
    if dtype.char not in ACCEPTED_DTYPES and dtype.name != "bfloat16":
        raise ValueError(f"Unsupported dtype {dtype}")


def wrap(host: Any) -> ndarray:
    """Return the device array over ``host``; NumPy's scalars become 0-d arrays."""
    if type(host) is not numpy.ndarray:
        host = numpy.asarray(host)
    if host.dtype.char not in ACCEPTED_DTYPES:
        check_dtype(host.dtype)
    array = _new(ndarray)
    array._host = host
    array._base = None
    array._device = _devices.current()
    return array


def view_of(host: Any, source: ndarray) -> ndarray:
    """Return the device array over ``host``, a view into ``source``; views have one base."""
    array = wrap(host)
    array._base = source if source._base is None else source._base
    array._device = source._device
    return array


def row_major(result: Any) -> Any:
    """New host arrays in C order: CuPy writes none in the order of its operands, as NumPy does."""
    if isinstance(result, tuple):
        return tuple(map(row_major, result))
    if isinstance(result, numpy.ndarray) and result.base is None:
        return numpy.asarray(result, order="C")
    return result


def wrap_result(result: Any, sources: Any = ()) -> Any:
    """Wrap every array in the result of a NumPy function, sequences included.

    Args:
        result: What the function returned.
        sources: Its arguments, of which a result that is a view has one as its base.
    """
    if isinstance(result, numpy.ndarray):
        return wrap(result) if result.base is None else _view_or_wrap(result, sources)
    if isinstance(result, numpy.generic):
        return wrap(result)
    if isinstance(result, tuple):
        return tuple(wrap_result(item, sources) for item in result)
    if isinstance(result, list):
        return [wrap_result(item, sources) for item in result]
    return result


def _view_or_wrap(host: Any, sources: Any) -> ndarray:
    for source in sources:
        if isinstance(source, ndarray):
            owner = source._host
            if host is owner:
                return source
            if host.base is owner or host.base is owner.base:
                return view_of(host, source)
        elif isinstance(source, (list, tuple)) and source and isinstance(source[0], ndarray):
            return _view_or_wrap(host, source)
    return wrap(host)


def unwrap(value: Any) -> Any:
    """Return ``value`` with device arrays unwrapped; a host array among them is a TypeError."""
    kind = type(value)
    if kind is ndarray:
        _devices.check(value)
        return value._host
    if kind in _PLAIN:
        return value
    if kind is tuple or kind is list:
        return kind(map(unwrap, value))
    if isinstance(value, numpy.ndarray):
        raise TypeError(f"Unsupported type {kind}")
    return value


def poison_empty(shape: Any, dtype: Any = float, order: Any = "C") -> Any:
    """Return an uninitialised host array full of values that no test can mistake for results."""
    dtype = numpy.dtype(float if dtype is None else dtype)
    check_dtype(dtype)
    host = numpy.empty(shape, dtype, order)
    from .cuda import alloc

    alloc(host.nbytes)
    host.fill(poison(dtype))
    return host


def poison(dtype: Any) -> Any:
    """Return NaN, True or the integer type's extreme."""
    if dtype.kind == "b":
        return True
    if dtype.kind in "iu":
        info = numpy.iinfo(dtype)
        return info.min if dtype.kind == "i" else info.max
    return numpy.nan


def upload(obj: Any, dtype: Any = None, copy: Any = True, order: Any = "K", ndmin: int = 0) -> Any:
    """Return a device array with the contents of host data (an array, scalar or nested list)."""
    if _holds_device_arrays(obj):
        # CuPy stacks a nested list of device arrays on the device.
        return wrap(numpy.array(unwrap(obj), dtype, copy=True, order=order, ndmin=ndmin))
    log_sync("upload")
    host = numpy.array(obj, dtype, copy=True, order=order, ndmin=ndmin)
    if not host.ndim and host.dtype.kind in "fc":
        host = host or host + 0.0  # the sign of -0.0 is lost as in ``fill``
    array = wrap(numpy.asarray(host))
    if isinstance(obj, numpy.ndarray) and obj.flags.forc and obj.ndim and _pinned.holds(obj):
        from . import _streams

        # CuPy copies from pinned memory while the host goes on, from other memory before.
        _streams.later(None, array._device, _pinned.read_later(obj))
    return array


def _holds_device_arrays(obj: Any) -> bool:
    while isinstance(obj, (list, tuple)) and obj:
        obj = obj[0]
    return isinstance(obj, ndarray)
