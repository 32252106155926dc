"""Ranks that are killed, stopped, late, twice or absent; strangers and garbage where they meet.

Every other rank ends with an error within the timeout and five seconds more, with the program's own
exit status; nothing is left.
"""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.distributed.ranks import PROGRAMS, free_port
from tests.faults.campaign import Extent, Skipped, check
from tests.fresh import search_path
from tinytorch.distributed import is_available
from tinytorch.distributed.run import find_mpiexec

TIMEOUT, SLACK = 3.0, 5.0
#: Seconds for the start of the interpreters and for their end, on a machine that is busy.
START, END = 30.0, 10.0
STATUS = 7


class RankJob:
    """Processes of a program on several ranks.

    Args:
        words: The program and its arguments.
        how: ``mpiexec``, ``launcher`` or ``hand``.
        size: Number of ranks.
    """

    def __init__(self, words: list[object], how: str, size: int = 2) -> None:
        if not is_available() or find_mpiexec() is None:
            raise Skipped("mpi4py and an MPI are not installed")
        self.mark, self.how, self.port = uuid.uuid4().hex, how, free_port()
        program = [str(PROGRAMS / str(words[0])), *map(str, words[1:])]
        run = [sys.executable, "-m", "tinytorch"]
        self.env = {**os.environ, "MARK": self.mark, "PYTHONPATH": search_path(),
                    "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}  # fmt: skip
        if how == "mpiexec":
            commands = [[str(find_mpiexec()), "-n", str(size), *run, *program]]
        elif how == "launcher":
            launch = ["-m", "tinytorch.distributed.run", "--nproc-per-node", str(size)]
            commands = [[sys.executable, *launch, *program]]
        else:
            commands = [[*run, *program, str(r), str(size), str(self.port)] for r in range(size)]
        self.processes = [self.start(command) for command in commands]

    def start(self, command: list[str]) -> subprocess.Popen[str]:
        """Start a process of the job."""
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen(command, text=True, env=self.env, **pipes)  # type: ignore[call-overload, no-any-return]

    def start_rank(self, rank: int, size: int, timeout: float) -> subprocess.Popen[str]:
        """Start one rank by hand, which meets the others."""
        words = [PROGRAMS / "starting.py", "meet", 0, timeout, rank, size, self.port]
        return self.start([sys.executable, "-m", "tinytorch", *map(str, words)])

    def end(self, *stopped: int) -> list[tuple[int, str]]:
        """Status and errors of each process; those that are ``stopped`` are killed at the end."""
        deadline = time.monotonic() + START + TIMEOUT + SLACK
        try:
            for number, process in enumerate(self.processes):
                if number not in stopped:
                    process.wait(max(deadline - time.monotonic(), 0.1))
        except BaseException:
            # A stopped rank outlives a launcher that is killed.
            for number in self.running_processes():
                os.kill(number, signal.SIGKILL)
            raise
        finally:
            for process in self.processes:
                process.kill()
        said = [process.communicate()[1] for process in self.processes]
        deadline = time.monotonic() + END
        while running := self.running_processes():
            assert time.monotonic() < deadline, f"processes left: {running}"
            time.sleep(0.05)
        found = [(process.returncode, text) for process, text in zip(self.processes, said)]
        for code, text in found:
            assert code != -signal.SIGSEGV and "Segmentation" not in text, (code, text)
        return found

    def running_processes(self) -> list[int]:
        """Ids of the processes of the job that still run."""
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                if self.mark.encode() in (folder / "environ").read_bytes():
                    found.append(int(folder.name))
            except OSError:
                continue  # another user's, or gone
        return found


def seconds(text: str) -> float:
    """Seconds after which the call raised, which ``starting.py`` prints before the error."""
    found = re.search(r"^waited ([\d.]+) s: ", text, re.MULTILINE)
    assert found is not None, text
    return float(found[1])


def lose(form: Extent, how: str, what: str) -> str:
    """Rank 1 is killed or stopped at random moments of MPI's start and of barriers after it."""
    longest, started = 0.0, 0
    runs = form.pick(1, 50)
    for _ in range(runs):
        moment = form.random.uniform(0, 0.4)
        job = RankJob(["starting.py", what, moment, TIMEOUT], how)
        if how == "hand":
            (code, text), _ = job.end(1)
            assert code == STATUS, (moment, code, text)
        else:
            ((code, text),) = job.end()
            assert code != 0, (moment, text)
        if how != "mpiexec" or what == "stop":  # which ends the others of a killed rank itself
            waited = seconds(text)
            assert waited < TIMEOUT + SLACK, (moment, text)
            longest, started = max(longest, waited), started + ("init_process_group" in text)
    return f"{runs} runs, longest wait {longest:.1f} s, {started} while MPI started"


@check
def killed_by_hand(form: Extent) -> str:
    return lose(form, "hand", "kill")


@check
def stopped_by_hand(form: Extent) -> str:
    return lose(form, "hand", "stop")


@check
def killed_under_the_launcher(form: Extent) -> str:
    return lose(form, "launcher", "kill")


@check
def stopped_under_the_launcher(form: Extent) -> str:
    return lose(form, "launcher", "stop")


@check
def killed_under_mpiexec(form: Extent) -> str:
    return lose(form, "mpiexec", "kill")


@check
def stopped_under_mpiexec(form: Extent) -> str:
    return lose(form, "mpiexec", "stop")


@check
def strangers_and_garbage(form: Extent) -> str:
    """Two ranks meet while other processes connect, idle and write garbage."""
    lines = [b"GET / HTTP/1.1\r\n\r\n", b"1\n", bytes(range(256)), b"x" * 10_000, b"",
             b"rank 1 2 00 00\n", b"cmd=put key=a value=b\n"]  # fmt: skip
    runs, sent = form.pick(1, 50), 0
    for _ in range(runs):
        job = RankJob(["starting.py", "meet", 0, START], "hand")
        with pestering(job.port, lines, form) as count:
            ended = job.end()
        assert [code for code, _ in ended] == [0, 0], ended
        sent += count[0]
    return f"{runs} runs, {sent} connections of strangers"


@contextmanager
def pestering(port: int, lines: list[bytes], form: Extent) -> Iterator[list[int]]:
    """Connect to a port and write garbage, a bounded number of times."""
    count, over, kept = [0], threading.Event(), []

    def pester() -> None:
        while not over.wait(0.005) and count[0] < 300:
            try:
                connection = socket.create_connection(("127.0.0.1", port), timeout=1)
                connection.sendall(form.random.choice(lines))
            except OSError:
                continue
            kept.append(connection)
            count[0] += 1

    thread = threading.Thread(target=pester)
    thread.start()
    try:
        yield count
    finally:
        over.set()
        thread.join()
        for connection in kept:
            connection.close()


@check
def late_twice_and_absent(form: Extent) -> str:
    """A rank that comes after the timeout, or twice while another never comes."""
    runs = form.pick(1, 50)
    for _ in range(runs):
        job = RankJob(["starting.py", "meet", 0, TIMEOUT], "hand", size=0)
        job.processes = [job.start_rank(0, 2, TIMEOUT)]
        job.processes[0].wait(START)
        job.processes.append(job.start_rank(1, 2, 1.0))
        assert [code for code, _ in job.end()] == [STATUS, STATUS]
        job.processes = [job.start_rank(rank, 3, TIMEOUT) for rank in (0, 2, 2)]
        ended = job.end()
        assert sorted(code for code, _ in ended) == [1, STATUS, STATUS], ended
        assert any("rank 2 of 3 is there already" in text for _, text in ended)
    return f"{runs} runs"
