"""How a batch is got from a dataset: by index or from a stream."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from . import collate
from .dataset import Dataset, IterableDataset, TensorDataset

__all__ = ["Fetch", "make_fetch"]

#: From what the index sampler yields to a batch.
Fetch: TypeAlias = Callable[[Any], Any]


def make_fetch(
    dataset: Dataset[Any], batched: bool, collate_fn: Callable[[Any], Any], drop_last: bool
) -> Fetch:
    """The function that makes batches of a dataset.

    Args:
        dataset: The dataset. Of an iterable one, the stream is opened here.
        batched: Whether a key is a list of indices, for a list of samples.
        collate_fn: From the sample, or the list of samples, to what the loader yields.
        drop_last: Refuse a last list that is shorter than asked for.
    """
    if isinstance(dataset, IterableDataset):
        return _stream_fetch(iter(dataset), batched, collate_fn, drop_last)
    if not batched:
        return lambda index: collate_fn(dataset[index])
    if _is_plain_tensor_dataset(dataset) and collate_fn is collate.default_collate:
        return _row_fetch(dataset)
    return lambda indices: collate_fn(_samples(dataset, indices))


def _samples(dataset: Any, indices: Any) -> Any:
    fetch = getattr(dataset, "__getitems__", None)
    return fetch(indices) if fetch else [dataset[index] for index in indices]


def _stream_fetch(
    stream: Iterator[Any], batched: bool, collate_fn: Callable[[Any], Any], drop_last: bool
) -> Fetch:
    """Raises StopIteration at the end of the stream."""
    if not batched:
        return lambda key: collate_fn(next(stream))

    def fetch(keys: list[Any]) -> Any:
        samples = list(itertools.islice(stream, len(keys)))
        if not samples or (drop_last and len(samples) < len(keys)):
            raise StopIteration
        return collate_fn(samples)

    return fetch


def _is_plain_tensor_dataset(dataset: Any) -> bool:
    kind = type(dataset)
    return (
        isinstance(dataset, TensorDataset)
        and kind.__getitem__ is TensorDataset.__getitem__
        and not hasattr(kind, "__getitems__")
    )


def _row_fetch(dataset: Any) -> Fetch:
    """Index each tensor once per batch: what stacking the rows would give, without the rows."""

    def fetch(indices: list[Any]) -> Any:
        if any(type(index) is not int for index in indices):
            return collate.default_collate([dataset[index] for index in indices])
        return [tensor[indices] for tensor in dataset.tensors]

    return fetch
