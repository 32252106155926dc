"""Eigenvalues and eigenvectors; LDL factors of symmetric matrices."""

from __future__ import annotations

import math
from typing import Any

from ... import dtypes
from ...core.tensor import Tensor
from ...dispatch.op import Array, Backend, Out, accepts_none, composite, op, torch_convention
from ...state import grad_enabled
from ..results import named_result, write_result
from .shared import (
    adjoint,
    call_routine,
    check_phases,
    check_square,
    convergence_error,
    divide_by_differences,
    real_part,
)
from .solve import solve
from .substitution import first_failure, substitute
from .triangular import cholesky, solve_triangular

_Eigh = named_result("linalg_eigh", "eigenvalues eigenvectors")
_Eig = named_result("linalg_eig", "eigenvalues eigenvectors")
#: Two parts of the error message of ``check_phases``.
_DEPENDS = ("eigenvectors", "quantity, so it is")

# -- Hermitian -------------------------------------------------------------------------------------


@op(namespaces=("linalg",), returns=_Eigh)
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
        >>> tt.linalg.eigh(tt.tensor([[2.0, 1.0], [1.0, 2.0]])).eigenvalues
        tensor([1., 3.])
    """
    side = _check_input(xp, "linalg.eigh", A, UPLO)
    if not A.size:
        return xp.zeros(A.shape[:-1], A.real.dtype), xp.zeros(A.shape, A.dtype)
    values, vectors = call_routine(
        xp, xp.linalg.eigh, A, side, failure=lambda: convergence_error("linalg.eigh", "eigenvalues")
    )
    return values, vectors


def _check_input(xp: Backend, name: str, A: Array, UPLO: str) -> str:
    """Check that ``A`` is square; return ``UPLO``, the triangle to read, in upper case."""
    check_square(xp, name, A)
    side = str(UPLO).upper()
    if side not in ("L", "U"):
        raise RuntimeError(f"{name}: Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    return side


def _eigh_backward(xp: Any, g: Any, out: Any) -> Any:
    """``V (diag(l) + F * S) V^H`` with ``F_ij = 1 / (l_j - l_i)`` and S the skew part of ``V^H v``.

    l and v are the gradients of the eigenvalues and eigenvectors. The symmetric part of ``V^H v``
    would only add a part to the gradient that is not Hermitian, so it is left out.

    Reference:
        Giles, "Collected matrix derivative results for forward and reverse mode algorithmic
        differentiation", 2008, section 3.1.
    """
    values, vectors = out
    values_grad, vectors_grad = g
    vectors_h = adjoint(xp, vectors)
    inner = 0
    if vectors_grad is not None:
        product = xp.matmul(vectors_h, vectors_grad)
        check_phases(xp, ("linalg_eigh_backward", *_DEPENDS), product)
        skew = (product - adjoint(xp, product)) * 0.5
        inner = xp.matmul(vectors, divide_by_differences(xp, skew, values))
    if values_grad is not None:
        inner = inner + vectors * values_grad[..., None, :]
    return xp.matmul(inner, vectors_h)


eigh.vjp(A=accepts_none(torch_convention(_eigh_backward)))


@op
def _eigvalsh(xp: Backend, A: Array, UPLO: str) -> Array:
    """Eigenvalues of Hermitian matrices alone, which has no gradient."""
    side = _check_input(xp, "linalg.eigvalsh", A, UPLO)
    if not A.size:
        return xp.zeros(A.shape[:-1], A.real.dtype)
    return call_routine(
        xp, xp.linalg.eigvalsh, A, side,
        failure=lambda: convergence_error("linalg.eigvalsh", "eigenvalues"),
    )  # fmt: skip


@composite(namespaces=("linalg",), out=Out.EXACT)
def eigvalsh(A: Tensor, UPLO: str = "L", *, out: Tensor | None = None) -> Tensor:
    """Eigenvalues of every symmetric or Hermitian matrix of a batch; see ``linalg.eigh``.

    Args:
        A: ``(..., n, n)``, floating-point or complex; one triangle is read.
        UPLO: Which: ``"L"``, the default, or ``"U"``.

    Returns:
        ``(..., n)``, real and ascending.

    Raises:
        RuntimeError: If the matrices are not square, or for another ``UPLO``.
        LinAlgError: If the iteration does not converge.

    Example:
        >>> tt.linalg.eigvalsh(tt.tensor([[2.0, 1.0], [1.0, 2.0]]))
        tensor([1., 3.])
    """
    # The gradient needs the eigenvectors, so compute them only if one will be recorded.
    if A.requires_grad and grad_enabled():
        values = eigh(A, UPLO)[0]
    else:
        values = _eigvalsh(A, UPLO)
    return write_result(out, values, "linalg.eigvalsh")  # type: ignore[no-any-return]


# -- any square matrix -------------------------------------------------------------------------


@op(namespaces=("linalg",), returns=_Eig, out=Out.CAST_EACH)
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
        >>> tt.linalg.eig(tt.tensor([[0.0, 1.0], [-1.0, 0.0]])).eigenvalues
        tensor([0.+1.j, 0.-1.j])
    """
    check_square(xp, "linalg.eig", A)
    native = _complex_dtype(xp, A)
    if not A.size:
        return xp.zeros(A.shape[:-1], native), xp.zeros(A.shape, native)
    _check_finite(xp, "linalg.eig", A)
    values, vectors = call_routine(
        xp, xp.linalg.eig, A, failure=lambda: convergence_error("linalg.eig", "eigenvalues")
    )
    return xp.astype(values, native), xp.astype(vectors, native)


def _complex_dtype(xp: Backend, array: Array) -> Any:
    """The native complex dtype of the precision of ``array``."""
    return xp.native_dtype(xp.dtype_of(array).to_complex())


def _check_finite(xp: Backend, name: str, A: Array) -> None:
    """Raise RuntimeError for NaN and infinities in ``A``."""
    xp.check_all(xp.isfinite(A), f"torch.{name}: input tensor should not contain infs or NaNs.")


def _eig_backward(xp: Any, g: Any, out: Any) -> Any:
    """``V^-H (diag(l) + F * (V^H v - V^H V diag(Re(V^H v)))) V^H``, F of conjugate eigenvalues.

    l and v are the gradients of the eigenvalues and eigenvectors, and ``F_ij`` is one over the
    difference of eigenvalues. The last term is there because the eigenvectors have norm 1.

    Reference:
        Boeddeker et al., "On the computation of complex-valued gradients with application to
        statistically optimum beamforming", 2017, arXiv:1701.00392, section 4.
    """
    values, vectors = out
    values_grad, vectors_grad = g
    vectors_h = adjoint(xp, vectors)
    inner = 0
    if vectors_grad is not None:
        product = xp.matmul(vectors_h, vectors_grad)
        check_phases(xp, ("linalg_eig_backward", *_DEPENDS), product)
        norms = real_part(xp.diagonal(product, 0, -2, -1))
        product = product - xp.matmul(vectors_h, vectors * norms[..., None, :])
        inner = xp.matmul(divide_by_differences(xp, product, xp.conj(values)), vectors_h)
    if values_grad is not None:
        inner = inner + values_grad[..., :, None] * vectors_h
    return xp.call(solve, vectors_h, inner)


eig.vjp(A=accepts_none(torch_convention(_eig_backward)))


@op
def _eigvals(xp: Backend, A: Array) -> Array:
    """Eigenvalues without eigenvectors. ``eigvals`` calls ``eig`` if a gradient is needed."""
    check_square(xp, "linalg.eigvals", A)
    native = _complex_dtype(xp, A)
    if not A.size:
        return xp.zeros(A.shape[:-1], native)
    _check_finite(xp, "linalg.eigvals", A)
    values = call_routine(
        xp, xp.linalg.eigvals, A, failure=lambda: convergence_error("linalg.eigvals", "eigenvalues")
    )
    return xp.astype(values, native)


@composite(namespaces=("linalg",))
def eigvals(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Eigenvalues of every square matrix of a batch; see ``linalg.eig``.

    Args:
        A: ``(..., n, n)``, floating-point or complex.

    Returns:
        ``(..., n)``, complex, in no particular order.

    Raises:
        RuntimeError: If the matrices are not square, or not finite.
        LinAlgError: If the iteration does not converge.

    Example:
        >>> tt.linalg.eigvals(tt.tensor([[0.0, 1.0], [-1.0, 0.0]]))
        tensor([0.+1.j, 0.-1.j])
    """
    values = eig(A)[0] if A.requires_grad and grad_enabled() else _eigvals(A)
    return write_result(out, values, "linalg.eigvals")  # type: ignore[no-any-return]


# -- LDL factors -----------------------------------------------------------------------------------

#: Bunch and Kaufman's threshold for a pivot, which bounds the growth of elements.
_ALPHA = (1 + math.sqrt(17)) / 8


def factor_ldl(xp: Backend, matrix: Array, hermitian: bool) -> tuple[Array, Array, Array]:
    """LAPACK's ``LD``, pivots and ``info`` of every matrix, from its lower triangle.

    Step k eliminates column k in all matrices of the batch at once. Masks of the batch's shape
    say where column k is a 1x1 pivot (``single``), the first column of a 2x2 pivot (``double``),
    or the second column of one (``second``), which the step before has eliminated.

    Reference:
        Bunch & Kaufman, "Some stable methods for calculating inertia and solving symmetric
        linear systems", Math. Comp. 31 (1977).
    """
    factors = xp.ldl(matrix, hermitian)
    if factors is not None:
        return xp.tril(factors[0]), *factors[1:]
    a = _fill_upper_triangle(xp, matrix, hermitian)
    n = a.shape[-1]
    pivots = xp.zeros(a.shape[:-1], xp.native_dtype(dtypes.int32))
    failed = xp.zeros(a.shape[:-1], bool)
    second = xp.zeros(a.shape[:-2], bool)
    for k in range(n):
        at, double, zero = _choose_pivots(xp, a[..., k:, k:], second, hermitian)
        single = xp.logical_not(second | double)
        target = xp.where(double, 1, 0)
        order = _swapped_order(xp, n - k, target, xp.where(second, target, at))
        rest = a[..., k:, k:]
        rest[...] = _permute_symmetrically(xp, rest, order)
        _eliminate(xp, rest, single & xp.logical_not(zero), double, hermitian)
        failed[..., k] = single & zero
        number = xp.astype(at + (k + 1), pivots.dtype)
        pivots[..., k] = xp.where(second, pivots[..., k], xp.where(double, -number, number))
        if k + 1 < n:
            pivots[..., k + 1] = xp.where(double, -number, 0)
        second = double
    return xp.tril(a), pivots, first_failure(xp, failed)


def _fill_upper_triangle(xp: Any, matrix: Array, hermitian: bool) -> Array:
    """The symmetric or Hermitian matrices whose lower triangles ``matrix`` has."""
    lower = xp.tril(matrix)
    strict = xp.swapaxes(xp.tril(matrix, -1), -1, -2)
    if not hermitian or matrix.dtype.kind != "c":
        return lower + strict
    full = lower + xp.conj(strict)
    i = xp.arange(matrix.shape[-1])
    full[..., i, i] = full[..., i, i].real
    return full


def _magnitude(x: Array) -> Array:
    """``|re| + |im|``, by which LAPACK compares complex pivots."""
    return abs(x.real) + abs(x.imag) if x.dtype.kind == "c" else abs(x)


def _choose_pivots(
    xp: Any, rest: Array, second: Array, hermitian: bool
) -> tuple[Array, Array, Array]:
    """Choose the pivots for the first column of the remaining matrices ``rest``.

    ``second`` marks matrices whose column is the second of a 2x2 pivot, and done already.

    Returns, per matrix:
        The row to swap with the last row of the pivot (0 for no swap), whether the pivot is 2x2,
        and whether the column is zero.
    """
    size = _magnitude(rest)
    corner = size[..., 0, 0]
    if rest.shape[-1] == 1:
        return xp.zeros(corner.shape, int), xp.zeros(corner.shape, bool), corner == 0
    rows = xp.arange(rest.shape[-1])
    best = xp.argmax(size[..., 1:, 0], axis=-1) + 1
    column = xp.max(size[..., 1:, 0], axis=-1)
    row = xp.take_along_axis(size, best[..., None, None], axis=-2)[..., 0, :]
    other = xp.take_along_axis(row, best[..., None], axis=-1)[..., 0]
    row = xp.max(xp.where(rows == best[..., None], 0, row), axis=-1)
    zero = xp.maximum(corner, column) == 0
    # The products avoid LAPACK's column * (column / row), which can divide by zero.
    no_swap = zero | (corner >= _ALPHA * column) | (corner * row >= _ALPHA * column * column)
    single = xp.logical_not(no_swap) & (other >= _ALPHA * row)
    double = xp.logical_not(no_swap | single | second)
    return xp.where(no_swap | second, 0, best), double, zero


def _swapped_order(xp: Any, size: int, first: Array, other: Array) -> Array:
    """The row indices ``0 .. size - 1`` with ``first`` and ``other`` exchanged, per matrix."""
    rows = xp.arange(size)
    first, other = first[..., None], other[..., None]
    return xp.where(rows == first, other, xp.where(rows == other, first, rows))


def _permute_symmetrically(xp: Any, a: Array, order: Array) -> Array:
    """``a[order][:, order]`` of every matrix, with an ``order`` for each."""
    rows = xp.take_along_axis(a, order[..., :, None], axis=-2)
    return xp.take_along_axis(rows, order[..., None, :], axis=-1)


def _eliminate(xp: Any, rest: Array, single: Array, double: Array, hermitian: bool) -> None:
    """Subtract the pivot's outer product from the rest, and store ``L`` in the pivot's columns.

    ``single`` and ``double`` mark the matrices with a 1x1 and with a 2x2 pivot; a matrix that is
    in neither mask does not change.
    """
    n = rest.shape[-1]
    if n == 1:
        return
    conj = xp.conj if hermitian else (lambda x: x)
    pivot = xp.where(single, rest[..., 0, 0], 1)
    column = rest[..., 1:, 0]
    scaled = column / pivot[..., None]
    once = single[..., None, None]
    update = xp.where(once, scaled[..., :, None] * conj(column)[..., None, :], 0)
    if n > 2:
        pair = rest[..., 2:, :2]
        solved = _divide_by_pair_pivots(xp, pair, rest, double, hermitian)
        twice = double[..., None, None]
        product = xp.matmul(solved, xp.swapaxes(conj(pair), -1, -2))
        update[..., 1:, 1:] += xp.where(twice, product, 0)
        rest[..., 2:, :2] = xp.where(twice, solved, pair)
        column = rest[..., 1:, 0]
    rest[..., 1:, 1:] -= update
    rest[..., 1:, 0] = xp.where(single[..., None], scaled, column)


def _divide_by_pair_pivots(
    xp: Any, pair: Array, rest: Array, double: Array, hermitian: bool
) -> Array:
    """Rows times the inverse of the 2x2 pivot at the top left of ``rest``.

    ``pair`` holds the rows, ``(..., n, 2)``. The result counts only where ``double`` is true.
    """
    a, b, c = (xp.where(double, rest[..., i, j], 1) for i, j in ((0, 0), (1, 1), (1, 0)))
    first, other = _divide_by_2x2(
        xp, pair[..., 0], pair[..., 1], a[..., None], b[..., None], c[..., None], hermitian
    )
    return xp.stack((first, other), axis=-1)


def _divide_by_2x2(
    xp: Any, x: Array, y: Array, a: Array, b: Array, c: Array, hermitian: bool
) -> tuple[Array, Array]:
    """The row ``(x, y)`` times the inverse of ``[[a, e], [c, b]]``; e is c or its conjugate.

    a, b and c are first divided by the absolute value of c, the largest, to avoid overflow.
    """
    scale = abs(c)
    scale = xp.where(scale == 0, 1, scale)
    a, b, c = a / scale, b / scale, c / scale
    e = xp.conj(c) if hermitian else c
    factor = scale * (a * b - c * e)
    factor = xp.where(factor == 0, 1, factor)
    return (x * b - y * c) / factor, (y * a - x * e) / factor


def solve_ldl(xp: Backend, ld: Array, pivots: Array, b: Array, hermitian: bool) -> Array:
    """The solution of ``A x = b`` from ``factor_ldl(A)``; all arguments have one batch shape."""
    starts = _pair_starts(xp, pivots)
    lower, order = _standard_factor(xp, ld, pivots, starts)
    x = xp.take_along_axis(b, order[..., None], axis=-2)
    substitute(xp, lower, x, unit=True)
    x = _divide_by_blocks(xp, ld, starts, x, hermitian)
    upper = xp.swapaxes(lower, -1, -2)
    substitute(xp, xp.conj(upper) if hermitian else upper, x, upper=True, unit=True)
    inverse = xp.argsort(order, axis=-1)
    return xp.take_along_axis(x, inverse[..., None], axis=-2) if ld.shape[-1] else x


def _pair_starts(xp: Any, pivots: Array) -> Array:
    """Mask of the columns at which a 2x2 pivot begins: every other one of the negative pivots."""
    starts = xp.zeros(pivots.shape, bool)
    for k in range(pivots.shape[-1]):
        starts[..., k] = pivots[..., k] < 0
        if k:
            starts[..., k] &= xp.logical_not(starts[..., k - 1])
    return starts


def _standard_factor(xp: Any, ld: Array, pivots: Array, starts: Array) -> tuple[Array, Array]:
    """``L`` and ``order`` such that ``A[order][:, order] = L D L^T``.

    ``ld`` and ``pivots`` are LAPACK's; ``starts`` is the result of ``_pair_starts``. LAPACK does
    not apply later swaps to the columns of ``L`` in ``LD``; here they are applied.
    """
    n = ld.shape[-1]
    rows = xp.arange(n)
    # The element below the first diagonal element of a 2x2 pivot belongs to D, not to L.
    lower = xp.tril(ld, -1)
    lower = xp.where((rows[:, None] == rows + 1) & starts[..., None, :], 0, lower)
    order = xp.array(xp.broadcast_to(rows, ld.shape[:-1]))
    for k in range(n):
        before = starts[..., k - 1] if k else xp.zeros(ld.shape[:-2], bool)
        first = k + xp.where(starts[..., k], 1, 0)
        other = xp.where(before, first, xp.astype(abs(pivots[..., k]), order.dtype) - 1)
        swap = _swapped_order(xp, n, first, other)
        order = xp.take_along_axis(order, swap, axis=-1)
        lower[..., :, :k] = xp.take_along_axis(lower[..., :, :k], swap[..., :, None], axis=-2)
    return lower, order


def _divide_by_blocks(xp: Any, ld: Array, starts: Array, x: Array, hermitian: bool) -> Array:
    """``D^-1 x`` for the block-diagonal ``D`` in ``ld``; ``starts`` is that of ``_pair_starts``."""
    main = xp.diagonal(ld, 0, -2, -1)[..., None]
    if ld.shape[-1] < 2:
        return x / main
    off = xp.diagonal(ld, -1, -2, -1)[..., None]
    begins = starts[..., :-1, None]
    # D^-1 multiplies columns from the left; _divide_by_2x2 multiplies rows, so pass D^T.
    c = xp.conj(off) if hermitian else off
    first, other = _divide_by_2x2(
        xp, x[..., :-1, :], x[..., 1:, :], main[..., :-1, :], main[..., 1:, :], c, hermitian
    )
    result = x / main
    result[..., :-1, :] = xp.where(begins, first, result[..., :-1, :])
    result[..., 1:, :] = xp.where(begins, other, result[..., 1:, :])
    return result


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

    PyTorch iterates, for sparse matrices. Here matrices are dense, and all eigenpairs are computed
    to full precision, of which ``k`` are returned; the arguments of the iteration have no effect.

    Args:
        A: Symmetric, ``(*, m, m)``.
        k: The number of pairs. Default: the number of columns of ``X``, or 1.
        B: Symmetric and positive definite, ``(*, m, m)``. Default: the identity.
        X: An initial approximation, ``(*, m, n)``; only its width has an effect.
        n: The width of an initial approximation. Default: ``k``.
        iK: Accepted for compatibility, as are ``niter``, ``tol`` and ``ortho_*``.
        niter: See ``iK``.
        tol: See ``iK``.
        largest: Return the largest eigenvalues (default) or the smallest.
        method: ``"basic"`` or ``"ortho"``, which makes no difference.
        tracker: Must be None, as there is no iteration to track.
        ortho_iparams: See ``iK``.
        ortho_fparams: See ``iK``.
        ortho_bparams: See ``iK``.

    Returns:
        The eigenvalues, ``(*, k)``, descending for ``largest`` and ascending otherwise, and the
        eigenvectors, ``(*, m, k)``, orthonormal in the inner product of ``B``.

    Raises:
        ValueError: If ``A`` is not square, or has fewer rows than three times ``n``.
        NotImplementedError: For a tracker.

    Example:
        >>> values, vectors = tt.lobpcg(tt.diag(tt.tensor([1.0, 4.0, 2.0, 3.0])), k=1)
        >>> values, vectors.abs().flatten()
        (tensor([4.]), tensor([0., 1., 0., 0.]))

    Reference:
        PyTorch's method: A. V. Knyazev, "Toward the optimal preconditioned eigensolver", SIAM J.
        Sci. Comput. 23, 517-541 (2001).
    """
    if tracker is not None:
        raise NotImplementedError("lobpcg: tracker is not supported, as there are no steps here")
    if method not in (None, "basic", "ortho"):
        raise ValueError(f"lobpcg: expected method to be 'basic' or 'ortho', got {method!r}")
    count = k if k is not None else 1 if X is None else X.shape[-1]
    _check_lobpcg_inputs(A, count if n is None and X is None else n or X.shape[-1])  # type: ignore[union-attr]
    values, vectors = _eigenpairs(A, B)
    if largest is None or largest:
        return values[..., -count:].flip(-1), vectors[..., -count:].flip(-1)
    return values[..., :count], vectors[..., :count]


def _check_lobpcg_inputs(A: Tensor, width: int) -> None:
    """Raise ValueError unless ``A`` is square, with 3 rows per eigenpair of ``width`` at least."""
    if A.ndim < 2 or A.shape[-1] != A.shape[-2]:
        raise ValueError(f"lobpcg: expected A to be square, got shape {list(A.shape)}")
    if A.shape[-1] < 3 * width:
        raise ValueError(
            "LOBPCG algorithm is not applicable when the number of A rows "
            f"(={A.shape[-1]}) is smaller than 3 x the number of requested eigenpairs (={width})"
        )


def _eigenpairs(A: Tensor, B: Tensor | None) -> tuple[Any, Any]:
    """All eigenvalues of ``A x = e B x`` in ascending order, and the eigenvectors.

    ``B`` is the identity matrix for None.
    """
    found: Any
    if B is None:
        found = eigh(A)
        return found[0], found[1]
    # With B = L L^T, e is an eigenvalue of the symmetric C = L^-1 A L^-T: C y = e y, x = L^-T y.
    factor: Any = cholesky(B)
    half: Any = solve_triangular(factor, A, upper=False)
    found = eigh(solve_triangular(factor, half.mT, upper=False))
    return found[0], solve_triangular(factor.mT, found[1], upper=True)
