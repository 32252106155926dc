"""Triangular systems, and Cholesky factors of positive-definite matrices."""

from __future__ import annotations

from typing import Any

from ...core.tensor import Tensor
from ...dispatch.op import Array, Backend, Out, composite, op, reads_results, torch_convention
from ..results import named_result, write_result
from ..shape.sizes import expand
from .matmul import transpose_matrices
from .shared import (
    LinAlgError,
    adjoint,
    call_routine,
    check_matrix,
    check_same_dtype,
    check_square,
    common_batch,
    conjugate,
    first_failed_element,
)
from .solve import success_info
from .substitution import factor_cholesky, first_failure, substitute

# -- substitution ----------------------------------------------------------------------------------


@op(namespaces=("linalg",), out=Out.EXACT)
def solve_triangular(
    xp: Backend, A: Array, B: Array, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> Array:
    """The solution ``X`` of ``A X = B`` for triangular matrices ``A``, by substitution.

    Args:
        A: ``(..., n, n)``, of which only the triangle is read.
        B: ``(..., n, k)``, or ``(..., k, n)`` for ``left=False``; leading dimensions broadcast.
        upper: Whether ``A`` is upper or lower triangular.
        left: Solve ``A X = B`` (default) or ``X A = B``.
        unitriangular: Whether the diagonal of ``A`` is taken to be ones; default False.

    Returns:
        Tensor of the broadcast shape of ``B``; infinite or NaN where a diagonal has a zero.

    Raises:
        RuntimeError: If shapes or dtypes do not fit.

    Example:
        >>> a = tt.tensor([[2.0, 0.0], [1.0, 1.0]])
        >>> tt.linalg.solve_triangular(a, tt.tensor([[2.0], [3.0]]), upper=False)
        tensor([[1.],
                [2.]])
    """
    check_square(xp, "linalg.solve_triangular", A)
    check_matrix(xp, "linalg.solve_triangular", B, "B")
    check_same_dtype(xp, "linalg.solve_triangular", A, B)
    n = A.shape[-1]
    if B.shape[-2 if left else -1] != n:
        raise RuntimeError(
            "linalg.solve_triangular: Incompatible shapes of A and B for the equation "
            f"{'AX = B' if left else 'XA = B'} ({n}x{n} and {B.shape[-2]}x{B.shape[-1]})"
        )
    batch = common_batch(xp, "linalg.solve_triangular", A, B)
    x = xp.array(xp.broadcast_to(B, (*batch, *B.shape[-2:])), order="C")
    if left:
        substitute(xp, A, x, upper, unitriangular)
    else:
        substitute(
            xp, transpose_matrices(xp, A), transpose_matrices(xp, x), not upper, unitriangular
        )
    return x


@solve_triangular.vjp_joint("A", "B")
def _solve_triangular_backward(
    xp: Any, g: Any, in_shape: Any, out: Any, A: Any, upper: bool, left: bool, unitriangular: bool
) -> tuple[Any, Any]:
    """Gradients of ``A`` and ``B`` in ``solve_triangular``, as in ``linalg.solve``.

    Elements of ``A`` that are not read have the gradient 0.
    """
    b_grad = xp.call(
        solve_triangular, transpose_matrices(xp, A), g, upper=not upper, left=left,
        unitriangular=unitriangular,
    )  # fmt: skip
    if in_shape[0] is None:
        return None, b_grad
    if left:
        a_grad = -xp.matmul(b_grad, transpose_matrices(xp, out))
    else:
        a_grad = -xp.matmul(transpose_matrices(xp, out), b_grad)
    offset = 1 if unitriangular else 0
    return (xp.triu(a_grad, offset) if upper else xp.tril(a_grad, -offset)), b_grad


_TriangularSolve = named_result("triangular_solve", "solution cloned_coefficient")


@composite(method=True, node="TriangularSolveBackward0")
def triangular_solve(
    input: Tensor,
    A: Tensor,
    upper: bool = True,
    transpose: bool = False,
    unitriangular: bool = False,
    *,
    out: Any = None,
) -> Any:
    """The solution of ``A X = input`` for triangular ``A``; see ``linalg.solve_triangular``.

    Args:
        input: ``(..., n, k)``.
        A: ``(..., n, n)``.
        upper: Whether ``A`` is upper triangular (default) or lower.
        transpose: Solve ``A^T X = input``; default False.
        unitriangular: Whether the diagonal of ``A`` is taken to be ones; default False.
        out: A pair of tensors to write the results to.

    Returns:
        ``solution``, and ``cloned_coefficient``, a copy of ``A`` expanded to its batch shape.

    Example:
        >>> tt.triangular_solve(tt.tensor([[2.0]]), tt.tensor([[4.0]])).solution
        tensor([[0.5000]])
    """
    _check_system("triangular_solve", input, A)
    solution = solve_triangular(
        A.mT if transpose else A, input, upper=upper != transpose, unitriangular=unitriangular
    )
    batch = solution._data.shape[:-2]
    copy = A if A._data.shape[:-2] == batch else expand(A, (*batch, *A._data.shape[-2:]))
    return write_result(out, _TriangularSolve(solution, copy.clone()), "triangular_solve")


def _check_system(name: str, b: Tensor, a: Tensor) -> None:
    """Raise RuntimeError for matrices of ``triangular_solve`` that do not fit."""
    sides, shape = b._data.shape, a._data.shape
    for argument, ndim in (("b", len(sides)), ("A", len(shape))):
        if ndim < 2:
            raise RuntimeError(
                f"torch.{name}: Expected {argument} to have at least 2 dimensions, but it has "
                f"{ndim} dimensions instead"
            )
    if shape[-1] != shape[-2]:
        raise RuntimeError(
            f"{name}: A must be batches of square matrices, but they are {shape[-2]} by "
            f"{shape[-1]} matrices"
        )
    if sides[-2] != shape[-1]:
        raise RuntimeError(
            f"Incompatible matrix sizes for {name}: each A matrix is {shape[-1]} by "
            f"{shape[-1]} but each b matrix is {sides[-2]} by {sides[-1]}"
        )
    if a.dtype is not b.dtype:
        raise RuntimeError(
            f"{name}: Expected b and A to have the same dtype, but found b of type {b.dtype.name} "
            f"and A of type {a.dtype.name} instead."
        )


# -- Cholesky --------------------------------------------------------------------------------------


def _lower_factor(xp: Backend, name: str, matrix: Array, upper: bool, failure: Any) -> Any:
    """The lower Cholesky factor by the array library.

    If a matrix is not positive-definite, ``failure(source)`` returns the exception to raise, or a
    result to return instead. With ``upper``, only the upper triangle is read, and ``source`` is the
    adjoint of ``matrix``; else it is ``matrix``.
    """
    check_square(xp, name, matrix)
    if not matrix.size:
        return xp.zeros(matrix.shape, matrix.dtype)
    # The upper triangle of a Hermitian matrix is the lower one of its adjoint.
    source = adjoint(xp, matrix) if upper else matrix
    return call_routine(xp, _finite_factor, xp, source, failure=lambda: failure(source))


def _finite_factor(xp: Backend, source: Array) -> Array:
    """The array library's Cholesky factor; LinAlgError for a matrix with NaN or infinity.

    The library does not report these itself.
    """
    lower = xp.linalg.cholesky(source)
    if not xp.isfinite(lower.diagonal(0, -2, -1)).all():
        raise xp.linalg.LinAlgError
    return lower


def _not_definite_error(xp: Backend, name: str, info: Array) -> LinAlgError:
    """The error of the first matrix that is not positive-definite by LAPACK's codes ``info``."""
    where, order = first_failed_element(xp, info)
    return LinAlgError(
        f"{name}: {where}The factorization could not be completed because the input is not "
        f"positive-definite (the leading minor of order {order} is not positive-definite)."
    )


@op(namespaces=("linalg", ""), method=True, node="LinalgCholeskyExBackward0", out=Out.EXACT)
def cholesky(xp: Backend, A: Array, upper: bool = False) -> Array:
    """The factor ``L`` of ``A = L L^H``, for every positive-definite matrix of a batch.

    Args:
        A: ``(..., n, n)``, symmetric or Hermitian; only one triangle is read.
        upper: Return ``L^H`` and read the upper triangle; default False.

    Returns:
        ``(..., n, n)``, triangular with a positive diagonal.

    Raises:
        RuntimeError: If the matrices are not square or not floating-point or complex.
        LinAlgError: If a matrix is not positive-definite.

    Example:
        >>> tt.linalg.cholesky(tt.tensor([[4.0, 2.0], [2.0, 5.0]]))
        tensor([[2., 0.],
                [1., 2.]])
    """

    def failure(source: Array) -> Any:
        lower, info = factor_cholesky(xp, source)
        return _not_definite_error(xp, "linalg.cholesky", info) if info.any() else lower

    lower = _lower_factor(xp, "linalg.cholesky", A, upper, failure)
    return adjoint(xp, lower) if upper else lower


def _cholesky_backward(xp: Any, g: Any, out: Any, upper: bool) -> Any:
    """``L^-H S L^-1``, where S is half the sum of ``T = tril(L^H g)`` and ``tril(T, -1)^H``.

    As in PyTorch, the diagonal of S may have imaginary parts; otherwise S is Hermitian.

    Reference:
        Murray, "Differentiation of the Cholesky decomposition", 2016, arXiv:1602.07527.
    """
    lower, g = (adjoint(xp, out), adjoint(xp, g)) if upper else (out, g)
    below = xp.tril(xp.matmul(adjoint(xp, lower), g))
    middle = (below + adjoint(xp, xp.tril(below, -1))) * 0.5
    upper_factor = adjoint(xp, lower)
    left = xp.call(solve_triangular, upper_factor, middle, upper=True)
    return xp.call(solve_triangular, lower, left, upper=False, left=False)


cholesky.vjp(A=torch_convention(_cholesky_backward))

_CholeskyEx = named_result("linalg_cholesky_ex", "L info")


@op(namespaces=("linalg",), returns=_CholeskyEx)
def cholesky_ex(
    xp: Backend, A: Array, *, upper: bool = False, check_errors: bool = False
) -> tuple[Array, Array]:
    """``linalg.cholesky`` that reports matrices that are not positive-definite.

    Args:
        A: ``(..., n, n)``, symmetric or Hermitian; only one triangle is read.
        upper: Return ``L^H`` and read the upper triangle; default False.
        check_errors: Raise for such a matrix; default False.

    Returns:
        ``L``, with NaN from the failure on, and ``info``: int32 ``(...)``, 0 or the order of
        the first leading minor that is not positive-definite.

    Example:
        >>> tt.linalg.cholesky_ex(-tt.eye(2)).info
        tensor(1, dtype=tinytorch.int32)
    """

    def failure(source: Array) -> Any:
        lower, info = factor_cholesky(xp, source)
        failed = check_errors and info.any()
        return _not_definite_error(xp, "linalg.cholesky_ex", info) if failed else (lower, info)

    result = _lower_factor(xp, "linalg.cholesky", A, upper, failure)
    lower, info = result if isinstance(result, tuple) else (result, success_info(xp, A))
    return (adjoint(xp, lower) if upper else lower), info


cholesky_ex.vjp(A=reads_results(0)(
    torch_convention(lambda xp, g, out, upper: _cholesky_backward(xp, g[0], out[0], upper))
))  # fmt: skip


@composite(method=True, node="CholeskySolveBackward0", out=Out.SAFE_CAST)
def cholesky_solve(
    B: Tensor, L: Tensor, upper: bool = False, *, out: Tensor | None = None
) -> Tensor:
    """The solution ``X`` of ``L L^H X = B``.

    Args:
        B: ``(..., n, k)``.
        L: ``(..., n, n)``, a factor from ``linalg.cholesky``; only its triangle is read.
        upper: Whether ``L`` is the upper factor, so that ``L^H L X = B``; default False.

    Returns:
        ``(..., n, k)``.

    Raises:
        RuntimeError: If shapes or dtypes do not fit.

    Example:
        >>> tt.cholesky_solve(tt.tensor([[8.0]]), tt.tensor([[2.0]]))
        tensor([[2.]])
    """
    _check_system("cholesky_solve", B, L)
    return write_result(out, _cholesky_solve(B, L, upper), "cholesky_solve")  # type: ignore[no-any-return]


@op(node="CholeskySolveBackward0")
def _cholesky_solve(xp: Backend, B: Array, L: Array, upper: bool) -> Array:
    """Solution of ``A X = B`` from the Cholesky factor ``L`` of A, an upper one with ``upper``."""
    lower = adjoint(xp, L) if upper else L
    half = xp.call(solve_triangular, lower, B, upper=False)
    return xp.call(solve_triangular, adjoint(xp, lower), half, upper=True)


@_cholesky_solve.vjp_joint("B", "L")
def _cholesky_solve_backward(
    xp: Any, g: Any, in_shape: Any, out: Any, L: Any, upper: bool
) -> tuple[Any, Any]:
    """The gradients of ``B`` and ``L``.

    As in PyTorch, the gradient of ``L`` is not restricted to its triangle.
    """
    b_grad = xp.call(_cholesky_solve, conjugate(xp, g), L, upper)
    if in_shape[1] is None:
        return conjugate(xp, b_grad), None
    l_grad = _factor_gradient(xp, xp.matmul(b_grad, adjoint(xp, out)), L, upper)
    return conjugate(xp, b_grad), conjugate(xp, l_grad)


def _factor_gradient(xp: Any, g: Any, L: Any, upper: bool) -> Any:
    """Minus the gradient of a Cholesky factor ``L``, if ``g`` is the gradient G of ``A = L L^H``.

    It is ``-(G + G^H) L``, or ``-L (G + G^H)`` for ``upper`` with ``A = L^H L``, in PyTorch's
    convention. Callers need this sign, as A is inverted in their functions.
    """
    total = g + adjoint(xp, g)
    return -xp.matmul(L, total) if upper else -xp.matmul(total, L)


@composite(method=True, node="CholeskyInverseBackward0", out=Out.SAFE_CAST)
def cholesky_inverse(L: Tensor, upper: bool = False, *, out: Tensor | None = None) -> Tensor:
    """The inverse of ``L L^H``.

    Args:
        L: ``(..., n, n)``, a factor from ``linalg.cholesky``; only its triangle is read.
        upper: Whether ``L`` is the upper factor, of ``L^H L``; default False.

    Returns:
        ``(..., n, n)``.

    Raises:
        RuntimeError: If the matrices are not square or not floating-point or complex.
        LinAlgError: If a matrix has a zero on its diagonal.

    Example:
        >>> tt.cholesky_inverse(tt.tensor([[2.0]]))
        tensor([[0.2500]])
    """
    xp = L._xp
    check_square(xp, "cholesky_inverse", L._data)
    info = first_failure(xp, xp.diagonal(L._data, 0, -2, -1) == 0)
    if info.size and not xp.holds(info == 0):
        where, code = first_failed_element(xp, info)
        raise LinAlgError(
            f"cholesky_inverse: {where}The diagonal element {code} is zero, the inversion could "
            "not be completed because the input matrix is singular."
        )
    return write_result(out, _cholesky_inverse(L, upper), "cholesky_inverse")  # type: ignore[no-any-return]


@op(node="CholeskyInverseBackward0")
def _cholesky_inverse(xp: Backend, L: Array, upper: bool) -> Array:
    """Inverse of A from its Cholesky factor ``L``, an upper one with ``upper``."""
    unit = xp.eye(L.shape[-1], dtype=L.dtype)
    root = xp.call(solve_triangular, adjoint(xp, L) if upper else L, unit, upper=False)
    return xp.matmul(adjoint(xp, root), root)


def _cholesky_inverse_backward(xp: Any, g: Any, out: Any, L: Any, upper: bool) -> Any:
    """The gradient of ``L``; as in PyTorch, it is not restricted to the triangle of ``L``.

    The gradient of ``A = L L^H`` is ``-out g out``; ``_factor_gradient`` has the minus.
    """
    return _factor_gradient(xp, xp.matmul(out, xp.matmul(g, out)), L, upper)


_cholesky_inverse.vjp(L=torch_convention(_cholesky_inverse_backward))
