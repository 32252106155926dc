"""NumPy's scalar types: ``np.float64(3)`` makes a 0-d array that counts as a scalar."""

from __future__ import annotations

import functools
from typing import Any

from .. import dtypes
from ..core.tensor import Holder, Tensor
from ..state.tracebacks import short
from . import functions
from .functions.conversion import host
from .functions.registration import add_example
from .ndarray import ndarray, wrap_result
from .wrapping import wrap_function


class ScalarType(type):
    """Metaclass of ``np.float64``, ``np.integer`` and the other scalar types.

    Such a class equals NumPy's class of that name and can be used as its dtype. Its instances are
    NumPy's own scalars of the type, and the 0-d arrays that stand for such scalars. Its attribute
    ``_numpy_type`` is NumPy's class, ``_dtype`` the dtype of tensors, None for an abstract class.
    """

    _numpy_type: type
    _dtype: dtypes.dtype | None

    @short
    def __call__(cls, *args: Any, **options: Any) -> Any:
        kind = cls._dtype
        if kind is None or len(args) != 1 or not isinstance(args[0], _CAST):
            return _array(cls._numpy_type(*args, **options))
        given: Any = args[0]
        made = _array(given, kind)
        return made if made is not given or made._scalar else wrap_result(made._tensor.clone())

    def __instancecheck__(cls, value: Any) -> bool:
        if isinstance(value, ndarray):
            return value._scalar and issubclass(value.dtype.type, cls._numpy_type)
        return isinstance(value, cls._numpy_type)

    def __subclasscheck__(cls, subclass: type) -> bool:
        found = subclass._numpy_type if isinstance(subclass, ScalarType) else subclass
        return issubclass(found, cls._numpy_type)

    def __eq__(cls, other: object) -> bool:
        if not isinstance(other, type):
            return NotImplemented
        return other is cls or other is cls._numpy_type

    def __hash__(cls) -> int:
        return hash(cls._numpy_type)


_array = wrap_function(functions.asarray)
#: Classes of arguments that are cast; from others NumPy makes a scalar.
_CAST = (Holder, Tensor, list, tuple)


@functools.cache
def scalar_type(numpy_type: type) -> type:
    """The class that stands for a scalar class of NumPy; that itself if tensors lack its dtype."""
    numpy, kind = host(), None
    if numpy_type in numpy.sctypeDict.values():
        kind = dtypes.NAMES.get(numpy.dtype(numpy_type).name)
        if kind is None:
            return numpy_type
        if kind.dtype.type is not numpy_type:  # another class with the same number of bits
            return scalar_type(kind.dtype.type)
    elif issubclass(numpy_type, numpy.flexible):
        return numpy_type
    members = {
        "__module__": "tinytorch.numpy", "__doc__": _docstring(numpy_type.__name__, kind),
        "_numpy_type": numpy_type, "_dtype": kind,
    }  # fmt: skip
    if numpy_type is numpy.bool:  # NumPy allows no subclasses of it.
        return ScalarType("bool", (), {**members, "dtype": numpy.dtype(bool)})
    return ScalarType(numpy_type.__name__, (numpy_type,), members)


def _docstring(name: str, kind: dtypes.dtype | None) -> str:
    """The docstring of a scalar type."""
    if kind is None:
        text = "Abstract base class of scalar types, which has no instances of its own."
        return add_example(text, f">>> np.issubdtype(np.{name}, np.generic)", "True")
    text = f"A 0-d array of dtype {name}, from a number; from an array or a list, one of its shape."
    return add_example(text, f">>> np.{name}([0, 1]).dtype", f"dtype({name!r})")


class finfo:
    """Limits of a floating-point dtype, as Python floats: those of the array API standard.

    Other attributes are those of ``numpy.finfo``.

    Args:
        dtype: A dtype, an array, or a number, real or complex.

    Attributes:
        dtype: The real dtype.
        bits: Number of bits of it.
        eps: Distance from 1 to the next larger number.
        max: The largest number; ``min`` is its negative.
        smallest_normal: The least positive normal number; ``tiny`` is the same.
        smallest_subnormal: The least positive number.
        resolution: Approximate decimal resolution, a power of 10.

    Raises:
        ValueError: For an integer dtype.

    Example:
        >>> np.finfo(np.float32).eps
        1.1920928955078125e-07
    """

    __module__ = "tinytorch.numpy"

    def __init__(self, dtype: Any) -> None:
        of_array = isinstance(dtype, (Holder, Tensor))
        self._finfo: Any = host().finfo(dtype.dtype if of_array else dtype)
        self.dtype: Any = self._finfo.dtype
        self.bits: int = int(self._finfo.bits)
        self.eps: float = float(self._finfo.eps)
        self.max: float = float(self._finfo.max)
        self.min: float = float(self._finfo.min)
        self.smallest_normal: float = float(self._finfo.smallest_normal)
        self.tiny: float = self.smallest_normal
        self.smallest_subnormal: float = float(self._finfo.smallest_subnormal)
        self.resolution: float = float(self._finfo.resolution)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._finfo, name)

    def __reduce__(self) -> Any:
        return finfo, (self.dtype,)

    def __repr__(self) -> str:
        return repr(self._finfo)

    def __str__(self) -> str:
        return str(self._finfo)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, finfo) and other.dtype == self.dtype

    def __hash__(self) -> int:
        return hash(self.dtype)
