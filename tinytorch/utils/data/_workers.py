"""Threads that make batches ahead of the program that uses them.

Batch ``n`` goes to worker ``n % num_workers``, so that what a worker does depends on its
number and seed alone. A worker knows the queues and the dataset but not the iterator: when
nobody holds the iterator any more, the workers are told to stop.
"""

from __future__ import annotations

import queue
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, NoReturn

from ... import backends
from ...state import current_backend, generator_context
from ._fetch import Fetch

__all__ = ["ENDED", "Failure", "Worker", "WorkerInfo", "get_worker_info"]

#: What a worker answers when its stream has come to an end.
ENDED: Final = object()
_STOP: Final = object()
_REOPEN: Final = object()

_here = threading.local()


@dataclass(frozen=True)
class WorkerInfo:
    """Which worker is running.

    Attributes:
        id: Its number, from 0.
        num_workers: How many there are.
        seed: What its random generator was seeded with.
        dataset: The worker's own shallow copy of the dataset: what is assigned to its attributes
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
    return getattr(_here, "info", None)


get_worker_info.__module__ = "tinytorch.utils.data"


@dataclass(frozen=True)
class Failure:
    """An error in a worker, to be raised where the batch is asked for."""

    error: BaseException
    worker: int

    def reraise(self) -> NoReturn:
        """Raise an error of the same type that tells where it happened, as PyTorch does.

        Raises:
            RuntimeError: In the place of an error that takes other arguments than a text.
        """
        kind = type(self.error)
        original = "".join(traceback.format_exception(self.error))
        # The worker is a thread, but this is what programs look for.
        text = f"Caught {kind.__name__} in DataLoader worker process {self.worker}."
        text = f"{text}\nOriginal {original}"
        if kind is KeyError:
            text = _Verbatim(text)
        try:
            error = kind(text)
        except Exception:
            raise RuntimeError(text) from None
        raise error from None


class _Verbatim(str):
    """A text that KeyError shows as it is; it quotes others."""

    def __repr__(self) -> str:
        return str(self)


class Worker:
    """One thread, its queue of keys and the shared queue of results.

    Args:
        info: Which worker it is.
        open_dataset: Makes the function that makes batches; called in the thread.
        init: The user's ``worker_init_fn``, or None.
        results: Gets ``(task, batch)`` pairs; a batch may be ``ENDED`` or a ``Failure``.
    """

    def __init__(
        self,
        info: WorkerInfo,
        open_dataset: Callable[[], Fetch],
        init: Callable[[int], Any] | None,
        results: queue.SimpleQueue[tuple[int, Any]],
    ) -> None:
        self.tasks: queue.SimpleQueue[tuple[int, Any]] = queue.SimpleQueue()
        self.thread = threading.Thread(
            target=_work,
            args=(info, open_dataset, init, self.tasks, results),
            name=f"DataLoader worker {info.id}",
            daemon=True,
        )
        self.thread.start()

    def submit(self, task: int, key: Any) -> None:
        """Ask for a batch."""
        self.tasks.put((task, key))

    def reopen(self) -> None:
        """Start the dataset anew, for another pass."""
        self.tasks.put((-1, _REOPEN))

    def stop(self) -> None:
        """Let the thread end after what it is doing."""
        self.tasks.put((-1, _STOP))


def _work(
    info: WorkerInfo,
    open_dataset: Callable[[], Fetch],
    init: Callable[[int], Any] | None,
    tasks: queue.SimpleQueue[tuple[int, Any]],
    results: queue.SimpleQueue[tuple[int, Any]],
) -> None:
    _here.info = info
    make = _Maker(info, open_dataset, init)
    while True:
        task, key = tasks.get()
        if key is _STOP:
            return
        if key is _REOPEN:
            make.reopen()
        else:
            results.put((task, make(key)))


class _Maker:
    """Makes batches, and turns what goes wrong into an answer."""

    def __init__(
        self,
        info: WorkerInfo,
        open_dataset: Callable[[], Fetch],
        init: Callable[[int], Any] | None,
    ) -> None:
        self.info = info
        self.open_dataset = open_dataset
        self.init = init
        self.scopes: list[Any] = []
        self.fetch: Fetch | None = None

    def reopen(self) -> None:
        self.fetch = None

    def _start(self) -> None:
        """Give the thread random streams of its own, then run the user's ``init``."""
        for backend in {backends.load("numpy"), current_backend()}:
            engine = backend.make_generator(self.info.seed)
            scope = generator_context(engine, backend)
            scope.__enter__()  # until the thread ends
            self.scopes.append(scope)
        if self.init is not None:
            self.init(self.info.id)

    def __call__(self, key: Any) -> Any:
        try:
            if not self.scopes:
                self._start()
            if self.fetch is None:
                self.fetch = self.open_dataset()
            return self.fetch(key)
        except StopIteration as end:
            streaming = self.fetch is not None and _is_stream(self.info.dataset)
            return ENDED if streaming else Failure(end, self.info.id)
        except BaseException as error:  # raised again in the thread that asked
            return Failure(error, self.info.id)


def _is_stream(dataset: Any) -> bool:
    from .dataset import IterableDataset

    return isinstance(dataset, IterableDataset)
