"""``DataLoader``: batches of a dataset, made by the program or in advance by workers."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import GenericAlias
from typing import TYPE_CHECKING, Any, Generic, Protocol, overload

from ...core.tensor import Tensor
from ...state.tracebacks import short
from ...warnings import warn, warn_once
from . import collate, sampler
from ._fetch import _DatasetKind, find_pin_function
from ._workers import (
    ENDED, REOPEN, LoaderWorkers, ThreadWorkers, WorkerFailure, WorkerInfo, WorkerJob,
    stop_abandoned_workers,
)  # fmt: skip
from ._workers import get_worker_info as get_worker_info
from .collate import default_collate as default_collate
from .collate import default_convert as default_convert
from .dataset import Dataset, IterableDataset, short_repr
from .sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler

__all__ = ["DataLoader"]

#: Start methods of workers: those of the system for processes, and threads.
_START_METHODS = (*multiprocessing.get_all_start_methods(), "thread")


def check_arguments(
    *, streaming: bool, batch_size: int | None, shuffle: bool | None, sampler: Any,
    batch_sampler: Any, num_workers: int, drop_last: bool, timeout: float,
    prefetch_factor: int | None, persistent_workers: bool,
) -> None:  # fmt: skip
    """Raise a ValueError if arguments of a loader exclude each other or are out of range.

    ``streaming`` is whether the dataset is an ``IterableDataset``.
    """
    if num_workers < 0:
        raise ValueError(
            "num_workers option should be non-negative; use num_workers=0 to disable "
            "multiprocessing."
        )
    if timeout < 0:
        raise ValueError("timeout option should be non-negative")
    _check_workers(num_workers, prefetch_factor, persistent_workers)
    if streaming:
        _check_iterable(shuffle, sampler, batch_sampler)
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
    """Raise a ValueError for options of workers without workers, or out of range."""
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
    """Raise if a multiprocessing context is invalid, or is given without workers."""
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


def _check_iterable(shuffle: bool | None, sampler: Any, batch_sampler: Any) -> None:
    """Raise a ValueError for sampling options, which an ``IterableDataset`` does not support."""
    for name, value, is_given in (
        ("shuffle", shuffle, shuffle not in (None, False)),
        ("sampler", sampler, sampler is not None),
        ("batch_sampler", batch_sampler, batch_sampler is not None),
    ):
        if is_given:
            raise ValueError(
                f"DataLoader with IterableDataset: expected unspecified {name} option, but "
                f"got {name}={value}"
            )


if TYPE_CHECKING:
    import numpy  # noqa: TID251  # whose arrays and numbers are collated
    from typing_extensions import TypeVar

    T_co = TypeVar("T_co", covariant=True)
    Batch_co = TypeVar("Batch_co", covariant=True, default=Any)

    class _Named(Protocol):
        """A named tuple."""

        @property
        def _fields(self) -> tuple[str, ...]: ...

    _Sample = Tensor | float | numpy.ndarray[Any, Any] | numpy.number[Any]
    _T = TypeVar("_T")
    _Key = TypeVar("_Key")
    _Tuple = TypeVar("_Tuple", bound=_Named)
else:
    from typing import TypeVar

    T_co = TypeVar("T_co", covariant=True)
    Batch_co = TypeVar("Batch_co", covariant=True)


class _Collated:
    """Batch type, for type checkers, of a loader that uses ``default_collate``."""


class _Unknown:
    """Batch type, for type checkers, that only ``Any`` matches."""


#: Attributes that must not be set after ``__init__``, which creates objects from them.
_FIXED = frozenset(
    ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")
)


class DataLoader(Generic[T_co, Batch_co]):
    """Iterable over the batches of a dataset; each ``iter`` is a new pass.

    With the same seed, ``shuffle=True`` visits the samples in PyTorch's order.

    Args:
        dataset: A ``Dataset`` or ``IterableDataset``, or anything with ``__getitem__`` and
            ``__len__``.
        batch_size: Number of samples in a batch; None yields single samples without a batch
            dimension. Default: 1.
        shuffle: Whether to visit the samples in a new random order in each pass. Default: False.
        sampler: Iterable of the indices to visit; excludes ``shuffle``.
        batch_sampler: Iterable of lists of indices; excludes ``batch_size``, ``shuffle``,
            ``sampler`` and ``drop_last``.
        num_workers: Number of processes that make batches in advance, each with a copy of the
            dataset; with 0 the program makes each batch in ``next``. Default: 0.
        collate_fn: Function from a list of samples to a batch. Default: ``default_collate``, or
            ``default_convert`` if ``batch_size`` is None.
        pin_memory: Whether to copy each batch to pinned memory, if there is a GPU. Default: False.
        drop_last: Whether to drop a last batch that is smaller. Default: False.
        timeout: Seconds to wait for a batch from a worker; 0 waits forever. Default: 0.
        worker_init_fn: Function that each worker first calls with its index; a method of
            ``dataset`` is called on the worker's copy.
        multiprocessing_context: Start method of workers: ``"fork"``, ``"spawn"``,
            ``"forkserver"`` or a context of ``multiprocessing``; ``"thread"`` for threads, each
            with a shallow copy of the dataset. Default: that of ``multiprocessing``.
        generator: The ``Generator`` that shuffles and seeds the workers. Default: the default
            generator.
        prefetch_factor: Number of batches that each worker makes in advance. Default: 2.
        persistent_workers: Whether to keep the workers for the next pass. Default: False.
        pin_memory_device: Accepted and ignored.
        in_order: Whether to yield the batches in the order of the sampler, and not as workers
            complete them. Default: True.

    Raises:
        ValueError: For arguments that exclude each other or are out of range.
        TypeError: If ``multiprocessing_context`` is neither a name nor a context.

    Workers start with the program's backend, default dtype and grad mode. Their generators,
    including those of Python and NumPy, are seeded from ``generator`` as in PyTorch; threads share
    Python's and NumPy's generators with the program. Arrays are returned in shared memory. In the
    browser, which has no processes, the program makes the batches, with one warning.

    Example:
        >>> from tinytorch.utils.data import DataLoader, TensorDataset
        >>> dataset = TensorDataset(tt.arange(5), tt.arange(5) ** 2)
        >>> for x, y in DataLoader(dataset, batch_size=2):
        ...     print(x, y)
        tensor([0, 1]) tensor([0, 1])
        tensor([2, 3]) tensor([4, 9])
        tensor([4]) tensor([16])
    """

    dataset: Dataset[T_co]
    batch_size: int | None
    num_workers: int
    drop_last: bool
    timeout: float
    sampler: Any
    batch_sampler: Any
    prefetch_factor: int | None
    __initialized = False

    @overload
    def __init__(
        self: DataLoader[_T, _Collated], dataset: Dataset[_T], batch_size: int = 1,
        shuffle: bool | None = None, sampler: Iterable[Any] | None = None,
        batch_sampler: Iterable[Any] | None = None, num_workers: int = 0, collate_fn: None = None,
        pin_memory: bool = False, drop_last: bool = False, timeout: float = 0,
        worker_init_fn: Callable[[int], Any] | None = None, multiprocessing_context: Any = None,
        generator: Any = None, *, prefetch_factor: int | None = None,
        persistent_workers: bool = False, pin_memory_device: str = "", in_order: bool = True,
    ) -> None: ...  # fmt: skip

    @overload
    def __init__(
        self, dataset: Dataset[T_co], batch_size: int | None = 1, shuffle: bool | None = None,
        sampler: Iterable[Any] | None = None, batch_sampler: Iterable[Any] | None = None,
        num_workers: int = 0, collate_fn: Callable[[Any], Batch_co] | None = None,
        pin_memory: bool = False, drop_last: bool = False, timeout: float = 0,
        worker_init_fn: Callable[[int], Any] | None = None, multiprocessing_context: Any = None,
        generator: Any = None, *, prefetch_factor: int | None = None,
        persistent_workers: bool = False, pin_memory_device: str = "", in_order: bool = True,
    ) -> None: ...  # fmt: skip

    def __init__(
        self, dataset: Dataset[Any], batch_size: int | None = 1, shuffle: bool | None = None,
        sampler: Iterable[Any] | None = None, batch_sampler: Iterable[Any] | None = None,
        num_workers: int = 0, collate_fn: Callable[[Any], Any] | None = None,
        pin_memory: bool = False, drop_last: bool = False, timeout: float = 0,
        worker_init_fn: Callable[[int], Any] | None = None, multiprocessing_context: Any = None,
        generator: Any = None, *, prefetch_factor: int | None = None,
        persistent_workers: bool = False, pin_memory_device: str = "", in_order: bool = True,
    ) -> None:  # fmt: skip
        check_arguments(
            streaming=isinstance(dataset, IterableDataset),
            batch_size=batch_size,
            shuffle=shuffle,
            sampler=sampler,
            batch_sampler=batch_sampler,
            num_workers=num_workers,
            drop_last=drop_last,
            timeout=timeout,
            prefetch_factor=prefetch_factor,
            persistent_workers=persistent_workers,
        )
        self.dataset = dataset
        self.num_workers = num_workers
        self.prefetch_factor = 2 if num_workers and prefetch_factor is None else prefetch_factor
        self.pin_memory = pin_memory
        self.pin_memory_device = pin_memory_device
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.multiprocessing_context = multiprocessing_context
        self.generator = generator
        self.persistent_workers = persistent_workers
        self.in_order = in_order
        sampler = self._make_sampler(bool(shuffle)) if sampler is None else sampler
        if batch_sampler is not None:
            batch_size, drop_last = None, False
        elif batch_size is not None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.sampler = sampler
        self.batch_sampler = batch_sampler
        if collate_fn is None:
            collate_fn = _default_collate_fn(batch_sampler is not None)
        self.collate_fn = collate_fn
        self._IterableDataset_len_called: int | None = None
        self._iterator: Any = None
        self.__initialized = True
        self.check_worker_number_rationality()

    @property
    def multiprocessing_context(self) -> Any:
        """Start method of workers."""
        return self.__multiprocessing_context

    @multiprocessing_context.setter
    def multiprocessing_context(self, multiprocessing_context: Any) -> None:
        check_context(self.num_workers, multiprocessing_context)
        self.__multiprocessing_context = multiprocessing_context

    def _make_sampler(self, shuffle: bool) -> Iterable[Any]:
        """Create the default sampler of the dataset: random with ``shuffle``, else sequential."""
        dataset: Any = self.dataset
        if isinstance(dataset, IterableDataset):
            return _InfiniteConstantSampler()
        if shuffle:
            return RandomSampler(dataset, generator=self.generator)
        return SequentialSampler(dataset)

    def __setattr__(self, name: str, value: Any) -> None:
        if self.__initialized and name in _FIXED:
            raise ValueError(
                f"{name} attribute should not be set after {type(self).__name__} is initialized"
            )
        super().__setattr__(name, value)

    @property
    def _dataset_kind(self) -> int:
        """Kind of the dataset, a number of ``_DatasetKind``."""
        return _DatasetKind.find(self.dataset)

    @property
    def _auto_collation(self) -> bool:
        """Whether samples are collated into batches."""
        return self.batch_sampler is not None

    @property
    def _index_sampler(self) -> Any:
        """Sampler of the keys of batches, or of samples without collation."""
        return self.batch_sampler if self._auto_collation else self.sampler

    def _get_iterator(self) -> Any:
        """Create an iterator over batches; ``iter`` calls it, with persistent workers only once."""
        if self.num_workers == 0 or not _has_processes():
            return _SingleProcessDataLoaderIter(self)
        self.check_worker_number_rationality()
        return _MultiProcessingDataLoaderIter(self)

    @overload
    def __iter__(self: DataLoader[Any, _Unknown]) -> Iterator[Any]: ...

    @overload
    def __iter__(self: DataLoader[_Tuple, _Collated]) -> Iterator[_Tuple]: ...

    @overload
    def __iter__(
        self: DataLoader[tuple[_Sample, ...], _Collated],
    ) -> Iterator[list[Tensor]]: ...

    @overload
    def __iter__(
        self: DataLoader[Mapping[_Key, _Sample], _Collated],
    ) -> Iterator[dict[_Key, Tensor]]: ...

    @overload
    def __iter__(self: DataLoader[_Sample, _Collated]) -> Iterator[Tensor]: ...

    @overload
    def __iter__(self: DataLoader[Any, _Collated]) -> Iterator[Any]: ...

    @overload
    def __iter__(self) -> Iterator[Batch_co]: ...

    def __iter__(self) -> Iterator[Any]:
        if not (self.persistent_workers and self.num_workers):
            return self._get_iterator()  # type: ignore[no-any-return]
        if self._iterator is None:
            self._iterator = self._get_iterator()
        elif isinstance(self._iterator, _MultiProcessingDataLoaderIter):
            self._iterator._reset(self)
        else:
            return self._get_iterator()  # type: ignore[no-any-return]
        return self._iterator

    def __class_getitem__(cls, item: Any) -> GenericAlias:
        return GenericAlias(cls, item)

    def __len__(self) -> int:
        if not isinstance(self.dataset, IterableDataset):
            return len(self._index_sampler)
        length = len(self.dataset)  # type: ignore[arg-type]
        self._IterableDataset_len_called = length
        if self.batch_size is None:
            return length
        whole, rest = divmod(length, self.batch_size)
        return whole if self.drop_last or not rest else whole + 1

    def __repr__(self) -> str:
        options: dict[str, Any] = {"batch_size": self.batch_size}
        if type(self.sampler) is not SequentialSampler and not isinstance(
            self.sampler, _InfiniteConstantSampler
        ):
            options["sampler"] = type(self.sampler).__name__
        if self.batch_sampler is not None and type(self.batch_sampler) is not BatchSampler:
            options |= {"batch_size": None, "batch_sampler": type(self.batch_sampler).__name__}
        options |= {name: True for name in ("drop_last", "pin_memory") if getattr(self, name)}
        if self.num_workers:
            options["num_workers"] = self.num_workers
        text = ", ".join(f"{name}={value}" for name, value in options.items())
        return f"{type(self).__name__}({short_repr(self.dataset)}, {text})"

    def check_worker_number_rationality(self) -> None:
        """Warn if there are more worker processes than processors.

        Example:
            >>> from tinytorch.utils.data import DataLoader
            >>> DataLoader([1, 2]).check_worker_number_rationality()
        """
        limit = _processor_count()
        is_thread = self.multiprocessing_context == "thread"
        if self.num_workers > limit and _has_processes() and not is_thread:
            warn(
                f"This DataLoader will create {self.num_workers} worker processes in total. Our "
                f"suggested max number of worker in current system is {limit}, which is smaller "
                "than what this DataLoader is going to create: more workers than processors may "
                "slow each other down."
            )


def _processor_count() -> int:
    """Number of processors that this process may use."""
    allowed = getattr(os, "sched_getaffinity", None)
    return (os.cpu_count() or 1) if allowed is None else len(allowed(0))


class _InfiniteConstantSampler(Sampler[None]):
    """Sampler of an iterable dataset: yields None as keys without end."""

    def __iter__(self) -> Iterator[None]:
        return itertools.repeat(None)


class _BaseDataLoaderIter:
    """Iterator of one pass over a loader.

    The seed of the workers is drawn first, even without workers, and that of the sampler with the
    first key: the order is then that of PyTorch.
    """

    #: PyTorch's distributed settings of data pipes, without effect.
    _shared_seed: int | None = None
    _pg: Any = None
    _world_size, _rank = 1, 0

    def __init__(self, loader: DataLoader[Any]) -> None:
        self._dataset = loader.dataset
        self._dataset_kind = loader._dataset_kind
        self._auto_collation = loader._auto_collation
        self._drop_last = loader.drop_last
        self._index_sampler = loader._index_sampler
        self._num_workers = loader.num_workers
        self._pin_memory_device = loader.pin_memory_device or None
        self._timeout = loader.timeout
        self._collate_fn = loader.collate_fn
        self._persistent_workers = loader.persistent_workers
        self._base_seed = sampler.seed(loader.generator)
        self._profile_name = f"enumerate(DataLoader)#{type(self).__name__}.__next__"
        self._reset(loader)

    def _reset(self, loader: DataLoader[Any], first_iter: bool = False) -> None:
        """Start a pass over a loader; ``first_iter`` is ignored."""
        self._sampler_iter = iter(self._index_sampler)
        self._num_yielded = 0
        self._IterableDataset_len_called = loader._IterableDataset_len_called
        self._pin = find_pin_function(loader.pin_memory, loader.pin_memory_device)

    @property
    def _pin_memory(self) -> bool:
        """Whether batches are copied into pinned memory."""
        return self._pin is not None

    def __iter__(self) -> Iterator[Any]:
        return self

    def __len__(self) -> int:
        return len(self._index_sampler)

    @short
    def __next__(self) -> Any:
        batch = self._next_data()
        self._num_yielded += 1
        length = self._IterableDataset_len_called
        if length is not None and self._num_yielded > length:
            self._warn_of_length()
        return batch if self._pin is None else self._pin(batch)

    def _next_index(self) -> Any:
        """Read the next key; may raise StopIteration."""
        return next(self._sampler_iter)

    def _next_data(self) -> Any:
        """Return the next batch; ``next`` calls it."""
        raise NotImplementedError

    #: Usual reason of more samples than the dataset's length, for the warning.
    _length_hint = ""

    def _warn_of_length(self) -> None:
        """Warn that an ``IterableDataset`` has more samples than its ``len``."""
        warn(
            f"Length of IterableDataset {self._dataset} was reported to be "
            f"{self._IterableDataset_len_called} (when accessing len(dataloader)), but "
            f"{self._num_yielded} samples have been fetched. {self._length_hint}"
        )


def _has_processes() -> bool:
    """Whether the platform has processes; if not, warn once."""
    if sys.platform in ("emscripten", "wasi"):
        warn_once(
            "DataLoader: there are no processes here; num_workers is ignored, and batches are made "
            "when they are asked for."
        )
        return False
    return True


class _SingleProcessDataLoaderIter(_BaseDataLoaderIter):
    """Iterator without workers, which makes each batch in ``next``."""

    def _reset(self, loader: DataLoader[Any], first_iter: bool = False) -> None:
        super()._reset(loader, first_iter)
        self._dataset_fetcher = _DatasetKind.create_fetcher(
            self._dataset_kind,
            self._dataset,
            self._auto_collation,
            self._collate_fn,
            self._drop_last,
        )

    def _next_data(self) -> Any:
        return self._dataset_fetcher.fetch(self._next_index())


class _MultiProcessingDataLoaderIter(_BaseDataLoaderIter):
    """Iterator with workers, each of which makes up to ``prefetch_factor`` batches in advance."""

    _length_hint = (
        "For multiprocessing data-loading, this could be that each worker's copy of the dataset "
        "yields all of them: see get_worker_info()."
    )

    def __init__(self, loader: DataLoader[Any]) -> None:
        self.workers: Any = None  # LoaderWorkers, once ``_reset`` has started them
        super().__init__(loader)

    def _reset(self, loader: DataLoader[Any], first_iter: bool = False) -> None:
        """Start a pass, with the workers of the previous one if there are any."""
        if self.workers is not None:
            self._drop_pass()
        super()._reset(loader, first_iter)
        self._timeout = loader.timeout
        self._in_order = loader.in_order
        self._send_idx = 0
        self._rcvd_idx = 0
        self.arrived: dict[int, Any] = {}
        self.owner: dict[int, int] = {}
        if self.workers is None:
            self._worker_init_fn = loader.worker_init_fn
            self._prefetch_factor = 2 if loader.prefetch_factor is None else loader.prefetch_factor
            if self._prefetch_factor < 1:
                raise ValueError(
                    f"prefetch_factor must be greater than 0, got {self._prefetch_factor}"
                )
            self.workers = self._start_workers(loader)
        self._workers_status = [True] * self._num_workers
        self._worker_queue_idx_cycle = itertools.cycle(range(self._num_workers))
        for _ in range(self._prefetch_factor * self._num_workers):
            self._try_put_index()

    def _start_workers(self, loader: DataLoader[Any]) -> LoaderWorkers:
        """Start the workers of this iterator."""
        jobs = [
            WorkerJob(
                WorkerInfo(i, self._num_workers, self._base_seed + i, self._dataset),
                self._base_seed, self._worker_init_fn,
                self._auto_collation, self._collate_fn, self._drop_last
            )
            for i in range(self._num_workers)
        ]  # fmt: skip
        method = loader.multiprocessing_context
        stop_abandoned_workers()
        if method == "thread":
            return ThreadWorkers(jobs, self)
        from ._processes import ProcessWorkers  # imported here, because few programs need it

        return ProcessWorkers(jobs, method, self)

    @property
    def _workers(self) -> list[Any]:
        """Worker processes; empty if workers are threads."""
        return list(getattr(self.workers, "processes", ()))

    @property
    def _tasks_outstanding(self) -> int:
        """Number of batches that have been requested and not received."""
        return len(self.owner)

    @property
    def _shutdown(self) -> bool:
        """Whether the workers have been stopped."""
        return self.workers is not None and self.workers.is_stopped

    def _shutdown_workers(self) -> None:
        """Stop the workers; Lightning calls this when training ends."""
        self.workers.stop()

    def _mark_worker_as_unavailable(self, worker_id: int, shutdown: bool = False) -> None:
        """Send no more keys to a worker, whose dataset is exhausted."""
        self._workers_status[worker_id] = False

    def _drop_pass(self) -> None:
        """Discard the remaining batches of a pass, and let the workers reopen their datasets."""
        while self.owner:
            self._receive()
        for worker in range(self._num_workers):
            self.workers.submit(worker, -1, REOPEN)

    def _try_put_index(self) -> None:
        """Send the next key to the next worker whose dataset is not exhausted."""
        worker = self._next_worker()
        if worker is None:
            return
        try:
            key = self._next_index()
        except StopIteration:
            return
        self.owner[self._send_idx] = worker
        self.workers.submit(worker, self._send_idx, key)
        self._send_idx += 1

    def _next_worker(self) -> int | None:
        """Index of the next worker in turn whose dataset is not exhausted; None without one.

        Without ``in_order``, workers that have their share of requested batches are skipped.
        """
        share = self._prefetch_factor * self._num_workers // max(sum(self._workers_status), 1)
        busy = Counter(() if self._in_order else self.owner.values())
        turns = itertools.islice(self._worker_queue_idx_cycle, self._num_workers)
        return next((i for i in turns if self._workers_status[i] and busy[i] < share), None)

    def _receive(self) -> tuple[int, Any]:
        """Wait for an answer of any worker.

        Returns:
            The number of the batch, and a pair of the worker's index and the batch.

        Raises:
            RuntimeError: After the loader's timeout.
        """
        try:
            task, batch = self.workers.receive(self._timeout)
        except TimeoutError:
            raise RuntimeError(f"DataLoader timed out after {self._timeout} seconds") from None
        return task, (self.owner.pop(task), batch)

    def _next_data(self) -> Any:
        while self.owner or self.arrived:
            worker, batch = self._next_answer()
            if batch is ENDED:
                self._mark_worker_as_unavailable(worker)
                self._try_put_index()
                continue
            return self._process_data(batch, worker)
        if not self._persistent_workers:
            self.workers.stop()
        raise StopIteration

    def _process_data(self, data: Any, worker_id: int, data_idx: int | None = None) -> Any:
        """Request another batch, and return a received one or raise the worker's error.

        Args:
            data: The batch, or a ``WorkerFailure``.
            worker_id: Ignored, as ``data_idx``: PyTorch's method has both arguments.
            data_idx: Ignored.
        """
        self._try_put_index()
        if isinstance(data, WorkerFailure):
            data.reraise()
        return data

    def _next_answer(self) -> Any:
        """Pair of a worker's index and the next batch.

        Batches that arrive early wait in ``arrived``; without ``in_order``, any batch is the next.
        """
        if not self._in_order:
            return self._receive()[1]
        while self._rcvd_idx not in self.arrived:
            task, answer = self._receive()
            self.arrived[task] = answer
        self._rcvd_idx += 1
        return self.arrived.pop(self._rcvd_idx - 1)


def _default_collate_fn(batched: bool) -> Callable[[Any], Any]:
    """Default ``collate_fn`` of a loader: that of batches if ``batched``, or that of samples.

    Both are public functions, because spawned workers unpickle them by name.
    """
    return collate.default_collate if batched else collate.default_convert


_worker_init_fn_t = Callable[[int], None]
_collate_fn_t = Callable[[list[Any]], Any]
