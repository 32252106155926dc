"""Splitting a tensor into several, which share its memory."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from ... import dtypes
from ...core.tensor import Tensor
from ...dispatch.arguments import wrong_type_error
from ...dispatch.op import Array, Backend, composite, op
from ...dispatch.out import scalar_name
from ...graph.nodes import Node
from ...graph.special_nodes import argument
from ..checks import as_int, as_ints
from .sizes import normalize_dim


@op(method=True, view=True)
def unbind(xp: Backend, input: Array, dim: int = 0) -> tuple[Array, ...]:
    """The slices of ``input`` along ``dim``, without that dimension.

    Args:
        input: Tensor of at least one dimension.
        dim: The dimension to remove; default 0.

    Returns:
        A tuple of views.

    Raises:
        IndexError: If there is no such dimension.

    Example:
        >>> tt.tensor([[1, 2], [3, 4]]).unbind()
        (tensor([1, 2]), tensor([3, 4]))
    """
    if not input.ndim:
        raise IndexError(f"unbind: Dimension specified as {dim} but tensor has no dimensions")
    at = normalize_dim("unbind", dim, input.ndim)
    if not at:
        return tuple([input[i, ...] for i in range(len(input))])
    lead = (slice(None),) * at
    return tuple([input[(*lead, i, ...)] for i in range(input.shape[at])])


unbind.vjp(input=lambda xp, g, dim: xp.stack(list(g), axis=dim))


def _split_by_sizes(input: Array, sizes: Sequence[int], at: int) -> tuple[Array, ...]:
    """Split an array along dimension ``at`` into pieces of these sizes."""
    lead = (slice(None),) * at
    pieces, start = [], 0
    for size in sizes:
        part = slice(start, start + size)
        pieces.append(input[(*lead, part)] if lead else input[part])
        start += size
    return tuple(pieces)


@op(method=True, view=True)
def split_with_sizes(
    xp: Backend, input: Array, split_sizes: Sequence[int], dim: int = 0
) -> tuple[Array, ...]:
    """Split ``input`` along ``dim`` into pieces of the given sizes.

    Args:
        input: Tensor of at least one dimension.
        split_sizes: The size of each piece.
        dim: The dimension to split; default 0.

    Returns:
        A tuple of views.

    Raises:
        RuntimeError: If a size is negative, or the sizes do not sum to the dimension's size.

    Example:
        >>> tt.arange(5).split_with_sizes([2, 3])
        (tensor([0, 1]), tensor([2, 3, 4]))
    """
    if not input.ndim:
        raise RuntimeError("split_with_sizes expects at least a 1-dimensional tensor")
    at = normalize_dim("split_with_sizes", dim, input.ndim)
    sizes = list(as_ints("split_with_sizes", "split_sizes", split_sizes))
    if any(n < 0 for n in sizes):
        raise RuntimeError(
            "split_with_sizes expects split_sizes have only non-negative entries, but got "
            f"split_sizes={sizes}"
        )
    if sum(sizes) != input.shape[at]:
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to sum exactly to {input.shape[at]} (input "
            f"tensor's size at dimension {at}), but got split_sizes={sizes}"
        )
    return _split_by_sizes(input, sizes, at)


split_with_sizes.vjp(input=lambda xp, g, dim: xp.concatenate(list(g), axis=dim))


def _split_name(node: Node) -> str:
    one = isinstance(argument(node, "split_size_or_sections"), int)
    return "SplitBackward0" if one else "SplitWithSizesBackward0"


@op(method=True, view=True, node=_split_name)
def split(
    xp: Backend, input: Array, split_size_or_sections: int | Sequence[int], dim: int = 0
) -> tuple[Array, ...]:
    """Split ``input`` along ``dim`` into pieces.

    With ``axis=`` or ``indices_or_sections=`` it is NumPy's ``split``, whose second argument is a
    number of pieces of equal size, or the indices at which to split.

    Args:
        input: Tensor of at least one dimension.
        split_size_or_sections: The size of each piece (the last one may be smaller), or a list of
            the sizes.
        dim: The dimension to split; default 0.

    Returns:
        A tuple of views.

    Raises:
        RuntimeError: If a size is negative, or the sizes do not sum to the dimension's size.

    Example:
        >>> tt.arange(5).split(2)
        (tensor([0, 1]), tensor([2, 3]), tensor([4]))
    """
    if isinstance(split_size_or_sections, (tuple, list)):
        return xp.call(split_with_sizes, input, split_size_or_sections, dim)  # type: ignore
    size = split_size_or_sections
    # Common call: an int size along the first dimension, which needs no further checks.
    if size.__class__ is dim.__class__ is int and dim == 0 and size > 0 and input.ndim:
        return _split_evenly(input, size, 0)
    size = as_int("split", "split_size_or_sections", size)
    if not input.ndim:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    at = normalize_dim("split", dim, input.ndim)
    return _split_evenly(input, size, at)


def _split_evenly(input: Array, size: int, at: int) -> tuple[Array, ...]:
    """Split an array into pieces of one size; the last piece may be smaller."""
    total = input.shape[at] if at else len(input)
    if size < 0:
        raise RuntimeError(f"split expects split_size be non-negative, but got split_size={size}")
    if size == 0 and total:
        raise RuntimeError(
            f"split_size can only be 0 if dimension size is 0, but got dimension size of {total}"
        )
    if not at:
        pieces = [input[:size]]
        for start in range(size, total, size or 1):
            pieces.append(input[start : start + size])  # noqa: PERF401  # twice as fast for two
        return tuple(pieces)
    starts = range(0, total, size) if total else (0,)
    lead = (slice(None),) * at
    return tuple([input[(*lead, slice(start, start + size))] for start in starts])


split.vjp(input=lambda xp, g, dim: xp.concatenate(list(g), axis=dim))


@split.numpy
def _numpy_split(
    input: Any, indices_or_sections: Any = None, axis: int = 0, **options: Any
) -> tuple[Tensor, ...]:
    options.setdefault("dim", axis)
    at = normalize_dim("split", options["dim"], input.ndim)
    if isinstance(indices_or_sections, int) and input.shape[at] % indices_or_sections:
        raise ValueError(
            f"split(): array split does not result in an equal division: size {input.shape[at]} in "
            f"{indices_or_sections} sections"
        )
    return tensor_split(input, indices_or_sections, at)


@op(method=True, view=True, node="SplitBackward0")
def chunk(xp: Backend, input: Array, chunks: int, dim: int = 0) -> tuple[Array, ...]:
    """Split ``input`` along ``dim`` into at most ``chunks`` pieces of one size.

    Args:
        input: Tensor of at least one dimension.
        chunks: The number of pieces. There are fewer if the size cannot be divided so, and the
            last one may be smaller.
        dim: The dimension to split; default 0.

    Returns:
        A tuple of views.

    Raises:
        RuntimeError: If ``chunks`` is not positive.

    Example:
        >>> tt.arange(5).chunk(2)
        (tensor([0, 1, 2]), tensor([3, 4]))
    """
    if chunks.__class__ is int is dim.__class__ and dim == 0 < chunks and input.size:
        total = len(input)
        return _split_evenly(input, -(-total // chunks), 0)
    if not input.ndim:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    chunks = as_int("chunk", "chunks", chunks)
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    at = normalize_dim("chunk", dim, input.ndim)
    total = input.shape[at]
    if total == 0:
        return _split_by_sizes(input, [0] * chunks, at)
    return _split_evenly(input, -(-total // chunks), at)


chunk.vjp(input=lambda xp, g, dim: xp.concatenate(list(g), axis=dim))


@op(method=True, like=split)
def unsafe_split(
    xp: Backend, input: Array, split_size_or_sections: int | Sequence[int], dim: int = 0
) -> tuple[Array, ...]:
    """``split`` whose pieces do not count as views, so that they may be changed in place.

    The pieces share the memory of ``input``, which must not be used after such a change.

    Example:
        >>> tt.arange(3).unsafe_split(2)
        (tensor([0, 1]), tensor([2]))
    """
    return xp.call(split, input, split_size_or_sections, dim)  # type: ignore[no-any-return]


unsafe_split.vjp(input=lambda xp, g, dim: xp.concatenate(list(g), axis=dim))


@op(method=True, like=split_with_sizes)
def unsafe_split_with_sizes(
    xp: Backend, input: Array, split_sizes: Sequence[int], dim: int = 0
) -> tuple[Array, ...]:
    """``split_with_sizes`` whose pieces do not count as views; see ``unsafe_split``.

    Example:
        >>> tt.arange(3).unsafe_split_with_sizes([1, 2])
        (tensor([0]), tensor([1, 2]))
    """
    return xp.call(split_with_sizes, input, split_sizes, dim)  # type: ignore[no-any-return]


unsafe_split_with_sizes.vjp(input=lambda xp, g, dim: xp.concatenate(list(g), axis=dim))


@op(method=True, node="UnsafeSplitBackward0", like=chunk)
def unsafe_chunk(xp: Backend, input: Array, chunks: int, dim: int = 0) -> tuple[Array, ...]:
    """``chunk`` whose pieces do not count as views; see ``unsafe_split``.

    Example:
        >>> tt.arange(3).unsafe_chunk(2)
        (tensor([0, 1]), tensor([2]))
    """
    return xp.call(chunk, input, chunks, dim)  # type: ignore[no-any-return]


unsafe_chunk.vjp(input=lambda xp, g, dim: xp.concatenate(list(g), axis=dim))


def _check_split_tensor(given: Tensor) -> None:
    """Raise unless a tensor is a number of sections or a vector of indices."""
    prefix = "tensor_split expected tensor_indices_or_sections to"
    if given.dtype.name != "int64":
        raise RuntimeError(f"{prefix} have dtype of long, but got {scalar_name(given.dtype)}")
    if given.ndim > 1:
        raise RuntimeError(
            f"{prefix} be a zero-dimensional or one-dimensional tensor, but got a tensor with "
            f"{given.ndim} dims"
        )


@composite(method=True, aliases=("array_split",))
def tensor_split(input: Tensor, indices_or_sections: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Split ``input`` along ``dim`` into a number of pieces, or at given indices.

    Args:
        input: Tensor of at least one dimension.
        indices_or_sections: The number of pieces (the first ones may be larger by one), or the
            indices at which to split, a sequence of ints or an int64 tensor of one dimension.
        dim: The dimension to split; default 0.

    Returns:
        A tuple of views, each of which may be changed in place.

    Raises:
        RuntimeError: If the number of pieces is not positive.

    Example:
        >>> tt.tensor_split(tt.arange(5), 2)
        (tensor([0, 1, 2]), tensor([3, 4]))
        >>> tt.tensor_split(tt.arange(5), (1, 2))
        (tensor([0]), tensor([1]), tensor([2, 3, 4]))
    """
    return _split_along(input, indices_or_sections, dim)


def _split_along(input: Tensor, given: Any, dim: int) -> tuple[Tensor, ...]:
    """``tensor_split`` into a number of pieces, or at indices."""
    shape = input._data.shape
    if not shape:
        raise RuntimeError(
            "tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims"
        )
    at = normalize_dim("tensor_split", dim, len(shape))
    if isinstance(given, Tensor):
        _check_split_tensor(given)
        given = given.tolist()
    given = _to_int_argument("tensor_split", given)
    if not isinstance(given, int):
        return _slice_at(input, as_ints("tensor_split", "indices", given), at)
    if given <= 0:
        raise RuntimeError(f"number of sections must be larger than 0, got {given}")
    size, larger = divmod(shape[at], given)
    cuts = [size * i + min(i, larger) for i in range(1, given)]
    return _slice_at(input, cuts, at)


def _slice_at(input: Tensor, cuts: Sequence[int], dim: int) -> tuple[Tensor, ...]:
    """Slices from each index to the next, which overlap if the indices are not in order.

    Each slice is a separate view, which may be changed in place.
    """
    bounds, lead = [0, *cuts, input._data.shape[dim]], (slice(None),) * dim
    pairs = zip(bounds, bounds[1:], strict=False)
    return tuple([input[(*lead, slice(start, stop))] for start, stop in pairs])


def _to_int_argument(name: str, given: Any) -> Any:
    """Convert an integer, also one of NumPy's, to an int; raise for a bool."""
    if given.__class__ is bool:
        raise wrong_type_error(name, "'indices_or_sections'", int, given)
    single = hasattr(given, "__index__") and not isinstance(given, Tensor)
    return operator.index(given) if single and not getattr(given, "ndim", 0) else given


def _split_equally(
    name: str, input: Tensor, given: Any, dim: int, least: int
) -> tuple[Tensor, ...]:
    """``hsplit``, ``vsplit`` or ``dsplit``, by ``name``, along ``dim``.

    Args:
        name: Name of the operation.
        input: The tensor.
        given: Number of pieces, of which all must have one size, or indices.
        dim: The dimension.
        least: Smallest number of dimensions of ``input``.
    """
    shape = input._data.shape
    if len(shape) < least:
        raise RuntimeError(
            f"torch.{name} requires a tensor with at least {least} dimension, but got a tensor "
            f"with {len(shape)} dimensions!"
        )
    given = _to_int_argument(name, given)
    if isinstance(given, Tensor) and not given.ndim and given.dtype is not dtypes.bool:
        # Any integer dtype is allowed here; tensor_split requires int64.
        given = operator.index(given)
    if isinstance(given, str) or not (isinstance(given, int) or hasattr(given, "__iter__")):
        raise TypeError(
            f"{name}() received an invalid combination of arguments: indices_or_sections must be "
            f"an int or a tuple of ints, not {type(given).__name__}"
        )
    if isinstance(given, int) and (given <= 0 or shape[dim] % given):
        raise RuntimeError(
            f"torch.{name} attempted to split along dimension {dim}, but the size of the dimension "
            f"{shape[dim]} is not divisible by the split_size {given}!"
        )
    return _split_along(input, given, dim)


@composite(method=True)
def hsplit(input: Tensor, indices_or_sections: Any) -> tuple[Tensor, ...]:
    """Split ``input`` along dimension 1, or along dimension 0 for a vector.

    Args:
        input: Tensor of at least one dimension.
        indices_or_sections: The number of pieces of equal size, or a sequence of indices.

    Returns:
        A tuple of views.

    Raises:
        RuntimeError: If the pieces would not be of equal size.

    Example:
        >>> tt.hsplit(tt.arange(4), 2)
        (tensor([0, 1]), tensor([2, 3]))
    """
    return _split_equally("hsplit", input, indices_or_sections, 0 if input.ndim == 1 else 1, 1)


@composite(method=True)
def vsplit(input: Tensor, indices_or_sections: Any) -> tuple[Tensor, ...]:
    """Split ``input`` along dimension 0.

    Args:
        input: Tensor of at least two dimensions.
        indices_or_sections: The number of pieces of equal size, or a sequence of indices.

    Returns:
        A tuple of views.

    Raises:
        RuntimeError: If the pieces would not be of equal size.

    Example:
        >>> tt.vsplit(tt.tensor([[1, 2], [3, 4]]), 2)
        (tensor([[1, 2]]), tensor([[3, 4]]))
    """
    return _split_equally("vsplit", input, indices_or_sections, 0, 2)


@composite(method=True)
def dsplit(input: Tensor, indices_or_sections: Any) -> tuple[Tensor, ...]:
    """Split ``input`` along its third dimension.

    Args:
        input: Tensor of at least three dimensions.
        indices_or_sections: The number of pieces of equal size, or a sequence of indices.

    Returns:
        A tuple of views.

    Raises:
        RuntimeError: If the pieces would not be of equal size.

    Example:
        >>> [piece.shape for piece in tt.dsplit(tt.zeros(1, 2, 4), 2)]
        [tinytorch.Size([1, 2, 2]), tinytorch.Size([1, 2, 2])]
    """
    return _split_equally("dsplit", input, indices_or_sections, 2, 3)
