"""Time statements in turns and keep the medians."""

from __future__ import annotations

import statistics
import time
import timeit
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Statement:
    """Source to run in a loop, and the names it uses.

    Source and not a function, because a call costs as much as what some rows measure.
    """

    source: str
    names: Mapping[str, Any] = field(default_factory=dict)

    def timer(self) -> timeit.Timer:
        # timeit switches the garbage collector off; a library that leaves cycles behind has to
        # pay for them here as it does in a program.
        return timeit.Timer(self.source, setup="import gc; gc.enable()", globals=dict(self.names))


@dataclass(frozen=True)
class Effort:
    """How long to measure: ``rounds`` turns of about ``seconds`` for each library.

    Before each turn everybody rests for ``rest`` seconds: idle threads of a pool spin for up to
    0.2 s before they sleep, on the core that the next library wants. After a rest nothing is
    measured for as long as a turn takes: the kernel may keep the threads that wake up on one core
    for some 50 ms, which a program that goes on working pays once.
    """

    rounds: int = 15
    seconds: float = 0.02
    rest: float = 0.0


def loops_for(timer: timeit.Timer, seconds: float) -> int:
    """Return how many loops of ``timer`` take about ``seconds``."""
    timer.timeit(1)  # the first call imports, allocates and starts threads
    loops = 1
    while (spent := timer.timeit(loops)) < seconds / 4:
        loops *= 2
    return max(1, round(loops * seconds / spent))


def in_turns(timers: Mapping[str, Callable[[], float]], effort: Effort) -> dict[str, list[float]]:
    """Return what each timer returned, asked in turns.

    The order rotates from round to round, so that nobody always follows the same neighbour.
    """
    samples: dict[str, list[float]] = {name: [] for name in timers}
    names = list(timers)
    for turn in range(effort.rounds):
        shift = turn % len(names)
        for name in names[shift:] + names[:shift]:
            time.sleep(effort.rest)
            samples[name].append(timers[name]())
    return samples


def medians_of(timers: Mapping[str, Callable[[], float]], effort: Effort) -> dict[str, float]:
    """Return the median of what each timer returns, asked in turns."""
    return {name: statistics.median(values) for name, values in in_turns(timers, effort).items()}


def least_of(timers: Mapping[str, Callable[[], float]], effort: Effort) -> dict[str, float]:
    """Return the least of what each timer returns, asked in turns."""
    return {name: min(values) for name, values in in_turns(timers, effort).items()}
