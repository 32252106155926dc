"""Map-style and iterable-style datasets, and combinations of them."""

from __future__ import annotations

import bisect
import itertools
import math
import reprlib
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from typing import Any, Generic, TypeVar, cast

from ...core.tensor import Tensor
from ...warnings import warn
from .sampler import permutation

__all__ = [
    "ChainDataset", "ConcatDataset", "Dataset", "IterableDataset", "StackDataset", "Subset",
    "TensorDataset", "random_split",
]  # fmt: skip

T_co = TypeVar("T_co", covariant=True)
T = TypeVar("T")


class Dataset(Generic[T_co]):
    """Base of map-style datasets, which define ``__getitem__`` and usually ``__len__``.

    A subclass can also define ``__getitems__``, which returns a list of the samples at a list of
    indices; ``DataLoader`` then fetches each batch by one call of it.

    Example:
        >>> from tinytorch.utils.data import Dataset
        >>> class Squares(Dataset):
        ...     def __len__(self):
        ...         return 5
        ...
        ...     def __getitem__(self, index):
        ...         return index * index
        >>> len(Squares() + Squares()), Squares()[3]
        (10, 9)
    """

    def __getitem__(self, index: Any) -> T_co:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other: Dataset[T_co]) -> ConcatDataset[T_co]:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[T_co], Iterable[T_co]):
    """Base of iterable-style datasets, for data without indices, which define ``__iter__``.

    Each worker of a ``DataLoader`` iterates over the dataset; ``__iter__`` can select its part by
    ``get_worker_info()``.

    Example:
        >>> from tinytorch.utils.data import DataLoader, IterableDataset
        >>> class Count(IterableDataset):
        ...     def __iter__(self):
        ...         return iter(range(5))
        >>> list(DataLoader(Count(), batch_size=3))
        [tensor([0, 1, 2]), tensor([3, 4])]
    """

    def __add__(self, other: Dataset[T_co]) -> Any:
        return ChainDataset([self, other])


class TensorDataset(Dataset[tuple[Tensor, ...]]):
    """Dataset of the rows of tensors: sample ``i`` is ``tuple(t[i] for t in tensors)``.

    Args:
        *tensors: Tensors of shape ``(samples, *)``.

    Raises:
        AssertionError: If their first dimensions differ in size.

    Example:
        >>> from tinytorch.utils.data import TensorDataset
        >>> dataset = TensorDataset(tt.arange(6).reshape(3, 2), tt.tensor([1, 0, 1]))
        >>> len(dataset), dataset[2]
        (3, (tensor([4, 5]), tensor(1)))
    """

    tensors: tuple[Tensor, ...]

    def __init__(self, *tensors: Tensor) -> None:
        if any(tensors[0].shape[0] != tensor.shape[0] for tensor in tensors):
            raise AssertionError("Size mismatch between tensors")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        tensors: tuple[Any, ...] = self.tensors
        return tuple(tensor[index] for tensor in tensors)

    def __len__(self) -> int:
        return len(self.tensors[0])

    def __repr__(self) -> str:
        kinds = (f"{tuple(t.shape)} {str(t.dtype).rpartition('.')[2]}" for t in self.tensors)
        return f"{type(self).__name__}({', '.join(kinds)})"


class StackDataset(Dataset[Any]):
    """Dataset whose samples are tuples or dicts of the samples of several datasets.

    Args:
        *args: Datasets of equal length; sample ``i`` is the tuple of their samples ``i``.
        **kwargs: Datasets of equal length by name; sample ``i`` is a dict.

    Raises:
        ValueError: If there are no datasets, if both ``args`` and ``kwargs`` are given, or if the
            lengths differ.

    Example:
        >>> from tinytorch.utils.data import StackDataset
        >>> StackDataset(image=["a.png", "b.png"], label=[0, 1])[1]
        {'image': 'b.png', 'label': 1}
    """

    datasets: tuple[Any, ...] | dict[str, Any]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if args and kwargs:
            raise ValueError(
                "Supported either ``tuple``- (via ``args``) or``dict``- (via ``kwargs``) like "
                "input/output, but both types are given."
            )
        if not (args or kwargs):
            raise ValueError("At least one dataset should be passed")
        parts = args or tuple(kwargs.values())
        self._length = len(parts[0])
        if any(len(part) != self._length for part in parts):
            raise ValueError("Size mismatch between datasets")
        self.datasets = args or kwargs

    def __getitem__(self, index: Any) -> Any:
        if isinstance(self.datasets, dict):
            return {name: dataset[index] for name, dataset in self.datasets.items()}
        return tuple(dataset[index] for dataset in self.datasets)

    def __getitems__(self, indices: list[Any]) -> list[Any]:
        """Samples at some indices, by one call of each dataset that has ``__getitems__``."""
        if isinstance(self.datasets, dict):
            columns = [_samples(dataset, indices) for dataset in self.datasets.values()]
            names = list(self.datasets)
            return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
        columns = [_samples(dataset, indices) for dataset in self.datasets]
        return list(zip(*columns, strict=True))

    def __len__(self) -> int:
        return self._length

    def __repr__(self) -> str:
        if isinstance(self.datasets, dict):
            parts = [f"{name}={short_repr(dataset)}" for name, dataset in self.datasets.items()]
        else:
            parts = [short_repr(dataset) for dataset in self.datasets]
        return f"{type(self).__name__}({', '.join(parts)})"


def _samples(dataset: Any, indices: list[Any]) -> list[Any]:
    """Samples of a dataset at some indices, by ``__getitems__`` if it has one."""
    fetch = getattr(dataset, "__getitems__", None)
    if not callable(fetch):
        return [dataset[index] for index in indices]
    samples: list[Any] = fetch(indices)
    if len(samples) != len(indices):
        raise ValueError(
            f"Nested dataset's output size mismatch. Expected {len(indices)}, got {len(samples)}"
        )
    return samples


class ConcatDataset(Dataset[T_co]):
    """Concatenation of map-style datasets.

    Args:
        datasets: Datasets with a length.

    Raises:
        AssertionError: If there are no datasets, or one is an ``IterableDataset``.

    Example:
        >>> from tinytorch.utils.data import ConcatDataset
        >>> dataset = ConcatDataset([[1, 2], [30, 40, 50]])
        >>> len(dataset), dataset[3], dataset[-5]
        (5, 40, 1)
    """

    datasets: list[Dataset[T_co]]
    cumulative_sizes: list[int]

    def __init__(self, datasets: Iterable[Dataset[T_co]]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        if any(isinstance(dataset, IterableDataset) for dataset in self.datasets):
            raise AssertionError("ConcatDataset does not support IterableDataset")
        self.cumulative_sizes = self.cumsum(self.datasets)

    @staticmethod
    def cumsum(sequence: Iterable[Any]) -> list[int]:
        """Cumulative sums of the lengths.

        Example:
            >>> from tinytorch.utils.data import ConcatDataset
            >>> ConcatDataset.cumsum(["abc", "de"])
            [3, 5]
        """
        return list(itertools.accumulate(len(part) for part in sequence))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    @property
    def cummulative_sizes(self) -> list[int]:
        """Former name of ``cumulative_sizes``; deprecated."""
        warn("cummulative_sizes attribute is renamed to cumulative_sizes", DeprecationWarning)
        return self.cumulative_sizes

    def __getitem__(self, index: int) -> T_co:
        if index < 0:
            if -index > len(self):
                raise ValueError("absolute value of index should not exceed dataset length")
            index += len(self)
        part = bisect.bisect_right(self.cumulative_sizes, index)
        if part == len(self.datasets):
            raise IndexError("list index out of range")
        start = self.cumulative_sizes[part - 1] if part else 0
        return self.datasets[part][index - start]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({_list_repr(self.datasets)})"


class ChainDataset(IterableDataset[T_co]):
    """Concatenation of iterable-style datasets.

    Args:
        datasets: Iterable of ``IterableDataset``; it can create them during the iteration.

    Example:
        >>> from tinytorch.utils.data import ChainDataset, IterableDataset
        >>> class Count(IterableDataset):
        ...     def __iter__(self):
        ...         return iter(range(2))
        >>> list(Count() + Count())
        [0, 1, 0, 1]
    """

    def __init__(self, datasets: Iterable[Dataset[T_co]]) -> None:
        self.datasets = datasets

    def __iter__(self) -> Iterator[T_co]:
        for dataset in self.datasets:
            yield from self._check(dataset)

    def __len__(self) -> int:
        return sum(len(cast(Sized, self._check(dataset))) for dataset in self.datasets)

    def __repr__(self) -> str:
        datasets = self.datasets
        text = _list_repr(datasets) if isinstance(datasets, Sequence) else repr(datasets)
        return f"{type(self).__name__}({text})"

    def _check(self, dataset: Dataset[T_co]) -> IterableDataset[T_co]:
        """Return a dataset; raise if it is not an ``IterableDataset``."""
        if not isinstance(dataset, IterableDataset):
            raise AssertionError("ChainDataset only supports IterableDataset")
        return dataset


class Subset(Dataset[T_co]):
    """Dataset of the samples of another one at some indices.

    Args:
        dataset: The other dataset.
        indices: Indices in ``dataset``, in the order of the subset.

    Example:
        >>> from tinytorch.utils.data import Subset
        >>> list(Subset("abcdef", [4, 0, 3]))
        ['e', 'a', 'd']
    """

    dataset: Dataset[T_co]
    indices: Sequence[int]

    def __init__(self, dataset: Dataset[T_co], indices: Sequence[int]) -> None:
        self.dataset = dataset
        self.indices = indices

    def __getitem__(self, index: Any) -> T_co:
        if isinstance(index, list):
            return self.dataset[[self.indices[i] for i in index]]
        return self.dataset[self.indices[index]]

    def __getitems__(self, indices: list[int]) -> list[T_co]:
        """Samples at some indices, by one call if the dataset has ``__getitems__``."""
        chosen = [self.indices[index] for index in indices]
        fetch: Callable[[list[int]], list[T_co]] | None
        fetch = getattr(self.dataset, "__getitems__", None)
        return [self.dataset[index] for index in chosen] if fetch is None else fetch(chosen)

    def __len__(self) -> int:
        return len(self.indices)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self.indices)} of {short_repr(self.dataset)})"


def short_repr(data: Any) -> str:
    """``repr`` of a dataset, or a shortened one of other objects."""
    return repr(data) if isinstance(data, Dataset) else reprlib.repr(data)


def _list_repr(datasets: Sequence[Any]) -> str:
    """``repr`` of a list of datasets: the first three, and the number of others."""
    more = len(datasets) - 3
    parts = [short_repr(dataset) for dataset in datasets[:3]]
    return f"[{', '.join([*parts, *([f'... {more} more'] if more > 0 else [])])}]"


def random_split(
    dataset: Dataset[T], lengths: Sequence[int | float], generator: Any = None
) -> list[Subset[T]]:
    """Split a dataset at random into parts that do not overlap.

    With the same seed the parts are PyTorch's.

    Args:
        dataset: Dataset with a length.
        lengths: Sizes of the parts, whose sum is the length of the dataset, or fractions, whose sum
            is 1. Sizes from fractions are rounded down; the samples that remain are added to the
            parts one by one, from the first part.
        generator: A ``Generator``. Default: the default generator.

    Returns:
        A ``Subset`` for each length.

    Raises:
        ValueError: If the sum of the lengths is wrong, or a fraction is not in [0, 1].

    Example:
        >>> from tinytorch.utils.data import random_split
        >>> generator = tt.Generator().manual_seed(42)
        >>> [len(part) for part in random_split(range(10), [0.7, 0.3], generator)]
        [7, 3]
    """
    total = len(cast(Sized, dataset))
    sizes = _part_sizes(total, lengths)
    if sum(sizes) != total:
        raise ValueError("Sum of input lengths does not equal the length of the input dataset!")
    order = permutation(total, generator)
    ends = itertools.accumulate(sizes)
    return [Subset(dataset, order[end - size : end]) for end, size in zip(ends, sizes, strict=True)]


def _part_sizes(total: int, lengths: Sequence[int | float]) -> list[int]:
    """Sizes of the parts of a dataset, from the argument ``lengths`` of ``random_split``.

    Args:
        total: Number of samples.
        lengths: Sizes; or fractions of ``total`` whose sum is 1. The first parts get one more
            sample each until all samples are in a part.
    """
    if not (math.isclose(sum(lengths), 1) and sum(lengths) <= 1):
        return [int(length) for length in lengths]
    for i, fraction in enumerate(lengths):
        if not 0 <= fraction <= 1:
            raise ValueError(f"Fraction at index {i} is not between 0 and 1")
    sizes = [math.floor(total * fraction) for fraction in lengths]
    for i in range(total - sum(sizes)):
        sizes[i % len(sizes)] += 1
    for i, size in enumerate(sizes):
        if size == 0:
            warn(f"Length of split at index {i} is 0. This might result in an empty dataset.")
    return sizes
