"""Grids, products and combinations of tensors' elements, and block matrices."""

from __future__ import annotations

import math
from typing import Any

from ... import dtypes
from ...core.tensor import Tensor
from ...dispatch.op import Array, Backend, Index, Shape, composite, op
from ...dispatch.promotion import cast_tensor, result_dtype
from ..checks import check_tensor, integers_of
from ..create.factories import zeros
from ..index.gathering import index_select
from ..index.positions import int64
from .broadcasting import tensors_of
from .joining import at_least, cat, stack
from .sizes import expand, flatten, reshape, transpose


@composite
def meshgrid(*tensors: Any, indexing: str | None = "ij") -> tuple[Tensor, ...]:
    """The coordinates of a grid, one tensor per dimension.

    Args:
        *tensors: Tensors of at most one dimension, one by one or as a sequence: the
            coordinates along each dimension of the grid.
        indexing: ``"ij"``, the default, for a grid whose dimensions come in order; ``"xy"``
            swaps the first two. None: ``"ij"``.

    Returns:
        A tuple of views of the grid's shape.

    Raises:
        RuntimeError: For more dimensions, different dtypes, or another ``indexing``.

    Example:
        >>> import tinytorch as tt
        >>> tt.meshgrid(tt.arange(2), tt.arange(3), indexing="ij")[1]
        tensor([[0, 1, 2],
                [0, 1, 2]])
    """
    many = tensors_of(tensors)
    if not many:
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    if indexing not in ("ij", "xy", None):
        raise RuntimeError(
            f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}'
        )
    for tensor in many:
        if tensor.ndim > 1:
            raise RuntimeError(
                "torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got shape "
                f"{list(tensor.shape)}"
            )
        if tensor.dtype is not many[0].dtype:
            raise RuntimeError("torch.meshgrid expects all tensors to have the same dtype")
    swap = indexing == "xy" and len(many) > 1
    ordered = (many[1], many[0], *many[2:]) if swap else many
    shape = tuple(tensor.numel() for tensor in ordered)
    grids = tuple(
        expand(reshape(tensor, tuple(-1 if d == i else 1 for d in range(len(shape)))), shape)
        for i, tensor in enumerate(ordered)
    )
    if not swap:
        return grids
    return (grids[1], grids[0], *grids[2:])


@composite
def cartesian_prod(*tensors: Tensor) -> Tensor:
    """Every choice of one element from each tensor.

    Args:
        *tensors: Tensors of one dimension.

    Returns:
        Tensor of shape ``(product of sizes, number of tensors)``; a single tensor as it is.

    Raises:
        RuntimeError: If a tensor has not one dimension.

    Example:
        >>> import tinytorch as tt
        >>> tt.cartesian_prod(tt.tensor([1, 2]), tt.tensor([3, 4]))
        tensor([[1, 3],
                [1, 4],
                [2, 3],
                [2, 4]])
    """
    for tensor in tensors:
        _check_vector("cartesian_prod", tensor)
    if len(tensors) == 1:
        return tensors[0]
    return stack(tuple(flatten(grid) for grid in meshgrid(*tensors)), 1)


def _check_vector(name: str, tensor: Tensor) -> None:
    check_tensor(name, tensor)
    if tensor.ndim != 1:
        raise RuntimeError(f"{name}: Expect a 1D vector, but got shape {list(tensor.shape)}")


@op
def _chosen(xp: Backend, input: Array, r: int, with_replacement: bool) -> Array:
    """Indices of all combinations of ``r`` of the elements, in order: ``(r, count)``."""
    n = input.shape[0]
    grid = xp.indices((n,) * r, dtype=xp.native_dtype(dtypes.int64)).reshape(r, -1)
    rises = grid[:-1] <= grid[1:] if with_replacement else grid[:-1] < grid[1:]
    return grid[:, xp.all(rises, axis=0)]


@composite(method=True, node="StackBackward0")
def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """All ways to take ``r`` elements, as ``itertools.combinations`` orders them.

    Args:
        input: Tensor of one dimension.
        r: How many elements; default 2.
        with_replacement: Whether an element may be taken again; default False.

    Returns:
        Tensor of shape ``(number of combinations, r)``.

    Raises:
        RuntimeError: If ``input`` has not one dimension, or ``r`` is negative.

    Example:
        >>> import tinytorch as tt
        >>> tt.combinations(tt.tensor([1, 2, 3]))
        tensor([[1, 2],
                [1, 3],
                [2, 3]])
    """
    _check_vector("combinations", input)
    if r < 0:
        raise RuntimeError(f"combinations: Expect a non-negative number, but got {r}")
    if r == 0:
        return input.new_empty((0,))
    index = _chosen(input.detach(), r, with_replacement)
    picked = index_select(input, 0, flatten(transpose(index, 0, 1)))
    return reshape(picked, (index.shape[1], r))


@composite(node="BlockDiagBackward0")
def block_diag(*tensors: Tensor) -> Tensor:
    """The matrix with the given ones along its diagonal and zeros elsewhere.

    Args:
        *tensors: Tensors of at most two dimensions; smaller ones count as one row.

    Returns:
        Tensor of shape ``(sum of rows, sum of columns)`` and of their promoted dtype, in which
        0-d tensors count less; of shape ``(1, 0)`` for none.

    Raises:
        RuntimeError: For more than two dimensions.
        TypeError: For what is no tensor.

    Example:
        >>> import tinytorch as tt
        >>> tt.block_diag(tt.tensor([[1, 2]]), tt.tensor([3]))
        tensor([[1, 2, 0],
                [0, 0, 3]])
    """
    if not tensors:
        return zeros((1, 0))
    for i, tensor in enumerate(tensors):
        if not isinstance(tensor, Tensor):
            raise TypeError(
                f"block_diag(): expected Tensor as element {i} in argument 0, but got "
                f"{type(tensor).__name__}"
            )
        if tensor.ndim > 2:
            raise RuntimeError(
                "torch.block_diag: Input tensors must have 2 or fewer dimensions. Input "
                f"{i} has {tensor.ndim} dimensions"
            )
    dtype = result_dtype(tensors)
    blocks = [at_least(cast_tensor(tensor, dtype), 2) for tensor in tensors]
    width = sum(block.shape[1] for block in blocks)
    rows, start = [], 0
    for block in blocks:
        left = block.new_zeros((block.shape[0], start))
        right = block.new_zeros((block.shape[0], width - start - block.shape[1]))
        rows.append(cat((left, block, right), 1))
        start += block.shape[1]
    return cat(rows, 0)


@op
def unravel_index(xp: Backend, indices: Index, shape: Shape) -> tuple[Array, ...]:
    """The coordinates of places in the flattened form of a tensor of shape ``shape``.

    Args:
        indices: Integer tensor of any shape.
        shape: The shape, an int or a sequence of ints.

    Returns:
        A tuple of int64 tensors of ``indices``'s shape, one per dimension.

    Raises:
        TypeError: If ``indices`` are no integers.
        ValueError: If a size is negative.
        RuntimeError: If a size is 0.

    Example:
        >>> import tinytorch as tt
        >>> tt.unravel_index(tt.tensor([3]), (2, 2))
        (tensor([1]), tensor([1]))
    """
    if indices.dtype.kind not in "iu":
        raise TypeError(
            f"unravel_index: expected 'indices' to be integer dtype, but got {indices.dtype.name}"
        )
    sizes = _sizes(xp, shape)
    if any(n < 0 for n in sizes):
        raise ValueError(f"unravel_index: 'shape' cannot have negative values, but got {sizes}")
    if 0 in sizes and indices.size:
        raise RuntimeError(f"unravel_index: there are no places in a tensor of shape {list(sizes)}")
    place = int64(xp, indices)
    return tuple(
        place // max(math.prod(sizes[d + 1 :]), 1) % max(n, 1) for d, n in enumerate(sizes)
    )


def _sizes(xp: Backend, shape: Any) -> tuple[int, ...]:
    """The sizes that a shape says; TypeError for what is no int among them."""
    many = isinstance(shape, (tuple, list))
    try:
        for n in shape if many else (shape,):
            if isinstance(n, xp.array_type):
                raise TypeError
        return integers_of("unravel_index", "shape", shape)
    except TypeError:
        kind = "sequence to only contain ints" if many else "to be int or sequence of ints"
        kinds = sorted({type(n).__name__ for n in shape}) if many else [type(shape).__name__]
        raise TypeError(
            f"unravel_index: expected 'shape' {kind}, but got {' and '.join(kinds)}"
        ) from None
