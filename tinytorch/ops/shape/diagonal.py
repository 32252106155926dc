"""Diagonals and triangular parts of matrices."""

from __future__ import annotations

from typing import Any

from ... import dtypes
from ...core.tensor import Tensor
from ...dispatch.creation import creation
from ...dispatch.op import Array, Backend, Out, composite, op
from ...graph.nodes import Node
from ..checks import as_int
from ..index.filling import write_changes
from ..index.positions import int64_range
from ..memory_order import as_row_major
from .sizes import flatten, normalize_dim
from .views import own_copy


def _matrix_dims(name: str, dim1: int, dim2: int, ndim: int) -> tuple[int, int]:
    """Normalize the two dimensions of the matrices; raise if they are identical."""
    first, second = normalize_dim(name, dim1, ndim), normalize_dim(name, dim2, ndim)
    if first == second:
        raise RuntimeError(f"{name}: diagonal dimensions cannot be identical {dim1}, {dim2}")
    return first, second


@op(method=True, view=True)
def diagonal(xp: Backend, input: Array, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Array:
    """The diagonals of the matrices in two dimensions of ``input``.

    Args:
        input: Tensor of at least two dimensions.
        offset: The diagonal: 0, the default, is the main one, positive numbers are above it.
        dim1: The dimension of the rows; default 0.
        dim2: The dimension of the columns; default 1.

    Returns:
        A view without the two dimensions, with the diagonals along a new last dimension.

    Raises:
        RuntimeError: If the two dimensions are identical.
        IndexError: If there is no such dimension.

    Example:
        >>> tt.diagonal(tt.tensor([[1, 2], [3, 4]]))
        tensor([1, 4])
    """
    first, second = _matrix_dims("diagonal", dim1, dim2, input.ndim)
    return xp.diagonal(input, _clamp_offset(offset, input.shape, first, second), first, second)


def _clamp_offset(offset: int, shape: tuple[int, ...], first: int, second: int) -> int:
    """Clamp the offset to the first empty diagonal on either side."""
    if offset.__class__ is int and -shape[first] <= offset <= shape[second]:
        return offset
    return max(-shape[first], min(shape[second], as_int("diagonal", "offset", offset)))


diagonal.vjp(
    input=lambda xp, g, in_shape, offset, dim1, dim2: xp.call(
        _diagonal_write, g, in_shape, offset, dim1, dim2
    )
)


@op
def _diagonal_write(
    xp: Backend, input: Array, shape: Any, offset: int, dim1: int, dim2: int
) -> Array:
    """Write ``input`` on the diagonals of zeros of ``shape``."""
    out = xp.zeros(tuple(shape), input.dtype)
    diagonal.kernel(xp, out, offset, dim1, dim2)[...] = input
    return out


_diagonal_write.vjp(
    input=lambda xp, g, offset, dim1, dim2: xp.call(diagonal, g, offset, dim1, dim2)
)


@composite(method=True, node="DiagEmbedBackward0")
def diag_embed(input: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Matrices with ``input``'s last dimension on a diagonal and zeros elsewhere.

    Args:
        input: Tensor of shape ``(*, n)``.
        offset: The diagonal; default the main one.
        dim1: Position of the dimension of the rows; default last but one.
        dim2: Position of the dimension of the columns; default last.

    Returns:
        Tensor with one dimension more. The two dimensions have the size ``n + abs(offset)``.

    Raises:
        RuntimeError: If the two dimensions are identical.
        IndexError: If there is no such dimension.

    Example:
        >>> tt.diag_embed(tt.tensor([1, 2]))
        tensor([[1, 0],
                [0, 2]])
    """
    return _embed(input, offset, dim1, dim2)


def _embed(input: Tensor, offset: int, dim1: int = -2, dim2: int = -1) -> Tensor:
    """``diag_embed``, for composites."""
    sizes = input._data.shape
    first, second = _matrix_dims("diag_embed", dim1, dim2, len(sizes) + 1)
    if not sizes:
        raise RuntimeError("diag_embed: expected a tensor of at least one dimension, got 0-d")
    side = sizes[-1] + abs(offset)
    shape = list(sizes[:-1])
    for at in sorted((first, second)):
        shape.insert(at, side)
    return _diagonal_write(input, tuple(shape), offset, first, second)


def _diag_name(node: Node) -> str:
    return "DiagonalBackward0_copy" if len(node.shape) == 1 else "DiagEmbedBackward0"


@composite(method=True, node=_diag_name, out=Out.EXACT)
def diag(input: Tensor, diagonal: int = 0) -> Tensor:
    """The diagonal of a matrix, or a matrix with the vector ``input`` on its diagonal.

    Args:
        input: Tensor of one or two dimensions.
        diagonal: The diagonal: 0, the default, is the main one, positive numbers are above it.

    Returns:
        A copy: the diagonal of a matrix, or for a vector a matrix of shape
        ``(n + abs(diagonal),) * 2``.

    Raises:
        RuntimeError: If ``input`` has another number of dimensions.

    Example:
        >>> tt.diag(tt.tensor([1, 2]), 1)
        tensor([[0, 1, 0],
                [0, 0, 2],
                [0, 0, 0]])
    """
    ndim = input._data.ndim
    if ndim == 1:
        return _embed(input, diagonal)
    if ndim != 2:
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {ndim}D")
    return own_copy(_diagonal_of(input, diagonal))


_diagonal_of = diagonal


@diag.numpy
def _numpy_diag(input: Any = None, k: int = 0, **options: Any) -> Tensor:
    return diag(options.pop("v", input), k)


@composite(method=True, node="DiagEmbedBackward0")
def diagflat(input: Tensor, offset: int = 0) -> Tensor:
    """A matrix with all elements of ``input`` on a diagonal and zeros elsewhere.

    Args:
        input: Tensor of any shape.
        offset: The diagonal: 0, the default, is the main one, positive numbers are above it.

    Returns:
        Tensor of shape ``(input.numel() + abs(offset),) * 2``.

    Example:
        >>> tt.diagflat(tt.tensor([[1, 2]]))
        tensor([[1, 0],
                [0, 2]])
    """
    return _embed(flatten(input), offset)


@diagflat.numpy
def _numpy_diagflat(input: Any = None, k: int = 0, **options: Any) -> Tensor:
    return diagflat(options.pop("v", input), k)


# -- triangles ------------------------------------------------------------------------------------


def _check_matrix(name: str, input: Array) -> None:
    """Raise RuntimeError unless ``input`` has at least two dimensions."""
    if input.ndim < 2:
        raise RuntimeError(
            f"{name}: input tensor must have at least 2 dimensions, got {input.ndim}"
        )


@op(method=True, inplace=True, out=Out.EXACT)
def tril(xp: Backend, input: Array, diagonal: int = 0) -> Array:
    """The lower triangular part of matrices, with zeros above it.

    Args:
        input: Tensor of shape ``(*, rows, columns)``.
        diagonal: The last diagonal that is copied; default the main one.

    Returns:
        Tensor of ``input``'s shape.

    Raises:
        RuntimeError: If ``input`` has fewer than two dimensions.

    Example:
        >>> tt.tril(tt.ones(2, 3))
        tensor([[1., 0., 0.],
                [1., 1., 0.]])
    """
    _check_matrix("tril", input)
    return as_row_major(xp, xp.tril(input, as_int("tril", "diagonal", diagonal)))


tril.vjp(input=lambda xp, g, diagonal: xp.call(tril, g, diagonal))
write_changes(tril.op)


@tril.numpy
def _numpy_tril(input: Any = None, k: int = 0, **options: Any) -> Tensor:
    return tril(options.pop("m", input), k)


@op(method=True, inplace=True, out=Out.EXACT)
def triu(xp: Backend, input: Array, diagonal: int = 0) -> Array:
    """The upper triangular part of matrices, with zeros below it.

    Args:
        input: Tensor of shape ``(*, rows, columns)``.
        diagonal: The first diagonal that is copied; default the main one.

    Returns:
        Tensor of ``input``'s shape.

    Raises:
        RuntimeError: If ``input`` has fewer than two dimensions.

    Example:
        >>> tt.triu(tt.ones(2, 3))
        tensor([[1., 1., 1.],
                [0., 1., 1.]])
    """
    _check_matrix("triu", input)
    return as_row_major(xp, xp.triu(input, as_int("triu", "diagonal", diagonal)))


triu.vjp(input=lambda xp, g, diagonal: xp.call(triu, g, diagonal))
write_changes(triu.op)


@triu.numpy
def _numpy_triu(input: Any = None, k: int = 0, **options: Any) -> Tensor:
    return triu(options.pop("m", input), k)


def _count_lower(row: int, col: int, offset: int) -> int:
    """Number of elements of a matrix on the diagonal ``offset`` or below it."""

    def sum_rows(last: int) -> int:
        """Sum of ``min(k, col)`` for k from 1 to ``last``."""
        last, short = max(last, 0), min(max(last, 0), col)
        return short * (short + 1) // 2 + (last - short) * col

    return sum_rows(row + offset) - sum_rows(offset)


def _triangle(
    xp: Backend, name: str, row: int, col: int, offset: int, upper: bool, dtype: Any
) -> Array:
    """Row and column indices of a triangle, ``(2, n)``, in row-major order."""
    if row < 0 or col < 0:
        raise RuntimeError(f"{name}: row and col must be non-negative, got row={row}, col={col}")
    bound = xp.clip(int64_range(xp, row) + (offset if upper else offset + 1), 0, col)
    # The first column in the triangle, and the number of columns, of each row.
    first, counts = (bound, col - bound) if upper else (0, bound)
    # Compute the number of elements on the host: reading it from a device would wait.
    count = (
        row * col - _count_lower(row, col, offset - 1) if upper else _count_lower(row, col, offset)
    )
    ends, numbers = xp.cumsum(counts), int64_range(xp, count)
    rows = xp.searchsorted(ends, numbers, side="right")
    indices = xp.stack([rows, numbers + xp.take(first + counts - ends, rows)])
    return xp.astype(indices, xp.native_dtype(dtypes.int64) if dtype is None else dtype)


@creation(default_dtype=False, public=False)
def triangle_indices(
    xp: Backend, name: str, row: int, col: int, offset: int, *, dtype: Any = None
) -> Array:
    """Row and column indices of a triangle of a matrix, as a matrix of two rows."""
    return _triangle(xp, name, row, col, offset, name == "triu_indices", dtype)


_BY_COLUMNS = (
    "(row: int, col: int, offset: int = 0, **options: Any) -> Tensor",
    "(row: int, col: None = None, offset: int = 0, **options: Any) -> tuple[Tensor, Tensor]",
)


def _indices(name: str, row: int, col: Any, offset: int, options: dict[str, Any]) -> Any:
    """Result of ``tril_indices`` or ``triu_indices`` in PyTorch's form or in NumPy's.

    NumPy's form has no ``col`` or is called with NumPy's keywords, and returns a tuple.
    """
    numpy = col is None or "k" in options or "m" in options
    col, offset = options.pop("m", col), options.pop("k", offset)
    row, offset = as_int(name, "row", row), as_int(name, "offset", offset)
    col = row if col is None else as_int(name, "col", col)
    found = triangle_indices(name, row, col, offset, **options)
    return tuple(found) if numpy else found


@composite(forms=_BY_COLUMNS)
def tril_indices(row: int, col: int | None = None, offset: int = 0, **options: Any) -> Any:
    """Indices of the lower triangle of a matrix, in row-major order.

    Without ``col``, or with ``k=`` or ``m=``, the result is that of NumPy: a tuple of two tensors.

    Args:
        row: Number of rows of the matrix.
        col: Number of columns of the matrix.
        offset: The last diagonal of the triangle; default the main one.
        **options: ``dtype``, default int64, and ``device``.

    Returns:
        Tensor of shape ``(2, n)``: row indices and column indices.

    Raises:
        RuntimeError: If a size is negative.

    Example:
        >>> tt.tril_indices(2, 2)
        tensor([[0, 1, 1],
                [0, 0, 1]])
    """
    return _indices("tril_indices", row, col, offset, options)


@composite(forms=_BY_COLUMNS)
def triu_indices(row: int, col: int | None = None, offset: int = 0, **options: Any) -> Any:
    """Indices of the upper triangle of a matrix, in row-major order.

    Without ``col``, or with ``k=`` or ``m=``, the result is that of NumPy: a tuple of two tensors.

    Args:
        row: Number of rows of the matrix.
        col: Number of columns of the matrix.
        offset: The first diagonal of the triangle; default the main one.
        **options: ``dtype``, default int64, and ``device``.

    Returns:
        Tensor of shape ``(2, n)``: row indices and column indices.

    Raises:
        RuntimeError: If a size is negative.

    Example:
        >>> tt.triu_indices(2, 2)
        tensor([[0, 0, 1],
                [0, 1, 1]])
    """
    return _indices("triu_indices", row, col, offset, options)
