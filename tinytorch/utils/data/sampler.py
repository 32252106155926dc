"""Samplers, which yield the indices of a dataset, or lists of them, in some order.

Random indices are drawn on the host, independent of the current backend. The calls of the
generator, their order and their sizes are PyTorch's, so that a seed gives PyTorch's order.
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
    "BatchSampler", "RandomSampler", "Sampler", "SequentialSampler", "SubsetRandomSampler",
    "WeightedRandomSampler",
]  # fmt: skip


def _engine(generator: Any) -> Any:
    """The engine of a ``Generator``, by default of the CPU's default generator."""
    if generator is None:
        generator = generator_of(backends.load("numpy"))
    engine = getattr(generator, "_engine", generator)
    if not hasattr(engine, "permutation"):
        raise TypeError(f"argument 'generator' must be Generator, not {type(generator).__name__}")
    return engine


def seed(generator: Any = None) -> int:
    """Draw a seed in ``[0, 2**63)``."""
    return int(_engine(generator).bits((), "int64"))


def fresh_generator() -> Any:
    """Create an engine that is seeded from the default generator."""
    return backends.load("numpy").make_generator(seed())


def integers(high: int, count: int, generator: Any) -> list[int]:
    """Draw ``count`` independent integers from 0 to ``high - 1``."""
    result: list[int] = _engine(generator).integers(0, high, (count,), "int64").tolist()
    return result


def permutation(count: int, generator: Any) -> list[int]:
    """Random permutation of the integers from 0 to ``count - 1``."""
    order: list[int] = _engine(generator).permutation(count).tolist()
    return order


def to_numpy_weights(values: Any) -> Any:
    """Convert weights to a float64 array of NumPy."""
    host = backends.load("numpy")
    if isinstance(values, Tensor):
        values = values._xp.to_numpy(values._data)
    return host.convert(values, dtypes.float64)


def multinomial(values: Any, count: int, replacement: bool, generator: Any) -> list[int]:
    """Draw ``count`` indices with probabilities proportional to an array of weights."""
    if not replacement and count > len(values):
        raise RuntimeError(
            "cannot sample n_sample > prob_dist.size(-1) samples without replacement: "
            f"{count} of {len(values)}"
        )
    engine = _engine(generator)
    if generator is not None:
        values = generator.backend.from_numpy(values)
    indices: list[int] = engine.multinomial(values, count, replacement).tolist()
    return indices


T_co = TypeVar("T_co", covariant=True)
S = TypeVar("S")

#: Number of indices with replacement that PyTorch draws at once.
_CHUNK = 32


class Sampler(Generic[T_co]):
    """Base class of samplers: ``__iter__`` yields indices or lists of indices.

    ``__len__`` is optional, but ``len(loader)`` needs it.

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
    """Sampler that yields all indices in order.

    Args:
        data_source: Dataset with a length.

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
    """Sampler that yields all indices in random order, or draws them with replacement.

    Args:
        data_source: Dataset with a length.
        replacement: Whether to draw with replacement. Default: False.
        num_samples: Number of indices; without replacement, further permutations follow after
            the length of the dataset. Default: the length.
        generator: A ``Generator``. Default: one seeded from the default generator in each
            iteration.

    Raises:
        TypeError: If ``replacement`` is not a bool.
        ValueError: If ``num_samples`` is not a positive int, or the dataset is empty.

    Example:
        >>> from tinytorch.utils.data import RandomSampler
        >>> generator = tt.Generator().manual_seed(0)
        >>> sorted(RandomSampler(range(4), generator=generator))
        [0, 1, 2, 3]
    """

    data_source: Sized

    def __init__(
        self, data_source: Sized, replacement: bool = False, num_samples: int | None = None,
        generator: Any = None,
    ) -> None:  # fmt: skip
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
        """Number of indices in an iteration: by default the current length of the dataset."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        n = len(self.data_source)
        generator = self.generator or fresh_generator()
        if self.replacement:
            if not n:
                raise RuntimeError(
                    "random_ expects 'from' to be less than 'to', but got from=0 >= to=0"
                )
            for _ in range(self.num_samples // _CHUNK):
                yield from integers(n, _CHUNK, generator)
            yield from integers(n, self.num_samples % _CHUNK, generator)
        else:
            for _ in range(self.num_samples // n):
                yield from permutation(n, generator)
            yield from permutation(n, generator)[: self.num_samples % n]

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler[int]):
    """Sampler that yields the given indices in random order.

    Args:
        indices: The indices.
        generator: A ``Generator``. Default: the default generator.

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
    """Sampler that draws indices with probabilities proportional to weights.

    Args:
        weights: A nonnegative number for each index; their sum need not be 1.
        num_samples: Number of indices to draw.
        replacement: Whether to draw with replacement. Default: True.
        generator: A ``Generator``. Default: the default generator.

    Raises:
        ValueError: If ``num_samples`` is not a positive int, ``replacement`` is not a bool, or the
            weights are not one-dimensional.

    Example:
        >>> from tinytorch.utils.data import WeightedRandomSampler
        >>> list(WeightedRandomSampler([0.0, 0.0, 3.0], num_samples=4))
        [2, 2, 2, 2]
    """

    def __init__(
        self, weights: Sequence[float], num_samples: int, replacement: bool = True,
        generator: Any = None,
    ) -> None:  # fmt: skip
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
        weights = to_numpy_weights(self.weights)
        yield from multinomial(weights, self.num_samples, self.replacement, self.generator)

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler[list[S]]):
    """Sampler that yields the indices of another sampler in lists.

    Args:
        sampler: The other sampler, or any iterable.
        batch_size: Length of the lists.
        drop_last: Whether to drop a last list that is shorter.

    Raises:
        ValueError: If ``batch_size`` is not a positive int or ``drop_last`` is not a bool.

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
