"""Eigenvalues and eigenvectors, of Hermitian matrices and of any."""

from __future__ import annotations

from typing import Any

from ...core.tensor import Tensor
from ...dispatch.op import Array, Backend, composite, op, torch_convention
from ...state import grad_enabled
from ..named_results import named_result
from ..out import written
from .shared import (
    adjoint,
    check_phases,
    check_square,
    guarded,
    not_converged,
    over_differences,
    real_part,
)
from .solve import solve

_Eigh = named_result("linalg_eigh", "eigenvalues eigenvectors")
_Eig = named_result("linalg_eig", "eigenvalues eigenvectors")
_DEPENDS = ("eigenvectors", "quantity, so it is")

# -- Hermitian -------------------------------------------------------------------------------------


@op(namespaces=("linalg",), returns=_Eigh, materialize=False)
def eigh(xp: Backend, A: Array, UPLO: str = "L") -> tuple[Array, Array]:
    """Eigenvalues and eigenvectors of every symmetric or Hermitian matrix of a batch.

    The vectors are determined up to a factor of absolute value 1 each, and within the space
    of equal eigenvalues up to a unitary matrix: only what does not depend on these choices has
    a meaningful gradient.

    Args:
        A: ``(..., n, n)``, floating-point or complex; one triangle is read.
        UPLO: Which: ``"L"``, the default, or ``"U"``.

    Returns:
        ``eigenvalues`` ``(..., n)``, real and ascending, and ``eigenvectors`` ``(..., n, n)``,
        one a column.

    Raises:
        RuntimeError: If the matrices are not square, or for another ``UPLO``.
        LinAlgError: If the iteration does not converge.

    Example:
        >>> import tinytorch as tt
        >>> tt.linalg.eigh(tt.tensor([[2.0, 1.0], [1.0, 2.0]])).eigenvalues
        tensor([1., 3.])
    """
    side = _check(xp, "linalg.eigh", A, UPLO)
    if not A.size:
        return xp.zeros(A.shape[:-1], A.real.dtype), xp.zeros(A.shape, A.dtype)
    values, vectors = guarded(
        xp, xp.linalg.eigh, A, side, failure=lambda: not_converged("linalg.eigh", "eigenvalues")
    )
    return values, vectors


def _check(xp: Backend, name: str, A: Array, UPLO: str) -> str:
    check_square(xp, name, A)
    side = str(UPLO).upper()
    if side not in ("L", "U"):
        raise RuntimeError(f"{name}: Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    return side


def _eigh_rule(xp: Any, g: Any, out: Any) -> Any:
    """``V (diag(l) + F * S) V^H`` with ``F_ij = 1 / (l_j - l_i)`` and S the skew part of ``V^H v``.

    The part left out makes nothing but a gradient that is not Hermitian, as the matrix is.

    Reference:
        Giles, "Collected matrix derivative results for forward and reverse mode algorithmic
        differentiation", 2008, section 3.1.
    """
    values, vectors = out
    for_values, for_vectors = g
    turned = adjoint(xp, vectors)
    inner = 0
    if for_vectors is not None:
        turn = xp.matmul(turned, for_vectors)
        check_phases(xp, ("linalg_eigh_backward", *_DEPENDS), turn)
        share = over_differences(xp, (turn - adjoint(xp, turn)) * 0.5, values)
        inner = xp.matmul(vectors, share)
    if for_values is not None:
        inner = inner + vectors * for_values[..., None, :]
    return xp.matmul(inner, turned)


eigh.vjp(A=torch_convention(_eigh_rule))


@op
def _eigvalsh(xp: Backend, A: Array, UPLO: str) -> Array:
    """Eigenvalues of Hermitian matrices, without vectors and without a gradient."""
    side = _check(xp, "linalg.eigvalsh", A, UPLO)
    if not A.size:
        return xp.zeros(A.shape[:-1], A.real.dtype)
    return guarded(
        xp, xp.linalg.eigvalsh, A, side,
        failure=lambda: not_converged("linalg.eigvalsh", "eigenvalues"),
    )  # fmt: skip


@composite(namespaces=("linalg",), exact_out=True)
def eigvalsh(A: Tensor, UPLO: str = "L", *, out: Tensor | None = None) -> Tensor:
    """Eigenvalues of every symmetric or Hermitian matrix of a batch; see ``linalg.eigh``.

    Args:
        A: ``(..., n, n)``, floating-point or complex; one triangle is read.
        UPLO: Which: ``"L"``, the default, or ``"U"``.
        out: Where to write the result.

    Returns:
        ``(..., n)``, real and ascending.

    Raises:
        RuntimeError: If the matrices are not square, or for another ``UPLO``.
        LinAlgError: If the iteration does not converge.

    Example:
        >>> import tinytorch as tt
        >>> tt.linalg.eigvalsh(tt.tensor([[2.0, 1.0], [1.0, 2.0]]))
        tensor([1., 3.])
    """
    # The gradient needs the vectors: they are computed only where there will be one.
    if A.requires_grad and grad_enabled():
        values = eigh(A, UPLO)[0]
    else:
        values = _eigvalsh(A, UPLO)
    return written(out, values, "linalg.eigvalsh")  # type: ignore[no-any-return]


# -- any square matrix -------------------------------------------------------------------------


@op(namespaces=("linalg",), returns=_Eig, materialize=False, exact_out=False)
def eig(xp: Backend, A: Array) -> tuple[Array, Array]:
    """Eigenvalues and eigenvectors of every square matrix of a batch.

    The vectors have norm 1 and are determined up to a factor of absolute value 1 each: only
    what does not depend on it has a meaningful gradient.

    Args:
        A: ``(..., n, n)``, floating-point or complex.

    Returns:
        ``eigenvalues`` ``(..., n)`` in no particular order, and ``eigenvectors``
        ``(..., n, n)``, one a column; both complex.

    Raises:
        RuntimeError: If the matrices are not square, or not finite.
        LinAlgError: If the iteration does not converge.

    Example:
        >>> import tinytorch as tt
        >>> tt.linalg.eig(tt.tensor([[0.0, 1.0], [-1.0, 0.0]])).eigenvalues
        tensor([0.+1.j, 0.-1.j])
    """
    check_square(xp, "linalg.eig", A)
    native = _complex_dtype(xp, A)
    if not A.size:
        return xp.zeros(A.shape[:-1], native), xp.zeros(A.shape, native)
    _check_finite(xp, "linalg.eig", A)
    values, vectors = guarded(
        xp, xp.linalg.eig, A, failure=lambda: not_converged("linalg.eig", "eigenvalues")
    )
    return xp.astype(values, native), xp.astype(vectors, native)


def _complex_dtype(xp: Backend, array: Array) -> Any:
    return xp.native_dtype(xp.dtype_of(array).to_complex())


def _check_finite(xp: Backend, name: str, A: Array) -> None:
    xp.check_all(xp.isfinite(A), f"torch.{name}: input tensor should not contain infs or NaNs.")


def _eig_rule(xp: Any, g: Any, out: Any) -> Any:
    """``V^-H (diag(l) + F * (V^H v - V^H V diag(Re(V^H v)))) V^H``, F of conjugate eigenvalues.

    The term with the real part keeps the vectors' norm at 1.

    Reference:
        Boeddeker et al., "On the computation of complex-valued gradients with application to
        statistically optimum beamforming", 2017, arXiv:1701.00392, section 4.
    """
    values, vectors = out
    for_values, for_vectors = g
    turned = adjoint(xp, vectors)
    inner = 0
    if for_vectors is not None:
        share = xp.matmul(turned, for_vectors)
        check_phases(xp, ("linalg_eig_backward", *_DEPENDS), share)
        norms = real_part(xp.diagonal(share, 0, -2, -1))
        share = share - xp.matmul(turned, vectors * norms[..., None, :])
        inner = xp.matmul(over_differences(xp, share, xp.conj(values)), turned)
    if for_values is not None:
        inner = inner + for_values[..., :, None] * turned
    return xp.call(solve, turned, inner)


eig.vjp(A=torch_convention(_eig_rule))


@op
def _eigvals(xp: Backend, A: Array) -> Array:
    """Eigenvalues without vectors and without a gradient."""
    check_square(xp, "linalg.eigvals", A)
    native = _complex_dtype(xp, A)
    if not A.size:
        return xp.zeros(A.shape[:-1], native)
    _check_finite(xp, "linalg.eigvals", A)
    values = guarded(
        xp, xp.linalg.eigvals, A, failure=lambda: not_converged("linalg.eigvals", "eigenvalues")
    )
    return xp.astype(values, native)


@composite(namespaces=("linalg",))
def eigvals(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Eigenvalues of every square matrix of a batch; see ``linalg.eig``.

    Args:
        A: ``(..., n, n)``, floating-point or complex.
        out: Where to write the result.

    Returns:
        ``(..., n)``, complex, in no particular order.

    Raises:
        RuntimeError: If the matrices are not square, or not finite.
        LinAlgError: If the iteration does not converge.

    Example:
        >>> import tinytorch as tt
        >>> tt.linalg.eigvals(tt.tensor([[0.0, 1.0], [-1.0, 0.0]]))
        tensor([0.+1.j, 0.-1.j])
    """
    values = eig(A)[0] if A.requires_grad and grad_enabled() else _eigvals(A)
    return written(out, values, "linalg.eigvals")  # type: ignore[no-any-return]
