"""Programs as PyTorch's users write them run with one import line changed, and print the same.

``tests/programs/`` and the browser page have them. Each runs on tinytorch; where PyTorch is
installed it runs there too, and what the two print must agree to the digits printed. Elsewhere
what the program prints must be finite, and its loss must fall.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import math
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tinytorch as tt

ROOT = Path(__file__).parent.parent
#: The examples of the page that runs in the browser.
EXAMPLES = ROOT / "docs" / "browser" / "examples"
PROGRAMS = [*sorted((ROOT / "tests" / "programs").glob("*.py")), EXAMPLES / "pytorch_program.py"]
#: Programs that print no single loss over time.
NO_LOSS_CURVE = {"beam_search", "dqn", "gan", "reinforce", "schedules", "spectral_gan"}

_NUMBER = re.compile(r"-?\d+\.\d*(?:e[-+]?\d+)?")


def test_there_are_programs() -> None:
    assert len(PROGRAMS) >= 35


@pytest.fixture(autouse=True)
def default_dtypes() -> Iterator[None]:
    """A program may change the default dtype, and fail before it changes it back."""
    yield
    tt.set_default_dtype(tt.float32)
    if importlib.util.find_spec("torch") is not None:
        import torch

        torch.set_default_dtype(torch.float32)


def for_tinytorch(source: str) -> str:
    """The program with its import lines changed, and nothing else."""
    source = re.sub(r"^import torch$", "import tinytorch as torch", source, flags=re.M)
    return re.sub(r"^(from|import) torch\b", r"\1 tinytorch", source, flags=re.M)


def printed(source: str, name: str) -> list[str]:
    """The lines that a program prints."""
    out = io.StringIO()
    with warnings.catch_warnings(), contextlib.redirect_stdout(out):
        warnings.simplefilter("ignore")
        exec(compile(source, name, "exec"), {"__name__": "__main__"})
    return out.getvalue().replace("tinytorch.", "torch.").splitlines()


def assert_same_line(ours: str, theirs: str) -> None:
    """The same words, and numbers that differ by little more than their rounding."""
    assert _NUMBER.sub("#", ours) == _NUMBER.sub("#", theirs)
    for a, b in zip(_NUMBER.findall(ours), _NUMBER.findall(theirs), strict=True):
        mantissa, _, exponent = b.partition("e")
        last_digit = 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))
        assert float(a) == pytest.approx(float(b), rel=1e-3, abs=1.5 * last_digit), (ours, theirs)


def losses(lines: list[str]) -> list[float]:
    return [float(_NUMBER.findall(line)[0]) for line in lines if line.startswith("loss ")]


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_program_trains(path: Path) -> None:
    lines = printed(for_tinytorch(path.read_text()), path.name)
    numbers = [float(n) for line in lines for n in _NUMBER.findall(line)]
    assert numbers and all(map(math.isfinite, numbers)) and "nan" not in " ".join(lines).split()
    if path.stem not in NO_LOSS_CURVE:
        curve = losses(lines)
        assert len(curve) >= 3 and curve[-1] < curve[0]


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_program_prints_what_it_prints_under_torch(torch: Any, path: Path) -> None:
    source = path.read_text()
    ours, theirs = printed(for_tinytorch(source), path.name), printed(source, path.name)
    assert len(ours) == len(theirs)
    for ours_line, theirs_line in zip(ours, theirs, strict=True):
        assert_same_line(ours_line, theirs_line)


def test_the_browser_pages_other_examples_print_their_closed_forms() -> None:
    numbers = {
        name: [float(n) for n in re.findall(r"-?\d+\.\d*", "".join(printed_by(name)))]
        for name in ("gradient", "numpy_script")
    }
    slopes = np.sin(2 * np.linspace(0, 1, 5))
    np.testing.assert_allclose(numbers["gradient"], slopes, atol=5e-5)
    assert numbers["numpy_script"] == [1.0, -2.0, 0.5]
    assert printed_by("backend") == ["sin of 3 elements", "reporting numpy", "numpy"]


def printed_by(example: str) -> list[str]:
    """The lines that an example of the browser page prints."""
    return printed((EXAMPLES / f"{example}.py").read_text(), example)
