"""``torch.distributed.nn``: collectives that gradients flow through, back to every rank.

Each returns new tensors. The gradient of a sum over the ranks is the sum over the ranks of the
gradients, as every rank's loss depends on what every rank gave.

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
from .process_group import member, world

__all__ = ["all_gather", "all_reduce", "all_to_all", "broadcast", "gather", "reduce",
           "reduce_scatter", "scatter"]  # fmt: skip


class _AllReduce(Function):
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
    @staticmethod
    def forward(ctx: Any, src: int, group: Any, tensor: Tensor) -> Tensor:
        ctx.src, ctx.group = src, group
        result = tensor.clone()
        collectives.broadcast(result, src, group)
        return result

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        result = _Reduce.apply(ctx.src, ReduceOp.SUM, ctx.group, grad)
        return None, None, result if _is(ctx.src) else zeros_like(grad)


class _Reduce(Function):
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
    @staticmethod
    def forward(ctx: Any, group: Any, *tensors: Tensor) -> Any:
        ctx.group = group
        outputs = [empty_like(tensor) for tensor in tensors]
        collectives.all_to_all(outputs, [tensor.contiguous() for tensor in tensors], group)
        return tuple(outputs)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        return None, *_AllToAll.apply(ctx.group, *grads)


def _is(rank: int) -> bool:
    return get_rank() == rank


def all_reduce(tensor: Tensor, op: Any = ReduceOp.SUM, group: Any = None) -> Tensor:
    """A tensor reduced over all ranks.

    Args:
        tensor: Any shape; it is left as it is.
        op: ``ReduceOp.SUM`` or ``AVG``, which have a gradient.
        group: Among whom. Default: all.

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
    """One rank's tensor, on all.

    Args:
        tensor: On ``src`` what is sent; elsewhere its shape and dtype count.
        src: The rank in the world that sends.
        group: Among whom. Default: all.

    Example:
        >>> tt.distributed.init_process_group("mpi")
        >>> tt.distributed.nn.broadcast(tt.ones(2), src=0)
        tensor([1., 1.])
        >>> tt.distributed.destroy_process_group()
    """
    world()
    return _Broadcast.apply(src, group, tensor)


def reduce(tensor: Tensor, dst: int, op: Any = ReduceOp.SUM, group: Any = None) -> Tensor:
    """A tensor reduced over all ranks, on one of them; on others the tensor.

    Args:
        tensor: Any shape.
        dst: The rank in the world that gets the result.
        op: ``ReduceOp.SUM``, which has a gradient.
        group: Among whom. Default: all.

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
    """Each rank's own of every rank's list, all of one shape.

    Args:
        output_tensor_list: Their number counts; results are new tensors.
        input_tensor_list: A tensor for each rank.
        group: Among whom. Default: all.

    Example:
        >>> tt.distributed.init_process_group("mpi")
        >>> tt.distributed.nn.all_to_all([tt.zeros(2)], [tt.ones(2)])
        (tensor([1., 1.]),)
        >>> tt.distributed.destroy_process_group()
    """
    world()
    return _AllToAll.apply(group, *input_tensor_list)  # type: ignore[no-any-return]


def all_gather(tensor: Tensor, group: Any = None) -> tuple[Tensor, ...]:
    """The tensors of all ranks.

    Args:
        tensor: This rank's; all have the same shape.
        group: Among whom. Default: all.

    Example:
        >>> tt.distributed.init_process_group("mpi")
        >>> tt.distributed.nn.all_gather(tt.ones(2))
        (tensor([1., 1.]),)
        >>> tt.distributed.destroy_process_group()
    """
    return all_to_all([], [tensor] * get_world_size(group), group)


def gather(tensor: Tensor, dst: int = 0, group: Any = None) -> tuple[Tensor, ...]:
    """The tensors of all ranks, on one of them; zeros on the others.

    Args:
        tensor: This rank's; all have the same shape.
        dst: The rank in the world that gets them. Default: 0.
        group: Among whom. Default: all.

    Example:
        >>> tt.distributed.init_process_group("mpi")
        >>> tt.distributed.nn.gather(tt.ones(2))
        (tensor([1., 1.]),)
        >>> tt.distributed.destroy_process_group()
    """
    parts = all_gather(tensor, group)
    return parts if _is(dst) else tuple(part * 0 for part in parts)


def scatter(tensors: list[Tensor], src: int = 0, group: Any = None) -> Tensor:
    """Each rank's own of one rank's tensors.

    Args:
        tensors: On ``src`` a tensor for each rank; elsewhere tensors of the same shape.
        src: The rank in the world that has them. Default: 0.
        group: Among whom. Default: all.

    Example:
        >>> tt.distributed.init_process_group("mpi")
        >>> tt.distributed.nn.scatter([tt.ones(2)])
        tensor([1., 1.])
        >>> tt.distributed.destroy_process_group()
    """
    found = member(group, "scatter")
    ranks = world().ranks if found is None else found.ranks
    return all_to_all([], tensors, group)[ranks.index(src)]


def reduce_scatter(
    output: Tensor, input_list: list[Tensor], op: Any = ReduceOp.SUM, group: Any = None
) -> Tensor:
    """The sum over all ranks of what each has for this one.

    Args:
        output: Its shape counts; the result is a new tensor.
        input_list: A tensor for each rank.
        op: ``ReduceOp.SUM``.
        group: Among whom. Default: all.

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
