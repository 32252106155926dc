"""Names in a checkpoint's pickle: PyTorch's names, and the objects here that they stand for.

A tensor is pickled as a call of ``torch._utils._rebuild_tensor_v2`` with a storage, which is a
persistent id: ``("storage", type, key, location, number of elements)``. The names are those that
PyTorch allows in ``torch.load(..., weights_only=True)``.
"""

from __future__ import annotations

import codecs
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NamedTuple

from .. import dtypes
from ..backends import low_precision
from ..backends.base import Array, Backend
from ..backends.storage import extent, row_major
from ..core.device import device as Device
from ..core.layout import layout as Layout
from ..core.layout import sparse_coo, sparse_csc, sparse_csr, strided
from ..core.lazy_bits import Conjugate, Negative, mark_lazy
from ..core.tensor import Size, Tensor, wrap
from ..dispatch.creation import backend_of_device
from ..dtypes import STORAGES as STORAGES
from ..ops.sparse.creation import sparse_compressed_tensor, sparse_coo_tensor
from ..state import Variable
from ..warnings import warn_once

#: The default pickle protocol of checkpoints, as PyTorch's.
PROTOCOL = 2


class TorchName(NamedTuple):
    """Global of PyTorch's in a pickle, which need not exist here."""

    module: str
    name: str

    def __call__(self, *args: Any) -> Any:
        """Raise: only the reader of the pickle calls the object of this name."""
        raise NotImplementedError(f"{self.module}.{self.name}")


@cache
def torch_name(module: str, name: str) -> TorchName:
    """Return the one object that stands for a global of PyTorch's."""
    return TorchName(module, name)


class StorageType(NamedTuple):
    """Type of a storage in a pickle."""

    name: str
    #: Dtype of the elements; None for bytes, of which the tensor has the dtype.
    dtype: dtypes.dtype | None


class LoadedStorage:
    """Memory read from a checkpoint, and argument of ``map_location`` if that is a function.

    Attributes:
        backend: The backend on which its tensors will be created.
    """

    __slots__ = ("_arrays", "_host", "backend", "type")

    def __init__(self, host: Array, type: StorageType, backend: Backend) -> None:
        self._host = host
        self._arrays: dict[tuple[Backend, str], Array] = {}
        self.type: StorageType = type
        self.backend: Backend = backend

    @property
    def device(self) -> Device:
        """Device on which its tensors will be created."""
        return Device(self.backend.device_type)

    def nbytes(self) -> int:
        """Return the number of bytes."""
        return int(self._host.nbytes)

    def cpu(self) -> LoadedStorage:
        """Return the same memory for tensors on the CPU."""
        return self.on(backend_of_device("cpu"))

    def cuda(self, device: Any = None) -> LoadedStorage:
        """Return the same memory for tensors on a GPU, the current one or number ``device``."""
        place = Device("cuda") if device is None else Device(device)
        return self.on(backend_of_device(place))

    def on(self, backend: Backend) -> LoadedStorage:
        """Return the same memory for tensors of another backend."""
        moved = LoadedStorage(self._host, self.type, backend)
        moved._arrays = self._arrays
        return moved

    def array(self, dtype: dtypes.dtype) -> Array:
        """Return all elements as a one-dimensional array, the same object at every call."""
        key = (self.backend, dtype.name)
        if key not in self._arrays:
            native = self.backend.native_dtype(dtype)
            self._arrays[key] = self.backend.from_numpy(self._host.view(native))
        return self._arrays[key]

    def widen(self, dtype: dtypes.dtype) -> Array:
        """Return the elements as float32, for a dtype of reduced precision."""
        key = (self.backend, f"{dtype.name} as float32")
        if key not in self._arrays:
            numbers = low_precision.widen(self._host, dtype)
            self._arrays[key] = self.backend.from_numpy(numbers)
        return self._arrays[key]


#: Whether storages of reduced precision become float32; None: if the backend lacks their dtype.
upcast: Variable[bool | None] = Variable("checkpoint_upcast", None)


def is_widened(dtype: dtypes.dtype, xp: Backend) -> bool:
    """Whether elements of ``dtype`` become float32; warns once if ``upcast`` is not set."""
    if dtype not in dtypes.LOW:
        return False
    wanted = upcast.get()
    if wanted is not None:
        return wanted
    if xp.supports(dtype):
        return False
    warn_once(
        f"load(): the checkpoint holds {dtype.name}, which is read as float32, in twice the memory "
        f"or more; with the package {low_precision.PACKAGE} installed it is read as it is. "
        "upcast=True reads it as float32 without this warning."
    )
    return True


#: Classes of storages, by whether they have a dtype; filled by ``serialization``.
STORAGE_CLASSES: dict[bool, Any] = {}


def make_storage(loaded: LoadedStorage, kind: StorageType) -> Any:
    """Return the ``TypedStorage`` or ``UntypedStorage`` that the loaded object contains.

    Args:
        loaded: The storage as it was read.
        kind: Its type in the checkpoint.

    Returns:
        The storage; ``loaded`` itself if its backend does not support the dtype.
    """
    dtype = dtypes.uint8 if kind.dtype is None else kind.dtype
    xp = loaded.backend.here()
    if is_widened(dtype, xp):
        array = loaded.widen(dtype)
    elif xp.supports(dtype):
        array = loaded.array(dtype)
    else:
        return loaded
    made = STORAGE_CLASSES[kind.dtype is not None]._from_array(array, xp)
    made._lent = True
    return made


# -- functions in pickles ---------------------------------------------------------------------


def rebuild_tensor(
    storage: Any, offset: int, size: Any, stride: Any, requires_grad: bool = False,
    hooks: Any = None, dtype: Any = None, metadata: Any = None,
) -> Tensor:  # fmt: skip
    """Return a tensor in a storage; called by pickles under the name ``_rebuild_tensor_v3``.

    Args:
        storage: A storage, or a ``LoadedStorage`` of a dtype that the backend does not support.
        offset: Number of elements of the storage before the tensor's first element.
        size: The shape.
        stride: The strides, in elements.
        requires_grad: Whether the tensor requires grad.
        hooks: Ignored.
        dtype: The dtype. Default: that of the storage.
        metadata: Dict that has the tensor's conj bit or neg bit, if it is set.
    """
    is_usable = isinstance(storage, tuple(STORAGE_CLASSES.values()))
    if not is_usable and not isinstance(storage, LoadedStorage):
        raise TypeError(f"expected the storage of a tensor, got {type(storage).__name__}")
    kind = dtype
    if kind is None:
        kind = getattr(storage, "dtype", None) if is_usable else storage.type.dtype
    if not isinstance(kind, dtypes.dtype):
        raise TypeError(f"the checkpoint does not specify the dtype of a tensor: {kind!r}")
    xp = (storage._xp if is_usable else storage.backend).here()
    wide = is_usable and is_widened(kind, xp)
    if not is_usable or not wide and not xp.supports(kind):
        raise TypeError(
            f"the checkpoint holds a tensor of dtype {kind.name}, which the backend {xp.name!r} "
            "does not have; map_location can name another one, or convert the tensor before saving"
            + low_precision.missing(kind)
        )
    if wide:  # bytes, whose dtype the tensor has: two tensors get separate copies
        host = xp.to_numpy(storage._array)
        flat = xp.from_numpy(low_precision.widen(host, kind))
    else:
        flat = storage._array.view(xp.native_dtype(kind))
    out: Tensor = wrap(_window(xp, flat, offset, tuple(size), tuple(stride)), xp)
    out._whole = flat
    if metadata:
        out = _set_lazy_bits(out, metadata)
    return out.requires_grad_() if requires_grad else out


def rebuild_tensor_v2(
    storage: Any, offset: int, size: Any, stride: Any, requires_grad: bool = False,
    hooks: Any = None, metadata: Any = None,
) -> Tensor:  # fmt: skip
    """Return the tensor of this shape and these strides in a storage."""
    return rebuild_tensor(storage, offset, size, stride, requires_grad, hooks, None, metadata)


def rebuild_meta(dtype: Any, size: Any, stride: Any, requires_grad: bool) -> Tensor:
    """Return a tensor without values: ``_rebuild_meta_tensor_no_storage``."""
    if not isinstance(dtype, dtypes.dtype):
        raise TypeError(f"the checkpoint does not specify the dtype of a tensor: {dtype!r}")
    xp = backend_of_device("meta")
    size, stride = tuple(size), tuple(stride)
    flat = xp.empty(max(extent(size, stride), 0), xp.native_dtype(dtype))
    out: Tensor = wrap(_window(xp, flat, 0, size, stride), xp)
    return out.requires_grad_() if requires_grad else out


def _window(xp: Backend, flat: Array, offset: int, size: Any, stride: Any) -> Array:
    """Return the view of the flat array with this offset, shape and strides, after checks.

    The strides are in elements.
    """
    numbers = (offset, *size, *stride)
    if len(size) != len(stride) or not all(type(n) is int and n >= 0 for n in numbers):
        raise RuntimeError(
            f"setStorage: sizes {list(size)}, strides {list(stride)} and storage offset {offset} "
            "make no tensor"
        )
    span = extent(size, stride)
    if offset + span > flat.size:
        raise RuntimeError(
            f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {offset}, "
            f"and itemsize {flat.itemsize} requiring a storage size of "
            f"{(offset + span) * flat.itemsize} are out of bounds for storage of size {flat.nbytes}"
        )
    if stride == row_major(size):
        return flat[offset : offset + span].reshape(size)
    return xp.as_strided(flat[offset:], size, [step * flat.itemsize for step in stride])


def _set_lazy_bits(tensor: Any, metadata: Any) -> Any:
    """Set the conj bit or the neg bit of ``tensor`` if the file has it."""
    for name, cls in (("conj", Conjugate), ("neg", Negative)):
        if metadata.get(name):
            mark_lazy(tensor, cls)
    return tensor


def rebuild_with_state(build: Any, cls: Any, args: Any, state: Any) -> Any:
    """Return a tensor of a subclass, or with attributes: ``_rebuild_from_type_v2``."""
    if not (isinstance(cls, type) and issubclass(cls, Tensor)):
        raise TypeError(f"expected a subclass of Tensor, got {cls!r}")
    out = build(*args)
    if type(out) is not cls:
        out = wrap(out._data, out._xp, cls).requires_grad_(out.requires_grad)
    if isinstance(state, tuple):  # attributes, and the values of slots
        state = {**(state[0] or {}), **(state[1] or {})}
    for name, value in (state or {}).items():
        setattr(out, name, value)
    return out


def encode(text: str, encoding: str = "latin1") -> bytes:
    """Return the bytes that protocol 2 writes as text."""
    if encoding not in ("latin1", "latin-1"):
        raise ValueError(f"bytes are written as latin1, got {encoding!r}")
    return codecs.latin_1_encode(text)[0]


def layout(name: str) -> Layout:
    """Return the layout of a name: ``torch.strided`` or that of a sparse tensor."""
    found = next((each for each in _LAYOUTS if layout_name(each) == name), None)
    if found is None:
        raise NotImplementedError(
            f"the checkpoint holds a tensor of layout {name}; tinytorch has dense tensors and the "
            "sparse layouts COO, CSR and CSC"
        )
    return found


def layout_name(layout: Layout) -> str:
    """Return PyTorch's name of a layout: ``torch.strided``."""
    return f"torch.{repr(layout).rpartition('.')[2]}"


_LAYOUTS = (strided, sparse_coo, sparse_csr, sparse_csc)


def rebuild_sparse(kind: Layout, data: tuple[Any, ...]) -> Tensor:
    """Return a sparse tensor: ``_rebuild_sparse_tensor``; its indices are checked.

    Args:
        kind: Its layout.
        data: For COO the indices, elements, shape and whether it is coalesced, which older files
            lack; else the compressed and the plain indices, elements and shape.
    """
    if kind is sparse_coo:
        indices, values, size, *flag = data
        return sparse_coo_tensor(indices, values, size, is_coalesced=bool(flag and flag[0]))
    if kind not in (sparse_csr, sparse_csc) or len(data) != 4:
        raise TypeError(f"the checkpoint holds a sparse tensor of the layout {kind!r}")
    return sparse_compressed_tensor(*data, layout=kind)


#: Functions that a pickle of weights may call, by PyTorch's or Python's names.
CALLED: dict[tuple[str, str], Callable[..., Any]] = {
    ("torch._utils", "_rebuild_tensor"): rebuild_tensor_v2,
    ("torch._utils", "_rebuild_tensor_v2"): rebuild_tensor_v2,
    ("torch._utils", "_rebuild_tensor_v3"): rebuild_tensor,
    ("torch._utils", "_rebuild_meta_tensor_no_storage"): rebuild_meta,
    ("torch._tensor", "_rebuild_from_type_v2"): rebuild_with_state,
    ("torch._utils", "_rebuild_sparse_tensor"): rebuild_sparse,
    ("torch.serialization", "_get_layout"): layout,
    ("torch", "Size"): Size,
    ("torch", "device"): Device,
    ("collections", "OrderedDict"): OrderedDict,
    ("collections", "Counter"): Counter,
    ("builtins", "set"): set,
    ("builtins", "complex"): complex,
    ("builtins", "bytearray"): bytearray,
    ("_codecs", "encode"): encode,
}
#: Objects that a pickle of weights may name but not call.
NAMED: dict[tuple[str, str], Any] = {
    ("torch", "Tensor"): Tensor,
    ("torch.storage", "UntypedStorage"): StorageType("UntypedStorage", None),
    **{("torch", name): dtype for name, dtype in dtypes.NAMES.items()},
    **{
        (module, name): StorageType(name, dtypes.NAMES[dtype])
        for dtype, name in STORAGES.items() for module in ("torch", "torch.cuda")
    },
}  # fmt: skip


def unsupported_text(names: Mapping[tuple[str, str], Any], module: str, name: str) -> str | None:
    """Return the error text for a global of PyTorch's that is not supported here, or None."""
    if (module, name) in names or module.partition(".")[0] != "torch":
        return None
    description = {
        "_rebuild_qtensor": "a quantized tensor",
        "_rebuild_nested_tensor": "a nested tensor",
    }.get(name)  # fmt: skip
    if description is None and name.startswith(("float8", "float4", "q", "bits", "complex32")):
        description = f"a tensor of dtype {name}"
    return description and f"the checkpoint holds {description}, which tinytorch does not have"
