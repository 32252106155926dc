"""Losses with a margin between scores or distances, and losses of several classes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ...core.tensor import Tensor
from ...dispatch.node_recording import keep_versions
from ...dispatch.op import Array, Backend, Index, composite, op
from ...dtypes import int64
from ..checks import check_supported
from ..reduce.norms import pairwise_distance
from ..memory_order import as_row_major
from .loss import (
    SPACE,
    cast_inplace,
    check_scalar_type,
    mse_loss,
    reduce_loss,
    reduction_of,
    refuse_grad,
)
from .normalization import check_float
from .rectifiers import logsigmoid


@composite(namespaces=SPACE, like=mse_loss)
def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """max(0, -target · (input1 - input2) + margin).

    Args:
        input1: Any shape.
        input2: The same number of dimensions, broadcast.
        target: 1 where ``input1`` should be larger, -1 where ``input2`` should; also broadcast.
        margin: Default: 0.

    Raises:
        RuntimeError: If the numbers of dimensions differ.

    Example:
        >>> low, high = tt.tensor([1.0]), tt.tensor([3.0])
        >>> tt.nn.functional.margin_ranking_loss(low, high, tt.tensor([1.0]))
        tensor(2.)
    """
    reduction = reduction_of(reduction, size_average, reduce)
    if not input1.ndim == input2.ndim == target.ndim:
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: "
            f"input1: {input1.shape}, input2: {input2.shape}, target: {target.shape}"
        )
    difference: Any = -target * (input1 - input2) + float(margin)
    return reduce_loss(difference.clamp(min=0), reduction)


@composite(namespaces=SPACE, like=mse_loss)
def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: float = 1.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """input where the target is 1, max(0, margin - input) where it is -1.

    Args:
        input: Any shape.
        target: The same shape, broadcast.
        margin: Default: 1.

    Example:
        >>> x, y = tt.tensor([0.5, 0.2]), tt.tensor([1.0, -1.0])
        >>> tt.nn.functional.hinge_embedding_loss(x, y)
        tensor(0.6500)
    """
    reduction = reduction_of(reduction, size_average, reduce)
    x: Any = input
    y: Any = target
    # As in PyTorch, both terms count for a target that is neither 1 nor -1. They are selected, not
    # multiplied by the condition, since infinity times 0 would be NaN.
    hinge = (margin - x).clamp(min=0).where(y != 1, 0)
    return reduce_loss(hinge + x.where(y != -1, 0), reduction)


@composite(namespaces=SPACE, node="SoftMarginLossBackward0", like=mse_loss)
def soft_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """log(1 + exp(-target · input)), with targets 1 and -1.

    Args:
        input: Any shape.
        target: A shape that broadcasts to it.

    Returns:
        A 0-d tensor, or for ``"none"`` one of the input's shape; of the input's dtype.

    Raises:
        RuntimeError: If the target does not broadcast to the input, or the input holds integers.

    Example:
        >>> x, y = tt.tensor([0.0, 2.0]), tt.tensor([1.0, 1.0])
        >>> tt.nn.functional.soft_margin_loss(x, y)
        tensor(0.4100)
    """
    reduction = reduction_of(reduction, size_average, reduce)
    refuse_grad("soft_margin_loss", target=target)
    product = cast_inplace(input, target * input)
    return keep_versions(reduce_loss(-logsigmoid(product), reduction), input)


@composite(namespaces=SPACE, like=mse_loss)
def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """1 - cos(input1, input2) where the target is 1, max(0, cos - margin) where it is -1.

    Args:
        input1: Shape ``(batch, features)``, or ``(features,)``.
        input2: The same shape.
        target: Shape ``(batch,)``, or 0-d.
        margin: Default: 0.

    Returns:
        A 0-d tensor, or for ``"none"`` one of the target's shape.

    Raises:
        RuntimeError: If the numbers of dimensions do not fit.

    Example:
        >>> x = tt.tensor([[1.0, 0.0]])
        >>> tt.nn.functional.cosine_embedding_loss(x, x, tt.tensor([-1.0]))
        tensor(1.)
    """
    reduction = reduction_of(reduction, size_average, reduce)
    if target.ndim > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if not input1.ndim == input2.ndim == target.ndim + 1:
        raise RuntimeError(
            f"{target.ndim}D target tensor expects {target.ndim + 1}D input tensors, but found "
            f"inputs with sizes {list(input1.shape)} and {list(input2.shape)}."
        )
    a: Any = input1
    b: Any = input2
    y: Any = target
    # The constant keeps the gradient finite for a zero vector.
    squares = ((a * a).sum(-1) + 1e-12) * ((b * b).sum(-1) + 1e-12)
    cosine = (a * b).sum(-1) / squares.sqrt()
    similar = (1 - cosine).where(y == 1, 0)
    return reduce_loss(similar + (cosine - margin).clamp(min=0).where(y == -1, 0), reduction)


@composite(namespaces=SPACE, node="MultiMarginLossBackward0", like=mse_loss)
def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Sum over other classes of max(0, margin - x[target] + x[other])^p / classes.

    Args:
        input: Scores, shape ``(batch, classes)``, or ``(classes,)``.
        target: Class indices, shape ``(batch,)``, or 0-d.
        p: 1 or 2. Default: 1.
        margin: Default: 1.
        weight: A factor for each target class, shape ``(classes,)``. Default: all 1.

    Returns:
        A 0-d tensor, or for ``"none"`` one of the target's shape.

    Raises:
        ValueError: If ``p`` is neither 1 nor 2, or ``weight`` is not 1-d.
        RuntimeError: If the shapes do not fit or a target is not a class index.

    Example:
        >>> x = tt.tensor([[0.1, 0.2, 0.4, 0.8]])
        >>> tt.nn.functional.multi_margin_loss(x, tt.tensor([3]))
        tensor(0.3250)
    """
    reduction = reduction_of(reduction, size_average, reduce)
    refuse_grad("multi_margin_loss", weight=weight)
    _check_multi_margin(input, target, p, weight)
    check_float("multi_margin_loss_cpu_kernel", input)
    loss = reduce_loss(_multi_margin(input, target, weight, p, float(margin)), reduction)
    return keep_versions(loss, input, weight)


@op(public=False)
def _multi_margin(
    xp: Backend, input: Array, target: Index, weight: Array | None, p: int, margin: float
) -> Array:
    """Losses of ``multi_margin_loss``, of the target's shape."""
    terms, _ = _margin_terms(xp, input, target, margin)
    terms = terms * terms if p == 2 else terms
    losses = xp.sum(terms, 1)
    if weight is not None:
        losses *= weight[target.reshape(-1)]
    losses /= terms.shape[1]
    return losses.reshape(target.shape)


def _margin_terms(xp: Backend, input: Array, target: Array, margin: float) -> tuple[Array, Array]:
    """Terms max(0, margin - x[target] + x[other]) of each row, and the targets' flat indices.

    The term of the target itself is 0.
    """
    rows = as_row_major(xp, input).reshape(-1, input.shape[-1] if input.ndim else 1)
    index = target.reshape(-1) + xp.row_starts[rows.shape]
    picked = rows.reshape(-1)[index].reshape(-1, 1)
    terms = xp.between((margin - picked) + rows, 0, None)
    terms.reshape(-1)[index] = 0
    return terms, index


@op(public=False)
def _margin_slopes(
    xp: Backend, input: Array, target: Index, weight: Array | None, p: int, margin: float
) -> Array:
    """Derivatives of ``_multi_margin``: of each row's loss with respect to its elements."""
    terms, index = _margin_terms(xp, input, target, margin)
    slopes = terms * 2 if p == 2 else (terms > 0).astype(terms.dtype)
    return _subtract_from_target(xp, slopes, index, target, weight).reshape(input.shape)


def _subtract_from_target(
    xp: Backend, slopes: Array, index: Array, target: Array, weight: Array | None
) -> Array:
    """Scale the ``slopes`` of the other classes' terms; set the target's to minus their sum."""
    slopes /= slopes.shape[1]
    if weight is not None:
        slopes *= weight[target.reshape(-1)].reshape(-1, 1)
    slopes.reshape(-1)[index] = -xp.sum(slopes, 1)
    return slopes


@op(public=False)
def _margin_curvature(
    xp: Backend, grad: Array, input: Index, target: Index, weight: Array | None, margin: float
) -> Array:
    """Second derivative of ``_multi_margin`` with ``p=2``, times ``grad``."""
    terms, index = _margin_terms(xp, input, target, margin)
    rows = as_row_major(xp, grad).reshape(terms.shape)
    slopes = (rows - rows.reshape(-1)[index].reshape(-1, 1)) * (2 * (terms > 0))
    slopes = slopes.astype(rows.dtype, copy=False)
    return _subtract_from_target(xp, slopes, index, target, weight).reshape(grad.shape)


def _margin_slopes_rule(
    xp: Any, g: Any, input: Any, target: Any, weight: Any, p: int, margin: float
) -> Any:
    """Gradient rule of ``_margin_slopes``, which are piecewise constant for ``p=1``."""
    if p == 1:
        return xp.zeros_like(g)
    return xp.call(_margin_curvature, g, input, target, weight, margin)


def _multi_margin_rule(
    xp: Any, g: Any, input: Any, target: Any, weight: Any, p: int, margin: float
) -> Any:
    """Gradient rule of ``_multi_margin``."""
    slopes = xp.call(_margin_slopes, input, target, weight, p, margin)
    return slopes * (xp.expand_dims(g, -1) if input.ndim > g.ndim else g)


_multi_margin.vjp(input=_multi_margin_rule)
_margin_slopes.vjp(input=_margin_slopes_rule)
_margin_curvature.vjp(
    grad=lambda xp, g, input, target, weight, margin: xp.call(
        _margin_curvature, g, input, target, weight, margin
    )
)


def _check_multi_margin(input: Tensor, target: Tensor, p: int, weight: Any) -> None:
    """Raise an error for arguments of ``multi_margin_loss`` that do not fit."""
    if p not in (1, 2):
        raise ValueError(f"only p == 1 and p == 2 supported, got {p}")
    if weight is not None and weight.ndim != 1:
        raise ValueError(f"weight must be one-dimensional, got {weight.ndim} dimensions")
    shape = input._data.shape
    classes = shape[-1] if shape else 1
    if len(shape) > 2 or not classes:
        raise RuntimeError(
            "Expected non-empty vector or matrix with optional 0-dim batch size, but got: "
            f"{list(shape)}"
        )
    batch = shape[0] if len(shape) == 2 else 1
    if target._data.ndim > 1 or target._data.size != batch:
        raise RuntimeError(
            "multi_margin_loss: target tensor should be 1-D with size equal to the number of "
            f"input samples (batch size). Expected target size [{batch}], but got "
            f"{list(target.shape)}. Input has shape {list(input.shape)}."
        )
    if weight is not None and weight.numel() != classes:
        raise RuntimeError(
            f"inconsistent weight size, expected {classes} but got {list(weight.shape)}"
        )
    check_scalar_type(int64, target)
    if weight is not None:
        check_scalar_type(input.dtype, weight)
    target._xp.check_all(
        (target._data >= 0) & (target._data < classes),
        f"target out of range: multi_margin_loss expected classes from 0 to {classes - 1}",
    )


@composite(namespaces=SPACE, like=mse_loss)
def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """max(0, d(anchor, positive) - d(anchor, negative) + margin), where d is the p-norm distance.

    Args:
        anchor: Shape ``(batch, features)``, or ``(features,)``.
        positive: Samples similar to the anchors, of the same shape.
        negative: Samples different from the anchors, of the same shape.
        margin: Positive. Default: 1.
        p: Default: 2.
        eps: Added to the differences. Default: 1e-6.
        swap: Whether d(positive, negative) is used where it is smaller than d(anchor, negative).
            Default: False.

    Returns:
        A 0-d tensor, or for ``"none"`` one of shape ``(batch,)``.

    Raises:
        ValueError: If ``margin`` is not positive.
        RuntimeError: If the numbers of dimensions differ.

    Example:
        >>> anchor, far = tt.zeros(1, 4), tt.full((1, 4), 0.25)
        >>> tt.nn.functional.triplet_margin_loss(anchor, anchor, far)
        tensor(0.5000)

    Reference:
        V. Balntas et al., "Learning shallow convolutional feature descriptors with triplet
        losses" (2016).
    """
    reduction = reduction_of(reduction, size_average, reduce)

    def distance(x: Tensor, y: Tensor) -> Tensor:
        return pairwise_distance(x, y, p, eps)

    return _triplet_loss(anchor, positive, negative, distance, margin, swap, reduction)


@composite(namespaces=SPACE, like=triplet_margin_loss)
def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """max(0, d(anchor, positive) - d(anchor, negative) + margin), with any distance d.

    Args:
        anchor: Shape ``(batch, *)``.
        distance_function: The function d. Default: the Euclidean distance.

    Returns:
        A 0-d tensor, or for ``"none"`` one of the distances' shape.

    Raises:
        ValueError: If ``margin`` is not positive or ``reduction`` unknown.
        RuntimeError: If the numbers of dimensions differ.

    Example:
        >>> F = tt.nn.functional
        >>> anchor, far = tt.zeros(1, 4), tt.full((1, 4), 0.25)
        >>> F.triplet_margin_with_distance_loss(anchor, anchor, far)
        tensor(0.5000)
    """
    distance = distance_function or pairwise_distance
    return _triplet_loss(anchor, positive, negative, distance, margin, swap, reduction)


def _triplet_loss(
    anchor: Tensor, positive: Tensor, negative: Tensor, distance: Callable[[Any, Any], Any],
    margin: float, swap: bool, reduction: str,
) -> Tensor:  # fmt: skip
    """Triplet loss with any ``distance``, a function of two batches.

    ``swap`` is whether a smaller distance of positive and negative replaces that of the anchor.
    """
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    if not anchor.ndim == positive.ndim == negative.ndim:
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of "
            f"dimensions, but got: anchor {anchor.ndim}D, positive {positive.ndim}D, and "
            f"negative {negative.ndim}D inputs"
        )
    near = distance(anchor, positive)
    far = distance(anchor, negative)
    if swap:
        far = far.minimum(distance(positive, negative))
    return reduce_loss((margin + near - far).clamp(min=0), reduction)


#: Number of pairs of classes in a block, which limits the memory.
_PAIRS = 1 << 18


@composite(namespaces=SPACE, like=mse_loss)
def multilabel_soft_margin_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Mean over the classes of the binary cross entropy with logits.

    Args:
        input: Logits, shape ``(*, classes)``.
        target: The same shape, 0 or 1.
        weight: A factor for each class, shape ``(classes,)``. Default: all 1.

    Returns:
        A 0-d tensor, or for ``"none"`` one of the input's shape without its last dimension.

    Example:
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
    return reduce_loss(loss.sum(input.ndim - 1) / input.shape[-1], reduction)


@composite(namespaces=SPACE, node="MultilabelMarginLossBackward0", like=mse_loss)
def multilabel_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Sum over pairs of a target class and another of max(0, 1 - (x[target] - x[other])) / classes.

    Args:
        input: Scores, shape ``(batch, classes)``, or ``(classes,)``.
        target: Class indices up to the first -1, the same shape.

    Returns:
        A 0-d tensor, or for ``"none"`` one of shape ``(batch,)``.

    Raises:
        RuntimeError: If the shapes do not fit or a target is not a class index.

    Example:
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
    valid, labels = _target_labels(y.reshape(-1, classes))
    is_target = _label_mask(labels, valid)
    loss = _pair_losses(rows, *_trim_labels(labels, valid), ~is_target) / classes
    return keep_versions(
        reduce_loss(loss if input.ndim == 2 else loss[0], reduction), input, target
    )


def _target_labels(target: Any) -> tuple[Any, Any]:
    """Labels of ``multilabel_margin_loss``, which end at the first -1 of each row.

    Returns:
        Mask of the labels before that -1, and the labels with 0 elsewhere.
    """
    valid: Any = _leading_labels(target)
    labels = target.masked_fill(~valid, 0)
    target._xp.check_all(
        (target._data >= -1) & (target._data < target.shape[1]),
        "argument #2 'target' is out of range",
    )
    return valid, labels


@op(public=False)
def _leading_labels(xp: Backend, target: Index) -> Array:
    """Mask of the labels before the first negative one of each row."""
    return xp.cumsum(target < 0, axis=1) == 0


@op(public=False)
def _label_mask(xp: Backend, labels: Index, valid: Index) -> Array:
    """Mask, ``(batch, classes)``, of the classes that are among the valid labels of a row."""
    counts = xp.zeros(labels.shape, labels.dtype)
    rows = xp.expand_dims(xp.arange(labels.shape[0]), 1)
    xp.index_add(counts, (xp.broadcast_to(rows, labels.shape), labels), valid.astype(counts.dtype))
    return counts > 0


def _trim_labels(labels: Any, valid: Any) -> tuple[Any, Any]:
    """Labels and mask, ``(batch, n)``, without columns in which no row has a valid label.

    The columns stay if the host does not know the largest number of labels.
    """
    found = valid._xp.extremes(valid._data.sum(1))
    count = labels.shape[1] if found is None else int(found[1])
    return labels[:, :count], valid[:, :count]


@op
def _pair_losses(xp: Backend, rows: Array, labels: Index, valid: Index, others: Index) -> Array:
    """Sum of max(0, 1 - x[target] + x[other]) over all pairs of a target and another class.

    Args:
        xp: The backend.
        rows: The scores x, ``(batch, classes)``.
        labels: The target classes, ``(batch, n)``.
        valid: Which of the labels count, of the same shape.
        others: Which classes are not targets, ``(batch, classes)``.
    """
    check_supported(xp, "multilabel_margin_loss_forward_out_frame", rows, unsupported="biuc")
    out = xp.zeros(rows.shape[0], rows.dtype)
    for block, terms in _pair_terms(xp, rows, labels, valid, others):
        out[block] = xp.sum(terms, axis=(1, 2))
    return out


_pair_losses.vjp(
    rows=lambda xp, g, rows, labels, valid, others: (
        g[:, None] * xp.call(_pair_derivatives, rows, labels, valid, others)
    )
)


@op(public=False)
def _pair_derivatives(
    xp: Backend, rows: Index, labels: Index, valid: Index, others: Index
) -> Array:
    """Derivatives of ``_pair_losses``, ``(batch, classes)``.

    The number of positive terms in which a class is the other one, minus the number of those in
    which it is the target.
    """
    out = xp.zeros(rows.shape, rows.dtype)
    for block, terms in _pair_terms(xp, rows, labels, valid, others):
        positive = terms > 0
        row = xp.expand_dims(xp.arange(rows.shape[0])[block], 1)
        as_target = -xp.astype(xp.sum(positive, axis=2), rows.dtype)
        out[block] = xp.sum(positive, axis=1)
        xp.index_add(out, xp.broadcast_arrays(row, labels[block]), as_target)
    return out


def _pair_terms(
    xp: Backend, rows: Array, labels: Array, valid: Array, others: Array
) -> Iterator[tuple[slice, Array]]:
    """Yield blocks of rows and their terms of ``_pair_losses``, ``(rows, n, classes)``."""
    step = max(1, _PAIRS // max(labels.shape[1] * rows.shape[1], 1))
    for start in range(0, rows.shape[0], step):
        block = slice(start, start + step)
        targets = xp.take_along_axis(rows[block], labels[block], axis=1)
        terms = 1 - targets[:, :, None] + rows[block][:, None, :]
        mask = valid[block][:, :, None] & others[block][:, None, :] & (terms > 0)
        yield block, xp.where(mask, terms, 0)
