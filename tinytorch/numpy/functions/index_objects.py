"""Objects whose brackets make indices, grids and joined tensors: ``s_``, ``mgrid``, ``r_``."""

from __future__ import annotations

from typing import Any

from ... import dtypes
from ...core.tensor import Tensor
from ...ops.create.ranges import arange, linspace
from ...ops.shape.joining import cat, stack
from ...state import default_dtype, default_dtype_context
from .conversion import array_of, backend_of
from .index_grids import open_grid


def _range(part: slice, dtype: Any = None, floats: Any = None) -> Any:
    """The numbers a slice stands for; an imaginary step is how many, both ends included."""
    start = 0 if part.start is None else part.start
    if dtype is None and not _whole(part):
        dtype = floats or default_dtype()
    if isinstance(part.step, complex):
        return linspace(start, part.stop, int(abs(part.step)), dtype=dtype)
    return arange(start, part.stop, 1 if part.step is None else part.step, dtype=dtype)


def _whole(*parts: slice) -> bool:
    """Whether slices stand for integers."""
    given = [v for part in parts for v in (part.start, part.stop, part.step)]
    return all(v is None or isinstance(v, int) for v in given)


class IndexExpression:
    """What ``s_`` and ``index_exp`` are: they return the index they are given.

    Args:
        maketuple: Whether a single index becomes a tuple of one.

    Example:
        >>> import tinytorch as tt
        >>> tt.s_[2::2], tt.index_exp[1]
        (slice(2, None, 2), (1,))
    """

    def __init__(self, maketuple: bool) -> None:
        self.maketuple = maketuple

    def __getitem__(self, item: Any) -> Any:
        return (item,) if self.maketuple and not isinstance(item, tuple) else item


class Grid:
    """What ``mgrid`` and ``ogrid`` are: slices become tensors that span a grid.

    Args:
        sparse: Whether to give a tuple of tensors that broadcast to the grid instead.
        floats: The dtype of what is not whole; default the default dtype.

    Example:
        >>> import tinytorch as tt
        >>> tt.mgrid[0:2, 0:2][1]
        tensor([[0, 1],
                [0, 1]])
        >>> tt.ogrid[0:1:3j]
        tensor([0.0000, 0.5000, 1.0000])
    """

    def __init__(self, sparse: bool, floats: dtypes.dtype | None = None) -> None:
        self.sparse = sparse
        self.floats = floats

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return _range(key, None, self.floats)
        floats = self.floats or default_dtype()
        dtype = dtypes.int64 if _whole(*key) else floats
        parts: Any = open_grid(*(_range(part, dtype) for part in key))
        if self.sparse:
            return parts
        shape = [part.numel() for part in parts]
        return stack([part.expand(shape) for part in parts])


class Joiner:
    """What ``r_`` and ``c_`` are: the items between the brackets, joined.

    A slice is the range it stands for, with an imaginary step that many numbers with both
    ends. A first string ``"axis,ndmin,place"`` says along which dimension to join, how many
    dimensions items have at least, and where those they have go among them.

    Args:
        axis: The dimension along which items are joined.
        ndmin: The least number of dimensions.
        place: Where the dimensions that an item has go; -1 is last.
        floats: The dtype of Python's floats; default the default dtype.

    Example:
        >>> import tinytorch as tt
        >>> tt.r_[0:3, 7, tt.tensor([5, 6])]
        tensor([0, 1, 2, 7, 5, 6])
        >>> tt.c_[tt.tensor([1, 2]), tt.tensor([3, 4])]
        tensor([[1, 3],
                [2, 4]])
    """

    def __init__(
        self, axis: int = 0, ndmin: int = 1, place: int = -1,
        floats: dtypes.dtype | None = None,
    ) -> None:  # fmt: skip
        self.floats = floats
        self.axis = axis
        self.ndmin = ndmin
        self.place = place

    def __getitem__(self, key: Any) -> Tensor:
        items = key if isinstance(key, tuple) else (key,)
        axis, ndmin, place = self.axis, self.ndmin, self.place
        if items and isinstance(items[0], str):
            axis, ndmin, place = self._directive(items[0])
            items = items[1:]
        backend = backend_of(*items)
        with default_dtype_context(self.floats or default_dtype()):
            return cat([_item(item, ndmin, place, backend) for item in items], axis)

    def _directive(self, text: str) -> tuple[int, int, int]:
        try:
            given = [int(part) for part in text.split(",")]
        except ValueError:
            raise ValueError(f"unknown special directive {text!r}: expected numbers") from None
        return tuple(given + [self.axis, self.ndmin, self.place][len(given) :])  # type: ignore


def _item(item: Any, ndmin: int, place: int, backend: Any) -> Any:
    x: Any = _range(item) if isinstance(item, slice) else array_of(item, backend)
    missing = ndmin - x.ndim
    if missing <= 0:
        return x
    own = x.ndim
    x = x.reshape([1] * missing + list(x.shape))
    if place == -1 or not own:
        return x
    first = place + missing + 1 if place < 0 else place
    order = list(range(ndmin))
    return x.permute(order[:first] + order[missing:] + order[first:missing])


c_: Joiner = Joiner(-1, 2, 0)
r_: Joiner = Joiner()
s_: IndexExpression = IndexExpression(False)
index_exp: IndexExpression = IndexExpression(True)
mgrid: Grid = Grid(False)
ogrid: Grid = Grid(True)
