"""Updates that look at a tensor as a whole; see ``_kernels`` for the contract."""

from __future__ import annotations

import math
from typing import Any

from ..backends.base import Array, Backend
from ._kernels import Arrays, kernel

__all__ = ["adafactor_update", "muon_update"]


def _rms(xp: Backend, array: Array) -> Any:
    return xp.sqrt(xp.mean(xp.square(array)))


def _mix(xp: Backend, average: Array, value: Array, weight: float) -> None:
    """``average += weight * (value - average)``, in place."""
    xp.add(average, (value - average) * weight, out=average)


def _factored_variance(
    xp: Backend, square: Array, row: Array, column: Array, weight: float, floor: float
) -> Array:
    """Update the row and column means of ``square``; the rank-one matrix they stand for."""
    _mix(xp, row, xp.mean(square, axis=-1, keepdims=True), weight)
    _mix(xp, column, xp.mean(square, axis=-2, keepdims=True), weight)
    estimate = xp.matmul(row, column)
    return xp.divide(
        estimate, xp.maximum(xp.mean(row, axis=-2, keepdims=True), floor), out=estimate
    )


@kernel
def adafactor_update(
    xp: Backend, params: Arrays, grads: Arrays, rows: Arrays, columns: Arrays,
    variances: Arrays, *, step: float, lr: float, beta2_decay: float, eps1: float,
    eps2: float, d: float, weight_decay: float, maximize: bool,
) -> None:  # fmt: skip
    """Adafactor: matrices have ``rows`` and ``columns``, vectors ``variances``.

    The sequences that do not apply are empty, so one call updates tensors of one kind.
    """
    weight = step**beta2_decay
    rate = min(lr, 1.0 / math.sqrt(step))
    nothing = (None,) * len(params)
    states = zip(rows or nothing, columns or nothing, variances or nothing, strict=True)
    for p, g, (row, column, variance) in zip(params, grads, states, strict=True):
        step_size = xp.maximum(_rms(xp, p), eps2) * rate
        if weight_decay != 0:
            xp.multiply(p, 1.0 - lr * weight_decay, out=p)
        square = xp.square(g)
        if variance is None:
            square = _factored_variance(xp, square, row, column, weight, eps1)
        else:
            _mix(xp, variance, square, weight)
            square = variance
        change = g / xp.sqrt(xp.maximum(square, eps1 * eps1))
        change = change * (step_size / xp.maximum(_rms(xp, change) / d, 1.0))
        (xp.add if maximize else xp.subtract)(p, change, out=p)


@kernel
def muon_update(
    xp: Backend, params: Arrays, grads: Arrays, momentum_buffers: Arrays, *,
    lr: float, weight_decay: float, momentum: float, nesterov: bool,
    ns_coefficients: tuple[float, float, float], eps: float, ns_steps: int,
    adjust_lr_fn: str | None,
) -> None:  # fmt: skip
    """Muon: the velocity's singular values are all replaced by about 1."""
    for p, g, buffer in zip(params, grads, momentum_buffers, strict=True):
        _mix(xp, buffer, g, 1.0 - momentum)
        change = g + (buffer - g) * momentum if nesterov else buffer
        change = _orthogonalize(xp, change, ns_coefficients, ns_steps, eps)
        scale = _size_factor(adjust_lr_fn, *p.shape) * lr
        xp.multiply(p, 1.0 - lr * weight_decay, out=p)
        xp.subtract(p, change * scale, out=p)


def _orthogonalize(
    xp: Backend, matrix: Array, coefficients: tuple[float, float, float], steps: int, eps: float
) -> Array:
    """The nearest orthogonal matrix, roughly: a quintic Newton-Schulz iteration.

    Each step maps a singular value ``x`` to ``a x + b x**3 + c x**5``, whose coefficients
    are chosen to lift small values fast rather than to converge to 1.
    """
    a, b, c = coefficients
    tall = matrix.shape[0] > matrix.shape[1]
    x = matrix.T if tall else matrix
    x = x / xp.maximum(xp.sqrt(xp.sum(xp.square(x))), eps)
    for _ in range(steps):
        gram = xp.matmul(x, x.T)
        x = x * a + xp.matmul(gram * b + xp.matmul(gram, gram) * c, x)
    return x.T if tall else x


def _size_factor(adjust_lr_fn: str | None, rows: int, columns: int) -> float:
    if adjust_lr_fn == "match_rms_adamw":
        return 0.2 * math.sqrt(max(rows, columns))
    return math.sqrt(max(1.0, rows / columns))
