"""Which rank a process is, whether MPI agrees, and where the others are.

MPI's launcher knows the ranks; what a PyTorch program says of them by arguments, by ``torchrun``'s
environment or by an ``init_method`` is read and compared. Where there is no such launcher, this is
how the ranks find each other.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any
from urllib.parse import ParseResult, parse_qs, urlparse

from .joining import INHERITED, Relay, inherit, join
from .store import FileStore

#: What launchers of MPI set for each process.
_OF_LAUNCHERS = ("PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "PMI_ID")
_SCHEMES = ("env", "file", "tcp")


@dataclass(frozen=True)
class Place:
    """What a program says of itself.

    Attributes:
        rank: Which process it is, or None.
        size: How many there are, or None.
        where: The host and port of rank 0, or a store that all can read; None if that is not said.
    """

    rank: int | None
    size: int | None
    where: Any = None

    def check(self, rank: int, size: int) -> None:
        """Compare with what MPI says.

        Raises:
            ValueError: If it says something else.
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
        """Let MPI find the other ranks while it starts, unless a launcher of MPI's does."""
        if INHERITED in os.environ:
            return inherit()
        if launched() or self.where is None or self.rank is None or (self.size or 1) == 1:
            return nullcontext()
        return join(self.rank, self.size or 1, self.where, seconds)


def launched() -> bool:
    """Whether a launcher of MPI started this process."""
    return any(name in os.environ for name in _OF_LAUNCHERS)


def place(backend: str, init_method: str | None, size: int, rank: int, store: Any) -> Place:
    """What the arguments of ``init_process_group`` and the environment say.

    Raises:
        AssertionError: For a store and an ``init_method``, or a store without ``size`` and rank.
        RuntimeError: For an unknown ``init_method``.
        ValueError: If the rank or the size is not said, and MPI's launcher does not know.
    """
    if store is not None:
        return _by_store(init_method, size, rank, store)
    url = urlparse(init_method or "env://")
    if url.scheme not in _SCHEMES:
        raise RuntimeError(f"No rendezvous handler for {url.scheme}://")
    given = {"rank": rank, "world_size": size}
    query = {name: int(values[0]) for name, values in parse_qs(url.query).items() if name in given}
    given.update(query)
    if url.scheme == "env":
        for name in given:
            if given[name] < 0 and name.upper() in _environment():
                given[name] = int(os.environ[name.upper()])
    found = {name: value if value >= 0 else None for name, value in given.items()}
    if not launched() and (url.scheme != "env" or backend != "mpi"):
        _check_said(url.scheme, found)
    return Place(found["rank"], found["world_size"], _where(url, found["world_size"]))


def _where(url: ParseResult, size: int | None) -> Any:
    """Where rank 0 is to be found, by the environment, an address or a file."""
    if launched() or size in (None, 1):
        return None
    if url.scheme == "file":
        return FileStore(url.path, size or -1)
    if url.scheme == "env":
        given = [os.environ.get(name) for name in ("MASTER_ADDR", "MASTER_PORT")]
        _check_said("env", {"MASTER_ADDR": given[0], "MASTER_PORT": given[1]})
        return given[0], int(given[1] or 0)
    if url.hostname is None or url.port is None:
        raise ValueError(f"init_process_group: {url.geturl()} lacks a host or a port")
    return url.hostname, url.port


def _environment() -> set[str]:
    """``torchrun``'s variables, where both are there."""
    names = {"RANK", "WORLD_SIZE"}
    return names if names <= os.environ.keys() else set()


def _by_store(init_method: str | None, size: int, rank: int, store: Any) -> Place:
    if init_method is not None:
        raise AssertionError("Cannot specify both init_method and store.")
    if size <= 0:
        raise AssertionError("world_size must be positive if using store")
    if rank < 0:
        raise AssertionError("rank must be non-negative if using store")
    return Place(rank, size, store)


def _check_said(scheme: str, found: Mapping[str, Any]) -> None:
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
