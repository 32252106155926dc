"""Going through arrays element by element."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from . import functions
from .functions.conversion import host
from .hosted import outlined
from .kept import kept
from .ndarray import ndarray

_asarray = kept(functions.asarray, always=True)
_broadcast_arrays = kept(functions.broadcast_arrays)


class ndenumerate:
    """Where each element of an array is, and the element, in row-major order.

    Args:
        arr: Array, or what makes one.

    Example:
        >>> import tinytorch.numpy as np
        >>> list(np.ndenumerate([[1, 2], [3, 4]]))
        [((0, 0), 1), ((0, 1), 2), ((1, 0), 3), ((1, 1), 4)]
    """

    __module__ = "tinytorch.numpy"

    def __init__(self, arr: Any) -> None:
        array = _asarray(arr)
        self._pairs = zip(host().ndindex(array.shape), array.flat, strict=True)

    def __iter__(self) -> Iterator[tuple[tuple[int, ...], ndarray]]:
        return self

    def __next__(self) -> tuple[tuple[int, ...], ndarray]:
        return next(self._pairs)


class broadcast:
    """Arrays as if each had the shape that all of them broadcast to.

    Args:
        *args: Arrays, or what makes them.

    Attributes:
        shape: That shape.
        size: How many elements it has.
        ndim: How many dimensions; ``nd`` is the same.
        numiter: How many arrays there are.
        iters: The elements of each of them.
        index: How many have been gone through.

    Raises:
        ValueError: If they do not broadcast.

    Example:
        >>> import tinytorch.numpy as np
        >>> pairs = np.broadcast([1, 2], [[10], [20]])
        >>> pairs.shape
        (2, 2)
        >>> [a + b for a, b in pairs]
        [11, 12, 21, 22]
    """

    __module__ = "tinytorch.numpy"

    def __init__(self, *args: Any) -> None:
        self._arrays = [_asarray(arg) for arg in args]
        outline = host().broadcast(*outlined("broadcast", self._arrays))
        self.shape: tuple[int, ...] = outline.shape
        self.size: int = outline.size
        self.ndim: int = outline.ndim
        self.nd: int = outline.ndim
        self.numiter: int = outline.numiter
        self.reset()

    def reset(self) -> None:
        """Begin anew with the first elements.

        Example:
            >>> import tinytorch.numpy as np
            >>> pairs = np.broadcast([1, 2], 3)
            >>> next(pairs), next(pairs), pairs.index
            ((1, 3), (2, 3), 2)
            >>> pairs.reset()
            >>> next(pairs)
            (1, 3)
        """
        self.index = 0
        self.iters = tuple(array.flat for array in _broadcast_arrays(*self._arrays))

    def __iter__(self) -> Iterator[tuple[ndarray, ...]]:
        return self

    def __next__(self) -> tuple[ndarray, ...]:
        if self.index >= self.size:
            raise StopIteration
        self.index += 1
        return tuple(map(next, self.iters))
