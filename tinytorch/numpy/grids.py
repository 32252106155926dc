"""What is indexed to make arrays, ``r_[1:4]``, and functions of numbers as of arrays."""

from __future__ import annotations

from typing import Any, Protocol, overload

from ..core.tensor import Tensor
from ..dtypes import float64
from .functions import applied_functions
from .functions.conversion import in_float64
from .functions.index_grids import Grid, Joiner
from .kept import called_back, closed, kept, opened
from .ndarray import ndarray


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


class Joining(Protocol):
    """What makes one array of what is between its brackets."""

    @overload
    def __getitem__(self, key: Tensor | tuple[Tensor, ...], /) -> Tensor: ...
    @overload
    def __getitem__(self, key: Any, /) -> ndarray: ...


class Dense(Protocol):
    """What makes one array of slices."""

    def __getitem__(self, key: slice | tuple[slice, ...], /) -> ndarray: ...


class Open(Protocol):
    """What makes an array of each slice."""

    @overload
    def __getitem__(self, key: slice, /) -> ndarray: ...
    @overload
    def __getitem__(self, key: tuple[slice, ...], /) -> tuple[ndarray, ...]: ...


c_: Joining = Indexed(Joiner(-1, 2, 0, float64))
r_: Joining = Indexed(Joiner(floats=float64))
mgrid: Dense = Indexed(Grid(False, float64))
ogrid: Open = Indexed(Grid(True, float64))


class vectorize(applied_functions.vectorize):
    """A function of numbers as one of arrays; see ``tinytorch.vectorize``.

    Example:
        >>> import tinytorch.numpy as np
        >>> np.vectorize(lambda x, y: x if x > y else y)([1, 5], 3)
        array([3, 5])
    """

    def __init__(self, pyfunc: Any, *args: Any, **options: Any) -> None:
        super().__init__(called_back(pyfunc, []), *args, **options)

    def __call__(  # type: ignore[override]  # arrays, not Tensors
        self, *args: Any, **kwargs: Any
    ) -> ndarray | tuple[ndarray, ...]:
        with in_float64():
            return kept(super().__call__)(*args, **kwargs)  # type: ignore[no-any-return]
