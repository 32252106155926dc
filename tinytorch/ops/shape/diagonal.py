"""Diagonals and triangles of matrices."""

from __future__ import annotations

from typing import Any

from ... import dtypes
from ...core.tensor import Tensor
from ...dispatch.creation import creation
from ...dispatch.op import Array, Backend, Out, composite, op
from ...graph.nodes import Node
from ..checks import integer
from ..index.filling import write_changes
from ..index.positions import counting
from ..memory_order import in_rows
from .sizes import flatten, normalize_dim


def _plane(name: str, dim1: int, dim2: int, ndim: int) -> tuple[int, int]:
    """The two dimensions of the matrices, counted from the front and different."""
    first, second = (normalize_dim(name, d, ndim) for d in (dim1, dim2))
    if first == second:
        raise RuntimeError(f"{name}: diagonal dimensions cannot be identical {dim1}, {dim2}")
    return first, second


@op(method=True, view=True)
def diagonal(xp: Backend, input: Array, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Array:
    """The diagonals of the matrices in two dimensions of ``input``.

    Args:
        input: Tensor of at least two dimensions.
        offset: Which diagonal: 0, the default, is the main one, positive ones are above it.
        dim1: The dimension of the rows; default 0.
        dim2: The dimension of the columns; default 1.

    Returns:
        A view without the two dimensions, the diagonals along a new last one.

    Raises:
        RuntimeError: If the two dimensions are the same.
        IndexError: If there is no such dimension.

    Example:
        >>> import tinytorch as tt
        >>> tt.diagonal(tt.tensor([[1, 2], [3, 4]]))
        tensor([1, 4])
    """
    first, second = _plane("diagonal", dim1, dim2, input.ndim)
    return xp.diagonal(input, _within(offset, input.shape, first, second), first, second)


def _within(offset: int, shape: tuple[int, ...], first: int, second: int) -> int:
    """The offset, but not beyond the first diagonal that is empty."""
    return max(-shape[first], min(shape[second], integer("diagonal", "offset", offset)))


diagonal.vjp(
    input=lambda xp, g, in_shape, offset, dim1, dim2: xp.call(
        _diagonal_write, g, in_shape, offset, dim1, dim2
    )
)


@op
def _diagonal_write(
    xp: Backend, input: Array, shape: Any, offset: int, dim1: int, dim2: int
) -> Array:
    """Zeros of ``shape`` with ``input`` on the diagonals."""
    out = xp.zeros(tuple(shape), input.dtype)
    xp.call(diagonal, out, offset, dim1, dim2)[...] = input
    return out


_diagonal_write.vjp(
    input=lambda xp, g, offset, dim1, dim2: xp.call(diagonal, g, offset, dim1, dim2)
)


@composite(method=True, node="DiagEmbedBackward0")
def diag_embed(input: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Matrices with ``input``'s last dimension on a diagonal and zeros elsewhere.

    Args:
        input: Tensor of shape ``(*, n)``.
        offset: Which diagonal; default the main one.
        dim1: Where the dimension of the rows goes; default last but one.
        dim2: Where that of the columns goes; default last.

    Returns:
        Tensor with one dimension more, of sizes ``n + abs(offset)`` in the two.

    Raises:
        RuntimeError: If the two dimensions are the same.
        IndexError: If there is no such dimension.

    Example:
        >>> import tinytorch as tt
        >>> tt.diag_embed(tt.tensor([1, 2]))
        tensor([[1, 0],
                [0, 2]])
    """
    first, second = _plane("diag_embed", dim1, dim2, input.ndim + 1)
    if not input.ndim:
        raise RuntimeError("diag_embed: expected a tensor of at least one dimension, got 0-d")
    side = input.shape[-1] + abs(offset)
    shape = list(input.shape[:-1])
    for at in sorted((first, second)):
        shape.insert(at, side)
    return _diagonal_write(input, tuple(shape), offset, first, second)


def _diag_name(node: Node) -> str:
    return "DiagonalBackward0_copy" if len(node.shape) == 1 else "DiagEmbedBackward0"


@composite(method=True, node=_diag_name, out=Out.EXACT)
def diag(input: Tensor, diagonal: int = 0) -> Tensor:
    """The diagonal of a matrix, or the matrix with a vector on its diagonal.

    Args:
        input: Tensor of one or two dimensions.
        diagonal: Which diagonal: 0, the default, is the main one, positive ones are above it.

    Returns:
        A copy: of shape ``(n + abs(diagonal),) * 2`` for a vector, else the diagonal.

    Raises:
        RuntimeError: For another number of dimensions.

    Example:
        >>> import tinytorch as tt
        >>> tt.diag(tt.tensor([1, 2]), 1)
        tensor([[0, 1, 0],
                [0, 0, 2],
                [0, 0, 0]])
    """
    if input.ndim == 1:
        return diag_embed(input, diagonal)
    if input.ndim != 2:
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {input.ndim}D")
    return _diagonal_of(input, diagonal).clone()


_diagonal_of = diagonal


@diag.numpy
def _numpy_diag(input: Any = None, k: int = 0, **options: Any) -> Tensor:
    return diag(options.pop("v", input), k)


@composite(method=True, node="DiagEmbedBackward0")
def diagflat(input: Tensor, offset: int = 0) -> Tensor:
    """The matrix with all elements of ``input`` on a diagonal.

    Args:
        input: Tensor of any shape.
        offset: Which diagonal: 0, the default, is the main one, positive ones are above it.

    Returns:
        Tensor of shape ``(input.numel() + abs(offset),) * 2``.

    Example:
        >>> import tinytorch as tt
        >>> tt.diagflat(tt.tensor([[1, 2]]))
        tensor([[1, 0],
                [0, 2]])
    """
    return diag_embed(flatten(input), offset)


@diagflat.numpy
def _numpy_diagflat(input: Any = None, k: int = 0, **options: Any) -> Tensor:
    return diagflat(options.pop("v", input), k)


# -- triangles ------------------------------------------------------------------------------------


def _check_matrix(name: str, input: Array) -> None:
    if input.ndim < 2:
        raise RuntimeError(
            f"{name}: input tensor must have at least 2 dimensions, got {input.ndim}"
        )


@op(method=True, inplace=True, out=Out.EXACT)
def tril(xp: Backend, input: Array, diagonal: int = 0) -> Array:
    """The lower triangle of matrices, zeros above it.

    Args:
        input: Tensor of shape ``(*, rows, columns)``.
        diagonal: The last diagonal that is kept; default the main one.

    Returns:
        Tensor of ``input``'s shape.

    Raises:
        RuntimeError: For fewer than two dimensions.

    Example:
        >>> import tinytorch as tt
        >>> tt.tril(tt.ones(2, 3))
        tensor([[1., 0., 0.],
                [1., 1., 0.]])
    """
    _check_matrix("tril", input)
    return in_rows(xp, xp.tril(input, integer("tril", "diagonal", diagonal)))


tril.vjp(input=lambda xp, g, diagonal: xp.call(tril, g, diagonal))
write_changes(tril.op)


@tril.numpy
def _numpy_tril(input: Any = None, k: int = 0, **options: Any) -> Tensor:
    return tril(options.pop("m", input), k)


@op(method=True, inplace=True, out=Out.EXACT)
def triu(xp: Backend, input: Array, diagonal: int = 0) -> Array:
    """The upper triangle of matrices, zeros below it.

    Args:
        input: Tensor of shape ``(*, rows, columns)``.
        diagonal: The first diagonal that is kept; default the main one.

    Returns:
        Tensor of ``input``'s shape.

    Raises:
        RuntimeError: For fewer than two dimensions.

    Example:
        >>> import tinytorch as tt
        >>> tt.triu(tt.ones(2, 3))
        tensor([[1., 1., 1.],
                [0., 1., 1.]])
    """
    _check_matrix("triu", input)
    return in_rows(xp, xp.triu(input, integer("triu", "diagonal", diagonal)))


triu.vjp(input=lambda xp, g, diagonal: xp.call(triu, g, diagonal))
write_changes(triu.op)


@triu.numpy
def _numpy_triu(input: Any = None, k: int = 0, **options: Any) -> Tensor:
    return triu(options.pop("m", input), k)


def _held(row: int, col: int, offset: int) -> int:
    """How many elements of a matrix lie on the diagonal ``offset`` or below it."""

    def of_rows(last: int) -> int:
        """The sum of ``min(k, col)`` for k from 1 to ``last``."""
        last, short = max(last, 0), min(max(last, 0), col)
        return short * (short + 1) // 2 + (last - short) * col

    return of_rows(row + offset) - of_rows(offset)


def _triangle(
    xp: Backend, name: str, row: int, col: int, offset: int, upper: bool, dtype: Any
) -> Array:
    if row < 0 or col < 0:
        raise RuntimeError(f"{name}: row and col must be non-negative, got row={row}, col={col}")
    beside = xp.clip(counting(xp, row) + (offset if upper else offset + 1), 0, col)
    first, held = (beside, col - beside) if upper else (0, beside)
    # Their number is known here: a device that is asked for it makes the host wait.
    count = row * col - _held(row, col, offset - 1) if upper else _held(row, col, offset)
    ends, each = xp.cumsum(held), counting(xp, count)
    rows = xp.searchsorted(ends, each, side="right")
    found = xp.stack([rows, each + xp.take(first + held - ends, rows)])
    return xp.astype(found, xp.native_dtype(dtypes.int64) if dtype is None else dtype)


@creation(default_dtype=False, public=False)
def triangle_indices(
    xp: Backend, name: str, row: int, col: int, offset: int, *, dtype: Any = None
) -> Array:
    """Where a triangle of a matrix lies, as a matrix of two rows."""
    return _triangle(xp, name, row, col, offset, name == "triu_indices", dtype)


_BY_COLUMNS = (
    "(row: int, col: int, offset: int = 0, **options: Any) -> Tensor",
    "(row: int, col: None = None, offset: int = 0, **options: Any) -> tuple[Tensor, Tensor]",
)


def _indices(name: str, row: int, col: Any, offset: int, options: dict[str, Any]) -> Any:
    numpy = col is None or "k" in options or "m" in options
    col, offset = options.pop("m", col), options.pop("k", offset)
    row, offset = integer(name, "row", row), integer(name, "offset", offset)
    col = row if col is None else integer(name, "col", col)
    found = triangle_indices(name, row, col, offset, **options)
    return tuple(found) if numpy else found


@composite(forms=_BY_COLUMNS)
def tril_indices(row: int, col: int | None = None, offset: int = 0, **options: Any) -> Any:
    """Where the lower triangle of a matrix lies, in row-major order.

    Without ``col``, or with ``k=`` or ``m=``, it is NumPy's: a tuple of two tensors.

    Args:
        row: Rows of the matrix.
        col: Its columns.
        offset: The last diagonal of the triangle; default the main one.
        **options: ``dtype``, default int64, and ``device``.

    Returns:
        Tensor of shape ``(2, n)``: row indices and column indices.

    Raises:
        RuntimeError: If a size is negative.

    Example:
        >>> import tinytorch as tt
        >>> tt.tril_indices(2, 2)
        tensor([[0, 1, 1],
                [0, 0, 1]])
    """
    return _indices("tril_indices", row, col, offset, options)


@composite(forms=_BY_COLUMNS)
def triu_indices(row: int, col: int | None = None, offset: int = 0, **options: Any) -> Any:
    """Where the upper triangle of a matrix lies, in row-major order.

    Without ``col``, or with ``k=`` or ``m=``, it is NumPy's: a tuple of two tensors.

    Args:
        row: Rows of the matrix.
        col: Its columns.
        offset: The first diagonal of the triangle; default the main one.
        **options: ``dtype``, default int64, and ``device``.

    Returns:
        Tensor of shape ``(2, n)``: row indices and column indices.

    Raises:
        RuntimeError: If a size is negative.

    Example:
        >>> import tinytorch as tt
        >>> tt.triu_indices(2, 2)
        tensor([[0, 0, 1],
                [0, 1, 1]])
    """
    return _indices("triu_indices", row, col, offset, options)
