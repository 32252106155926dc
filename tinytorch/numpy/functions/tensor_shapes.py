"""Dimensions added, moved, taken apart; products of vectors: by NumPy's names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.tensor import Tensor
from ...ops.shape.broadcasting import broadcast_tensors
from ...ops.shape.rearranging import repeat_interleave
from ...ops.shape.sizes import permute
from ...ops.shape.splitting import unbind
from . import products
from .conversion import alike, array_of, arrays_of, axes_of, flat_if_none
from .registration import joining, shared


@shared
def expand_dims(a: Any, axis: int | Sequence[int]) -> Tensor:
    """``a`` with a dimension of size 1 at each place of ``axis`` in the result.

    Args:
        a: Tensor of any shape.
        axis: Place or places.

    Returns:
        A view.

    Raises:
        IndexError: If there is no such place.

    Example:
        >>> import tinytorch as tt
        >>> tt.expand_dims(tt.ones(2), (0, 2)).shape
        tinytorch.Size([1, 2, 1])
    """
    x: Any = array_of(a)
    given = axis if isinstance(axis, (tuple, list)) else (axis,)
    for d in sorted(axes_of("expand_dims", given, x.ndim + len(given))):
        x = x.unsqueeze(d)
    return x  # type: ignore[no-any-return]


@shared
def permute_dims(a: Any, axes: Sequence[int] | None = None) -> Tensor:
    """``a`` with its dimensions in another order; see ``permute``.

    Args:
        a: Tensor of any shape.
        axes: The order; default reversed.

    Returns:
        A view.

    Example:
        >>> import tinytorch as tt
        >>> tt.permute_dims(tt.ones(2, 3, 4), (2, 0, 1)).shape
        tinytorch.Size([4, 2, 3])
    """
    x = array_of(a)
    return permute(x, tuple(range(x.ndim))[::-1] if axes is None else tuple(axes))


@shared(also=("linalg.matrix_transpose",))
def matrix_transpose(x: Any, /) -> Tensor:
    """The transpose of each matrix.

    Args:
        x: Tensor of shape ``(*, rows, columns)``.

    Returns:
        A view.

    Raises:
        ValueError: For fewer than two dimensions.

    Example:
        >>> import tinytorch as tt
        >>> tt.matrix_transpose(tt.ones(2, 3, 4)).shape
        tinytorch.Size([2, 4, 3])
    """
    tensor: Any = array_of(x)
    if tensor.ndim < 2:
        raise ValueError(f"matrix_transpose(): expected at least two dimensions, got {tensor.ndim}")
    return tensor.transpose(-2, -1)  # type: ignore[no-any-return]


@shared
def rollaxis(a: Any, axis: int, start: int = 0) -> Tensor:
    """``a`` with a dimension moved before another one.

    Args:
        a: Tensor of any shape.
        axis: Which dimension.
        start: Before which it goes; default first.

    Returns:
        A view.

    Raises:
        IndexError: If there is no such dimension.

    Example:
        >>> import tinytorch as tt
        >>> tt.rollaxis(tt.ones(3, 4, 5), 2).shape
        tinytorch.Size([5, 3, 4])
    """
    x: Any = array_of(a)
    (at,) = axes_of("rollaxis", axis, x.ndim)
    if not -x.ndim <= start <= x.ndim:
        raise IndexError(f"rollaxis(): start must be from {-x.ndim} to {x.ndim}, got {start}")
    before = start + x.ndim if start < 0 else start
    return x.movedim(at, before - (at < before))  # type: ignore[no-any-return]


@shared
def broadcast_arrays(*args: Any) -> tuple[Tensor, ...]:
    """Tensors stretched to the shape they broadcast to.

    Args:
        *args: Tensors, or what makes them.

    Returns:
        Views.

    Raises:
        RuntimeError: If they do not broadcast.

    Example:
        >>> import tinytorch as tt
        >>> tt.broadcast_arrays(tt.ones(2), tt.zeros(1))[1]
        tensor([0., 0.])
    """
    return tuple(broadcast_tensors(*arrays_of(*args)))


@shared
def unstack(x: Any, /, *, axis: int = 0) -> tuple[Tensor, ...]:
    """The slices of a tensor along a dimension; see ``unbind``.

    Args:
        x: Tensor of at least one dimension.
        axis: The dimension; default the first.

    Returns:
        Views.

    Example:
        >>> import tinytorch as tt
        >>> tt.unstack(tt.tensor([[1, 2], [3, 4]]), axis=1)
        (tensor([1, 3]), tensor([2, 4]))
    """
    return unbind(array_of(x), axis)  # type: ignore[return-value]


@shared
def repeat(a: Any, repeats: Any, axis: int | None = None) -> Tensor:
    """Each element several times; the method ``Tensor.repeat`` is ``tile``.

    Args:
        a: Tensor of any shape.
        repeats: How often: an int, or one for each slice along ``axis``.
        axis: The dimension; None, the default, means that of the flattened tensor.

    Returns:
        A copy.

    Raises:
        RuntimeError: If the numbers are negative, or as many as there are no slices.

    Example:
        >>> import tinytorch as tt
        >>> tt.repeat([1, 2], 2)
        tensor([1, 1, 2, 2])
    """
    source: Any = array_of(a)
    x, at = flat_if_none("repeat", source if source.ndim else source.reshape(1), axis)
    counts: Any = repeats if isinstance(repeats, int) else array_of(repeats, x._xp)
    if isinstance(counts, Tensor) and (counts.dtype.category < 2 or not counts.numel()):
        counts = counts.long()  # an empty list is one of floats
    return repeat_interleave(x, counts, at)


@shared(namespaces=("linalg",))
def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Tensor:
    """The sum of the elements on the diagonal of each matrix.

    Args:
        x: Tensor of shape ``(*, rows, columns)``.
        offset: Which diagonal; default the main one, positive ones are above it.
        dtype: What to add in; default ``x``'s, 64 bits for integers.

    Example:
        >>> import tinytorch as tt
        >>> tt.linalg.trace(tt.eye(2).expand(3, 2, 2))
        tensor([2., 2., 2.])
    """
    return products.trace(array_of(x), offset, -2, -1, dtype)


@shared(namespaces=("linalg",), prepare=joining(2))
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
        >>> import tinytorch as tt
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


@shared(namespaces=("linalg",), prepare=joining(2))
def tensordot(x1: Any, x2: Any, /, *, axes: Any = 2) -> Tensor:
    """Sums of products over several dimensions of both; see ``tinytorch.tensordot``.

    Args:
        x1: Tensor, or what makes one.
        x2: Tensor, or what makes one.
        axes: How many: the last ones of ``x1`` and the first of ``x2``; or which of both.

    Example:
        >>> import tinytorch as tt
        >>> tt.linalg.tensordot(tt.ones(2, 3), tt.ones(2, 3))
        tensor(6.)
    """
    return products.tensordot(*alike(x1, x2), axes)


# -- products of vectors and matrices ------------------------------------------------------------


@shared(prepare=joining(2))
def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Tensor:
    """Sums of products along a dimension; of complex numbers, of the first one's conjugates.

    Args:
        x1: Tensor of at least one dimension.
        x2: Tensor that broadcasts with it.
        axis: The dimension; default the last.

    Example:
        >>> import tinytorch as tt
        >>> tt.vecdot(tt.tensor([[1, 2], [3, 4]]), tt.tensor([1, 1]))
        tensor([3, 7])
    """
    a, b = alike(x1, x2)
    if a.shape[axis] != b.shape[axis]:
        raise ValueError(
            f"vecdot(): dimension {axis} of the operands differs: {a.shape[axis]} and "
            f"{b.shape[axis]}"
        )
    return (a.conj_physical() * b).sum(axis).to(a.dtype)  # type: ignore[no-any-return]


@shared(prepare=joining(2))
def matvec(x1: Any, x2: Any, /) -> Tensor:
    """Products of matrices and vectors.

    Args:
        x1: Tensor of shape ``(*, n, k)``.
        x2: Tensor of shape ``(*, k)``.

    Returns:
        Tensor of shape ``(*, n)``.

    Raises:
        RuntimeError: If the inner sizes differ.

    Example:
        >>> import tinytorch as tt
        >>> tt.matvec(tt.tensor([[1, 2], [3, 4]]), tt.tensor([1, 1]))
        tensor([3, 7])
    """
    a, b = alike(x1, x2)
    return (a @ b.unsqueeze(-1)).squeeze(-1)  # type: ignore[no-any-return]


@shared(prepare=joining(2))
def vecmat(x1: Any, x2: Any, /) -> Tensor:
    """Products of vectors, conjugated if complex, and matrices.

    Args:
        x1: Tensor of shape ``(*, n)``.
        x2: Tensor of shape ``(*, n, k)``.

    Returns:
        Tensor of shape ``(*, k)``.

    Raises:
        RuntimeError: If the inner sizes differ.

    Example:
        >>> import tinytorch as tt
        >>> tt.vecmat(tt.tensor([1, 1]), tt.tensor([[1, 2], [3, 4]]))
        tensor([4, 6])
    """
    a, b = alike(x1, x2)
    return (a.conj_physical().unsqueeze(-2) @ b).squeeze(-2)  # type: ignore[no-any-return]
