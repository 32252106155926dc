"""Connections of ranks to the server that MPI asks where the others are.

Rank 0 starts the server (``pmi_server``) at an address, or the launcher is it. Libraries of MPI
that speak PMI-1 use it: MPICH and its derivatives. MPI never sees that connection: a relay passes
its questions on, so that the end of a rank or of the server is an error here and no crash there.
"""

from __future__ import annotations

import hmac
import os
import selectors
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from .errors import DistNetworkError, DistStoreError
from .pmi_server import LINE, sign
from .secret import VARIABLE, find_secret

_KEY = "tinytorch/address"
_NAP = 0.02
#: Seconds that a server may take for its proof before the client tries again.
_PATIENCE = 5.0
_SERVER = Path(__file__).with_name("pmi_server.py")
#: Set by our launcher, whose ranks inherit their connection.
INHERITED = "TINYTORCH_LAUNCHED"


class Relay:
    """Passes lines between MPI and the server, and collects the ranks that the server reports gone.

    Args:
        server: The connection to the server.

    Attributes:
        gone: Ranks of the world that left without finalizing MPI.
        closed: Whether the server has ended.
    """

    def __init__(self, server: socket.socket) -> None:
        self._server, self._unread = server, b""
        self._own, self._mpis = socket.socketpair()
        self.gone: set[int] = set()
        self.closed = False
        server.settimeout(None)
        server.sendall(b"cmd=watch\n")
        threading.Thread(target=self._run, name="tinytorch-relay", daemon=True).start()

    @contextmanager
    def serve(self, rank: int, size: int) -> Iterator[Relay]:
        """Set the variables by which MPI finds this relay while it starts."""
        said = {"PMI_FD": str(self._mpis.fileno()), "PMI_RANK": str(rank), "PMI_SIZE": str(size)}
        os.environ.update(said)
        yield self  # after an error MPI may still be reading them
        for name in said:  # what this process starts is not a rank
            os.environ.pop(name)

    def finalize(self) -> None:
        """Report to the server that this rank ends as it should."""
        self._ask(b"cmd=finalize\n")

    def _run(self) -> None:
        selector = selectors.DefaultSelector()
        selector.register(self._own, selectors.EVENT_READ)
        selector.register(self._server, selectors.EVENT_READ)
        with suppress(OSError):  # the process ends
            while True:
                for key, _ in selector.select():
                    if key.fileobj is self._own:
                        self._ask(self._own.recv(LINE))
                    elif not self._hear():
                        # MPI's own connection stays open: it crashes at the end of one.
                        selector.unregister(self._server)
                        self.closed = True

    def _ask(self, content: bytes) -> None:
        with suppress(ConnectionError):
            self._server.sendall(content)

    def _hear(self) -> bool:
        """Pass the server's lines on; returns whether there may be more."""
        try:
            came = self._server.recv(LINE)
        except ConnectionError:
            came = b""
        *lines, self._unread = (self._unread + came).split(b"\n")
        for line in lines:
            if line.startswith(b"gone="):
                self.gone.add(int(line[5:]))
            else:
                self._own.sendall(line + b"\n")
        return bool(came)


@contextmanager
def inherit() -> Iterator[Relay]:
    """Relay of a rank that our launcher started, which is its server."""
    rank, size = int(os.environ["PMI_RANK"]), int(os.environ["PMI_SIZE"])
    server = socket.socket(fileno=int(os.environ["PMI_FD"]))
    os.environ.pop(INHERITED)
    with Relay(server).serve(rank, size) as relay:
        yield relay


@contextmanager
def join(rank: int, size: int, where: Any, seconds: float) -> Iterator[Relay]:
    """Relay to the server at an address, once all ranks have come.

    Args:
        rank: This process's rank.
        size: Number of ranks.
        where: A host and a port, or a store that holds them.
        seconds: How long to wait for the others.

    Raises:
        DistNetworkError: If the port is taken, or rank 0 cannot be reached.
        DistStoreError: If not all ranks come in time.
        ValueError: If two processes have the same rank, or there is no secret for an address that
            other machines reach.
    """
    deadline = time.monotonic() + seconds
    if sys.platform == "win32":
        raise DistNetworkError("Windows' processes are started by `mpiexec -n N ...` alone")
    if rank == 0:
        where = _start_server(where, size, seconds)
    connection = _connect(where, rank, size, deadline)
    _await_all(connection, seconds, deadline)
    with Relay(connection).serve(rank, size) as relay:
        yield relay


def _start_server(where: Any, size: int, seconds: float) -> tuple[str, int]:
    """Start it at an address, or at a free port that the store then holds."""
    stored = hasattr(where, "set")
    host, port = (os.environ.get("MASTER_ADDR", "127.0.0.1"), 0) if stored else where
    with _listen(host, port) as listener:
        number, port = listener.fileno(), listener.getsockname()[1]
        secret, file = find_secret(host, port)
        server = subprocess.Popen(
            [sys.executable, "-S", "-E", str(_SERVER), str(number), str(size), str(seconds), file],
            pass_fds=[number], stdin=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
        with server.stdin as pipe:  # type: ignore[union-attr]
            pipe.write(secret + b"\n")
    if stored:
        where.set(_KEY, f"{host}:{port}")
    return host, port


def _listen(host: str, port: int) -> socket.socket:
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise DistNetworkError(
            f"The server socket has failed to listen on {host}, port: {port}: {error}"
        ) from error


def _connect(where: Any, rank: int, size: int, deadline: float) -> socket.socket:
    """Connect to rank 0's server, which may not be there yet; both sides prove the secret."""
    refused: ValueError | None = None  # says more than that nothing listens any longer
    while True:
        # A store may hold the address of a job that has ended, and a file its secret.
        host, port = _look_up(where, deadline) if hasattr(where, "get") else where
        secret, _ = find_secret(host, port)
        left = max(deadline - time.monotonic(), 0.1)
        try:
            connection = socket.create_connection((host, port), timeout=min(left, _PATIENCE))
        except OSError as error:
            failure: Exception = error
        else:
            try:
                _prove(connection, rank, size, secret, time.monotonic() + min(left, _PATIENCE))
                return connection
            except (OSError, ValueError) as error:
                connection.close()
                failure = error
                refused = error if isinstance(error, ValueError) else refused
        if time.monotonic() > deadline:
            raise DistNetworkError(
                "The client socket has timed out while trying to connect to "
                f"({host}, {port}): {refused or failure}"
            ) from (refused or failure)
        time.sleep(_NAP)


def _look_up(store: Any, deadline: float) -> tuple[str, int]:
    from datetime import timedelta

    store.wait([_KEY], timedelta(seconds=max(deadline - time.monotonic(), 0.1)))
    host, _, port = store.get(_KEY).decode().rpartition(":")
    return host, int(port)


def _prove(connection: socket.socket, rank: int, size: int, secret: bytes, deadline: float) -> None:
    """Prove the secret to the server, and check its proof.

    Raises:
        ValueError: If the other side is not the server, or has another secret.
        OSError: If it does not answer in time.
    """
    word, _, theirs = _read_line(connection, deadline).partition(" ")
    if word != "tinytorch":
        raise ValueError("another program listens there")
    own = os.urandom(16).hex()
    nonces = f"{theirs} {own}"
    proof = sign(secret, "member", rank, size, nonces)
    connection.sendall(f"rank {rank} {size} {own} {proof}\n".encode())
    expected = sign(secret, "server", rank, size, nonces)
    if not hmac.compare_digest(_read_line(connection, deadline), expected):
        raise ValueError(f"rank 0 has another secret than this rank: set {VARIABLE} on all ranks")


def _read_line(connection: socket.socket, deadline: float) -> str:
    """Read a line, and nothing behind it."""
    line = bytearray()
    while not line.endswith(b"\n"):
        connection.settimeout(max(deadline - time.monotonic(), 0.01))
        if not (came := connection.recv(1)):
            raise ValueError(
                "the connection was closed: another program listens there, or rank 0 has another "
                f"secret ({VARIABLE}) than this rank"
            )
        line += came
        if len(line) > LINE:
            raise ValueError("another program listens there")
    return line[:-1].decode("ascii", "replace")


def _await_all(connection: socket.socket, seconds: float, deadline: float) -> None:
    """Wait until all ranks have come."""
    try:
        said = _read_line(connection, deadline)
    except (OSError, ValueError):
        said = ""
    if said == "all":
        return
    connection.close()
    if not said:
        raise DistStoreError(f"Timed out after {seconds:g} seconds waiting for clients.")
    raise ValueError(f"init_process_group: {said}")
