"""A communication hook without communication, to measure the time of communication."""

from __future__ import annotations

from typing import Any

from ....futures import Future
from ...reducer import GradBucket

__all__ = ["noop_hook"]


def noop_hook(_: Any, bucket: GradBucket) -> Future[Any]:
    """Leave the gradients of each rank unchanged.

    Args:
        _: Not used.
        bucket: Bucket with the gradients of this rank.

    Returns:
        A future of the bucket's buffer.

    Example:
        >>> from tinytorch.distributed.algorithms.ddp_comm_hooks import debugging_hooks
        >>> tt.distributed.init_process_group("mpi")
        >>> model = tt.nn.parallel.DistributedDataParallel(tt.nn.Linear(1, 1))
        >>> model.register_comm_hook(None, debugging_hooks.noop_hook)
        >>> model(tt.ones(1, 1)).sum().backward()
        >>> tt.distributed.destroy_process_group()
    """
    done: Future[Any] = Future()
    done.set_result(bucket.buffer())
    return done
