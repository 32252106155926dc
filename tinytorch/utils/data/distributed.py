"""``DistributedSampler``, which divides a dataset among processes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sized
from typing import Any

from ... import backends
from ...distributed.group_queries import get_rank, get_world_size
from . import sampler
from .sampler import Sampler

__all__ = ["DistributedSampler"]


class DistributedSampler(Sampler[int]):
    """Sampler that yields every ``num_replicas``-th index, from ``rank``, of a common order.

    Args:
        dataset: Dataset with a length.
        num_replicas: Number of processes. Default: the world's size.
        rank: Rank of this process, from 0. Default: its rank in the world.
        shuffle: Whether the common order is random. Default: True.
        seed: Seed of the order, the same in all processes. Default: 0.
        drop_last: Whether to drop the indices that cannot be divided evenly, instead of repeating
            others. Default: False.

    Attributes:
        epoch: Number set by ``set_epoch``, on which the random order depends.
        num_samples: Number of indices for one process.

    Raises:
        ValueError: If ``num_replicas`` or ``rank`` is missing before ``init_process_group``, or
            ``rank`` is out of range.

    Example:
        >>> from tinytorch.utils.data import DistributedSampler
        >>> list(DistributedSampler("abcde", num_replicas=2, rank=1, shuffle=False))
        [1, 3, 0]
    """

    dataset: Sized
    num_replicas: int
    rank: int
    shuffle: bool
    seed: int
    drop_last: bool

    def __init__(
        self, dataset: Sized, num_replicas: int | None = None, rank: int | None = None,
        shuffle: bool = True, seed: int = 0, drop_last: bool = False,
    ) -> None:  # fmt: skip
        num_replicas = get_world_size() if num_replicas is None else num_replicas
        rank = get_rank() if rank is None else rank
        if not 0 <= rank < num_replicas:
            raise ValueError(
                f"Invalid rank {rank}, rank should be in the interval [0, {num_replicas - 1}]"
            )
        self.dataset, self.num_replicas, self.rank = dataset, num_replicas, rank
        self.shuffle, self.seed, self.drop_last = shuffle, seed, drop_last
        self.epoch: int = 0
        count = len(dataset)
        self.num_samples: int = (
            count // num_replicas if drop_last else math.ceil(count / num_replicas)
        )
        self.total_size: int = self.num_samples * num_replicas

    def __iter__(self) -> Iterator[int]:
        count = len(self.dataset)
        indices = list(range(count))
        if self.shuffle:
            engine: Any = backends.load("numpy").make_generator(self.seed + self.epoch)
            indices = sampler.permutation(count, engine)
        if count and self.total_size > count:
            indices *= math.ceil(self.total_size / count)
        return iter(indices[self.rank : self.total_size : self.num_replicas])

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Set the epoch, before each pass, so that each pass has a different order.

        Args:
            epoch: Number of the epoch.

        Example:
            >>> from tinytorch.utils.data import DistributedSampler
            >>> sampler = DistributedSampler(range(10), num_replicas=2, rank=0)
            >>> sampler.set_epoch(3)
            >>> sampler.epoch
            3
        """
        self.epoch = epoch
