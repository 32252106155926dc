"""The loop of a ``DataLoader`` worker, and workers that are threads.

Batch ``n`` goes to worker ``n % num_workers``, so that a worker's batches depend on its index and
seed alone. A worker does not refer to the iterator: when the iterator is destroyed, the workers end
by themselves, and the program waits for them when it next creates workers, or exits.
"""

from __future__ import annotations

import atexit
import copy
import functools
import queue
import threading
import traceback
import types
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final, NoReturn
from weakref import ref

from ... import backends
from ...backends.weak_references import CallingRef
from ...state import current_backend, generator_context
from ._fetch import _BaseDatasetFetcher, _DatasetKind
from .dataset import IterableDataset

__all__ = [
    "ENDED", "BatchMaker", "LoaderWorkers", "ThreadWorkers", "WorkerFailure", "WorkerInfo",
    "WorkerJob", "get_worker_info", "run_worker", "stop_abandoned_workers",
]  # fmt: skip


class _Signal:
    """A constant whose identity survives pickling."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __reduce__(self) -> str:
        return self.name


#: Sent by a worker instead of a batch: its iterable dataset is exhausted.
ENDED: Final = _Signal("ENDED")
#: Sent to a worker instead of a key: end, and iterate over the dataset from its start.
STOP: Final = _Signal("STOP")
REOPEN: Final = _Signal("REOPEN")


class _CurrentWorker(threading.local):
    """The worker of this thread, or of this process if it is set on the class."""

    info: WorkerInfo | None = None


_current = _CurrentWorker()


@dataclass(frozen=True)
class WorkerInfo:
    """Information about a worker.

    Attributes:
        id: Its index, from 0.
        num_workers: Number of workers.
        seed: Seed of its random generator.
        dataset: The worker's copy of the dataset; other workers do not see changes of its
            attributes.

    Example:
        >>> from tinytorch.utils.data import DataLoader, Dataset, get_worker_info
        >>> class Who(Dataset):
        ...     def __len__(self):
        ...         return 2
        ...
        ...     def __getitem__(self, index):
        ...         return get_worker_info().id
        >>> [batch.item() for batch in DataLoader(Who(), num_workers=2)]
        [0, 1]
    """

    id: int
    num_workers: int
    seed: int
    dataset: Any


def get_worker_info() -> WorkerInfo | None:
    """Information about the worker that calls this function; None in the main program.

    Example:
        >>> from tinytorch.utils.data import get_worker_info
        >>> get_worker_info() is None
        True
    """
    return _current.info


get_worker_info.__module__ = "tinytorch.utils.data"


def set_worker_info(info: WorkerInfo) -> None:
    """Make this process, with all its threads, a worker."""
    _CurrentWorker.info = info


@dataclass(frozen=True)
class WorkerFailure:
    """An error in a worker, which is raised again in the main program."""

    kind: type[BaseException]
    text: str

    @classmethod
    def from_error(cls, error: BaseException, worker: int) -> WorkerFailure:
        """Create a failure from an error, with PyTorch's message."""
        kind = type(error)
        original = "".join(traceback.format_exception(error))
        # The message says "process" for threads, too, because programs match it.
        text = f"Caught {kind.__name__} in DataLoader worker process {worker}."
        return cls(kind, f"{text}\nOriginal {original}")

    def reraise(self) -> NoReturn:
        """Raise an error of the same type, whose message has the worker's traceback.

        Raises:
            RuntimeError: If the type cannot be constructed from a message alone.
        """
        text = _UnquotedText(self.text) if self.kind is KeyError else self.text
        try:
            error = self.kind(text)
        except Exception:
            raise RuntimeError(text) from None
        raise error from None


class _UnquotedText(str):
    """A string whose ``repr`` is the string, because ``KeyError`` shows the ``repr``."""

    def __repr__(self) -> str:
        return str(self)


@dataclass(frozen=True)
class WorkerJob:
    """Configuration of a worker.

    Attributes:
        info: Information about the worker, with the dataset.
        base_seed: Seed of the first worker.
        init: The user's ``worker_init_fn``, or None.
        batched: Whether keys are lists of indices, and batches lists of samples.
        collate_fn: Function from a sample, or a list of samples, to a batch.
        drop_last: Whether a last list with fewer samples than indices is dropped.
    """

    info: WorkerInfo
    base_seed: int
    init: Callable[[int], Any] | None
    batched: bool
    collate_fn: Callable[[Any], Any]
    drop_last: bool

    def open(self) -> _BaseDatasetFetcher:
        """Create the fetcher of batches; of an iterable dataset, this calls ``iter``."""
        dataset = self.info.dataset
        return _DatasetKind.create_fetcher(
            _DatasetKind.find(dataset), dataset, self.batched, self.collate_fn, self.drop_last
        )

    def copy_dataset(self) -> WorkerJob:
        """The same job with a shallow copy of the dataset, whose attributes the worker may set."""
        dataset = self.info.dataset
        copied = copy.copy(dataset) if hasattr(dataset, "__dict__") else dataset
        init = self.init
        if isinstance(init, types.MethodType) and init.__self__ is dataset:
            init = types.MethodType(init.__func__, copied)  # a method of the dataset itself
        return replace(self, info=replace(self.info, dataset=copied), init=init)


#: Workers that have not been stopped.
_running: set[LoaderWorkers] = set()


class LoaderWorkers:
    """Base of the workers of one iterator.

    Args:
        iterator: The loader's iterator; the workers end when it is destroyed.
    """

    def __init__(self, iterator: Any) -> None:
        self._iterator = ref(iterator)
        self._calls: list[CallingRef] = []
        _stop_at_exit()
        _running.add(self)

    def end_with_iterator(self, end: Callable[[], object]) -> None:
        """Call a function when the iterator is destroyed.

        Args:
            end: Function that makes a worker end; it must be a C function, see ``CallingRef``.
        """
        iterator = self._iterator()
        if iterator is not None:
            self._calls.append(CallingRef(iterator, end))

    def is_abandoned(self) -> bool:
        """Whether the iterator has been destroyed."""
        return self._iterator() is None

    @property
    def is_stopped(self) -> bool:
        """Whether ``stop`` has been called."""
        return self not in _running

    def submit(self, worker: int, task: int, key: Any) -> None:
        """Send a worker the key of a batch, ``STOP`` or ``REOPEN``.

        Args:
            worker: Index of the worker.
            task: Number of the batch, which its answer has, too.
            key: The key.
        """
        raise NotImplementedError

    def receive(self, timeout: float) -> tuple[int, Any]:
        """Wait for the next answer of any worker.

        Args:
            timeout: Longest time to wait in seconds; 0 waits forever.

        Returns:
            The number of the batch, and the batch, ``ENDED`` or a ``WorkerFailure``.

        Raises:
            TimeoutError: After the timeout.
        """
        raise NotImplementedError

    def stop(self) -> None:
        """Let the workers end after their current batches."""
        self._calls.clear()
        self._stop()
        _running.discard(self)

    def _stop(self) -> None:
        raise NotImplementedError


def stop_abandoned_workers() -> None:
    """Stop the workers of destroyed iterators, which have ended or are about to."""
    for workers in list(_running):
        if workers.is_abandoned():
            workers.stop()


def forget_workers() -> None:
    """Forget all workers, in a forked process, whose parent is responsible for them."""
    for workers in _running:
        workers._calls.clear()
    _running.clear()


@functools.cache
def _stop_at_exit() -> None:
    """Register ``_stop_all`` as an exit handler, once."""
    atexit.register(_stop_all)


def _stop_all() -> None:
    """Stop the workers of all iterators."""
    for workers in list(_running):
        workers.stop()


def run_worker(tasks: Any, make: BatchMaker, answer: Callable[[int, Any], object]) -> None:
    """Make the batches of a worker, until ``STOP`` is received.

    Args:
        tasks: Queue of pairs of a batch's number and its key.
        make: Makes the batch of a key.
        answer: Called with the number and the batch.
    """
    while True:
        task, key = tasks.get()
        if key is STOP:
            return
        if key is REOPEN:
            make.reopen()
        else:
            answer(task, make(key))


class BatchMaker:
    """Makes the batches of a worker; errors become a ``WorkerFailure``.

    Args:
        job: Configuration of the worker.
        prepare: Called with the job before the first batch, to seed the generators.
    """

    def __init__(self, job: WorkerJob, prepare: Callable[[WorkerJob], object]) -> None:
        self.job = job
        self.prepare: Callable[[WorkerJob], object] | None = prepare
        self.fetcher: _BaseDatasetFetcher | None = None

    def reopen(self) -> None:
        """Create a new fetcher for the next batch."""
        self.fetcher = None

    def _start(self) -> None:
        """Prepare for a batch: create the fetcher if there is none.

        The first call seeds the generators and calls the user's ``worker_init_fn``, too.
        """
        if self.prepare is not None:
            self.prepare(self.job)
            self.prepare = None
            if self.job.init is not None:
                self.job.init(self.job.info.id)
        if self.fetcher is None:
            self.fetcher = self.job.open()

    def __call__(self, key: Any) -> Any:
        try:
            self._start()
            return self.fetcher.fetch(key)  # type: ignore[union-attr]
        except StopIteration as end:
            is_end = self.fetcher is not None and isinstance(self.job.info.dataset, IterableDataset)
            return ENDED if is_end else WorkerFailure.from_error(end, self.job.info.id)
        except Exception as error:  # raised again in the main program
            return WorkerFailure.from_error(error, self.job.info.id)


class ThreadWorkers(LoaderWorkers):
    """Workers that are threads, each with its own generator for tensors, but not for Python."""

    def __init__(self, jobs: list[WorkerJob], iterator: Any) -> None:
        # ``_stop`` needs these attributes, and Ctrl-C can call it at any line after
        # ``super().__init__``.
        self.results: queue.SimpleQueue[tuple[int, Any]] = queue.SimpleQueue()
        self.tasks: list[queue.SimpleQueue[tuple[int, Any]]] = [queue.SimpleQueue() for _ in jobs]
        super().__init__(iterator)
        for job, tasks in zip(jobs, self.tasks, strict=True):
            self.end_with_iterator(functools.partial(tasks.put, (-1, STOP)))
            threading.Thread(
                target=_run_thread,
                args=(job.copy_dataset(), tasks, self.results),
                name=f"DataLoader worker {job.info.id}",
                daemon=True,
            ).start()

    def submit(self, worker: int, task: int, key: Any) -> None:
        """Send a worker a key; see ``LoaderWorkers``."""
        self.tasks[worker].put((task, key))

    def receive(self, timeout: float) -> tuple[int, Any]:
        """Wait for the next answer; see ``LoaderWorkers``."""
        try:
            return self.results.get(timeout=timeout or None)
        except queue.Empty:
            raise TimeoutError from None

    def _stop(self) -> None:
        for tasks in self.tasks:
            tasks.put((-1, STOP))


def _run_thread(
    job: WorkerJob, tasks: queue.SimpleQueue[Any], results: queue.SimpleQueue[tuple[int, Any]]
) -> None:
    """Run a worker in a thread, with generators of its own for tensors.

    Args:
        job: Configuration of the worker.
        tasks: Queue of pairs of a batch's number and its key.
        results: Queue for pairs of a batch's number and the batch.
    """
    _current.info = job.info
    scopes: list[Any] = []

    def seed_generators(job: WorkerJob) -> None:
        for backend in {backends.load("numpy"), current_backend()}:
            engine = backend.make_generator(job.info.seed)
            scopes.append(generator_context(engine, backend))
            scopes[-1].__enter__()  # until the thread ends

    make = _ThreadBatchMaker(job, seed_generators)
    run_worker(tasks, make, lambda task, batch: results.put((task, batch)))


class _ThreadBatchMaker(BatchMaker):
    """Batch maker in a thread, where ``SystemExit`` becomes a failure, too: no process ends."""

    def __call__(self, key: Any) -> Any:
        try:
            return super().__call__(key)
        except BaseException as error:
            return WorkerFailure.from_error(error, self.job.info.id)
