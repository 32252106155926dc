"""Cross entropies of class indices as operations that the C engine computes as one loop of rows.

The kernel is a dozen calls of NumPy's on few elements. The loop finds the class of a row by a
comparison of each column with the target, so that an index out of range has no class: then the
number of classes found is too small, and the kernel runs, which raises the error of eager code.
"""

from __future__ import annotations

import functools
import itertools
from typing import Any

import numpy

from .graph import Kind, Node, Program, Value
from .grouping import is_row_major
from .products import make_value
from .simplify import drop_dead_nodes, producers, simplify

#: Most rows: their number is exact in float32.
_MOST_ROWS = 1 << 24


def expand_losses(program: Program) -> Program:
    """Return the program with the operations of each cross entropy in place of its kernel."""
    losses = [node for node in program.nodes if is_loss(node)]
    if not losses:
        return program
    made_by = producers(program)
    checked = {(node.args[1], node.args[2], node.args[0].shape[1]) for node in losses}
    counts: dict[tuple[Value, int] | None, Value] = {}
    nodes: list[Node] = []
    for node in program.nodes:
        writer = _LossWriter(nodes, node)
        if node in losses:
            counts[node.args[1], node.args[2]] = writer.write_loss(*node.args)
        elif (found := find_decrement(node, made_by, checked)) is not None:
            writer.write_decrement(node.args[0], found)
        elif (key := counted_target(node, made_by)) in counts:
            writer.write_count(counts[key])
        else:
            nodes.append(node)
    made = Program(nodes, program.inputs, program.outputs, program.writes)
    return drop_dead_nodes(simplify(made))


def is_loss(node: Node) -> bool:
    """Whether a node is the cross entropy of several rows of several classes, in float32."""
    if node.name != "op._reduced_cross_entropy" or node.args[2].__class__ is not int:
        return False
    scores, target = node.args[:2]
    return (
        isinstance(scores, Value) and isinstance(target, Value) and len(scores.shape) == 2
        and scores.dtype == numpy.float32 and is_row_major(scores) and is_row_major(target)
        and target.dtype == numpy.int64
        and 1 < scores.shape[0] < _MOST_ROWS and scores.shape[1] > 1
    )  # fmt: skip


def arguments(made_by: dict[Value, Node], value: Any, name: str) -> tuple[Any, ...]:
    """Return the arguments of the node that computes a value if it has this name, and no others."""
    found = made_by.get(value) if isinstance(value, Value) else None
    is_it = found is not None and found.name == name and not found.kwargs
    return found.args if is_it else ()  # type: ignore[union-attr]


def valid_target(made_by: dict[Value, Node], valid: Any) -> tuple[Value, int] | None:
    """Return a target and the index that it ignores, of which ``valid`` is the mask."""
    target, ignored = (*arguments(made_by, valid, "not_equal"), None, None)[:2]
    return (target, ignored) if isinstance(target, Value) and ignored.__class__ is int else None


def counted_target(node: Node, made_by: dict[Value, Node]) -> tuple[Value, int] | None:
    """Return a target and the index that it ignores if a node counts the others in float32."""
    out = node.outputs[0] if node.name == "ndarray.astype" else None
    if out is None or out.dtype != numpy.float32 or out.shape:
        return None
    summed = arguments(made_by, node.args[0], "xp.sum")
    return valid_target(made_by, summed[0]) if len(summed) == 1 else None


def find_decrement(
    node: Node, made_by: dict[Value, Node], checked: set[tuple[Value, int, int]]
) -> Value | None:
    """Return the classes if a node subtracts 1 at the class of each row, as a gradient does.

    Args:
        node: The node.
        made_by: For each value the node that computes it.
        checked: Targets, the index that they ignore, and the number of classes, of losses: these
            targets are in range.
    """
    source = functools.partial(arguments, made_by)
    if node.kind is not Kind.PUT or not isinstance(node.args[0], Value):
        return None
    values, written = node.args[0], source(node.args[1], "setitem")
    if not written or len(values.shape) != 2 or not is_row_major(values):
        return None
    flat, index, decreased = written
    picked, number = (*source(decreased, "subtract"), None, None)[:2]
    read, place = (*source(picked, "getitem"), None, None)[:2]
    if number.__class__ is not int or number != 1 or read is not flat or place is not index:
        return None
    whole, *shape = (*source(flat, "ndarray.reshape"), None)[:2]
    if whole is not values or len(flat.shape) != 1:
        return None
    if node.views != ((numpy.ndarray.reshape, tuple(shape), {}),):
        return None
    for starts, classes in itertools.permutations(source(index, "add"), 2):
        if is_row_starts(starts, values.shape) and is_checked(classes, made_by, checked, values):
            return classes  # type: ignore[no-any-return]
    return None


def is_row_starts(starts: Any, shape: tuple[int, ...]) -> bool:
    """Whether an array has the number of the first element of each row of a matrix."""
    rows, columns = shape
    return isinstance(starts, numpy.ndarray) and numpy.array_equal(
        starts, numpy.arange(rows) * columns
    )


def is_checked(
    classes: Any, made_by: dict[Value, Node], checked: set[tuple[Value, int, int]], values: Value
) -> bool:
    """Whether classes are those of a loss, with class 0 where it ignores the target."""
    valid, target, other = (*arguments(made_by, classes, "xp.where"), None, None, None)[:3]
    if other.__class__ is not int or other != 0:
        return False
    found = valid_target(made_by, valid)
    return found is not None and found[0] is target and (*found, values.shape[1]) in checked


class _LossWriter:
    """Writer of the nodes in the place of one node.

    Args:
        nodes: The list to which they are appended.
        node: The node that they replace.
    """

    def __init__(self, nodes: list[Node], node: Node) -> None:
        self.nodes, self.node = nodes, node

    def add(
        self, function: Any, args: tuple[Any, ...], shape: tuple[int, ...], like: Any,
        name: str = "", kind: Kind = Kind.CALL, **kwargs: Any,
    ) -> Value:  # fmt: skip
        """Append a node, and return its value: row-major, with the dtype of ``like``."""
        made = Node(kind, name or function.__name__, function, args, kwargs, self.node.tag)
        self.nodes.append(made)
        return make_value(shape, like, made)

    def write_classes(self, classes: Value, count: int) -> Value:
        """Write the mask of the class of each row."""
        rows, columns = classes.shape[0], numpy.arange(count)
        shape: Any = (rows, 1)
        numbers = self.add(None, (columns,), (count,), columns, "arange", Kind.CONSTANT)
        column = self.add(
            numpy.ndarray.reshape, (classes, shape), shape, classes, "ndarray.reshape", Kind.VIEW
        )
        return self.add(numpy.equal, (column, numbers), (rows, count), numpy.empty(0, bool))

    def write_decrement(self, values: Value, classes: Value) -> None:
        """Write ``values`` minus 1 at the class of each row."""
        mask = self.write_classes(classes, values.shape[1])
        self.add(numpy.subtract, (values, mask), values.shape, values)
        self.nodes[-1].outputs = self.node.outputs

    def write_count(self, count: Value) -> None:
        """Write the number of targets that are not ignored, which the loss has found."""
        self.add(numpy.ndarray.astype, (count, count.dtype), (), count, "ndarray.astype")
        self.nodes[-1].outputs = self.node.outputs

    def write_loss(self, scores: Value, target: Value, ignored: int, is_mean: bool) -> Value:
        """Write the cross entropy, and the check that each target has a class or is ignored.

        Returns:
            The number of targets that are not ignored.
        """
        rows, count = scores.shape
        shape: Any = (rows, 1)
        valid = self.add(numpy.not_equal, (target, ignored), (rows,), numpy.empty(0, bool))
        classes = target
        if 0 <= ignored < count:
            classes = self.add(numpy.where, (valid, target, -1), (rows,), target, "numpy.where")
        mask = self.write_classes(classes, count)
        along: Any = {"axis": -1, "keepdims": True}
        top = self.add(numpy.max, (scores,), shape, scores, "numpy.max", **along)
        shifted = self.add(numpy.subtract, (scores, top), scores.shape, scores)
        power = self.add(numpy.exp, (shifted,), scores.shape, scores)
        total = self.add(numpy.sum, (power,), shape, scores, "numpy.sum", **along)
        logs = self.add(numpy.log, (total,), shape, scores)
        losses = self.add(numpy.subtract, (logs, shifted), scores.shape, scores)
        chosen = self.add(numpy.where, (mask, losses, 0), scores.shape, scores, "numpy.where")
        loss = self.add(numpy.sum, (chosen,), (), scores, "numpy.sum")
        ones = self.add(
            numpy.ndarray.astype, (mask, scores.dtype), scores.shape, scores, "ndarray.astype"
        )
        found = self.add(numpy.sum, (ones,), (), scores, "numpy.sum")
        wanted = self.add(numpy.count_nonzero, (valid,), (), target, "numpy.count_nonzero")
        check = _ClassCheck(self.node.function)
        self.add(check, (found, wanted, *self.node.args), (), scores, "check_classes", Kind.CHECK)
        self.nodes[-1].outputs = []
        self.add(numpy.divide, (loss, found if is_mean else 1), (), scores)
        self.nodes[-1].outputs = self.node.outputs
        return found


class _ClassCheck:
    """Function that runs a kernel, which raises, if fewer classes were found than wanted.

    Args:
        kernel: Function of the arguments of the loss.
    """

    __slots__ = ("kernel",)

    def __init__(self, kernel: Any) -> None:
        self.kernel: Any = kernel

    def __call__(self, found: Any, wanted: Any, *args: Any) -> None:
        if found != wanted:
            self.kernel(*args)
