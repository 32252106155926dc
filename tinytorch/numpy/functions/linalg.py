"""NumPy's linear algebra on tensors: ``numpy.linalg`` by its names and with its meanings."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, overload

from ... import dtypes, return_types
from ... import linalg as _torchs
from ...core.tensor import Tensor
from . import linalg_products, products, shapes
from .conversion import as_float, as_floats, axes_of, host
from .linalg_products import cross as cross
from .linalg_products import diagonal as diagonal
from .linalg_products import matmul as matmul
from .linalg_products import matrix_power as matrix_power
from .linalg_products import multi_dot as multi_dot
from .linalg_products import tensorinv as tensorinv
from .linalg_products import tensorsolve as tensorsolve
from .registration import as_numpy_function, describe, raise_numpy_errors

if TYPE_CHECKING:
    from ... import return_types

__all__ = [
    "LinAlgError", "cholesky", "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals",
    "eigvalsh", "inv", "lstsq", "matmul", "matrix_norm", "matrix_power", "matrix_rank",
    "matrix_transpose", "multi_dot", "norm", "outer", "pinv", "qr", "slogdet", "solve", "svd",
    "svdvals", "tensordot", "tensorinv", "tensorsolve", "trace", "vecdot", "vector_norm",
]  # fmt: skip

# Shared with ``tinytorch.linalg``.
matrix_transpose: Callable[..., Tensor] = as_numpy_function(shapes.matrix_transpose)
outer: Callable[..., Tensor] = as_numpy_function(linalg_products.outer)
tensordot: Callable[..., Tensor] = as_numpy_function(linalg_products.tensordot)
trace: Callable[..., Tensor] = as_numpy_function(linalg_products.trace)
vecdot: Callable[..., Tensor] = as_numpy_function(products.vecdot)

#: Which those of PyTorch's class are, too.
LinAlgError: type[Exception] = host().linalg.LinAlgError


def _of_one(name: str, summary: str, *example: str) -> Callable[..., Any]:
    """A function of matrices alone."""

    def function(a: Any) -> Any:
        return getattr(_torchs, name)(as_float(a))

    return raise_numpy_errors(
        describe(
            function,
            name,
            f"""{summary}

    Args:
        a: Tensor of shape ``(*, n, n)``, or what makes one.

    Raises:
        LinAlgError: For a matrix that has none.
    """,
            *example,
        )
    )


inv: Callable[[Any], Tensor] = _of_one(
    "inv", "The inverse of each matrix.",
    ">>> np.linalg.inv([[1.0, 2.0], [3.0, 4.0]]).round(decimals=4)",
    "array([[-2. ,  1. ],",
    "       [ 1.5, -0.5]])",
)  # fmt: skip
det: Callable[[Any], Tensor] = _of_one(
    "det", "The determinant of each matrix.",
    ">>> np.linalg.det([[2.0, 0.0], [0.0, 3.0]])", "6.0",
)  # fmt: skip
slogdet: Callable[[Any], return_types.linalg_slogdet] = _of_one(
    "slogdet", "The sign and the logarithm of each determinant, a named tuple.",
    ">>> np.linalg.slogdet([[1.0, 0.0], [0.0, -1.0]])[0]", "-1.0",
)  # fmt: skip


@raise_numpy_errors
def svdvals(x: Any, /) -> Tensor:
    """The singular values of each matrix, from the largest down.

    Args:
        x: Tensor of shape ``(*, n, m)``, or what makes one.

    Example:
        >>> np.linalg.svdvals([[3.0, 0.0], [0.0, 4.0]])
        array([4., 3.])
    """
    return _torchs.svdvals(as_float(x))


@overload
def svd(
    a: Any, full_matrices: bool = True, compute_uv: Literal[True] = True, hermitian: bool = False
) -> return_types.linalg_svd: ...
@overload
def svd(
    a: Any, full_matrices: bool = True, *, compute_uv: Literal[False], hermitian: bool = False
) -> Tensor: ...
@overload
def svd(
    a: Any, full_matrices: bool, compute_uv: Literal[False], hermitian: bool = False
) -> Tensor: ...
@raise_numpy_errors
def svd(
    a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False
) -> Any:
    """The singular value decomposition ``U diag(S) Vh`` of each matrix.

    Args:
        a: Tensor of shape ``(*, n, m)``, or what makes one.
        full_matrices: Whether ``U`` and ``Vh`` are square; default yes.
        compute_uv: Whether they are wanted at all; default yes.
        hermitian: Whether the matrices are Hermitian; then their lower triangles alone are read.

    Returns:
        A named tuple ``(U, S, Vh)``; without ``compute_uv`` the singular values.

    Example:
        >>> u, s, vh = np.linalg.svd([[3.0, 0.0], [0.0, 4.0]])
        >>> s
        array([4., 3.])
    """
    x = as_float(a)
    if not hermitian:
        return _torchs.svd(x, bool(full_matrices)) if compute_uv else _torchs.svdvals(x)
    found, vectors = _torchs.eigh(x)
    size, places = found.abs().sort(-1, descending=True)
    if not compute_uv:
        return size
    left = vectors.take_along_dim(places.unsqueeze(-2), -1)
    signs = found.sign().gather(-1, places)
    right = (left * signs.unsqueeze(-2)).mT.conj()
    return return_types.linalg_svd(left, size, right)


@overload
def qr(a: Any, mode: Literal["reduced", "complete"] = "reduced") -> return_types.linalg_qr: ...
@overload
def qr(a: Any, mode: Literal["r"]) -> Tensor: ...
@raise_numpy_errors
def qr(a: Any, mode: str = "reduced") -> Any:
    """Each matrix as one with orthonormal columns times an upper triangle.

    Args:
        a: Tensor of shape ``(*, n, m)``, or what makes one.
        mode: ``"reduced"`` (default), ``"complete"``, or ``"r"`` for the triangle alone.

    Returns:
        A named tuple ``(Q, R)``, or the triangle.

    Example:
        >>> q, r = np.linalg.qr([[1.0, 2.0], [3.0, 4.0]])
        >>> np.allclose(q @ r, [[1.0, 2.0], [3.0, 4.0]])
        True
    """
    if mode not in ("reduced", "complete", "r"):
        raise ValueError(f"qr(): mode must be 'reduced', 'complete' or 'r', got {mode!r}")
    found = _torchs.qr(as_float(a), mode)
    return found[1] if mode == "r" else found


@raise_numpy_errors
def cholesky(a: Any, /, *, upper: bool = False) -> Tensor:
    """The triangle whose product with its conjugate transpose is the matrix.

    Args:
        a: Positive-definite tensor of shape ``(*, n, n)``, or what makes one.
        upper: Give the upper triangle instead of the lower.

    Raises:
        LinAlgError: If a matrix is not positive-definite.

    Example:
        >>> np.linalg.cholesky([[4.0, 2.0], [2.0, 5.0]])
        array([[2., 0.],
               [1., 2.]])
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


@raise_numpy_errors
def eig(a: Any) -> return_types.linalg_eig:
    """The eigenvalues and right eigenvectors of each matrix.

    They are complex; where NumPy is older than 2.5, real if all of a real matrix's are.

    Args:
        a: Tensor of shape ``(*, n, n)``, or what makes one.

    Returns:
        A named tuple ``(eigenvalues, eigenvectors)``; the vectors are columns.

    Example:
        >>> values, vectors = np.linalg.eig([[2.0, 1.0], [1.0, 2.0]])
        >>> np.allclose(np.sort(np.real(values)), [1.0, 3.0])
        True
    """
    x = as_float(a)
    found = _torchs.eig(x)
    return type(found)(*_realized(x, found))


@raise_numpy_errors
def eigvals(a: Any) -> Tensor:
    """The eigenvalues of each matrix.

    They are complex; where NumPy is older than 2.5, real if all of a real matrix's are.

    Args:
        a: Tensor of shape ``(*, n, n)``, or what makes one.

    Example:
        >>> np.sort(np.real(np.linalg.eigvals([[2.0, 0.0], [0.0, 3.0]])))
        array([2., 3.])
    """
    x = as_float(a)
    return _realized(x, (_torchs.eigvals(x),))[0]  # type: ignore[no-any-return]


@raise_numpy_errors
def eigh(a: Any, UPLO: str = "L") -> return_types.linalg_eigh:
    """The eigenvalues, in ascending order, and eigenvectors of each Hermitian matrix.

    Args:
        a: Tensor of shape ``(*, n, n)``, or what makes one.
        UPLO: Which triangle is read: ``"L"`` (default) or ``"U"``.

    Returns:
        A named tuple ``(eigenvalues, eigenvectors)``; the vectors are columns.

    Example:
        >>> values, vectors = np.linalg.eigh([[2.0, 1.0], [1.0, 2.0]])
        >>> values.round(decimals=4)
        array([1., 3.])
    """
    return _torchs.eigh(as_float(a), UPLO)


@raise_numpy_errors
def eigvalsh(a: Any, UPLO: str = "L") -> Tensor:
    """The eigenvalues of each Hermitian matrix, in ascending order.

    Args:
        a: Tensor of shape ``(*, n, n)``, or what makes one.
        UPLO: Which triangle is read: ``"L"`` (default) or ``"U"``.

    Example:
        >>> np.linalg.eigvalsh([[2.0, 1.0], [1.0, 2.0]]).round(decimals=4)
        array([1., 3.])
    """
    return _torchs.eigvalsh(as_float(a), UPLO)


@raise_numpy_errors
def solve(a: Any, b: Any) -> Tensor:
    """``x`` such that ``a @ x`` is ``b``.

    Args:
        a: Tensor of shape ``(*, n, n)``, or what makes one.
        b: Tensor of shape ``(n,)`` or ``(*, n, k)``.

    Raises:
        LinAlgError: If a matrix is singular.

    Example:
        >>> np.linalg.solve([[2.0, 0.0], [0.0, 4.0]], [6.0, 8.0])
        array([3., 2.])
    """
    x, y = as_floats(a, b)
    if y.ndim == 1:
        return _torchs.solve(x, y.unsqueeze(-1)).squeeze(-1)
    # One dimension fewer would be vectors to PyTorch; to NumPy they are matrices.
    lacking = x.ndim - y.ndim
    return _torchs.solve(x, y.reshape((1,) * lacking + tuple(y.shape)))


@raise_numpy_errors
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

    Example:
        >>> x, residuals, rank, s = np.linalg.lstsq([[1.0], [1.0]], [2.0, 4.0])
        >>> x.round(decimals=4), rank
        (array([3.]), 1)
    """
    x, y = as_floats(a, b)
    s = _torchs.svdvals(x)
    least = max(x.shape) * dtypes.finfo(s.dtype).eps if rcond is None else rcond
    kept = s > least * s.max() if s.numel() else s > 0
    found = _torchs.pinv(x, rtol=least) @ y  # whose gradient holds where singular values are equal
    rank = int(kept.sum())
    left = ((y - x @ found).abs() ** 2).sum(0, keepdim=y.ndim == 1)
    return found, left if rank == x.shape[1] < x.shape[0] else left[:0], rank, s


@raise_numpy_errors
def pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Tensor:
    """The pseudo-inverse of each matrix.

    Args:
        a: Tensor of shape ``(*, n, m)``, or what makes one.
        rcond: Singular values below this part of the largest count as 0; default 1e-15.
        hermitian: Whether the matrices are Hermitian.
        rtol: The same as ``rcond``.

    Example:
        >>> np.linalg.pinv([[2.0, 0.0], [0.0, 0.0]])
        array([[0.5, 0. ],
               [0. , 0. ]])
    """
    part = next((v for v in (rcond, rtol) if v is not None), 1e-15)
    return _torchs.pinv(as_float(a), hermitian=bool(hermitian), rtol=part)


@raise_numpy_errors
def matrix_rank(A: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Tensor:
    """How many singular values of each matrix are not 0.

    Args:
        A: Tensor of shape ``(*, n, m)``, or what makes one; of a vector 1 unless it is 0.
        tol: What is below counts as 0; default by ``rtol``.
        hermitian: Whether the matrices are Hermitian.
        rtol: The same relative to the largest; default the precision times the larger size.

    Example:
        >>> np.linalg.matrix_rank([[1.0, 2.0], [2.0, 4.0]])
        1
    """
    x = as_float(A)
    if x.ndim < 2:
        return (x != 0).any().long()  # type: ignore[no-any-return]
    if tol is not None:
        return _torchs.matrix_rank(x, tol, bool(hermitian))
    return _torchs.matrix_rank(x, hermitian=bool(hermitian), rtol=rtol)


@raise_numpy_errors
def cond(x: Any, p: Any = None) -> Tensor:
    """The condition number of each matrix.

    Args:
        x: Tensor of shape ``(*, n, m)``, or what makes one.
        p: The norm; default the quotient of the extreme singular values.

    Example:
        >>> np.linalg.cond([[4.0, 0.0], [0.0, 2.0]])
        2.0
    """
    return _torchs.cond(as_float(x), p)


@raise_numpy_errors
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The norm of vectors or matrices.

    Args:
        x: Tensor, or what makes one.
        ord: Which norm; default the root of the sum of squares.
        axis: A dimension for vectors, two for matrices; None, the default, means all elements,
            or with ``ord`` the one or two dimensions there are.
        keepdims: Keep the reduced dimensions with size 1.

    Example:
        >>> np.linalg.norm([3.0, 4.0])
        5.0
    """
    given = as_float(x)
    axes = None if axis is None else axes_of("norm", axis, given.ndim)
    return _torchs.norm(given, ord, axes, bool(keepdims))


@raise_numpy_errors
def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Tensor:
    """The norm of vectors, of all elements or along ``axis``.

    Args:
        x: Tensor, or what makes one.
        axis: Dimension or dimensions; None, the default, means all.
        keepdims: Keep the reduced dimensions with size 1.
        ord: Which norm; default 2.

    Example:
        >>> np.linalg.vector_norm(np.array([[3.0, 4.0], [6.0, 8.0]]), axis=1)
        array([ 5., 10.])
    """
    given = as_float(x)
    axes = None if axis is None else axes_of("vector_norm", axis, given.ndim)
    return _torchs.vector_norm(given, ord, axes, bool(keepdims))


@raise_numpy_errors
def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Tensor:
    """The norm of each matrix.

    Args:
        x: Tensor of shape ``(*, n, m)``, or what makes one.
        keepdims: Keep the reduced dimensions with size 1.
        ord: Which norm; default Frobenius'.

    Example:
        >>> np.linalg.matrix_norm(np.array([[3.0, 0.0], [0.0, 4.0]]))
        5.0
    """
    return _torchs.matrix_norm(as_float(x), ord, keepdim=bool(keepdims))
