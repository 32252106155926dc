"""The project's tests on a GPU, in a pytest process with a time limit."""

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
#: Tests for GPUs alone, which choose the backend themselves.
GPU_TESTS = ("tests/cuda", "tests/backends/cupy")


def run_on_cupy(seconds: float, which: str) -> Report:
    """Run the suite on real CuPy, in several processes if pytest-xdist is installed.

    ``which`` is a pytest expression over marks: tests with PyTorch run apart from the rest.
    """
    # Left out: slow tests build and install, clients run on CPUs, some folders are not about
    # arrays, and programs print results of the CPU's random numbers.
    names = ("facade", "state", "typing", "test_programs.py")
    left_out = [f"--ignore=tests/{name}" for name in names]
    wanted = ["-m", f"not slow and not clients and {which}"]
    return run([*_process_options(14), "--backend", "cupy", *wanted, *left_out, "tests"], seconds)


def run_gpu_tests(seconds: float) -> Report:
    """Run the tests that need a GPU and name its backend."""
    return run([*_process_options(4), *GPU_TESTS], seconds)


def _process_options(most: int) -> list[str]:
    """Options of pytest for at most ``most`` processes; none without pytest-xdist."""
    has_xdist = importlib.util.find_spec("xdist") is not None
    return ["-n", str(min(most, os.cpu_count() or 1))] if has_xdist else []


def run(options: list[str], seconds: float) -> Report:
    """Run pytest with some options; return the outcomes of the tests, also of a run out of time."""
    # Warnings of other packages on such a machine are not faults of the library.
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
