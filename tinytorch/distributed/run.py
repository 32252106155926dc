"""``python -m tinytorch.distributed.run``: start a program in several processes, as ``torchrun``.

    python -m tinytorch.distributed.run --nproc-per-node 2 train.py --epochs 3

MPI's ``mpiexec`` starts the processes. Each runs ``python -m tinytorch train.py``, so that a
program may import ``torch`` or ``tinytorch``, and has ``torchrun``'s environment. Where a process
fails, all are ended, and the exit status is its.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import uuid
from collections.abc import Sequence
from pathlib import Path


_PORT = 29500
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
    command = [mpiexec, *_segments(options, count)]
    for restart in range(options.max_restarts + 1):
        status = subprocess.run(command, env=_shared(options, count, restart), check=False)
        code = status.returncode
        if not code:
            return 0
        sys.stderr.write(f"{parser.prog}: a process of {options.program} failed, and all were "
                         f"ended: exit status {code}\n")  # fmt: skip
    return code if code > 0 else 128 - code


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
    if options.no_python:
        program = [options.program]
    else:
        program = [sys.executable, "-m", "tinytorch", *(["-m"] if options.module else [])]
        program.append(options.program)
    words: list[str] = []
    for rank in range(count):
        own = {"RANK": rank, "LOCAL_RANK": rank, "ROLE_RANK": rank}
        said = [f"{name}={value}" for name, value in own.items()]
        words += [":"] * bool(words) + ["-n", "1", "env", *said, *program, *options.arguments]
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
    shared = {**os.environ, **{name: str(value) for name, value in own.items()}}
    if count > 1:  # or each takes all cores for its products
        shared.setdefault("OMP_NUM_THREADS", "1")
    return shared


if __name__ == "__main__":
    sys.exit(main())
