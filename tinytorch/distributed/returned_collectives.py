"""Collectives that return new tensors: ``torch.distributed._functional_collectives``."""

from __future__ import annotations

from typing import Any

from ..core.tensor import Tensor
from . import collectives
from .buffers import ReduceOp
from .work import Work

_OPERATIONS = {
    "sum": ReduceOp.SUM, "avg": ReduceOp.AVG, "product": ReduceOp.PRODUCT,
    "min": ReduceOp.MIN, "max": ReduceOp.MAX,
}  # fmt: skip


def all_reduce(self: Tensor, reduceOp: str, group: Any = None, tag: str = "") -> Tensor:
    """Reduce a tensor over all ranks.

    Args:
        self: The tensor, which is not changed.
        reduceOp: ``"sum"``, ``"avg"``, ``"product"``, ``"min"`` or ``"max"``.
        group: Process group. Default: the default group.
        tag: Accepted and ignored.

    Returns:
        A new tensor.

    Example:
        >>> from tinytorch.distributed._functional_collectives import all_reduce
        >>> tt.distributed.init_process_group("mpi")
        >>> all_reduce(tt.ones(2), "sum")
        tensor([1., 1.])
        >>> tt.distributed.destroy_process_group()
    """
    result = self.detach().clone()
    collectives.all_reduce(result, _OPERATIONS[reduceOp.lower()], _find_group(group))
    return result


def broadcast(self: Tensor, src: int, group: Any = None, tag: str = "") -> Tensor:
    """Broadcast the tensor of one rank to all ranks.

    Args:
        self: The tensor, which is not changed.
        src: Rank in the world of the sender.
        group: Process group. Default: the default group.
        tag: Accepted and ignored.

    Returns:
        A new tensor.

    Example:
        >>> from tinytorch.distributed._functional_collectives import broadcast
        >>> tt.distributed.init_process_group("mpi")
        >>> broadcast(tt.ones(2), 0)
        tensor([1., 1.])
        >>> tt.distributed.destroy_process_group()
    """
    result = self.detach().clone()
    collectives.broadcast(result, src, _find_group(group))
    return result


def wait_tensor(tensor: Tensor) -> Tensor:
    """Return a result of these functions unchanged: it is complete when they return.

    Args:
        tensor: The result.

    Returns:
        The same tensor.

    Example:
        >>> from tinytorch.distributed._functional_collectives import wait_tensor
        >>> wait_tensor(tt.ones(2))
        tensor([1., 1.])
    """
    if isinstance(tensor, Work):
        raise TypeError("wait_tensor() expected a Tensor, got Work: call its wait()")
    return tensor


def _find_group(group: Any) -> Any:
    """Process group of an argument, which is a process group or a mesh of one dimension."""
    return group.get_group() if hasattr(group, "get_group") else group
