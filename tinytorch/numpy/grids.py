"""What is indexed to make arrays, ``r_[1:4]``, and functions of numbers as of arrays."""

from __future__ import annotations

from typing import Any

from ..core.tensor import Tensor
from ..dtypes import float64
from ..ops.index.index_tools import Grid, Joiner
from ..ops.reduce import applied_functions
from .functions.dialect import in_float64
from .kept import called_back, closed, kept, opened


class Indexed:
    """Something that makes Tensors by being indexed, for arrays.

    Args:
        source: What does it on Tensors.
    """

    def __init__(self, source: Grid | Joiner) -> None:
        self._source = source

    def __getitem__(self, key: Any) -> Any:
        met: list[Tensor] = []
        found = self._source[opened(key, met)]
        return found if met else closed(found)


c_: Indexed = Indexed(Joiner(-1, 2, 0, float64))
r_: Indexed = Indexed(Joiner(floats=float64))
mgrid: Indexed = Indexed(Grid(False, float64))
ogrid: Indexed = Indexed(Grid(True, float64))


class vectorize(applied_functions.vectorize):
    """A function of numbers as one of arrays; see ``tinytorch.vectorize``.

    Example:
        >>> import tinytorch.numpy as np
        >>> np.vectorize(lambda x, y: x if x > y else y)([1, 5], 3)
        array([3, 5])
    """

    def __init__(self, pyfunc: Any, *args: Any, **options: Any) -> None:
        super().__init__(called_back(pyfunc, []), *args, **options)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        with in_float64():
            return kept(super().__call__)(*args, **kwargs)
