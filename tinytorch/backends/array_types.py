"""What arguments may be besides what a library makes itself, in the words of annotations.

Example:
    >>> from tinytorch.backends.array_types import DTypeLike
    >>> def ones_of(dtype: DTypeLike) -> None: ...
"""

from __future__ import annotations

from collections.abc import Sequence
from types import EllipsisType
from typing import Any, SupportsIndex, TypeAlias

import numpy

from ..core.tensor import Tensor
from ..dtypes import dtype

#: An array, or a number of NumPy's. No list: most operations of PyTorch refuse those.
ArrayLike: TypeAlias = numpy.ndarray[Any, Any] | numpy.generic
#: A dtype, its name, a Python type of numbers, or NumPy's for any of them.
DTypeLike: TypeAlias = (
    dtype | str | type[bool | int | float | complex | numpy.generic] | numpy.dtype[Any]
)
_Part: TypeAlias = SupportsIndex | slice | EllipsisType | Tensor | ArrayLike | None
#: What stands in the brackets after a tensor. Text is a sequence, too, but not of these.
IndexLike: TypeAlias = (
    _Part | Sequence[_Part | Sequence[SupportsIndex] | list[Any]] | tuple[Any, ...]
)
#: What may be written there.
Values: TypeAlias = Tensor | ArrayLike | complex | list[Any] | tuple[Any, ...] | range
