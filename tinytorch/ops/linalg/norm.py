"""Norms of vectors and matrices, and condition numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ... import dtypes
from ...core.tensor import Tensor
from ...dispatch.op import Out, composite
from ...dispatch.out import scalar_name
from ..reduce.extrema import amax, amin
from ..reduce.norms import p_norm
from ..reduce.reduction import Dims, reduced_axes
from ..reduce.reduction import sum as sum_
from ..results import write_result
from ..shape.sizes import normalize_dim
from .shared import check_dimensions
from .solve import inv_ex
from .svd import svdvals

# -- vectors ---------------------------------------------------------------------------------------


@composite(namespaces=("linalg",), out=Out.EXACT)
def vector_norm(
    x: Tensor,
    ord: float = 2,
    dim: Dims = None,
    keepdim: bool = False,
    *,
    dtype: dtypes.dtype | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """The norm of the vectors along some dimensions: ``sum(|x|^p)^(1/p)`` for order p.

    Args:
        x: Floating-point or complex tensor of any shape.
        ord: The order p; default 2. 0 is the number of nonzero elements, inf the largest absolute
            value, and -inf the smallest.
        dim: Dimension or dimensions; None, the default, takes the whole tensor as one vector.
        keepdim: Whether to keep the reduced dimensions, with size 1.
        dtype: Convert ``x`` to this first; real for real ``x``, and not narrower.

    Returns:
        Real tensor without the reduced dimensions. Its gradient is 0 where the norm is 0, and is
        distributed evenly among equal largest elements.

    Raises:
        RuntimeError: For integers, or for empty vectors and an infinite or negative order.

    Example:
        >>> tt.linalg.vector_norm(tt.tensor([3.0, -4.0]))
        tensor(5.)
    """
    p = float(ord)
    x = _convert_input(x, dtype)
    _check_not_empty(x, p, reduced_axes("linalg.vector_norm", dim, x._data.ndim))
    return write_result(out, p_norm(x, p, dim, keepdim), "linalg.vector_norm")  # type: ignore


def _convert_input(x: Tensor, dtype: Any) -> Tensor:
    """``x`` in ``dtype``, or as it is for None.

    Raises RuntimeError for integers, and for a ``dtype`` that ``x`` cannot be converted to.
    """
    name = "linalg.vector_norm"
    if x._data.dtype.kind not in "fc" and x.dtype.kind not in "fc":
        raise RuntimeError(
            f"{name}: Expected a floating point or complex tensor as input. Got "
            f"{scalar_name(x.dtype)}"
        )
    if dtype is None:
        return x
    wanted = dtypes.as_dtype(dtype)
    kind = "complex" if x.dtype.is_complex else "real"
    if wanted.is_complex != x.dtype.is_complex:
        raise RuntimeError(
            f"{name}: dtype should be {kind} for {kind} inputs, but got {scalar_name(wanted)}"
        )
    if dtypes.promote_types(x.dtype, wanted) is not wanted:
        raise RuntimeError(
            f"{name}: the dtype of the input ({scalar_name(x.dtype)}) should be convertible "
            f"without narrowing to the specified dtype ({scalar_name(wanted)})"
        )
    return x.to(wanted)


def _check_not_empty(x: Tensor, p: float, axes: tuple[int, ...] | None) -> None:
    """Raise RuntimeError for empty vectors if their norm of order ``p`` is undefined.

    ``axes`` are the dimensions of the vectors, or None for all.
    """
    shape = x._data.shape
    sizes = shape if axes is None else [shape[i] for i in axes]
    if 0 in sizes and (p < 0 or p == math.inf):
        order = int(p) if p.is_integer() else p
        where = "an empty tensor" if axes is None else f"dimensions {list(axes)} of size 0"
        raise RuntimeError(
            f"linalg.vector_norm cannot compute the {order} norm on {where} because the operation "
            "does not have an identity"
        )


# -- matrices --------------------------------------------------------------------------------------


@composite(namespaces=("linalg",), out=Out.EXACT)
def matrix_norm(
    A: Tensor,
    ord: float | str = "fro",
    dim: Sequence[int] = (-2, -1),
    keepdim: bool = False,
    *,
    dtype: dtypes.dtype | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """The norm of the matrices along two dimensions.

    Args:
        A: Floating-point or complex tensor of two dimensions at least.
        ord: ``"fro"`` (default): root of the sum of squares; ``"nuc"``: sum of the singular
            values; 2 and -2: the largest and smallest singular value; 1 and -1: the largest and
            smallest sum of absolute values in a column; inf and -inf: the same in a row.
        dim: The dimensions of rows and columns; default the last two.
        keepdim: Whether to keep the two dimensions, with size 1.
        dtype: Convert ``A`` to this first.

    Returns:
        Real tensor without the two dimensions.

    Raises:
        RuntimeError: For another order, fewer than two dimensions or integers.

    Example:
        >>> tt.linalg.matrix_norm(tt.tensor([[1.0, -2.0], [0.0, 2.0]]), 1)
        tensor(4.)
    """
    name = "linalg.matrix_norm"
    ndim = A._data.ndim
    if ndim < 2:
        check_dimensions(name, A)
    if isinstance(dim, int) or len(dim) != 2:
        raise RuntimeError(f"{name}: dim must be a 2-tuple. Got {dim}")
    if A._data.dtype.kind not in "fc" and A.dtype.kind not in "fc":
        raise RuntimeError(
            f"{name}: Expected a floating point or complex tensor as input. Got "
            f"{scalar_name(A.dtype)}"
        )
    row, column = [normalize_dim(name, d, ndim) for d in dim]
    if row == column:
        raise RuntimeError(f"{name}: dims must be different. Got ({dim[0]}, {dim[1]})")
    if ord not in ("fro", "nuc", 1, -1, 2, -2, math.inf, -math.inf):
        raise RuntimeError(f"{name}: Order {ord} not supported.")
    if ord == "fro":
        result = p_norm(_convert_input(A, dtype), 2.0, (row, column), keepdim)
    else:
        result = _matrix_norm_of_order(
            A if dtype is None else A.to(dtype), ord, row, column, keepdim
        )
    return write_result(out, result, name)  # type: ignore[no-any-return]


def _matrix_norm_of_order(A: Tensor, ord: Any, row: int, column: int, keepdim: bool) -> Tensor:
    """The matrix norm of order ``ord``, not "fro", over the dimensions ``row`` and ``column``."""
    if ord == "nuc" or abs(ord) == 2:
        values = svdvals(A.movedim((row, column), (-2, -1)))
        pick = sum_ if ord == "nuc" else (amax if ord > 0 else amin)
        result = _largest_or_zero(values, -1, False) if pick is amax else pick(values, -1)
    else:
        inner, outer = (column, row) if math.isinf(ord) else (row, column)
        sums = sum_(A.abs(), inner, True)
        sums = _largest_or_zero(sums, outer, True) if ord > 0 else amin(sums, outer, True)
        result = sums.squeeze((row, column))
    if keepdim:
        for d in sorted((row, column)):
            result = result.unsqueeze(d)
    return result


def _largest_or_zero(values: Tensor, dim: int, keepdim: bool) -> Tensor:
    """The maximum along ``dim``; 0 if the dimension has size 0."""
    return amax(values, dim, keepdim) if values.shape[dim] else sum_(values, dim, keepdim)


@composite(namespaces=("linalg",), out=Out.EXACT)
def norm(
    A: Tensor,
    ord: float | str | None = None,
    dim: Dims = None,
    keepdim: bool = False,
    *,
    dtype: dtypes.dtype | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """The norm of vectors or of matrices, depending on ``dim`` and the shape.

    Args:
        A: Floating-point or complex tensor.
        ord: The order, as for ``linalg.vector_norm`` or ``linalg.matrix_norm``; None, the
            default, is the root of the sum of squares.
        dim: One dimension for vectors, two for matrices; None, the default, means all.
        keepdim: Whether to keep the reduced dimensions, with size 1.
        dtype: Convert ``A`` to this first.

    Returns:
        Real tensor without the reduced dimensions.

    Raises:
        RuntimeError: For an unknown order, or an order without ``dim`` for more than two
            dimensions.

    Example:
        >>> tt.linalg.norm(tt.tensor([[3.0, 0.0], [0.0, 4.0]]))
        tensor(5.)
        >>> tt.linalg.norm(tt.tensor([[3.0, 0.0], [0.0, 4.0]]), 2)
        tensor(4.)
    """
    if ord is None:
        result = vector_norm(A, 2, dim, keepdim, dtype=dtype)
        return write_result(out, result, "linalg.norm")  # type: ignore[no-any-return]
    if dim is None:
        if A.ndim not in (1, 2):
            raise RuntimeError(
                "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got "
                f"{A.ndim}D."
            )
        dims = tuple(range(A.ndim))
    else:
        dims = (dim,) if isinstance(dim, int) else tuple(dim)
        if len(dims) not in (1, 2):
            raise RuntimeError(
                f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {list(dims)}"
            )
    if len(dims) == 2 or isinstance(ord, str):
        result = matrix_norm(A, ord, dims, keepdim, dtype=dtype)
    else:
        result = vector_norm(A, ord, dims, keepdim, dtype=dtype)
    return write_result(out, result, "linalg.norm")  # type: ignore[no-any-return]


@composite(namespaces=("linalg",))
def cond(A: Tensor, p: float | str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The condition number: the norm of a matrix times that of its inverse.

    Args:
        A: ``(..., m, n)``, square for orders other than None, 2 and -2.
        p: The order of ``linalg.matrix_norm``; None, the default, is 2.

    Returns:
        Real tensor ``(...)``, infinite for singular matrices.

    Raises:
        RuntimeError: If the matrices are not square, or for an unknown order.

    Example:
        >>> tt.linalg.cond(tt.tensor([[2.0, 0.0], [0.0, 0.5]]))
        tensor(4.)
    """
    if A.ndim < 2:
        raise RuntimeError(
            "linalg.cond: The input tensor must have at least 2 dimensions, got shape "
            f"{list(A.shape)}."
        )
    if p not in (None, "fro", "nuc", 1, -1, 2, -2, math.inf, -math.inf):
        raise RuntimeError(f"linalg.cond got an invalid norm type: {p}")
    return write_result(out, _condition_number(A, p), "linalg.cond")  # type: ignore[no-any-return]


def _condition_number(A: Tensor, p: Any) -> Tensor:
    """The condition number in the norm of order ``p``.

    It is computed by singular values for order 2, -2 and None, and by the inverse for others.
    """
    if p in (None, 2, -2):
        values = svdvals(A)
        if not values.shape[-1]:
            return values.sum(-1)
        largest, smallest = values[..., 0], values[..., -1]
        return smallest / largest if p == -2 else largest / smallest
    if A.shape[-1] != A.shape[-2]:
        raise RuntimeError(
            f"linalg.cond(ord={p}): A must be batches of square matrices, but they are "
            f"{A.shape[-2]} by {A.shape[-1]} matrices"
        )
    if not A.shape[-1]:
        return (A.real if A.is_complex() else A).sum((-2, -1))
    inverse, info = inv_ex(A)
    # Clear the infinities of singular matrices, for which the SVD would raise.
    inverse = inverse.masked_fill((info != 0)[..., None, None], 0)
    result = matrix_norm(A, p) * matrix_norm(inverse, p)
    return result.masked_fill(info != 0, math.inf)
