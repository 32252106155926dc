"""Communication hooks that send gradients as 8-bit integers with a scale and a zero point.

Reference: Jacob et al., Quantization and Training of Neural Networks (2018), section 2.1
"""

from __future__ import annotations

from typing import Any

from .... import dtypes
from ....core.tensor import Tensor
from ....futures import Future
from ....nn import functional
from ....ops.create.factories import empty_like
from ....ops.shape.joining import stack
from ...collectives import all_gather
from ...process_group import world
from ...reducer import GradBucket

__all__ = ["quantization_perchannel_hook", "quantization_pertensor_hook"]

_LEVELS = 255
#: Smallest scale: the distance from 1 to the next float32.
_EPS = 2.0**-23


def quantization_pertensor_hook(process_group: Any, bucket: GradBucket) -> Future[Any]:
    """Mean of gradients that are sent as 8-bit integers, with one scale for the bucket.

    Args:
        process_group: Process group; None is the default group.
        bucket: Bucket with the gradients of this rank.

    Returns:
        A future of the mean over the ranks of the bucket's gradients.

    Example:
        >>> from tinytorch.distributed.algorithms.ddp_comm_hooks import quantization_hooks
        >>> tt.distributed.init_process_group("mpi")
        >>> model = tt.nn.parallel.DistributedDataParallel(tt.nn.Linear(1, 1))
        >>> model.register_comm_hook(None, quantization_hooks.quantization_pertensor_hook)
        >>> model(tt.ones(1, 1)).sum().backward()
        >>> tt.distributed.destroy_process_group()
    """
    return _average(process_group, bucket.buffer().view(1, -1), bucket)


def quantization_perchannel_hook(
    process_group: Any, bucket: GradBucket, bucket_size: int = 512
) -> Future[Any]:
    """Mean of gradients that are sent as 8-bit integers, with a scale for each part of the bucket.

    Args:
        process_group: Process group; None is the default group.
        bucket: Bucket with the gradients of this rank.
        bucket_size: Number of elements with a common scale.

    Returns:
        A future of the mean over the ranks of the bucket's gradients.

    Example:
        >>> from tinytorch.distributed.algorithms.ddp_comm_hooks import quantization_hooks
        >>> tt.distributed.init_process_group("mpi")
        >>> model = tt.nn.parallel.DistributedDataParallel(tt.nn.Linear(1, 1))
        >>> model.register_comm_hook(None, quantization_hooks.quantization_perchannel_hook)
        >>> model(tt.ones(1, 1)).sum().backward()
        >>> tt.distributed.destroy_process_group()
    """
    gradients = bucket.buffer()
    missing = -gradients.numel() % bucket_size
    rows = functional.pad(gradients, (0, missing)).view(-1, bucket_size)
    return _average(process_group, rows, bucket)


def _average(process_group: Any, rows: Tensor, bucket: GradBucket) -> Future[Any]:
    """Mean of gradients over the ranks, sent as 8-bit integers with a scale for each row.

    Args:
        process_group: Process group; None is the default group.
        rows: The bucket's gradients as a matrix, which may be padded at its end.
        bucket: The bucket, whose shape the mean has.

    Returns:
        A completed future of the mean.
    """
    group = world() if process_group is None else process_group
    low, high = rows.amin(1).clamp_max(0.0), rows.amax(1).clamp_min(0.0)
    scale = ((high - low) / _LEVELS).clamp_min(_EPS)
    zero = (-(low / scale).round()).clamp(0, _LEVELS)
    sent = ((rows / scale[:, None]).round() + zero[:, None]).clamp(0, _LEVELS).to(dtypes.uint8)
    scales = _gather(stack([scale, zero]), group)
    parts = _gather(sent, group)
    total = empty_like(rows).zero_()
    for (rank_scale, rank_zero), part in zip(scales, parts, strict=True):
        total += rank_scale[:, None] * (part.to(rows.dtype) - rank_zero[:, None])
    done: Future[Any] = Future()
    buffer = bucket.buffer()
    done.set_result((total.reshape(-1)[: buffer.numel()] / group.size()).view(buffer.shape))
    return done


def _gather(tensor: Tensor, group: Any) -> list[Tensor]:
    """Gather the tensor of each rank, all of one shape, in a list by rank."""
    found = [empty_like(tensor) for _ in range(group.size())]
    all_gather(found, tensor, group)
    return found
