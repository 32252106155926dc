"""NumPy's linear algebra on tensors: ``numpy.linalg`` by its names and with its meanings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import dtypes
from .. import linalg as _torchs
from .._op import NAMESPACES
from .._tensor import Tensor
from ..ops._arrays import axes_of
from ._dialect import as_float, called, host, joined, raising, tensor_of, written

LinAlgError: type[Exception] = _torchs.LinAlgError


def _matrices(*values: Any) -> list[Any]:
    """Tensors of one floating-point dtype."""
    found = joined(*values)
    return [x if x.dtype.category > 1 else x.to(dtypes.float64) for x in found]


def _of_one(name: str, summary: str) -> Callable[..., Any]:
    """A function of matrices alone."""

    def function(a: Any) -> Any:
        return getattr(_torchs, name)(as_float(a))

    return raising(called(function, name, f"""{summary}

    Args:
        a: Tensor of shape ``(*, n, n)``, or what makes one.

    Raises:
        LinAlgError: For a matrix that has none.
    """))


inv: Callable[[Any], Tensor] = _of_one("inv", "The inverse of each matrix.")
det: Callable[[Any], Tensor] = _of_one("det", "The determinant of each matrix.")
slogdet: Callable[[Any], Any] = _of_one(
    "slogdet", "The sign and the logarithm of each determinant, a named tuple."
)


@raising
def svdvals(x: Any, /) -> Tensor:
    """The singular values of each matrix, from the largest down.

    Args:
        x: Tensor of shape ``(*, n, m)``, or what makes one.
    """
    return _torchs.svdvals(as_float(x))


@raising
def svd(
    a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False
) -> Any:
    """The singular value decomposition ``U diag(S) Vh`` of each matrix.

    Args:
        a: Tensor of shape ``(*, n, m)``, or what makes one.
        full_matrices: Whether ``U`` and ``Vh`` are square; default yes.
        compute_uv: Whether they are wanted at all; default yes.
        hermitian: Accepted.

    Returns:
        A named tuple ``(U, S, Vh)``; without ``compute_uv`` the singular values.
    """
    x = as_float(a)
    return _torchs.svd(x, full_matrices) if compute_uv else _torchs.svdvals(x)


@raising
def qr(a: Any, mode: str = "reduced") -> Any:
    """Each matrix as one with orthonormal columns times an upper triangle.

    Args:
        a: Tensor of shape ``(*, n, m)``, or what makes one.
        mode: ``"reduced"`` (default), ``"complete"``, or ``"r"`` for the triangle alone.

    Returns:
        A named tuple ``(Q, R)``, or the triangle.
    """
    if mode not in ("reduced", "complete", "r"):
        raise ValueError(f"qr(): mode must be 'reduced', 'complete' or 'r', got {mode!r}")
    found = _torchs.qr(as_float(a), mode)
    return found[1] if mode == "r" else found


@raising
def cholesky(a: Any, /, *, upper: bool = False) -> Tensor:
    """The triangle whose product with its conjugate transpose is the matrix.

    Args:
        a: Positive-definite tensor of shape ``(*, n, n)``, or what makes one.
        upper: Give the upper triangle instead of the lower.

    Raises:
        LinAlgError: If a matrix is not positive-definite.
    """
    return _torchs.cholesky(as_float(a), upper)


def _stays_complex() -> bool:
    """Whether the NumPy at hand leaves real eigenvalues complex, as from 2.5 on."""
    return bool(host().lib.NumpyVersion(host().__version__) >= "2.5.0")


def _realized(given: Any, found: tuple[Any, ...]) -> tuple[Any, ...]:
    """Real tensors if nothing in them is imaginary, where NumPy gives such for real matrices."""
    if given.is_complex() or _stays_complex() or bool(found[0].detach().imag.any()):
        return found
    return tuple(part.real for part in found)


@raising
def eig(a: Any) -> Any:
    """The eigenvalues and right eigenvectors of each matrix.

    They are complex; where NumPy is older than 2.5, real if all of a real matrix's are.

    Args:
        a: Tensor of shape ``(*, n, n)``, or what makes one.

    Returns:
        A named tuple ``(eigenvalues, eigenvectors)``; the vectors are columns.
    """
    x = as_float(a)
    found = _torchs.eig(x)
    return type(found)(*_realized(x, found))


@raising
def eigvals(a: Any) -> Tensor:
    """The eigenvalues of each matrix.

    They are complex; where NumPy is older than 2.5, real if all of a real matrix's are.

    Args:
        a: Tensor of shape ``(*, n, n)``, or what makes one.
    """
    x = as_float(a)
    return _realized(x, (_torchs.eigvals(x),))[0]  # type: ignore[no-any-return]


@raising
def eigh(a: Any, UPLO: str = "L") -> Any:
    """The eigenvalues, in ascending order, and eigenvectors of each Hermitian matrix.

    Args:
        a: Tensor of shape ``(*, n, n)``, or what makes one.
        UPLO: Which triangle is read: ``"L"`` (default) or ``"U"``.

    Returns:
        A named tuple ``(eigenvalues, eigenvectors)``; the vectors are columns.
    """
    return _torchs.eigh(as_float(a), UPLO)


@raising
def eigvalsh(a: Any, UPLO: str = "L") -> Tensor:
    """The eigenvalues of each Hermitian matrix, in ascending order.

    Args:
        a: Tensor of shape ``(*, n, n)``, or what makes one.
        UPLO: Which triangle is read: ``"L"`` (default) or ``"U"``.
    """
    return _torchs.eigvalsh(as_float(a), UPLO)


@raising
def solve(a: Any, b: Any) -> Tensor:
    """``x`` such that ``a @ x`` is ``b``.

    Args:
        a: Tensor of shape ``(*, n, n)``, or what makes one.
        b: Tensor of shape ``(n,)`` or ``(*, n, k)``.

    Raises:
        LinAlgError: If a matrix is singular.
    """
    x, y = _matrices(a, b)
    if y.ndim == 1:
        return _torchs.solve(x, y.unsqueeze(-1)).squeeze(-1)
    # One dimension fewer would be vectors to PyTorch; to NumPy they are matrices.
    lacking = x.ndim - y.ndim
    return _torchs.solve(x, y.reshape((1,) * lacking + tuple(y.shape)))


@raising
def lstsq(a: Any, b: Any, rcond: float | None = None) -> tuple[Tensor, Tensor, int, Tensor]:
    """``x`` of the least size for which ``a @ x`` is nearest to ``b``.

    Args:
        a: Tensor of shape ``(n, m)``, or what makes one.
        b: Tensor of shape ``(n,)`` or ``(n, k)``.
        rcond: Singular values below this part of the largest count as 0; default the
            precision of the dtype times the larger size.

    Returns:
        ``x``; the sums of squared residuals, none if the rank is not ``m`` or ``n`` is not
        larger; the rank; the singular values.
    """
    x, y = _matrices(a, b)
    u, s, vh = _torchs.svd(x, False)
    least = max(x.shape) * dtypes.finfo(s.dtype).eps if rcond is None else rcond
    kept = s > least * s.max() if s.numel() else s > 0
    inverse = (1 / s.masked_fill(~kept, 1)).masked_fill(~kept, 0)
    parts = u.mH @ y
    found = vh.mH @ (inverse * parts if y.ndim == 1 else inverse.unsqueeze(-1) * parts)
    rank = int(kept.sum())
    left = ((y - x @ found).abs() ** 2).sum(0, keepdim=y.ndim == 1)
    return found, left if rank == x.shape[1] < x.shape[0] else left[:0], rank, s


@raising
def pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Tensor:
    """The pseudo-inverse of each matrix.

    Args:
        a: Tensor of shape ``(*, n, m)``, or what makes one.
        rcond: Singular values below this part of the largest count as 0; default 1e-15.
        hermitian: Whether the matrices are Hermitian.
        rtol: The same as ``rcond``.
    """
    part = next((v for v in (rcond, rtol) if v is not None), 1e-15)
    return _torchs.pinv(as_float(a), hermitian=hermitian, rtol=part)


@raising
def matrix_rank(A: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Tensor:
    """How many singular values of each matrix are not 0.

    Args:
        A: Tensor of shape ``(*, n, m)``, or what makes one; of a vector 1 unless it is 0.
        tol: What is below counts as 0; default by ``rtol``.
        hermitian: Whether the matrices are Hermitian.
        rtol: The same relative to the largest; default the precision times the larger size.
    """
    x = as_float(A)
    if x.ndim < 2:
        return (x != 0).any().long()  # type: ignore[no-any-return]
    if tol is not None:
        return _torchs.matrix_rank(x, tol, hermitian)
    return _torchs.matrix_rank(x, hermitian=hermitian, rtol=rtol)


@raising
def cond(x: Any, p: Any = None) -> Tensor:
    """The condition number of each matrix.

    Args:
        x: Tensor of shape ``(*, n, m)``, or what makes one.
        p: The norm; default the quotient of the extreme singular values.
    """
    return _torchs.cond(as_float(x), p)


@raising
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The norm of vectors or matrices.

    Args:
        x: Tensor, or what makes one.
        ord: Which norm; default the root of the sum of squares.
        axis: A dimension for vectors, two for matrices; None, the default, means all elements,
            or with ``ord`` the one or two dimensions there are.
        keepdims: Keep the reduced dimensions with size 1.
    """
    given = as_float(x)
    axes = None if axis is None else axes_of("norm", axis, given.ndim)
    return _torchs.norm(given, ord, axes, keepdims)


@raising
def vector_norm(
    x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2
) -> Tensor:
    """The norm of vectors, of all elements or along ``axis``.

    Args:
        x: Tensor, or what makes one.
        axis: Dimension or dimensions; None, the default, means all.
        keepdims: Keep the reduced dimensions with size 1.
        ord: Which norm; default 2.
    """
    given = as_float(x)
    axes = None if axis is None else axes_of("vector_norm", axis, given.ndim)
    return _torchs.vector_norm(given, ord, axes, keepdims)


@raising
def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Tensor:
    """The norm of each matrix.

    Args:
        x: Tensor of shape ``(*, n, m)``, or what makes one.
        keepdims: Keep the reduced dimensions with size 1.
        ord: Which norm; default Frobenius'.
    """
    return _torchs.matrix_norm(as_float(x), ord, keepdim=keepdims)


@raising
def matrix_power(a: Any, n: int) -> Tensor:
    """Each matrix multiplied by itself ``n`` times.

    Args:
        a: Tensor of shape ``(*, n, n)``, or what makes one.
        n: How often; a negative number means the inverse.
    """
    return _torchs.matrix_power(tensor_of(a) if n >= 0 else as_float(a), n)


@raising
def multi_dot(arrays: Sequence[Any], *, out: Tensor | None = None) -> Tensor:
    """The product of several matrices, in the cheapest order.

    Args:
        arrays: Matrices; the first and the last may be vectors.
        out: Where to write the result.
    """
    return written(_torchs.multi_dot(joined(*arrays)), out)  # type: ignore[no-any-return]


@raising
def tensorinv(a: Any, ind: int = 2) -> Tensor:
    """The inverse of ``tensordot(a, ...)`` over the dimensions from ``ind`` on.

    Args:
        a: Tensor, or what makes one.
        ind: How many of its first dimensions go together.
    """
    return _torchs.tensorinv(as_float(a), ind)


@raising
def tensorsolve(a: Any, b: Any, axes: Any = None) -> Tensor:
    """``x`` such that ``tensordot(a, x, x.ndim)`` is ``b``.

    Args:
        a: Tensor, or what makes one.
        b: Tensor, or what makes one.
        axes: Dimensions of ``a`` that are moved to its end first.
    """
    x, y = _matrices(a, b)
    return _torchs.tensorsolve(x, y, axes)


def diagonal(x: Any, /, *, offset: int = 0) -> Tensor:
    """The diagonal of each matrix.

    Args:
        x: Tensor of shape ``(*, n, m)``, or what makes one.
        offset: Which diagonal; default the main one, positive ones are above it.
    """
    return NAMESPACES["numpy"]["diagonal"](x, offset, -2, -1)  # type: ignore[no-any-return]


def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Tensor:
    """The sum of the elements on the diagonal of each matrix.

    Args:
        x: Tensor of shape ``(*, n, m)``, or what makes one.
        offset: Which diagonal; default the main one, positive ones are above it.
        dtype: What to add in; default ``x``'s, 64 bits for integers.
    """
    return NAMESPACES["numpy"]["trace"](x, offset, -2, -1, dtype)  # type: ignore[no-any-return]


@raising
def outer(x1: Any, x2: Any, /) -> Tensor:
    """Every product of an element of one vector and one of another.

    Args:
        x1: Tensor of shape ``(n,)``, or what makes one.
        x2: Tensor of shape ``(m,)``, or what makes one.

    Raises:
        ValueError: For other numbers of dimensions.
    """
    return _torchs.outer(*joined(x1, x2))


def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Tensor:
    """The cross products of vectors of three elements.

    Args:
        x1: Tensor, or what makes one.
        x2: Tensor, or what makes one.
        axis: The dimension of the vectors; default the last.
    """
    return NAMESPACES["numpy"]["cross"](x1, x2, axis=axis)  # type: ignore[no-any-return]


def matmul(x1: Any, x2: Any, /) -> Tensor:
    """Products of matrices and vectors; see ``tinytorch.numpy.matmul``."""
    return NAMESPACES["numpy"]["matmul"](x1, x2)  # type: ignore[no-any-return]


def tensordot(x1: Any, x2: Any, /, *, axes: Any = 2) -> Tensor:
    """Sums of products over several dimensions; see ``tinytorch.numpy.tensordot``."""
    return NAMESPACES["numpy"]["tensordot"](x1, x2, axes)  # type: ignore[no-any-return]


def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Tensor:
    """Sums of products along a dimension; see ``tinytorch.numpy.vecdot``."""
    return NAMESPACES["numpy"]["vecdot"](x1, x2, axis=axis)  # type: ignore[no-any-return]


@raising
def matrix_transpose(x: Any, /) -> Tensor:
    """The transpose of each matrix: a view.

    Args:
        x: Tensor of shape ``(*, n, m)``, or what makes one.
    """
    return _torchs.matrix_transpose(tensor_of(x))
