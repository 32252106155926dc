"""CUDA devices through CuPy, as ``torch.cuda``.

``is_available`` and ``device_count`` never raise: without CuPy or a device they return False and
0. Every function that needs a device raises ``BackendUnavailableError``, whose message says what
is missing and how to get it.

An operation runs on the device of its inputs, and the backward pass on the device of the graph.
The calling thread's current device decides only where ``device="cuda"`` creates new tensors, and
its current stream decides only which stream receives the work. With several devices, the device
of the last operation stays CuPy's own current device: a program that also calls CuPy should write
``with cupy.cuda.Device(n)``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..dispatch.creation import tensor_type
from . import amp as amp
from . import nvtx as nvtx
from . import profiler as profiler
from ._telemetry import (
    clock_rate, device_memory_used, list_gpu_processes, memory_usage, power_draw, temperature,
    utilization,
)  # fmt: skip
from .graphs import CUDAGraph, graph, graph_pool_handle, make_graphed_callables
from .memory import (
    OutOfMemoryError, empty_cache, get_allocator_backend, get_per_process_memory_fraction,
    host_memory_stats, max_memory_allocated, max_memory_cached, max_memory_reserved, mem_get_info,
    memory_allocated, memory_cached, memory_reserved, memory_stats, memory_stats_as_nested_dict,
    memory_summary, reset_accumulated_memory_stats, reset_max_memory_allocated,
    reset_max_memory_cached, reset_peak_memory_stats, set_per_process_memory_fraction,
)  # fmt: skip
from .queries import (
    backend as _backend, can_device_access_peer, cudart, current_blas_handle, current_device,
    device_count, index_of_device as _index_of_device, get_arch_list, get_gencode_flags,
    get_sync_debug_mode, has_half, has_magma, init, ipc_collect, is_available, is_bf16_supported,
    is_initialized, is_tf32_supported, set_device, set_sync_debug_mode,
)  # fmt: skip
from .random import (
    default_generators, get_rng_state, get_rng_state_all, initial_seed, manual_seed,
    manual_seed_all, seed, seed_all, set_rng_state, set_rng_state_all,
)  # fmt: skip
from .streams import (
    Event, ExternalStream, Stream, StreamContext, current_stream, default_stream,
    get_stream_from_external, is_current_stream_capturing, set_stream, stream,
)  # fmt: skip

__all__ = [
    "CUDAGraph", "Event", "ExternalStream", "OutOfMemoryError", "Stream", "StreamContext",
    "can_device_access_peer", "clock_rate", "cudart", "current_blas_handle", "current_device",
    "current_stream", "default_generators", "default_stream", "device", "device_count",
    "device_memory_used", "device_of", "empty_cache", "get_allocator_backend", "get_arch_list",
    "get_device_capability", "get_device_name", "get_device_properties", "get_gencode_flags",
    "get_per_process_memory_fraction", "get_rng_state", "get_rng_state_all",
    "get_stream_from_external", "get_sync_debug_mode", "graph", "graph_pool_handle", "has_half",
    "has_magma", "host_memory_stats", "init", "initial_seed", "ipc_collect", "is_available",
    "is_bf16_supported", "is_current_stream_capturing", "is_initialized", "is_tf32_supported",
    "list_gpu_processes", "make_graphed_callables", "manual_seed", "manual_seed_all",
    "max_memory_allocated", "max_memory_cached", "max_memory_reserved", "mem_get_info",
    "memory_allocated", "memory_cached", "memory_reserved", "memory_stats",
    "memory_stats_as_nested_dict", "memory_summary", "memory_usage", "nvtx", "power_draw",
    "profiler", "reset_accumulated_memory_stats", "reset_max_memory_allocated",
    "reset_max_memory_cached", "reset_peak_memory_stats", "seed", "seed_all", "set_device",
    "set_per_process_memory_fraction", "set_rng_state", "set_rng_state_all", "set_stream",
    "set_sync_debug_mode", "stream", "synchronize", "temperature", "utilization",
]  # fmt: skip

FloatTensor: Any = tensor_type("FloatTensor", "cuda")
DoubleTensor: Any = tensor_type("DoubleTensor", "cuda")
HalfTensor: Any = tensor_type("HalfTensor", "cuda")
BFloat16Tensor: Any = tensor_type("BFloat16Tensor", "cuda")
LongTensor: Any = tensor_type("LongTensor", "cuda")
IntTensor: Any = tensor_type("IntTensor", "cuda")
ShortTensor: Any = tensor_type("ShortTensor", "cuda")
CharTensor: Any = tensor_type("CharTensor", "cuda")
ByteTensor: Any = tensor_type("ByteTensor", "cuda")
BoolTensor: Any = tensor_type("BoolTensor", "cuda")


class device:
    """Context manager that makes ``device`` the calling thread's current device.

    Args:
        device: An index, ``"cuda:1"`` or a device; None or a negative index does nothing.

    Example:
        >>> if tt.cuda.is_available():
        ...     with tt.cuda.device(0):
        ...         x = tt.ones(1, device="cuda")
    """

    def __init__(self, device: Any) -> None:
        self.idx: int = -1 if device is None else _index_of_device(device)
        self._before: list[int] = []

    def __enter__(self) -> None:
        self._before.append(current_device() if self.idx >= 0 else -1)
        set_device(self.idx)

    def __exit__(self, *exception: object) -> None:
        set_device(self._before.pop())


class device_of(device):
    """Context manager that makes a tensor's device current.

    Args:
        obj: The tensor; one on the CPU does nothing.

    Example:
        >>> with tt.cuda.device_of(tt.ones(1)):
        ...     pass
    """

    def __init__(self, obj: Any) -> None:
        super().__init__(obj.get_device() if obj.is_cuda else None)


def synchronize(device: Any = None) -> None:
    """Wait until all work on a device (default: the current device) is done.

    Example:
        >>> if tt.cuda.is_available():
        ...     tt.cuda.synchronize()
    """
    _backend().at(_index_of_device(device)).synchronize()


class DeviceProperties(NamedTuple):
    """Properties of a CUDA device.

    Attributes:
        name: The product's name.
        major: First number of the compute capability: 9 of 9.0.
        minor: Second number of the compute capability: 0 of 9.0.
        total_memory: Size of the memory in bytes.
        multi_processor_count: Number of multiprocessors.
        warp_size: Number of threads in a warp.
    """

    name: str
    major: int
    minor: int
    total_memory: int
    multi_processor_count: int
    warp_size: int


def get_device_properties(device: Any = None) -> DeviceProperties:
    """Properties of a device (default: the current device).

    Example:
        >>> if tt.cuda.is_available():
        ...     found = tt.cuda.get_device_properties(0).total_memory
    """
    found = _backend().cuda.runtime.getDeviceProperties(_index_of_device(device))
    name = found["name"]
    return DeviceProperties(
        name.decode() if isinstance(name, bytes) else name,
        int(found["major"]), int(found["minor"]), int(found["totalGlobalMem"]),
        int(found["multiProcessorCount"]), int(found["warpSize"]),
    )  # fmt: skip


def get_device_name(device: Any = None) -> str:
    """Product name of a device (default: the current device).

    Example:
        >>> if tt.cuda.is_available():
        ...     found = tt.cuda.get_device_name()
    """
    return get_device_properties(device).name


def get_device_capability(device: Any = None) -> tuple[int, int]:
    """Compute capability of a device (default: the current device), as ``(major, minor)``.

    Example:
        >>> if tt.cuda.is_available():
        ...     found = tt.cuda.get_device_capability()
    """
    return get_device_properties(device)[1:3]


def __getattr__(name: str) -> Any:
    """Compute ``_initialized``, PyTorch's private flag, which public programs read."""
    if name == "_initialized":
        return is_initialized()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
