"""Rendezvous: the rank of a process, and the connection of MPI to the other ranks.

MPI's launcher assigns the ranks. Ranks that a PyTorch program passes as arguments, in
``torchrun``'s environment or in an ``init_method`` are compared with them. Without MPI's launcher,
rank 0 or our own launcher runs a PMI server (``pmi_server``), which MPI libraries with PMI-1 use:
MPICH and its derivatives. A relay forwards between MPI and the server, so that the end of a rank or
of the server is an error and not a crash of MPI.

The processes of a job prove by a secret that they belong to it. The launcher or the user sets it in
the variable ``TINYTORCH_DISTRIBUTED_SECRET``. Without it, ranks that connect to a loopback address
share a file that only their user can read: the first rank creates it, and rank 0's server removes
it when all ranks have connected.
"""

from __future__ import annotations

import hmac
import ipaddress
import os
import secrets
import selectors
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import ParseResult, parse_qs, urlparse

from .errors import DistNetworkError, DistStoreError
from .pmi_server import LINE, sign
from .store import FileStore

VARIABLE = "TINYTORCH_DISTRIBUTED_SECRET"


def find_secret(host: str, port: int) -> tuple[bytes, str]:
    """Find the secret of a job by the address of its rank 0.

    Returns:
        The secret, and the file that contains it, or ``""`` if the secret is from the environment
        variable.

    Raises:
        ValueError: If the address is not a loopback address and the environment variable is not
            set.
        PermissionError: If others may write to the folder of the files.
    """
    text = os.environ.get(VARIABLE, "")
    if text:
        return text.encode(), ""
    if not is_loopback(host):
        raise ValueError(
            f"init_process_group: rank 0's address {host} is not a loopback address, so that other "
            f"machines reach it. Set the environment variable {VARIABLE} to the same random text "
            "on all ranks, by which they authenticate each other"
        )
    path = secret_folder() / f"port-{port}"
    return _read_secret(path), str(path)


def is_loopback(host: str) -> bool:
    """Whether all addresses of a host name are loopback addresses."""
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError:
        return False
    return all(ipaddress.ip_address(str(each[4][0])).is_loopback for each in found)


def secret_folder() -> Path:
    """Private folder of the user, in ``XDG_RUNTIME_DIR`` or the system's temporary folder.

    Raises:
        PermissionError: If another user owns it or has access to it.
    """
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    folder = (
        Path(runtime, "tinytorch")
        if runtime and os.path.isdir(runtime) and os.access(runtime, os.W_OK)
        else Path(tempfile.gettempdir(), f"tinytorch-{os.getuid()}")
    )
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise PermissionError(
            f"{folder} must be a folder of mode 0700 that this user owns: remove it, or set "
            f"{VARIABLE}"
        )
    return folder


def _read_secret(path: Path) -> bytes:
    """Return the secret in a file; create the file with a new secret if it does not exist."""
    while True:
        try:
            handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
        except FileNotFoundError:
            _create_secret(path)
            continue
        with open(handle, "rb") as file:
            return file.read(1024)


def _create_secret(path: Path) -> None:
    """Create a file with a new secret atomically, unless it exists."""
    # A complete file is linked to the path, so that no other rank reads a part of a secret.
    temporary = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with open(handle, "wb") as file:
            file.write(secrets.token_hex(32).encode())
        os.link(temporary, path)  # fails where another rank was first
    except FileExistsError:
        pass
    finally:
        os.unlink(temporary)


_KEY = "tinytorch/address"
_NAP = 0.02
#: Timeout in seconds of the server's proof, after which the client connects again.
_PATIENCE = 5.0
_SERVER = Path(__file__).with_name("pmi_server.py")
#: Variable that our launcher sets, whose ranks inherit their connection.
INHERITED = "TINYTORCH_LAUNCHED"


class Relay:
    """Forwards lines between MPI and the PMI server, in a thread, and records ranks that end.

    Args:
        server: Connection to the server.

    Attributes:
        gone: Ranks of the world that disconnected from the server without finalizing MPI.
        closed: Whether the server has closed the connection.
    """

    def __init__(self, server: socket.socket) -> None:
        self._server, self._unread = server, b""
        #: A connected pair of sockets: MPI has the second one, as its connection to a server.
        self._own, self._mpis = socket.socketpair()
        self.gone: set[int] = set()
        self.closed: bool = False
        server.settimeout(None)
        server.sendall(b"cmd=watch\n")
        threading.Thread(target=self._run, name="tinytorch-relay", daemon=True).start()

    @contextmanager
    def serve(self, rank: int, size: int) -> Iterator[Relay]:
        """Set the environment variables by which MPI finds this relay, in a ``with`` block.

        Args:
            rank: This process's rank.
            size: Number of ranks.
        """
        variables = {
            "PMI_FD": str(self._mpis.fileno()),
            "PMI_RANK": str(rank),
            "PMI_SIZE": str(size),
        }
        os.environ.update(variables)
        yield self  # after an error they stay, since MPI may still read them
        for name in variables:  # child processes are not ranks
            os.environ.pop(name)

    def finalize(self) -> None:
        """Notify the server that this rank has finalized MPI."""
        self._send(b"cmd=finalize\n")

    def _run(self) -> None:
        """Forward lines in both directions until the process ends."""
        selector = selectors.DefaultSelector()
        selector.register(self._own, selectors.EVENT_READ)
        selector.register(self._server, selectors.EVENT_READ)
        with suppress(OSError):  # the process ends
            while True:
                for key, _ in selector.select():
                    if key.fileobj is self._own:
                        self._send(self._own.recv(LINE))
                    elif not self._forward():
                        # MPI's connection stays open, because MPI crashes if it is closed.
                        selector.unregister(self._server)
                        self.closed = True

    def _send(self, content: bytes) -> None:
        """Send bytes to the server, unless it has closed the connection."""
        with suppress(ConnectionError):
            self._server.sendall(content)

    def _forward(self) -> bool:
        """Forward lines of the server to MPI, except those about ranks that end.

        Returns:
            Whether the connection to the server is still open.
        """
        try:
            received = self._server.recv(LINE)
        except ConnectionError:
            received = b""
        *lines, self._unread = (self._unread + received).split(b"\n")
        for line in lines:
            if line.startswith(b"gone="):
                self.gone.add(int(line[5:]))
            else:
                self._own.sendall(line + b"\n")
        return bool(received)


@contextmanager
def inherit() -> Iterator[Relay]:
    """Context of a relay to tinytorch's launcher, whose connection this rank inherits.

    The environment variables ``PMI_RANK``, ``PMI_SIZE`` and ``PMI_FD`` describe it.
    """
    rank, size = int(os.environ["PMI_RANK"]), int(os.environ["PMI_SIZE"])
    server = socket.socket(fileno=int(os.environ["PMI_FD"]))
    os.environ.pop(INHERITED)
    with Relay(server).serve(rank, size) as relay:
        yield relay


@contextmanager
def join(rank: int, size: int, address: Any, seconds: float) -> Iterator[Relay]:
    """Context of a relay to the PMI server, once all ranks have connected; rank 0 starts it.

    Args:
        rank: This process's rank.
        size: Number of ranks.
        address: A host and a port, or a store that holds them.
        seconds: Longest time to wait for the other ranks.

    Raises:
        DistNetworkError: If the port is in use, or rank 0 cannot be reached.
        DistStoreError: If not all ranks connect in time.
        ValueError: If two processes have the same rank, or there is no secret and the address is
            not a loopback address.
    """
    deadline = time.monotonic() + seconds
    if sys.platform == "win32":
        raise DistNetworkError("Windows' processes are started by `mpiexec -n N ...` alone")
    if rank == 0:
        address = _start_server(address, size, seconds)
    connection = _connect(address, rank, size, deadline)
    _await_all(connection, seconds, deadline)
    with Relay(connection).serve(rank, size) as relay:
        yield relay


def _start_server(address: Any, size: int, seconds: float) -> tuple[str, int]:
    """Start the PMI server in a process of its own.

    Args:
        address: Host and port; or a store, in which the host and a free port are saved.
        size: Number of ranks.
        seconds: Longest time in which the server waits for them.

    Returns:
        The host and the port.
    """
    in_store = hasattr(address, "set")
    host, port = (os.environ.get("MASTER_ADDR", "127.0.0.1"), 0) if in_store else address
    with _listen(host, port) as listener:
        number, port = listener.fileno(), listener.getsockname()[1]
        secret, file = find_secret(host, port)
        server = subprocess.Popen(
            [sys.executable, "-S", "-E", str(_SERVER), str(number), str(size), str(seconds), file],
            pass_fds=[number], stdin=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
        with server.stdin as pipe:  # type: ignore[union-attr]
            pipe.write(secret + b"\n")
    if in_store:
        address.set(_KEY, f"{host}:{port}")
    return host, port


def _listen(host: str, port: int) -> socket.socket:
    """Create a listening socket; raise a ``DistNetworkError`` if the address is not available."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise DistNetworkError(
            f"The server socket has failed to listen on {host}, port: {port}: {error}"
        ) from error


def _connect(address: Any, rank: int, size: int, deadline: float) -> socket.socket:
    """Connect to the PMI server of rank 0, which may not have started yet, and exchange proofs.

    Args:
        address: A host and a port, or a store that holds them.
        rank: This process's rank.
        size: Number of ranks.
        deadline: Time of ``time.monotonic`` until which failures are repeated.

    Raises:
        DistNetworkError: After the deadline.
    """
    rejection: ValueError | None = None  # a better message than that of a closed port later
    while True:
        # A store may hold the address of a job that has ended, and a file its secret.
        host, port = _look_up(address, deadline) if hasattr(address, "get") else address
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
                rejection = error if isinstance(error, ValueError) else rejection
        if time.monotonic() > deadline:
            raise DistNetworkError(
                "The client socket has timed out while trying to connect to "
                f"({host}, {port}): {rejection or failure}"
            ) from (rejection or failure)
        time.sleep(_NAP)


def _look_up(store: Any, deadline: float) -> tuple[str, int]:
    """Wait for the address of rank 0 in a store."""
    from datetime import timedelta

    store.wait([_KEY], timedelta(seconds=max(deadline - time.monotonic(), 0.1)))
    host, _, port = store.get(_KEY).decode().rpartition(":")
    return host, int(port)


def _prove(connection: socket.socket, rank: int, size: int, secret: bytes, deadline: float) -> None:
    """Prove to the server that this rank has the secret, and check the server's proof.

    Args:
        connection: Connection to the server.
        rank: This process's rank.
        size: Number of ranks.
        secret: The job's secret.
        deadline: Time of ``time.monotonic`` until which the server may respond.

    Raises:
        ValueError: If the other side is not the server, or has a different secret.
        OSError: After the deadline.
    """
    word, _, theirs = _read_line(connection, deadline).partition(" ")
    if word != "tinytorch":
        raise ValueError("another program listens there")
    nonce = os.urandom(16).hex()
    nonces = f"{theirs} {nonce}"
    proof = sign(secret, "member", rank, size, nonces)
    connection.sendall(f"rank {rank} {size} {nonce} {proof}\n".encode())
    expected = sign(secret, "server", rank, size, nonces)
    if not hmac.compare_digest(_read_line(connection, deadline), expected):
        raise ValueError(f"rank 0 has another secret than this rank: set {VARIABLE} on all ranks")


def _read_line(connection: socket.socket, deadline: float) -> str:
    """Read a line, and nothing that follows it."""
    line = bytearray()
    while not line.endswith(b"\n"):
        connection.settimeout(max(deadline - time.monotonic(), 0.01))
        if not (received := connection.recv(1)):
            raise ValueError(
                "the connection was closed: another program listens there, or rank 0 has another "
                f"secret ({VARIABLE}) than this rank"
            )
        line += received
        if len(line) > LINE:
            raise ValueError("another program listens there")
    return line[:-1].decode("ascii", "replace")


def _await_all(connection: socket.socket, seconds: float, deadline: float) -> None:
    """Wait until the server reports that all ranks have connected.

    Args:
        connection: Connection to the server.
        seconds: The timeout, for the error.
        deadline: Time of ``time.monotonic`` at which it ends.

    Raises:
        DistStoreError: After the deadline, or if the server closes the connection.
        ValueError: If the server rejects this rank.
    """
    try:
        line = _read_line(connection, deadline)
    except (OSError, ValueError):
        line = ""
    if line == "all":
        return
    connection.close()
    if not line:
        raise DistStoreError(f"Timed out after {seconds:g} seconds waiting for clients.")
    raise ValueError(f"init_process_group: {line}")


#: Variables that launchers of MPI set in each process.
_LAUNCHER_VARIABLES = ("PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "PMI_ID")
_SCHEMES = ("env", "file", "tcp")


@dataclass(frozen=True)
class RankInfo:
    """Rank, world size and address of rank 0, as far as the program gives them.

    Attributes:
        rank: This process's rank, or None.
        size: Number of processes, or None.
        address: The host and port of rank 0, a store that holds them, or None.
    """

    rank: int | None
    size: int | None
    address: Any = None

    def check(self, rank: int, size: int) -> None:
        """Compare with the rank and the size that MPI has.

        Raises:
            ValueError: If they differ.
        """
        if self.size not in (None, size) or self.rank not in (None, rank):
            raise ValueError(
                f"init_process_group: rank {self.rank} of {self.size} was asked for, but MPI "
                f"started this process as rank {rank} of {size}. Start the program by "
                f"`python -m tinytorch.distributed.run --nproc-per-node {self.size} ...` or "
                f"`mpiexec -n {self.size} ...`; MPICH alone lets ranks that other programs "
                "started find each other, and only if mpi4py.MPI was not imported before "
                "init_process_group"
            )

    def join(self, seconds: float) -> AbstractContextManager[Relay | None]:
        """Context in which MPI initializes, with a relay by which it finds the other ranks.

        There is no relay if a launcher of MPI connects the ranks, or for one rank.

        Args:
            seconds: Longest time to wait for the other ranks.
        """
        if INHERITED in os.environ:
            return inherit()
        if has_launcher() or self.address is None or self.rank is None or (self.size or 1) == 1:
            return nullcontext()
        return join(self.rank, self.size or 1, self.address, seconds)


def has_launcher() -> bool:
    """Whether a launcher of MPI started this process."""
    return any(name in os.environ for name in _LAUNCHER_VARIABLES)


def read_rank_info(
    backend: str, init_method: str | None, size: int, rank: int, store: Any
) -> RankInfo:
    """Rank information from the arguments of ``init_process_group`` and the environment.

    Raises:
        AssertionError: For a store and an ``init_method``, or a store without ``size`` and rank.
        RuntimeError: For an unknown ``init_method``.
        ValueError: If the rank or the size is missing, and there is no launcher of MPI.
    """
    if store is not None:
        return _info_from_store(init_method, size, rank, store)
    url = urlparse(init_method or "env://")
    if url.scheme not in _SCHEMES:
        raise RuntimeError(f"No rendezvous handler for {url.scheme}://")
    # The URL's query takes precedence over the arguments, and these over the environment.
    given = {"rank": rank, "world_size": size}
    query = {name: int(values[0]) for name, values in parse_qs(url.query).items() if name in given}
    given.update(query)
    if url.scheme == "env":
        for name in given:
            if given[name] < 0 and name.upper() in _environment():
                given[name] = int(os.environ[name.upper()])
    found = {name: value if value >= 0 else None for name, value in given.items()}
    if not has_launcher() and (url.scheme != "env" or backend != "mpi"):
        _check_given(url.scheme, found)
    return RankInfo(found["rank"], found["world_size"], _find_address(url, found["world_size"]))


def _find_address(url: ParseResult, size: int | None) -> Any:
    """Address of rank 0, by the scheme of the URL ``init_method``.

    Args:
        url: ``env://``, ``tcp://HOST:PORT`` or ``file:///PATH``.
        size: Number of ranks, or None.

    Returns:
        The host and the port, a store in the file, or None if a launcher of MPI connects the
        ranks or there is one rank.
    """
    if has_launcher() or size in (None, 1):
        return None
    if url.scheme == "file":
        return FileStore(url.path, size or -1)
    if url.scheme == "env":
        given = [os.environ.get(name) for name in ("MASTER_ADDR", "MASTER_PORT")]
        _check_given("env", {"MASTER_ADDR": given[0], "MASTER_PORT": given[1]})
        return given[0], int(given[1] or 0)
    if url.hostname is None or url.port is None:
        raise ValueError(f"init_process_group: {url.geturl()} lacks a host or a port")
    return url.hostname, url.port


def _environment() -> set[str]:
    """Names of the usable variables: ``RANK`` and ``WORLD_SIZE`` if both are set, else none."""
    names = {"RANK", "WORLD_SIZE"}
    return names if names <= os.environ.keys() else set()


def _info_from_store(init_method: str | None, size: int, rank: int, store: Any) -> RankInfo:
    """Rank information of a program that passes a store."""
    if init_method is not None:
        raise AssertionError("Cannot specify both init_method and store.")
    if size <= 0:
        raise AssertionError("world_size must be positive if using store")
    if rank < 0:
        raise AssertionError("rank must be non-negative if using store")
    return RankInfo(rank, size, store)


def _check_given(scheme: str, found: Mapping[str, Any]) -> None:
    """Raise PyTorch's ``ValueError`` if a value is None.

    Args:
        scheme: Scheme of the URL ``init_method``.
        found: Values by the names of parameters or environment variables.
    """
    for name, value in found.items():
        if value is None:
            missing = (
                f"environment variable {name.upper()} expected, but not set"
                if scheme == "env"
                else f"{name.replace('_', ' ')} parameter missing"
            )
            raise ValueError(
                f"Error initializing torch.distributed using {scheme}:// rendezvous: {missing}"
            )
