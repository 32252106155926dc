"""``TypedStorage``, the storage of a tensor in elements of its dtype, and its named classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from ... import dtypes
from ...core.relocation import ARRAY_OF
from ...dispatch.op import Array
from ...dispatch.out import scalar_name
from ...dtypes import STORAGES
from ...state import default_dtype
from ...warnings import warn
from .factories import empty, tensor
from .untyped_storage import Casts, UntypedStorage


class TypedStorage(UntypedStorage):
    """Storage of tensors, in elements of their dtype; deprecated in PyTorch.

    Args:
        size: The number of elements, which are uninitialized; or a sequence of the elements.
        wrap_storage: An existing storage, in place of ``size``.
        dtype: The dtype of the elements. Default: the default dtype.
        device: The device. Default: the device of new tensors.

    Raises:
        RuntimeError: If the arguments do not fit each other.
        TypeError: If an argument has a wrong type.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore", UserWarning)
        ...     tt.arange(4).reshape(2, 2)[1].storage().tolist()
        ...     storage = tt.TypedStorage([1.5, 2], dtype=tt.int32)
        [0, 1, 2, 3]
        >>> storage.tolist(), storage.type(), storage.pickle_storage_type()
        ([1, 2], 'torch.IntStorage', 'IntStorage')
    """

    def __init__(
        self, *size: Any, wrap_storage: Any = None, dtype: Any = None, device: Any = None,
        _internal: bool = False,
    ) -> None:  # fmt: skip
        if not _internal:
            deprecate()
        if wrap_storage is None:
            self._allocate(size, default_dtype() if dtype is None else dtype, device)
            return
        if size:
            raise _argument_error(
                "No positional arguments should be given when using 'wrap_storage'"
            )
        if dtype is None:
            raise _argument_error("Argument 'dtype' must be specified")
        if not isinstance(dtype, dtypes.dtype):
            raise _argument_type_error(
                f"Argument 'dtype' must be torch.dtype, but got {type(dtype)}"
            )
        if device is not None:
            raise _argument_error(
                "Argument 'device' should not be specified when 'wrap_storage' is given"
            )
        if type(wrap_storage) is not UntypedStorage:
            raise _argument_type_error(
                f"Argument 'wrap_storage' must be UntypedStorage, but got {type(wrap_storage)}"
            )
        self._xp = wrap_storage._xp
        self._array = wrap_storage._array.reshape(-1).view(self._xp.native_dtype(dtype))

    def _allocate(self, size: tuple[Any, ...], dtype: Any, device: Any) -> None:
        """Allocate memory for a number of elements, or for the elements of a sequence.

        ``size`` holds the positional arguments of the class.
        """
        if not isinstance(dtype, dtypes.dtype):
            raise RuntimeError(f"expected torch.dtype, but got {type(dtype)}")
        if len(size) > 1:
            raise _argument_error("Too many positional arguments")
        size_or_data = size[0] if size else 0
        if isinstance(size_or_data, str):
            raise TypeError("new(): invalid data type 'str'")
        if not isinstance(size_or_data, (int, Sequence)):
            raise _argument_type_error(f"Argument type not recognized: {type(size_or_data)}")
        create = empty if isinstance(size_or_data, int) else tensor
        created: Any = create(size_or_data, dtype=dtype, device=device)
        self._array, self._xp = created._data, created._xp

    def _numbers(self) -> Array:
        return self._array

    def _to_element(self, value: Any) -> Any:
        if isinstance(value, UntypedStorage):
            raise RuntimeError(f"cannot set item with value type {type(value)}")
        return value

    @property
    def dtype(self) -> dtypes.dtype:
        """The dtype of the elements."""
        return self._xp.dtype_of(self._array)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            raise RuntimeError("slices are only supported in UntypedStorage.__getitem__")
        return super().__getitem__(index)

    def untyped(self) -> UntypedStorage:
        """The storage of the same memory in bytes."""
        return UntypedStorage._from_array(self._array, self._xp)

    def resize_(self, size: int) -> Self:
        """Change the number of elements to ``size``; new elements are uninitialized."""
        return super().resize_(size * self.element_size())

    @property
    def _untyped_storage(self) -> UntypedStorage:
        return self.untyped()

    def pickle_storage_type(self) -> str:
        """PyTorch's name for storages of this dtype, such as ``"FloatStorage"``."""
        return STORAGES[self.dtype.name]

    def type(self) -> str:
        """PyTorch's name with its module, such as ``"torch.FloatStorage"``."""
        place = "torch.cuda" if self.is_cuda else "torch"
        return f"{place}.{self.pickle_storage_type()}"

    def _check_dtype(self, dtype: dtypes.dtype) -> None:
        """Raise RuntimeError if the elements have another dtype."""
        if dtype is not self.dtype:
            raise RuntimeError(
                f"Expected a Storage of type {scalar_name(dtype)} or an UntypedStorage, but got "
                f"type {scalar_name(self.dtype)} for argument 'storage'"
            )

    def _describe(self) -> str:
        return f"dtype={self.dtype}, device={self.device}"


Casts._typed = TypedStorage


def _argument_error(reason: str) -> RuntimeError:
    return RuntimeError(f"TypedStorage() received an invalid combination of arguments. {reason}")


def _argument_type_error(reason: str) -> TypeError:
    return TypeError(f"TypedStorage() received an invalid combination of arguments. {reason}")


def deprecate() -> None:
    """Warn that the class is deprecated, as PyTorch does."""
    warn(
        "TypedStorage is deprecated. It will be removed in the future and UntypedStorage will be "
        "the only storage class. To access UntypedStorage directly, use tensor.untyped_storage() "
        "instead of tensor.storage()"
    )


ARRAY_OF[TypedStorage] = "_array"


class NamedStorage(type):
    """Metaclass of the named classes, whose calls return instances of ``TypedStorage``."""

    dtype: Any

    def __call__(
        cls, *args: Any, wrap_storage: Any = None, _internal: bool = False, **others: Any
    ) -> TypedStorage:
        for name in others:
            if name not in ("device", "dtype"):
                raise TypeError(f"{cls.__name__}() got an unexpected keyword argument '{name}'")
            raise _argument_error(f"Keyword argument '{name}' cannot be specified")
        device = "cpu" if wrap_storage is None else None
        return TypedStorage(
            *args, wrap_storage=wrap_storage, dtype=cls.dtype, device=device, _internal=_internal
        )

    def __instancecheck__(cls, instance: object) -> bool:
        if not isinstance(instance, TypedStorage):
            return False
        return instance.dtype is cls.dtype and not instance.is_cuda

    def from_buffer(
        cls, buffer: Any, byte_order: str | None = None, count: int = -1, offset: int = 0
    ) -> TypedStorage:
        """``UntypedStorage.from_buffer`` for this dtype."""
        storage = UntypedStorage.from_buffer(buffer, byte_order, count, offset, dtype=cls.dtype)
        return TypedStorage(wrap_storage=storage, dtype=cls.dtype)

    def from_file(cls, filename: Any, shared: bool = False, size: int = 0) -> TypedStorage:
        """``UntypedStorage.from_file`` for ``size`` elements of this dtype."""
        storage = UntypedStorage.from_file(filename, shared, size * cls.dtype.itemsize)
        return TypedStorage(wrap_storage=storage, dtype=cls.dtype)


def _make_named_storage(name: str) -> Any:
    """Create the class with the name ``name`` of PyTorch, such as ``FloatStorage``."""
    dtype = next(dtypes.NAMES[kind] for kind, called in STORAGES.items() if called == name)
    numbers = {"b": [True, False], "f": [1.0, 0.0], "c": [1 + 0j, 0j]}.get(dtype.kind, [1, 0])
    example = f"""
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore", UserWarning)
        ...     tt.{name}([1, 0]).tolist(), isinstance(tt.ones(1).storage(), tt.{name})
        ({numbers}, {dtype is dtypes.float32})"""
    if dtype is dtypes.bfloat16:  # a dtype that NumPy does not have
        example = f"""
        >>> isinstance(tt.ones(1), tt.{name})
        False"""
    text = f"""Memory on the CPU in elements of dtype {dtype.name}; deprecated, as it is in PyTorch.

    It is called with a size, with a sequence of elements, or with ``wrap_storage=`` memory.

    Example:
        >>> import warnings{example}
    """
    return NamedStorage(name, (), {"__module__": "tinytorch", "__doc__": text, "dtype": dtype})


FloatStorage: Any = _make_named_storage("FloatStorage")
DoubleStorage: Any = _make_named_storage("DoubleStorage")
HalfStorage: Any = _make_named_storage("HalfStorage")
BFloat16Storage: Any = _make_named_storage("BFloat16Storage")
LongStorage: Any = _make_named_storage("LongStorage")
IntStorage: Any = _make_named_storage("IntStorage")
ShortStorage: Any = _make_named_storage("ShortStorage")
CharStorage: Any = _make_named_storage("CharStorage")
ByteStorage: Any = _make_named_storage("ByteStorage")
BoolStorage: Any = _make_named_storage("BoolStorage")
ComplexFloatStorage: Any = _make_named_storage("ComplexFloatStorage")
ComplexDoubleStorage: Any = _make_named_storage("ComplexDoubleStorage")
