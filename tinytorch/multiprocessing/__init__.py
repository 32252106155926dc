"""Python's ``multiprocessing``, with tensors that share their memory among processes.

A tensor that goes to another process, through a queue or a pipe or as an argument, is moved to
shared memory, and the other process gets that memory: either sees what the other writes. The
process that sends one must live until it is received. A leaf goes without its ``grad``, and a
tensor of a GPU is copied.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Sequence
from multiprocessing import *  # noqa: F403
from multiprocessing import connection
from typing import Any

from ..compat.reductions import init_reductions as init_reductions
from .messages import when_parent_ends

_SPAWNING = [
    "ProcessContext", "ProcessException", "ProcessExitedException", "ProcessRaisedException",
    "SpawnContext", "get_all_sharing_strategies", "get_sharing_strategy",
    "set_sharing_strategy", "spawn", "start_processes",
]  # fmt: skip
__all__ = [*multiprocessing.__all__, *_SPAWNING]  # noqa: PLE0604


class ProcessException(Exception):
    """A process that ``spawn`` started did not end well."""

    def __init__(self, msg: str, error_index: int, error_pid: int) -> None:
        super().__init__(msg)
        self.msg = msg
        self.error_index = error_index
        self.error_pid = error_pid

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.msg, self.error_index, self.error_pid)


class ProcessRaisedException(ProcessException):
    """The function raised in a process; the text has its traceback."""


class ProcessExitedException(ProcessException):
    """A process ended without a word, by a signal or ``sys.exit``."""

    def __init__(
        self, msg: str, error_index: int, error_pid: int, exit_code: int,
        signal_name: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__(msg, error_index, error_pid)
        self.exit_code = exit_code
        self.signal_name = signal_name

    def __reduce__(self) -> tuple[Any, ...]:
        rest = self.exit_code, self.signal_name
        return type(self), (self.msg, self.error_index, self.error_pid, *rest)


class ProcessContext:
    """The processes that ``spawn`` started.

    Example:
        >>> from tinytorch import multiprocessing
        >>> context = multiprocessing.spawn(divmod, args=(1,), nprocs=2, join=False)
        >>> len(context.pids())
        2
        >>> while not context.join():
        ...     pass
    """

    def __init__(self, processes: list[Any], receivers: list[Any]) -> None:
        self.processes = processes
        self._receivers = receivers
        #: By process what it told of its error, nothing if it ended without a word.
        self._told: dict[int, str] = {}

    def pids(self) -> list[int]:
        """Their numbers."""
        return [process.pid for process in self.processes]

    def join(self, timeout: float | None = None, grace_period: float | None = None) -> bool:
        """Wait until one of them ends; if it failed, end the others and say so.

        Args:
            timeout: Seconds to wait. Default: for ever.
            grace_period: Seconds that the others have to end, before they are killed. Default:
                for ever.

        Returns:
            Whether all have ended.

        Raises:
            ProcessRaisedException: If the function raised in one.
            ProcessExitedException: If one ended with another status than 0.
        """
        waited = {process.sentinel: i for i, process in enumerate(self.processes)
                  if process.is_alive()}  # fmt: skip
        # What a process tells may be more than it can send before somebody listens.
        waited |= {receiver: i for i, receiver in enumerate(self._receivers)
                   if i not in self._told}  # fmt: skip
        if waited:  # nothing to wait for would be waited for without end
            for ready in connection.wait(list(waited), timeout):
                self._listen(waited[ready])
                if ready not in self._receivers:
                    self.processes[waited[ready]].join()  # it says so just before it ends
        codes = [process.exitcode for process in self.processes]  # each may change meanwhile
        failed = [i for i, code in enumerate(codes) if code not in (None, 0)]
        if failed:
            self._end_others(grace_period)
            self._fail(failed[0])
        return None not in codes

    def _listen(self, index: int) -> None:
        receiver = self._receivers[index]
        if index not in self._told:
            try:
                self._told[index] = receiver.recv() if receiver.poll() else ""
            except EOFError:  # its end of the pipe is closed
                self._told[index] = ""

    def _end_others(self, grace_period: float | None) -> None:
        for process in self.processes:
            if process.is_alive():
                process.terminate()
        for process in self.processes:
            process.join(grace_period)
            if process.is_alive():
                process.kill()
                process.join()

    def _fail(self, index: int) -> None:
        process = self.processes[index]
        self._listen(index)
        if self._told[index]:
            text = f"\n\n-- Process {index} terminated with the following error:\n"
            raise ProcessRaisedException(text + self._told[index], index, process.pid)
        code = process.exitcode
        named = {-each.value: each.name for each in signal.Signals}
        name = named.get(code, f"number {-code}") if code < 0 else None
        how = f"exit code {code}" if name is None else f"signal {name}"
        raise ProcessExitedException(
            f"process {index} terminated with {how}", index, process.pid, code, name
        )


SpawnContext = ProcessContext


def _interrupt() -> None:
    """As PyTorch has the system do; what runs in the background of a shell may ignore it."""
    ignored = signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    os.kill(os.getpid(), signal.SIGTERM if ignored else signal.SIGINT)


def _run(fn: Callable[..., Any], index: int, args: tuple[Any, ...], sender: Any) -> None:
    import traceback

    when_parent_ends(_interrupt)
    try:
        fn(index, *args)
    except KeyboardInterrupt:
        pass  # the process that started this one is told, too
    except Exception as error:
        sender.send("".join(traceback.format_exception(error)))
        sys.exit(1)


def start_processes(
    fn: Callable[..., Any], args: Sequence[Any] = (), nprocs: int = 1, join: bool = True,
    daemon: bool = False, start_method: str = "spawn",
) -> ProcessContext | None:  # fmt: skip
    """Run ``fn(i, *args)`` in ``nprocs`` processes, ``i`` counting from 0.

    Args:
        fn: A function that pickles, of its own module's top level.
        args: Its other arguments; tensors among them share their memory with the process.
        nprocs: How many. Default: 1.
        join: Whether to wait for all of them. Default: True.
        daemon: Whether they end with this process. Default: False.
        start_method: ``"spawn"``, ``"fork"`` or ``"forkserver"``. Default: ``"spawn"``.

    Returns:
        None if ``join``, else a ``ProcessContext``.

    Raises:
        ProcessRaisedException: If ``fn`` raised in one of them.
        ProcessExitedException: If one of them ended otherwise.

    Example:
        >>> from tinytorch import multiprocessing
        >>> multiprocessing.start_processes(divmod, args=(1,), nprocs=2)
    """
    context: Any = multiprocessing.get_context(start_method)
    processes, receivers = [], []
    for index in range(nprocs):
        receiver, sender = context.Pipe(duplex=False)
        process = context.Process(target=_run, args=(fn, index, tuple(args), sender), daemon=daemon)
        process.start()
        sender.close()  # so that the process's end is the pipe's
        processes.append(process)
        receivers.append(receiver)
    started = ProcessContext(processes, receivers)
    while join and not started.join():
        pass
    return None if join else started


def spawn(
    fn: Callable[..., Any], args: Sequence[Any] = (), nprocs: int = 1, join: bool = True,
    daemon: bool = False, start_method: str = "spawn",
) -> ProcessContext | None:  # fmt: skip
    """``start_processes`` by the method ``"spawn"``.

    Example:
        >>> from tinytorch import multiprocessing
        >>> multiprocessing.spawn(divmod, args=(1,), nprocs=2)
    """
    return start_processes(fn, args, nprocs, join, daemon, start_method)


def get_all_sharing_strategies() -> set[str]:
    """The names of the ways to share memory.

    Example:
        >>> from tinytorch import multiprocessing
        >>> multiprocessing.get_all_sharing_strategies()
        {'file_descriptor'}
    """
    return {"file_descriptor"}


def get_sharing_strategy() -> str:
    """The way to share memory: ``"file_descriptor"``.

    Example:
        >>> from tinytorch import multiprocessing
        >>> multiprocessing.get_sharing_strategy()
        'file_descriptor'
    """
    return "file_descriptor"


def set_sharing_strategy(new_strategy: str) -> None:
    """Choose how memory is shared, of which there is one way.

    PyTorch's ``"file_system"`` keeps no descriptors, but leaves files behind when a process is
    killed. A program that keeps more tensors of other processes than it may have open files raises
    that limit: ``ulimit -n``, ``resource.setrlimit``.

    Args:
        new_strategy: ``"file_descriptor"``.

    Raises:
        AssertionError: For another one.

    Example:
        >>> from tinytorch import multiprocessing
        >>> multiprocessing.set_sharing_strategy("file_descriptor")
    """
    if new_strategy not in get_all_sharing_strategies():
        raise AssertionError(
            f"invalid sharing strategy {new_strategy!r}, expected 'file_descriptor': each tensor "
            "of another process holds one descriptor, and `ulimit -n` limits their number"
        )
