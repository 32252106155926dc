"""Memory of a program that is recorded: inputs, bases, and the arrays that are views of them.

As in ``backends/standard/store.py`` an array is a view of a versioned store, a write replaces the
value of the store, and a view of an older version is made anew. Unlike there a view is not a window
of a row-major store but the chain of view operations that leads from the store to it: NumPy's
arrays have any order of memory, on which kernels branch, and a chain replays as views.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

import numpy

from ..backends.standard.store import Store, StoredArray
from .graph import Kind, Value

if TYPE_CHECKING:
    from .recorder import ProgramRecorder

Function = Callable[..., Any]
#: Classes of the arrays that tensors which are recorded hold.
ARRAYS = numpy.ndarray, StoredArray
#: View operation: its name, the function, and its arguments after the first.
Step = tuple[str, Function, tuple[Any, ...], dict[str, Any]]


class Input:
    """Origin of an input of a program.

    Attributes:
        kind: ``"argument"`` (a listed tensor), ``"memory"`` (an array that was not listed) or
            ``"number"`` (a number that is read at each replay).
        index: Of an argument: its place among the listed tensors.
        array: The array that a replay binds if it binds no other.
        read: Of a number: function that returns its present value.
        root: Whether ``array`` is the memory that several listed tensors share, not the argument.
    """

    __slots__ = ("array", "index", "kind", "read", "root")

    def __init__(
        self, kind: str, array: Any = None, index: int = -1,
        read: Callable[[], Any] | None = None, root: bool = False,
    ) -> None:  # fmt: skip
        self.kind: str = kind
        self.array: Any = array
        self.index: int = index
        self.read: Callable[[], Any] | None = read
        self.root: bool = root


class Base:
    """Memory of recorded arrays: its values and the array that all others are views of.

    Attributes:
        store: The present value, with its version.
        host: The real array.
        input: The number of the input that it is; None of an array that the program makes.
    """

    __slots__ = ("host", "input", "store", "whole")

    def __init__(
        self, host: Any, value: Value, recorder: ProgramRecorder, input: int | None
    ) -> None:
        self.store: Store = Store(value, recorder)
        self.host: Any = host
        self.input: int | None = input
        self.whole: weakref.ref[TracedArray] | None = None  # a cycle would keep arrays alive


class TracedArray:
    """Real array of NumPy's with its place in a program.

    Attributes:
        host: The real array.
        memory: The memory that it is a view of.
        chain: View operations that lead from the memory to it.
    """

    __slots__ = ("__weakref__", "_value", "_version", "chain", "host", "memory")

    def __init__(self, host: Any, memory: Base, chain: tuple[Step, ...]) -> None:
        self.host: Any = host
        self.memory: Base = memory
        self.chain: tuple[Step, ...] = chain
        self._value: Value | None = None
        self._version = -1

    @classmethod
    def whole(cls, memory: Base) -> Self:
        """Return the array of all of a memory, always the same."""
        found = None if memory.whole is None else memory.whole()
        if found is None:
            found = cls(memory.host, memory, ())
            memory.whole = weakref.ref(found)
        return found  # type: ignore[return-value]

    @property
    def recorder(self) -> ProgramRecorder:
        """The recorder of the program."""
        return self.memory.store.trace  # type: ignore[no-any-return]

    def is_recorded(self) -> bool:
        """Whether operations on it are recorded now."""
        return self.recorder.is_active()

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

    def view_as(self, real: Any, step: Step, value: Value | None = None) -> Self:
        """Return a view of it, made by one more view operation."""
        out = self.__class__(real, self.memory, (*self.chain, step))
        if value is not None:
            out._value, out._version = value, self.memory.store.version
        return out

    def note_break(self, what: str) -> Any:
        """Note that numbers are read; return the real array."""
        recorder = self.recorder
        if recorder.is_active():
            if not recorder.is_static(self.value()):
                recorder.note_break(what)
        elif recorder.thread != threading.get_ident():
            recorder.breaks.append(("another thread reads a tensor", ""))
        return self.host


def root_of(array: Any) -> Any:
    """Return the array that owns the memory of ``array``."""
    root = base = array
    while (base := getattr(base, "base", None)) is not None:
        if isinstance(base, ARRAYS):  # as_strided puts another object between
            root = base
    return root


def memory_id(array: Any) -> int:
    """Return a number that arrays which share memory have in common."""
    if isinstance(array, ARRAYS):
        return id(root_of(array))
    # A view of CuPy's that as_strided made has no base, but every array has its allocation.
    return id(array.data.mem) if array.size else id(array)


class _Memory:
    """Owner of the memory of an array, which is no array itself.

    Args:
        array: The array.
    """

    def __init__(self, array: Any) -> None:
        self.array = array
        self.__array_interface__ = array.__array_interface__


def change_owner(array: Any) -> Any:
    """Return an array of NumPy's on the same memory that is a view of no other array."""
    return numpy.asarray(_Memory(array))


def place_view(root: Any, array: Any) -> tuple[str, Function, tuple[Any, ...], dict[str, Any]]:
    """Return the view operation that makes ``array`` from its ``root``."""
    if root.flags.c_contiguous and array.flags.c_contiguous and root.nbytes == array.nbytes:
        if root.dtype == array.dtype:
            return "ndarray.reshape", numpy.ndarray.reshape, (array.shape,), {}
    offset = address(array) - address(root)
    return "window", window, (array.shape, array.strides, offset, array.dtype), {}


def address(array: Any) -> int:
    """Address of the first element of an array of NumPy's."""
    return int(array.__array_interface__["data"][0])


def is_within(array: Any, root: Any, find_address: Callable[[Any], int] = address) -> bool:
    """Whether an array is a part of a root that has no gaps.

    Args:
        array: The array.
        root: The root.
        find_address: Function that returns the address of an array of the backend.
    """
    if not (root.flags.c_contiguous or root.flags.f_contiguous):
        return False
    low, high = byte_bounds(array, find_address(array))
    start, stop = byte_bounds(root, find_address(root))
    return start <= low and high <= stop


def byte_bounds(array: Any, start: int) -> tuple[int, int]:
    """Return the addresses of the first byte of an array, and of the one behind its last byte.

    Args:
        array: The array.
        start: The address of its first element.
    """
    if not array.size:
        return start, start
    steps = [(n - 1) * step for n, step in zip(array.shape, array.strides, strict=True)]
    low, high = sum(min(0, step) for step in steps), sum(max(0, step) for step in steps)
    return start + low, start + high + array.itemsize


def window(
    root: Any, shape: tuple[int, ...], strides: tuple[int, ...], offset: int, dtype: Any
) -> Any:
    """View of the memory of ``root``, which has no gaps, by an offset and strides in bytes."""
    flat = root if root.flags.c_contiguous else root.T
    if not flat.flags.c_contiguous:
        raise NotImplementedError("memory with gaps cannot be recorded")
    if not flat.size:
        return numpy.ndarray(shape, dtype)
    out = numpy.ndarray(shape, dtype, flat, offset, strides)
    out.flags.writeable = root.flags.writeable
    return out


def map_tree(convert: Callable[[Any], Any], tree: Any) -> Any:
    """Apply a function to all items of nested tuples, lists, dicts and slices."""
    kind = tree.__class__
    if kind is tuple or kind is list:
        return kind([map_tree(convert, item) for item in tree])
    if kind is dict:
        return {name: map_tree(convert, item) for name, item in tree.items()}
    if kind is slice:
        return slice(*[map_tree(convert, item) for item in (tree.start, tree.stop, tree.step)])
    return convert(tree)
