"""Collectives: functions on tensors that all processes of a group call together.

With ``async_op=True`` a collective returns a ``Work``; otherwise it waits and returns None. In a
process outside the group, it warns and does nothing. Sizes, dtypes, operations and roots must be
the same on all ranks; otherwise every rank raises.
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
    ReduceOp, check_shape_and_dtype, check_length, check_one_dtype, check_op, check_tensor,
    check_tensors, check_concatenated, store_rows,
)  # fmt: skip
from .launch import launch, root_rank, tensor_fingerprint
from .mpi import OBJECT
from .process_group import ProcessGroup, check_timeout, member_group
from .work import Work

__all__ = [
    "all_gather", "all_gather_into_tensor", "all_reduce", "all_to_all", "all_to_all_single",
    "barrier", "broadcast", "gather", "monitored_barrier", "reduce", "reduce_scatter",
    "reduce_scatter_tensor", "scatter",
]  # fmt: skip


def broadcast(
    tensor: Tensor, src: int | None = None, group: Any = None, async_op: bool = False,
    group_src: int | None = None,
) -> Work | None:  # fmt: skip
    """Broadcast a tensor from one rank to all.

    Args:
        tensor: On ``src`` the tensor to send, elsewhere to write to. Any shape and dtype.
        src: Rank in the world of the sender.
        group: Process group. Default: the default group.
        async_op: Whether to return a ``Work`` without waiting for it. Default: False.
        group_src: Rank in the group of the sender, instead of ``src``.

    Raises:
        TypeError: If ``tensor`` is not a tensor.
        ValueError: If not exactly one of ``src`` and ``group_src`` is given; before
            ``init_process_group``.
        RuntimeError: If there is no such rank, or after a timeout.

    Example:
        >>> tt.distributed.init_process_group("mpi")
        >>> tt.distributed.broadcast(tt.ones(2), src=0)
        >>> tt.distributed.destroy_process_group()
    """
    check_tensor(tensor, "tensor")
    pg = member_group(group, "broadcast")
    if pg is None:
        return None
    root = root_rank(pg, "broadcast", src, group_src)
    engine = pg.engine.engine_for(tensor)
    flat = engine.load(tensor) if pg.rank() == root else engine.empty_flat(tensor)

    def finish() -> None:
        if pg.rank() != root:
            engine.store(tensor, flat)

    return launch(
        pg, "broadcast", lambda: engine.broadcast(flat, root), [tensor],
        tensor_fingerprint(tensor, f"Root={root}"), finish, async_op,
    )  # fmt: skip


def all_reduce(
    tensor: Tensor, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Work | None:
    """Reduce a tensor over all ranks, in place on all of them.

    All ranks get the same result, whose rounding may depend on the number of ranks. 16-bit floats
    are summed in float32.

    Args:
        tensor: Any shape; ``ReduceOp`` lists the dtypes that each reduction supports.
        op: The reduction, of ``ReduceOp``. Default: ``ReduceOp.SUM``.
        group: Process group. Default: the default group.
        async_op: Whether to return a ``Work`` without waiting for it. Default: False.

    Raises:
        TypeError: If ``tensor`` is not a tensor, or ``op`` is not a ``ReduceOp``.
        ValueError: For complex tensors, unless ``op`` is SUM or AVG; before ``init_process_group``.
        RuntimeError: If the dtype does not support ``op``, or after a timeout.

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
    pg = member_group(group, "all_reduce")
    if pg is None:
        return None
    engine = pg.engine.engine_for(tensor)
    flat = engine.load(tensor)
    return launch(
        pg, "all_reduce", lambda: engine.all_reduce(flat, op), [tensor],
        tensor_fingerprint(tensor, op), lambda: engine.store(tensor, flat), async_op,
    )  # fmt: skip


def reduce(
    tensor: Tensor, dst: int | None = None, op: Any = ReduceOp.SUM, group: Any = None,
    async_op: bool = False, group_dst: int | None = None,
) -> Work | None:  # fmt: skip
    """Reduce a tensor over all ranks, in place on one of them; others are not changed.

    Args:
        tensor: Any shape.
        dst: Rank in the world that receives the result.
        op: The reduction, of ``ReduceOp``. Default: ``ReduceOp.SUM``.
        group: Process group. Default: the default group.
        async_op: Whether to return a ``Work`` without waiting for it. Default: False.
        group_dst: Rank in the group, instead of ``dst``.

    Raises:
        TypeError, ValueError, RuntimeError: As ``all_reduce`` and ``broadcast``.

    Example:
        >>> tt.distributed.init_process_group("mpi")
        >>> tt.distributed.reduce(tt.ones(2), dst=0)
        >>> tt.distributed.destroy_process_group()
    """
    check_tensor(tensor, "tensor")
    check_op(op, tensor.dtype, "reduce")
    pg = member_group(group, "reduce")
    if pg is None:
        return None
    root = root_rank(pg, "reduce", dst, group_dst)
    engine = pg.engine.engine_for(tensor)
    flat = engine.load(tensor)

    def finish() -> None:
        if pg.rank() == root:
            engine.store(tensor, flat)

    return launch(
        pg, "reduce", lambda: engine.reduce(flat, op, root), [tensor],
        tensor_fingerprint(tensor, op, f"Root={root}"), finish, async_op,
    )  # fmt: skip


def all_gather(
    tensor_list: list[Tensor], tensor: Tensor, group: Any = None, async_op: bool = False
) -> Work | None:
    """Gather the tensors of all ranks on every rank.

    Args:
        tensor_list: A tensor for each rank, to write to, of the shape and dtype of ``tensor``.
        tensor: Tensor of this rank.
        group: Process group. Default: the default group.
        async_op: Whether to return a ``Work`` without waiting for it. Default: False.

    Raises:
        TypeError: If an argument is not a tensor or not a list of tensors.
        ValueError: If dtypes differ; before ``init_process_group``.
        RuntimeError: If shapes differ, or the list does not have a tensor for each rank.

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
    pg = member_group(group, "all_gather")
    if pg is None:
        return None
    size = pg.size()
    check_length(tensor_list, size, "allgather", "output tensor list")
    check_shape_and_dtype(
        tensor_list, tensor._data.shape, tensor.dtype, "ProcessGroupMPI::allgather"
    )
    engine = pg.engine.engine_for(tensor)
    flat = engine.load(tensor)
    out = engine.xp.empty((size, flat.size), flat.dtype)
    return launch(
        pg, "all_gather", lambda: engine.all_gather(out, flat), tensor_list,
        tensor_fingerprint(tensor), lambda: store_rows(engine, tensor_list, out), async_op,
    )  # fmt: skip


def all_gather_into_tensor(
    output_tensor: Tensor, input_tensor: Tensor, group: Any = None, async_op: bool = False
) -> Work | None:
    """Gather the tensors of all ranks on every rank, concatenated or stacked in one tensor.

    Args:
        output_tensor: Tensor to write to, ``(ranks * n, *)`` or ``(ranks, n, *)`` for inputs of
            shape ``(n, *)``.
        input_tensor: Tensor of this rank.
        group: Process group. Default: the default group.
        async_op: Whether to return a ``Work`` without waiting for it. Default: False.

    Raises:
        TypeError: If an argument is not a tensor.
        ValueError: If dtypes differ, or the shape of the output does not fit.

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
    pg = member_group(group, "all_gather_into_tensor")
    if pg is None:
        return None
    check_concatenated(output_tensor, input_tensor, pg.size(), "output", "input")
    engine = pg.engine.engine_for(input_tensor)
    out, flat = engine.empty_flat(output_tensor), engine.load(input_tensor)
    return launch(
        pg, "all_gather_into_tensor", lambda: engine.all_gather(out, flat),
        [output_tensor], tensor_fingerprint(input_tensor),
        lambda: engine.store(output_tensor, out), async_op,
    )  # fmt: skip


def gather(
    tensor: Tensor, gather_list: list[Tensor] | None = None, dst: int | None = None,
    group: Any = None, async_op: bool = False, group_dst: int | None = None,
) -> Work | None:  # fmt: skip
    """Gather the tensors of all ranks on one rank.

    Args:
        tensor: Tensor of this rank.
        gather_list: On ``dst`` a tensor for each rank, to write to; None elsewhere.
        dst: Rank in the world that receives them. Default: rank 0 of the group.
        group: Process group. Default: the default group.
        async_op: Whether to return a ``Work`` without waiting for it. Default: False.
        group_dst: Rank in the group, instead of ``dst``.

    Raises:
        TypeError, ValueError, RuntimeError: As ``all_gather``, and if ``gather_list`` is missing on
            ``dst`` or given elsewhere.

    Example:
        >>> tt.distributed.init_process_group("mpi")
        >>> tt.distributed.gather(tt.ones(2), [tt.zeros(2)], dst=0)
        >>> tt.distributed.destroy_process_group()
    """
    check_tensor(tensor, "tensor")
    if gather_list:
        check_tensors(gather_list, "gather_list")
    pg = member_group(group, "gather")
    if pg is None:
        return None
    size, root = pg.size(), root_rank(pg, "gather", dst, group_dst, 0)
    _check_root_list(gather_list, pg.rank() == root, "gather_list", "destination")
    engine = pg.engine.engine_for(tensor)
    parts, flat = gather_list or [], engine.load(tensor)
    out = engine.xp.empty((size, flat.size), flat.dtype) if parts else None
    if parts:
        check_length(parts, size, "gather", "output tensor list")
        check_shape_and_dtype(parts, tensor._data.shape, tensor.dtype, "ProcessGroupMPI::gather")

    def finish() -> None:
        if out is not None:
            store_rows(engine, parts, out)

    return launch(
        pg, "gather", lambda: engine.gather(out, flat, root), parts,
        tensor_fingerprint(tensor, f"Root={root}"), finish, async_op,
    )  # fmt: skip


def _check_root_list(values: Any, is_root: bool, name: str, root_role: str) -> None:
    """Raise a ``ValueError`` unless a list of tensors is given on the root rank alone.

    Args:
        values: The list, or None.
        is_root: Whether this process is the root.
        name: Name of the argument, for the errors.
        root_role: ``"source"`` or ``"destination"``, for the errors.
    """
    if is_root and not values:
        raise ValueError(f"Argument ``{name}`` must be specified on {root_role} rank.")
    if values and not is_root:
        raise ValueError(f"Argument ``{name}`` must NOT be specified on non-{root_role} ranks.")


def scatter(
    tensor: Tensor, scatter_list: list[Tensor] | None = None, src: int | None = None,
    group: Any = None, async_op: bool = False, group_src: int | None = None,
) -> Work | None:  # fmt: skip
    """Scatter a list of tensors of one rank to all ranks, one tensor to each.

    Args:
        tensor: The tensor to write to.
        scatter_list: On ``src`` a tensor for each rank, like ``tensor``; None elsewhere.
        src: Rank in the world of the sender. Default: rank 0 of the group.
        group: Process group. Default: the default group.
        async_op: Whether to return a ``Work`` without waiting for it. Default: False.
        group_src: Rank in the group, instead of ``src``.

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
    pg = member_group(group, "scatter")
    if pg is None:
        return None
    root = root_rank(pg, "scatter", src, group_src, 0)
    _check_root_list(scatter_list, pg.rank() == root, "scatter_list", "source")
    engine = pg.engine.engine_for(tensor)
    out, flat = engine.empty_flat(tensor), None
    if scatter_list:
        if len(scatter_list) != pg.size():
            raise RuntimeError(
                f"ProcessGroupMPI::scatter: Incorrect input list size {len(scatter_list)}. Input "
                f"list size should be {pg.size()}, same as size of the process group."
            )
        check_shape_and_dtype(
            scatter_list, tensor._data.shape, tensor.dtype, "ProcessGroupMPI::scatter"
        )
        flat = engine.xp.stack([engine.load(each) for each in scatter_list])
    return launch(
        pg, "scatter", lambda: engine.scatter(out, flat, root), [tensor],
        tensor_fingerprint(tensor, f"Root={root}"), lambda: engine.store(tensor, out), async_op,
    )  # fmt: skip


def reduce_scatter(
    output: Tensor, input_list: list[Tensor], op: Any = ReduceOp.SUM, group: Any = None,
    async_op: bool = False,
) -> Work | None:  # fmt: skip
    """Reduce a list of tensors over all ranks, and scatter the results, one to each rank.

    Args:
        output: The tensor to write to.
        input_list: A tensor for each rank, like ``output``.
        op: The reduction, of ``ReduceOp``. Default: ``ReduceOp.SUM``.
        group: Process group. Default: the default group.
        async_op: Whether to return a ``Work`` without waiting for it. Default: False.

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
    pg = member_group(group, "reduce_scatter")
    if pg is None:
        return None
    if len(input_list) != pg.size():
        raise RuntimeError(
            f"invalid input tensor list size, must be world size {pg.size()}, got {len(input_list)}"
        )
    check_shape_and_dtype(
        input_list, output._data.shape, output.dtype, "ProcessGroupMPI::reduce_scatter"
    )
    engine = pg.engine.engine_for(output)
    flat = engine.xp.concatenate([engine.load(each) for each in input_list])
    return _reduce_scatter(output, flat, op, pg, async_op, "reduce_scatter")


def _reduce_scatter(
    output: Tensor, flat: Any, op: Any, group: ProcessGroup, async_op: bool, name: str
) -> Work | None:
    """Start ``reduce_scatter`` of a flat array, and wait for it unless ``async_op``.

    Args:
        output: Tensor to which this rank's part of the reduction is written.
        flat: Flat array with an equal part for each rank, one after the other.
        op: A ``ReduceOp``.
        group: Process group.
        async_op: Whether to return without waiting.
        name: PyTorch's name of the call.

    Returns:
        The work, or None; see ``launch``.
    """
    engine = group.engine.engine_for(output)
    out = engine.empty_flat(output)
    return launch(
        group, name, lambda: engine.reduce_scatter(out, flat, op), [output],
        tensor_fingerprint(output, op), lambda: engine.store(output, out), async_op,
    )  # fmt: skip


def reduce_scatter_tensor(
    output: Tensor, input: Tensor, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Work | None:
    """Reduce a tensor over all ranks, and scatter it along its first dimension.

    Args:
        output: The tensor to write to, ``(n, *)``.
        input: The parts for all ranks, concatenated as ``(ranks * n, *)`` or stacked as
            ``(ranks, n, *)``.
        op: The reduction, of ``ReduceOp``. Default: ``ReduceOp.SUM``.
        group: Process group. Default: the default group.
        async_op: Whether to return a ``Work`` without waiting for it. Default: False.

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
    pg = member_group(group, "reduce_scatter_tensor")
    if pg is None:
        return None
    check_concatenated(input, output, pg.size(), "input", "output")
    engine = pg.engine.engine_for(output)
    flat = engine.load(input)
    return _reduce_scatter(output, flat, op, pg, async_op, "reduce_scatter_tensor")


def all_to_all(
    output_tensor_list: list[Tensor],
    input_tensor_list: list[Tensor],
    group: Any = None,
    async_op: bool = False,
) -> Work | None:
    """Send one tensor of a list to each rank, and receive one from each.

    Args:
        output_tensor_list: A tensor for each rank, to write to; sizes may differ.
        input_tensor_list: A tensor for each rank, to send.
        group: Process group. Default: the default group.
        async_op: Whether to return a ``Work`` without waiting for it. Default: False.

    Raises:
        TypeError: If an argument is not a list of tensors.
        ValueError: If dtypes differ.
        RuntimeError: If a list does not have a tensor for each rank.

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
    pg = member_group(group, "all_to_all")
    if pg is None:
        return None
    for name, tensors in (("input", input_tensor_list), ("output", output_tensor_list)):
        if len(tensors) != pg.size():
            raise RuntimeError(
                f"ProcessGroupMPI::alltoall: {name} tensor list size {len(tensors)} does not match "
                f"world size {pg.size()}"
            )
    check_one_dtype([*output_tensor_list, *input_tensor_list])
    engine = pg.engine.engine_for(input_tensor_list[0])
    flat = engine.xp.concatenate([engine.load(each) for each in input_tensor_list])
    received = [each.numel() for each in output_tensor_list]
    out = engine.xp.empty(sum(received), flat.dtype)
    ends = list(accumulate(received))[:-1]
    return launch(
        pg, "all_to_all",
        lambda: engine.all_to_all(
            out, flat, received, [each.numel() for each in input_tensor_list]
        ),
        output_tensor_list, str(input_tensor_list[0].dtype),
        lambda: store_rows(engine, output_tensor_list, engine.xp.split(out, ends)), async_op,
    )  # fmt: skip


def all_to_all_single(
    output: Tensor, input: Tensor, output_split_sizes: Sequence[int] | None = None,
    input_split_sizes: Sequence[int] | None = None, group: Any = None, async_op: bool = False,
) -> Work | None:  # fmt: skip
    """Send a part of a tensor to each rank, and receive one from each, along dimension 0.

    Args:
        output: The tensor to write to.
        input: The tensor to send.
        output_split_sizes: Number of rows from each rank. Default: equal parts.
        input_split_sizes: Number of rows for each rank. Default: equal parts.
        group: Process group. Default: the default group.
        async_op: Whether to return a ``Work`` without waiting for it. Default: False.

    Raises:
        TypeError: If an argument is not a tensor.
        ValueError: If dtypes differ.
        RuntimeError: If the sizes do not sum to the number of rows.

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
    pg = member_group(group, "all_to_all_single")
    if pg is None:
        return None
    check_one_dtype([output, input])
    received = _split(output, output_split_sizes, pg.size())
    sent = _split(input, input_split_sizes, pg.size())
    engine = pg.engine.engine_for(input)
    out, flat = engine.empty_flat(output), engine.load(input)
    return launch(
        pg, "all_to_all_single", lambda: engine.all_to_all(out, flat, received, sent),
        [output], str(input.dtype), lambda: engine.store(output, out), async_op,
    )  # fmt: skip


def _split(tensor: Tensor, sizes: Sequence[int] | None, count: int) -> list[int]:
    """Number of elements of a tensor for each rank, from its split sizes in rows.

    Args:
        tensor: The input or output of ``all_to_all_single``.
        sizes: Number of rows for each rank; None for equal parts.
        count: Number of ranks.

    Raises:
        RuntimeError: If the rows cannot be split in that way.
    """
    rows = tensor._data.shape[0]
    row_numel = tensor.numel() // rows if rows else 0
    if not sizes:
        if rows % count:
            raise RuntimeError("Tensor's dim 0 does not divide equally across group size")
        return [row_numel * (rows // count)] * count
    if len(sizes) != count:
        raise RuntimeError("Number of tensor splits not equal to group size")
    if sum(sizes) != rows or min(sizes) < 0:
        raise RuntimeError("Split sizes doesn't match total dim 0 size")
    return [row_numel * size for size in sizes]


#: Tag of the messages of ``monitored_barrier``.
_ARRIVED = OBJECT + 1


def barrier(
    group: Any = None,
    async_op: bool = False,
    device_ids: Any = None,
    timeout: timedelta | None = None,
) -> Work | None:
    """Wait until all ranks have called this function.

    Args:
        group: Process group. Default: the default group.
        async_op: Whether to return a ``Work`` without waiting for it. Default: False.
        device_ids: Accepted and ignored.
        timeout: Longest time to wait. Default: the group's timeout.

    Raises:
        RuntimeError: If a rank does not arrive in time.

    Example:
        >>> tt.distributed.init_process_group("mpi")
        >>> tt.distributed.barrier()
        >>> tt.distributed.destroy_process_group()
    """
    pg = member_group(group, "barrier")
    if pg is None:
        return None
    work = launch(pg, "barrier", pg.engine.barrier, [], "", None, True)
    if async_op or pg.coalesced is not None:
        return work
    work.wait(timeout)  # type: ignore[union-attr]
    return None


def monitored_barrier(
    group: Any = None, timeout: timedelta | None = None, wait_all_ranks: bool = False
) -> None:
    """Wait for all ranks as ``barrier``; the error names the ranks that did not arrive.

    Args:
        group: Process group. Default: the default group.
        timeout: Longest time to wait. Default: the group's timeout.
        wait_all_ranks: Whether the error names all missing ranks and not the first alone. Default:
            False.

    Raises:
        RuntimeError: On rank 0, naming the missing ranks; on others, if rank 0 did not respond.

    Example:
        >>> tt.distributed.init_process_group("mpi")
        >>> tt.distributed.monitored_barrier()
        >>> tt.distributed.destroy_process_group()
    """
    pg = member_group(group, "monitored_barrier")
    if pg is None:
        return
    limit = pg.timeout if timeout is None else check_timeout(timeout)
    control, others = pg.engine.control, range(1, pg.size())
    if pg.rank():
        control.Isend(bytearray(), 0, _ARRIVED)
        _await_arrivals(pg, [0], limit, wait_all_ranks)
        return
    _await_arrivals(pg, others, limit, wait_all_ranks)
    for rank in others:
        control.Isend(bytearray(), rank, _ARRIVED)


def _await_arrivals(
    group: ProcessGroup, ranks: Sequence[int], timeout: timedelta, name_all: bool
) -> None:
    """Wait until an empty message with the tag ``_ARRIVED`` has come from each of the ranks.

    Args:
        group: Process group.
        ranks: Ranks in the group.
        timeout: Time after which a ``DistBackendError`` is raised.
        name_all: Whether the error names all missing ranks, or the first alone.
    """
    control, missing = group.engine.control, list(ranks)
    deadline = time.monotonic() + timeout.total_seconds()
    while missing:
        for rank in list(missing):
            if control.Iprobe(rank, _ARRIVED):
                control.Recv(bytearray(), rank, _ARRIVED)
                missing.remove(rank)
        if missing and time.monotonic() > deadline:
            named = missing if name_all else missing[:1]
            debug.raise_missing_ranks(group, named, "monitoredBarrier", timeout)
        time.sleep(1e-4)
