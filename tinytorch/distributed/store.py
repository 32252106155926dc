"""Stores: tables of bytes that processes share, as PyTorch's programs use them.

Process groups need none where MPI's launcher started the ranks; else one may tell where rank 0 is.
"""

from __future__ import annotations

import os
import pickle
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

from .errors import DistStoreError

__all__ = ["FileStore", "HashStore", "PrefixStore", "Store"]

_DEFAULT = timedelta(seconds=300)
_NAP = 0.01


class Store:
    """What the stores share: each has ``_change``, which changes the table as one step.

    Example:
        >>> import tinytorch as tt
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
        >>> import tinytorch as tt
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

    Args:
        file_name: The file; made if it is not there.
        world_size: Accepted; means nothing.

    Example:
        >>> import os, tempfile
        >>> import tinytorch as tt
        >>> folder = tempfile.TemporaryDirectory()
        >>> store = tt.distributed.FileStore(os.path.join(folder.name, "store"))
        >>> store.set("a", "1")
        >>> store.get("a")
        b'1'
        >>> folder.cleanup()
    """

    def __init__(self, file_name: str, world_size: int = -1) -> None:
        self.path = file_name
        Path(file_name).touch()

    def _change(self, change: Callable[[dict[str, bytes]], Any]) -> Any:
        with self._locked() as file:
            content = file.read()
            table = pickle.loads(content) if content else {}
            before = dict(table)
            result = change(table)
            if table != before:
                file.seek(0)
                file.truncate()
                file.write(pickle.dumps(table))
            return result

    @contextmanager
    def _locked(self) -> Iterator[Any]:
        """The file, while nobody else has it."""
        lock = f"{self.path}.lock"
        while True:
            try:
                os.close(os.open(lock, os.O_CREAT | os.O_EXCL))
                break
            except FileExistsError:
                time.sleep(_NAP / 10)
        try:
            with open(self.path, "r+b") as file:
                yield file
        finally:
            os.unlink(lock)


class PrefixStore(Store):
    """A part of another store, whose keys all begin alike.

    Args:
        prefix: What they begin with.
        store: The other store.

    Example:
        >>> import tinytorch as tt
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
