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
#: The open file of the outcomes; empty in a process that does not write them.
_files: list[TextIO] = []
#: In one of several processes: ``"failed"``, whether the current test has failed; else empty.
_worker: dict[str, bool] = {}


def pytest_configure(config: Any) -> None:
    """Open the file; of several processes, the one that gets all reports does."""
    if hasattr(config, "workerinput"):
        _worker["failed"] = False
    else:
        _files.append(open(os.environ[VARIABLE], "w", encoding="utf-8"))  # noqa: SIM115  # closed at the end


def pytest_unconfigure() -> None:
    """Close the file."""
    while _files:
        _files.pop().close()


@pytest.hookimpl(trylast=True)  # after the report to the process that gets all of them
def pytest_runtest_logreport(report: Any) -> None:
    """Write the outcome of a test, or an error of its setup or teardown."""
    outcome = "error" if report.failed and report.when != "call" else report.outcome
    if report.when == "call" or report.outcome != "passed":
        _write_outcome(report, outcome)
    if _worker:
        _worker["failed"] |= report.failed
        if report.when == "teardown" and _worker["failed"]:
            _worker["failed"] = False
            if gpu_is_lost():
                os._exit(1)


def pytest_collectreport(report: Any) -> None:
    """Write the error of a file that could not be collected, as where a package is missing."""
    if report.failed:
        _write_outcome(report, "error")


def _write_outcome(report: Any, outcome: str) -> None:
    """Write a line of JSON: the test's name, its outcome, and the reason if it failed."""
    reason = _failure_reason(report) if report.failed else ""
    line = {"test": report.nodeid, "how": outcome, "why": reason}
    if _files:
        print(json.dumps(line), file=_files[0], flush=True)


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


def _failure_reason(report: Any) -> str:
    """Up to 300 characters of the message of a failed test, without this machine's folders."""
    crash = getattr(report.longrepr, "reprcrash", None)
    text = " ".join((crash.message if crash else str(report.longrepr)).split())
    text = _FOLDER.sub("", text)
    return text[:300] if crash else text[-300:]


def read(file: Path) -> dict[str, Any]:
    """The number of tests by outcome, and the reasons of the first failures, from such a file."""
    counts: dict[str, int] = {}
    failed: dict[str, str] = {}
    for line in file.read_text(encoding="utf-8").splitlines() if file.exists() else ():
        test = json.loads(line)
        counts[test["how"]] = counts.get(test["how"], 0) + 1
        if test["how"] in ("failed", "error"):
            failed[test["test"]] = test["why"]
    return {"counts": counts, "failed": dict(sorted(failed.items())[:400])}
