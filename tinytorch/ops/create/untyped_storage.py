"""``UntypedStorage``, the storage of a tensor in bytes, and the casts of all storages."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from typing import Any, Self

from ... import dtypes
from ...backends import load
from ...backends.storage import deep_copy
from ...core.device import device
from ...core.pickling import Memory, memory_of
from ...core.relocation import ARRAY_OF, share
from ...core.tensor import wrap
from ...dispatch.op import Array, Backend
from .factories import empty, tensor
from .file_memory import map_file, read_numbers


class Casts:
    """Copies of a storage in other dtypes, by the names of PyTorch's tensor types."""

    _array: Array
    _xp: Backend
    #: The class of the copies.
    _typed: Any

    def _numbers(self) -> Array:
        raise NotImplementedError

    def _cast(self, dtype: dtypes.dtype) -> Any:
        """Convert the elements to a dtype; return the storage itself if they have it already."""
        numbers: Any = wrap(self._numbers(), self._xp)
        if isinstance(self, self._typed) and numbers.dtype is dtype:
            return self
        return self._typed._from_array(numbers.to(dtype)._data, self._xp)

    def byte(self) -> Any:
        """The elements as uint8."""
        return self._cast(dtypes.uint8)

    def char(self) -> Any:
        """The elements as int8."""
        return self._cast(dtypes.int8)

    def short(self) -> Any:
        """The elements as int16."""
        return self._cast(dtypes.int16)

    def int(self) -> Any:
        """The elements as int32."""
        return self._cast(dtypes.int32)

    def long(self) -> Any:
        """The elements as int64."""
        return self._cast(dtypes.int64)

    def half(self) -> Any:
        """The elements as float16."""
        return self._cast(dtypes.float16)

    def bfloat16(self) -> Any:
        """The elements as bfloat16."""
        return self._cast(dtypes.bfloat16)

    def float(self) -> Any:
        """The elements as float32."""
        return self._cast(dtypes.float32)

    def double(self) -> Any:
        """The elements as float64."""
        return self._cast(dtypes.float64)

    def complex_float(self) -> Any:
        """The elements as complex64."""
        return self._cast(dtypes.complex64)

    def complex_double(self) -> Any:
        """The elements as complex128."""
        return self._cast(dtypes.complex128)

    def bool(self) -> Any:
        """The elements as bool: True if they are not 0."""
        return self._cast(dtypes.bool)


class UntypedStorage(Casts):
    """Storage of tensors, in bytes.

    Two storages are equal if they have the same memory.

    Args:
        size: The number of bytes, which are uninitialized; or the bytes, a sequence of ints.
        device: The device. Default: the device of new tensors.

    Raises:
        RuntimeError: If the size is negative.

    Example:
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
        >>> storage.fill_(5).tolist(), storage.is_shared(), storage.to(device="cpu") is storage
        ([5, 5, 5], False, True)
        >>> storage.type(), storage.resizable(), storage.is_pinned()
        ('torch.storage.UntypedStorage', True, False)
    """

    _array: Array
    _xp: Backend
    #: Whether it is the memory of a tensor, which then determines its size.
    _lent = False

    def __init__(self, size: int | Sequence[int] = 0, *, device: Any = None) -> None:
        made: Any
        if isinstance(size, int):
            made = empty(size, dtype=dtypes.uint8, device=device)
        else:
            made = tensor(list(size), dtype=dtypes.int64, device=device).to(dtypes.uint8)
        self._array, self._xp = made._data, made._xp

    @classmethod
    def _from_array(cls, array: Array, xp: Backend) -> Self:
        """Create the storage of the memory of ``array``."""
        made = cls.__new__(cls)
        made._array, made._xp = array, xp
        return made

    @staticmethod
    def from_file(filename: Any, shared: bool = False, nbytes: int = 0) -> UntypedStorage:
        """Map the first bytes of a file, which is read lazily.

        Args:
            filename: The file; created or extended if ``shared``.
            shared: Whether writes to the storage are written to the file.
            nbytes: The number of bytes. Default: 0.

        Raises:
            RuntimeError: If the file cannot be opened or, unless ``shared``, is too short.

        Example:
            >>> import os, tempfile
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     path = os.path.join(folder, "bytes")
            ...     storage = tt.UntypedStorage.from_file(path, shared=True, nbytes=4)
            ...     storage.fill_(7).tolist()
            [7, 7, 7, 7]
        """
        return UntypedStorage._from_array(map_file(filename, shared, nbytes), load("numpy"))

    @staticmethod
    def from_buffer(
        buffer: Any, byte_order: str | None = None, count: int = -1, offset: int = 0, *,
        dtype: Any = dtypes.uint8,
    ) -> UntypedStorage:  # fmt: skip
        """Copy the numbers in a bytes-like object to a storage on the CPU.

        Args:
            buffer: The object, such as a bytearray.
            byte_order: ``"big"``, ``"little"`` or ``"native"``; may be None for dtypes of one byte.
            count: The number of elements. Default: all.
            offset: The index of the first byte.
            dtype: The dtype as which the bytes are read.

        Raises:
            RuntimeError: If ``byte_order`` is missing.
            ValueError: If ``byte_order`` is unknown, or the buffer has too few bytes or an
                incomplete element.

        Example:
            >>> tt.UntypedStorage.from_buffer(b"abc", offset=1).tolist()
            [98, 99]
        """
        found = read_numbers(buffer, byte_order, count, offset, dtypes.as_dtype(dtype))
        return UntypedStorage._from_array(found, load("numpy"))

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        """Pickle the memory once for all tensors and storages that share it."""
        memory = memory_of(self._array, self._xp)
        if memory is None:
            return super().__reduce_ex__(protocol)  # type: ignore[return-value]
        return _rebuild, (type(self), memory, self._xp.dtype_of(self._array), self._lent)

    def _numbers(self) -> Array:
        return self._array.view("uint8")

    def _check_dtype(self, dtype: dtypes.dtype) -> None:
        """Accept any dtype, since bytes can be read as elements of every dtype."""

    def data_ptr(self) -> int:
        """The address of the first byte; 0 for an empty storage."""
        return self._xp.address(self._array) if self._array.size else 0

    @property
    def _cdata(self) -> int:
        return self.data_ptr()

    def nbytes(self) -> int:
        """The number of bytes."""
        return int(self._array.nbytes)

    def size(self) -> int:
        """The number of elements, which are bytes."""
        return int(self._numbers().size)

    def element_size(self) -> int:
        """The number of bytes of an element."""
        return int(self._numbers().dtype.itemsize)

    def tolist(self) -> list[Any]:
        """The elements as Python numbers.

        Raises:
            NotImplementedError: On the device ``meta``.
        """
        self._xp.check_numbers()
        return self._xp.to_numpy(self._numbers()).tolist()  # type: ignore[no-any-return]

    @property
    def device(self) -> device:
        """The device of the memory."""
        return device(self._xp.device_type, self._xp.device_index(self._array))

    @property
    def is_cuda(self) -> bool:
        """Whether the memory is on a GPU."""
        return self._xp.device_type == "cuda"

    @property
    def is_sparse(self) -> bool:
        """Whether the storage is sparse: always False."""
        return False

    @property
    def filename(self) -> None:
        """Name of the mapped file: always None, since it is not stored."""

    def is_pinned(self, device: Any = None) -> bool:
        """Whether it is pinned host memory."""
        return bool(wrap(self._array, self._xp).is_pinned())

    def resizable(self) -> bool:
        """Whether ``resize_`` can change the size."""
        return not self._lent

    def is_shared(self) -> bool:
        """Whether the memory can be shared with other processes; see ``Tensor.is_shared``."""
        return self._xp.is_shared(self._array)

    def share_memory_(self) -> Self:
        """Move the storage, and its tensors, to shared memory.

        Raises:
            NotImplementedError: As for ``Tensor.share_memory_``.

        Example:
            >>> x = tt.ones(2, device="cpu")
            >>> x.untyped_storage().share_memory_().is_shared(), x.is_shared()
            (True, True)
        """
        holder = wrap(self._array, self._xp)
        share([holder])
        self._array = holder._data
        return self

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
            return self._from_array(numbers[index], self._xp)
        if isinstance(index, bool) or not hasattr(index, "__index__"):
            raise TypeError(
                f"can't index a tinytorch.{type(self).__name__} with {type(index).__name__}"
            )
        place = operator.index(index)
        self._xp.check_numbers()
        if not -size <= place < size:
            raise IndexError(f"index {place} out of range for storage of size {size}")
        place %= size
        return self._xp.item(numbers[place : place + 1])

    def __setitem__(self, index: int | slice, value: Any) -> None:
        self._numbers()[index] = self._to_element(value)

    def _to_element(self, value: Any) -> Any:
        """Convert a number to a byte; RuntimeError for a value that is not an integer."""
        if not hasattr(value, "__index__"):
            raise RuntimeError(
                f"can only set storage content with a int types, but got {type(value).__name__} "
                "instead"
            )
        return operator.index(value) & 255

    def fill_(self, value: Any) -> Self:
        """Set all elements to one number."""
        self._numbers()[...] = self._to_element(value)
        return self

    def clone(self) -> Self:
        """Copy the storage to new memory."""
        return self._from_array(self._xp.array(self._array), self._xp)

    __copy__ = clone

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self.nbytes()

    def __deepcopy__(self, memo: dict[Any, Any]) -> Self:
        return self._from_array(deep_copy(self._xp, self._array, memo)[0], self._xp)

    def copy_(self, source: UntypedStorage, non_blocking: bool = False) -> Self:
        """Copy the elements of another storage of the same size to this one.

        Args:
            source: The other storage, on any device.
            non_blocking: Accepted for compatibility.

        Raises:
            RuntimeError: If ``source`` has another size.
        """
        if source.nbytes() != self.nbytes():
            raise RuntimeError(
                f"size does not match, self was {self.nbytes()} bytes but src was "
                f"{source.nbytes()} bytes"
            )
        wrap(self._numbers(), self._xp).copy_(wrap(source._numbers(), source._xp))
        return self

    def resize_(self, size: int) -> Self:
        """Change the number of bytes to ``size``; new bytes are uninitialized.

        Raises:
            NotImplementedError: If the size would change and the storage belongs to a tensor, whose
                array cannot be replaced.
        """
        if self._lent and size != self.nbytes():
            raise NotImplementedError(
                f"resize_: a storage of {self.nbytes()} bytes that belongs to a tensor cannot "
                f"have {size}; resize_() or set_() the tensor"
            )
        made = self._xp.empty(size, "uint8")
        count = min(size, self.nbytes())
        made[:count] = self._array.reshape(-1).view("uint8")[:count]
        self._array = made.view(self._numbers().dtype)
        return self

    def byteswap(self, dtype: dtypes.dtype) -> None:
        """Reverse the order of the bytes in each element of a dtype.

        Args:
            dtype: The dtype of the elements.
        """
        size = dtype.to_real().itemsize if dtype.is_complex else dtype.itemsize  # size of each part
        rows = self._array.reshape(-1).view("uint8").reshape(-1, size)
        rows[...] = self._xp.array(rows[:, ::-1])

    def cpu(self) -> Self:
        """The storage itself, or a copy on the CPU if it is on another device."""
        return self.to(device="cpu")

    def to(self, *, device: Any, non_blocking: bool = False) -> Self:
        """The storage itself, or a copy on ``device`` if it is on another device.

        Args:
            device: The device.
            non_blocking: Accepted for compatibility.
        """
        there: Any = wrap(self._array, self._xp).to(device)
        return self if there._data is self._array else self._from_array(there._data, there._xp)

    def type(self) -> str:
        """PyTorch's name of the class: ``"torch.storage.UntypedStorage"``."""
        return "torch.storage.UntypedStorage"

    def untyped(self) -> UntypedStorage:
        """The storage itself, since its elements are bytes."""
        return self

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """NumPy array of the memory, for ``numpy.asarray``; the default dtype is uint8."""
        numbers = self._xp.to_numpy(self._numbers())
        if dtype is not None:
            self._check_dtype(dtypes.as_dtype(dtype))
            numbers = numbers.view(dtype)
        return numbers.copy() if copy else numbers

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, UntypedStorage):
            return NotImplemented
        return (self.data_ptr(), self.nbytes()) == (other.data_ptr(), other.nbytes())

    def __hash__(self) -> int:
        return hash((self.data_ptr(), self.nbytes()))

    def _describe(self) -> str:
        return f"device={self.device}"

    def __repr__(self) -> str:
        try:
            lines = "".join(f" {number}\n" for number in self.tolist())
        except NotImplementedError:  # on the device meta
            lines = "...\n"
        name = type(self).__name__
        return f"{lines}[tinytorch.storage.{name}({self._describe()}) of size {self.size()}]"


ARRAY_OF[UntypedStorage] = "_array"


def _rebuild(cls: type[UntypedStorage], memory: Memory, dtype: dtypes.dtype, lent: bool) -> Any:
    """Unpickle a storage: view the unpickled memory as elements of ``dtype``."""
    made = cls._from_array(memory.flat.view(memory.xp.native_dtype(dtype)), memory.xp)
    made._lent = lent
    return made
