"""Checkpoints of PyTorch before 1.6: several pickles and then the storages."""

from __future__ import annotations

import io
import os
import pickle
import pickletools
import struct
import sys
from typing import IO, Any

from .archive import BROKEN, PythonUnpickler, survey
from .names import PROTOCOL
from .writing import write_pickle

MAGIC_NUMBER = 0x1950A86A20F9469CFC6C
FORMAT = 1001
_NOT_ONE = "Invalid magic number; corrupt file?"


def write(obj: Any, file: IO[bytes], pickle_module: Any, protocol: int) -> None:
    """Write ``obj`` in PyTorch's format from before version 1.6, which is not an archive.

    Args:
        obj: The object.
        file: A binary file.
        pickle_module: The module whose ``Pickler`` is used.
        protocol: The pickle protocol.
    """
    buffer = io.BytesIO()
    storages = write_pickle(obj, buffer, pickle_module, protocol, legacy=True)
    header = {
        "protocol_version": FORMAT, "little_endian": sys.byteorder == "little",
        "type_sizes": {"short": 2, "int": 4, "long": 4},
    }  # fmt: skip
    for value in (MAGIC_NUMBER, FORMAT, header):
        pickle.dump(value, file, protocol=PROTOCOL)
    file.write(buffer.getbuffer())
    # PyTorch reads the storages in the order of this list.
    pickle.dump([storage.key for storage in storages], file, protocol=PROTOCOL)
    for storage in storages:
        file.write(struct.pack("<q", storage.count))
        file.write(storage.bytes())


class LegacyReader:
    """Reader of a file of this format: first the bytes of all storages, then the object.

    Args:
        file: At the start of the checkpoint; ``storages`` leaves it at the end.

    Raises:
        pickle.UnpicklingError: If the file does not begin with a pickle.
        EOFError: If it is empty, or ends too early.
        RuntimeError: If it begins with another pickle than this format does.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        if _plain(self._next()) != MAGIC_NUMBER:
            raise RuntimeError(_NOT_ONE)
        version = _plain(self._next())
        if version != FORMAT:
            raise RuntimeError(f"Invalid protocol version: {version!r}")
        header = _plain(self._next())
        self.little: bool = (
            bool(header.get("little_endian", True)) if isinstance(header, dict) else True
        )
        self.pickle: bytes = self._next()
        self._keys = _plain(self._next())

    def _next(self) -> bytes:
        """Read the bytes of the next pickle, without executing it."""
        start = self._file.tell()
        if not self._file.read(1):
            raise EOFError("Ran out of input")
        self._file.seek(start)
        try:
            for _ in pickletools.genops(self._file):
                pass
        except ValueError as error:
            raise pickle.UnpicklingError(f"invalid load key or truncated pickle: {error}") from None
        size = self._file.tell() - start
        self._file.seek(start)
        return self._file.read(size)

    def storages(self) -> dict[str, bytearray]:
        """Read the bytes of the storages, by their keys."""
        sizes = survey(self.pickle).itemsizes
        found = {}
        keys = self._keys if isinstance(self._keys, list) else [None]
        if not sizes.keys() >= set(map(str, keys)):
            raise pickle.UnpicklingError("the checkpoint lacks the types of its storages")
        for key in keys:
            head = self._file.read(8)
            if len(head) < 8:
                raise EOFError("the checkpoint ends before its storages")
            (count,) = struct.unpack("<q", head)
            size = count * sizes[str(key)]
            start = self._file.tell()
            if not 0 <= size <= self._file.seek(0, os.SEEK_END) - start:
                raise EOFError(f"the checkpoint ends in storage {key}")
            self._file.seek(start)
            found[str(key)] = bytearray(self._file.read(size))
            if len(found[str(key)]) < size:
                raise EOFError(f"the checkpoint ends in storage {key}")
        return found


class _Plain(PythonUnpickler):  # type: ignore[misc]  # its parts are private
    """Unpickler of numbers, text and containers only."""

    def find_class(self, module: str, name: str) -> Any:
        raise RuntimeError(_NOT_ONE)

    def get_extension(self, code: int) -> Any:
        # An extension that the program has used before is found without find_class.
        raise RuntimeError(_NOT_ONE)


def _plain(data: bytes) -> Any:
    """Unpickle a value of built-in types, such as the header."""
    try:
        return _Plain(io.BytesIO(data)).load()
    except BROKEN as error:
        raise pickle.UnpicklingError(f"the pickle is broken: {error}") from error
