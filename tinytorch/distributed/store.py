"""Stores: tables from strings to bytes that processes share, with PyTorch's interface.

A process group needs no store if MPI's launcher started the ranks. Otherwise a store can hold the
address of rank 0.
"""

from __future__ import annotations

import os
import struct
import sys
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from .errors import DistStoreError

if sys.platform == "win32":
    import msvcrt
elif sys.platform != "emscripten":  # has no other processes to lock a file against
    import fcntl

__all__ = ["FileStore", "HashStore", "PrefixStore", "Store"]

_DEFAULT = timedelta(seconds=300)
_NAP = 0.01
#: First bytes of a FileStore's file; bytes of a record's header; size that marks a removed key.
_MAGIC, _HEADER, _REMOVED = b"tinytorch store 1\n", 12, 0xFFFFFFFF


class Store:
    """Base of the stores; a subclass implements ``_change``, which changes the table atomically.

    Example:
        >>> store = tt.distributed.HashStore()
        >>> store.set("epoch", "3")
        >>> store.get("epoch"), store.add("steps", 2)
        (b'3', 2)
        >>> store.compare_set("epoch", "3", "4")
        b'4'
        >>> store.wait(["steps"])
        >>> store.check(["steps", "rank"]), store.delete_key("steps"), store.num_keys()
        (False, True, 1)
        >>> from datetime import timedelta
        >>> store.set_timeout(timedelta(seconds=1))
    """

    timeout: timedelta = _DEFAULT

    def _change(self, change: Callable[[dict[str, bytes]], Any]) -> Any:
        """Call a function with the table of keys and values, under a lock; return its result.

        The function may change the table.
        """
        raise NotImplementedError

    def set(self, key: str, value: str | bytes) -> None:
        """Set the value of a key."""
        content = value.encode() if isinstance(value, str) else bytes(value)
        self._change(lambda table: table.__setitem__(key, content))

    def get(self, key: str) -> bytes:
        """Wait until a key is set, and return its value.

        Raises:
            RuntimeError: If it is not set within the store's timeout.
        """
        self.wait([key])
        return self._change(lambda table: table[key])  # type: ignore[no-any-return]

    def add(self, key: str, amount: int) -> int:
        """Add to the number of a key, which is initially 0; return the sum."""

        def change(table: dict[str, bytes]) -> int:
            total = int(table.get(key, b"0")) + amount
            table[key] = str(total).encode()
            return total

        return int(self._change(change))

    def compare_set(self, key: str, expected_value: str, desired_value: str) -> bytes:
        """Set a key to the desired value if it has the expected one, and return its new value.

        A missing key is set if the expected value is ``""``. If it is not, the key stays missing,
        and ``expected_value`` is returned.
        """

        def change(table: dict[str, bytes]) -> bytes:
            if table.get(key, b"") == expected_value.encode():
                table[key] = desired_value.encode()
            return table.get(key, expected_value.encode())

        return self._change(change)  # type: ignore[no-any-return]

    def check(self, keys: Sequence[str]) -> bool:
        """Whether all the keys are set."""
        return bool(self._change(lambda table: all(key in table for key in keys)))

    def wait(self, keys: Sequence[str], timeout: timedelta | None = None) -> None:
        """Wait until all the keys are set.

        Raises:
            RuntimeError: If they are not set within the timeout.
        """
        limit = timeout or self.timeout
        deadline = time.monotonic() + limit.total_seconds()
        while not self.check(keys):
            if time.monotonic() > deadline:
                raise DistStoreError(
                    f"wait timeout after {1000 * limit.total_seconds():.0f}ms, "
                    f"keys: {', '.join(keys)}"
                )
            time.sleep(_NAP)

    def delete_key(self, key: str) -> bool:
        """Delete a key; return whether it was set."""
        return self._change(lambda table: table.pop(key, None)) is not None

    def num_keys(self) -> int:
        """Number of keys."""
        return int(self._change(len))

    def set_timeout(self, timeout: timedelta) -> None:
        """Set the timeout of ``get`` and ``wait``."""
        self.timeout = timeout


class HashStore(Store):
    """A store in memory, for the threads of one process.

    Example:
        >>> tt.distributed.HashStore().num_keys()
        0
    """

    def __init__(self) -> None:
        import threading

        self._table: dict[str, bytes] = {}
        self._lock = threading.Lock()

    def _change(self, change: Callable[[dict[str, bytes]], Any]) -> Any:
        with self._lock:
            return change(self._table)


class FileStore(Store):
    """A store in a file, for all processes that can open it.

    Changes are appended to the file as records with a checksum. The file is locked meanwhile; the
    system releases the lock if the process ends. An incomplete record of a killed process is
    overwritten.

    Args:
        file_name: The file. If it does not exist, it is created, readable by its user alone.
        world_size: Accepted and ignored.

    Example:
        >>> import os, tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> store = tt.distributed.FileStore(os.path.join(folder.name, "store"))
        >>> store.set("a", "1")
        >>> store.get("a")
        b'1'
        >>> folder.cleanup()
    """

    def __init__(self, file_name: str, world_size: int = -1) -> None:
        self.path = file_name
        os.close(os.open(file_name, os.O_RDWR | os.O_CREAT, 0o600))
        self._forget()

    def _forget(self) -> None:
        """Reset the table and the position in the file, so that all of it is read again."""
        self._table: dict[str, bytes] = {}
        self._end, self._file = 0, (-1, -1)

    def _change(self, change: Callable[[dict[str, bytes]], Any]) -> Any:
        with self._open() as file:
            self._read(file)
            before = dict(self._table)
            result = change(self._table)
            if self._table != before:
                try:
                    self._append(file, before)
                except BaseException:
                    self._forget()
                    raise
            return result

    @contextmanager
    def _open(self) -> Iterator[Any]:
        """Open and lock the file.

        Raises:
            DistStoreError: If another process holds the lock for longer than the timeout.
        """
        deadline = time.monotonic() + self.timeout.total_seconds()
        with open(self.path, "r+b", buffering=0) as file:
            while not _lock(file):
                if time.monotonic() > deadline:
                    raise DistStoreError(
                        f"FileStore: timed out after {self.timeout.total_seconds():g} seconds "
                        f"waiting for the lock of {self.path}"
                    )
                time.sleep(_NAP / 10)
            yield file  # closing it frees the lock

    def _read(self, file: Any) -> None:
        """Read the records that were appended since the last call, and update the table.

        Args:
            file: The open file. If it was replaced or truncated, it is read from the start.

        Raises:
            DistStoreError: If the file is not that of a store.
        """
        found = os.fstat(file.fileno())
        if (found.st_dev, found.st_ino) != self._file or found.st_size < self._end:
            self._forget()
            self._file = found.st_dev, found.st_ino
        file.seek(self._end)
        content = file.read()
        if not self._end and not content.startswith(_MAGIC[: len(content)]):
            raise DistStoreError(f"FileStore: {self.path} is not the file of a store")
        offset = 0 if self._end else len(_MAGIC)
        while (record := _parse(content, offset)) is not None:
            offset, key, value = record
            if value is None:
                self._table.pop(key, None)
            else:
                self._table[key] = value
        if self._end or len(content) >= len(_MAGIC):
            self._end += offset

    def _append(self, file: Any, before: dict[str, bytes]) -> None:
        """Append a record for each key whose value has changed, after the last complete record.

        Args:
            file: The open file.
            before: The table before the change.
        """
        records = [
            _format(key, self._table.get(key))
            for key in before.keys() | self._table.keys()
            if self._table.get(key) != before.get(key)
        ]
        content = (b"" if self._end else _MAGIC) + b"".join(records)
        file.seek(self._end)
        file.truncate()
        if file.write(content) != len(content):
            raise DistStoreError(f"FileStore: {self.path} could not be written whole")
        self._end += len(content)


def _format(key: str, value: bytes | None) -> bytes:
    """Record of a key and its value; a value of None marks a removed key.

    A record has three integers of 32 bits (size of the key, size of the value, CRC-32 checksum of
    the sizes and what follows), the key, and the value.
    """
    name = key.encode()
    body = name + (b"" if value is None else value)
    sizes = struct.pack("<II", len(name), _REMOVED if value is None else len(value or b""))
    return sizes + struct.pack("<I", zlib.crc32(sizes + body)) + body


def _parse(content: bytes, offset: int) -> tuple[int, str, bytes | None] | None:
    """Parse the record at an offset; see ``_format``.

    Returns:
        The offset of the record's end, the key, and the value (None for a removed key); or None if
        there is no complete record.
    """
    body = offset + _HEADER
    if len(content) < body:
        return None
    key_size, size, checksum = struct.unpack_from("<III", content, offset)
    middle = body + key_size
    end = middle if size == _REMOVED else middle + size
    sizes = content[offset : offset + 8]
    if len(content) < end or zlib.crc32(sizes + content[body:end]) != checksum:
        return None
    return end, content[body:middle].decode(), None if size == _REMOVED else content[middle:end]


def _lock(file: Any) -> bool:
    """Try to lock a file for this process; return whether that succeeded."""
    try:
        if sys.platform == "win32":
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True


class PrefixStore(Store):
    """View of the keys of another store that begin with ``prefix/``.

    Args:
        prefix: Prefix of the keys.
        store: The other store.

    Example:
        >>> whole = tt.distributed.HashStore()
        >>> tt.distributed.PrefixStore("a", whole).set("b", "1")
        >>> whole.get("a/b")
        b'1'
    """

    def __init__(self, prefix: str, store: Store) -> None:
        self.prefix: str = prefix
        self.underlying_store: Store = store
        self.timeout: timedelta = store.timeout

    def _change(self, change: Callable[[dict[str, bytes]], Any]) -> Any:
        start = f"{self.prefix}/"

        def change_outer(table: dict[str, bytes]) -> Any:
            """Call ``change`` with the table of keys without the prefix; copy it back."""
            inner = {k[len(start) :]: v for k, v in table.items() if k.startswith(start)}
            for key in inner:
                del table[start + key]
            result = change(inner)
            table.update({start + key: value for key, value in inner.items()})
            return result

        return self.underlying_store._change(change_outer)
