"""Singular value decompositions, pseudoinverses and ranks."""

from __future__ import annotations

from typing import Any

from ... import dtypes
from ...core.tensor import Tensor
from ...dispatch.op import (
    Array,
    Backend,
    Operand,
    Out,
    accepts_none,
    composite,
    op,
    torch_convention,
)
from ...state import grad_enabled
from ..results import named_result, write_result
from .shared import (
    adjoint,
    call_routine,
    check_matrix,
    check_phases,
    check_square,
    convergence_error,
    divide_by_differences,
    svd_error,
    svd_factors,
)

_Svd = named_result("linalg_svd", "U S Vh")


def _check_driver(driver: str | None) -> None:
    """Raise RuntimeError unless ``driver`` is None, as for PyTorch's CPU tensors."""
    if driver is not None:
        raise RuntimeError(
            "torch.linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with "
            f"cuSOLVER backend, got {driver!r}."
        )


@op(namespaces=("linalg",), returns=_Svd)
def svd(
    xp: Backend, A: Array, full_matrices: bool = True, *, driver: str | None = None
) -> tuple[Array, Array, Array]:
    """The factors of ``A = U diag(S) Vh``, for every matrix of a batch.

    Pairs of columns of ``U`` and rows of ``Vh`` are determined up to a factor of absolute value 1,
    and those of equal singular values up to a unitary matrix. Only functions that do not depend on
    these choices have a meaningful gradient.

    Args:
        A: ``(..., m, n)``, floating-point or complex.
        full_matrices: Complete ``U`` and ``Vh`` to square matrices (default); the gradient
            ignores the rows and columns that are added.
        driver: Must be None: PyTorch's drivers are for CUDA.

    Returns:
        ``U`` ``(..., m, k)``, ``S`` ``(..., k)`` real and descending, and ``Vh``
        ``(..., k, n)``, with k the smaller of m and n.

    Raises:
        RuntimeError: For fewer than two dimensions or another dtype.
        LinAlgError: For infinities and NaN, or if the iteration does not converge.

    Example:
        >>> tt.linalg.svd(tt.tensor([[3.0, 0.0], [0.0, -4.0]])).S
        tensor([4., 3.])
    """
    _check_driver(driver)
    check_matrix(xp, "linalg.svd", A)
    if not A.size:
        return _empty_factors(xp, A, full_matrices)
    return svd_factors(xp, A, full_matrices)


def _empty_factors(xp: Backend, A: Array, full_matrices: bool) -> tuple[Array, Array, Array]:
    """The factors of matrices without elements: identity matrices."""
    m, n = A.shape[-2:]
    k = min(m, n)
    rows, columns = (m, n) if full_matrices else (k, k)
    u, vh = xp.eye(m, rows, dtype=A.dtype), xp.eye(columns, n, dtype=A.dtype)
    batch = A.shape[:-2]
    if not batch:
        return u, xp.zeros(k, A.real.dtype), vh
    return (
        xp.array(xp.broadcast_to(u, (*batch, *u.shape))),
        xp.zeros((*batch, k), A.real.dtype),
        xp.array(xp.broadcast_to(vh, (*batch, *vh.shape))),
    )


def _svd_backward(xp: Any, g: Any, out: Any) -> Any:
    """The gradient of a matrix from those of its factors, in PyTorch's convention."""
    u, s, vh = out
    k = s.shape[-1]
    u, vh = u[..., :, :k], vh[..., :k, :]
    u_grad = None if g[0] is None else g[0][..., :, :k]
    vh_grad = None if g[2] is None else g[2][..., :k, :]
    if u.shape[-2] >= vh.shape[-1]:
        return _tall_svd_backward(xp, (u_grad, g[1], vh_grad), (u, s, vh))
    # A wide matrix is the adjoint of the tall A^H = V S U^H.
    v_grad, uh_grad = [None if x is None else adjoint(xp, x) for x in (vh_grad, u_grad)]
    factors = (adjoint(xp, vh), s, adjoint(xp, u))
    return adjoint(xp, _tall_svd_backward(xp, (v_grad, g[1], uh_grad), factors))


def _tall_svd_backward(xp: Any, g: Any, out: Any) -> Any:
    """The gradient of a matrix with no fewer rows than columns, in PyTorch's convention.

    u, s and v are the gradients of U, S and V. With ``X = skew(U^H u)`` and ``Y = skew(V^H v)`` it
    is ``U ((X S + S Y) / E + diag(s)) Vh``, where ``E_ij = S_j^2 - S_i^2``. For complex matrices a
    term for the common phase of U and V is added, and ``(1 - U U^H) u S^-1 Vh`` if A has more rows
    than columns.

    Reference:
        Townsend, "Differentiating the singular value decomposition", 2016; Wan & Zhang,
        "Automatic differentiation for complex valued SVD", 2019, arXiv:1909.02659.
    """
    u_grad, s_grad, vh_grad = g
    u, s, vh = out
    row, column = s[..., None, :], s[..., :, None]
    skew_u = skew_v = None
    inner = u * s_grad[..., None, :] if s_grad is not None else 0
    middle = None
    if u_grad is not None:
        skew_u = _skew(xp, xp.matmul(adjoint(xp, u), u_grad))
        middle = skew_u * row
    if vh_grad is not None:
        skew_v = _skew(xp, xp.matmul(vh, adjoint(xp, vh_grad)))
        middle = column * skew_v if middle is None else middle + column * skew_v
    if middle is not None:
        _check_phases(xp, skew_u, skew_v)
        inner = inner + xp.matmul(u, divide_by_differences(xp, middle, s * s))
    if u_grad is not None and vh_grad is not None and u.dtype.kind == "c":
        phases = xp.diagonal(skew_u, 0, -2, -1) / (2 * s)
        inner = inner + u * phases[..., None, :]
    if u_grad is not None and u.shape[-2] > u.shape[-1]:
        scaled = u_grad / row
        inner = inner + scaled - xp.matmul(u, xp.matmul(adjoint(xp, u), scaled))
    return xp.matmul(inner, vh)


def _skew(xp: Any, x: Any) -> Any:
    """``x - x^H``."""
    return x - adjoint(xp, x)


def _check_phases(xp: Any, skew_u: Any, skew_v: Any) -> None:
    """Raise RuntimeError if the loss depends on the phases of the singular vectors."""
    changes, more = (skew_v, None) if skew_u is None else (skew_u, skew_v)
    message = "svd_backward", "singular vectors", "phase term, making it"
    check_phases(xp, message, changes, more)


svd.vjp(A=accepts_none(torch_convention(_svd_backward)))


@op
def _svdvals(xp: Backend, A: Array) -> Array:
    """Singular values alone, which has no gradient."""
    check_matrix(xp, "linalg.svd", A)
    if not A.size:
        return xp.zeros((*A.shape[:-2], min(A.shape[-2:])), A.real.dtype)
    return call_routine(
        xp, lambda a: xp.linalg.svd(a, compute_uv=False), A, failure=lambda: svd_error(xp, A)
    )


@composite(namespaces=("linalg",), out=Out.EXACT)
def svdvals(A: Tensor, *, driver: str | None = None, out: Tensor | None = None) -> Tensor:
    """Singular values of every matrix of a batch; see ``linalg.svd``.

    Args:
        A: ``(..., m, n)``, floating-point or complex.
        driver: Must be None: PyTorch's drivers are for CUDA.

    Returns:
        ``(..., min(m, n))``, real and descending.

    Raises:
        RuntimeError: For fewer than two dimensions or another dtype.
        LinAlgError: If the iteration does not converge.

    Example:
        >>> tt.linalg.svdvals(tt.tensor([[3.0, 0.0], [0.0, -4.0]]))
        tensor([4., 3.])
    """
    _check_driver(driver)
    # The gradient needs the singular vectors, so compute them only if one will be recorded.
    if A.requires_grad and grad_enabled():
        values = svd(A, False)[1]
    else:
        values = _svdvals(A)
    return write_result(out, values, "linalg.svdvals")  # type: ignore[no-any-return]


# -- pseudoinverse and rank --------------------------------------------------------------------


def _threshold(xp: Backend, A: Array, largest: Array, atol: Any, rtol: Any) -> Array:
    """The tolerance above which singular values count as nonzero, by PyTorch's defaults.

    ``largest`` holds the largest singular value of each matrix of ``A``.
    """
    for name, value in (("atol", atol), ("rtol", rtol)):
        if isinstance(value, complex) or getattr(value, "dtype", largest.dtype).kind == "c":
            raise (TypeError if isinstance(value, complex) else RuntimeError)(
                f"linalg: {name} tensor of complex type is not supported"
            )
    if rtol is None:
        precision = dtypes.finfo(xp.dtype_of(largest)).eps * max(A.shape[-2:])
        # An absolute tolerance above zero replaces the relative one.
        if atol is None:
            rtol = precision
        elif hasattr(atol, "shape"):
            rtol = xp.where(atol > 0, 0.0, precision)
        else:
            rtol = 0.0 if atol > 0 else precision
    relative = rtol * largest
    return relative if atol is None else xp.maximum(relative, _as_array(xp, atol, largest))


def _as_array(xp: Backend, value: Any, like: Array) -> Array:
    """A tolerance, an array or a number, as an array; a number gets the shape of ``like``."""
    return value if hasattr(value, "shape") else xp.full_like(like, value)


def _spectrum(xp: Backend, A: Array, hermitian: bool) -> tuple[Array, Array, Array]:
    """Factors ``u s vh`` of ``A``; for Hermitian matrices by eigenvalues, which may be negative."""
    if hermitian:
        values, vectors = call_routine(
            xp, xp.linalg.eigh, A, failure=lambda: convergence_error("linalg.eigh", "eigenvalues")
        )
        return vectors, values, adjoint(xp, vectors)
    return svd_factors(xp, A, False)


@op(namespaces=("linalg",), node="LinalgPinvBackward0")
def pinv(
    xp: Backend,
    A: Array,
    rcond: Operand | None = None,
    hermitian: bool = False,
    *,
    atol: Operand | None = None,
    rtol: Operand | None = None,
) -> Array:
    """The Moore-Penrose pseudoinverse of every matrix of a batch.

    The gradient is that at constant rank.

    Args:
        A: ``(..., m, n)``, floating-point or complex.
        rcond: Older name of ``rtol``.
        hermitian: Whether ``A`` is Hermitian, so that eigenvalues are used; default False.
        atol: Singular values not above it count as zero: a number or ``(...)``; default 0.
        rtol: The same relative to the largest; by default the dtype's precision times the
            larger of m and n, or 0 if ``atol`` is given and positive.

    Returns:
        ``(..., n, m)``.

    Raises:
        RuntimeError: For fewer than two dimensions or another dtype.

    Example:
        >>> tt.linalg.pinv(tt.tensor([[2.0, 0.0], [0.0, 0.0]]))
        tensor([[0.5000, 0.0000],
                [0.0000, 0.0000]])
    """
    (check_square if hermitian and A.size else check_matrix)(xp, "linalg.pinv", A)
    if not A.size:
        return xp.zeros((*A.shape[:-2], A.shape[-1], A.shape[-2]), A.dtype)
    u, s, vh = _spectrum(xp, A, hermitian)
    size = abs(s)
    limit = _threshold(xp, A, xp.max(size, axis=-1), atol, rcond if rtol is None else rtol)
    nonzero = size > limit[..., None]
    inverse = xp.where(nonzero, 1 / xp.where(nonzero, s, 1), 0)
    return xp.matmul(adjoint(xp, vh) * inverse[..., None, :], adjoint(xp, u))


def _pinv_backward(xp: Any, g: Any, out: Any, A: Any) -> Any:
    """The gradient of ``A`` in the pseudoinverse, for matrices of constant rank.

    The two branches compute the same from products of the smaller size, m or n.

    Reference:
        Golub & Pereyra, "The differentiation of pseudo-inverses and nonlinear least squares
        problems whose variables separate", SIAM J. Numer. Anal. 10 (1973), eq. 4.12.
    """
    g_h, out_h = adjoint(xp, g), adjoint(xp, out)
    if A.shape[-2] <= A.shape[-1]:
        k = xp.matmul(g_h, out)
        k_out = xp.matmul(k, out_h)
        first = k_out - xp.matmul(xp.matmul(A, out), k_out)
        second = xp.matmul(xp.matmul(out_h, out), g_h - xp.matmul(k, A))
        return first + second - adjoint(xp, xp.matmul(out, k))
    k = xp.matmul(out, g_h)
    out_k = xp.matmul(out_h, k)
    first = out_k - xp.matmul(out_k, xp.matmul(out, A))
    second = xp.matmul(g_h - xp.matmul(A, k), xp.matmul(out, out_h))
    return first + second - adjoint(xp, xp.matmul(k, out))


pinv.vjp(A=torch_convention(_pinv_backward))


@composite(method=True)
def pinverse(input: Tensor, rcond: float = 1e-15) -> Tensor:
    """The Moore-Penrose pseudoinverse; see ``linalg.pinv``.

    Args:
        input: ``(..., m, n)``.
        rcond: Singular values not above it, relative to the largest, count as zero.

    Example:
        >>> tt.pinverse(tt.tensor([[2.0], [0.0]]))
        tensor([[0.5000, 0.0000]])
    """
    return pinv(input, rtol=rcond)


@op(namespaces=("linalg",), like=pinv)
def matrix_rank(
    xp: Backend,
    A: Array,
    tol: Operand | None = None,
    hermitian: bool = False,
    *,
    atol: Operand | None = None,
    rtol: Operand | None = None,
) -> Array:
    """The number of singular values above a tolerance; not differentiable.

    Args:
        tol: Older name of ``atol``, for which ``rtol`` is 0.

    Returns:
        int64 ``(...)``.

    Example:
        >>> tt.linalg.matrix_rank(tt.tensor([[1.0, 2.0], [2.0, 4.0]]))
        tensor(1)
    """
    (check_square if hermitian and A.size else check_matrix)(xp, "linalg.matrix_rank", A)
    native = xp.native_dtype(dtypes.int64)
    if not A.size:
        return xp.zeros(A.shape[:-2], native)
    if hermitian:
        values = abs(_eigenvalues(xp, A))
    else:
        values = _svdvals.kernel(xp, A)
    if tol is not None and atol is None:
        atol, rtol = tol, 0.0
    limit = _threshold(xp, A, xp.max(values, axis=-1), atol, rtol)
    return xp.astype(xp.sum(values > limit[..., None], axis=-1), native)


def _eigenvalues(xp: Backend, A: Array) -> Array:
    """Eigenvalues of Hermitian matrices in ascending order; LinAlgError if the routine fails."""
    return call_routine(
        xp, xp.linalg.eigvalsh, A, failure=lambda: convergence_error("linalg.eigh", "eigenvalues")
    )
