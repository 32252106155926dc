"""LU factors of matrices, and LDL factors of symmetric and Hermitian matrices."""

from __future__ import annotations

from typing import Any

from ... import dtypes
from ...core.tensor import Tensor, wrap
from ...dispatch.op import (
    Array,
    Backend,
    Index,
    Out,
    composite,
    no_derivative,
    op,
    reads_results,
    torch_convention,
)
from ...dispatch.out import scalar_name
from ..results import named_result, write_result
from ..shape.diagonal import tril, triu
from .eigen import factor_ldl, solve_ldl
from .shared import (
    LinAlgError,
    adjoint,
    check_floating,
    check_matrix,
    check_same_dtype,
    check_square,
    common_batch,
    first_failed_element,
)
from .substitution import factor_lu, rows_from_pivots, permute_rows
from .triangular import solve_triangular

_LuFactor = named_result("linalg_lu_factor", "LU pivots")
_LuFactorEx = named_result("linalg_lu_factor_ex", "LU pivots info")
_Lu = named_result("linalg_lu", "P L U")
_LuUnpack = named_result("lu_unpack", "P L U")

# -- rows by pivots --------------------------------------------------------------------------------


@op
def _swap_rows(xp: Backend, input: Array, pivots: Index, inverse: bool) -> Array:
    """The rows of ``input`` after the swaps of LAPACK's ``pivots``, or after the inverse swaps."""
    rows = rows_from_pivots(xp, pivots, input.shape[-2])
    if inverse:
        rows = xp.argsort(rows, axis=-1)
    batch = xp.broadcast_shapes(input.shape[:-2], rows.shape[:-1])
    input = xp.broadcast_to(input, (*batch, *input.shape[-2:]))
    return permute_rows(xp, input, xp.broadcast_to(rows, (*batch, rows.shape[-1])))


_swap_rows.vjp(input=lambda xp, g, pivots, inverse: xp.call(_swap_rows, g, pivots, not inverse))


@op
def _permutation_matrix(xp: Backend, like: Array, pivots: Index) -> Array:
    """The matrix ``P`` of ``A = P L U``, in the dtype of ``like``, which has the shape of ``A``."""
    rows = rows_from_pivots(xp, pivots, like.shape[-2])
    return xp.astype(xp.arange(like.shape[-2])[:, None] == rows[..., None, :], like.dtype)


# -- factors ---------------------------------------------------------------------------------------


def _check_matrix(xp: Backend, name: str, A: Array) -> None:
    """Raise RuntimeError unless ``A`` is a batch of floating-point or complex matrices."""
    if A.ndim < 2:
        raise RuntimeError(
            f"{name}: Expected tensor with 2 or more dimensions. Got size: {list(A.shape)} instead"
        )
    check_floating(xp, name, A)


@op(namespaces=("linalg",), returns=_LuFactorEx)
def lu_factor_ex(
    xp: Backend, A: Array, *, pivot: bool = True, check_errors: bool = False
) -> tuple[Array, Array, Array]:
    """LU factors in one matrix, with LAPACK's pivots and status.

    Args:
        A: ``(..., m, n)``, floating-point or complex.
        pivot: Permute rows so that each pivot is its column's largest; default True.
        check_errors: Raise where a pivot is zero; default False.

    Returns:
        ``LU`` ``(..., m, n)``: ``U`` on and above the diagonal, ``L`` without its ones below;
        ``pivots``: int32 ``(..., min(m, n))``, row i was swapped with row ``pivots[i]``, counted
        from 1; ``info``: int32 ``(...)``, 0 or the number of the first zero pivot.

    Raises:
        RuntimeError: For fewer than two dimensions, or with ``check_errors`` a zero pivot.

    Example:
        >>> tt.linalg.lu_factor_ex(tt.tensor([[0.0, 1.0], [2.0, 3.0]])).pivots
        tensor([2, 2], dtype=tinytorch.int32)
    """
    _check_matrix(xp, "linalg.lu_factor_ex", A)
    lu, pivots, info = factor_lu(xp, A, pivot)
    if check_errors:
        _check_no_zero_pivot(xp, info)
    return lu, pivots, info


def _check_no_zero_pivot(xp: Backend, info: Array) -> None:
    """Raise RuntimeError if ``info`` reports a zero on the diagonal of a factor ``U``."""
    if info.size and bool(info.any()):
        where, code = first_failed_element(xp, info)
        raise RuntimeError(
            f"torch.linalg.lu_factor: {where}U[{code},{code}] is zero and using it on lu_solve "
            "would result in a division by zero. If you still want to perform the factorization, "
            "consider calling linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)"
        )


def _lu_backward(xp: Any, g: Any, out: Any) -> Any:
    """The gradient of a matrix from that of its factors, in PyTorch's convention.

    For square factors, with l and u their gradients, it is ``L^-H (tril(L^H l, -1) +
    triu(u U^H)) U^-H``. In a wide matrix, the columns ``A2 = L U2`` to the right of the square
    have the gradient ``L^-H u2``, and add ``-(L^-H u2) U2^H`` to that of ``L``. In a tall matrix,
    the rows ``A2 = L2 U`` below the square have the gradient ``l2 U^-H``, and add
    ``-L2^H (l2 U^-H)`` to that of ``U``.

    Reference:
        de Hoog, Anderssen & Lukas, "Differentiation of matrix functionals using triangular
        factorization", Math. Comp. 80 (2011).
    """
    lu, pivots, _ = out
    m, n = lu.shape[-2:]
    k = min(m, n)
    square, lower, upper = lu[..., :k, :k], lu[..., :, :k], lu[..., :k, :]
    lower_grad, upper_grad = xp.tril(g[0][..., :k, :k], -1), xp.triu(g[0][..., :k, :k])
    rest = None
    if n > k:
        rest = _solve_from_left(xp, square, g[0][..., :, k:])
        lower_grad = lower_grad - xp.tril(xp.matmul(rest, adjoint(xp, upper[..., :, k:])), -1)
    elif m > k:
        rest = _solve_from_right(xp, square, g[0][..., k:, :])
        upper_grad = upper_grad - xp.triu(xp.matmul(adjoint(xp, lower[..., k:, :]), rest))
    # The ones on the diagonal of L^H are not in the packed matrix, so add lower_grad itself.
    inner = xp.tril(lower_grad + xp.matmul(adjoint(xp, xp.tril(square, -1)), lower_grad), -1)
    inner = inner + xp.triu(xp.matmul(upper_grad, adjoint(xp, xp.triu(square))))
    result = _solve_from_right(xp, square, _solve_from_left(xp, square, inner))
    if rest is not None:
        result = xp.concatenate((result, rest), axis=-1 if n > k else -2)
    return xp.call(_swap_rows, result, pivots, True)


def _solve_from_left(xp: Any, square: Any, x: Any) -> Any:
    """``L^-H x`` with the unit lower triangle L of ``square``."""
    return xp.call(solve_triangular, adjoint(xp, square), x, upper=True, unitriangular=True)


def _solve_from_right(xp: Any, square: Any, x: Any) -> Any:
    """``x U^-H`` with the upper triangle U of ``square``."""
    return xp.call(solve_triangular, adjoint(xp, square), x, upper=False, left=False)


lu_factor_ex.vjp(A=reads_results(0, 1)(torch_convention(_lu_backward)))


@composite(namespaces=("linalg",))
def lu_factor(A: Tensor, *, pivot: bool = True, out: Any = None) -> Any:
    """LU factors in one matrix, with LAPACK's pivots; see ``linalg.lu_factor_ex``.

    Args:
        A: ``(..., m, n)``, floating-point or complex.
        pivot: Permute rows so that each pivot is its column's largest; default True.
        out: A pair of tensors to write the results to.

    Returns:
        ``LU`` and ``pivots``, arguments of ``linalg.lu_solve`` and ``lu_unpack``.

    Raises:
        RuntimeError: If a pivot is zero, or for fewer than two dimensions.

    Example:
        >>> LU, pivots = tt.linalg.lu_factor(tt.tensor([[2.0, 4.0], [1.0, 5.0]]))
        >>> LU
        tensor([[2.0000, 4.0000],
                [0.5000, 3.0000]])
    """
    LU, pivots, _ = lu_factor_ex(A, pivot=pivot, check_errors=True)
    return write_result(out, _LuFactor(LU, pivots), "linalg.lu_factor")


@composite(namespaces=("linalg",), node="LinalgLuBackward0")
def lu(A: Tensor, *, pivot: bool = True, out: Any = None) -> Any:
    """The factors of ``A = P L U``: a permutation, a lower and an upper triangular matrix.

    Args:
        A: ``(..., m, n)``, floating-point or complex.
        pivot: Permute rows so that each pivot is its column's largest; default True.
        out: Three tensors to write the results to.

    Returns:
        ``P`` ``(..., m, m)``, ``L`` ``(..., m, k)`` with ones on its diagonal, and ``U``
        ``(..., k, n)``, with k the smaller of m and n. ``P`` is empty without pivoting.

    Raises:
        RuntimeError: For fewer than two dimensions.

    Example:
        >>> P, L, U = tt.linalg.lu(tt.tensor([[2.0, 4.0], [1.0, 5.0]]))
        >>> L
        tensor([[1.0000, 0.0000],
                [0.5000, 1.0000]])
    """
    LU, pivots, _ = lu_factor_ex(A, pivot=pivot)
    return write_result(out, _Lu(*_unpack(LU, pivots, pivot)), "linalg.lu")


@composite(node="LuUnpackBackward0")
def lu_unpack(
    LU_data: Tensor,
    LU_pivots: Tensor,
    unpack_data: bool = True,
    unpack_pivots: bool = True,
    *,
    out: Any = None,
) -> Any:
    """The matrices ``P``, ``L`` and ``U`` from the results of ``linalg.lu_factor``.

    Args:
        LU_data: ``(..., m, n)``.
        LU_pivots: int32 ``(..., min(m, n))``.
        unpack_data: Compute ``L`` and ``U`` (default); otherwise they are empty.
        unpack_pivots: Compute ``P`` (default); otherwise it is empty.
        out: Three tensors to write the results to.

    Returns:
        ``P`` ``(..., m, m)``, ``L`` ``(..., m, k)`` and ``U`` ``(..., k, n)``.

    Raises:
        RuntimeError: If the pivots are not int32 or not numbers of rows.

    Example:
        >>> P, L, U = tt.lu_unpack(*tt.linalg.lu_factor(tt.tensor([[2.0, 4.0], [1.0, 5.0]])))
        >>> U
        tensor([[2., 4.],
                [0., 3.]])
    """
    _check_pivots("lu_unpack", LU_data, LU_pivots)
    parts = _unpack(LU_data, LU_pivots, unpack_pivots, unpack_data)
    return write_result(out, _LuUnpack(*parts), "lu_unpack")


def _unpack(
    LU: Tensor, pivots: Tensor, unpack_pivots: bool, unpack_data: bool = True
) -> tuple[Tensor, Tensor, Tensor]:
    """The results of ``lu_unpack`` for pivots that fit."""
    xp, dtype = LU._xp, LU._data.dtype
    P = _permutation_matrix(LU, pivots) if unpack_pivots else wrap(xp.empty((0,), dtype), xp)
    if not unpack_data:
        empty = wrap(xp.empty((0,), dtype), xp)
        return P, empty, empty
    m, n = LU._data.shape[-2:]
    k = min(m, n)
    unit = wrap(xp.eye(m, k, dtype=dtype), xp)
    left = LU if k == n else LU[..., :, :k]
    top = LU if k == m else LU[..., :k, :]
    return P, tril(left, -1) + unit, triu(top)


def _check_pivots(name: str, LU: Tensor, pivots: Tensor) -> None:
    """Raise RuntimeError for pivots that cannot be those of ``LU``; ``name`` is the function."""
    if pivots.dtype is not dtypes.int32:
        raise RuntimeError(
            f"torch.{name}: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype. "
            "Note: this function is intended to be used with the output produced by "
            f"torch.linalg.lu_factor; got {pivots.dtype.name}"
        )
    rows, columns = LU._data.shape[-2:]
    raw, k = pivots._data, min(rows, columns)
    text = (
        f"pivots passed to {name} must be between 1 and LU.size(-2) inclusive. Did you properly "
        "pass the result of lu_factor?"
    )
    if raw.shape[-1:] != (k,):
        raise RuntimeError(f"{text} Expected {k} of them per matrix, got {list(raw.shape)}")
    ends = LU._xp.extremes(raw)
    if ends is None:
        LU._xp.check_all((raw >= 1) & (raw <= rows), text)
    elif ends[0] < 1 or ends[1] > rows:
        raise RuntimeError(text)


@composite(namespaces=("linalg",), node="LinalgLuSolveBackward0", out=Out.EXACT)
def lu_solve(
    LU: Tensor,
    pivots: Tensor,
    B: Tensor,
    *,
    left: bool = True,
    adjoint: bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """The solution ``X`` of ``A X = B`` from the factors of ``A``.

    Args:
        LU: ``(..., n, n)``, from ``linalg.lu_factor``.
        pivots: int32 ``(..., n)``, from the same call.
        B: ``(..., n, k)``, or ``(..., k, n)`` for ``left=False``; leading dimensions broadcast.
        left: Solve ``A X = B`` (default) or ``X A = B``.
        adjoint: Solve with ``A^H`` instead; default False.

    Returns:
        Tensor of the broadcast shape of ``B``; infinite or NaN where ``A`` is singular.

    Raises:
        RuntimeError: If shapes or dtypes do not fit.

    Example:
        >>> LU, pivots = tt.linalg.lu_factor(tt.tensor([[2.0, 0.0], [0.0, 4.0]]))
        >>> tt.linalg.lu_solve(LU, pivots, tt.ones(2, 1))
        tensor([[0.5000],
                [0.2500]])
    """
    _check_solve(LU, pivots, B, left)
    # X A = B is A^H X^H = B^H.
    right = B if left else B.mH
    if adjoint == left:
        half = solve_triangular(LU.mH, right, upper=False)
        full = solve_triangular(LU.mH, half, upper=True, unitriangular=True)
        solution = _swap_rows(full, pivots, True)
    else:
        swapped = _swap_rows(right, pivots, False)
        half = solve_triangular(LU, swapped, upper=False, unitriangular=True)
        solution = solve_triangular(LU, half, upper=True)
    return write_result(out, solution if left else solution.mH, "linalg.lu_solve")  # type: ignore


def _check_solve(LU: Tensor, pivots: Tensor, B: Tensor, left: bool) -> None:
    """Raise RuntimeError for arguments of ``lu_solve`` that do not fit."""
    name = "linalg.lu_solve"
    check_floating(LU._xp, name, LU._data)
    check_same_dtype(LU._xp, name, LU._data, B._data)
    if LU.ndim < 2 or LU.shape[-1] != LU.shape[-2]:
        raise RuntimeError(
            f"torch.{name}: A must be batches of square matrices, but got shape {list(LU.shape)}"
        )
    n = LU.shape[-1]
    if pivots.dtype is not dtypes.int32:
        raise RuntimeError(f"{name}: pivots should be a Tensor of scalar type torch.int32")
    if pivots.shape[-1:] != (n,):
        raise RuntimeError(
            f"{name}: Number of pivots per batch should be same as the dimension of the matrix, "
            f"got {list(pivots.shape)} for {n}"
        )
    if tuple(pivots.shape) != tuple(LU.shape[:-1]):
        raise RuntimeError(
            f"{name}: Expected LU.shape[:-1] and pivots.shape to be the same, but got pivots with "
            f"shape {list(pivots.shape)} instead"
        )
    text = "Pivots given to lu_solve must all be {}. Did you properly pass the result of lu_factor?"
    LU._xp.check_all(pivots._data >= 1, text.format("greater or equal to 1"))
    LU._xp.check_all(pivots._data <= n, text.format("smaller or equal to LU.size(-2)"))
    if B.ndim < 2 or B.shape[-2 if left else -1] != n:
        raise RuntimeError(
            f"{name}: Incompatible shapes of A and B for the equation "
            f"{'AX = B' if left else 'XA = B'} ({n}x{n} and {'x'.join(map(str, B.shape[-2:]))})"
        )


_LdlFactor = named_result("linalg_ldl_factor", "LD pivots")
_LdlFactorEx = named_result("linalg_ldl_factor_ex", "LD pivots info")


@op(namespaces=("linalg",), returns=_LdlFactorEx, node="NotImplemented")
def ldl_factor_ex(
    xp: Backend, A: Array, *, hermitian: bool = False, check_errors: bool = False
) -> tuple[Array, Array, Array]:
    """LDL factors in one matrix, with LAPACK's pivots and status; not differentiable.

    Args:
        A: ``(..., n, n)``, symmetric or Hermitian; the lower triangle is read.
        hermitian: Whether complex matrices are Hermitian or (default) symmetric.
        check_errors: Raise where a pivot is zero; default False.

    Returns:
        ``LD`` ``(..., n, n)``; ``pivots`` int32 ``(..., n)``, two negative ones for each 2x2
        pivot; ``info`` int32 ``(...)``, 0 or the number of the first pivot that is exactly zero.

    Raises:
        RuntimeError: If the matrices are not square or not floating-point or complex.
        LinAlgError: With ``check_errors`` for a zero pivot.

    Example:
        >>> tt.linalg.ldl_factor_ex(tt.tensor([[4.0, 2.0], [2.0, 3.0]])).LD
        tensor([[4.0000, 0.0000],
                [0.5000, 2.0000]])
    """
    check_square(xp, "torch.linalg.ldl_factor_ex", A)
    ld, pivots, info = factor_ldl(xp, A, hermitian and A.dtype.kind == "c")
    if check_errors and info.size and bool((info != 0).any()):
        where, code = first_failed_element(xp, info)
        raise LinAlgError(
            f"torch.linalg.ldl_factor_ex: {where}The diagonal element {code} of D is exactly zero: "
            "the matrix is singular."
        )
    return ld, pivots, info


ldl_factor_ex.vjp(A=no_derivative("linalg_ldl_factor_ex"))


@composite(namespaces=("linalg",))
def ldl_factor(A: Tensor, *, hermitian: bool = False, out: Any = None) -> Any:
    """LDL factors in one matrix, with LAPACK's pivots; see ``linalg.ldl_factor_ex``.

    Args:
        A: ``(..., n, n)``, symmetric or Hermitian; the lower triangle is read.
        hermitian: Whether complex matrices are Hermitian or (default) symmetric.
        out: A pair of tensors to write the results to.

    Returns:
        ``LD`` and ``pivots``, arguments of ``linalg.ldl_solve``.

    Raises:
        RuntimeError: If the matrices are not square or not floating-point or complex.

    Example:
        >>> tt.linalg.ldl_factor(tt.tensor([[0.0, 1.0], [1.0, 0.0]])).pivots
        tensor([-2, -2], dtype=tinytorch.int32)
    """
    LD, pivots, _ = ldl_factor_ex(A, hermitian=hermitian)
    return write_result(out, _LdlFactor(LD, pivots), "linalg.ldl_factor")


@op(namespaces=("linalg",), node="NotImplemented")
def ldl_solve(xp: Backend, LD: Array, pivots: Index, B: Array, *, hermitian: bool = False) -> Array:
    """The solution ``X`` of ``A X = B`` from the LDL factors of ``A``; not differentiable.

    Args:
        LD: ``(..., n, n)``, from ``linalg.ldl_factor``.
        pivots: int32 ``(..., n)``, from the same call.
        B: ``(..., n, k)``; leading dimensions broadcast.
        hermitian: The argument of ``linalg.ldl_factor``.

    Returns:
        Tensor of the broadcast shape of ``B``.

    Raises:
        RuntimeError: If shapes or dtypes do not fit.

    Example:
        >>> LD, pivots = tt.linalg.ldl_factor(tt.tensor([[0.0, 1.0], [1.0, 0.0]]))
        >>> tt.linalg.ldl_solve(LD, pivots, tt.tensor([[1.0], [2.0]]))
        tensor([[2.],
                [1.]])
    """
    _check_ldl_system(xp, LD, pivots, B)
    batch = common_batch(xp, "torch.linalg.ldl_solve", LD, B)
    n = LD.shape[-1]
    ld, b = (xp.broadcast_to(x, (*batch, *x.shape[-2:])) for x in (LD, B))
    rows = xp.broadcast_to(pivots, (*batch, n))
    return solve_ldl(xp, ld, rows, b, hermitian and LD.dtype.kind == "c")


ldl_solve.vjp(LD=no_derivative("linalg_ldl_solve"), B=no_derivative("linalg_ldl_solve"))


def _check_ldl_system(xp: Backend, LD: Array, pivots: Array, B: Array) -> None:
    """Raise RuntimeError for arguments of ``ldl_solve`` that do not fit."""
    name = "torch.linalg.ldl_solve"
    check_square(xp, name, LD, "LD")
    check_matrix(xp, name, B, "B")
    if pivots.dtype.kind not in "iu":
        raise RuntimeError(
            f"{name}: Expected pivots to be integers. Got {scalar_name(xp.dtype_of(pivots))}"
        )
    if pivots.shape != LD.shape[:-1]:
        raise RuntimeError(
            f"{name}: Expected LD.shape[:-1] and pivots.shape to be the same, but got pivots with "
            f"shape {list(pivots.shape)} instead"
        )
    n = LD.shape[-1]
    if B.shape[-2] != n:
        raise RuntimeError(
            f"Incompatible matrix sizes for {name}: each A matrix is {n} by {n} but each b matrix "
            f"is {B.shape[-2]} by {B.shape[-1]}"
        )
    check_same_dtype(xp, name, LD, B)
    text = "Pivots given to ldl_solve must all satisfy |pivot| {}. Did you properly pass the result"
    xp.check_all(abs(pivots) >= 1, text.format(">= 1") + " of ldl_factor?")
    xp.check_all(abs(pivots) <= n, text.format("<= LD.size(-2)") + " of ldl_factor?")
