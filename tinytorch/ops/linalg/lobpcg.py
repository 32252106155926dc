"""``lobpcg``: some eigenpairs of a symmetric matrix, or of a pencil of two."""

from __future__ import annotations

from typing import Any

from ...core.tensor import Tensor
from ...dispatch.op import composite
from .eigen import eigh
from .triangular import cholesky, solve_triangular


@composite
def lobpcg(
    A: Tensor,
    k: int | None = None,
    B: Tensor | None = None,
    X: Tensor | None = None,
    n: int | None = None,
    iK: Tensor | None = None,
    niter: int | None = None,
    tol: float | None = None,
    largest: bool | None = None,
    method: str | None = None,
    tracker: Any = None,
    ortho_iparams: dict[str, int] | None = None,
    ortho_fparams: dict[str, float] | None = None,
    ortho_bparams: dict[str, bool] | None = None,
) -> tuple[Tensor, Tensor]:
    """The ``k`` largest or smallest eigenvalues of ``A x = e B x``, and their eigenvectors.

    PyTorch approaches them step by step, for matrices that are sparse. Here matrices are dense, and
    the pairs come from all of them, to the last digit: what steers the approach has no effect.

    Args:
        A: Symmetric, ``(*, m, m)``.
        k: How many pairs. Default: as many as ``X`` has columns, or 1.
        B: Symmetric and positive definite, ``(*, m, m)``. Default: the identity.
        X: A first guess, ``(*, m, n)``, of which the width alone counts.
        n: The width of a first guess. Default: ``k``.
        iK: Accepted for compatibility, as are ``niter``, ``tol`` and ``ortho_*``.
        niter: See ``iK``.
        tol: See ``iK``.
        largest: Whether the largest are meant. Default: True.
        method: ``"basic"`` or ``"ortho"``, which makes no difference.
        tracker: Must be None: there are no steps to watch.
        ortho_iparams: See ``iK``.
        ortho_fparams: See ``iK``.
        ortho_bparams: See ``iK``.

    Returns:
        The eigenvalues, ``(*, k)``, the largest first or the smallest first as they were asked
        for, and the vectors, ``(*, m, k)``, orthonormal in the product of ``B``.

    Raises:
        ValueError: If ``A`` is not square, or has fewer rows than three times ``n``.
        NotImplementedError: For a tracker.

    Example:
        >>> import tinytorch as tt
        >>> values, vectors = tt.lobpcg(tt.diag(tt.tensor([1.0, 4.0, 2.0, 3.0])), k=1)
        >>> values, vectors.abs().flatten()
        (tensor([4.]), tensor([0., 1., 0., 0.]))

    Reference: A. V. Knyazev, Toward the optimal preconditioned eigensolver, SIAM J. Sci. Comput.
    23, 517-541 (2001), is how PyTorch finds them.
    """
    if tracker is not None:
        raise NotImplementedError("lobpcg: tracker is not supported, as there are no steps here")
    if method not in (None, "basic", "ortho"):
        raise ValueError(f"lobpcg: expected method to be 'basic' or 'ortho', got {method!r}")
    count = k if k is not None else 1 if X is None else X.shape[-1]
    _check(A, count if n is None and X is None else n or X.shape[-1])  # type: ignore[union-attr]
    values, vectors = _pairs(A, B)
    if largest is None or largest:
        return values[..., -count:].flip(-1), vectors[..., -count:].flip(-1)
    return values[..., :count], vectors[..., :count]


def _check(A: Tensor, width: int) -> None:
    if A.ndim < 2 or A.shape[-1] != A.shape[-2]:
        raise ValueError(f"lobpcg: expected A to be square, got shape {list(A.shape)}")
    if A.shape[-1] < 3 * width:
        raise ValueError(
            "LOBPCG algorithm is not applicable when the number of A rows "
            f"(={A.shape[-1]}) is smaller than 3 x the number of requested eigenpairs (={width})"
        )


def _pairs(A: Tensor, B: Tensor | None) -> tuple[Any, Any]:
    """All eigenvalues in ascending order and their vectors."""
    found: Any
    if B is None:
        found = eigh(A)
        return found[0], found[1]
    # With B = L L^T the values are those of the symmetric L^-1 A L^-T, and x = L^-T y.
    factor: Any = cholesky(B)
    half: Any = solve_triangular(factor, A, upper=False)
    whole: Any = solve_triangular(factor, half.mT, upper=False)
    found = eigh(whole)
    return found[0], solve_triangular(factor.mT, found[1], upper=True)
