"""What a worker of a loader does, wherever it runs, and the workers that are threads.

Batch ``n`` goes to worker ``n % num_workers``, so that what a worker does depends on its
number and seed alone. A worker does not refer to the iterator: when the iterator is gone the
workers end by themselves, and the program waits for them when it next uses a loader, or exits.
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
    "ENDED", "Failure", "Job", "Maker", "Team", "Threads", "WorkerInfo", "get_worker_info",
    "stop_dropped", "work",
]  # fmt: skip


class _Sign:
    """A constant that is itself after a pickle, too."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __reduce__(self) -> str:
        return self.name


#: What a worker answers when its stream has come to an end.
ENDED: Final = _Sign("ENDED")
#: Asked of a worker in the place of a batch: to end, and to start its dataset anew.
STOP: Final = _Sign("STOP")
REOPEN: Final = _Sign("REOPEN")


class _Here(threading.local):
    """Which worker runs: told to the class, all threads of this process are that worker."""

    info: WorkerInfo | None = None


_here = _Here()


@dataclass(frozen=True)
class WorkerInfo:
    """Which worker is running.

    Attributes:
        id: Its number, from 0.
        num_workers: How many there are.
        seed: What its random generator was seeded with.
        dataset: The worker's own copy of the dataset: what is assigned to its attributes
            concerns no other worker.

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
    """The worker that is running this code, None in the main program.

    Example:
        >>> from tinytorch.utils.data import get_worker_info
        >>> get_worker_info() is None
        True
    """
    return _here.info


get_worker_info.__module__ = "tinytorch.utils.data"


def be_worker(info: WorkerInfo) -> None:
    """Let this process, with all its threads, be a worker."""
    _Here.info = info


@dataclass(frozen=True)
class Failure:
    """An error in a worker, to be raised where the batch is asked for."""

    kind: type[BaseException]
    text: str

    @classmethod
    def of(cls, error: BaseException, worker: int) -> Failure:
        """What is to be told of an error, in PyTorch's words."""
        kind = type(error)
        original = "".join(traceback.format_exception(error))
        # Programs look for this, wherever the worker runs.
        text = f"Caught {kind.__name__} in DataLoader worker process {worker}."
        return cls(kind, f"{text}\nOriginal {original}")

    def reraise(self) -> NoReturn:
        """Raise an error of the same type that tells where it happened, as PyTorch does.

        Raises:
            RuntimeError: In the place of an error that takes other arguments than a text.
        """
        text = _Verbatim(self.text) if self.kind is KeyError else self.text
        try:
            error = self.kind(text)
        except Exception:
            raise RuntimeError(text) from None
        raise error from None


class _Verbatim(str):
    """A text that KeyError shows as it is; it quotes others."""

    def __repr__(self) -> str:
        return str(self)


@dataclass(frozen=True)
class Job:
    """What a worker is to do.

    Attributes:
        info: Which worker it is, and the dataset.
        base_seed: The seed of the first worker.
        init: The user's ``worker_init_fn``, or None.
        batched: Whether a key is a list of indices, for a list of samples.
        collate_fn: From the sample, or the list of samples, to a batch.
        drop_last: Refuse a last list that is shorter than asked for.
    """

    info: WorkerInfo
    base_seed: int
    init: Callable[[int], Any] | None
    batched: bool
    collate_fn: Callable[[Any], Any]
    drop_last: bool

    def open(self) -> _BaseDatasetFetcher:
        """Open the dataset: the fetcher of its batches."""
        dataset = self.info.dataset
        return _DatasetKind.create_fetcher(
            _DatasetKind.find(dataset), dataset, self.batched, self.collate_fn, self.drop_last
        )

    def with_own_dataset(self) -> Job:
        """The job with a dataset whose attributes the worker may set."""
        whole = self.info.dataset
        own = copy.copy(whole) if hasattr(whole, "__dict__") else whole
        init = self.init
        if isinstance(init, types.MethodType) and init.__self__ is whole:
            init = types.MethodType(init.__func__, own)
        return replace(self, info=replace(self.info, dataset=own), init=init)


#: Teams that have not been stopped.
_teams: set[Team] = set()


class Team:
    """Workers, by their numbers.

    Args:
        iterator: The workers end when it is gone.
    """

    def __init__(self, iterator: Any) -> None:
        self._iterator = ref(iterator)
        self._calls: list[CallingRef] = []
        _stop_at_exit()
        _teams.add(self)

    def end_with_iterator(self, end: Callable[[], object]) -> None:
        """Call ``end``, a C function as ``CallingRef`` needs it, when the iterator is gone."""
        iterator = self._iterator()
        if iterator is not None:
            self._calls.append(CallingRef(iterator, end))

    def is_dropped(self) -> bool:
        """Whether the iterator is gone."""
        return self._iterator() is None

    @property
    def is_stopped(self) -> bool:
        """Whether ``stop`` was called."""
        return self not in _teams

    def submit(self, worker: int, task: int, key: Any) -> None:
        """Ask a worker for a batch, or send it one of the signs."""
        raise NotImplementedError

    def receive(self, timeout: float) -> tuple[int, Any]:
        """Wait for the next answer: the number of a task, and a batch, ``ENDED`` or a ``Failure``.

        Raises:
            TimeoutError: If none has come within so many seconds; 0 waits forever.
        """
        raise NotImplementedError

    def stop(self) -> None:
        """Let the workers end after what they are doing."""
        self._calls.clear()
        self._stop()
        _teams.discard(self)

    def _stop(self) -> None:
        raise NotImplementedError


def stop_dropped() -> None:
    """Stop the teams whose iterators are gone: their workers have ended, or are about to."""
    for team in list(_teams):
        if team.is_dropped():
            team.stop()


def forget_teams() -> None:
    """In a forked process: leave the workers to the process that started them."""
    for team in _teams:
        team._calls.clear()
    _teams.clear()


@functools.cache
def _stop_at_exit() -> None:
    atexit.register(_stop_all)


def _stop_all() -> None:
    for team in list(_teams):
        team.stop()


def work(tasks: Any, make: Maker, answer: Callable[[int, Any], object]) -> None:
    """Answer tasks until one of them says to stop."""
    while True:
        task, key = tasks.get()
        if key is STOP:
            return
        if key is REOPEN:
            make.reopen()
        else:
            answer(task, make(key))


class Maker:
    """Makes batches, and turns what goes wrong into an answer."""

    def __init__(self, job: Job, prepare: Callable[[Job], object]) -> None:
        self.job = job
        self.prepare: Callable[[Job], object] | None = prepare
        self.fetcher: _BaseDatasetFetcher | None = None

    def reopen(self) -> None:
        """Start the dataset anew for the next batch."""
        self.fetcher = None

    def _start(self) -> None:
        """Have random streams of its own, then run the user's ``init``."""
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
            streaming = self.fetcher is not None and isinstance(
                self.job.info.dataset, IterableDataset
            )
            return ENDED if streaming else Failure.of(end, self.job.info.id)
        except Exception as error:  # raised again in the program that asked
            return Failure.of(error, self.job.info.id)


class Threads(Team):
    """Workers that are threads, with random streams of their own for tensors alone."""

    def __init__(self, jobs: list[Job], iterator: Any) -> None:
        # First what ``_stop`` reads: Ctrl-C may come at any line once the team is known.
        self.results: queue.SimpleQueue[tuple[int, Any]] = queue.SimpleQueue()
        self.tasks: list[queue.SimpleQueue[tuple[int, Any]]] = [queue.SimpleQueue() for _ in jobs]
        super().__init__(iterator)
        for job, tasks in zip(jobs, self.tasks, strict=True):
            self.end_with_iterator(functools.partial(tasks.put, (-1, STOP)))
            threading.Thread(
                target=_run_thread,
                args=(job.with_own_dataset(), tasks, self.results),
                name=f"DataLoader worker {job.info.id}",
                daemon=True,
            ).start()

    def submit(self, worker: int, task: int, key: Any) -> None:
        """See ``Team``."""
        self.tasks[worker].put((task, key))

    def receive(self, timeout: float) -> tuple[int, Any]:
        """See ``Team``."""
        try:
            return self.results.get(timeout=timeout or None)
        except queue.Empty:
            raise TimeoutError from None

    def _stop(self) -> None:
        for tasks in self.tasks:
            tasks.put((-1, STOP))


def _run_thread(
    job: Job, tasks: queue.SimpleQueue[Any], results: queue.SimpleQueue[tuple[int, Any]]
) -> None:
    _here.info = job.info
    scopes: list[Any] = []

    def own_streams(job: Job) -> None:
        for backend in {backends.load("numpy"), current_backend()}:
            engine = backend.make_generator(job.info.seed)
            scopes.append(generator_context(engine, backend))
            scopes[-1].__enter__()  # until the thread ends

    work(tasks, _Anything(job, own_streams), lambda task, batch: results.put((task, batch)))


class _Anything(Maker):
    """In a thread ``SystemExit``, too, is told where the batch is asked for: no process ends."""

    def __call__(self, key: Any) -> Any:
        try:
            return super().__call__(key)
        except BaseException as error:
            return Failure.of(error, self.job.info.id)
