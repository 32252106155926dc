"""Losses of examples that are of several classes at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...core.tensor import Tensor
from ...dispatch.op import Array, Backend, Index, composite, op
from ...dispatch.record import keep_versions
from ...dtypes import int64
from ..checks import refuse
from .loss_reduction import SPACE, check_scalar_type, reduced, reduction_of
from .smooth_activation import logsigmoid

#: Pairs of classes looked at together, so that memory stays bounded.
_PAIRS = 1 << 18


@composite(namespaces=SPACE, method=False)
def multilabel_soft_margin_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The mean over the classes of the binary cross entropy with logits.

    Args:
        input: Logits, shape ``(*, classes)``.
        target: The same shape, 0 or 1.
        weight: A factor for each class, shape ``(classes,)``. Default: all 1.
        size_average: Deprecated; see ``reduction``.
        reduce: Deprecated; see ``reduction``.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``. Default: ``"mean"``.

    Returns:
        A 0-d tensor, or for ``"none"`` one of the input's shape without its last dimension.

    Example:
        >>> import tinytorch as tt
        >>> x, y = tt.tensor([[0.0, 2.0]]), tt.tensor([[0.0, 1.0]])
        >>> tt.nn.functional.multilabel_soft_margin_loss(x, y)
        tensor(0.4100)
    """
    reduction = reduction_of(reduction, size_average, reduce)
    x: Any = input
    y: Any = target
    loss = -(y * logsigmoid(x) + (1 - y) * logsigmoid(-x))
    if weight is not None:
        loss = loss * weight
    return reduced(loss.sum(input.ndim - 1) / input.shape[-1], reduction)


@composite(namespaces=SPACE, method=False, node="MultilabelMarginLossBackward0")
def multilabel_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Sum over pairs of a target class and another of max(0, 1 - (x[target] - x[other])) / n.

    Args:
        input: Scores, shape ``(batch, classes)``, or ``(classes,)``.
        target: Class numbers up to the first -1, the same shape.
        size_average: Deprecated; see ``reduction``.
        reduce: Deprecated; see ``reduction``.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``. Default: ``"mean"``.

    Returns:
        A 0-d tensor, or for ``"none"`` one of shape ``(batch,)``.

    Raises:
        RuntimeError: If the shapes do not fit or a target is no class.

    Example:
        >>> import tinytorch as tt
        >>> x, y = tt.tensor([0.1, 0.2, 0.4, 0.8]), tt.tensor([3, 0, -1, 1])
        >>> tt.nn.functional.multilabel_margin_loss(x, y)
        tensor(0.8500)
    """
    reduction = reduction_of(reduction, size_average, reduce)
    if input.ndim > 2 or (input.ndim and not input.shape[-1]):
        raise RuntimeError(
            "Expected non-empty vector or matrix with optional 0-dim batch size, but got: "
            f"{list(input.shape)}"
        )
    if target.shape != input.shape:
        raise RuntimeError(
            f"inconsistent target size: {list(target.shape)} for input of size: {list(input.shape)}"
        )
    check_scalar_type(int64, target)
    x: Any = input
    y: Any = target
    classes = input.shape[-1] if input.ndim else 1
    rows = x.reshape(-1, classes)
    wanted, places = _wanted(y.reshape(-1, classes))
    is_target = _label_mask(places, wanted)
    loss = _gaps(rows, *_foremost(places, wanted), ~is_target) / classes
    return keep_versions(reduced(loss if input.ndim == 2 else loss[0], reduction), input, target)


def _wanted(target: Any) -> tuple[Any, Any]:
    """Which entries come before the first -1, and the entries with 0 in place of the rest."""
    wanted: Any = _before_end(target)
    places = target.masked_fill(~wanted, 0)
    target._xp.check_all(
        (target._data >= -1) & (target._data < target.shape[1]),
        "argument #2 'target' is out of range",
    )
    return wanted, places


@op(public=False)
def _before_end(xp: Backend, target: Index) -> Array:
    """Which labels of each row come before its first negative one."""
    return xp.cumsum(target < 0, axis=1) == 0


@op(public=False)
def _label_mask(xp: Backend, places: Index, wanted: Index) -> Array:
    """Per row and class, whether the class is among the wanted labels."""
    hits = xp.zeros(places.shape, places.dtype)
    rows = xp.expand_dims(xp.arange(places.shape[0]), 1)
    xp.index_add(hits, (xp.broadcast_to(rows, places.shape), places), wanted.astype(hits.dtype))
    return hits > 0


def _foremost(places: Any, wanted: Any) -> tuple[Any, Any]:
    """As many of the labels as the longest row has, where that is known without waiting."""
    found = wanted._xp.extremes(wanted._data.sum(1))
    count = places.shape[1] if found is None else int(found[1])
    return places[:, :count], wanted[:, :count]


@op(method=False)
def _gaps(xp: Backend, rows: Array, places: Index, wanted: Index, others: Index) -> Array:
    """Per row, the sum of max(0, 1 - x[target] + x[other]) over all pairs of the two."""
    refuse(xp, "multilabel_margin_loss_forward_out_frame", "biuc", rows)
    out = xp.zeros(rows.shape[0], rows.dtype)
    for block, gaps in _positive_gaps(xp, rows, places, wanted, others):
        out[block] = xp.sum(gaps, axis=(1, 2))
    return out


_gaps.vjp(
    rows=lambda xp, g, rows, places, wanted, others: (
        g[:, None] * xp.call(_slopes, rows, places, wanted, others)
    )
)


@op(public=False)
def _slopes(xp: Backend, rows: Index, places: Index, wanted: Index, others: Index) -> Array:
    """In how many pairs that count each class is the other, less those where it is the target."""
    slopes = xp.zeros(rows.shape, rows.dtype)
    for block, gaps in _positive_gaps(xp, rows, places, wanted, others):
        counted = gaps > 0
        each = xp.expand_dims(xp.arange(rows.shape[0])[block], 1)
        for_targets = -xp.astype(xp.sum(counted, axis=2), rows.dtype)
        slopes[block] = xp.sum(counted, axis=1)
        xp.index_add(slopes, xp.broadcast_arrays(each, places[block]), for_targets)
    return slopes


def _positive_gaps(
    xp: Backend, rows: Array, places: Array, wanted: Array, others: Array
) -> Iterator[tuple[slice, Array]]:
    """Blocks of rows, and 1 - x[target] + x[other] where it is positive and counts, else 0."""
    step = max(1, _PAIRS // max(places.shape[1] * rows.shape[1], 1))
    for start in range(0, rows.shape[0], step):
        block = slice(start, start + step)
        targets = xp.take_along_axis(rows[block], places[block], axis=1)
        gaps = 1 - targets[:, :, None] + rows[block][:, None, :]
        counted = wanted[block][:, :, None] & others[block][:, None, :] & (gaps > 0)
        yield block, xp.where(counted, gaps, 0)
