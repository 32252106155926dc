"""CUDA devices through CuPy: torch's ``torch.cuda``, honest where there is no GPU.

Asking (``is_available``, ``device_count``) never raises: without CuPy or a device the answers
are False and 0. Everything that needs a device raises ``BackendUnavailableError`` with what is
missing and what to do.

An operation runs on the device of its inputs, and a gradient on that of its graph, whatever device
and stream the thread has chosen here: these say where new tensors are made by ``device="cuda"``
and which queue work goes to. Where there are several devices, an operation leaves the device it
ran on current for CuPy itself; a program that also calls CuPy says ``with cupy.cuda.Device(n)``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..dispatch.creation import tensor_type
from . import amp as amp
from . import nvtx as nvtx
from . import profiler as profiler
from ._telemetry import clock_rate as clock_rate
from ._telemetry import device_memory_used as device_memory_used
from ._telemetry import list_gpu_processes as list_gpu_processes
from ._telemetry import memory_usage as memory_usage
from ._telemetry import power_draw as power_draw
from ._telemetry import temperature as temperature
from ._telemetry import utilization as utilization
from .graphs import CUDAGraph as CUDAGraph
from .graphs import graph as graph
from .graphs import graph_pool_handle as graph_pool_handle
from .graphs import make_graphed_callables as make_graphed_callables
from .memory import OutOfMemoryError as OutOfMemoryError
from .memory import empty_cache as empty_cache
from .memory import get_allocator_backend as get_allocator_backend
from .memory import get_per_process_memory_fraction as get_per_process_memory_fraction
from .memory import host_memory_stats as host_memory_stats
from .memory import max_memory_allocated as max_memory_allocated
from .memory import max_memory_cached as max_memory_cached
from .memory import max_memory_reserved as max_memory_reserved
from .memory import mem_get_info as mem_get_info
from .memory import memory_allocated as memory_allocated
from .memory import memory_cached as memory_cached
from .memory import memory_reserved as memory_reserved
from .memory import memory_stats as memory_stats
from .memory import memory_stats_as_nested_dict as memory_stats_as_nested_dict
from .memory import memory_summary as memory_summary
from .memory import reset_accumulated_memory_stats as reset_accumulated_memory_stats
from .memory import reset_max_memory_allocated as reset_max_memory_allocated
from .memory import reset_max_memory_cached as reset_max_memory_cached
from .memory import reset_peak_memory_stats as reset_peak_memory_stats
from .memory import set_per_process_memory_fraction as set_per_process_memory_fraction
from .queries import backend as _backend
from .queries import can_device_access_peer as can_device_access_peer
from .queries import cudart as cudart
from .queries import current_blas_handle as current_blas_handle
from .queries import current_device as current_device
from .queries import device_count as device_count
from .queries import get_arch_list as get_arch_list
from .queries import get_gencode_flags as get_gencode_flags
from .queries import get_sync_debug_mode as get_sync_debug_mode
from .queries import has_half as has_half
from .queries import has_magma as has_magma
from .queries import init as init
from .queries import ipc_collect as ipc_collect
from .queries import is_available as is_available
from .queries import is_bf16_supported as is_bf16_supported
from .queries import is_initialized as is_initialized
from .queries import is_tf32_supported as is_tf32_supported
from .queries import number as _number
from .queries import set_device as set_device
from .queries import set_sync_debug_mode as set_sync_debug_mode
from .random import default_generators as default_generators
from .random import get_rng_state as get_rng_state
from .random import get_rng_state_all as get_rng_state_all
from .random import initial_seed as initial_seed
from .random import manual_seed as manual_seed
from .random import manual_seed_all as manual_seed_all
from .random import seed as seed
from .random import seed_all as seed_all
from .random import set_rng_state as set_rng_state
from .random import set_rng_state_all as set_rng_state_all
from .streams import Event as Event
from .streams import ExternalStream as ExternalStream
from .streams import Stream as Stream
from .streams import StreamContext as StreamContext
from .streams import current_stream as current_stream
from .streams import default_stream as default_stream
from .streams import get_stream_from_external as get_stream_from_external
from .streams import is_current_stream_capturing as is_current_stream_capturing
from .streams import set_stream as set_stream
from .streams import stream as stream

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
    """Context in which ``device`` is the calling thread's; the one before comes back after.

    Args:
        device: A number, ``"cuda:1"`` or a device; None or a negative number does nothing.

    Example:
        >>> if tt.cuda.is_available():
        ...     with tt.cuda.device(0):
        ...         x = tt.ones(1, device="cuda")
    """

    def __init__(self, device: Any) -> None:
        self.idx: int = -1 if device is None else _number(device)
        self._before: list[int] = []

    def __enter__(self) -> None:
        self._before.append(current_device() if self.idx >= 0 else -1)
        set_device(self.idx)

    def __exit__(self, *exception: object) -> None:
        set_device(self._before.pop())


class device_of(device):
    """Context in which a tensor's device is the thread's; nothing happens for one on the CPU.

    Args:
        obj: The tensor.

    Example:
        >>> with tt.cuda.device_of(tt.ones(1)):
        ...     pass
    """

    def __init__(self, obj: Any) -> None:
        super().__init__(obj.get_device() if obj.is_cuda else None)


def synchronize(device: Any = None) -> None:
    """Wait until all work on a device (default: the current one) is done.

    Example:
        >>> if tt.cuda.is_available():
        ...     tt.cuda.synchronize()
    """
    _backend().at(_number(device)).synchronize()


# -- what a device is ------------------------------------------------------------------------


class DeviceProperties(NamedTuple):
    """Facts of a device.

    Attributes:
        name: The product's name.
        major: Compute capability before the point.
        minor: Compute capability after the point.
        total_memory: Bytes.
        multi_processor_count: Number of multiprocessors.
        warp_size: Threads of a warp.
    """

    name: str
    major: int
    minor: int
    total_memory: int
    multi_processor_count: int
    warp_size: int


def get_device_properties(device: Any = None) -> DeviceProperties:
    """Facts of a device (default: the current one).

    Example:
        >>> if tt.cuda.is_available():
        ...     found = tt.cuda.get_device_properties(0).total_memory
    """
    facts = _backend().cuda.runtime.getDeviceProperties(_number(device))
    name = facts["name"]
    return DeviceProperties(
        name.decode() if isinstance(name, bytes) else name,
        int(facts["major"]), int(facts["minor"]), int(facts["totalGlobalMem"]),
        int(facts["multiProcessorCount"]), int(facts["warpSize"]),
    )  # fmt: skip


def get_device_name(device: Any = None) -> str:
    """The product's name of a device (default: the current one).

    Example:
        >>> if tt.cuda.is_available():
        ...     found = tt.cuda.get_device_name()
    """
    return get_device_properties(device).name


def get_device_capability(device: Any = None) -> tuple[int, int]:
    """Compute capability of a device (default: the current one).

    Example:
        >>> if tt.cuda.is_available():
        ...     found = tt.cuda.get_device_capability()
    """
    facts = get_device_properties(device)
    return facts.major, facts.minor


def __getattr__(name: str) -> Any:
    """PyTorch's private name of ``is_initialized()``, which public programs read."""
    if name == "_initialized":
        return is_initialized()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
