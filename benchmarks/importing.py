"""What ``import`` costs over ``import numpy``, each time in a fresh process."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from collections.abc import Sequence

PROGRAM = """
import time
import numpy
start = time.perf_counter()
import {name}
print(time.perf_counter() - start)
"""


def seconds_over_numpy(name: str) -> float:
    """Return the seconds that ``import name`` takes in a process that has imported NumPy."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    # Every user but the first of all finds bytecode, as the other libraries' installs left theirs.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(name=name)],
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    )
    return float(done.stdout)


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
