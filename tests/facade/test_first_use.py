"""First use from several threads: whatever is loaded late is loaded once and whole."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.facade.fresh import ROOT

PROGRAM = Path(__file__).parent / "programs" / "first_use.py"


@pytest.mark.parametrize("seed", range(30))
def test_threads_may_use_everything_first(seed: int) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(PROGRAM), str(seed)],
        capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
