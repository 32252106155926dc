"""Load, temperature, power and clocks of a GPU, read from the driver through ``pynvml``."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, TypeVar

from .memory import format_bytes
from .queries import backend, index_of_device

__all__ = [
    "clock_rate", "device_memory_used", "list_gpu_processes", "memory_usage", "power_draw",
    "temperature", "utilization",
]  # fmt: skip
_F = TypeVar("_F", bound=Callable[..., int])


def _nvml() -> Any:
    """Import ``pynvml`` and initialize it."""
    try:
        nvml = importlib.import_module("pynvml")
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "nvidia-ml-py does not seem to be installed or it can't be imported: "
            "pip install nvidia-ml-py",
            name="pynvml",
        ) from error
    nvml.nvmlInit()
    return nvml


def _nvml_handle(nvml: Any, device: Any) -> Any:
    """NVML's handle of a CUDA device.

    The device is found by its PCI bus, because NVML's indices count all devices of the machine and
    CUDA's only the devices in ``CUDA_VISIBLE_DEVICES``.
    """
    bus = backend().cuda.Device(index_of_device(device)).pci_bus_id
    return nvml.nvmlDeviceGetHandleByPciBusId(bus)


_SECTIONS = """

    Args:
        device: The device; default: the current device.

    Raises:
        ModuleNotFoundError: Without the package nvidia-ml-py.
        BackendUnavailableError: Without a device.

    Example:
        >>> try:
        ...     found = tt.cuda.{name}()
        ... except ImportError:  # without a device, or the package nvidia-ml-py
        ...     found = None
    """


def _document_reading(function: _F) -> _F:
    """Append the shared sections to the docstring of a function that returns one reading."""
    function.__doc__ = (function.__doc__ or "") + _SECTIONS.format(name=function.__name__)
    return function


@_document_reading
def utilization(device: Any = None) -> int:
    """Percentage of the last sample period during which kernels ran on a device."""
    nvml = _nvml()
    return int(nvml.nvmlDeviceGetUtilizationRates(_nvml_handle(nvml, device)).gpu)


@_document_reading
def memory_usage(device: Any = None) -> int:
    """Percentage of the last sample period during which a device's memory was read or written."""
    nvml = _nvml()
    return int(nvml.nvmlDeviceGetUtilizationRates(_nvml_handle(nvml, device)).memory)


@_document_reading
def device_memory_used(device: Any = None) -> int:
    """Number of bytes of a device's memory that all processes together use."""
    nvml = _nvml()
    return int(nvml.nvmlDeviceGetMemoryInfo(_nvml_handle(nvml, device)).used)


@_document_reading
def temperature(device: Any = None) -> int:
    """Temperature of a device in degrees Celsius."""
    nvml = _nvml()
    return int(nvml.nvmlDeviceGetTemperature(_nvml_handle(nvml, device), nvml.NVML_TEMPERATURE_GPU))


@_document_reading
def power_draw(device: Any = None) -> int:
    """Power that a device draws, in milliwatts."""
    nvml = _nvml()
    return int(nvml.nvmlDeviceGetPowerUsage(_nvml_handle(nvml, device)))


@_document_reading
def clock_rate(device: Any = None) -> int:
    """Clock rate of a device's multiprocessors in megahertz."""
    nvml = _nvml()
    return int(nvml.nvmlDeviceGetClockInfo(_nvml_handle(nvml, device), nvml.NVML_CLOCK_SM))


def list_gpu_processes(device: Any = None) -> str:
    """Printable list of the processes on a device and of their memory.

    Args:
        device: The device; default: the current device.

    Raises:
        BackendUnavailableError: With the package nvidia-ml-py, but without a device.

    Example:
        >>> isinstance(tt.cuda.list_gpu_processes(), str)
        True
    """
    try:
        nvml = _nvml()
    except ModuleNotFoundError:
        return "pynvml module not found, please install nvidia-ml-py"
    found = nvml.nvmlDeviceGetComputeRunningProcesses(_nvml_handle(nvml, device))
    lines = [f"GPU:{index_of_device(device)}"]
    lines += [
        f"process {each.pid:>10d} uses {format_bytes(each.usedGpuMemory or 0):>12} GPU memory"
        for each in found
    ]
    return "\n".join(lines if found else [*lines, "no processes are running"])


# Help, tracebacks and pickles show the public name.
for _name in __all__:
    globals()[_name].__module__ = "tinytorch.cuda"
