"""Writing of checkpoints: a pickle with PyTorch's names, and the storages."""

from __future__ import annotations

import pickle
from collections import OrderedDict
from collections.abc import Callable
from functools import cache
from typing import Any

from .. import dtypes
from ..backends.base import Array, Backend
from ..backends.storage import row_major
from ..core.device import device
from ..core.layout import layout
from ..core.lazy_bits import Conjugate, LazyView, physical_view
from ..core.tensor import Size, Tensor
from .names import STORAGE_CLASSES, STORAGES, TorchName, layout_name, torch_name

#: Python's pickler that is written in Python: the one in C writes names of importable objects only.
PythonPickler: Any = pickle._Pickler
#: Attributes in the ``__dict__`` of tensors for autograd; hooks are not saved.
_PRIVATE = (
    "_backward_hooks", "_post_accumulate_grad_hooks", "_retains_grad", "_keeping", "_whole",
)  # fmt: skip


class SavedStorage:
    """Memory that becomes a file of the archive.

    Attributes:
        flat: The elements; a reference, because views are recognized by the owner of the memory.
        backend: The backend of that array.
        key: The name of the file.
        type: PyTorch's name of the type.
        count: The number of elements, or of bytes if the type has no dtype.
    """

    def __init__(self, flat: Array, backend: Backend, key: str) -> None:
        self.flat = flat
        self.backend = backend
        self.key = key
        self.dtype: dtypes.dtype = backend.dtype_of(flat)
        name = STORAGES.get(self.dtype.name)
        self.type: TorchName = torch_name("torch", name) if name else _UNTYPED
        self.count: int = int(flat.size) if name else int(flat.nbytes)

    def location(self) -> str:
        """Return its device as PyTorch writes it: ``cpu``, ``cuda:0``."""
        return str(device(self.backend.device_type, self.backend.device_index(self.flat)))

    def bytes(self) -> Any:
        """Return its bytes, on the host."""
        host = self.backend.to_numpy(self.flat)
        return host.view("uint8").data if host.size else b""


class Storages:
    """Storages of a checkpoint, each once for all tensors that share it."""

    def __init__(self) -> None:
        self.found: list[SavedStorage] = []
        self._of_owner: dict[Any, SavedStorage] = {}

    def place(self, tensor: Tensor) -> tuple[SavedStorage, int, tuple[int, ...]]:
        """Return the storage of a tensor, and the offset and strides of the tensor in it.

        Raises:
            RuntimeError: If another tensor views the same memory as another dtype.
        """
        xp, array = tensor._xp.here(), tensor._data
        memory = xp.memory(array)
        if memory is None:
            flat, start = xp.ascontiguousarray(array).reshape(-1), 0
            return self._add(flat, xp), start, row_major(array.shape)
        flat, start = memory
        return self._add_shared(flat, xp, xp.owner(array)), start, tensor.stride()

    def memory(self, storage: Any) -> SavedStorage:
        """Return the saved memory of a storage: the whole, which tensors may share, or its own.

        Raises:
            RuntimeError: If a tensor views the same memory as another dtype.
        """
        xp, flat = storage._xp.here(), storage._numbers().reshape(-1)
        memory = xp.memory(flat)
        if memory is None or memory[0].nbytes != flat.nbytes:
            return self._add(flat, xp)
        return self._add_shared(memory[0], xp, xp.owner(flat))

    def _add_shared(self, flat: Array, xp: Backend, owner: Any) -> SavedStorage:
        """Return the saved storage of memory that several tensors may share; add it the first time.

        Args:
            flat: The whole memory as a flat array.
            xp: Its backend.
            owner: Identity of the memory.
        """
        found = self._of_owner.get((xp, owner))
        if found is None:
            found = self._of_owner[xp, owner] = self._add(flat, xp)
        elif found.dtype is not xp.dtype_of(flat):
            raise RuntimeError(
                "Cannot save multiple tensors or storages that view the same data as different "
                f"types: {found.dtype.name} and {xp.dtype_of(flat).name}; save a clone() of one"
            )
        return found

    def _add(self, flat: Array, xp: Backend) -> SavedStorage:
        """Add a storage, with the next number as its key."""
        self.found.append(SavedStorage(flat, xp, str(len(self.found))))
        return self.found[-1]


# -- the pickle ---------------------------------------------------------------------------------

_UNTYPED = torch_name("torch.storage", "UntypedStorage")
_REBUILD = torch_name("torch._utils", "_rebuild_tensor_v2")
_REBUILD_UNTYPED = torch_name("torch._utils", "_rebuild_tensor_v3")
_REBUILD_META = torch_name("torch._utils", "_rebuild_meta_tensor_no_storage")
_REBUILD_WITH_STATE = torch_name("torch._tensor", "_rebuild_from_type_v2")
#: PyTorch's names of classes; ``serialization`` adds Parameter.
CLASSES: dict[type, TorchName] = {
    Tensor: torch_name("torch", "Tensor"),
    Size: torch_name("torch", "Size"),
    device: torch_name("torch", "device"),
}
#: Reducers of subclasses of Tensor that PyTorch has, too; filled by ``serialization``.
REDUCERS: dict[type[Tensor], Callable[[Any], tuple[Any, ...]]] = {}


class Pickling:
    """Mixin of picklers: tensors with their storages, and PyTorch's names of classes."""

    storages: Storages
    #: Further element of a storage in the legacy format: None, as it is not a view of another one.
    more: tuple[None, ...] = ()

    def persistent_id(self, obj: Any) -> Any:
        """Return the persistent id of a storage, which is saved in a file of its own."""
        kind = None
        if type(obj) in STORAGE_CLASSES.values():
            kind = None if type(obj) is STORAGE_CLASSES[True] else _UNTYPED
            obj = self.storages.memory(obj)
        if type(obj) is not SavedStorage:
            return None
        return ("storage", kind or obj.type, obj.key, obj.location(), obj.count, *self.more)

    def reducer_override(self, obj: Any) -> Any:
        """Return the call that rebuilds an object of ours; NotImplemented for all others."""
        if isinstance(obj, Tensor):
            reducer: Any = REDUCERS.get(type(obj), self.reduce_tensor)
            return reducer(obj)
        if type(obj) is OrderedDict:
            # As OrderedDict.__reduce__, which looks for slots in a function of ``copyreg`` that
            # drops every exception, a KeyboardInterrupt as well.
            return OrderedDict, (), vars(obj) or None, None, iter(obj.items())
        if type(obj) is Size:
            return CLASSES[Size], (tuple(obj),)
        if type(obj) is layout:
            return torch_name("torch.serialization", "_get_layout"), (layout_name(obj),)
        if type(obj) is device:
            return CLASSES[device], (obj.type, *(() if obj.index is None else (obj.index,)))
        return NotImplemented

    def reduce_tensor(self, tensor: Tensor) -> tuple[Any, ...]:
        """Return the call that rebuilds a tensor, with its class and attributes."""
        call = self.reduce_data(tensor)
        state = attributes(tensor)
        cls = Tensor if isinstance(tensor, LazyView) else type(tensor)
        if cls is Tensor and not state:
            return call
        return _REBUILD_WITH_STATE, (call[0], cls, call[1], state)

    def reduce_data(self, tensor: Tensor) -> tuple[Any, ...]:
        """Return the call that rebuilds a tensor's elements in its storage: function and arguments.

        The arguments of a lazily conjugated or negated tensor end with its bit.
        """
        if not tensor._xp.has_numbers:
            facts = (tensor.dtype, tuple(tensor._data.shape), tensor.stride())
            return _REBUILD_META, (*facts, bool(tensor.requires_grad))
        is_lazy = isinstance(tensor, LazyView)
        storage, start, strides = self.storages.place(physical_view(tensor) if is_lazy else tensor)
        hooks: OrderedDict[Any, Any] = OrderedDict()
        args: tuple[Any, ...] = (storage, start, tuple(tensor.shape), strides)
        args += (bool(tensor.requires_grad), hooks)
        if storage.type is _UNTYPED:
            args += (storage.dtype,)
        if is_lazy:
            args += ({"conj" if isinstance(tensor, Conjugate) else "neg": True},)
        return (_REBUILD_UNTYPED if storage.type is _UNTYPED else _REBUILD), args


def attributes(tensor: Tensor) -> dict[str, Any]:
    """Attributes that users have set on a tensor."""
    return {name: value for name, value in tensor.__dict__.items() if name not in _PRIVATE}


def _save_name(pickler: Any, obj: TorchName) -> None:
    """Write a global of PyTorch's, which need not be importable here."""
    if pickler.proto >= 4:
        pickler.save(obj.module)
        pickler.save(obj.name)
        pickler.write(pickle.STACK_GLOBAL)
    else:
        pickler.write(pickle.GLOBAL + f"{obj.module}\n{obj.name}\n".encode())
    pickler.memoize(obj)


def _save_dtype(pickler: Any, obj: dtypes.dtype) -> None:
    pickler.save(torch_name("torch", obj.name))


@cache
def pickler_class(given: Any) -> Any:
    """Return a class that adds ``Pickling`` to the ``Pickler`` of a pickle module.

    Raises:
        TypeError: If that is not written in Python, since it then writes importable names only.
    """
    base: Any = PythonPickler if given is pickle.Pickler else given
    if not (isinstance(given, type) and PythonPickler in base.__mro__):
        raise TypeError(
            f"save: expected pickle_module.Pickler to be a subclass of pickle._Pickler, "
            f"as dill's is; got {base!r}"
        )

    def save_global(self: Any, obj: Any, name: str | None = None) -> None:
        torch_class = CLASSES.get(obj) if isinstance(obj, type) else None
        if torch_class is None:
            base.save_global(self, obj, name)
        else:
            self.save(torch_class)

    dispatch = {**base.dispatch, TorchName: _save_name, dtypes.dtype: _save_dtype}
    members = {"dispatch": dispatch, "save_global": save_global}
    return type("CheckpointPickler", (Pickling, base), members)


def write_pickle(
    obj: Any, file: Any, pickle_module: Any, protocol: int, legacy: bool = False
) -> list[SavedStorage]:
    """Write the pickle of ``obj`` and return the storages to which it refers."""
    pickler = pickler_class(pickle_module.Pickler)(file, protocol=protocol)
    pickler.storages = Storages()
    if legacy:
        pickler.more = (None,)
    pickler.dump(obj)
    return pickler.storages.found  # type: ignore[no-any-return]
