"""Dimensions added, moved, taken apart; products of vectors: by NumPy's names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.tensor import Tensor
from ...ops.shape.broadcasting import broadcast_tensors
from ...ops.shape.rearranging import repeat_interleave
from ...ops.shape.sizes import permute
from ...ops.shape.splitting import unbind
from .conversion import array_of, arrays_of, axes_of, flat_if_none
from .registration import shared


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


# -- products of vectors and matrices ------------------------------------------------------------
