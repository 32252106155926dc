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
        # The memory has a word for each slot and rank, then a text for each slot and rank.
        self._texts_start = _SLOTS * self._size * _WORD
        nbytes = self._texts_start + _SLOTS * self._size * _TEXT
        memory = _share(MPI, comm, nbytes) if comm.size > 1 else None
        self._memory = None if memory is None else memoryview(memory)
        #: Text that this rank last wrote to each slot; cache of texts and checksums.
        self._slot_texts: list[bytes] = [b""] * _SLOTS
        self._cache: dict[tuple[str, Any], tuple[bytes, int]] = {}

    def post(self, sequence: int, name: str, fingerprint: Any) -> Callable[[], bool]:
        """Announce a collective to the other ranks.

        Args:
            sequence: Number of the collective in the group.
            name: PyTorch's name of the collective.
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
        slot = sequence % _SLOTS
        first = slot * self._size  # index of rank 0's entry in the slot
        own = first + self._rank
        if self._slot_texts[slot] is not text:  # a training loop writes the same text again
            self._slot_texts[slot] = text
            start = self._texts_start + own * _TEXT
            self._memory[start : start + _TEXT] = text
        self._memory[own * _WORD : (own + 1) * _WORD] = content
        row = self._memory[first * _WORD : (first + self._size) * _WORD]
        expected = content * self._size
        return lambda: row == expected or self._compare(row, word, first, text)

    def _encode(self, name: str, fingerprint: Any) -> tuple[bytes, int]:
        """Text for errors, padded to ``_TEXT`` bytes, and CRC-32 checksum of a collective.

        The result is cached for the next collective with the same name and fingerprint. As in
        PyTorch, ranks must agree on the number of elements but not on the shape, so the checksum is
        of a flat shape.
        """
        if len(self._cache) > _SLOTS:
            self._cache.clear()
        key = describe(name, fingerprint)
        text = key.encode("ascii", "replace")[:_TEXT].ljust(_TEXT)
        if isinstance(fingerprint, tuple):
            key = describe(name, ((math.prod(fingerprint[0]),), *fingerprint[1:]))
        encoded = self._cache[name, fingerprint] = text, zlib.crc32(key.encode())
        return encoded

    def _compare(self, row: memoryview, word: int, first: int, text: bytes) -> bool:
        """Whether all ranks have written their word of a collective to its slot.

        Args:
            row: The words of all ranks in the slot: 16 bits of the collective's number, then 48
                of its checksum.
            word: This rank's word.
            first: Index of rank 0's entry in the slot.
            text: Description of this rank's collective.

        Raises:
            DistBackendError: If the word of a rank is of a different collective.
        """
        complete = True
        for rank, theirs in enumerate(row.cast("Q")):
            # Number of collectives that the rank is ahead, modulo 2**16: large if it is behind.
            ahead = ((theirs >> 48) - (word >> 48)) & 0xFFFF
            if ahead >= 0x8000:
                complete = False
            elif not ahead and theirs != word:  # a rank that is ahead has overwritten its word
                assert self._memory is not None
                start = self._texts_start + (first + rank) * _TEXT
                self._raise(rank, text, bytes(self._memory[start : start + _TEXT]))
        return complete

    def _send(self, content: bytes, text: bytes) -> Callable[[], bool]:
        """Send this rank's word to all ranks by a message, if they do not share memory.

        Args:
            content: The word as bytes.
            text: Description of this rank's collective.

        Returns:
            A function as that of ``post``.
        """
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
        """Raise PyTorch's error for collectives that differ.

        Args:
            rank: Rank in the group of the other process.
            text: Description of this rank's collective.
            theirs: Description of the other rank's collective.
        """
        own, other = self._ranks[self._rank], self._ranks[rank]
        raise DistBackendError(
            f"Detected mismatch between collectives on ranks. Rank {own} is running collective: "
            f"{text.decode().rstrip()}, but Rank {other} is running collective: "
            f"{theirs.decode().rstrip()}."
        )


def describe(name: str, fingerprint: Any) -> str:
    """Text of a collective and its fingerprint, in the format of PyTorch's errors.

    ``fingerprint`` is a string or a ``tensor_fingerprint``: (shape, dtype, further arguments).
    """
    if isinstance(fingerprint, tuple):
        shape, dtype, *more = fingerprint
        words = (f"TensorShape={list(shape)}", f"TensorDtypes={dtype}", *map(str, more))
        return f"{name}({', '.join(words)})"
    return f"{name}({fingerprint})"


def _share(MPI: Any, comm: Any, nbytes: int) -> mmap.mmap | None:
    """Map memory that all ranks of a communicator share; None if they are on several machines.

    Rank 0 creates a temporary file and broadcasts its path. The file is unlinked once all ranks
    have mapped it.
    """
    name = None
    if comm.rank == 0:
        folder = _FOLDER if os.path.isdir(_FOLDER) else None
        handle, name = tempfile.mkstemp(prefix="tinytorch-", dir=folder)
        os.ftruncate(handle, nbytes)
        memory: mmap.mmap | None = mmap.mmap(handle, nbytes)
        os.close(handle)
    path = bytearray((name or "").encode().ljust(256))
    comm.Bcast(path, 0)
    if name is None:
        memory = _map(path.decode().strip(), nbytes)
    is_shared = host.array([memory is not None], host.uint8)
    comm.Allreduce(MPI.IN_PLACE, is_shared, MPI.MIN)
    if name is not None:
        os.unlink(name)
    return memory if is_shared[0] else None


def _map(path: str, nbytes: int) -> mmap.mmap | None:
    """Map the first ``nbytes`` of a file to memory; return None if it cannot be opened."""
    try:
        with open(path, "r+b") as file:
            return mmap.mmap(file.fileno(), nbytes)
    except OSError:
        return None
