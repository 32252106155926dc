"""NumPy's diagonals, triangles and grids of indices, and objects such as ``r_`` and ``mgrid``."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

from ... import dtypes
from ...core.tensor import Tensor
from ...ops.create.ranges import arange, linspace
from ...ops.pointwise.selection import where
from ...ops.shape import diagonal as diagonal_ops
from ...ops.shape.joining import cat, stack
from ...state import default_dtype, default_dtype_context
from .conversion import array_of, arrays_of, axes_of, backend_of, tensor_of
from .registration import numpy_function, register_as, register_shared, register_shared_as


def open_grid(*ranges: Any) -> tuple[Tensor, ...]:
    """Reshape ``n`` 1-d tensors to ``n`` dimensions each, so that they broadcast to a grid.

    The elements of the i-th tensor lie along dimension ``i``; the other dimensions have size 1.
    """
    count = len(ranges)
    return tuple(
        x.reshape([-1 if d == i else 1 for d in range(count)]) for i, x in enumerate(ranges)
    )


@register_shared(forms=(
    "(dimensions: Sequence[int], dtype: Any = None, sparse: Literal[False] = False) -> Tensor",
    "(dimensions: Sequence[int], dtype: Any = None, *, sparse: Literal[True]) "
    "-> tuple[Tensor, ...]",
))  # fmt: skip
def indices(dimensions: Sequence[int], dtype: Any = None, sparse: bool = False) -> Any:
    """The indices of every element of a grid.

    Args:
        dimensions: The sizes of the grid.
        dtype: Dtype of the result; default int64.
        sparse: Whether to return a tuple of tensors that broadcast to the grid instead.

    Returns:
        Tensor of shape ``(len(dimensions), *dimensions)``.

    Example:
        >>> tt.indices((2, 2))[1]
        tensor([[0, 1],
                [0, 1]])
    """
    shape = [int(n) for n in dimensions]
    kind = dtypes.int64 if dtype is None else dtypes.as_dtype(dtype)
    parts: Any = open_grid(*(arange(n, dtype=kind) for n in shape))
    if sparse:
        return parts
    if not shape:
        return arange(0, dtype=kind)
    return stack([part.expand(shape) for part in parts])


@register_shared
def ix_(*args: Any) -> tuple[Tensor, ...]:
    """Index tensors that select all combinations of the given indices.

    Args:
        *args: 1-d tensors of integers or bools, one for each dimension of the grid.

    Raises:
        ValueError: For more than one dimension.

    Example:
        >>> tt.arange(9).reshape(3, 3)[tt.ix_([0, 2], [1, 2])]
        tensor([[1, 2],
                [7, 8]])
    """
    found = []
    for x in arrays_of(*args):
        if x.ndim != 1:
            raise ValueError(f"ix_(): indices must have one dimension, got shape {list(x.shape)}")
        x = x.nonzero()[:, 0] if x.dtype is dtypes.bool else x
        found.append(x if x.numel() else x.long())
    return open_grid(*found)


@register_shared
def diag_indices(n: int, ndim: int = 2) -> tuple[Tensor, ...]:
    """Indices of the main diagonal of a tensor.

    Args:
        n: The size of each dimension.
        ndim: Number of dimensions; default 2.

    Returns:
        One int64 tensor of shape ``(n,)`` for each dimension.

    Example:
        >>> tt.diag_indices(2)
        (tensor([0, 1]), tensor([0, 1]))
    """
    return (arange(n, dtype=dtypes.int64),) * ndim


@register_shared
def diag_indices_from(arr: Tensor) -> tuple[Tensor, ...]:
    """Indices of the main diagonal of ``arr``.

    Args:
        arr: Tensor of two or more dimensions of one size.

    Raises:
        ValueError: For another shape.

    Example:
        >>> tt.diag_indices_from(tt.zeros(2, 2))
        (tensor([0, 1]), tensor([0, 1]))
    """
    if arr.ndim < 2 or len(set(arr.shape)) > 1:
        raise ValueError(
            f"diag_indices_from(): expected dimensions of one size, got shape {list(arr.shape)}"
        )
    return (arange(arr.shape[0], dtype=dtypes.int64, backend=arr._xp),) * arr.ndim


def _triangle_indices_from(
    name: str, which: str, end: str, shown: str
) -> Callable[..., tuple[Tensor, Tensor]]:
    """Register ``tril_indices_from`` or ``triu_indices_from``, which call PyTorch's function.

    Args:
        name: ``"tril_indices"`` or ``"triu_indices"``, PyTorch's function to call.
        which: ``"lower"`` or ``"upper"``, for the docstring.
        end: ``"last"`` or ``"first"``: the diagonal that ``k`` is, for the docstring.
        shown: Output of the docstring's example.

    Returns:
        The registered function.
    """
    make = getattr(diagonal_ops, name)

    def function(arr: Tensor, k: int = 0) -> tuple[Tensor, Tensor]:
        if arr.ndim != 2:
            text = f"{name}_from(): input array must be 2-d, got shape {list(arr.shape)}"
            raise ValueError(text)
        return tuple(make(arr.shape[0], arr.shape[1], k, backend=arr._xp))

    doc = f"""Indices of the {which} triangle of a matrix, in row-major order.

    Args:
        arr: 2-d tensor.
        k: The {end} diagonal of the triangle; default the main one.

    Returns:
        The row and the column indices, int64.

    Raises:
        ValueError: For another number of dimensions.
    """
    example = f">>> tt.{name}_from(tt.zeros(2, 2))"
    return register_shared_as(function, f"{name}_from", doc, example, shown)


tril_indices_from: Callable[..., tuple[Tensor, Tensor]] = _triangle_indices_from(
    "tril_indices", "lower", "last", "(tensor([0, 1, 1]), tensor([0, 0, 1]))"
)
triu_indices_from: Callable[..., tuple[Tensor, Tensor]] = _triangle_indices_from(
    "triu_indices", "upper", "first", "(tensor([0, 0, 1]), tensor([0, 1, 1]))"
)


def _check_indices(index: Any, size: int, mode: str) -> Any:
    """Return valid indices of a dimension, by the ``mode`` of ``ravel_multi_index``.

    Args:
        index: Tensor of indices.
        size: Size of the dimension.
        mode: ``"wrap"`` or ``"clip"`` moves indices that are out of bounds into the dimension;
            ``"raise"`` raises for them.
    """
    if mode == "wrap":
        return index % size
    if mode == "clip":
        return index.clamp(0, size - 1)
    if mode != "raise":
        raise ValueError(f"ravel_multi_index(): mode must be raise, wrap or clip, got {mode!r}")
    text = "ravel_multi_index(): invalid entry in coordinates array"
    index._xp.check_all((index._data >= 0) & (index._data < size), text)
    return where(index < 0, index + size, index)


@register_shared
def ravel_multi_index(
    multi_index: Any, dims: Sequence[int], mode: str | Sequence[str] = "raise", order: str = "C"
) -> Tensor:
    """Convert an index tensor for each dimension to indices of the flattened tensor.

    Args:
        multi_index: A tensor of integers for each dimension.
        dims: The sizes.
        mode: Treatment of an index out of bounds: ``"raise"`` (default), ``"wrap"`` or ``"clip"``;
            one for all dimensions, or one for each.
        order: ``"C"`` (default), the last index changes fastest, or ``"F"``, the first.

    Returns:
        int64 tensor.

    Raises:
        RuntimeError: For an index out of bounds.
        ValueError: If there is not one tensor for each dimension.

    Example:
        >>> tt.ravel_multi_index((tt.tensor([0, 1]), tt.tensor([2, 0])), (2, 3))
        tensor([2, 3])
    """
    shape = [int(n) for n in dims]
    parts = arrays_of(*multi_index)
    modes = [mode] * len(shape) if isinstance(mode, str) else list(mode)
    if len(parts) != len(shape):
        raise ValueError(
            f"ravel_multi_index(): expected {len(shape)} indices for dims {shape}, got {len(parts)}"
        )
    found: Any = 0
    for d, part in enumerate(parts):
        step = math.prod(shape[d + 1 :] if order == "C" else shape[:d])
        found = found + _check_indices(part.long(), shape[d], modes[d]) * step
    return array_of(found)  # type: ignore[no-any-return]


def _triangle(name: str, torch_function: Any, summary: str, *example: str) -> Callable[..., Tensor]:
    """Register NumPy's ``tril`` or ``triu``, which call PyTorch's.

    Args:
        name: Name of the function.
        torch_function: PyTorch's function of that name.
        summary: First line of the docstring.
        *example: Lines of the docstring's example.
    """

    def function(m: Any, k: int = 0) -> Tensor:
        x = tensor_of(m)
        # As in NumPy, each row of the matrix is the vector.
        x = x.expand(x.shape[0], x.shape[0]) if x.ndim == 1 else x
        return torch_function(x, k)  # type: ignore[no-any-return]

    doc = f"""{summary}

    Args:
        m: Tensor or array-like.
        k: The diagonal at which the triangle ends; default the main one.
    """
    return register_as(function, name, doc, *example)


tril: Callable[..., Tensor] = _triangle(
    "tril", diagonal_ops.tril, "The lower triangle of matrices, zeros above it.",
    ">>> np.tril([[1, 2], [3, 4]])", "array([[1, 0],", "       [3, 4]])",
)  # fmt: skip
triu: Callable[..., Tensor] = _triangle(
    "triu", diagonal_ops.triu, "The upper triangle of matrices, zeros below it.",
    ">>> np.triu([[1, 2], [3, 4]])", "array([[1, 2],", "       [0, 4]])",
)  # fmt: skip


def _triangle_indices(name: str, which: str, *example: str) -> Callable[..., tuple[Tensor, Tensor]]:
    """Register NumPy's ``tril_indices`` or ``triu_indices``, which call PyTorch's.

    Args:
        name: Name of the function, in both libraries.
        which: ``"lower"`` or ``"upper"``, for the docstring.
        *example: Lines of the docstring's example.
    """

    def function(n: int, k: int = 0, m: int | None = None) -> tuple[Tensor, Tensor]:
        return tuple(getattr(diagonal_ops, name)(n, n if m is None else m, k))

    doc = f"""Indices of the {which} triangle of a matrix.

    Args:
        n: Number of rows.
        k: The diagonal at which the triangle ends; default the main one.
        m: Number of columns; default ``n``.
    """
    return register_as(function, name, doc, *example)


tril_indices: Callable[..., tuple[Tensor, Tensor]] = _triangle_indices(
    "tril_indices", "lower", ">>> np.tril_indices(2)", "(array([0, 1, 1]), array([0, 0, 1]))"
)
triu_indices: Callable[..., tuple[Tensor, Tensor]] = _triangle_indices(
    "triu_indices", "upper", ">>> np.triu_indices(2)", "(array([0, 0, 1]), array([0, 1, 1]))"
)


@numpy_function
def diag(v: Any, k: int = 0) -> Tensor:
    """A diagonal of a matrix, or the matrix with a vector on its diagonal.

    Args:
        v: Tensor of one or two dimensions.
        k: The diagonal: 0, the default, is the main one, positive ones are above it.

    Example:
        >>> np.diag([1, 2])
        array([[1, 0],
               [0, 2]])
    """
    return diagonal_ops.diag(tensor_of(v), operator.index(k))


@numpy_function
def diagflat(v: Any, k: int = 0) -> Tensor:
    """The matrix with all elements of ``v`` on a diagonal.

    Args:
        v: Tensor or array-like.
        k: The diagonal: 0, the default, is the main one, positive ones are above it.

    Example:
        >>> np.diagflat([1, 2], k=1)
        array([[0, 1, 0],
               [0, 0, 2],
               [0, 0, 0]])
    """
    return diagonal_ops.diagflat(tensor_of(v), k)


@numpy_function
def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
    """The diagonals of the matrices of two dimensions, as the last dimension.

    Args:
        a: Tensor of at least two dimensions.
        offset: The diagonal: 0, the default, is the main one, positive ones are above it.
        axis1: The dimension of the rows.
        axis2: The dimension of the columns.

    Example:
        >>> np.diagonal([[1, 2], [3, 4]])
        array([1, 4])
    """
    x = tensor_of(a)
    first, second = axes_of("diagonal", (axis1, axis2), x.ndim)
    return diagonal_ops.diagonal(x, operator.index(offset), first, second)


def _range_of_slice(bounds: slice, dtype: Any = None, float_dtype: Any = None) -> Any:
    """1-d tensor of the numbers that a slice stands for in ``mgrid[...]`` and ``r_[...]``.

    Args:
        bounds: The slice. If its step is imaginary, such as ``5j``, the absolute value of the step
            is the number of elements, and ``stop`` is included.
        dtype: Dtype of the result. Default: int64 if the slice consists of integers, else
            ``float_dtype``.
        float_dtype: A floating-point dtype; default the default dtype.
    """
    start = 0 if bounds.start is None else bounds.start
    if dtype is None and not _is_integral(bounds):
        dtype = float_dtype or default_dtype()
    if isinstance(bounds.step, complex):
        return linspace(start, bounds.stop, int(abs(bounds.step)), dtype=dtype)
    return arange(start, bounds.stop, 1 if bounds.step is None else bounds.step, dtype=dtype)


def _is_integral(*parts: slice) -> bool:
    """Whether ``start``, ``stop`` and ``step`` of all slices are integers or None."""
    values = [v for part in parts for v in (part.start, part.stop, part.step)]
    return all(v is None or isinstance(v, int) for v in values)


class IndexExpression:
    """Class of ``s_`` and ``index_exp``, which return the index between the brackets.

    Args:
        maketuple: Whether a single index becomes a tuple of one.

    Example:
        >>> tt.s_[2::2], tt.index_exp[1]
        (slice(2, None, 2), (1,))
    """

    def __init__(self, maketuple: bool) -> None:
        self.maketuple = maketuple

    def __getitem__(self, item: Any) -> Any:
        return (item,) if self.maketuple and not isinstance(item, tuple) else item


class Grid:
    """Class of ``mgrid`` and ``ogrid``: slices become the coordinates of a grid.

    Args:
        sparse: Whether to return a tuple of tensors that broadcast to the grid instead.
        float_dtype: Dtype of the coordinates if a bound or step of a slice is not an integer;
            default the default dtype.

    Example:
        >>> tt.mgrid[0:2, 0:2][1]
        tensor([[0, 1],
                [0, 1]])
        >>> tt.ogrid[0:1:3j]
        tensor([0.0000, 0.5000, 1.0000])
    """

    def __init__(self, sparse: bool, float_dtype: dtypes.dtype | None = None) -> None:
        self.sparse = sparse
        self.float_dtype = float_dtype

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return _range_of_slice(key, None, self.float_dtype)
        dtype = dtypes.int64 if _is_integral(*key) else self.float_dtype or default_dtype()
        parts: Any = open_grid(*(_range_of_slice(part, dtype) for part in key))
        if self.sparse:
            return parts
        shape = [part.numel() for part in parts]
        return stack([part.expand(shape) for part in parts])


class Joiner:
    """Class of ``r_`` and ``c_``, which join the items between the brackets.

    A slice stands for a range; an imaginary step is its number of elements and includes both ends.
    If the first item is a string ``"axis,ndmin,trans1d"``, it replaces these arguments.

    Args:
        axis: The dimension along which items are joined.
        ndmin: The minimum number of dimensions of an item.
        trans1d: Where the dimensions of an item with fewer than ``ndmin`` begin among the
            ``ndmin`` dimensions: -1 (default) puts them last and the new ones, of size 1, first; 0
            puts them first. As in NumPy.
        float_dtype: Dtype of Python floats among the items; default the default dtype.

    Example:
        >>> tt.r_[0:3, 7, tt.tensor([5, 6])]
        tensor([0, 1, 2, 7, 5, 6])
        >>> tt.c_[tt.tensor([1, 2]), tt.tensor([3, 4])]
        tensor([[1, 3],
                [2, 4]])
    """

    def __init__(
        self, axis: int = 0, ndmin: int = 1, trans1d: int = -1,
        float_dtype: dtypes.dtype | None = None,
    ) -> None:  # fmt: skip
        self.float_dtype = float_dtype
        self.axis = axis
        self.ndmin = ndmin
        self.trans1d = trans1d

    def __getitem__(self, key: Any) -> Tensor:
        items = key if isinstance(key, tuple) else (key,)
        axis, ndmin, trans1d = self.axis, self.ndmin, self.trans1d
        if items and isinstance(items[0], str):
            axis, ndmin, trans1d = self._parse_directive(items[0])
            items = items[1:]
        backend = backend_of(*items)
        with default_dtype_context(self.float_dtype or default_dtype()):
            return cat([_convert_item(item, ndmin, trans1d, backend) for item in items], axis)

    def _parse_directive(self, text: str) -> tuple[int, int, int]:
        """Return ``(axis, ndmin, trans1d)`` from a string ``"axis,ndmin,trans1d"``.

        The string may consist of the first one or two numbers; the attributes are the defaults of
        the others.
        """
        try:
            given = [int(part) for part in text.split(",")]
        except ValueError:
            raise ValueError(f"unknown special directive {text!r}: expected numbers") from None
        return tuple(given + [self.axis, self.ndmin, self.trans1d][len(given) :])  # type: ignore


def _convert_item(item: Any, ndmin: int, trans1d: int, backend: Any) -> Any:
    """Convert an item between the brackets of ``Joiner`` to a tensor of at least ``ndmin`` dims.

    Args:
        item: A slice, which stands for a range, a tensor or an array-like.
        ndmin: See ``Joiner``.
        trans1d: See ``Joiner``.
        backend: Backend of the tensor; None means the active one.
    """
    x: Any = _range_of_slice(item) if isinstance(item, slice) else array_of(item, backend)
    ndim = x.ndim
    missing = ndmin - ndim
    if missing <= 0:
        return x
    x = x.reshape([1] * missing + list(x.shape))
    if trans1d == -1 or not ndim:
        return x
    first = trans1d + missing + 1 if trans1d < 0 else trans1d
    order = list(range(ndmin))
    # The new dimensions are those below `missing`: put `first` of them before the others.
    return x.permute(order[:first] + order[missing:] + order[first:missing])


c_: Joiner = Joiner(-1, 2, 0)
r_: Joiner = Joiner()
s_: IndexExpression = IndexExpression(False)
index_exp: IndexExpression = IndexExpression(True)
mgrid: Grid = Grid(False)
ogrid: Grid = Grid(True)
