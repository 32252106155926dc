"""Checkpoints: ``save`` and ``load``, in the files that PyTorch writes and reads.

    >>> import io
    >>> file = io.BytesIO()
    >>> tt.save({"weight": tt.ones(2)}, file)
    >>> _ = file.seek(0)
    >>> tt.load(file)
    {'weight': tensor([1., 1.])}

``torch.load`` reads such a file, ``weights_only=True`` included, and ``load`` what ``torch.save``
wrote. Tensors that share memory share it again.
"""

from __future__ import annotations

import contextlib
import io
import os
import pickle
import sys
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import IO, Any, TypeAlias

from .backends import Backend
from .checkpoint import archive
from .checkpoint.archive import ArchiveReader, ArchiveWriter, survey
from .checkpoint.files import can_seek, check_file, open_file, read, seekable, write_file
from .checkpoint.legacy import LegacyReader
from .checkpoint.legacy import write as write_legacy
from .checkpoint.names import (
    CALLED,
    NAMED,
    PROTOCOL,
    STORAGE_CLASSES,
    LoadedStorage,
    rebuild_with_state,
    torch_name,
)
from .checkpoint.names import upcast as _upcast
from .checkpoint.reading import ReadStorage, WeightsUnpickler, trusting_unpickler
from .checkpoint.storages import restorer
from .checkpoint.writing import CLASSES, REDUCERS, SavedStorage, attributes, write_pickle
from .core.device import device
from .core.tensor import Tensor
from .facade.unsupported import absent
from .nn import Parameter
from .ops.create.typed_storage import TypedStorage
from .ops.create.untyped_storage import UntypedStorage
from .state import Variable
from .state.tracebacks import short

__all__ = [
    "add_safe_globals", "clear_safe_globals", "get_safe_globals",
    "get_crc32_options", "get_default_load_endianness", "get_default_mmap_options",
    "get_unsafe_globals_in_checkpoint", "load", "register_package", "safe_globals", "save",
    "set_crc32_options", "set_default_load_endianness", "set_default_mmap_options", "skip_data",
]  # fmt: skip

#: Whether numbers are left out of what is written.
_skipping: Variable[bool] = Variable("skip_data", False)
#: The version of pickle's format that ``save`` writes.
DEFAULT_PROTOCOL = 2
File: TypeAlias = "str | os.PathLike[str] | IO[bytes]"
MapLocation: TypeAlias = (
    Callable[[LoadedStorage, str], LoadedStorage | None] | device | str | int | Backend
    | Mapping[str, str] | None
)  # fmt: skip
#: PyTorch's name of it, which libraries annotate with.
MAP_LOCATION = MapLocation


# -- saving -------------------------------------------------------------------------------------


@short
def save(
    obj: object,
    f: File,
    pickle_module: Any = pickle,
    pickle_protocol: int = PROTOCOL,
    _use_new_zipfile_serialization: bool = True,
    _disable_byteorder_record: bool = False,
) -> None:
    """Write an object to a file that ``load``, here or in PyTorch, reads.

    A view is saved with all the memory it is a view of, once for all tensors that share it.
    Hooks and graphs are not saved. Nothing is written if ``obj`` cannot be pickled.

    A path gets the new file whole or keeps the old one, even if the process is killed: the file is
    written under another name in the same folder and then renamed. It is written in place where it
    has several hard links or another owner, in a folder where no file can be made, and on a disk
    without room for both.

    Args:
        obj: Tensors, a ``state_dict``, containers of them; anything that can be pickled.
        f: A path, or a binary file open for writing.
        pickle_module: A module whose ``Pickler`` derives from ``pickle._Pickler``. Default:
            ``pickle``.
        pickle_protocol: Default: 2, the one that PyTorch loads without a warning.
        _use_new_zipfile_serialization: False for the format before PyTorch 1.6.
        _disable_byteorder_record: Whether to leave out which byte comes first.

    Raises:
        AttributeError: If ``f`` is neither a path nor a file.
        RuntimeError: If two tensors view the same memory as different dtypes, or the file's
            folder does not exist.
        OSError: If the file may not be written, or the disk is full.
        pickle.PicklingError, AttributeError, TypeError: If ``obj`` cannot be pickled.

    Example:
        >>> import io
        >>> net = tt.nn.Linear(2, 1)
        >>> file = io.BytesIO()
        >>> tt.save(net.state_dict(), file)
        >>> file.seek(0)
        0
        >>> net.load_state_dict(tt.load(file))
        <All keys matched successfully>
    """
    check_file(f, "write", "save(): expected 'f' to be string, path, or a file-like object with "
                "a 'write' attribute")  # fmt: skip
    if not _use_new_zipfile_serialization:
        if _skipping.get():
            raise RuntimeError(
                "Cannot use skip_data=True with _use_new_zipfile_serialization=False"
            )
        whole = io.BytesIO()
        write_legacy(obj, whole, pickle_module, pickle_protocol)
        write_file(f, lambda file: file.write(whole.getbuffer()))
        return
    buffer = io.BytesIO()
    storages = write_pickle(obj, buffer, pickle_module, pickle_protocol)
    byteorder = b"" if _disable_byteorder_record else sys.byteorder.encode()
    folder = archive.folder_for(f)
    write_file(f, partial(_write_archive, folder, buffer, byteorder, storages))


def _write_archive(
    folder: str, buffer: io.BytesIO, byteorder: bytes, storages: list[SavedStorage], file: IO[bytes]
) -> None:
    whole: Any = file if can_seek(file) and file.tell() == 0 else io.BytesIO()
    zip_file = ArchiveWriter(whole, folder)
    zip_file.write("data.pkl", buffer.getbuffer())
    if byteorder:
        zip_file.write("byteorder", byteorder)
    for storage in storages:
        content = bytes(storage.flat.nbytes) if _skipping.get() else storage.bytes()
        zip_file.write(f"data/{storage.key}", content)
    zip_file.write("version", archive.VERSION)
    zip_file.close()
    if whole is not file:
        file.write(whole.getbuffer())


def _reduced(parameter: Parameter) -> tuple[Any, ...]:
    """A call that rebuilds a Parameter."""
    state = attributes(parameter)
    name = "_rebuild_parameter_with_state" if state else "_rebuild_parameter"
    args: Any = (parameter.data, bool(parameter.requires_grad), OrderedDict())
    return torch_name("torch._utils", name), (*args, state) if state else args


def _rebuild_parameter(data: Tensor, requires_grad: bool, hooks: Any, state: Any = None) -> Any:
    """The Parameter that ``_reduced`` took apart."""
    return rebuild_with_state(Parameter, Parameter, (data, requires_grad), state)


STORAGE_CLASSES[True], STORAGE_CLASSES[False] = TypedStorage, UntypedStorage
CLASSES[Parameter] = torch_name("torch.nn.parameter", "Parameter")
REDUCERS[Parameter] = _reduced
NAMED["torch.nn.parameter", "Parameter"] = Parameter
CALLED["torch._utils", "_rebuild_parameter"] = _rebuild_parameter
CALLED["torch._utils", "_rebuild_parameter_with_state"] = _rebuild_parameter


# -- loading ------------------------------------------------------------------------------------


@short
def load(
    f: File,
    map_location: MapLocation = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    upcast: bool | None = None,
    **pickle_load_args: Any,
) -> Any:
    """Read what ``save``, here or in PyTorch, wrote; also ``.npy``, ``.npz`` and ``.safetensors``.

    Args:
        f: A path, or a binary file that can seek; it is read from where it stands.
        map_location: Where the tensors go: a device, a dictionary from saved devices to others,
            or a function of a storage and its saved device. Default: where they were.
        pickle_module: A module with an ``Unpickler``; for ``weights_only=False`` alone.
        weights_only: Whether to read tensors, containers, numbers and text alone, which
            executes no code of the file's. Default: True, unless ``pickle_module`` is given.
        mmap: Whether to map the storages into memory, where they are read when they are
            used; writing to them does not change the file. Needs a path. Default: False.
        upcast: Whether bfloat16 and float8 are read as float32. Default: where the backend lacks
            them, as it does without the package ``ml_dtypes``; then there is a warning. float8
            tensors that share memory do not share it as float32.
        **pickle_load_args: ``encoding`` and ``errors``, for pickles of Python 2.

    Returns:
        The object. Tensors of one storage share memory. A Tensor for ``.npy``, a dictionary of
        Tensors for ``.npz`` and for ``.safetensors``, which is read without that package.

    Raises:
        pickle.UnpicklingError: If the file is no checkpoint, or with ``weights_only`` more than
            weights; ``add_safe_globals`` allows more.
        RuntimeError: If the archive is damaged, or a device cannot be used here.
        TypeError: If the backend has not the dtype of a tensor.
        EOFError: If the file is empty or cut off.

    Example:
        >>> import io
        >>> file = io.BytesIO()
        >>> tt.save([tt.arange(3), 2.5], file)
        >>> file.seek(0)
        0
        >>> tt.load(file, map_location="cpu")
        [tensor([0, 1, 2]), 2.5]
    """
    if weights_only is None:
        weights_only = pickle_module is None
    if weights_only and pickle_module is not None:
        raise RuntimeError("Can not safely load weights when explicit pickle_module is specified")
    check_file(f, "read", "load(): expected 'f' to be string, path, or a file-like object with "
                "a 'read' attribute")  # fmt: skip
    if mmap and not isinstance(f, (str, os.PathLike)):
        raise ValueError("f must be a string or os.PathLike to use mmap=True")
    options = {"encoding": "utf-8", **pickle_load_args}
    if weights_only:
        unpickle = partial(_read_weights, options)
    else:
        unpickle = partial(_read_anything, pickle_module or pickle, options)
    token = _upcast.set(upcast)
    try:
        with open_file(f) as file:
            return read(seekable(file), restorer(map_location), unpickle, bool(mmap))
    finally:
        _upcast.reset(token)


# -- what may be named --------------------------------------------------------------------------

_safe: dict[str, Any] = {}


def add_safe_globals(safe_globals: list[Any]) -> None:
    """Let ``load(weights_only=True)`` use these classes and functions, in the whole process.

    Args:
        safe_globals: Classes and functions, or pairs of one and the full name that files know it
            by.

    Raises:
        ValueError: If a pair is not one of an object and a name.

    Example:
        >>> import io
        >>> file = io.BytesIO()
        >>> tt.save(tt.Generator, file)
        >>> file.seek(0)
        0
        >>> tt.serialization.add_safe_globals([tt.Generator])
        >>> tt.load(file) is tt.Generator
        True
        >>> tt.serialization.clear_safe_globals()
    """
    _safe.update(dict(map(_named, safe_globals)))


def get_safe_globals() -> list[Any]:
    """What ``add_safe_globals`` has allowed.

    Example:
        >>> tt.serialization.get_safe_globals()
        []
    """
    return [v if _named(v)[0] == name else (v, name) for name, v in _safe.items()]


def clear_safe_globals() -> None:
    """Forget what ``add_safe_globals`` has allowed.

    Example:
        >>> tt.serialization.clear_safe_globals()
    """
    _safe.clear()


class safe_globals:  # a context manager, named as a function
    """Let ``load(weights_only=True)`` use classes and functions inside a ``with`` block.

    Args:
        safe_globals: As for ``add_safe_globals``.

    Example:
        >>> with tt.serialization.safe_globals([tt.Generator]):
        ...     tt.serialization.get_safe_globals()
        [<class 'tinytorch.random.Generator'>]
    """

    def __init__(self, safe_globals: list[Any]) -> None:
        self._globals = safe_globals
        self._before: list[dict[str, Any]] = []

    def __enter__(self) -> None:
        self._before.append(dict(_safe))
        add_safe_globals(self._globals)

    def __exit__(self, *error: object) -> None:
        before = self._before.pop()
        _safe.clear()
        _safe.update(before)


def _named(value: Any) -> tuple[str, Any]:
    """The full name a file knows ``value`` by, and ``value``."""
    if isinstance(value, tuple):
        if len(value) != 2 or not isinstance(value[1], str):
            raise ValueError(
                f"add_safe_globals: expected an object and its full name, got {value!r}"
            )
        return value[1], value[0]
    return f"{getattr(value, '__module__', None)}.{value.__qualname__}", value


def get_unsafe_globals_in_checkpoint(f: File) -> list[str]:
    """The names in a checkpoint that ``load(weights_only=True)`` would refuse.

    Nothing of the checkpoint is executed.

    Args:
        f: A path, or a binary file that can seek.

    Example:
        >>> import io
        >>> file = io.BytesIO()
        >>> tt.save(tt.Generator, file)
        >>> file.seek(0)
        0
        >>> tt.serialization.get_unsafe_globals_in_checkpoint(file)
        ['tinytorch.random.Generator']
    """
    with open_file(f) as given:
        file = seekable(given)
        start = file.tell()
        zipped = file.read(4) == archive.MAGIC
        file.seek(start)
        data = ArchiveReader(file).read("data.pkl") if zipped else LegacyReader(file).pickle
        file.seek(start)
    allowed = {*CALLED, *NAMED}
    found = {pair: f"{pair[0]}.{pair[1]}" for pair in survey(data).names if pair not in allowed}
    return [name for name in found.values() if name not in _safe]


# -- reading the pickle --------------------------------------------------------------------------


def _read_weights(options: Any, file: IO[bytes], read_storage: ReadStorage) -> Any:
    return WeightsUnpickler(file, read_storage, dict(_safe), **options).load()


def _read_anything(module: Any, options: Any, file: IO[bytes], read_storage: ReadStorage) -> Any:
    unpickler = trusting_unpickler(module.Unpickler)(file, **options)
    unpickler.read_storage = read_storage
    return unpickler.load()


# -- settings ---------------------------------------------------------------------------------

_READ = "files are read as their headers say; say otherwise to each load()"
set_default_load_endianness = absent("serialization.set_default_load_endianness", _READ)
set_default_mmap_options = absent("serialization.set_default_mmap_options", _READ)
register_package = absent("serialization.register_package", "devices are those of the backends")


def get_default_load_endianness() -> None:
    """None: which byte of a number comes first says the file, or else it is the least one.

    Example:
        >>> tt.serialization.get_default_load_endianness()
    """


def get_default_mmap_options() -> int:
    """``MAP_PRIVATE``: what is written to tensors of ``load(mmap=True)`` changes no file.

    Example:
        >>> tt.serialization.get_default_mmap_options()
        2
    """
    return 2


def get_crc32_options() -> bool:
    """Whether ``save`` writes checksums: True.

    Example:
        >>> tt.serialization.get_crc32_options()
        True
    """
    return True


def set_crc32_options(compute_crc32: bool) -> None:
    """Nothing: checksums are written in any case, and read by neither library.

    Args:
        compute_crc32: Whether they are to be written.

    Example:
        >>> tt.serialization.set_crc32_options(False)
    """


@contextlib.contextmanager
def skip_data(materialize_fake_tensors: bool = False) -> Iterator[None]:
    """Have ``save`` leave the places of numbers free in the file, in a ``with`` block: zeros.

    ``load`` reads numbers as ever.

    Args:
        materialize_fake_tensors: Accepted: there are no tensors without numbers but ``meta``'s.

    Example:
        >>> import io
        >>> file = io.BytesIO()
        >>> with tt.serialization.skip_data():
        ...     tt.save(tt.ones(2), file)
        >>> _ = file.seek(0)
        >>> tt.load(file)
        tensor([0., 0.])
    """
    token = _skipping.set(True)
    try:
        yield
    finally:
        _skipping.reset(token)
