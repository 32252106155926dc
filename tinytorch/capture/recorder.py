"""The recorder: collects the nodes of a program while a function runs on recorded arrays.

A recorded array (``arrays.py``) holds a real array of NumPy's. Each call of the recording backend
(``backend.py``) is made on the real arrays and added to the program, so that the function gets the
results of this call, and the program computes those of later ones.
"""

from __future__ import annotations

import dataclasses
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy

from ..backends.standard.store import Store
from ..graph.nodes import next_seq
from .graph import Kind, Node, Program, Tag, Value, values_in

if TYPE_CHECKING:
    from .arrays import RecordedArray

Function = Callable[..., Any]
#: The recorders by the thread that records.
_recorders: dict[int, Recorder] = {}
_PACKAGE = str(Path(__file__).parent.parent)
find_recorder = _recorders.get
thread_id = threading.get_ident


def current_recorder() -> Recorder | None:
    """Return the recorder of this thread; None if nothing is recorded."""
    return _recorders.get(thread_id())


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
        self.kind, self.array, self.index, self.read, self.root = kind, array, index, read, root


class Base:
    """Memory of recorded arrays: its values and the array that all others are views of.

    Attributes:
        store: The present value, with its version.
        host: The real array.
        input: The number of the input that it is; None of an array that the program makes.
    """

    __slots__ = ("host", "input", "store", "whole")

    def __init__(self, host: Any, value: Value, recorder: Recorder, input: int | None) -> None:
        self.store, self.host, self.input = Store(value, recorder), host, input
        self.whole: RecordedArray | None = None


class Recorder:
    """Program under construction.

    Attributes:
        program: The program.
        sources: The origin of each input.
        breaks: For each number that was read: what was read, and the line of the program.
        guards: Functions without arguments with the values that they must return at a replay.
        once: Reasons why the recording stands for this call alone, and the next is recorded anew.
        actions: Functions to call after each replay, in order, for effects outside of tensors.
        acting: The objects whose attributes these functions change.
        numbers: The traced numbers that are inputs, by what they are read from.
        phase: Phase of the nodes that are added.
        tag: Their tag.
        static: Values that depend on no input and no draw, which may be read.
        draws: For each draw since the last mark the engine, and its state before.
        calls: Number of operations that were called.
        first_node: Creation number of a node of autograd before the recording.
        kernels: Number of kernels that are running, one inside of the other.
    """

    def __init__(self) -> None:
        self.program = Program()
        self.sources: list[Input] = []
        self.breaks: list[tuple[str, str]] = []
        self.guards: list[tuple[Callable[[], Any], Any]] = []
        self.once: list[str] = []
        self.actions: list[Callable[[], Any]] = []
        self.acting: list[Any] = []
        self.numbers: dict[Any, Any] = {}
        self.phase = "forward"
        self.tag = Tag()
        self.static: set[Value] = set()
        self.draws: list[tuple[Any, Any]] = []
        self.calls = self.kernels = 0
        self.thread = thread_id()
        self.first_node: int = next_seq()
        self._engines: dict[int, tuple[Any, Any]] = {}
        self._bases: dict[int, tuple[Any, Base]] = {}
        self._tensors: list[weakref.ref[Any]] = []
        self._nodes: list[weakref.ref[Any]] = []

    # -- nodes ------------------------------------------------------------------------------

    def add(
        self, kind: Kind, name: str, function: Function | None, args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Node:  # fmt: skip
        """Append a node to the program."""
        node = Node(kind, name, function, args, kwargs, self.tag)
        self.program.nodes.append(node)
        return node

    def output(self, node: Node, real: Any, index: int = 0) -> Value:
        """Return a new value of a node: its output number ``index``."""
        value = Value(real, node, index)
        outputs = node.outputs
        outputs.extend([None] * (index + 1 - len(outputs)))
        outputs[index] = value
        inputs = values_in((node.args, node.kwargs))
        if node.kind is not Kind.DRAW and self.static.issuperset(inputs):
            self.static.add(value)
        return value

    def set_phase(self, phase: str) -> None:
        """Set the phase of the nodes that follow."""
        self.phase = phase
        self.tag = dataclasses.replace(self.tag, phase=phase)

    def see_engine(self, engine: Any) -> None:
        """Remember the state of a random engine after a draw that was recorded."""
        self._engines[id(engine)] = engine, engine.snapshot()

    def see_engines(self) -> None:
        """Remember the states of all random engines after draws that were recorded."""
        for engine, _ in list(self._engines.values()):
            self.see_engine(engine)

    def check_engine(self, engine: Any) -> None:
        """Note a break if numbers were drawn from a random engine outside of the recording."""
        found = self._engines.get(id(engine))
        if found is not None and engine.has_moved(found[1]):
            self.note_break("random numbers for the host")

    def mark(self) -> Mark:
        """Return this point of the program."""
        return Mark(self)

    def note_break(self, what: str) -> None:
        """Note that a number was read, with the line of the program that did."""
        self.breaks.append((what, caller()))

    # -- inputs -----------------------------------------------------------------------------

    def add_input(self, source: Input, like: Any) -> Value:
        """Append an input to the program."""
        value = Value(like)
        self.program.inputs.append(value)
        self.sources.append(source)
        return value

    def bind_arguments(self, arrays: list[Any]) -> None:
        """Make the arrays of the listed tensors inputs.

        Arrays of one memory are views of one input, so that a write to one is seen in the others.
        """
        roots = [root_of(array) for array in arrays]
        for index, (array, root) in enumerate(zip(arrays, roots, strict=True)):
            if id(root) in self._bases:
                continue
            shared = sum(each is root for each in roots) > 1 and any(
                other is not array
                for other, each in zip(arrays, roots, strict=True) if each is root
            )  # fmt: skip
            bound = root if shared else array
            value = self.add_input(Input("argument", bound, index, root=shared), bound)
            base = Base(bound, value, self, len(self.sources) - 1)
            self._bases[id(root)] = root, base

    def lift(self, array: Any) -> RecordedArray:
        """Return the recorded array of an array of NumPy's, whose memory becomes an input."""
        from .arrays import RecordedArray

        root = root_of(array)
        found = self._bases.get(id(root))
        if found is None:
            value = self.add_input(Input("memory", root), root)
            found = self._bases[id(root)] = root, Base(root, value, self, len(self.sources) - 1)
        base = found[1]
        if array is base.host:
            return RecordedArray.whole(base)
        if not is_within(array, base.host):  # an argument is another part of the memory
            self.note_break("memory that an argument is a part of")
            value = self.add_input(Input("memory", array), array)
            return RecordedArray.whole(Base(array, value, self, len(self.sources) - 1))
        return RecordedArray(array, base, (place_view(base.host, array),))

    def constant(self, array: Any) -> RecordedArray:
        """Return the recorded array of values that are the same at each replay."""
        kept = numpy.array(array)
        kept.flags.writeable = False
        value = self.output(self.add(Kind.CONSTANT, "constant", None, (kept,), {}), array)
        return self.fresh(array, value)

    def fresh(self, real: Any, value: Value) -> RecordedArray:
        """Return the recorded array of new memory."""
        from .arrays import RecordedArray

        if value.__class__ is not Value:
            raise TypeError(f"expected a value, got {value!r}")
        return RecordedArray.whole(Base(real, value, self, None))

    def knows(self, array: Any) -> bool:
        """Whether the memory of an array is an input."""
        return id(root_of(array)) in self._bases

    # -- tensors and nodes of autograd ------------------------------------------------------

    def track(self, tensor: Any) -> None:
        """Remember a tensor that holds a recorded array."""
        self._tensors.append(weakref.ref(tensor))

    def track_node(self, node: Any) -> None:
        """Remember a node of autograd whose arguments may hold recorded arrays."""
        self._nodes.append(weakref.ref(node))

    def tracked(self) -> tuple[list[Any], list[Any]]:
        """Return the tensors and the nodes of autograd that still exist."""
        tensors, nodes = (
            [found for found in (ref() for ref in refs) if found is not None]
            for refs in (self._tensors, self._nodes)
        )
        return tensors, nodes

    # -- scope ------------------------------------------------------------------------------

    def __enter__(self) -> Recorder:
        if self.thread in _recorders:
            raise RuntimeError("a recording inside of a recording")
        _recorders[self.thread] = self
        return self

    def __exit__(self, *exception: object) -> None:
        del _recorders[self.thread]

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Scope in which this thread runs eagerly."""
        del _recorders[self.thread]
        try:
            yield
        finally:
            _recorders[self.thread] = self

    def finish(self) -> None:
        """Fill in the writes of the program; note draws that were not recorded."""
        for engine, _ in self._engines.values():
            self.check_engine(engine)
        for _, base in self._bases.values():
            if base.store.version and base.input is not None:
                self.program.writes.append((base.input, base.store.raw))


class Mark:
    """Point of the program to which it can be taken back."""

    __slots__ = ("_breaks", "_nodes", "_recorder")

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._nodes, self._breaks = len(recorder.program.nodes), len(recorder.breaks)
        recorder.draws.clear()

    def new_breaks(self) -> list[tuple[str, str]]:
        """Breaks since the mark."""
        return self._recorder.breaks[self._breaks :]

    def take_back(self) -> bool:
        """Remove the nodes and breaks since the mark; return whether there were draws.

        Views of older values stay, since arrays may have stored them.
        """
        recorder = self._recorder
        nodes = recorder.program.nodes
        removed = nodes[self._nodes :]
        del nodes[self._nodes :], recorder.breaks[self._breaks :]
        lost: set[Value] = set()
        for node in removed:
            if node.kind is Kind.VIEW and lost.isdisjoint(values_in((node.args, node.kwargs))):
                nodes.append(node)
            else:
                lost.update(value for value in node.outputs if value is not None)
        for engine, state in reversed(recorder.draws):
            engine.rewind(state)
        has_draws = bool(recorder.draws)
        recorder.draws.clear()
        return has_draws


def root_of(array: Any) -> Any:
    """Return the array of NumPy's that owns the memory of ``array``."""
    root = base = array
    while (base := getattr(base, "base", None)) is not None:
        if isinstance(base, numpy.ndarray):  # as_strided puts another object between
            root = base
    return root


def place_view(root: Any, array: Any) -> tuple[str, Function, tuple[Any, ...], dict[str, Any]]:
    """Return the view operation that makes ``array`` from its ``root``."""
    if root.flags.c_contiguous and array.flags.c_contiguous and root.nbytes == array.nbytes:
        if root.dtype == array.dtype:
            return "ndarray.reshape", numpy.ndarray.reshape, (array.shape,), {}
    offset = address(array) - address(root)
    return "window", window, (array.shape, array.strides, offset, array.dtype), {}


def is_within(array: Any, root: Any) -> bool:
    """Whether an array is a part of a root that has no gaps."""
    if not (root.flags.c_contiguous or root.flags.f_contiguous):
        return False
    low, high = numpy.lib.array_utils.byte_bounds(array)
    start, stop = numpy.lib.array_utils.byte_bounds(root)
    return bool(start <= low and high <= stop)


def address(array: Any) -> int:
    """Address of the first element."""
    return int(array.__array_interface__["data"][0])


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


def is_users(name: str) -> bool:
    """Whether the code of a file is not the library's."""
    return not name.startswith((_PACKAGE, "<tinytorch"))


def caller() -> str:
    """``file:line`` of the innermost frame outside of the library."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        if is_users(name):
            return f"{name}:{frame.f_lineno}"
        frame = frame.f_back
    return ""


def arrays_in(tree: Any) -> Iterator[Any]:
    """Yield the recorded arrays in an argument."""
    from .arrays import RecordedArray

    if tree.__class__ is RecordedArray:
        yield tree
    elif isinstance(tree, (tuple, list)):
        for item in tree:
            yield from arrays_in(item)
    elif isinstance(tree, dict):
        for item in tree.values():
            yield from arrays_in(item)
    elif tree.__class__ is slice:
        yield from arrays_in((tree.start, tree.stop, tree.step))


def has_arrays(tree: Any) -> bool:
    """Whether there are recorded arrays in an argument."""
    return next(arrays_in(tree), None) is not None


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
