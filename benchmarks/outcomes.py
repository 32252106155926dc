"""A pytest plugin that notes how each test ends when it ends: a run that is cut short has told.

``pytest -p benchmarks.outcomes`` writes a line of JSON a test to the file that the environment
variable ``OUTCOMES`` names: its name, how it ended, and why if it failed.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, TextIO

VARIABLE = "OUTCOMES"
_notes: list[TextIO] = []


def pytest_configure(config: Any) -> None:
    """Open the file; of several processes the one that hears of all tests does."""
    if not hasattr(config, "workerinput"):
        _notes.append(open(os.environ[VARIABLE], "w", encoding="utf-8"))


def pytest_unconfigure() -> None:
    """Close it."""
    while _notes:
        _notes.pop().close()


def pytest_runtest_logreport(report: Any) -> None:
    """Note a test's end, or what broke before or after it."""
    how = "error" if report.failed and report.when != "call" else report.outcome
    if _notes and (report.when == "call" or report.outcome != "passed"):
        line = {"test": report.nodeid, "how": how, "why": _why(report) if report.failed else ""}
        print(json.dumps(line), file=_notes[0], flush=True)


def _why(report: Any) -> str:
    crash = getattr(report.longrepr, "reprcrash", None)
    said = crash.message if crash else str(report.longrepr)
    return " ".join(said.split())[:300]


def read(file: Path) -> dict[str, Any]:
    """Counts of the tests by how they ended, and why the first of those that failed did."""
    counts: dict[str, int] = {}
    failed: dict[str, str] = {}
    for line in file.read_text(encoding="utf-8").splitlines() if file.exists() else ():
        note = json.loads(line)
        counts[note["how"]] = counts.get(note["how"], 0) + 1
        if note["how"] in ("failed", "error"):
            failed[note["test"]] = note["why"]
    return {"counts": counts, "failed": dict(sorted(failed.items())[:400])}
