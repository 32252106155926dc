"""``torch.distributed``: communication between processes, over MPI and, on GPUs, NCCL.

Names, arguments and errors are PyTorch's. ``docs/distributed.md`` describes how to start a program.
"""

from __future__ import annotations

from ..compat.tables.distributed import TABLES, fill
from .debug import DebugLevel, get_debug_level, set_debug_level, set_debug_level_from_env
from .buffers import ReduceOp
from .coalescing import all_gather_coalesced as all_gather_coalesced
from .coalescing import all_reduce_coalesced as all_reduce_coalesced
from .coalescing import coalescing_manager as coalescing_manager
from .collectives import (
    all_gather, all_gather_into_tensor, all_reduce, all_to_all, all_to_all_single, barrier,
    broadcast, gather, monitored_barrier, reduce, reduce_scatter, reduce_scatter_tensor, scatter,
)  # fmt: skip
from .errors import DistBackendError, DistError, DistNetworkError, DistStoreError, QueueEmptyError
from .group_queries import (
    get_backend, get_backend_config, get_default_backend_for_device, get_global_rank,
    get_group_rank, get_node_local_rank, get_pg_count, get_process_group_ranks, get_rank,
    get_world_size, is_available, is_backend_available, is_gloo_available, is_mpi_available,
    is_nccl_available, is_torchelastic_launched, is_ucc_available, is_xccl_available, new_subgroups,
    new_subgroups_by_enumeration,
)  # fmt: skip
from .object_collectives import (
    all_gather_object, broadcast_object_list, gather_object, recv_object_list, scatter_object_list,
    send_object_list,
)  # fmt: skip
from .point_to_point import P2POp, batch_isend_irecv, irecv, isend, recv, send
from .process_group import (
    Backend, GroupMember, ProcessGroup, default_pg_timeout, destroy_process_group, group,
    init_process_group, is_initialized, new_group, world,
)  # fmt: skip
from .reducer import GradBucket as GradBucket
from .store import FileStore, HashStore, PrefixStore, Store
from .work import Work

__all__ = [
    "Backend", "DebugLevel", "DistBackendError", "DistError", "DistNetworkError",
    "DistStoreError", "FileStore", "GradBucket", "GroupMember", "HashStore", "P2POp", "PrefixStore",
    "ProcessGroup", "QueueEmptyError", "ReduceOp", "Store", "Work", "all_gather",
    "all_gather_coalesced", "all_gather_into_tensor", "all_gather_object", "all_reduce",
    "all_reduce_coalesced", "all_to_all", "all_to_all_single", "barrier", "batch_isend_irecv",
    "broadcast", "broadcast_object_list", "default_pg_timeout", "destroy_process_group", "gather",
    "gather_object", "get_backend", "get_backend_config", "get_debug_level",
    "get_default_backend_for_device", "get_global_rank", "get_group_rank", "get_node_local_rank",
    "get_pg_count", "get_process_group_ranks", "get_rank", "get_world_size", "group",
    "init_process_group", "irecv", "is_available", "is_backend_available", "is_gloo_available",
    "is_initialized", "is_mpi_available", "is_nccl_available", "is_torchelastic_launched",
    "is_ucc_available", "is_xccl_available", "isend", "monitored_barrier", "new_group",
    "new_subgroups", "new_subgroups_by_enumeration", "recv", "recv_object_list", "reduce",
    "reduce_scatter", "reduce_scatter_tensor", "scatter", "scatter_object_list", "send",
    "send_object_list", "set_debug_level", "set_debug_level_from_env",
]  # fmt: skip

_coalescing_manager = coalescing_manager
_get_default_group = world
fill(globals(), TABLES["distributed"])
