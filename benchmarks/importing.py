"""What ``import`` costs, each time in a fresh process: over NumPy, and as a whole process."""

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
    """Return what a program prints in a process of its own."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    # Every user but the first of all finds bytecode, as the other libraries' installs left theirs.
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
    """Return the least seconds of ``python -c 'import numpy, name'`` and of NumPy's alone."""
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

    A first turn is thrown away: it writes bytecode and fills the disk cache.
    """
    samples: dict[str, list[float]] = {name: [] for name in names}
    for turn in range(rounds + 1):
        for name in names:
            seconds = seconds_over_numpy(name)
            if turn:
                samples[name].append(seconds)
    return {name: statistics.median(values) for name, values in samples.items()}
