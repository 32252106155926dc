"""Time of ``import``, each in a new process: above NumPy's, and of a whole process."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from functools import partial

from .timing import Effort, least_of

PROGRAM = """
import time
import numpy
start = time.perf_counter()
import {name}
print(time.perf_counter() - start)
"""


def run(program: str) -> str:
    """Run a program in a process of its own and return its output."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    # Users have bytecode from the first import on, as the other libraries have from installation.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout


def seconds_over_numpy(name: str) -> float:
    """Return the seconds that ``import name`` takes in a process that has imported NumPy."""
    return float(run(PROGRAM.format(name=name)))


def whole_process(name: str, rounds: int) -> dict[str, float]:
    """Return the minimal seconds of ``python -c 'import numpy, name'`` and of NumPy alone."""
    programs = {name: f"import numpy, {name}", "numpy": "import numpy"}

    def seconds(program: str) -> float:
        start = time.perf_counter()
        run(program)
        return time.perf_counter() - start

    timers = {library: partial(seconds, program) for library, program in programs.items()}
    least_of(timers, Effort(rounds=1))
    return least_of(timers, Effort(rounds=rounds))


def measure(names: Sequence[str], rounds: int) -> dict[str, float]:
    """Return the median seconds of each import, measured in turns.

    The first turn does not count: it writes bytecode and fills the disk cache.
    """
    samples: dict[str, list[float]] = {name: [] for name in names}
    for turn in range(rounds + 1):
        for name in names:
            seconds = seconds_over_numpy(name)
            if turn:
                samples[name].append(seconds)
    return {name: statistics.median(values) for name, values in samples.items()}
