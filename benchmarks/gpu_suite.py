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
GPU_TESTS = (
    "cuda/test_cuda.py", "cuda/test_cuda_family.py", "cuda/test_cuda_sources.py",
    "cuda/test_cupy_backend.py", "cuda/test_deferred_checks.py", "cuda/test_pinned.py",
    "cuda/test_unusable_cupy.py", "test_strictcupy_contract.py", "test_strictcupy_waits.py",
)  # fmt: skip


def on_cupy(seconds: float, which: str) -> Report:
    """The suite on real CuPy, in several processes where pytest can start them.

    ``which`` is a pytest expression over marks: what needs PyTorch is run apart from the rest.
    """
    several = importlib.util.find_spec("xdist") is not None
    options = ["-n", str(min(14, os.cpu_count() or 1))] if several else []
    # Slow ones build and install; what is about no array is left out by the option itself.
    left_out = [
        "-m",
        f"not slow and {which}",
        "--ignore",
        "tests/state",
        "--ignore",
        "tests/typing",
    ]
    return run([*options, "--backend", "cupy", *left_out, "tests"], seconds)


def of_gpus(seconds: float) -> Report:
    """The tests that need a GPU and name its backend: the rest of the suite runs in their stead."""
    return run([f"tests/{name}" for name in GPU_TESTS], seconds)


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
