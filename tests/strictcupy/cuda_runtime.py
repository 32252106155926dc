"""``cupy.cuda.runtime``: device queries and the error that carries a CUDA status."""

from __future__ import annotations

from typing import Any, NamedTuple

INVALID_DEVICE = 101
CUDA_R_16BF = 14
INVALID_HANDLE = 400
memoryTypeUnregistered, memoryTypeHost = 0, 1
_NAMES = {
    2: "cudaErrorMemoryAllocation: out of memory",
    3: "cudaErrorInitializationError: initialization error",
    35: "cudaErrorInsufficientDriver: CUDA driver version is insufficient for CUDA runtime version",
    100: "cudaErrorNoDevice: no CUDA-capable device is detected",
    101: "cudaErrorInvalidDevice: invalid device ordinal",
    400: "cudaErrorInvalidResourceHandle: invalid resource handle",
}


class CUDARuntimeError(RuntimeError):
    """A failed CUDA call; ``status`` is its ``cudaError_t``."""

    def __init__(self, status: int) -> None:
        self.status = status
        super().__init__(_NAMES.get(status, f"cudaError {status}"))


def getDeviceCount() -> int:
    """Return how many devices are pretended."""
    from . import _devices

    return _devices.count()


def getDevice() -> int:
    """Return the calling thread's device."""
    from . import _devices

    return _devices.current()


def setDevice(device: int) -> None:
    """Make a device the calling thread's."""
    from . import _devices

    _devices.use(device)


def getDeviceProperties(device: int) -> dict[str, Any]:
    """Return a few properties of a pretended device."""
    if not 0 <= device < getDeviceCount():
        raise CUDARuntimeError(INVALID_DEVICE)
    return {
        "name": b"strictcupy", "totalGlobalMem": 1 << 34, "major": 8, "minor": 0,
        "multiProcessorCount": 1, "warpSize": 32,
    }  # fmt: skip


def driverGetVersion() -> int:
    """Return the version of CUDA that the driver would support."""
    return 12080


def runtimeGetVersion() -> int:
    """Return the version of the CUDA runtime."""
    return 12080


def deviceCanAccessPeer(device: int, peerDevice: int) -> int:
    """Return 1: all memory is the host's."""
    return 1


#: What a profiler was told.
profiled: list[str] = []


def profilerStart() -> None:
    """Note that a profiler begins."""
    profiled.append("start")


def profilerStop() -> None:
    """Note that it stops."""
    profiled.append("stop")


def deviceSynchronize() -> None:
    """Wait for the device."""
    from .cuda import Device

    Device().synchronize()


class PointerAttributes(NamedTuple):
    """Attributes of an address, as ``cudaPointerGetAttributes`` returns them."""

    device: int
    devicePointer: int
    hostPointer: int
    type: int


def pointerGetAttributes(ptr: int) -> PointerAttributes:
    """Tell pinned host memory from other."""
    from . import _pinned

    pinned = _pinned.block_at(ptr) is not None
    return PointerAttributes(
        getDevice(), ptr if pinned else 0, ptr, memoryTypeHost if pinned else memoryTypeUnregistered
    )
