"""PowerSGD: each gradient matrix is reduced as the product of two thin matrices.

Vogels et al., "PowerSGD: Practical Low-Rank Gradient Compression for Distributed Optimization",
2019.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from typing import Any

from .... import dtypes, linalg
from ....core.tensor import Tensor
from ....futures import Future
from ....numpy.random import RandomState
from ....ops.create.factories import empty, zeros
from ....ops.random.sampling import randn
from ....ops.shape.joining import cat, stack
from ....random import fork_rng, manual_seed
from ...collectives import all_reduce
from ...process_group import world
from ...reducer import GradBucket
from .default_hooks import allreduce_hook

__all__ = ["PowerSGDState", "batched_powerSGD_hook", "powerSGD_hook"]

_logger = logging.getLogger(__name__)


class PowerSGDState:
    """State of ``powerSGD_hook`` and ``batched_powerSGD_hook``: options, errors and matrices.

    Args:
        process_group: Process group. Default: the default group.
        matrix_approximation_rank: Number of columns of the thin matrices. Default: 1.
        start_powerSGD_iter: Number of iterations before compression begins. Default: 1000.
        min_compression_rate: A gradient is compressed if it shrinks by more than this factor.
            Default: 2.
        use_error_feedback: Whether the error of an iteration is added to the next gradient.
            Default: True.
        warm_start: Whether an iteration begins with the matrices of the last one. Default: True.
        orthogonalization_epsilon: Added to the norm of each column. Default: 0.
        random_seed: Seed of the initial matrices, the same on all ranks. Default: 0.
        compression_stats_logging_frequency: Number of iterations between two lines of statistics
            in the log. Default: 10000.
        batch_tensors_with_same_shape: Whether gradients of one shape are multiplied together.
            Default: False.

    Raises:
        ValueError: If ``start_powerSGD_iter`` is less than 2 with ``use_error_feedback`` or
            ``warm_start``.

    Example:
        >>> from tinytorch.distributed.algorithms.ddp_comm_hooks.powerSGD_hook import PowerSGDState
        >>> tt.distributed.init_process_group("mpi")
        >>> model = tt.nn.parallel.DistributedDataParallel(tt.nn.Linear(1, 1))
        >>> state = PowerSGDState(None, matrix_approximation_rank=2)
        >>> def hook(state, bucket):
        ...     state.maybe_increase_iter(bucket)
        ...     return tt.distributed.all_reduce(bucket.buffer(), async_op=True).get_future()
        >>> model.register_comm_hook(state, hook)
        >>> model(tt.ones(1, 1)).sum().backward()
        >>> state.iter, state.compression_stats()
        (1, (0, 0, 0))
        >>> tt.distributed.destroy_process_group()
    """

    def __init__(
        self, process_group: Any, matrix_approximation_rank: int = 1,
        start_powerSGD_iter: int = 1_000, min_compression_rate: float = 2,
        use_error_feedback: bool = True, warm_start: bool = True,
        orthogonalization_epsilon: float = 0, random_seed: int = 0,
        compression_stats_logging_frequency: int = 10_000,
        batch_tensors_with_same_shape: bool = False,
    ) -> None:  # fmt: skip
        if (use_error_feedback or warm_start) and start_powerSGD_iter <= 1:
            raise ValueError(
                "Expect `start_powerSGD_iter` > 1 if `use_error_feedback` or `warm_start` is "
                "enabled, because PowerSGD can only be applied after the first two iterations in "
                f"DDP; got {start_powerSGD_iter}."
            )
        self.process_group: Any = process_group
        self.matrix_approximation_rank = matrix_approximation_rank
        self.start_powerSGD_iter = start_powerSGD_iter
        self.min_compression_rate = min_compression_rate
        self.use_error_feedback: bool = use_error_feedback
        self.warm_start: bool = warm_start
        self.orthogonalization_epsilon = orthogonalization_epsilon
        self.rng: RandomState = RandomState(random_seed)
        self.error_dict: dict[int, Tensor] = {}
        self.p_memory_dict: dict[int, Tensor] = {}
        self.q_memory_dict: dict[int, Tensor] = {}
        self.iter: int = 0
        self.total_numel_before_compression = self.total_numel_after_compression = 0
        frequency = max(1, compression_stats_logging_frequency)
        self.compression_stats_logging_frequency: int = frequency
        self.next_stats_report = 0
        self.batch_tensors_with_same_shape = batch_tensors_with_same_shape

    def __getstate__(self) -> dict[str, Any]:
        _logger.warning("Process group is not serializable and excluded from a saved state.")
        return {name: value for name, value in vars(self).items() if name != "process_group"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.process_group = world()
        vars(self).update(state)

    def maybe_increase_iter(self, bucket: GradBucket) -> None:
        """Count an iteration at its last bucket."""
        self.iter += bucket.is_last()
        if self.iter == self.start_powerSGD_iter:
            _logger.info("Start to apply PowerSGD after %s iterations.", self.iter)

    def compression_stats(self) -> tuple[float, int, int]:
        """The rate of compression, and the numbers of elements before and after it."""
        before, after = self.total_numel_before_compression, self.total_numel_after_compression
        return (before / after if after else 0), before, after


def powerSGD_hook(state: PowerSGDState, bucket: GradBucket) -> Future[Any]:
    """Mean over the ranks in which each gradient is a product of two thin matrices.

    A gradient M becomes P Qᵀ, where P is the orthogonalized sum of M Q over the ranks, and Q the
    mean of Mᵀ P over the ranks. Vectors and small gradients are reduced without compression.

    Args:
        state: State of the hook.
        bucket: Bucket with the gradients of this rank.

    Returns:
        A future of the mean over the ranks of the bucket's gradients.

    Example:
        >>> from tinytorch.distributed.algorithms.ddp_comm_hooks import powerSGD_hook as hooks
        >>> tt.distributed.init_process_group("mpi")
        >>> model = tt.nn.parallel.DistributedDataParallel(tt.nn.Linear(8, 8))
        >>> state = hooks.PowerSGDState(None, start_powerSGD_iter=2)
        >>> model.register_comm_hook(state, hooks.powerSGD_hook)
        >>> for _ in range(3):
        ...     model(tt.ones(1, 8)).sum().backward()
        >>> state.compression_stats()
        (3.0, 72, 24)
        >>> tt.distributed.destroy_process_group()
    """
    group = world() if state.process_group is None else state.process_group
    if state.iter < state.start_powerSGD_iter:
        state.maybe_increase_iter(bucket)
        return allreduce_hook(group, bucket)
    flat, index = bucket.buffer(), bucket.index()
    original = _add_error(state, index, flat)
    matrices, others = _choose(state, bucket.gradients())
    _log_statistics(state, bucket)
    rest = cat([other.reshape(-1) for other in others]) if others else flat.new_empty(0)
    work: Any = all_reduce(rest, group=group, async_op=True)
    batches = _batch(matrices, state.batch_tensors_with_same_shape)
    stacked = [each[0].unsqueeze(0) if len(each) == 1 else stack(each) for each in batches]
    _approximate(state, index, stacked, group)
    for batch, product in zip(batches, stacked, strict=True):
        for matrix, part in zip(batch, product, strict=True):
            if len(batch) > 1:
                matrix.copy_(part)
    work.wait()
    sizes = [other.numel() for other in others]
    for other, mean in zip(others, rest.div_(group.size()).split(sizes), strict=True):
        other.copy_(mean.view_as(other))
    if original is not None:
        state.error_dict[index] = original - flat
    return _finish(state, bucket, flat)


def batched_powerSGD_hook(state: PowerSGDState, bucket: GradBucket) -> Future[Any]:
    """Mean over the ranks in which a whole bucket is a product of two thin matrices.

    The flat bucket is padded with zeros and reshaped to a square matrix.

    Args:
        state: State of the hook.
        bucket: Bucket with the gradients of this rank.

    Returns:
        A future of the mean over the ranks of the bucket's gradients.

    Example:
        >>> from tinytorch.distributed.algorithms.ddp_comm_hooks import powerSGD_hook as hooks
        >>> tt.distributed.init_process_group("mpi")
        >>> model = tt.nn.parallel.DistributedDataParallel(tt.nn.Linear(2, 2, bias=False))
        >>> state = hooks.PowerSGDState(None, start_powerSGD_iter=2)
        >>> model.register_comm_hook(state, hooks.batched_powerSGD_hook)
        >>> for _ in range(3):
        ...     model.zero_grad()
        ...     model(tt.ones(1, 2)).sum().backward()
        >>> tt.testing.assert_close(model.module.weight.grad, tt.ones(2, 2))
        >>> tt.distributed.destroy_process_group()
    """
    group = world() if state.process_group is None else state.process_group
    if state.iter < state.start_powerSGD_iter:
        state.maybe_increase_iter(bucket)
        return allreduce_hook(group, bucket)
    flat, index = bucket.buffer(), bucket.index()
    side = math.isqrt(flat.numel() - 1) + 1
    state.total_numel_before_compression += flat.numel()
    state.total_numel_after_compression += 2 * side * state.matrix_approximation_rank
    _log_statistics(state, bucket)
    square = cat([flat, flat.new_zeros(side * side - flat.numel())])
    original = _add_error(state, index, square)
    _approximate(state, index, [square.view(1, side, side)], group)
    if original is not None:
        state.error_dict[index] = original - square
    return _finish(state, bucket, square[: flat.numel()])


def _add_error(state: PowerSGDState, index: int, flat: Tensor) -> Tensor | None:
    """Add the error of the last iteration's approximation to gradients in place.

    Args:
        state: State of the hook.
        index: Index of the bucket.
        flat: The bucket's gradients, in one flat tensor.

    Returns:
        A copy of the sum, from which the next error is computed; None without error feedback.
    """
    if not state.use_error_feedback:
        return None
    if index not in state.error_dict:
        state.error_dict[index] = zeros(flat.numel(), dtype=flat.dtype, device=flat.device)
    return flat.add_(state.error_dict[index]).clone()


def _choose(state: PowerSGDState, gradients: list[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
    """Choose the gradients to compress: large enough matrices; count elements in ``state``.

    Returns:
        Two lists: the gradients to compress, as views of shape (rows, columns), and the others.
    """
    matrices, others = [], []
    for gradient in gradients:
        matrix = gradient.view(gradient.shape[0], -1)
        rows, columns = matrix.shape
        numel = (rows + columns) * min(rows, columns, state.matrix_approximation_rank)
        state.total_numel_before_compression += matrix.numel()
        if numel * state.min_compression_rate < matrix.numel():
            matrices.append(matrix)
            state.total_numel_after_compression += numel
        else:
            others.append(gradient)
            state.total_numel_after_compression += matrix.numel()
    return matrices, others


def _batch(matrices: list[Tensor], together: bool) -> list[list[Tensor]]:
    """Group matrices by shape: one list for each shape if ``together``, or for each matrix."""
    by_shape: dict[Any, list[Tensor]] = {}
    for matrix in matrices:
        by_shape.setdefault(tuple(matrix.shape), []).append(matrix)
    if together:
        return list(by_shape.values())
    return [[matrix] for batch in by_shape.values() for matrix in batch]


def _approximate(state: PowerSGDState, index: int, stacked: list[Tensor], group: Any) -> None:
    """Replace each stack of matrices by the low-rank approximation of its mean over the ranks.

    Args:
        state: State of the hook, with the factors P and Q of each bucket in flat tensors.
        index: Index of the bucket.
        stacked: Tensors of shape (matrices, rows, columns), which are overwritten.
        group: Process group.
    """
    ranks = [min(*m.shape[1:], state.matrix_approximation_rank) for m in stacked]
    p_shapes = [(m.shape[0], m.shape[1], rank) for m, rank in zip(stacked, ranks, strict=True)]
    q_shapes = [(m.shape[0], m.shape[2], rank) for m, rank in zip(stacked, ranks, strict=True)]
    has_memory = state.warm_start and index in state.p_memory_dict
    if not has_memory:
        like = {"dtype": stacked[0].dtype, "device": stacked[0].device} if stacked else {}
        state.p_memory_dict[index] = empty(sum(map(math.prod, p_shapes)), **like)
        state.q_memory_dict[index] = empty(sum(map(math.prod, q_shapes)), **like)
    p_memory, q_memory = state.p_memory_dict[index], state.q_memory_dict[index]
    ps, qs = _divide(p_memory, p_shapes), _divide(q_memory, q_shapes)
    if not has_memory:
        _fill_at_random(state, qs)
    for matrix, p, q in zip(stacked, ps, qs, strict=True):
        _orthogonalize(q, state.orthogonalization_epsilon)
        p.copy_(matrix @ q)
    all_reduce(p_memory, group=group)
    for matrix, p, q in zip(stacked, ps, qs, strict=True):
        _orthogonalize(p, state.orthogonalization_epsilon)
        q.copy_(matrix.transpose(1, 2) @ p)
    all_reduce(q_memory, group=group)
    q_memory.div_(group.size())
    for matrix, p, q in zip(stacked, ps, qs, strict=True):
        matrix.copy_(p @ q.transpose(1, 2))


def _divide(memory: Tensor, shapes: Sequence[tuple[int, ...]]) -> list[Tensor]:
    """Divide a flat tensor into views of the given shapes, one after the other."""
    parts = memory.split([math.prod(shape) for shape in shapes])
    return [part.view(shape) for part, shape in zip(parts, shapes, strict=True)]


def _fill_at_random(state: PowerSGDState, qs: list[Tensor]) -> None:
    """Fill the factors Q with normal random numbers, which are the same on all ranks."""
    with fork_rng(devices=[]):
        manual_seed(int(state.rng.randint(1_000_000_000)))
        for q in qs:
            q.copy_(randn(*q.shape, dtype=q.dtype))


def _orthogonalize(matrices: Tensor, epsilon: float) -> None:
    """Make the columns of each matrix orthonormal, in place.

    QR is used for more than two columns, and Gram-Schmidt for fewer or in 16-bit dtypes.

    Args:
        matrices: Tensor of shape (matrices, rows, columns).
        epsilon: Added to the norms by which Gram-Schmidt divides.
    """
    columns = matrices.shape[2]
    if columns > 2 and matrices.dtype not in (dtypes.float16, dtypes.bfloat16):
        matrices.copy_(linalg.qr(matrices)[0])
        return
    for index in range(columns):
        column = matrices[:, :, index : index + 1]
        column /= column.norm(dim=1, keepdim=True) + epsilon
        rest = matrices[:, :, index + 1 :]
        rest -= (column * rest).sum(1, keepdim=True) * column


def _log_statistics(state: PowerSGDState, bucket: GradBucket) -> None:
    """Log the rate of compression at a last bucket, if the next report is due."""
    if bucket.is_last() and state.iter >= state.next_stats_report:
        text = "Compression stats: iter %s, rate %s, total before compression %s, after %s"
        _logger.info(text, state.iter, *state.compression_stats())
        state.next_stats_report = state.iter + state.compression_stats_logging_frequency


def _finish(state: PowerSGDState, bucket: GradBucket, flat: Tensor) -> Future[Any]:
    """End the hook's call for a bucket: count it, and drop the factors unless they are reused.

    Returns:
        A completed future of ``flat``, the mean of the gradients.
    """
    if not state.warm_start:
        state.p_memory_dict.clear()
        state.q_memory_dict.clear()
    state.maybe_increase_iter(bucket)
    done: Future[Any] = Future()
    done.set_result(flat)
    return done
