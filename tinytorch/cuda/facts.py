"""What programs ask of CUDA before they use it; honest where there is no GPU."""

from __future__ import annotations

from typing import Any

from ..backends import loaded
from ._places import backend, device_count, is_available, number

__all__ = [
    "can_device_access_peer", "get_arch_list", "init", "ipc_collect", "is_bf16_supported",
    "is_initialized", "mem_get_info",
]  # fmt: skip


def is_initialized() -> bool:
    """Whether CuPy has been loaded and its GPU found; asks for neither.

    Example:
        >>> import tinytorch as tt
        >>> isinstance(tt.cuda.is_initialized(), bool)
        True
    """
    return loaded("cupy") is not None


def init() -> None:
    """Load CuPy and look for a GPU now, not at its first use.

    Raises:
        BackendUnavailableError: Without a device.
    """
    backend()


def mem_get_info(device: Any = None) -> tuple[int, int]:
    """The free and the total bytes of a device (default: the current one).

    Raises:
        BackendUnavailableError: Without a device.
    """
    xp = backend()
    free, total = xp.cuda.Device(number(device)).mem_info
    return int(free), int(total)


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Whether tensors of bfloat16 can be made on the GPU: False, CuPy has no such arrays.

    Example:
        >>> import tinytorch as tt
        >>> tt.cuda.is_bf16_supported()
        False
    """
    return False


def get_arch_list() -> list[str]:
    """What kernels can be compiled for here: the architectures of the devices; ``[]`` without.

    Example:
        >>> import tinytorch as tt
        >>> isinstance(tt.cuda.get_arch_list(), list)
        True
    """
    if not is_available():
        return []
    devices = [backend().cuda.Device(index) for index in range(device_count())]
    return sorted({f"sm_{device.compute_capability}" for device in devices})


def can_device_access_peer(device: Any, peer_device: Any) -> bool:
    """Whether one device can read the memory of another.

    Raises:
        BackendUnavailableError: Without a device.
        RuntimeError: If there is no such device.
    """
    xp, pair = backend(), (number(device), number(peer_device))
    for index in pair:
        xp.at(index)
    return pair[0] != pair[1] and bool(xp.cuda.runtime.deviceCanAccessPeer(*pair))


def ipc_collect() -> None:
    """Nothing: no memory is shared between processes here."""
