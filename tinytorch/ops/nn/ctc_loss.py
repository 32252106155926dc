"""Connectionist temporal classification: the loss of a label sequence over its alignments."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

from ...core.tensor import Tensor
from ...dispatch.node_recording import keep_versions
from ...dispatch.op import Array, Backend, Index, composite, op
from ...dispatch.out import scalar_name
from ...dtypes import int64
from ..checks import as_int
from .loss import SPACE, in_present_words, reduced

# Shapes: log_probs (time, batch, classes), targets (batch, labels). The paths of Graves et al. run
# through the labels with a blank before, between and after them: (batch, 2 · labels + 1) places.
#
# Probabilities are kept as logarithms. A finite number stands for log 0, because the difference of
# two infinities would be NaN; whatever is below half of it came from log 0.
_LOG_ZERO = -1e30


def _places(xp: Backend, targets: Array, blank: int) -> Array:
    """The labels with blanks around each."""
    batch, labels = targets.shape
    places = xp.full((batch, 2 * labels + 1), blank, targets.dtype)
    places[:, 1::2] = targets
    return places


def _may_skip(xp: Backend, places: Array, blank: int) -> Array:
    """Where a path may come from two places before: no blank, and another label than there."""
    allowed = xp.zeros(places.shape, bool)
    allowed[:, 2:] = (places[:, 2:] != blank) & (places[:, 2:] != places[:, :-2])
    return allowed


def _shifted(xp: Backend, row: Array, steps: int) -> Array:
    """``row`` moved along its places, by ``steps`` to the right or ``-steps`` to the left."""
    out = xp.full(row.shape, _LOG_ZERO, row.dtype)
    if steps > 0:
        out[:, steps:] = row[:, :-steps]
    else:
        out[:, :steps] = row[:, -steps:]
    return out


def _step(xp: Backend, row: Array, skipped: Array, steps: int) -> Array:
    """Sum of the probabilities of staying, of moving one place and of skipping one."""
    return xp.logaddexp(xp.logaddexp(row, _shifted(xp, row, steps)), skipped)


def _forward(xp: Backend, emitted: Array, may_skip: Array) -> Array:
    """Graves' alpha: per time and place, the paths that have come there."""
    alpha = xp.empty(emitted.shape, emitted.dtype)
    start = xp.arange(emitted.shape[2]) < 2
    row = xp.where(start, emitted[0], _LOG_ZERO)
    alpha[0] = row
    for time in range(1, emitted.shape[0]):
        skipped = xp.where(may_skip, _shifted(xp, row, 2), _LOG_ZERO)
        row = _step(xp, row, skipped, 1) + emitted[time]
        alpha[time] = row
    return alpha


def _backward(xp: Backend, emitted: Array, may_skip: Array, inputs: Array, labels: Array) -> Array:
    """Graves' beta: per time and place, the paths that go on from there to the end."""
    beta = xp.empty(emitted.shape, emitted.dtype)
    ends = _ends(xp, emitted.shape[2], labels)
    row = xp.full(emitted.shape[1:], _LOG_ZERO, emitted.dtype)
    for time in reversed(range(emitted.shape[0])):
        skipped = _shifted(xp, xp.where(may_skip, row, _LOG_ZERO), -2)
        onward = _step(xp, row, skipped, -1) + emitted[time]
        last = xp.expand_dims(inputs == time + 1, 1)
        row = xp.where(last, xp.where(ends, emitted[time], _LOG_ZERO), onward)
        beta[time] = row
    return beta


def _ends(xp: Backend, places: int, labels: Array) -> Array:
    """Where a path may end: at the last label or the blank after it."""
    place = xp.arange(places)
    last = xp.expand_dims(2 * labels, 1)
    return (place == last) | (place == last - 1)


def _emitted(xp: Backend, log_probs: Array, places: Array) -> Array:
    """Per time and place, the log probability of the label there."""
    shape = (log_probs.shape[0], *places.shape)
    return xp.take_along_axis(log_probs, xp.broadcast_to(places, shape), 2)


@op(public=False, node="CtcLossBackward0")
def _ctc(
    xp: Backend, log_probs: Array, targets: Index, inputs: Index, labels: Index, blank: int
) -> Array:
    """The loss of each sample."""
    places = _places(xp, targets, blank)
    emitted = _emitted(xp, log_probs, places)
    alpha = _forward(xp, emitted, _may_skip(xp, places, blank))
    samples = xp.arange(log_probs.shape[1])
    final = alpha[xp.maximum(inputs - 1, 0), samples]
    final = xp.where(_ends(xp, places.shape[1], labels), final, _LOG_ZERO)
    highest = xp.max(final, axis=1)
    total = highest + xp.log(xp.sum(xp.exp(final - xp.expand_dims(highest, 1)), axis=1))
    # Nothing was heard: certain for an empty label sequence, impossible for any other.
    total = xp.where(inputs == 0, xp.where(labels == 0, 0, _LOG_ZERO), total)
    return xp.where(total < _LOG_ZERO / 2, math.inf, -total).astype(log_probs.dtype)


@op(public=False)
def _ctc_grad(
    xp: Backend,
    grad: Array,
    log_probs: Array,
    targets: Index,
    inputs: Index,
    labels: Index,
    blank: int,
    loss: Index,
) -> Array:
    """grad · (exp(log_probs) - probability that a path has the class at that time).

    The first term is the gradient that the sum of the probabilities being 1 would give; a
    ``log_softmax`` before cancels it. It is PyTorch's gradient.
    """
    places = _places(xp, targets, blank)
    emitted = _emitted(xp, log_probs, places)
    may_skip = _may_skip(xp, places, blank)
    paths = _forward(xp, emitted, may_skip) + _backward(xp, emitted, may_skip, inputs, labels)
    paths = xp.where(paths < _LOG_ZERO / 2, -math.inf, paths)
    shares = xp.exp(paths - emitted + xp.expand_dims(loss, 1))
    out = xp.zeros(log_probs.shape, log_probs.dtype)
    time = xp.arange(log_probs.shape[0]).reshape(-1, 1, 1)
    sample = xp.arange(log_probs.shape[1]).reshape(1, -1, 1)
    xp.index_add(out, (time, sample, xp.expand_dims(places, 0)), shares)
    out = (xp.exp(log_probs) - out) * xp.expand_dims(grad, 1)
    # An infinite loss has no slope, unless nothing asks for it.
    slope = xp.where(grad == 0, 0, math.nan)
    out = xp.where(xp.expand_dims(loss == math.inf, 1), xp.expand_dims(slope, 1), out)
    return xp.where(time < xp.expand_dims(inputs, 1), out, 0).astype(log_probs.dtype)


_ctc.vjp(
    log_probs=lambda xp, g, log_probs, targets, inputs, labels, blank, out: xp.call(
        _ctc_grad, g, log_probs, targets, inputs, labels, blank, out
    )
)


def _no_second_derivative(xp: Any, g: Any) -> Any:
    raise NotImplementedError("derivative of the gradient of ctc_loss is not implemented")


_ctc_grad.vjp(grad=_no_second_derivative, log_probs=_no_second_derivative)


@composite(namespaces=SPACE)
def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor | Sequence[int],
    target_lengths: Tensor | Sequence[int],
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """Negative log probability of a label sequence, summed over all its alignments.

    The gradient takes ``log_probs`` to come from ``log_softmax``. It has no further derivative.

    Args:
        log_probs: Logarithms of probabilities, shape ``(time, batch, classes)``, or
            ``(time, classes)``; float32 or float64.
        targets: Labels, shape ``(batch, labels)``, or all one after the other.
        input_lengths: How much of the time each sample has, shape ``(batch,)``, or 0-d.
        target_lengths: How many labels, likewise.
        blank: The class that stands for no label. Default: 0.
        reduction: ``"mean"`` (of the losses divided by the targets' lengths), ``"sum"`` or
            ``"none"``. Default: ``"mean"``.
        zero_infinity: Whether infinite losses, and their gradients, become 0; a sample has one
            where its labels do not fit into its time. Default: False.

    Returns:
        A 0-d tensor, or for ``"none"`` one of shape ``(batch,)``, or 0-d.

    Raises:
        RuntimeError: If a length, a size or ``blank`` does not fit.
        ValueError: If ``reduction`` is unknown.

    Example:
        >>> log_probs = tt.zeros(5, 1, 3).log_softmax(2)
        >>> tt.nn.functional.ctc_loss(log_probs, tt.tensor([[1, 2]]), [5], [2])
        tensor(0.9689)

    Reference:
        A. Graves et al., "Connectionist temporal classification" (2006).
    """
    reduction = in_present_words(reduction)
    batched = log_probs.ndim == 3
    x: Any = log_probs if batched else log_probs.unsqueeze(1)
    blank = as_int("ctc_loss", "blank", blank)
    if not x.numel():
        raise RuntimeError(
            f"ctc_loss: log_probs tensor must not be empty, got {tuple(log_probs.shape)}"
        )
    if not 0 <= blank < x.shape[2]:
        raise RuntimeError(f"blank must be in label range, got {blank} for {x.shape[2]} classes")
    if x.dtype.name not in ("float32", "float64"):
        raise NotImplementedError(f'"ctc_loss" not implemented for {scalar_name(x.dtype)!r}')
    inputs = _lengths("input_lengths", input_lengths, x.shape[1], x.shape[0])
    labels = _lengths("target_lengths", target_lengths, x.shape[1])
    lengths = [x.new_tensor(values, dtype=int64) for values in (inputs, labels)]
    y = _padded(targets if batched else targets.reshape(1, -1), labels, lengths[1])
    y._xp.check_all((y._data >= 0) & (y._data < x.shape[2]), "ctc_loss: a target is no class")
    loss: Any = keep_versions(_ctc(x, y, lengths[0], lengths[1], blank), targets)
    if zero_infinity:
        loss = loss.where(loss != math.inf, 0.0)
    if reduction == "mean":
        return (loss / lengths[1].clamp(min=1)).mean()  # type: ignore[no-any-return]
    return reduced(loss if batched else loss[0], reduction)


def _lengths(name: str, given: Any, batch: int, most: int | None = None) -> list[int]:
    """Lengths as ints: they decide the shapes, so the host has to know them."""
    values = given.reshape(-1).tolist() if isinstance(given, Tensor) else list(given)
    try:
        values = [operator.index(value) for value in values]
    except TypeError:
        raise RuntimeError(f"{name} must be integral") from None
    if len(values) != batch:
        raise RuntimeError(f"{name} must be of size batch_size: {batch}, got {len(values)}")
    low, high = min(values, default=0), max(values, default=0)
    if low < 0:
        raise RuntimeError(f"Expected {name} to have value at least 0, but got value {low}")
    if most is not None and high > most:
        raise RuntimeError(f"Expected {name} to have value at most {most}, but got value {high}")
    return values


def _padded(targets: Any, lengths: list[int], limits: Any) -> Any:
    """The labels as a matrix with a row for each sample, 0 beyond its length."""
    longest = max(lengths, default=0)
    if targets.dtype.is_floating_point:
        targets = targets.long()
    if targets.ndim == 1:
        if targets.shape[0] != sum(lengths):
            raise RuntimeError(
                f"Expected tensor to have size {sum(lengths)} at dimension 0, but got size "
                f"{targets.shape[0]} for argument #2 'targets'"
            )
        starts = [sum(lengths[:sample]) for sample in range(len(lengths))]
        rows = targets.new_tensor(starts, dtype=int64).reshape(-1, 1)
        columns = targets.new_tensor(range(longest), dtype=int64)
        targets = targets[(rows + columns).clamp(max=max(sum(lengths) - 1, 0))]
    elif targets.shape[1] < longest:
        raise RuntimeError(
            f"Expected tensor to have size at least {longest} at dimension 1, but got size "
            f"{targets.shape[1]} for argument #2 'targets'"
        )
    within = targets.new_tensor(range(longest), dtype=int64) < limits.reshape(-1, 1)
    return targets[:, :longest].where(within, 0)
