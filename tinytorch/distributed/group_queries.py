"""Queries about process groups, as PyTorch's, and groups by their sizes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from . import mpi, nccl
from .process_group import GroupMember, ProcessGroup, count, find, new_group

__all__ = [
    "get_backend", "get_backend_config", "get_default_backend_for_device", "get_global_rank",
    "get_group_rank", "get_node_local_rank", "get_pg_count", "get_process_group_ranks",
    "get_rank", "get_world_size", "is_available", "is_backend_available", "is_gloo_available",
    "is_mpi_available", "is_nccl_available", "is_torchelastic_launched", "is_ucc_available",
    "is_xccl_available", "new_subgroups", "new_subgroups_by_enumeration",
]  # fmt: skip


def is_available() -> bool:
    """Whether mpi4py is installed, without which processes cannot find each other.

    Example:
        >>> tt.distributed.is_available() == tt.distributed.is_mpi_available()
        True
    """
    return mpi.installed()


def is_mpi_available() -> bool:
    """Whether mpi4py is installed.

    Example:
        >>> tt.distributed.is_mpi_available() == tt.distributed.is_available()
        True
    """
    return mpi.installed()


def is_gloo_available() -> bool:
    """Whether ``"gloo"`` can be asked for: where MPI is, which carries its messages.

    Example:
        >>> tt.distributed.is_gloo_available() == tt.distributed.is_mpi_available()
        True
    """
    return mpi.installed()


def is_nccl_available() -> bool:
    """Whether mpi4py is, and CuPy with NCCL and a GPU.

    Example:
        >>> isinstance(tt.distributed.is_nccl_available(), bool)
        True
    """
    return nccl.available()


def is_ucc_available() -> bool:
    """False.

    Example:
        >>> tt.distributed.is_ucc_available()
        False
    """
    return False


def is_xccl_available() -> bool:
    """False.

    Example:
        >>> tt.distributed.is_xccl_available()
        False
    """
    return False


def is_backend_available(backend: str) -> bool:
    """Whether a backend of that name can be asked for.

    Args:
        backend: ``"mpi"``, ``"gloo"`` or ``"nccl"``.

    Example:
        >>> tt.distributed.is_backend_available("ucc")
        False
    """
    if backend.lower() == "nccl":
        return is_nccl_available()
    return backend.lower() in ("mpi", "gloo") and mpi.installed()


def is_torchelastic_launched() -> bool:
    """Whether a launcher with ``torchrun``'s environment, ours as well, started this process.

    Example:
        >>> tt.distributed.is_torchelastic_launched()
        False
    """
    return "TORCHELASTIC_RUN_ID" in os.environ


def get_rank(group: Any = None) -> int:
    """This process's rank in a group, from 0; -1 if it is no member.

    Args:
        group: The group. Default: all processes.

    Raises:
        ValueError: Before ``init_process_group``.

    Example:
        >>> tt.distributed.init_process_group("mpi")
        >>> tt.distributed.get_rank()
        0
        >>> tt.distributed.destroy_process_group()
    """
    found = find(group)
    return -1 if found is None else found.rank()


def get_world_size(group: Any = None) -> int:
    """How many processes a group has; -1 if this one is no member.

    Args:
        group: The group. Default: all processes.

    Raises:
        ValueError: Before ``init_process_group``.

    Example:
        >>> tt.distributed.init_process_group("mpi")
        >>> tt.distributed.get_world_size()
        1
        >>> tt.distributed.destroy_process_group()
    """
    found = find(group)
    return -1 if found is None else found.size()


def get_backend(group: Any = None) -> str:
    """The name of a group's backend.

    Args:
        group: The group. Default: all processes.

    Raises:
        ValueError: Before ``init_process_group``, or if this process is no member.

    Example:
        >>> tt.distributed.init_process_group("mpi")
        >>> tt.distributed.get_backend()
        'mpi'
        >>> tt.distributed.destroy_process_group()
    """
    return str(_known(group)._backend)


def get_backend_config(group: Any = None) -> str:
    """Which backend serves which devices, as PyTorch writes it: ``"cpu:mpi,cuda:mpi"``.

    Args:
        group: The group. Default: all processes.

    Example:
        >>> tt.distributed.init_process_group("mpi")
        >>> tt.distributed.get_backend_config()
        'cpu:mpi,cuda:mpi'
        >>> tt.distributed.destroy_process_group()
    """
    name = get_backend(group)
    return name if ":" in name else f"cpu:{name},cuda:{name}"


def get_default_backend_for_device(device: Any) -> str:
    """The backend for tensors of a device: ``"mpi"``, and ``"nccl"`` for GPUs.

    Args:
        device: A device or its name.

    Example:
        >>> tt.distributed.get_default_backend_for_device("cpu")
        'mpi'
    """
    return "nccl" if str(device).startswith("cuda") else "mpi"


def get_process_group_ranks(group: Any) -> list[int]:
    """The members of a group, by their ranks in the world, in the group's order.

    Args:
        group: The group, or None for all processes.

    Example:
        >>> tt.distributed.init_process_group("mpi")
        >>> tt.distributed.get_process_group_ranks(None)
        [0]
        >>> tt.distributed.destroy_process_group()
    """
    return list(_known(group).ranks)


def get_group_rank(group: Any, global_rank: int) -> int:
    """The rank in a group of a member.

    Args:
        group: The group.
        global_rank: The member's rank in the world.

    Raises:
        ValueError: If it is no member.

    Example:
        >>> tt.distributed.init_process_group("mpi")
        >>> tt.distributed.get_group_rank(tt.distributed.new_group([0]), 0)
        0
        >>> tt.distributed.destroy_process_group()
    """
    found = _known(group)
    if global_rank not in found.ranks:
        raise ValueError(f"Global rank {global_rank} is not part of group {found}")
    return found.ranks.index(global_rank)


def get_global_rank(group: Any, group_rank: int) -> int:
    """The rank in the world of a group's member.

    Args:
        group: The group.
        group_rank: The member's rank in it.

    Raises:
        ValueError: If there is none.

    Example:
        >>> tt.distributed.init_process_group("mpi")
        >>> tt.distributed.get_global_rank(tt.distributed.new_group([0]), 0)
        0
        >>> tt.distributed.destroy_process_group()
    """
    found = _known(group)
    if not 0 <= group_rank < found.size():
        raise ValueError(f"Group rank {group_rank} is not part of group {found}")
    return found.ranks[group_rank]


def _known(group: Any) -> ProcessGroup:
    found = find(group)
    if found is None:
        raise ValueError("Invalid process group specified")
    return found


def get_pg_count() -> int:
    """How many groups there are.

    Example:
        >>> tt.distributed.init_process_group("mpi")
        >>> tt.distributed.get_pg_count()
        1
        >>> tt.distributed.destroy_process_group()
    """
    return count()


def get_node_local_rank(fallback_rank: int | None = None) -> int:
    """The rank among the processes of this machine, which the launcher puts in ``LOCAL_RANK``.

    Args:
        fallback_rank: What to return without a launcher. Default: raise.

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
    group_size: int | None = None,
    group: ProcessGroup | None = None,
    timeout: timedelta | None = None,
    backend: str | None = None,
    pg_options: Any = None,
    group_desc: str | None = None,
) -> tuple[Any, list[Any]]:
    """Groups of as many neighbouring ranks each.

    Args:
        group_size: Processes of each group. Default: those of this machine, as the launcher says.
        group: Accepted; the world is divided.
        timeout: As for ``new_group``.
        backend: The same.
        pg_options: The same.
        group_desc: The same.

    Returns:
        The group of this process, and all groups.

    Raises:
        ValueError: If the world cannot be divided so.

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
    ranks_per_subgroup_list: Sequence[Sequence[int]],
    timeout: timedelta | None = None,
    backend: str | None = None,
    pg_options: Any = None,
    group_desc: str | None = None,
) -> tuple[Any, list[Any]]:
    """Groups of the given ranks.

    Args:
        ranks_per_subgroup_list: The members of each.
        timeout: As for ``new_group``.
        backend: The same.
        pg_options: The same.
        group_desc: The same.

    Returns:
        The group of this process, or None, and all groups.

    Raises:
        ValueError: If there is none, or a rank is in two.

    Example:
        >>> tt.distributed.init_process_group("mpi")
        >>> tt.distributed.new_subgroups_by_enumeration([[0]])[0].size()
        1
        >>> tt.distributed.destroy_process_group()
    """
    if not ranks_per_subgroup_list:
        raise ValueError("The arg 'ranks_per_subgroup_list' cannot be empty")
    everyone = [rank for ranks in ranks_per_subgroup_list for rank in ranks]
    if len(set(everyone)) != len(everyone):
        raise ValueError("Rank has appeared in multiple subgroups")
    groups = [
        new_group(ranks, timeout, backend, pg_options, group_desc=group_desc)
        for ranks in ranks_per_subgroup_list
    ]
    own = [each for each in groups if each is not GroupMember.NON_GROUP_MEMBER]
    return (own[0] if own else None), groups
