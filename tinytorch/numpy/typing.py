"""Types for annotations: ``numpy.typing`` for the arrays of this package."""

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
    #: Types of what can be converted to an array, and to a dtype.
    ArrayLike = host().typing.ArrayLike
    DTypeLike = host().typing.DTypeLike


def __getattr__(name: str) -> Any:
    return getattr(host().typing, name)  # NumPy warns that the other names are deprecated.
