"""Post-local SGD: gradients are averaged over all ranks first, and later within a machine."""

from __future__ import annotations

from typing import Any

from ....futures import Future
from ...process_group import world
from ...reducer import GradBucket
from .default_hooks import allreduce_hook

__all__ = ["PostLocalSGDState", "post_localSGD_hook"]


class PostLocalSGDState:
    """State of ``post_localSGD_hook``.

    Args:
        process_group: Averages gradients at first. Default: all ranks.
        subgroup: Averages gradients later. Default: all ranks, which are those of one machine.
        start_localSGD_iter: Number of iterations before ``subgroup`` averages.
        post_local_gradient_allreduce: Whether gradients are averaged then. Default: True.

    Example:
        >>> from tinytorch.distributed.algorithms.ddp_comm_hooks import default_hooks
        >>> from tinytorch.distributed.algorithms.ddp_comm_hooks import post_localSGD_hook as hooks
        >>> def counting_hook(state, bucket):
        ...     state.maybe_increase_iter(bucket)
        ...     return default_hooks.allreduce_hook(None, bucket)
        >>> tt.distributed.init_process_group("mpi")
        >>> model = tt.nn.parallel.DistributedDataParallel(tt.nn.Linear(1, 1))
        >>> state = hooks.PostLocalSGDState(None, None, start_localSGD_iter=2)
        >>> model.register_comm_hook(state, counting_hook)
        >>> model(tt.ones(1, 1)).sum().backward()
        >>> state.iter
        1
        >>> tt.distributed.destroy_process_group()
    """

    def __init__(
        self,
        process_group: Any,
        subgroup: Any,
        start_localSGD_iter: int,
        post_local_gradient_allreduce: bool = True,
    ) -> None:
        self.process_group, self.subgroup = process_group, subgroup
        self.start_localSGD_iter = start_localSGD_iter
        self.post_local_gradient_allreduce = post_local_gradient_allreduce
        self.iter = 0

    def maybe_increase_iter(self, bucket: GradBucket) -> None:
        """Count an iteration at its last bucket."""
        self.iter += bucket.is_last()


def post_localSGD_hook(state: PostLocalSGDState, bucket: GradBucket) -> Future[Any]:
    """Mean over all ranks at first, and over a subgroup later.

    Args:
        state: Which groups, and when.
        bucket: The gradients.

    Returns:
        A future of the bucket's mean.

    Example:
        >>> from tinytorch.distributed.algorithms.ddp_comm_hooks import post_localSGD_hook as hooks
        >>> tt.distributed.init_process_group("mpi")
        >>> model = tt.nn.parallel.DistributedDataParallel(tt.nn.Linear(1, 1))
        >>> state = hooks.PostLocalSGDState(None, None, start_localSGD_iter=2)
        >>> model.register_comm_hook(state, hooks.post_localSGD_hook)
        >>> model(tt.ones(1, 1)).sum().backward()
        >>> state.iter
        1
        >>> tt.distributed.destroy_process_group()
    """
    first = state.iter < state.start_localSGD_iter
    group = state.process_group if first else state.subgroup
    state.maybe_increase_iter(bucket)
    if first or state.post_local_gradient_allreduce:
        return allreduce_hook(world() if group is None else group, bucket)
    done: Future[Any] = Future()
    done.set_result([bucket.buffer()])
    return done
