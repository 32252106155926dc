"""Reductions of consecutive segments along a dimension."""

from __future__ import annotations

import math
from typing import Any

from ...core.tensor import Tensor, wrap
from ...dispatch.op import composite
from ...dispatch.out import scalar_name
from ..index.index_writing import index_add, reduce_slices
from ..index.scattering import REDUCTION_ALIASES
from ..pointwise.selection import clamp_max, clamp_min, where
from ..shape.sizes import normalize_dim
from ..sort.sorting import searchsorted
from .cumulative import cumsum

#: Result of an empty segment.
_INITIAL_VALUES = {"amax": -math.inf, "amin": math.inf, "prod": 1.0}


@composite(node="SegmentReduceBackward0")
def segment_reduce(
    data: Tensor,
    reduce: str,
    *,
    lengths: Tensor | None = None,
    indices: Tensor | None = None,
    offsets: Tensor | None = None,
    axis: int = 0,
    unsafe: bool = False,
    initial: float | None = None,
) -> Tensor:
    """Reduce consecutive segments along a dimension.

    Args:
        data: Floating-point tensor.
        reduce: ``"sum"``, ``"mean"``, ``"amax"``, ``"amin"`` or ``"prod"``; ``"max"`` and
            ``"min"`` are aliases of the third and fourth.
        lengths: The lengths of the segments: integers, ``(*data.shape[:axis], segments)``.
        indices: Must be None.
        offsets: The starts of the segments and the end of the last one, in place of ``lengths``;
            one number more than there are segments.
        axis: The dimension to reduce, which is the last one of ``lengths``. Default: 0.
        unsafe: Whether to skip the check that the lengths are not negative and sum to the size of
            ``data``. Default: False.
        initial: The initial value of each reduction. Default: None.

    Returns:
        Tensor of ``data``'s shape, except for the number of segments in ``axis``. The result of
        an empty segment is ``initial``, or without it 0, nan, -inf, inf or 1, in the order of
        the reductions.

    Raises:
        RuntimeError: If the lengths do not fit, or the reduction is unknown.
        NotImplementedError: If ``data`` is integer.

    Example:
        >>> x = tt.tensor([1.0, 2.0, 3.0, 4.0])
        >>> tt.segment_reduce(x, "max", lengths=tt.tensor([1, 3]))
        tensor([1., 4.])
    """
    reduce = REDUCTION_ALIASES.get(reduce, reduce)
    _check(data, reduce, indices)
    ends, sizes = _bounds(data, lengths, offsets, axis, unsafe)
    at, (size, count) = sizes.ndim - 1, (data.shape[sizes.ndim - 1], sizes.shape[-1])
    rows, rest = math.prod(data.shape[:at]), tuple(data.shape[at + 1 :])
    places = _segment_indices(ends.reshape(rows, count + 1), size)
    flat = data.reshape(rows * size, *rest)
    # An additional segment in each row receives the elements outside of all segments.
    found = _reduce_segments(flat, reduce, places, rows * (count + 1), initial)
    found = found.reshape(*data.shape[:at], count + 1, *rest).narrow(at, 0, count)
    if reduce != "mean":
        return found  # type: ignore[no-any-return]
    members = sizes.reshape(*sizes.shape, *(1 for _ in rest))
    means = found / members
    return means if initial is None else where(members == 0, initial, means)


def _check(data: Tensor, reduce: str, indices: Any) -> None:
    """Raise for a dtype, an argument or a reduction that ``segment_reduce`` does not support."""
    if data.dtype.kind != "f":
        raise NotImplementedError(
            f"\"segment_reduce\" not implemented for '{scalar_name(data.dtype)}'"
        )
    if indices is not None:
        raise RuntimeError("segment_reduce(): indices based reduction is not supported yet.")
    if reduce not in ("sum", "mean", *_INITIAL_VALUES):
        raise RuntimeError(
            f"segment_reduce(): reduce argument must be either sum, prod, mean, amax or amin, got "
            f"{reduce}"
        )


def _bounds(
    data: Tensor, lengths: Any, offsets: Any, axis: int, unsafe: bool
) -> tuple[Tensor, Tensor]:
    """Check and convert the segments.

    Args:
        data: The reduced tensor.
        lengths: Lengths of the segments, or None if there are offsets.
        offsets: Starts of the segments and the end of the last one, or None.
        axis: The dimension of the segments.
        unsafe: Whether the lengths are not checked.

    Returns:
        The offsets and the lengths.
    """
    given = lengths if offsets is None else offsets
    if given is None:
        raise RuntimeError("segment_reduce(): Either lengths or offsets must be defined.")
    axis = normalize_dim("segment_reduce", axis, data.ndim)
    if given.dtype.kind not in "iu":
        raise NotImplementedError(
            f"\"segment_reduce\" not implemented for '{scalar_name(given.dtype)}'"
        )
    if axis != given.ndim - 1:
        raise RuntimeError(
            f"segment_reduce(): Expected axis to be the last dimension of lengths but got {axis}."
        )
    if given.shape[:-1] != data.shape[:axis]:
        raise RuntimeError(
            f"segment_reduce(): Expected data and lengths to have the same sizes before axis, got "
            f"{list(data.shape)} and {list(given.shape)}"
        )
    if offsets is not None:
        sizes = offsets[..., 1:] - offsets[..., :-1]
        sizes._xp.check_all(
            sizes._data >= 0,
            "segment_reduce(): Expected segment_length >= 0 to be true: offsets must not fall",
        )
        return offsets, sizes
    if not unsafe:
        xp, raw = given._xp, given._data
        xp.check_all(raw >= 0, "segment_reduce(): lengths contains negative value!")
        xp.check_all(
            raw.sum(-1) == data.shape[axis],
            "segment_reduce(): Expected all rows of lengths along axis to sum to "
            "data.size(lengths.dim()-1) when !unsafe.",
        )
    ends: Any = cumsum(lengths, -1)
    return ends.new_zeros((*ends.shape[:-1], ends.shape[-1] + 1)).slice_scatter(ends, -1, 1), given


def _segment_indices(ends: Any, size: int) -> Tensor:
    """Segment of each element, counted over all rows.

    Args:
        ends: Offsets of the segments, of shape ``(rows, segments + 1)``.
        size: Number of elements of a row.
    """
    xp, (rows, bounds) = ends._xp, ends.shape
    each = wrap(xp.broadcast_to(xp.arange(size), (rows, size)), xp)
    segment: Any = searchsorted(ends.contiguous(), each.contiguous(), right=True) - 1
    segment = where(segment < 0, bounds - 1, segment)
    first = wrap(xp.arange(rows)[:, None] * bounds, xp)
    return (segment + first).reshape(-1)  # type: ignore[no-any-return]


def _reduce_segments(data: Any, reduce: str, places: Tensor, count: int, initial: Any) -> Any:
    """Reduce the elements of each segment; for the mean compute the sum.

    Args:
        data: Tensor whose first dimension is reduced.
        reduce: PyTorch's name of the reduction.
        places: Segment of each element.
        count: Number of segments.
        initial: Value that is reduced with the elements, or None.
    """
    shape = (count, *data.shape[1:])
    if reduce in ("sum", "mean"):
        return index_add(data.new_full(shape, initial or 0.0), 0, places, data)
    found = reduce_slices(data.new_full(shape, _INITIAL_VALUES[reduce]), 0, places, data, reduce)
    if initial is None:
        return found
    if reduce == "prod":
        return found * initial
    return (clamp_min if reduce == "amax" else clamp_max)(found, initial)
