"""Which arguments of DataLoader go together."""

from __future__ import annotations

import multiprocessing
from typing import Any

__all__ = ["check_arguments", "check_context"]

#: How workers come to be: what the system offers for processes, and threads.
_START_METHODS = (*multiprocessing.get_all_start_methods(), "thread")


def check_arguments(
    *,
    streaming: bool,
    batch_size: int | None,
    shuffle: bool | None,
    sampler: Any,
    batch_sampler: Any,
    num_workers: int,
    drop_last: bool,
    timeout: float,
    prefetch_factor: int | None,
    persistent_workers: bool,
) -> None:
    """Raise ValueError for arguments that exclude each other or are out of range."""
    if num_workers < 0:
        raise ValueError(
            "num_workers option should be non-negative; use num_workers=0 to disable "
            "multiprocessing."
        )
    if timeout < 0:
        raise ValueError("timeout option should be non-negative")
    _check_workers(num_workers, prefetch_factor, persistent_workers)
    if streaming:
        _check_stream(shuffle, sampler, batch_sampler)
    if sampler is not None and shuffle:
        raise ValueError("sampler option is mutually exclusive with shuffle")
    if batch_sampler is not None:
        if batch_size != 1 or shuffle or sampler is not None or drop_last:
            raise ValueError(
                "batch_sampler option is mutually exclusive with batch_size, shuffle, "
                "sampler, and drop_last"
            )
    elif batch_size is None and drop_last:
        raise ValueError(
            "batch_size=None option disables auto-batching and is mutually exclusive with drop_last"
        )


def _check_workers(num_workers: int, prefetch_factor: int | None, persistent_workers: bool) -> None:
    if num_workers == 0 and prefetch_factor is not None:
        raise ValueError(
            "prefetch_factor option could only be specified in multiprocessing."
            "let num_workers > 0 to enable multiprocessing, otherwise set prefetch_factor "
            "to None."
        )
    if prefetch_factor is not None and prefetch_factor < 0:
        raise ValueError("prefetch_factor option should be non-negative")
    if persistent_workers and num_workers == 0:
        raise ValueError("persistent_workers option needs num_workers > 0")


def check_context(num_workers: int, context: Any) -> None:
    """Raise for a context where there are no workers, or that is none."""
    if context is None:
        return
    if num_workers == 0:
        raise ValueError(
            "multiprocessing_context can only be used with multi-process loading "
            f"(num_workers > 0), but got num_workers={num_workers}"
        )
    if isinstance(context, str) and context not in _START_METHODS:
        raise ValueError(
            "multiprocessing_context option should specify a valid start method in "
            f"{list(_START_METHODS)!r}, but got multiprocessing_context={context!r}"
        )
    if not isinstance(context, str) and not hasattr(context, "get_start_method"):
        raise TypeError(
            "multiprocessing_context option should be a valid context object or a string "
            f"specifying the start method, but got multiprocessing_context={context}"
        )


def _check_stream(shuffle: bool | None, sampler: Any, batch_sampler: Any) -> None:
    for name, value, given in (
        ("shuffle", shuffle, shuffle not in (None, False)),
        ("sampler", sampler, sampler is not None),
        ("batch_sampler", batch_sampler, batch_sampler is not None),
    ):
        if given:
            raise ValueError(
                f"DataLoader with IterableDataset: expected unspecified {name} option, but "
                f"got {name}={value}"
            )
