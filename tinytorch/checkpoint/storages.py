"""Storages of a checkpoint: reading their bytes, and choosing the device of their tensors."""

from __future__ import annotations

import mmap as memory_map
import sys
from collections.abc import Callable, Mapping
from typing import IO, Any, TypeAlias

from .. import backends
from ..backends import Backend, BackendUnavailableError
from ..core.device import device
from ..dispatch.creation import backend_of_device
from .archive import ArchiveReader
from .names import LoadedStorage, StorageType
from .reading import ReadStorage

#: Function of a key and size that returns memory with the bytes of a storage, and their offset.
BytesOf: TypeAlias = "Callable[[str, int], tuple[Any, int]]"


def bytes_in_memory(read: Callable[[str], bytearray], folder: str = "") -> BytesOf:
    """Return a function of a storage's key and size that reads its bytes into memory.

    Args:
        read: Function that returns the bytes of a file of the checkpoint.
        folder: Prefix of the key in the name of this file.
    """

    def bytes_of(key: str, size: int) -> tuple[Any, int]:
        data = read(folder + key)
        if len(data) != size:
            raise RuntimeError(
                f"PytorchStreamReader failed reading file {folder}{key}: record size ({len(data)} "
                f"bytes) does not match expected size ({size} bytes)"
            )
        return data, 0

    return bytes_of


#: ``MAP_NORESERVE`` of Linux, which Python's module does not name in every version.
_NO_RESERVE = 0x4000


def mapped_copy(file: IO[bytes]) -> memory_map.mmap:
    """Map a file into memory, read when it is used; writes do not change the file.

    On Linux no memory is reserved for writes, so that the file may be larger than the memory.
    """
    if sys.platform != "linux":
        return memory_map.mmap(file.fileno(), 0, access=memory_map.ACCESS_COPY)
    flags = memory_map.MAP_PRIVATE | _NO_RESERVE
    return memory_map.mmap(file.fileno(), 0, flags, memory_map.PROT_READ | memory_map.PROT_WRITE)


def bytes_in_map(archive: ArchiveReader, file: IO[bytes]) -> BytesOf:
    """Return a function of a storage's key and size that finds its bytes in the mapped file."""
    data = mapped_copy(file)

    def bytes_of(key: str, size: int) -> tuple[Any, int]:
        start = archive.offset(f"data/{key}")
        if archive.size(f"data/{key}") != size or start + size > len(data):
            raise RuntimeError(
                f"PytorchStreamReader failed reading file data/{key}: it does not "
                f"hold the expected {size} bytes"
            )
        return data, start

    return bytes_of


def storage_reader(
    bytes_of: BytesOf, little: bool, restore: Callable[[LoadedStorage, str], LoadedStorage]
) -> ReadStorage:
    """Return a function that makes the storages of one checkpoint, each once.

    Args:
        bytes_of: Function of a key and a number of bytes that returns a buffer and an offset in it.
        little: Whether the checkpoint is in little-endian byte order.
        restore: Function of a storage and its saved location that moves it to its device.
    """
    made: dict[str, LoadedStorage] = {}
    host = backends.load("numpy")

    def read_storage(kind: StorageType, key: str, location: str, count: int) -> LoadedStorage:
        if key not in made:
            itemsize = 1 if kind.dtype is None else kind.dtype.itemsize
            data, start = bytes_of(key, count * itemsize)
            array = host.frombuffer(data, "uint8", count * itemsize, start)
            if little != (sys.byteorder == "little"):
                array = _swap_bytes(array, kind)
            made[key] = restore(LoadedStorage(array, kind, host), location)
        return made[key]

    return read_storage


def _swap_bytes(array: Any, kind: StorageType) -> Any:
    """Swap the bytes of a storage that a processor of the other byte order wrote."""
    if kind.dtype is None:
        raise NotImplementedError("the checkpoint has storages without dtype in another byte order")
    return array.view(kind.dtype.dtype).byteswap().view("uint8")


# -- devices -------------------------------------------------------------------------------------


def restorer(map_location: Any) -> Callable[[LoadedStorage, str], LoadedStorage]:
    """Return a function that moves a storage to its device, given its saved location."""
    if map_location is None:
        return _restore
    if isinstance(map_location, Backend):
        return lambda storage, location: storage.on(map_location)
    if isinstance(map_location, Mapping):
        locations = {str(key): str(value) for key, value in map_location.items()}
        return lambda storage, location: _restore(storage, locations.get(location, location))
    if isinstance(map_location, (str, int, device)):
        # For a text that does not name a device, _restore raises PyTorch's error.
        target = map_location if isinstance(map_location, str) else str(device(map_location))
        return lambda storage, location: _restore(storage, target)
    if not callable(map_location):
        raise TypeError(
            "load(): expected map_location to be a device, a dictionary or a function, got "
            f"{type(map_location).__name__}"
        )

    def call_map_location(storage: LoadedStorage, location: str) -> LoadedStorage:
        found = map_location(storage, location)
        return _restore(storage, location) if found is None else found

    return call_map_location


def _restore(storage: LoadedStorage, location: str) -> LoadedStorage:
    """Return the storage on the device called ``location``."""
    try:
        return storage.on(backend_of_device(location))
    except BackendUnavailableError as error:
        raise RuntimeError(
            f"Attempting to deserialize object on a {location.partition(':')[0].upper()} device, "
            f"{location!r}, which cannot be used here. "
            "If you are running on a CPU-only machine, please use load with "
            f"map_location=tinytorch.device('cpu') to map your storages to the CPU ({error})"
        ) from error
    except RuntimeError as error:
        raise RuntimeError(
            f"don't know how to restore data location of {storage.type.name} (tagged with "
            f"{location}): {error}"
        ) from error
