"""Start of collectives and messages: the path that all of them share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core.tensor import Tensor
from . import debug
from .agreement import describe
from .process_group import ProcessGroup
from .work import Work


def launch(
    group: ProcessGroup, name: str, start: Callable[[], Any], tensors: Sequence[Tensor],
    fingerprint: Any = None, finish: Callable[[], None] | None = None, async_op: bool = False,
) -> Work | None:  # fmt: skip
    """Start a collective or a message, and wait for it unless ``async_op``.

    Args:
        group: Process group.
        name: PyTorch's name of the call.
        start: Starts the call and returns the engine's request.
        tensors: The tensors that the call writes to.
        fingerprint: Value that must be the same on all ranks: a string or a
            ``tensor_fingerprint``. None for messages, which are not compared.
        finish: Copies the result into the tensors; called once the request is complete.
        async_op: Whether to return without waiting.

    Returns:
        The work with ``async_op`` or in a coalescing block, otherwise None.
    """
    group.sequence += fingerprint is not None
    has_agreed = None
    if fingerprint is not None and group.size() > 1:
        if debug.is_monitored():
            debug.compare_fingerprints(group, describe(name, fingerprint))
        has_agreed = group.engine.on_host.agreement.post(group.sequence, name, fingerprint)
    nbytes = sum(tensor.nbytes for tensor in tensors)
    library = group.engine.library
    work = Work(start(), name, nbytes, group.timeout, finish, list(tensors), library, has_agreed)
    if group.coalesced is not None:
        group.coalesced.append(work)
        return work
    if async_op:
        return work
    work.wait()
    return None


def root_rank(
    group: ProcessGroup, name: str, global_rank: int | None, group_rank: int | None,
    default: int | None = None,
) -> int:  # fmt: skip
    """Rank in the group of the root of a collective, from its ``src`` or ``dst`` arguments.

    Args:
        group: Process group.
        name: Name of the collective, for errors.
        global_rank: ``src`` or ``dst``: the rank in the world.
        group_rank: ``group_src`` or ``group_dst``: the rank in the group.
        default: Rank in the group if both are None.

    Raises:
        ValueError: If both are given, if both and the default are None, or if the rank is not in
            the group.
        RuntimeError: If the default group has no such rank.
    """
    if group_rank is not None:
        if global_rank is not None:
            raise ValueError("Can't specify both group_rank and global_rank")
        if not 0 <= group_rank < group.size():
            raise ValueError(f"Group rank {group_rank} is not part of group {group}")
        return group_rank
    if global_rank is None:
        if default is None:
            raise ValueError("Must specify global_rank or group_rank")
        return default
    if global_rank in group.ranks:
        return group.ranks.index(global_rank)
    if group.group_desc == "default_pg":
        raise RuntimeError(f"ProcessGroupMPI::{name}: invalid root rank: {global_rank}")
    raise ValueError(f"Global rank {global_rank} is not part of group {group}")


def tensor_fingerprint(tensor: Tensor, *more: Any) -> tuple[Any, ...]:
    """Shape, dtype and further arguments of a collective, which must be the same on all ranks."""
    return (tensor._data.shape, tensor.dtype, *more)
