"""Messages from one process to another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.tensor import Tensor
from .buffers import check_tensor
from .launch import launch
from .process_group import ProcessGroup, member_group, world
from .work import Work

__all__ = ["P2POp", "batch_isend_irecv", "irecv", "isend", "recv", "send"]


def isend(
    tensor: Tensor, dst: int | None = None, group: Any = None, tag: int = 0,
    group_dst: int | None = None,
) -> Work | None:  # fmt: skip
    """Start to send a tensor, which must not be changed until the work is complete.

    Args:
        tensor: Any shape and dtype; the receiver's tensor has the same size.
        dst: Rank in the world of the receiver.
        group: Process group. Default: the default group.
        tag: Number that matches the ``tag`` of the receive. Default: 0.
        group_dst: Rank in the group, instead of ``dst``.

    Returns:
        The work; None for a process outside the group.

    Raises:
        TypeError: If ``tensor`` is not a tensor.
        ValueError: If the rank is this process's own, or not in the group.

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
    tensor: Tensor, dst: int | None = None, group: Any = None, tag: int = 0,
    group_dst: int | None = None,
) -> None:  # fmt: skip
    """Send a tensor, and wait until it may be changed again.

    Args:
        tensor: Any shape and dtype; the receiver's tensor has the same size.
        dst: Rank in the world of the receiver.
        group: Process group. Default: the default group.
        tag: Number that matches the ``tag`` of the receive. Default: 0.
        group_dst: Rank in the group, instead of ``dst``.

    Raises:
        TypeError, ValueError: As ``isend``.
        RuntimeError: After a timeout.

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
    tensor: Tensor, dst: int | None, group: Any, tag: int, group_dst: int | None, async_op: bool
) -> Work | None:
    """Start to send a tensor to another rank, and wait for it unless ``async_op``.

    Args:
        tensor: The tensor.
        dst: Rank in the world of the receiver; None if ``group_dst`` is given.
        group: Process group; None is the default group.
        tag: Tag of the message.
        group_dst: Rank in the group of the receiver, or None.
        async_op: Whether to return without waiting.

    Returns:
        The work, or None; see ``launch``.
    """
    check_tensor(tensor, "tensor")
    pg = member_group(group, "isend" if async_op else "send")
    if pg is None:
        return None
    peer = find_peer(pg, dst, group_dst, "destination")
    engine = pg.engine.engine_for(tensor)
    flat = engine.load(tensor)
    return launch(pg, "send", lambda: engine.send(flat, peer, tag), [tensor], async_op=async_op)


def irecv(
    tensor: Tensor, src: int | None = None, group: Any = None, tag: int = 0,
    group_src: int | None = None,
) -> Work | None:  # fmt: skip
    """Start to receive a tensor.

    Args:
        tensor: The tensor to write to, of the size of the sender's.
        src: Rank in the world of the sender. Default: any rank.
        group: Process group. Default: the default group.
        tag: Number that matches the ``tag`` of the send. Default: 0.
        group_src: Rank in the group, instead of ``src``.

    Returns:
        The work; None for a process outside the group.

    Raises:
        TypeError: If ``tensor`` is not a tensor.
        ValueError: If the rank is this process's own, or not in the group.

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
    tensor: Tensor, src: int | None = None, group: Any = None, tag: int = 0,
    group_src: int | None = None,
) -> int:  # fmt: skip
    """Receive a tensor, and wait for it.

    Args:
        tensor: The tensor to write to, of the size of the sender's.
        src: Rank in the world of the sender. Default: any rank.
        group: Process group. Default: the default group.
        tag: Number that matches the ``tag`` of the send. Default: 0.
        group_src: Rank in the group, instead of ``src``.

    Returns:
        Rank in the world of the sender; -1 for a process outside the group.

    Raises:
        TypeError, ValueError: As ``irecv``.
        RuntimeError: After a timeout, or if the message has a different size.

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
    pg = member_group(group, "recv")
    return pg.ranks[work.source_rank()] if pg is not None else -1


def _receive(
    tensor: Tensor, src: int | None, group: Any, tag: int, group_src: int | None
) -> Work | None:
    """Start to receive a tensor.

    Args:
        tensor: Tensor to which the message is written.
        src: Rank in the world of the sender; any rank if ``group_src`` is None, too.
        group: Process group; None is the default group.
        tag: Tag of the message.
        group_src: Rank in the group of the sender, or None.

    Returns:
        The work; None outside the group.
    """
    check_tensor(tensor, "tensor")
    pg = member_group(group, "irecv")
    if pg is None:
        return None
    from_any = src is None and group_src is None
    peer = None if from_any else find_peer(pg, src, group_src, "source")
    engine = pg.engine.engine_for(tensor)
    flat = engine.empty_flat(tensor)
    return launch(
        pg, "recv", lambda: engine.receive(flat, peer, tag), [tensor],
        finish=lambda: engine.store(tensor, flat), async_op=True,
    )  # fmt: skip


def find_peer(
    group: ProcessGroup, global_rank: int | None, group_rank: int | None, role: str
) -> int:
    """Rank in the group of the other process of a message.

    Args:
        group: Process group.
        global_rank: Rank in the world of that process; None if ``group_rank`` is given.
        group_rank: Rank in the group of that process, or None.
        role: ``"source"``, ``"destination"`` or ``"peer"``, for errors.

    Raises:
        ValueError: If not exactly one rank is given, or it is not another rank of the group.
    """
    if global_rank is not None and group_rank is not None:
        raise ValueError("Can't specify both group_rank and global_rank")
    if global_rank is None and group_rank is None:
        raise ValueError("Must specify global_rank or group_rank")
    members = group.ranks if group_rank is None else range(group.size())
    rank = global_rank if group_rank is None else group_rank
    if rank not in members:
        raise ValueError(f"Invalid {role} rank: {rank} is not part of group {group}")
    peer = members.index(rank)  # type: ignore[arg-type]
    if peer == group.rank():
        raise ValueError(
            f"Invalid {role} rank: {role} rank should not be the same as the rank of the current "
            "process."
        )
    return peer


class P2POp:
    """A send or receive operation for ``batch_isend_irecv``.

    Args:
        op: ``isend`` or ``irecv``.
        tensor: The tensor to send or to write to.
        peer: Rank in the world of the other process.
        group: Process group. Default: the default group.
        tag: Number that matches the ``tag`` of the other process. Default: 0.
        group_peer: Rank in the group of the other process, instead of ``peer``.

    Raises:
        ValueError: If ``op`` is another function, or the rank is this process's own or not in the
            group.
        TypeError: If ``tensor`` is not a tensor.

    Example:
        >>> tt.distributed.P2POp(print, tt.ones(2), 1)
        Traceback (most recent call last):
            ...
        ValueError: Invalid ``op``. Expected ``op`` to be of type ``torch.distributed.isend`` or \
``torch.distributed.irecv``.
    """

    def __init__(
        self, op: Callable[..., Any], tensor: Tensor, peer: int | None = None, group: Any = None,
        tag: int = 0, group_peer: int | None = None,
    ) -> None:  # fmt: skip
        if op not in (isend, irecv):
            raise ValueError(
                "Invalid ``op``. Expected ``op`` to be of type ``torch.distributed.isend`` or "
                "``torch.distributed.irecv``."
            )
        check_tensor(tensor, "tensor")
        self.op: Callable[..., Any] = op
        self.tensor: Tensor = tensor
        self.group: Any = group
        self.tag: int = tag
        pg = world() if group is None else group
        self.group_peer: int = find_peer(pg, peer, group_peer, "peer")
        self.peer: int = pg.ranks[self.group_peer]

    def __repr__(self) -> str:
        return (
            f"P2POp({self.op.__name__} from {world().rank()} to {self.peer}, "
            f"{tuple(self.tensor.shape)}, {self.tensor.dtype})"
        )


def batch_isend_irecv(p2p_op_list: list[P2POp]) -> list[Work]:
    """Start several messages at once; their order may differ between ranks.

    Args:
        p2p_op_list: The operations.

    Returns:
        A work for each operation.

    Raises:
        ValueError: If an item is not a ``P2POp``.
        IndexError: If the list is empty.

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
