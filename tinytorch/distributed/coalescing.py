"""Coalescing: several collectives or messages are started before the first is waited for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ..core.tensor import Tensor
from ..ops.shape.joining import cat
from ..state import no_grad
from .collectives import all_reduce, broadcast
from .collectives import all_gather
from .process_group import member_group
from .buffers import ReduceOp
from .work import Work
from ..state.bindings import contextmanager

__all__ = ["all_gather_coalesced", "all_reduce_coalesced"]


class Coalescing:
    """The works that were started in a ``coalescing_manager`` block."""

    def __init__(self) -> None:
        self.works: list[Work] = []

    def append(self, work: Work | None) -> None:
        """Add a work, unless it is None."""
        if work is not None:
            self.works.append(work)

    def wait(self) -> None:
        """Wait for all works."""
        for work in self.works:
            work.wait()


@contextmanager
def coalescing_manager(
    group: Any = None, device: Any = None, async_ops: bool = False
) -> Iterator[Coalescing]:
    """Start the collectives and messages of a block, and wait for all of them at its end.

    Args:
        group: Process group. Default: the default group.
        device: Accepted and ignored.
        async_ops: Whether the program waits, by ``wait`` of the yielded object, and not the end of
            the block. Default: False.
    """
    pg = member_group(group, "_coalescing_manager")
    manager = Coalescing()
    if pg is None:
        yield manager
        return
    if pg.coalesced is not None:
        raise ValueError("ProcessGroup has non-empty op list at the start of coalescing")
    pg.coalesced = manager.works
    try:
        yield manager
    finally:
        pg.coalesced = None
    if not async_ops:
        manager.wait()


def all_reduce_coalesced(
    tensors: Sequence[Tensor], op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Coalescing | None:
    """Reduce several tensors over all ranks, in place, as ``all_reduce``.

    Args:
        tensors: The tensors.
        op: The reduction, of ``ReduceOp``. Default: ``ReduceOp.SUM``.
        group: Process group. Default: the default group.
        async_op: Whether to return an object with ``wait`` without waiting. Default: False.

    Example:
        >>> tt.distributed.init_process_group("mpi")
        >>> tt.distributed.all_reduce_coalesced([tt.ones(2), tt.ones(1)])
        >>> tt.distributed.destroy_process_group()
    """
    with coalescing_manager(group, async_ops=async_op) as manager:
        for tensor in tensors:
            all_reduce(tensor, op, group, async_op=True)
    return manager if async_op else None


def all_gather_coalesced(
    output_tensor_lists: Sequence[list[Tensor]],
    input_tensor_list: Sequence[Tensor],
    group: Any = None,
    async_op: bool = False,
) -> Coalescing | None:
    """Gather several tensors of all ranks on each rank, as ``all_gather``.

    Args:
        output_tensor_lists: For each rank a list of tensors like the inputs, to write to.
        input_tensor_list: Tensors of this rank.
        group: Process group. Default: the default group.
        async_op: Whether to return an object with ``wait`` without waiting. Default: False.

    Example:
        >>> tt.distributed.init_process_group("mpi")
        >>> tt.distributed.all_gather_coalesced([[tt.zeros(2)]], [tt.ones(2)])
        >>> tt.distributed.destroy_process_group()
    """
    with coalescing_manager(group, async_ops=async_op) as manager:
        for index, tensor in enumerate(input_tensor_list):
            parts = [outputs[index] for outputs in output_tensor_lists]
            all_gather(parts, tensor, group, async_op=True)
    return manager if async_op else None


def broadcast_coalesced(tensors: Iterable[Tensor], src: int, group: Any) -> None:
    """Broadcast several tensors in place, with one message for each dtype and device.

    Args:
        tensors: The tensors.
        src: Rank in the group of the sender.
        group: Process group.
    """
    by_dtype_and_device: dict[Any, list[Tensor]] = {}
    for tensor in tensors:
        key = tensor.dtype, str(tensor.device)
        by_dtype_and_device.setdefault(key, []).append(tensor.detach())
    with no_grad():
        for parts in by_dtype_and_device.values():
            flat = cat([part.reshape(-1) for part in parts])
            broadcast(flat, group=group, group_src=src)
            sizes = [part.numel() for part in parts]
            for part, received in zip(parts, flat.split(sizes), strict=True):
                part.copy_(received.view(part.shape))
