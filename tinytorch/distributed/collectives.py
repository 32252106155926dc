"""Collectives: what all processes of a group call together, on tensors.

Every function takes ``group``, the processes (default: all), and ``async_op``: True returns a
``Work`` to wait for, where otherwise the call waits and returns None. A process that is no member
of the group is warned, and nothing happens. Sizes, dtypes, operations and roots are the same on all
ranks; where they are not, every rank raises.
"""

from __future__ import annotations

from typing import Any

from ..core.tensor import Tensor
from .buffers import check_tensor
from .launch import launch, root_of, said
from .process_group import member
from .reduce_op import ReduceOp, check_op
from .work import Work

__all__ = ["all_reduce", "broadcast", "reduce"]


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
        >>> import tinytorch as tt
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
        >>> import tinytorch as tt
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
        >>> import tinytorch as tt
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
