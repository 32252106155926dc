"""The line search of L-BFGS: a step length that satisfies the strong Wolfe conditions."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["Point", "strong_wolfe"]

#: Constants of the two conditions: sufficient decrease and curvature.
_DECREASE = 1e-4
_CURVATURE = 0.9


@dataclass
class Point:
    """A trial point of the line search.

    Attributes:
        t: Step length.
        loss: Loss at this step length.
        gradient: Gradient at this step length.
        slope: Product of the gradient with the direction.
        evals: Number of evaluations; set on the result.
    """

    t: float
    loss: float
    gradient: Any
    slope: float
    evals: int = 0


def strong_wolfe(
    probe: Callable[[float], tuple[float, Any]],
    t: float,
    direction: Any,
    loss: float,
    gradient: Any,
    slope: Any,
    *,
    tolerance_change: float,
    max_ls: int,
) -> Point:
    """Find a step length that satisfies the strong Wolfe conditions, or the best tried.

    Args:
        probe: Function from a step length to the loss and gradient.
        t: The first trial.
        direction: Direction of descent.
        loss: Loss at length 0.
        gradient: Gradient at length 0.
        slope: Product of ``gradient`` with ``direction``.
        tolerance_change: Size of the bracket, in units of the parameters, below which the search
            ends.
        max_ls: The largest number of trials after the first one.

    Reference:
        J. Nocedal, S. J. Wright, "Numerical Optimization", 2nd edition, 2006, algorithms
        3.5 and 3.6.
    """
    search = _LineSearch(probe, direction, Point(0.0, loss, gradient, float(slope)), max_ls)
    bracket = search.bracket(t)
    best = search.zoom(bracket, tolerance_change) if len(bracket) == 2 else bracket[0]
    best.evals = search.evals
    return best


class _LineSearch:
    """State of one line search.

    Attributes:
        probe: Function from a step length to the loss and gradient.
        direction: Direction of descent.
        start: The point at length 0.
        max_ls: The largest number of trials after the first one.
        evals: Number of calls of ``probe`` so far.
        rounds: Number of trials after the first one so far.
    """

    def __init__(
        self,
        probe: Callable[[float], tuple[float, Any]],
        direction: Any,
        start: Point,
        max_ls: int,
    ) -> None:
        self.probe = probe
        self.direction = direction
        self.start = start
        self.max_ls = max_ls
        self.evals = 0
        self.rounds = 0

    def evaluate(self, t: float) -> Point:
        """Evaluate loss, gradient and slope at a step length."""
        loss, gradient = self.probe(t)
        self.evals += 1
        return Point(t, loss, gradient, float(gradient.dot(self.direction)))

    def is_too_high(self, point: Point) -> bool:
        """Whether the loss violates the sufficient decrease condition."""
        limit = self.start.loss + _DECREASE * point.t * self.start.slope
        return point.loss > limit

    def is_flat(self, point: Point) -> bool:
        """Whether the slope satisfies the curvature condition."""
        return abs(point.slope) <= -_CURVATURE * self.start.slope

    def bracket(self, t: float) -> list[Point]:
        """Lengthen the step ``t`` until two points enclose a solution, or one point is a solution.

        Returns:
            ``[point]`` if it satisfies both conditions, else the two points of the bracket, in the
            order of their step lengths.
        """
        last, point = self.start, self.evaluate(t)
        while self.rounds < self.max_ls:
            if self.is_too_high(point) or (self.rounds > 1 and point.loss >= last.loss):
                return [last, point]
            if self.is_flat(point):
                return [point]
            if point.slope >= 0:
                return [last, point]
            low = point.t + 0.01 * (point.t - last.t)
            t = _cubic_minimum(last, point, low, point.t * 10)
            last, point = point, self.evaluate(t)
            self.rounds += 1
        return [self.start, point]

    def zoom(self, bracket: list[Point], tolerance_change: float) -> Point:
        """Narrow the bracket until a trial point satisfies both conditions.

        Returns:
            That point; or the point of lowest loss, if the bracket becomes smaller than
            ``tolerance_change`` or the trials are used up.
        """
        low, high = sorted(bracket, key=lambda point: point.loss)
        size = float(self.direction.abs().max())
        near_end = False
        while self.rounds < self.max_ls and abs(high.t - low.t) * size >= tolerance_change:
            t, near_end = _inner_trial(low, high, near_end)
            point = self.evaluate(t)
            self.rounds += 1
            if self.is_too_high(point) or point.loss >= low.loss:
                high = point
                if high.loss < low.loss:
                    low, high = high, low
                continue
            if self.is_flat(point):
                return point
            if point.slope * (high.t - low.t) >= 0:
                high = low
            low = point
        return low


def _inner_trial(low: Point, high: Point, was_near_end: bool) -> tuple[float, bool]:
    """Choose the next step length inside the bracket.

    It is the minimizer of the cubic through both points. Two consecutive trials close to an end of
    the bracket would hardly narrow it, so the second one is moved inside by a tenth of the bracket.

    Args:
        low: One end of the bracket.
        high: The other end.
        was_near_end: Whether the previous trial was close to an end, and was not moved.

    Returns:
        The step length, and ``was_near_end`` for the next call.
    """
    left, right = sorted((low.t, high.t))
    t = _cubic_minimum(low, high, left, right)
    margin = 0.1 * (right - left)
    if min(right - t, t - left) >= margin:
        return t, False
    if not was_near_end and left < t < right:
        return t, True
    return (right - margin if right - t < t - left else left + margin), False


def _cubic_minimum(a: Point, b: Point, low: float, high: float) -> float:
    """Minimizer of the cubic through two points and slopes, clamped to bounds.

    Reference: Nocedal and Wright, equation 3.59.
    """
    if a.t > b.t:
        a, b = b, a
    d1 = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.t - b.t)
    radicand = d1 * d1 - a.slope * b.slope
    if not radicand >= 0:
        return (low + high) / 2
    d2 = math.sqrt(radicand)
    t = b.t - (b.t - a.t) * ((b.slope + d2 - d1) / (b.slope - a.slope + 2 * d2))
    return min(max(t, low), high)
