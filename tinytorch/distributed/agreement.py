"""Comparison of what the ranks of a group call, beside each collective.

Each rank writes a word for a collective, its number and a checksum of what it is, where all ranks
of the group read it: memory that they share on one machine, a small message between machines. A
collective is done when all words are there and equal.
"""

from __future__ import annotations

import math
import mmap
import os
import tempfile
import zlib
from collections.abc import Callable
from typing import Any

from .buffers import host
from .errors import DistBackendError

#: Collectives that are remembered, and bytes of a word and of the text that an error shows.
_SLOTS, _WORD, _TEXT = 256, 8, 248
_FOLDER = "/dev/shm"


class Agreement:
    """Record of the collectives that the ranks of a group have called.

    Args:
        MPI: The module ``mpi4py.MPI``.
        comm: The group's communicator for what ranks exchange beside the program's own calls.
        ranks: The members by their ranks in the world.
    """

    def __init__(self, MPI: Any, comm: Any, ranks: list[int]) -> None:
        self._comm, self._ranks = comm, ranks
        self._size, self._rank = comm.size, comm.rank
        self._texts = _SLOTS * self._size * _WORD
        size = self._texts + _SLOTS * self._size * _TEXT
        memory = _share(MPI, comm, size) if comm.size > 1 else None
        self._memory = None if memory is None else memoryview(memory)
        #: Texts of this rank in the slots, and texts and checksums of collectives.
        self._written: list[bytes] = [b""] * _SLOTS
        self._known: dict[tuple[str, Any], tuple[bytes, int]] = {}

    def post(self, sequence: int, name: str, agreed: Any) -> Callable[[], bool]:
        """Announce a collective.

        Args:
            sequence: Its number in the group.
            name: PyTorch's name of it.
            agreed: What has to be the same on all ranks: a text, or what ``said`` returns.

        Returns:
            A function: whether all ranks have announced the same. It raises a
            ``DistBackendError`` if one has announced another.
        """
        text, checksum = self._known.get((name, agreed)) or self._learn(name, agreed)
        word = (sequence & 0xFFFF) << 48 | checksum
        content = word.to_bytes(_WORD, "little")
        if self._memory is None:
            return self._send(content, text)
        number = sequence % _SLOTS
        slot = number * self._size
        place = slot + self._rank
        if self._written[number] is not text:  # the texts of a loop's steps are there already
            self._written[number] = text
            start = self._texts + place * _TEXT
            self._memory[start : start + _TEXT] = text
        self._memory[place * _WORD : (place + 1) * _WORD] = content
        row = self._memory[slot * _WORD : (slot + self._size) * _WORD]
        expected = content * self._size
        return lambda: row == expected or self._compare(row, word, slot, text)

    def _learn(self, name: str, agreed: Any) -> tuple[bytes, int]:
        """Text and checksum of a collective, which are kept for the next one like it.

        As in PyTorch the number of elements has to be the same, and not the shape.
        """
        if len(self._known) > _SLOTS:
            self._known.clear()
        key = describe(name, agreed)
        text = key.encode("ascii", "replace")[:_TEXT].ljust(_TEXT)
        if isinstance(agreed, tuple):
            key = describe(name, ((math.prod(agreed[0]),), *agreed[1:]))
        found = self._known[name, agreed] = text, zlib.crc32(key.encode())
        return found

    def _compare(self, row: memoryview, word: int, slot: int, text: bytes) -> bool:
        """Whether all words of a slot are there.

        Raises:
            DistBackendError: If one is of another collective.
        """
        complete = True
        for rank, theirs in enumerate(row.cast("Q")):
            ahead = ((theirs >> 48) - (word >> 48)) & 0xFFFF
            if ahead >= 0x8000:
                complete = False
            elif not ahead and theirs != word:  # else it was overwritten by a later one
                assert self._memory is not None
                start = self._texts + (slot + rank) * _TEXT
                self._raise(rank, text, bytes(self._memory[start : start + _TEXT]))
        return complete

    def _send(self, content: bytes, text: bytes) -> Callable[[], bool]:
        words = host.zeros(self._size, host.int64)
        own = host.frombuffer(bytearray(content), host.int64)
        request = self._comm.Iallgather(own, words)

        def agree() -> bool:
            if not request.Test():
                return False
            for rank in (words != own).nonzero()[0]:
                self._raise(int(rank), text, b"another one")
            return True

        return agree

    def _raise(self, rank: int, text: bytes, theirs: bytes) -> None:
        own, other = self._ranks[self._rank], self._ranks[rank]
        raise DistBackendError(
            f"Detected mismatch between collectives on ranks. Rank {own} is running collective: "
            f"{text.decode().rstrip()}, but Rank {other} is running collective: "
            f"{theirs.decode().rstrip()}."
        )


def describe(name: str, agreed: Any) -> str:
    """Text of a collective and what its ranks have to agree on, as PyTorch writes it."""
    if isinstance(agreed, tuple):
        shape, dtype, *more = agreed
        words = (f"TensorShape={list(shape)}", f"TensorDtypes={dtype}", *map(str, more))
        return f"{name}({', '.join(words)})"
    return f"{name}({agreed})"


def _share(MPI: Any, comm: Any, size: int) -> mmap.mmap | None:
    """Memory that all ranks of a communicator share; None if they are not on one machine."""
    name = None
    if comm.rank == 0:
        folder = _FOLDER if os.path.isdir(_FOLDER) else None
        handle, name = tempfile.mkstemp(prefix="tinytorch-", dir=folder)
        os.ftruncate(handle, size)
        memory: mmap.mmap | None = mmap.mmap(handle, size)
        os.close(handle)
    path = bytearray((name or "").encode().ljust(256))
    comm.Bcast(path, 0)
    if name is None:
        memory = _map(path.decode().strip(), size)
    there = host.array([memory is not None], host.uint8)
    comm.Allreduce(MPI.IN_PLACE, there, MPI.MIN)
    if name is not None:
        os.unlink(name)
    return memory if there[0] else None


def _map(path: str, size: int) -> mmap.mmap | None:
    try:
        with open(path, "r+b") as file:
            return mmap.mmap(file.fileno(), size)
    except OSError:
        return None
