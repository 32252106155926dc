"""``numpy.linalg``: PyTorch's linear algebra with NumPy's names, arguments and results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, overload

from ... import dtypes, return_types
from ... import linalg as _linalg
from ...core.tensor import Tensor
from . import linalg_products, products, shapes
from .conversion import as_float, as_floats, axes_of, host
from .linalg_products import (
    cross, diagonal, matmul, matrix_power, multi_dot, tensorinv, tensorsolve,
)  # fmt: skip
from .registration import as_numpy_function, describe, raise_numpy_errors

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

#: NumPy's class, from which ``tinytorch.linalg.LinAlgError`` derives, too.
LinAlgError: type[Exception] = host().linalg.LinAlgError


def _make_unary(name: str, summary: str, *example: str) -> Callable[..., Any]:
    """Make ``inv``, ``det`` or ``slogdet``, which calls PyTorch's function of the same name.

    Args:
        name: Name of the function.
        summary: First line of its docstring.
        *example: Lines of the docstring's example.
    """

    def function(a: Any) -> Any:
        return getattr(_linalg, name)(as_float(a))

    return raise_numpy_errors(
        describe(
            function,
            name,
            f"""{summary}

    Args:
        a: Tensor of shape ``(*, n, n)`` or array-like.

    Raises:
        LinAlgError: For a matrix that does not have one.
    """,
            *example,
        )
    )


inv: Callable[[Any], Tensor] = _make_unary(
    "inv", "Inverse of each matrix.",
    ">>> np.linalg.inv([[1.0, 2.0], [3.0, 4.0]]).round(decimals=4)",
    "array([[-2. ,  1. ],",
    "       [ 1.5, -0.5]])",
)  # fmt: skip
det: Callable[[Any], Tensor] = _make_unary(
    "det", "Determinant of each matrix.",
    ">>> np.linalg.det([[2.0, 0.0], [0.0, 3.0]])", "6.0",
)  # fmt: skip
slogdet: Callable[[Any], return_types.linalg_slogdet] = _make_unary(
    "slogdet", "Sign and logarithm of the absolute value of each determinant, as a named tuple.",
    ">>> np.linalg.slogdet([[1.0, 0.0], [0.0, -1.0]])[0]", "-1.0",
)  # fmt: skip


@raise_numpy_errors
def svdvals(x: Any, /) -> Tensor:
    """Singular values of each matrix, in descending order.

    Args:
        x: Tensor of shape ``(*, n, m)`` or array-like.

    Example:
        >>> np.linalg.svdvals([[3.0, 0.0], [0.0, 4.0]])
        array([4., 3.])
    """
    return _linalg.svdvals(as_float(x))


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
    """Singular value decomposition ``U diag(S) Vh`` of each matrix.

    Args:
        a: Tensor of shape ``(*, n, m)`` or array-like.
        full_matrices: Whether ``U`` and ``Vh`` are square; default True.
        compute_uv: Whether to compute ``U`` and ``Vh``; default True.
        hermitian: Whether the matrices are Hermitian; then only their lower triangles are read.

    Returns:
        A named tuple ``(U, S, Vh)``; without ``compute_uv`` the singular values.

    Example:
        >>> u, s, vh = np.linalg.svd([[3.0, 0.0], [0.0, 4.0]])
        >>> s
        array([4., 3.])
    """
    x = as_float(a)
    if not hermitian:
        return _linalg.svd(x, bool(full_matrices)) if compute_uv else _linalg.svdvals(x)
    eigenvalues, vectors = _linalg.eigh(x)
    singular, order = eigenvalues.abs().sort(-1, descending=True)
    if not compute_uv:
        return singular
    left = vectors.take_along_dim(order.unsqueeze(-2), -1)
    signs = eigenvalues.sign().gather(-1, order)
    right = (left * signs.unsqueeze(-2)).mT.conj()
    return return_types.linalg_svd(left, singular, right)


@overload
def qr(a: Any, mode: Literal["reduced", "complete"] = "reduced") -> return_types.linalg_qr: ...
@overload
def qr(a: Any, mode: Literal["r"]) -> Tensor: ...
@raise_numpy_errors
def qr(a: Any, mode: str = "reduced") -> Any:
    """QR decomposition of each matrix: orthonormal columns times an upper triangular matrix.

    Args:
        a: Tensor of shape ``(*, n, m)`` or array-like.
        mode: ``"reduced"`` (default), ``"complete"``, or ``"r"`` for ``R`` only.

    Returns:
        A named tuple ``(Q, R)``, or ``R``.

    Example:
        >>> q, r = np.linalg.qr([[1.0, 2.0], [3.0, 4.0]])
        >>> np.allclose(q @ r, [[1.0, 2.0], [3.0, 4.0]])
        True
    """
    if mode not in ("reduced", "complete", "r"):
        raise ValueError(f"qr(): mode must be 'reduced', 'complete' or 'r', got {mode!r}")
    found = _linalg.qr(as_float(a), mode)
    return found[1] if mode == "r" else found


@raise_numpy_errors
def cholesky(a: Any, /, *, upper: bool = False) -> Tensor:
    """Cholesky factor of each matrix: lower triangular ``L`` with ``L @ L.mT.conj() == a``.

    Args:
        a: Positive-definite tensor of shape ``(*, n, n)`` or array-like.
        upper: Whether to return the upper triangular ``L.mT.conj()`` instead.

    Raises:
        LinAlgError: If a matrix is not positive-definite.

    Example:
        >>> np.linalg.cholesky([[4.0, 2.0], [2.0, 5.0]])
        array([[2., 0.],
               [1., 2.]])
    """
    return _linalg.cholesky(as_float(a), upper)


def _is_always_complex() -> bool:
    """Whether the installed NumPy returns complex eigenvalues even if all are real, as of 2.5."""
    return bool(host().lib.NumpyVersion(host().__version__) >= "2.5.0")


def _drop_imaginary(matrix: Any, found: tuple[Any, ...]) -> tuple[Any, ...]:
    """Replace eigenvalues and eigenvectors by their real parts if NumPy does so.

    NumPy before 2.5 does so for a real matrix if no eigenvalue has an imaginary part.

    Args:
        matrix: The argument of ``eig`` or ``eigvals``.
        found: The eigenvalues, and of ``eig`` the eigenvectors.

    Returns:
        A tuple of the same length.
    """
    if matrix.is_complex() or _is_always_complex() or bool(found[0].detach().imag.any()):
        return found
    return tuple(part.real for part in found)


@raise_numpy_errors
def eig(a: Any) -> return_types.linalg_eig:
    """Eigenvalues and right eigenvectors of each matrix.

    Both are complex. With NumPy before 2.5 they are real if ``a`` and all its eigenvalues are.

    Args:
        a: Tensor of shape ``(*, n, n)`` or array-like.

    Returns:
        A named tuple ``(eigenvalues, eigenvectors)``; the eigenvectors are columns.

    Example:
        >>> values, vectors = np.linalg.eig([[2.0, 1.0], [1.0, 2.0]])
        >>> np.allclose(np.sort(np.real(values)), [1.0, 3.0])
        True
    """
    x = as_float(a)
    found = _linalg.eig(x)
    return type(found)(*_drop_imaginary(x, found))


@raise_numpy_errors
def eigvals(a: Any) -> Tensor:
    """Eigenvalues of each matrix.

    They are complex. With NumPy before 2.5 they are real if ``a`` and all its eigenvalues are.

    Args:
        a: Tensor of shape ``(*, n, n)`` or array-like.

    Example:
        >>> np.sort(np.real(np.linalg.eigvals([[2.0, 0.0], [0.0, 3.0]])))
        array([2., 3.])
    """
    x = as_float(a)
    return _drop_imaginary(x, (_linalg.eigvals(x),))[0]  # type: ignore[no-any-return]


@raise_numpy_errors
def eigh(a: Any, UPLO: str = "L") -> return_types.linalg_eigh:
    """Eigenvalues, in ascending order, and eigenvectors of each Hermitian matrix.

    Args:
        a: Tensor of shape ``(*, n, n)`` or array-like.
        UPLO: The triangle that is read: ``"L"``, the lower (default), or ``"U"``, the upper.

    Returns:
        A named tuple ``(eigenvalues, eigenvectors)``; the eigenvectors are columns.

    Example:
        >>> values, vectors = np.linalg.eigh([[2.0, 1.0], [1.0, 2.0]])
        >>> values.round(decimals=4)
        array([1., 3.])
    """
    return _linalg.eigh(as_float(a), UPLO)


@raise_numpy_errors
def eigvalsh(a: Any, UPLO: str = "L") -> Tensor:
    """Eigenvalues of each Hermitian matrix, in ascending order.

    Args:
        a: Tensor of shape ``(*, n, n)`` or array-like.
        UPLO: The triangle that is read: ``"L"``, the lower (default), or ``"U"``, the upper.

    Example:
        >>> np.linalg.eigvalsh([[2.0, 1.0], [1.0, 2.0]]).round(decimals=4)
        array([1., 3.])
    """
    return _linalg.eigvalsh(as_float(a), UPLO)


@raise_numpy_errors
def solve(a: Any, b: Any) -> Tensor:
    """Solution ``x`` of ``a @ x = b``.

    Args:
        a: Tensor of shape ``(*, n, n)`` or array-like.
        b: Tensor of shape ``(n,)`` or ``(*, n, k)``.

    Raises:
        LinAlgError: If a matrix is singular.

    Example:
        >>> np.linalg.solve([[2.0, 0.0], [0.0, 4.0]], [6.0, 8.0])
        array([3., 2.])
    """
    x, y = as_floats(a, b)
    if y.ndim == 1:
        return _linalg.solve(x, y.unsqueeze(-1)).squeeze(-1)
    # With one dimension fewer than `a`, PyTorch takes `b` for vectors, NumPy for matrices.
    missing = x.ndim - y.ndim
    return _linalg.solve(x, y.reshape((1,) * missing + tuple(y.shape)))


@raise_numpy_errors
def lstsq(a: Any, b: Any, rcond: float | None = None) -> tuple[Tensor, Tensor, int, Tensor]:
    """Least-squares solution ``x`` of ``a @ x = b``; of several, that of the smallest norm.

    Args:
        a: Tensor of shape ``(n, m)`` or array-like.
        b: Tensor of shape ``(n,)`` or ``(n, k)``.
        rcond: Singular values below ``rcond`` times the largest count as 0; default
            ``max(n, m)`` times the dtype's precision.

    Returns:
        A tuple of ``x``; the sum of squared residuals for each column of ``b``, empty if the
        rank is below ``m`` or ``n <= m``; the rank; and the singular values of ``a``.

    Example:
        >>> x, residuals, rank, s = np.linalg.lstsq([[1.0], [1.0]], [2.0, 4.0])
        >>> x.round(decimals=4), rank
        (array([3.]), 1)
    """
    x, y = as_floats(a, b)
    s = _linalg.svdvals(x)
    rtol = max(x.shape) * dtypes.finfo(s.dtype).eps if rcond is None else rcond
    # The gradient of `pinv` is right even if singular values are equal, unlike that of `svd`.
    solution = _linalg.pinv(x, rtol=rtol) @ y
    rank = int((s > rtol * s.max()).sum()) if s.numel() else 0
    residuals = ((y - x @ solution).abs() ** 2).sum(0, keepdim=y.ndim == 1)
    return solution, residuals if rank == x.shape[1] < x.shape[0] else residuals[:0], rank, s


@raise_numpy_errors
def pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Tensor:
    """Moore-Penrose pseudo-inverse of each matrix.

    Args:
        a: Tensor of shape ``(*, n, m)`` or array-like.
        rcond: Singular values below ``rcond`` times the largest count as 0; default 1e-15.
        hermitian: Whether the matrices are Hermitian.
        rtol: Another name of ``rcond``.

    Example:
        >>> np.linalg.pinv([[2.0, 0.0], [0.0, 0.0]])
        array([[0.5, 0. ],
               [0. , 0. ]])
    """
    cutoff = next((v for v in (rcond, rtol) if v is not None), 1e-15)
    return _linalg.pinv(as_float(a), hermitian=bool(hermitian), rtol=cutoff)


@raise_numpy_errors
def matrix_rank(A: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Tensor:
    """Rank of each matrix: the number of its singular values that are not 0.

    Args:
        A: Tensor of shape ``(*, n, m)`` or array-like; the rank of a vector other than 0 is 1.
        tol: Singular values below ``tol`` count as 0; default by ``rtol``.
        hermitian: Whether the matrices are Hermitian.
        rtol: The same relative to the largest singular value; default ``max(n, m)`` times the
            dtype's precision.

    Example:
        >>> np.linalg.matrix_rank([[1.0, 2.0], [2.0, 4.0]])
        1
    """
    x = as_float(A)
    if x.ndim < 2:
        return (x != 0).any().long()  # type: ignore[no-any-return]
    if tol is not None:
        return _linalg.matrix_rank(x, tol, bool(hermitian))
    return _linalg.matrix_rank(x, hermitian=bool(hermitian), rtol=rtol)


@raise_numpy_errors
def cond(x: Any, p: Any = None) -> Tensor:
    """Condition number of each matrix.

    Args:
        x: Tensor of shape ``(*, n, m)`` or array-like.
        p: The order of the norm, see ``norm``; default 2: the largest singular value divided by
            the smallest.

    Example:
        >>> np.linalg.cond([[4.0, 0.0], [0.0, 2.0]])
        2.0
    """
    return _linalg.cond(as_float(x), p)


@raise_numpy_errors
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Norm of vectors or matrices.

    Args:
        x: Tensor or array-like.
        ord: Order of the norm; default the root of the sum of squares.
        axis: A dimension for vectors, two for matrices. None, the default, means all elements;
            with ``ord``, ``x`` must then have one or two dimensions.
        keepdims: Whether the reduced dimensions stay, with size 1.

    Example:
        >>> np.linalg.norm([3.0, 4.0])
        5.0
    """
    given = as_float(x)
    axes = None if axis is None else axes_of("norm", axis, given.ndim)
    return _linalg.norm(given, ord, axes, bool(keepdims))


@raise_numpy_errors
def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Tensor:
    """Norm of vectors, of all elements or along ``axis``.

    Args:
        x: Tensor or array-like.
        axis: Dimension or dimensions; None, the default, means all.
        keepdims: Whether the reduced dimensions stay, with size 1.
        ord: Order of the norm; default 2.

    Example:
        >>> np.linalg.vector_norm(np.array([[3.0, 4.0], [6.0, 8.0]]), axis=1)
        array([ 5., 10.])
    """
    given = as_float(x)
    axes = None if axis is None else axes_of("vector_norm", axis, given.ndim)
    return _linalg.vector_norm(given, ord, axes, bool(keepdims))


@raise_numpy_errors
def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Tensor:
    """Norm of each matrix.

    Args:
        x: Tensor of shape ``(*, n, m)`` or array-like.
        keepdims: Whether the reduced dimensions stay, with size 1.
        ord: Order of the norm; default ``"fro"``, the Frobenius norm.

    Example:
        >>> np.linalg.matrix_norm(np.array([[3.0, 0.0], [0.0, 4.0]]))
        5.0
    """
    return _linalg.matrix_norm(as_float(x), ord, keepdim=bool(keepdims))
