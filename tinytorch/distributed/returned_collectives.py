"""Collectives that return their result: ``torch.distributed._functional_collectives``."""

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
    """Reduction of a tensor over the ranks.

    Args:
        self: The tensor, which stays as it is.
        reduceOp: ``"sum"``, ``"avg"``, ``"product"``, ``"min"`` or ``"max"``.
        group: The process group. Default: all ranks.
        tag: Accepted; means nothing.

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
    """The tensor of one rank.

    Args:
        self: The tensor, which stays as it is.
        src: The rank.
        group: The process group. Default: all ranks.
        tag: Accepted; means nothing.

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
    """A result of these functions, which is complete when they return.

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
    """A process group, of itself or of a mesh of one dimension."""
    return group.get_group() if hasattr(group, "get_group") else group
