"""A program that tells ranks of MPI where the others are, in place of MPI's launcher.

``python pmi_server.py SOCKET SIZE SECONDS`` answers on a listening socket that it inherits. Each of
SIZE ranks connects, says its number, and is told ``all`` when the last one has come; then it speaks
PMI-1: lines of ``name=value``, among them ``put``, ``get`` and ``barrier_in``. A rank that goes
without a word ends the others' connections: who asks then gets an error. It needs Python alone and
imports nothing of the package.

Reference: P. Balaji et al., "PMI: A Scalable Parallel Process-Management Interface for
Extreme-Scale Systems", 2010, https://doi.org/10.1007/978-3-642-15646-5_4
"""

from __future__ import annotations

import selectors
import socket
import sys
import time

_NAME = "tinytorch"


class Server:
    """What is known of the ranks, and what is answered.

    Args:
        size: How many ranks there are.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.values: dict[str, str] = {}
        self.ranks: dict[int, socket.socket] = {}
        self._waiting: list[socket.socket] = []

    def meet(self, rank: int, connection: socket.socket) -> None:
        """Take a rank in; tell all when it was the last one."""
        if rank in self.ranks or not 0 <= rank < self.size:
            _say(connection, f"rank {rank} of {self.size} is there already, or cannot be")
            return
        self.ranks[rank] = connection
        if len(self.ranks) == self.size:
            for each in self.ranks.values():
                _say(each, "all")

    def answer(self, line: str, connection: socket.socket) -> bool:
        """Answer a line of PMI's; returns whether it could be."""
        said = dict(part.partition("=")[::2] for part in line.split())
        command = said.get("cmd", "")
        if command == "barrier_in":
            self._wait(connection)
            return True
        found = self._answers(said).get(command)
        if found is not None:
            _say(connection, f"cmd={found}")
        return found is not None

    def _answers(self, said: dict[str, str]) -> dict[str, str]:
        if said.get("cmd") == "put":
            self.values[said["key"]] = said["value"]
        value = self.values.get(said.get("key", ""))
        return {
            "init": "response_to_init pmi_version=1 pmi_subversion=1 rc=0",
            "get_maxes": "maxes kvsname_max=256 keylen_max=64 vallen_max=1024 rc=0",
            "get_appnum": "appnum appnum=0 rc=0",
            "get_my_kvsname": f"my_kvsname kvsname={_NAME} rc=0",
            "get_universe_size": f"universe_size size={self.size} rc=0",
            "put": "put_result rc=0 msg=success",
            "get": "get_result rc=-1 msg=key_not_found"
            if value is None
            else f"get_result rc=0 msg=success value={value}",
            "finalize": "finalize_ack rc=0",
        }

    def _wait(self, connection: socket.socket) -> None:
        self._waiting.append(connection)
        if len(self._waiting) == self.size:
            for each in self._waiting:
                _say(each, "cmd=barrier_out rc=0")
            self._waiting.clear()


def _say(connection: socket.socket, line: str) -> None:
    connection.sendall(f"{line}\n".encode())


def serve(listener: socket.socket, size: int, seconds: float) -> None:
    """Answer until all ranks have left, or one has gone without a word, or not all have come."""
    server, deadline = Server(size), time.monotonic() + seconds
    unread: dict[socket.socket, bytes] = {}
    done: set[socket.socket] = set()
    selector = selectors.DefaultSelector()
    selector.register(listener, selectors.EVENT_READ)
    while len(done) < size:
        if len(server.ranks) < size and time.monotonic() > deadline:
            return
        for key, _ in selector.select(1.0):
            if key.fileobj is listener:
                connection, _ = listener.accept()
                unread[connection] = b""
                selector.register(connection, selectors.EVENT_READ)
                continue
            connection = key.fileobj  # type: ignore[assignment]
            came = _received(connection)
            *lines, unread[connection] = (unread[connection] + came).split(b"\n")
            for line in lines:
                if not _heard(server, connection, line.decode(), done):
                    return
            if not came:
                selector.unregister(connection)
                if connection in server.ranks.values() and connection not in done:
                    return


def _received(connection: socket.socket) -> bytes:
    try:
        return connection.recv(1 << 16)
    except ConnectionError:
        return b""


def _heard(server: Server, connection: socket.socket, line: str, done: set[socket.socket]) -> bool:
    """Take a line; returns whether all is well."""
    if connection not in server.ranks.values():
        server.meet(int(line), connection)
        return True
    if line == "cmd=finalize":
        done.add(connection)
    return server.answer(line, connection)


if __name__ == "__main__":
    number, ranks, patience = sys.argv[1:]
    serve(socket.socket(fileno=int(number)), int(ranks), float(patience))
