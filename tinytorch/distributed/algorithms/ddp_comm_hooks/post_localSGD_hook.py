"""Post-local SGD: gradients are averaged over all ranks first, and later over a subgroup."""

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
        process_group: Group that averages gradients in the first iterations; None is the default
            group.
        subgroup: Group that averages gradients later; None is the default group.
        start_localSGD_iter: Number of iterations before ``subgroup`` averages.
        post_local_gradient_allreduce: Whether gradients are averaged after these iterations.
            Default: True.

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
        self, process_group: Any, subgroup: Any, start_localSGD_iter: int,
        post_local_gradient_allreduce: bool = True,
    ) -> None:  # fmt: skip
        self.process_group: Any = process_group
        self.subgroup: Any = subgroup
        self.start_localSGD_iter = start_localSGD_iter
        self.post_local_gradient_allreduce = post_local_gradient_allreduce
        self.iter: int = 0

    def maybe_increase_iter(self, bucket: GradBucket) -> None:
        """Count an iteration at its last bucket."""
        self.iter += bucket.is_last()


def post_localSGD_hook(state: PostLocalSGDState, bucket: GradBucket) -> Future[Any]:
    """Mean of gradients over all ranks in the first iterations, and over a subgroup later.

    Args:
        state: The groups, and the number of the first iterations.
        bucket: Bucket with the gradients of this rank.

    Returns:
        A future of the mean over the ranks of the bucket's gradients.

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
