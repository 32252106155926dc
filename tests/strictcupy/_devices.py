"""Number of devices that the stand-in simulates, and the current device of a thread.

With one, the default, nothing is checked. With several, every function that CuPy would launch as a
kernel raises on arrays of another device than the current one, as CuPy does between GPUs without
peer access. (With peer access CuPy warns and leaves the result on the wrong device.)
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

from .cuda_runtime import INVALID_DEVICE, CUDARuntimeError


class _CurrentDevice(threading.local):
    current = 0


_thread = _CurrentDevice()
_count = 1


def count() -> int:
    """Return the number of pretended devices."""
    return _count


def current() -> int:
    """Return the number of the calling thread's device."""
    return _thread.current if _count > 1 else 0


def use(number: int) -> None:
    """Make a device the calling thread's."""
    if not 0 <= number < _count:
        raise CUDARuntimeError(INVALID_DEVICE)
    _thread.current = number


@contextlib.contextmanager
def pretend_devices(number: int) -> Iterator[None]:
    """Have ``number`` devices inside the block."""
    global _count
    before, _count = _count, number
    _thread.current = 0
    try:
        yield
    finally:
        from . import _streams

        _streams.forget()
        _count = before
        _thread.current = 0


def check(*values: Any) -> None:
    """Refuse device arrays that are not on the current device."""
    if _count == 1:
        return
    here = _thread.current
    for value in values:
        where = getattr(value, "_device", here)
        if where != here:
            raise ValueError(
                f"The device where the array resides ({where}) is different from the current "
                f"device ({here}). Peer access is unavailable between these devices."
            )
