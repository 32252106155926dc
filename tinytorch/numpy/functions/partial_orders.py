"""Orders by NumPy's names: partitions, and by several keys."""

from __future__ import annotations

from typing import Any

from ...core.tensor import Tensor
from ...ops.shape.sizes import normalize_dim
from ...ops.sort.sorting import argsort, sort
from .conversion import array_of, arrays_of, flat_if_none
from .registration import shared


@shared
def partition(a: Any, kth: Any, axis: int | None = -1) -> Tensor:
    """A copy with the ``kth`` element in its place when sorted, smaller ones before it.

    Args:
        a: Tensor of at least one dimension.
        kth: The place or places; all elements are in theirs, for the tensor is sorted.
        axis: The dimension, default the last; None means that of the flattened tensor.

    Raises:
        IndexError: If there is no such place.

    Example:
        >>> import tinytorch as tt
        >>> tt.partition(tt.tensor([3, 1, 2]), 1)
        tensor([1, 2, 3])
    """
    x, at = flat_if_none("partition", array_of(a), axis)
    _check("partition", kth, x, at)
    return sort(x, at)[0]


@shared
def argpartition(a: Any, kth: Any, axis: int | None = -1) -> Tensor:
    """Indices that put the ``kth`` element in its place when sorted, smaller ones before it.

    Args:
        a: Tensor of at least one dimension.
        kth: The place or places; all are right, for the indices sort the tensor.
        axis: The dimension, default the last; None means that of the flattened tensor.

    Raises:
        IndexError: If there is no such place.

    Example:
        >>> import tinytorch as tt
        >>> tt.argpartition(tt.tensor([3, 1, 2]), 1)
        tensor([1, 2, 0])
    """
    x, at = flat_if_none("argpartition", array_of(a), axis)
    _check("argpartition", kth, x, at)
    return argsort(x, at)


def _check(name: str, kth: Any, x: Tensor, axis: int) -> None:
    if not x.numel():
        return
    for place in kth if isinstance(kth, (tuple, list)) else (kth,):
        size = x.shape[axis]
        if not -size <= place < size:
            raise IndexError(f"{name}(): kth={place} is out of bounds for a dimension of {size}")


@shared
def lexsort(keys: Any, axis: int = -1) -> Tensor:
    """Indices that sort by several keys, the last one first.

    Args:
        keys: Tensors of one shape; equal elements of the last are in the order of the one
            before, and so on.
        axis: The dimension; default the last.

    Returns:
        int64 tensor of a key's shape.

    Example:
        >>> import tinytorch as tt
        >>> tt.lexsort((tt.tensor([9, 1, 5]), tt.tensor([1, 0, 1])))
        tensor([1, 2, 0])
    """
    given = arrays_of(*keys)
    at = normalize_dim("lexsort", axis, given[0].ndim)
    order: Any = argsort(given[0], at, stable=True)
    for key in given[1:]:
        order = order.gather(at, argsort(key.gather(at, order), at, stable=True))
    return order  # type: ignore[no-any-return]
