"""``save`` and ``load`` of checkpoints in PyTorch's format, as ``torch.serialization``.

    >>> import io
    >>> file = io.BytesIO()
    >>> tt.save({"weight": tt.ones(2)}, file)
    >>> _ = file.seek(0)
    >>> tt.load(file)
    {'weight': tensor([1., 1.])}

``torch.load`` reads such a file, also with ``weights_only=True``, and ``load`` reads the files of
``torch.save``. Tensors that share memory share it again after loading.
"""

from __future__ import annotations

import io
import os
import pickle
import sys
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import IO, Any, NoReturn, TypeAlias

from .backends import Backend
from .checkpoint import archive
from .checkpoint.archive import ArchiveReader, ArchiveWriter, survey
from .checkpoint.files import can_seek, check_file, open_file, read, seekable, write_file
from .checkpoint.legacy import LegacyReader
from .checkpoint.legacy import write as write_legacy
from .checkpoint.names import (
    CALLED, NAMED, PROTOCOL, STORAGE_CLASSES, LoadedStorage, rebuild_with_state, torch_name,
)  # fmt: skip
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
from .ops.sparse.tensor import SparseTensor
from .state import Variable, bind, bindings
from .state.tracebacks import short

__all__ = [
    "add_safe_globals", "clear_safe_globals", "default_restore_location", "get_safe_globals",
    "get_crc32_options", "get_default_load_endianness", "get_default_mmap_options",
    "get_unsafe_globals_in_checkpoint", "load", "register_package", "safe_globals", "save",
    "set_crc32_options", "set_default_load_endianness", "set_default_mmap_options", "skip_data",
]  # fmt: skip

#: Whether ``save`` writes zeros in the place of the tensors' values.
_skips_data: Variable[bool] = Variable("skip_data", False)
#: The version of pickle's format that ``save`` writes.
DEFAULT_PROTOCOL = 2
File: TypeAlias = "str | os.PathLike[str] | IO[bytes]"
MapLocation: TypeAlias = (
    Callable[[LoadedStorage, str], LoadedStorage | None] | device | str | int | Backend
    | Mapping[str, str] | None
)  # fmt: skip
#: PyTorch's name of this type, which libraries annotate with.
MAP_LOCATION = MapLocation


@short
def save(
    obj: object, f: File, pickle_module: Any = pickle, pickle_protocol: int = PROTOCOL,
    _use_new_zipfile_serialization: bool = True, _disable_byteorder_record: bool = False,
) -> None:  # fmt: skip
    """Write an object to a file that ``load`` of tinytorch and PyTorch reads.

    A view is saved with the whole storage that it views; tensors that share a storage save it once.
    Hooks and graphs are not saved. Nothing is written if ``obj`` cannot be pickled.

    A file that exists is replaced as a whole or not at all, even if the process is killed: the new
    file is written under another name in the same folder and then renamed. It is overwritten in
    place if it has several hard links or another owner, if its folder accepts no new file, or if
    the disk has no room for both.

    Args:
        obj: Tensors, a ``state_dict``, containers of them; anything that can be pickled.
        f: A path, or a binary file open for writing.
        pickle_module: A module whose ``Pickler`` derives from ``pickle._Pickler``. Default:
            ``pickle``.
        pickle_protocol: Protocol of the pickle. Default: 2, which PyTorch loads without a warning.
        _use_new_zipfile_serialization: False writes the format before PyTorch 1.6.
        _disable_byteorder_record: Whether to leave out the record of the byte order.

    Raises:
        AttributeError: If ``f`` is neither a path nor a file.
        RuntimeError: If two tensors view the same memory as different dtypes, or the file's
            folder does not exist.
        OSError: If the file cannot be written or the disk is full.
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
        if _skips_data.get():
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
    """Write the zip archive of a checkpoint.

    Args:
        folder: The folder inside the archive that holds all records.
        buffer: The pickle.
        byteorder: ``b"little"``, ``b"big"``, or ``b""`` for no record.
        storages: The storages that the pickle refers to.
        file: The file; the archive is built in memory first unless it can seek and is at 0.
    """
    whole: Any = file if can_seek(file) and file.tell() == 0 else io.BytesIO()
    zip_file = ArchiveWriter(whole, folder)
    zip_file.write("data.pkl", buffer.getbuffer())
    if byteorder:
        zip_file.write("byteorder", byteorder)
    for storage in storages:
        content = bytes(storage.flat.nbytes) if _skips_data.get() else storage.bytes()
        zip_file.write(f"data/{storage.key}", content)
    zip_file.write("version", archive.VERSION)
    zip_file.close()
    if whole is not file:
        file.write(whole.getbuffer())


def _reduce_parameter(parameter: Parameter) -> tuple[Any, ...]:
    """Function and arguments that rebuild a Parameter, as ``__reduce__`` returns them."""
    state = attributes(parameter)
    name = "_rebuild_parameter_with_state" if state else "_rebuild_parameter"
    args: Any = (parameter.data, bool(parameter.requires_grad), OrderedDict())
    return torch_name("torch._utils", name), (*args, state) if state else args


def _rebuild_parameter(data: Tensor, requires_grad: bool, hooks: Any, state: Any = None) -> Any:
    """Rebuild the Parameter of ``_reduce_parameter``."""
    return rebuild_with_state(Parameter, Parameter, (data, requires_grad), state)


def _reduce_sparse(tensor: SparseTensor) -> tuple[Any, ...]:
    """Return the call that rebuilds a sparse tensor, as PyTorch writes it."""
    pattern = tensor._pattern
    flag = (pattern.is_coalesced,) if tensor.is_sparse else ()
    parts = (*pattern.index, tensor._elements.detach(), tensor.shape, *flag)
    return torch_name("torch._utils", "_rebuild_sparse_tensor"), (tensor.layout, parts)


STORAGE_CLASSES[True], STORAGE_CLASSES[False] = TypedStorage, UntypedStorage
CLASSES[Parameter] = torch_name("torch.nn.parameter", "Parameter")
REDUCERS[Parameter] = _reduce_parameter
REDUCERS[SparseTensor] = _reduce_sparse
NAMED["torch.nn.parameter", "Parameter"] = Parameter
CALLED["torch._utils", "_rebuild_parameter"] = _rebuild_parameter
CALLED["torch._utils", "_rebuild_parameter_with_state"] = _rebuild_parameter


@short
def load(
    f: File, map_location: MapLocation = None, pickle_module: Any = None, *,
    weights_only: bool | None = None, mmap: bool | None = None, upcast: bool | None = None,
    **pickle_load_args: Any,
) -> Any:  # fmt: skip
    """Read a file of ``save`` or ``torch.save``, or a ``.npy``, ``.npz`` or ``.safetensors`` file.

    Args:
        f: A path, or a binary file that can seek; it is read from its current position.
        map_location: Where the tensors are placed: a device, a dictionary from saved devices to
            others, or a function of a storage and its saved device. Default: the saved device.
        pickle_module: A module with an ``Unpickler``, only for ``weights_only=False``.
        weights_only: Whether to read only tensors, containers, numbers and strings, which
            executes no code of the file. Default: True, unless ``pickle_module`` is given.
        mmap: Whether to map the storages into memory, so that they are read when they are used;
            writing to them does not change the file. ``f`` must be a path. Default: False.
        upcast: Whether bfloat16 and float8 are read as float32. Default: only if the backend does
            not support them, for want of the package ``ml_dtypes``, and with a warning. float8
            tensors that share memory do not share it as float32.
        **pickle_load_args: ``encoding`` and ``errors``, for pickles of Python 2.

    Returns:
        The object; tensors of one storage share memory. A Tensor for ``.npy``, a dictionary of
        Tensors for ``.npz`` and ``.safetensors``. The package safetensors is not needed.

    Raises:
        pickle.UnpicklingError: If the file is not a checkpoint, or contains, with
            ``weights_only``, a class or function that ``add_safe_globals`` has not allowed.
        RuntimeError: If the archive is damaged or a device is not available.
        TypeError: If the backend does not support the dtype of a tensor.
        EOFError: If the file is empty or truncated.

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
    with bind(_upcast, upcast), open_file(f) as file:
        return read(seekable(file), restorer(map_location), unpickle, bool(mmap))


#: Full name and object of each class and function that ``add_safe_globals`` has allowed.
_safe_globals: dict[str, Any] = {}


def add_safe_globals(safe_globals: list[Any]) -> None:
    """Let ``load(weights_only=True)`` use classes and functions, in the whole process.

    Args:
        safe_globals: Classes and functions, or pairs of one and its full name in files.

    Raises:
        ValueError: If a pair does not consist of an object and a name.

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
    _safe_globals.update(dict(map(_name_global, safe_globals)))


def get_safe_globals() -> list[Any]:
    """Classes and functions that ``add_safe_globals`` has allowed.

    Example:
        >>> tt.serialization.get_safe_globals()
        []
    """
    return [v if _name_global(v)[0] == name else (v, name) for name, v in _safe_globals.items()]


def clear_safe_globals() -> None:
    """Remove all classes and functions that ``add_safe_globals`` has allowed.

    Example:
        >>> tt.serialization.clear_safe_globals()
    """
    _safe_globals.clear()


class safe_globals:  # a context manager, named as a function
    """Context manager in which ``load(weights_only=True)`` may use classes and functions.

    Args:
        safe_globals: The classes and functions, as for ``add_safe_globals``.

    Example:
        >>> with tt.serialization.safe_globals([tt.Generator]):
        ...     tt.serialization.get_safe_globals()
        [<class 'tinytorch.random.Generator'>]
    """

    def __init__(self, safe_globals: list[Any]) -> None:
        self._globals = safe_globals
        self._before: Any = None

    def __enter__(self) -> None:
        before = dict(_safe_globals)
        try:
            add_safe_globals(self._globals)
        except BaseException:  # such as a KeyboardInterrupt
            _restore_safe_globals(before)
            raise
        self._before = before, self._before

    def __exit__(self, *error: object) -> None:
        before, self._before = self._before
        try:
            _restore_safe_globals(before)
        except BaseException:
            _restore_safe_globals(before)
            raise


def _restore_safe_globals(before: dict[str, Any]) -> None:
    """Make ``before`` the allowed globals."""
    _safe_globals.clear()
    _safe_globals.update(before)


def _name_global(value: Any) -> tuple[str, Any]:
    """Return the full name of an object in files, and the object; ``value`` may be such a pair."""
    if isinstance(value, tuple):
        if len(value) != 2 or not isinstance(value[1], str):
            raise ValueError(
                f"add_safe_globals: expected an object and its full name, got {value!r}"
            )
        return value[1], value[0]
    return f"{getattr(value, '__module__', None)}.{value.__qualname__}", value


def get_unsafe_globals_in_checkpoint(f: File) -> list[str]:
    """Names in a checkpoint for which ``load(weights_only=True)`` would raise.

    No code of the checkpoint is executed.

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
    with open_file(f) as opened:
        file = seekable(opened)
        start = file.tell()
        is_zip = file.read(4) == archive.MAGIC
        file.seek(start)
        data = ArchiveReader(file).read("data.pkl") if is_zip else LegacyReader(file).pickle
        file.seek(start)
    allowed = {*CALLED, *NAMED}
    found = {pair: f"{pair[0]}.{pair[1]}" for pair in survey(data).names if pair not in allowed}
    return [name for name in found.values() if name not in _safe_globals]


def _read_weights(options: Any, file: IO[bytes], read_storage: ReadStorage) -> Any:
    """Read a pickle with ``weights_only=True``."""
    return WeightsUnpickler(file, read_storage, dict(_safe_globals), **options).load()


def _read_anything(module: Any, options: Any, file: IO[bytes], read_storage: ReadStorage) -> Any:
    """Read a pickle with ``weights_only=False`` by the ``Unpickler`` of a module."""
    unpickler = trusting_unpickler(module.Unpickler)(file, **options)
    unpickler.read_storage = read_storage
    return unpickler.load()


_PER_CALL = "the default is fixed; pass options to each load() instead"
set_default_load_endianness: Callable[..., NoReturn] = absent(
    "serialization.set_default_load_endianness", _PER_CALL
)
set_default_mmap_options: Callable[..., NoReturn] = absent(
    "serialization.set_default_mmap_options", _PER_CALL
)
register_package: Callable[..., NoReturn] = absent(
    "serialization.register_package", "the backends define the devices"
)


def get_default_load_endianness() -> None:
    """Return None: ``load`` uses the byte order that the file records, or little-endian.

    Example:
        >>> tt.serialization.get_default_load_endianness()
    """


def get_default_mmap_options() -> int:
    """``MAP_PRIVATE``: writing to tensors of ``load(mmap=True)`` does not change the file.

    Example:
        >>> tt.serialization.get_default_mmap_options()
        2
    """
    return 2


def default_restore_location(storage: LoadedStorage, location: str) -> LoadedStorage:
    """Move a storage to a device, in a function that is passed to ``load`` as ``map_location``.

    Args:
        storage: The first argument of that function.
        location: The name of the device.

    Example:
        >>> import io
        >>> file = io.BytesIO()
        >>> tt.save(tt.ones(1), file)
        >>> _ = file.seek(0)
        >>> place = tt.serialization.default_restore_location
        >>> tt.load(file, map_location=lambda storage, _: place(storage, "cpu"))
        tensor([1.])
    """
    return restorer(location)(storage, location)


def _load_from_bytes(content: bytes) -> Any:
    """``load`` of bytes: PyTorch pickles the storages of tensors so. It may execute any code."""
    return load(io.BytesIO(content), weights_only=False)


def get_crc32_options() -> bool:
    """Whether ``save`` writes checksums: always True.

    Example:
        >>> tt.serialization.get_crc32_options()
        True
    """
    return True


def set_crc32_options(compute_crc32: bool) -> None:
    """Do nothing: checksums are always written; neither tinytorch nor PyTorch reads them.

    Args:
        compute_crc32: Ignored.

    Example:
        >>> tt.serialization.set_crc32_options(False)
    """


@bindings.contextmanager
def skip_data(materialize_fake_tensors: bool = False) -> Iterator[None]:
    """Context manager in which ``save`` writes zeros in the place of the tensors' values.

    ``load`` is not affected.

    Args:
        materialize_fake_tensors: Accepted for compatibility: tinytorch has no fake tensors.

    Example:
        >>> import io
        >>> file = io.BytesIO()
        >>> with tt.serialization.skip_data():
        ...     tt.save(tt.ones(2), file)
        >>> _ = file.seek(0)
        >>> tt.load(file)
        tensor([0., 0.])
    """
    with bind(_skips_data, True):
        yield
