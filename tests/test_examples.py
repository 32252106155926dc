"""The programs under examples/ run from anywhere and do what they promise."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent


def run(script: str, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore"}
    return subprocess.run(
        [sys.executable, str(ROOT / "examples" / script), *arguments],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.slow
def test_digits_recognises_97_percent_and_draws(tmp_path: Path) -> None:
    for module in ("sklearn", "matplotlib", "tqdm"):
        pytest.importorskip(module, reason="the `examples` extra is not installed")
    done = run("digits.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    epochs = re.findall(r"epoch +(\d+)   loss ([\d.]+)   held-out accuracy ([\d.]+)%", done.stdout)
    assert [int(number) for number, _, _ in epochs] == list(range(1, 31))
    assert float(epochs[-1][1]) < 0.1 * float(epochs[0][1])
    assert float(epochs[-1][2]) > 97
    picture = tmp_path / "digits.png"
    assert str(picture) in done.stdout
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_digits_repeats_the_losses_of_pytorch(torch: Any, tmp_path: Path) -> None:
    pytest.importorskip("sklearn", reason="the `examples` extra is not installed")
    source = (ROOT / "examples" / "digits.py").read_text()
    source = source.replace("import tinytorch as tt", "import torch as tt")
    (tmp_path / "digits.py").write_text(source.replace("from tinytorch", "from torch"))
    ours, theirs = (
        subprocess.run(
            [sys.executable, script, "--epochs", "5"],
            cwd=tmp_path,
            text=True,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            capture_output=True,
            timeout=240,
        )
        for script in (str(ROOT / "examples" / "digits.py"), "digits.py")
    )
    epochs = re.compile(r"^epoch .*", re.MULTILINE)
    assert epochs.findall(ours.stdout) == epochs.findall(theirs.stdout) != [], ours.stderr


@pytest.mark.slow
def test_digits_fails_when_it_learned_too_little(tmp_path: Path) -> None:
    pytest.importorskip("sklearn", reason="the `examples` extra is not installed")
    done = run("digits.py", "--epochs=1", "--lr=1e-5", cwd=tmp_path)
    assert done.returncode == 1
    assert "expected at least 97%" in done.stderr
