"""``cupy.cuda`` with one pretended device: streams, events and memory pools that do nothing."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import Any

from . import cuda_runtime as runtime

__all__ = ["Device", "Event", "MemoryPointer", "Stream", "get_current_stream", "runtime"]


class Device:
    """The only device, number 0."""

    def __init__(self, device: Any = None) -> None:
        number = 0 if device is None else int(getattr(device, "id", device))
        if number:
            raise runtime.CUDARuntimeError(runtime.INVALID_DEVICE)
        self.id = 0
        self.attributes: dict[str, int] = {"MultiProcessorCount": 1}
        self.compute_capability = "80"
        self.mem_info = (1 << 34, 1 << 34)

    def __int__(self) -> int:
        return self.id

    def __enter__(self) -> Device:
        return self

    def __exit__(self, *exc_info: object) -> None:
        return None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and other.id == self.id

    def __hash__(self) -> int:
        return self.id

    def __repr__(self) -> str:
        return f"<CUDA Device {self.id}>"

    def use(self) -> None:
        """Make this the current device."""

    def synchronize(self) -> None:
        """Wait for the device."""
        _log("synchronize")


class Stream:
    """A queue of work; the stand-in works at once."""

    null: Stream
    ptr = 0

    def __init__(self, null: bool = False, non_blocking: bool = False, ptds: bool = False) -> None:
        self.non_blocking = non_blocking

    def __enter__(self) -> Stream:
        _streams.append(self)
        return self

    def __exit__(self, *exc_info: object) -> None:
        _streams.pop()

    def use(self) -> Stream:
        """Make this the current stream."""
        _streams[-1] = self
        return self

    def synchronize(self) -> None:
        """Wait for the stream."""
        _log("synchronize")

    def wait_event(self, event: Event) -> None:
        """Let later work wait for ``event``."""

    def record(self, event: Event | None = None) -> Event:
        """Record ``event``, or a new one."""
        event = event or Event()
        event.record(self)
        return event

    @property
    def done(self) -> bool:
        """Whether nothing is left to do."""
        return True


Stream.null = Stream(null=True)
_streams = [Stream.null]


class Event:
    """A moment in a stream."""

    def __init__(
        self, block: bool = False, disable_timing: bool = False, interprocess: bool = False
    ) -> None:
        self.time = 0.0
        self.done = True

    def record(self, stream: Stream | None = None) -> None:
        """Store the time."""
        self.time = time.perf_counter()

    def synchronize(self) -> None:
        """Wait for the event."""
        _log("synchronize")


class MemoryPointer:
    """Where an array's memory is; two views of one array share ``mem``."""

    def __init__(self, host: Any) -> None:
        self.ptr: int = host.__array_interface__["data"][0]
        while host.base is not None and hasattr(host.base, "__array_interface__"):
            host = host.base
        self.mem = BaseMemory(host.__array_interface__["data"][0], host.nbytes)
        self.device_id = 0
        self.device = Device(0)


class BaseMemory:
    """One allocation."""

    def __init__(self, ptr: int, size: int) -> None:
        self.ptr, self.size, self.device_id = ptr, size, 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BaseMemory) and other.ptr == self.ptr

    def __hash__(self) -> int:
        return hash(self.ptr)


class MemoryPool:
    """An allocator's statistics, all zero."""

    def used_bytes(self) -> int:
        """Return 0: NumPy owns the memory."""
        return 0

    def total_bytes(self) -> int:
        """Return 0."""
        return 0

    def free_bytes(self) -> int:
        """Return 0."""
        return 0

    def free_all_blocks(self, stream: Any = None) -> None:
        """Free nothing."""


_pool = MemoryPool()


def get_default_memory_pool() -> MemoryPool:
    """Return the one pool."""
    return _pool


def get_current_stream(device_id: int = -1) -> Stream:
    """Return the innermost stream entered."""
    return _streams[-1]


def get_device_id() -> int:
    """Return 0."""
    return 0


def get_elapsed_time(start_event: Event, end_event: Event) -> float:
    """Return the milliseconds between two events."""
    return (end_event.time - start_event.time) * 1000


def is_available() -> bool:
    """Return True."""
    return True


@contextlib.contextmanager
def using_allocator(allocator: Any = None) -> Iterator[None]:
    """Accept an allocator and ignore it."""
    yield


def _log(kind: str) -> None:
    from ._sync import log_sync

    log_sync(kind)
