"""What a terminal shows of an error: in a script, the REPL and IPython, on each Python found."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import tinytorch as tt

pytestmark = pytest.mark.slow

ROOT = Path(tt.__file__).parents[1]
VERSIONS = ("3.11", "3.12", "3.13")
#: Lines that fail, and what their last line says.
FAILING = {
    "x[5]": "index 5 is out of bounds for dimension 0 with size 2",
    "x[0, 0, 0]": "too many indices for tensor of dimension 2",
    "x[0:2, 7]": "index 7 is out of bounds for dimension 1 with size 3",
    "tt.tensor([[1], [1, 2]])": "expected sequence of length 1 at dim 1 (got 2)",
    "tt.softmx(x)": "module 'tinytorch' has no attribute 'softmx'",
    "tt.set_backend('cupi')": "unknown backend 'cupi'",
    "x + tt.ones(5)": "The size of tensor a (3) must match the size of tensor b (5)",
    "tt.nn.Linear(2, 2)(x)": "mat1 and mat2 shapes cannot be multiplied (2x3 and 2x2)",
    "tt.optim.Adam(3)": "'int' object is not iterable",
    "tt.nn.Conv2d(3, 4, 3, groups=2)": "in_channels must be divisible by groups",
    "tt.numpy.ones(3)[7]": "index 7 is out of bounds",
}


@functools.cache
def python(version: str, package: str) -> str | None:
    """An interpreter of that version that has a package; ``TINYTORCH_PYTHONS`` names folders."""
    folders = os.environ.get("TINYTORCH_PYTHONS", "").split(os.pathsep)
    found = [shutil.which(f"python{version}", path=folder) for folder in filter(None, folders)]
    here = f"{sys.version_info[0]}.{sys.version_info[1]}"
    found += [sys.executable] if here == version else []
    for path in (*found, shutil.which(f"python{version}")):
        test = [path, "-c", f"import numpy, {package}"]
        if path and not subprocess.run(test, capture_output=True, check=False).returncode:
            return path
    return None


#: Begins what follows each line of a session.
MARK = "= = ="
SESSION = "\n".join([
    "import sys, tinytorch as tt", "x = tt.ones(2, 3)", *(
        f"_ = sys.{{stream}}.write('{MARK}\\n')\n{line}\n" for line in FAILING
    )
])  # fmt: skip


def in_repl(path: str, folder: Path) -> list[list[str]]:
    """Return what each line shows in one session of the REPL."""
    text = run([path, "-q", "-i"], SESSION.format(stream="stderr"), folder).replace(">>> ", "")
    return [
        [shown for shown in part.splitlines() if shown.strip()] for part in text.split(MARK)[1:]
    ]


def in_ipython(path: str, folder: Path) -> list[list[str]]:
    """Return what each line shows in one session of IPython."""
    command = [path, "-m", "IPython", "--simple-prompt", "--no-banner", "--colors=NoColor"]
    text = run(command, SESSION.format(stream="stdout"), folder)
    found = []
    for part in text.split(MARK)[1:]:
        lines = part.splitlines()
        first = next(i for i, shown in enumerate(lines) if "-----" in shown)
        rest = lines[first + 1 :]
        end = next((i for i, shown in enumerate(rest) if shown.startswith("In [")), None)
        found.append([shown for shown in rest[:end] if shown.strip()])
    return found


def run(command: list[str], given: str, folder: Path) -> str:
    environment = {
        "PATH": os.environ["PATH"], "HOME": str(folder), "IPYTHONDIR": str(folder),
        "PYTHONPATH": str(ROOT), "PYTHON_COLORS": "0", "PYTHON_BASIC_REPL": "1",
    }  # fmt: skip
    done = subprocess.run(
        command, input=given, capture_output=True, text=True, check=False, timeout=300,
        env=environment, cwd=folder,
    )  # fmt: skip
    return done.stdout + done.stderr


def assert_short(shown: list[str], said: str) -> None:
    text = "\n".join(shown)
    assert said in shown[-1] and len(shown) <= 5, text
    assert text.count("Traceback (most recent call last)") == 1, text
    assert "tinytorch/" not in text and "<tinytorch" not in text, text


@pytest.mark.sampled(3)
@pytest.mark.parametrize("line", FAILING)
@pytest.mark.parametrize("version", VERSIONS)
def test_an_error_of_a_script_takes_five_lines_at_most(
    version: str, line: str, tmp_path: Path
) -> None:
    path = python(version, "sys")
    if path is None:
        pytest.skip(f"no Python {version} with NumPy is found")
    script = tmp_path / "script.py"
    script.write_text(f"import tinytorch as tt\nx = tt.ones(2, 3)\n{line}\n")
    assert_short(run([path, str(script)], "", tmp_path).splitlines(), FAILING[line])


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("place", "package"),
    # Header, "File ...", the line, its marks, the message; IPython: header, cell, line, message.
    [(in_repl, "sys"), (in_ipython, "IPython")],
    ids=["REPL", "IPython"],
)
def test_an_error_of_a_session_takes_five_lines_at_most(
    version: str,
    place: Callable[[str, Path], list[list[str]]],
    package: str,
    tmp_path: Path,
) -> None:
    path = python(version, package)
    if path is None:
        pytest.skip(f"no Python {version} with NumPy and {package} is found")
    for shown, said in zip(place(path, tmp_path), FAILING.values(), strict=True):
        assert_short(shown, said)
