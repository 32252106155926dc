"""``torch.cpu``: the one device that is always there."""

from __future__ import annotations

from typing import Any

from . import amp as amp

__all__ = ["amp", "current_device", "device_count", "is_available", "set_device", "synchronize"]


def is_available() -> bool:
    """True.

    Example:
        >>> import tinytorch as tt
        >>> tt.cpu.is_available()
        True
    """
    return True


def device_count() -> int:
    """1.

    Example:
        >>> import tinytorch as tt
        >>> tt.cpu.device_count()
        1
    """
    return 1


def current_device() -> str:
    """``"cpu"``.

    Example:
        >>> import tinytorch as tt
        >>> tt.cpu.current_device()
        'cpu'
    """
    return "cpu"


def set_device(device: Any) -> None:
    """Nothing: there is one.

    Example:
        >>> import tinytorch as tt
        >>> tt.cpu.set_device("cpu")
    """


def synchronize(device: Any = None) -> None:
    """Nothing: work on the CPU is done when a call returns.

    Example:
        >>> import tinytorch as tt
        >>> tt.cpu.synchronize()
    """
