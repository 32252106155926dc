"""Elements by their places: reading and writing them, their order, and running results."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

from .devices import Array, Placement

OUT_OF_BOUNDS = "{name}(): index {index} is out of bounds for dimension {dim} with size {size}"


class Indices(Placement):
    """The part of ``Backend`` for what libraries disagree on about places and order."""

    library: ModuleType

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    def write_zeros(self, target: Array) -> None:
        """Zeros over all of ``target``."""
        target.fill(0)

    def write_item(self, target: Array, index: Any, value: Any) -> None:
        """``target[index] = value`` in place."""
        target[index] = value

    def index_add(self, target: Array, index: Any, values: Array) -> None:
        """``target[index] += values`` in place, repeated indices summed."""
        self.library.add.at(target, index, values)

    def index_combine(self, name: str, target: Array, index: Array, values: Array) -> None:
        """``index_add`` with the ufunc ``name`` for the sum; all arrays have one dimension."""
        getattr(self.library, name).at(target, index, values)

    def accumulate(self, name: str, array: Array, axis: int) -> Array:
        """Running results of the ufunc ``name`` along ``axis``."""
        return getattr(self.library, name).accumulate(array, axis=axis)

    def scan(self, combine: Callable[[Array, Array], Array], array: Array, axis: int) -> Array:
        """Running results of an associative function of two arrays along ``axis``."""
        from .scans import scan

        return scan(self, combine, array, axis)

    def order(self, array: Array, axis: int, descending: bool = False) -> Array:
        """int64 indices that sort along ``axis``, equal ones in their order; NaN is largest."""
        xp = self.library
        if not descending:
            return self.astype(self.argsort(array, axis=axis, kind="stable"), "int64")
        # A stable order of the reversed elements, reversed, leaves equal ones in their order.
        found = self.argsort(xp.flip(array, axis), axis=axis, kind="stable")
        return array.shape[axis] - 1 - self.astype(xp.flip(found, axis), "int64")

    def leading(self, array: Array, count: int, axis: int, descending: bool = False) -> Array:
        """The first ``count`` indices of the order along ``axis``; of equal elements any."""
        return self.order(array, axis, descending)[(slice(None),) * axis + (slice(0, count),)]

    def pick(self, array: Array, axis: int, place: Array) -> Array:
        """Indices of the elements at ``place`` of the orders; ``axis`` is kept with size 1."""
        return self.library.take_along_axis(self.order(array, axis), place, axis)

    def last_true(self, mask: Array, axis: int) -> Array:
        """Up to each place along ``axis``, the int64 index of the last true one; 0 if none."""
        place = self.library.arange(mask.shape[axis], dtype="int64")
        place = place.reshape(tuple(-1 if i == axis else 1 for i in range(mask.ndim)))
        return self.accumulate("maximum", self.library.where(mask, place, 0), axis)

    def take_in_each(self, array: Array, index: Array) -> Array:
        """``(batch, channels, n)`` from ``(batch, channels, size)`` and ``(batch, n)``, within it.

        All channels of an example are read at the same places.
        """
        return self.library.take_along_axis(array, index[:, None, :], axis=2)

    def check_read(self, index: Any) -> None:
        """Refuse to read at ``index`` if how many elements that gives is nowhere to be seen."""

    def check_indices(
        self,
        name: str,
        index: Array,
        size: int,
        dim: int,
        negative: bool = True,
        text: str = OUT_OF_BOUNDS,
        error: type[Exception] = IndexError,
    ) -> None:
        """``error`` if an element of ``index`` does not name one of ``size`` places."""
        if not index.size:
            return
        low, high = _ends(index)
        if high >= size or low < (-size if negative else 0):
            wrong = high if high >= size else low
            raise error(text.format(name=name, index=wrong, dim=dim, size=size))

    def extremes(self, index: Array) -> tuple[int, int] | None:
        """The lowest and the highest element; None if there is none or the host would wait."""
        return _ends(index) if index.size else None

    def check_extremes(self, name: str, extremes: Array, size: int, dim: int, text: str) -> None:
        """``check_indices`` where the lowest and highest index are known already."""
        self.check_indices(name, extremes, size, dim, False, text)

    def check_all(self, valid: Array, message: str) -> None:
        """RuntimeError with ``message`` unless every element of ``valid`` is true."""
        if not bool(valid.all()):
            raise RuntimeError(message)


def _ends(index: Array) -> tuple[int, int]:
    """The lowest and the highest element; Python's own functions are quicker on a few."""
    if index.size <= 64:
        numbers = index.reshape(-1).tolist()
        return min(numbers), max(numbers)
    return int(index.min()), int(index.max())
