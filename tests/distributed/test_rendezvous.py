"""Ranks that MPI's launcher did not start: PyTorch's ways for them to find each other."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.distributed.ranks import PROGRAMS, free_port, needs_mpi, start
from tests.fresh import LIMIT, search_path
from tests.processes import wait_until
from tinytorch.distributed.rendezvous import _LAUNCHER_VARIABLES

pytestmark = [needs_mpi, pytest.mark.slow]


def start_rank(
    how: str, where: str, rank: int, size: int, seconds: float, **env: str
) -> subprocess.Popen[str]:
    """Start a process that meets others; ``seconds`` is the timeout of its group."""
    words = [how, where, str(rank), str(size), str(seconds)]
    return subprocess.Popen(
        [sys.executable, "-m", "tinytorch", str(PROGRAMS / "meeting.py"), *words],
        text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": search_path(), "OMP_NUM_THREADS": "1", **env},
    )  # fmt: skip


def end_all(started: list[subprocess.Popen[str]]) -> list[Any]:
    """Wait for processes; return their exit statuses, outputs and errors."""
    try:
        said = [each.communicate(timeout=LIMIT) for each in started]
    finally:
        for each in started:
            each.kill()  # of those that hang
    return [(each.returncode, *texts) for each, texts in zip(started, said)]


def meet(how: str, where: str, ranks: list[int], size: int, seconds: float) -> list[Any]:
    """Start processes one by one; return their exit statuses, outputs and errors."""
    return end_all([start_rank(how, where, rank, size, seconds) for rank in ranks])


@pytest.mark.parametrize(
    ("how", "ranks"),
    [("env", [2, 0, 1]), ("query", [1, 0]), ("file", [2, 0, 1]), ("store", [1, 0])],
)
def test_ranks_of_each_rendezvous_method_meet(how: str, ranks: list[int], tmp_path: Path) -> None:
    at_port = how in ("env", "query")
    where = f"127.0.0.1:{free_port()}" if at_port else str(tmp_path / "store")
    total = float(2 ** len(ranks) - 1)
    for code, out, err in (ended := meet(how, where, ranks, len(ranks), LIMIT)):
        assert code == 0, err
        assert out.split()[1:] == [str(len(ranks)), str(total)]
    assert [int(out.split()[0]) for _, out, _ in ended] == ranks


def test_a_rank_that_is_killed_is_an_error_on_the_others() -> None:
    first, killed = meet("tcp", f"127.0.0.1:{free_port()}", [0, 1], 2, LIMIT)
    assert killed[0] == -9
    assert first[0] == 1 and "all_reduce: Connection closed by peer: rank [1] has ended" in first[2]


def test_a_rank_that_does_not_come_is_an_error() -> None:
    ((code, _, said),) = meet("env", f"127.0.0.1:{free_port()}", [0], 2, 2)
    assert code != 0 and "Timed out after 2 seconds waiting for clients" in said
    ((code, _, said),) = meet("env", f"127.0.0.1:{free_port()}", [1], 2, 2)
    assert code != 0 and "The client socket has timed out" in said


def test_an_address_that_is_taken_is_an_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ((code, _, said),) = meet("env", f"127.0.0.1:{port}", [0], 2, LIMIT)
    assert code != 0 and f"failed to listen on 127.0.0.1, port: {port}" in said


def test_two_processes_cannot_be_the_same_rank() -> None:
    where = f"127.0.0.1:{free_port()}"
    started = [start_rank("env", where, rank, 3, LIMIT) for rank in (0, 1, 1)]
    wait_until(lambda: any(each.poll() is not None for each in started))
    started.append(start_rank("env", where, 2, 3, LIMIT))  # for which the others wait
    ended = end_all(started)
    assert sorted(code for code, *_ in ended) == [0, 0, 0, 1]
    (said,) = (err for code, _, err in ended if code)
    assert "ValueError: init_process_group: rank 1 of 3 is there" in said


def weights(*words: str) -> list[float]:
    done = start([*words, str(PROGRAMS / "spawned.py"), "2", str(free_port())])
    assert done.returncode == 0, done.stderr
    return [float(word) for word in done.stdout.split()]


def test_processes_that_a_program_spawns_train_together() -> None:
    assert len(weights(sys.executable, "-m", "tinytorch")) == 20


@pytest.mark.torch
def test_spawned_processes_train_to_pytorchs_weights() -> None:
    theirs = weights(sys.executable)
    assert weights(sys.executable, "-m", "tinytorch") == pytest.approx(theirs, rel=1e-5, abs=1e-6)


def test_lightning_looks_for_a_launcher_before_it_starts_mpi(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from tinytorch.compat.after_import import register_lightning

    class MPIEnvironment:
        @staticmethod
        def detect() -> bool:
            return True  # MPI has started

    module = ModuleType("lightning.fabric.plugins.environments.mpi")
    vars(module)["MPIEnvironment"] = MPIEnvironment
    register_lightning(module)
    for name in _LAUNCHER_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    assert not MPIEnvironment.detect()
    monkeypatch.setenv("PMI_RANK", "0")
    assert MPIEnvironment.detect()
