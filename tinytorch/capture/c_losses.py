"""Cross entropies of class indices as operations that the C engine computes as one loop of rows.

The kernel is a dozen calls of NumPy's on few elements. The loop finds the class of a row by a
comparison of each column with the target, so that an index out of range has no class: then the
number of classes found is too small, and the kernel runs, which raises the error of eager code.
"""

from __future__ import annotations

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
    nodes: list[Node] = []
    for node in program.nodes:
        writer = _LossWriter(nodes, node)
        if node in losses:
            writer.write_loss(*node.args)
        elif (found := find_decrement(node, made_by, checked)) is not None:
            writer.write_decrement(node.args[0], found)
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

    def source(value: Any, name: str) -> tuple[Any, ...]:
        """Return the arguments of the node of a value if it has this name."""
        found = made_by.get(value) if isinstance(value, Value) else None
        return found.args if found is not None and found.name == name else ()

    if node.kind is not Kind.PUT or len(node.args[0].shape) != 2 or not is_row_major(node.args[0]):
        return None
    rows, columns = node.args[0].shape
    written = source(node.args[1], "setitem")
    if not written or source(written[0], "ndarray.reshape")[:1] != node.args[:1]:
        return None
    flat, index, values = written
    picked = source(values, "subtract")
    if picked[1:] != (1,) or source(picked[0], "getitem") != (flat, index):
        return None
    for classes, starts in (pair := source(index, "add"), pair[::-1]):
        if not isinstance(starts, numpy.ndarray) or flat.shape != (rows * columns,):
            continue
        valid, target, other = (*source(classes, "xp.where"), None, None, None)[:3]
        test = source(valid, "not_equal")
        is_checked = len(test) == 2 and (*test, columns) in checked and test[0] is target
        if is_checked and other == 0:
            if numpy.array_equal(starts, numpy.arange(rows) * columns):
                return classes  # type: ignore[no-any-return]
    return None


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

    def write_loss(self, scores: Value, target: Value, ignored: int, is_mean: bool) -> None:
        """Write the cross entropy, and the check that each target has a class or is ignored."""
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
        divisor = found if is_mean else 1
        self.add(numpy.divide, (loss, divisor), (), scores)
        self.nodes[-1].outputs = self.node.outputs


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
