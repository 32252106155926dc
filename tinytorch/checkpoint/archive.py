"""The zip archive of a checkpoint: one folder, with a pickle and a file for each storage.

The layout is PyTorch's: ``data.pkl``, ``byteorder``, ``data/0``, ``data/1``, ... and ``version``
in a folder with the name of the file, not compressed, storages aligned to 64 bytes so that they can
be mapped into memory. Reference: https://docs.pytorch.org/docs/stable/notes/serialization.html

``survey`` finds the names in a pickle without importing or calling any of them.
"""

from __future__ import annotations

import io
import os
import pickle
import struct
import zipfile
import zlib
from typing import IO, Any

from .names import NAMED, StorageType

#: First bytes of a zip archive.
MAGIC = b"PK\x03\x04"
#: The format's number, in the file ``version``.
VERSION = b"3\n"
ALIGNMENT = 64
_LOCAL_HEADER = 30
_ZIP64_EXTRA = 20
#: Errors of ``zipfile`` for an archive that is damaged, or has features that it does not support.
BROKEN_ZIP = (zipfile.BadZipFile, NotImplementedError, RuntimeError)
#: The record after the directory: the directory's size and offset, and the length of a comment.
_END_MAGIC = b"PK\5\6"
_END = struct.Struct("<12xIIH")
#: The same record of a large archive, 76 bytes before, with its locator 20 bytes before.
_END64 = struct.Struct("<40xQQ")
_LOCATOR_MAGIC = b"PK\6\7"
_BROKEN = "PytorchStreamReader failed reading zip archive: failed finding central directory"


class ZipArchive(zipfile.ZipFile):
    """A zip archive whose user closes it: ``zipfile`` would do it again in a finalizer.

    A finalizer in Python executes the handler of Ctrl-C, whose KeyboardInterrupt Python drops. This
    one is a C function that does nothing; a file that the archive opened closes by itself.
    """

    __del__: Any = staticmethod(tuple)


class ArchiveWriter:
    """Writer of the files of a checkpoint, each in one call.

    Args:
        file: A seekable binary file at its start, from which offsets are counted.
        folder: The name of the folder.
    """

    def __init__(self, file: IO[bytes], folder: str) -> None:
        self._file = file
        self._zip = ZipArchive(file, "w", zipfile.ZIP_STORED)
        self._folder = folder

    def write(self, name: str, data: Any) -> None:
        """Add a file; its bytes begin at a multiple of 64."""
        info = zipfile.ZipInfo(f"{self._folder}/{name}")
        size = memoryview(data).nbytes
        header = self._file.tell() + _LOCAL_HEADER + len(info.filename.encode())
        if size * 1.05 > zipfile.ZIP64_LIMIT:
            header += _ZIP64_EXTRA
        # An extra field of an id and a size, which is ignored by readers, fills the gap.
        padding = -(header + 4) % ALIGNMENT
        info.extra = struct.pack("<2sH", b"FB", padding) + b"Z" * padding
        self._zip.writestr(info, data)

    def close(self) -> None:
        """Write the directory, which completes the archive."""
        self._zip.close()


class _Part:
    """View of the bytes of a file from ``start`` to ``end``.

    It has the methods that ``zipfile`` calls. The classes of ``io`` would call them, too, but drop
    what ``tell`` raises while a ``BufferedReader`` is created, a KeyboardInterrupt as well.
    """

    def __init__(self, file: IO[bytes], start: int, end: int) -> None:
        self._file = file
        self._start = start
        self._size = max(end - start, 0)
        self._position = 0

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self._size}[whence]
        if base + offset < 0:
            raise ValueError(f"negative seek position {base + offset}")
        self._position = base + offset
        return self._position

    def read(self, size: int = -1) -> bytes:
        """Read ``size`` bytes, or all that are left if it is negative."""
        left = max(self._size - self._position, 0)
        self._file.seek(self._start + self._position)
        data = self._file.read(left if size < 0 else min(size, left))
        self._position += len(data)
        return data


class ArchiveReader:
    """Reader of the files of a checkpoint.

    Args:
        file: A seekable binary file at the start of the archive.

    Raises:
        RuntimeError: If it is not a zip archive, or is truncated.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._start = file.tell()
        end = file.seek(0, os.SEEK_END)
        # zipfile reads the last directory of a file. If several archives follow each other, it is
        # not the directory of the archive that begins here.
        if self._open(end) and self._open(self._find_end()):
            raise RuntimeError(f"{_BROKEN} (it does not belong to the archive that begins here)")
        self.names: list[str] = self._zip.namelist()
        if len(set(self.names)) < len(self.names):
            twice = next(name for name in self.names if self.names.count(name) > 1)
            raise RuntimeError(
                f"PytorchStreamReader failed reading zip archive: it has two files named {twice!r}"
            )
        self._folder = self.names[0].partition("/")[0]

    def _open(self, end: int) -> int:
        """Read the directory of an archive that ends at the offset ``end`` of the file.

        Returns:
            The offset of the directory's first file from the start of the archive. It is 0 if the
            directory belongs to the archive that begins there.
        """
        try:
            self._zip = ZipArchive(_Part(self._file, self._start, end))
        except (*BROKEN_ZIP, ValueError, struct.error) as error:
            raise RuntimeError(f"{_BROKEN} ({error})") from error
        if not self._zip.filelist:
            raise RuntimeError("PytorchStreamReader failed reading zip archive: it is empty")
        return min(info.header_offset for info in self._zip.filelist)

    def _find_end(self) -> int:
        """Find the end of the archive that begins at ``_start``, in a file of several archives.

        It is the end of the first directory whose offset and size agree with its position.
        """
        position, tail = self._start, b""
        self._file.seek(position)
        while part := self._file.read(1 << 20):
            data, base = tail + part, position - len(tail) - self._start
            position += len(part)
            found = data.find(_END_MAGIC)
            while 0 <= found <= len(data) - _END.size:
                size, offset, comment = _END.unpack_from(data, found)
                last = found
                if data[max(found - 20, 0) :][:4] == _LOCATOR_MAGIC and found >= 76:
                    last = found - 76
                    size, offset = _END64.unpack_from(data, last)
                if base + last == size + offset:
                    return int(self._start + base + found + _END.size + comment)
                found = data.find(_END_MAGIC, found + 1)
            tail = data[-128:]
        return self._start

    def has(self, name: str) -> bool:
        """Whether there is such a file."""
        return f"{self._folder}/{name}" in self._zip.NameToInfo

    def read(self, name: str) -> bytearray:
        """Return the bytes of a file.

        Raises:
            RuntimeError: If there is no such file, or it ends too early.
        """
        info = self._info(name)
        start = self.offset(name)
        if info.compress_type != zipfile.ZIP_STORED:
            return self._inflate(info)
        available = self._file.seek(0, os.SEEK_END) - start
        if available < info.file_size:
            raise RuntimeError(
                f"PytorchStreamReader failed reading file {name}: file read failed, "
                f"got {available} of {info.file_size} bytes"
            )
        data = bytearray(info.file_size)
        self._file.seek(start)
        view, got = memoryview(data), 0
        while got < len(data):
            part = self._file.read(min(len(data) - got, 1 << 24))
            if not part:
                raise RuntimeError(
                    f"PytorchStreamReader failed reading file {name}: file read failed, "
                    f"got {got} of {len(data)} bytes"
                )
            view[got : got + len(part)] = part
            got += len(part)
        # PyTorch writes 0 if computing checksums is switched off.
        if info.CRC and zlib.crc32(data) != info.CRC:
            raise RuntimeError(
                f"PytorchStreamReader failed reading file {name}: its checksum is not that of the "
                "bytes there"
            )
        return data

    def _inflate(self, info: zipfile.ZipInfo) -> bytearray:
        """Decompress a file, which another program has written."""
        try:
            return bytearray(self._zip.read(info))
        except (*BROKEN_ZIP, zlib.error, EOFError) as error:
            raise RuntimeError(
                f"PytorchStreamReader failed reading file {info.filename}: {error}"
            ) from error

    def offset(self, name: str) -> int:
        """Return the offset of the bytes of a file.

        Raises:
            RuntimeError: If there is no such file, or it is not at the offset in the directory.
        """
        info = self._info(name)
        self._file.seek(self._start + max(info.header_offset, 0))
        header = self._file.read(_LOCAL_HEADER)
        if info.header_offset < 0 or len(header) < _LOCAL_HEADER or header[:4] != MAGIC:
            raise RuntimeError(f"PytorchStreamReader failed reading file {name}: no header")
        names, extra = struct.unpack_from("<HH", header, 26)
        return self._start + int(info.header_offset) + _LOCAL_HEADER + int(names) + int(extra)

    def size(self, name: str) -> int:
        """Return the number of bytes of a file; RuntimeError if there is no such file."""
        return self._info(name).file_size

    def _info(self, name: str) -> zipfile.ZipInfo:
        """Return the directory's entry of a file."""
        found = self._zip.NameToInfo.get(f"{self._folder}/{name}")
        if found is None:
            raise RuntimeError(f"PytorchStreamReader failed locating file {name}: file not found")
        return found


def folder_for(file: Any) -> str:
    """Return the name of the folder in the archive.

    It is the name of the file without its suffix, or ``archive`` for a file object or another name.
    """
    if not isinstance(file, (str, os.PathLike)):
        return "archive"
    stem = os.path.splitext(os.path.basename(os.fsdecode(file)))[0]
    return stem if stem.isascii() and stem.isprintable() and stem else "archive"


#: Python's unpickler that is written in Python, whose opcodes can be replaced one by one.
PythonUnpickler: Any = pickle._Unpickler


class _Inert:
    """Placeholder for a value that the pickle would import or make."""

    def __init__(self, module: str = "", name: str = "") -> None:
        self.module = module
        self.name = name

    def ignore(self, *args: Any) -> None:
        """Ignore the elements that the pickle would add to a container."""

    append = extend = add = update = __setitem__ = ignore


class Survey(PythonUnpickler):  # type: ignore[misc]  # its parts are private to pickle
    """Unpickler with an inert object in the place of everything that is imported or called.

    Attributes:
        names: The globals in the pickle, as module and name, in their order.
        itemsizes: The bytes of an element of each storage, by the key of the storage.
    """

    dispatch: dict[Any, Any] = dict(PythonUnpickler.dispatch)

    def __init__(self, file: Any) -> None:
        super().__init__(file, encoding="utf-8")
        self.names: dict[tuple[str, str], None] = {}
        self.itemsizes: dict[str, int] = {}

    def find_class(self, module: str, name: str) -> Any:
        module = {"__builtin__": "builtins"}.get(module, module)
        self.names[module, name] = None
        return _Inert(module, name)

    def persistent_load(self, pid: Any) -> Any:
        """Record the size of an element of the storage whose persistent id is ``pid``."""
        if isinstance(pid, tuple) and len(pid) > 2 and isinstance(pid[1], _Inert):
            kind = NAMED.get((pid[1].module, pid[1].name))
            dtype = kind.dtype if isinstance(kind, StorageType) else None
            self.itemsizes[pid[2]] = 1 if dtype is None else dtype.itemsize
        return _Inert()

    def get_extension(self, code: int) -> None:
        self.append(_Inert("copyreg", f"extension {code}"))

    def _replace(self, count: int) -> None:
        """Replace the topmost ``count`` values of the stack by an inert object."""
        del self.stack[-count:]
        self.append(_Inert())

    def _replace_to_mark(self) -> None:
        """Replace the values above the topmost mark of the stack by an inert object."""
        self.pop_mark()
        self.append(_Inert())

    dispatch[pickle.REDUCE[0]] = dispatch[pickle.NEWOBJ[0]] = lambda self: self._replace(2)
    dispatch[pickle.NEWOBJ_EX[0]] = lambda self: self._replace(3)
    dispatch[pickle.BUILD[0]] = lambda self: self.stack.pop()
    dispatch[pickle.OBJ[0]] = _replace_to_mark

    def _instance(self) -> None:
        """Opcode INST: replace a class and its arguments by an inert object."""
        module, name = (self.readline()[:-1].decode("ascii") for _ in range(2))
        self.find_class(module, name)
        self._replace_to_mark()

    dispatch[pickle.INST[0]] = _instance


#: Errors that a damaged or forged pickle causes in the unpickler.
BROKEN = (IndexError, KeyError, ValueError, AttributeError, TypeError)


def survey(data: Any) -> Survey:
    """Return the survey of a pickle.

    Raises:
        pickle.UnpicklingError: If the pickle is broken.
    """
    found = Survey(io.BytesIO(data))
    try:
        found.load()
    except BROKEN as error:
        raise pickle.UnpicklingError(f"the pickle is broken: {error}") from error
    return found
