"""``cupy.cuda`` with pretended devices: streams, events, and memory pools that do nothing."""

from __future__ import annotations

import contextlib
import itertools
import threading
import time
import types
import weakref
from collections.abc import Iterator
from typing import Any

import numpy

from . import _cublas as cublas
from . import _devices, _streams
from . import cuda_runtime as runtime

__all__ = [
    "Device", "Event", "MemoryHook", "MemoryPointer", "Stream", "cublas", "get_current_stream",
    "runtime",
]  # fmt: skip


#: CUDA's libraries, as far as they can be missing.
cufft, cusolver = map(types.ModuleType, ("cufft", "cusolver"))


class Device:
    """A pretended device; number 0 is the only one unless ``pretend_devices`` says otherwise."""

    def __init__(self, device: Any = None) -> None:
        self.id = _devices.current() if device is None else int(getattr(device, "id", device))
        if not 0 <= self.id < _devices.count():
            raise runtime.CUDARuntimeError(runtime.INVALID_DEVICE)
        self._before: list[int] = []
        self.attributes: dict[str, int] = {"MultiProcessorCount": 1}
        self.compute_capability = "80"
        self.mem_info = (1 << 34, 1 << 34)
        self.pci_bus_id = f"0000:0{self.id}:00.0"

    def __int__(self) -> int:
        return self.id

    def __enter__(self) -> Device:
        self._before.append(_devices.current())
        _devices.use(self.id)
        return self

    def __exit__(self, *exc_info: object) -> None:
        _devices.use(self._before.pop())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and other.id == self.id

    def __hash__(self) -> int:
        return self.id

    def __repr__(self) -> str:
        return f"<CUDA Device {self.id}>"

    def use(self) -> None:
        """Make this the current device."""
        _devices.use(self.id)

    def synchronize(self) -> None:
        """Wait for the device."""
        _log("synchronize")
        _streams.wait_for(None, self.id)


class Stream:
    """A queue of work: kernels run at once, transfers that the host can see when it waits."""

    null: Stream

    def __init__(
        self, null: bool = False, non_blocking: bool = False, ptds: bool = False,
        priority: int | None = None,
    ) -> None:  # fmt: skip
        self.non_blocking = non_blocking
        self.ptr = 0 if null else next(_addresses)
        self.device_id = -1 if null else _devices.current()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and other.ptr == self.ptr

    def __hash__(self) -> int:
        return self.ptr

    def __enter__(self) -> Stream:
        _streams.enter(self)
        return self

    def __exit__(self, *exc_info: object) -> None:
        _streams.leave()

    @classmethod
    def from_external(cls, obj: Any) -> Stream:
        """Return the stream that ``obj`` stands for; CuPy does not know its device."""
        stream = cls(null=True)
        _, stream.ptr = obj.__cuda_stream__()
        return stream

    def is_capturing(self) -> bool:
        """Return False."""
        return False

    def use(self) -> Stream:
        """Make this the current stream."""
        _streams.thread.current[_streams.checked_device(self)] = self
        return self

    def synchronize(self) -> None:
        """Wait for the stream."""
        _log("synchronize")
        _streams.wait_for(self.ptr, _here(self))

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
        return not _streams.pending(self.ptr, _here(self))


def _here(stream: Stream) -> int:
    return _devices.current() if stream.device_id < 0 else stream.device_id


_addresses = itertools.count(1)
Stream.null = Stream(null=True)


class Event:
    """A moment in a stream."""

    def __init__(
        self, block: bool = False, disable_timing: bool = False, interprocess: bool = False
    ) -> None:
        self.time = 0.0
        self._device = _devices.current()
        self._stream: Stream | None = None
        self._queued: list[Any] = []

    def record(self, stream: Stream | None = None) -> None:
        """Store the time."""
        stream = _streams.current() if stream is None else stream
        if _here(stream) != self._device:
            raise runtime.CUDARuntimeError(runtime.INVALID_HANDLE)
        self.time, self._stream = time.perf_counter(), stream
        self._queued = _streams.pending(stream.ptr, self._device)

    @property
    def done(self) -> bool:
        """Whether what was queued before the event is done."""
        if self._stream is None:
            return True
        left = _streams.pending(self._stream.ptr, self._device)
        return not any(action in left for action in self._queued)

    def synchronize(self) -> None:
        """Wait for the event."""
        _log("synchronize")
        if self._stream is not None:
            _streams.wait_for(self._stream.ptr, self._device)


class MemoryPointer:
    """Address of an array's memory; two views of one array share ``mem``."""

    def __init__(self, host: Any, device: int = 0) -> None:
        self.ptr: int = host.__array_interface__["data"][0]
        while host.base is not None and hasattr(host.base, "__array_interface__"):
            host = host.base
        self.mem = allocation_of(host)
        self.device_id = device
        self.device = Device(device)
        self._root = host

    def __add__(self, offset: int) -> MemoryPointer:
        moved = MemoryPointer(self._root, self.device_id)
        moved.ptr = self.ptr + offset
        return moved

    def __sub__(self, offset: int) -> MemoryPointer:
        return self + -offset

    def laid_out(self, shape: Any, dtype: Any) -> Any:
        """A host array that begins here."""
        root = self._root if self._root.flags.c_contiguous else self._root.T
        return numpy.ndarray(shape, dtype, root, self.ptr - self.mem.ptr)


class BaseMemory:
    """One allocation."""

    def __init__(self, ptr: int, size: int) -> None:
        self.ptr, self.size, self.device_id = ptr, size, 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BaseMemory) and other.ptr == self.ptr

    def __hash__(self) -> int:
        return hash(self.ptr)


#: By the id of a host array that owns memory: a reference to the array, and its allocation.
_allocations: dict[int, tuple[weakref.ref[Any], BaseMemory]] = {}


def allocation_of(host: Any) -> BaseMemory:
    """Return the allocation of a host array, the same one as long as the array exists."""
    key = id(host)
    if key not in _allocations:
        owner = weakref.ref(host, lambda _: _allocations.pop(key, None))
        memory = BaseMemory(host.__array_interface__["data"][0], host.nbytes)
        _allocations[key] = owner, memory
    return _allocations[key][1]


class OutOfMemoryError(MemoryError):
    """CuPy's error for exhausted memory, which is not a RuntimeError."""

    def __init__(self, size: int, total: int, limit: int = 0) -> None:
        super().__init__(
            f"Out of memory allocating {size:,} bytes (allocated so far: {total:,} bytes, "
            f"limit set to: {limit:,} bytes)."
        )


class memory:  # a module of CuPy's
    """``cupy.cuda.memory``."""

    OutOfMemoryError = OutOfMemoryError


class MemoryPool:
    """An allocator without memory: NumPy has that. Its numbers are what a test says.

    Attributes:
        used: The bytes in use, by device.
        limits: The most bytes an array may have, by device.
    """

    def __init__(self) -> None:
        self.used: dict[int, int] = {}
        self.limits: dict[int, int] = {}

    def used_bytes(self) -> int:
        """Return the bytes in use on the current device."""
        return self.used.get(_devices.current(), 0)

    def total_bytes(self) -> int:
        """Return as many."""
        return self.used_bytes()

    def free_bytes(self) -> int:
        """Return 0."""
        return 0

    def free_all_blocks(self, stream: Any = None) -> None:
        """Free nothing."""

    def set_limit(self, size: int | None = None, fraction: float | None = None) -> None:
        """Limit the current device; 0 is no limit."""
        self.limits[_devices.current()] = size or 0

    def get_limit(self) -> int:
        """Return the current device's limit."""
        return self.limits.get(_devices.current(), 0)

    def malloc(self, size: int) -> None:
        """Refuse what is more than the limit."""
        limit = self.get_limit()
        if limit and size > limit:
            raise OutOfMemoryError(size, self.used_bytes(), limit)


class _Hooks(threading.local):
    """The hooks that a thread has entered, by their names."""

    def __init__(self) -> None:
        self.by_name: dict[str, MemoryHook] = {}


hooks = _Hooks()


class MemoryHook:
    """Hook for a thread's allocations, which the stand-in never calls."""

    name = "MemoryHook"

    def __enter__(self) -> MemoryHook:
        if self.name in hooks.by_name:
            raise KeyError(f"memory hook {self.name} already exists")
        hooks.by_name[self.name] = self
        return self

    def __exit__(self, *exc_info: object) -> None:
        del hooks.by_name[self.name]


_pool = MemoryPool()
_allocator: Any = _pool.malloc


def get_allocator() -> Any:
    """Return the function that is asked for memory."""
    return _allocator


def set_allocator(allocator: Any = None) -> None:
    """Have another function be asked."""
    global _allocator
    _allocator = allocator


def alloc(size: int) -> Any:
    """Ask for memory."""
    return _allocator(size)


class nvtx:  # a module of CuPy's
    """``cupy.cuda.nvtx``, which notes what it is told."""

    available = True
    told: list[str] = []

    @classmethod
    def RangePush(cls, message: str, id_color: int = -1) -> None:
        """Note the beginning of a range."""
        cls.told.append(f"push {message}")

    @classmethod
    def RangePop(cls) -> None:
        """Note the end of a range."""
        cls.told.append("pop")

    @classmethod
    def RangeStart(cls, message: str, color: int) -> int:
        """Note the beginning of a range that has a number."""
        cls.told.append(f"start {message}")
        return len(cls.told)

    @classmethod
    def RangeEnd(cls, range_id: int) -> None:
        """Note the end of a range that has a number."""
        cls.told.append(f"end {range_id}")

    @classmethod
    def Mark(cls, message: str, id_color: int = -1) -> None:
        """Note a moment."""
        cls.told.append(f"mark {message}")


class device:  # a module of CuPy's
    """``cupy.cuda.device``."""

    @staticmethod
    def get_cublas_handle() -> int:
        """Return a number that the current device's handle might have."""
        return 1000 + _devices.current()


def get_default_memory_pool() -> MemoryPool:
    """Return the one pool."""
    return _pool


def get_current_stream(device_id: int = -1) -> Stream:
    """Return the stream of the calling thread on a device."""
    return _streams.current(device_id)  # type: ignore[no-any-return]


def get_device_id() -> int:
    """Return the number of the calling thread's device."""
    return _devices.current()


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
