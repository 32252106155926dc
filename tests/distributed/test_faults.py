"""Ranks that die, do not come or call something else: the others end with an error that says so."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

import tinytorch as tt
from tests.distributed.ranks import PROGRAMS, Done, launcher, mpiexec, needs_mpi
from tests.fresh import LIMIT
from tests.processes import wait_until
from tests.shared_memory import assert_none_left, segments

pytestmark = [needs_mpi, pytest.mark.slow]
#: Timeout of groups whose ranks must notice a fault before it.
SECONDS = LIMIT / 2


@pytest.fixture(autouse=True)
def nothing_is_left(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No process of the program, and no shared memory."""
    mark = f"MARK={uuid.uuid4().hex}"
    monkeypatch.setenv(*mark.split("="))
    before = segments()
    yield
    assert_none_left(before)
    wait_until(lambda: {*processes_with(mark)} <= {os.getpid()})  # they end one after the other


def processes_with(setting: str) -> list[int]:
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            environment = (folder / "environ").read_bytes()
        except (PermissionError, FileNotFoundError, ProcessLookupError):
            continue  # somebody else's, or gone
        if setting.encode() in environment:
            found.append(int(folder.name))
    return found


def faulty(what: str, seconds: float, *arguments: object, **env: str) -> tuple[Done, float]:
    start = time.monotonic()
    done = mpiexec(2, "faults.py", what, seconds, *arguments, **env)
    assert done.returncode != 0, done.stdout
    return done, time.monotonic() - start


def test_a_killed_rank_ends_the_others() -> None:
    done, took = faulty("kill", SECONDS)
    assert "Killed (signal 9)" in done.stdout + done.stderr and took < SECONDS


def test_an_uncaught_error_in_one_rank_ends_the_others() -> None:
    done, took = faulty("raise", SECONDS)
    assert "ValueError: of rank 1" in done.stderr and took < SECONDS


def test_a_rank_that_exits_is_missed_before_the_timeout() -> None:
    done, took = faulty("exit", SECONDS)
    assert "Connection closed by peer: rank [1] has ended" in done.stderr and took < SECONDS


def test_a_rank_that_does_not_come_is_an_error_at_the_timeout() -> None:
    done, _ = faulty("stop", 2)
    assert "Timed out waiting 2000ms for all_reduce operation to complete" in done.stderr


def test_a_message_of_another_length_is_an_error() -> None:
    done, _ = faulty("length", SECONDS)
    assert "expected a message of 12 bytes, got one of 8" in done.stderr


@pytest.mark.parametrize(("what", "first", "second"), [
    ("shapes", "all_reduce(TensorShape=[2]", "all_reduce(TensorShape=[3]"),
    ("collectives", "broadcast(TensorShape=[2]", "all_reduce(TensorShape=[2]"),
])  # fmt: skip
def test_monitored_mode_names_what_does_not_fit(what: str, first: str, second: str) -> None:
    done, _ = faulty(what, SECONDS, TORCH_DISTRIBUTED_DEBUG="DETAIL")
    assert "Detected mismatch between collectives on ranks. Rank" in done.stderr
    assert first in done.stderr and second in done.stderr


def test_monitored_mode_names_who_is_missing() -> None:
    done, _ = faulty("absent", 2, TORCH_DISTRIBUTED_DEBUG="DETAIL")
    assert "Rank 0: collective all_reduce(TensorShape=[2]" in done.stderr
    assert "Ranks 1 failed to pass monitoredBarrier in 2000 ms" in done.stderr


def test_a_monitored_barrier_names_who_is_missing() -> None:
    done, _ = faulty("monitored", 2)
    assert "Ranks 1 failed to pass monitoredBarrier in 1500 ms" in done.stderr


def test_a_checkpoint_is_whole_when_its_rank_is_killed(tmp_path: Path) -> None:
    faulty("save", SECONDS, tmp_path)
    assert any(file.suffix == ".part" for file in tmp_path.iterdir())  # it was killed at work
    found = tt.load(tmp_path / "model.pt")
    assert found["weight"].shape == ((1_000_000,), (20_000_000,))[found["step"] - 1]
    assert bool((found["weight"] == 1).all())


@pytest.mark.parametrize(("what", "said", "status"), [
    ("leave", "rank 1 left with exit code 0 before the others were done", 1),
    ("kill", "rank 1 was killed by signal 9 (SIGKILL)", 137),
    ("exit", "rank 1 left with exit code 3", 1),  # it waited, so that rank 0 ended first
])  # fmt: skip
def test_the_launcher_says_which_rank_left_and_how(what: str, said: str, status: int) -> None:
    done = launcher("--nproc-per-node", 2, PROGRAMS / "faults.py", what, SECONDS)
    assert said in done.stderr and "Connection closed by peer: rank [1]" in done.stderr
    assert done.returncode == status


def test_the_launcher_says_which_program_failed() -> None:
    done = launcher("--nproc-per-node", 2, PROGRAMS / "faults.py", "raise", SECONDS)
    assert done.returncode == 1
    assert "faults.py failed, and all were ended: exit status 1" in done.stderr
