"""Comparison of the collectives that the ranks of a group call.

With each collective, a rank writes a 64-bit word: the number of the collective and a checksum of
its name and arguments. All ranks of the group read it, in shared memory on one machine, or by a
small message between machines. A collective is complete when all words are present and equal.
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

#: Number of recent collectives in the record; bytes of a word and of the text for an error.
_SLOTS, _WORD, _TEXT = 256, 8, 248
_FOLDER = "/dev/shm"


class Agreement:
    """Record of the collectives that the ranks of a group have called.

    Args:
        MPI: The module ``mpi4py.MPI``.
        comm: The group's communicator for control messages, separate from the program's calls.
        ranks: Ranks in the world of the group's members.
    """

    def __init__(self, MPI: Any, comm: Any, ranks: list[int]) -> None:
        self._comm, self._ranks = comm, ranks
        self._size, self._rank = comm.size, comm.rank
        self._texts = _SLOTS * self._size * _WORD
        size = self._texts + _SLOTS * self._size * _TEXT
        memory = _share(MPI, comm, size) if comm.size > 1 else None
        self._memory = None if memory is None else memoryview(memory)
        #: Text that this rank last wrote to each slot; cache of texts and checksums.
        self._slot_texts: list[bytes] = [b""] * _SLOTS
        self._cache: dict[tuple[str, Any], tuple[bytes, int]] = {}

    def post(self, sequence: int, name: str, fingerprint: Any) -> Callable[[], bool]:
        """Announce a collective to the other ranks.

        Args:
            sequence: Its number in the group.
            name: PyTorch's name of it.
            fingerprint: Value that must be the same on all ranks: a string or a
                ``tensor_fingerprint``.

        Returns:
            A function that returns whether all ranks have announced the same collective. It raises
            a ``DistBackendError`` if one has announced a different one.
        """
        text, checksum = self._cache.get((name, fingerprint)) or self._encode(name, fingerprint)
        word = (sequence & 0xFFFF) << 48 | checksum
        content = word.to_bytes(_WORD, "little")
        if self._memory is None:
            return self._send(content, text)
        number = sequence % _SLOTS
        slot = number * self._size
        place = slot + self._rank
        if self._slot_texts[number] is not text:  # a training loop writes the same text again
            self._slot_texts[number] = text
            start = self._texts + place * _TEXT
            self._memory[start : start + _TEXT] = text
        self._memory[place * _WORD : (place + 1) * _WORD] = content
        row = self._memory[slot * _WORD : (slot + self._size) * _WORD]
        expected = content * self._size
        return lambda: row == expected or self._compare(row, word, slot, text)

    def _encode(self, name: str, fingerprint: Any) -> tuple[bytes, int]:
        """Text and checksum of a collective; cached for the next equal one.

        As in PyTorch, ranks must agree on the number of elements but not on the shape.
        """
        if len(self._cache) > _SLOTS:
            self._cache.clear()
        key = describe(name, fingerprint)
        text = key.encode("ascii", "replace")[:_TEXT].ljust(_TEXT)
        if isinstance(fingerprint, tuple):
            key = describe(name, ((math.prod(fingerprint[0]),), *fingerprint[1:]))
        encoded = self._cache[name, fingerprint] = text, zlib.crc32(key.encode())
        return encoded

    def _compare(self, row: memoryview, word: int, slot: int, text: bytes) -> bool:
        """Whether all ranks have written their word of a collective to a slot.

        Args:
            row: The words of all ranks.
            word: This rank's word.
            slot: Index of the first word of the slot.
            text: Description of this rank's collective.

        Raises:
            DistBackendError: If the word of a rank is of a different collective.
        """
        complete = True
        for rank, theirs in enumerate(row.cast("Q")):
            ahead = ((theirs >> 48) - (word >> 48)) & 0xFFFF
            if ahead >= 0x8000:
                complete = False
            elif not ahead and theirs != word:  # a rank that is ahead has overwritten its word
                assert self._memory is not None
                start = self._texts + (slot + rank) * _TEXT
                self._raise(rank, text, bytes(self._memory[start : start + _TEXT]))
        return complete

    def _send(self, content: bytes, text: bytes) -> Callable[[], bool]:
        """Exchange words by messages, between ranks without shared memory; as ``post``."""
        words = host.zeros(self._size, host.int64)
        own = host.frombuffer(bytearray(content), host.int64)
        request = self._comm.Iallgather(own, words)

        def has_agreed() -> bool:
            if not request.Test():
                return False
            for rank in (words != own).nonzero()[0]:
                self._raise(int(rank), text, b"another one")
            return True

        return has_agreed

    def _raise(self, rank: int, text: bytes, theirs: bytes) -> None:
        """Raise PyTorch's error of a mismatch with the collective of another rank."""
        own, other = self._ranks[self._rank], self._ranks[rank]
        raise DistBackendError(
            f"Detected mismatch between collectives on ranks. Rank {own} is running collective: "
            f"{text.decode().rstrip()}, but Rank {other} is running collective: "
            f"{theirs.decode().rstrip()}."
        )


def describe(name: str, fingerprint: Any) -> str:
    """Text of a collective and its fingerprint, in PyTorch's format."""
    if isinstance(fingerprint, tuple):
        shape, dtype, *more = fingerprint
        words = (f"TensorShape={list(shape)}", f"TensorDtypes={dtype}", *map(str, more))
        return f"{name}({', '.join(words)})"
    return f"{name}({fingerprint})"


def _share(MPI: Any, comm: Any, size: int) -> mmap.mmap | None:
    """Memory shared by all ranks of a communicator; None if they are on several machines."""
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
    is_shared = host.array([memory is not None], host.uint8)
    comm.Allreduce(MPI.IN_PLACE, is_shared, MPI.MIN)
    if name is not None:
        os.unlink(name)
    return memory if is_shared[0] else None


def _map(path: str, size: int) -> mmap.mmap | None:
    """A file mapped to memory; None if it cannot be opened."""
    try:
        with open(path, "r+b") as file:
            return mmap.mmap(file.fileno(), size)
    except OSError:
        return None
