"""The storages of a checkpoint: how their bytes are read, and where their tensors are put."""

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

#: Returns memory with the bytes of a storage, and where in it they begin, by key and number.
BytesOf: TypeAlias = "Callable[[str, int], tuple[Any, int]]"


def bytes_in_memory(read: Callable[[str], bytearray], folder: str = "") -> BytesOf:
    """The bytes of storages, read when they are asked for."""

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
    """A file as memory, read when it is used; what is written there stays there.

    On Linux no memory is set aside for that, so that the file may be larger than the machine's.
    """
    if sys.platform != "linux":
        return memory_map.mmap(file.fileno(), 0, access=memory_map.ACCESS_COPY)
    flags = memory_map.MAP_PRIVATE | _NO_RESERVE
    return memory_map.mmap(file.fileno(), 0, flags, memory_map.PROT_READ | memory_map.PROT_WRITE)


def bytes_in_map(archive: ArchiveReader, file: IO[bytes]) -> BytesOf:
    """The bytes of storages where they are in the file, mapped into memory."""
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
    """What makes the storages of one checkpoint, each once."""
    made: dict[str, LoadedStorage] = {}
    host = backends.load("numpy")

    def read_storage(kind: StorageType, key: str, location: str, count: int) -> LoadedStorage:
        if key not in made:
            itemsize = 1 if kind.dtype is None else kind.dtype.itemsize
            data, start = bytes_of(key, count * itemsize)
            array = host.frombuffer(data, "uint8", count * itemsize, start)
            if little != (sys.byteorder == "little"):
                array = _swapped(array, kind)
            made[key] = restore(LoadedStorage(array, kind, host), location)
        return made[key]

    return read_storage


def _swapped(array: Any, kind: StorageType) -> Any:
    """The bytes of a storage that another kind of processor wrote."""
    if kind.dtype is None:
        raise NotImplementedError("the checkpoint has storages without dtype in foreign byte order")
    return array.view(kind.dtype.dtype).byteswap().view("uint8")


# -- where to ------------------------------------------------------------------------------------


def restorer(map_location: Any) -> Callable[[LoadedStorage, str], LoadedStorage]:
    """What puts a storage where it is wanted, given where it was."""
    if map_location is None:
        return _restore
    if isinstance(map_location, Backend):
        return lambda storage, location: storage.on(map_location)
    if isinstance(map_location, Mapping):
        places = {str(key): str(value) for key, value in map_location.items()}
        return lambda storage, location: _restore(storage, places.get(location, location))
    if isinstance(map_location, (str, int, device)):
        # A text may name no device at all, which _restore says as torch does.
        place = map_location if isinstance(map_location, str) else str(device(map_location))
        return lambda storage, location: _restore(storage, place)
    if not callable(map_location):
        raise TypeError(
            "load(): expected map_location to be a device, a dictionary or a function, got "
            f"{type(map_location).__name__}"
        )

    def by_function(storage: LoadedStorage, location: str) -> LoadedStorage:
        found = map_location(storage, location)
        return _restore(storage, location) if found is None else found

    return by_function


def _restore(storage: LoadedStorage, location: str) -> LoadedStorage:
    """The storage on the device called ``location``."""
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
