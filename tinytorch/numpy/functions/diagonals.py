"""NumPy's triangles and diagonals of matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.tensor import Tensor
from ...ops.shape import diagonal as diagonal_ops
from .conversion import axes_of, tensor_of
from .registration import filed, numpy_function


def _triangle(name: str, keep: Any, summary: str, *example: str) -> Callable[..., Tensor]:
    def function(m: Any, k: int = 0) -> Tensor:
        x = tensor_of(m)
        x = x.expand(x.shape[0], x.shape[0]) if x.ndim == 1 else x
        return keep(x, k)  # type: ignore[no-any-return]

    return filed(
        function,
        name,
        f"""{summary}

    Args:
        m: Tensor, or what makes one.
        k: Which diagonal the triangle ends at; default the main one.
    """,
        *example,
    )


tril: Callable[..., Tensor] = _triangle(
    "tril", diagonal_ops.tril, "The lower triangle of matrices, zeros above it.",
    ">>> np.tril([[1, 2], [3, 4]])", "array([[1, 0],", "       [3, 4]])",
)  # fmt: skip
triu: Callable[..., Tensor] = _triangle(
    "triu", diagonal_ops.triu, "The upper triangle of matrices, zeros below it.",
    ">>> np.triu([[1, 2], [3, 4]])", "array([[1, 2],", "       [0, 4]])",
)  # fmt: skip


def _triangle_places(
    name: str, places: Any, summary: str, *example: str
) -> Callable[..., tuple[Tensor, Tensor]]:
    def function(n: int, k: int = 0, m: int | None = None) -> tuple[Tensor, Tensor]:
        return tuple(places(n, n if m is None else m, k))

    return filed(
        function,
        name,
        f"""{summary}

    Args:
        n: Rows.
        k: Which diagonal the triangle ends at; default the main one.
        m: Columns; default ``n``.
    """,
        *example,
    )


tril_indices: Callable[..., tuple[Tensor, Tensor]] = _triangle_places(
    "tril_indices", diagonal_ops.tril_indices, "Where the lower triangle of a matrix lies.",
    ">>> np.tril_indices(2)", "(array([0, 1, 1]), array([0, 0, 1]))",
)  # fmt: skip
triu_indices: Callable[..., tuple[Tensor, Tensor]] = _triangle_places(
    "triu_indices", diagonal_ops.triu_indices, "Where the upper triangle of a matrix lies.",
    ">>> np.triu_indices(2)", "(array([0, 0, 1]), array([0, 1, 1]))",
)  # fmt: skip


@numpy_function
def diag(v: Any, k: int = 0) -> Tensor:
    """A diagonal of a matrix, or the matrix with a vector on its diagonal.

    Args:
        v: Tensor of one or two dimensions.
        k: Which diagonal; default the main one, positive ones are above it.

    Example:
        >>> import tinytorch.numpy as np
        >>> np.diag([1, 2])
        array([[1, 0],
               [0, 2]])
    """
    return diagonal_ops.diag(tensor_of(v), k)  # type: ignore[no-any-return]


@numpy_function
def diagflat(v: Any, k: int = 0) -> Tensor:
    """The matrix with all elements of ``v`` on a diagonal.

    Args:
        v: Tensor, or what makes one.
        k: Which diagonal; default the main one, positive ones are above it.

    Example:
        >>> import tinytorch.numpy as np
        >>> np.diagflat([1, 2], k=1)
        array([[0, 1, 0],
               [0, 0, 2],
               [0, 0, 0]])
    """
    return diagonal_ops.diagflat(tensor_of(v), k)  # type: ignore[no-any-return]


@numpy_function
def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
    """The diagonals of two dimensions, as the last one.

    Args:
        a: Tensor of at least two dimensions.
        offset: Which diagonal; default the main one, positive ones are above it.
        axis1: The dimension of the rows.
        axis2: That of the columns.

    Example:
        >>> import tinytorch.numpy as np
        >>> np.diagonal([[1, 2], [3, 4]])
        array([1, 4])
    """
    x = tensor_of(a)
    first, second = axes_of("diagonal", (axis1, axis2), x.ndim)
    return diagonal_ops.diagonal(x, offset, first, second)  # type: ignore[no-any-return]
