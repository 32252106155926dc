"""Timing of statements in turns."""

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

    It is source and not a function, because a call takes as long as some of the statements.
    """

    source: str
    names: Mapping[str, Any] = field(default_factory=dict)

    def timer(self) -> timeit.Timer:
        """Return a timer of the statement, with the garbage collector on."""
        # timeit switches the garbage collector off. Switch it on, so that a library that creates
        # reference cycles pays for them as in a program.
        return timeit.Timer(self.source, setup="import gc; gc.enable()", globals=dict(self.names))


@dataclass(frozen=True)
class Effort:
    """Length of a measurement: ``rounds`` turns of about ``seconds`` for each library.

    All libraries rest for ``rest`` seconds before each turn, because idle threads of a pool spin
    for up to 0.2 s before they sleep, on the core that the next library needs. After a rest, one
    turn is not measured: the kernel may keep the threads that wake up on one core for some 50 ms,
    which a longer program pays once.
    """

    rounds: int = 15
    seconds: float = 0.02
    rest: float = 0.0


def loops_for(timer: timeit.Timer, seconds: float) -> int:
    """Return the number of loops of ``timer`` that take about ``seconds``."""
    timer.timeit(1)  # the first call imports, allocates and starts threads
    loops = 1
    while (spent := timer.timeit(loops)) < seconds / 4:
        loops *= 2
    return max(1, round(loops * seconds / spent))


def collect_samples(
    timers: Mapping[str, Callable[[], float]], effort: Effort
) -> dict[str, list[float]]:
    """Call the timers in turns; return for each the list of its results, one for each round.

    The order rotates from round to round, so that no library always follows the same other one.
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
    """Call the timers in turns; return the median of each."""
    return {
        name: statistics.median(values) for name, values in collect_samples(timers, effort).items()
    }


def least_of(timers: Mapping[str, Callable[[], float]], effort: Effort) -> dict[str, float]:
    """Call the timers in turns; return the minimum of each."""
    return {name: min(values) for name, values in collect_samples(timers, effort).items()}
