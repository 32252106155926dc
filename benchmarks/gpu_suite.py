"""The project's tests on a GPU, in a pytest of their own that may run out of time."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from . import outcomes

ROOT = Path(__file__).parent.parent
Report = dict[str, Any]
#: Tests of what a GPU adds, which choose the backend themselves.
GPU_TESTS = ("tests/cuda", "tests/backends/cupy")


def on_cupy(seconds: float, which: str) -> Report:
    """The suite on real CuPy, in several processes where pytest can start them.

    ``which`` is a pytest expression over marks: what needs PyTorch is run apart from the rest.
    """
    # Slow ones build and install, clients are tried on processors, some are about no array, and
    # programs print what processors' random numbers give.
    names = ("facade", "state", "typing", "test_programs.py")
    left_out = [f"--ignore=tests/{name}" for name in names]
    wanted = ["-m", f"not slow and not clients and {which}"]
    return run([*_several(14), "--backend", "cupy", *wanted, *left_out, "tests"], seconds)


def of_gpus(seconds: float) -> Report:
    """The tests that need a GPU and name its backend: the rest of the suite runs in their stead."""
    return run([*_several(4), *GPU_TESTS], seconds)


def _several(most: int) -> list[str]:
    there = importlib.util.find_spec("xdist") is not None
    return ["-n", str(min(most, os.cpu_count() or 1))] if there else []


def run(options: list[str], seconds: float) -> Report:
    """How tests end; where the time runs out, how those ended that had been run by then."""
    # Machines of this kind do not change under a test: warnings of other packages are not ours.
    command = [sys.executable, "-m", "pytest", "-q", "--tb=short", "--no-header",
               "-p", "no:cacheprovider", "-p", "benchmarks.outcomes", "-W", "default",
               "--continue-on-collection-errors", *options]  # fmt: skip
    report: Report = {}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "outcomes"
        paths = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
        environment = {outcomes.VARIABLE: str(file), "PYTHONPATH": paths, "PYTEST_ADDOPTS": ""}
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=seconds, check=False,
                env={**os.environ, **environment},
            )  # fmt: skip
            if done.returncode not in (0, 1):
                said = (done.stdout + done.stderr)[-2000:]
                report["error"] = f"pytest ended with status {done.returncode}\n{said}"
        except subprocess.TimeoutExpired:
            report["stopped"] = f"after {seconds:.0f} s, with tests left to run"
        return {**report, **outcomes.read(file)}
