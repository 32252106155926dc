"""Methods that change an array in place."""

from __future__ import annotations

from typing import Any

from . import direct, functions
from .functions.conversion import as_dtype, host
from .names import public
from .ndarray import alike, array_of_tensor, ndarray


def fill(self: ndarray, value: Any) -> None:
    """Write one value everywhere.

    Args:
        value: A number.

    Example:
        >>> import tinytorch.numpy as np
        >>> a = np.zeros(2)
        >>> a.fill(5)
        >>> a
        array([5., 5.])
    """
    if not direct.overwrite(host().ndarray.fill, (self, value), {}):
        self[...] = value


def sort(
    self: ndarray, axis: int = -1, kind: str | None = None, order: Any = None, *,
    stable: bool | None = None,
) -> None:  # fmt: skip
    """Sort the elements along a dimension, in place.

    Args:
        axis: The dimension; default the last.
        kind: Accepted; the order is stable.
        order: Only None.
        stable: Accepted.

    Example:
        >>> import tinytorch.numpy as np
        >>> a = np.array([3, 1, 2])
        >>> a.sort()
        >>> a
        array([1, 2, 3])
    """
    given = (self, axis, kind, order)
    if not direct.overwrite(host().ndarray.sort, given, {"stable": stable}):
        self[...] = array_of_tensor(functions.sort(self._tensor, axis))


def partition(
    self: ndarray, kth: Any, axis: int = -1, kind: str = "introselect", order: Any = None
) -> None:
    """Put the elements at ``kth`` where sorting would, smaller ones before them, in place.

    Args:
        kth: A place, or several.
        axis: The dimension; default the last.
        kind: Accepted.
        order: Only None.

    Example:
        >>> import tinytorch.numpy as np
        >>> a = np.array([3, 1, 2])
        >>> a.partition(1)
        >>> a[1]
        2
    """
    if not direct.overwrite(host().ndarray.partition, (self, kth, axis, kind, order), {}):
        self[...] = array_of_tensor(functions.partition(self._tensor, kth, axis))


def put(self: ndarray, indices: Any, values: Any, mode: str = "raise") -> None:
    """Write values to places of the array as if it had one dimension; see ``numpy.put``.

    Args:
        indices: The places.
        values: What goes there, repeated as often as needed.
        mode: What happens to places that there are not: ``"raise"``, ``"wrap"`` or ``"clip"``.

    Example:
        >>> import tinytorch.numpy as np
        >>> a = np.zeros(3)
        >>> a.put([0, 2], [5, 7])
        >>> a
        array([5., 0., 7.])
    """
    public("put")(self, indices, values, mode)


def resize(self: ndarray, *new_shape: Any, refcheck: bool = True) -> None:
    """Give the array another shape, with zeros for what is new, in place.

    Args:
        *new_shape: The sizes, one by one or as a sequence.
        refcheck: Accepted; views of the array stay what they were.

    Raises:
        ValueError: If it is a view itself.

    Example:
        >>> import tinytorch.numpy as np
        >>> a = np.array([1, 2, 3])
        >>> a.resize(2, 2)
        >>> a
        array([[1, 2],
               [3, 0]])
    """
    shape = new_shape[0] if len(new_shape) == 1 else new_shape
    if shape is None or shape == ():
        return
    if self._tensor._base is not None:
        raise ValueError("cannot resize this array: it does not own its data")
    found: Any = functions.zeros(shape, as_dtype(self.dtype), backend=self._tensor._xp)
    count = min(found.numel(), self.size)
    found.reshape(-1)[:count] = functions.ravel(self._tensor)[:count]
    self._tensor = found


def byteswap(self: ndarray, inplace: bool = False) -> ndarray:
    """The bytes of each element in reverse order.

    Args:
        inplace: Write them over this array.

    Example:
        >>> import tinytorch.numpy as np
        >>> np.array([1, 256], dtype=np.int16).byteswap()
        array([256,   1], dtype=int16)
    """
    swapped = public("asarray")(self._host().byteswap())
    if not inplace:
        return alike(self, swapped._tensor)
    self[...] = swapped
    return self


def setflags(
    self: ndarray, write: bool | None = None, align: bool | None = None, uic: bool | None = None
) -> None:
    """Say whether the array may be written to.

    Args:
        write: Whether it may.
        align: Accepted for True.
        uic: Accepted for False.

    Example:
        >>> import tinytorch.numpy as np
        >>> a = np.zeros(2)
        >>> a.setflags(write=False)
        >>> a.flags.writeable
        False
    """
    self._tensor._data.setflags(write=write, align=align, uic=uic)


def setfield(self: ndarray, val: Any, dtype: Any, offset: int = 0) -> None:
    """Write to part of the bytes of each element.

    Args:
        val: What goes there.
        dtype: Of the parts.
        offset: Where in an element they begin, in bytes.

    Example:
        >>> import tinytorch.numpy as np
        >>> a = np.zeros(1, dtype=complex)
        >>> a.setfield(3, float, 8)
        >>> a
        array([0.+3.j])
    """
    self.getfield(dtype, offset)[...] = val
