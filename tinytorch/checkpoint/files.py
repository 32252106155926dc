"""The files of ``save`` and ``load``: how they are opened, and the detection of their format.

A file is written as a whole under a temporary name, and then replaces the old file. A process that
is killed leaves the old file or the new one, and of two processes that save to one path at once one
wins. The file is written in place, as by ``open(path, "wb")``, if a new file could not replace the
old one: for devices and pipes, for a file with several hard links, with another owner or with
extended attributes, in a folder where no file can be created, and on a disk without room for both.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import secrets
import stat
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
    """Raise AttributeError if ``f`` is neither a path nor a file with ``method``."""
    if not isinstance(f, (str, os.PathLike)) and not hasattr(f, method):
        raise AttributeError(f"{text}, received {type(f)}")


@contextlib.contextmanager
def open_file(f: Any) -> Iterator[Any]:
    """Open the file of a path for reading, and close it at the end; return a file itself."""
    if isinstance(f, (str, os.PathLike)):
        with open(f, "rb") as file:
            yield file
    else:
        yield f


def can_seek(file: Any) -> bool:
    """Whether ``file`` supports ``seek``."""
    return bool(getattr(file, "seekable", lambda: hasattr(file, "seek"))())


def seekable(file: Any) -> Any:
    """Return ``file``, or a copy of its remaining bytes in memory if it is not seekable."""
    if can_seek(file) and hasattr(file, "tell"):
        return file
    return io.BytesIO(file.read())


#: Function that reads an object from a pickle, with a function that makes its storages.
Unpickle: TypeAlias = "Callable[[IO[bytes], ReadStorage], Any]"


def read(
    file: IO[bytes], restore: Callable[[LoadedStorage, str], LoadedStorage], unpickle: Unpickle,
    mapped: bool,
) -> Any:  # fmt: skip
    """Read a checkpoint of one of PyTorch's formats, or a file of NumPy or safetensors.

    Args:
        file: A seekable binary file at the start of the checkpoint.
        restore: Function of a storage and its saved location that moves it to its device.
        unpickle: Function that reads the object from the pickle; see ``Unpickle``.
        mapped: Whether storages are mapped into memory instead of read.
    """
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
    """Read the arrays of a file of NumPy's by name; the name of the array in ``.npy`` is empty.

    Raises:
        RuntimeError: If the file is damaged, or holds objects.
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


#: Errors for a damaged file, of NumPy and of the modules by which it reads files.
_DAMAGED = (
    *archive.BROKEN_ZIP, zlib.error, tokenize.TokenError, ValueError, KeyError, EOFError, OSError,
    MemoryError, OverflowError, SyntaxError, TypeError,
)  # fmt: skip


#: Function that writes the contents of a file, the same at each call.
Write: TypeAlias = Callable[[IO[bytes]], object]
#: Errors of the folder or the disk, not of the file: writing in place may still succeed.
_NO_SECOND_FILE = {
    errno.EACCES, errno.EPERM, errno.EROFS, errno.ENAMETOOLONG, errno.ENOSPC, errno.EDQUOT,
    errno.EFBIG,
}  # fmt: skip


def write_file(f: Any, write: Write) -> None:
    """Write to the file ``f``, or to the file of a path, which is then complete or unchanged.

    Raises:
        RuntimeError: If the folder does not exist.
        OSError: If the file may not be written, or does not fit; it is unchanged then.
    """
    if not isinstance(f, (str, os.PathLike)):
        write(f)
        # Another program may open the file by its name.
        getattr(f, "flush", lambda: None)()
        return
    folder = os.path.dirname(os.fsdecode(f))
    if folder and not os.path.isdir(folder):
        raise RuntimeError(f"Parent directory {folder} does not exist.")
    target = os.path.realpath(os.fsdecode(f))
    found = _status(target)
    if found is None or _is_replaceable(target, found):
        try:
            return _replace(target, found, write)
        except OSError as error:
            if error.errno not in _NO_SECOND_FILE or not _has_room(target, found, write):
                raise
    with open(target, "wb") as file:
        write(file)


def _status(target: str) -> os.stat_result | None:
    """Return the status of an existing file, or None; OSError if it may not be written."""
    try:
        found = os.stat(target)
    except FileNotFoundError:
        return None
    if stat.S_ISREG(found.st_mode):  # opening a pipe and closing it would end it
        os.close(os.open(target, os.O_WRONLY | getattr(os, "O_CLOEXEC", 0)))
    return found


def _is_replaceable(target: str, found: os.stat_result) -> bool:
    """Whether a new file can replace the old one, whose status is ``found``, without a difference.

    It cannot if the old file has several names, another owner or extended attributes.
    """
    if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:
        return False
    if hasattr(os, "geteuid") and found.st_uid != os.geteuid():
        return False
    with contextlib.suppress(OSError):  # a file system without extended attributes
        return not getattr(os, "listxattr", lambda path: [])(target)
    return True


def _replace(target: str, found: os.stat_result | None, write: Write) -> None:
    """Write a new file beside ``target``, and rename it to ``target`` when it is complete.

    Args:
        target: The path of the file.
        found: The status of the old file, whose mode and group the new one gets; None without one.
        write: Function that writes the contents to a file.
    """
    part = os.path.join(os.path.dirname(target), f".{secrets.token_hex(8)}.part")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    flags |= getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
    try:
        with open(part, "wb", opener=lambda path, _: os.open(path, flags, 0o666)) as file:
            if found is not None and hasattr(os, "fchmod"):
                os.fchmod(file.fileno(), stat.S_IMODE(found.st_mode))
                if os.fstat(file.fileno()).st_gid != found.st_gid:
                    os.fchown(file.fileno(), -1, found.st_gid)
            write(file)
        os.replace(part, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(part)
        raise


class _Counter:
    """File that counts the bytes that are written to it."""

    def __init__(self) -> None:
        self.count = 0

    def write(self, data: Any) -> int:
        """Count ``data``."""
        size = memoryview(data).nbytes
        self.count += size
        return size

    def tell(self) -> int:
        """Return the number of bytes so far."""
        return self.count

    def seekable(self) -> bool:
        """Return False: written bytes are not stored."""
        return False

    def flush(self) -> None:
        """Do nothing: no byte is buffered."""


def _has_room(target: str, found: os.stat_result | None, write: Write) -> bool:
    """Whether the disk has room for the new file once the old one, ``found``, is truncated."""
    if found is None or not hasattr(os, "statvfs") or not stat.S_ISREG(found.st_mode):
        return True
    counter: Any = _Counter()
    write(counter)
    disk = os.statvfs(target)
    free = disk.f_bavail * disk.f_frsize + found.st_blocks * 512
    return bool(counter.count <= free)
