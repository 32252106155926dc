"""The memory of devices, which CuPy's pool hands out: ``torch.cuda.memory``."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any

from ..backends.base import Backend
from ..backends.errors import OutOfMemoryError as OutOfMemoryError
from ..warnings import warn
from .queries import backend, device_count, is_available, number

__all__ = [
    "OutOfMemoryError", "empty_cache", "get_allocator_backend", "get_per_process_memory_fraction",
    "host_memory_stats", "max_memory_allocated", "max_memory_cached", "max_memory_reserved",
    "mem_get_info", "memory_allocated", "memory_cached", "memory_reserved", "memory_stats",
    "memory_stats_as_nested_dict", "memory_summary", "reset_accumulated_memory_stats",
    "reset_max_memory_allocated", "reset_max_memory_cached", "reset_peak_memory_stats",
    "set_per_process_memory_fraction",
]  # fmt: skip


def _ask(device: Any, question: str) -> int:
    """What the pool says for a device: CuPy's has a part for each, and asks the current one's."""
    xp = backend()
    with xp.cuda.Device(number(device)):
        return int(getattr(xp.get_default_memory_pool(), question)())


def memory_allocated(device: Any = None) -> int:
    """Bytes in use by arrays; 0 without a device.

    Example:
        >>> tt.cuda.memory_allocated() >= 0
        True
    """
    return _ask(device, "used_bytes") if is_available() else 0


def memory_reserved(device: Any = None) -> int:
    """Bytes the pool holds, in use or free; 0 without a device.

    Example:
        >>> tt.cuda.memory_reserved() >= 0
        True
    """
    return _ask(device, "total_bytes") if is_available() else 0


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


class _Peaks:
    """What the hook keeps and does; its class is one of CuPy's, which is there when CuPy is."""

    def __init__(self, xp: Backend) -> None:
        super().__init__()
        self.pool: Any = xp.get_default_memory_pool()
        self.peaks: dict[int, int] = {}

    def malloc_postprocess(self, **event: Any) -> None:
        used, number = int(self.pool.used_bytes()), event["device_id"]
        with _peaks_lock:
            self.peaks[number] = max(self.peaks.get(number, 0), used)


def _make_peak_hook(xp: Backend) -> Any:
    name = f"tinytorch.peak.{len(_peaks)}"  # a thread has one hook of a name
    return type("PeakHook", (_Peaks, xp.cuda.MemoryHook), {"name": name})(xp)


def reset_peak_memory_stats(device: Any = None) -> None:
    """Begin to count ``max_memory_allocated`` from what is in use now.

    A thread's allocations are looked at once it has called this; what it finds in use then
    includes what the others have. Nothing happens without a device.

    Example:
        >>> tt.cuda.reset_peak_memory_stats()
    """
    if is_available():
        _peak_hook(backend()).peaks[number(device)] = memory_allocated(device)


def max_memory_allocated(device: Any = None) -> int:
    """The most bytes that were in use at once since ``reset_peak_memory_stats``.

    It is looked up whenever a thread allocates that has called ``reset_peak_memory_stats``.
    Before the first reset nothing counted: then it is what the pool has reserved, which is at
    least as much. 0 without a device.

    Example:
        >>> tt.cuda.max_memory_allocated() >= 0
        True
    """
    if not is_available():
        return 0
    xp = backend()
    counted = _peaks[xp].peaks if xp in _peaks else {}
    return int(counted.get(number(device), memory_reserved(device)))


def max_memory_reserved(device: Any = None) -> int:
    """Bytes the pool holds: it gives nothing back but by ``empty_cache``.

    Example:
        >>> tt.cuda.max_memory_reserved() >= 0
        True
    """
    return memory_reserved(device)


def reset_accumulated_memory_stats(device: Any = None) -> None:
    """Nothing: how much was ever handed out is not counted.

    Example:
        >>> tt.cuda.reset_accumulated_memory_stats()
    """


def empty_cache() -> None:
    """Give the pool's free memory back to the device; nothing happens without one.

    Example:
        >>> tt.cuda.empty_cache()
    """
    if is_available():
        xp = backend()
        for index in range(device_count()):
            with xp.cuda.Device(index):
                xp.get_default_memory_pool().free_all_blocks()
        xp.get_default_pinned_memory_pool().free_all_blocks()


def mem_get_info(device: Any = None) -> tuple[int, int]:
    """The free and the total bytes of a device (default: the current one).

    Raises:
        BackendUnavailableError: Without a device.

    Example:
        >>> if tt.cuda.is_available():
        ...     free, total = tt.cuda.mem_get_info()
    """
    free, total = backend().cuda.Device(number(device)).mem_info
    return int(free), int(total)


# -- all of it at once -------------------------------------------------------------------------


def memory_stats(device: Any = None) -> OrderedDict[str, Any]:
    """What is known of a device's memory, by torch's names; empty without a device.

    CuPy counts bytes in use and bytes reserved; torch's other keys are not there.

    Example:
        >>> tt.cuda.memory_stats() == {} or "allocated_bytes.all.peak" in tt.cuda.memory_stats()
        True
    """
    if not is_available():
        return OrderedDict()
    used, most = memory_allocated(device), max_memory_allocated(device)
    held, most_held = memory_reserved(device), max_memory_reserved(device)
    return OrderedDict({
        "active_bytes.all.current": used, "active_bytes.all.peak": most,
        "allocated_bytes.all.current": used, "allocated_bytes.all.peak": most,
        "reserved_bytes.all.current": held, "reserved_bytes.all.peak": most_held,
    })  # fmt: skip


def memory_stats_as_nested_dict(device: Any = None) -> dict[str, Any]:
    """``memory_stats`` as dictionaries of dictionaries; empty without a device.

    Example:
        >>> bool(tt.cuda.memory_stats_as_nested_dict()) == tt.cuda.is_available()
        True
    """
    nested: dict[str, Any] = {}
    for name, value in memory_stats(device).items():
        what, pool, when = name.split(".")
        nested.setdefault(what, {}).setdefault(pool, {})[when] = value
    return nested


def memory_summary(device: Any = None, abbreviated: bool = False) -> str:
    """A table of ``memory_stats``, to be printed.

    Args:
        device: Which; default the current one.
        abbreviated: Accepted for compatibility.

    Raises:
        BackendUnavailableError: Without a device.

    Example:
        >>> if tt.cuda.is_available():
        ...     table = tt.cuda.memory_summary()
    """
    free, total = mem_get_info(device)
    stats = memory_stats(device)
    rows = [(f"CUDA memory, device {number(device)}", "now", "peak")]
    for title, name in (("Allocated", "allocated_bytes"), ("Reserved", "reserved_bytes")):
        current, peak = (stats[f"{name}.all.{when}"] for when in ("current", "peak"))
        rows.append((title, in_words(current), in_words(peak)))
    rows.append(("Free on the device", in_words(free), ""))
    rows.append(("On the device", in_words(total), ""))
    return "\n".join(f"| {a:<26} | {b:>12} | {c:>12} |" for a, b, c in rows)


def in_words(count: int) -> str:
    """Bytes as ``"20.00 MiB"``."""
    size = float(count)
    for unit in ("bytes", "KiB", "MiB"):
        if size < 1024:
            return f"{count} bytes" if unit == "bytes" else f"{size:.2f} {unit}"
        size /= 1024
    return f"{size:.2f} GiB"


def host_memory_stats() -> OrderedDict[str, Any]:
    """Nothing: CuPy does not count pinned memory.

    Example:
        >>> len(tt.cuda.host_memory_stats())
        0
    """
    return OrderedDict()


def get_allocator_backend() -> str:
    """The name of the allocator, CuPy's: ``"cupy"``.

    Example:
        >>> tt.cuda.get_allocator_backend()
        'cupy'
    """
    return "cupy"


# -- limits ------------------------------------------------------------------------------------


def set_per_process_memory_fraction(fraction: float, device: Any = None) -> None:
    """Refuse this process more than a share of a device's memory.

    Args:
        fraction: The share, from 0 to 1, of all that the device has.
        device: Which; default the current one.

    Raises:
        BackendUnavailableError: Without a device.
        TypeError: If ``fraction`` is not a float.
        ValueError: If it is not between 0 and 1.

    Example:
        >>> if tt.cuda.is_available():
        ...     tt.cuda.set_per_process_memory_fraction(1.0)
    """
    xp = backend()
    if not isinstance(fraction, float):
        raise TypeError("Invalid type for fraction argument, must be `float`")
    if not 0 <= fraction <= 1:
        raise ValueError(f"Invalid fraction value: {fraction}. Allowed range: 0~1")
    with xp.cuda.Device(number(device)) as chosen:
        # To CuPy 0 bytes mean no limit.
        most = max(1, int(fraction * chosen.mem_info[1]))
        xp.get_default_memory_pool().set_limit(size=most)


def get_per_process_memory_fraction(device: Any = None) -> float:
    """The share of a device's memory that this process may have; 1.0 without a limit.

    Raises:
        BackendUnavailableError: Without a device.

    Example:
        >>> if tt.cuda.is_available():
        ...     found = tt.cuda.get_per_process_memory_fraction()
    """
    most = _ask(device, "get_limit")
    return most / mem_get_info(device)[1] if most else 1.0


# -- names of old ------------------------------------------------------------------------------


def _renamed(old: str, new: str) -> None:
    warn(
        f"`tinytorch.cuda.{old}` has been renamed to `tinytorch.cuda.{new}`",
        FutureWarning,
    )  # fmt: skip


def memory_cached(device: Any = None) -> int:
    """``memory_reserved``, by its old name.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore", FutureWarning)
        ...     tt.cuda.memory_cached() >= 0
        True
    """
    _renamed("memory_cached", "memory_reserved")
    return memory_reserved(device)


def max_memory_cached(device: Any = None) -> int:
    """``max_memory_reserved``, by its old name.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore", FutureWarning)
        ...     tt.cuda.max_memory_cached() >= 0
        True
    """
    _renamed("max_memory_cached", "max_memory_reserved")
    return max_memory_reserved(device)


def reset_max_memory_allocated(device: Any = None) -> None:
    """``reset_peak_memory_stats``, by its old name.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore", FutureWarning)
        ...     tt.cuda.reset_max_memory_allocated()
    """
    _renamed("reset_max_memory_allocated", "reset_peak_memory_stats")
    reset_peak_memory_stats(device)


def reset_max_memory_cached(device: Any = None) -> None:
    """``reset_peak_memory_stats``, by its old name.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore", FutureWarning)
        ...     tt.cuda.reset_max_memory_cached()
    """
    _renamed("reset_max_memory_cached", "reset_peak_memory_stats")
    reset_peak_memory_stats(device)
