"""The array that kernels see: NumPy's array interface over a raw array of another library.

Methods and operators call the functions of ``Names`` by NumPy's names. How memory works is in the
two subclasses: ``StridedArray`` for libraries with views, ``StoredArray`` for immutable values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy

from ..base import Backend
from .indexing import is_basic
from .library import Dtype, Raw, is_dense

if TYPE_CHECKING:
    from .library import ArrayLibrary
    from .names import Names

_SCALARS = bool, int, float, complex, numpy.generic


class MemoryFlags:
    """NumPy's ``flags`` of an array."""

    __slots__ = ("_array",)

    def __init__(self, array: StandardArray) -> None:
        self._array = array

    @property
    def c_contiguous(self) -> bool:
        """Whether elements lie in row-major order without gaps."""
        return self._array.is_row_major()

    @property
    def f_contiguous(self) -> bool:
        """Whether elements lie in column-major order without gaps."""
        array = self._array
        return is_dense(array.shape[::-1], array.steps()[::-1])

    @property
    def forc(self) -> bool:
        """Whether one of both holds."""
        return self.c_contiguous or self.f_contiguous

    @property
    def owndata(self) -> bool:
        """Whether the array is no view."""
        return self._array.base is None

    @property
    def writeable(self) -> bool:
        """True: libraries of the standard have no read-only arrays."""
        return True

    @writeable.setter
    def writeable(self, value: bool) -> None:
        """Ignore the value."""

    def __getitem__(self, name: str) -> bool:
        return bool(getattr(self, name.lower()))


class StandardArray:
    """NumPy's array interface over a raw array.

    A backend has one subclass, with these class attributes:

    Attributes:
        names: NumPy's functions for these arrays.
        library: Functions on raw arrays.
        raw: The array of the library.
        dtype: NumPy's dtype.
        shape: Tuple of sizes.
        base: The array that this one is a view of, or None.
    """

    __slots__ = ("__weakref__",)
    __array_ufunc__ = None
    __array_priority__ = 100
    __hash__: ClassVar[None] = None  # type: ignore[assignment]  # as of NumPy's arrays
    names: ClassVar[Names]
    library: ClassVar[ArrayLibrary]
    raw: Any
    dtype: Dtype
    shape: tuple[int, ...]
    base: Any

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    # -- what a subclass defines ------------------------------------------------------------

    def steps(self) -> tuple[int, ...]:
        """Strides in elements."""
        raise NotImplementedError

    def is_row_major(self) -> bool:
        """Whether elements lie in row-major order without gaps."""
        return is_dense(self.shape, self.steps())

    def alias(self) -> Self:
        """View of all elements."""
        raise NotImplementedError

    def permute(self, axes: tuple[int, ...]) -> Self:
        """View with permuted dimensions."""
        raise NotImplementedError

    def reshape_to(self, shape: tuple[int, ...]) -> Self:
        """View or copy of another shape of the same size."""
        raise NotImplementedError

    def expand(self, shape: tuple[int, ...]) -> Self:
        """View broadcast to ``shape``."""
        raise NotImplementedError

    def window(self, start: int, shape: tuple[int, ...], steps: tuple[int, ...]) -> Self:
        """View by strides in elements, beginning ``start`` elements after this array."""
        raise NotImplementedError

    def slice(self, key: tuple[Any, ...]) -> Self:
        """View by integers, slices, None and Ellipsis."""
        raise NotImplementedError

    def read_at(self, key: tuple[Any, ...]) -> Self:
        """Copy of the elements at a key of raw arrays, integers and slices."""
        raise NotImplementedError

    def write(self, raw: Raw) -> None:
        """Write a raw array of this dtype that broadcasts to this shape to all elements."""
        raise NotImplementedError

    def write_slice(self, key: tuple[Any, ...], raw: Raw) -> None:
        """Write a raw array of this dtype at a key of integers and slices."""
        self.slice(key).write(raw)

    def write_key(self, key: tuple[Any, ...], raw: Raw) -> None:
        """Write a raw array of this dtype at a key of raw arrays, integers and slices."""
        raise NotImplementedError

    def add_at(self, key: tuple[Any, ...], raw: Raw) -> None:
        """Add a raw array of this dtype at a key, repeated places summed."""
        raise NotImplementedError

    def reinterpret(self, dtype: Dtype) -> Self:
        """View of the bits as another dtype."""
        raise NotImplementedError

    # -- attributes -------------------------------------------------------------------------

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.dtype.itemsize * self.size

    @property
    def strides(self) -> tuple[int, ...]:
        """Strides in bytes."""
        itemsize = self.dtype.itemsize
        return tuple([step * itemsize for step in self.steps()])

    @property
    def flags(self) -> MemoryFlags:
        """Memory layout."""
        return MemoryFlags(self)

    @property
    def T(self) -> Self:
        """View with reversed dimensions."""
        return self.transpose()

    @property
    def mT(self) -> Self:
        """View with the last two dimensions exchanged."""
        return self.swapaxes(-1, -2)

    @property
    def flat(self) -> Self:
        """The elements in row-major order."""
        return self.reshape(-1)

    # -- host -------------------------------------------------------------------------------

    def __array__(self, dtype: Any = None, copy: Any = None) -> numpy.ndarray[Any, Any]:
        raise TypeError(
            f"Implicit conversion of an array of the backend {self.library.name!r} to a NumPy "
            "array is not allowed."
        )

    def host(self) -> numpy.ndarray[Any, Any]:
        """Convert to a NumPy array, and count it."""
        self.names.host_copies += 1
        return self.library.to_host(self.raw)

    def item(self, *index: Any) -> Any:
        """Return the only element, or that at ``index``, as a Python scalar."""
        if index:
            return self[index if len(index) > 1 else index[0]].item()
        if self.size != 1:
            raise ValueError("can only convert an array of size 1 to a Python scalar")
        self.names.host_copies += 1
        return self.library.item(self.raw)

    def tolist(self) -> Any:
        """Return the elements as nested lists of Python scalars."""
        return self.host().tolist()

    def tobytes(self, order: Any = "C") -> bytes:
        """Return the elements as bytes."""
        return self.host().tobytes(order)

    def __bool__(self) -> bool:
        if not self.size:
            return False
        if self.size != 1:
            raise ValueError("The truth value of an array with more than one element is ambiguous.")
        return bool(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __float__(self) -> float:
        return float(self.item())

    def __complex__(self) -> complex:
        return complex(self.item())

    def __index__(self) -> int:
        if self.dtype.kind not in "iu" or self.shape:
            raise TypeError("only integer scalar arrays can be converted to a scalar index")
        return int(self.item())

    def __repr__(self) -> str:
        return f"{self.library.name}: {self.raw!r}"

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __iter__(self) -> Iterator[Self]:
        if not self.shape:
            raise TypeError("iteration over a 0-d array")
        return (self[i] for i in range(self.shape[0]))

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return _from_host, (self.library.name, self.host())

    def __copy__(self) -> Self:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> Self:
        return self.copy()

    def __dlpack__(self, **options: Any) -> Any:
        return self.raw.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[Any, int]:
        return self.raw.__dlpack_device__()  # type: ignore[no-any-return]

    # -- shape and dtype --------------------------------------------------------------------

    def astype(
        self, dtype: Any, order: Any = "K", casting: Any = None, subok: Any = None,
        copy: bool = True,
    ) -> Self:  # fmt: skip
        """Cast to a dtype; without ``copy`` this array itself if it has that dtype."""
        dtype = numpy.dtype(dtype)
        if dtype == self.dtype:
            return self.copy() if copy else self
        return self.names.wrap(self.library.astype(self.raw, dtype))  # type: ignore[no-any-return]

    def copy(self, order: Any = "C") -> Self:
        """Row-major copy."""
        return self.names.wrap(self.library.copy(self.raw))  # type: ignore[no-any-return]

    def fill(self, value: Any) -> None:
        """Write one value to all elements."""
        self[...] = value

    def swapaxes(self, axis1: int, axis2: int) -> Self:
        """View with two dimensions exchanged."""
        axes = list(range(self.ndim))
        axes[axis1], axes[axis2] = axes[axis2], axes[axis1]
        return self.permute(tuple(axes))

    def transpose(self, *axes: Any) -> Self:
        """View with permuted, by default reversed, dimensions."""
        if not axes or axes == (None,):
            return self.permute(tuple(range(self.ndim))[::-1])
        if len(axes) == 1 and not isinstance(axes[0], int):
            axes = tuple(axes[0])
        return self.permute(tuple([int(axis) % max(self.ndim, 1) for axis in axes]))

    def reshape(self, *shape: Any, order: Any = "C", copy: Any = None) -> Self:
        """View or copy of another shape, of which one size may be -1."""
        if len(shape) == 1 and shape[0].__class__ is not int:
            given = shape[0]
            shape = (given,) if isinstance(given, numpy.integer) else tuple(given)
        shape = tuple(map(int, shape))
        total = math.prod(self.shape)
        if -1 in shape or math.prod(shape) != total:
            shape = _infer_shape(total, shape)
        return self.reshape_to(shape)

    def ravel(self, order: Any = "C") -> Self:
        """View or copy of one dimension."""
        return self.reshape(-1)

    def flatten(self, order: Any = "C") -> Self:
        """Copy of one dimension."""
        return self.reshape(-1).copy()

    def squeeze(self, axis: Any = None) -> Self:
        """View without dimensions of size 1."""
        if axis is None:
            axes = {d for d, size in enumerate(self.shape) if size == 1}
        else:
            given = axis if isinstance(axis, (tuple, list)) else (axis,)
            axes = {each % self.ndim for each in given}
        if any(self.shape[d] != 1 for d in axes):
            raise ValueError("cannot select an axis to squeeze out which has size not equal to one")
        return self.slice(tuple([0 if d in axes else slice(None) for d in range(self.ndim)]))

    def view(self, dtype: Any = None, type: Any = None) -> Self:
        """View, of the bits as another dtype if one is passed."""
        if dtype is None:
            return self.alias()
        dtype = numpy.dtype(dtype)
        return self.alias() if dtype == self.dtype else self.reinterpret(dtype)

    def setflags(self, *args: Any, **options: Any) -> None:
        """Do nothing: there are no read-only arrays."""

    def sort(self, axis: int = -1, kind: Any = None) -> None:
        """Sort in place."""
        self[...] = self.names.sort(self, axis)

    def partition(self, kth: Any, axis: int = -1) -> None:
        """Sort in place, which is a partition at each element."""
        self[...] = self.names.sort(self, axis)

    # -- indexing ---------------------------------------------------------------------------

    def __getitem__(self, index: Any) -> Self:
        key = index if index.__class__ is tuple else (index,)
        if is_basic(key):
            return self.slice(key)
        key = self.names.raw_key(key)
        return self.slice(key) if is_basic(key) else self.read_at(key)

    def __setitem__(self, index: Any, value: Any) -> None:
        raw = self.names.operand_of(value, self.dtype)
        key = index if index.__class__ is tuple else (index,)
        if not is_basic(key):
            key = self.names.raw_key(key)
        if is_basic(key):
            self.write(raw) if key == (Ellipsis,) else self.write_slice(key, raw)
        else:
            self.write_key(key, raw)


def _infer_shape(total: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Replace a -1 in ``shape`` by its size; raise ValueError if the numbers of elements differ."""
    known = -math.prod(shape)
    if min(shape, default=0) == -1 and shape.count(-1) == 1 and known and total % known == 0:
        return tuple([total // known if size == -1 else size for size in shape])
    raise ValueError(f"cannot reshape array of size {total} into shape {shape}")


def _from_host(name: str, host: numpy.ndarray[Any, Any]) -> Any:
    """Create an array of the backend called ``name``, when one is unpickled."""
    return Backend.registry.load(name).from_numpy(host)


def _install_operators() -> None:
    """Define the operators of ``StandardArray`` by the functions of ``Names``."""
    binary = {
        "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "true_divide",
        "floordiv": "floor_divide", "mod": "remainder", "pow": "power", "and": "bitwise_and",
        "or": "bitwise_or", "xor": "bitwise_xor", "lshift": "left_shift",
        "rshift": "right_shift", "matmul": "matmul",
    }  # fmt: skip
    for word, name in binary.items():
        setattr(StandardArray, f"__{word}__", _operator(name))
        setattr(StandardArray, f"__r{word}__", _swap_operands(name))
        setattr(StandardArray, f"__i{word}__", _inplace_operator(name))
    for word, name in {
        "lt": "less", "le": "less_equal", "eq": "equal", "ne": "not_equal", "gt": "greater",
        "ge": "greater_equal", "divmod": "divmod",
    }.items():  # fmt: skip
        setattr(StandardArray, f"__{word}__", _operator(name))
    for word, name in {
        "neg": "negative", "pos": "positive", "invert": "invert", "abs": "absolute",
    }.items():  # fmt: skip
        setattr(StandardArray, f"__{word}__", _method(name))
    for name in (
        "all any argmax argmin argsort choose clip compress conj conjugate cumprod cumsum "
        "diagonal dot max mean min nonzero prod ptp repeat round searchsorted std sum take trace "
        "var"
    ).split():
        setattr(StandardArray, name, _method(name))


def _check_operand(other: Any) -> bool:
    """Whether ``other`` may be an operand; raise TypeError for an array of NumPy's."""
    if isinstance(other, (StandardArray, *_SCALARS)):
        return True
    if isinstance(other, numpy.ndarray):
        raise TypeError(f"Unsupported type {type(other)}")
    return False


def _operator(name: str) -> Callable[[StandardArray, Any], Any]:
    def operator(self: StandardArray, other: Any) -> Any:
        if other.__class__ is not self.__class__ and not _check_operand(other):
            return NotImplemented
        return getattr(self.names, name)(self, other)

    return operator


def _swap_operands(name: str) -> Callable[[StandardArray, Any], Any]:
    def operator(self: StandardArray, other: Any) -> Any:
        return getattr(self.names, name)(other, self) if _check_operand(other) else NotImplemented

    return operator


def _inplace_operator(name: str) -> Callable[[StandardArray, Any], Any]:
    def operator(self: StandardArray, other: Any) -> Any:
        if not _check_operand(other):
            return NotImplemented
        return getattr(self.names, name)(self, other, out=self)

    return operator


def _method(name: str) -> Callable[..., Any]:
    def method(self: StandardArray, *args: Any, **options: Any) -> Any:
        return getattr(self.names, name)(self, *args, **options)

    method.__name__ = name
    return method


_install_operators()
