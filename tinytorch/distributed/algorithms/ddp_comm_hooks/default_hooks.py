"""Communication hooks: ``model.register_comm_hook(None, fp16_compress_hook)``."""

from __future__ import annotations

from typing import Any

from .... import dtypes
from ....core.tensor import Tensor
from ....futures import Future
from ...collectives import all_reduce
from ...process_group import world
from ...reducer import GradBucket

__all__ = ["allreduce_hook", "bf16_compress_hook", "fp16_compress_hook"]


def allreduce_hook(process_group: Any, bucket: GradBucket) -> Future[Any]:
    """The mean over the ranks: what is done without a hook.

    Args:
        process_group: Among whom; None for all.
        bucket: The gradients.

    Returns:
        A future of the bucket's mean.

    Example:
        >>> import tinytorch as tt
        >>> from tinytorch.distributed.algorithms.ddp_comm_hooks import default_hooks
        >>> tt.distributed.init_process_group("mpi")
        >>> model = tt.nn.parallel.DistributedDataParallel(tt.nn.Linear(1, 1))
        >>> model.register_comm_hook(None, default_hooks.allreduce_hook)
        >>> model(tt.ones(1, 1)).sum().backward()
        >>> tt.distributed.destroy_process_group()
    """
    return _mean(process_group, bucket.buffer(), None)


def fp16_compress_hook(process_group: Any, bucket: GradBucket) -> Future[Any]:
    """The mean, of gradients rounded to float16 on their way.

    Args:
        process_group: Among whom; None for all.
        bucket: The gradients.

    Returns:
        A future of the bucket's mean, in its own dtype.

    Example:
        >>> import tinytorch as tt
        >>> from tinytorch.distributed.algorithms.ddp_comm_hooks import default_hooks
        >>> tt.distributed.init_process_group("mpi")
        >>> model = tt.nn.parallel.DistributedDataParallel(tt.nn.Linear(1, 1))
        >>> model.register_comm_hook(None, default_hooks.fp16_compress_hook)
        >>> model(tt.ones(1, 1)).sum().backward()
        >>> tt.distributed.destroy_process_group()
    """
    return _mean(process_group, bucket.buffer(), dtypes.float16)


def bf16_compress_hook(process_group: Any, bucket: GradBucket) -> Future[Any]:
    """The mean, of gradients rounded to bfloat16 on their way.

    Args:
        process_group: Among whom; None for all.
        bucket: The gradients.

    Returns:
        A future of the bucket's mean, in its own dtype.

    Example:
        >>> import tinytorch as tt
        >>> from tinytorch.distributed.algorithms.ddp_comm_hooks import default_hooks
        >>> tt.distributed.init_process_group("mpi")
        >>> model = tt.nn.parallel.DistributedDataParallel(tt.nn.Linear(1, 1))
        >>> model.register_comm_hook(None, default_hooks.bf16_compress_hook)
        >>> tt.distributed.destroy_process_group()
    """
    return _mean(process_group, bucket.buffer(), dtypes.bfloat16)


def _mean(process_group: Any, buffer: Tensor, dtype: Any) -> Future[Any]:
    group = world() if process_group is None else process_group
    sent = (buffer if dtype is None else buffer.to(dtype)).div_(group.size())
    work = all_reduce(sent, group=group, async_op=True)
    future: Future[Any] = work.get_future()  # type: ignore[union-attr]
    return future.then(lambda done: done.value()[0].to(buffer.dtype))
