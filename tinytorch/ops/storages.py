"""The memory behind tensors, as an object: ``untyped_storage`` and ``storage``."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from typing import Any, Self

from .. import _state, dtypes
from .._caller import warn
from .._checkpoint import row_major
from .._device import device
from .._op import Array, Backend, composite
from .._tensor import Tensor, wrap
from ..autograd.views import check_inplace
from ..backends import load
from ..backends.storage import deep_copied
from ._storage_casts import Casts
from .creation import empty, tensor
from .file_memory import mapped
from .strides import check_bounds


class UntypedStorage(Casts):
    """All the memory that a tensor is a part of, in bytes.

    Two storages are equal if they are the same memory.

    Args:
        size: How many bytes, which are whatever the memory held; or the bytes, a sequence of ints.
        device: Where. Default: where new tensors are.

    Raises:
        RuntimeError: For a negative size.

    Example:
        >>> import tinytorch as tt
        >>> x = tt.ones(2, 3)
        >>> x.untyped_storage().nbytes(), x[1].untyped_storage() == x.untyped_storage()
        (24, True)
        >>> x.untyped_storage().data_ptr() == x.data_ptr()
        True
        >>> storage = tt.UntypedStorage([1, 2])
        >>> storage.size(), storage.element_size(), storage.device, storage.is_cuda
        (2, 1, device(type='cpu'), False)
        >>> storage.untyped() is storage.cpu() is storage
        True
        >>> copy = storage.clone()
        >>> copy.byteswap(tt.int16)
        >>> copy.tolist(), storage.resize_(3).copy_(tt.UntypedStorage([7, 8, 9])).tolist()
        ([2, 1], [7, 8, 9])
        >>> storage.fill_(5).tolist(), storage.is_shared()
        ([5, 5, 5], False)
    """

    _array: Array
    _xp: Backend
    #: Whether it is the memory of a tensor, whose size is the tensor's affair.
    _lent = False

    def __init__(self, size: int | Sequence[int] = 0, *, device: Any = None) -> None:
        made: Any
        if isinstance(size, int):
            made = empty(size, dtype=dtypes.uint8, device=device)
        else:
            made = tensor(list(size), dtype=dtypes.int64, device=device).to(dtypes.uint8)
        self._array, self._xp = made._data, made._xp

    @classmethod
    def _of(cls, array: Array, xp: Backend) -> Self:
        """The storage that is the memory of ``array``."""
        made = cls.__new__(cls)
        made._array, made._xp = array, xp
        return made

    @staticmethod
    def from_file(filename: Any, shared: bool = False, nbytes: int = 0) -> UntypedStorage:
        """The first bytes of a file, read when they are looked at.

        Args:
            filename: The file; made, or made longer, if ``shared``.
            shared: Whether what is written to the storage is written to the file.
            nbytes: How many bytes. Default: none.

        Raises:
            RuntimeError: If the file cannot be opened or, unless ``shared``, is too short.

        Example:
            >>> import os, tempfile
            >>> import tinytorch as tt
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     path = os.path.join(folder, "bytes")
            ...     storage = tt.UntypedStorage.from_file(path, shared=True, nbytes=4)
            ...     storage.fill_(7).tolist()
            [7, 7, 7, 7]
        """
        return UntypedStorage._of(mapped(filename, shared, nbytes), load("numpy"))

    def _numbers(self) -> Array:
        return self._array.view("uint8")

    def data_ptr(self) -> int:
        """The address of the first byte; 0 if there is none."""
        return self._xp.address(self._array) if self._array.size else 0

    def nbytes(self) -> int:
        """The number of bytes."""
        return int(self._array.nbytes)

    def size(self) -> int:
        """The number of elements, which are bytes."""
        return int(self._numbers().size)

    def element_size(self) -> int:
        """Bytes per element."""
        return int(self._numbers().dtype.itemsize)

    def tolist(self) -> list[Any]:
        """The elements as Python numbers."""
        return self._xp.to_numpy(self._numbers()).tolist()  # type: ignore[no-any-return]

    @property
    def device(self) -> device:
        """Where the memory is."""
        return device(self._xp.device_type, self._xp.device_index(self._array))

    @property
    def is_cuda(self) -> bool:
        """Whether it is on a GPU."""
        return self._xp.device_type == "cuda"

    def is_shared(self) -> bool:
        """Whether other processes see changes; see ``Tensor.is_shared``."""
        return self.is_cuda

    def __len__(self) -> int:
        return self.size()

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    def __getitem__(self, index: Any) -> Any:
        numbers, size = self._numbers(), self.size()
        if isinstance(index, slice):
            if index.step not in (None, 1):
                raise RuntimeError(
                    f"Trying to slice with a step of {index.step}, but only a step of 1 is "
                    "supported"
                )
            return self._of(numbers[index], self._xp)
        if isinstance(index, bool) or not hasattr(index, "__index__"):
            raise TypeError(
                f"can't index a tinytorch.{type(self).__name__} with {type(index).__name__}"
            )
        place = operator.index(index)
        if not -size <= place < size:
            raise IndexError(f"index {place} out of range for storage of size {size}")
        place %= size
        return self._xp.item(numbers[place : place + 1])

    def __setitem__(self, index: int | slice, value: Any) -> None:
        self._numbers()[index] = self._written(value)

    def _written(self, value: Any) -> Any:
        if not hasattr(value, "__index__"):
            raise RuntimeError(
                f"can only set storage content with a int types, but got {type(value).__name__} "
                "instead"
            )
        return operator.index(value) & 255

    def fill_(self, value: Any) -> Self:
        """Write one number everywhere."""
        self._numbers()[...] = self._written(value)
        return self

    def clone(self) -> Self:
        """A copy, in memory of its own."""
        return self._of(self._xp.array(self._array), self._xp)

    def __deepcopy__(self, memo: dict[Any, Any]) -> Self:
        return self._of(deep_copied(self._xp, self._array, memo)[0], self._xp)

    def copy_(self, source: UntypedStorage, non_blocking: bool = False) -> Self:
        """Write the elements of another storage, of as many, over these.

        Args:
            source: The other one, on any device.
            non_blocking: Accepted for compatibility.

        Raises:
            RuntimeError: If it has another size.
        """
        if source.nbytes() != self.nbytes():
            raise RuntimeError(
                f"size does not match, self was {self.nbytes()} bytes but src was "
                f"{source.nbytes()} bytes"
            )
        wrap(self._numbers(), self._xp).copy_(wrap(source._numbers(), source._xp))
        return self

    def resize_(self, size: int) -> Self:
        """Have ``size`` bytes: the first of these, and then whatever the memory held.

        Raises:
            NotImplementedError: If it is the memory of a tensor, and of another size: a tensor
                here keeps the array it has.
        """
        if self._lent and size != self.nbytes():
            raise NotImplementedError(
                f"resize_: a storage of {self.nbytes()} bytes that belongs to a tensor cannot "
                f"have {size}; resize_() or set_() the tensor"
            )
        made = self._xp.empty(size, "uint8")
        kept = min(size, self.nbytes())
        made[:kept] = self._array.reshape(-1).view("uint8")[:kept]
        self._array = made.view(self._numbers().dtype)
        return self

    def byteswap(self, dtype: dtypes.dtype) -> None:
        """Turn the order of bytes in each element of a dtype around.

        Args:
            dtype: The type of the elements that the bytes are.
        """
        rows = self._array.reshape(-1).view("uint8").reshape(-1, dtype.itemsize)
        rows[...] = self._xp.array(rows[:, ::-1])

    def cpu(self) -> Self:
        """The storage, or a copy of it on the CPU if it is elsewhere."""
        here: Any = wrap(self._array, self._xp).cpu()
        return self if here._data is self._array else self._of(here._data, here._xp)

    def untyped(self) -> UntypedStorage:
        """The storage itself: its elements are bytes."""
        return self

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """The memory as numbers of a dtype, which ``asarray`` reads; default bytes."""
        numbers = self._xp.to_numpy(self._numbers())
        found = numbers if dtype is None else self._read_as(numbers, dtype)
        return found.copy() if copy else found

    def _read_as(self, numbers: Any, dtype: Any) -> Any:
        return numbers.view(dtype)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, UntypedStorage):
            return NotImplemented
        return (self.data_ptr(), self.nbytes()) == (other.data_ptr(), other.nbytes())

    def __hash__(self) -> int:
        return hash((self.data_ptr(), self.nbytes()))

    def _facts(self) -> str:
        return f"device={self.device}"

    def __repr__(self) -> str:
        lines = "".join(f" {number}\n" for number in self.tolist())
        name = type(self).__name__
        return f"{lines}[tinytorch.storage.{name}({self._facts()}) of size {self.size()}]"


class TypedStorage(UntypedStorage):
    """All the memory that a tensor is a part of, in elements of its dtype; deprecated in PyTorch.

    Args:
        wrap_storage: The memory.
        dtype: The type of its elements.

    Example:
        >>> import warnings
        >>> import tinytorch as tt
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore", UserWarning)
        ...     tt.arange(4).reshape(2, 2)[1].storage().tolist()
        [0, 1, 2, 3]
    """

    def __init__(
        self, *, wrap_storage: UntypedStorage, dtype: dtypes.dtype, _internal: bool = False
    ) -> None:
        if not _internal:
            _deprecate()
        self._xp = wrap_storage._xp
        native = self._xp.native_dtype(dtype)
        self._array = wrap_storage._array.reshape(-1).view(native)

    def _numbers(self) -> Array:
        return self._array

    def _written(self, value: Any) -> Any:
        return value

    @property
    def dtype(self) -> dtypes.dtype:
        """The type of the elements."""
        return self._xp.dtype_of(self._array)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            raise RuntimeError("slices are only supported in UntypedStorage.__getitem__")
        return super().__getitem__(index)

    def untyped(self) -> UntypedStorage:
        """The same memory in bytes."""
        return UntypedStorage._of(self._array, self._xp)

    def _read_as(self, numbers: Any, dtype: Any) -> Any:
        if numbers.dtype != dtype:
            raise RuntimeError(
                f"Expected a Storage of type {dtypes.as_dtype(dtype).name} or an UntypedStorage, "
                f"but got {self.dtype.name}"
            )
        return numbers

    def _facts(self) -> str:
        return f"dtype={self.dtype}, device={self.device}"


Casts._typed = TypedStorage


def _deprecate() -> None:
    warn(
        "TypedStorage is deprecated. It will be removed in the future and UntypedStorage will be "
        "the only storage class. To access UntypedStorage directly, use tensor.untyped_storage() "
        "instead of tensor.storage()",
    )


def _memory(input: Tensor) -> Array:
    if not input.numel():
        return input._xp.empty(0, input._data.dtype)
    found = input._xp.memory(input._data)
    if found is None:
        raise NotImplementedError(
            f"storage: a tensor of shape {list(input.shape)} and strides {input.stride()} runs "
            "backwards through its memory, or is a part of memory with gaps; clone() it"
        )
    return found[0]


@composite(namespaces=("Tensor",))
def untyped_storage(input: Tensor) -> UntypedStorage:
    """The memory that ``input`` is a part of, in bytes.

    Raises:
        NotImplementedError: If the memory, which another library made, has gaps.

    Example:
        >>> import tinytorch as tt
        >>> x = tt.ones(3)
        >>> x.untyped_storage().data_ptr() == x.view(3, 1).untyped_storage().data_ptr()
        True
    """
    return _of_tensor(UntypedStorage, input)  # type: ignore[no-any-return]


@composite(namespaces=("Tensor",))
def storage(input: Tensor) -> TypedStorage:
    """The memory that ``input`` is a part of, in its elements; deprecated, as it is in PyTorch.

    Raises:
        NotImplementedError: If the memory, which another library made, has gaps.

    Example:
        >>> import warnings
        >>> import tinytorch as tt
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore", UserWarning)
        ...     len(tt.zeros(2, 3)[0].storage())
        6
    """
    _deprecate()
    return _of_tensor(TypedStorage, input)  # type: ignore[no-any-return]


def _of_tensor(kind: Any, input: Tensor) -> Any:
    made = kind._of(_memory(input), input._xp)
    made._lent = True
    return made


@composite(namespaces=("Tensor",))
def set_(
    input: Tensor,
    source: Tensor | UntypedStorage | None = None,
    storage_offset: int = 0,
    size: Any = None,
    stride: Any = None,
) -> Tensor:
    """Make ``input`` itself a window into other memory, of its dtype; the history stays.

    Args:
        input: Tensor.
        source: A tensor, whose place, shape and strides it gets unless others are given; a
            storage; or None for no memory and no elements.
        storage_offset: The window's first element, counted from that of ``source``.
        size: The window's sizes; of a storage the default is all of it.
        stride: The window's strides; the default is row-major order.

    Returns:
        ``input``.

    Raises:
        TypeError: If ``source`` is none of them.
        RuntimeError: If dtypes differ, the window reaches beyond the memory, or ``input`` is a
            leaf that requires grad.

    Example:
        >>> import tinytorch as tt
        >>> tt.ones(2).set_(tt.zeros(3))
        tensor([0., 0., 0.])
        >>> tt.ones(2).set_(tt.arange(6.0).untyped_storage(), 1, (2, 2))
        tensor([[1., 2.],
                [3., 4.]])
    """
    if _state.grad_enabled() and input.requires_grad:
        check_inplace(input)
    if isinstance(source, Tensor) and source.dtype is not input.dtype:
        raise RuntimeError(
            f"Could not set tensor of type {source.dtype.name} to a tensor of type "
            f"{input.dtype.name}"
        )
    if not isinstance(source, (Tensor, UntypedStorage, type(None))):
        raise TypeError(
            "set_(): argument 'source' (position 1) must be Tensor or UntypedStorage, not "
            f"{type(source).__name__}"
        )
    if source is None:
        input._take_array(wrap(input._xp.empty(0, input._data.dtype), input._xp))
    elif isinstance(source, Tensor) and size is None:
        input._take_array(source)
    else:
        _take_window(input, source, storage_offset, size, stride)
    input._bump()
    return input


def _take_window(input: Tensor, source: Any, start: int, size: Any, stride: Any) -> None:
    array, xp = (_memory(source) if isinstance(source, Tensor) else source._array), source._xp
    if isinstance(source, Tensor):
        start += source.storage_offset()
    flat = array.reshape(-1).view(input._data.dtype)
    size = (flat.size - start,) if size is None else tuple(size)
    stride = row_major(size) if stride is None else tuple(stride)
    check_bounds(flat.itemsize, size, stride, start, flat.size)
    steps = tuple(step * flat.itemsize for step in stride)
    input._data, input._xp = xp.as_strided(flat[start:], size, steps), xp
    input._whole = flat


@composite(method=False)
def is_storage(obj: Any) -> bool:
    """Whether ``obj`` is the memory behind tensors.

    Args:
        obj: Any object.

    Example:
        >>> import tinytorch as tt
        >>> tt.is_storage(tt.ones(1)), tt.is_storage(tt.ones(1).untyped_storage())
        (False, True)
    """
    return isinstance(obj, UntypedStorage)
