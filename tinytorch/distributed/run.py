"""``python -m tinytorch.distributed.run``: start a program in several processes, as ``torchrun``.

    python -m tinytorch.distributed.run --nproc-per-node 2 train.py --epochs 3

Each process runs ``python -m tinytorch train.py``, so that a program may import ``torch`` or
``tinytorch``, and has ``torchrun``'s environment. Where a process fails, the others get an error in
the call that needs it, all are ended, and the exit status is its. The launcher answers what MPICH
asks; another MPI's processes are started by its own ``mpiexec``.
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
#: Seconds between looks at the processes, and that they have to end: by an error of their own after
#: a failure, and after SIGTERM.
_LOOK, _GRACE, _LAST = 0.05, 2.5, 1.0
_ACCEPTED = "accepted; means nothing"


def _parser() -> argparse.ArgumentParser:
    """The options."""
    parser = argparse.ArgumentParser(
        prog="python -m tinytorch.distributed.run",
        description="Start a program in several processes, which MPI connects.",
    )

    def add(name: str, **options: object) -> None:
        parser.add_argument(f"--{name}", f"--{name.replace('-', '_')}", **options)  # type: ignore[arg-type]

    add("nproc-per-node", default="1", help="processes: a number, or auto, cpu or gpu; default 1")
    parser.add_argument("--nnodes", default="1", help="machines: 1, see the description")
    add("node-rank", type=int, default=0, help=_ACCEPTED)
    add("master-addr", default="127.0.0.1", help="what MASTER_ADDR says")
    add("master-port", type=int, default=_PORT, help=f"what MASTER_PORT says; default {_PORT}")
    parser.add_argument("--standalone", action="store_true", help=_ACCEPTED)
    add("max-restarts", type=int, default=0, help="times to start anew after a failure; default 0")
    add("no-python", action="store_true", help="run the program itself, not in Python")
    parser.add_argument("-m", "--module", action="store_true", help="the program is a module")
    for name in ("rdzv-backend", "rdzv-endpoint", "rdzv-id", "rdzv-conf", "role", "start-method",
                 "monitor-interval", "log-dir", "redirects", "tee", "local-addr"):  # fmt: skip
        add(name, help=_ACCEPTED)
    add("run-path", action="store_true", help=_ACCEPTED)
    parser.add_argument("program", help="a script, or with -m a module")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="of the program")
    parser.epilog = (
        "On several machines MPI's own launcher or the scheduler starts the program: "
        "mpiexec -hosts a,b -n 4 python -m tinytorch train.py, or srun -n 4 ..."
    )
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Start the program; return its exit status.

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
        count = _count(options.nproc_per_node)
    except ValueError as error:
        parser.error(str(error))
    for restart in range(options.max_restarts + 1):
        code = _start_ranks(options, count, _shared(options, count, restart), mpiexec)
        if not code:
            return 0
        sys.stderr.write(f"{parser.prog}: {options.program} failed, and all were ended: exit "
                         f"status {code}\n")  # fmt: skip
    return code


def _start_ranks(options: argparse.Namespace, count: int, env: dict[str, str], mpiexec: str) -> int:
    """Run the program once in all processes; return the exit status."""
    version = subprocess.run([mpiexec, "--version"], capture_output=True, text=True, check=False)
    if not any(name in version.stdout for name in ("HYDRA", "Intel")):
        command = [mpiexec, *_segments(options, count)]
        return _status(subprocess.run(command, env=env, check=False).returncode)
    job = _Job(options, count, env)
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        return job.wait()
    finally:
        job.end()
        signal.signal(signal.SIGTERM, before)


class _Job:
    """The processes of a program, and the server that MPI in each of them asks.

    Args:
        options: The command line.
        count: Number of processes.
        env: The environment that they have alike.
    """

    def __init__(self, options: argparse.Namespace, count: int, env: dict[str, str]) -> None:
        self._server = Server(count)
        self._processes: dict[int, subprocess.Popen[bytes]] = {}
        self._running: set[int] = set(range(count))
        #: The first rank that failed, its exit status, and when.
        self._failed: tuple[int, int, float] | None = None
        self._early: list[int] = []
        connections = [socket.socketpair() for _ in range(count)]
        for rank, (own, theirs) in enumerate(connections):
            said = {name: str(rank) for name in ("RANK", "LOCAL_RANK", "ROLE_RANK", "PMI_RANK")}
            said.update(PMI_FD=str(theirs.fileno()), PMI_SIZE=str(count), **{INHERITED: "1"})
            self._server.adopt(rank, own)
            self._processes[rank] = subprocess.Popen(
                _command(options), env={**env, **said}, pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL if rank else None,
            )  # fmt: skip
            theirs.close()

    def wait(self) -> int:
        """Wait until all have ended; return the exit status."""
        while self._running:
            self._server.step(_LOOK)
            for rank in [*self._running]:
                code = self._processes[rank].poll()
                if code is not None:
                    self._running.discard(rank)
                    self._note(rank, code)
            if self._failed is not None and time.monotonic() > self._failed[2] + _GRACE:
                break
        return 0 if self._failed is None else self._failed[1]

    def _note(self, rank: int, code: int) -> None:
        """Report to the other ranks, and for a failure to the user, how a rank left."""
        peer = self._server.members.get(rank)
        if peer is not None:
            self._server.hear(peer)  # it may have finalized in its last moment
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
        """End the processes that still run."""
        running = [self._processes[rank] for rank in self._running]
        for process in running:
            process.terminate()
        deadline = time.monotonic() + _LAST
        for process in running:
            try:
                process.wait(max(deadline - time.monotonic(), 0))
            except subprocess.TimeoutExpired:  # it is stopped, or ignores the signal
                process.kill()
                process.wait()


def _describe(code: int) -> str:
    if code > 0:
        return f"left with exit code {code}"
    name = signal.Signals(-code).name if -code in {*signal.Signals} else "unknown"
    return f"was killed by signal {-code} ({name})"


def _report(text: str) -> None:
    sys.stderr.write(f"python -m tinytorch.distributed.run: {text}\n")


def _status(code: int) -> int:
    return code if code >= 0 else 128 - code


def _command(options: argparse.Namespace) -> list[str]:
    """The command of every process."""
    if options.no_python:
        return [options.program, *options.arguments]
    module = ["-m"] if options.module else []
    return [sys.executable, "-m", "tinytorch", *module, options.program, *options.arguments]


def find_mpiexec() -> str | None:
    """The launcher of the MPI beside this Python, or else the one on the path."""
    beside = Path(sys.executable).parent / "mpiexec"
    return str(beside) if beside.exists() else shutil.which("mpiexec")


def _count(text: str) -> int:
    if text in ("auto", "cpu"):
        return os.cpu_count() or 1
    if text == "gpu":
        from .. import cuda

        return int(cuda.device_count()) or _refuse("--nproc-per-node gpu: there is no GPU")
    if not text.isdigit() or int(text) < 1:
        _refuse(f"--nproc-per-node: expected a number, auto, cpu or gpu, got {text!r}")
    return int(text)


def _refuse(message: str) -> int:
    raise ValueError(message)


def _segments(options: argparse.Namespace, count: int) -> list[str]:
    """For each rank ``-n 1 env RANK=... command``, apart by colons: what every MPI understands."""
    words: list[str] = []
    for rank in range(count):
        own = {"RANK": rank, "LOCAL_RANK": rank, "ROLE_RANK": rank}
        said = [f"{name}={value}" for name, value in own.items()]
        words += [":"] * bool(words) + ["-n", "1", "env", *said, *_command(options)]
    return words


def _shared(options: argparse.Namespace, count: int, restart: int) -> dict[str, str]:
    """The environment that all ranks have alike."""
    own = {
        "WORLD_SIZE": count, "LOCAL_WORLD_SIZE": count, "ROLE_WORLD_SIZE": count,
        "GROUP_RANK": 0, "GROUP_WORLD_SIZE": 1, "ROLE_NAME": options.role or "default",
        "MASTER_ADDR": options.master_addr, "MASTER_PORT": options.master_port,
        "TORCHELASTIC_RUN_ID": options.rdzv_id or uuid.uuid4().hex,
        "TORCHELASTIC_RESTART_COUNT": restart, "TORCHELASTIC_MAX_RESTARTS": options.max_restarts,
    }  # fmt: skip
    shared = {
        VARIABLE: secrets.token_hex(32),
        **os.environ,
        **{name: str(value) for name, value in own.items()},
    }
    if count > 1:  # or each takes all cores for its products
        shared.setdefault("OMP_NUM_THREADS", "1")
    return shared


if __name__ == "__main__":
    sys.exit(main())
