"""Collectives that bring parts together, or give them out; see ``collectives``."""

from __future__ import annotations

from typing import Any

from ..core.tensor import Tensor
from .buffers import check_alike, check_length, check_tensor, check_tensors, check_whole, part
from .launch import launch, root_of, said
from .process_group import member
from .work import Work

__all__ = ["all_gather", "all_gather_into_tensor", "gather", "scatter"]


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
        >>> import tinytorch as tt
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
        >>> import tinytorch as tt
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
        >>> import tinytorch as tt
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
        >>> import tinytorch as tt
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
