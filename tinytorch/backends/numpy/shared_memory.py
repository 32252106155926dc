"""Memory that processes share: files that have no name, mapped.

Nobody has to take such memory away: the system keeps it as long as a process maps it or holds its
descriptor, however that process ends, and no folder lists it.
"""

from __future__ import annotations

import mmap
import os
import sys
import tempfile
import weakref
from typing import Any

import numpy

#: Whether descriptors can be passed to other processes.
POSSIBLE = sys.platform not in ("emscripten", "wasi", "win32")


class Segment(mmap.mmap):
    """A piece of it; arrays on it keep it."""

    descriptor: int

    def __new__(cls, descriptor: int, size: int) -> Segment:
        made = super().__new__(cls, descriptor, size)
        made.descriptor = descriptor
        weakref.finalize(made, os.close, descriptor).atexit = False
        return made


#: By what tells a file apart, the array of all bytes of those that are mapped here.
_mapped: weakref.WeakValueDictionary[tuple[int, int], Any] = weakref.WeakValueDictionary()


def unnamed_file() -> int:
    """The descriptor of a new file."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("tinytorch", os.MFD_CLOEXEC)
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


def allocate(size: int) -> Any:
    """New memory of zeros, as an array of bytes; of one byte at least, which a mapping wants."""
    descriptor = unnamed_file()
    os.ftruncate(descriptor, max(size, 1))
    return attach(descriptor)


def attach(descriptor: int) -> Any:
    """The memory behind a descriptor, which is now its own, as the array of all its bytes."""
    status = os.fstat(descriptor)
    key = status.st_dev, status.st_ino
    found = _mapped.get(key)
    if found is None or found.size < status.st_size:  # a file may have grown
        segment = Segment(descriptor, status.st_size)
        found = _mapped[key] = numpy.frombuffer(segment, numpy.uint8)
    else:
        os.close(descriptor)
    return found


def attached() -> int:
    """How many pieces are mapped here."""
    return len(_mapped)


def segment_of(array: Any) -> Segment | None:
    """The piece that an array lies in; None if no other process can be given its memory."""
    base = array
    while base is not None and not isinstance(base, mmap.mmap):
        base = base.obj if isinstance(base, memoryview) else getattr(base, "base", None)
    return base if isinstance(base, Segment) else None


def root_of(segment: Segment) -> Any:
    """The array of all bytes of a piece."""
    status = os.fstat(segment.descriptor)
    return _mapped[status.st_dev, status.st_ino]


class Move:
    """All the memory that an array is a part of, copied to where processes share it."""

    def __init__(self, array: Any) -> None:
        while isinstance(array.base, numpy.ndarray):
            array = array.base
        self.start, end = numpy.lib.array_utils.byte_bounds(array)
        first = array[(slice(0, 1),) * array.ndim].reshape(-1).view(numpy.uint8)
        bytes_there = numpy.lib.stride_tricks.as_strided(first, (end - self.start,), (1,))
        self.there = allocate(end - self.start)
        self.there[: end - self.start] = bytes_there

    def __call__(self, array: Any) -> Any:
        """What an array on the memory as it was is there."""
        offset = array.__array_interface__["data"][0] - self.start
        return numpy.ndarray(array.shape, array.dtype, self.there, offset, array.strides)
