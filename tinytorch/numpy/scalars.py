"""NumPy's scalar types: ``np.float64(3)`` makes an array without dimensions, which is one."""

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
    """The class of ``np.float64``, ``np.integer`` and the like.

    Such a class equals NumPy's of the name and stands for its dtype. Its instances are NumPy's own
    scalars of the type, and the arrays that stand for such scalars.
    """

    _of_host: type
    _of_tensors: dtypes.dtype | None

    @short
    def __call__(cls, *args: Any, **options: Any) -> Any:
        kind = cls._of_tensors
        if kind is None or len(args) != 1 or not isinstance(args[0], _CAST):
            return _array(cls._of_host(*args, **options))
        given: Any = args[0]
        made = _array(given, kind)
        return made if made is not given or made._scalar else wrap_result(made._tensor.clone())

    def __instancecheck__(cls, value: Any) -> bool:
        if isinstance(value, ndarray):
            return value._scalar and issubclass(value.dtype.type, cls._of_host)
        return isinstance(value, cls._of_host)

    def __subclasscheck__(cls, subclass: type) -> bool:
        found = subclass._of_host if isinstance(subclass, ScalarType) else subclass
        return issubclass(found, cls._of_host)

    def __eq__(cls, other: object) -> bool:
        return cls is other or other is cls._of_host if isinstance(other, type) else NotImplemented

    def __hash__(cls) -> int:
        return hash(cls._of_host)


_array = wrap_function(functions.asarray)
#: Classes of what is cast, and not made a number of by NumPy.
_CAST = (Holder, Tensor, list, tuple)


@functools.cache
def scalar_type(of_host: type) -> type:
    """The class that stands for one of NumPy's; what has no arrays here is NumPy's own."""
    numpy, kind = host(), None
    if of_host in numpy.sctypeDict.values():
        kind = dtypes.NAMES.get(numpy.dtype(of_host).name)
        if kind is None:
            return of_host
        if kind.dtype.type is not of_host:  # one of several of as many bits
            return scalar_type(kind.dtype.type)
    elif issubclass(of_host, numpy.flexible):
        return of_host
    members = {
        "__module__": "tinytorch.numpy", "__doc__": _told(of_host.__name__, kind),
        "_of_host": of_host, "_of_tensors": kind,
    }  # fmt: skip
    if of_host is numpy.bool:  # which has no subclasses
        return ScalarType("bool", (), {**members, "dtype": numpy.dtype(bool)})
    return ScalarType(of_host.__name__, (of_host,), members)


def _told(name: str, kind: dtypes.dtype | None) -> str:
    """The docstring of a scalar type."""
    if kind is None:
        said = "A kind of dtypes, of which nothing is made."
        return add_example(said, f">>> np.issubdtype(np.{name}, np.generic)", "True")
    said = f"An array without dimensions, of dtype {name}; of an array or a list one like it."
    return add_example(said, f">>> np.{name}([0, 1]).dtype", f"dtype({name!r})")


class finfo:
    """Limits of a floating-point dtype, in Python's numbers, as the array API standard has them.

    Args:
        dtype: A dtype, an array, or a number, real or complex.

    Attributes:
        dtype: Of the real numbers.
        bits: How many it has.
        eps: From 1 to the next larger number.
        max: The largest number; ``min`` is its negative.
        smallest_normal: The least positive number of full precision; ``tiny`` is the same.
        smallest_subnormal: The least positive number.
        resolution: A power of 10 of which all multiples are told apart. All else is
            ``numpy.finfo``'s.

    Raises:
        ValueError: For a dtype of integers.

    Example:
        >>> np.finfo(np.float32).eps
        1.1920928955078125e-07
    """

    __module__ = "tinytorch.numpy"

    def __init__(self, dtype: Any) -> None:
        of_array = isinstance(dtype, (Holder, Tensor))
        self._of_host: Any = host().finfo(dtype.dtype if of_array else dtype)
        self.dtype: Any = self._of_host.dtype
        self.bits: int = int(self._of_host.bits)
        self.eps: float = float(self._of_host.eps)
        self.max: float = float(self._of_host.max)
        self.min: float = float(self._of_host.min)
        self.smallest_normal: float = float(self._of_host.smallest_normal)
        self.tiny: float = self.smallest_normal
        self.smallest_subnormal: float = float(self._of_host.smallest_subnormal)
        self.resolution: float = float(self._of_host.resolution)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._of_host, name)

    def __reduce__(self) -> Any:
        return finfo, (self.dtype,)

    def __repr__(self) -> str:
        return repr(self._of_host)

    def __str__(self) -> str:
        return str(self._of_host)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, finfo) and other.dtype == self.dtype

    def __hash__(self) -> int:
        return hash(self.dtype)
