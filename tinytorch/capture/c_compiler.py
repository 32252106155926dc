"""The system's C compiler, and the cache of the libraries that it made.

A library is a file in the user's cache folder whose name is the hash of all that it depends on:
the text, the compiler and its flags, the processor. Its last bytes are the hash of the others. A
file that is damaged or belongs to another user is compiled anew, and where the folder cannot be
used, the library is made in a temporary folder. Where nothing works, ``load_library`` returns None.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import os
import platform
import shlex
import shutil
import stat
import subprocess
import tempfile
from pathlib import Path

#: Each operation is rounded by itself, as NumPy does: no product and sum are contracted.
_FLAGS = (
    "-O3 -march=native -fopenmp-simd -ffp-contract=off -fno-math-errno -fno-trapping-math -fwrapv "
    "-fPIC -shared -w"
).split()
#: Seconds after which a compiler is stopped.
_LIMIT = 120
#: Bytes of all libraries in the cache, above which the oldest are removed.
MOST_BYTES = 256 << 20
_DIGEST = hashlib.sha256().digest_size


def find_compiler() -> tuple[str, ...] | None:
    """Return the command of the C compiler: ``$CC``, ``cc``, ``gcc`` or ``clang``; None if none."""
    return _search(os.environ.get("CC", ""), os.environ.get("PATH", ""))


@functools.cache
def _search(chosen: str, path: str) -> tuple[str, ...] | None:
    for command in (shlex.split(chosen), ["cc"], ["gcc"], ["clang"]):
        found = shutil.which(command[0], path=path) if command else None
        if found:
            return found, *command[1:]
    return None


def cache_folder() -> Path:
    """Folder of the libraries: ``$TINYTORCH_CACHE``, or ``tinytorch`` in the user's cache."""
    chosen = os.environ.get("TINYTORCH_CACHE")
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(base) / "tinytorch"


def load_library(source: str) -> ctypes.CDLL | None:
    """Return the library of a C text, from the cache or compiled; None if that is not possible."""
    compiler = find_compiler()
    if compiler is None or os.name != "posix":
        return None
    try:
        return _load(source, compiler, cache_folder())
    except OSError:
        return None


@functools.lru_cache(256)
def _load(source: str, compiler: tuple[str, ...], folder: Path) -> ctypes.CDLL | None:
    """Return a library; once per process for the same text."""
    key = hashlib.sha256(
        "\0".join((source, *compiler, *_FLAGS, _version(compiler), _processor())).encode()
    ).hexdigest()
    if is_private(folder):
        path = folder / f"{key}.so"
        library = read_library(path) or write_library(source, compiler, path)
        if library is not None:
            return library
    with tempfile.TemporaryDirectory() as temporary:
        return write_library(source, compiler, Path(temporary) / f"{key}.so")


@functools.cache
def _version(compiler: tuple[str, ...]) -> str:
    """Version of a compiler."""
    try:
        found = subprocess.run(
            [*compiler, "--version"], capture_output=True, text=True, timeout=_LIMIT, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return found.stdout


@functools.cache
def _processor() -> str:
    """Kind of the processor, for whose instructions the text is compiled."""
    try:
        with open("/proc/cpuinfo") as file:
            lines = [line for line in file if line.startswith(("flags", "Features", "model name"))]
        return "".join(sorted(set(lines)))
    except OSError:
        return platform.platform() + platform.processor()


def is_private(folder: Path) -> bool:
    """Create the cache folder; whether it is this user's own and no other user may write to it."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.stat()
    except OSError:
        return False
    return is_own(status) and stat.S_ISDIR(status.st_mode)


def is_own(status: os.stat_result) -> bool:
    """Whether a file belongs to this user and no other may write to it."""
    return status.st_uid == os.getuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def read_library(path: Path) -> ctypes.CDLL | None:
    """Return the library of a file; None if there is none, or it is damaged or another user's."""
    try:
        status = path.lstat()
        if not is_own(status) or not stat.S_ISREG(status.st_mode):
            return None
        data = path.read_bytes()
        if hashlib.sha256(data[:-_DIGEST]).digest() != data[-_DIGEST:]:
            return None
        os.utime(path)
        return ctypes.CDLL(str(path))
    except OSError:
        return None


def write_library(source: str, compiler: tuple[str, ...], path: Path) -> ctypes.CDLL | None:
    """Compile a text to a file; None if the compiler or the file system fails."""
    try:
        with tempfile.TemporaryDirectory(dir=path.parent) as folder:
            made = Path(folder) / "made.so"
            if not compile_text(source, compiler, made):
                return None
            data = made.read_bytes()
            made.write_bytes(data + hashlib.sha256(data).digest())
            made.chmod(0o700)
            os.replace(made, path)
        library = ctypes.CDLL(str(path))
        remove_oldest(path.parent)
    except OSError:
        return None
    return library


def compile_text(source: str, compiler: tuple[str, ...], path: Path) -> bool:
    """Compile a text to a shared library; whether the compiler succeeded."""
    text = path.with_suffix(".c")
    text.write_text(source)
    for flags in (_FLAGS, [flag for flag in _FLAGS if flag != "-march=native"]):
        command = [*compiler, *flags, "-o", str(path), str(text), "-lm"]
        try:
            found = subprocess.run(command, capture_output=True, timeout=_LIMIT, check=False)
        except (OSError, subprocess.SubprocessError):
            return False
        if found.returncode == 0 and path.exists():
            return True
    return False


def remove_oldest(folder: Path) -> None:
    """Remove the libraries that were not read for the longest time, if all are too large."""
    files = []
    for path in folder.glob("*.so"):
        try:
            status = path.stat()
        except OSError:  # another process has removed it
            continue
        files.append((status.st_mtime, status.st_size, path))
    total = sum(size for _, size, _ in files)
    for _, size, path in sorted(files)[:-1]:
        if total <= MOST_BYTES:
            break
        path.unlink(missing_ok=True)
        total -= size
