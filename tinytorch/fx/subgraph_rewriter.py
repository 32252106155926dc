"""Replacement of parts of a graph by other nodes."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..nn.module import Module
from ._symbolic_trace import symbolic_trace
from .graph import Graph
from .graph_module import GraphModule, _assign_attr, _get_attr
from .node import Node

__all__ = ["Match", "ReplacedPatterns", "replace_pattern", "replace_pattern_with_filters"]


class Match(NamedTuple):
    """Place where a pattern was found.

    Attributes:
        anchor: The node of the pattern that its output returns.
        nodes_map: The nodes of the graph, by those of the pattern.
    """

    anchor: Node
    nodes_map: dict[Node, Node]


@dataclass
class ReplacedPatterns:
    """Place where a pattern was replaced.

    Attributes:
        anchor: The node of the pattern that its output returns.
        nodes_map: The nodes of the graph, by those of the pattern.
        replacements: The new nodes.

    Example:
        >>> from tinytorch.fx.subgraph_rewriter import replace_pattern_with_filters
        >>> gm = tt.fx.symbolic_trace(lambda x: x + 1)
        >>> (found,) = replace_pattern_with_filters(gm, lambda a: a + 1, lambda a: -a)
        >>> found.replacements
        [neg]
    """

    anchor: Node
    nodes_map: dict[Node, Node]
    replacements: list[Node]


@dataclass
class InternalMatch:
    """Place where a pattern was found, for filters.

    Attributes:
        anchors: The nodes of the pattern that its output returns.
        nodes_map: The nodes, or values, of the graph, by the nodes of the pattern.
        placeholder_nodes: The values of the pattern's inputs.
        returning_nodes: The nodes that the pattern returns.
    """

    anchors: list[Node]
    nodes_map: dict[Node, Any]
    placeholder_nodes: list[Any]
    returning_nodes: list[Node]


def replace_pattern(gm: GraphModule, pattern: Any, replacement: Any) -> list[Match]:
    """Replace each part of a graph that computes a pattern.

    Parts do not overlap; of two that do, the first one is replaced. Values inside a part must not
    be used outside.

    Args:
        gm: The module, whose graph changes.
        pattern: Function, ``Graph`` or ``GraphModule`` to look for. Its inputs stand for any
            values; functions, methods, names of modules and other arguments must be equal.
        replacement: Function, ``Graph`` or ``GraphModule`` with the same inputs and outputs.

    Returns:
        The places.

    Example:
        >>> gm = tt.fx.symbolic_trace(lambda x, y: tt.relu(x + y))
        >>> len(tt.fx.replace_pattern(gm, lambda a, b: a + b, lambda a, b: a * b))
        1
        >>> gm(tt.full((2,), 3.0), tt.full((2,), 4.0))
        tensor([12., 12.])
    """
    replaced = replace_pattern_with_filters(gm, pattern, replacement)
    return [Match(each.anchor, each.nodes_map) for each in replaced]


def replace_pattern_with_filters(
    gm: GraphModule, pattern: Any, replacement: Any = None,
    match_filters: list[Callable[[InternalMatch, Graph, Graph], bool]] | None = None,
    ignore_literals: bool = False,
    replacement_callback: Callable[[InternalMatch, Graph, Graph], Graph] | None = None,
) -> list[ReplacedPatterns]:  # fmt: skip
    """Replace each part of a graph that computes a pattern and passes all filters.

    Args:
        gm: The module, whose graph changes.
        pattern: The pattern; see ``replace_pattern``.
        replacement: The replacement.
        match_filters: Functions of a match, the graph and the pattern's graph, which tell whether
            to replace. Default: none.
        ignore_literals: Whether numbers among the arguments need not be equal. Default: False.
        replacement_callback: Function of the same arguments that returns the replacement for a
            match. Default: ``replacement``.

    Returns:
        The places, with the new nodes.

    Example:
        >>> from tinytorch.fx.subgraph_rewriter import replace_pattern_with_filters
        >>> gm = tt.fx.symbolic_trace(lambda x: (x + 1) * (x + 2))
        >>> found = replace_pattern_with_filters(
        ...     gm, lambda a: a + 1, lambda a: a - 1, ignore_literals=True
        ... )
        >>> gm(tt.full((1,), 5.0))
        tensor([16.])
    """
    graph, pattern_graph = gm.graph, _graph_of(pattern)
    matches = [
        match
        for match in _find_matches(graph, pattern_graph, ignore_literals)
        if all(accept(match, graph, pattern_graph) for accept in match_filters or ())
    ]
    common = None if replacement is None else _graph_of(replacement)
    replaced: list[ReplacedPatterns] = []
    changed: dict[Node, Node] = {}
    for match in matches:
        new = replacement_callback(match, graph, pattern_graph) if replacement_callback else common
        if new is None:
            raise AssertionError(
                "Must provide either a replacement GraphModule or a replacement callback"
            )
        replaced.append(_replace(graph, pattern_graph, new, match, changed))
    gm.recompile()
    if isinstance(replacement, Module):
        _copy_missing_attributes(gm, replacement)
    return replaced


def _graph_of(program: Any) -> Graph:
    """Return the graph of a function, a ``Graph`` or a ``GraphModule``."""
    if isinstance(program, GraphModule):
        return program.graph
    return program if isinstance(program, Graph) else symbolic_trace(program).graph


# -- search --------------------------------------------------------------------------------------


class _Matcher:
    """The search for one pattern."""

    def __init__(self, pattern: Graph, ignore_literals: bool) -> None:
        self.pattern, self.ignore_literals = pattern, ignore_literals
        self.anchors = pattern.output_node().all_input_nodes

    def matches(self, graph: Graph) -> Iterator[dict[Node, Any]]:
        """Yield a map from the pattern's nodes to those of a graph, for each place."""
        if not self.anchors:
            return
        for node in graph.nodes:
            yield from self._extend({}, list(self.anchors), [node], graph)

    def _extend(
        self, found: dict[Node, Any], anchors: list[Node], candidates: Any, graph: Graph
    ) -> Iterator[dict[Node, Any]]:
        """Yield the maps that contain ``found`` and match the remaining anchors."""
        if not anchors:
            yield found
            return
        for node in candidates:
            trial = dict(found)
            if self._match(anchors[0], node, trial):
                yield from self._extend(trial, anchors[1:], graph.nodes, graph)

    def _match(self, wanted: Any, value: Any, found: dict[Node, Any]) -> bool:
        """Whether a value of the graph matches a value of the pattern; adds to ``found``."""
        if isinstance(wanted, Node):
            return self._match_node(wanted, value, found)
        if isinstance(wanted, (tuple, list)):
            same = isinstance(value, (tuple, list)) and len(wanted) == len(value)
            return same and all(
                self._match(a, b, found) for a, b in zip(wanted, value, strict=True)
            )
        if isinstance(wanted, dict):
            same = isinstance(value, dict) and wanted.keys() == value.keys()
            return same and all(self._match(wanted[key], value[key], found) for key in wanted)
        if isinstance(wanted, slice):
            return isinstance(value, slice) and self._match(
                (wanted.start, wanted.stop, wanted.step), (value.start, value.stop, value.step),
                found,
            )  # fmt: skip
        if isinstance(value, Node):
            return False
        return self.ignore_literals or (type(wanted) is type(value) and bool(wanted == value))

    def _match_node(self, wanted: Node, value: Any, found: dict[Node, Any]) -> bool:
        if wanted in found:
            return found[wanted] is value or (
                not isinstance(value, Node) and bool(found[wanted] == value)
            )
        if wanted.op == "placeholder":
            found[wanted] = value
            return True
        if not isinstance(value, Node) or (wanted.op, wanted.target) != (value.op, value.target):
            return False
        if any(node is value for node in found.values()):
            return False
        found[wanted] = value
        return self._match((wanted.args, wanted.kwargs), (value.args, value.kwargs), found)


def _find_matches(graph: Graph, pattern: Graph, ignore_literals: bool) -> list[InternalMatch]:
    """Return the places that do not overlap and whose inner values are not used outside."""
    matcher = _Matcher(pattern, ignore_literals)
    inputs = pattern.find_nodes(op="placeholder")
    taken: set[Node] = set()
    kept = []
    for found in matcher.matches(graph):
        inner = {found[node] for node in found if node.op != "placeholder"}
        if inner & taken or not _is_contained(found, matcher.anchors, inner):
            continue
        taken |= inner
        kept.append(
            InternalMatch(
                matcher.anchors, found, [found.get(node) for node in inputs],
                [found[node] for node in matcher.anchors],
            )
        )  # fmt: skip
    return kept


def _is_contained(found: dict[Node, Any], anchors: list[Node], inner: set[Node]) -> bool:
    """Whether only nodes of the place use the values that the pattern does not return."""
    return all(
        set(found[node].users) <= inner
        for node in found
        if node.op != "placeholder" and node not in anchors
    )


# -- replacement ---------------------------------------------------------------------------------


def _replace(
    graph: Graph, pattern: Graph, new: Graph, match: InternalMatch, changed: dict[Node, Node]
) -> ReplacedPatterns:
    """Replace one place; ``changed`` maps nodes that were replaced before to the new ones."""
    values: dict[Node, Any] = {}
    inputs = new.find_nodes(op="placeholder")
    if len(inputs) != len(match.placeholder_nodes):
        raise AssertionError(
            f"replace_pattern: expected a replacement with {len(match.placeholder_nodes)} inputs, "
            f"as the pattern has, got {len(inputs)}"
        )
    for node, old in zip(inputs, pattern.find_nodes(op="placeholder"), strict=True):
        value = match.nodes_map.get(old)
        while isinstance(value, Node) and value in changed:
            value = match.nodes_map[old] = changed[value]
        values[node] = value
    users = {user for node in match.returning_nodes for user in node.users}
    inner = {n for n in match.nodes_map.values() if isinstance(n, Node)}
    place = next((n for n in graph.nodes if n in users and n not in inner), None)
    before = set(values)
    with graph.inserting_before(place):
        result = graph.graph_copy(new, values)
    results = result if isinstance(result, (tuple, list)) else [result]
    _check_results(pattern, results)
    for old, made in zip(_find_results(pattern, match), results, strict=True):
        old.replace_all_uses_with(made)
        changed[old] = made
    for node in reversed(pattern.nodes):
        if node.op not in ("placeholder", "output"):
            graph.erase_node(match.nodes_map[node])
    made_nodes = [node for key, node in values.items() if key not in before]
    return ReplacedPatterns(match.anchors[0], match.nodes_map, made_nodes)


def _find_results(pattern: Graph, match: InternalMatch) -> list[Node]:
    """Return the graph's nodes for the values that the pattern returns."""
    value = pattern.output_node().args[0]
    parts = value if isinstance(value, (tuple, list)) else [value]
    return [match.nodes_map[part] for part in parts]


def _check_results(pattern: Graph, results: Any) -> None:
    value = pattern.output_node().args[0]
    count = len(value) if isinstance(value, (tuple, list)) else 1
    if len(results) != count:
        raise AssertionError(
            f"replace_pattern: expected a replacement that returns {count} values, as the pattern "
            f"does, got {len(results)}"
        )


def _copy_missing_attributes(gm: GraphModule, replacement: Module) -> None:
    """Give a module what the nodes of a replacement read, and remove unused submodules."""
    gm.delete_all_unused_submodules()
    for node in gm.graph.nodes:
        if node.op in ("call_module", "get_attr"):
            try:
                _get_attr(gm, node.target)
            except AttributeError:
                value = _get_attr(replacement, node.target)
                _assign_attr(copy.deepcopy(value), gm, node.target)
    gm.graph.lint()
