"""NumPy's products in ``linalg``, some of which ``tinytorch.linalg`` shares."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import linalg as _torchs
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
    """Each matrix multiplied by itself ``n`` times.

    Args:
        a: Tensor of shape ``(*, n, n)``, or what makes one.
        n: How often; a negative number means the inverse.

    Example:
        >>> np.linalg.matrix_power([[1, 1], [0, 1]], 3)
        array([[1, 3],
               [0, 1]])
    """
    return _torchs.matrix_power(tensor_of(a) if n >= 0 else as_float(a), n)


@raise_numpy_errors
def multi_dot(arrays: Sequence[Any], *, out: Tensor | None = None) -> Tensor:
    """The product of several matrices, in the cheapest order.

    Args:
        arrays: Matrices; the first and the last may be vectors.
        out: Where to write the result.

    Example:
        >>> np.linalg.multi_dot([[[1, 2]], [[3], [4]], [[5]]])
        array([[55]])
    """
    return write_out(_torchs.multi_dot(promote_strong(*arrays)), out)  # type: ignore[no-any-return]


@raise_numpy_errors
def tensorinv(a: Any, ind: int = 2) -> Tensor:
    """The inverse of ``tensordot(a, ...)`` over the dimensions from ``ind`` on.

    Args:
        a: Tensor, or what makes one.
        ind: How many of its first dimensions go together.

    Example:
        >>> np.linalg.tensorinv(np.eye(4).reshape(4, 2, 2), ind=1).shape
        (2, 2, 4)
    """
    return _torchs.tensorinv(as_float(a), ind)


@raise_numpy_errors
def tensorsolve(a: Any, b: Any, axes: Any = None) -> Tensor:
    """``x`` such that ``tensordot(a, x, x.ndim)`` is ``b``.

    Args:
        a: Tensor, or what makes one.
        b: Tensor, or what makes one.
        axes: Dimensions of ``a`` that are moved to its end first.

    Example:
        >>> np.linalg.tensorsolve(2 * np.eye(4).reshape(4, 2, 2), np.ones(4))
        array([[0.5, 0.5],
               [0.5, 0.5]])
    """
    x, y = as_floats(a, b)
    return _torchs.tensorsolve(x, y, axes)


def diagonal(x: Any, /, *, offset: int = 0) -> Tensor:
    """The diagonal of each matrix.

    Args:
        x: Tensor of shape ``(*, n, m)``, or what makes one.
        offset: Which diagonal; default the main one, positive ones are above it.

    Example:
        >>> np.linalg.diagonal(np.array([[1, 2], [3, 4]]))
        array([1, 4])
    """
    return index_grids.diagonal(x, offset, -2, -1)


def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Tensor:
    """The cross products of vectors of three elements.

    Args:
        x1: Tensor, or what makes one.
        x2: Tensor, or what makes one.
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
    """The sum of the elements on the diagonal of each matrix.

    Args:
        x: Tensor of shape ``(*, rows, columns)``.
        offset: Which diagonal; default the main one, positive ones are above it.
        dtype: What to add in; default ``x``'s, 64 bits for integers.

    Example:
        >>> tt.linalg.trace(tt.eye(2).expand(3, 2, 2))
        tensor([2., 2., 2.])
    """
    return products.trace(array_of(x), offset, -2, -1, dtype)


@register_shared(namespaces=("linalg",), prepare=promote_first(2))
def outer(x1: Any, x2: Any, /) -> Tensor:
    """Every product of an element of one vector and one of another.

    Args:
        x1: Tensor of shape ``(n,)``.
        x2: Tensor of shape ``(m,)``.

    Returns:
        Tensor of shape ``(n, m)``.

    Raises:
        ValueError: For other numbers of dimensions.

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
        x1: Tensor, or what makes one.
        x2: Tensor, or what makes one.
        axes: How many: the last ones of ``x1`` and the first of ``x2``; or which of both.

    Example:
        >>> tt.linalg.tensordot(tt.ones(2, 3), tt.ones(2, 3))
        tensor(6.)
    """
    a, b = unify_dtypes(x1, x2)
    return products.tensordot(a, b, axes)
