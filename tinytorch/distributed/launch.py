"""What every call between processes goes through: checked, started, and waited for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core.tensor import Tensor
from . import debug
from .agreement import describe
from .process_group import ProcessGroup
from .work import Work


def launch(
    group: ProcessGroup,
    name: str,
    start: Callable[[], Any],
    tensors: Sequence[Tensor],
    agreed: Any = None,
    finish: Callable[[], None] | None = None,
    async_op: bool = False,
) -> Work | None:
    """Start a call, and wait for it unless the program wants to.

    Args:
        group: Among whom.
        name: PyTorch's name of the call.
        start: Starts it.
        tensors: Those that the call writes to.
        agreed: What ranks have to agree on: a text, or what ``said`` returns; None for messages.
        finish: Puts the result into the tensors.
        async_op: Whether the program waits.

    Returns:
        The work, if ``async_op``.
    """
    group.sequence += agreed is not None
    agree = None
    if agreed is not None and group.size() > 1:
        if debug.is_monitored():
            debug.compare(group, describe(name, agreed))
        agree = group.engine.on_host.agreement.post(group.sequence, name, agreed)
    nbytes = sum(tensor.nbytes for tensor in tensors)
    watch = group.engine.library
    work = Work(start(), name, nbytes, group.timeout, finish, list(tensors), watch, agree)
    if group.coalesced is not None:
        group.coalesced.append(work)
        return work
    if async_op:
        return work
    work.wait()
    return None


def root_of(
    group: ProcessGroup, name: str, global_rank: int | None, group_rank: int | None,
    default: int | None = None,
) -> int:  # fmt: skip
    """The rank in the group that ``src`` or ``dst`` means.

    Raises:
        ValueError: If both are given, or none and there is no default; for no member.
        RuntimeError: If there is no such rank in the world.
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


def said(tensor: Tensor, *more: Any) -> tuple[Any, ...]:
    """What ranks have to agree on about a tensor."""
    return (tensor._data.shape, tensor.dtype, *more)
