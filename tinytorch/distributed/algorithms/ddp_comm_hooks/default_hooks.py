"""Communication hooks: ``model.register_comm_hook(None, fp16_compress_hook)``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from .... import dtypes
from ....core.tensor import Tensor
from ....futures import Future
from ...collectives import all_reduce
from ...process_group import world
from ...reducer import GradBucket

__all__ = [
    "allreduce_hook", "bf16_compress_hook", "bf16_compress_wrapper", "fp16_compress_hook",
    "fp16_compress_wrapper",
]  # fmt: skip

_Hook: TypeAlias = Callable[[Any, GradBucket], Future[Any]]


def allreduce_hook(process_group: Any, bucket: GradBucket) -> Future[Any]:
    """Mean of gradients over the ranks, as without a hook.

    Args:
        process_group: Process group; None is the default group.
        bucket: Bucket with the gradients of this rank.

    Returns:
        A future of the mean over the ranks of the bucket's gradients.

    Example:
        >>> from tinytorch.distributed.algorithms.ddp_comm_hooks import default_hooks
        >>> tt.distributed.init_process_group("mpi")
        >>> model = tt.nn.parallel.DistributedDataParallel(tt.nn.Linear(1, 1))
        >>> model.register_comm_hook(None, default_hooks.allreduce_hook)
        >>> model(tt.ones(1, 1)).sum().backward()
        >>> tt.distributed.destroy_process_group()
    """
    return _mean(process_group, bucket.buffer(), None)


def fp16_compress_hook(process_group: Any, bucket: GradBucket) -> Future[Any]:
    """Mean of gradients over the ranks, rounded to float16 for the reduction.

    Args:
        process_group: Process group; None is the default group.
        bucket: Bucket with the gradients of this rank.

    Returns:
        A future of the mean over the ranks of the bucket's gradients, in its own dtype.

    Example:
        >>> from tinytorch.distributed.algorithms.ddp_comm_hooks import default_hooks
        >>> tt.distributed.init_process_group("mpi")
        >>> model = tt.nn.parallel.DistributedDataParallel(tt.nn.Linear(1, 1))
        >>> model.register_comm_hook(None, default_hooks.fp16_compress_hook)
        >>> model(tt.ones(1, 1)).sum().backward()
        >>> tt.distributed.destroy_process_group()
    """
    return _mean(process_group, bucket.buffer(), dtypes.float16)


def bf16_compress_hook(process_group: Any, bucket: GradBucket) -> Future[Any]:
    """Mean of gradients over the ranks, rounded to bfloat16 for the reduction.

    Args:
        process_group: Process group; None is the default group.
        bucket: Bucket with the gradients of this rank.

    Returns:
        A future of the mean over the ranks of the bucket's gradients, in its own dtype.

    Example:
        >>> from tinytorch.distributed.algorithms.ddp_comm_hooks import default_hooks
        >>> tt.distributed.init_process_group("mpi")
        >>> model = tt.nn.parallel.DistributedDataParallel(tt.nn.Linear(1, 1))
        >>> model.register_comm_hook(None, default_hooks.bf16_compress_hook)
        >>> tt.distributed.destroy_process_group()
    """
    return _mean(process_group, bucket.buffer(), dtypes.bfloat16)


def fp16_compress_wrapper(hook: _Hook) -> _Hook:
    """Wrap a hook, so that it is called with gradients rounded to float16.

    Args:
        hook: The hook to wrap.

    Example:
        >>> from tinytorch.distributed.algorithms.ddp_comm_hooks import default_hooks
        >>> tt.distributed.init_process_group("mpi")
        >>> model = tt.nn.parallel.DistributedDataParallel(tt.nn.Linear(1, 1))
        >>> hook = default_hooks.fp16_compress_wrapper(default_hooks.allreduce_hook)
        >>> model.register_comm_hook(None, hook)
        >>> model(tt.ones(1, 1)).sum().backward()
        >>> tt.distributed.destroy_process_group()
    """
    return _compress_wrapper(hook, dtypes.float16)


def bf16_compress_wrapper(hook: _Hook) -> _Hook:
    """Wrap a hook, so that it is called with gradients rounded to bfloat16.

    Args:
        hook: The hook to wrap.

    Example:
        >>> from tinytorch.distributed.algorithms.ddp_comm_hooks import default_hooks
        >>> hook = default_hooks.bf16_compress_wrapper(default_hooks.allreduce_hook)
    """
    return _compress_wrapper(hook, dtypes.bfloat16)


class _CompressedBucket:
    """A bucket whose buffer has another dtype."""

    def __init__(self, bucket: GradBucket, dtype: Any) -> None:
        self._bucket, self._buffer = bucket, bucket.buffer().to(dtype)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._bucket, name)

    def buffer(self) -> Tensor:
        """The gradients in one flat tensor."""
        return self._buffer

    def set_buffer(self, buffer: Tensor) -> None:
        """Replace the gradients."""
        self._buffer = buffer

    def gradients(self) -> list[Tensor]:
        """The gradients, as views of the buffer."""
        shapes = [gradient.shape for gradient in self._bucket.gradients()]
        parts = self._buffer.split([shape.numel() for shape in shapes])
        return [part.view(shape) for part, shape in zip(parts, shapes, strict=True)]


def _compress_wrapper(hook: _Hook, dtype: Any) -> _Hook:
    """Wrap a hook: convert gradients to a dtype before it, and its result to their own dtype after.

    ``fp16_compress_wrapper`` and ``bf16_compress_wrapper`` are this with their dtype.
    """

    def call_hook(state: Any, bucket: GradBucket) -> Future[Any]:
        compressed: Any = _CompressedBucket(bucket, dtype)
        future = hook(state, compressed)
        return future.then(lambda done: _first(done.value()).to(bucket.buffer().dtype))

    return call_hook


def _first(value: Any) -> Tensor:
    return value[0] if isinstance(value, list) else value  # type: ignore[no-any-return]


def _mean(process_group: Any, buffer: Tensor, dtype: Any) -> Future[Any]:
    """Start to average a tensor over the ranks.

    Args:
        process_group: Process group; None is the default group.
        buffer: The tensor; overwritten if ``dtype`` is None or its own dtype.
        dtype: Dtype in which values are sent and added; None for that of ``buffer``.

    Returns:
        A future of the mean, with the dtype of ``buffer``.
    """
    group = world() if process_group is None else process_group
    sent = (buffer if dtype is None else buffer.to(dtype)).div_(group.size())
    work = all_reduce(sent, group=group, async_op=True)
    future: Future[Any] = work.get_future()  # type: ignore[union-attr]
    return future.then(lambda done: done.value()[0].to(buffer.dtype))
