"""Ranks that MPI's launcher did not start find each other at an address.

Rank 0 starts a small server there (``pmi_server``), and MPI is told to ask it what it else asks its
launcher. Libraries of MPI that speak PMI-1 do so: MPICH, and what is made from it.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .errors import DistNetworkError, DistStoreError

_KEY = "tinytorch/address"
_NAP = 0.02
_SERVER = Path(__file__).with_name("pmi_server.py")


@contextmanager
def joined(rank: int, size: int, where: Any, seconds: float) -> Iterator[None]:
    """While MPI starts, let it find the other ranks.

    Args:
        rank: Which process this is.
        size: How many there are.
        where: A host and a port, or a store that tells them.
        seconds: How long to wait for the others.

    Raises:
        DistNetworkError: If the port is taken, or rank 0 cannot be reached.
        DistStoreError: If not all ranks come in time.
        ValueError: If two processes say that they are the same rank.
    """
    deadline = time.monotonic() + seconds
    if rank == 0:
        address = _start_server(where, size, seconds)
    else:
        address = _asked(where, seconds) if hasattr(where, "get") else where
    connection = _connected(address, deadline)
    connection.sendall(f"{rank}\n".encode())
    _await_all(connection, seconds, deadline)
    said = {"PMI_FD": str(connection.detach()), "PMI_RANK": str(rank), "PMI_SIZE": str(size)}
    os.environ.update(said)
    try:
        yield
    finally:
        for name in said:  # what this process starts is no rank
            os.environ.pop(name)


def _start_server(where: Any, size: int, seconds: float) -> tuple[str, int]:
    """Start it on an address, or on any that the store then tells."""
    if sys.platform == "win32":
        raise DistNetworkError("Windows' processes are started by `mpiexec -n N ...` alone")
    told = hasattr(where, "set")
    host, port = ("", 0) if told else where
    with _listening(host, port) as listener:
        number = listener.fileno()
        subprocess.Popen(
            [sys.executable, "-S", "-E", str(_SERVER), str(number), str(size), str(seconds)],
            pass_fds=[number], stdin=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        if not told:
            return host, port
        port = listener.getsockname()[1]
    where.set(_KEY, f"{socket.gethostname()}:{port}")
    return "127.0.0.1", port


def _listening(host: str, port: int) -> socket.socket:
    try:
        family = socket.getaddrinfo(host or "0.0.0.0", port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise DistNetworkError(
            f"The server socket has failed to listen on {host}, port: {port}: {error}"
        ) from error


def _asked(store: Any, seconds: float) -> tuple[str, int]:
    from datetime import timedelta

    store.wait([_KEY], timedelta(seconds=seconds))
    host, _, port = store.get(_KEY).decode().rpartition(":")
    return "127.0.0.1" if host == socket.gethostname() else host, int(port)


def _connected(address: tuple[str, int], deadline: float) -> socket.socket:
    """A connection to rank 0's server, which may not be there yet."""
    while True:
        try:
            return socket.create_connection(address, timeout=max(deadline - time.monotonic(), 0.1))
        except OSError as error:
            if time.monotonic() > deadline:
                raise DistNetworkError(
                    "The client socket has timed out while trying to connect to "
                    f"({address[0]}, {address[1]}): {error}"
                ) from error
        time.sleep(_NAP)


def _await_all(connection: socket.socket, seconds: float, deadline: float) -> None:
    connection.settimeout(max(deadline - time.monotonic(), 0.1))
    try:
        said = connection.makefile().readline().strip()
    except TimeoutError:
        said = ""
    connection.settimeout(None)
    if not said:
        connection.close()
        raise DistStoreError(f"Timed out after {seconds:g} seconds waiting for clients.")
    if said != "all":
        connection.close()
        raise ValueError(f"init_process_group: {said}")
