"""Groups of a program: pointwise operations and row reductions over the same rows × columns.

A group is run as one loop: in blocks that stay in the processor's cache, or as compiled text. Its
space is the shape of its operations without dimensions of size 1, in the order of memory, joined
to ``rows`` of ``columns`` elements each.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from .graph import Kind, Node, Program, Value

#: Most operations of a group.
_MOST = 300


class Access(enum.Enum):
    """Pattern in which a loop over rows × columns reads a value."""

    __hash__ = object.__hash__  # as of Kind

    ELEMENT = "one for each element"
    ROW = "one for each row"
    COLUMN = "one for each column"
    SCALAR = "one"
    STRIDED = "by strides"


@dataclass(eq=False)
class LoopOp:
    """Operation of a group.

    Attributes:
        name: A ufunc's name, ``"where"``, ``"cast"`` … ; of a reduction ``"sum"`` and the like.
        args: Values and Python scalars.
        out: The result.
        node: The node that it belongs to.
        is_part: Whether the node stands for several operations.
        reduces: Access of the result of a reduction: ROW, COLUMN or SCALAR; None if pointwise.
        form: Access of the result in the group.
        forms: Access of each argument; None for a Python scalar.
    """

    name: str
    args: list[Any]
    out: Value
    node: Node
    reduces: Access | None = None
    is_part: bool = False
    form: Access = Access.ELEMENT
    forms: list[Access | None] = field(default_factory=list)

    def reads(self) -> list[Value]:
        """Return the values among the arguments."""
        return [arg for arg in self.args if arg.__class__ is Value]


@dataclass(frozen=True)
class Space:
    """Iteration space: sizes without 1, in the order of memory, the order itself, and all sizes."""

    shape: tuple[int, ...]
    order: tuple[int, ...]
    dims: tuple[int, ...]

    @property
    def columns(self) -> int:
        """Size of the last dimension in memory."""
        return self.shape[-1] if self.shape else 1

    @property
    def rows(self) -> int:
        """Number of elements over ``columns``."""
        return math.prod(self.shape[:-1])

    @property
    def key(self) -> tuple[int, int, bool]:
        """Equal for operations that one loop can compute."""
        return self.rows, self.columns, self.order == tuple(range(len(self.order)))


class LoopGroup:
    """Operations over one space.

    Attributes:
        rows, columns: The loop.
        ops: In order.
        made: Access of each value that the group computes.
        final: Results that are known only after all rows.
        loads: Values read from memory, with their form, and the space they are read in.
        reads: Values of which it reads each element once.
        stores: Values that other steps read.
        may_overwrite: Whether a result may be computed into the memory of a value that it reads.
    """

    def __init__(self, space: Space) -> None:
        self.rows: int
        self.columns: int
        self.is_row_major: bool
        self.rows, self.columns, self.is_row_major = space.key
        self.ops: list[LoopOp] = []
        self.made: dict[Value, Access] = {}
        self.final: set[Value] = set()
        self.loads: dict[tuple[Value, Access], Space] = {}
        self.reads: set[Value] = set()
        self.stores: list[Value] = []
        self.may_overwrite = True

    @property
    def key(self) -> tuple[int, int, bool]:
        """Key of the space."""
        return self.rows, self.columns, self.is_row_major

    @property
    def size(self) -> int:
        """Number of elements of the loop."""
        return self.rows * self.columns

    @property
    def is_flat(self) -> bool:
        """Whether one dimension is enough: nothing belongs to a row or a column."""
        forms = (*self.made.values(), *(form for _, form in self.loads))
        return not {Access.ROW, Access.COLUMN, Access.STRIDED}.intersection(forms)


Step = Node | LoopGroup
#: Returns the operations that a node stands for; None if it is not part of a group.
Lower = Callable[[Node], "list[LoopOp] | None"]


def group_nodes(program: Program, lower: Lower, *, least: int, strided: bool) -> list[Step]:
    """Return the program's nodes in an order of execution, some of them joined to groups.

    Args:
        program: The program.
        lower: Function that returns the operations of a node.
        least: Least number of elements of a group.
        strided: Whether operands of a group may have any strides.
    """
    return _Grouper(program, lower, least, strided).run()


class _Grouper:
    """State of ``group_nodes``: the steps, and the step after which each value is known."""

    def __init__(self, program: Program, lower: Lower, least: int, strided: bool) -> None:
        self.program, self.lower = program, lower
        self.least, self.strided = least, strided
        self.steps: list[Step] = []
        self.ready: dict[Value, int] = dict.fromkeys(program.inputs, -1)
        self.home: dict[Value, LoopGroup] = {}  # groups in which a value is still in registers
        self.source: dict[Value, Value] = {}  # contiguous views and what they view
        self.views: list[Node] = []  # and formulas of numbers: they follow what they read
        self.places: dict[LoopGroup, int] = {}
        self.by_key: dict[Any, list[LoopGroup]] = {}

    def run(self) -> list[Step]:
        """Return the steps."""
        for node in self.program.nodes:
            if node.kind is Kind.VIEW:
                self.add_view(node)
                continue
            if node.name.startswith("number."):
                self.add_number(node)
                continue
            ops = self.lower(node)
            if ops is None or not all(self.place(op) for op in ops):
                self.add_node(node)
        self.find_stores()
        return [*self.order_steps()]

    def add_node(self, node: Node) -> None:
        """Append a node as a step of its own, or a constant before all steps."""
        place = len(self.steps)
        if node.kind is Kind.CONSTANT:
            self.views.append(node)
            place = -1
        else:
            self.steps.append(node)
        self.ready.update((value, place) for value in node.outputs if value is not None)

    def add_view(self, node: Node) -> None:
        """Keep a view; inside of a group, one that keeps the order of elements is its source."""
        source = node.args[0]
        self.views.append(node)
        for value in node.outputs:
            if value is None:
                continue
            self.ready[value] = self.ready[source]
            if is_row_major(source) and is_row_major(value) and value.dtype == source.dtype:
                if math.prod(value.shape) == math.prod(source.shape):
                    self.source[value] = self.resolve(source)

    def add_number(self, node: Node) -> None:
        """Keep a formula of numbers, to be computed as soon as its arguments are known."""
        self.views.append(node)
        ready = max((self.ready[value] for value in node.reads), default=-1)
        self.ready.update((value, ready) for value in node.outputs if value is not None)

    def resolve(self, value: Value) -> Value:
        """Return the value of which ``value`` has all elements in the same order."""
        return self.source.get(value, value)

    def place(self, op: LoopOp) -> bool:
        """Add an operation to the best group, or to a new one; False if it fits none."""
        iterated = op.args[0] if op.reduces else op.out
        size = math.prod(iterated.shape)
        if not size or not math.prod(op.out.shape):
            return False
        if size < self.least and self.home.keys().isdisjoint(map(self.resolve, op.reads())):
            return False  # no group is so small, and none makes an argument
        space = space_of(iterated)
        self.join_homes(op, space)
        group = self.best_group(op, space)
        if group is None:
            group = LoopGroup(space)
            if group.size < self.least or self.fit(op, space, group) is None:
                return False
            self.places[group] = len(self.steps)
            self.by_key.setdefault(space.key, []).append(group)
            self.steps.append(group)
        found = self.fit(op, space, group)
        assert found is not None
        op.form, op.forms = found
        self.join(op, space, group)
        return True

    def join_homes(self, op: LoopOp, space: Space) -> None:
        """Join the groups that make the arguments of an operation into the first, if possible."""
        values = [self.resolve(value) for value in op.reads()]
        homes = {self.home[value] for value in values if value in self.home}
        groups = [group for group in homes if group.key == space.key]
        groups.sort(key=self.places.__getitem__)
        for group in groups[1:]:
            if self.can_move(group, groups[0]):
                self.move(group, groups[0])

    def can_move(self, group: LoopGroup, first: LoopGroup) -> bool:
        """Whether the operations of ``group`` can be computed by the earlier group ``first``."""
        place = self.places[first]
        for value, form in group.loads:
            source = self.resolve(value)
            if self.home.get(source) is first:
                if first.made[source] is not form:
                    return False
            elif self.ready[value] >= place:
                return False
        return len(group.ops) + len(first.ops) <= _MOST

    def move(self, group: LoopGroup, first: LoopGroup) -> None:
        """Move the operations of a group to an earlier one."""
        self.steps[self.places.pop(group)] = LoopGroup(space_of(group.ops[0].out))
        self.by_key[group.key].remove(group)
        for op in group.ops:
            self.home.pop(op.out, None)
        for op in group.ops:
            self.join(op, space_of(op.args[0] if op.reduces else op.out), first)

    def best_group(self, op: LoopOp, space: Space) -> LoopGroup | None:
        """Return the group to join: one that makes an argument, else the last that reads one."""
        values = [self.resolve(value) for value in op.reads()]
        homes = {self.home[value] for value in values if value in self.home}
        related = sorted(homes, key=self.places.__getitem__, reverse=True)
        for group in reversed(self.by_key.get(space.key, ())):
            if group not in homes and not group.reads.isdisjoint(values):
                related.append(group)
        for group in related:
            if len(group.ops) < _MOST and self.is_after_arguments(op, group):
                if self.fit(op, space, group) is not None:
                    return group
        return None

    def is_after_arguments(self, op: LoopOp, group: LoopGroup) -> bool:
        """Whether all arguments that the group does not make are known before it runs."""
        place = self.places[group]
        return all(
            self.home.get(self.resolve(value)) is group or self.ready[value] < place
            for value in op.reads()
        )

    def fit(
        self, op: LoopOp, space: Space, group: LoopGroup
    ) -> tuple[Access, list[Access | None]] | None:
        """Return the forms of result and arguments in ``group``; None if it does not fit."""
        if space.key == group.key:
            forms = [self.form(arg, op, space, group) for arg in op.args]
            out = op.reduces or Access.ELEMENT
        elif not op.reduces and space.rows * space.columns == group.rows and group.columns > 1:
            forms = [self.form_in_rows(arg, op, space, group) for arg in op.args]
            out = Access.ROW
        else:
            return None
        if any(form is False for form in forms):
            return None
        return out, forms

    def form(self, arg: Any, op: LoopOp, space: Space, group: LoopGroup) -> Any:
        """Return the form of an argument of an operation over the group's space."""
        if not isinstance(arg, Value):
            return None
        iterated = op.args[0] if op.reduces else op.out
        form = form_of(arg, iterated.shape, space)
        source = self.resolve(arg)
        if self.home.get(source) is group:
            made = group.made[source]
            if made is Access.ELEMENT and form is Access.SCALAR and group.size == 1:
                return made
            return form if made is form else False
        if form is not Access.STRIDED:
            return form
        before = group.loads.get((arg, form), space)
        same = strides_in(arg, before.dims, before) == strides_in(arg, space.dims, space)
        return form if self.strided and same else False

    def form_in_rows(self, arg: Any, op: LoopOp, space: Space, group: LoopGroup) -> Any:
        """Return the form of an argument of an operation on one number for each row."""
        if not isinstance(arg, Value):
            return None
        form = form_of(arg, op.out.shape, space)
        source = self.resolve(arg)
        if self.home.get(source) is group:
            is_row = group.made[source] is Access.ROW and form is Access.ELEMENT
            return Access.ROW if is_row else form is Access.SCALAR is group.made[source] and form
        return {Access.ELEMENT: Access.ROW, Access.SCALAR: Access.SCALAR}.get(form, False)

    def join(self, op: LoopOp, space: Space, group: LoopGroup) -> None:
        """Append an operation, whose forms are known, to the group."""
        place = self.places[group]
        for i, arg in enumerate(op.args):
            if isinstance(arg, Value) and self.home.get(self.resolve(arg)) is group:
                op.args[i] = self.resolve(arg)
            elif isinstance(arg, Value):
                form = op.forms[i]
                assert form is not None
                group.loads[arg, form] = space
                if form is Access.ELEMENT:
                    group.reads.add(self.resolve(arg))
        group.ops.append(op)
        group.made[op.out] = op.form
        self.ready[op.out] = place
        if op.reduces in (Access.COLUMN, Access.SCALAR):
            group.final.add(op.out)
        else:
            self.home[op.out] = group

    def find_stores(self) -> None:
        """Note which values of a group are read outside, and drop the views that nothing reads."""
        outside = {*self.program.outputs, *(value for _, value in self.program.writes)}
        for step in self.steps:
            if isinstance(step, LoopGroup):
                outside.update(value for value, _ in step.loads)
            else:
                outside.update(step.reads)
        views = []
        for node in reversed(self.views):
            if not outside.isdisjoint(node.outputs):
                views.append(node)
                outside.update(node.reads)
        self.views = views[::-1]
        for group in self.places:
            group.stores = [value for value in group.made if value in outside]

    def order_steps(self) -> Iterator[Step]:
        """Yield the steps, each followed by the views of its results."""
        after: dict[int, list[Node]] = {}
        for node in self.views:
            ready = max((self.ready[v] for v in node.reads), default=-1)
            after.setdefault(ready, []).append(node)
        yield from after.get(-1, ())
        for place, step in enumerate(self.steps):
            if isinstance(step, Node) or step.ops:  # a group is empty if its operations have moved
                yield step
            yield from after.get(place, ())


def space_of(value: Value) -> Space:
    """Return the space of an operation whose result is ``value``, by the result's layout."""
    sizes = [
        (step, size) for size, step in zip(value.shape, value.strides, strict=True) if size > 1
    ]
    order = sorted(range(len(sizes)), key=lambda i: -sizes[i][0])
    return Space(tuple(sizes[i][1] for i in order), tuple(order), value.shape)


def strides_in(value: Value, shape: tuple[int, ...], space: Space) -> list[int]:
    """Return the strides of a value broadcast to ``shape``, in the order of the space."""
    lead = len(shape) - len(value.shape)
    steps = [0] * lead + [
        step if size > 1 else 0 for size, step in zip(value.shape, value.strides, strict=True)
    ]
    kept = [step for step, size in zip(steps, shape, strict=True) if size > 1]
    return [kept[i] for i in space.order]


def form_of(value: Value, shape: tuple[int, ...], space: Space) -> Access:
    """Return the form in which an operation over ``shape`` reads a value."""
    steps, size = strides_in(value, shape, space), value.dtype.itemsize
    if not any(steps):
        return Access.SCALAR
    if steps == dense_strides(space.shape, size):
        return Access.ELEMENT
    if steps[-1] == size and not any(steps[:-1]):
        return Access.COLUMN
    if steps[-1] == 0 and steps[:-1] == dense_strides(space.shape[:-1], size):
        return Access.ROW
    return Access.STRIDED


def dense_strides(shape: tuple[int, ...], itemsize: int) -> list[int]:
    """Return the strides of a row-major array."""
    steps = []
    for size in reversed(shape):
        steps.append(itemsize)
        itemsize *= size
    return steps[::-1]


def is_row_major(value: Value) -> bool:
    """Whether the elements of a value lie in row-major order without gaps."""
    expected = value.dtype.itemsize
    for size, step in zip(value.shape[::-1], value.strides[::-1], strict=True):
        if size > 1:
            if step != expected:
                return False
            expected *= size
    return True
