"""Server that tells the ranks of MPI where the others are, in place of MPI's launcher.

``python pmi_server.py SOCKET SIZE SECONDS FILE`` serves on a listening socket that it inherits; the
job's secret is the first line of its input, and FILE, which may be empty, holds it, too. A rank
connects and both sides prove that they know the secret; it is told ``all`` when the last of SIZE
ranks has come. Then it speaks PMI-1: lines of ``name=value``, among them ``put``, ``get`` and
``barrier_in``. ``gone=RANK`` reports a rank that left without ``finalize``. A connection that sends
anything else is closed, and no other is. It needs Python alone and imports nothing of the package.

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
#: Most bytes of a line, most connections that have proved nothing, and seconds that each may take.
LINE, _STRANGERS, _PATIENCE = 4096, 64, 10.0
_LOOK = 0.5


def sign(secret: bytes, role: str, rank: int, size: int, nonces: str) -> str:
    """HMAC by which a side proves the secret.

    Args:
        secret: The job's secret.
        role: ``"member"`` or ``"server"``, so that neither can send the other's proof back.
        rank: The member's rank.
        size: Number of ranks.
        nonces: Both sides' random texts.
    """
    text = f"{_NAME} {role} {rank} {size} {nonces}"
    return hmac.new(secret, text.encode(), hashlib.sha256).hexdigest()


class Peer:
    """A connection.

    Args:
        connection: Its socket.
        rank: Its rank, or None before it has proved the secret.
    """

    def __init__(self, connection: socket.socket, rank: int | None = None) -> None:
        connection.setblocking(False)
        self.connection, self.rank = connection, rank
        self.nonce, self.since, self.unread = os.urandom(16).hex(), time.monotonic(), b""
        self.watches = self.finalized = False

    def say(self, line: str) -> None:
        """Send a line.

        Raises:
            OSError: If the peer is gone, or does not read.
        """
        content = f"{line}\n".encode()
        try:
            sent = self.connection.send(content)
        except BlockingIOError:
            sent = 0
        if sent != len(content):
            raise OSError("the peer does not read")

    def receive(self) -> list[str]:
        """Return the lines that came.

        Raises:
            OSError: At the end of the connection.
            ValueError: For a line that is too long, or is not text.
        """
        came = self.connection.recv(LINE)
        if not came:
            raise OSError("the peer is gone")
        *lines, self.unread = (self.unread + came).split(b"\n")
        if len(self.unread) > LINE:
            raise ValueError("a line is too long")
        return [line.decode("ascii") for line in lines]


class Server:
    """The ranks of a job, and the answers to them.

    Args:
        size: Number of ranks.
        listener: Where ranks connect. Default: nowhere, ``adopt`` adds them.
        secret: The job's secret, for ranks that connect.

    Attributes:
        members: The peers that are ranks, by rank; one that left is not among them.
        complete: Whether all ranks have come.
        lost: Ranks that started MPI, and left without finalizing it.
    """

    def __init__(
        self, size: int, listener: socket.socket | None = None, secret: bytes = b""
    ) -> None:
        self.size, self._listener, self._secret = size, listener, secret
        self.members: dict[int, Peer] = {}
        self.complete = False
        self.lost: set[int] = set()
        self._gone: list[int] = []
        #: MPICH names its shared memory by it, which a killed job may leave behind.
        self._name = f"{_NAME}-{os.urandom(8).hex()}"
        self._values: dict[str, str] = {}
        self._strangers: list[Peer] = []
        self._waiting: list[Peer] = []
        self._selector = selectors.DefaultSelector()
        if listener is not None:
            listener.setblocking(False)
            self._selector.register(listener, selectors.EVENT_READ)

    def adopt(self, rank: int, connection: socket.socket) -> None:
        """Add a rank that needs no proof: it inherits the other end of the connection."""
        self.members[rank] = peer = Peer(connection, rank)
        self._selector.register(connection, selectors.EVENT_READ, peer)
        self.complete = len(self.members) == self.size

    def step(self, seconds: float) -> None:
        """Answer what comes within some seconds."""
        for key, _ in self._selector.select(seconds):
            if key.data is None:
                self._accept()
            elif key.data.connection.fileno() >= 0:  # not closed a moment ago
                self.hear(key.data)
        expired = time.monotonic() - _PATIENCE
        for peer in [each for each in self._strangers if each.since < expired]:
            self.drop(peer)

    def _accept(self) -> None:
        try:
            connection, _ = self._listener.accept()  # type: ignore[union-attr]
        except OSError:
            return  # it went away again, or there are too many: the strangers are closed in time
        peer = Peer(connection)
        self._strangers.append(peer)
        self._selector.register(connection, selectors.EVENT_READ, peer)
        try:
            peer.say(f"{_NAME} {peer.nonce}")
        except OSError:
            self.drop(peer)
        if len(self._strangers) > _STRANGERS:
            self.drop(self._strangers[0])

    def hear(self, peer: Peer) -> None:
        """Answer what a peer has sent, if anything."""
        try:
            for line in peer.receive():
                if peer.rank is None:
                    self._prove(peer, line)
                else:
                    self._answer(peer, line)
        except BlockingIOError:
            pass
        except (OSError, ValueError):
            self.drop(peer)

    def drop(self, peer: Peer) -> None:
        """Close a connection; report a rank that had not finalized to the others."""
        if peer.connection.fileno() >= 0:
            self._selector.unregister(peer.connection)
            peer.connection.close()
        if peer in self._strangers:
            self._strangers.remove(peer)
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
                    other.say(f"gone={peer.rank}")

    def _prove(self, peer: Peer, line: str) -> None:
        """Check a stranger's proof, prove the secret in turn, and make it a member.

        Raises:
            ValueError: If it has not proved the secret.
        """
        word, rank, size, nonce, proof = line.split(" ")
        nonces, number = f"{peer.nonce} {nonce}", int(rank)
        expected = sign(self._secret, "member", number, int(size), nonces)
        if word != "rank" or not hmac.compare_digest(proof, expected):
            raise ValueError("no proof")
        peer.say(sign(self._secret, "server", number, int(size), nonces))
        if int(size) != self.size or not 0 <= number < self.size or number in self.members:
            peer.say(f"rank {number} of {size} is there already, or cannot be")
            return
        self._strangers.remove(peer)
        peer.rank, self.members[number] = number, peer
        if len(self.members) == self.size:
            self._complete()

    def _complete(self) -> None:
        """Tell all ranks, and listen no longer."""
        self.complete = True
        self._selector.unregister(self._listener)  # type: ignore[arg-type]
        self._listener.close()  # type: ignore[union-attr]
        for peer in [*self._strangers]:
            self.drop(peer)
        for peer in self.members.values():
            with suppress(OSError):  # it is gone, which its own connection reports
                peer.say("all")

    # -- PMI-1 -----------------------------------------------------------------------------

    def _answer(self, peer: Peer, line: str) -> None:
        said = dict(part.partition("=")[::2] for part in line.split())
        command = said.get("cmd", "")
        if command == "watch":
            peer.watches = True
            for rank in self._gone:
                peer.say(f"gone={rank}")
        elif command == "barrier_in":
            self._wait(peer)
        else:
            peer.finalized |= command == "finalize"
            peer.say(f"cmd={self._answers(said).get(command, f'{command} rc=-1 msg=unknown')}")

    def _answers(self, said: dict[str, str]) -> dict[str, str]:
        key = said.get("key", "")
        if said.get("cmd") == "put":
            self._values[key] = said.get("value", "")
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

    def _wait(self, peer: Peer) -> None:
        self._waiting.append(peer)
        if len(self._waiting) == self.size:
            waiting, self._waiting = self._waiting, []
            for each in waiting:
                with suppress(OSError):  # it is gone, which its own connection reports
                    each.say("cmd=barrier_out rc=0")


def serve(listener: socket.socket, size: int, seconds: float, secret: bytes, file: str) -> None:
    """Answer until all ranks have left, or not all have come in time.

    Args:
        listener: The socket.
        size: Number of ranks.
        seconds: How long to wait for them.
        secret: The job's secret.
        file: File of the secret, which is removed when it is needed no longer; may be empty.
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
    """Serve as the program's arguments say; the secret is the first line of its input."""
    number, ranks, patience, path = sys.argv[1:]
    word = sys.stdin.buffer.readline().rstrip(b"\n")
    serve(socket.socket(fileno=int(number)), int(ranks), float(patience), word, path)


if __name__ == "__main__":
    main()
