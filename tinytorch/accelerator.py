"""``torch.accelerator``: the GPUs, without saying whose."""

from __future__ import annotations

from typing import Any

from . import cuda
from ._device import device

__all__ = [
    "current_accelerator", "current_device_index", "device_count", "is_available",
    "set_device_index", "synchronize",
]  # fmt: skip


def is_available() -> bool:
    """Whether there is a GPU that can be used.

    Example:
        >>> import tinytorch as tt
        >>> tt.accelerator.is_available() == tt.cuda.is_available()
        True
    """
    return cuda.is_available()


def device_count() -> int:
    """How many there are.

    Example:
        >>> import tinytorch as tt
        >>> tt.accelerator.device_count() == tt.cuda.device_count()
        True
    """
    return cuda.device_count()


def current_accelerator(check_available: bool = False) -> device | None:
    """``device("cuda")``; None without a GPU.

    Args:
        check_available: Accepted for compatibility.

    Example:
        >>> import tinytorch as tt
        >>> (tt.accelerator.current_accelerator() is None) != tt.cuda.is_available()
        True
    """
    return device("cuda") if cuda.is_available() else None


def current_device_index() -> int:
    """The number of the current one.

    Raises:
        BackendUnavailableError: If there is none.
    """
    return cuda.current_device()


def set_device_index(device: Any, /) -> None:
    """Make another one current.

    Args:
        device: A number or a device.

    Raises:
        BackendUnavailableError: If there is none.
    """
    cuda.set_device(device)


def synchronize(device: Any = None, /) -> None:
    """Wait until the work queued on the current one is done.

    Raises:
        BackendUnavailableError: If there is none.
    """
    cuda.synchronize(device)
