"""Host memory that a GPU reads directly; the stand-in knows which it handed out."""

from __future__ import annotations

import ctypes
import math
import weakref
from collections.abc import Callable
from typing import Any

import numpy

_blocks: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()


def empty_pinned(shape: Any, dtype: Any = float, order: Any = "C") -> Any:
    """Return an uninitialised host array in pinned memory."""
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    block = numpy.empty(max(1, math.prod(shape) * numpy.dtype(dtype).itemsize), "uint8")
    _blocks[id(block)] = block
    return numpy.ndarray(shape, dtype, buffer=block, order=order)


def block_at(address: int) -> Any:
    """Return the pinned block that an address lies in, None for other memory."""
    for block in list(_blocks.values()):
        if block.ctypes.data <= address < block.ctypes.data + block.nbytes:
            return block
    return None


def holds(host: Any) -> bool:
    """Whether a host array lies in pinned memory."""
    return block_at(host.ctypes.data) is not None


def read_later(host: Any) -> Callable[[], None]:
    """Return what fails unless pinned memory holds what it holds now: a copy reads from it."""
    alive, now = weakref.ref(block_at(host.ctypes.data)), host.tobytes("A")
    address, size = host.ctypes.data, host.nbytes

    def check() -> None:
        if alive() is None:
            raise RuntimeError("pinned memory was freed while a copy to the device read from it")
        if ctypes.string_at(address, size) != now:
            raise RuntimeError("pinned memory was written while a copy to the device read from it")

    return check


def written_later(host: Any, values: Any) -> Callable[[], None]:
    """Return what writes ``values`` to pinned memory, and fails if that was given back."""
    alive, address = weakref.ref(block_at(host.ctypes.data)), host.ctypes.data

    def write() -> None:
        if alive() is None:
            raise RuntimeError("pinned memory was freed while a copy from the device wrote to it")
        ctypes.memmove(address, values.ctypes.data, values.nbytes)

    return write
