"""Which devices there are, and which of them the calling thread works on."""

from __future__ import annotations

from typing import Any

from ..backends import BackendUnavailableError, load
from ..core.device import device as _device

__all__ = ["backend", "current_device", "device_count", "is_available", "number", "set_device"]


def backend() -> Any:
    """CuPy's backend, for the device the thread has chosen; an error where there is none."""
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
        return int(backend().cuda.runtime.getDeviceCount())
    except BackendUnavailableError:
        return 0


def current_device() -> int:
    """Number of the calling thread's device.

    Raises:
        BackendUnavailableError: Without a device.

    Example:
        >>> import tinytorch as tt
        >>> if tt.cuda.is_available():
        ...     found = tt.cuda.current_device()
    """
    return int(backend().chosen())


def set_device(device: Any) -> None:
    """Make ``device`` the calling thread's; negative numbers do nothing.

    Args:
        device: A number, ``"cuda:1"`` or a device.

    Raises:
        BackendUnavailableError: Without a device.

    Example:
        >>> import tinytorch as tt
        >>> if tt.cuda.is_available():
        ...     tt.cuda.set_device(0)
    """
    place = number(device)
    if place >= 0:
        backend().choose(place)


def number(device: Any) -> int:
    """The number of a device; None: of the calling thread's."""
    if device is None:
        return current_device()
    if isinstance(device, int):
        return device
    where = _device(device)
    if where.type != "cuda":
        raise ValueError(f"Expected a cuda device, but got: {where}")
    return current_device() if where.index is None else where.index


# Public functions answer to the name they are used by: in `help`, tracebacks and pickles.
for _function in (current_device, device_count, is_available, set_device):
    _function.__module__ = "tinytorch.cuda"
