"""Strangers, garbage and secrets at the rendezvous; stores that outlive their writers."""

from __future__ import annotations

import fcntl
import os
import pickle
import re
import select
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest

import tinytorch as tt
from tests.distributed.ranks import free_port, needs_mpi
from tests.distributed.test_rendezvous import end_all, meet, start_rank
from tests.fresh import search_path
from tests.processes import wait_until
from tinytorch.distributed import pmi_server, rendezvous

pytestmark = pytest.mark.slow

SECRET = b"of the job"
#: Connections of the running test.
_opened: list[socket.socket] = []


def connect(address: tuple[str, int]) -> socket.socket:
    """A connection, which is closed with the server."""
    _opened.append(socket.create_connection(address, timeout=300))
    return _opened[-1]


@contextmanager
def server(size: int, seconds: float = 300) -> Iterator[tuple[str, int]]:
    """A server of ranks, in a process of its own as rank 0 starts it."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        words = [sys.executable, pmi_server.__file__, str(listener.fileno()), str(size)]
        process = subprocess.Popen(
            [*words, str(seconds), ""], pass_fds=[listener.fileno()], stdin=subprocess.PIPE
        )
        address = listener.getsockname()
    assert process.stdin is not None
    process.stdin.write(SECRET + b"\n")
    process.stdin.close()
    try:
        yield address
        assert process.poll() is None, "the server has ended"
    finally:
        for each in _opened:
            each.close()
        _opened.clear()
        process.kill()
        process.wait()


def rank(address: tuple[str, int], number: int, size: int, word: bytes = SECRET) -> socket.socket:
    """A rank's connection, which has sent its proof."""
    connection = connect(address)
    nonces = line(connection).split()[1] + " 00"
    proof = pmi_server.sign(word, "member", number, size, nonces)
    connection.sendall(f"rank {number} {size} 00 {proof}\n".encode())
    return connection


def line(connection: socket.socket) -> str:
    """The next line; empty when the connection was closed."""
    found = b""
    while not found.endswith(b"\n"):
        try:
            came = connection.recv(1)
        except ConnectionError:
            came = b""
        if not came:
            return ""
        found += came
    return found.decode().rstrip()


@pytest.mark.parametrize("garbage", [
    b"GET / HTTP/1.1\r\n\r\n", b"1\n", b"\xff\xfe\n", b"x" * 100_000, b"rank 1 2 00\n",
    b"rank 1 2 00 00\n", b"rank one 2 00 00\n", b"cmd=put key=a\n", b"\n" * 50,
])  # fmt: skip
def test_garbage_closes_its_connection_alone(garbage: bytes) -> None:
    with server(2) as address:
        first = rank(address, 0, 2)
        assert len(line(first)) == 64  # the server's proof
        stranger = connect(address)
        assert line(stranger).startswith("tinytorch ")
        stranger.sendall(garbage)
        assert line(stranger) == ""
        second = rank(address, 1, 2)
        assert len(line(second)) == 64 and line(second) == line(first) == "all"
        first.sendall(b"cmd=init\ncmd=get key=a\n")
        assert "rc=0" in line(first) and "key_not_found" in line(first)


def test_a_stranger_takes_no_rank_and_a_proof_serves_once() -> None:
    with server(2) as address:
        stranger = rank(address, 1, 2, b"another secret")
        assert line(stranger) == ""
        first = rank(address, 0, 2)
        with connect(address) as listening:
            nonces = line(listening).split()[1] + " 00"
            swapped = pmi_server.sign(SECRET, "server", 1, 2, nonces)
            listening.sendall(f"rank 1 2 00 {swapped}\n".encode())
            assert line(listening) == ""
        second = rank(address, 1, 2)
        assert [len(line(each)) for each in (first, second)] == [64, 64]
        assert line(second) == line(first) == "all"


def test_idle_connections_do_not_keep_ranks_out() -> None:
    with server(2) as address:
        idle = [connect(address) for _ in range(150)]
        idle[-1].sendall(b"rank 1 ")  # and sends no more
        members = [rank(address, number, 2) for number in range(2)]
        assert [len(line(each)) for each in members] == [64, 64]
        assert [line(each) for each in members] == ["all", "all"]


def test_a_rank_that_leaves_before_all_came_may_come_again() -> None:
    with server(2) as address:
        lost = rank(address, 1, 2)
        assert len(line(lost)) == 64
        lost.close()
        while line(again := rank(address, 1, 2)) and is_refused(address, again):
            again.close()
        first = rank(address, 0, 2)
        assert len(line(first)) == 64 and line(first) == "all"


def is_refused(address: tuple[str, int], connection: socket.socket) -> bool:
    """Whether the server has sent a refusal: it does so before it accepts another connection."""
    with connect(address) as later:
        assert line(later)
    return bool(select.select([connection], [], [], 0)[0])


def test_an_address_that_others_reach_needs_a_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(rendezvous.VARIABLE, raising=False)
    with pytest.raises(ValueError, match=f"Set the environment variable {rendezvous.VARIABLE}"):
        rendezvous.find_secret("192.0.2.1", 29500)
    with pytest.raises(ValueError, match=rendezvous.VARIABLE):
        rendezvous.find_secret("0.0.0.0", 29500)
    monkeypatch.setenv(rendezvous.VARIABLE, "ours")
    assert rendezvous.find_secret("192.0.2.1", 29500) == (b"ours", "")


def test_the_file_of_a_port_is_the_users_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(rendezvous.VARIABLE, raising=False)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    word, file = rendezvous.find_secret("localhost", 29500)
    assert len(word) == 64 and rendezvous.find_secret("127.0.0.1", 29500) == (word, file)
    assert stat.S_IMODE(os.stat(file).st_mode) == 0o600
    assert os.listdir(tmp_path / "tinytorch") == ["port-29500"]
    os.chmod(tmp_path / "tinytorch", 0o755)
    with pytest.raises(PermissionError, match="mode 0700"):
        rendezvous.find_secret("localhost", 29500)


def is_listened_on(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@needs_mpi
def test_ranks_with_different_secrets_do_not_meet() -> None:
    def start(rank: int, seconds: float, secret: str) -> subprocess.Popen[str]:
        env = {rendezvous.VARIABLE: secret}
        return start_rank("env", f"127.0.0.1:{port}", rank, 2, seconds, **env)

    port = free_port()
    first = start(0, 300, "ours")
    wait_until(lambda: is_listened_on(port))
    ((code, _, said),) = end_all([start(1, 5, "another")])  # it tries again until its timeout
    assert code == 1 and rendezvous.VARIABLE in said
    assert first.poll() is None  # it waits for a rank with its secret
    assert [code for code, *_ in end_all([first, start(1, 300, "ours")])] == [0, 0]


@needs_mpi
def test_the_secret_of_the_environment_joins_ranks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(rendezvous.VARIABLE, "of this job")
    ended = meet("env", f"127.0.0.1:{free_port()}", [0, 1], 2, 300)
    assert [code for code, *_ in ended] == [0, 0], ended


# -- stores --------------------------------------------------------------------------------------


def test_a_store_with_a_killed_writer_goes_on(tmp_path: Path) -> None:
    path = str(tmp_path / "store")
    text = (
        "import sys, tinytorch as tt\nstore = tt.distributed.FileStore(sys.argv[1])\n"
        "for step in range(10**9): store.set('a', str(step) * 500); store.add('steps', 1)"
    )
    store = tt.distributed.FileStore(path)
    for _ in range(3):
        writer = subprocess.Popen(
            [sys.executable, "-c", text, path], env={**os.environ, "PYTHONPATH": search_path()}
        )
        before = store.add("steps", 0)
        while store.add("steps", 0) < before + 20:
            time.sleep(0.001)
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        value = store.get("a").decode()
        assert value == str(int(value[: len(value) // 500])) * 500


def test_half_a_record_is_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "store"
    store, other = (tt.distributed.FileStore(str(path)) for _ in range(2))
    store.set("a", "1")
    whole = path.read_bytes()
    store.set("b", "2")
    part = path.read_bytes()[:-1]
    for end in range(len(whole), len(part) + 1):
        path.write_bytes(part[:end])
        fresh = tt.distributed.FileStore(str(path))
        assert fresh.get("a") == b"1" and not fresh.check(["b"])
        fresh.set("c", "3")
        assert tt.distributed.FileStore(str(path)).get("c") == b"3"
    assert other.get("c") == b"3"


def test_a_lock_that_is_held_is_an_error_at_the_timeout(tmp_path: Path) -> None:
    store = tt.distributed.FileStore(str(tmp_path / "store"))
    store.set_timeout(timedelta(seconds=0.2))
    with open(store.path) as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(tt.distributed.DistStoreError, match=r"timed out after 0\.2 seconds"):
            store.set("a", "1")
    store.set("a", "1")
    assert stat.S_IMODE(os.stat(store.path).st_mode) == 0o600


class Runs:
    """Runs a command where it is unpickled."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.system, ("touch ran",)


def test_a_store_runs_nothing_of_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "store"
    path.write_bytes(pickle.dumps(Runs()))
    with pytest.raises(tt.distributed.DistStoreError, match="not the file of a store"):
        tt.distributed.FileStore(str(path)).get("a")
    assert os.listdir(tmp_path) == ["store"]


def test_a_table_is_pytorchs_after_the_same_calls(tmp_path: Path) -> None:
    store = tt.distributed.FileStore(str(tmp_path / "store"))
    store.set("a", b"\x00\xff" * 3)
    assert store.add("n", 5) == 5 and store.add("n", -7) == -2
    assert store.compare_set("a", "x", "y") == b"\x00\xff" * 3
    assert store.delete_key("a") and not store.delete_key("a")
    store.set("empty", "")
    assert store.get("empty") == b"" and re.fullmatch(rb"-2", store.get("n"))
