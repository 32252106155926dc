"""Access to NumPy's memory in an order that suits the processor, and memory that processes share.

- ``zero_unmasked`` and ``choose`` select floats by a mask with operations on their bits.
  ``numpy.where`` is slow on a large irregular mask, and a product would make NaN of ``0 * inf``.
- ``contiguous`` copies a transposed array in strips that the cache holds.
  ``numpy.ascontiguousarray`` goes through the result row by row, that is along a column of its
  source, of which every element lies in another cache line and is read again for the next row.
- ``row_after_row`` shortens NumPy's buffer of 8192 elements. Where several rows fit the buffer,
  operations of two arrays copy into it the values that are repeated along the rows: two to three
  times as slow as one row after the other.

Shared memory is a mapped file without a name. It need not be removed: the system keeps it as long
as a process maps it or holds its descriptor, however that process ends, and no folder lists it.
"""

from __future__ import annotations

import ctypes
import functools
import mmap
import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from types import TracebackType
from typing import Any

import numpy

from ..weak_references import CallingRef, WeakValues

#: Elements per block, in which several passes stay in the processor's cache.
_BLOCK = 65536
#: From this many elements on a second thread saves more time than waking it takes.
_THREADED = 1 << 19
#: Integer dtypes by their size in bytes.
_INTEGERS = {2: "int16", 4: "int32", 8: "int64"}

Work = Callable[[int, int], Any]


def zero_unmasked(array: Any, mask: Any, in_parts: Callable[[Work, int], Any]) -> Any:
    """``array`` where ``mask`` is True, else 0, also where ``array`` is NaN or infinite.

    The bits of each element are combined with a mask of ones or zeros: a product would be NaN for
    ``0 * inf``, and a selection is slow for an irregular mask.

    Args:
        array: Floating-point array.
        mask: Boolean array of the same shape.
        in_parts: ``Backend.in_parts``.
    """
    if not _are_row_major(array, mask):
        return _zero_unmasked_at_once(mask, array.dtype, array)
    out = numpy.empty(array.shape, array.dtype)
    arrays = [_flat_integers(array) for array in (array, mask, out)]

    def work(start: int, stop: int) -> None:
        for x, m, bits in _pieces(arrays, start, stop):
            bits[...] = numpy.negative(m)  # True is 1 in int8, and -1 has all bits set
            numpy.bitwise_and(bits, x, out=bits)

    return _run(work, out, in_parts)


def choose(mask: Any, x: Any, y: Any, in_parts: Callable[[Work, int], Any]) -> Any:
    """``x`` where ``mask`` is True, else ``y``, by operations on bits.

    Args:
        mask: Boolean array.
        x: Floating-point array of the same shape, or 0-d.
        y: Such an array of the same dtype.
        in_parts: ``Backend.in_parts``.
    """
    integer = _INTEGERS[x.dtype.itemsize]
    if not _are_row_major(mask, *(value for value in (x, y) if value.ndim)):
        bits = numpy.bitwise_xor(x.view(integer), y.view(integer))
        bits = numpy.bitwise_and(bits, numpy.negative(mask.view("int8")))
        bits ^= y.view(integer)
        return bits.view(x.dtype)
    out = numpy.empty(mask.shape, x.dtype)
    arrays = [_flat_integers(array) for array in (x, y, mask, out)]

    def work(start: int, stop: int) -> None:
        for a, b, m, bits in _pieces(arrays, start, stop):
            bits[...] = numpy.negative(m)  # all bits set for True
            bits &= a ^ b  # then y ^ (x ^ y) is x
            bits ^= b

    return _run(work, out, in_parts)


def _zero_unmasked_at_once(mask: Any, dtype: Any, array: Any) -> Any:
    """``zero_unmasked`` for arrays with any strides, without blocks."""
    integer = _INTEGERS[dtype.itemsize]
    bits = numpy.negative(mask.view("int8")).astype(integer)
    return numpy.bitwise_and(bits, array.view(integer), out=bits).view(dtype)


def _are_row_major(*arrays: Any) -> bool:
    """Whether all arrays are row-major without gaps."""
    return all(array.flags.c_contiguous for array in arrays)


def _flat_integers(array: Any) -> Any:
    """Flattened view of the bits as integers of the same size; a 0-d array stays 0-d."""
    integers = array.view(_INTEGERS.get(array.dtype.itemsize, "int8"))
    return integers.reshape(-1) if array.ndim else integers


def _pieces(arrays: list[Any], start: int, stop: int) -> Any:
    """Yield the slices of the arrays for each block from ``start`` to ``stop``.

    0-d arrays are yielded as they are.
    """
    for at in range(start * _BLOCK, min(stop * _BLOCK, len(arrays[-1])), _BLOCK):
        yield [array[at : at + _BLOCK] if array.ndim else array for array in arrays]


def _run(work: Work, out: Any, in_parts: Callable[[Work, int], Any]) -> Any:
    """Call ``work(start, stop)`` for all blocks of ``out``, which it fills, and return ``out``."""
    blocks = -(-out.size // _BLOCK)
    if out.size < _THREADED:
        work(0, blocks)
    else:
        in_parts(work, blocks)
    return out


#: Elements of a cache line of float32.
_STRIP = 16
#: Smaller arrays, and shorter rows and columns, fit the cache as they are.
_FEW = 1 << 16
_SHORT = 4 * _STRIP


def contiguous(array: Any) -> Any:
    """``array`` in row-major order: itself, or a copy."""
    if array.size < _FEW or array.flags.c_contiguous or not _is_transposed(array):
        return numpy.ascontiguousarray(array)
    out = numpy.empty(array.shape, array.dtype)
    for start in range(0, array.shape[-1], _STRIP):
        strip = (..., slice(start, start + _STRIP))
        out[strip] = array[strip]
    return out


def _is_transposed(array: Any) -> bool:
    """Whether elements are adjacent along a dimension before the last.

    That dimension and the last one must be long enough for copying in strips to be faster.
    """
    *sizes, row = array.shape
    *steps, step = array.strides
    size = array.itemsize
    return (
        row >= _SHORT
        and abs(step) > size
        and any(abs(s) == size and n >= _SHORT for s, n in zip(steps, sizes, strict=True))
    )


#: Rows shorter than this are faster with NumPy's buffer of the default size.
_SHORT_ROW_BROADCASTING = 256
#: Rows longer than this are processed one by one in any case: no two of them fit the buffer.
_LONG = 4096
#: For fewer elements than this two changes of the buffer's size cost more than they save.
_FEW_ROW_BROADCASTING = 32768


class _SmallBuffer:
    """Context in which NumPy's buffer is smaller than any row, so that it is not used."""

    __slots__ = ("_size",)

    def __enter__(self) -> None:
        self._size = numpy.setbufsize(_SHORT_ROW_BROADCASTING)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        numpy.setbufsize(self._size)


_AS_IT_IS: AbstractContextManager[None] = nullcontext()


def row_after_row(row: int, size: int) -> AbstractContextManager[None]:
    """Context in which NumPy broadcasts one value over a long row without buffering it.

    Args:
        row: Number of elements of a row.
        size: Number of elements of the array.
    """
    return (
        _SmallBuffer()
        if _SHORT_ROW_BROADCASTING <= row <= _LONG and size >= _FEW_ROW_BROADCASTING
        else _AS_IT_IS
    )


#: Whether descriptors can be passed to other processes.
POSSIBLE = sys.platform not in ("emscripten", "wasi", "win32")


class Segment:
    """Mapped file with one descriptor. Arrays on it keep it alive.

    ``mmap.mmap`` would duplicate the descriptor without access to the duplicate.
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
        self.__array_interface__: dict[str, Any] = {
            "data": (address, False), "shape": (size,), "typestr": "|u1", "version": 3,
        }  # fmt: skip
        close = CallingRef(self, functools.partial(os.close, descriptor))
        unmap = CallingRef(self, functools.partial(library.munmap, address, size))
        _releases[descriptor] = close, unmap  # the newest reference is called first


#: References that release a segment, by descriptor. A new segment with the descriptor of a freed
#: one replaces its entry.
_releases: dict[int, tuple[CallingRef, CallingRef]] = {}
_MAP_FAILED = ctypes.c_void_p(-1).value


@functools.cache
def c_library() -> Any:
    """The C library, with the signatures of ``mmap`` and ``munmap``."""
    library = ctypes.CDLL(None, use_errno=True)
    library.mmap.restype = ctypes.c_void_p
    library.mmap.argtypes = (
        ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long,
    )  # fmt: skip
    library.munmap.argtypes = ctypes.c_void_p, ctypes.c_size_t
    return library


#: Arrays of all bytes of the mapped files, by device and inode.
_mapped: WeakValues[tuple[int, int], Any] = WeakValues()


def unnamed_file() -> int:
    """Create a file without a name and return its descriptor."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("tinytorch", os.MFD_CLOEXEC)
    import tempfile  # with what it imports, a twentieth of the time of `import tinytorch`

    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


def allocate(size: int) -> Any:
    """Allocate zeros as an array of bytes, of at least one byte because a mapping needs one."""
    descriptor = unnamed_file()
    os.ftruncate(descriptor, max(size, 1))
    return attach(descriptor)


def attach(descriptor: int) -> Any:
    """Map the file of a descriptor, take ownership of that, and return the array of its bytes."""
    status = os.fstat(descriptor)
    key = status.st_dev, status.st_ino
    found = _mapped.get(key)
    if found is None or found.size < status.st_size:  # the file may have grown
        segment = Segment(descriptor, status.st_size)
        found = _mapped[key] = numpy.asarray(segment)
    else:
        os.close(descriptor)
    return found


def mapped_count() -> int:
    """Number of segments mapped in this process."""
    return len(_mapped)


def segment_of(array: Any) -> Segment | None:
    """Segment of an array; None if its memory cannot be shared with another process."""
    base = array
    while base is not None and not isinstance(base, Segment):
        base = base.obj if isinstance(base, memoryview) else getattr(base, "base", None)
    return base


def root_of(segment: Segment) -> Any:
    """Array of all bytes of a segment."""
    status = os.fstat(segment.descriptor)
    return _mapped.get((status.st_dev, status.st_ino))


class Move:
    """Copy of the whole memory block of an array in shared memory."""

    def __init__(self, array: Any) -> None:
        while isinstance(array.base, numpy.ndarray):
            array = array.base
        self.start: int
        self.start, end = numpy.lib.array_utils.byte_bounds(array)
        first = array[(slice(0, 1),) * array.ndim].reshape(-1).view(numpy.uint8)
        bytes_there = numpy.lib.stride_tricks.as_strided(first, (end - self.start,), (1,))
        self.there: Any = allocate(end - self.start)
        self.there[: end - self.start] = bytes_there

    def __call__(self, array: Any) -> Any:
        """Return the view of the shared memory that corresponds to a view of the former memory."""
        offset = array.__array_interface__["data"][0] - self.start
        return numpy.ndarray(array.shape, array.dtype, self.there, offset, array.strides)
