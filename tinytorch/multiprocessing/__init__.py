"""Python's ``multiprocessing``, with tensors in shared memory.

A tensor that is sent to another process, through a queue or a pipe or as an argument, is moved to
shared memory, and the other process maps this memory: each process sees the writes of the other.
The sender must run until the tensor is received. A leaf is sent without its ``grad``, and a tensor
on a GPU is copied.
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
from .messages import call_when_parent_ends

_SPAWNING = [
    "ProcessContext", "ProcessException", "ProcessExitedException", "ProcessRaisedException",
    "SpawnContext", "get_all_sharing_strategies", "get_sharing_strategy",
    "set_sharing_strategy", "spawn", "start_processes",
]  # fmt: skip
__all__ = [*multiprocessing.__all__, *_SPAWNING]  # noqa: PLE0604


class ProcessException(Exception):
    """Base of the errors of ``ProcessContext.join``: a process failed."""

    def __init__(self, msg: str, error_index: int, error_pid: int) -> None:
        super().__init__(msg)
        self.msg = msg
        self.error_index = error_index
        self.error_pid = error_pid

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.msg, self.error_index, self.error_pid)


class ProcessRaisedException(ProcessException):
    """Error of a process whose function raised; the message has its traceback."""


class ProcessExitedException(ProcessException):
    """Error of a process that ended by a signal or ``sys.exit``."""

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
    """Processes that ``spawn`` has started.

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
        #: Traceback by index of the process; empty if it ended without an exception.
        self._errors: dict[int, str] = {}

    def pids(self) -> list[int]:
        """Process IDs."""
        return [process.pid for process in self.processes]

    def join(self, timeout: float | None = None, grace_period: float | None = None) -> bool:
        """Wait until a process ends; if it failed, terminate the others and raise.

        Args:
            timeout: Longest time to wait in seconds. Default: no limit.
            grace_period: Seconds from the termination of the others until they are killed.
                Default: no limit.

        Returns:
            Whether all have ended.

        Raises:
            ProcessRaisedException: If the function raised in a process.
            ProcessExitedException: If a process ended with a nonzero status.
        """
        waited = {process.sentinel: i for i, process in enumerate(self.processes)
                  if process.is_alive()}  # fmt: skip
        # Wait for the pipes, too: a process blocks if its traceback does not fit in its pipe.
        waited |= {receiver: i for i, receiver in enumerate(self._receivers)
                   if i not in self._errors}  # fmt: skip
        if waited:  # connection.wait blocks on an empty list
            for ready in connection.wait(list(waited), timeout):
                self._receive_error(waited[ready])
                if ready not in self._receivers:
                    self.processes[waited[ready]].join()  # the sentinel is ready before the end
        codes = [process.exitcode for process in self.processes]  # read once: they can change
        failed = [i for i, code in enumerate(codes) if code not in (None, 0)]
        if failed:
            self._end_others(grace_period)
            self._fail(failed[0])
        return None not in codes

    def _receive_error(self, index: int) -> None:
        """Receive the traceback of a process, unless that has been done."""
        receiver = self._receivers[index]
        if index not in self._errors:
            try:
                self._errors[index] = receiver.recv() if receiver.poll() else ""
            except EOFError:  # the process has closed its end of the pipe
                self._errors[index] = ""

    def _end_others(self, grace_period: float | None) -> None:
        """Terminate all running processes, and kill those that do not end in time."""
        for process in self.processes:
            if process.is_alive():
                process.terminate()
        for process in self.processes:
            process.join(grace_period)
            if process.is_alive():
                process.kill()
                process.join()

    def _fail(self, index: int) -> None:
        """Raise the error of a failed process: of its exception, exit status or signal.

        ``index`` is the index of the process.
        """
        process = self.processes[index]
        self._receive_error(index)
        if self._errors[index]:
            text = f"\n\n-- Process {index} terminated with the following error:\n"
            raise ProcessRaisedException(text + self._errors[index], index, process.pid)
        code = process.exitcode
        names = {-each.value: each.name for each in signal.Signals}
        name = names.get(code, f"number {-code}") if code < 0 else None
        reason = f"exit code {code}" if name is None else f"signal {name}"
        raise ProcessExitedException(
            f"process {index} terminated with {reason}", index, process.pid, code, name
        )


SpawnContext = ProcessContext


def _interrupt() -> None:
    """Send SIGINT to this process, as in PyTorch; SIGTERM if it ignores SIGINT.

    Processes in the background of a shell ignore SIGINT.
    """
    ignored = signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    os.kill(os.getpid(), signal.SIGTERM if ignored else signal.SIGINT)


def _run(fn: Callable[..., Any], index: int, args: tuple[Any, ...], sender: Any) -> None:
    """Call a function in a process that ``spawn`` has started.

    Args:
        fn: The function, called with ``index`` and ``args``.
        index: Index of the process.
        args: Further arguments.
        sender: End of a pipe, to which the traceback of an exception is sent.
    """
    import traceback

    call_when_parent_ends(_interrupt)
    try:
        fn(index, *args)
    except KeyboardInterrupt:
        pass  # the parent process gets SIGINT, too
    except Exception as error:
        sender.send("".join(traceback.format_exception(error)))
        sys.exit(1)


def start_processes(
    fn: Callable[..., Any], args: Sequence[Any] = (), nprocs: int = 1, join: bool = True,
    daemon: bool = False, start_method: str = "spawn",
) -> ProcessContext | None:  # fmt: skip
    """Run ``fn(i, *args)`` in ``nprocs`` processes, with their indices ``i`` from 0.

    Args:
        fn: A function that can be pickled: defined at the top level of a module.
        args: Its other arguments; the processes share the memory of tensors.
        nprocs: Number of processes. Default: 1.
        join: Whether to wait for all processes. Default: True.
        daemon: Whether the processes are daemons, which end with this process. Default: False.
        start_method: ``"spawn"``, ``"fork"`` or ``"forkserver"``. Default: ``"spawn"``.

    Returns:
        None with ``join``, otherwise a ``ProcessContext``.

    Raises:
        ProcessRaisedException: If ``fn`` raised in a process.
        ProcessExitedException: If a process ended with a nonzero status or by a signal.

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
        sender.close()  # so that the pipe is closed when the process ends
        processes.append(process)
        receivers.append(receiver)
    result = ProcessContext(processes, receivers)
    while join and not result.join():
        pass
    return None if join else result


def spawn(
    fn: Callable[..., Any], args: Sequence[Any] = (), nprocs: int = 1, join: bool = True,
    daemon: bool = False, start_method: str = "spawn",
) -> ProcessContext | None:  # fmt: skip
    """Run ``fn(i, *args)`` in processes started by ``"spawn"``; see ``start_processes``.

    Example:
        >>> from tinytorch import multiprocessing
        >>> multiprocessing.spawn(divmod, args=(1,), nprocs=2)
    """
    return start_processes(fn, args, nprocs, join, daemon, start_method)


def get_all_sharing_strategies() -> set[str]:
    """Names of the strategies for sharing memory.

    Example:
        >>> from tinytorch import multiprocessing
        >>> multiprocessing.get_all_sharing_strategies()
        {'file_descriptor'}
    """
    return {"file_descriptor"}


def get_sharing_strategy() -> str:
    """Current strategy for sharing memory: ``"file_descriptor"``.

    Example:
        >>> from tinytorch import multiprocessing
        >>> multiprocessing.get_sharing_strategy()
        'file_descriptor'
    """
    return "file_descriptor"


def set_sharing_strategy(new_strategy: str) -> None:
    """Set the strategy for sharing memory, of which there is one.

    PyTorch's ``"file_system"`` needs no file descriptors, but leaves files behind if a process is
    killed. A program that keeps more tensors of other processes than its limit of open files has
    to raise that limit, by ``ulimit -n`` or ``resource.setrlimit``.

    Args:
        new_strategy: ``"file_descriptor"``.

    Raises:
        AssertionError: For another strategy.

    Example:
        >>> from tinytorch import multiprocessing
        >>> multiprocessing.set_sharing_strategy("file_descriptor")
    """
    if new_strategy not in get_all_sharing_strategies():
        raise AssertionError(
            f"invalid sharing strategy {new_strategy!r}, expected 'file_descriptor': each tensor "
            "of another process holds one descriptor, and `ulimit -n` limits their number"
        )
