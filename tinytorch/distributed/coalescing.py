"""Several collectives or messages that are started before one is waited for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..core.tensor import Tensor
from ..ops.shape.joining import cat
from ..state import no_grad
from .collectives import all_reduce, broadcast
from .collectives import all_gather
from .process_group import member
from .buffers import ReduceOp
from .work import Work

__all__ = ["all_gather_coalesced", "all_reduce_coalesced"]


class Coalescing:
    """Works that were started in a block; ``wait`` waits for all."""

    def __init__(self) -> None:
        self.works: list[Work] = []

    def append(self, work: Work | None) -> None:
        """Add a work."""
        if work is not None:
            self.works.append(work)

    def wait(self) -> None:
        """Wait for all of them."""
        for work in self.works:
            work.wait()


@contextmanager
def coalescing_manager(
    group: Any = None, device: Any = None, async_ops: bool = False
) -> Iterator[Coalescing]:
    """A block whose collectives and messages are all started before one is waited for.

    Args:
        group: Whose. Default: all processes'.
        device: Accepted; means nothing.
        async_ops: Whether the program calls ``wait`` of what it got. Default: at the block's end.
    """
    found = member(group, "_coalescing_manager")
    manager = Coalescing()
    if found is None:
        yield manager
        return
    if found.coalesced is not None:
        raise ValueError("ProcessGroup has non-empty op list at the start of coalescing")
    found.coalesced = manager.works
    try:
        yield manager
    finally:
        found.coalesced = None
    if not async_ops:
        manager.wait()


def all_reduce_coalesced(
    tensors: Sequence[Tensor], op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Coalescing | None:
    """``all_reduce`` of several tensors.

    Args:
        tensors: The tensors.
        op: How. Default: ``ReduceOp.SUM``.
        group: Among whom. Default: all.
        async_op: Whether to return something to wait for. Default: False.

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
    """``all_gather`` of several tensors.

    Args:
        output_tensor_lists: For each rank, tensors like the inputs, to write to.
        input_tensor_list: This rank's.
        group: Among whom. Default: all.
        async_op: Whether to return something to wait for. Default: False.

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
    """``broadcast`` of several tensors, in one message for each dtype and device.

    Args:
        tensors: The tensors, in place.
        src: The rank in the group that sends.
        group: Among whom.
    """
    alike: dict[Any, list[Tensor]] = {}
    for tensor in tensors:
        alike.setdefault((tensor.dtype, str(tensor.device)), []).append(tensor.detach())
    with no_grad():
        for parts in alike.values():
            flat = cat([part.reshape(-1) for part in parts])
            broadcast(flat, group=group, group_src=src)
            sizes = [part.numel() for part in parts]
            for part, came in zip(parts, flat.split(sizes), strict=True):
                part.copy_(came.view(part.shape))
