"""Work queued on the stand-in's streams, and the current stream of each thread and device.

Kernels run at once; copies to the host, which it could read too early, happen at the next wait.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from . import _devices

#: (address of the stream, device) and what is to be done, in order.
_queues: dict[tuple[int, int], list[Callable[[], None]]] = {}


class _CurrentStream(threading.local):
    """The streams that a thread has entered, by device, and the devices in order."""

    def __init__(self) -> None:
        self.entered: dict[int, list[Any]] = {}
        self.current: dict[int, Any] = {}
        self.devices: list[int] = []


thread = _CurrentStream()


def later(stream: Any, device: int, action: Callable[[], None]) -> None:
    """Put ``action`` into a stream (None: the thread's current one)."""
    stream = current(device) if stream is None else stream
    _queues.setdefault((stream.ptr, device), []).append(action)


def pending(ptr: int, device: int) -> list[Callable[[], None]]:
    """Return what is queued on a stream."""
    return list(_queues.get((ptr, device), []))


def forget() -> None:
    """Let go of all that is queued."""
    _queues.clear()


def wait_for(ptr: int | None, device: int) -> None:
    """Do what is queued on a stream, or (None) on every stream of the device."""
    for key in list(_queues):
        if key[1] == device and ptr in (None, key[0]):
            for action in _queues.pop(key, []):
                action()


def current(device: int = -1) -> Any:
    """Return the stream that the calling thread's work on a device goes to."""
    from .cuda import Stream

    return thread.current.get(_devices.current() if device < 0 else device, Stream.null)


def enter(stream: Any) -> None:
    """Make a stream current, on the device that must be current now."""
    device = checked_device(stream)
    thread.entered.setdefault(device, []).append(current(device))
    thread.devices.append(device)
    thread.current[device] = stream


def leave() -> None:
    """Put back the stream before; like CuPy, the default stream on the device current now."""
    before = thread.entered[thread.devices.pop()].pop()
    device = _devices.current() if before.device_id < 0 else before.device_id
    thread.current[device] = before


def checked_device(stream: Any) -> int:
    """Return a stream's device, which has to be the current one."""
    here = _devices.current()
    if stream.device_id not in (-1, here):
        raise RuntimeError(
            f"The device that the stream is created on ({stream.device_id}) does not match with "
            f"the current device ({here})"
        )
    return here
