"""Throughput of small ops in two threads at once, as a ratio to one thread."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from threading import Barrier, Thread
from typing import Any

from .libraries import Libraries
from .ops import operands
from .timing import Effort, Statement, loops_for

Work = Callable[[int], None]


def work(a: Any, b: Any) -> Work:
    """Return a function that adds two tensors or arrays ``n`` times, as a training loop would."""

    def run(n: int) -> None:
        for _ in range(n):
            a + b

    return run


def contenders(libraries: Libraries, size: int) -> dict[str, Work]:
    """Return the work of each library that can be used from two threads at once.

    MyGrad and autograd keep their graph in module globals, so they are left out.
    """
    a, b = operands(size)
    works = {"numpy": work(a, b)}
    for name, m in libraries.torch_like().items():
        works[name] = work(m.tensor(a, requires_grad=True), m.tensor(b))
    return works


def seconds_alone(run: Work, loops: int) -> float:
    """Return the seconds of one thread for ``loops``."""
    start = time.perf_counter()
    run(loops)
    return time.perf_counter() - start


def seconds_in_two(run: Work, loops: int) -> float:
    """Return the seconds of two threads for ``loops`` together, without their start."""
    barrier = Barrier(3)

    def run_half() -> None:
        barrier.wait()
        run(loops // 2)

    threads = [Thread(target=run_half) for _ in range(2)]
    for thread in threads:
        thread.start()
    barrier.wait()
    start = time.perf_counter()
    for thread in threads:
        thread.join()
    return time.perf_counter() - start


def measure(libraries: Libraries, size: int, effort: Effort) -> dict[str, float]:
    """Return the throughput of two threads as a ratio to that of one: the median of the turns."""
    works = contenders(libraries, size)
    loops = {
        name: loops_for(Statement("run(1)", {"run": run}).timer(), effort.seconds)
        for name, run in works.items()
    }
    samples: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(effort.rounds):
        for name, run in works.items():
            alone = seconds_alone(run, loops[name])
            samples[name].append(alone / seconds_in_two(run, loops[name]))
    return {name: statistics.median(values) for name, values in samples.items()}
