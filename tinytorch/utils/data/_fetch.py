"""Fetchers, which return the batch of some indices, and pinning of batches."""

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
        kind: int, dataset: Dataset[Any], auto_collation: bool, collate_fn: Callable[[Any], Any],
        drop_last: bool,
    ) -> _BaseDatasetFetcher:  # fmt: skip
        """Create the fetcher for a dataset, which calls ``iter`` of an iterable one.

        ``kind`` is the kind of the dataset; for the others, see ``_BaseDatasetFetcher``.
        """
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
        auto_collation: Whether keys are lists of indices, and batches lists of samples.
        collate_fn: Function from a sample, or a list of samples, to the loader's batch.
        drop_last: Whether a last list with fewer samples than indices is dropped.
    """

    def __init__(
        self, dataset: Any, auto_collation: bool, collate_fn: Callable[[Any], Any], drop_last: bool
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
        self, dataset: Any, auto_collation: bool, collate_fn: Callable[[Any], Any], drop_last: bool
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
            # Index each tensor once, which has the same result as stacking its rows.
            return [tensor[key] for tensor in dataset.tensors]
        fetch_all = getattr(dataset, "__getitems__", None)
        samples = fetch_all(key) if fetch_all else [dataset[index] for index in key]
        return self.collate_fn(samples)


def _has_tensor_rows(dataset: Any, indices: Any) -> bool:
    """Whether the samples at indices are rows of a TensorDataset's tensors.

    This is not so for a subclass that overrides the access to samples, or indices of other types
    than int.
    """
    kind = type(dataset)
    return (
        isinstance(dataset, TensorDataset)
        and kind.__getitem__ is TensorDataset.__getitem__
        and not hasattr(kind, "__getitems__")
        and all(type(index) is int for index in indices)
    )


def find_pin_function(pin_memory: bool, device: str = "") -> Callable[[Any], Any] | None:
    """Return the function ``pin``, or None if batches are not to be pinned.

    Args:
        pin_memory: The loader's argument: whether batches are pinned if there is a GPU.
        device: The loader's argument ``pin_memory_device``, which is deprecated and ignored.
    """
    if not pin_memory:
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
    """Copy the tensors of a batch to pinned memory, also inside containers.

    Other objects with a method ``pin_memory`` are replaced by its result; the rest is unchanged.
    """
    if isinstance(batch, Tensor) or hasattr(batch, "pin_memory"):
        return batch.pin_memory()
    if isinstance(batch, (str, bytes)):
        return batch
    if isinstance(batch, Mapping):
        items: Any = {key: pin(value) for key, value in batch.items()}
        return items if type(batch) is dict else type(batch)(items)  # type: ignore[call-arg]
    if isinstance(batch, tuple) and hasattr(batch, "_fields"):
        return type(batch)(*map(pin, batch))
    if isinstance(batch, (tuple, list)):
        return type(batch)(map(pin, batch))
    return [pin(item) for item in batch] if isinstance(batch, Sequence) else batch
