"""One process per library, in which its statements run.

In one process the libraries' thread pools would disturb each other: threads of one spin while
another computes, and work on two threads seems several times slower than it is. Only one process
works at a time, in turns.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Mapping
from multiprocessing.connection import Connection
from typing import Any

from .libraries import Libraries, load
from .timing import Effort, Statement, loops_for, medians_of

#: Picklable function that returns the statements of a row for the installed libraries.
Make = Callable[[Libraries], Mapping[str, Statement]]


class Worker:
    """A process that has imported one library."""

    def __init__(self, library: str) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, there = context.Pipe()
        self.process = context.Process(target=_serve, args=(library, there), daemon=True)
        self.process.start()

    def prepare(self, make: Make, effort: Effort) -> bool:
        """Prepare the library's statement; return whether it has one."""
        return bool(self._ask("prepare", make, effort))

    def time(self) -> float:
        """Return the seconds per loop of one turn of the statement."""
        return float(self._ask("time"))

    def stop(self) -> None:
        """End the process."""
        if self.process.is_alive():
            self.connection.send(("stop",))
        self.process.join()

    def _ask(self, *request: Any) -> Any:
        """Send a request to the process and return the answer; raise an answer that is an error."""
        self.connection.send(request)
        answer = self.connection.recv()
        if isinstance(answer, Exception):
            raise answer
        return answer


class Workers:
    """A worker for each library, started when the first row needs it; a context manager."""

    def __init__(self, libraries: Libraries) -> None:
        self.libraries = libraries
        self.running: dict[str, Worker] = {}

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *exception: object) -> None:
        for worker in self.running.values():
            worker.stop()

    def medians(self, make: Make, effort: Effort) -> dict[str, float]:
        """Return the median seconds per loop of each library's statement, measured in turns."""
        for name in self.libraries.modules:
            if name not in self.running:
                self.running[name] = Worker(name)
        timers = {
            name: worker.time for name, worker in self.running.items()
            if worker.prepare(make, effort)
        }  # fmt: skip
        return medians_of(timers, effort)


def _serve(library: str, connection: Connection) -> None:
    """Answer the requests of a ``Worker`` in its process, until the request ``("stop",)``.

    ``("prepare", make, effort)`` is answered by whether the library has a statement, ``("time",)``
    by the seconds per loop of one turn. An exception is sent instead of an answer.
    """
    found = load((library,))
    timer: Any = None
    loops = warmup = 0
    while (request := connection.recv())[0] != "stop":
        try:
            if request[0] == "prepare":
                statement = request[1](found).get(library)
                if statement is not None:
                    timer = statement.timer()
                    loops = loops_for(timer, request[2].seconds)
                    warmup = loops if request[2].rest else -(-loops // 8)
                connection.send(statement is not None)
            else:
                timer.timeit(warmup)  # other workers have used the caches since
                connection.send(timer.timeit(loops) / loops)
        except Exception as error:  # the parent raises it again
            connection.send(error)
