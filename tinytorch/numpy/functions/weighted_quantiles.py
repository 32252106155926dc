"""Quantiles of elements that count more or less often than once."""

from __future__ import annotations

import math
from typing import Any

from ... import dtypes
from ...ops.sort import sorting
from .conversion import tensor_of


def rows(x: Any, axes: tuple[int, ...]) -> Any:
    """The tensor with some of its dimensions as one, the last."""
    kept = [n for d, n in enumerate(x.shape) if d not in axes]
    size = math.prod(x.shape[d] for d in axes)
    moved = x.movedim(axes, tuple(range(-len(axes), 0))) if axes else x
    return moved.reshape((*kept, size))


def weights_for(x: Any, weights: Any, axis: Any, axes: tuple[int, ...]) -> Any:
    """Weights in the shape of the elements.

    Raises:
        TypeError: If their shape is another one and no dimension is named.
        ValueError: If it is not that of the dimensions either, or a weight is below 0.
    """
    given = tensor_of(weights, x._xp).to(dtypes.float64)
    if given.shape != x.shape:
        if axis is None:
            raise TypeError("Axis must be specified when shapes of a and weights differ.")
        if tuple(given.shape) != tuple(x.shape[d] for d in axes):
            raise ValueError(
                "Shape of weights must be consistent with shape of a along specified axis."
            )
        order = sorted(range(len(axes)), key=axes.__getitem__)
        given = given.permute(order)
        sizes = [n if d in axes else 1 for d, n in enumerate(x.shape)]
        given = given.reshape(sizes).expand(tuple(x.shape))
    given._xp.check_all(given._data >= 0, "Weights must be non-negative.")
    return given


def weighted(
    x: Any, q: Any, axes: tuple[int, ...], keepdims: bool, weights: Any, ignore: bool
) -> Any:
    """The first elements up to which at least parts ``q`` of the weights lie."""
    kept = [1 if d in axes else n for d, n in enumerate(x.shape) if keepdims or d not in axes]
    values, counts = rows(x, axes), rows(weights, axes)
    lost = values != values
    order = sorting.argsort(values.detach(), stable=True)
    values = values.gather(-1, order)
    counts = (counts.masked_fill(lost, 0) if ignore else counts).gather(-1, order)
    below = counts.cumsum(-1)
    total = below[..., -1:]
    nothing = lost.all(-1, keepdim=True) if ignore else lost.any(-1, keepdim=True)
    sound = ((total > 0) & total.isfinite()) | nothing
    x._xp.check_all(sound._data, "Weights included NaN, inf or were all zero.")
    share = (below / total).masked_fill(below == 0, -1)  # what counts for nothing is never picked
    parts = q.detach().reshape(-1).to(dtypes.float64)
    at = (share.unsqueeze(-2) < parts.unsqueeze(-1)).sum(-1).clamp(max=values.shape[-1] - 1)
    found = values.gather(-1, at)
    if values.dtype.category > 1:
        found = found.masked_fill(nothing, math.nan)
    return found.movedim(-1, 0).reshape((*q.shape, *kept))
