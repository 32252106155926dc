"""The cache of compiled libraries: private, checked, bounded, shared by processes."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tinytorch.capture import c_compiler

pytestmark = pytest.mark.skipif(c_compiler.find_compiler() is None, reason="there is no C compiler")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of the test's own, with nothing loaded."""
    monkeypatch.setenv("TINYTORCH_CACHE", str(tmp_path / "cache"))
    c_compiler._load.cache_clear()
    return tmp_path / "cache"


def text(number: int) -> str:
    """C text of a function that returns a number."""
    return f"int answer(void) {{ return {number}; }}"


def answer(library: ctypes.CDLL | None) -> int:
    """The number of a library."""
    assert library is not None
    return int(library.answer())


def load_again(number: int) -> int:
    """The number of the library of a text, as another process loads it."""
    c_compiler._load.cache_clear()
    return answer(c_compiler.load_library(text(number)))


def forbid_compiler(*args: object) -> bool:
    """Fail where the library should come from the cache."""
    raise AssertionError("compiled")


def test_a_library_is_compiled_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert load_again(11) == 11
    (path,) = folder.iterdir()
    assert path.stat().st_mode & 0o077 == 0
    assert folder.stat().st_mode & 0o077 == 0
    monkeypatch.setattr(c_compiler, "compile_text", forbid_compiler)
    assert load_again(11) == 11


def test_other_flags_or_another_compiler_make_another_library(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert load_again(12) == 12
    monkeypatch.setattr(c_compiler, "_FLAGS", [*c_compiler._FLAGS, "-DOTHER"])
    assert load_again(12) == 12
    monkeypatch.setattr(c_compiler, "_processor", lambda: "another processor")
    assert load_again(12) == 12
    assert len([*folder.iterdir()]) == 3


@pytest.mark.parametrize("place", [0, 100, -1])
def test_a_damaged_library_is_compiled_again(folder: Path, place: int) -> None:
    source = text(20 + place)
    assert c_compiler.load_library(source) is not None
    (path,) = folder.iterdir()
    data = bytearray(path.read_bytes())
    data[place] ^= 255
    path.unlink()  # the file is mapped: write another one
    path.write_bytes(data)
    path.chmod(0o700)
    assert c_compiler.read_library(path) is None
    assert load_again(20 + place) == 20 + place
    assert c_compiler.read_library(path) is not None


@pytest.mark.parametrize("data", [b"", b"\x7fELF", bytes(5000)])
def test_a_file_that_is_no_library_is_replaced(folder: Path, data: bytes) -> None:
    number = 30 + len(data)
    assert load_again(number) == number
    (path,) = folder.iterdir()
    path.unlink()
    path.write_bytes(data)
    assert load_again(number) == number


def test_a_cache_that_others_may_write_is_not_used(folder: Path) -> None:
    folder.mkdir()
    folder.chmod(0o777)
    assert load_again(40) == 40
    assert not [*folder.iterdir()]


def test_a_cache_of_another_user_is_not_used(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert load_again(41) == 41
    (path,) = folder.iterdir()
    monkeypatch.setattr(os, "getuid", lambda: path.stat().st_uid + 1)
    assert c_compiler.read_library(path) is None
    assert not c_compiler.is_private(folder)
    assert load_again(41) == 41


def test_a_link_to_a_library_is_not_read(folder: Path) -> None:
    assert load_again(42) == 42
    (path,) = folder.iterdir()
    other = path.with_name("other")
    path.rename(other)
    path.symlink_to(other)
    assert c_compiler.read_library(path) is None
    assert load_again(42) == 42


@pytest.mark.parametrize("place", ["file", "proc"])
def test_where_the_cache_cannot_be_made_libraries_are_temporary(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    path = tmp_path / "file" / "cache" if place == "file" else Path("/proc/tinytorch/cache")
    monkeypatch.setenv("TINYTORCH_CACHE", str(path))
    assert load_again(43) == 43


def test_the_oldest_libraries_are_removed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert load_again(50) == 50
    (first,) = folder.iterdir()
    os.utime(first, (1, 1))
    assert load_again(51) == 51
    (second,) = {*folder.iterdir()} - {first}
    os.utime(second, (2, 2))
    monkeypatch.setattr(c_compiler, "MOST_BYTES", 2 * first.stat().st_size + 100)
    assert load_again(50) == 50  # reading makes it the newest
    assert load_again(52) == 52
    assert first.exists()
    assert not second.exists()


PROGRAM = """
import resource, sys
from tinytorch.capture import c_compiler
if len(sys.argv) > 2:
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]),) * 2)
library = c_compiler.load_library("int answer(void) { return %s; }" % sys.argv[1])
print(None if library is None else library.answer())
"""


def start(*arguments: object) -> subprocess.Popen[str]:
    """Start a process that loads a library and prints its number."""
    command = [sys.executable, "-c", PROGRAM, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_on_a_full_disk_nothing_is_compiled() -> None:
    with start(60, 100) as process:
        assert process.communicate()[0].split() == ["None"]
        assert process.returncode == 0


@pytest.mark.slow
def test_four_processes_share_the_cache(folder: Path) -> None:
    processes = [start(70 + number % 2) for number in range(4)]
    answers = [process.communicate()[0].split() for process in processes]
    assert answers == [[str(70 + number % 2)] for number in range(4)]
    assert all(process.returncode == 0 for process in processes)
    assert len([path for path in folder.iterdir() if path.suffix == ".so"]) == 2
    assert len([*folder.iterdir()]) == 2
