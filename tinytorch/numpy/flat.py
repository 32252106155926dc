"""``array.flat``: an array's elements, one after the other in row-major order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from . import direct, functions
from .indexing import key_of
from .ndarray import array_of_tensor, ndarray, wrap_result


def _read(array: Any, key: Any) -> Any:
    return array.flat[key]


def _write(array: Any, key: Any, value: Any) -> None:
    array.flat[key] = value


class flatiter:
    """The elements of an array as if it had one dimension; what is written here is written there.

    Args:
        base: The array.

    Example:
        >>> import tinytorch.numpy as np
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
        """Where the next element is."""
        found = functions.unravel_index(self.index, self.base.shape)
        return tuple(int(place) for place in found)

    def copy(self) -> ndarray:
        """The elements in an array of one dimension.

        Example:
            >>> import tinytorch.numpy as np
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
        direct_result = direct.call(_read, (self.base, key), {})
        if direct_result is not direct.NOT:
            return direct_result  # type: ignore[no-any-return]
        elements: Any = functions.ravel(self.base._tensor)
        return wrap_result(elements[key_of(key)].clone())

    def __setitem__(self, key: Any, value: Any) -> None:
        if direct.overwrite(_write, (self.base, key, value), {}):
            return
        base: Any = self.base._tensor
        places = array_of_tensor(functions.arange(base.numel()))[key].flatten()
        values = functions.asarray(value._tensor if isinstance(value, ndarray) else value)
        given = functions.resize(values.to(base.dtype), (places.size,))
        where = functions.unravel_index(places._tensor, self.base.shape)
        base[tuple(where)] = given

    def __eq__(self, other: object) -> Any:
        return self.copy() == other

    def __ne__(self, other: object) -> Any:
        return self.copy() != other
