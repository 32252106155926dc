"""Indices: of grids, diagonals and triangles, and from several dimensions into one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ... import dtypes
from ...core.tensor import Tensor
from ...ops.create.ranges import arange
from ...ops.pointwise.selection import where
from ...ops.shape.diagonal import tril_indices, triu_indices
from ...ops.shape.joining import stack
from .conversion import array_of, arrays_of
from .registration import shared


def open_grid(*ranges: Any) -> tuple[Tensor, ...]:
    """Tensors of one dimension, each along its own: together they broadcast to a grid."""
    count = len(ranges)
    return tuple(
        x.reshape([-1 if d == at else 1 for d in range(count)]) for at, x in enumerate(ranges)
    )


@shared(forms=(
    "(dimensions: Sequence[int], dtype: Any = None, sparse: Literal[False] = False) -> Tensor",
    "(dimensions: Sequence[int], dtype: Any = None, *, sparse: Literal[True]) "
    "-> tuple[Tensor, ...]",
))  # fmt: skip
def indices(dimensions: Sequence[int], dtype: Any = None, sparse: bool = False) -> Any:
    """The indices of every element of a grid.

    Args:
        dimensions: The sizes of the grid.
        dtype: Of the result; default int64.
        sparse: Give a tuple of tensors that broadcast instead.

    Returns:
        Tensor of shape ``(len(dimensions), *dimensions)``.

    Example:
        >>> import tinytorch as tt
        >>> tt.indices((2, 2))[1]
        tensor([[0, 1],
                [0, 1]])
    """
    shape = [int(n) for n in dimensions]
    kind = dtypes.int64 if dtype is None else dtypes.as_dtype(dtype)
    parts: Any = open_grid(*(arange(n, dtype=kind) for n in shape))
    if sparse:
        return parts
    if not shape:
        return arange(0, dtype=kind)
    return stack([part.expand(shape) for part in parts])


@shared
def ix_(*args: Any) -> tuple[Tensor, ...]:
    """Tensors that index the grid of all combinations of the given indices.

    Args:
        *args: Integers or bools of one dimension, one for each dimension of the grid.

    Raises:
        ValueError: For more than one dimension.

    Example:
        >>> import tinytorch as tt
        >>> tt.arange(9).reshape(3, 3)[tt.ix_([0, 2], [1, 2])]
        tensor([[1, 2],
                [7, 8]])
    """
    found = []
    for x in arrays_of(*args):
        if x.ndim != 1:
            raise ValueError(f"ix_(): indices must have one dimension, got shape {list(x.shape)}")
        x = x.nonzero()[:, 0] if x.dtype is dtypes.bool else x
        found.append(x if x.numel() else x.long())
    return open_grid(*found)


@shared
def diag_indices(n: int, ndim: int = 2) -> tuple[Tensor, ...]:
    """Where the main diagonal of a tensor lies.

    Args:
        n: The size of each dimension.
        ndim: How many dimensions; default 2.

    Returns:
        One int64 tensor of shape ``(n,)`` for each dimension.

    Example:
        >>> import tinytorch as tt
        >>> tt.diag_indices(2)
        (tensor([0, 1]), tensor([0, 1]))
    """
    return (arange(n, dtype=dtypes.int64),) * ndim


@shared
def diag_indices_from(arr: Tensor) -> tuple[Tensor, ...]:
    """Where the main diagonal of ``arr`` lies.

    Args:
        arr: Tensor of two or more dimensions of one size.

    Raises:
        ValueError: For another shape.

    Example:
        >>> import tinytorch as tt
        >>> tt.diag_indices_from(tt.zeros(2, 2))
        (tensor([0, 1]), tensor([0, 1]))
    """
    if arr.ndim < 2 or len(set(arr.shape)) > 1:
        raise ValueError(
            f"diag_indices_from(): expected dimensions of one size, got shape {list(arr.shape)}"
        )
    return (arange(arr.shape[0], dtype=dtypes.int64, backend=arr._xp),) * arr.ndim


@shared
def tril_indices_from(arr: Tensor, k: int = 0) -> tuple[Tensor, Tensor]:
    """Where the lower triangle of a matrix lies, in row-major order.

    Args:
        arr: Tensor of two dimensions.
        k: The last diagonal of the triangle; default the main one.

    Returns:
        The row and the column indices, int64.

    Raises:
        ValueError: For another number of dimensions.

    Example:
        >>> import tinytorch as tt
        >>> tt.tril_indices_from(tt.zeros(2, 2))
        (tensor([0, 1, 1]), tensor([0, 0, 1]))
    """
    rows, columns = _sides("tril_indices_from", arr)
    return tuple(tril_indices(rows, columns, k, backend=arr._xp))


@shared
def triu_indices_from(arr: Tensor, k: int = 0) -> tuple[Tensor, Tensor]:
    """Where the upper triangle of a matrix lies, in row-major order.

    Args:
        arr: Tensor of two dimensions.
        k: The first diagonal of the triangle; default the main one.

    Returns:
        The row and the column indices, int64.

    Raises:
        ValueError: For another number of dimensions.

    Example:
        >>> import tinytorch as tt
        >>> tt.triu_indices_from(tt.zeros(2, 2))
        (tensor([0, 0, 1]), tensor([0, 1, 1]))
    """
    rows, columns = _sides("triu_indices_from", arr)
    return tuple(triu_indices(rows, columns, k, backend=arr._xp))


def _sides(name: str, arr: Tensor) -> tuple[int, int]:
    if arr.ndim != 2:
        raise ValueError(f"{name}(): input array must be 2-d, got shape {list(arr.shape)}")
    return arr.shape[0], arr.shape[1]


def _in_range(place: Any, size: int, mode: str) -> Any:
    if mode == "wrap":
        return place % size
    if mode == "clip":
        return place.clamp(0, size - 1)
    if mode != "raise":
        raise ValueError(f"ravel_multi_index(): mode must be raise, wrap or clip, got {mode!r}")
    place._xp.check_all(
        (place._data >= 0) & (place._data < size),
        "ravel_multi_index(): invalid entry in coordinates array",
    )
    return where(place < 0, place + size, place)


@shared
def ravel_multi_index(
    multi_index: Any, dims: Sequence[int], mode: str | Sequence[str] = "raise", order: str = "C"
) -> Tensor:
    """Places in the flattened tensor of places given by an index for each dimension.

    Args:
        multi_index: A tensor of integers for each dimension.
        dims: The sizes.
        mode: What happens to an index out of range: ``"raise"`` (default), ``"wrap"`` or
            ``"clip"``; one for all, or one for each dimension.
        order: ``"C"`` (default), the last index changes fastest, or ``"F"``, the first.

    Returns:
        int64 tensor.

    Raises:
        RuntimeError: For an index out of range.
        ValueError: If there is not one tensor for each dimension.

    Example:
        >>> import tinytorch as tt
        >>> tt.ravel_multi_index((tt.tensor([0, 1]), tt.tensor([2, 0])), (2, 3))
        tensor([2, 3])
    """
    shape = [int(n) for n in dims]
    parts = arrays_of(*multi_index)
    modes = [mode] * len(shape) if isinstance(mode, str) else list(mode)
    if len(parts) != len(shape):
        raise ValueError(
            f"ravel_multi_index(): expected {len(shape)} indices for dims {shape}, got {len(parts)}"
        )
    found: Any = 0
    for d, part in enumerate(parts):
        step = math.prod(shape[d + 1 :] if order == "C" else shape[:d])
        found = found + _in_range(part.long(), shape[d], modes[d]) * step
    return array_of(found)
