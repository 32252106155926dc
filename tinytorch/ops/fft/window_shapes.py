"""The shapes of windows, as kernels on raw arrays; in float64, then rounded once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...dispatch.op import Array, Backend


def span(count: int, symmetric: bool) -> float:
    """The distance of a window's ends; a periodic one ends before it would repeat."""
    return count - 1 if symmetric else count


def finished(xp: Backend, count: int, window: Array, dtype: Any) -> Array:
    """The window in its dtype; one point alone is 1."""
    return xp.astype(window if count != 1 else xp.ones((1,)), dtype)


def steps(xp: Backend, count: int) -> Array:
    """0, 1, 2, ..."""
    return xp.arange(count, dtype="float64")


def cosine_sum(
    xp: Backend, count: int, weights: Sequence[float], symmetric: bool, dtype: Any
) -> Array:
    """``sum((-1)^i weights[i] cos(2 pi i k / n))``."""
    angle = steps(xp, count) * (2 * math.pi / (span(count, symmetric) or 1))
    window = xp.zeros((count,), "float64")
    for i, weight in enumerate(weights):
        window += (-1) ** i * float(weight) * xp.cos(i * angle)
    return finished(xp, count, window, dtype)


def triangle(xp: Backend, count: int, symmetric: bool, dtype: Any) -> Array:
    """From 0 up to 1 and down again in straight lines."""
    place = steps(xp, count) * (2 / (span(count, symmetric) or 1))
    return finished(xp, count, 1 - abs(place - 1), dtype)


def kaiser(xp: Backend, count: int, beta: float, symmetric: bool, dtype: Any) -> Array:
    """``I0(beta sqrt(1 - x^2)) / I0(beta)`` for x from -1 to 1.

    Reference:
        Kaiser & Schafer, "On the use of the I0-sinh window for spectrum analysis", IEEE Trans.
        Acoustics, Speech, Signal Processing 28 (1980).
    """
    place = steps(xp, count) * (2 / (span(count, symmetric) or 1)) - 1
    root = xp.sqrt(xp.maximum(1 - place * place, 0))
    window = xp.i0(beta * root) / xp.i0(xp.full((1,), float(beta)))
    return finished(xp, count, window, dtype)
