"""Queries about CUDA: number of devices, current device, capabilities; importable without GPU."""

from __future__ import annotations

from typing import Any

from ..backends import BackendUnavailableError, load, loaded
from ..core.device import device as _device
from ..dtypes import bfloat16

__all__ = [
    "can_device_access_peer", "cudart", "current_blas_handle", "current_device", "device_count",
    "get_arch_list", "get_gencode_flags", "get_sync_debug_mode", "has_half", "has_magma", "init",
    "ipc_collect", "is_available", "is_bf16_supported", "is_initialized", "is_tf32_supported",
    "set_device", "set_sync_debug_mode",
]  # fmt: skip


def backend() -> Any:
    """CuPy's backend, for the calling thread's current device.

    Raises:
        BackendUnavailableError: Without CuPy or a device.
    """
    return load("cupy")


def is_available() -> bool:
    """Whether CuPy is installed and finds a usable device.

    Example:
        >>> isinstance(tt.cuda.is_available(), bool)
        True
    """
    return device_count() > 0


def device_count() -> int:
    """Number of usable devices; 0 if CuPy, the driver or a GPU is missing.

    Example:
        >>> tt.cuda.device_count() >= 0
        True
    """
    try:
        return int(backend().cuda.runtime.getDeviceCount())
    except BackendUnavailableError:
        return 0


def current_device() -> int:
    """Index of the calling thread's current device.

    Raises:
        BackendUnavailableError: Without a device.

    Example:
        >>> if tt.cuda.is_available():
        ...     found = tt.cuda.current_device()
    """
    return int(backend().chosen_device())


def set_device(device: Any) -> None:
    """Make ``device`` the calling thread's current device.

    Args:
        device: An index, ``"cuda:1"`` or a device; a negative index does nothing.

    Raises:
        BackendUnavailableError: Without a device.

    Example:
        >>> if tt.cuda.is_available():
        ...     tt.cuda.set_device(0)
    """
    index = index_of_device(device)
    if index >= 0:
        backend().choose(index)


def index_of_device(device: Any) -> int:
    """Index of a device, which may be an index, a string, a device or None (the current one)."""
    if device is None:
        return current_device()
    if isinstance(device, int):
        return device
    device = _device(device)
    if device.type != "cuda":
        raise ValueError(f"Expected a cuda device, but got: {device}")
    return current_device() if device.index is None else device.index


# Help, tracebacks and pickles show the public name.
for _function in (current_device, device_count, is_available, set_device):
    _function.__module__ = "tinytorch.cuda"


#: Whether MAGMA, a linear algebra library that PyTorch may be built with, is present.
has_magma = False
#: Whether float16 tensors are supported.
has_half = True


def is_initialized() -> bool:
    """Whether CuPy has been loaded and has found a GPU; this function does not load it.

    Example:
        >>> isinstance(tt.cuda.is_initialized(), bool)
        True
    """
    return loaded("cupy") is not None


def init() -> None:
    """Load CuPy and look for a GPU now instead of at the first use.

    Raises:
        BackendUnavailableError: Without a device.

    Example:
        >>> if tt.cuda.is_available():
        ...     tt.cuda.init()
    """
    backend()


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Whether the current device supports bfloat16; False without a device.

    bfloat16 tensors need the package ``ml_dtypes``.

    Args:
        including_emulation: Default True. False requires in addition that the device multiplies
            bfloat16 on tensor cores, as of compute capability 8.0.

    Example:
        >>> isinstance(tt.cuda.is_bf16_supported(), bool)
        True
    """
    if not is_available() or not backend().supports(bfloat16):
        return False
    return including_emulation or int(backend().cuda.Device().compute_capability) >= 80


def is_tf32_supported() -> bool:
    """Whether tensor cores of the current device can multiply float32 rounded to TF32.

    False without a device. CuPy uses TF32 if the environment variable ``CUPY_TF32`` is 1.

    Example:
        >>> isinstance(tt.cuda.is_tf32_supported(), bool)
        True
    """
    return is_available() and int(backend().cuda.Device().compute_capability) >= 80


def get_arch_list() -> list[str]:
    """Architectures of the devices, for which kernels are compiled; ``[]`` without a device.

    Example:
        >>> isinstance(tt.cuda.get_arch_list(), list)
        True
    """
    if not is_available():
        return []
    devices = [backend().cuda.Device(index) for index in range(device_count())]
    return sorted({f"sm_{device.compute_capability}" for device in devices})


def get_gencode_flags() -> str:
    """Options of NVIDIA's compiler for ``get_arch_list``; ``""`` without a device.

    Example:
        >>> isinstance(tt.cuda.get_gencode_flags(), str)
        True
    """
    numbers = [name.removeprefix("sm_") for name in get_arch_list()]
    return " ".join(f"-gencode compute=compute_{n},code=sm_{n}" for n in numbers)


def can_device_access_peer(device: Any, peer_device: Any) -> bool:
    """Whether ``device`` can read the memory of ``peer_device``, another device.

    Raises:
        BackendUnavailableError: Without a device.
        RuntimeError: If one of them does not exist.

    Example:
        >>> if tt.cuda.is_available():
        ...     found = tt.cuda.can_device_access_peer(0, 0)
    """
    xp, pair = backend(), (index_of_device(device), index_of_device(peer_device))
    for index in pair:
        xp.at(index)
    return pair[0] != pair[1] and bool(xp.cuda.runtime.deviceCanAccessPeer(*pair))


def ipc_collect() -> None:
    """Do nothing: tinytorch shares no device memory between processes.

    Example:
        >>> tt.cuda.ipc_collect()
    """


class _Runtime:
    """Functions of CUDA's runtime by CUDA's names: ``cudaGetDevice`` is CuPy's ``getDevice``."""

    def __init__(self, functions: Any) -> None:
        self._functions = functions

    def __getattr__(self, name: str) -> Any:
        name = name.removeprefix("cuda")
        return getattr(self._functions, name[:1].lower() + name[1:])


def cudart() -> Any:
    """Functions of CUDA's runtime that CuPy wraps, as in ``cudart().cudaProfilerStart()``.

    A function that fails raises, where PyTorch's returns an error code.

    Raises:
        BackendUnavailableError: Without a device.

    Example:
        >>> if tt.cuda.is_available():
        ...     found = tt.cuda.cudart().cudaGetDevice()
    """
    return _Runtime(backend().cuda.runtime)


def current_blas_handle() -> int:
    """Address of the cuBLAS handle of the current device.

    Raises:
        BackendUnavailableError: Without a device.

    Example:
        >>> if tt.cuda.is_available():
        ...     found = tt.cuda.current_blas_handle()
    """
    return int(backend().here().cuda.device.get_cublas_handle())


_SYNC_DEBUG_MODES: dict[Any, int] = {"default": 0, "warn": 1, "error": 2, 0: 0, 1: 1, 2: 2}


def get_sync_debug_mode() -> int:
    """Debug mode for synchronizing operations: always 0, which ignores them.

    Raises:
        BackendUnavailableError: Without a device.

    Example:
        >>> if tt.cuda.is_available():
        ...     found = tt.cuda.get_sync_debug_mode()
    """
    backend()
    return 0


def set_sync_debug_mode(debug_mode: int | str) -> None:
    """Set the debug mode for synchronizing operations; only the default mode is supported.

    Args:
        debug_mode: 0 or ``"default"``.

    Raises:
        BackendUnavailableError: Without a device.
        RuntimeError: If PyTorch has no such mode.
        NotImplementedError: For 1 (``"warn"``) and 2 (``"error"``): CuPy reports only some of the
            operations that synchronize.

    Example:
        >>> if tt.cuda.is_available():
        ...     tt.cuda.set_sync_debug_mode(0)
    """
    backend()
    if debug_mode not in _SYNC_DEBUG_MODES:
        raise RuntimeError(
            "invalid value of debug_mode, expected one of `default`, `warn`, `error`"
        )
    if _SYNC_DEBUG_MODES[debug_mode]:
        raise NotImplementedError(
            f"set_sync_debug_mode({debug_mode!r}): CuPy reports only some synchronizing "
            "operations; use a profiler such as Nsight Systems"
        )
