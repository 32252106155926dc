"""The files of ``save`` and ``load``: how they are opened, and what kind one is."""

from __future__ import annotations

import contextlib
import io
import os
import tokenize
import zlib
from collections.abc import Callable, Iterator
from typing import IO, Any, TypeAlias

from .. import backends
from ..core.tensor import Tensor, wrap
from . import archive
from .archive import ArchiveReader
from .legacy import LegacyReader
from .names import LoadedStorage
from .reading import ReadStorage
from .safetensors import is_safetensors, read_safetensors
from .storages import bytes_in_map, bytes_in_memory, storage_reader


def check_file(f: Any, method: str, text: str) -> None:
    """AttributeError for what is neither a path nor a file that has ``method``."""
    if not isinstance(f, (str, os.PathLike)) and not hasattr(f, method):
        raise AttributeError(f"{text}, received {type(f)}")


@contextlib.contextmanager
def opened(f: Any) -> Iterator[Any]:
    """The file itself, or that of a path, open for reading and closed again."""
    if isinstance(f, (str, os.PathLike)):
        with open(f, "rb") as file:
            yield file
    else:
        yield f


def can_seek(file: Any) -> bool:
    """Whether ``file`` can be read and written out of order."""
    return bool(getattr(file, "seekable", lambda: hasattr(file, "seek"))())


def seekable(file: Any) -> Any:
    """``file``, or what is left of it in memory if it cannot seek."""
    if can_seek(file) and hasattr(file, "tell"):
        return file
    return io.BytesIO(file.read())


#: Reads an object from a pickle, with a function that makes its storages.
Unpickle: TypeAlias = "Callable[[IO[bytes], ReadStorage], Any]"


def read(
    file: IO[bytes], restore: Callable[[LoadedStorage, str], LoadedStorage], unpickle: Unpickle,
    mapped: bool,
) -> Any:  # fmt: skip
    """What is in a checkpoint of PyTorch's formats, or in a file of NumPy's or safetensors."""
    start = file.tell()
    head = file.read(9)
    file.seek(start)
    if is_safetensors(head) or str(getattr(file, "name", "")).endswith(".safetensors"):
        return read_safetensors(file, restore, mapped)
    if head[:6] == b"\x93NUMPY":
        return _read_numpy(file)[""]
    if head[:4] != archive.MAGIC:
        if mapped:
            raise RuntimeError(
                "mmap can only be used with files saved with `torch.save(_use_new_zipfile_"
                "serialization=True)`; save this one again to use it"
            )
        legacy = LegacyReader(file)
        bytes_of = bytes_in_memory(legacy.storages().__getitem__)
        return unpickle(io.BytesIO(legacy.pickle), storage_reader(bytes_of, legacy.little, restore))
    zip_file = ArchiveReader(file)
    if any(name.endswith(".npy") for name in zip_file.names) and not zip_file.has("data.pkl"):
        file.seek(start)
        return _read_numpy(file)
    if zip_file.has("constants.pkl"):
        raise RuntimeError(
            "load(): this is a TorchScript archive (written by torch.jit.save), which holds a "
            "program; tinytorch runs no TorchScript. Save its state_dict() with torch.save"
        )
    little = not zip_file.has("byteorder") or bytes(zip_file.read("byteorder")) == b"little"
    bytes_of = bytes_in_map(zip_file, file) if mapped else bytes_in_memory(zip_file.read, "data/")
    data = io.BytesIO(zip_file.read("data.pkl"))
    return unpickle(data, storage_reader(bytes_of, little, restore))


def _read_numpy(file: IO[bytes]) -> dict[str, Tensor]:
    """The arrays of a file of NumPy's by name; the one of ``.npy`` has none.

    Raises:
        RuntimeError: If it is damaged, or holds objects.
    """
    host = backends.load("numpy")
    try:
        found = host.load(file, allow_pickle=False)
        named = (
            {name: found[name] for name in found.files} if hasattr(found, "files") else {"": found}
        )
    except _DAMAGED as error:
        raise RuntimeError(f"load(): the file of NumPy's cannot be read: {error}") from error
    return {name: wrap(host.asarray(array), host) for name, array in named.items()}


#: Errors of NumPy's and of the modules that it reads files with for a file that is damaged.
_DAMAGED = (
    *archive.BROKEN_ZIP, zlib.error, tokenize.TokenError, ValueError, KeyError, EOFError, OSError,
    MemoryError, OverflowError, SyntaxError, TypeError,
)  # fmt: skip
