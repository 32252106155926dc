"""Messages from one process to another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.tensor import Tensor
from .buffers import check_tensor
from .launch import launch
from .process_group import ProcessGroup, member, world
from .work import Work

__all__ = ["P2POp", "batch_isend_irecv", "irecv", "isend", "recv", "send"]


def isend(
    tensor: Tensor,
    dst: int | None = None,
    group: Any = None,
    tag: int = 0,
    group_dst: int | None = None,
) -> Work | None:
    """Start to send a tensor, which has to stay as it is until the work is done.

    Args:
        tensor: Any shape and dtype; the receiver's has the same size.
        dst: The rank in the world that it goes to.
        group: Whose message it is. Default: all processes'.
        tag: A number that the receiver asks for, too. Default: 0.
        group_dst: The rank in the group, in place of ``dst``.

    Returns:
        The work; None for a process that is no member.

    Raises:
        TypeError: If ``tensor`` is none.
        ValueError: For this process's own rank, or none of the group.

    Example:
        >>> tt.distributed.init_process_group("mpi")
        >>> tt.distributed.isend(tt.ones(2), dst=0)
        Traceback (most recent call last):
            ...
        ValueError: Invalid destination rank: destination rank should not be the same as the rank \
of the current process.
        >>> tt.distributed.destroy_process_group()
    """
    return _send(tensor, dst, group, tag, group_dst, True)


def send(
    tensor: Tensor,
    dst: int | None = None,
    group: Any = None,
    tag: int = 0,
    group_dst: int | None = None,
) -> None:
    """Send a tensor, and wait until it may be changed again.

    Args:
        tensor: As for ``isend``.
        dst: The same.
        group: The same.
        tag: The same.
        group_dst: The same.

    Raises:
        TypeError, ValueError: As ``isend``.
        RuntimeError: If it is not received in time.

    Example:
        >>> tt.distributed.init_process_group("mpi")
        >>> tt.distributed.send(tt.ones(2), dst=0)
        Traceback (most recent call last):
            ...
        ValueError: Invalid destination rank: destination rank should not be the same as the rank \
of the current process.
        >>> tt.distributed.destroy_process_group()
    """
    _send(tensor, dst, group, tag, group_dst, False)


def _send(
    tensor: Tensor, dst: int | None, group: Any, tag: int, group_dst: int | None, later: bool
) -> Work | None:
    check_tensor(tensor, "tensor")
    found = member(group, "isend" if later else "send")
    if found is None:
        return None
    peer = _peer(found, dst, group_dst, "destination")
    engine = found.engine.serving(tensor)
    flat = engine.load(tensor)
    return launch(found, "send", lambda: engine.send(flat, peer, tag), [tensor], async_op=later)


def irecv(
    tensor: Tensor,
    src: int | None = None,
    group: Any = None,
    tag: int = 0,
    group_src: int | None = None,
) -> Work | None:
    """Start to receive a tensor.

    Args:
        tensor: What is written to, of the size of the sender's.
        src: The rank in the world that it comes from. Default: any.
        group: Whose message it is. Default: all processes'.
        tag: The sender's. Default: 0.
        group_src: The rank in the group, in place of ``src``.

    Returns:
        The work; None for a process that is no member.

    Raises:
        TypeError: If ``tensor`` is none.
        ValueError: For this process's own rank, or none of the group.

    Example:
        >>> tt.distributed.init_process_group("mpi")
        >>> tt.distributed.irecv(tt.zeros(2), src=0)
        Traceback (most recent call last):
            ...
        ValueError: Invalid source rank: source rank should not be the same as the rank \
of the current process.
        >>> tt.distributed.destroy_process_group()
    """
    return _receive(tensor, src, group, tag, group_src)


def recv(
    tensor: Tensor,
    src: int | None = None,
    group: Any = None,
    tag: int = 0,
    group_src: int | None = None,
) -> int:
    """Receive a tensor.

    Args:
        tensor: As for ``irecv``.
        src: The same.
        group: The same.
        tag: The same.
        group_src: The same.

    Returns:
        The rank in the world that it came from; -1 for a process that is no member.

    Raises:
        TypeError, ValueError: As ``irecv``.
        RuntimeError: If nothing comes in time, or a message of another size.

    Example:
        >>> tt.distributed.init_process_group("mpi")
        >>> tt.distributed.recv(tt.zeros(2), src=0)
        Traceback (most recent call last):
            ...
        ValueError: Invalid source rank: source rank should not be the same as the rank \
of the current process.
        >>> tt.distributed.destroy_process_group()
    """
    work = _receive(tensor, src, group, tag, group_src)
    if work is None:
        return -1
    work.wait()
    found = member(group, "recv")
    return found.ranks[work.source_rank()] if found is not None else -1


def _receive(
    tensor: Tensor, src: int | None, group: Any, tag: int, group_src: int | None
) -> Work | None:
    check_tensor(tensor, "tensor")
    found = member(group, "irecv")
    if found is None:
        return None
    anyone = src is None and group_src is None
    peer = None if anyone else _peer(found, src, group_src, "source")
    engine = found.engine.serving(tensor)
    flat = engine.room(tensor)
    return launch(
        found, "recv", lambda: engine.receive(flat, peer, tag), [tensor],
        finish=lambda: engine.store(tensor, flat), async_op=True,
    )  # fmt: skip


def _peer(group: ProcessGroup, global_rank: int | None, group_rank: int | None, what: str) -> int:
    if global_rank is not None and group_rank is not None:
        raise ValueError("Can't specify both group_rank and global_rank")
    if global_rank is None and group_rank is None:
        raise ValueError("Must specify global_rank or group_rank")
    known = group.ranks if group_rank is None else range(group.size())
    rank = global_rank if group_rank is None else group_rank
    if rank not in known:
        raise ValueError(f"Invalid {what} rank: {rank} is not part of group {group}")
    peer = known.index(rank)  # type: ignore[arg-type]
    if peer == group.rank():
        raise ValueError(
            f"Invalid {what} rank: {what} rank should not be the same as the rank of the current "
            "process."
        )
    return peer


class P2POp:
    """A message for ``batch_isend_irecv``.

    Args:
        op: ``isend`` or ``irecv``.
        tensor: What is sent, or written to.
        peer: The other rank in the world.
        group: Whose message it is. Default: all processes'.
        tag: As for ``isend``. Default: 0.
        group_peer: The other rank in the group, in place of ``peer``.

    Raises:
        ValueError: If ``op`` is another function, or the ranks are not as for ``isend``.
        TypeError: If ``tensor`` is none.

    Example:
        >>> tt.distributed.P2POp(print, tt.ones(2), 1)
        Traceback (most recent call last):
            ...
        ValueError: Invalid ``op``. Expected ``op`` to be of type ``torch.distributed.isend`` or \
``torch.distributed.irecv``.
    """

    def __init__(
        self,
        op: Callable[..., Any],
        tensor: Tensor,
        peer: int | None = None,
        group: Any = None,
        tag: int = 0,
        group_peer: int | None = None,
    ) -> None:
        if op not in (isend, irecv):
            raise ValueError(
                "Invalid ``op``. Expected ``op`` to be of type ``torch.distributed.isend`` or "
                "``torch.distributed.irecv``."
            )
        check_tensor(tensor, "tensor")
        self.op, self.tensor, self.group, self.tag = op, tensor, group, tag
        found = world() if group is None else group
        self.group_peer = _peer(found, peer, group_peer, "peer")
        self.peer = found.ranks[self.group_peer]

    def __repr__(self) -> str:
        return (
            f"P2POp({self.op.__name__} from {world().rank()} to {self.peer}, "
            f"{tuple(self.tensor.shape)}, {self.tensor.dtype})"
        )


def batch_isend_irecv(p2p_op_list: list[P2POp]) -> list[Work]:
    """Start several messages at once, in whichever order the ranks list them.

    Args:
        p2p_op_list: The messages.

    Returns:
        A work for each.

    Raises:
        ValueError: If one is no ``P2POp``.
        IndexError: If there is none.

    Example:
        >>> tt.distributed.batch_isend_irecv([None])
        Traceback (most recent call last):
            ...
        ValueError: Invalid ``p2p_op_list``. Each op is expected to to be of type \
``torch.distributed.P2POp``.
    """
    if not p2p_op_list:
        raise IndexError("list index out of range: p2p_op_list is empty")
    if not all(isinstance(each, P2POp) for each in p2p_op_list):
        raise ValueError(
            "Invalid ``p2p_op_list``. Each op is expected to to be of type "
            "``torch.distributed.P2POp``."
        )
    works = [each.op(each.tensor, each.peer, each.group, each.tag) for each in p2p_op_list]
    return [work for work in works if work is not None]
