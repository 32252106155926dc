"""Samplers of the Poisson, binomial and gamma distributions that draw by rejection.

The formulas, and so the numbers, are those of PyTorch's CPU generator; ``unit`` gives the next
uniform number in ``[0, 1)``, in double precision.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

Unit = Callable[[], float]
#: Number of uniform numbers that are drawn at once.
_BLOCK = 256


class Units:
    """Function that returns uniform numbers one by one and draws them in blocks.

    Args:
        draw: Function that draws an array of a given number of uniform numbers.
        bits: The NumPy bit generator that ``draw`` uses, whose ``state`` can be set.
    """

    def __init__(self, draw: Callable[[int], Any], bits: Any) -> None:
        self._draw, self._bits = draw, bits
        self._block: list[float] = []
        self._used = 0

    def __call__(self) -> float:
        """Return the next uniform number in ``[0, 1)``."""
        if self._used == len(self._block):
            self._state_before_block = self._bits.state  # for ``give_back``
            self._block = self._draw(_BLOCK).tolist()
            self._used = 0
        self._used += 1
        return self._block[self._used - 1]

    def give_back(self) -> None:
        """Set the generator as if only the numbers returned so far had been drawn, one by one."""
        if self._used < len(self._block):
            self._bits.state = self._state_before_block
            self._draw(self._used)


def poisson(unit: Unit, rate: float) -> float:
    """Draw a number of events; infinity for an infinite rate.

    Small rates use ``_few_events``, others transformed rejection.

    Reference:
        Hörmann: The transformed rejection method for generating Poisson random variables,
        Insurance: Mathematics and Economics 12 (1993), algorithm PTRS.
    """
    if math.isinf(rate):
        return rate
    if rate < 10:
        return _few_events(unit, rate) if rate else 0
    root, log_rate = math.sqrt(rate), math.log(rate)
    b = 0.931 + 2.53 * root
    a = -0.059 + 0.02483 * b
    scale = 1.1239 + 1.1328 / (b - 3.4)
    sure = 0.9277 - 3.6224 / (b - 2)
    while True:
        u, v = unit() - 0.5, unit()
        us = 0.5 - abs(u)
        k = math.floor((2 * a / us + b) * u + rate + 0.43) if us else -1
        if us >= 0.07 and v <= sure:
            return k
        if k < 0 or (us < 0.013 and v > us):
            continue
        wanted = -rate + k * log_rate - math.lgamma(k + 1.0)
        if _log(v) + math.log(scale) - math.log(a / (us * us) + b) <= wanted:
            return k


def _few_events(unit: Unit, rate: float) -> int:
    """Draw a number of events for a small rate.

    It is the number of uniform numbers whose product stays above ``exp(-rate)``.
    """
    limit, product, events = math.exp(-rate), 1.0, 0
    while True:
        product *= unit()
        if product <= limit:
            return events
        events += 1


def binomial(unit: Unit, count: float, chance: float) -> float:
    """Draw a number of successes in ``count`` trials of probability ``chance``; NaN for NaN.

    In infinitely many trials there are infinitely many successes.
    """
    if count <= 0 or chance <= 0:
        return 0.0
    if chance >= 1:
        return count
    if math.isnan(count) or math.isnan(chance):
        return math.nan
    if math.isinf(count):
        return count
    less = min(chance, 1 - chance)
    found = (_many_trials if count * less >= 10 else _few_successes)(unit, count, less)
    return found if chance <= 0.5 else count - found


def _few_successes(unit: Unit, count: float, chance: float) -> float:
    """Number of successes, by the distances between them, which are geometrically distributed.

    Reference:
        Devroye: Non-Uniform Random Variate Generation, 1986, page 525.
    """
    log_failure = math.log1p(-chance)
    trials, successes = 0.0, 0
    while True:
        trials += math.ceil(_log(unit()) / log_failure) if log_failure else math.inf
        if trials > count:
            return successes
        successes += 1


def _many_trials(unit: Unit, count: float, chance: float) -> float:
    """Number of successes if at least 10 are expected, by transformed rejection.

    Reference:
        Hörmann: The generation of binomial random variates, Journal of Statistical Computation
        and Simulation 46 (1993), algorithm BTRS.
    """
    deviation = math.sqrt(count * chance * (1 - chance))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * chance
    center = count * chance + 0.5
    sure = 0.92 - 4.2 / b
    alpha = (2.83 + 5.1 / b) * deviation
    while True:
        u, v = unit() - 0.5, unit()
        us = 0.5 - abs(u)
        k = math.floor((2 * a / us + b) * u + center) if us else -1
        if us >= 0.07 and v <= sure:
            return k
        if 0 <= k <= count and _log(v * alpha / (a / (us * us) + b)) <= _log_share(
            k, count, chance
        ):
            return k


def _log_share(k: int, count: float, chance: float) -> float:
    """Logarithm of the probability of ``k`` successes over that of the most likely number."""
    odds = chance / (1 - chance)
    mode = math.floor((count + 1) * chance)
    return (
        (mode + 0.5) * math.log((mode + 1) / (odds * (count - mode + 1)))
        + (count + 1) * math.log((count - mode + 1) / (count - k + 1))
        + (k + 0.5) * math.log(odds * (count - k + 1) / (k + 1))
        + _stirling_rest(mode)
        + _stirling_rest(count - mode)
        - _stirling_rest(k)
        - _stirling_rest(count - k)
    )


#: log k! less Stirling's formula for it, for k from 0 on.
_RESTS = (
    0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.02079067210376509,
    0.0166446911898211, 0.0138761288230707, 0.0118967099458917, 0.0104112652619720,
    0.00925546218271273, 0.00833056343336287,
)  # fmt: skip


def _stirling_rest(k: float) -> float:
    """``log(k!)`` minus Stirling's approximation of it."""
    if k <= 9:
        return _RESTS[int(k)]
    square = (k + 1) * (k + 1)
    return (1 / 12 - (1 / 360 - 1 / 1260 / square) / square) / (k + 1)


def _log(x: float) -> float:
    """Natural logarithm; -inf for 0."""
    return math.log(x) if x else -math.inf


#: 1 / 3 in single precision, as PyTorch has it in any.
_THIRD = 11184811 / 2**25


class Normals:
    """Function that returns normal numbers, which it draws in pairs by Box-Muller.

    Args:
        unit: Function that returns the next uniform number.
        pending: The second number of a pair drawn before, which is returned first; or None.
    """

    def __init__(self, unit: Unit, pending: float | None) -> None:
        self.unit = unit
        self.pending = pending

    def __call__(self) -> float:
        if self.pending is not None:
            found, self.pending = self.pending, None
            return found
        angle = 2 * math.pi * self.unit()
        radius = math.sqrt(-2 * math.log1p(-self.unit()))
        self.pending = radius * math.sin(angle)
        return radius * math.cos(angle)


def standard_gamma(normal: Normals, shape: float) -> float:
    """Draw a number of the gamma distribution of this shape and of rate 1; NaN for NaN.

    Reference:
        Marsaglia and Tsang: A simple method for generating gamma variables, ACM Transactions on
        Mathematical Software 26 (2000).
    """
    if shape == 0 or math.isnan(shape):
        return shape
    factor = 1.0
    if shape < 1:  # draw for shape + 1, which rejects less, and scale the result
        factor = (1 - normal.unit()) ** (1 / shape)
        shape += 1
    d = shape - _THIRD
    c = 1 / math.sqrt(9 * d)
    while True:
        x = normal()
        root = 1 + c * x
        if root <= 0:
            continue
        cube = root * root * root
        u = 1 - normal.unit()
        square = x * x
        if u < 1 - 0.0331 * square * square:
            return factor * d * cube
        if math.log(u) < 0.5 * square + d * (1 - cube + math.log(cube)):
            return factor * d * cube
