"""Shape of a tensor, and number of its elements."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import Any, SupportsIndex, overload

from .. import dtypes
from ..state.tracebacks import shorten


class Size(tuple[int, ...]):
    """Shape of a tensor: a tuple of ints.

    Example:
        >>> tt.zeros(2, 3).shape.numel()
        6
    """

    __slots__ = ()

    def __new__(cls, sizes: Iterable[Any] = ()) -> Size:
        """Make a shape of sizes: ints, or objects with ``__index__`` such as a tensor of one int.

        Raises:
            TypeError: For anything else.
        """
        try:
            return shaped(
                cls, [n if n.__class__ is int else _int(n, i) for i, n in enumerate(sizes)]
            )
        except Exception as error:
            shorten(error)
            raise

    def numel(self) -> int:
        """Product of the sizes: the number of elements of a tensor of this shape."""
        total = 1
        for n in self:
            total *= n
        return total

    def __repr__(self) -> str:
        return f"{dtypes.shown_as}.Size({list(self)})"

    @overload
    def __getitem__(self, index: SupportsIndex) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> Size: ...
    def __getitem__(self, index: Any) -> Any:
        try:
            item = tuple.__getitem__(self, index)
            return sizes[item] if isinstance(index, slice) else item
        except Exception as error:
            shorten(error)
            raise

    def __add__(self, other: Any) -> Size:
        if isinstance(other, tuple):
            return Size(tuple.__add__(self, other))
        if hasattr(other, "__radd__"):
            return NotImplemented
        raise TypeError(f"can only concatenate tuple (not {type(other).__name__}) to torch.Size")

    def __radd__(self, other: Any) -> Size:
        return Size((*other, *self)) if isinstance(other, tuple) else NotImplemented

    def __mul__(self, count: SupportsIndex) -> Size:
        return Size(tuple.__mul__(self, count))

    def __rmul__(self, count: SupportsIndex) -> Size:
        return self * count


#: Makes a ``Size`` of ints without a check: ``shaped(Size, array.shape)``.
shaped: Callable[[type[Size], Iterable[Any]], Size] = tuple.__new__


class _Sizes(dict[tuple[int, ...], Size]):
    """Cache of the ``Size`` of an array's shape, since making one takes longer than a look-up."""

    def __missing__(self, shape: tuple[int, ...]) -> Size:
        if len(self) > 1000:
            self.clear()
        size = self[shape] = shaped(Size, shape)
        return size


sizes: _Sizes = _Sizes()


def _int(value: Any, position: int) -> int:
    """Return a size as an int; TypeError, with its position in the shape, if it is none."""
    try:
        return int(operator.index(value))
    except (TypeError, RuntimeError, ValueError):
        raise TypeError(
            f"torch.Size() takes an iterable of 'int' (item {position} is '{type(value).__name__}')"
        ) from None


class ElementCount(int):
    """Value of ``x.size``: NumPy's number of elements, and PyTorch's method when it is called.

    Example:
        >>> x = tt.zeros(2, 3)
        >>> x.size, x.size(), x.size(0)
        (6, tinytorch.Size([2, 3]), 2)
    """

    shape: Size

    def __new__(cls, shape: Size) -> ElementCount:
        count = super().__new__(cls, shape.numel())
        count.shape = shape
        return count

    @overload
    def __call__(self, dim: None = None) -> Size: ...
    @overload
    def __call__(self, dim: int) -> int: ...
    def __call__(self, dim: int | None = None) -> Size | int:
        try:
            if dim is None:
                return self.shape
            ndim = len(self.shape)
            if not -ndim <= dim < max(ndim, 1) or not ndim:
                raise IndexError(
                    f"Dimension out of range (expected to be in range of [{-max(ndim, 1)}, "
                    f"{max(ndim, 1) - 1}], but got {dim})"
                )
            return self.shape[dim]
        except Exception as error:
            shorten(error)
            raise
