"""``cupy.cuda.runtime``: device queries and the error that carries a CUDA status."""

from __future__ import annotations

from typing import Any

INVALID_DEVICE = 101
_NAMES = {
    2: "cudaErrorMemoryAllocation: out of memory",
    3: "cudaErrorInitializationError: initialization error",
    35: "cudaErrorInsufficientDriver: CUDA driver version is insufficient for CUDA runtime version",
    100: "cudaErrorNoDevice: no CUDA-capable device is detected",
    101: "cudaErrorInvalidDevice: invalid device ordinal",
}


class CUDARuntimeError(RuntimeError):
    """A failed CUDA call; ``status`` is its ``cudaError_t``."""

    def __init__(self, status: int) -> None:
        self.status = status
        super().__init__(_NAMES.get(status, f"cudaError {status}"))


def getDeviceCount() -> int:
    """Return 1."""
    return 1


def getDevice() -> int:
    """Return 0."""
    return 0


def setDevice(device: int) -> None:
    """Accept device 0 alone."""
    if device:
        raise CUDARuntimeError(INVALID_DEVICE)


def getDeviceProperties(device: int) -> dict[str, Any]:
    """Return a few properties of the pretended device."""
    setDevice(device)
    return {
        "name": b"strictcupy", "totalGlobalMem": 1 << 34, "major": 8, "minor": 0,
        "multiProcessorCount": 1,
    }  # fmt: skip


def driverGetVersion() -> int:
    """Return the version of CUDA that the driver would support."""
    return 12080


def runtimeGetVersion() -> int:
    """Return the version of the CUDA runtime."""
    return 12080


def deviceSynchronize() -> None:
    """Wait for the device."""
    from ._sync import log_sync

    log_sync("synchronize")
