"""PyTorch's queries about process groups and backends, and its functions for subgroups."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from . import mpi, nccl
from .process_group import GroupMember, ProcessGroup, find_group, group_count, new_group

__all__ = [
    "get_backend", "get_backend_config", "get_default_backend_for_device", "get_global_rank",
    "get_group_rank", "get_node_local_rank", "get_pg_count", "get_process_group_ranks",
    "get_rank", "get_world_size", "is_available", "is_backend_available", "is_gloo_available",
    "is_mpi_available", "is_nccl_available", "is_torchelastic_launched", "is_ucc_available",
    "is_xccl_available", "new_subgroups", "new_subgroups_by_enumeration",
]  # fmt: skip


def is_available() -> bool:
    """Whether the distributed package can be used: mpi4py is installed.

    Example:
        >>> tt.distributed.is_available() == tt.distributed.is_mpi_available()
        True
    """
    return mpi.is_installed()


def is_mpi_available() -> bool:
    """Whether the backend ``"mpi"`` is available: mpi4py is installed.

    Example:
        >>> tt.distributed.is_mpi_available() == tt.distributed.is_available()
        True
    """
    return mpi.is_installed()


def is_gloo_available() -> bool:
    """Whether the backend ``"gloo"`` is available, which MPI implements: mpi4py is installed.

    Example:
        >>> tt.distributed.is_gloo_available() == tt.distributed.is_mpi_available()
        True
    """
    return mpi.is_installed()


def is_nccl_available() -> bool:
    """Whether the backend ``"nccl"`` is available: mpi4py, and CuPy with NCCL and a GPU.

    Example:
        >>> isinstance(tt.distributed.is_nccl_available(), bool)
        True
    """
    return nccl.available()


def is_ucc_available() -> bool:
    """Whether the backend ``"ucc"`` is available: always False.

    Example:
        >>> tt.distributed.is_ucc_available()
        False
    """
    return False


def is_xccl_available() -> bool:
    """Whether the backend ``"xccl"`` is available: always False.

    Example:
        >>> tt.distributed.is_xccl_available()
        False
    """
    return False


def is_backend_available(backend: str) -> bool:
    """Whether a backend is available.

    Args:
        backend: Its name: ``"mpi"``, ``"gloo"`` and ``"nccl"`` can be available.

    Example:
        >>> tt.distributed.is_backend_available("ucc")
        False
    """
    if backend.lower() == "nccl":
        return is_nccl_available()
    return backend.lower() in ("mpi", "gloo") and mpi.is_installed()


def is_torchelastic_launched() -> bool:
    """Whether ``torchrun`` or ``tinytorch.distributed.run`` started this process.

    Example:
        >>> tt.distributed.is_torchelastic_launched()
        False
    """
    return "TORCHELASTIC_RUN_ID" in os.environ


def get_rank(group: Any = None) -> int:
    """Rank of this process in a group, from 0; -1 outside the group.

    Args:
        group: Process group. Default: the default group.

    Raises:
        ValueError: Before ``init_process_group``.

    Example:
        >>> tt.distributed.init_process_group("mpi")
        >>> tt.distributed.get_rank()
        0
        >>> tt.distributed.destroy_process_group()
    """
    pg = find_group(group)
    return -1 if pg is None else pg.rank()


def get_world_size(group: Any = None) -> int:
    """Number of processes in a group; -1 outside the group.

    Args:
        group: Process group. Default: the default group.

    Raises:
        ValueError: Before ``init_process_group``.

    Example:
        >>> tt.distributed.init_process_group("mpi")
        >>> tt.distributed.get_world_size()
        1
        >>> tt.distributed.destroy_process_group()
    """
    pg = find_group(group)
    return -1 if pg is None else pg.size()


def get_backend(group: Any = None) -> str:
    """Name of a group's backend.

    Args:
        group: Process group. Default: the default group.

    Raises:
        ValueError: Before ``init_process_group``, or outside the group.

    Example:
        >>> tt.distributed.init_process_group("mpi")
        >>> tt.distributed.get_backend()
        'mpi'
        >>> tt.distributed.destroy_process_group()
    """
    return str(_resolve_group(group)._backend)


def get_backend_config(group: Any = None) -> str:
    """Backend of each device type, in PyTorch's format: ``"cpu:mpi,cuda:mpi"``.

    Args:
        group: Process group. Default: the default group.

    Example:
        >>> tt.distributed.init_process_group("mpi")
        >>> tt.distributed.get_backend_config()
        'cpu:mpi,cuda:mpi'
        >>> tt.distributed.destroy_process_group()
    """
    name = get_backend(group)
    return name if ":" in name else f"cpu:{name},cuda:{name}"


def get_default_backend_for_device(device: Any) -> str:
    """Default backend for tensors on a device: ``"nccl"`` for GPUs, otherwise ``"mpi"``.

    Args:
        device: A device or its name.

    Example:
        >>> tt.distributed.get_default_backend_for_device("cpu")
        'mpi'
    """
    return "nccl" if str(device).startswith("cuda") else "mpi"


def get_process_group_ranks(group: Any) -> list[int]:
    """Ranks in the world of a group's members, in the order of their ranks in the group.

    Args:
        group: Process group; None is the default group.

    Example:
        >>> tt.distributed.init_process_group("mpi")
        >>> tt.distributed.get_process_group_ranks(None)
        [0]
        >>> tt.distributed.destroy_process_group()
    """
    return list(_resolve_group(group).ranks)


def get_group_rank(group: Any, global_rank: int) -> int:
    """Rank in a group of a process, given its rank in the world.

    Args:
        group: Process group.
        global_rank: Rank in the world.

    Raises:
        ValueError: If the process is not in the group.

    Example:
        >>> tt.distributed.init_process_group("mpi")
        >>> tt.distributed.get_group_rank(tt.distributed.new_group([0]), 0)
        0
        >>> tt.distributed.destroy_process_group()
    """
    pg = _resolve_group(group)
    if global_rank not in pg.ranks:
        raise ValueError(f"Global rank {global_rank} is not part of group {pg}")
    return pg.ranks.index(global_rank)


def get_global_rank(group: Any, group_rank: int) -> int:
    """Rank in the world of a process, given its rank in a group.

    Args:
        group: Process group.
        group_rank: Rank in the group.

    Raises:
        ValueError: If the group has no such rank.

    Example:
        >>> tt.distributed.init_process_group("mpi")
        >>> tt.distributed.get_global_rank(tt.distributed.new_group([0]), 0)
        0
        >>> tt.distributed.destroy_process_group()
    """
    pg = _resolve_group(group)
    if not 0 <= group_rank < pg.size():
        raise ValueError(f"Group rank {group_rank} is not part of group {pg}")
    return pg.ranks[group_rank]


def _resolve_group(group: Any) -> ProcessGroup:
    """The group of an argument ``group``; raise a ``ValueError`` if this process is not in it."""
    pg = find_group(group)
    if pg is None:
        raise ValueError("Invalid process group specified")
    return pg


def get_pg_count() -> int:
    """Number of process groups.

    Example:
        >>> tt.distributed.init_process_group("mpi")
        >>> tt.distributed.get_pg_count()
        1
        >>> tt.distributed.destroy_process_group()
    """
    return group_count()


def get_node_local_rank(fallback_rank: int | None = None) -> int:
    """Rank among the processes of this machine: the launcher's variable ``LOCAL_RANK``.

    Args:
        fallback_rank: Result if ``LOCAL_RANK`` is not set. Default: none, which raises.

    Raises:
        RuntimeError: If ``LOCAL_RANK`` is not set and there is no ``fallback_rank``.

    Example:
        >>> tt.distributed.get_node_local_rank(fallback_rank=0)
        0
    """
    if "LOCAL_RANK" in os.environ:
        return int(os.environ["LOCAL_RANK"])
    if fallback_rank is not None:
        return fallback_rank
    raise RuntimeError(
        "LOCAL_RANK is not in the environment. Consider passing fallback_rank to allow "
        "`get_node_local_rank` to work, assuming you are not running in a multi-device context "
        "and want the code to run locally instead."
    )


def new_subgroups(
    group_size: int | None = None, group: ProcessGroup | None = None,
    timeout: timedelta | None = None, backend: str | None = None, pg_options: Any = None,
    group_desc: str | None = None,
) -> tuple[Any, list[Any]]:  # fmt: skip
    """Divide the world into groups of consecutive ranks, all of one size.

    Args:
        group_size: Number of processes in each group. Default: the launcher's
            ``LOCAL_WORLD_SIZE``, otherwise the size of the world.
        group: Accepted and ignored.
        timeout: Timeout of the groups. Default: that of the default group.
        backend: Backend of the groups. Default: that of the default group.
        pg_options: Accepted and ignored.
        group_desc: The groups' ``group_desc``.

    Returns:
        The group of this process, and all groups.

    Raises:
        ValueError: If the size of the world is not a multiple of ``group_size``.

    Example:
        >>> tt.distributed.init_process_group("mpi")
        >>> tt.distributed.new_subgroups(1)[0].size()
        1
        >>> tt.distributed.destroy_process_group()
    """
    size = get_world_size()
    each = int(os.environ.get("LOCAL_WORLD_SIZE", size)) if group_size is None else group_size
    if each <= 0:
        raise ValueError(f"The arg 'group_size' ({each}) must be positive")
    if size < each:
        raise ValueError(f"The arg 'group_size' ({each}) must not exceed the world size ({size})")
    if size % each:
        raise ValueError(f"The world size ({size}) must be divisible by '{each}'")
    parts = [list(range(start, start + each)) for start in range(0, size, each)]
    return new_subgroups_by_enumeration(parts, timeout, backend, pg_options, group_desc)


def new_subgroups_by_enumeration(
    ranks_per_subgroup_list: Sequence[Sequence[int]], timeout: timedelta | None = None,
    backend: str | None = None, pg_options: Any = None, group_desc: str | None = None,
) -> tuple[Any, list[Any]]:  # fmt: skip
    """Create a group for each list of ranks.

    Args:
        ranks_per_subgroup_list: Ranks in the world of each group.
        timeout: Timeout of the groups. Default: that of the default group.
        backend: Backend of the groups. Default: that of the default group.
        pg_options: Accepted and ignored.
        group_desc: The groups' ``group_desc``.

    Returns:
        The group of this process, or None, and all groups.

    Raises:
        ValueError: If there is no list, or a rank is in two lists.

    Example:
        >>> tt.distributed.init_process_group("mpi")
        >>> tt.distributed.new_subgroups_by_enumeration([[0]])[0].size()
        1
        >>> tt.distributed.destroy_process_group()
    """
    if not ranks_per_subgroup_list:
        raise ValueError("The arg 'ranks_per_subgroup_list' cannot be empty")
    members = [rank for ranks in ranks_per_subgroup_list for rank in ranks]
    if len(set(members)) != len(members):
        raise ValueError("Rank has appeared in multiple subgroups")
    groups = [
        new_group(ranks, timeout, backend, pg_options, group_desc=group_desc)
        for ranks in ranks_per_subgroup_list
    ]
    own = [each for each in groups if each is not GroupMember.NON_GROUP_MEMBER]
    return (own[0] if own else None), groups
