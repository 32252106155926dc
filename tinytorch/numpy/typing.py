"""What annotations of NumPy programs name: ``numpy.typing`` for arrays of this library."""

from __future__ import annotations

from types import GenericAlias
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from .functions.conversion import host
from .ndarray import ndarray

if TYPE_CHECKING:
    from numpy import dtype, generic  # noqa: TID251
    from numpy.typing import ArrayLike as ArrayLike  # noqa: TID251
    from numpy.typing import DTypeLike as DTypeLike  # noqa: TID251

    _Scalar = TypeVar("_Scalar", bound=generic)
    NDArray: TypeAlias = ndarray[tuple[Any, ...], dtype[_Scalar]]
else:
    _Scalar = TypeVar("_Scalar")
    #: An array whose elements are of a scalar type: ``NDArray[np.float64]``.
    NDArray = GenericAlias(ndarray, (tuple[Any, ...], host().dtype[_Scalar]))
    #: What makes an array, and what says a dtype.
    ArrayLike = host().typing.ArrayLike
    DTypeLike = host().typing.DTypeLike


def __getattr__(name: str) -> Any:
    return getattr(host().typing, name)  # which says that what else there is will go
