"""Collectives by which every rank sends to every other; see ``collectives``."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from ..core.tensor import Tensor
from .buffers import check_alike, check_one_dtype, check_tensor, check_tensors, check_whole, part
from .launch import launch, said
from .process_group import ProcessGroup, member
from .reduce_op import ReduceOp, check_op
from .work import Work

__all__ = ["all_to_all", "all_to_all_single", "reduce_scatter", "reduce_scatter_tensor"]


def reduce_scatter(
    output: Tensor,
    input_list: list[Tensor],
    op: Any = ReduceOp.SUM,
    group: Any = None,
    async_op: bool = False,
) -> Work | None:
    """Reduce a list of tensors over all ranks, and give each rank its own of the results.

    Args:
        output: What is written to.
        input_list: A tensor for each rank, like ``output``.
        op: How. Default: ``ReduceOp.SUM``.
        group: Among whom. Default: all.
        async_op: Whether to return a ``Work``. Default: False.

    Raises:
        TypeError, ValueError, RuntimeError: As ``all_reduce`` and ``all_gather``.

    Example:
        >>> import tinytorch as tt
        >>> tt.distributed.init_process_group("mpi")
        >>> out = tt.zeros(2)
        >>> tt.distributed.reduce_scatter(out, [tt.ones(2)])
        >>> out
        tensor([1., 1.])
        >>> tt.distributed.destroy_process_group()
    """
    check_tensor(output, "output")
    check_tensors(input_list, "input_list")
    check_op(op, output.dtype, "reduce_scatter")
    found = member(group, "reduce_scatter")
    if found is None:
        return None
    if len(input_list) != found.size():
        raise RuntimeError(
            f"invalid input tensor list size, must be world size {found.size()}, got "
            f"{len(input_list)}"
        )
    check_alike(input_list, output._data.shape, output.dtype, "ProcessGroupMPI::reduce_scatter")
    engine = found.engine.serving(output)
    flat = engine.xp.concatenate([engine.load(each) for each in input_list])
    return _reduce_scatter(output, flat, op, found, async_op, "reduce_scatter")


def _reduce_scatter(
    output: Tensor, flat: Any, op: Any, group: ProcessGroup, async_op: bool, name: str
) -> Work | None:
    engine = group.engine.serving(output)
    into = engine.room(output)
    return launch(
        group, name, lambda: engine.reduce_scatter(into, flat, op), [output],
        said(output, op), lambda: engine.store(output, into), async_op,
    )  # fmt: skip


def reduce_scatter_tensor(
    output: Tensor,
    input: Tensor,
    op: Any = ReduceOp.SUM,
    group: Any = None,
    async_op: bool = False,
) -> Work | None:
    """``reduce_scatter`` of one tensor, of all ranks' parts behind one another, or stacked.

    Args:
        output: What is written to, ``(n, *)``.
        input: ``(ranks * n, *)``, or ``(ranks, n, *)``.
        op: How. Default: ``ReduceOp.SUM``.
        group: Among whom. Default: all.
        async_op: Whether to return a ``Work``. Default: False.

    Raises:
        TypeError, ValueError, RuntimeError: As ``all_reduce`` and ``all_gather_into_tensor``.

    Example:
        >>> import tinytorch as tt
        >>> tt.distributed.init_process_group("mpi")
        >>> out = tt.zeros(2)
        >>> tt.distributed.reduce_scatter_tensor(out, tt.ones(2))
        >>> out
        tensor([1., 1.])
        >>> tt.distributed.destroy_process_group()
    """
    check_tensor(output, "output")
    check_tensor(input, "input")
    check_op(op, output.dtype, "reduce_scatter_tensor")
    found = member(group, "reduce_scatter_tensor")
    if found is None:
        return None
    check_whole(input, output, found.size(), "input", "output")
    engine = found.engine.serving(output)
    flat = engine.load(input)
    return _reduce_scatter(output, flat, op, found, async_op, "reduce_scatter_tensor")


def all_to_all(
    output_tensor_list: list[Tensor],
    input_tensor_list: list[Tensor],
    group: Any = None,
    async_op: bool = False,
) -> Work | None:
    """Send each rank its own of a list of tensors, and receive one from each.

    Args:
        output_tensor_list: A tensor for each rank, to write to; sizes may differ.
        input_tensor_list: A tensor for each rank.
        group: Among whom. Default: all.
        async_op: Whether to return a ``Work``. Default: False.

    Raises:
        TypeError: If one is no list of tensors.
        ValueError: For different dtypes.
        RuntimeError: For another number of tensors than there are ranks.

    Example:
        >>> import tinytorch as tt
        >>> tt.distributed.init_process_group("mpi")
        >>> out = [tt.zeros(2)]
        >>> tt.distributed.all_to_all(out, [tt.ones(2)])
        >>> out
        [tensor([1., 1.])]
        >>> tt.distributed.destroy_process_group()
    """
    check_tensors(output_tensor_list, "output_tensor_list")
    check_tensors(input_tensor_list, "input_tensor_list")
    found = member(group, "all_to_all")
    if found is None:
        return None
    for name, tensors in (("input", input_tensor_list), ("output", output_tensor_list)):
        if len(tensors) != found.size():
            raise RuntimeError(
                f"ProcessGroupMPI::alltoall: {name} tensor list size {len(tensors)} does not match "
                f"world size {found.size()}"
            )
    check_one_dtype([*output_tensor_list, *input_tensor_list])
    engine = found.engine.serving(input_tensor_list[0])
    flat = engine.xp.concatenate([engine.load(each) for each in input_tensor_list])
    received = [each.numel() for each in output_tensor_list]
    into = engine.xp.empty(sum(received), flat.dtype)
    ends = list(accumulate(received))[:-1]
    return launch(
        found, "all_to_all",
        lambda: engine.all_to_all(
            into, flat, received, [each.numel() for each in input_tensor_list]
        ),
        output_tensor_list, str(input_tensor_list[0].dtype),
        lambda: part(engine, output_tensor_list, engine.xp.split(into, ends)), async_op,
    )  # fmt: skip


def all_to_all_single(
    output: Tensor,
    input: Tensor,
    output_split_sizes: Sequence[int] | None = None,
    input_split_sizes: Sequence[int] | None = None,
    group: Any = None,
    async_op: bool = False,
) -> Work | None:
    """``all_to_all`` of one tensor, divided along its first dimension.

    Args:
        output: What is written to.
        input: What is sent.
        output_split_sizes: Rows that come from each rank. Default: equal parts.
        input_split_sizes: Rows that go to each rank. Default: equal parts.
        group: Among whom. Default: all.
        async_op: Whether to return a ``Work``. Default: False.

    Raises:
        TypeError: If one is no tensor.
        ValueError: For different dtypes.
        RuntimeError: For sizes that do not divide the tensors.

    Example:
        >>> import tinytorch as tt
        >>> tt.distributed.init_process_group("mpi")
        >>> out = tt.zeros(2)
        >>> tt.distributed.all_to_all_single(out, tt.ones(2))
        >>> out
        tensor([1., 1.])
        >>> tt.distributed.destroy_process_group()
    """
    check_tensor(output, "output")
    check_tensor(input, "input")
    found = member(group, "all_to_all_single")
    if found is None:
        return None
    check_one_dtype([output, input])
    received = _split(output, output_split_sizes, found.size())
    sent = _split(input, input_split_sizes, found.size())
    engine = found.engine.serving(input)
    into, flat = engine.room(output), engine.load(input)
    return launch(
        found, "all_to_all_single", lambda: engine.all_to_all(into, flat, received, sent),
        [output], str(input.dtype), lambda: engine.store(output, into), async_op,
    )  # fmt: skip


def _split(tensor: Tensor, sizes: Sequence[int] | None, count: int) -> list[int]:
    """How many elements go to, or come from, each rank."""
    rows = tensor._data.shape[0]
    row = tensor.numel() // rows if rows else 0
    if not sizes:
        if rows % count:
            raise RuntimeError("Tensor's dim 0 does not divide equally across group size")
        return [row * (rows // count)] * count
    if len(sizes) != count:
        raise RuntimeError("Number of tensor splits not equal to group size")
    if sum(sizes) != rows or min(sizes) < 0:
        raise RuntimeError("Split sizes doesn't match total dim 0 size")
    return [row * size for size in sizes]
