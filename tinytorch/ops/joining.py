"""Many tensors into one, and one into many."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._op import Array, Backend, op
from .shape import normalize_dim


@op(method=False, promote="arithmetic", aliases=("concat", "concatenate"))
def cat(xp: Backend, tensors: Sequence[Array], dim: int = 0) -> Array:
    """``tensors`` one after the other along an existing dimension.

    Args:
        tensors: Tensors whose shapes agree but for ``dim``; 1-d empty ones are skipped.
        dim: The dimension; default 0.

    Returns:
        A tensor of their promoted dtype.

    Raises:
        RuntimeError: If there are none, or the shapes do not agree.

    Example:
        >>> import tinytorch as tt
        >>> tt.cat((tt.zeros(1, 2), tt.ones(1, 2)))
        tensor([[0., 0.],
                [1., 1.]])
    """
    if not tensors:
        raise RuntimeError("torch.cat(): expected a non-empty list of Tensors")
    kept = [a for a in tensors if a.shape != (0,)] or list(tensors[:1])
    for i, array in enumerate(tensors):
        if not array.ndim:
            raise RuntimeError(
                f"cat: zero-dimensional tensor (at position {i}) cannot be concatenated"
            )
    at = normalize_dim("cat", dim, kept[0].ndim)
    _check_shapes(kept, at)
    return xp.concatenate(kept, axis=at)


def _check_shapes(arrays: Sequence[Array], at: int) -> None:
    first = arrays[0].shape
    for i, array in enumerate(arrays):
        if array.ndim != len(first):
            raise RuntimeError(
                f"cat: Tensors must have same number of dimensions: got {len(first)} and "
                f"{array.ndim}"
            )
        for d, (n, m) in enumerate(zip(first, array.shape, strict=True)):
            if d != at and n != m:
                raise RuntimeError(
                    f"cat: Sizes of tensors must match except in dimension {at}. Expected size "
                    f"{n} but got size {m} for tensor number {i} in the list."
                )


def _pieces(xp: Any, g: Any, in_shapes: Any, dim: int) -> list[Any]:
    """The parts of ``g`` that belong to each tensor of a concatenation."""
    pieces: list[Any] = []
    start = 0
    at = dim % g.ndim
    for shape in in_shapes:
        if shape == (0,) and g.ndim > 1:
            pieces.append(None)
            continue
        stop = start + shape[at]
        pieces.append(g[(slice(None),) * at + (slice(start, stop),)])
        start = stop
    return pieces


cat.vjp(tensors=_pieces)


@op(method=False, promote="arithmetic")
def stack(xp: Backend, tensors: Sequence[Array], dim: int = 0) -> Array:
    """``tensors`` of one shape, side by side along a new dimension.

    Args:
        tensors: Tensors of equal shape.
        dim: Where the new dimension goes; default 0.

    Raises:
        RuntimeError: If there are none, or the shapes differ.

    Example:
        >>> import tinytorch as tt
        >>> tt.stack((tt.zeros(2), tt.ones(2)), dim=1)
        tensor([[0., 1.],
                [0., 1.]])
    """
    if not tensors:
        raise RuntimeError("stack expects a non-empty TensorList")
    first = tuple(tensors[0].shape)
    for i, array in enumerate(tensors):
        if tuple(array.shape) != first:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(first)} at entry 0 "
                f"and {list(array.shape)} at entry {i}"
            )
    return xp.stack(list(tensors), axis=normalize_dim("stack", dim, len(first) + 1))


stack.vjp(
    tensors=lambda xp, g, in_shapes, dim: [
        g[(slice(None),) * (dim % g.ndim) + (i,)] for i in range(len(in_shapes))
    ]
)


@op(view=True)
def unbind(xp: Backend, input: Array, dim: int = 0) -> tuple[Array, ...]:
    """The slices of ``input`` along ``dim``, without that dimension.

    Args:
        input: Tensor of at least one dimension.
        dim: The dimension to take apart; default 0.

    Returns:
        A tuple of views.

    Example:
        >>> import tinytorch as tt
        >>> tt.tensor([[1, 2], [3, 4]]).unbind()
        (tensor([1, 2]), tensor([3, 4]))
    """
    if not input.ndim:
        raise RuntimeError("unbind: Dimension specified as 0 but tensor has no dimensions")
    at = normalize_dim("unbind", dim, input.ndim)
    lead = (slice(None),) * at
    return tuple(input[(*lead, i, ...)] for i in range(input.shape[at]))


unbind.vjp(input=lambda xp, g, dim: xp.stack(list(g), axis=dim))


@op(view=True)
def split(
    xp: Backend, input: Array, split_size_or_sections: int | Sequence[int], dim: int = 0
) -> tuple[Array, ...]:
    """``input`` in pieces along ``dim``.

    Args:
        input: Tensor of at least one dimension.
        split_size_or_sections: The size of each piece (the last may be smaller), or the sizes.
        dim: The dimension to cut; default 0.

    Returns:
        A tuple of views.

    Raises:
        RuntimeError: If sizes are negative or do not sum to the dimension's.

    Example:
        >>> import tinytorch as tt
        >>> tt.arange(5).split(2)
        (tensor([0, 1]), tensor([2, 3]), tensor([4]))
    """
    if not input.ndim:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    at = normalize_dim("split", dim, input.ndim)
    total = input.shape[at]
    sizes = _piece_sizes(split_size_or_sections, total)
    lead = (slice(None),) * at
    pieces, start = [], 0
    for size in sizes:
        pieces.append(input[(*lead, slice(start, start + size))])
        start += size
    return tuple(pieces)


def _piece_sizes(given: int | Sequence[int], total: int) -> list[int]:
    if isinstance(given, int):
        if given < 0 or (given == 0 and total):
            raise RuntimeError(
                f"split expects split_size be non-negative, but got split_size={given}"
            )
        if total == 0:
            return [0]
        return [min(given, total - start) for start in range(0, total, given)]
    sizes = [int(n) for n in given]
    if any(n < 0 for n in sizes) or sum(sizes) != total:
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to sum exactly to {total} (input tensor's size "
            f"at dimension), but got split_sizes={sizes}"
        )
    return sizes


split.vjp(input=lambda xp, g, dim: xp.concatenate(list(g), axis=dim))
