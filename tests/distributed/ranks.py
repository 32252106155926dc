"""Programs on several ranks, as a user starts them."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import TypeAlias

import pytest

from tests.fresh import LIMIT, search_path
from tinytorch.distributed import is_available
from tinytorch.distributed.run import find_mpiexec

PROGRAMS = Path(__file__).parent / "programs"
Done: TypeAlias = "subprocess.CompletedProcess[str]"
#: For modules of tests.
needs_mpi = pytest.mark.skipif(
    not is_available() or find_mpiexec() is None, reason="mpi4py and an MPI are not installed"
)


def start(command: list[str], **env: str) -> Done:
    """Run a command, with one thread a rank."""
    # More ranks than cores: products on one thread each.
    return subprocess.run(
        command, capture_output=True, text=True, timeout=LIMIT, check=False,
        env={**os.environ, "PYTHONPATH": search_path(), "OMP_NUM_THREADS": "1", **env},
    )  # fmt: skip


def mpiexec(count: int, program: str, *arguments: object, **env: str) -> Done:
    """Run one of the programs on ``count`` ranks that MPI's launcher starts."""
    words = [str(find_mpiexec()), "-n", str(count), sys.executable, "-m", "tinytorch"]
    return start([*words, str(PROGRAMS / program), *map(str, arguments)], **env)


def launcher(*arguments: object, **env: str) -> Done:
    """Run tinytorch's launcher with these arguments."""
    words = [sys.executable, "-m", "tinytorch.distributed.run"]
    return start([*words, *map(str, arguments)], **env)


# PyTorch's own threads may abort a process that finalizes ("terminate called without an active
# exception"), after the program has done all its work: such a process ends without finalizing.
WITHOUT_FINALIZING = """
import os, runpy, sys
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
sys.stdout.flush(), sys.stderr.flush()
os._exit(0)
"""


def gloo(count: int, program: str, *arguments: object) -> list[Done]:
    """Run a program under PyTorch on ``count`` ranks, with ``torchrun``'s environment."""
    env = {**os.environ, "WORLD_SIZE": str(count), "MASTER_ADDR": "127.0.0.1",
           "MASTER_PORT": str(free_port()), "OMP_NUM_THREADS": "1"}  # fmt: skip
    command = [sys.executable, "-c", WITHOUT_FINALIZING]
    words = [*command, str(PROGRAMS / program), *map(str, arguments)]
    ranks = [
        subprocess.Popen(
            words, env={**env, "RANK": str(rank)}, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )
        for rank in range(count)
    ]  # fmt: skip
    try:
        ended = [(rank, *rank.communicate(timeout=LIMIT)) for rank in ranks]
    finally:
        for rank in ranks:
            rank.kill()  # of those that hang
    return [
        subprocess.CompletedProcess(words, rank.returncode, out, err) for rank, out, err in ended
    ]


def free_port() -> int:
    """A port that no process listens on."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def passed_tests(text: str) -> set[str]:
    """Names of the tests that a program's output reports as passed."""
    return {line.split()[0] for line in text.splitlines() if line.endswith(" passed")}
