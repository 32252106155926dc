"""Connectionist temporal classification: the loss of a label sequence over its alignments.

Shapes: log_probs (time, batch, classes), targets (batch, labels). As in Graves et al., a path runs
through the extended labels, which have a blank before, between and after the labels:
(batch, 2 · labels + 1).

Probabilities are stored as logarithms. Log 0 is a finite number, because the difference of two
infinities would be NaN. Sums below half of it contain log 0.
"""

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
from .loss import SPACE, current_reduction, reduce_loss

_LOG_ZERO = -1e30


def _extend_labels(xp: Backend, targets: Array, blank: int) -> Array:
    """The extended labels, ``(batch, 2 · labels + 1)``."""
    batch, labels = targets.shape
    extended = xp.full((batch, 2 * labels + 1), blank, targets.dtype)
    extended[:, 1::2] = targets
    return extended


def _can_skip(xp: Backend, extended: Array, blank: int) -> Array:
    """Whether a path may skip the blank before each extended label, ``(batch, 2 · labels + 1)``.

    It may do so before a label that differs from the previous label.
    """
    allowed = xp.zeros(extended.shape, bool)
    allowed[:, 2:] = (extended[:, 2:] != blank) & (extended[:, 2:] != extended[:, :-2])
    return allowed


def _shift(xp: Backend, row: Array, steps: int) -> Array:
    """``row`` shifted by ``steps`` along the extended labels; log 0 fills the free places.

    Negative ``steps`` shift to the left. ``row`` is ``(batch, 2 · labels + 1)``.
    """
    out = xp.full(row.shape, _LOG_ZERO, row.dtype)
    if steps > 0:
        out[:, steps:] = row[:, :-steps]
    else:
        out[:, :steps] = row[:, -steps:]
    return out


def _step(xp: Backend, row: Array, skipped: Array, steps: int) -> Array:
    """Log probabilities after one more time step, without the probability of the emitted label.

    Log of the sum of the probabilities of staying at a label (``row``), of moving by ``steps``,
    which is 1 or -1, and of skipping a blank (``skipped``).
    """
    return xp.logaddexp(xp.logaddexp(row, _shift(xp, row, steps)), skipped)


def _forward(xp: Backend, emitted: Array, can_skip: Array) -> Array:
    """Graves' alpha: log probability of all partial paths that end at a label at a time.

    ``emitted`` and the result are ``(time, batch, 2 · labels + 1)``.
    """
    alpha = xp.empty(emitted.shape, emitted.dtype)
    start = xp.arange(emitted.shape[2]) < 2
    row = xp.where(start, emitted[0], _LOG_ZERO)
    alpha[0] = row
    for time in range(1, emitted.shape[0]):
        skipped = xp.where(can_skip, _shift(xp, row, 2), _LOG_ZERO)
        row = _step(xp, row, skipped, 1) + emitted[time]
        alpha[time] = row
    return alpha


def _backward(xp: Backend, emitted: Array, can_skip: Array, inputs: Array, labels: Array) -> Array:
    """Graves' beta: log probability of all partial paths that begin at a label at a time.

    ``emitted`` and the result are ``(time, batch, 2 · labels + 1)``; ``inputs`` and ``labels`` are
    the lengths of each sample, ``(batch,)``.
    """
    beta = xp.empty(emitted.shape, emitted.dtype)
    is_final = _is_final(xp, emitted.shape[2], labels)
    row = xp.full(emitted.shape[1:], _LOG_ZERO, emitted.dtype)
    for time in reversed(range(emitted.shape[0])):
        skipped = _shift(xp, xp.where(can_skip, row, _LOG_ZERO), -2)
        onward = _step(xp, row, skipped, -1) + emitted[time]
        last = xp.expand_dims(inputs == time + 1, 1)
        row = xp.where(last, xp.where(is_final, emitted[time], _LOG_ZERO), onward)
        beta[time] = row
    return beta


def _is_final(xp: Backend, count: int, labels: Array) -> Array:
    """Whether a path may end at each of ``count`` extended labels: at the last label or blank.

    ``labels`` are the numbers of labels, ``(batch,)``; the result is ``(batch, count)``.
    """
    position = xp.arange(count)
    last = xp.expand_dims(2 * labels, 1)
    return (position == last) | (position == last - 1)


def _label_log_probs(xp: Backend, log_probs: Array, extended: Array) -> Array:
    """Log probability of each extended label at each time, ``(time, batch, 2 · labels + 1)``."""
    shape = (log_probs.shape[0], *extended.shape)
    return xp.take_along_axis(log_probs, xp.broadcast_to(extended, shape), 2)


@op(public=False, node="CtcLossBackward0")
def _ctc(
    xp: Backend, log_probs: Array, targets: Index, inputs: Index, labels: Index, blank: int
) -> Array:
    """Loss of each sample, ``(batch,)``.

    ``inputs`` and ``labels`` are the numbers of time steps and of labels of each sample.
    """
    extended = _extend_labels(xp, targets, blank)
    emitted = _label_log_probs(xp, log_probs, extended)
    alpha = _forward(xp, emitted, _can_skip(xp, extended, blank))
    samples = xp.arange(log_probs.shape[1])
    final = alpha[xp.maximum(inputs - 1, 0), samples]
    final = xp.where(_is_final(xp, extended.shape[1], labels), final, _LOG_ZERO)
    highest = xp.max(final, axis=1)
    total = highest + xp.log(xp.sum(xp.exp(final - xp.expand_dims(highest, 1)), axis=1))
    # An input of length 0 has probability 1 for a sequence without labels, else 0.
    total = xp.where(inputs == 0, xp.where(labels == 0, 0, _LOG_ZERO), total)
    return xp.where(total < _LOG_ZERO / 2, math.inf, -total).astype(log_probs.dtype)


@op(public=False)
def _ctc_backward(
    xp: Backend, grad: Array, log_probs: Array, targets: Index, inputs: Index, labels: Index,
    blank: int, loss: Index,
) -> Array:  # fmt: skip
    """``grad * (exp(log_probs) - p)``, p the probability that a path has the class at that time.

    The term ``exp(log_probs)`` is PyTorch's: it makes this the gradient of the input of a
    ``log_softmax``, whose own gradient rule does not change it. ``loss`` is the result of ``_ctc``.
    """
    extended = _extend_labels(xp, targets, blank)
    emitted = _label_log_probs(xp, log_probs, extended)
    can_skip = _can_skip(xp, extended, blank)
    paths = _forward(xp, emitted, can_skip) + _backward(xp, emitted, can_skip, inputs, labels)
    paths = xp.where(paths < _LOG_ZERO / 2, -math.inf, paths)
    probabilities = xp.exp(paths - emitted + xp.expand_dims(loss, 1))
    out = xp.zeros(log_probs.shape, log_probs.dtype)
    time = xp.arange(log_probs.shape[0]).reshape(-1, 1, 1)
    sample = xp.arange(log_probs.shape[1]).reshape(1, -1, 1)
    xp.index_add(out, (time, sample, xp.expand_dims(extended, 0)), probabilities)
    out = (xp.exp(log_probs) - out) * xp.expand_dims(grad, 1)
    # The gradient of an infinite loss is NaN, but 0 if the incoming gradient is 0.
    infinite_grad = xp.where(grad == 0, 0, math.nan)
    out = xp.where(xp.expand_dims(loss == math.inf, 1), xp.expand_dims(infinite_grad, 1), out)
    return xp.where(time < xp.expand_dims(inputs, 1), out, 0).astype(log_probs.dtype)


_ctc.vjp(
    log_probs=lambda xp, g, log_probs, targets, inputs, labels, blank, out: xp.call(
        _ctc_backward, g, log_probs, targets, inputs, labels, blank, out
    )
)


def _raise_no_second_derivative(xp: Any, g: Any) -> Any:
    raise NotImplementedError("derivative of the gradient of ctc_loss is not implemented")


_ctc_backward.vjp(grad=_raise_no_second_derivative, log_probs=_raise_no_second_derivative)


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
        targets: Labels, shape ``(batch, labels)``, or those of all samples concatenated.
        input_lengths: Number of time steps of each sample, shape ``(batch,)``, or 0-d.
        target_lengths: Number of labels of each sample, shape ``(batch,)``, or 0-d.
        blank: The class of the blank, which stands for no label. Default: 0.
        reduction: ``"mean"`` (of the losses divided by the targets' lengths), ``"sum"`` or
            ``"none"``. Default: ``"mean"``.
        zero_infinity: Whether infinite losses and their gradients become 0. A loss is infinite if
            the labels are too many for the time steps. Default: False.

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
    reduction = current_reduction(reduction)
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
    y = _pad_targets(targets if batched else targets.reshape(1, -1), labels, lengths[1])
    y._xp.check_all((y._data >= 0) & (y._data < x.shape[2]), "ctc_loss: a target is no class")
    loss: Any = keep_versions(_ctc(x, y, lengths[0], lengths[1], blank), targets)
    if zero_infinity:
        loss = loss.where(loss != math.inf, 0.0)
    if reduction == "mean":
        return (loss / lengths[1].clamp(min=1)).mean()  # type: ignore[no-any-return]
    return reduce_loss(loss if batched else loss[0], reduction)


def _lengths(name: str, lengths: Any, batch: int, most: int | None = None) -> list[int]:
    """``lengths`` as one int per sample on the host; RuntimeError if one is out of range.

    Args:
        name: The argument, for errors.
        lengths: A tensor or a sequence of ints.
        batch: Number of samples.
        most: Largest length that is allowed; None for any.
    """
    values = lengths.reshape(-1).tolist() if isinstance(lengths, Tensor) else list(lengths)
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


def _pad_targets(targets: Any, lengths: list[int], limits: Any) -> Any:
    """Labels as ``(batch, longest)``, 0 beyond the length of each sample.

    Args:
        targets: ``(batch, labels)``, or the labels of all samples concatenated.
        lengths: Number of labels of each sample.
        limits: The same as an int64 tensor.
    """
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
    is_label = targets.new_tensor(range(longest), dtype=int64) < limits.reshape(-1, 1)
    return targets[:, :longest].where(is_label, 0)
