"""``torch.distributed.nn``: differentiable collectives, which return new tensors.

The gradient of a sum over the ranks is the sum over the ranks of the gradients, because the loss of
each rank depends on the inputs of all ranks.

Reference: https://docs.pytorch.org/docs/stable/distributed.html
"""

from __future__ import annotations

from typing import Any

from ..autograd.function import Function
from ..core.tensor import Tensor
from ..ops.create.factories import empty_like, zeros_like
from . import collectives
from .buffers import ReduceOp
from .group_queries import get_rank, get_world_size
from .process_group import member_group, world

__all__ = ["all_gather", "all_reduce", "all_to_all", "broadcast", "gather", "reduce",
           "reduce_scatter", "scatter"]  # fmt: skip


class _AllReduce(Function):
    """``all_reduce``, whose gradient is the ``all_reduce`` of the gradients."""

    @staticmethod
    def forward(ctx: Any, op: Any, group: Any, tensor: Tensor) -> Tensor:
        ctx.op, ctx.group = op, group
        result = tensor.clone()
        collectives.all_reduce(result, op, group)
        return result

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        return None, None, _AllReduce.apply(ctx.op, ctx.group, grad)


class _Broadcast(Function):
    """``broadcast``, whose gradient is the sum over the ranks on ``src``, and 0 elsewhere."""

    @staticmethod
    def forward(ctx: Any, src: int, group: Any, tensor: Tensor) -> Tensor:
        ctx.src, ctx.group = src, group
        result = tensor.clone()
        collectives.broadcast(result, src, group)
        return result

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        result = _Reduce.apply(ctx.src, ReduceOp.SUM, ctx.group, grad)
        return None, None, result if get_rank() == ctx.src else zeros_like(grad)


class _Reduce(Function):
    """``reduce`` to ``dst``, whose gradient is the broadcast of the gradient on ``dst``."""

    @staticmethod
    def forward(ctx: Any, dst: int, op: Any, group: Any, tensor: Tensor) -> Tensor:
        ctx.dst, ctx.group = dst, group
        result = tensor.clone()
        collectives.reduce(result, dst, op, group)
        return result

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        return None, None, None, _Broadcast.apply(ctx.dst, ctx.group, grad)


class _AllToAll(Function):
    """``all_to_all``, whose gradient is the ``all_to_all`` of the gradients."""

    @staticmethod
    def forward(ctx: Any, group: Any, *tensors: Tensor) -> Any:
        ctx.group = group
        outputs = [empty_like(tensor) for tensor in tensors]
        collectives.all_to_all(outputs, [tensor.contiguous() for tensor in tensors], group)
        return tuple(outputs)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        return None, *_AllToAll.apply(ctx.group, *grads)


def all_reduce(tensor: Tensor, op: Any = ReduceOp.SUM, group: Any = None) -> Tensor:
    """Reduce a tensor over all ranks.

    Args:
        tensor: Any shape; it is not changed.
        op: The reduction. Only ``ReduceOp.SUM`` and ``AVG`` are differentiable.
        group: Process group. Default: the default group.

    Raises:
        ValueError: Before ``init_process_group``.

    Example:
        >>> tt.distributed.init_process_group("mpi")
        >>> x = tt.ones(2, requires_grad=True)
        >>> tt.distributed.nn.all_reduce(x * 3).sum().backward()
        >>> x.grad  # of one process
        tensor([3., 3.])
        >>> tt.distributed.destroy_process_group()
    """
    world()
    if tensor.requires_grad and op not in (ReduceOp.SUM, ReduceOp.AVG):
        raise NotImplementedError(f"all_reduce: {op} has no gradient, SUM and AVG have")
    return _AllReduce.apply(op, group, tensor)


def broadcast(tensor: Tensor, src: int, group: Any = None) -> Tensor:
    """Broadcast a tensor from one rank to all.

    Args:
        tensor: On ``src`` the tensor to send; elsewhere a tensor of the same shape and dtype.
        src: Rank in the world of the sender.
        group: Process group. Default: the default group.

    Example:
        >>> tt.distributed.init_process_group("mpi")
        >>> tt.distributed.nn.broadcast(tt.ones(2), src=0)
        tensor([1., 1.])
        >>> tt.distributed.destroy_process_group()
    """
    world()
    return _Broadcast.apply(src, group, tensor)


def reduce(tensor: Tensor, dst: int, op: Any = ReduceOp.SUM, group: Any = None) -> Tensor:
    """Reduce a tensor over all ranks, on one of them; others return a copy of their tensor.

    Args:
        tensor: Any shape.
        dst: Rank in the world that receives the result.
        op: The reduction. Only ``ReduceOp.SUM`` is differentiable.
        group: Process group. Default: the default group.

    Example:
        >>> tt.distributed.init_process_group("mpi")
        >>> tt.distributed.nn.reduce(tt.ones(2), dst=0)
        tensor([1., 1.])
        >>> tt.distributed.destroy_process_group()
    """
    world()
    if tensor.requires_grad and op is not ReduceOp.SUM:
        raise NotImplementedError(f"reduce: {op} has no gradient, SUM has")
    return _Reduce.apply(dst, op, group, tensor)


def all_to_all(
    output_tensor_list: list[Tensor], input_tensor_list: list[Tensor], group: Any = None
) -> tuple[Tensor, ...]:
    """Send one tensor of a list to each rank, and return the tensors received, one from each.

    Args:
        output_tensor_list: Ignored; results are new tensors, like the inputs.
        input_tensor_list: A tensor for each rank, all of one shape.
        group: Process group. Default: the default group.

    Example:
        >>> tt.distributed.init_process_group("mpi")
        >>> tt.distributed.nn.all_to_all([tt.zeros(2)], [tt.ones(2)])
        (tensor([1., 1.]),)
        >>> tt.distributed.destroy_process_group()
    """
    world()
    return _AllToAll.apply(group, *input_tensor_list)  # type: ignore[no-any-return]


def all_gather(tensor: Tensor, group: Any = None) -> tuple[Tensor, ...]:
    """Gather the tensors of all ranks on every rank.

    Args:
        tensor: Tensor of this rank; all ranks have the same shape.
        group: Process group. Default: the default group.

    Example:
        >>> tt.distributed.init_process_group("mpi")
        >>> tt.distributed.nn.all_gather(tt.ones(2))
        (tensor([1., 1.]),)
        >>> tt.distributed.destroy_process_group()
    """
    return all_to_all([], [tensor] * get_world_size(group), group)


def gather(tensor: Tensor, dst: int = 0, group: Any = None) -> tuple[Tensor, ...]:
    """Gather the tensors of all ranks on one of them; others return zeros.

    Args:
        tensor: Tensor of this rank; all ranks have the same shape.
        dst: Rank in the world that receives them. Default: 0.
        group: Process group. Default: the default group.

    Example:
        >>> tt.distributed.init_process_group("mpi")
        >>> tt.distributed.nn.gather(tt.ones(2))
        (tensor([1., 1.]),)
        >>> tt.distributed.destroy_process_group()
    """
    parts = all_gather(tensor, group)
    return parts if get_rank() == dst else tuple(part * 0 for part in parts)


def scatter(tensors: list[Tensor], src: int = 0, group: Any = None) -> Tensor:
    """Scatter a list of tensors of one rank, and return the tensor for this rank.

    Args:
        tensors: On ``src`` a tensor for each rank; elsewhere tensors of the same shape.
        src: Rank in the world of the sender. Default: 0.
        group: Process group. Default: the default group.

    Example:
        >>> tt.distributed.init_process_group("mpi")
        >>> tt.distributed.nn.scatter([tt.ones(2)])
        tensor([1., 1.])
        >>> tt.distributed.destroy_process_group()
    """
    pg = member_group(group, "scatter")
    ranks = world().ranks if pg is None else pg.ranks
    return all_to_all([], tensors, group)[ranks.index(src)]


def reduce_scatter(
    output: Tensor, input_list: list[Tensor], op: Any = ReduceOp.SUM, group: Any = None
) -> Tensor:
    """Sum a list of tensors over all ranks, and return the sum at this rank's index.

    Args:
        output: Ignored; the result is a new tensor.
        input_list: A tensor for each rank.
        op: ``ReduceOp.SUM``.
        group: Process group. Default: the default group.

    Example:
        >>> tt.distributed.init_process_group("mpi")
        >>> tt.distributed.nn.reduce_scatter(tt.zeros(2), [tt.ones(2)])
        tensor([1., 1.])
        >>> tt.distributed.destroy_process_group()
    """
    world()
    if op is not ReduceOp.SUM:
        raise NotImplementedError(f"reduce_scatter: expected ReduceOp.SUM, got {op}")
    first, *rest = all_to_all([], input_list, group)
    return sum(rest, first)
