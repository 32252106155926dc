"""Decompositions by the names that they had before ``linalg``, and those of low rank."""

from __future__ import annotations

from typing import Any

from ...core.tensor import Tensor
from ...dispatch.op import Out, composite
from ..random.sampling import randn
from ..results import named_result, write_result
from ..shape.diagonal import diagonal as view_diagonal
from .lu import lu_factor_ex
from .lu import lu_solve as linalg_lu_solve
from .matrix_functions import slogdet as linalg_slogdet
from .qr import qr as linalg_qr
from .svd import svd as linalg_svd
from .svd import svdvals

_Svd = named_result("svd", "U S V")
_Qr = named_result("qr", "Q R")
_Slogdet = named_result("slogdet", "sign logabsdet")


@composite(method=True)
def svd(input: Tensor, some: bool = True, compute_uv: bool = True, *, out: Any = None) -> Any:
    """The factors of ``input = U diag(S) V^H``; see ``linalg.svd``.

    Args:
        input: ``(..., m, n)``, floating-point or complex.
        some: Compute k columns of ``U`` and ``V``, the smaller of m and n (default), or all.
        compute_uv: Compute ``U`` and ``V`` (default); otherwise they are zeros.
        out: Three tensors to write the results to.

    Returns:
        ``U``, ``S`` and ``V``, whose adjoint ``linalg.svd`` returns.

    Example:
        >>> tt.svd(tt.tensor([[3.0, 0.0], [0.0, -4.0]])).S
        tensor([4., 3.])
    """
    if input._data.ndim < 2:
        raise RuntimeError(
            f"linalg.svd: input should have at least 2 dimensions, but has {input.ndim} dimensions "
            "instead"
        )
    if compute_uv:
        u, s, vh = linalg_svd(input, not some)
        return write_result(out, _Svd(u, s, vh.mH), "svd")
    s = svdvals(input)
    m, n = input.shape[-2:]
    zeros = [input.new_zeros((*input.shape[:-2], size, size)) for size in (m, n)]
    return write_result(out, _Svd(zeros[0], s, zeros[1]), "svd")


@composite(method=True)
def qr(input: Tensor, some: bool = True, *, out: Any = None) -> Any:
    """The factors of ``input = Q R``; see ``linalg.qr``.

    Args:
        input: ``(..., m, n)``, floating-point or complex.
        some: Compute k columns of ``Q``, the smaller of m and n (default), or m.
        out: A pair of tensors to write the results to.

    Returns:
        ``Q`` and ``R``.

    Example:
        >>> tt.qr(tt.tensor([[3.0], [4.0]])).R.abs()
        tensor([[5.]])
    """
    factors = linalg_qr(input, "reduced" if some else "complete")
    return write_result(out, _Qr(*factors), "qr")


@composite(method=True)
def slogdet(input: Tensor, *, out: Any = None) -> Any:
    """The sign of every matrix's determinant and the logarithm of its absolute value.

    See ``linalg.slogdet``.

    Args:
        input: ``(..., n, n)``, floating-point or complex.
        out: A pair of tensors to write the results to.

    Returns:
        ``sign`` and ``logabsdet``.

    Example:
        >>> tt.slogdet(tt.tensor([[0.0, 1.0], [1.0, 0.0]])).sign
        tensor(-1.)
    """
    return write_result(out, _Slogdet(*linalg_slogdet(input)), "slogdet")


@composite(method=True, forms=(
    "(..., get_infos: Literal[False] = False) -> tuple[Tensor, Tensor]",
    "(..., get_infos: Literal[True]) -> tuple[Tensor, Tensor, Tensor]",
))  # fmt: skip
def lu(A: Tensor, pivot: bool = True, get_infos: bool = False, out: Any = None) -> Any:
    """LU factors in one matrix, with LAPACK's pivots; see ``linalg.lu_factor_ex``.

    Args:
        A: ``(..., m, n)``, floating-point or complex.
        pivot: Permute rows so that each pivot is its column's largest; default True.
        get_infos: Return ``info`` as a third result; default False.
        out: Tensors to write the results to.

    Returns:
        ``LU`` and ``pivots``, and ``info`` with ``get_infos``.

    Example:
        >>> LU, pivots = tt.lu(tt.tensor([[0.0, 1.0], [2.0, 3.0]]))
        >>> pivots
        tensor([2, 2], dtype=tinytorch.int32)
    """
    factors = tuple(lu_factor_ex(A, pivot=pivot))
    return write_result(out, factors if get_infos else factors[:2], "lu")


@composite(method=True, node="LinalgLuSolveBackward0", out=Out.EXACT)
def lu_solve(b: Tensor, LU_data: Tensor, LU_pivots: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The solution of ``A x = b`` from the LU factors of ``A``; see ``linalg.lu_solve``.

    Args:
        b: ``(..., n, k)``.
        LU_data: ``(..., n, n)``, from ``linalg.lu_factor``.
        LU_pivots: int32 ``(..., n)``, from the same call.

    Returns:
        ``(..., n, k)``.

    Example:
        >>> tt.lu_solve(tt.ones(1, 1), *tt.linalg.lu_factor(tt.tensor([[4.0]])))
        tensor([[0.2500]])
    """
    return write_result(out, linalg_lu_solve(LU_data, LU_pivots, b), "lu_solve")  # type: ignore


# -- low rank ----------------------------------------------------------------------------------


def _range_basis(A: Tensor, q: int, niter: int) -> Tensor:
    """An orthonormal basis of q columns that approximates the range of ``A``.

    ``niter`` is the number of power iterations, which make it more accurate.

    Reference:
        Halko, Martinsson & Tropp, "Finding structure with randomness", SIAM Review 53 (2011),
        arXiv:0909.4061, algorithm 4.4.
    """
    draw = randn(A.shape[-1], q, dtype=A.dtype, backend=A._xp)
    basis = linalg_qr(A @ draw)[0]
    for _ in range(niter):
        basis = linalg_qr(A.mH @ basis)[0]
        basis = linalg_qr(A @ basis)[0]
    return basis


@composite
def svd_lowrank(
    A: Tensor, q: int | None = 6, niter: int | None = 2, M: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """An approximate singular value decomposition of low rank, by random projection.

    Args:
        A: ``(..., m, n)``, floating-point or complex.
        q: Rank of the approximation, a little above the expected rank of ``A``; default 6.
        niter: Number of subspace iterations, which improve the approximation; default 2.
        M: Matrix to subtract from ``A`` first, such as its mean; default none.

    Returns:
        ``U`` ``(..., m, q)``, ``S`` ``(..., q)`` and ``V`` ``(..., n, q)``, such that
        ``U diag(S) V^H`` approximates ``A - M``.

    Example:
        >>> tt.svd_lowrank(tt.eye(4) * 3, q=2)[1].round()
        tensor([3., 3.])
    """
    rank = 6 if q is None else q
    matrix = A if M is None else A - M
    wide = matrix.shape[-2] < matrix.shape[-1]
    matrix = matrix.mH if wide else matrix
    basis = _range_basis(matrix, rank, 2 if niter is None else niter)
    u, s, vh = linalg_svd(basis.mH @ matrix, False)
    u, v = basis @ u, vh.mH
    return (v, s, u) if wide else (u, s, v)


@composite
def pca_lowrank(
    A: Tensor, q: int | None = None, center: bool = True, niter: int = 2
) -> tuple[Tensor, Tensor, Tensor]:
    """Principal components of low rank, by random projection.

    Args:
        A: ``(..., m, n)``: m samples of n features.
        q: The number of components; default 6, or the smaller of m and n if that is less.
        center: Subtract each feature's mean; default True.
        niter: Number of subspace iterations; default 2.

    Returns:
        ``U`` ``(..., m, q)``, ``S`` ``(..., q)`` and the components ``V`` ``(..., n, q)``.

    Raises:
        ValueError: If ``q`` or ``niter`` is negative or ``q`` too large.

    Example:
        >>> U, S, V = tt.pca_lowrank(tt.tensor([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]]), q=1)
        >>> V.abs()
        tensor([[0.7071],
                [0.7071]])
    """
    m, n = A.shape[-2:]
    rank = min(6, m, n) if q is None else q
    if not 0 <= rank <= min(m, n):
        raise ValueError(
            f"q(={rank}) must be non-negative integer and not greater than min(m, n)={min(m, n)}"
        )
    if niter < 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    return svd_lowrank(A - A.mean(-2, keepdim=True) if center else A, rank, niter)


@composite(namespaces=("linalg",))
def diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """The diagonals of a batch of matrices, as a view.

    Args:
        A: ``(..., m, n)``, of any dtype.
        offset: Which diagonal: above the main one if positive, below if negative.
        dim1: Dimension of rows; default -2.
        dim2: Dimension of columns; default -1.

    Returns:
        Tensor without these dimensions and with the diagonal as its last.

    Example:
        >>> tt.linalg.diagonal(tt.tensor([[1, 2], [3, 4]]))
        tensor([1, 4])
    """
    return view_diagonal(A, offset, dim1, dim2)
