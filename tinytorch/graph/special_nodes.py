"""Nodes that compute nothing (identity, error), and names of nodes that depend on arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .nodes import FREED, Edge, Node, packed_of, target_of


class _Link:
    """What the engine asks of an operation."""

    saved_positions: tuple[int, ...] = ()
    frees = False
    sequence = joint = None
    makes_gradients = False
    materialize = True
    flat: tuple[int, ...] = ()
    name = qualname = "link"
    backward_name = "AliasBackward0"

    def __init__(self, *rules: Any) -> None:
        self.plain_rules = tuple((-1, rule) for rule in rules)
        self.rule_list = tuple(_compiled(rule) for rule in rules)


def _compiled(rule: Any) -> Any:
    return lambda xp, g, out, shape, args: rule(xp, g)


_ALIAS = _Link(lambda xp, g: g)


_NO_SLOPE = _Link(lambda xp, g: g, lambda xp, g: xp.zeros_like(g))


def towards(leaf: Any) -> Node:
    """A node that hands its gradient on to ``leaf``, for a tensor in that one's place."""
    data = leaf._data
    return Node(_ALIAS, leaf._xp, (leaf,), (), (), data.shape, data.dtype)


def dead_end(tensor: Any, name: str = "AliasBackward0") -> Node:
    """Node that discards the gradient of ``tensor``, under PyTorch's ``name`` of a node."""
    link, data = _Link(lambda xp, g: g), tensor._data
    link.backward_name = name
    return Node(link, tensor._xp, (None,), (), (), data.shape, data.dtype)


def without_slope(tensor: Any, edge: Edge, input: Edge) -> Node:
    """A node for a tensor that was computed from ``input``, too, but does not change with it.

    Args:
        tensor: Of the shape and dtype of ``input``.
        edge: Its own edge, or None.
        input: Gets a gradient of zeros.
    """
    data = tensor._data
    return Node(_NO_SLOPE, tensor._xp, (edge, input), (), (), data.shape, data.dtype)


def without_derivative(name: str, tensor: Any, edges: tuple[Edge, ...]) -> Node:
    """A node for what ``name`` made of ``tensor`` and others: it refuses to give their gradients.

    Args:
        name: torch's name of the operation.
        tensor: The result.
        edges: Where the gradients would go.
    """

    def refuse(xp: Any, g: Any) -> Any:
        raise RuntimeError(f"derivative for {name} is not implemented")

    link = _Link(*[refuse] * len(edges))
    link.backward_name = "NotImplemented"
    data = tensor._data
    return Node(link, tensor._xp, edges, (), (), data.shape, data.dtype)


#: Stands for an argument that the node does not know, or not any more.
UNKNOWN: Any = object()


def argument(node: Node, name: str) -> Any:
    """The value of a parameter that is no tensor, or the raw array of one that is saved."""
    if node.args is FREED:
        return UNKNOWN
    packed = packed_of(node)
    return (node.args if packed is None else packed.bare)[node.op.index[name]]


def wants_gradient(node: Node, name: str) -> bool:
    """Whether the argument requires grad."""
    op = node.op
    at = op.index[name]
    return at in op.differentiable and node.edges[op.differentiable.index(at)] is not None


def ndim_of(node: Node, name: str) -> int | None:
    """How many dimensions a tensor argument has; None where that is not known."""
    op = node.op
    at = op.index[name]
    if wants_gradient(node, name):
        return len(target_of(node.edges[op.differentiable.index(at)])[0])
    value = argument(node, name)
    return getattr(value, "ndim", None)


def is_tensor(node: Node, name: str) -> bool:
    """Whether an operand is a tensor, not a number; a number where that is not known."""
    if wants_gradient(node, name):
        return True
    value = argument(node, name)
    # A number may have become an array, but no tensor holds it.
    return value is not UNKNOWN and any(t._data is value for t in node.saved)


def by_dim(whole: str, along: str) -> Callable[[Node], str]:
    """Names of a reduction of all elements, and of one along dimensions."""

    def name(node: Node) -> str:
        dim = argument(node, "dim")
        return whole if dim is None or dim is UNKNOWN and not node.shape else along

    return name


def by_operand(parameter: str, number: str, tensor: str) -> Callable[[Node], str]:
    """Names by what an operand is."""

    def name(node: Node) -> str:
        return tensor if is_tensor(node, parameter) else number

    return name
