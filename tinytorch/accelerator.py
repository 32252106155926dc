"""``torch.accelerator``: the GPUs, whatever their kind, and the module of a kind of device."""

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

#: PyTorch has a package of this name: ``facade.reexports`` knows the modules in it.
__path__: list[str] = []

__all__ = [
    "current_accelerator", "current_device_idx", "current_device_index", "current_stream",
    "device_count", "device_index", "empty_cache", "empty_host_cache", "get_device_capability",
    "get_memory_info", "is_available", "max_memory_allocated", "max_memory_reserved",
    "memory_allocated", "memory_reserved", "memory_stats", "reset_accumulated_memory_stats",
    "reset_peak_memory_stats", "set_device_idx", "set_device_index", "set_stream", "synchronize",
]  # fmt: skip


def is_available() -> bool:
    """Whether there is a GPU that can be used.

    Example:
        >>> tt.accelerator.is_available() == tt.cuda.is_available()
        True
    """
    return cuda.is_available()


def device_count() -> int:
    """How many there are.

    Example:
        >>> tt.accelerator.device_count() == tt.cuda.device_count()
        True
    """
    return cuda.device_count()


def current_accelerator(check_available: bool = False) -> device | None:
    """``device("cuda")``; None without a GPU.

    Args:
        check_available: Accepted for compatibility.

    Example:
        >>> (tt.accelerator.current_accelerator() is None) != tt.cuda.is_available()
        True
    """
    return device("cuda") if cuda.is_available() else None


def current_device_index() -> int:
    """The number of the current one.

    Raises:
        BackendUnavailableError: If there is none.

    Example:
        >>> if tt.accelerator.is_available():
        ...     assert tt.accelerator.current_device_index() == tt.cuda.current_device()
    """
    return cuda.current_device()


def set_device_index(device: Any, /) -> None:
    """Make another one current.

    Args:
        device: A number or a device.

    Raises:
        BackendUnavailableError: If there is none.

    Example:
        >>> if tt.accelerator.is_available():
        ...     tt.accelerator.set_device_index(0)
    """
    cuda.set_device(device)


def synchronize(device: Any = None, /) -> None:
    """Wait until the work queued on the current one is done.

    Raises:
        BackendUnavailableError: If there is none.

    Example:
        >>> if tt.accelerator.is_available():
        ...     tt.accelerator.synchronize()
    """
    cuda.synchronize(device)


class device_index:  # a context manager, named as a function
    """Context in which another one is current; None does nothing.

    Args:
        device: Its number.

    Raises:
        BackendUnavailableError: At entry, if there is none.

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
    """The queue that this thread's work on one (default: the current one) goes to.

    Raises:
        BackendUnavailableError: If there is none.

    Example:
        >>> if tt.accelerator.is_available():
        ...     assert tt.accelerator.current_stream().device.type == "cuda"
    """
    return cuda.current_stream(device)


def set_stream(stream: cuda.Stream) -> None:
    """Have this thread's work go to a queue from now on, and make its device current.

    Raises:
        BackendUnavailableError: If there is none.

    Example:
        >>> if tt.accelerator.is_available():
        ...     tt.accelerator.set_stream(tt.accelerator.current_stream())
    """
    cuda.set_stream(stream)


def get_device_capability(device: Any = None, /) -> dict[str, Any]:
    """What one can do: ``{"supported_dtypes": ...}``, a set.

    Raises:
        BackendUnavailableError: If there is none.

    Example:
        >>> if tt.accelerator.is_available():
        ...     assert tt.float32 in tt.accelerator.get_device_capability()["supported_dtypes"]
    """
    xp = queries.backend().at(queries.number(device))
    return {"supported_dtypes": {each for each in dtypes.ALL if xp.supports(each)}}


# -- memory ------------------------------------------------------------------------------------


def empty_cache() -> None:
    """Give memory that is held, and not in use, back to the devices.

    Raises:
        BackendUnavailableError: If there is none.

    Example:
        >>> if tt.accelerator.is_available():
        ...     tt.accelerator.empty_cache()
    """
    queries.backend()
    cuda.empty_cache()


def empty_host_cache() -> None:
    """Give pinned memory that is held, and not in use, back to the system.

    Raises:
        BackendUnavailableError: If there is none.

    Example:
        >>> if tt.accelerator.is_available():
        ...     tt.accelerator.empty_host_cache()
    """
    queries.backend().get_default_pinned_memory_pool().free_all_blocks()


def get_memory_info(device_index: Any = None, /) -> tuple[int, int]:
    """The free and the total bytes of one (default: the current one).

    Raises:
        BackendUnavailableError: If there is none.

    Example:
        >>> if tt.accelerator.is_available():
        ...     free, total = tt.accelerator.get_memory_info()
        ...     assert 0 < free <= total
    """
    return cuda.mem_get_info(device_index)


def memory_allocated(device_index: Any = None, /) -> int:
    """Bytes in use by arrays.

    Raises:
        BackendUnavailableError: If there is none.

    Example:
        >>> if tt.accelerator.is_available():
        ...     assert tt.accelerator.memory_allocated() >= 0
    """
    queries.backend()
    return cuda.memory_allocated(device_index)


def max_memory_allocated(device_index: Any = None, /) -> int:
    """The most bytes in use at once; see ``cuda.max_memory_allocated``.

    Raises:
        BackendUnavailableError: If there is none.

    Example:
        >>> if tt.accelerator.is_available():
        ...     assert tt.accelerator.max_memory_allocated() >= 0
    """
    queries.backend()
    return cuda.max_memory_allocated(device_index)


def memory_reserved(device_index: Any = None, /) -> int:
    """Bytes that are held, in use or free.

    Raises:
        BackendUnavailableError: If there is none.

    Example:
        >>> if tt.accelerator.is_available():
        ...     assert tt.accelerator.memory_reserved() >= tt.accelerator.memory_allocated()
    """
    queries.backend()
    return cuda.memory_reserved(device_index)


def max_memory_reserved(device_index: Any = None, /) -> int:
    """The most bytes that were held at once; see ``cuda.max_memory_reserved``.

    Raises:
        BackendUnavailableError: If there is none.

    Example:
        >>> if tt.accelerator.is_available():
        ...     assert tt.accelerator.max_memory_reserved() >= 0
    """
    queries.backend()
    return cuda.max_memory_reserved(device_index)


def memory_stats(device_index: Any = None, /) -> OrderedDict[str, Any]:
    """What is known of the memory; see ``cuda.memory_stats``.

    Raises:
        BackendUnavailableError: If there is none.

    Example:
        >>> if tt.accelerator.is_available():
        ...     assert len(tt.accelerator.memory_stats()) > 0
    """
    queries.backend()
    return cuda.memory_stats(device_index)


def reset_peak_memory_stats(device_index: Any = None, /) -> None:
    """Begin to count ``max_memory_allocated`` from what is in use now.

    Raises:
        BackendUnavailableError: If there is none.

    Example:
        >>> if tt.accelerator.is_available():
        ...     tt.accelerator.reset_peak_memory_stats()
    """
    queries.backend()
    cuda.reset_peak_memory_stats(device_index)


def reset_accumulated_memory_stats(device_index: Any = None, /) -> None:
    """Nothing: how much was ever handed out is not counted.

    Raises:
        BackendUnavailableError: If there is none.

    Example:
        >>> if tt.accelerator.is_available():
        ...     tt.accelerator.reset_accumulated_memory_stats()
    """
    queries.backend()


# -- names of old ------------------------------------------------------------------------------


def current_device_idx() -> int:
    """``current_device_index``, by its old name.

    Example:
        >>> import warnings
        >>> if tt.accelerator.is_available():
        ...     with warnings.catch_warnings(action="ignore"):
        ...         assert tt.accelerator.current_device_idx() == tt.cuda.current_device()
    """
    warn("Use `current_device_index` instead.", FutureWarning)
    return current_device_index()


def set_device_idx(device: Any, /) -> None:
    """``set_device_index``, by its old name.

    Example:
        >>> import warnings
        >>> if tt.accelerator.is_available():
        ...     with warnings.catch_warnings(action="ignore"):
        ...         tt.accelerator.set_device_idx(0)
    """
    warn("Use `set_device_index` instead.", FutureWarning)
    set_device_index(device)


def get_device_module(device: Any = None) -> ModuleType:
    """The module with what is special to a kind of device.

    Args:
        device: A device or its name. Default: that of the active backend.

    Returns:
        ``tinytorch.cpu`` or ``tinytorch.cuda``.

    Raises:
        RuntimeError: For another kind of device, or what is no device.

    Example:
        >>> tt.get_device_module("cpu") is tt.cpu
        True
    """
    if device is None:
        kind = current_backend().device_type
    elif isinstance(device, (str, _device)):
        kind = _device(device).type
    else:
        raise RuntimeError(f"Invalid value of device '{device}', expect torch.device, str, or None")
    if importlib.util.find_spec(f"tinytorch.{kind}") is None:
        raise RuntimeError(f"Device '{kind}' does not have a corresponding module registered")
    return importlib.import_module(f"tinytorch.{kind}")


get_device_module.__module__ = "tinytorch"
