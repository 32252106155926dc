"""Memory of CUDA devices, allocated from CuPy's memory pool, as ``torch.cuda.memory``."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any

from ..backends.base import Backend
from ..backends.errors import OutOfMemoryError as OutOfMemoryError
from ..warnings import warn
from .queries import backend, device_count, index_of_device, is_available

__all__ = [
    "OutOfMemoryError", "empty_cache", "get_allocator_backend", "get_per_process_memory_fraction",
    "host_memory_stats", "max_memory_allocated", "max_memory_cached", "max_memory_reserved",
    "mem_get_info", "memory_allocated", "memory_cached", "memory_reserved", "memory_stats",
    "memory_stats_as_nested_dict", "memory_summary", "reset_accumulated_memory_stats",
    "reset_max_memory_allocated", "reset_max_memory_cached", "reset_peak_memory_stats",
    "set_per_process_memory_fraction",
]  # fmt: skip


def _read_pool(device: Any, method: str) -> int:
    """Call a method of the memory pool, such as ``"used_bytes"``, for a device.

    CuPy's pool keeps separate figures for each device and returns those of the current device.
    """
    xp = backend()
    with xp.cuda.Device(index_of_device(device)):
        return int(getattr(xp.get_default_memory_pool(), method)())


def memory_allocated(device: Any = None) -> int:
    """Number of bytes in use by arrays; 0 without a device.

    Example:
        >>> tt.cuda.memory_allocated() >= 0
        True
    """
    return _read_pool(device, "used_bytes") if is_available() else 0


def memory_reserved(device: Any = None) -> int:
    """Number of bytes that the memory pool has reserved, in use or free; 0 without a device.

    Example:
        >>> tt.cuda.memory_reserved() >= 0
        True
    """
    return _read_pool(device, "total_bytes") if is_available() else 0


#: Memory hook of each backend that measures the peak of the memory in use; see ``_peak_hook``.
_peak_hooks: dict[Backend, Any] = {}
_peak_lock = threading.Lock()


class _HookedBackends(threading.local):
    """The backends whose memory hook the thread has entered: CuPy calls hooks by thread."""

    def __init__(self) -> None:
        self.backends: set[Backend] = set()


_hooked = _HookedBackends()


def _peak_hook(xp: Backend) -> Any:
    """Hook that measures a backend's peak of memory in use; activate it in this thread.

    All threads share the hook, but CuPy calls it only in threads that have entered it.
    """
    with _peak_lock:
        if xp not in _peak_hooks:
            _peak_hooks[xp] = _make_peak_hook(xp)
    if xp not in _hooked.backends:
        _peak_hooks[xp].__enter__()
        _hooked.backends.add(xp)
    return _peak_hooks[xp]


class _PeakHook:
    """Methods of a ``cupy.cuda.MemoryHook`` that records each device's peak of bytes in use."""

    def __init__(self, xp: Backend) -> None:
        super().__init__()
        self.pool: Any = xp.get_default_memory_pool()
        self.peaks: dict[int, int] = {}

    def malloc_postprocess(self, **event: Any) -> None:
        """Update the peak; CuPy calls this after each allocation."""
        used, device = int(self.pool.used_bytes()), event["device_id"]
        with _peak_lock:
            self.peaks[device] = max(self.peaks.get(device, 0), used)


def _make_peak_hook(xp: Backend) -> Any:
    """Create the hook; its class is created now, as the base class needs CuPy."""
    name = f"tinytorch.peak.{len(_peak_hooks)}"  # CuPy allows a thread one hook of a name.
    return type("PeakHook", (_PeakHook, xp.cuda.MemoryHook), {"name": name})(xp)


def reset_peak_memory_stats(device: Any = None) -> None:
    """Reset ``max_memory_allocated`` to the bytes that are in use now.

    From now on, each allocation of the calling thread updates the peak with the bytes in use by
    all threads. Nothing happens without a device.

    Example:
        >>> tt.cuda.reset_peak_memory_stats()
    """
    if is_available():
        _peak_hook(backend()).peaks[index_of_device(device)] = memory_allocated(device)


def max_memory_allocated(device: Any = None) -> int:
    """Peak of the bytes in use since ``reset_peak_memory_stats``; 0 without a device.

    Only allocations of threads that have called ``reset_peak_memory_stats`` update the peak.
    Before the first reset this is ``memory_reserved``, an upper bound.

    Example:
        >>> tt.cuda.max_memory_allocated() >= 0
        True
    """
    if not is_available():
        return 0
    xp = backend()
    peaks = _peak_hooks[xp].peaks if xp in _peak_hooks else {}
    return int(peaks.get(index_of_device(device), memory_reserved(device)))


def max_memory_reserved(device: Any = None) -> int:
    """``memory_reserved``, which only ``empty_cache`` reduces.

    Example:
        >>> tt.cuda.max_memory_reserved() >= 0
        True
    """
    return memory_reserved(device)


def reset_accumulated_memory_stats(device: Any = None) -> None:
    """Do nothing: accumulated statistics are not counted.

    Example:
        >>> tt.cuda.reset_accumulated_memory_stats()
    """


def empty_cache() -> None:
    """Release the memory pool's free memory; nothing happens without a device.

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
    """Numbers of free bytes and of all bytes of a device (default: the current device).

    Raises:
        BackendUnavailableError: Without a device.

    Example:
        >>> if tt.cuda.is_available():
        ...     free, total = tt.cuda.mem_get_info()
    """
    free, total = backend().cuda.Device(index_of_device(device)).mem_info
    return int(free), int(total)


def memory_stats(device: Any = None) -> OrderedDict[str, Any]:
    """Memory statistics of a device by PyTorch's keys; empty without a device.

    Only the keys of bytes in use and of bytes reserved are present: CuPy counts nothing else.

    Example:
        >>> tt.cuda.memory_stats() == {} or "allocated_bytes.all.peak" in tt.cuda.memory_stats()
        True
    """
    if not is_available():
        return OrderedDict()
    used = memory_allocated(device), max_memory_allocated(device)
    reserved = memory_reserved(device), max_memory_reserved(device)
    figures = {"active_bytes": used, "allocated_bytes": used, "reserved_bytes": reserved}
    return OrderedDict(
        (f"{name}.all.{when}", value)
        for name, values in figures.items()
        for when, value in zip(("current", "peak"), values, strict=True)
    )


def memory_stats_as_nested_dict(device: Any = None) -> dict[str, Any]:
    """``memory_stats`` as nested dictionaries; empty without a device.

    Example:
        >>> bool(tt.cuda.memory_stats_as_nested_dict()) == tt.cuda.is_available()
        True
    """
    nested: dict[str, Any] = {}
    for name, value in memory_stats(device).items():
        figure, pool, when = name.split(".")
        nested.setdefault(figure, {}).setdefault(pool, {})[when] = value
    return nested


def memory_summary(device: Any = None, abbreviated: bool = False) -> str:
    """Printable table of ``memory_stats``.

    Args:
        device: The device; default: the current device.
        abbreviated: Accepted for compatibility.

    Raises:
        BackendUnavailableError: Without a device.

    Example:
        >>> if tt.cuda.is_available():
        ...     table = tt.cuda.memory_summary()
    """
    free, total = mem_get_info(device)
    stats = memory_stats(device)
    rows = [(f"CUDA memory, device {index_of_device(device)}", "now", "peak")]
    for title, name in (("Allocated", "allocated_bytes"), ("Reserved", "reserved_bytes")):
        current, peak = (stats[f"{name}.all.{when}"] for when in ("current", "peak"))
        rows.append((title, format_bytes(current), format_bytes(peak)))
    rows.append(("Free on the device", format_bytes(free), ""))
    rows.append(("On the device", format_bytes(total), ""))
    return "\n".join(f"| {a:<26} | {b:>12} | {c:>12} |" for a, b, c in rows)


def format_bytes(count: int) -> str:
    """Number of bytes in a binary unit, as in ``"20.00 MiB"``."""
    size = float(count)
    for unit in ("bytes", "KiB", "MiB"):
        if size < 1024:
            return f"{count} bytes" if unit == "bytes" else f"{size:.2f} {unit}"
        size /= 1024
    return f"{size:.2f} GiB"


def host_memory_stats() -> OrderedDict[str, Any]:
    """Statistics of pinned memory: always empty, as CuPy does not count it.

    Example:
        >>> len(tt.cuda.host_memory_stats())
        0
    """
    return OrderedDict()


def get_allocator_backend() -> str:
    """Name of the allocator: always ``"cupy"``.

    Example:
        >>> tt.cuda.get_allocator_backend()
        'cupy'
    """
    return "cupy"


def set_per_process_memory_fraction(fraction: float, device: Any = None) -> None:
    """Limit this process to a fraction of a device's memory.

    Args:
        fraction: The fraction of the device's total memory, from 0 to 1.
        device: The device; default: the current device.

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
    with xp.cuda.Device(index_of_device(device)) as current:
        # CuPy takes 0 bytes for no limit.
        limit = max(1, int(fraction * current.mem_info[1]))
        xp.get_default_memory_pool().set_limit(size=limit)


def get_per_process_memory_fraction(device: Any = None) -> float:
    """Fraction of a device's memory that this process is limited to; 1.0 without a limit.

    Raises:
        BackendUnavailableError: Without a device.

    Example:
        >>> if tt.cuda.is_available():
        ...     found = tt.cuda.get_per_process_memory_fraction()
    """
    limit = _read_pool(device, "get_limit")
    return limit / mem_get_info(device)[1] if limit else 1.0


def _warn_renamed(old: str, new: str) -> None:
    """Warn that ``old`` is a deprecated name of ``new``."""
    warn(f"`tinytorch.cuda.{old}` has been renamed to `tinytorch.cuda.{new}`", FutureWarning)


def memory_cached(device: Any = None) -> int:
    """Deprecated name of ``memory_reserved``.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings(action="ignore"):
        ...     tt.cuda.memory_cached() >= 0
        True
    """
    _warn_renamed("memory_cached", "memory_reserved")
    return memory_reserved(device)


def max_memory_cached(device: Any = None) -> int:
    """Deprecated name of ``max_memory_reserved``.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings(action="ignore"):
        ...     tt.cuda.max_memory_cached() >= 0
        True
    """
    _warn_renamed("max_memory_cached", "max_memory_reserved")
    return max_memory_reserved(device)


def reset_max_memory_allocated(device: Any = None) -> None:
    """Call ``reset_peak_memory_stats``, of which this is a deprecated name.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings(action="ignore"):
        ...     tt.cuda.reset_max_memory_allocated()
    """
    _warn_renamed("reset_max_memory_allocated", "reset_peak_memory_stats")
    reset_peak_memory_stats(device)


def reset_max_memory_cached(device: Any = None) -> None:
    """Call ``reset_peak_memory_stats``, of which this is a deprecated name.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings(action="ignore"):
        ...     tt.cuda.reset_max_memory_cached()
    """
    _warn_renamed("reset_max_memory_cached", "reset_peak_memory_stats")
    reset_peak_memory_stats(device)
