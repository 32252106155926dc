"""What the driver measures: load, temperature, power, clocks. It is asked through ``pynvml``."""

from __future__ import annotations

import importlib
from typing import Any

from .memory import in_words
from .queries import backend, number

__all__ = [
    "clock_rate", "device_memory_used", "list_gpu_processes", "memory_usage", "power_draw",
    "temperature", "utilization",
]  # fmt: skip


def _nvml() -> Any:
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


def _device(nvml: Any, device: Any) -> Any:
    """NVML's handle. It counts other devices than CUDA: those of CUDA_VISIBLE_DEVICES."""
    bus = backend().cuda.Device(number(device)).pci_bus_id
    return nvml.nvmlDeviceGetHandleByPciBusId(bus)


def utilization(device: Any = None) -> int:
    """Percent of the past sample period in which kernels ran on a device.

    Args:
        device: Which; default the current one.

    Raises:
        ModuleNotFoundError: Without the package nvidia-ml-py.
        BackendUnavailableError: Without a device.

    Example:
        >>> try:
        ...     found = tt.cuda.utilization()
        ... except ImportError:  # without a device, or the package nvidia-ml-py
        ...     found = None
    """
    nvml = _nvml()
    return int(nvml.nvmlDeviceGetUtilizationRates(_device(nvml, device)).gpu)


def memory_usage(device: Any = None) -> int:
    """Percent of the past sample period in which a device's memory was read or written.

    Args:
        device: Which; default the current one.

    Raises:
        ModuleNotFoundError: Without the package nvidia-ml-py.
        BackendUnavailableError: Without a device.

    Example:
        >>> try:
        ...     found = tt.cuda.memory_usage()
        ... except ImportError:  # without a device, or the package nvidia-ml-py
        ...     found = None
    """
    nvml = _nvml()
    return int(nvml.nvmlDeviceGetUtilizationRates(_device(nvml, device)).memory)


def device_memory_used(device: Any = None) -> int:
    """Bytes of a device's memory in use, by all processes.

    Args:
        device: Which; default the current one.

    Raises:
        ModuleNotFoundError: Without the package nvidia-ml-py.
        BackendUnavailableError: Without a device.

    Example:
        >>> try:
        ...     found = tt.cuda.device_memory_used()
        ... except ImportError:  # without a device, or the package nvidia-ml-py
        ...     found = None
    """
    nvml = _nvml()
    return int(nvml.nvmlDeviceGetMemoryInfo(_device(nvml, device)).used)


def temperature(device: Any = None) -> int:
    """Degrees Celsius of a device.

    Args:
        device: Which; default the current one.

    Raises:
        ModuleNotFoundError: Without the package nvidia-ml-py.
        BackendUnavailableError: Without a device.

    Example:
        >>> try:
        ...     found = tt.cuda.temperature()
        ... except ImportError:  # without a device, or the package nvidia-ml-py
        ...     found = None
    """
    nvml = _nvml()
    return int(nvml.nvmlDeviceGetTemperature(_device(nvml, device), nvml.NVML_TEMPERATURE_GPU))


def power_draw(device: Any = None) -> int:
    """Milliwatts that a device takes.

    Args:
        device: Which; default the current one.

    Raises:
        ModuleNotFoundError: Without the package nvidia-ml-py.
        BackendUnavailableError: Without a device.

    Example:
        >>> try:
        ...     found = tt.cuda.power_draw()
        ... except ImportError:  # without a device, or the package nvidia-ml-py
        ...     found = None
    """
    nvml = _nvml()
    return int(nvml.nvmlDeviceGetPowerUsage(_device(nvml, device)))


def clock_rate(device: Any = None) -> int:
    """Megahertz of a device's multiprocessors.

    Args:
        device: Which; default the current one.

    Raises:
        ModuleNotFoundError: Without the package nvidia-ml-py.
        BackendUnavailableError: Without a device.

    Example:
        >>> try:
        ...     found = tt.cuda.clock_rate()
        ... except ImportError:  # without a device, or the package nvidia-ml-py
        ...     found = None
    """
    nvml = _nvml()
    return int(nvml.nvmlDeviceGetClockInfo(_device(nvml, device), nvml.NVML_CLOCK_SM))


def list_gpu_processes(device: Any = None) -> str:
    """A text with the processes on a device and their memory, to be printed.

    Args:
        device: Which; default the current one.

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
    found = nvml.nvmlDeviceGetComputeRunningProcesses(_device(nvml, device))
    lines = [f"GPU:{number(device)}"]
    lines += [
        f"process {each.pid:>10d} uses {in_words(each.usedGpuMemory or 0):>12} GPU memory"
        for each in found
    ]
    return "\n".join(lines if found else [*lines, "no processes are running"])


# Public functions answer to the name they are used by: in `help`, tracebacks and pickles.
for _name in __all__:
    globals()[_name].__module__ = "tinytorch.cuda"
