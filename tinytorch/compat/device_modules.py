"""The module of a device: ``tinytorch.cuda`` for a GPU, ``tinytorch.cpu`` for the CPU."""

from __future__ import annotations

import importlib
import importlib.util
from types import ModuleType
from typing import Any

from ..core.device import device as _device
from ..state import current_backend


def get_device_module(device: Any = None) -> ModuleType:
    """The module with what is special to a kind of device.

    Args:
        device: A device or its name. Default: that of the active backend.

    Returns:
        ``tinytorch.cpu`` or ``tinytorch.cuda``.

    Raises:
        RuntimeError: For another kind of device, or what is no device.

    Example:
        >>> import tinytorch as tt
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
