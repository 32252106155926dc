"""The memory behind tensors, as an object: ``untyped_storage`` and ``storage``."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

from .. import _state, dtypes
from .._caller import warn
from .._checkpoint import row_major
from .._device import device
from .._op import Array, Backend, composite
from .._tensor import Tensor, wrap
from ..autograd.views import check_inplace
from ..backends import load
from .file_memory import mapped
from .strides import check_bounds


class UntypedStorage:
    """All the memory that a tensor is a part of, in bytes.

    Two storages are equal if they are the same memory.

    Example:
        >>> import tinytorch as tt
        >>> x = tt.ones(2, 3)
        >>> x.untyped_storage().nbytes(), x[1].untyped_storage() == x.untyped_storage()
        (24, True)
    """

    def __init__(self, array: Array, xp: Backend) -> None:
        self._array = array
        self._xp = xp

    @staticmethod
    def from_file(filename: Any, shared: bool = False, nbytes: int = 0) -> UntypedStorage:
        """The first bytes of a file, read when they are looked at.

        Args:
            filename: The file; made, or made longer, if ``shared``.
            shared: Whether what is written to the storage is written to the file.
            nbytes: How many bytes. Default: none.

        Raises:
            RuntimeError: If the file cannot be opened or, unless ``shared``, is too short.
        """
        return UntypedStorage(mapped(filename, shared, nbytes), load("numpy"))

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
            return self._of(numbers[index])
        if isinstance(index, bool) or not hasattr(index, "__index__"):
            raise TypeError(f"can't index a {type(self).__name__} with {type(index).__name__}")
        place = operator.index(index)
        if not -size <= place < size:
            raise IndexError(f"index {place} out of range for storage of size {size}")
        place %= size
        return self._xp.item(numbers[place : place + 1])

    def __setitem__(self, index: int | slice, value: Any) -> None:
        self._numbers()[index] = value

    def fill_(self, value: Any) -> UntypedStorage:
        """Write one number everywhere."""
        self._numbers()[...] = value
        return self

    def _of(self, array: Array) -> UntypedStorage:
        return type(self)(array, self._xp)

    def clone(self) -> UntypedStorage:
        """A copy, in memory of its own."""
        return self._of(self._xp.array(self._array))

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

    Example:
        >>> import warnings
        >>> import tinytorch as tt
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore", UserWarning)
        ...     tt.arange(4).reshape(2, 2)[1].storage().tolist()
        [0, 1, 2, 3]
    """

    def _numbers(self) -> Array:
        return self._array

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
        return UntypedStorage(self._array, self._xp)

    def _read_as(self, numbers: Any, dtype: Any) -> Any:
        if numbers.dtype != dtype:
            raise RuntimeError(
                f"Expected a Storage of type {dtypes.as_dtype(dtype).name} or an UntypedStorage, "
                f"but got {self.dtype.name}"
            )
        return numbers

    def _facts(self) -> str:
        return f"dtype={self.dtype}, device={self.device}"


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
    return UntypedStorage(_memory(input), input._xp)


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
    warn(
        "TypedStorage is deprecated. It will be removed in the future and UntypedStorage will be "
        "the only storage class. To access UntypedStorage directly, use tensor.untyped_storage() "
        "instead of tensor.storage()",
    )
    return TypedStorage(_memory(input), input._xp)


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

    Example:
        >>> import tinytorch as tt
        >>> tt.is_storage(tt.ones(1)), tt.is_storage(tt.ones(1).untyped_storage())
        (False, True)
    """
    return isinstance(obj, UntypedStorage)
