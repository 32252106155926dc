"""``vdot``, ``cross``, ``vander``, ``trace``, and distances between rows of matrices."""

from __future__ import annotations

import functools
import math
from typing import Any

from ... import dtypes
from ...backends import load
from ...core.tensor import Tensor, wrap
from ...dispatch.op import Array, Backend, Out, Overlap, composite, op
from ...dispatch.out import scalar_name
from ...warnings import warn_once
from ..checks import check_supported
from ..create.factories import as_tensor
from ..index.gathering import index_select
from ..pointwise.complex_numbers import sgn
from ..shape.diagonal import diagonal, triu_indices
from ..shape.sizes import flip
from .matmul import dot
from .products import cross as linalg_cross
from .products import powers


@composite(method=True, node="VdotBackward0", out=Out.EXACT, overlap=Overlap.DISJOINT)
def vdot(input: Tensor, other: Tensor) -> Tensor:
    """Sum of the products of two vectors' elements, those of the first conjugated.

    Args:
        input: ``(n,)``.
        other: ``(n,)``.

    Returns:
        0-d tensor.

    Raises:
        RuntimeError: If they are not vectors of one length and dtype.

    Example:
        >>> tt.vdot(tt.tensor([1j, 2.0]), tt.tensor([1j, 1.0]))
        tensor(3.+0.j)
    """
    if not input.ndim == other.ndim == 1:  # dot() accepts 0-d tensors, as NumPy's
        raise RuntimeError(f"1D tensors expected, but got {input.ndim}D and {other.ndim}D tensors")
    return dot(input.conj() if input.is_complex() else input, other)


@composite(method=True, out=Out.EXACT, overlap=Overlap.DISJOINT)
def cross(input: Tensor, other: Tensor, dim: int | None = None) -> Tensor:
    """Cross product of the vectors of three elements along a dimension.

    Args:
        input: Tensor with a dimension of size 3.
        other: Tensor that broadcasts with ``input``, of size 3 there too.
        dim: That dimension. By default the last one if its size is 3, as in NumPy and
            ``linalg.cross``, else the first of size 3.

    Raises:
        RuntimeError: If there is no dimension of size 3, or numbers of dimensions or dtypes
            differ.

    Example:
        >>> tt.cross(tt.tensor([1, 0, 0]), tt.tensor([0, 1, 0]), dim=0)
        tensor([0, 0, 1])
    """
    if dim is None:
        sizes = tuple(input.shape)
        if 3 not in sizes:
            raise RuntimeError(f"cross: no dimension of size 3 in input, got shape {list(sizes)}")
        warn_once(
            "Using torch.cross without specifying the dim arg is deprecated. Please either pass "
            "the dim explicitly or simply use torch.linalg.cross. The last dimension is taken if "
            "its size is 3, where PyTorch takes the first that has it."
        )
        dim = -1 if sizes[-1] == 3 else sizes.index(3)
    return linalg_cross(input, other, dim=dim)


@composite
def vander(x: Any, N: int | None = None, increasing: bool = False) -> Tensor:
    """Vandermonde matrix: powers of the elements of a vector, one row for each element.

    Args:
        x: Tensor of shape ``(n,)``, or a sequence of n numbers.
        N: Number of columns; default n.
        increasing: Begin each row with ``x ** 0``; by default it ends with that.

    Returns:
        ``(n, N)``; int64 for integers.

    Raises:
        RuntimeError: If ``x`` is not a vector or ``N`` is negative.

    Example:
        >>> tt.vander(tt.tensor([1, 2, 3]))
        tensor([[1, 1, 1],
                [4, 2, 1],
                [9, 3, 1]])
    """
    x = x if isinstance(x, Tensor) else as_tensor(x)
    if x.ndim != 1:
        raise RuntimeError(f"vander: x must be a one-dimensional tensor, got {x.ndim}-D")
    count = x.shape[0] if N is None else N
    if count < 0:
        raise RuntimeError(f"vander: N must be non-negative, got {count}")
    columns = powers(x, max(count, 1))[:, :count]
    return columns if increasing else flip(columns, (-1,))


@composite(method=True)
def trace(
    input: Tensor, offset: int = 0, axis1: int | None = None, axis2: int | None = None
) -> Tensor:
    """Sum of the elements on a matrix's diagonal.

    With ``offset``, ``axis1`` or ``axis2`` it is NumPy's function, for tensors of any number of
    dimensions.

    Args:
        input: ``(n, m)``.
        offset: Offset of the diagonal; 0 (default) is the main one, positive ones are above it.
        axis1: The dimension of the rows; default the first.
        axis2: The dimension of the columns; default the second.

    Returns:
        0-d tensor, int64 for integers; one sum per matrix for more dimensions.

    Raises:
        RuntimeError: If ``input`` is not a matrix, without the arguments above.
        NotImplementedError: For bools, without the arguments above.

    Example:
        >>> tt.trace(tt.tensor([[1.0, 2.0], [3.0, 4.0]]))
        tensor(5.)
    """
    if offset == 0 and axis1 is None and axis2 is None:
        return _trace(input)
    diagonals: Any = diagonal(input, offset, axis1 or 0, 1 if axis2 is None else axis2)
    return diagonals.sum(-1)  # type: ignore[no-any-return]


@op
def _trace(xp: Backend, input: Array) -> Array:
    """Sum of the diagonal of a matrix; int64 for integers and bools."""
    if input.ndim != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {input.ndim}")
    check_supported(xp, "trace", input, unsupported="b")
    total = input.trace()
    if input.dtype.kind in "uib":
        return xp.astype(total, xp.native_dtype(dtypes.int64))
    return total


@op
def _scaled_identity(xp: Backend, input: Array, rows: int, columns: int) -> Array:
    """The identity matrix of any shape times the 0-d ``input``."""
    return xp.where(xp.eye(rows, columns, dtype=bool), input, xp.zeros_like(input))


_trace.vjp(input=lambda xp, g, in_shape: xp.call(_scaled_identity, g, *in_shape))
_scaled_identity.vjp(input=lambda xp, g: xp.call(_trace, g))


_MODES = {
    "use_mm_for_euclid_dist_if_necessary": None,
    "use_mm_for_euclid_dist": True,
    "donot_use_mm_for_euclid_dist": False,
}
#: Rows above which Euclidean distances are computed by a matrix product, as in PyTorch.
_PRODUCT_ROWS = 25
#: Differences that are computed at a time; smaller blocks would be slower.
_BLOCK_ELEMENTS = 1 << 20


@op(node="CdistBackward0")
def _distances(xp: Backend, x1: Array, x2: Array, p: float, by_product: bool) -> Array:
    """``sum(|x1_i - x2_j|^p)^(1/p)`` for all rows i and j, ``(..., m, n)``.

    ``by_product`` is whether to compute Euclidean distances by a matrix product.
    """
    if by_product:
        # |a|^2 + |b|^2 - 2 a b as one product of rows (-2 a, |a|^2, 1) and (b, 1, |b|^2).
        one, other = (xp.sum(x * x, axis=-1, keepdims=True) for x in (x1, x2))
        left = xp.concatenate((-2 * x1, one, xp.ones_like(one)), axis=-1)
        right = xp.concatenate((x2, xp.ones_like(other), other), axis=-1)
        return xp.sqrt(xp.maximum(xp.matmul(left, xp.swapaxes(right, -1, -2)), 0))
    batch = xp.broadcast_shapes(x1.shape[:-2], x2.shape[:-2])
    out = xp.zeros((*batch, x1.shape[-2], x2.shape[-2]), x1.dtype)
    for rows in _blocks(out.shape, x1.shape[-1]):
        block = x1[..., rows, None, :] - x2[..., None, :, :]
        out[..., rows, :] = _norm_of_rows(xp, block, p)
    return out


def _blocks(shape: Any, features: int) -> list[slice]:
    """Slices of the rows of the distances, such that a block's differences fit into bounded memory.

    ``shape`` is that of the distances, ``(..., m, n)``; ``features`` is the length of a row.
    """
    rows, size = shape[-2], math.prod(shape) * features
    step = max(1, _BLOCK_ELEMENTS * rows // max(size, 1))
    return [slice(start, start + step) for start in range(0, rows if size else 0, step)]


def _norm_of_rows(xp: Any, x: Array, p: float) -> Array:
    """The norm of order p along the last dimension."""
    if p == 2:
        return xp.sqrt(xp.sum_of_products(x, x)[..., 0])
    size = abs(x)
    if p == 0:
        return xp.sum(xp.where(size > 0, 1, size), axis=-1)  # NaN stays NaN
    if p == 1:
        return xp.sum(size, axis=-1)
    if math.isinf(p):
        return xp.max(size, axis=-1)
    return xp.sum(size**p, axis=-1) ** (1 / p)


def _divide_or_zero(xp: Any, a: Any, b: Any) -> Any:
    """``a / b``, and 0 where b is 0, as the gradient of a distance of 0 is."""
    zero = b == 0
    return xp.where(zero, 0, a / xp.where(zero, 1, b))


def _difference_gradient(xp: Any, g: Any, out: Any, difference: Any, p: float) -> Any:
    """The gradient of differences d of two rows, ``g sgn(d) |d|^(p-1) / norm^(p-1)``.

    ``g`` is the gradient of the distances ``out``, and ``difference`` has one dimension more.
    """
    g, norm = g[..., None], out[..., None]
    if p == 0:
        return xp.zeros_like(difference) * g
    if p == 2:
        return difference * _divide_or_zero(xp, g, norm)
    sign = xp.call(sgn, difference)
    if p == 1:
        return sign * g
    size = xp.abs(difference)
    if math.isinf(p):
        return sign * g * xp.astype(size == norm, difference.dtype)
    zero = size == 0
    power = xp.where(zero, 0, xp.where(zero, 1, size) ** (p - 1))
    return sign * power * _divide_or_zero(xp, g, norm ** (p - 1))


@_distances.vjp_joint("x1", "x2")
def _distances_backward(
    xp: Any, g: Any, in_shape: Any, out: Any, x1: Any, x2: Any, p: float, by_product: bool
) -> tuple[Any, Any]:
    """Gradients of ``x1`` and ``x2`` in ``_distances``, block by block."""
    if by_product:
        weight = _divide_or_zero(xp, g, out)
        weight_t = xp.swapaxes(weight, -1, -2)
        return (
            x1 * xp.sum(weight, -1)[..., None] - xp.matmul(weight, x2),
            x2 * xp.sum(weight_t, -1)[..., None] - xp.matmul(weight_t, x1),
        )
    blocks = _blocks(out.shape, x1.shape[-1])
    if not blocks:
        return xp.zeros_like(x1), xp.zeros_like(x2)
    x1_grads, x2_grad = [], 0
    for rows in blocks:
        difference = x1[..., rows, None, :] - x2[..., None, :, :]
        gradient = _difference_gradient(xp, g[..., rows, :], out[..., rows, :], difference, p)
        x1_grads.append(xp.sum(gradient, -2))
        x2_grad = x2_grad - xp.sum(gradient, -3)
    return xp.concatenate(x1_grads, axis=-2), x2_grad


@composite(node="CdistBackward0")
def cdist(
    x1: Tensor,
    x2: Tensor,
    p: float = 2.0,
    compute_mode: str = "use_mm_for_euclid_dist_if_necessary",
) -> Tensor:
    """The distance of every row of one matrix to every row of another.

    Args:
        x1: ``(..., m, k)``.
        x2: ``(..., n, k)``; leading dimensions broadcast.
        p: Order of the norm, from 0 (differing elements) to infinity; default 2.
        compute_mode: Whether to compute Euclidean distances by a matrix product, which is faster
            and less accurate for near rows: ``"use_mm_for_euclid_dist"``,
            ``"donot_use_mm_for_euclid_dist"`` or, the default,
            ``"use_mm_for_euclid_dist_if_necessary"``: from 26 rows on.

    Returns:
        ``(..., m, n)``. A distance of 0 has the gradient 0.

    Raises:
        RuntimeError: If shapes or dtypes do not fit, or for a negative ``p``.
        ValueError: For another ``compute_mode``.

    Example:
        >>> tt.cdist(tt.tensor([[0.0, 0.0]]), tt.tensor([[3.0, 4.0], [0.0, 1.0]]))
        tensor([[5., 1.]])
    """
    if compute_mode not in _MODES:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
    for name, tensor in (("X1", x1), ("X2", x2)):
        if not tensor.is_floating_point():
            raise RuntimeError(
                f"cdist only supports floating-point dtypes, {name} got: "
                f"{scalar_name(tensor.dtype)}"
            )
        if tensor._data.ndim < 2:
            raise RuntimeError(
                f"cdist only supports at least 2D tensors, {name} got: {tensor.ndim}D"
            )
    *_, rows, columns = x1._data.shape
    *_, others, features = x2._data.shape
    if columns != features:
        raise RuntimeError(
            f"X1 and X2 must have the same number of columns. X1: {columns} X2: {features}"
        )
    if x1.dtype is not x2.dtype:
        raise RuntimeError(
            f"cdist: expected X1 and X2 to have the same dtype, but got {x1.dtype.name} and "
            f"{x2.dtype.name}"
        )
    if p < 0:
        raise RuntimeError(f"cdist only supports non-negative p values, got {p}")
    many = rows > _PRODUCT_ROWS or others > _PRODUCT_ROWS
    mode = _MODES[compute_mode]
    by_product = p == 2 and (many if mode is None else mode)
    return _distances(x1, x2, float(p), by_product)


@composite(namespaces=("nn.functional", ""), node="PdistBackward0")
def pdist(input: Tensor, p: float = 2.0) -> Tensor:
    """The distances between all pairs of rows of a matrix.

    Args:
        input: ``(n, k)``.
        p: Order of the norm, from 0 (differing elements) to infinity; default 2.

    Returns:
        ``(n (n - 1) / 2,)``: rows 0 and 1, 0 and 2, ..., 1 and 2, ...

    Raises:
        RuntimeError: If ``input`` is not a floating-point matrix, or for a negative ``p``.

    Example:
        >>> tt.pdist(tt.tensor([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]]))
        tensor([5.0000, 1.0000, 4.2426])
    """
    if input.ndim != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {input.ndim}D")
    if not input.is_floating_point():
        raise RuntimeError("pdist only supports floating-point dtypes")
    if p < 0:
        raise RuntimeError(f"pdist only supports non-negative p values, got {p}")
    distances: Tensor = _distances(input, input, float(p), False)
    return index_select(distances.reshape(-1), 0, _pairs(input._xp, input._data.shape[0]))


#: Pairs of up to this many rows are kept.
_FEW_ROWS = 64


def _pairs(xp: Backend, n: int) -> Tensor:
    """Positions of the pairs of n rows, the smaller row first, in a matrix of all distances."""
    if n <= _FEW_ROWS:
        return wrap(xp.from_numpy(_pairs_of_few(n)), xp)
    first, second = triu_indices(n, n, 1, backend=xp)
    return first * n + second  # type: ignore[no-any-return]


@functools.cache
def _pairs_of_few(n: int) -> Any:
    """The results of ``_pairs`` for few rows, as NumPy arrays."""
    np = load("numpy").library
    return np.flatnonzero(np.triu(np.ones((n, n), bool), 1)).astype("int64")
