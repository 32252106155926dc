"""PMI server, by which the ranks of MPI exchange their addresses, instead of MPI's launcher.

``python pmi_server.py SOCKET SIZE SECONDS FILE`` serves on a listening socket that it inherits. The
job's secret is the first line of its input, and the content of FILE, if that is not empty. A rank
connects, and both sides prove that they have the secret. When SIZE ranks are connected, the server
sends ``all`` to each. Then ranks send commands of PMI-1: lines of ``name=value``, for example
``cmd=put``, ``cmd=get`` or ``cmd=barrier_in``. The server sends ``gone=RANK`` if a rank disconnects
without ``finalize``. It closes a connection that sends anything else. It needs Python alone and
imports nothing of the package.

Reference: P. Balaji et al., "PMI: A Scalable Parallel Process-Management Interface for
Extreme-Scale Systems", 2010, https://doi.org/10.1007/978-3-642-15646-5_4
"""

from __future__ import annotations

import hashlib
import hmac
import os
import selectors
import socket
import sys
import time
from contextlib import suppress
from pathlib import Path

_NAME = "tinytorch"
#: Limits: bytes of a line, connections without a proof of the secret, and seconds for the proof.
LINE, _MAX_UNPROVED, _PATIENCE = 4096, 64, 10.0
_LOOK = 0.5


def sign(secret: bytes, role: str, rank: int, size: int, nonces: str) -> str:
    """HMAC which proves that one side of a connection has the secret.

    Args:
        secret: The job's secret.
        role: ``"member"`` or ``"server"``, so that neither can send the other's proof back.
        rank: The member's rank.
        size: Number of ranks.
        nonces: The random strings of both sides.
    """
    text = f"{_NAME} {role} {rank} {size} {nonces}"
    return hmac.new(secret, text.encode(), hashlib.sha256).hexdigest()


class Peer:
    """A connection of the server.

    Args:
        connection: Its socket.
        rank: Rank of the other side, or None until it has proved the secret.

    Attributes:
        watches: Whether it is notified of ranks that disconnect.
        finalized: Whether the rank has sent ``finalize``.
    """

    def __init__(self, connection: socket.socket, rank: int | None = None) -> None:
        connection.setblocking(False)
        self.connection: socket.socket = connection
        self.rank: int | None = rank
        self.nonce: str = os.urandom(16).hex()
        self.since: float = time.monotonic()
        self.unread: bytes = b""
        self.watches = self.finalized = False

    def send_line(self, line: str) -> None:
        """Send a line.

        Raises:
            OSError: If the connection is closed, or its buffer is full.
        """
        content = f"{line}\n".encode()
        try:
            sent = self.connection.send(content)
        except BlockingIOError:
            sent = 0
        if sent != len(content):
            raise OSError("the peer does not read")

    def receive_lines(self) -> list[str]:
        """Return the lines that have arrived.

        Raises:
            OSError: If the connection is closed.
            ValueError: If a line is too long or not ASCII.
        """
        received = self.connection.recv(LINE)
        if not received:
            raise OSError("the peer is gone")
        *lines, self.unread = (self.unread + received).split(b"\n")
        if len(self.unread) > LINE:
            raise ValueError("a line is too long")
        return [line.decode("ascii") for line in lines]


class Server:
    """PMI-1 server for the ranks of a job.

    Args:
        size: Number of ranks.
        listener: Socket to which ranks connect. Default: none, ``adopt`` adds connections.
        secret: The job's secret, for ranks that connect.

    Attributes:
        members: Connections of the ranks, by rank, until they disconnect.
        complete: Whether all ranks have connected.
        lost: Ranks that initialized MPI and disconnected without finalizing it.
    """

    def __init__(
        self, size: int, listener: socket.socket | None = None, secret: bytes = b""
    ) -> None:
        self.size: int = size
        self._listener, self._secret = listener, secret
        self.members: dict[int, Peer] = {}
        self.complete: bool = False
        self.lost: set[int] = set()
        self._gone: list[int] = []
        #: Unique, because MPICH names its shared memory by it, which a killed job may leave.
        self._name = f"{_NAME}-{os.urandom(8).hex()}"
        self._values: dict[str, str] = {}
        self._unproved: list[Peer] = []
        self._waiting: list[Peer] = []
        self._selector = selectors.DefaultSelector()
        if listener is not None:
            listener.setblocking(False)
            self._selector.register(listener, selectors.EVENT_READ)

    def adopt(self, rank: int, connection: socket.socket) -> None:
        """Add the connection of a rank that inherits its other end, and so needs no proof."""
        self.members[rank] = peer = Peer(connection, rank)
        self._selector.register(connection, selectors.EVENT_READ, peer)
        self.complete = len(self.members) == self.size

    def step(self, seconds: float) -> None:
        """Wait up to some seconds for input, and handle it."""
        for key, _ in self._selector.select(seconds):
            if key.data is None:
                self._accept()
            elif key.data.connection.fileno() >= 0:  # not closed by an earlier iteration
                self.handle(key.data)
        expired = time.monotonic() - _PATIENCE
        for peer in [each for each in self._unproved if each.since < expired]:
            self.drop(peer)

    def _accept(self) -> None:
        """Accept a connection, and send it a nonce."""
        try:
            connection, _ = self._listener.accept()  # type: ignore[union-attr]
        except OSError:
            return  # it is closed already, or there are too many, of which some will expire
        peer = Peer(connection)
        self._unproved.append(peer)
        self._selector.register(connection, selectors.EVENT_READ, peer)
        try:
            peer.send_line(f"{_NAME} {peer.nonce}")
        except OSError:
            self.drop(peer)
        if len(self._unproved) > _MAX_UNPROVED:
            self.drop(self._unproved[0])

    def handle(self, peer: Peer) -> None:
        """Handle the input of a connection; close the connection if it is not valid."""
        try:
            for line in peer.receive_lines():
                if peer.rank is None:
                    self._prove(peer, line)
                else:
                    self._handle_command(peer, line)
        except BlockingIOError:
            pass
        except (OSError, ValueError):
            self.drop(peer)

    def drop(self, peer: Peer) -> None:
        """Close a connection; notify the other ranks if its rank had not finalized."""
        if peer.connection.fileno() >= 0:
            self._selector.unregister(peer.connection)
            peer.connection.close()
        if peer in self._unproved:
            self._unproved.remove(peer)
        if peer in self._waiting:
            self._waiting.remove(peer)
        if peer.rank is None or self.members.get(peer.rank) is not peer:
            return
        del self.members[peer.rank]
        if self.complete and not peer.finalized:
            self._gone.append(peer.rank)
            if peer.watches:
                self.lost.add(peer.rank)
            for other in [each for each in self.members.values() if each.watches]:
                with suppress(OSError):
                    other.send_line(f"gone={peer.rank}")

    def _prove(self, peer: Peer, line: str) -> None:
        """Check the proof of a connection, send the server's proof, and add it to the members.

        Args:
            peer: The connection.
            line: Its input: ``"rank RANK SIZE NONCE PROOF"``.

        Raises:
            ValueError: If it does not prove the secret.
        """
        word, rank, size, nonce, proof = line.split(" ")
        nonces, number = f"{peer.nonce} {nonce}", int(rank)
        expected = sign(self._secret, "member", number, int(size), nonces)
        if word != "rank" or not hmac.compare_digest(proof, expected):
            raise ValueError("no proof")
        peer.send_line(sign(self._secret, "server", number, int(size), nonces))
        # The member has the secret, but its rank or its number of ranks may be wrong.
        if int(size) != self.size or not 0 <= number < self.size or number in self.members:
            peer.send_line(f"rank {number} of {size} is there already, or cannot be")
            return
        self._unproved.remove(peer)
        peer.rank, self.members[number] = number, peer
        if len(self.members) == self.size:
            self._start_job()

    def _start_job(self) -> None:
        """Stop listening, and send ``all`` to all ranks."""
        self.complete = True
        self._selector.unregister(self._listener)  # type: ignore[arg-type]
        self._listener.close()  # type: ignore[union-attr]
        for peer in [*self._unproved]:
            self.drop(peer)
        for peer in self.members.values():
            with suppress(OSError):  # it has ended: its connection reports that
                peer.send_line("all")

    # -- PMI-1 -----------------------------------------------------------------------------

    def _handle_command(self, peer: Peer, line: str) -> None:
        """Execute a command of PMI-1, or ``cmd=watch``, and send the response.

        Args:
            peer: The connection of the rank.
            line: The command, such as ``"cmd=put key=a value=b"``.
        """
        fields = dict(part.partition("=")[::2] for part in line.split())
        command = fields.get("cmd", "")
        if command == "watch":
            peer.watches = True
            for rank in self._gone:
                peer.send_line(f"gone={rank}")
        elif command == "barrier_in":
            self._enter_barrier(peer)
        else:
            peer.finalized |= command == "finalize"
            peer.send_line(
                f"cmd={self._responses(fields).get(command, f'{command} rc=-1 msg=unknown')}"
            )

    def _responses(self, fields: dict[str, str]) -> dict[str, str]:
        """Responses to all commands, by name, with the fields of one; execute it if it is ``put``.

        ``fields`` has the command's name at ``"cmd"``, and its arguments.
        """
        key = fields.get("key", "")
        if fields.get("cmd") == "put":
            self._values[key] = fields.get("value", "")
        value = self._values.get(key)
        return {
            "init": "response_to_init pmi_version=1 pmi_subversion=1 rc=0",
            "get_maxes": "maxes kvsname_max=256 keylen_max=64 vallen_max=1024 rc=0",
            "get_appnum": "appnum appnum=0 rc=0",
            "get_my_kvsname": f"my_kvsname kvsname={self._name} rc=0",
            "get_universe_size": f"universe_size size={self.size} rc=0",
            "put": "put_result rc=0 msg=success",
            "get": "get_result rc=-1 msg=key_not_found"
            if value is None
            else f"get_result rc=0 msg=success value={value}",
            "finalize": "finalize_ack rc=0",
        }

    def _enter_barrier(self, peer: Peer) -> None:
        """Count a rank at the barrier, which ends when all ranks have entered it."""
        self._waiting.append(peer)
        if len(self._waiting) == self.size:
            waiting, self._waiting = self._waiting, []
            for each in waiting:
                with suppress(OSError):  # it has ended: its connection reports that
                    each.send_line("cmd=barrier_out rc=0")


def serve(listener: socket.socket, size: int, seconds: float, secret: bytes, file: str) -> None:
    """Serve until all ranks have disconnected, or not all have connected in time.

    Args:
        listener: Socket to which ranks connect.
        size: Number of ranks.
        seconds: Longest time to wait until all have connected.
        secret: The job's secret.
        file: File of the secret, which is removed once all ranks have it; may be empty.
    """
    server, deadline = Server(size, listener, secret), time.monotonic() + seconds
    while not server.complete and (left := deadline - time.monotonic()) > 0:
        server.step(min(left, _LOOK))
    with suppress(OSError):
        if file and Path(file).read_bytes() == secret:
            os.unlink(file)
    while server.complete and server.members:
        server.step(_LOOK)


def main() -> None:
    """Serve with the program's arguments; the secret is the first line of its input."""
    number, ranks, patience, path = sys.argv[1:]
    word = sys.stdin.buffer.readline().rstrip(b"\n")
    serve(socket.socket(fileno=int(number)), int(ranks), float(patience), word, path)


if __name__ == "__main__":
    main()
