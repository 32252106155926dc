"""CUDA devices through CuPy: torch's ``torch.cuda``, honest where there is no GPU.

Asking (``is_available``, ``device_count``) never raises: without CuPy or a device the answers
are False and 0. Everything that needs a device raises ``BackendUnavailableError`` with what is
missing and what to do.

An operation runs on the device of its inputs, and a gradient on that of its graph, whatever device
and stream the thread has chosen here: these say where new tensors are made by ``device="cuda"``
and which queue work goes to. Where there are several devices, an operation leaves the device it
ran on current for CuPy itself; a program that also calls CuPy says ``with cupy.cuda.Device(n)``.
"""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

from .._device import device as _device
from .._tensor_types import tensor_type
from ..backends.base import Backend
from . import amp as amp
from ._places import backend as _backend
from ._places import current_device as current_device
from ._places import device_count as device_count
from ._places import is_available as is_available
from ._places import number as _number
from .facts import can_device_access_peer as can_device_access_peer
from .facts import get_arch_list as get_arch_list
from .facts import init as init
from .facts import ipc_collect as ipc_collect
from .facts import is_bf16_supported as is_bf16_supported
from .facts import is_initialized as is_initialized
from .facts import mem_get_info as mem_get_info
from .random import get_rng_state as get_rng_state
from .random import get_rng_state_all as get_rng_state_all
from .random import initial_seed as initial_seed
from .random import manual_seed as manual_seed
from .random import manual_seed_all as manual_seed_all
from .random import seed as seed
from .random import seed_all as seed_all
from .random import set_rng_state as set_rng_state
from .random import set_rng_state_all as set_rng_state_all

__all__ = [
    "Event", "Stream", "can_device_access_peer", "current_device", "current_stream",
    "default_stream", "device", "device_count", "empty_cache", "get_arch_list",
    "get_device_capability", "get_device_name", "get_device_properties", "get_rng_state",
    "get_rng_state_all", "init", "initial_seed", "ipc_collect", "is_available",
    "is_bf16_supported", "is_initialized", "manual_seed", "manual_seed_all",
    "max_memory_allocated", "max_memory_reserved", "mem_get_info", "memory_allocated",
    "memory_reserved", "reset_peak_memory_stats", "seed", "seed_all", "set_device",
    "set_rng_state", "set_rng_state_all", "set_stream", "stream", "synchronize",
]  # fmt: skip

FloatTensor: Any = tensor_type("FloatTensor", "cuda")
DoubleTensor: Any = tensor_type("DoubleTensor", "cuda")
HalfTensor: Any = tensor_type("HalfTensor", "cuda")
BFloat16Tensor: Any = tensor_type("BFloat16Tensor", "cuda")
LongTensor: Any = tensor_type("LongTensor", "cuda")
IntTensor: Any = tensor_type("IntTensor", "cuda")
ShortTensor: Any = tensor_type("ShortTensor", "cuda")
CharTensor: Any = tensor_type("CharTensor", "cuda")
ByteTensor: Any = tensor_type("ByteTensor", "cuda")
BoolTensor: Any = tensor_type("BoolTensor", "cuda")


def set_device(device: Any) -> None:
    """Make ``device`` the calling thread's; negative numbers do nothing.

    Args:
        device: A number, ``"cuda:1"`` or a device.

    Raises:
        BackendUnavailableError: Without a device.
    """
    number = _number(device)
    if number >= 0:
        _backend().choose(number)


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
    _backend().at(_number(device)).synchronize()


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


#: The most bytes in use since ``reset_peak_memory_stats``, by backend; see ``_peak_hook``.
_peaks: dict[Backend, Any] = {}
_peaks_lock = threading.Lock()


class _Counting(threading.local):
    """The backends whose hook the thread has entered: CuPy calls a hook only where it was."""

    def __init__(self) -> None:
        self.backends: set[Backend] = set()


_counting = _Counting()


def _peak_hook(xp: Backend) -> Any:
    """The hook of CuPy's allocator that remembers the most bytes that were in use."""
    with _peaks_lock:
        if xp not in _peaks:
            _peaks[xp] = _make_peak_hook(xp)
    if xp not in _counting.backends:
        _peaks[xp].__enter__()
        _counting.backends.add(xp)
    return _peaks[xp]


def _make_peak_hook(xp: Backend) -> Any:
    base: type[Any] = xp.cuda.MemoryHook

    class PeakHook(base):  # type: ignore[misc]
        name = f"tinytorch.peak.{len(_peaks)}"  # a thread has one hook of a name

        def __init__(self) -> None:
            super().__init__()
            self.peaks: dict[int, int] = {}

        def malloc_postprocess(self, **event: Any) -> None:
            used = int(xp.get_default_memory_pool().used_bytes())
            number = event["device_id"]
            with _peaks_lock:
                self.peaks[number] = max(self.peaks.get(number, 0), used)

    return PeakHook()


def reset_peak_memory_stats(device: Any = None) -> None:
    """Begin to count ``max_memory_allocated`` from what is in use now.

    A thread's allocations are looked at once it has called this; what it finds in use then
    includes what the others have.
    """
    if is_available():
        _peak_hook(_backend()).peaks[_number(device)] = memory_allocated(device)


def max_memory_allocated(device: Any = None) -> int:
    """The most bytes that were in use at once since ``reset_peak_memory_stats``.

    It is looked up whenever a thread allocates that has called ``reset_peak_memory_stats``.
    Before the first reset nothing counted: then it is what the pool has reserved, which is at
    least as much. 0 without a device.
    """
    if not is_available():
        return 0
    xp = _backend()
    counted = _peaks[xp].peaks if xp in _peaks else {}
    return int(counted.get(_number(device), memory_reserved(device)))


def max_memory_reserved(device: Any = None) -> int:
    """Bytes the pool holds: it gives nothing back but by ``empty_cache``."""
    return memory_reserved(device)


def empty_cache() -> None:
    """Give the pool's free memory back to the device; nothing happens without one."""
    if is_available():
        xp = _backend()
        for number in range(device_count()):
            with xp.cuda.Device(number):
                xp.get_default_memory_pool().free_all_blocks()
        xp.get_default_pinned_memory_pool().free_all_blocks()


# -- streams and events --------------------------------------------------------------------


class Stream:
    """A queue of work on a device.

    Args:
        device: Whose queue; default the current device's.
        priority: 0 (default), or negative for a higher one.

    Attributes:
        device: The device.
    """

    def __init__(self, device: Any = None, priority: int = 0, *, _raw: Any = None) -> None:
        number = _number(device)
        xp = _backend().at(number)
        if _raw is None:
            _raw = xp.cuda.Stream(non_blocking=True, priority=priority)
        self._raw = _raw
        self.priority = priority
        self.device = _device(xp.device_type, number)

    def _at_home(self) -> Any:
        """CuPy's stream, with its device current: the default stream means that device's."""
        _backend().at(self.device.index)
        return self._raw

    def synchronize(self) -> None:
        """Wait until the queue's work is done."""
        self._at_home().synchronize()

    def query(self) -> bool:
        """Whether the queue's work is done."""
        return bool(self._at_home().done)

    def wait_stream(self, stream: Stream) -> None:
        """Let this queue's later work wait for what ``stream`` holds now."""
        self.wait_event(stream.record_event())

    def wait_event(self, event: Event) -> None:
        """Let this queue's later work wait for ``event``."""
        if event._raw is not None:
            self._at_home().wait_event(event._raw)

    def record_event(self, event: Event | None = None) -> Event:
        """Put an event (default: a new one) into the queue and return it."""
        event = Event() if event is None else event
        event.record(self)
        return event

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Stream):
            return NotImplemented
        return bool(self.device == other.device and self._raw == other._raw)

    def __hash__(self) -> int:
        return hash((self.device, self._raw))


class stream:
    """Context in which the calling thread's work goes to ``stream``; None does nothing.

    The stream's device is current inside. Other threads are not affected. A backward pass goes to
    the stream that is current where it is called: call it inside the same block, or let its stream
    wait (``wait_stream``) for the one that the results were computed on.

    Args:
        stream: The queue.
    """

    def __init__(self, stream: Stream | None) -> None:
        self.stream = stream
        self._before: list[int] = []

    def __enter__(self) -> None:
        if self.stream is not None:
            self._before.append(current_device())
            set_device(self.stream.device)
            self.stream._raw.__enter__()

    def __exit__(self, *exception: Any) -> None:
        if self.stream is not None:
            # CuPy puts the stream before it back on the device that is current then.
            self.stream._at_home().__exit__(*exception)
            set_device(self._before.pop())


def current_stream(device: Any = None) -> Stream:
    """The queue that the calling thread's work on a device (default: the current one) goes to."""
    number = _number(device)
    return Stream(number, _raw=_backend().at(number).cuda.get_current_stream())


def default_stream(device: Any = None) -> Stream:
    """The queue that work on a device (default: the current one) goes to outside ``stream``."""
    number = _number(device)
    return Stream(number, _raw=_backend().at(number).cuda.Stream.null)


def set_stream(stream: Stream | None) -> None:
    """Have the calling thread's work go to ``stream`` from now on; None does nothing."""
    if stream is not None:
        set_device(stream.device)
        stream._raw.use()


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
        self._options = {"block": blocking, "disable_timing": not enable_timing}
        self._raw: Any = None  # made on the device of the first stream it is recorded in
        _backend()

    def record(self, stream: Stream | None = None) -> None:
        """Put the mark into a queue (default: the current one)."""
        stream = current_stream() if stream is None else stream
        raw = stream._at_home()
        if self._raw is None:
            self._raw = _backend().cuda.Event(**self._options)
        self._raw.record(raw)

    def synchronize(self) -> None:
        """Wait until the work before the mark is done."""
        if self._raw is not None:
            self._raw.synchronize()

    def query(self) -> bool:
        """Whether the work before the mark is done; True for a mark that is in no queue."""
        return self._raw is None or bool(self._raw.done)

    def wait(self, stream: Stream | None = None) -> None:
        """Let a queue (default: the current one) wait for the mark."""
        (current_stream() if stream is None else stream).wait_event(self)

    def elapsed_time(self, end_event: Event) -> float:
        """Milliseconds from this mark to another.

        Raises:
            ValueError: If one of them was made without ``enable_timing=True``, or not recorded.
        """
        if not (self._timing and end_event._timing):
            raise ValueError("Both events must be created with argument 'enable_timing=True'.")
        if self._raw is None or end_event._raw is None:
            raise ValueError("Both events must be recorded before calculating elapsed time.")
        return float(_backend().cuda.get_elapsed_time(self._raw, end_event._raw))
