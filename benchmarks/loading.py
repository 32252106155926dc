"""Speed of a loader with worker processes, and of the batches that they send.

``python -m benchmarks.loading`` prints, for tinytorch and PyTorch in turn in one run:

- passes over a dataset of work in pure Python, with 0 and with 2 workers: times and their ratio;
- megabytes per second of large batches from one worker without other work.

Times are minima over several rounds. If other programs use the processors, the ratio of times is
unreliable. The processor times then predict the ratio on two idle processors: the time of the pass
without workers over the larger of the parent's and half of the workers'.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import time
from importlib import import_module
from typing import Any

LIBRARIES = ("tinytorch", "torch")


class Work:
    """Samples that each take about a millisecond of Python."""

    def __len__(self) -> int:
        return 2400

    def __getitem__(self, index: int) -> float:
        total = 0.0
        for i in range(20_000):
            total += i % 7
        return total + index


class Large:
    """Samples of 4 MB, created beforehand."""

    def __init__(self, torch: Any) -> None:
        self.sample = torch.ones(1_000_000)

    def __len__(self) -> int:
        return 100

    def __getitem__(self, index: int) -> Any:
        return self.sample


def seconds(loader: Any) -> tuple[float, float, float]:
    """Return the seconds of one pass, and the processor time of the parent and of its children."""
    before, start = os.times(), time.perf_counter()
    for _ in loader:
        pass
    passed, after = time.perf_counter() - start, os.times()
    spent = [now - then for now, then in zip(after, before, strict=True)]
    return passed, spent[0] + spent[1], spent[2] + spent[3]


def least(rounds: int, loader: Any) -> tuple[float, float, float]:
    """Return the minimum of each time that ``seconds`` returns, over several passes."""
    found = zip(*(seconds(loader) for _ in range(rounds)), strict=True)
    passed, parent, children = map(min, found)
    return passed, parent, children


def measure(name: str, rounds: int) -> None:
    """Print the lines of one library."""
    torch = import_module(name)
    load = torch.utils.data.DataLoader
    alone, spent_alone, _ = least(rounds, load(Work(), batch_size=20))
    shared, parent, children = least(rounds, load(Work(), batch_size=20, num_workers=2))
    print(f"{name}: pure Python, 0 workers {alone:.3f} s, 2 workers {shared:.3f} s")
    print(
        f"{name}: {alone / shared:.2f} times faster; processors spend {spent_alone:.2f} s alone, "
        f"{parent:.2f} s in the parent and {children:.2f} s in two workers: "
        f"{spent_alone / max(parent, children / 2):.2f} times on idle ones"
    )
    data = Large(torch)
    found, _, _ = least(rounds, load(data, batch_size=4, num_workers=1))
    print(f"{name}: {len(data) * 4 / found:.0f} MB a second from one worker")


def main() -> None:
    """Measure the libraries that are installed."""
    parser = argparse.ArgumentParser(description="Time loaders with worker processes.")
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    for name in LIBRARIES:
        if importlib.util.find_spec(name) is not None:
            measure(name, rounds)


if __name__ == "__main__":
    main()
