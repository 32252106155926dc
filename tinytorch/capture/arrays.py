"""The array that kernels see while a function is recorded.

It holds a real array of NumPy's, on which every call is made, and a place in the program. As in
``backends/standard/store.py`` an array is a view of a versioned store, a write replaces the value
of the store, and a view of an older version is made anew. Unlike there a view is not a window of a
row-major store but the chain of view operations that leads from the store to it: NumPy's arrays
have any order of memory, on which kernels branch, and a chain replays as views.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy

from .graph import Kind, Node, Value
from .numbers import OnFloats, TracedNumber
from .recorder import (
    Base,
    Recorder,
    arrays_in,
    current_recorder,
    has_arrays,
    map_tree,
    root_of,
    thread_id,
)

#: View operation: its name, the function, and its arguments after the first.
Step = tuple[str, Callable[..., Any], tuple[Any, ...], dict[str, Any]]
_SCALARS = bool, int, float, complex, numpy.generic


class RecordedArray:
    """NumPy's array interface over a real array, whose operations are recorded.

    Attributes:
        host: The real array.
        memory: The memory that it is a view of.
        chain: View operations that lead from the memory to it.
    """

    __slots__ = ("__weakref__", "_value", "_version", "chain", "host", "memory")
    __array_priority__ = 100
    __hash__ = None  # type: ignore[assignment]  # as of NumPy's arrays

    def __init__(self, host: Any, memory: Base, chain: tuple[Step, ...]) -> None:
        self.host, self.memory, self.chain = host, memory, chain
        self._value: Value | None = None
        self._version = -1

    @classmethod
    def whole(cls, memory: Base) -> RecordedArray:
        """Return the array of all of a memory, always the same."""
        if memory.whole is None:
            memory.whole = cls(memory.host, memory, ())
        return memory.whole

    @property
    def recorder(self) -> Recorder:
        """The recorder of the program."""
        return self.memory.store.trace  # type: ignore[no-any-return]

    def is_recorded(self) -> bool:
        """Whether operations on it are recorded now."""
        recorder = self.recorder
        return current_recorder() is recorder

    def value(self) -> Value:
        """Return the value at this point of the program."""
        store = self.memory.store
        if self._version != store.version:
            value, real = store.raw, self.memory.host
            for name, function, args, kwargs in self.chain:
                node = self.recorder.add(Kind.VIEW, name, function, (value, *args), kwargs)
                real = function(real, *args, **kwargs)
                value = self.recorder.output(node, real)
            self._value, self._version = value, store.version
        return self._value  # type: ignore[return-value]

    def set_value(self, value: Value) -> None:
        """Make a value of its shape and dtype the one that it holds from here on."""
        store = self.memory.store
        if self.chain:
            node = self.recorder.add(Kind.PUT, "put", None, (store.raw, value), {})
            node.views = tuple([step[1:] for step in self.chain])
            store.replace(self.recorder.output(node, self.memory.host))
        else:
            store.replace(value)
        self._value, self._version = value, store.version

    def view_as(self, real: Any, step: Step, value: Value | None = None) -> RecordedArray:
        """Return a view of it, made by one more view operation."""
        out = RecordedArray(real, self.memory, (*self.chain, step))
        if value is not None:
            out._value, out._version = value, self.memory.store.version
        return out

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
    def base(self) -> RecordedArray | None:
        """The array that this one is a view of, or None."""
        return RecordedArray.whole(self.memory) if self.chain else None

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

    def note_break(self, what: str) -> Any:
        """Note that numbers are read; return the real array."""
        recorder = self.recorder
        if current_recorder() is recorder:
            if self.value() not in recorder.static:
                recorder.note_break(what)
        elif recorder.thread != thread_id():
            recorder.breaks.append(("another thread reads a tensor", ""))
        return self.host

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
        return self.copy()

    def __deepcopy__(self, memo: Any) -> Any:
        return self.copy()

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
        from .backend import wrap_function

        return wrap_function(f"numpy.{function.__name__}", function)(*args, **kwargs)

    # -- indexing and writes ----------------------------------------------------------------

    def __getitem__(self, key: Any) -> Any:
        return call("getitem", operator.getitem, (self, _checked_key(key)), {})

    def __setitem__(self, key: Any, value: Any) -> None:
        if is_basic(key):
            target = self if _selects_all(key) else self[key]
            if target.__class__ is RecordedArray and target.memory is self.memory:
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

    def __init__(self, array: RecordedArray) -> None:
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


def _checked_key(key: Any) -> Any:
    """Return a key; note a break if the shape of the result depends on values."""
    for item in key if key.__class__ is tuple else (key,):
        if item.__class__ is RecordedArray and item.dtype == bool:
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


# -- calls ----------------------------------------------------------------------------------


def unwrap(item: Any) -> Any:
    """Return the real array of a recorded one, and the float of a traced number."""
    if item.__class__ is RecordedArray:
        return item.host
    return item.number if item.__class__ is TracedNumber else item


def _symbol(item: Any) -> Any:
    """Return the value of a recorded array, and of a traced number."""
    if item.__class__ is RecordedArray:
        return item.value()
    return item.value if item.__class__ is TracedNumber else item


def symbols(tree: Any) -> Any:
    """Return arguments with the values of recorded arrays."""
    return map_tree(_symbol, tree)


def call(
    name: str, function: Callable[..., Any], args: Any, kwargs: Any, kind: Kind = Kind.CALL
) -> Any:
    """Call a function on the real arrays, and record the call.

    Returns:
        What the function returns, with recorded arrays for arrays and NumPy's scalars.
    """
    if kwargs and "out" in kwargs:
        if kwargs["out"] is not None:
            return _call_with_out(name, function, args, kwargs)
        kwargs = {key: value for key, value in kwargs.items() if key != "out"}
    recorder = current_recorder()
    real_args, real_kwargs = map_tree(unwrap, args), map_tree(unwrap, kwargs)
    if recorder is None:
        return function(*real_args, **real_kwargs)
    sources = [*arrays_in(args), *arrays_in(kwargs)]
    node_args, node_kwargs = symbols(args), symbols(kwargs)
    result = function(*real_args, **real_kwargs)
    return wrap_result(
        recorder, result, Node(kind, name, function, node_args, node_kwargs, recorder.tag),
        args, sources,
    )  # fmt: skip


def wrap_result(
    recorder: Recorder, result: Any, node: Node, args: Any, sources: list[RecordedArray]
) -> Any:
    """Wrap what a function returned; add its node unless its results are arguments or views."""
    is_several = result.__class__ is tuple or result.__class__ is list or hasattr(result, "_fields")
    wrapped, is_used = [], False
    for index, real in enumerate(result if is_several else (result,)):
        if isinstance(real, numpy.generic):
            real = numpy.asarray(real)
        if not isinstance(real, numpy.ndarray):
            wrapped.append(real)
            continue
        out = _as_view(recorder, real, node, index if is_several else None, args, sources)
        if out is None:
            out, is_used = recorder.fresh(real, recorder.output(node, real, index)), True
        wrapped.append(out)
    if is_used:
        recorder.program.nodes.append(node)
    if not is_several:
        return wrapped[0]
    if hasattr(result, "_fields"):
        return type(result)(*wrapped)
    return result.__class__(wrapped)


def _as_view(
    recorder: Recorder, real: Any, node: Node, index: int | None, args: Any,
    sources: list[RecordedArray],
) -> Any:  # fmt: skip
    """Return a result that is an argument or a view of one; None for new memory."""
    for source in sources:
        if real is source.host:
            return source
    if real.base is None:
        return None
    root = root_of(real)
    for source in sources:
        if root is source.host or root is root_of(source.host):
            return _view_of(recorder, source, real, node, index, args)
    return None


def _view_of(
    recorder: Recorder, source: RecordedArray, real: Any, node: Node, index: int | None, args: Any
) -> RecordedArray:
    """Record a view of an argument."""
    function, rest = node.function, node.args[1:]
    name, kwargs = node.name, node.kwargs
    assert function is not None
    if not args or args[0] is not source or has_arrays(args[1:]):
        if not numpy.broadcast_to(source.host, real.shape).strides == real.strides:
            raise NotImplementedError(f"a view of an argument that is not the first: {name}")
        name, function, rest, kwargs = "numpy.broadcast_to", numpy.broadcast_to, (real.shape,), {}
    elif index is not None:
        name, function, rest, kwargs = name, _PickView(function, index), rest, kwargs
    view = recorder.add(Kind.VIEW, name, function, (source.value(), *rest), kwargs)
    value = recorder.output(view, real)
    return source.view_as(real, (name, function, rest, kwargs), value)


class _PickView:
    """View operation: one of several views that a function returns."""

    __slots__ = ("function", "index")

    def __init__(self, function: Callable[..., Any], index: int) -> None:
        self.function, self.index = function, index

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)[self.index]


def mutate(name: str, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Call a function that writes to its first argument, and record the call.

    A target that is no recorded array becomes one: a kernel's own array.
    """
    recorder = current_recorder()
    target = args[0]
    real = map_tree(unwrap, args), map_tree(unwrap, kwargs)
    if recorder is None:
        return function(*real[0], **real[1])
    if target.__class__ is not RecordedArray:
        raise TypeError(f"{name} writes to an array that is not recorded")
    node = Node(Kind.MUTATE, name, function, symbols(args), symbols(kwargs), recorder.tag)
    result = function(*real[0], **real[1])
    recorder.program.nodes.append(node)
    target.set_value(recorder.output(node, target.host))
    return result


def _call_with_out(name: str, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Record a call with ``out=`` as a write to that array."""
    kwargs = dict(kwargs)
    out = kwargs.pop("out")
    if out.__class__ is tuple:
        if len(out) > 1:
            return _call_with_outs(name, function, args, kwargs, out)
        (out,) = out
        if out is None:
            return call(name, function, args, kwargs)
    mutate(name, _IntoOut(function), (out, *args), kwargs)
    return out


def _call_with_outs(
    name: str, function: Callable[..., Any], args: Any, kwargs: Any, outs: Any
) -> Any:
    """Record a call with several ``out`` as a call and writes."""
    found = call(name, function, args, kwargs)
    for target, result in zip(outs, found, strict=True):
        if target is not None:
            write(target, result)
    return tuple([b if a is None else a for a, b in zip(outs, found, strict=True)])


class _IntoOut:
    """Function that writes its result to its first argument, by ``out=``."""

    __slots__ = ("function",)

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __call__(self, out: Any, *args: Any, **kwargs: Any) -> None:
        self.function(*args, out=out, **kwargs)


def call_ufunc(ufunc: Any, args: Any, kwargs: Any) -> Any:
    """Record a call of a ufunc; with a fitting ``out=`` as a call and a write."""
    if len(args) > ufunc.nin:
        outs = args[ufunc.nin :]
        args, kwargs = args[: ufunc.nin], {**kwargs, "out": outs if len(outs) > 1 else outs[0]}
    if any(item.__class__ is TracedNumber for item in args):
        args = tuple(fit_numbers(args))
    out = kwargs.get("out") if kwargs else None
    if out.__class__ is tuple and len(out) == 1:
        (out,) = out
    if out is None or out.__class__ is tuple or len(kwargs) > 1 or current_recorder() is None:
        return call(ufunc.__name__, ufunc, args, kwargs)
    recorder: Any = current_recorder()
    node = Node(Kind.CALL, ufunc.__name__, ufunc, symbols(args), {}, recorder.tag)
    result = ufunc(*map_tree(unwrap, args))
    if result.shape != out.shape or result.dtype != out.dtype:
        return call(ufunc.__name__, ufunc, args, {"out": out})
    if out.strides != result.strides and ufunc.__name__ not in _SAME_IN_ANY_LAYOUT:
        node.function = InLayout(ufunc, out.strides)
        result = node.function(*map_tree(unwrap, args))
    out.host[...] = result
    recorder.program.nodes.append(node)
    out.set_value(recorder.output(node, out.host))
    return out


#: Ufuncs that round in one way: a formula for vectors and one for single elements may differ.
_SAME_IN_ANY_LAYOUT = frozenset((
    "add subtract multiply divide negative absolute positive maximum minimum sqrt square "
    "reciprocal fmax fmin sign floor ceil trunc rint conjugate equal not_equal less less_equal greater "
    "greater_equal bitwise_and bitwise_or bitwise_xor invert logical_and logical_or logical_not"
).split())  # fmt: skip


class InLayout:
    """Ufunc that computes its result with given strides, as an ``out=`` had them."""

    __slots__ = ("strides", "ufunc")

    def __init__(self, ufunc: Any, strides: tuple[int, ...]) -> None:
        self.ufunc, self.strides = ufunc, strides

    def __call__(self, *args: Any) -> Any:
        natural = self.ufunc(*args)
        if any(step < 0 for step in self.strides) or not natural.size:
            return natural
        steps = zip(natural.shape, self.strides, strict=True)
        extent = sum((size - 1) * step for size, step in steps) + natural.itemsize
        buffer = numpy.empty(extent, numpy.uint8)
        out = numpy.ndarray(natural.shape, natural.dtype, buffer, 0, self.strides)
        return self.ufunc(*args, out=out)


def fit_numbers(args: Any) -> Iterator[Any]:
    """Convert traced numbers to the dtype that NumPy gives a Python float beside the arrays."""
    dtypes = [item.dtype for item in args if hasattr(item, "dtype")]
    others = [item for item in args if isinstance(item, (int, float, complex))]
    dtype = numpy.result_type(*dtypes, *others, 0.0)
    for item in args:
        yield item.as_array(dtype) if item.__class__ is TracedNumber else item


def write(target: RecordedArray, value: Any) -> None:
    """Record ``target[...] = value``."""
    if not target.is_recorded():
        target.host[...] = unwrap(value)
        return
    if value.__class__ is TracedNumber:
        value = value.as_array(target.dtype)
    real = unwrap(value)
    if (
        value.__class__ is not RecordedArray
        or real.shape != target.host.shape or real.dtype != target.host.dtype
    ):  # fmt: skip
        mutate("setitem", operator.setitem, (target, Ellipsis, value), {})
        return
    if value.memory is target.memory and value.chain == target.chain:
        return  # x += y ends with x[...] = x
    symbol = value.value()
    target.host[...] = real
    target.set_value(symbol)


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
    return isinstance(other, (RecordedArray, TracedNumber, numpy.ndarray, *_SCALARS))


def _operators(ufunc: Any) -> tuple[Callable[..., Any], ...]:
    """Return the operator of a ufunc, the one with exchanged operands, and the one in place."""

    def operate(self: RecordedArray, other: Any) -> Any:
        return call_ufunc(ufunc, (self, other), {}) if _is_operand(other) else NotImplemented

    def operate_exchanged(self: RecordedArray, other: Any) -> Any:
        return call_ufunc(ufunc, (other, self), {}) if _is_operand(other) else NotImplemented

    def operate_in_place(self: RecordedArray, other: Any) -> Any:
        if not _is_operand(other):
            return NotImplemented
        return call_ufunc(ufunc, (self, other), {"out": self})

    return operate, operate_exchanged, operate_in_place


def _power(self: RecordedArray, other: Any) -> Any:
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
    def operate(self: RecordedArray) -> Any:
        return call_ufunc(ufunc, (self,), {})

    return operate


def _method(name: str) -> Callable[..., Any]:
    function, place = getattr(numpy.ndarray, name), _OUT_PLACES.get(name, 9)

    def method(self: RecordedArray, *args: Any, **kwargs: Any) -> Any:
        if name in _READING_METHODS:
            self.note_break(name)
        if len(args) > place and args[place] is not None:
            raise NotImplementedError(f"ndarray.{name} with `out` by position")
        return call(f"ndarray.{name}", function, (self, *args), kwargs)

    method.__name__ = name
    return method


def _install_operators() -> None:
    """Define the operators and methods of ``RecordedArray``."""
    for word, name in _BINARY.items():
        functions = _operators(getattr(numpy, name))
        for prefix, function in zip(("", "r", "i"), functions, strict=True):
            setattr(RecordedArray, f"__{prefix}{word}__", function)
    for word, name in _COMPARISONS.items():
        setattr(RecordedArray, f"__{word}__", _operators(getattr(numpy, name))[0])
    for word, name in _UNARY.items():
        setattr(RecordedArray, f"__{word}__", _unary(getattr(numpy, name)))
    power, exchanged, in_place = _operators(numpy.power)
    for word, function in ("__pow__", _power), ("__rpow__", exchanged), ("__ipow__", in_place):
        setattr(RecordedArray, word, function)
    for name in (*_METHODS, *_READING_METHODS):
        setattr(RecordedArray, name, _method(name))


_install_operators()
