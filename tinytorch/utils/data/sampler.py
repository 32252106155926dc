"""Samplers: in which order, and in which groups, a dataset's indices are visited.

Random indices are drawn on the host whatever backend is active. The calls, their order and their
sizes are PyTorch's, so that with the same seed samples are visited in PyTorch's order.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence, Sized
from typing import Any, Generic, TypeVar

from ... import backends, dtypes
from ...core.tensor import Tensor
from ...ops.create.factories import as_tensor
from ...state import generator as generator_of

__all__ = [
    "BatchSampler",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "SubsetRandomSampler",
    "WeightedRandomSampler",
]


def _engine(generator: Any) -> Any:
    """The engine behind a ``Generator``; None stands for the default one of the CPU."""
    if generator is None:
        generator = generator_of(backends.load("numpy"))
    engine = getattr(generator, "_engine", generator)
    if not hasattr(engine, "permutation"):
        raise TypeError(f"argument 'generator' must be Generator, not {type(generator).__name__}")
    return engine


def seed(generator: Any = None) -> int:
    """A fresh seed in ``[0, 2**63)``."""
    return int(_engine(generator).bits((), "int64"))


def fresh_generator() -> Any:
    """An engine of its own, seeded from the default one."""
    return backends.load("numpy").make_generator(seed())


def integers(high: int, count: int, generator: Any) -> list[int]:
    """``count`` integers from 0 to ``high - 1``, independent of each other."""
    drawn: list[int] = _engine(generator).integers(0, high, (count,), "int64").tolist()
    return drawn


def permutation(count: int, generator: Any) -> list[int]:
    """The integers from 0 to ``count - 1``, shuffled."""
    order: list[int] = _engine(generator).permutation(count).tolist()
    return order


def weights(values: Any) -> Any:
    """Weights as a float64 array of NumPy's."""
    host = backends.load("numpy")
    if isinstance(values, Tensor):
        values = values._xp.to_numpy(values._data)
    return host.convert(values, dtypes.float64)


def weighted(values: Any, count: int, replacement: bool, generator: Any) -> list[int]:
    """``count`` indices drawn in proportion to ``values``."""
    if not replacement and count > len(values):
        raise RuntimeError(
            "cannot sample n_sample > prob_dist.size(-1) samples without replacement: "
            f"{count} of {len(values)}"
        )
    engine = _engine(generator)
    if generator is not None:
        values = generator.backend.from_numpy(values)
    drawn: list[int] = engine.multinomial(values, count, replacement).tolist()
    return drawn


T_co = TypeVar("T_co", covariant=True)
S = TypeVar("S")

# PyTorch draws indices with replacement by so many at a time.
_DRAWN_AT_ONCE = 32


class Sampler(Generic[T_co]):
    """Base class of the samplers: ``__iter__`` yields indices, or lists of them.

    ``__len__`` is optional; ``len(loader)`` needs it.

    Example:
        >>> from tinytorch.utils.data import Sampler
        >>> class Even(Sampler):
        ...     def __iter__(self):
        ...         return iter(range(0, 6, 2))
        >>> list(Even())
        [0, 2, 4]
    """

    def __iter__(self) -> Iterator[T_co]:
        raise NotImplementedError


class SequentialSampler(Sampler[int]):
    """All indices in order.

    Args:
        data_source: What has a length.

    Example:
        >>> from tinytorch.utils.data import SequentialSampler
        >>> list(SequentialSampler("abc"))
        [0, 1, 2]
    """

    data_source: Sized

    def __init__(self, data_source: Sized) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler[int]):
    """Indices at random, each once or, with replacement, independently.

    Args:
        data_source: What has a length.
        replacement: Whether an index may come again before all have come. Default: False.
        num_samples: How many to yield; beyond the length, the shuffling starts anew.
            Default: the length.
        generator: A ``Generator``. Default: one seeded from the default generator at every
            iteration.

    Raises:
        TypeError: If ``replacement`` is not a bool.
        ValueError: If ``num_samples`` is not a positive int, or the data are empty.

    Example:
        >>> from tinytorch.utils.data import RandomSampler
        >>> generator = tt.Generator().manual_seed(0)
        >>> sorted(RandomSampler(range(4), generator=generator))
        [0, 1, 2, 3]
    """

    data_source: Sized

    def __init__(
        self,
        data_source: Sized,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: Any = None,
    ) -> None:
        self.data_source = data_source
        self.replacement = replacement
        self._num_samples = num_samples
        self.generator = generator
        if not isinstance(replacement, bool):
            raise TypeError(
                f"replacement should be a boolean value, but got replacement={replacement}"
            )
        if not isinstance(self.num_samples, int) or self.num_samples <= 0:
            raise ValueError(
                "num_samples should be a positive integer value, "
                f"but got num_samples={self.num_samples}"
            )

    @property
    def num_samples(self) -> int:
        """How many indices an iteration yields; the data may have grown since the last."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        n = len(self.data_source)
        generator = self.generator or fresh_generator()
        if self.replacement:
            if not n:
                raise RuntimeError(
                    "random_ expects 'from' to be less than 'to', but got from=0 >= to=0"
                )
            for _ in range(self.num_samples // _DRAWN_AT_ONCE):
                yield from integers(n, _DRAWN_AT_ONCE, generator)
            yield from integers(n, self.num_samples % _DRAWN_AT_ONCE, generator)
        else:
            for _ in range(self.num_samples // n):
                yield from permutation(n, generator)
            yield from permutation(n, generator)[: self.num_samples % n]

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler[int]):
    """The given indices in random order.

    Args:
        indices: Indices to choose from, each yielded once.
        generator: A ``Generator``. Default: the default one.

    Example:
        >>> from tinytorch.utils.data import SubsetRandomSampler
        >>> sorted(SubsetRandomSampler([7, 3, 5]))
        [3, 5, 7]
    """

    indices: Sequence[int]

    def __init__(self, indices: Sequence[int], generator: Any = None) -> None:
        self.indices = indices
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        for i in permutation(len(self.indices), self.generator):
            yield self.indices[i]

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler[int]):
    """Indices drawn in proportion to weights.

    Args:
        weights: One number at least 0 per index; they need not add up to 1.
        num_samples: How many indices to draw.
        replacement: Whether an index may come more than once. Default: True.
        generator: A ``Generator``. Default: the default one.

    Raises:
        ValueError: For a ``num_samples`` that is no positive int, a ``replacement`` that is
            no bool, or weights that are not one-dimensional.

    Example:
        >>> from tinytorch.utils.data import WeightedRandomSampler
        >>> list(WeightedRandomSampler([0.0, 0.0, 3.0], num_samples=4))
        [2, 2, 2, 2]
    """

    def __init__(
        self,
        weights: Sequence[float],
        num_samples: int,
        replacement: bool = True,
        generator: Any = None,
    ) -> None:
        if not isinstance(num_samples, int) or isinstance(num_samples, bool) or num_samples <= 0:
            raise ValueError(
                f"num_samples should be a positive integer value, but got num_samples={num_samples}"
            )
        if not isinstance(replacement, bool):
            raise ValueError(
                f"replacement should be a boolean value, but got replacement={replacement}"
            )
        self.weights: Any = as_tensor(weights, dtype=dtypes.float64)
        if self.weights.ndim != 1:
            raise ValueError(
                "weights should be a 1d sequence but given weights have shape "
                f"{tuple(self.weights.shape)}"
            )
        self.num_samples = num_samples
        self.replacement = replacement
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        yield from weighted(
            weights(self.weights), self.num_samples, self.replacement, self.generator
        )

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler[list[S]]):
    """What another sampler yields, in lists.

    Args:
        sampler: Any iterable.
        batch_size: Length of a list.
        drop_last: Leave out a last list that is shorter.

    Raises:
        ValueError: If ``batch_size`` is not a positive int or ``drop_last`` not a bool.

    Example:
        >>> from tinytorch.utils.data import BatchSampler
        >>> list(BatchSampler(range(5), batch_size=2, drop_last=False))
        [[0, 1], [2, 3], [4]]
    """

    def __init__(self, sampler: Iterable[S], batch_size: int, drop_last: bool) -> None:
        if not isinstance(batch_size, int) or isinstance(batch_size, bool) or batch_size <= 0:
            raise ValueError(
                f"batch_size should be a positive integer value, but got batch_size={batch_size}"
            )
        if not isinstance(drop_last, bool):
            raise ValueError(f"drop_last should be a boolean value, but got drop_last={drop_last}")
        self.sampler = sampler
        self.batch_size = batch_size
        self.drop_last = drop_last

    def __iter__(self) -> Iterator[list[S]]:
        indices = iter(self.sampler)
        while batch := list(itertools.islice(indices, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield batch

    def __len__(self) -> int:
        whole, rest = divmod(len(self.sampler), self.batch_size)  # type: ignore[arg-type]
        return whole if self.drop_last or not rest else whole + 1
