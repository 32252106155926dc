"""Products of ``numpy.linalg``, of which ``tinytorch.linalg`` shares some."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import linalg as _linalg
from ...core.tensor import Tensor
from . import index_grids, products
from .conversion import (
    array_of,
    arrays_of,
    as_float,
    as_floats,
    promote_strong,
    tensor_of,
    unify_dtypes,
    write_out,
)
from .registration import promote_first, raise_numpy_errors, register_shared


@raise_numpy_errors
def matrix_power(a: Any, n: int) -> Tensor:
    """Power of each matrix.

    Args:
        a: Tensor of shape ``(*, n, n)`` or array-like.
        n: The exponent; a negative one is a power of the inverse.

    Example:
        >>> np.linalg.matrix_power([[1, 1], [0, 1]], 3)
        array([[1, 3],
               [0, 1]])
    """
    return _linalg.matrix_power(tensor_of(a) if n >= 0 else as_float(a), n)


@raise_numpy_errors
def multi_dot(arrays: Sequence[Any], *, out: Tensor | None = None) -> Tensor:
    """Product of several matrices, computed in the cheapest order.

    Args:
        arrays: Matrices; the first and the last may be vectors.
        out: Tensor for the result.

    Example:
        >>> np.linalg.multi_dot([[[1, 2]], [[3], [4]], [[5]]])
        array([[55]])
    """
    return write_out(_linalg.multi_dot(promote_strong(*arrays)), out)  # type: ignore[no-any-return]


@raise_numpy_errors
def tensorinv(a: Any, ind: int = 2) -> Tensor:
    """Inverse of ``a`` as a linear map of tensors: ``tensordot(tensorinv(a), a, ind)`` is identity.

    Args:
        a: Tensor or array-like.
        ind: Number of the first dimensions of ``a`` that belong to the result of the map.

    Example:
        >>> np.linalg.tensorinv(np.eye(4).reshape(4, 2, 2), ind=1).shape
        (2, 2, 4)
    """
    return _linalg.tensorinv(as_float(a), ind)


@raise_numpy_errors
def tensorsolve(a: Any, b: Any, axes: Any = None) -> Tensor:
    """Solution ``x`` of ``tensordot(a, x, x.ndim) = b``.

    Args:
        a, b: Tensor or array-like.
        axes: Dimensions of ``a`` that are moved to its end first; default none.

    Example:
        >>> np.linalg.tensorsolve(2 * np.eye(4).reshape(4, 2, 2), np.ones(4))
        array([[0.5, 0.5],
               [0.5, 0.5]])
    """
    x, y = as_floats(a, b)
    return _linalg.tensorsolve(x, y, axes)


def diagonal(x: Any, /, *, offset: int = 0) -> Tensor:
    """Diagonal of each matrix.

    Args:
        x: Tensor of shape ``(*, n, m)`` or array-like.
        offset: Index of the diagonal; default 0, the main diagonal; positive ones are above it.

    Example:
        >>> np.linalg.diagonal(np.array([[1, 2], [3, 4]]))
        array([1, 4])
    """
    return index_grids.diagonal(x, offset, -2, -1)


def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Tensor:
    """Cross products of vectors of three elements.

    Args:
        x1, x2: Tensor or array-like.
        axis: The dimension of the vectors; default the last.

    Example:
        >>> np.linalg.cross(np.array([1, 0, 0]), np.array([0, 1, 0]))
        array([0, 0, 1])
    """
    return products.cross(x1, x2, axis=axis)


def matmul(x1: Any, x2: Any, /) -> Tensor:
    """Products of matrices and vectors; see ``tinytorch.numpy.matmul``.

    Example:
        >>> np.linalg.matmul(np.array([[1, 2], [3, 4]]), np.array([1, 1]))
        array([3, 7])
    """
    return products.matmul(x1, x2)


@register_shared(namespaces=("linalg",))
def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Tensor:
    """Sum of the elements on the diagonal of each matrix.

    Args:
        x: Tensor of shape ``(*, rows, columns)``.
        offset: Index of the diagonal; default 0, the main diagonal; positive ones are above it.
        dtype: Dtype of the sum; default ``x``'s, 64 bits for integers.

    Example:
        >>> tt.linalg.trace(tt.eye(2).expand(3, 2, 2))
        tensor([2., 2., 2.])
    """
    return products.trace(array_of(x), offset, -2, -1, dtype)


@register_shared(namespaces=("linalg",), prepare=promote_first(2))
def outer(x1: Any, x2: Any, /) -> Tensor:
    """Outer product of two vectors.

    Args:
        x1: Tensor of shape ``(n,)``.
        x2: Tensor of shape ``(m,)``.

    Returns:
        Tensor of shape ``(n, m)``.

    Raises:
        ValueError: If an argument is not a vector.

    Example:
        >>> tt.linalg.outer(tt.tensor([1, 2]), tt.tensor([3, 4]))
        tensor([[3, 4],
                [6, 8]])
    """
    a, b = arrays_of(x1, x2)
    if a.ndim != 1 or b.ndim != 1:
        raise ValueError(
            f"outer(): Input arrays must be one-dimensional, got {a.ndim} and {b.ndim} dimensions"
        )
    return products.outer(a, b)


@register_shared(namespaces=("linalg",), prepare=promote_first(2))
def tensordot(x1: Any, x2: Any, /, *, axes: Any = 2) -> Tensor:
    """Sums of products over several dimensions of both; see ``tinytorch.tensordot``.

    Args:
        x1, x2: Tensor or array-like.
        axes: Number of dimensions to sum over, the last of ``x1`` and the first of ``x2``; or a
            pair of the dimensions of each.

    Example:
        >>> tt.linalg.tensordot(tt.ones(2, 3), tt.ones(2, 3))
        tensor(6.)
    """
    a, b = unify_dtypes(x1, x2)
    return products.tensordot(a, b, axes)
