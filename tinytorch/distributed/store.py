"""Stores: tables of bytes that processes share, as PyTorch's programs use them.

Process groups need none where MPI's launcher started the ranks; else one may tell where rank 0 is.
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
elif sys.platform != "emscripten":  # where there are no processes to lock a file against
    import fcntl

__all__ = ["FileStore", "HashStore", "PrefixStore", "Store"]

_DEFAULT = timedelta(seconds=300)
_NAP = 0.01
#: Start of a FileStore's file; bytes of a record's header; size that marks a removed key.
_MAGIC, _HEADER, _REMOVED = b"tinytorch store 1\n", 12, 0xFFFFFFFF


class Store:
    """What the stores share: each has ``_change``, which changes the table as one step.

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
        raise NotImplementedError

    def set(self, key: str, value: str | bytes) -> None:
        """Put a value in the table."""
        content = value.encode() if isinstance(value, str) else bytes(value)
        self._change(lambda table: table.__setitem__(key, content))

    def get(self, key: str) -> bytes:
        """The value of a key; waits until there is one.

        Raises:
            RuntimeError: If there is none within the store's timeout.
        """
        self.wait([key])
        return self._change(lambda table: table[key])  # type: ignore[no-any-return]

    def add(self, key: str, amount: int) -> int:
        """Add to a number, which begins at 0; returns the sum."""

        def change(table: dict[str, bytes]) -> int:
            total = int(table.get(key, b"0")) + amount
            table[key] = str(total).encode()
            return total

        return int(self._change(change))

    def compare_set(self, key: str, expected_value: str, desired_value: str) -> bytes:
        """Put a value in place of the expected one; returns what is there afterwards."""

        def change(table: dict[str, bytes]) -> bytes:
            if table.get(key, b"") == expected_value.encode():
                table[key] = desired_value.encode()
            return table.get(key, expected_value.encode())

        return self._change(change)  # type: ignore[no-any-return]

    def check(self, keys: Sequence[str]) -> bool:
        """Whether all the keys are there."""
        return bool(self._change(lambda table: all(key in table for key in keys)))

    def wait(self, keys: Sequence[str], timeout: timedelta | None = None) -> None:
        """Wait until all the keys are there.

        Raises:
            RuntimeError: If they are not within the timeout.
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
        """Take a key out; returns whether it was there."""
        return self._change(lambda table: table.pop(key, None)) is not None

    def num_keys(self) -> int:
        """How many keys there are."""
        return int(self._change(len))

    def set_timeout(self, timeout: timedelta) -> None:
        """How long ``get`` and ``wait`` wait from now on."""
        self.timeout = timeout


class HashStore(Store):
    """A store in this process alone, for its threads.

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
    """A store in a file, for the processes that can open it.

    Changes are appended to the file as records with a checksum, under a lock that the system frees
    with its holder. A record that a killed process left unfinished is overwritten.

    Args:
        file_name: The file; created, readable by its user alone, if it is not there.
        world_size: Accepted; means nothing.

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
        """Note that nothing of the file has been read: the table, and where its records end."""
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
        """The file, locked.

        Raises:
            DistStoreError: If another process keeps the lock for longer than the timeout.
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
        """Read the records that were appended since the last call.

        Raises:
            DistStoreError: If it is another kind of file.
        """
        found = os.fstat(file.fileno())
        if (found.st_dev, found.st_ino) != self._file or found.st_size < self._end:
            self._forget()
            self._file = found.st_dev, found.st_ino
        file.seek(self._end)
        content = file.read()
        if not self._end and not content.startswith(_MAGIC[: len(content)]):
            raise DistStoreError(f"FileStore: {self.path} is not the file of a store")
        at = 0 if self._end else len(_MAGIC)
        while (record := _parse(content, at)) is not None:
            at, key, value = record
            if value is None:
                self._table.pop(key, None)
            else:
                self._table[key] = value
        if self._end or len(content) >= len(_MAGIC):
            self._end += at

    def _append(self, file: Any, before: dict[str, bytes]) -> None:
        """Write what is new beside ``before`` behind the last whole record."""
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
    """Record of a key and its value, or of the key's removal."""
    name = key.encode()
    body = name + (b"" if value is None else value)
    sizes = struct.pack("<II", len(name), _REMOVED if value is None else len(value or b""))
    return sizes + struct.pack("<I", zlib.crc32(sizes + body)) + body


def _parse(content: bytes, at: int) -> tuple[int, str, bytes | None] | None:
    """Return the end, key and value of the record at a place; None if there is no whole one."""
    body = at + _HEADER
    if len(content) < body:
        return None
    name, size, checksum = struct.unpack_from("<III", content, at)
    middle = body + name
    end = middle if size == _REMOVED else middle + size
    if len(content) < end or zlib.crc32(content[at : at + 8] + content[body:end]) != checksum:
        return None
    return end, content[body:middle].decode(), None if size == _REMOVED else content[middle:end]


def _lock(file: Any) -> bool:
    """Lock a file for this process, if no other has."""
    try:
        if sys.platform == "win32":
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True


class PrefixStore(Store):
    """A part of another store, whose keys all begin alike.

    Args:
        prefix: What they begin with.
        store: The other store.

    Example:
        >>> whole = tt.distributed.HashStore()
        >>> tt.distributed.PrefixStore("a", whole).set("b", "1")
        >>> whole.get("a/b")
        b'1'
    """

    def __init__(self, prefix: str, store: Store) -> None:
        self.prefix, self.underlying_store = prefix, store
        self.timeout = store.timeout

    def _change(self, change: Callable[[dict[str, bytes]], Any]) -> Any:
        start = f"{self.prefix}/"

        def outer(table: dict[str, bytes]) -> Any:
            inner = {k[len(start) :]: v for k, v in table.items() if k.startswith(start)}
            for key in inner:
                del table[start + key]
            result = change(inner)
            table.update({start + key: value for key, value in inner.items()})
            return result

        return self.underlying_store._change(outer)
