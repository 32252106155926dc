"""Inverses of matrices, and solutions of linear equations, also by least squares."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ... import dtypes
from ...core.tensor import Tensor, wrap
from ...dispatch.op import Array, Backend, Out, composite, op, reads_results
from ...dispatch.out import scalar_name
from ...state import no_grad
from ..results import named_result, write_result
from ..shape.sizes import normalize_dim
from .matmul import transpose_matrices
from .shared import (
    LinAlgError,
    call_routine,
    check_floating,
    check_same_dtype,
    check_square,
    common_batch,
    first_failed_element,
)
from .substitution import factor_lu, rows_from_pivots, permute_rows, substitute
from .svd import pinv, svdvals

# -- kernels ---------------------------------------------------------------------------------------


def solve_batches(xp: Backend, a: Array, b: Array, failure: Any) -> Array:
    """``a^-1 b`` by the array library, for matrices ``b``.

    If a matrix of ``a`` is singular, ``failure()`` returns the exception to raise, or a result to
    return instead.
    """
    batch = common_batch(xp, "linalg.solve", a, b)
    if 0 in batch or 0 in b.shape[-2:]:
        return xp.zeros((*batch, *b.shape[-2:]), b.dtype)
    if a.shape[:-2] != b.shape[:-2]:  # CuPy does not broadcast here
        a = xp.broadcast_to(a, (*batch, *a.shape[-2:]))
        b = xp.broadcast_to(b, (*batch, *b.shape[-2:]))
    if xp.loses_nan(a):
        return _result_if_regular(solve_by_lu(xp, a, b), failure)
    return call_routine(xp, xp.linalg.solve, a, b, failure=failure)


def _result_if_regular(result_info: tuple[Array, Array], failure: Any) -> Any:
    """The result of a pair of result and ``info``, unless ``info`` reports a singular matrix.

    Then ``failure()`` returns the exception to raise, or a result to return instead.
    """
    result, info = result_info
    outcome = failure() if bool((info != 0).any()) else result
    if isinstance(outcome, Exception):
        raise outcome
    return outcome


def solve_by_lu(xp: Backend, a: Array, b: Array) -> tuple[Array, Array]:
    """``a^-1 b`` by LU factors, and ``info``.

    The solution is infinite or NaN where a matrix is singular, which ``info`` reports.
    """
    lu, pivots, info = factor_lu(xp, a)
    batch = common_batch(xp, "linalg.solve", a, b)
    n = a.shape[-1]
    rows = xp.broadcast_to(rows_from_pivots(xp, pivots, n), (*batch, n))
    x = permute_rows(xp, xp.broadcast_to(b, (*batch, *b.shape[-2:])), rows)
    substitute(xp, lu, x, unit=True)
    substitute(xp, lu, x, upper=True)
    return x, info


def success_info(xp: Backend, matrix: Array) -> Array:
    """The ``info`` of a batch without failures: zeros."""
    return xp.zeros(matrix.shape[:-2], xp.native_dtype(dtypes.int32))


def _is_vector(a: Array, b: Array) -> bool:
    """Whether the right-hand side ``b`` holds vectors, not matrices, as in NumPy and PyTorch."""
    return b.ndim == 1 or (a.ndim - 1 == b.ndim and tuple(b.shape) == tuple(a.shape[:-1]))


def _prepare_equation(
    xp: Backend, name: str, a: Array, b: Array, left: bool
) -> tuple[Array, Array, bool]:
    """Check and rewrite an equation as ``a x = b`` for matrices ``a`` and ``b``.

    With ``left=False``, ``x a = b`` is transposed. ``name`` is the function, for errors.

    Returns:
        ``a``, ``b``, and whether ``b`` held vectors.
    """
    check_square(xp, name, a)
    check_same_dtype(xp, name, a, b)
    is_vector = _is_vector(a, b)
    b = b[..., None] if is_vector else b
    n = a.shape[-1]
    if b.ndim < 2 or b.shape[-2 if left else -1] != n:
        rows, columns = b.shape[-2:] if b.ndim > 1 else (1, 1)
        raise RuntimeError(
            f"{name}: Incompatible shapes of A and B for the equation "
            f"{'AX = B' if left else 'XA = B'} ({n}x{n} and {rows}x{columns})"
        )
    return (
        (a, b, is_vector)
        if left
        else (transpose_matrices(xp, a), transpose_matrices(xp, b), is_vector)
    )


def _restore_solution(xp: Backend, x: Array, left: bool, is_vector: bool) -> Array:
    """The solution ``x`` of the prepared equation in the form of the original one."""
    x = x if left else transpose_matrices(xp, x)
    return x[..., 0] if is_vector else x


# -- solve -----------------------------------------------------------------------------------------


@op(namespaces=("linalg",), node="LinalgSolveExBackward0", out=Out.EXACT)
def solve(xp: Backend, A: Array, B: Array, *, left: bool = True) -> Array:
    """The solution ``X`` of ``A X = B``, for every matrix of a batch.

    Args:
        A: ``(..., n, n)``, floating-point or complex.
        B: ``(..., n, k)``, or ``(n,)``, or ``(..., n)`` with the leading dimensions of ``A``;
            for ``left=False`` ``(..., k, n)``. Leading dimensions broadcast.
        left: Solve ``A X = B`` (default) or ``X A = B``.

    Returns:
        Tensor of the broadcast shape of ``B``.

    Raises:
        RuntimeError: If shapes or dtypes do not fit.
        LinAlgError: If a matrix is singular.

    Example:
        >>> tt.linalg.solve(tt.tensor([[2.0, 0.0], [0.0, 4.0]]), tt.tensor([1.0, 1.0]))
        tensor([0.5000, 0.2500])
    """
    a, b, is_vector = _prepare_equation(xp, "linalg.solve", A, B, left)

    def failure() -> Exception:
        where, _ = first_failed_element(xp, factor_lu(xp, a)[2])
        return LinAlgError(
            f"torch.linalg.solve: {where}The solver failed because the input matrix is singular."
        )

    return _restore_solution(xp, solve_batches(xp, a, b, failure), left, is_vector)


def _solve_backward(xp: Any, g: Any, in_shape: Any, out: Any, A: Any, left: bool) -> Any:
    """With ``A X = B``: gB solves ``A^T gB = g``, and gA is ``-gB X^T``.

    Reference:
        Giles, "Collected matrix derivative results for forward and reverse mode algorithmic
        differentiation", 2008, section 2.2.4.
    """
    is_vector = g.ndim == A.ndim - 1 or (g.ndim == 1 and A.ndim == 2)
    if is_vector:
        g, out = g[..., None], out[..., None]
    # A singular matrix, which ``solve_ex`` accepts, gives infinities and NaN.
    b_grad = xp.call(solve_ex, transpose_matrices(xp, A), g, left=left)[0]
    a_grad = None
    if in_shape[0] is not None:
        first, second = (b_grad, out) if left else (out, b_grad)
        if left:
            a_grad = -xp.matmul(first, transpose_matrices(xp, second))
        else:
            a_grad = -xp.matmul(transpose_matrices(xp, first), second)
    if in_shape[1] is None:
        return a_grad, None
    return a_grad, (b_grad[..., 0] if is_vector else b_grad)


solve.vjp_joint("A", "B")(_solve_backward)

_SolveEx = named_result("linalg_solve_ex", "result info")
_InvEx = named_result("linalg_inv_ex", "inverse info")


@op(namespaces=("linalg",), returns=_SolveEx)
def solve_ex(
    xp: Backend, A: Array, B: Array, *, left: bool = True, check_errors: bool = False
) -> tuple[Array, Array]:
    """``linalg.solve`` that reports singular matrices instead of raising.

    Args:
        A: ``(..., n, n)``.
        B: As for ``linalg.solve``.
        left: Solve ``A X = B`` (default) or ``X A = B``.
        check_errors: Raise for a singular matrix; default False.

    Returns:
        ``result``, infinite or NaN for a singular matrix, and ``info``: int32 ``(...)``, 0 or
        the number of the first zero on the diagonal of the factor ``U``.

    Example:
        >>> tt.linalg.solve_ex(tt.zeros(1, 1), tt.ones(1)).info
        tensor(1, dtype=tinytorch.int32)
    """
    a, b, is_vector = _prepare_equation(xp, "linalg.solve", A, B, left)
    result = solve_batches(xp, a, b, lambda: solve_by_lu(xp, a, b))
    x, info = result if isinstance(result, tuple) else (result, success_info(xp, a))
    if check_errors and isinstance(result, tuple):
        where, _ = first_failed_element(xp, info)
        raise LinAlgError(
            f"linalg.solve_ex: {where}The solver failed because the input matrix is singular."
        )
    return _restore_solution(xp, x, left, is_vector), info


solve_ex.vjp_joint("A", "B")(reads_results(0)(
    lambda xp, g, in_shape, out, A, left: _solve_backward(xp, g[0], in_shape, out[0], A, left)
))  # fmt: skip

# -- inverse ---------------------------------------------------------------------------------------


def _singular_error(xp: Backend, name: str, info: Array) -> LinAlgError:
    """The error of the first matrix that is singular by LAPACK's codes ``info``."""
    where, code = first_failed_element(xp, info)
    return LinAlgError(
        f"{name}: {where}The diagonal element {code} is zero, the inversion could not be completed "
        "because the input matrix is singular."
    )


def _inverse_by_lu(xp: Backend, a: Array) -> tuple[Array, Array]:
    """The inverse of ``a`` by LU factors, and ``info``.

    It is infinite or NaN where a matrix is singular, which ``info`` reports.
    """
    return solve_by_lu(xp, a, xp.eye(a.shape[-1], dtype=a.dtype))


def _inverse(xp: Backend, a: Array, failure: Any) -> Any:
    """The inverse of ``a`` by the array library.

    If a matrix is singular, ``failure()`` returns the exception to raise, or a result to return
    instead.
    """
    if xp.loses_nan(a):
        return _result_if_regular(_inverse_by_lu(xp, a), failure)
    return call_routine(xp, xp.linalg.inv, a, failure=failure)


@op(namespaces=("linalg",), node="LinalgInvExBackward0", out=Out.EXACT)
def inv(xp: Backend, A: Array) -> Array:
    """The inverse of every matrix of a batch.

    Args:
        A: ``(..., n, n)``, floating-point or complex.

    Returns:
        ``(..., n, n)``.

    Raises:
        RuntimeError: If the matrices are not square or not floating-point or complex.
        LinAlgError: If a matrix is singular.

    Example:
        >>> tt.linalg.inv(tt.tensor([[2.0, 0.0], [0.0, 4.0]]))
        tensor([[0.5000, 0.0000],
                [0.0000, 0.2500]])
    """
    check_square(xp, "linalg.inv", A)
    if not A.size:
        return xp.zeros(A.shape, A.dtype)
    return _inverse(xp, A, lambda: _singular_error(xp, "linalg.inv", factor_lu(xp, A)[2]))


def _inv_backward(xp: Any, g: Any, out: Any) -> Any:
    """Gradient of an inverse ``out``: ``-out^T g out^T``."""
    out_t = transpose_matrices(xp, out)
    return -xp.matmul(out_t, xp.matmul(g, out_t))


inv.vjp(A=_inv_backward)


@op(namespaces=("linalg",), returns=_InvEx)
def inv_ex(xp: Backend, A: Array, *, check_errors: bool = False) -> tuple[Array, Array]:
    """``linalg.inv`` that reports singular matrices instead of raising.

    Args:
        A: ``(..., n, n)``, floating-point or complex.
        check_errors: Raise for a singular matrix; default False.

    Returns:
        ``inverse``, infinite or NaN for a singular matrix, and ``info``: int32 ``(...)``, 0 or
        the number of the first zero on the diagonal of the factor ``U``.

    Example:
        >>> tt.linalg.inv_ex(tt.zeros(1, 1)).info
        tensor(1, dtype=tinytorch.int32)
    """
    check_square(xp, "linalg.inv", A)
    if not A.size:
        return xp.zeros(A.shape, A.dtype), success_info(xp, A)
    result = _inverse(xp, A, lambda: _inverse_by_lu(xp, A))
    if not isinstance(result, tuple):
        return result, success_info(xp, A)
    if check_errors:
        raise _singular_error(xp, "linalg.inv_ex", result[1])
    return result


inv_ex.vjp(A=reads_results(0)(lambda xp, g, out: _inv_backward(xp, g[0], out[0])))


@composite(method=True, out=Out.EXACT)
def inverse(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse of every matrix of a batch; see ``linalg.inv``.

    Args:
        input: ``(..., n, n)``, floating-point or complex.

    Example:
        >>> tt.tensor([[4.0]]).inverse()
        tensor([[0.2500]])
    """
    return write_result(out, inv(input), "inverse")  # type: ignore[no-any-return]


# -- tensors as matrices -----------------------------------------------------------------------


@composite(namespaces=("linalg",))
def tensorinv(A: Tensor, ind: int = 2, *, out: Tensor | None = None) -> Tensor:
    """The inverse of a tensor as a map from its last dimensions to its first.

    Args:
        A: Tensor whose first ``ind`` sizes have the same product as the others.
        ind: The number of dimensions that count as rows; default 2.

    Returns:
        Tensor of shape ``A.shape[ind:] + A.shape[:ind]``.

    Raises:
        RuntimeError: If the products differ or ``ind`` is not positive.
        LinAlgError: If the map is singular.

    Example:
        >>> tt.linalg.tensorinv(tt.eye(4).reshape(2, 2, 4)).shape
        tinytorch.Size([4, 2, 2])
    """
    if ind <= 0:
        raise RuntimeError(f"Expected a strictly positive integer for 'ind', but got {ind}")
    rows, columns = tuple(A.shape[:ind]), tuple(A.shape[ind:])
    _check_equal_products("ind", rows, columns)
    inverse = inv(A.reshape(math.prod(rows), math.prod(columns)))
    return write_result(out, inverse.reshape(*columns, *rows), "linalg.tensorinv")  # type: ignore


def _check_equal_products(split: str, rows: Sequence[int], columns: Sequence[int]) -> None:
    """Raise RuntimeError unless the two groups of sizes have one product.

    ``split`` is the index between both groups in the error.
    """
    if math.prod(rows) != math.prod(columns):
        raise RuntimeError(
            f"Expected self to satisfy the requirement prod(self.shape[{split}:]) == "
            f"prod(self.shape[:{split}]), but got {math.prod(columns)} != {math.prod(rows)}"
        )


@composite(namespaces=("linalg",))
def tensorsolve(
    A: Tensor, B: Tensor, dims: Sequence[int] | None = None, *, out: Tensor | None = None
) -> Tensor:
    """The solution ``X`` of ``tensordot(A, X, X.ndim) = B``.

    Args:
        A: Tensor whose first sizes are those of ``B`` and have the same product as the others.
        B: The right-hand side.
        dims: Dimensions of ``A`` to move to the end beforehand; default none.

    Returns:
        Tensor of shape ``A.shape[B.ndim:]``.

    Raises:
        RuntimeError: If shapes do not fit.
        LinAlgError: If the map is singular.

    Example:
        >>> tt.linalg.tensorsolve(2 * tt.eye(6).reshape(2, 3, 6), tt.ones(2, 3))
        tensor([0.5000, 0.5000, 0.5000, 0.5000, 0.5000, 0.5000])
    """
    if dims is not None:
        moved = [normalize_dim("linalg.tensorsolve", d, A.ndim) for d in dims]
        A = A.permute(*(d for d in range(A.ndim) if d not in moved), *moved)
    rows, columns = tuple(A.shape[: B.ndim]), tuple(A.shape[B.ndim :])
    _check_equal_products("other.ndim", B.shape if rows != tuple(B.shape) else rows, columns)
    solution = solve(A.reshape(math.prod(rows), math.prod(columns)), B.reshape(-1))
    return write_result(out, solution.reshape(columns), "linalg.tensorsolve")  # type: ignore


_Lstsq = named_result("linalg_lstsq", "solution residuals rank singular_values")
#: The largest ``rcond`` of gelsy, whose rank is at least 1: it keeps the largest singular value.
_MAX_RCOND = 1 - 2.0**-20
_DRIVERS = ("gels", "gelsy", "gelsd", "gelss")


@composite(namespaces=("linalg",), node="LinalgLstsqBackward0", out=Out.CAST_EACH)
def lstsq(A: Tensor, B: Tensor, rcond: float | None = None, *, driver: str | None = None) -> Any:
    """Least squares: the ``X`` of least norm among those that minimize ``|A X - B|`` by columns.

    Args:
        A: ``(..., m, n)``, floating-point or complex.
        B: ``(..., m, k)`` or ``(..., m)``; leading dimensions broadcast.
        rcond: Singular values not above it, relative to the largest, count as zero; by default
            the dtype's precision times the larger of m and n.
        driver: The LAPACK routine whose results to return, as below: ``"gels"``, ``"gelsy"``
            (default), ``"gelsd"`` or ``"gelss"``. ``X`` is computed by the pseudoinverse in any
            case, and is differentiable.

    Returns:
        ``solution``; ``residuals`` ``(..., k)``, squared norms of ``A X - B`` (k is 1 for a
        vector), empty for ``"gelsy"`` or unless m > n and every rank is n; ``rank`` int64
        ``(...)``, empty for ``"gels"``; ``singular_values``, empty except for ``"gelsd"`` and
        ``"gelss"``.

    Raises:
        RuntimeError: If shapes or dtypes do not fit, or for another driver.

    Example:
        >>> line = tt.linalg.lstsq(tt.tensor([[1.0], [1.0]]), tt.tensor([[1.0], [3.0]]))
        >>> line.solution.round()
        tensor([[2.]])
    """
    driver = "gelsy" if driver is None else driver
    _check_lstsq(A, B, driver)
    vector = B.ndim == 1 or (A.ndim - 1 == B.ndim and tuple(B.shape) == tuple(A.shape[:-1]))
    right = B.unsqueeze(-1) if vector else B
    _check_rows(A, right, -1 if vector else -2)
    xp = A._xp
    m, n = A.shape[-2:]
    precision = dtypes.finfo(A.dtype).eps * max(m, n)
    limit = precision if rcond is None or rcond < 0 else rcond
    if limit >= 1 and driver in ("gelsd", "gelsy"):  # as in LAPACK
        limit = precision if driver == "gelsd" else _MAX_RCOND
    solution = pinv(A, rtol=limit) @ right
    with no_grad():
        values = svdvals(A)
        largest = values.amax(-1, keepdim=True) if min(m, n) else values
        rank = (values > largest * limit).sum(-1)
        full = m > n and driver != "gelsy" and (driver == "gels" or bool((rank == n).all()))
    empty = wrap(xp.empty((0,), values._data.dtype), xp)
    # As in PyTorch, empty residuals are part of the graph, too.
    residuals = (
        (A @ solution - right).abs().square().sum(-2) if full else _empty_residuals(solution)
    )
    return _Lstsq(
        solution.squeeze(-1) if vector else solution,
        residuals,
        wrap(xp.empty((0,), xp.native_dtype(dtypes.int64)), xp) if driver == "gels" else rank,
        values if driver in ("gelsd", "gelss") else empty,
    )


def _empty_residuals(solution: Tensor) -> Tensor:
    """An empty real vector that depends on the solution in the graph."""
    return (solution.real if solution.is_complex() else solution).reshape(-1)[:0]


def _check_lstsq(A: Tensor, B: Tensor, driver: str) -> None:
    """Raise RuntimeError for arguments of ``lstsq`` that do not fit."""
    name = "torch.linalg.lstsq"
    for argument, tensor, ndim in (("input", A, 2), ("other", B, 1)):
        if tensor.ndim < ndim:
            raise RuntimeError(
                f"{name}: {argument} must have at least {ndim} dimensions, got shape "
                f"{list(tensor.shape)}."
            )
    if not 0 <= A.ndim - B.ndim <= 1:
        raise RuntimeError(
            f"{name}: input.dim() must be greater or equal to other.dim() and (input.dim() - "
            f"other.dim()) <= 1, got shapes {list(A.shape)} and {list(B.shape)}"
        )
    if A.dtype is not B.dtype:
        raise RuntimeError(
            f"{name}: Expected input and other to have the same dtype, but got input's dtype "
            f"{scalar_name(A.dtype)} and other's dtype {scalar_name(B.dtype)}"
        )
    check_floating(A._xp, "linalg.lstsq", A._data)
    if driver not in _DRIVERS:
        raise RuntimeError(
            f"{name}: parameter `driver` should be one of (gels, gelsy, gelsd, gelss), got {driver}"
        )


def _check_rows(A: Tensor, B: Tensor, at: int) -> None:
    """Raise RuntimeError unless ``A`` and ``B`` have as many rows, and batches that broadcast.

    ``at`` is the dimension of the rows in the original argument, for the error.
    """
    if A.shape[-2] != B.shape[-2]:
        raise RuntimeError(
            f"torch.linalg.lstsq: input.size(-2) should match other.size({at}), got "
            f"{A.shape[-2]} and {B.shape[-2]}"
        )
    common_batch(A._xp, "linalg.lstsq", A._data, B._data)
