"""The derivatives of the gamma function's logarithm, from NumPy's operations."""

from __future__ import annotations

import math
from typing import Any

# Bernoulli numbers B(2k) for k from 1 on, https://dlmf.nist.gov/24.2.
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6)
#: By the size of a number: steps of the recurrence, after which so many terms of a series are
#: right to its precision.
_STEPS, _TERMS = {4: 6, 8: 10}, {4: 4, 8: 7}


def digamma(xp: Any, x: Any) -> Any:
    """By reflection for negative ``x``, the recurrence, the asymptotic series.

    Reference:
        https://dlmf.nist.gov/5.15 has its derivative; here 5.5.2, 5.5.4 and 5.11.2.
    """
    left = x < 0
    up = xp.where(left, 1 - x, x)
    total, up = _recurrence(up, 1)
    inverse = 1 / (up * up)
    terms = _BERNOULLI[: _TERMS[x.dtype.itemsize]]
    series = _sum_of_powers(inverse, [b / (2 * k) for k, b in enumerate(terms, 1)])
    value = xp.log(up) - 0.5 / up - series * inverse - total
    return reflected(xp, x, value) if left.any() else value


def reflected(xp: Any, x: Any, value: Any) -> Any:
    """``digamma`` of ``x``, where ``value`` is that of ``x``, or of ``1 - x`` if ``x < 0``."""
    part = _from_nearest(xp, x)
    turned = value - math.pi / xp.tan(xp.where(part == 0, math.nan, part) * math.pi)
    return xp.where(x < 0, turned, value)


def trigamma(xp: Any, x: Any) -> Any:
    """By reflection below 1/2, the recurrence, the asymptotic series.

    Of float32 near a pole it is off by what rounding ``x`` itself changes.

    Reference:
        https://dlmf.nist.gov/5.15 (5.15.5, 5.15.6 and 5.15.8)
    """
    left = x < 0.5
    total, up = _recurrence(xp.where(left, 1 - x, x), 2)
    inverse = 1 / (up * up)
    series = _sum_of_powers(inverse, _BERNOULLI[: _TERMS[x.dtype.itemsize]]) * inverse
    total = total + (1 + 0.5 / up + series) / up
    part = _from_nearest(xp, x)
    # PyTorch rounds pi x to single precision: the same sines give the same numbers.
    angle = part if x.dtype.itemsize == 8 else xp.where(part == 0, 0, x)
    sine = xp.sin(angle * math.pi)
    return xp.where(left, math.pi**2 / (sine * sine) - total, total)


def _from_nearest(xp: Any, x: Any) -> Any:
    """How far ``x`` is from a whole number, exactly; NaN for infinities."""
    return x - xp.rint(x)


def _recurrence(x: Any, power: int) -> tuple[Any, Any]:
    """The sum of ``1 / x^power`` over some steps of 1 from ``x``, and ``x`` after them."""
    total: Any = 0.0
    for _ in range(_STEPS[x.dtype.itemsize]):
        total = total + (1 / x if power == 1 else 1 / (x * x))
        x = x + 1
    return total, x


def _sum_of_powers(x: Any, coefficients: Any) -> Any:
    value: Any = coefficients[-1]
    for c in coefficients[-2::-1]:
        value = value * x + c
    return value
