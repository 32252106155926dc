"""Collectives: what all processes of a group call together, on tensors.

Every function takes ``group``, the processes (default: all), and ``async_op``: True returns a
``Work`` to wait for, where otherwise the call waits and returns None. A process that is no member
of the group is warned, and nothing happens. Sizes, dtypes, operations and roots are the same on all
ranks; where they are not, every rank raises.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import timedelta
from itertools import accumulate
from typing import Any

from ..core.tensor import Tensor
from . import debug
from .buffers import (
    ReduceOp,
    check_alike,
    check_length,
    check_one_dtype,
    check_op,
    check_tensor,
    check_tensors,
    check_whole,
    part,
)
from .launch import launch, root_of, said
from .mpi import OBJECT
from .process_group import ProcessGroup, check_timeout, member
from .work import Work

__all__ = [
    "all_gather",
    "all_gather_into_tensor",
    "all_reduce",
    "all_to_all",
    "all_to_all_single",
    "barrier",
    "broadcast",
    "gather",
    "monitored_barrier",
    "reduce",
    "reduce_scatter",
    "reduce_scatter_tensor",
    "scatter",
]


def broadcast(
    tensor: Tensor,
    src: int | None = None,
    group: Any = None,
    async_op: bool = False,
    group_src: int | None = None,
) -> Work | None:
    """Send a tensor from one rank to all.

    Args:
        tensor: On ``src`` what is sent; elsewhere it is written over. Any shape and dtype.
        src: The rank in the world that sends.
        group: Among whom. Default: all.
        async_op: Whether to return a ``Work``. Default: False.
        group_src: The rank in the group that sends, in place of ``src``.

    Raises:
        TypeError: If ``tensor`` is none.
        ValueError: If not exactly one of ``src`` and ``group_src`` is given; before
            ``init_process_group``.
        RuntimeError: If there is no such rank, or one does not answer.

    Example:
        >>> tt.distributed.init_process_group("mpi")
        >>> tt.distributed.broadcast(tt.ones(2), src=0)
        >>> tt.distributed.destroy_process_group()
    """
    check_tensor(tensor, "tensor")
    found = member(group, "broadcast")
    if found is None:
        return None
    root = root_of(found, "broadcast", src, group_src)
    engine = found.engine.serving(tensor)
    flat = engine.load(tensor) if found.rank() == root else engine.room(tensor)

    def finish() -> None:
        if found.rank() != root:
            engine.store(tensor, flat)

    return launch(
        found, "broadcast", lambda: engine.broadcast(flat, root), [tensor],
        said(tensor, f"Root={root}"), finish, async_op,
    )  # fmt: skip


def all_reduce(
    tensor: Tensor, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Work | None:
    """Reduce a tensor over all ranks, in place, so that all have the result.

    Sums may differ by rounding from those of another number of ranks; all ranks get the same.
    16-bit floats are summed in float32.

    Args:
        tensor: Any shape; see ``ReduceOp`` for which dtypes there are.
        op: How. Default: ``ReduceOp.SUM``.
        group: Among whom. Default: all.
        async_op: Whether to return a ``Work``. Default: False.

    Raises:
        TypeError: If ``tensor`` is none, or ``op`` is no ``ReduceOp``.
        ValueError: For another than SUM or AVG of complex numbers; before ``init_process_group``.
        RuntimeError: For bits of fractions or means of integers, or if a rank does not answer.

    Example:
        >>> tt.distributed.init_process_group("mpi")
        >>> x = tt.ones(2)
        >>> tt.distributed.all_reduce(x)
        >>> x  # of one process
        tensor([1., 1.])
        >>> tt.distributed.destroy_process_group()
    """
    check_tensor(tensor, "tensor")
    check_op(op, tensor.dtype, "all_reduce")
    found = member(group, "all_reduce")
    if found is None:
        return None
    engine = found.engine.serving(tensor)
    flat = engine.load(tensor)
    return launch(
        found, "all_reduce", lambda: engine.all_reduce(flat, op), [tensor],
        said(tensor, op), lambda: engine.store(tensor, flat), async_op,
    )  # fmt: skip


def reduce(
    tensor: Tensor,
    dst: int | None = None,
    op: Any = ReduceOp.SUM,
    group: Any = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:
    """Reduce a tensor over all ranks, in place on one of them; others keep theirs.

    Args:
        tensor: Any shape.
        dst: The rank in the world that gets the result.
        op: How. Default: ``ReduceOp.SUM``.
        group: Among whom. Default: all.
        async_op: Whether to return a ``Work``. Default: False.
        group_dst: The rank in the group, in place of ``dst``.

    Raises:
        TypeError, ValueError, RuntimeError: As ``all_reduce`` and ``broadcast``.

    Example:
        >>> tt.distributed.init_process_group("mpi")
        >>> tt.distributed.reduce(tt.ones(2), dst=0)
        >>> tt.distributed.destroy_process_group()
    """
    check_tensor(tensor, "tensor")
    check_op(op, tensor.dtype, "reduce")
    found = member(group, "reduce")
    if found is None:
        return None
    root = root_of(found, "reduce", dst, group_dst)
    engine = found.engine.serving(tensor)
    flat = engine.load(tensor)

    def finish() -> None:
        if found.rank() == root:
            engine.store(tensor, flat)

    return launch(
        found, "reduce", lambda: engine.reduce(flat, op, root), [tensor],
        said(tensor, op, f"Root={root}"), finish, async_op,
    )  # fmt: skip


def all_gather(
    tensor_list: list[Tensor], tensor: Tensor, group: Any = None, async_op: bool = False
) -> Work | None:
    """Give every rank the tensors of all.

    Args:
        tensor_list: A tensor for each rank, like ``tensor``, to write to.
        tensor: This rank's.
        group: Among whom. Default: all.
        async_op: Whether to return a ``Work``. Default: False.

    Raises:
        TypeError: If it is no list, or no tensor.
        ValueError: For other dtypes; before ``init_process_group``.
        RuntimeError: For other shapes, or another number of tensors than there are ranks.

    Example:
        >>> tt.distributed.init_process_group("mpi")
        >>> parts = [tt.zeros(2)]
        >>> tt.distributed.all_gather(parts, tt.ones(2))
        >>> parts
        [tensor([1., 1.])]
        >>> tt.distributed.destroy_process_group()
    """
    check_tensors(tensor_list, "tensor_list")
    check_tensor(tensor, "tensor")
    found = member(group, "all_gather")
    if found is None:
        return None
    size = found.size()
    check_length(tensor_list, size, "allgather", "output tensor list")
    check_alike(tensor_list, tensor._data.shape, tensor.dtype, "ProcessGroupMPI::allgather")
    engine = found.engine.serving(tensor)
    flat = engine.load(tensor)
    into = engine.xp.empty((size, flat.size), flat.dtype)
    return launch(
        found, "all_gather", lambda: engine.all_gather(into, flat), tensor_list,
        said(tensor), lambda: part(engine, tensor_list, into), async_op,
    )  # fmt: skip


def all_gather_into_tensor(
    output_tensor: Tensor, input_tensor: Tensor, group: Any = None, async_op: bool = False
) -> Work | None:
    """``all_gather`` into one tensor, of all ranks' behind one another, or stacked.

    Args:
        output_tensor: ``(ranks * n, *)`` of inputs ``(n, *)``, or ``(ranks, n, *)``.
        input_tensor: This rank's.
        group: Among whom. Default: all.
        async_op: Whether to return a ``Work``. Default: False.

    Raises:
        TypeError: If one is no tensor.
        ValueError: For different dtypes, or an output of another size.

    Example:
        >>> tt.distributed.init_process_group("mpi")
        >>> out = tt.zeros(2)
        >>> tt.distributed.all_gather_into_tensor(out, tt.ones(2))
        >>> out
        tensor([1., 1.])
        >>> tt.distributed.destroy_process_group()
    """
    check_tensor(output_tensor, "output_tensor")
    check_tensor(input_tensor, "input_tensor")
    found = member(group, "all_gather_into_tensor")
    if found is None:
        return None
    check_whole(output_tensor, input_tensor, found.size(), "output", "input")
    engine = found.engine.serving(input_tensor)
    into, flat = engine.room(output_tensor), engine.load(input_tensor)
    return launch(
        found, "all_gather_into_tensor", lambda: engine.all_gather(into, flat),
        [output_tensor], said(input_tensor), lambda: engine.store(output_tensor, into), async_op,
    )  # fmt: skip


def gather(
    tensor: Tensor,
    gather_list: list[Tensor] | None = None,
    dst: int | None = None,
    group: Any = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:
    """Give one rank the tensors of all.

    Args:
        tensor: This rank's.
        gather_list: On ``dst`` a tensor for each rank, to write to; None elsewhere.
        dst: The rank in the world that gets them. Default: rank 0 of the group.
        group: Among whom. Default: all.
        async_op: Whether to return a ``Work``. Default: False.
        group_dst: The rank in the group, in place of ``dst``.

    Raises:
        TypeError, ValueError, RuntimeError: As ``all_gather``; if ``gather_list`` is given
            elsewhere than on ``dst``, or not there.

    Example:
        >>> tt.distributed.init_process_group("mpi")
        >>> tt.distributed.gather(tt.ones(2), [tt.zeros(2)], dst=0)
        >>> tt.distributed.destroy_process_group()
    """
    check_tensor(tensor, "tensor")
    if gather_list:
        check_tensors(gather_list, "gather_list")
    found = member(group, "gather")
    if found is None:
        return None
    size, root = found.size(), root_of(found, "gather", dst, group_dst, 0)
    _check_listed(gather_list, found.rank() == root, "gather_list", "destination")
    engine = found.engine.serving(tensor)
    parts, flat = gather_list or [], engine.load(tensor)
    into = engine.xp.empty((size, flat.size), flat.dtype) if parts else None
    if parts:
        check_length(parts, size, "gather", "output tensor list")
        check_alike(parts, tensor._data.shape, tensor.dtype, "ProcessGroupMPI::gather")

    def finish() -> None:
        if into is not None:
            part(engine, parts, into)

    return launch(
        found, "gather", lambda: engine.gather(into, flat, root), parts,
        said(tensor, f"Root={root}"), finish, async_op,
    )  # fmt: skip


def _check_listed(values: Any, here: bool, name: str, what: str) -> None:
    if here and not values:
        raise ValueError(f"Argument ``{name}`` must be specified on {what} rank.")
    if values and not here:
        raise ValueError(f"Argument ``{name}`` must NOT be specified on non-{what} ranks.")


def scatter(
    tensor: Tensor,
    scatter_list: list[Tensor] | None = None,
    src: int | None = None,
    group: Any = None,
    async_op: bool = False,
    group_src: int | None = None,
) -> Work | None:
    """Give each rank its own of one rank's tensors.

    Args:
        tensor: What is written to.
        scatter_list: On ``src`` a tensor for each rank, like ``tensor``; None elsewhere.
        src: The rank in the world that has them. Default: rank 0 of the group.
        group: Among whom. Default: all.
        async_op: Whether to return a ``Work``. Default: False.
        group_src: The rank in the group, in place of ``src``.

    Raises:
        TypeError, ValueError, RuntimeError: As ``gather``.

    Example:
        >>> tt.distributed.init_process_group("mpi")
        >>> x = tt.zeros(2)
        >>> tt.distributed.scatter(x, [tt.ones(2)], src=0)
        >>> x
        tensor([1., 1.])
        >>> tt.distributed.destroy_process_group()
    """
    check_tensor(tensor, "tensor")
    if scatter_list:
        check_tensors(scatter_list, "scatter_list")
    found = member(group, "scatter")
    if found is None:
        return None
    root = root_of(found, "scatter", src, group_src, 0)
    _check_listed(scatter_list, found.rank() == root, "scatter_list", "source")
    engine = found.engine.serving(tensor)
    into, flat = engine.room(tensor), None
    if scatter_list:
        if len(scatter_list) != found.size():
            raise RuntimeError(
                f"ProcessGroupMPI::scatter: Incorrect input list size {len(scatter_list)}. Input "
                f"list size should be {found.size()}, same as size of the process group."
            )
        check_alike(scatter_list, tensor._data.shape, tensor.dtype, "ProcessGroupMPI::scatter")
        flat = engine.xp.stack([engine.load(each) for each in scatter_list])
    return launch(
        found, "scatter", lambda: engine.scatter(into, flat, root), [tensor],
        said(tensor, f"Root={root}"), lambda: engine.store(tensor, into), async_op,
    )  # fmt: skip


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


_ARRIVED = OBJECT + 1


def barrier(
    group: Any = None,
    async_op: bool = False,
    device_ids: Any = None,
    timeout: timedelta | None = None,
) -> Work | None:
    """Wait until all ranks have come here.

    Args:
        group: Among whom. Default: all.
        async_op: Whether to return a ``Work``. Default: False.
        device_ids: Accepted; means nothing.
        timeout: For how long at most. Default: the group's.

    Raises:
        RuntimeError: If one does not come.

    Example:
        >>> tt.distributed.init_process_group("mpi")
        >>> tt.distributed.barrier()
        >>> tt.distributed.destroy_process_group()
    """
    found = member(group, "barrier")
    if found is None:
        return None
    work = launch(found, "barrier", found.engine.barrier, [], "", None, True)
    if async_op or found.coalesced is not None:
        return work
    work.wait(timeout)  # type: ignore[union-attr]
    return None


def monitored_barrier(
    group: Any = None, timeout: timedelta | None = None, wait_all_ranks: bool = False
) -> None:
    """A barrier whose error says which ranks did not come.

    Args:
        group: Among whom. Default: all.
        timeout: For how long to wait for each. Default: the group's.
        wait_all_ranks: Whether to wait for all before saying who is missing, and not to name the
            first alone. Default: False.

    Raises:
        RuntimeError: On rank 0, naming the missing ranks; on others, if it did not answer.

    Example:
        >>> tt.distributed.init_process_group("mpi")
        >>> tt.distributed.monitored_barrier()
        >>> tt.distributed.destroy_process_group()
    """
    found = member(group, "monitored_barrier")
    if found is None:
        return
    wait = found.timeout if timeout is None else check_timeout(timeout)
    deadline = time.monotonic() + wait.total_seconds()
    control, others = found.engine.control, range(1, found.size())
    if found.rank():
        control.Isend(bytearray(), 0, _ARRIVED)
        _await(found, [0], deadline, wait_all_ranks)
        return
    _await(found, others, deadline, wait_all_ranks)
    for rank in others:
        control.Isend(bytearray(), rank, _ARRIVED)


def _await(group: ProcessGroup, ranks: Sequence[int], deadline: float, every: bool) -> None:
    """Receive a sign of life from each of some ranks."""
    control, missing = group.engine.control, list(ranks)
    while missing:
        for rank in list(missing):
            if control.Iprobe(rank, _ARRIVED):
                control.Recv(bytearray(), rank, _ARRIVED)
                missing.remove(rank)
        if missing and time.monotonic() > deadline:
            debug.silent(group, missing if every else missing[:1], "monitoredBarrier")
        time.sleep(1e-4)
