"""Memory of a program's values: how long each lives, and where it lies.

Values inside of a program share one arena, in which the memory of a dead value is used again. What
leaves the program is allocated at each run. The final value of an input that the program writes is
computed straight over the input if nothing reads the input afterwards.
"""

from __future__ import annotations

import ctypes
import math
import os
import sys
from bisect import insort
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy

from .graph import Kind, Node, Program, Value, values_in
from .grouping import Access, LoopGroup, Step, is_row_major
from .simplify import is_like, producers, storage_root

#: Selections of elements by a mask.
SELECTIONS = ("xp.where", "numpy.where")
#: Steps for which a saved value lives at least.
_LONG = 16
#: Bytes to which places in the arena are aligned: a cache line.
_LINE = 64


class Where(Enum):
    """Kind of memory of a value."""

    INPUT = "the array of an input"
    CONSTANT = "an array of the program"
    ARENA = "the arena, at an offset"
    FRESH = "an array of its own at each run"


@dataclass(frozen=True)
class Place:
    """Place of a value.

    Attributes:
        where: Kind of memory.
        number: Number of the input; offset in the arena, and that of the buffer until it is known.
        offset: Offset in the buffer.
    """

    where: Where
    number: int = 0
    offset: int = 0


@dataclass
class MemoryPlan:
    """Plan of the memory of a program.

    Attributes:
        places: Place of each value that is not a view.
        roots: The value in whose memory each value lies.
        last: Number of the last step that reads the memory of a root.
        written: Inputs that a step writes itself.
        overwrites: Nodes (PUT, MUTATE) that change their base in place.
        joined: Nodes that join arrays whose parts are computed in their places.
        nbytes: Size of the arena.
    """

    places: dict[Value, Place] = field(default_factory=dict)
    roots: dict[Value, Value] = field(default_factory=dict)
    last: dict[Value, int] = field(default_factory=dict)
    written: set[int] = field(default_factory=set)
    overwrites: set[Node] = field(default_factory=set)
    joined: set[Node] = field(default_factory=set)
    nbytes: int = 0


class Arena:
    """Buffers in one block of memory, which share it if they are in use at different times.

    The places are chosen at the end, when the times of all buffers are known.
    """

    def __init__(self) -> None:
        self.size: int = 0
        #: Of each buffer the size, and the times of its allocation and its release.
        self._buffers: list[tuple[int, int, float]] = []
        self._clock = self._live = self._peak = 0

    def allocate(self, nbytes: int) -> int:
        """Return the number of a buffer of ``nbytes`` bytes."""
        nbytes = round_up(nbytes)
        self._clock += 1
        self._live += nbytes
        self._peak = max(self._peak, self._live)
        self._buffers.append((nbytes, self._clock, math.inf))
        return len(self._buffers) - 1

    def release(self, number: int) -> None:
        """Give a buffer back."""
        nbytes, start, _ = self._buffers[number]
        self._clock += 1
        self._live -= nbytes
        self._buffers[number] = nbytes, start, self._clock

    def offsets(self) -> list[int]:
        """Return the offset of each buffer, and set ``size``.

        Of some orders in which the buffers are placed, each as low as possible, the best one.
        """
        found: list[int] = []
        for key in _ORDERS:
            offsets, size = self._place(sorted(self._buffers, key=key))
            if not found or size < self.size:
                found, self.size = [offsets[buffer] for buffer in self._buffers], size
            if self.size <= self._peak * _TIGHT:
                break
        return found

    def _place(
        self, buffers: Sequence[tuple[int, int, float]]
    ) -> tuple[dict[tuple[int, int, float], int], int]:
        """Return the offsets of buffers that are placed in this order, and the arena's size."""
        offsets: dict[tuple[int, int, float], int] = {}
        placed: list[tuple[int, int, int, float]] = []  # by offset: both ends, both times
        for buffer in buffers:
            nbytes, start, end = buffer
            offset = 0
            for low, high, first, last in placed:
                if first < end and start < last:
                    if low - offset >= nbytes:
                        break
                    offset = max(offset, high)
            offsets[buffer] = offset
            insort(placed, (offset, offset + nbytes, start, end))
        return offsets, max((high for _, high, _, _ in placed), default=0)


def _area(buffer: tuple[int, int, float]) -> float:
    nbytes, start, end = buffer
    return -nbytes * (end - start)


#: Orders in which the buffers of an arena are placed: no one of them is always the best.
_ORDERS: tuple[Callable[[Any], Any], ...] = (_area, lambda b: (-b[0], b[1]), lambda b: b[1])
#: Size of an arena over its live bytes with which the search for a better order ends.
_TIGHT = 1.01


class Pool:
    """Arrays for a result of the program, each used again when the user's last reference is gone.

    New memory costs more than the arithmetic of many operations: the system maps and clears it.

    Args:
        make: Function that returns a new array.
    """

    #: The user holds the result of one call while the next one runs.
    MOST = 2

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self._arrays: list[Any] = []

    def __call__(self) -> Any:
        """Return an array that nothing else refers to."""
        for i in range(len(self._arrays)):
            if sys.getrefcount(self._arrays[i]) == _UNUSED:
                return self._arrays[i]
        array = self._make()
        if len(self._arrays) < self.MOST:
            self._arrays.append(array)
        return array


def empty_lines(shape: tuple[int, ...], dtype: Any) -> Any:
    """Return a new array that begins with a cache line: loads across two lines take longer."""
    size = math.prod(shape) * dtype.itemsize
    memory = numpy.empty(size + _LINE, numpy.uint8)
    start = -memory.ctypes.data % _LINE
    return memory[start : start + size].view(dtype).reshape(shape)


def trim_heap() -> None:
    """Give memory that Python has freed back to the system, where the C library can."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if os.name == "posix" else None
    if trim is not None:
        trim(0)


_list = [object()]
#: ``sys.getrefcount`` of an item to which a list alone refers.
_UNUSED = sys.getrefcount(_list[0])


def round_up(nbytes: int) -> int:
    """Return the next multiple of a cache line, at least one."""
    return max(1, -(-nbytes // _LINE)) * _LINE


def plan_memory(
    program: Program,
    steps: Sequence[Step],
    writes_out: Callable[[Node], bool],
    saved: float = math.inf,
) -> MemoryPlan:
    """Choose the place of each value.

    Args:
        program: The program.
        steps: Its steps in the order of execution.
        writes_out: Whether the engine can compute the result of a node into given memory.
        saved: Bytes from which other results that are read much later are copied to the arena.
    """
    return _Planner(program, steps, writes_out, saved).run()


def step_reads(step: Step) -> Iterator[Value]:
    """Yield the values that a step reads from memory."""
    if isinstance(step, LoopGroup):
        yield from (value for value, _ in step.loads)
    else:
        yield from step.reads


def step_results(step: Step) -> list[Value]:
    """Return the values that a step computes into memory."""
    if isinstance(step, LoopGroup):
        return step.stores
    return [value for value in step.outputs if value is not None]


def nbytes(value: Value) -> int:
    """Return the size of a value in bytes."""
    return int(math.prod(value.shape) * value.dtype.itemsize)


class _Planner:
    """State of ``plan_memory``."""

    def __init__(
        self, program: Program, steps: Sequence[Step], writes_out: Callable[[Node], bool],
        saved: float,
    ) -> None:  # fmt: skip
        self.program, self.steps, self.writes_out = program, steps, writes_out
        self.saved = saved
        self.made_by = producers(program)
        self.arena = Arena()
        self.layout = MemoryPlan()
        self.taken: set[Value] = set()  # roots whose memory another value has taken over
        self.find_lifetimes()
        self.leaving = {self.root(value) for value in program.outputs}
        #: What leaves the program, and what is changed in place until it does.
        self.becoming = self.leaving.copy()
        for step in reversed(steps):
            if isinstance(step, Node) and step.kind in (Kind.PUT, Kind.MUTATE):
                if step.outputs[0] in self.becoming:
                    self.becoming.add(step.args[0])

    def root(self, value: Value) -> Value:
        """Return the value in whose memory ``value`` lies."""
        roots = self.layout.roots
        if value not in roots:
            roots[value] = storage_root(value, self.made_by)
        return roots[value]

    def find_lifetimes(self) -> None:
        """Find the last step that reads each root; what leaves the program is read at the end."""
        last = self.layout.last
        for at, step in enumerate(self.steps):
            if isinstance(step, LoopGroup) or step.kind is not Kind.VIEW:
                for value in step_reads(step):
                    last[self.root(value)] = at
        final = (value for _, value in self.program.writes)
        for value in (*self.program.outputs, *final):
            last[self.root(value)] = len(self.steps)

    def run(self) -> MemoryPlan:
        """Place the values in the order of the steps."""
        layout = self.layout
        for number, value in enumerate(self.program.inputs):
            layout.places[value] = Place(Where.INPUT, number)
        checks = [
            at for at, step in enumerate(self.steps)
            if isinstance(step, Node) and step.kind is Kind.CHECK
        ]  # fmt: skip
        self.targets = self.find_targets(max(checks, default=-1))
        self.find_parts()
        dying: dict[int, list[Value]] = {}
        for value, at in layout.last.items():
            dying.setdefault(at, []).append(value)
        for at, step in enumerate(self.steps):
            for value in step_results(step):
                self.place(value, step, at)
            for value in step_results(step):
                layout.last.setdefault(self.root(value), at)
                if layout.last[self.root(value)] <= at:
                    dying.setdefault(at, []).append(value)
            for value in set(dying.get(at, ())):
                self.release(value)
        self.arrange()
        return layout

    def arrange(self) -> None:
        """Choose the offsets of what lies in the arena."""
        places, offsets = self.layout.places, self.arena.offsets()
        for value, place in places.items():
            if place.where is Where.ARENA:
                places[value] = Place(Where.ARENA, offsets[place.number] + place.offset)
        self.layout.nbytes = self.arena.size

    def find_parts(self) -> None:
        """Find arrays that can be computed in their places in the array that they are joined to.

        The parts of a dimension before all others are pieces of the memory of a row-major array.
        """
        self.parts: dict[Value, tuple[Value, int]] = {}
        made = {value: step for step in self.steps for value in step_results(step)}
        for step in self.steps:
            if isinstance(step, LoopGroup) or step.name != "numpy.concatenate":
                continue
            whole, parts = step.outputs[0], step.args[0]
            axis = (*step.args[1:], step.kwargs.get("axis", 0))[0]
            if axis != 0 or whole is None or not self.writes_out(step) or whole in self.leaving:
                continue
            if whole in self.targets or len(set(parts)) < len(parts):
                continue
            if all(self.is_free(part, made.get(part)) for part in parts):
                self.layout.joined.add(step)
                offset = 0
                for part in parts:
                    self.parts[part] = whole, offset
                    offset += nbytes(part)
                last = self.layout.last
                last[whole] = max(last.get(root, -1) for root in (whole, *parts))

    def is_free(self, value: Value, step: Step | None) -> bool:
        """Whether a value may be computed anywhere in the arena."""
        if step is None or not is_row_major(value) or value in self.leaving or value in self.parts:
            return False
        if self.root(value) is not value or value in self.targets:
            return False
        return isinstance(step, LoopGroup) or step.kind is Kind.CALL and self.writes_out(step)

    def release(self, root: Value) -> None:
        """Give the memory of a root back."""
        place = self.layout.places.get(root)
        if place is not None and place.where is Where.ARENA and root not in self.taken:
            self.taken.add(root)
            self.arena.release(place.number)

    def find_targets(self, last_check: int) -> dict[Value, int]:
        """Map final values that can be computed over their inputs to the numbers of these."""
        targets: dict[Value, int] = {}
        written = {value: at for at, step in enumerate(self.steps) for value in step_results(step)}
        counts = [self.root(value) for _, value in self.program.writes]
        for number, value in self.program.writes:
            source, at = self.program.inputs[number], written.get(value, -1)
            if (
                at > last_check and value not in self.leaving and counts.count(value) == 1
                and self.root(value) is value and is_like(value, source)
                and self.layout.last.get(source, -1) <= at
                and self.may_overwrite(self.steps[at], source, value)
            ):  # fmt: skip
                targets[value] = number
        return targets

    def may_overwrite(self, step: Step, source: Value, value: Value) -> bool:
        """Whether a step may compute ``value`` into the memory of ``source``, which dies there."""
        if not isinstance(step, LoopGroup):
            return self.is_changed_in_place(step, source) or (
                self.writes_out(step) and self.is_elementwise(step, source)
            )
        if value in step.final or not step.may_overwrite or not is_row_major(source):
            return False
        made = next(i for i, op in enumerate(step.ops) if op.out is value)
        for i, op in enumerate(step.ops):
            for arg, form in zip(op.args, op.forms, strict=True):
                if isinstance(arg, Value) and arg not in step.made and self.root(arg) is source:
                    if i > made or form is not Access.ELEMENT:
                        return False
        return step.made[value] is Access.ELEMENT

    def is_changed_in_place(self, step: Node, base: Value) -> bool:
        """Whether the step copies ``base`` and changes the copy, and reads ``base`` no more."""
        if step.kind not in (Kind.PUT, Kind.MUTATE) or step.args[0] is not base:
            return False
        others = values_in((step.args[1:], step.kwargs))
        return all(self.root(value) is not base for value in others)

    def is_elementwise(self, step: Node, source: Value) -> bool:
        """Whether each element of the result depends on the same element of ``source`` alone."""
        read = [value for value in step_reads(step) if self.root(value) is source]
        if step.kind is not Kind.CALL or any(value is not source for value in read):
            return False
        if step.name in SELECTIONS:
            return step.args[2] is source and len(read) == 1
        return isinstance(step.function, numpy.ufunc) and step.function.signature is None

    def place(self, value: Value, step: Step, at: int) -> None:
        """Choose the place of a result of a step."""
        places = self.layout.places
        if isinstance(step, Node) and step.kind is Kind.VIEW:
            return
        if isinstance(step, Node) and step.kind is Kind.CONSTANT:
            places[value] = Place(Where.CONSTANT)
        elif value in self.targets:
            places[value] = Place(Where.INPUT, self.targets[value])
            self.layout.written.add(self.targets[value])
            if isinstance(step, Node) and step.kind in (Kind.PUT, Kind.MUTATE):
                self.layout.overwrites.add(step)
        elif value in self.parts:
            self.place_part(value)
        elif value in places or self.take_over(value, step, at):
            pass
        elif value in self.becoming or not self.may_lie_in_arena(value, step, at):
            places[value] = Place(Where.FRESH)
        else:
            places[value] = Place(Where.ARENA, self.arena.allocate(nbytes(value)))

    def may_lie_in_arena(self, value: Value, step: Step, at: int) -> bool:
        """Whether a result is computed into the arena, or is copied there since it is saved."""
        if isinstance(step, LoopGroup) or self.writes_out(step):
            return True
        is_saved = self.layout.last.get(self.root(value), at) - at > _LONG
        return (
            is_saved and nbytes(value) >= self.saved and len(step.outputs) == 1
            and is_row_major(value)
        )  # fmt: skip

    def place_part(self, value: Value) -> None:
        """Place a part in the memory of the array that it is joined to."""
        whole, offset = self.parts[value]
        places = self.layout.places
        if whole not in places:
            places[whole] = Place(Where.ARENA, self.arena.allocate(nbytes(whole)))
        places[value] = Place(Where.ARENA, places[whole].number, offset)
        self.taken.add(value)

    def take_over(self, value: Value, step: Step, at: int) -> bool:
        """Place the result of a step in the memory of an argument that dies; False if none does."""
        if isinstance(step, LoopGroup):
            return self.take_over_load(value, step, at)
        changes = step.kind in (Kind.PUT, Kind.MUTATE)
        sources = step.args[:1] if changes else step.args
        for source in sources:
            place = self.layout.places.get(source) if isinstance(source, Value) else None
            if place is None or self.layout.last.get(source) != at or source in self.taken:
                continue
            allowed = (Where.ARENA, Where.FRESH) if changes else (Where.ARENA,)
            if place.where not in allowed or not is_like(value, source):
                continue
            if value in self.leaving and place.where is Where.ARENA:
                continue
            if not self.may_overwrite(step, source, value):
                continue
            self.layout.places[value] = place
            self.taken.add(source)
            if changes:
                self.layout.overwrites.add(step)
            return True
        return False

    def take_over_load(self, value: Value, group: LoopGroup, at: int) -> bool:
        """Place a result of a group in the memory of a value that the group reads last."""
        if value in self.leaving:
            return False
        for source, form in group.loads:
            place = self.layout.places.get(source)
            if (
                form is Access.ELEMENT and place is not None and place.where is Where.ARENA
                and self.layout.last.get(source) == at and source not in self.taken
                and is_like(value, source) and self.may_overwrite(group, source, value)
            ):  # fmt: skip
                self.layout.places[value] = place
                self.taken.add(source)
                return True
        return False
