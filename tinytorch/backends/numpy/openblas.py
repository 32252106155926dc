"""Which OpenBLAS NumPy runs on, asked of the loaded library itself.

NumPy's own ``show_config`` tells what it was built with; the kernels are chosen when the
library is loaded.
"""

from __future__ import annotations

import ctypes
import functools
import os
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy

#: ``(prefix, suffix)`` of the functions' names: NumPy's wheels, 64-bit builds, plain builds.
_SPELLINGS = (
    ("scipy_openblas_", "64_"), ("scipy_openblas_", ""), ("openblas_", "64_"), ("openblas_", ""),
)  # fmt: skip


def info() -> dict[str, str]:
    """``blas``, ``blas core`` and ``blas threads``; just NumPy's build facts for another BLAS."""
    found = loaded()
    if found is not None:
        return _describe(*found)
    built = numpy.show_config(mode="dicts")["Build Dependencies"]["blas"]
    return {"blas": f"{built['name']} {built.get('version', '')}".strip()}


class Threads(NamedTuple):
    """How many threads OpenBLAS uses, to be read and set, for the whole process."""

    get: Callable[[], int]
    set: Callable[[int], None]


@functools.cache
def threads() -> Threads | None:
    """The control of OpenBLAS's threads; None where NumPy runs on another BLAS."""
    found = loaded()
    if found is None:
        return None
    library, prefix, suffix = found
    setter = library[f"{prefix}set_num_threads{suffix}"]
    setter.restype = None
    return Threads(library[f"{prefix}get_num_threads{suffix}"], setter)


@functools.cache
def loaded() -> tuple[ctypes.CDLL, str, str] | None:
    """The loaded library, and the prefix and suffix of its functions' names."""
    for path in _libraries():
        library = ctypes.CDLL(path)
        for prefix, suffix in _SPELLINGS:
            if hasattr(library, f"{prefix}get_corename{suffix}"):
                return library, prefix, suffix
    return None


def _describe(library: ctypes.CDLL, prefix: str, suffix: str) -> dict[str, str]:
    def text(name: str) -> str:
        function = library[f"{prefix}{name}{suffix}"]
        function.restype = ctypes.c_char_p
        return str(function().decode())

    threads = library[f"{prefix}get_num_threads{suffix}"]()
    return {
        "blas": " ".join(text("get_config").split()[:2]),
        "blas core": text("get_corename"),
        "blas threads": str(threads),
    }


def _libraries() -> Iterator[str]:
    """Paths of the OpenBLAS libraries NumPy may have loaded: a wheel's own, then the system's."""
    package = os.path.dirname(numpy.__file__)
    for folder in (f"{package}/../numpy.libs", f"{package}/.dylibs", f"{package}/.libs"):
        names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
        yield from (f"{folder}/{name}" for name in names if "openblas" in name)
    if os.path.exists("/proc/self/maps"):
        with open("/proc/self/maps") as maps:
            paths = [line.split()[-1] for line in maps]
        yield from sorted({path for path in paths if "openblas" in path and path.startswith("/")})
