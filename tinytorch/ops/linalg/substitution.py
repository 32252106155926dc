"""Kernels on raw arrays that NumPy and CuPy have for no batch: substitution, LU, Cholesky.

Each halves its matrix until a single row or column is left, so that nearly all the work is in
matrix products, and works on every matrix of a batch at once. Nothing looks at a value, so a
GPU is never waited for; what failed is reported in ``info``, as LAPACK does.

Reference:
    Toledo, "Locality of reference in LU decomposition with partial pivoting", SIAM J. Matrix
    Anal. Appl. 18 (1997); Golub & Van Loan, Matrix Computations, 4th ed., ch. 3-4.
"""

from __future__ import annotations

from typing import Any

from ... import dtypes
from ...dispatch.op import Array, Backend


def substitute(
    xp: Backend, triangle: Array, x: Array, upper: bool = False, unit: bool = False
) -> None:
    """Overwrite ``x`` by the solution ``y`` of ``triangle @ y = x``.

    Args:
        xp: The backend.
        triangle: ``(..., n, n)``; only the triangle that ``upper`` says is read.
        x: ``(..., n, k)``; its leading dimensions include those of ``triangle``.
        upper: Which triangle.
        unit: Take the diagonal for ones.
    """
    n = triangle.shape[-1]
    if n <= 1:
        if n and not unit:
            xp.divide(x, triangle, out=x)
        return
    half = n // 2
    first, second = (slice(half), slice(half, None))
    if upper:
        first, second = second, first
    substitute(xp, triangle[..., first, first], x[..., first, :], upper, unit)
    x[..., second, :] -= xp.matmul(triangle[..., second, first], x[..., first, :])
    substitute(xp, triangle[..., second, second], x[..., second, :], upper, unit)


def factor_lu(xp: Backend, matrix: Array, pivot: bool = True) -> tuple[Array, Array, Array]:
    """Factors ``L`` and ``U`` of every matrix with its rows permuted.

    Args:
        xp: The backend.
        matrix: ``(..., m, n)``.
        pivot: Bring the largest element of a column to the diagonal.

    Returns:
        Both factors in one matrix; LAPACK's pivots ``(..., min(m, n))``, counted from 1: row i
        was swapped with row ``pivots[i]``; and ``info``, the number of the first zero on the
        diagonal of ``U``, or 0.
    """
    native = xp.native_dtype(dtypes.int32)
    found = xp.lu(matrix) if pivot else None
    if found is None:
        lu = xp.swapaxes(xp.array(xp.swapaxes(matrix, -1, -2), order="C"), -1, -2)
        *batch, m, n = lu.shape
        count = min(m, n)
        pivots = xp.zeros((*batch, count), xp.native_dtype(dtypes.int64))
        if count:
            _factor_panel(xp, lu, pivots, 0, pivot)
        found = lu, xp.astype(pivots + 1, native)
    lu, swaps = found
    zero = xp.diagonal(lu, 0, -2, -1) == 0
    return lu, swaps, first_failure(xp, zero)


def first_failure(xp: Backend, failed: Array) -> Array:
    """The number of the first true element along the last dimension, from 1; 0 for none."""
    native = xp.native_dtype(dtypes.int32)
    if not failed.shape[-1]:
        return xp.zeros(failed.shape[:-1], native)
    at = xp.argmax(failed, axis=-1) + 1
    return xp.astype(xp.where(xp.any(failed, axis=-1), at, 0), native)


def _factor_panel(xp: Any, a: Array, pivots: Array, first: int, pivot: bool) -> Array:
    """Factor ``a`` in place; where each row came from. ``first`` is its place in the whole."""
    m, n = a.shape[-2:]
    if n == 1:
        return _factor_column(xp, a, pivots, first, pivot)
    half = max(min(m, n) // 2, 1)
    left, right = a[..., :half], a[..., half:]
    rows = _factor_panel(xp, left, pivots[..., :half], first, pivot)
    if pivot:
        right[...] = permuted(xp, right, rows)
    substitute(xp, left[..., :half, :], right[..., :half, :], unit=True)
    if m == half:
        return rows
    right[..., half:, :] -= xp.matmul(left[..., half:, :], right[..., :half, :])
    if pivots.shape[-1] == half:
        return rows
    rest = _factor_panel(xp, right[..., half:, :], pivots[..., half:], first + half, pivot)
    if pivot:
        lower = left[..., half:, :]
        lower[...] = permuted(xp, lower, rest)
        rows[..., half:] = xp.take_along_axis(rows[..., half:], rest, axis=-1)
    return rows


def _factor_column(xp: Any, a: Array, pivots: Array, first: int, pivot: bool) -> Array:
    column = a[..., 0]
    place = xp.arange(column.shape[-1])
    rows = xp.array(xp.broadcast_to(place, column.shape))
    if pivot:
        # LAPACK's measure of a complex number, so that the pivots are the same.
        size = abs(column.real) + abs(column.imag) if a.dtype.kind == "c" else abs(column)
        at = xp.argmax(size, axis=-1)[..., None]
        found = xp.take_along_axis(column, at, axis=-1)
        column[...] = xp.where(place == at, column[..., :1], column)
        column[..., :1] = found
        rows = xp.where(place == at, 0, rows)
        rows[..., :1] = at
        pivots[...] = at + first
    else:
        pivots[...] = first
    top = column[..., :1]
    below = column[..., 1:]
    below[...] = xp.where(top != 0, below / top, below)
    return rows


def permuted(xp: Backend, matrix: Array, rows: Array) -> Array:
    """The rows of every matrix in the order that ``rows`` says."""
    if matrix.ndim == 2 and rows.ndim == 1:
        return matrix[rows]
    return xp.take_along_axis(matrix, rows[..., None], axis=-2)


def permutation(xp: Backend, pivots: Array, size: int) -> Array:
    """Where each row came from, after the swaps that LAPACK's ``pivots`` stand for."""
    place = xp.arange(size)
    rows = xp.array(xp.broadcast_to(place, (*pivots.shape[:-1], size)))
    for i in range(pivots.shape[-1]):
        at = xp.astype(pivots[..., i : i + 1], rows.dtype) - 1
        found = xp.take_along_axis(rows, at, axis=-1)
        rows = xp.where(place == at, rows[..., i : i + 1], rows)
        rows[..., i : i + 1] = found
    return rows


def factor_cholesky(xp: Backend, matrix: Array) -> tuple[Array, Array]:
    """Lower Cholesky factors, NaN from where a leading minor is not positive; and ``info``.

    ``info`` is the order of the first such minor, or 0. Only lower triangles are read.
    """
    lower = xp.tril(matrix)
    failed = xp.zeros(lower.shape[:-1], bool)
    if lower.shape[-1]:
        _factor_square(xp, lower, failed)
    return lower, first_failure(xp, failed)


def _factor_square(xp: Any, a: Array, failed: Array) -> None:
    n = a.shape[-1]
    if n == 1:
        pivot = a.real if a.dtype.kind == "c" else a
        failed[...] = xp.logical_not(pivot[..., 0] > 0)
        a[...] = xp.where(pivot > 0, xp.sqrt(abs(pivot)), xp.nan)
        return
    half = n // 2
    corner, below, rest = a[..., :half, :half], a[..., half:, :half], a[..., half:, half:]
    _factor_square(xp, corner, failed[..., :half])
    # below @ adjoint(corner)^-1: a solution with the rows of the conjugate for columns.
    turned = xp.conj(xp.swapaxes(below, -1, -2))
    substitute(xp, corner, turned)
    below[...] = xp.conj(xp.swapaxes(turned, -1, -2))
    rest -= xp.tril(xp.matmul(below, turned))
    _factor_square(xp, rest, failed[..., half:])
