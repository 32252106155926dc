"""GPUs independently of their kind, as ``torch.accelerator``, and ``torch.get_device_module``.

Every function but ``is_available``, ``device_count`` and ``current_accelerator`` raises
``BackendUnavailableError`` without a GPU.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections import OrderedDict
from types import ModuleType
from typing import Any

from . import cuda, dtypes
from .core.device import device
from .core.device import device as _device
from .cuda import queries
from .state import current_backend
from .warnings import warn

#: ``torch.accelerator`` is a package; ``facade.reexports`` lists the modules in it.
__path__: list[str] = []

__all__ = [
    "current_accelerator", "current_device_idx", "current_device_index", "current_stream",
    "device_count", "device_index", "empty_cache", "empty_host_cache", "get_device_capability",
    "get_memory_info", "is_available", "max_memory_allocated", "max_memory_reserved",
    "memory_allocated", "memory_reserved", "memory_stats", "reset_accumulated_memory_stats",
    "reset_peak_memory_stats", "set_device_idx", "set_device_index", "set_stream", "synchronize",
]  # fmt: skip


def is_available() -> bool:
    """Whether there is a usable GPU.

    Example:
        >>> tt.accelerator.is_available() == tt.cuda.is_available()
        True
    """
    return cuda.is_available()


def device_count() -> int:
    """Number of usable GPUs.

    Example:
        >>> tt.accelerator.device_count() == tt.cuda.device_count()
        True
    """
    return cuda.device_count()


def current_accelerator(check_available: bool = False) -> device | None:
    """Return ``device("cuda")``, or None without a GPU.

    Args:
        check_available: Accepted for compatibility.

    Example:
        >>> (tt.accelerator.current_accelerator() is None) != tt.cuda.is_available()
        True
    """
    return device("cuda") if cuda.is_available() else None


def current_device_index() -> int:
    """Index of the calling thread's current GPU.

    Example:
        >>> if tt.accelerator.is_available():
        ...     assert tt.accelerator.current_device_index() == tt.cuda.current_device()
    """
    return cuda.current_device()


def set_device_index(device: Any, /) -> None:
    """Make a GPU the calling thread's current one.

    Args:
        device: An index or a device.

    Example:
        >>> if tt.accelerator.is_available():
        ...     tt.accelerator.set_device_index(0)
    """
    cuda.set_device(device)


def synchronize(device: Any = None, /) -> None:
    """Wait until all work on a GPU (default: the current GPU) is done.

    Example:
        >>> if tt.accelerator.is_available():
        ...     tt.accelerator.synchronize()
    """
    cuda.synchronize(device)


class device_index:  # a context manager, named as a function
    """Context manager that makes a GPU current; None does nothing.

    Args:
        device: Index of the GPU.

    Raises:
        BackendUnavailableError: On entry, without a GPU.

    Example:
        >>> with tt.accelerator.device_index(None):
        ...     pass
    """

    def __init__(self, device: int | None, /) -> None:
        self.idx = device
        self._context = cuda.device(device)

    def __enter__(self) -> None:
        self._context.__enter__()

    def __exit__(self, *exception: object) -> None:
        self._context.__exit__(*exception)


def current_stream(device: Any = None, /) -> cuda.Stream:
    """Calling thread's current stream on a GPU (default: the current GPU).

    Example:
        >>> if tt.accelerator.is_available():
        ...     assert tt.accelerator.current_stream().device.type == "cuda"
    """
    return cuda.current_stream(device)


def set_stream(stream: cuda.Stream) -> None:
    """Make a stream and its device the calling thread's current ones.

    Example:
        >>> if tt.accelerator.is_available():
        ...     tt.accelerator.set_stream(tt.accelerator.current_stream())
    """
    cuda.set_stream(stream)


def get_device_capability(device: Any = None, /) -> dict[str, Any]:
    """Capabilities of a GPU: ``{"supported_dtypes": <set of dtypes>}``.

    Example:
        >>> if tt.accelerator.is_available():
        ...     assert tt.float32 in tt.accelerator.get_device_capability()["supported_dtypes"]
    """
    xp = queries.backend().at(queries.index_of_device(device))
    return {"supported_dtypes": {each for each in dtypes.ALL if xp.supports(each)}}


def empty_cache() -> None:
    """Release the memory pool's free memory.

    Example:
        >>> if tt.accelerator.is_available():
        ...     tt.accelerator.empty_cache()
    """
    queries.backend()
    cuda.empty_cache()


def empty_host_cache() -> None:
    """Release the free memory of the pool of pinned memory.

    Example:
        >>> if tt.accelerator.is_available():
        ...     tt.accelerator.empty_host_cache()
    """
    queries.backend().get_default_pinned_memory_pool().free_all_blocks()


def get_memory_info(device_index: Any = None, /) -> tuple[int, int]:
    """Numbers of free bytes and of all bytes of a GPU (default: the current GPU).

    Example:
        >>> if tt.accelerator.is_available():
        ...     free, total = tt.accelerator.get_memory_info()
        ...     assert 0 < free <= total
    """
    return cuda.mem_get_info(device_index)


def memory_allocated(device_index: Any = None, /) -> int:
    """Number of bytes in use by arrays.

    Example:
        >>> if tt.accelerator.is_available():
        ...     assert tt.accelerator.memory_allocated() >= 0
    """
    queries.backend()
    return cuda.memory_allocated(device_index)


def max_memory_allocated(device_index: Any = None, /) -> int:
    """Peak of the bytes in use; see ``cuda.max_memory_allocated``.

    Example:
        >>> if tt.accelerator.is_available():
        ...     assert tt.accelerator.max_memory_allocated() >= 0
    """
    queries.backend()
    return cuda.max_memory_allocated(device_index)


def memory_reserved(device_index: Any = None, /) -> int:
    """Number of bytes that the memory pool has reserved, in use or free.

    Example:
        >>> if tt.accelerator.is_available():
        ...     assert tt.accelerator.memory_reserved() >= tt.accelerator.memory_allocated()
    """
    queries.backend()
    return cuda.memory_reserved(device_index)


def max_memory_reserved(device_index: Any = None, /) -> int:
    """Peak of the bytes reserved; see ``cuda.max_memory_reserved``.

    Example:
        >>> if tt.accelerator.is_available():
        ...     assert tt.accelerator.max_memory_reserved() >= 0
    """
    queries.backend()
    return cuda.max_memory_reserved(device_index)


def memory_stats(device_index: Any = None, /) -> OrderedDict[str, Any]:
    """Memory statistics of a GPU; see ``cuda.memory_stats``.

    Example:
        >>> if tt.accelerator.is_available():
        ...     assert len(tt.accelerator.memory_stats()) > 0
    """
    queries.backend()
    return cuda.memory_stats(device_index)


def reset_peak_memory_stats(device_index: Any = None, /) -> None:
    """Reset ``max_memory_allocated`` to the bytes that are in use now.

    Example:
        >>> if tt.accelerator.is_available():
        ...     tt.accelerator.reset_peak_memory_stats()
    """
    queries.backend()
    cuda.reset_peak_memory_stats(device_index)


def reset_accumulated_memory_stats(device_index: Any = None, /) -> None:
    """Do nothing: accumulated statistics are not counted.

    Example:
        >>> if tt.accelerator.is_available():
        ...     tt.accelerator.reset_accumulated_memory_stats()
    """
    queries.backend()


def current_device_idx() -> int:
    """Deprecated name of ``current_device_index``.

    Example:
        >>> import warnings
        >>> if tt.accelerator.is_available():
        ...     with warnings.catch_warnings(action="ignore"):
        ...         assert tt.accelerator.current_device_idx() == tt.cuda.current_device()
    """
    warn("Use `current_device_index` instead.", FutureWarning)
    return current_device_index()


def set_device_idx(device: Any, /) -> None:
    """Call ``set_device_index``, of which this is a deprecated name.

    Example:
        >>> import warnings
        >>> if tt.accelerator.is_available():
        ...     with warnings.catch_warnings(action="ignore"):
        ...         tt.accelerator.set_device_idx(0)
    """
    warn("Use `set_device_index` instead.", FutureWarning)
    set_device_index(device)


def get_device_module(device: Any = None) -> ModuleType:
    """Module of the functions for a device type: ``tinytorch.cpu`` or ``tinytorch.cuda``.

    Args:
        device: A device or its name. Default: the device of the active backend.

    Raises:
        RuntimeError: If the device type has no module, or ``device`` is not a device or string.

    Example:
        >>> tt.get_device_module("cpu") is tt.cpu
        True
    """
    if device is None:
        device_type = current_backend().device_type
    elif isinstance(device, (str, _device)):
        device_type = _device(device).type
    else:
        raise RuntimeError(f"Invalid value of device '{device}', expect torch.device, str, or None")
    if importlib.util.find_spec(f"tinytorch.{device_type}") is None:
        raise RuntimeError(
            f"Device '{device_type}' does not have a corresponding module registered"
        )
    return importlib.import_module(f"tinytorch.{device_type}")


get_device_module.__module__ = "tinytorch"
