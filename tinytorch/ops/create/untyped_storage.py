"""The memory behind tensors, in bytes: ``UntypedStorage``, and the casts of every storage."""

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
from .file_memory import mapped, numbers_in


class Casts:
    """Copies of a storage in other dtypes, by the names of PyTorch's tensor types."""

    _array: Array
    _xp: Backend
    #: The class of the copies.
    _typed: Any

    def _numbers(self) -> Array:
        raise NotImplementedError

    def _cast(self, dtype: dtypes.dtype) -> Any:
        """A storage of the elements as numbers of a dtype; itself if they are such already."""
        numbers: Any = wrap(self._numbers(), self._xp)
        if isinstance(self, self._typed) and numbers.dtype is dtype:
            return self
        return self._typed._of(numbers.to(dtype)._data, self._xp)

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
        """Which elements are not 0."""
        return self._cast(dtypes.bool)


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
        >>> storage.fill_(5).tolist(), storage.is_shared(), storage.to(device="cpu") is storage
        ([5, 5, 5], False, True)
        >>> storage.type(), storage.resizable(), storage.is_pinned()
        ('torch.storage.UntypedStorage', True, False)
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

    @staticmethod
    def from_buffer(
        buffer: Any, byte_order: str | None = None, count: int = -1, offset: int = 0, *,
        dtype: Any = dtypes.uint8,
    ) -> UntypedStorage:  # fmt: skip
        """A copy of the numbers in a bytes-like object, on the CPU.

        Args:
            buffer: The object, such as a bytearray.
            byte_order: ``"big"``, ``"little"`` or ``"native"``; of single bytes None will do.
            count: How many numbers. Default: all.
            offset: The byte that the first begins with.
            dtype: What the bytes stand for.

        Raises:
            RuntimeError: If ``byte_order`` is missing.
            ValueError: If it is another text, or the numbers are not whole or not there.

        Example:
            >>> import tinytorch as tt
            >>> tt.UntypedStorage.from_buffer(b"abc", offset=1).tolist()
            [98, 99]
        """
        found = numbers_in(buffer, byte_order, count, offset, dtypes.as_dtype(dtype))
        return UntypedStorage._of(found, load("numpy"))

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        """Pickles that hold tensors of this memory, too, hold it once."""
        memory = memory_of(self._array, self._xp)
        if memory is None:
            return super().__reduce_ex__(protocol)  # type: ignore[return-value]
        return _rebuild, (type(self), memory, self._xp.dtype_of(self._array), self._lent)

    def _numbers(self) -> Array:
        return self._array.view("uint8")

    def _check_dtype(self, dtype: dtypes.dtype) -> None:
        """Bytes can be read as elements of any dtype."""

    def data_ptr(self) -> int:
        """The address of the first byte; 0 if there is none."""
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
        """Bytes per element."""
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
        """Where the memory is."""
        return device(self._xp.device_type, self._xp.device_index(self._array))

    @property
    def is_cuda(self) -> bool:
        """Whether it is on a GPU."""
        return self._xp.device_type == "cuda"

    @property
    def is_sparse(self) -> bool:
        """False."""
        return False

    @property
    def filename(self) -> None:
        """None: the name of a file is not kept."""

    def is_pinned(self, device: Any = None) -> bool:
        """Whether it is memory of the CPU that a GPU copies from by itself."""
        return bool(wrap(self._array, self._xp).is_pinned())

    def resizable(self) -> bool:
        """Whether ``resize_`` may give it another size."""
        return not self._lent

    def is_shared(self) -> bool:
        """Whether other processes can be given the memory; see ``Tensor.is_shared``."""
        return self._xp.is_shared(self._array)

    def share_memory_(self) -> Self:
        """Move it, and the tensors of it, to where processes share it.

        Raises:
            NotImplementedError: As ``Tensor.share_memory_``.

        Example:
            >>> import tinytorch as tt
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
            return self._of(numbers[index], self._xp)
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

    __copy__ = clone

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self.nbytes()

    def __deepcopy__(self, memo: dict[Any, Any]) -> Self:
        return self._of(deep_copy(self._xp, self._array, memo)[0], self._xp)

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
        size = dtype.to_real().itemsize if dtype.is_complex else dtype.itemsize  # of each part
        rows = self._array.reshape(-1).view("uint8").reshape(-1, size)
        rows[...] = self._xp.array(rows[:, ::-1])

    def cpu(self) -> Self:
        """The storage, or a copy of it on the CPU if it is elsewhere."""
        return self.to(device="cpu")

    def to(self, *, device: Any, non_blocking: bool = False) -> Self:
        """The storage, or a copy of it on ``device`` if it is elsewhere.

        Args:
            device: Where.
            non_blocking: Accepted for compatibility.
        """
        there: Any = wrap(self._array, self._xp).to(device)
        return self if there._data is self._array else self._of(there._data, there._xp)

    def type(self) -> str:
        """``"torch.storage.UntypedStorage"``, in PyTorch's words."""
        return "torch.storage.UntypedStorage"

    def untyped(self) -> UntypedStorage:
        """The storage itself: its elements are bytes."""
        return self

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """The memory as numbers of a dtype, which ``asarray`` reads; default bytes."""
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

    def _facts(self) -> str:
        return f"device={self.device}"

    def __repr__(self) -> str:
        try:
            lines = "".join(f" {number}\n" for number in self.tolist())
        except NotImplementedError:  # on the device meta
            lines = "...\n"
        name = type(self).__name__
        return f"{lines}[tinytorch.storage.{name}({self._facts()}) of size {self.size()}]"


ARRAY_OF[UntypedStorage] = "_array"


def _rebuild(cls: type[UntypedStorage], memory: Memory, dtype: dtypes.dtype, lent: bool) -> Any:
    made = cls._of(memory.flat.view(memory.xp.native_dtype(dtype)), memory.xp)
    made._lent = lent
    return made
