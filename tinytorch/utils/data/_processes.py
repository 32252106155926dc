"""Workers of a ``DataLoader`` that are processes, each connected by a pipe.

Reference: https://docs.pytorch.org/docs/stable/data.html#multi-process-data-loading
"""

from __future__ import annotations

import contextlib
import functools
import os
import queue
import random
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from multiprocessing import connection, context
from typing import Any, NoReturn

from ...backends import list_backends, load, register_backend, registered
from ...backends.numpy import memory
from ...multiprocessing import get_context
from ...multiprocessing.messages import receive, send, call_when_parent_ends
from ...random import manual_seed
from ...state import State, get_state
from ...state.settings import get_num_threads, set_num_threads
from ._workers import (
    STOP, BatchMaker, LoaderWorkers, WorkerFailure, WorkerJob, forget_workers, run_worker,
    set_worker_info,
)  # fmt: skip

__all__ = ["ProcessWorkers"]

#: Seconds that workers have to end by themselves, and between checks that all are alive.
_PATIENCE = 5.0

#: This process's ends of the pipes. A forked child closes its copies, so that the pipes are closed
#: when this process ends.
_ends: set[Any] = set()


def _close_copies() -> None:
    """Close a forked child's copies of the ends of pipes; the workers belong to its parent."""
    for end in list(_ends):
        end.close()
    _ends.clear()
    forget_workers()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_copies)


class ProcessWorkers(LoaderWorkers):
    """Workers that are processes; ``stop`` ends all of them.

    Args:
        jobs: Configurations of the workers.
        method: Start method: its name, a context, or None for the default of the system.
        iterator: The loader's iterator; see ``LoaderWorkers``.
    """

    def __init__(self, jobs: list[WorkerJob], method: Any, iterator: Any) -> None:
        # ``_stop`` needs these attributes, and Ctrl-C can call it at any line after
        # ``super().__init__``.
        self.owner = os.getpid()
        self.connections: list[Any] = []
        self.processes: list[Any] = []
        self.lost = ""
        super().__init__(iterator)
        start = method if isinstance(method, context.BaseContext) else get_context(method)
        _prepare_fork()
        try:
            for job in jobs:
                self._start(start, job)
        except BaseException:
            self.stop()
            raise

    def _start(self, start: Any, job: WorkerJob) -> None:
        """Start the process of a worker.

        Args:
            start: The multiprocessing context.
            job: Configuration of the worker.
        """
        own_end, worker_end = start.Pipe()
        state = get_state()
        # A process that is not forked has to register the program's own backend again.
        loaders = {name: each for name, each in registered().items() if name == str(state.backend)}
        _ends.add(own_end)
        process = start.Process(
            target=_run_process,
            args=(worker_end, job, state, loaders),
            name=f"DataLoader worker {job.info.id}",
            daemon=True,
        )
        self.connections.append(own_end)
        if memory.POSSIBLE:
            # The worker then reads EOF, even if another process has a copy of this end of the pipe.
            shutdown = memory.c_library().shutdown
            self.end_with_iterator(functools.partial(shutdown, own_end.fileno(), socket.SHUT_RDWR))
        process.start()
        self.processes.append(process)
        worker_end.close()  # so that the pipe is closed when the process ends

    def submit(self, worker: int, task: int, key: Any) -> None:
        """Send a worker a key; see ``LoaderWorkers``."""
        try:
            send(self.connections[worker], task, key)
        except OSError:
            self._fail([self.processes[worker]])

    def receive(self, timeout: float) -> tuple[int, Any]:
        """Wait for the next answer; see ``LoaderWorkers``.

        Raises:
            RuntimeError: If a process has ended unexpectedly.
        """
        deadline = time.monotonic() + timeout if timeout else float("inf")
        while not self.lost:
            seconds = min(deadline - time.monotonic(), _PATIENCE)
            if seconds < 0:
                raise TimeoutError
            for ready in connection.wait(self.connections, seconds):
                return self._read(self.connections.index(ready))
            self._check_alive()
        raise RuntimeError(self.lost)

    def _read(self, worker: int) -> tuple[int, Any]:
        """Receive an answer of a worker, whose pipe is readable.

        Returns:
            The number of the batch, and the batch; a ``WorkerFailure`` if it cannot be unpickled.
        """
        try:
            task, unpickle = receive(self.connections[worker])
        except (EOFError, ConnectionError):
            self._fail([self.processes[worker]])
        try:
            return task, unpickle()
        except Exception as error:
            return task, WorkerFailure.from_error(error, worker)

    def _check_alive(self) -> None:
        """Raise a ``RuntimeError`` if a process has ended."""
        dead = [process for process in self.processes if _has_ended(process)]
        if dead:
            self._fail(dead)

    def _fail(self, dead: list[Any]) -> NoReturn:
        """Stop all workers, and raise an error that names the processes that have ended."""
        for process in dead:
            process.join(_PATIENCE)
        pids = ", ".join(str(process.pid) for process in dead)
        reasons = ", ".join(_describe_exit(process.exitcode) for process in dead)
        self.lost = f"DataLoader worker (pid(s) {pids}) exited unexpectedly: {reasons}"
        self.stop()
        raise RuntimeError(self.lost)

    def _stop(self) -> None:
        """Wait for the processes to end; terminate, then kill, those that take too long."""
        if os.getpid() != self.owner:  # a forked copy
            return
        for each in self.connections:
            with contextlib.suppress(OSError):  # the process has ended, or the pipe is closed
                send(each, -1, STOP)
            _ends.discard(each)
            each.close()
        deadline = time.monotonic() + _PATIENCE
        for method in (None, "terminate", "kill"):  # first wait, then end by force
            for process in self.processes:
                if method is not None and not _has_ended(process):
                    getattr(process, method)()
                    deadline = time.monotonic() + 1
                process.join(max(deadline - time.monotonic(), 0))
        # Close explicitly: the finalizer of a process runs in a callback of a weak reference, where
        # Python ignores exceptions, so that a KeyboardInterrupt would be lost.
        while self.processes:
            # A Ctrl-C between ``waitpid`` and the assignment of its result makes multiprocessing
            # lose the exit code, and then call the ended process a running one.
            with contextlib.suppress(ValueError):
                self.processes.pop().close()


def _prepare_fork() -> None:
    """Fill caches before a fork: otherwise each worker would take 30 ms to fill them itself."""
    get_num_threads()  # finds the BLAS
    list_backends()  # finds backends of other distributions


def _has_ended(process: Any) -> bool:
    """Whether a process has ended, even if multiprocessing has lost its exit code."""
    return bool(connection.wait([process.sentinel], 0))


def _describe_exit(code: int | None) -> str:
    """Text of the exit code of a process, or of the signal that killed it."""
    if code is None or code >= 0:
        return f"with exit code {code}"
    return f"killed by signal {signal.Signals(-code).name}"


def _run_process(pipe: Any, job: WorkerJob, state: State, loaders: dict[str, Any]) -> None:
    """Run a worker in a process.

    Args:
        pipe: The worker's end of the pipe.
        job: Configuration of the worker.
        state: State of the program: backend, default dtype and grad mode.
        loaders: The program's own backend to register, by name.
    """
    try:
        call_when_parent_ends(lambda: os._exit(1))
        set_worker_info(job.info)

        def prepare(job: WorkerJob) -> None:
            for name in loaders.keys() - registered().keys():  # a forked process has them
                register_backend(name, loaders[name])
            state.apply()
            set_num_threads(1)
            _seed(job)

        tasks: queue.SimpleQueue[tuple[int, Any]] = queue.SimpleQueue()
        threading.Thread(target=_listen, args=(pipe, tasks), daemon=True).start()
        run_worker(tasks, BatchMaker(job, prepare), _make_sender(pipe, job.info.id))
    except (KeyboardInterrupt, ConnectionError):
        pass  # the program is interrupted, too, or does not receive answers any more


def _listen(pipe: Any, tasks: queue.SimpleQueue[tuple[int, Any]]) -> None:
    """Move keys from the pipe to a queue at once, so that the program never blocks on a full pipe.

    A closed pipe counts as ``STOP``.
    """
    key = None
    while key is not STOP:
        try:
            task, unpickle = receive(pipe)
            key = unpickle()
        except (EOFError, OSError):
            task, key = -1, STOP
        tasks.put((task, key))


def _make_sender(pipe: Any, worker: int) -> Callable[[int, Any], None]:
    """Function that sends the number of a batch and the batch to the program.

    A batch that cannot be pickled is replaced by a ``WorkerFailure``.

    Args:
        pipe: The worker's end of the pipe.
        worker: Index of the worker, for errors.
    """

    def send_batch(task: int, batch: Any) -> None:
        try:
            send(pipe, task, batch)
        except ConnectionError:
            raise
        except Exception as error:  # it cannot be pickled
            kind = batch.kind if isinstance(batch, WorkerFailure) else type(error)
            failure = (
                batch
                if isinstance(batch, WorkerFailure)
                else WorkerFailure.from_error(error, worker)
            )
            send(pipe, task, WorkerFailure(_picklable_type(kind), failure.text))

    return send_batch


def _picklable_type(kind: type[BaseException]) -> type[BaseException]:
    """Exception type that stands for another: itself if its name finds it, else RuntimeError.

    A class is pickled by its module and name, so that a local class cannot be unpickled.
    """
    found: Any = sys.modules.get(getattr(kind, "__module__", ""))
    for name in kind.__qualname__.split("."):
        found = getattr(found, name, None)
    return kind if found is kind else RuntimeError


def _seed(job: WorkerJob) -> None:
    """Seed the generators of Python, of tensors and of NumPy in a worker, as PyTorch does.

    NumPy's seed is made of 32-bit words: the worker's index and the two halves of the base seed.
    """
    random.seed(job.info.seed)
    manual_seed(job.info.seed)
    numpy_random = load("numpy").library.random
    words = [job.info.id, job.base_seed & 0xFFFFFFFF, job.base_seed >> 32, 0]
    numpy_random.seed(numpy_random.SeedSequence(words).generate_state(4))
