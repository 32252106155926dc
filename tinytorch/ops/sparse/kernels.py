"""Kernels of sparse tensors: elements at positions, and the products of a sparse matrix."""

from __future__ import annotations

import math
from typing import Any

from ... import dtypes
from ...core.tensor import Tensor
from ...dispatch.op import Array, Backend, Index, op
from ..index.gathering import index_select
from ..reduce.cumulative import cumsum
from ..shape.rearranging import repeat_interleave
from ..sort.unique import unique
from .pattern import Pattern, compress_rows


@op(node="ToDenseBackward0")
def _scatter_elements(xp: Backend, input: Array, positions: Index, shape: Any) -> Array:
    """Zeros of ``shape`` with the rows of ``input`` added at ``positions``.

    The positions number the leading dimensions of the result in row-major order; its other
    dimensions are those of a row.
    """
    dense = input.shape[1:]
    size = math.prod(shape[: len(shape) - len(dense)])
    kind = "uint8" if input.dtype.kind == "b" else input.dtype
    out = xp.zeros((size, *dense), kind)
    if positions.size:
        xp.index_add(out, positions, input.astype(kind, copy=False))
    return xp.reshape(out.astype(input.dtype, copy=False), tuple(shape))


@op(node="ToSparseBackward0")
def _gather_elements(xp: Backend, input: Array, positions: Index, shape: Any) -> Array:
    """Rows of ``input`` at ``positions``, of ``shape``; see ``_scatter_elements``."""
    dense = tuple(shape[1:])
    size = math.prod(input.shape[: input.ndim - len(dense)])
    if not positions.size:
        return xp.zeros(tuple(shape), input.dtype)
    return xp.take(xp.reshape(input, (size, *dense)), positions, axis=0)


_scatter_elements.vjp(
    input=lambda xp, g, in_shape, positions, shape: xp.call(
        _gather_elements, g, positions, in_shape
    )
)
_gather_elements.vjp(
    input=lambda xp, g, in_shape, positions, shape: xp.call(
        _scatter_elements, g, positions, in_shape
    )
)


@op(node="MmBackward0")
def _sparse_product(
    xp: Backend, values: Array, dense: Array, rows: Index, columns: Index, size: int
) -> Array:
    """Product of a sparse matrix of ``size`` rows, with ``values`` at (rows, columns), and another.

    ``dense`` is a matrix or a vector.
    """
    found = xp.sparse_product(values, rows, columns, size, dense)
    if found is not None:
        return found
    out = xp.zeros((size, *dense.shape[1:]), dense.dtype)
    if rows.size and out.size:
        factors = xp.reshape(values, (-1, *[1] * (dense.ndim - 1)))
        xp.index_add(out, rows, factors * xp.take(dense, columns, axis=0))
    return out


@op(node="SparseSampledAddmmBackward0")
def _sampled_product(xp: Backend, a: Array, b: Array, rows: Index, columns: Index) -> Array:
    """Inner products of the rows ``rows`` of ``a`` and the rows ``columns`` of ``b``."""
    product = xp.take(a, rows, axis=0) * xp.take(b, columns, axis=0)
    return xp.sum(product, axis=1) if a.ndim > 1 else product


_sparse_product.vjp(
    values=lambda xp, g, dense, rows, columns: xp.call(_sampled_product, g, dense, rows, columns),
    dense=lambda xp, g, in_shape, values, rows, columns: xp.call(
        _sparse_product, values, g, columns, rows, in_shape[0]
    ),
)
_sampled_product.vjp(
    a=lambda xp, g, in_shape, b, rows, columns: xp.call(
        _sparse_product, g, b, rows, columns, in_shape[0]
    ),
    b=lambda xp, g, in_shape, a, rows, columns: xp.call(
        _sparse_product, g, a, columns, rows, in_shape[0]
    ),
)


def scatter(pattern: Pattern, elements: Tensor) -> Tensor:
    """Dense tensor of a pattern and its elements; those of a repeated position are added."""
    return _scatter_elements(elements, pattern.flat, tuple(pattern.shape))


def gather(pattern: Pattern, dense: Tensor) -> Tensor:
    """Elements of a dense tensor at the positions of a pattern of its shape."""
    shape = (pattern.nnz, *pattern.shape[pattern.sparse_dim :])
    return _gather_elements(dense, pattern.flat, shape)


def merge(elements: Tensor, positions: Tensor, count: int) -> Tensor:
    """Sums of the elements that have the same one of ``count`` positions."""
    return _scatter_elements(elements, positions, (count, *elements.shape[1:]))


def take(elements: Tensor, positions: Tensor) -> Tensor:
    """Elements at ``positions``."""
    return _gather_elements(elements, positions, (positions.shape[0], *elements.shape[1:]))


def multiply(pattern: Pattern, elements: Tensor, dense: Tensor) -> Tensor:
    """Product of a sparse matrix and a dense matrix or vector."""
    rows, columns = pattern.coordinates
    return _sparse_product(elements, dense, rows, columns, pattern.shape[0])


def sample(pattern: Pattern, left: Tensor, right: Tensor) -> Tensor:
    """Inner products of rows of two dense matrices, for the rows and columns of a pattern."""
    rows, columns = pattern.coordinates
    return _sampled_product(left, right, rows, columns)


def segment_softmax(pattern: Pattern, elements: Tensor, dim: int, is_log: bool) -> Tensor:
    """Softmax, or its logarithm, of the elements of a pattern along one sparse dimension."""
    groups = elements.new_zeros(pattern.nnz, dtype=dtypes.int64)
    for at, each in enumerate(pattern.coordinates):
        if at != dim:
            groups = groups * pattern.shape[at] + each
    names, groups = unique(groups, return_inverse=True)
    count = int(names.shape[0])
    shifted = elements - take(_segment_max(elements, groups, count), groups)
    powers = shifted.exp()
    totals = take(merge(powers, groups, count), groups)
    return shifted - totals.log() if is_log else powers / totals


def _segment_max(elements: Tensor, groups: Tensor, count: int) -> Tensor:
    """Largest element of each of ``count`` groups, without history."""
    shape = (count, *elements.shape[1:])
    index = groups.reshape(-1, *[1] * (elements.ndim - 1)).expand(elements.shape)
    low = elements.new_full(shape, -math.inf)
    return low.scatter_reduce(0, index, elements.detach(), "amax")


def pair(a: Pattern, b: Pattern) -> tuple[Tensor, Tensor]:
    """Pairs of elements of two matrices where the column of the first is the row of the second.

    Args:
        a: COO pattern of the first matrix.
        b: COO pattern of the second, with ascending rows.

    Returns:
        The positions of the pairs' first elements in ``a``, and of the second in ``b``.
    """
    starts = compress_rows(b.coordinates[0], b.shape[0])
    columns = a.coordinates[1]
    first = index_select(starts, 0, columns)
    counts = index_select(starts, 0, columns + 1) - first
    of_a = repeat_interleave(counts)
    # The elements of a row of ``b`` are side by side: count on from the row's first one.
    before = cumsum(counts, 0) - counts
    place = cumsum(of_a.new_ones(of_a.shape[0]), 0) - 1
    return of_a, index_select(first - before, 0, of_a) + place


def multiply_patterns(a: Pattern, b: Pattern) -> tuple[Tensor, Tensor, Pattern, Tensor]:
    """Return which elements of two coalesced matrices are factors of their product's elements.

    Returns:
        The positions of the factors among the elements of ``a``, and of ``b``; the coalesced
        pattern of the product; and the position in it of each product of two factors.
    """
    of_a, of_b = pair(a, b)
    rows = index_select(a.coordinates[0], 0, of_a)
    flat = rows * b.shape[1] + index_select(b.coordinates[1], 0, of_b)
    found, inverse = unique(flat, return_inverse=True)
    return of_a, of_b, Pattern.from_flat(found, (a.shape[0], b.shape[1]), 2), inverse
