"""What an operation's ``node`` option can ask of a node, to give it the name torch's has.

A name is made when somebody asks for it, from what the node keeps; nothing is noted down for it at
recording. After a backward pass has freed the arguments, what they were is told by the shapes of
the result and of the inputs that want a gradient, as far as possible.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .nodes import FREED, Node, target_of

#: Stands for an argument that the node does not know, or not any more.
UNKNOWN: Any = object()


def argument(node: Node, name: str) -> Any:
    """The value of a parameter that is no tensor, or the raw array of one that is saved."""
    return UNKNOWN if node.args is FREED else node.args[node.op.index[name]]


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
