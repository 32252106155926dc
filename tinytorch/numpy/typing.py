"""What annotations of NumPy programs name: ``numpy.typing`` for arrays of this library."""

from __future__ import annotations

from types import GenericAlias
from typing import Any, TypeVar

from .functions.dialect import host
from .ndarray import ndarray

_Scalar = TypeVar("_Scalar")

#: An array whose elements are of a scalar type: ``NDArray[np.float64]``.
NDArray: Any = GenericAlias(ndarray, (tuple[Any, ...], host().dtype[_Scalar]))
#: What makes an array, and what says a dtype.
ArrayLike = host().typing.ArrayLike
DTypeLike = host().typing.DTypeLike


def __getattr__(name: str) -> Any:
    return getattr(host().typing, name)  # which says that what else there is will go
