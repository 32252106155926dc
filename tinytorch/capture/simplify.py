"""Simplification of a recorded program: dead code, common subexpressions, copies, covering puts.

Values are immutable, so a copy of a value is the value itself, unless both leave the program: two
results of a function do not share memory that its eager version keeps apart.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from typing import Any

import numpy

from .graph import Kind, Node, Program, Value, values_in
from .numbers import OnFloats, ToDtype

#: Last part of the names of functions that only copy or cast.
COPIES = frozenset(
    ("array", "asarray", "ascontiguousarray", "astype", "copy", "positive", "broadcast_to", "fit")
)
#: Arrays of at most so many bytes are compared by their contents.
_SMALL = 64
#: Kinds of nodes whose results depend on their arguments alone.
_PURE = frozenset((Kind.CALL, Kind.VIEW, Kind.CONSTANT))
#: Kinds of nodes that are run although nothing reads their results.
_EFFECTS = frozenset((Kind.CHECK, Kind.DRAW, Kind.ACTION))


def simplify(program: Program) -> Program:
    """Return a program with the same results and fewer nodes; ``program`` stays as it is."""
    return drop_dead_nodes(_Merger(program).merge())


def substitute(tree: Any, find: Callable[[Value], Any]) -> Any:
    """Replace the values in an argument of a node by ``find(value)``."""
    kind = tree.__class__
    if kind is Value:
        return find(tree)
    if kind is tuple or kind is list:
        return kind([substitute(item, find) for item in tree])
    if kind is dict:
        return {name: substitute(item, find) for name, item in tree.items()}
    if kind is slice:
        return slice(*(substitute(item, find) for item in (tree.start, tree.stop, tree.step)))
    return tree


def producers(program: Program) -> dict[Value, Node]:
    """Map each value that a node computes to that node."""
    return {value: node for node in program.nodes for value in node.outputs if value is not None}


def storage_root(value: Value, made_by: dict[Value, Node]) -> Value:
    """Return the value in whose memory ``value`` lies: the source of a chain of views."""
    node = made_by.get(value)
    while node is not None and node.kind is Kind.VIEW:
        value = node.args[0]
        node = made_by.get(value)
    return value


def drop_dead_nodes(program: Program) -> Program:
    """Return the program without nodes of which nothing depends; what has effects stays."""
    alive = {*program.outputs, *(value for _, value in program.writes)}
    nodes = []
    for node in reversed(program.nodes):
        if node.kind in _EFFECTS or not alive.isdisjoint(node.outputs):
            nodes.append(node)
            alive.update(node.reads)
    return Program(nodes[::-1], program.inputs, program.outputs, program.writes)


class _Merger:
    """One pass over a program that merges values which are equal."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.made_by = producers(program)
        self.new: dict[Value, Value] = {}
        self.found: dict[Hashable, Node] = {}
        self.memory: set[Value] = set()  # roots of what leaves the program, and of what enters it
        self.leaving = {storage_root(value, self.made_by) for value in program.outputs}

    def merge(self) -> Program:
        """Return the program with each value computed once."""
        program = self.program
        self.memory.update(program.inputs)
        nodes = [node for node in map(self.rewrite, program.nodes) if node is not None]
        writes = [(place, self.find(value)) for place, value in program.writes]
        return Program(nodes, program.inputs, [*map(self.find, program.outputs)], writes)

    def find(self, value: Value) -> Value:
        """Return the value that stands for ``value``."""
        return self.new.get(value, value)

    def rewrite(self, node: Node) -> Node | None:
        """Return the node with its new arguments; None if its values exist already."""
        made = node
        is_scaled_sum = node.name == "xp.add_scaled"
        if is_scaled_sum or not self.new.keys().isdisjoint(node.reads):
            args = substitute(node.args, self.find)
            args = args[:4] if is_scaled_sum else args  # the fifth is scratch memory
            kwargs = substitute(node.kwargs, self.find)
            made = Node(node.kind, node.name, node.function, args, kwargs, node.tag)
            made.outputs, made.views = node.outputs, node.views
        if fills(made):
            made = Node(Kind.CALL, "fit", Fit(node.outputs[0]), made.args[2:], {}, node.tag)
            made.outputs = node.outputs
        if is_small_constant(made):
            array = made.function(*made.args, **made.kwargs)  # type: ignore[misc]
            made = Node(Kind.CONSTANT, made.name, None, (array,), {}, node.tag)
            made.outputs = node.outputs
        self.made_by.update((value, made) for value in node.outputs if value is not None)
        source = equal_argument(made)
        if source is not None and self.may_share(node.outputs[0], source):
            self.replace(node.outputs[0], source)
            return None
        key = key_of(made) if made.kind in _PURE else None
        before = None if key is None else self.found.get(key)
        if before is not None and self.may_merge(node, before):
            for value, same in zip(node.outputs, before.outputs, strict=True):
                if value is not None and same is not None:
                    self.replace(value, same)
            return None
        if key is not None:
            self.found[key] = made
        self.memory.update(value for value in node.outputs if value in self.leaving)
        return made

    def may_merge(self, node: Node, before: Node) -> bool:
        """Whether the values of ``before`` may stand for those of ``node``."""
        if len(node.outputs) != len(before.outputs):
            return False
        pairs = zip(node.outputs, before.outputs, strict=True)
        return all(
            value is None or same is not None and (
                node.kind is Kind.VIEW or self.may_share(value, same)
            )
            for value, same in pairs
        )  # fmt: skip

    def may_share(self, value: Value | None, source: Value) -> bool:
        """Whether ``value`` may lie in the memory of ``source``."""
        if value not in self.leaving:
            return True
        root = storage_root(source, self.made_by)
        node = self.made_by.get(root)
        return root not in self.memory and node is not None and node.kind is not Kind.CONSTANT

    def replace(self, value: Value | None, source: Value) -> None:
        """Let ``source`` stand for ``value``."""
        assert value is not None
        self.new[value] = source
        if value in self.leaving:
            root = storage_root(source, self.made_by)
            self.leaving.add(root)
            self.memory.add(root)


def equal_argument(node: Node) -> Value | None:
    """Return the argument that the node's only result equals in every respect; None if none."""
    if len(node.outputs) != 1 or node.outputs[0] is None:
        return None
    out = node.outputs[0]
    if node.kind is Kind.CALL and node.name.rpartition(".")[2] in COPIES:
        source = node.args[0] if node.args else None
    elif node.kind is Kind.PUT and covers(node):
        source = node.args[1]
    elif node.kind is Kind.VIEW and has_no_gaps(node.args[0]):
        source = node.args[0]
    else:
        return None
    return source if isinstance(source, Value) and is_like(source, out) else None


def is_like(value: Value, other: Value) -> bool:
    """Whether two values have the same shape, dtype and layout."""
    return (
        value.shape == other.shape and value.dtype == other.dtype
        and steps_of(value) == steps_of(other)
    )  # fmt: skip


def fills(node: Node) -> bool:
    """Whether a MUTATE replaces all elements of its base."""
    return node.kind is Kind.MUTATE and node.name == "setitem" and node.args[1] is Ellipsis


class Fit:
    """Function that broadcasts and casts to the shape, dtype and layout of ``like``."""

    def __init__(self, value: Any) -> None:
        like: Any = numpy.empty(0, value.dtype)  # never read: only its layout counts
        self.like: Any = numpy.lib.stride_tricks.as_strided(like, value.shape, value.strides)

    def __call__(self, source: Any) -> Any:
        out = numpy.empty_like(self.like)
        out[...] = source
        return out


def is_small_constant(node: Node) -> bool:
    """Whether a node makes a small array of one number that is known."""
    if node.kind is not Kind.CALL or node.name.rpartition(".")[2] not in ("ones", "zeros", "full"):
        return False
    out = node.outputs[0]
    if out is None or math.prod(out.shape) * out.dtype.itemsize > _SMALL:
        return False
    return not node.reads


def has_no_gaps(value: Value) -> bool:
    """Whether the elements of a value lie side by side, in any order of its dimensions."""
    pairs = zip(value.shape, value.strides, strict=True)
    span = sum((size - 1) * abs(step) for size, step in pairs)
    return bool(span == (math.prod(value.shape) - 1) * value.dtype.itemsize)


def steps_of(value: Value) -> list[int]:
    """Return the strides of the dimensions that have more than one element."""
    pairs = zip(value.shape, value.strides, strict=True)
    return [] if 0 in value.shape else [step for size, step in pairs if size > 1]


def covers(node: Node) -> bool:
    """Whether a PUT replaces every element of its base, in order."""
    base: Any = numpy.empty(0, node.args[0].dtype)
    base = numpy.lib.stride_tricks.as_strided(base, node.args[0].shape, node.args[0].strides)
    part = base
    for function, args, kwargs in node.views:
        if next(values_in((args, kwargs)), None) is not None:
            return False
        part = function(part, *args, **kwargs)
    return (
        isinstance(part, numpy.ndarray)
        and part.shape == base.shape
        and part.strides == base.strides
        and part.__array_interface__["data"] == base.__array_interface__["data"]
    )


def key_of(node: Node) -> Hashable:
    """Return a key that is equal for nodes that compute the same; None if it is not hashable."""
    try:
        key = (
            node.kind, node.name, _function_key(node.function),
            _argument_key(node.args), _argument_key(node.kwargs), len(node.outputs),
        )  # fmt: skip
        hash(key)
    except TypeError:
        return None
    return key


def _function_key(function: Any) -> Hashable:
    """Return a key of a function; those of numbers are objects, equal by what they hold."""
    if function.__class__ in (OnFloats, ToDtype):
        return function.__class__, *(getattr(function, name) for name in function.__slots__)
    return function  # type: ignore[no-any-return]


def _argument_key(tree: Any) -> Hashable:
    """Return a key of an argument that tells apart 0.0, -0.0, 0 and False."""
    kind = tree.__class__
    if kind is Value:
        return tree  # type: ignore[no-any-return]
    if kind in (int, bool, str):
        return kind, tree
    if isinstance(tree, tuple | list):
        return kind, tuple(map(_argument_key, tree))
    if isinstance(tree, dict):
        return dict, tuple([(name, _argument_key(item)) for name, item in tree.items()])
    if isinstance(tree, slice):
        return slice, _argument_key((tree.start, tree.stop, tree.step))
    if isinstance(tree, numpy.ndarray):
        if tree.nbytes > _SMALL:
            return numpy.ndarray, id(tree)
        return numpy.ndarray, tree.dtype, tree.shape, tree.tobytes()
    if isinstance(tree, float | complex | numpy.generic):
        return kind, repr(tree)
    return kind, tree
