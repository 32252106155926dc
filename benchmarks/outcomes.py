"""A pytest plugin that writes the outcome of each test at once, so that no timeout loses them.

``pytest -p benchmarks.outcomes`` writes one line of JSON for each test to the file that the
environment variable ``OUTCOMES`` names: its name, its outcome, and the reason if it failed. A file
that cannot be collected counts as an error. If there are several processes, one whose GPU is lost
ends and is replaced, because all of its further tests would fail.
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
#: The folder in a path of this machine, which reports leave out.
_FOLDER = re.compile(r"(?<![\w.])/(?:[\w.+-]+/)+")
_notes: list[TextIO] = []
#: In one of several processes: whether the current test has failed.
_worker: dict[str, bool] = {}


def pytest_configure(config: Any) -> None:
    """Open the file; of several processes, the one that gets all reports does."""
    if hasattr(config, "workerinput"):
        _worker["failed"] = False
    else:
        _notes.append(open(os.environ[VARIABLE], "w", encoding="utf-8"))  # noqa: SIM115  # closed at the end


def pytest_unconfigure() -> None:
    """Close the file."""
    while _notes:
        _notes.pop().close()


@pytest.hookimpl(trylast=True)  # after the report to the process that gets all of them
def pytest_runtest_logreport(report: Any) -> None:
    """Write the outcome of a test, or an error of its setup or teardown."""
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
    """Write the error of a file that could not be collected, as where a package is missing."""
    if report.failed:
        _note(report, "error")


def _note(report: Any, how: str) -> None:
    line = {"test": report.nodeid, "how": how, "why": _why(report) if report.failed else ""}
    if _notes:
        print(json.dumps(line), file=_notes[0], flush=True)


def gpu_is_lost() -> bool:
    """Whether every call of CUDA fails in this process, as after an illegal memory access."""
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
    """The number of tests by outcome, and the reasons of the first failures."""
    counts: dict[str, int] = {}
    failed: dict[str, str] = {}
    for line in file.read_text(encoding="utf-8").splitlines() if file.exists() else ():
        note = json.loads(line)
        counts[note["how"]] = counts.get(note["how"], 0) + 1
        if note["how"] in ("failed", "error"):
            failed[note["test"]] = note["why"]
    return {"counts": counts, "failed": dict(sorted(failed.items())[:400])}
