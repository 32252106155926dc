"""What users get: wheel and sdist, installed in an environment of its own, and an editable install.

Type checkers look at the programs in ``tests/typing/`` from there, as they do for any user.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from email import message_from_string
from email.message import Message
from pathlib import Path

import numpy
import pytest

import tinytorch
from tests.fresh import program

ROOT = Path(__file__).resolve().parent.parent
PROGRAMS = sorted((ROOT / "tests" / "typing").glob("*.py"))
#: The program that type checkers refuse.
MISTAKEN = "mistakes.py"
#: What the repository holds, and what of it a build reads.
CONTENT = (
    ".ci", ".gitignore", "CHANGELOG.md", "LICENSE", "Makefile", "README.md", "benchmarks", "docs",
    "examples", "pyproject.toml", "setup.cfg", "stubs", "tests", "tinytorch",
)  # fmt: skip
SOURCES = (".ci", "LICENSE", "README.md", "pyproject.toml", "setup.cfg", "stubs", "tinytorch")

pytestmark = [pytest.mark.slow, pytest.mark.package]


def run(*command: str | Path, cwd: Path, check: bool = True) -> str:
    """Run a command away from the repository and return what it printed."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0 or not check, done.stdout + done.stderr
    return done.stdout


def copy_of_the_repository(folder: Path, names: tuple[str, ...] = SOURCES) -> Path:
    """Copy what a build reads, so that building leaves nothing behind here."""
    source = folder / "source"
    source.mkdir()
    for name in names:
        if (ROOT / name).is_dir():
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / name, source / name, ignore=ignored)
        else:
            shutil.copy(ROOT / name, source)
    return source


def build(source: Path, output: Path, kind: str, **settings: str) -> Path:
    """Build with the build backend itself: no network, no tool besides it."""

    def builds(output: str, kind: str, settings: dict[str, str]) -> None:
        import sys

        sys.path.insert(0, ".ci")  # as pyproject.toml has it
        import sdist_backend

        print(getattr(sdist_backend, f"build_{kind}")(output, settings))

    output.mkdir()
    printed = run(sys.executable, "-c", program(builds, str(output), kind, settings), cwd=source)
    return output / printed.split()[-1]


def numpy_alone(folder: Path) -> Path:
    """Folder of NumPy without other libraries; all environments share it, as mypy's cache does."""
    if not folder.exists():
        folder.mkdir()
        for part in Path(numpy.__file__).parent.parent.glob("numpy*"):
            (folder / part.name).symlink_to(part)
    return folder


def environment(folder: Path, wheel: Path) -> Path:
    """Make an environment that holds NumPy and an unpacked wheel; return its Python."""
    run(sys.executable, "-m", "venv", "--without-pip", folder / "env", cwd=folder)
    python = folder / "env" / "bin" / "python"
    site = Path(sysconfig.get_path("purelib", "venv", {"base": str(folder / "env")}))
    (site / "numpy.pth").write_text(str(numpy_alone(folder.parent / "numpy")))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    return python


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    return build(copy_of_the_repository(folder), folder / "dist", "wheel")


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return environment(tmp_path_factory.mktemp("installed"), wheel)


@pytest.fixture(scope="module")
def linked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The editable install that docs/typing.md names, of a distribution of another name."""
    folder = tmp_path_factory.mktemp("editable")
    source = copy_of_the_repository(folder)
    settings = (source / "setup.cfg").read_text()
    assert settings.count("name = tinytorch") == 1
    renamed = settings.replace("name = tinytorch", "name = somebodys-tensors")
    (source / "setup.cfg").write_text(renamed)
    return environment(folder, build(source, folder / "dist", "editable", editable_mode="strict"))


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    for path in PROGRAMS:
        shutil.copy(path, tmp_path)
    return tmp_path


def marked_lines(path: Path) -> set[int]:
    """The lines that are errors to a type checker."""
    lines = path.read_text().splitlines()
    return {number for number, line in enumerate(lines, 1) if line.endswith("# E")}


def expected() -> dict[str, set[int]]:
    return {path.name: lines for path in PROGRAMS if (lines := marked_lines(path))}


def errors_of_mypy(python: Path, folder: Path) -> dict[str, set[int]]:
    """The lines of each program that mypy --strict refuses."""
    printed = run(
        sys.executable, "-m", "mypy", "--strict", "--config-file=",
        f"--cache-dir={python.parents[3] / 'mypy'}", f"--python-executable={python}",
        *sorted(folder.glob("*.py")), cwd=folder, check=False,
    )  # fmt: skip
    assert "Found" in printed, printed
    found: dict[str, set[int]] = {}
    for line in printed.splitlines():
        match = re.match(r"(.+?):(\d+): error: ", line)
        if match:
            found.setdefault(Path(match[1]).name, set()).add(int(match[2]))
    return found


def errors_of_pyright(python: Path, folder: Path) -> dict[str, set[int]]:
    """The lines of each program that pyright refuses in its strict mode."""
    pytest.importorskip("pyright", reason="pyright is not installed")
    (folder / "pyrightconfig.json").write_text('{"typeCheckingMode": "strict"}')
    printed = run(
        sys.executable, "-m", "pyright", "--outputjson", f"--pythonpath={python}",
        cwd=folder, check=False,
    )  # fmt: skip
    report = json.loads(printed)
    assert report["summary"]["filesAnalyzed"] == len([*folder.glob("*.py")])
    found: dict[str, set[int]] = {}
    for entry in report["generalDiagnostics"]:
        line = entry["range"]["start"]["line"] + 1
        found.setdefault(Path(entry["file"]).name, set()).add(line)
    return found


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sdist, unpacked."""
    folder = tmp_path_factory.mktemp("sdist")
    archive = build(copy_of_the_repository(folder, CONTENT), folder / "dist", "sdist")
    with tarfile.open(archive) as file:
        file.extractall(folder / "unpacked", filter="data")
    [source] = (folder / "unpacked").iterdir()
    return source


def metadata(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as archive:
        [name] = [n for n in archive.namelist() if n.endswith(".dist-info/METADATA")]
        return message_from_string(archive.read(name).decode())


def test_wheel_is_below_three_megabytes(wheel: Path) -> None:
    """Keep data and needless files out of it; the 693 modules take 2.1 MB, their stubs 0.3 MB."""
    assert wheel.stat().st_size < 3_000_000


def test_metadata_is_complete(wheel: Path) -> None:
    found = metadata(wheel)
    assert found["Version"] == tinytorch.__version__
    assert found["Author"] == "tinytorch contributors" and found["Keywords"] and found["Summary"]
    assert found["Requires-Python"] == ">=3.11" and "MIT" in str(found.items())
    assert "Typing :: Typed" in found.get_all("Classifier")
    assert found["Description-Content-Type"].startswith("text/markdown")
    assert found.get_payload().strip() == (ROOT / "README.md").read_text().strip()
    needed = [each for each in found.get_all("Requires-Dist") if "extra ==" not in each]
    assert needed == ["numpy>=2.0"]
    assert not {"Home-page", "Project-URL", "Download-URL"} & {*found.keys()}


def test_an_index_renders_the_readme(wheel: Path) -> None:
    pytest.importorskip("twine", reason="twine, which `make package` installs, is not")
    printed = run(sys.executable, "-m", "twine", "check", "--strict", wheel, cwd=wheel.parent)
    assert "PASSED" in printed


#: Folders that `make docs` writes.
_WRITTEN_BY_DOCS = ("docs", "reference"), ("docs", "generated")


def test_sdist_holds_the_repository(sdist: Path) -> None:
    held = {path.relative_to(sdist).as_posix() for path in sdist.rglob("*") if path.is_file()}
    there = {
        path.relative_to(ROOT).as_posix()
        for name in CONTENT
        for path in [ROOT / name, *(ROOT / name).rglob("*")]
        if path.is_file()
        and path.name != "latest.json"
        and not {"__pycache__", "_build"} & {*path.parts}
        and path.parts[len(ROOT.parts) : len(ROOT.parts) + 2] not in _WRITTEN_BY_DOCS
    }
    made = {name for name in held if ".egg-info/" in name} | {"PKG-INFO"}
    assert held - made == there


def test_wheel_from_the_sdist_is_the_same(sdist: Path, wheel: Path) -> None:
    again = build(sdist, sdist.parent / "dist", "wheel")
    with zipfile.ZipFile(wheel) as expected, zipfile.ZipFile(again) as found:
        assert {(i.filename, i.CRC) for i in found.infolist()} == {
            (i.filename, i.CRC) for i in expected.infolist()
        }


def test_tests_run_from_the_sdist(sdist: Path) -> None:
    """Some of them; `make test` runs all in whatever folder it is."""
    stubs = "tests/test_stubs.py::test_top_level_lists_what_its_stub_declares"
    chosen = "tests/autograd/test_grad_mode.py", "tests/test_dtypes.py", stubs
    options = "-q", "-p", "no:cacheprovider", "-m", "not torch and not clients and not slow"
    run(sys.executable, "-m", "pytest", *options, *chosen, cwd=sdist)


def test_the_distribution_may_have_another_name(linked: Path, tmp_path: Path) -> None:
    def uses() -> None:
        from importlib.metadata import version

        import tinytorch

        assert tinytorch.__version__ == version("somebodys-tensors")
        assert tinytorch.ones(2, requires_grad=True).sin().sum().grad_fn is not None

    run(linked, "-W", "error", "-c", program(uses), cwd=tmp_path)
    assert "somebodys" not in run(linked, "-m", "tinytorch", "--info", cwd=tmp_path)


def test_wheel_holds_every_stub_and_the_marks_of_typed_packages(wheel: Path) -> None:
    stubs = {
        f"tinytorch-stubs/{path.relative_to(ROOT / 'stubs' / 'tinytorch').as_posix()}"
        for path in (ROOT / "stubs" / "tinytorch").rglob("*.pyi")
    }
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        assert archive.read("tinytorch-stubs/py.typed") == b"partial\n"
    assert stubs and stubs <= names
    assert "tinytorch/py.typed" in names


def test_stubs_of_the_wheel_have_docstrings(wheel: Path, tmp_path: Path) -> None:
    """tests/test_stubs.py compares with the stubs of the repository and with ``help()``."""
    run(sys.executable, "-B", ROOT / "stubs" / "docstrings.py", tmp_path, cwd=tmp_path)
    with zipfile.ZipFile(wheel) as archive:
        for path in tmp_path.rglob("*.pyi"):
            name = path.relative_to(tmp_path).as_posix()
            assert archive.read(f"tinytorch-stubs/{name}").decode() == path.read_text(), name
        assert b"Sine of each element" in archive.read("tinytorch-stubs/__init__.pyi")


def test_wheel_holds_every_module_and_nothing_else(wheel: Path) -> None:
    modules = {path.relative_to(ROOT).as_posix() for path in (ROOT / "tinytorch").rglob("*.py")}
    with zipfile.ZipFile(wheel) as archive:
        shipped = {name for name in archive.namelist() if name.endswith(".py")}
    assert shipped == modules


def test_programs_run_from_the_wheel(installed: Path, programs: Path) -> None:
    """And what they tell type checkers of their values holds."""
    names = [path.name for path in PROGRAMS if not marked_lines(path)]
    run(installed, "-W", "error", ROOT / "tests" / "typing_at_run_time.py", *names, cwd=programs)


def test_mypy_refuses_the_mistakes_alone(installed: Path, programs: Path) -> None:
    assert errors_of_mypy(installed, programs) == expected()


def test_pyright_refuses_the_mistakes_alone(installed: Path, programs: Path) -> None:
    assert errors_of_pyright(installed, programs) == expected()


def test_types_are_complete(installed: Path, tmp_path: Path) -> None:
    pytest.importorskip("pyright", reason="pyright is not installed")
    printed = run(  # pyright asks the first Python on the path where packages are
        "env", f"PATH={installed.parent}{os.pathsep}{os.environ['PATH']}",
        sys.executable, "-m", "pyright", "--verifytypes", "tinytorch", "--ignoreexternal",
        "--outputjson", cwd=tmp_path, check=False,
    )  # fmt: skip
    found = json.loads(printed)["typeCompleteness"]
    assert found["exportedSymbolCounts"]["withKnownType"] > 5_000
    assert found["completenessScore"] >= 0.96


@pytest.fixture
def program_with_mistakes(tmp_path: Path) -> Path:
    """One program, as the types themselves are those of the wheel."""
    return Path(shutil.copy(ROOT / "tests" / "typing" / MISTAKEN, tmp_path))


def test_editable_install_serves_mypy(linked: Path, program_with_mistakes: Path) -> None:
    found = errors_of_mypy(linked, program_with_mistakes.parent)
    assert found == {MISTAKEN: marked_lines(program_with_mistakes)}


def test_editable_install_serves_pyright(linked: Path, program_with_mistakes: Path) -> None:
    found = errors_of_pyright(linked, program_with_mistakes.parent)
    assert found == {MISTAKEN: marked_lines(program_with_mistakes)}
