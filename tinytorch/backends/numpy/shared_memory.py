"""Memory that processes share: files that have no name, mapped.

Nobody has to take such memory away: the system keeps it as long as a process maps it or holds its
descriptor, however that process ends, and no folder lists it.
"""

from __future__ import annotations

import ctypes
import functools
import mmap
import os
import sys
import tempfile
from typing import Any

import numpy

from ..weak_references import CallingRef, WeakValues

#: Whether descriptors can be passed to other processes.
POSSIBLE = sys.platform not in ("emscripten", "wasi", "win32")


class Segment:
    """A mapped file, with one descriptor; arrays on it keep it alive.

    ``mmap.mmap`` would duplicate the descriptor, and give no access to the duplicate.
    """

    def __init__(self, descriptor: int, size: int) -> None:
        protection = mmap.PROT_READ | mmap.PROT_WRITE
        library = c_library()
        address = library.mmap(None, size, protection, mmap.MAP_SHARED, descriptor, 0)
        if address in (None, _MAP_FAILED):
            error = ctypes.get_errno()
            os.close(descriptor)
            raise OSError(error, f"mapping {size} bytes of shared memory: {os.strerror(error)}")
        self.descriptor = descriptor
        self.__array_interface__ = {
            "data": (address, False), "shape": (size,), "typestr": "|u1", "version": 3,
        }  # fmt: skip
        close = CallingRef(self, functools.partial(os.close, descriptor))
        unmap = CallingRef(self, functools.partial(library.munmap, address, size))
        _releases[descriptor] = close, unmap  # the newest reference is called first


#: By descriptor, the references that release a piece. Another one with the same descriptor takes
#: the place of one that is gone.
_releases: dict[int, tuple[CallingRef, CallingRef]] = {}
_MAP_FAILED = ctypes.c_void_p(-1).value


@functools.cache
def c_library() -> Any:
    library = ctypes.CDLL(None, use_errno=True)
    library.mmap.restype = ctypes.c_void_p
    library.mmap.argtypes = (
        ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long,
    )  # fmt: skip
    library.munmap.argtypes = ctypes.c_void_p, ctypes.c_size_t
    return library


#: By what tells a file apart, the array of all bytes of those that are mapped here.
_mapped: WeakValues[tuple[int, int], Any] = WeakValues()


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
        found = _mapped[key] = numpy.asarray(segment)
    else:
        os.close(descriptor)
    return found


def attached() -> int:
    """How many pieces are mapped here."""
    return len(_mapped)


def segment_of(array: Any) -> Segment | None:
    """The piece that an array lies in; None if no other process can be given its memory."""
    base = array
    while base is not None and not isinstance(base, Segment):
        base = base.obj if isinstance(base, memoryview) else getattr(base, "base", None)
    return base


def root_of(segment: Segment) -> Any:
    """The array of all bytes of a piece."""
    status = os.fstat(segment.descriptor)
    return _mapped.get((status.st_dev, status.st_ino))


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
