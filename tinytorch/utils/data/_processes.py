"""Workers of a loader that are processes: their questions and answers go through a pipe for each.

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
from ...multiprocessing.messages import receive, send, when_parent_ends
from ...random import manual_seed
from ...state import State, get_state
from ...state.settings import get_num_threads, set_num_threads
from ._workers import STOP, Failure, Job, Maker, Team, be_worker, forget_teams, work

__all__ = ["Processes"]

#: Seconds that workers have to end by themselves, and between two looks whether one has died.
_PATIENCE = 5.0

#: This process's ends of the pipes. A child that is forked closes its copies, so that the end of
#: this process is the end of the pipe.
_ends: set[Any] = set()


def _close_copies() -> None:
    for end in list(_ends):
        end.close()
    _ends.clear()
    forget_teams()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_copies)


class Processes(Team):
    """The processes; ``stop`` leaves none behind.

    Args:
        jobs: What each is to do.
        method: How they are started: a name, a context, or None for what is usual here.
        iterator: See ``Team``.
    """

    def __init__(self, jobs: list[Job], method: Any, iterator: Any) -> None:
        # First what ``_stop`` reads: Ctrl-C may come at any line once the team is known.
        self.owner = os.getpid()
        self.connections: list[Any] = []
        self.processes: list[Any] = []
        self.lost = ""
        super().__init__(iterator)
        made = method if isinstance(method, context.BaseContext) else get_context(method)
        _look_up()
        try:
            for job in jobs:
                self._start(made, job)
        except BaseException:
            self.stop()
            raise

    def _start(self, made: Any, job: Job) -> None:
        here, there = made.Pipe()
        state = get_state()
        # That the program has registered it is news to a process that is not forked.
        loaders = {name: each for name, each in registered().items() if name == str(state.backend)}
        _ends.add(here)
        process = made.Process(
            target=_run_process,
            args=(there, job, state, loaders),
            name=f"DataLoader worker {job.info.id}",
            daemon=True,
        )
        self.connections.append(here)
        if memory.POSSIBLE:
            # Its worker reads the end of the pipe, also where a process has a copy of this end.
            shutdown = memory.c_library().shutdown
            self.end_with_iterator(functools.partial(shutdown, here.fileno(), socket.SHUT_RDWR))
        process.start()
        self.processes.append(process)
        there.close()  # so that the end of the process is the end of the pipe

    def submit(self, worker: int, task: int, key: Any) -> None:
        """See ``Team``."""
        try:
            send(self.connections[worker], task, key)
        except OSError:
            self._lose([self.processes[worker]])

    def receive(self, timeout: float) -> tuple[int, Any]:
        """See ``Team``.

        Raises:
            RuntimeError: If a process has died.
        """
        deadline = time.monotonic() + timeout if timeout else float("inf")
        while not self.lost:
            wait = min(deadline - time.monotonic(), _PATIENCE)
            if wait < 0:
                raise TimeoutError
            for ready in connection.wait(self.connections, wait):
                return self._read(self.connections.index(ready))
            self._look_for_dead()
        raise RuntimeError(self.lost)

    def _read(self, worker: int) -> tuple[int, Any]:
        try:
            task, unpickle = receive(self.connections[worker])
        except (EOFError, ConnectionError):
            self._lose([self.processes[worker]])
        try:
            return task, unpickle()
        except Exception as error:
            return task, Failure.of(error, worker)

    def _look_for_dead(self) -> None:
        dead = [process for process in self.processes if not process.is_alive()]
        if dead:
            self._lose(dead)

    def _lose(self, dead: list[Any]) -> NoReturn:
        for process in dead:
            process.join(_PATIENCE)
        numbers = ", ".join(str(process.pid) for process in dead)
        ways = ", ".join(_ending(process.exitcode) for process in dead)
        self.lost = f"DataLoader worker (pid(s) {numbers}) exited unexpectedly: {ways}"
        self.stop()
        raise RuntimeError(self.lost)

    def _stop(self) -> None:
        """Wait for the processes, and kill those that take too long."""
        if os.getpid() != self.owner:  # a forked copy
            return
        for each in self.connections:
            with contextlib.suppress(OSError):  # it has ended, or is closed
                send(each, -1, STOP)
            _ends.discard(each)
            each.close()
        deadline = time.monotonic() + _PATIENCE
        for end in (None, "terminate", "kill"):
            for process in self.processes:
                if end is not None and process.is_alive():
                    getattr(process, end)()
                    deadline = time.monotonic() + 1
                process.join(max(deadline - time.monotonic(), 0))
        # The finalizer of a process that is not closed runs as a callback of a weak reference, from
        # which Python drops what is raised, Ctrl-C too.
        while self.processes:
            self.processes.pop().close()


def _look_up() -> None:
    """Find here, once, what each worker that is forked would have to find again in 30 ms."""
    get_num_threads()  # BLAS
    list_backends()  # those of other distributions


def _ending(code: int | None) -> str:
    if code is None or code >= 0:
        return f"with exit code {code}"
    return f"killed by signal {signal.Signals(-code).name}"


def _run_process(there: Any, job: Job, state: State, loaders: dict[str, Any]) -> None:
    try:
        when_parent_ends(lambda: os._exit(1))
        be_worker(job.info)

        def prepare(job: Job) -> None:
            for name in loaders.keys() - registered().keys():  # a fork has them
                register_backend(name, loaders[name])
            state.apply()
            set_num_threads(1)
            _seed(job)

        tasks: queue.SimpleQueue[tuple[int, Any]] = queue.SimpleQueue()
        threading.Thread(target=_listen, args=(there, tasks), daemon=True).start()
        work(tasks, Maker(job, prepare), _answering(there, job.info.id))
    except (KeyboardInterrupt, ConnectionError):
        pass  # the program is interrupted, too, or waits for no answer any more


def _listen(there: Any, tasks: queue.SimpleQueue[tuple[int, Any]]) -> None:
    """Take questions off the pipe at once: who asks never waits for one that answers."""
    key = None
    while key is not STOP:
        try:
            task, unpickle = receive(there)
            key = unpickle()
        except (EOFError, OSError):
            task, key = -1, STOP
        tasks.put((task, key))


def _answering(there: Any, worker: int) -> Callable[[int, Any], None]:
    def answer(task: int, batch: Any) -> None:
        try:
            send(there, task, batch)
        except ConnectionError:
            raise
        except Exception as error:  # it cannot be pickled
            kind = batch.kind if isinstance(batch, Failure) else type(error)
            told = batch if isinstance(batch, Failure) else Failure.of(error, worker)
            send(there, task, Failure(_known(kind), told.text))

    return answer


def _known(kind: type[BaseException]) -> type[BaseException]:
    """``kind`` if others find it by its name, else RuntimeError."""
    found: Any = sys.modules.get(getattr(kind, "__module__", ""))
    for name in kind.__qualname__.split("."):
        found = getattr(found, name, None)
    return kind if found is kind else RuntimeError


def _seed(job: Job) -> None:
    """Seed the generators of Python, of tensors and of NumPy, each as PyTorch does."""
    random.seed(job.info.seed)
    manual_seed(job.info.seed)
    numpy_random = load("numpy").library.random
    words = [job.info.id, job.base_seed & 0xFFFFFFFF, job.base_seed >> 32, 0]
    numpy_random.seed(numpy_random.SeedSequence(words).generate_state(4))
