"""Iteration over the elements of arrays: ``flat``, ``ndenumerate``, ``broadcast``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from . import functions, wrapping
from .functions.conversion import host
from .indexing import as_tensor_index
from .namespace import to_zeros
from .ndarray import array_of_tensor, ndarray, wrap_result
from .wrapping import wrap_function

_asarray = wrap_function(functions.asarray, always=True)
_broadcast_arrays = wrap_function(functions.broadcast_arrays)


class ndenumerate:
    """Iterator over pairs of the index of an element and the element, in row-major order.

    Args:
        arr: Array-like.

    Example:
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
    """Iterator over the tuples of elements of arrays that are broadcast against each other.

    Args:
        *args: Array-likes.

    Attributes:
        shape: The shape that all arrays broadcast to.
        size: Its number of elements.
        ndim: Its number of dimensions; ``nd`` is the same.
        numiter: Number of arrays.
        iters: Iterators over the elements of each broadcast array.
        index: Number of tuples that have been returned.

    Raises:
        ValueError: If the arrays do not broadcast.

    Example:
        >>> pairs = np.broadcast([1, 2], [[10], [20]])
        >>> pairs.shape
        (2, 2)
        >>> [a + b for a, b in pairs]
        [11, 12, 21, 22]
    """

    __module__ = "tinytorch.numpy"

    def __init__(self, *args: Any) -> None:
        self._arrays = [_asarray(arg) for arg in args]
        # NumPy broadcasts zeros of the same shapes, which copy no memory.
        host_broadcast = host().broadcast(*to_zeros("broadcast", self._arrays))
        self.shape: tuple[int, ...] = host_broadcast.shape
        self.size: int = host_broadcast.size
        self.ndim: int = host_broadcast.ndim
        self.nd: int = host_broadcast.ndim
        self.numiter: int = host_broadcast.numiter
        self.reset()

    def reset(self) -> None:
        """Start again from the first elements.

        Example:
            >>> pairs = np.broadcast([1, 2], 3)
            >>> next(pairs), next(pairs), pairs.index
            ((1, 3), (2, 3), 2)
            >>> pairs.reset()
            >>> next(pairs)
            (1, 3)
        """
        self.index: int = 0
        self.iters: tuple[Any, ...] = tuple(
            array.flat for array in _broadcast_arrays(*self._arrays)
        )

    def __iter__(self) -> Iterator[tuple[ndarray, ...]]:
        return self

    def __next__(self) -> tuple[ndarray, ...]:
        if self.index >= self.size:
            raise StopIteration
        self.index += 1
        return tuple(map(next, self.iters))


def _read_flat(array: Any, key: Any) -> Any:
    """``array.flat[key]`` of NumPy's own array, as a function for ``call_numpy``."""
    return array.flat[key]


def _write_flat(array: Any, key: Any, value: Any) -> None:
    """Run ``array.flat[key] = value`` on NumPy's own array, for ``call_mutating``."""
    array.flat[key] = value


class flatiter:
    """Iterator over the elements of an array, which can be indexed and written to as if it was 1-d.

    Args:
        base: The array.

    Example:
        >>> a = np.array([[1, 2], [3, 4]])
        >>> a.flat[2] = 30
        >>> a.flat[1:], list(a.flat)
        (array([ 2, 30,  4]), [1, 2, 30, 4])
    """

    __hash__: ClassVar[None]  # type: ignore[assignment]

    def __init__(self, base: ndarray) -> None:
        self.base = base
        self.index: int = 0

    @property
    def coords(self) -> tuple[int, ...]:
        """Index of the next element."""
        found = functions.unravel_index(self.index, self.base.shape)
        return tuple(int(i) for i in found)

    def copy(self) -> ndarray:
        """Copy the elements to a 1-d array.

        Example:
            >>> np.array([[1, 2], [3, 4]]).flat.copy()
            array([1, 2, 3, 4])
        """
        return self.base.flatten()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self.copy().__array__(dtype)

    def __len__(self) -> int:
        return self.base.size

    def __iter__(self) -> Iterator[ndarray]:
        return self

    def __next__(self) -> ndarray:
        if self.index >= len(self):
            raise StopIteration
        self.index += 1
        return self[self.index - 1]

    def __getitem__(self, key: Any) -> ndarray:
        direct_result = wrapping.call_numpy(_read_flat, (self.base, key), {})
        if direct_result is not wrapping.NOT_CALLED:
            return direct_result  # type: ignore[no-any-return]
        elements: Any = functions.ravel(self.base._tensor)
        return wrap_result(elements[as_tensor_index(key)].clone())

    def __setitem__(self, key: Any, value: Any) -> None:
        if wrapping.call_mutating(_write_flat, (self.base, key, value), {}):
            return
        base: Any = self.base._tensor
        # Index the numbers of the elements, so that `key` may be any index of a 1-d array.
        positions = array_of_tensor(functions.arange(base.numel()))[key].flatten()
        values = functions.asarray(value._tensor if isinstance(value, ndarray) else value)
        elements = functions.resize(values.to(base.dtype), (positions.size,))
        indices = functions.unravel_index(positions._tensor, self.base.shape)
        base[tuple(indices)] = elements

    def __eq__(self, other: object) -> Any:
        return self.copy() == other

    def __ne__(self, other: object) -> Any:
        return self.copy() != other
