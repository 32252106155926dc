"""Fetchers, from the indices of a batch to the batch, and batches in pinned host memory."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...backends import BackendUnavailableError, load
from ...core.tensor import Tensor
from ...warnings import warn
from . import collate
from .dataset import Dataset, IterableDataset, TensorDataset


class _DatasetKind:
    """Kinds of datasets, by PyTorch's numbers."""

    Map = 0
    Iterable = 1

    @staticmethod
    def create_fetcher(
        kind: int,
        dataset: Dataset[Any],
        auto_collation: bool,
        collate_fn: Callable[[Any], Any],
        drop_last: bool,
    ) -> _BaseDatasetFetcher:
        """Make the fetcher for a kind of dataset; of an iterable one, the stream is opened."""
        fetchers: dict[int, type[_BaseDatasetFetcher]] = {
            _DatasetKind.Map: _MapDatasetFetcher,
            _DatasetKind.Iterable: _IterableDatasetFetcher,
        }
        return fetchers[kind](dataset, auto_collation, collate_fn, drop_last)

    @staticmethod
    def find(dataset: Any) -> int:
        """Return the kind of a dataset."""
        streaming = isinstance(dataset, IterableDataset)
        return _DatasetKind.Iterable if streaming else _DatasetKind.Map


class _BaseDatasetFetcher:
    """Base of the fetchers.

    Args:
        dataset: The dataset.
        auto_collation: Whether a key is a list of indices, for a list of samples.
        collate_fn: From the sample, or the list of samples, to what the loader yields.
        drop_last: Whether a last list that is shorter than the list of keys is left out.
    """

    def __init__(
        self,
        dataset: Any,
        auto_collation: bool,
        collate_fn: Callable[[Any], Any],
        drop_last: bool,
    ) -> None:
        self.dataset = dataset
        self.auto_collation = auto_collation
        self.collate_fn = collate_fn
        self.drop_last = drop_last

    def fetch(self, possibly_batched_index: Any) -> Any:
        """Return the sample or batch of a key."""
        raise NotImplementedError


class _IterableDatasetFetcher(_BaseDatasetFetcher):
    """Reads samples from an iterable dataset."""

    def __init__(
        self,
        dataset: Any,
        auto_collation: bool,
        collate_fn: Callable[[Any], Any],
        drop_last: bool,
    ) -> None:
        super().__init__(dataset, auto_collation, collate_fn, drop_last)
        self.dataset_iter = iter(dataset)
        self.ended = False

    def fetch(self, possibly_batched_index: Any) -> Any:
        """Return the next sample or batch.

        Raises:
            StopIteration: At the end of the stream.
        """
        if self.ended:
            raise StopIteration
        if not self.auto_collation:
            return self.collate_fn(next(self.dataset_iter))
        wanted = len(possibly_batched_index)
        samples = list(itertools.islice(self.dataset_iter, wanted))
        self.ended = len(samples) < wanted
        if not samples or (self.drop_last and self.ended):
            raise StopIteration
        return self.collate_fn(samples)


class _MapDatasetFetcher(_BaseDatasetFetcher):
    """Reads samples by their indices."""

    def fetch(self, possibly_batched_index: Any) -> Any:
        """Return the sample of an index, or the batch of a list of indices."""
        dataset, key = self.dataset, possibly_batched_index
        if not self.auto_collation:
            return self.collate_fn(dataset[key])
        if self.collate_fn is collate.default_collate and _has_tensor_rows(dataset, key):
            # Index each tensor once: what stacking the rows returns, without the rows.
            return [tensor[key] for tensor in dataset.tensors]
        fetch_all = getattr(dataset, "__getitems__", None)
        samples = fetch_all(key) if fetch_all else [dataset[index] for index in key]
        return self.collate_fn(samples)


def _has_tensor_rows(dataset: Any, indices: Any) -> bool:
    """Whether samples are rows of a TensorDataset's tensors, for indices that are ints."""
    kind = type(dataset)
    return (
        isinstance(dataset, TensorDataset)
        and kind.__getitem__ is TensorDataset.__getitem__
        and not hasattr(kind, "__getitems__")
        and all(type(index) is int for index in indices)
    )


def pinning(wanted: bool, device: str = "") -> Callable[[Any], Any] | None:
    """Return the function that pins a batch, or None. Warns if there is no GPU."""
    if not wanted:
        return None
    if device:
        warn(
            "pin_memory_device is deprecated, the current accelerator will be used as the device,"
            f"ignore pin_memory_device='{device}'."
        )
    try:
        load("cupy")
    except BackendUnavailableError:
        warn(
            "'pin_memory' argument is set as true but no accelerator is found, then device "
            "pinned memory won't be used.",
        )
        return None
    return pin


def pin(batch: Any) -> Any:
    """``batch`` with every tensor in it pinned, also inside containers.

    Anything else that has a method ``pin_memory`` is asked for it; the rest stays as it is.
    """
    if isinstance(batch, Tensor) or hasattr(batch, "pin_memory"):
        return batch.pin_memory()
    if isinstance(batch, (str, bytes)):
        return batch
    if isinstance(batch, Mapping):
        made: Any = {key: pin(value) for key, value in batch.items()}
        return made if type(batch) is dict else type(batch)(made)  # type: ignore[call-arg]
    if isinstance(batch, tuple) and hasattr(batch, "_fields"):
        return type(batch)(*map(pin, batch))
    if isinstance(batch, (tuple, list)):
        return type(batch)(map(pin, batch))
    return [pin(item) for item in batch] if isinstance(batch, Sequence) else batch
