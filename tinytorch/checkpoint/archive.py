"""The zip archive that a checkpoint is: one folder, with a pickle and a file for each storage.

The layout is PyTorch's: ``data.pkl``, ``byteorder``, ``data/0``, ``data/1``, ... and ``version``
in a folder named like the file, nothing compressed, storages aligned to 64 bytes so that they can
be mapped into memory. Reference: https://docs.pytorch.org/docs/stable/notes/serialization.html
"""

from __future__ import annotations

import os
import struct
import zipfile
import zlib
from typing import IO, Any

#: What a zip archive begins with.
MAGIC = b"PK\x03\x04"
#: The format's number, in the file ``version``.
VERSION = b"3\n"
ALIGNMENT = 64
_LOCAL_HEADER = 30
_ZIP64_EXTRA = 20
_BROKEN = "PytorchStreamReader failed reading zip archive: failed finding central directory"


class ArchiveWriter:
    """Writes the files of a checkpoint, each in one go.

    Args:
        file: A binary file that can seek, at its start: offsets count from there.
        folder: The name of the folder.
    """

    def __init__(self, file: IO[bytes], folder: str) -> None:
        self._file = file
        self._zip = zipfile.ZipFile(file, "w", zipfile.ZIP_STORED)
        self._folder = folder

    def write(self, name: str, data: Any) -> None:
        """Add a file; its bytes begin at a multiple of 64."""
        info = zipfile.ZipInfo(f"{self._folder}/{name}")
        size = memoryview(data).nbytes
        header = self._file.tell() + _LOCAL_HEADER + len(info.filename.encode())
        if size * 1.05 > zipfile.ZIP64_LIMIT:
            header += _ZIP64_EXTRA
        # The field of an id and a size that nobody reads, as long as it takes.
        padding = -(header + 4) % ALIGNMENT
        info.extra = struct.pack("<2sH", b"FB", padding) + b"Z" * padding
        self._zip.writestr(info, data)

    def close(self) -> None:
        """Write the directory, which makes it an archive."""
        self._zip.close()


class ArchiveReader:
    """Reads the files of a checkpoint.

    Args:
        file: A binary file that can seek.

    Raises:
        RuntimeError: If it is no zip archive, or a truncated one.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        try:
            self._zip = zipfile.ZipFile(file)
        except (zipfile.BadZipFile, ValueError, struct.error) as error:
            raise RuntimeError(f"{_BROKEN} ({error})") from error
        self.names: list[str] = self._zip.namelist()
        if not self.names:
            raise RuntimeError("PytorchStreamReader failed reading zip archive: it is empty")
        self._folder = self.names[0].partition("/")[0]

    def has(self, name: str) -> bool:
        """Whether there is such a file."""
        return f"{self._folder}/{name}" in self._zip.NameToInfo

    def read(self, name: str) -> bytearray:
        """The bytes of a file.

        Raises:
            RuntimeError: If there is no such file, or it ends too early.
        """
        info = self._info(name)
        start = self.offset(name)
        if info.compress_type != zipfile.ZIP_STORED:
            return self._inflated(info)
        there = self._file.seek(0, os.SEEK_END) - start
        if there < info.file_size:
            raise RuntimeError(
                f"PytorchStreamReader failed reading file {name}: file read failed, "
                f"got {there} of {info.file_size} bytes"
            )
        data = bytearray(info.file_size)
        self._file.seek(start)
        view, got = memoryview(data), 0
        # The checksum is left alone: PyTorch can be told not to write it.
        while got < len(data):
            part = self._file.read(min(len(data) - got, 1 << 24))
            if not part:
                raise RuntimeError(
                    f"PytorchStreamReader failed reading file {name}: file read failed, "
                    f"got {got} of {len(data)} bytes"
                )
            view[got : got + len(part)] = part
            got += len(part)
        return data

    def _inflated(self, info: zipfile.ZipInfo) -> bytearray:
        """The bytes of a file that another program has compressed."""
        try:
            return bytearray(self._zip.read(info))
        except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError) as error:
            raise RuntimeError(
                f"PytorchStreamReader failed reading file {info.filename}: {error}"
            ) from error

    def offset(self, name: str) -> int:
        """Where the bytes of a file begin.

        Raises:
            RuntimeError: If there is no such file, or it is not where the directory says.
        """
        info = self._info(name)
        self._file.seek(max(info.header_offset, 0))
        header = self._file.read(_LOCAL_HEADER)
        if info.header_offset < 0 or len(header) < _LOCAL_HEADER or header[:4] != MAGIC:
            raise RuntimeError(f"PytorchStreamReader failed reading file {name}: no header")
        names, extra = struct.unpack_from("<HH", header, 26)
        return int(info.header_offset) + _LOCAL_HEADER + int(names) + int(extra)

    def size(self, name: str) -> int:
        """The number of bytes of a file; RuntimeError if there is no such file."""
        return self._info(name).file_size

    def _info(self, name: str) -> zipfile.ZipInfo:
        found = self._zip.NameToInfo.get(f"{self._folder}/{name}")
        if found is None:
            raise RuntimeError(f"PytorchStreamReader failed locating file {name}: file not found")
        return found


def folder_for(file: Any) -> str:
    """The folder's name: that of the file without its suffix; ``archive`` where that is none."""
    if not isinstance(file, (str, os.PathLike)):
        return "archive"
    stem = os.path.splitext(os.path.basename(os.fsdecode(file)))[0]
    return stem if stem.isascii() and stem.isprintable() and stem else "archive"
