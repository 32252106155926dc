"""The recorder: collects the nodes of a program while a function runs on recorded arrays.

A recorded array (``arrays.py``) holds a real array of NumPy's. Each call of the recording backend
(``backend.py``) is made on the real arrays and added to the program, so that the function gets the
results of this call, and the program computes those of later ones.
"""

from __future__ import annotations

import contextlib
import dataclasses
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy

from ..graph.nodes import next_seq
from .graph import Kind, Node, Program, Tag, Value
from .host_copies import HostCopies, make_copies
from .traced_memory import Base, Function, Input, TracedArray, is_within, place_view, root_of
from ..state.bindings import contextmanager

#: The recorders by the thread that records.
_recorders: dict[int, ProgramRecorder] = {}
_PACKAGE = str(Path(__file__).parent.parent)
find_recorder: Callable[[int], ProgramRecorder | None] = _recorders.get
thread_id: Callable[[], int] = threading.get_ident


def current_recorder() -> ProgramRecorder | None:
    """Return the recorder of this thread; None if nothing is recorded."""
    return _recorders.get(thread_id())


class ProgramRecorder:
    """Program under construction.

    Args:
        array_type: Class of the recorded arrays.
        backend: The backend of the function's tensors.

    Attributes:
        program: The program.
        sources: The origin of each input.
        breaks: For each number that was read: what was read, and the line of the program.
        guards: Functions without arguments with the values that they must return at a replay.
        once: Reasons why the recording stands for this call alone, and the next is recorded anew.
        actions: Functions to call after each replay, in order, for effects outside of tensors.
        acting: The objects whose attributes these functions change.
        numbers: The traced numbers that are inputs, by what they are read from.
        counts: Counts that were increased, by the number before, the difference and the dtype.
        outside: The frame that calls the recorded function.
        phase: Phase of the nodes that are added.
        tag: Their tag.
        draws: For each draw of the outermost kernel the engine, and its state before.
        calls: Number of operations that were called.
        first_node: Creation number of a node of autograd before the recording.
        kernels: Number of kernels that are running, one inside of the other.
        reads_grads: Whether ``.grad`` of any tensor was read.
        passes: Number of backward passes.
    """

    def __init__(self, array_type: type[TracedArray], backend: Any) -> None:
        self.array_type, self.backend = array_type, backend
        self.hosts: HostCopies = make_copies(backend)
        self.program: Program = Program()
        self.sources: list[Input] = []
        self.breaks: list[tuple[str, str]] = []
        self.guards: list[tuple[Callable[[], Any], Any]] = []
        self.once: list[str] = []
        self.actions: list[Callable[[], Any]] = []
        self.acting: list[Any] = []
        self.numbers: dict[Any, Any] = {}
        self.counts: dict[Any, Any] = {}
        self.outside: Any = None
        self.phase: str = "forward"
        self.tag: Tag = Tag()
        self.draws: list[tuple[Any, Any]] = []
        self.calls = self.kernels = self.passes = 0
        self.reads_grads: bool = False
        self.thread: int = thread_id()
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
        while len(outputs) <= index:
            outputs.append(None)
        outputs[index] = value
        return value

    def is_static(self, value: Value) -> bool:
        """Whether a value depends on no input and no draw, so that it may be read."""
        pending = [value]
        seen: set[Value] = set()
        while pending:
            node = pending.pop().node
            if node is None or node.kind is Kind.DRAW:
                return False
            fresh = {*node.reads} - seen
            seen |= fresh
            pending.extend(fresh)
        return True

    def set_phase(self, phase: str) -> None:
        """Set the phase of the nodes that follow."""
        self.phase = phase
        self.tag = dataclasses.replace(self.tag, phase=phase)

    def see_engine(self, engine: Any) -> None:
        """Store the state of a random engine after a recorded draw, for ``check_engine``."""
        self._engines[id(engine)] = engine, engine.snapshot()

    def see_engines(self) -> None:
        """Store the present states of all engines of recorded draws, for ``check_engine``."""
        for engine, _ in list(self._engines.values()):
            self.see_engine(engine)

    def check_engine(self, engine: Any) -> None:
        """Note a break if numbers were drawn from a random engine outside of the recording."""
        found = self._engines.get(id(engine))
        if found is not None and engine.has_moved(found[1]):
            self.note_break("random numbers for the host")

    def is_active(self) -> bool:
        """Whether this thread records on it now."""
        return _recorders.get(thread_id()) is self

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
        originals, arrays = arrays, self.hosts.copy_all(arrays)
        roots = [root_of(array) for array in arrays]
        for index, (array, root) in enumerate(zip(arrays, roots, strict=True)):
            if id(root) in self._bases:
                continue
            shared = sum(each is root for each in roots) > 1 and any(
                other is not array
                for other, each in zip(arrays, roots, strict=True) if each is root
            )  # fmt: skip
            original = originals[index]
            bound, original = (root, self.hosts.owner(original)) if shared else (array, original)
            value = self.add_input(Input("argument", original, index, root=shared), bound)
            base = Base(bound, value, self, len(self.sources) - 1)
            self._bases[id(root)] = root, base

    def lift(self, array: Any) -> Any:
        """Return the recorded array of an array, whose memory becomes an input."""
        original, array = array, self.hosts.copy(array)
        root = root_of(array)
        found = self._bases.get(id(root))
        if found is None:
            value = self.add_input(Input("memory", self.hosts.owner(original)), root)
            found = self._bases[id(root)] = root, Base(root, value, self, len(self.sources) - 1)
        base = found[1]
        if array is base.host:
            return self.array_type.whole(base)
        if not is_within(array, base.host):  # an argument is another part of the memory
            self.note_break("memory that an argument is a part of")
            value = self.add_input(Input("memory", original), array)
            return self.array_type.whole(Base(array, value, self, len(self.sources) - 1))
        return self.array_type(array, base, (place_view(base.host, array),))

    def constant(self, array: Any) -> Any:
        """Return the recorded array of values that are the same at each replay."""
        kept = numpy.array(array)
        kept.flags.writeable = False
        value = self.output(self.add(Kind.CONSTANT, "constant", None, (kept,), {}), array)
        return self.fresh(array, value)

    def fresh(self, real: Any, value: Value) -> Any:
        """Return the recorded array of new memory."""
        if value.__class__ is not Value:
            raise TypeError(f"expected a value, got {value!r}")
        return self.array_type.whole(Base(real, value, self, None))

    def knows(self, array: Any) -> bool:
        """Whether the memory of an array is an input."""
        return id(root_of(array)) in self._bases

    def is_listed(self, memory: Base) -> bool:
        """Whether memory is all of that of a listed tensor."""
        if memory.input is None:
            return False
        source = self.sources[memory.input]
        return source.kind == "argument" and not source.root

    # -- tensors and nodes of autograd ------------------------------------------------------

    def track(self, tensor: Any) -> None:
        """Remember a tensor that holds a recorded array."""
        self._tensors.append(weakref.ref(tensor))

    def track_node(self, node: Any) -> None:
        """Remember a node of autograd whose arguments may hold recorded arrays."""
        self._nodes.append(weakref.ref(node))

    def live_holders(self) -> tuple[list[Any], list[Any]]:
        """Return the tensors and the nodes of autograd that still exist."""
        tensors, nodes = (
            [found for found in (ref() for ref in refs) if found is not None]
            for refs in (self._tensors, self._nodes)
        )
        return tensors, nodes

    # -- scope ------------------------------------------------------------------------------

    @contextmanager
    def active(self) -> Iterator[None]:
        """Scope in which this thread records."""
        if self.thread in _recorders:
            raise RuntimeError("a recording inside of a recording")
        _recorders[self.thread] = self
        try:
            yield
        finally:
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

    def close(self) -> None:
        """Drop what refers back to the recorder: arrays are freed at once, not by the collector."""
        for found in (self._bases, self.numbers, self.counts):
            found.clear()


class Mark:
    """Point of the program to which it can be taken back."""

    __slots__ = ("_breaks", "_draws", "_nodes", "_recorder")

    def __init__(self, recorder: ProgramRecorder) -> None:
        self._recorder = recorder
        self._nodes, self._breaks = len(recorder.program.nodes), len(recorder.breaks)
        if not recorder.kernels:  # of an outer kernel's mark they stay
            recorder.draws.clear()
        self._draws = len(recorder.draws)

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
            if node.kind is Kind.VIEW and lost.isdisjoint(node.reads):
                nodes.append(node)
            else:
                lost.update(value for value in node.outputs if value is not None)
        draws = recorder.draws[self._draws :]
        for engine, state in reversed(draws):
            engine.rewind(state)
        del recorder.draws[self._draws :]
        return bool(draws)


def is_users(name: str) -> bool:
    """Whether the code of a file is not the library's, nor that which enters blocks for it."""
    return not name.startswith((_PACKAGE, "<tinytorch", contextlib.__file__))


def caller() -> str:
    """``file:line`` of the innermost frame outside of the library."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        if is_users(name):
            return f"{name}:{frame.f_lineno}"
        frame = frame.f_back
    return ""


_NUMBERS = frozenset((int, float, bool, str, type(None)))


def arrays_in(tree: Any) -> Iterator[Any]:
    """Yield the recorded arrays in an argument."""
    if isinstance(tree, TracedArray):
        yield tree
    elif isinstance(tree, (tuple, list)):
        for item in tree:
            if isinstance(item, TracedArray):
                yield item
            elif item.__class__ not in _NUMBERS:
                yield from arrays_in(item)
    elif isinstance(tree, dict):
        for item in tree.values():
            yield from arrays_in(item)
    elif tree.__class__ is slice:
        yield from arrays_in((tree.start, tree.stop, tree.step))


def has_arrays(tree: Any) -> bool:
    """Whether there are recorded arrays in an argument."""
    return next(arrays_in(tree), None) is not None
