"""The array that kernels see while a function is recorded: NumPy's interface, every call a node.

Its attributes are those of the real array that it holds, so that kernels branch as they do on
NumPy's arrays. What returns numbers to Python is a break.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy

from .calls import call, call_numpy, call_ufunc, mutate, write
from .graph import Kind
from .numbers import OnFloats, TracedNumber
from .traced_memory import TracedArray

_SCALARS = bool, int, float, complex, numpy.generic


class ProgramArray(TracedArray):
    """NumPy's array interface over a real array, whose operations are recorded."""

    __slots__ = ()
    __array_priority__ = 100
    __hash__: ClassVar[None] = None  # type: ignore[assignment]  # as of NumPy's arrays

    # -- attributes -------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, ...]:
        """Tuple of sizes."""
        return self.host.shape  # type: ignore[no-any-return]

    @property
    def strides(self) -> tuple[int, ...]:
        """Strides in bytes."""
        return self.host.strides  # type: ignore[no-any-return]

    @property
    def dtype(self) -> Any:
        """NumPy's dtype."""
        return self.host.dtype

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return self.host.ndim  # type: ignore[no-any-return]

    @property
    def size(self) -> int:
        """Number of elements."""
        return self.host.size  # type: ignore[no-any-return]

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return self.host.itemsize  # type: ignore[no-any-return]

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.host.nbytes  # type: ignore[no-any-return]

    @property
    def flags(self) -> Any:
        """Memory layout."""
        return self.host.flags

    def setflags(self, *args: Any, **kwargs: Any) -> None:
        """Set the flags of the real array."""
        self.host.setflags(*args, **kwargs)

    @property
    def base(self) -> ProgramArray | None:
        """The array that this one is a view of, or None."""
        return ProgramArray.whole(self.memory) if self.chain else None

    @property
    def __array_interface__(self) -> Any:
        """Address and layout; reading values through it is a break."""
        self.note_break("__array_interface__")
        return self.host.__array_interface__

    @property
    def T(self) -> Any:
        """View with reversed dimensions."""
        return call("ndarray.transpose", numpy.ndarray.transpose, (self,), {})

    @property
    def mT(self) -> Any:
        """View with the last two dimensions exchanged."""
        return call("ndarray.swapaxes", numpy.ndarray.swapaxes, (self, -1, -2), {})

    @property
    def real(self) -> Any:
        """View of the real parts."""
        return call("ndarray.real", _real_part, (self,), {})

    @real.setter
    def real(self, value: Any) -> None:
        self.real[...] = value

    @property
    def imag(self) -> Any:
        """View of the imaginary parts; of real numbers zeros."""
        return call("ndarray.imag", _imaginary_part, (self,), {})

    @imag.setter
    def imag(self, value: Any) -> None:
        self.imag[...] = value

    @property
    def flat(self) -> FlatElements:
        """The elements in row-major order."""
        return FlatElements(self)

    # -- reading numbers --------------------------------------------------------------------

    def item(self, *index: Any) -> Any:
        """Return the only element, or that at ``index``, as a Python scalar."""
        return self.note_break("item").item(*index)

    def as_number(self) -> TracedNumber:
        """Return the only element as a number that differs between replays."""
        number = self.host.item()
        node = self.recorder.add(Kind.CALL, "number.item", OnFloats(float), (self.value(),), {})
        value = self.recorder.output(node, numpy.array(number, numpy.float64))
        return TracedNumber(number, value, self.recorder)

    def tolist(self) -> Any:
        """Return the elements as nested lists of Python scalars."""
        return self.note_break("tolist").tolist()

    def tobytes(self, *order: Any) -> bytes:
        """Return the elements as bytes."""
        return self.note_break("tobytes").tobytes(*order)  # type: ignore[no-any-return]

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return numpy.array(self.note_break("__array__"), dtype, copy=copy)

    def __bool__(self) -> bool:
        return bool(self.note_break("bool"))

    def __int__(self) -> int:
        return int(self.note_break("int"))

    def __float__(self) -> float:
        return float(self.note_break("float"))

    def __complex__(self) -> complex:
        return complex(self.note_break("complex"))

    def __index__(self) -> int:
        return operator.index(self.note_break("index"))

    def __contains__(self, element: Any) -> bool:
        return bool((self == element).any())

    def __len__(self) -> int:
        return len(self.host)

    def __iter__(self) -> Iterator[Any]:
        if not self.host.ndim:
            raise TypeError("iteration over a 0-d array")
        return (self[i] for i in range(len(self.host)))

    def __repr__(self) -> str:
        return f"recorded {self.host!r}"

    def __reduce__(self) -> Any:
        return self.note_break("pickle").__reduce__()

    def __copy__(self) -> Any:
        return call("ndarray.copy", numpy.ndarray.copy, (self,), {})

    def __deepcopy__(self, memo: Any) -> Any:
        return self.__copy__()

    def __dlpack__(self, **options: Any) -> Any:
        return self.note_break("__dlpack__").__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.host.__dlpack_device__()

    # -- NumPy's protocols: library code may call NumPy itself ------------------------------

    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, **kwargs: Any) -> Any:
        if method == "__call__":
            return call_ufunc(ufunc, args, kwargs)
        name = f"{ufunc.__name__}.{method}"
        if method == "at":
            return mutate(name, ufunc.at, args, kwargs)
        return call(name, getattr(ufunc, method), args, kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return call_numpy(f"numpy.{function.__name__}", function, args, kwargs)

    # -- indexing and writes ----------------------------------------------------------------

    def __getitem__(self, key: Any) -> Any:
        return call("getitem", operator.getitem, (self, _check_key(key)), {})

    def __setitem__(self, key: Any, value: Any) -> None:
        if is_basic(key):
            target = self if _selects_all(key) else self[key]
            if target.__class__ is ProgramArray and target.memory is self.memory:
                return write(target, value)
        mutate("setitem", operator.setitem, (self, key, value), {})

    def fill(self, value: Any) -> None:
        """Write one value to all elements."""
        write(self, value)

    def sort(self, axis: int = -1, kind: Any = None) -> None:
        """Sort in place."""
        mutate("ndarray.sort", numpy.ndarray.sort, (self, axis, kind), {})

    def partition(self, kth: Any, axis: int = -1) -> None:
        """Partition in place."""
        mutate("ndarray.partition", numpy.ndarray.partition, (self, kth, axis), {})


class FlatElements:
    """NumPy's ``flat`` of a recorded array."""

    __slots__ = ("_array",)

    def __init__(self, array: ProgramArray) -> None:
        self._array = array

    def __getitem__(self, key: Any) -> Any:
        return self._array.reshape(-1)[key]  # type: ignore[attr-defined]

    def __setitem__(self, key: Any, value: Any) -> None:
        mutate("flat", _set_flat, (self._array, key, value), {})

    def __len__(self) -> int:
        return self._array.size


def _set_flat(array: Any, key: Any, value: Any) -> None:
    array.flat[key] = value


def _real_part(array: Any) -> Any:
    return array.real


def _imaginary_part(array: Any) -> Any:
    return array.imag


def _check_key(key: Any) -> Any:
    """Return a key; note a break if the shape of the result depends on values."""
    for item in key if key.__class__ is tuple else (key,):
        if item.__class__ is ProgramArray and item.dtype == bool:
            item.note_break("boolean mask as an index")
    return key


def is_basic(key: Any) -> bool:
    """Whether a key selects a view."""
    if key.__class__ is tuple:
        return all(map(is_basic, key))
    if isinstance(key, bool):
        return False
    return key is None or key is Ellipsis or isinstance(key, (int, slice, numpy.integer))


def _selects_all(key: Any) -> bool:
    return key is Ellipsis or key == () or key.__class__ is slice and key == slice(None)


# -- operators and methods -----------------------------------------------------------------

_BINARY = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide",
    "floordiv": "floor_divide", "mod": "remainder", "and": "bitwise_and", "or": "bitwise_or",
    "xor": "bitwise_xor", "lshift": "left_shift", "rshift": "right_shift", "matmul": "matmul",
}  # fmt: skip
_COMPARISONS = {
    "lt": "less", "le": "less_equal", "eq": "equal", "ne": "not_equal", "gt": "greater",
    "ge": "greater_equal", "divmod": "divmod",
}  # fmt: skip
_UNARY = {"neg": "negative", "pos": "positive", "invert": "invert", "abs": "absolute"}
_METHODS = (
    "all any argmax argmin argpartition argsort astype byteswap choose clip conj conjugate copy "
    "cumprod cumsum diagonal dot flatten max mean min prod ravel repeat reshape round searchsorted "
    "squeeze std sum swapaxes take trace transpose var view"
).split()
_READING_METHODS = ("nonzero", "compress")
#: Places of ``out`` among the arguments by position.
_OUT_PLACES = {
    "all": 1, "any": 1, "argmax": 1, "argmin": 1, "max": 1, "min": 1, "sum": 2, "prod": 2,
    "mean": 2, "std": 2, "var": 2, "cumsum": 2, "cumprod": 2, "dot": 1, "take": 2, "round": 1,
    "clip": 2, "choose": 1, "compress": 2, "trace": 4,
}  # fmt: skip
#: Ufuncs of an exponent, by which NumPy's operator ``**`` computes powers of floats.
_POWERS = {2.0: numpy.square, 0.5: numpy.sqrt, -1.0: numpy.reciprocal, 1.0: numpy.positive}


def _is_operand(other: Any) -> bool:
    return isinstance(other, (ProgramArray, TracedNumber, numpy.ndarray, *_SCALARS))


def _operators(ufunc: Any) -> tuple[Callable[..., Any], ...]:
    """Return the operator of a ufunc, the one with exchanged operands, and the one in place."""

    def operate(self: ProgramArray, other: Any) -> Any:
        return call_ufunc(ufunc, (self, other), {}) if _is_operand(other) else NotImplemented

    def operate_exchanged(self: ProgramArray, other: Any) -> Any:
        return call_ufunc(ufunc, (other, self), {}) if _is_operand(other) else NotImplemented

    def operate_in_place(self: ProgramArray, other: Any) -> Any:
        if not _is_operand(other):
            return NotImplemented
        return call_ufunc(ufunc, (self, other), {"out": self})

    return operate, operate_exchanged, operate_in_place


def _power(self: ProgramArray, other: Any) -> Any:
    """``self ** other``, by the ufunc that NumPy's operator chooses."""
    if isinstance(other, (int, float)) and not isinstance(other, bool):
        kind = self.dtype.kind
        ufunc = _POWERS.get(other) if kind in "fc" else None
        if kind in "iu" and other == 2 and isinstance(other, int):
            ufunc = numpy.square
        if ufunc is not None:
            return call_ufunc(ufunc, (self,), {})
    return call_ufunc(numpy.power, (self, other), {}) if _is_operand(other) else NotImplemented


def _unary(ufunc: Any) -> Callable[..., Any]:
    def operate(self: ProgramArray) -> Any:
        return call_ufunc(ufunc, (self,), {})

    return operate


def _method(name: str) -> Callable[..., Any]:
    function, place = getattr(numpy.ndarray, name), _OUT_PLACES.get(name, 9)

    def method(self: ProgramArray, *args: Any, **kwargs: Any) -> Any:
        if name in _READING_METHODS:
            self.note_break(name)
        if len(args) > place and args[place] is not None:
            raise NotImplementedError(f"ndarray.{name} with `out` by position")
        return call(f"ndarray.{name}", function, (self, *args), kwargs)

    method.__name__ = name
    return method


def _install_operators() -> None:
    """Define the operators and methods of ``ProgramArray``."""
    for word, name in _BINARY.items():
        functions = _operators(getattr(numpy, name))
        for prefix, function in zip(("", "r", "i"), functions, strict=True):
            setattr(ProgramArray, f"__{prefix}{word}__", function)
    for word, name in _COMPARISONS.items():
        setattr(ProgramArray, f"__{word}__", _operators(getattr(numpy, name))[0])
    for word, name in _UNARY.items():
        setattr(ProgramArray, f"__{word}__", _unary(getattr(numpy, name)))
    power, exchanged, in_place = _operators(numpy.power)
    for word, function in ("__pow__", _power), ("__rpow__", exchanged), ("__ipow__", in_place):
        setattr(ProgramArray, word, function)
    for name in (*_METHODS, *_READING_METHODS):
        setattr(ProgramArray, name, _method(name))


_install_operators()
