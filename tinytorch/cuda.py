"""CUDA devices through CuPy: torch's ``torch.cuda``, honest where there is no GPU.

Asking (``is_available``, ``device_count``) never raises: without CuPy or a device the answers
are False and 0. Everything that needs a device raises ``BackendUnavailableError`` with what is
missing and what to do.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from . import _state
from ._device import device as _device
from .backends import BackendUnavailableError, load
from .backends.base import Backend

__all__ = [
    "Event", "Stream", "current_device", "current_stream", "device", "device_count", "empty_cache",
    "get_device_capability", "get_device_name", "get_device_properties", "is_available",
    "manual_seed", "manual_seed_all", "max_memory_allocated", "max_memory_reserved",
    "memory_allocated", "memory_reserved", "reset_peak_memory_stats", "set_device", "stream",
    "synchronize",
]  # fmt: skip


def _backend() -> Backend:
    return load("cupy")


def is_available() -> bool:
    """Whether CuPy is installed and has a usable device.

    Example:
        >>> import tinytorch as tt
        >>> isinstance(tt.cuda.is_available(), bool)
        True
    """
    return device_count() > 0


def device_count() -> int:
    """Number of usable devices; 0 where CuPy, a driver or a GPU is missing.

    Example:
        >>> import tinytorch as tt
        >>> tt.cuda.device_count() >= 0
        True
    """
    try:
        return int(_backend().cuda.runtime.getDeviceCount())
    except BackendUnavailableError:
        return 0


def current_device() -> int:
    """Number of the calling thread's device.

    Raises:
        BackendUnavailableError: Without a device.
    """
    return int(_backend().cuda.runtime.getDevice())


def _number(device: Any) -> int:
    if device is None:
        return current_device()
    if isinstance(device, int):
        return device
    where = _device(device)
    if where.type != "cuda":
        raise ValueError(f"Expected a cuda device, but got: {where}")
    return current_device() if where.index is None else where.index


def set_device(device: Any) -> None:
    """Make ``device`` the calling thread's; negative numbers do nothing.

    Args:
        device: A number, ``"cuda:1"`` or a device.

    Raises:
        BackendUnavailableError: Without a device.
    """
    number = _number(device)
    if number >= 0:
        _backend().cuda.Device(number).use()


class device:
    """Context in which ``device`` is the calling thread's; the one before comes back after.

    Args:
        device: A number, ``"cuda:1"`` or a device; None or a negative number does nothing.
    """

    def __init__(self, device: Any) -> None:
        self.idx = -1 if device is None else _number(device)
        self._before: list[int] = []

    def __enter__(self) -> None:
        self._before.append(current_device() if self.idx >= 0 else -1)
        set_device(self.idx)

    def __exit__(self, *exception: object) -> None:
        set_device(self._before.pop())


def synchronize(device: Any = None) -> None:
    """Wait until all work on a device (default: the current one) is done."""
    _backend().cuda.Device(_number(device)).synchronize()


# -- what a device is ------------------------------------------------------------------------


class DeviceProperties(NamedTuple):
    """Facts of a device.

    Attributes:
        name: The product's name.
        major: Compute capability before the point.
        minor: Compute capability after the point.
        total_memory: Bytes.
        multi_processor_count: Number of multiprocessors.
        warp_size: Threads of a warp.
    """

    name: str
    major: int
    minor: int
    total_memory: int
    multi_processor_count: int
    warp_size: int


def get_device_properties(device: Any = None) -> DeviceProperties:
    """Facts of a device (default: the current one)."""
    facts = _backend().cuda.runtime.getDeviceProperties(_number(device))
    name = facts["name"]
    return DeviceProperties(
        name.decode() if isinstance(name, bytes) else name,
        int(facts["major"]), int(facts["minor"]), int(facts["totalGlobalMem"]),
        int(facts["multiProcessorCount"]), int(facts["warpSize"]),
    )  # fmt: skip


def get_device_name(device: Any = None) -> str:
    """The product's name of a device (default: the current one)."""
    return get_device_properties(device).name


def get_device_capability(device: Any = None) -> tuple[int, int]:
    """Compute capability of a device (default: the current one)."""
    facts = get_device_properties(device)
    return facts.major, facts.minor


# -- memory ------------------------------------------------------------------------------------


def _pool(device: Any) -> Any:
    xp = _backend()
    with xp.cuda.Device(_number(device)):
        return xp.get_default_memory_pool()


def memory_allocated(device: Any = None) -> int:
    """Bytes in use by arrays; 0 without a device."""
    return int(_pool(device).used_bytes()) if is_available() else 0


def memory_reserved(device: Any = None) -> int:
    """Bytes the pool holds, in use or free; 0 without a device."""
    return int(_pool(device).total_bytes()) if is_available() else 0


#: The most bytes in use since ``reset_peak_memory_stats``, by backend; see ``_PeakHook``.
_peaks: dict[Backend, Any] = {}


def _peak_hook(xp: Backend) -> Any:
    """A hook of CuPy's allocator that remembers the most bytes that were in use."""
    if xp not in _peaks:
        base: type[Any] = xp.cuda.MemoryHook

        class PeakHook(base):  # type: ignore[misc]
            name = "tinytorch.peak"
            peak = 0

            def malloc_postprocess(self, **event: Any) -> None:
                self.peak = max(self.peak, int(xp.get_default_memory_pool().used_bytes()))

        _peaks[xp] = PeakHook()
        _peaks[xp].__enter__()
    return _peaks[xp]


def reset_peak_memory_stats(device: Any = None) -> None:
    """Begin to count ``max_memory_allocated`` from what is in use now."""
    if is_available():
        _peak_hook(_backend()).peak = memory_allocated(device)


def max_memory_allocated(device: Any = None) -> int:
    """The most bytes that were in use at once since ``reset_peak_memory_stats``.

    Before the first reset nothing counted: then it is what the pool has reserved, which is at
    least as much. 0 without a device.
    """
    if not is_available():
        return 0
    xp = _backend()
    return int(_peaks[xp].peak) if xp in _peaks else memory_reserved(device)


def max_memory_reserved(device: Any = None) -> int:
    """Bytes the pool holds: it gives nothing back but by ``empty_cache``."""
    return memory_reserved(device)


def empty_cache() -> None:
    """Give the pool's free memory back to the device; nothing happens without one."""
    if is_available():
        xp = _backend()
        xp.get_default_memory_pool().free_all_blocks()
        xp.get_default_pinned_memory_pool().free_all_blocks()


# -- randomness ----------------------------------------------------------------------------------


def manual_seed(seed: int) -> None:
    """Seed the generator of the CUDA backend; nothing happens without a device."""
    if is_available():
        _state.generator(_backend()).manual_seed(seed)


def manual_seed_all(seed: int) -> None:
    """Seed the generators of all devices; there is one for all of them."""
    manual_seed(seed)


# -- streams and events --------------------------------------------------------------------


class Stream:
    """A queue of work on the current device.

    Args:
        device: Whose queue; default the current device's.
        priority: 0 (default), or negative for a higher one.
    """

    def __init__(self, device: Any = None, priority: int = 0, *, _raw: Any = None) -> None:
        xp = _backend()
        if _raw is None:
            with xp.cuda.Device(_number(device)):
                _raw = xp.cuda.Stream(non_blocking=True)
        self._raw = _raw
        self.priority = priority

    def synchronize(self) -> None:
        """Wait until the queue's work is done."""
        self._raw.synchronize()

    def query(self) -> bool:
        """Whether the queue's work is done."""
        return bool(self._raw.done)

    def wait_stream(self, stream: Stream) -> None:
        """Let this queue's later work wait for what ``stream`` holds now."""
        self.wait_event(stream.record_event())

    def wait_event(self, event: Event) -> None:
        """Let this queue's later work wait for ``event``."""
        self._raw.wait_event(event._raw)

    def record_event(self, event: Event | None = None) -> Event:
        """Put an event (default: a new one) into the queue and return it."""
        event = Event() if event is None else event
        event.record(self)
        return event


class stream:
    """Context in which work goes to ``stream``; None does nothing."""

    def __init__(self, stream: Stream | None) -> None:
        self.stream = stream

    def __enter__(self) -> None:
        if self.stream is not None:
            self.stream._raw.__enter__()

    def __exit__(self, *exception: Any) -> None:
        if self.stream is not None:
            self.stream._raw.__exit__(*exception)


def current_stream(device: Any = None) -> Stream:
    """The queue that the calling thread's work goes to."""
    return Stream(_raw=_backend().cuda.get_current_stream())


class Event:
    """A mark in a queue, to wait for or to measure time with.

    Args:
        enable_timing: Whether ``elapsed_time`` may be asked; default False.
        blocking: Whether ``synchronize`` sleeps instead of spinning; default False.
        interprocess: Accepted for compatibility; must be False.
    """

    def __init__(
        self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False
    ) -> None:
        if interprocess:
            raise NotImplementedError("cuda.Event: interprocess events are not supported")
        self._timing = enable_timing
        self._raw = _backend().cuda.Event(block=blocking, disable_timing=not enable_timing)

    def record(self, stream: Stream | None = None) -> None:
        """Put the mark into a queue (default: the current one)."""
        self._raw.record(None if stream is None else stream._raw)

    def synchronize(self) -> None:
        """Wait until the work before the mark is done."""
        self._raw.synchronize()

    def query(self) -> bool:
        """Whether the work before the mark is done."""
        return bool(self._raw.done)

    def wait(self, stream: Stream | None = None) -> None:
        """Let a queue (default: the current one) wait for the mark."""
        (current_stream() if stream is None else stream).wait_event(self)

    def elapsed_time(self, end_event: Event) -> float:
        """Milliseconds from this mark to another.

        Raises:
            ValueError: If one of them was made without ``enable_timing=True``.
        """
        if not (self._timing and end_event._timing):
            raise ValueError("Both events must be created with argument 'enable_timing=True'.")
        return float(_backend().cuda.get_elapsed_time(self._raw, end_event._raw))
