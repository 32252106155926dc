"""A pytest plugin that notes how each test ends when it ends: a run that is cut short has told.

``pytest -p benchmarks.outcomes`` writes a line of JSON a test to the file that the environment
variable ``OUTCOMES`` names: its name, how it ended, and why if it failed. A file that cannot be
read counts as an error. Of several processes, one whose GPU is lost ends, and another takes its
place: the rest of its tests would fail for that alone.
"""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from typing import Any, TextIO

import pytest

VARIABLE = "OUTCOMES"
#: Where a file lies on the machine, but for its name: results are kept, and read elsewhere.
_FOLDER = re.compile(r"(?<![\w.])/(?:[\w.+-]+/)+")
_notes: list[TextIO] = []
#: In one of several processes: whether the test that runs has failed.
_worker: dict[str, bool] = {}


def pytest_configure(config: Any) -> None:
    """Open the file; of several processes the one that hears of all tests does."""
    if hasattr(config, "workerinput"):
        _worker["failed"] = False
    else:
        _notes.append(open(os.environ[VARIABLE], "w", encoding="utf-8"))  # noqa: SIM115  # closed at the end


def pytest_unconfigure() -> None:
    """Close it."""
    while _notes:
        _notes.pop().close()


@pytest.hookimpl(trylast=True)  # when the process that hears of all tests has been told
def pytest_runtest_logreport(report: Any) -> None:
    """Note a test's end, or what broke before or after it."""
    how = "error" if report.failed and report.when != "call" else report.outcome
    if report.when == "call" or report.outcome != "passed":
        _note(report, how)
    if _worker:
        _worker["failed"] |= report.failed
        if report.when == "teardown" and _worker["failed"]:
            _worker["failed"] = False
            if gpu_is_lost():
                os._exit(1)


def pytest_collectreport(report: Any) -> None:
    """Note a file whose tests could not be found, as where a package is missing."""
    if report.failed:
        _note(report, "error")


def _note(report: Any, how: str) -> None:
    line = {"test": report.nodeid, "how": how, "why": _why(report) if report.failed else ""}
    if _notes:
        print(json.dumps(line), file=_notes[0], flush=True)


def gpu_is_lost() -> bool:
    """Whether CUDA refuses everything in this process, as after an illegal access to memory."""
    cupy: Any = sys.modules.get("cupy")
    if cupy is None:
        return False
    try:
        cupy.cuda.runtime.deviceSynchronize()
    except cupy.cuda.runtime.CUDARuntimeError:
        return True
    return False


def _why(report: Any) -> str:
    crash = getattr(report.longrepr, "reprcrash", None)
    said = " ".join((crash.message if crash else str(report.longrepr)).split())
    said = _FOLDER.sub("", said)
    return said[:300] if crash else said[-300:]


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
