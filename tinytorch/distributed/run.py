"""``python -m tinytorch.distributed.run``: start a program in several processes, as ``torchrun``.

    python -m tinytorch.distributed.run --nproc-per-node 2 train.py --epochs 3

Each process runs ``python -m tinytorch train.py``, so that the program can import ``torch`` or
``tinytorch``, with ``torchrun``'s environment variables. If a process fails, the calls of others
that need it raise, all processes are ended, and the launcher exits with the status of the failed
one. The launcher is the PMI server of MPICH; processes of another MPI are started by its
``mpiexec``.
"""

from __future__ import annotations

import argparse
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Sequence
from pathlib import Path

from .pmi_server import Server
from .rendezvous import INHERITED, VARIABLE

_PORT = 29500
#: Seconds between polls of the processes, from a failure to SIGTERM, in which the others can end by
#: an error of their own, and from SIGTERM to SIGKILL.
_LOOK, _GRACE, _LAST = 0.05, 2.5, 1.0
_ACCEPTED = "accepted and ignored"


def _parser() -> argparse.ArgumentParser:
    """Parser of the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m tinytorch.distributed.run",
        description="Start a program in several processes, which MPI connects.",
    )

    def add(name: str, **options: object) -> None:  # both spellings, as ``torchrun``
        parser.add_argument(f"--{name}", f"--{name.replace('-', '_')}", **options)  # type: ignore[arg-type]

    add("nproc-per-node", default="1", help="processes: a number, or auto, cpu or gpu; default 1")
    parser.add_argument("--nnodes", default="1", help="machines: 1, see below")
    add("node-rank", type=int, default=0, help=_ACCEPTED)
    add("master-addr", default="127.0.0.1", help="value of MASTER_ADDR")
    add("master-port", type=int, default=_PORT, help=f"value of MASTER_PORT; default {_PORT}")
    parser.add_argument("--standalone", action="store_true", help=_ACCEPTED)
    add("max-restarts", type=int, default=0, help="number of restarts after a failure; default 0")
    add("no-python", action="store_true", help="run the program itself, not in Python")
    parser.add_argument("-m", "--module", action="store_true", help="the program is a module")
    for name in ("rdzv-backend", "rdzv-endpoint", "rdzv-id", "rdzv-conf", "role", "start-method",
                 "monitor-interval", "log-dir", "redirects", "tee", "local-addr"):  # fmt: skip
        add(name, help=_ACCEPTED)
    add("run-path", action="store_true", help=_ACCEPTED)
    parser.add_argument("program", help="a script, or with -m a module")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="arguments of the program")
    parser.epilog = (
        "On several machines MPI's own launcher or the scheduler starts the program: "
        "mpiexec -hosts a,b -n 4 python -m tinytorch train.py, or srun -n 4 ..."
    )
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Start the program, restart it after failures, and return its exit status.

    Args:
        arguments: The command line. Default: ``sys.argv[1:]``.
    """
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.nnodes not in ("1", "1:1"):
        parser.error(f"--nnodes {options.nnodes}: this starts processes on one machine. "
                     f"{parser.epilog}")  # fmt: skip
    mpiexec = find_mpiexec()
    if mpiexec is None:
        parser.error("no mpiexec found: install mpi4py and an MPI, for instance "
                     "`pip install mpi4py mpich`")  # fmt: skip
    try:
        count = _process_count(options.nproc_per_node)
    except ValueError as error:
        parser.error(str(error))
    for restart in range(options.max_restarts + 1):
        code = _start_ranks(options, count, _environment(options, count, restart), mpiexec)
        if not code:
            return 0
        sys.stderr.write(f"{parser.prog}: {options.program} failed, and all were ended: exit "
                         f"status {code}\n")  # fmt: skip
    return code


def _start_ranks(options: argparse.Namespace, count: int, env: dict[str, str], mpiexec: str) -> int:
    """Run the program once in all processes; return the exit status.

    Args:
        options: The command line.
        count: Number of processes.
        env: Environment variables of all ranks.
        mpiexec: Path of MPI's launcher.
    """
    version = subprocess.run([mpiexec, "--version"], capture_output=True, text=True, check=False)
    # MPICH and Intel MPI speak PMI-1, so that our own server can connect them.
    if not any(name in version.stdout for name in ("HYDRA", "Intel")):
        command = [mpiexec, *_mpiexec_arguments(options, count)]
        return _status(subprocess.run(command, env=env, check=False).returncode)
    job = _Job(options, count, env)
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        return job.wait()
    finally:
        job.end()
        signal.signal(signal.SIGTERM, before)


class _Job:
    """The processes of a program, and the PMI server to which their MPI connects.

    Args:
        options: The command line.
        count: Number of processes.
        env: Environment variables of all ranks.
    """

    def __init__(self, options: argparse.Namespace, count: int, env: dict[str, str]) -> None:
        self._server = Server(count)
        self._processes: dict[int, subprocess.Popen[bytes]] = {}
        self._running: set[int] = set(range(count))
        #: The first rank that failed, its exit status, and the time; None before a failure.
        self._failed: tuple[int, int, float] | None = None
        #: Ranks that exited with status 0 without finalizing MPI, to be reported at a failure.
        self._early: list[int] = []
        connections = [socket.socketpair() for _ in range(count)]
        for rank, (servers_end, ranks_end) in enumerate(connections):
            variables = {
                name: str(rank) for name in ("RANK", "LOCAL_RANK", "ROLE_RANK", "PMI_RANK")
            }
            number = ranks_end.fileno()
            variables.update(PMI_FD=str(number), PMI_SIZE=str(count), **{INHERITED: "1"})
            self._server.adopt(rank, servers_end)
            self._processes[rank] = subprocess.Popen(
                _command(options), env={**env, **variables}, pass_fds=[number],
                stdin=subprocess.DEVNULL if rank else None,
            )  # fmt: skip
            ranks_end.close()

    def wait(self) -> int:
        """Wait until all processes have ended, or for ``_GRACE`` seconds after a failure.

        Returns:
            Exit status of the first rank that failed, otherwise 0.
        """
        while self._running:
            self._server.step(_LOOK)
            for rank in [*self._running]:
                code = self._processes[rank].poll()
                if code is not None:
                    self._running.discard(rank)
                    self._handle_end(rank, code)
            if self._failed is not None and time.monotonic() > self._failed[2] + _GRACE:
                break
        return 0 if self._failed is None else self._failed[1]

    def _handle_end(self, rank: int, code: int) -> None:
        """Handle the end of a rank: notify other ranks, and report a failure to the user.

        Args:
            rank: The rank.
            code: Return code of its ``Popen``.
        """
        peer = self._server.members.get(rank)
        if peer is not None:
            self._server.handle(peer)  # its last input may be ``finalize``
            self._server.drop(peer)
        if rank in self._server.lost and not code:
            self._early.append(rank)
        if not code:
            return
        for other in self._early:
            _report(f"rank {other} left with exit code 0 before the others were done")
        self._early.clear()
        _report(f"rank {rank} {_describe(code)}")
        if self._failed is None:
            self._failed = rank, _status(code), time.monotonic()

    def end(self) -> None:
        """End the processes that still run, by SIGTERM and later SIGKILL."""
        running = [self._processes[rank] for rank in self._running]
        for process in running:
            process.terminate()
        deadline = time.monotonic() + _LAST
        for process in running:
            try:
                process.wait(max(deadline - time.monotonic(), 0))
            except subprocess.TimeoutExpired:  # the process is stopped, or ignores SIGTERM
                process.kill()
                process.wait()


def _describe(code: int) -> str:
    """Text of a nonzero exit code, for the user."""
    if code > 0:
        return f"left with exit code {code}"
    name = signal.Signals(-code).name if -code in {*signal.Signals} else "unknown"
    return f"was killed by signal {-code} ({name})"


def _report(text: str) -> None:
    sys.stderr.write(f"python -m tinytorch.distributed.run: {text}\n")


def _status(code: int) -> int:
    """Exit status of a ``Popen`` return code: 128 + N for signal N."""
    return code if code >= 0 else 128 - code


def _command(options: argparse.Namespace) -> list[str]:
    """Command that each process runs."""
    if options.no_python:
        return [options.program, *options.arguments]
    module = ["-m"] if options.module else []
    return [sys.executable, "-m", "tinytorch", *module, options.program, *options.arguments]


def find_mpiexec() -> str | None:
    """Path of ``mpiexec`` in the folder of this Python, or else on the search path."""
    beside = Path(sys.executable).parent / "mpiexec"
    return str(beside) if beside.exists() else shutil.which("mpiexec")


def _process_count(text: str) -> int:
    """Number of processes, from the value of ``--nproc-per-node``.

    Raises:
        ValueError: If it is not a positive number, ``auto``, ``cpu`` or ``gpu``.
    """
    if text in ("auto", "cpu"):
        return os.cpu_count() or 1
    if text == "gpu":
        from .. import cuda

        return int(cuda.device_count()) or _raise_value_error(
            "--nproc-per-node gpu: there is no GPU"
        )
    if not text.isdigit() or int(text) < 1:
        _raise_value_error(f"--nproc-per-node: expected a number, auto, cpu or gpu, got {text!r}")
    return int(text)


def _raise_value_error(message: str) -> int:
    raise ValueError(message)


def _mpiexec_arguments(options: argparse.Namespace, count: int) -> list[str]:
    """``mpiexec`` arguments: for each rank ``-n 1 env RANK=... command``, separated by colons."""
    words: list[str] = []
    for rank in range(count):
        variables = [f"{name}={rank}" for name in ("RANK", "LOCAL_RANK", "ROLE_RANK")]
        words += [":"] * bool(words) + ["-n", "1", "env", *variables, *_command(options)]
    return words


def _environment(options: argparse.Namespace, count: int, restart: int) -> dict[str, str]:
    """Environment variables that all ranks share, as ``torchrun`` sets them.

    Args:
        options: The command line.
        count: Number of processes.
        restart: Number of restarts so far.
    """
    launcher_variables = {
        "WORLD_SIZE": count, "LOCAL_WORLD_SIZE": count, "ROLE_WORLD_SIZE": count,
        "GROUP_RANK": 0, "GROUP_WORLD_SIZE": 1, "ROLE_NAME": options.role or "default",
        "MASTER_ADDR": options.master_addr, "MASTER_PORT": options.master_port,
        "TORCHELASTIC_RUN_ID": options.rdzv_id or uuid.uuid4().hex,
        "TORCHELASTIC_RESTART_COUNT": restart, "TORCHELASTIC_MAX_RESTARTS": options.max_restarts,
    }  # fmt: skip
    shared = {
        VARIABLE: secrets.token_hex(32),
        **os.environ,
        **{name: str(value) for name, value in launcher_variables.items()},
    }
    if count > 1:  # otherwise each process uses all cores for its matrix products
        shared.setdefault("OMP_NUM_THREADS", "1")
    return shared


if __name__ == "__main__":
    sys.exit(main())
