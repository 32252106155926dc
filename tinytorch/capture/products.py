"""Sums of matrix products, as gradients of a weight that is used at each step, as one product.

``a.T @ b + c.T @ d`` is the product of the rows of ``a`` and ``c`` with those of ``b`` and ``d``:
one large product instead of many small ones, and no sum. Sums of the columns of ``a`` and ``c`` are
joined in the same way, by which the order of additions changes. Products of several inputs with one
matrix, as those of a sequence with the weight of a cell, are the rows of one product.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy

from .graph import Kind, Node, Program, Value
from .grouping import is_row_major
from .memory import nbytes
from .simplify import drop_dead_nodes, producers

#: Fewest terms of a sum that are joined.
_LEAST = 4
#: Most bytes of arrays that are joined.
_MOST = 1 << 19


@dataclass
class _Term:
    """Term of a sum: the arrays whose rows are joined, and the node that computes it."""

    node: Node
    rows: list[Value] = field(default_factory=list)


def join_products(program: Program) -> Program:
    """Return the program with each sum of products of transposed matrices as one product."""
    return share_products(_Joiner(program).join())


def share_products(program: Program) -> Program:
    """Return the program with the products of its inputs with one matrix as one product."""
    early = {*program.inputs}
    first, rest = [], []
    for node in program.nodes:  # views of inputs move to the front
        if node.kind is Kind.VIEW and early.issuperset(node.reads):
            early.update(value for value in node.outputs if value is not None)
            first.append(node)
        else:
            rest.append(node)
    leaving = {*program.outputs, *(value for _, value in program.writes)}
    shared: dict[Any, list[Node]] = {}
    for node in rest:
        if is_shareable(node, early) and node.outputs[0] not in leaving:
            left, right = node.args
            shared.setdefault((right, left.shape[1], left.dtype), []).append(node)
    chosen = {
        part[0]: part
        for nodes in shared.values() if len(nodes) >= _LEAST
        for part in split(nodes, nbytes(nodes[0].outputs[0]))  # type: ignore[arg-type]
    }  # fmt: skip
    replaced = {node for nodes in chosen.values() for node in nodes}
    nodes = [*first]
    for node in rest:
        if node in chosen:
            nodes += join_shared(chosen[node])
        elif node not in replaced:
            nodes.append(node)
    return Program(nodes, program.inputs, program.outputs, program.writes)


def split(items: list[Any], size: int) -> list[list[Any]]:
    """Return items in parts of at most ``_MOST`` bytes, each item with ``size`` of them.

    A product of all steps of a long sequence would hold more memory than all else.
    """
    count = max(_LEAST, _MOST // max(size, 1))
    parts = [items[i : i + count] for i in range(0, len(items), count)]
    if len(parts) > 1 and len(parts[-1]) < _LEAST:
        parts[-2:] = [parts[-2] + parts[-1]]
    return parts


def is_shareable(node: Node, early: set[Value]) -> bool:
    """Whether a node is the product of an input's rows with a matrix."""
    if node.kind is not Kind.CALL or node.name != "xp.matmul" or node.kwargs:
        return False
    left, right = node.args
    if not isinstance(left, Value) or not isinstance(right, Value) or left not in early:
        return False
    out: Value = node.outputs[0]  # type: ignore[assignment]
    return (
        len(left.shape) == len(right.shape) == 2 and left.dtype == out.dtype == right.dtype
        and left.dtype.char in "fd" and is_row_major(left) and is_row_major(out)
        and 0 not in (*left.shape, *right.shape)
    )  # fmt: skip


def join_shared(products: list[Node]) -> list[Node]:
    """Return the nodes that compute several products with one matrix as one."""
    tag, right = products[0].tag, products[0].args[1]
    parts = [node.args[0] for node in products]
    rows = Node(Kind.CALL, "numpy.concatenate", numpy.concatenate, (parts, 0), {}, tag)
    count = sum(part.shape[0] for part in parts)
    joined = make_value((count, parts[0].shape[1]), parts[0], rows)
    whole = Node(Kind.CALL, "xp.matmul", products[0].function, (joined, right), {}, tag)
    product = make_value((count, right.shape[1]), right, whole)
    nodes, start = [rows, whole], 0
    for node, part in zip(products, parts, strict=True):
        key = slice(start, start + part.shape[0])
        view = Node(Kind.VIEW, "getitem", operator.getitem, (product, key), {}, node.tag)
        view.outputs = node.outputs
        nodes.append(view)
        start += part.shape[0]
    return nodes


def make_value(shape: tuple[int, ...], like: Value, node: Node, turn: bool = False) -> Value:
    """Return a row-major value of a node with the dtype of ``like``; transposed if ``turn``."""
    array: Any = numpy.empty(0, like.dtype)  # never read: only its layout counts
    steps = numpy.empty(shape[::-1] if turn else shape, [("", like.dtype)]).strides
    array = numpy.lib.stride_tricks.as_strided(array, shape, steps[::-1] if turn else steps)
    value = Value(array, node)
    node.outputs.append(value)
    return value


class _Joiner:
    """State of ``join_products``."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.made_by = producers(program)
        self.place = {node: place for place, node in enumerate(program.nodes)}
        self.uses = Counter(value for node in program.nodes for value in node.reads)
        self.uses.update([*program.outputs, *(value for _, value in program.writes)])
        self.joined: dict[tuple[Value, ...], Value] = {}
        self.nodes: list[Node] = []
        #: By the node after which they are written: sums, each with some of its terms.
        self.parts: dict[Node, list[tuple[Node, list[_Term]]]] = {}
        self.totals: dict[Node, Value] = {}  # of the parts that are written
        self.counts: Counter[Node] = Counter()  # of those that are not

    def join(self) -> Program:
        """Return the new program."""
        inner = {
            value for node in self.program.nodes if self.is_sum(node)
            for value in node.reads if self.is_inner(value)
        }  # fmt: skip
        for node in self.program.nodes:
            if self.is_sum(node) and node.outputs[0] not in inner:
                self.split_sum(node)
        for node in self.program.nodes:
            if node not in self.counts:
                self.nodes.append(node)
            for total, terms in self.parts.get(node, ()):
                self.write(total, terms)
        program = self.program
        return drop_dead_nodes(Program(self.nodes, program.inputs, program.outputs, program.writes))

    def split_sum(self, node: Node) -> None:
        """Note the parts of a sum that is joined, each to be written after its last term."""
        terms = self.terms(node)
        if terms is not None:
            parts = split(terms, max(map(nbytes, terms[0].rows)))
            self.counts[node] = len(parts)
            for part in parts:
                self.parts.setdefault(part[-1].node, []).append((node, part))

    def is_sum(self, node: Node) -> bool:
        """Whether a node adds two values of one shape."""
        return (
            node.kind is Kind.CALL and node.function is numpy.add and not node.kwargs
            and all(
                isinstance(arg, Value) and arg.shape == node.outputs[0].shape  # type: ignore[union-attr]
                for arg in node.args
            )
        )  # fmt: skip

    def is_inner(self, value: Value) -> bool:
        """Whether a value is a sum that another sum alone reads."""
        node = self.made_by.get(value)
        return node is not None and self.is_sum(node) and self.uses[value] == 1

    def leaves(self, node: Node) -> Iterator[Value]:
        """Yield the terms of a sum of sums, from left to right."""
        stack = [*node.args]
        while stack:
            value = stack.pop(0)
            if self.is_inner(value):
                stack[:0] = self.made_by[value].args
            else:
                yield value

    def terms(self, node: Node) -> list[_Term] | None:
        """Return the terms of a sum that is joined; None of another."""
        found = []
        for value in self.leaves(node):
            term = self.term(value)
            if term is None:
                return None
            found.append(term)
        found.sort(key=lambda term: self.place[term.node])
        first = found[0]
        same = all(
            len(term.rows) == len(first.rows)
            and all(
                a.shape[1:] == b.shape[1:] and a.dtype == b.dtype
                for a, b in zip(term.rows, first.rows, strict=True)
            )
            for term in found
        )
        return found if same and len(found) >= _LEAST else None

    def term(self, value: Value) -> _Term | None:
        """Return a term: a product with a transposed matrix, or a sum of columns."""
        node = self.made_by.get(value)
        if node is None or self.uses[value] != 1 or value.dtype.char not in "fd":
            return None
        if node.name == "xp.matmul" and not node.kwargs and len(value.shape) == 2:
            left, right = node.args
            turn = self.made_by.get(left)
            if turn is None or turn.kind is not Kind.VIEW or not is_transposition(turn):
                return None
            rows = [turn.args[0], right]
        elif node.name == "xp.sum" and len(node.args) == 1 and node.kwargs == {"axis": 0}:
            rows = [node.args[0]]
        else:
            return None
        are_rows = all(len(row.shape) == 2 and is_row_major(row) for row in rows)
        return _Term(node, rows) if are_rows else None

    def write(self, node: Node, terms: list[_Term]) -> None:
        """Append the nodes of a part of a sum, added to the parts before it."""
        joined = [
            self.join_rows([term.rows[k] for term in terms], node)
            for k in range(len(terms[0].rows))
        ]
        last = terms[-1].node
        if len(joined) == 2:
            turn = Node(
                Kind.VIEW, "ndarray.transpose", numpy.ndarray.transpose, (joined[0],), {}, node.tag
            )
            joined[0] = make_value(joined[0].shape[::-1], joined[0], turn, turn=True)
            self.nodes.append(turn)
        made = Node(Kind.CALL, last.name, last.function, tuple(joined), last.kwargs, node.tag)
        self.nodes.append(made)
        self.add_part(node, made)

    def add_part(self, node: Node, made: Node) -> None:
        """Add what ``made`` computes to the parts of a sum before it; the last total is the sum."""
        out: Value = node.outputs[0]  # type: ignore[assignment]
        if node in self.totals:
            parts = self.totals[node], make_value(out.shape, out, made)
            made = Node(Kind.CALL, "add", numpy.add, parts, {}, node.tag)
            self.nodes.append(made)
        self.counts[node] -= 1
        if self.counts[node]:
            self.totals[node] = make_value(out.shape, out, made)
        else:
            made.outputs = node.outputs

    def join_rows(self, parts: list[Value], node: Node) -> Value:
        """Return the value of the rows of several arrays, one below the other."""
        key = tuple(parts)
        if key not in self.joined:
            made = Node(Kind.CALL, "numpy.concatenate", numpy.concatenate, (parts, 0), {}, node.tag)
            rows = sum(part.shape[0] for part in parts)
            self.joined[key] = make_value((rows, parts[0].shape[1]), parts[0], made)
            self.nodes.append(made)
        return self.joined[key]


def is_transposition(node: Node) -> bool:
    """Whether a VIEW exchanges the dimensions of a matrix."""
    source, out = node.args[0], node.outputs[0]
    return (
        out is not None and len(source.shape) == 2 and out.dtype == source.dtype
        and out.shape == source.shape[::-1] and out.strides == source.strides[::-1]
    )  # fmt: skip
