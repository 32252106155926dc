"""Compare random programs and calls with PyTorch: ``python -m tests.fuzz --minutes 5 --seed 0``.

Each difference is reduced and printed as lines that can go into a test, unless ``known`` lists its
kind with the reason. The exit status is 1 if there was a new kind.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import re
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

import tinytorch as tt
from tests.fuzz import calls, programs
from tests.fuzz.compare import Difference, limit
from tests.fuzz.known import reason

#: Forked, so that a process that is started again has PyTorch loaded.
context = multiprocessing.get_context("fork")
Compare = Callable[[list[str]], Difference | None]


def reduce(lines: list[str], found: Difference, compare: Compare) -> tuple[list[str], Difference]:
    """Leave out lines, from the last to the first, as long as a difference of the kind stays."""
    again = True
    while again:
        again = False
        for at in reversed(range(len(lines))):
            fewer = [*lines[:at], *lines[at + 1 :]]
            other = compare(fewer)
            if other is not None and other.kind == found.kind:
                lines, found, again = fewer, other, True
    return lines, found


@dataclass
class Search:
    """Extent of a search for differences.

    Attributes:
        end: When to stop, by ``time.monotonic()``.
        count: How many programs and calls there are.
        seed: Number that decides every program and call.
        only: ``"programs"``, ``"calls"`` or None for both.
    """

    end: float
    count: float
    seed: int
    only: str | None

    def __post_init__(self) -> None:
        # PyTorch's database takes seconds to import: it is there before a process is forked.
        self.sources: dict[str, Callable[[int], list[str]]] = {"programs": programs.program}
        if self.only != "programs":
            self.sources["calls"] = calls.Calls().call

    def continues(self, done: int) -> bool:
        """Whether neither the time nor the programs and calls have come to their end."""
        return done < self.count and time.monotonic() < self.end

    def run(self, first: int, pipe: Any) -> None:
        """Send what happens from item ``first`` on: ``(item, key, report or None)``."""
        at = first
        while self.continues(at - 1):
            name = self.only or ("programs" if at % 4 == 0 else "calls")
            lines = self.sources[name](self.seed * 1_000_003 + at)
            pipe.send((at, name, None))
            happened = examine(name, lines)
            if happened is not None:
                pipe.send((at, *happened))
            at += 1

    def watch(self) -> tuple[Counter[str], dict[str, str]]:
        """Count what happens in a process that PyTorch may end; return new kinds, too."""
        counts: Counter[str] = Counter()
        reports: dict[str, str] = {}
        at = 0
        while self.continues(at):
            ours, theirs = context.Pipe(duplex=False)
            process = context.Process(target=self.run, args=(at + 1, theirs))
            process.start()
            theirs.close()
            try:
                while True:
                    at, key, report = ours.recv()
                    counts[key] += 1
                    if report is not None and key not in reports:
                        reports[key] = report
                        print(report, flush=True)
            except EOFError:
                process.join()
            if process.exitcode:
                if process.exitcode > 0:
                    raise SystemExit("the comparison itself failed: see the traceback")
                counts[f"known: PyTorch dies of signal {-process.exitcode}"] += 1
        return counts, reports


def examine(name: str, lines: list[str]) -> tuple[str, str | None] | None:
    """Compare one program or call: the kind of its difference, with a report if it is new."""
    module = programs if name == "programs" else calls
    compare: Compare = lambda lines: module.compare((tt, torch), lines)  # noqa: E731
    found = compare(lines)
    if found is None:
        return None
    if found.kind != "accepts":
        lines, found = reduce(lines, found, compare)
    why = reason(name, lines, found)
    if why is None and name == "programs" and found.kind == "value":
        if programs.writes_an_element_twice(torch, lines):
            why = "PyTorch does not see that an element is written twice in one call"
        elif programs.reads_what_it_wrote((tt, torch), lines):
            why = "PyTorch reads what the same call has written already"
        elif programs.writes_to_the_given_gradient((tt, torch), lines):
            why = "PyTorch accumulates gradients into the memory of the one that backward was given"
        elif programs.reshapes_a_result(torch, lines):
            why = "data of another shape was assigned to a result: its gradient is of no function"
    if why is None and name == "calls" and found.kind == "value":
        if calls.is_right_in_double((tt, torch), lines):
            why = "PyTorch's steps round or overflow; its result in float64 is ours"
        elif calls.names_equal_elements(tt, lines, found):
            why = "which of equal elements is named; in PyTorch it depends on layout and threads"
    if why is not None:
        return f"known: {why}", None
    last = found.where if name == "calls" else re.sub(r"\d+", "", lines[-1])
    key = f"new: {name} {found.kind} {last}"
    return key, "\n".join((f"--- {key}", *lines, f"# {found.where}: {found.text}"))


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--count", type=int, help="programs and calls, in the place of minutes")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=("programs", "calls"))
    options: Any = parser.parse_args()
    torch.set_num_threads(1)
    limit(30.0)
    search = Search(math.inf, options.count or math.inf, options.seed, options.only)
    if not options.count:
        search.end = time.monotonic() + 60 * options.minutes
    counts, reports = search.watch()
    for name, count in sorted(counts.items(), key=lambda item: (item[0][:3] == "new", -item[1])):
        print(f"{count:7} {name}")
    size = f"{options.count} cases" if options.count else f"{options.minutes:g} minutes"
    print(f"seed {options.seed}, {size}: {len(reports)} new kinds")
    return 1 if reports else 0


if __name__ == "__main__":
    sys.exit(main())
