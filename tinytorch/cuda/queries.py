"""Queries about CUDA: devices, the current one, capabilities; also where there is no GPU."""

from __future__ import annotations

from typing import Any

from ..backends import BackendUnavailableError, load, loaded
from ..core.device import device as _device
from ..dtypes import bfloat16

__all__ = [
    "can_device_access_peer",
    "cudart",
    "current_blas_handle",
    "current_device",
    "device_count",
    "get_arch_list",
    "get_gencode_flags",
    "get_sync_debug_mode",
    "has_half",
    "has_magma",
    "init",
    "ipc_collect",
    "is_available",
    "is_bf16_supported",
    "is_initialized",
    "is_tf32_supported",
    "set_device",
    "set_sync_debug_mode",
]


def backend() -> Any:
    """CuPy's backend, for the device the thread has chosen; an error where there is none."""
    return load("cupy")


def is_available() -> bool:
    """Whether CuPy is installed and has a usable device.

    Example:
        >>> isinstance(tt.cuda.is_available(), bool)
        True
    """
    return device_count() > 0


def device_count() -> int:
    """Number of usable devices; 0 where CuPy, a driver or a GPU is missing.

    Example:
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
        >>> if tt.cuda.is_available():
        ...     found = tt.cuda.current_device()
    """
    return int(backend().chosen_device())


def set_device(device: Any) -> None:
    """Make ``device`` the calling thread's; negative numbers do nothing.

    Args:
        device: A number, ``"cuda:1"`` or a device.

    Raises:
        BackendUnavailableError: Without a device.

    Example:
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


# fmt: skip

#: Whether the library of linear algebra that torch may be built with is there.
has_magma = False
#: Whether tensors of float16 can be made.
has_half = True


def is_initialized() -> bool:
    """Whether CuPy has been loaded and its GPU found; asks for neither.

    Example:
        >>> isinstance(tt.cuda.is_initialized(), bool)
        True
    """
    return loaded("cupy") is not None


def init() -> None:
    """Load CuPy and look for a GPU now, not at its first use.

    Raises:
        BackendUnavailableError: Without a device.

    Example:
        >>> if tt.cuda.is_available():
        ...     tt.cuda.init()
    """
    backend()


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Whether tensors of bfloat16 can be made on the current device; False without one.

    They can where the package ``ml_dtypes`` is installed.

    Args:
        including_emulation: False asks whether the device multiplies them on tensor cores, too.

    Example:
        >>> isinstance(tt.cuda.is_bf16_supported(), bool)
        True
    """
    if not is_available() or not backend().supports(bfloat16):
        return False
    return including_emulation or int(backend().cuda.Device().compute_capability) >= 80


def is_tf32_supported() -> bool:
    """Whether the current device multiplies float32 on tensor cores, rounded; False without one.

    CuPy does so where it is told by the environment variable ``CUPY_TF32=1``.

    Example:
        >>> isinstance(tt.cuda.is_tf32_supported(), bool)
        True
    """
    return is_available() and int(backend().cuda.Device().compute_capability) >= 80


def get_arch_list() -> list[str]:
    """What kernels can be compiled for here: the architectures of the devices; ``[]`` without.

    Example:
        >>> isinstance(tt.cuda.get_arch_list(), list)
        True
    """
    if not is_available():
        return []
    devices = [backend().cuda.Device(index) for index in range(device_count())]
    return sorted({f"sm_{device.compute_capability}" for device in devices})


def get_gencode_flags() -> str:
    """``get_arch_list`` as a compiler's options; ``""`` without a device.

    Example:
        >>> isinstance(tt.cuda.get_gencode_flags(), str)
        True
    """
    numbers = [name.removeprefix("sm_") for name in get_arch_list()]
    return " ".join(f"-gencode compute=compute_{n},code=sm_{n}" for n in numbers)


def can_device_access_peer(device: Any, peer_device: Any) -> bool:
    """Whether one device can read the memory of another.

    Raises:
        BackendUnavailableError: Without a device.
        RuntimeError: If there is no such device.

    Example:
        >>> if tt.cuda.is_available():
        ...     found = tt.cuda.can_device_access_peer(0, 0)
    """
    xp, pair = backend(), (number(device), number(peer_device))
    for index in pair:
        xp.at(index)
    return pair[0] != pair[1] and bool(xp.cuda.runtime.deviceCanAccessPeer(*pair))


def ipc_collect() -> None:
    """Nothing: no memory is shared between processes here.

    Example:
        >>> tt.cuda.ipc_collect()
    """


class _Runtime:
    """CUDA's functions by their own names: CuPy leaves the ``cuda`` in front of them out."""

    def __init__(self, functions: Any) -> None:
        self._functions = functions

    def __getattr__(self, name: str) -> Any:
        own = name.removeprefix("cuda")
        return getattr(self._functions, own[:1].lower() + own[1:])


def cudart() -> Any:
    """CUDA's runtime, as far as CuPy hands it on: ``cudart().cudaProfilerStart()``.

    A function raises where torch's returns an error's number.

    Raises:
        BackendUnavailableError: Without a device.

    Example:
        >>> if tt.cuda.is_available():
        ...     found = tt.cuda.cudart().cudaGetDevice()
    """
    return _Runtime(backend().cuda.runtime)


def current_blas_handle() -> int:
    """The address of cuBLAS's state for the current device.

    Raises:
        BackendUnavailableError: Without a device.

    Example:
        >>> if tt.cuda.is_available():
        ...     found = tt.cuda.current_blas_handle()
    """
    return int(backend().here().cuda.device.get_cublas_handle())


# -- waits of the host -------------------------------------------------------------------------

_MODES: dict[Any, int] = {"default": 0, "warn": 1, "error": 2, 0: 0, 1: 1, 2: 2}


def get_sync_debug_mode() -> int:
    """What happens when the host waits for a device: 0, nothing.

    Raises:
        BackendUnavailableError: Without a device.

    Example:
        >>> if tt.cuda.is_available():
        ...     found = tt.cuda.get_sync_debug_mode()
    """
    backend()
    return 0


def set_sync_debug_mode(debug_mode: int | str) -> None:
    """Choose what happens when the host waits for a device; nothing is all there is.

    Args:
        debug_mode: 0 or ``"default"``.

    Raises:
        BackendUnavailableError: Without a device.
        RuntimeError: For no mode of torch's.
        NotImplementedError: For ``"warn"`` and ``"error"``: CuPy does not tell of every wait.

    Example:
        >>> if tt.cuda.is_available():
        ...     tt.cuda.set_sync_debug_mode(0)
    """
    backend()
    if debug_mode not in _MODES:
        raise RuntimeError(
            "invalid value of debug_mode, expected one of `default`, `warn`, `error`"
        )
    if _MODES[debug_mode]:
        raise NotImplementedError(
            f"set_sync_debug_mode({debug_mode!r}): CuPy does not tell of every wait of the host; "
            "a profiler, such as Nsight Systems, does"
        )
