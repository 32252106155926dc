"""Batched kernels that NumPy and CuPy do not have: substitution, LU and Cholesky factors.

Each kernel works on every matrix of a batch at once. It halves the matrix recursively down to a
single row or column, so that most of the work is in matrix products. No values are read on the
host, so a GPU is not waited for; failures are reported in ``info``, as LAPACK's are.

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
    """Overwrite ``x`` with the solution ``y`` of ``triangle @ y = x``.

    Args:
        xp: The backend.
        triangle: ``(..., n, n)``, of which only the triangle is read.
        x: ``(..., n, k)``; its leading dimensions include those of ``triangle``.
        upper: Whether the triangle is the upper or the lower one.
        unit: Whether the diagonal consists of ones, whatever its elements.
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
    known, rest = x[..., first, :], x[..., second, :]
    substitute(xp, triangle[..., first, first], known, upper, unit)
    rest -= xp.matmul(triangle[..., second, first], known)
    substitute(xp, triangle[..., second, second], rest, upper, unit)


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
    factors = xp.lu(matrix) if pivot else None
    if factors is None:
        lu = xp.swapaxes(xp.array(xp.swapaxes(matrix, -1, -2), order="C"), -1, -2)
        *batch, m, n = lu.shape
        count = min(m, n)
        pivots = xp.zeros((*batch, count), xp.native_dtype(dtypes.int64))
        if count:
            _factor_panel(xp, lu, pivots, 0, pivot)
        swaps = xp.astype(pivots + 1, xp.native_dtype(dtypes.int32))
        factors = lu, swaps, first_failure(xp, lu.diagonal(0, -2, -1) == 0)
    return factors


def first_failure(xp: Backend, failed: Array) -> Array:
    """The number, from 1, of the first true element of ``failed`` along its last dimension.

    It is 0 if no element is true.
    """
    native = xp.native_dtype(dtypes.int32)
    if not failed.shape[-1]:
        return xp.zeros(failed.shape[:-1], native)
    at = failed.argmax(-1) + 1
    return xp.asarray(at * xp.any(failed, -1), native)


def _factor_panel(xp: Any, a: Array, pivots: Array, first: int, pivot: bool) -> Array:
    """Factor some columns of every matrix in place, and write their pivots.

    Args:
        xp: The backend.
        a: The columns, from the panel's first row on.
        pivots: Array for the pivots of these columns.
        first: The number of the panel's first row in the whole matrix.
        pivot: Whether to swap rows.

    Returns:
        The old index of each row of the panel.
    """
    m, n = a.shape[-2:]
    if n == 1:
        return _factor_column(xp, a, pivots, first, pivot)
    half = max(min(m, n) // 2, 1)
    left, right = a[..., :half], a[..., half:]
    rows = _factor_panel(xp, left, pivots[..., :half], first, pivot)
    if pivot:
        right[...] = permute_rows(xp, right, rows)
    substitute(xp, left[..., :half, :], right[..., :half, :], unit=True)
    if m == half:
        return rows
    right[..., half:, :] -= xp.matmul(left[..., half:, :], right[..., :half, :])
    if pivots.shape[-1] == half:
        return rows
    rest = _factor_panel(xp, right[..., half:, :], pivots[..., half:], first + half, pivot)
    if pivot:
        lower = left[..., half:, :]
        lower[...] = permute_rows(xp, lower, rest)
        rows[..., half:] = xp.take_along_axis(rows[..., half:], rest, axis=-1)
    return rows


def _factor_column(xp: Any, a: Array, pivots: Array, first: int, pivot: bool) -> Array:
    """``_factor_panel`` for a panel of a single column."""
    column = a[..., 0]
    numbers = xp.arange(column.shape[-1])
    rows = xp.array(xp.broadcast_to(numbers, column.shape))
    if pivot:
        # LAPACK compares complex pivots by |re| + |im|, too.
        size = abs(column.real) + abs(column.imag) if a.dtype.kind == "c" else abs(column)
        at = xp.argmax(size, axis=-1)[..., None]
        largest = xp.take_along_axis(column, at, axis=-1)
        column[...] = xp.where(numbers == at, column[..., :1], column)
        column[..., :1] = largest
        rows = xp.where(numbers == at, 0, rows)
        rows[..., :1] = at
        pivots[...] = at + first
    else:
        pivots[...] = first
    top = column[..., :1]
    below = column[..., 1:]
    below[...] = xp.where(top != 0, below / top, below)
    return rows


def permute_rows(xp: Backend, matrix: Array, rows: Array) -> Array:
    """The rows of every matrix in the order ``rows``, ``(..., n)``."""
    if matrix.ndim == 2 and rows.ndim == 1:
        return matrix[rows]
    return xp.take_along_axis(matrix, rows[..., None], axis=-2)


def rows_from_pivots(xp: Backend, pivots: Array, size: int) -> Array:
    """The old index of each of ``size`` rows after the swaps of LAPACK's ``pivots``."""
    found = xp.rows_from_pivots(pivots, size)
    if found is not None:
        return found
    numbers = xp.arange(size)
    rows = xp.array(xp.broadcast_to(numbers, (*pivots.shape[:-1], size)))
    for i in range(pivots.shape[-1]):
        at = xp.astype(pivots[..., i : i + 1], rows.dtype) - 1
        swapped = xp.take_along_axis(rows, at, axis=-1)
        rows = xp.where(numbers == at, rows[..., i : i + 1], rows)
        rows[..., i : i + 1] = swapped
    return rows


def factor_cholesky(xp: Backend, matrix: Array) -> tuple[Array, Array]:
    """Lower Cholesky factors and ``info``: 0, or the order of the first minor that is not positive.

    The factors have NaN from there on. Only the lower triangles of the matrices are read.
    """
    lower = xp.tril(matrix)
    failed = xp.zeros(lower.shape[:-1], bool)
    if lower.shape[-1]:
        _factor_cholesky_block(xp, lower, failed)
    return lower, first_failure(xp, failed)


def _factor_cholesky_block(xp: Any, a: Array, failed: Array) -> None:
    """Overwrite the lower triangles ``a`` with their Cholesky factors.

    ``failed``, ``(..., n)``, becomes true for pivots that are not positive.
    """
    n = a.shape[-1]
    if n == 1:
        pivot = a.real if a.dtype.kind == "c" else a
        failed[...] = xp.logical_not(pivot[..., 0] > 0)
        a[...] = xp.where(pivot > 0, xp.sqrt(abs(pivot)), xp.nan)
        return
    half = n // 2
    corner, below, rest = a[..., :half, :half], a[..., half:, :half], a[..., half:, half:]
    _factor_cholesky_block(xp, corner, failed[..., :half])
    # below @ adjoint(corner)^-1 is the adjoint of corner^-1 @ adjoint(below).
    below_h = xp.conj(xp.swapaxes(below, -1, -2))
    substitute(xp, corner, below_h)
    below[...] = xp.conj(xp.swapaxes(below_h, -1, -2))
    rest -= xp.tril(xp.matmul(below, below_h))
    _factor_cholesky_block(xp, rest, failed[..., half:])
