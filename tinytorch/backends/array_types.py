"""What arguments may be besides what a library makes itself, in the words of annotations.

Example:
    >>> from tinytorch.backends.array_types import DTypeLike
    >>> def ones_of(dtype: DTypeLike) -> None: ...
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy

from ..dtypes import dtype

#: An array, or a number of NumPy's. No list: most operations of PyTorch refuse those.
ArrayLike: TypeAlias = numpy.ndarray[Any, Any] | numpy.generic
#: A dtype, its name, a Python type of numbers, or NumPy's for any of them.
DTypeLike: TypeAlias = (
    dtype | str | type[bool | int | float | complex | numpy.generic] | numpy.dtype[Any]
)
