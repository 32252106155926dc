"""Nodes that compute nothing (identity, error), and names of nodes that depend on arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .nodes import FREED, Edge, Node, packed_of, shape_and_dtype


class NodeOp:
    """``Node.op`` of a node that belongs to no operation: the attributes that the engine reads.

    ``dispatch.backward.Backward`` describes them.
    """

    saved_positions: tuple[int, ...] = ()
    frees = False
    sequence = None
    joint: Any = None
    makes_gradients = False
    materialize = True
    piecewise: tuple[int, ...] = ()
    name = qualname = "link"
    backward_name = "AliasBackward0"

    def __init__(self, *rules: Any) -> None:
        self.direct_rules: tuple[tuple[int, Any], ...] = tuple((-1, rule) for rule in rules)
        self.compiled_rules: tuple[Any, ...] = tuple(map(self._compile, rules))

    @staticmethod
    def _compile(rule: Any) -> Any:
        """Return a rule of ``(xp, g)`` with the parameters of a compiled rule."""
        return lambda xp, g, out, shape, args: rule(xp, g)


_IDENTITY = NodeOp(lambda xp, g: g)
_ZERO_DERIVATIVE = NodeOp(lambda xp, g: g, lambda xp, g: xp.zeros_like(g))


def identity_node(leaf: Any) -> Node:
    """Identity node: it passes its gradient on to ``leaf``; for a tensor that replaces the leaf."""
    data = leaf._data
    return Node(_IDENTITY, leaf._xp, (leaf,), (), (), data.shape, data.dtype)


def discarding_node(tensor: Any, name: str = "AliasBackward0") -> Node:
    """Node that discards the gradient of ``tensor``; ``name`` is PyTorch's name of the node."""
    op, data = NodeOp(lambda xp, g: g), tensor._data
    op.backward_name = name
    return Node(op, tensor._xp, (None,), (), (), data.shape, data.dtype)


def zero_derivative_node(tensor: Any, edge: Edge, input: Edge) -> Node:
    """Node of a tensor whose derivative with respect to ``input`` is zero.

    Args:
        tensor: A tensor of the shape and dtype of ``input``.
        edge: The edge of ``tensor`` so far, or None; it receives the gradient unchanged.
        input: The edge of the input; it receives a gradient of zeros.
    """
    data = tensor._data
    return Node(_ZERO_DERIVATIVE, tensor._xp, (edge, input), (), (), data.shape, data.dtype)


def error_node(name: str, tensor: Any, edges: tuple[Edge, ...]) -> Node:
    """Error node: a backward pass through it raises, for an operation without derivative.

    Args:
        name: PyTorch's name of the operation.
        tensor: The result.
        edges: Edges of the inputs.
    """

    def rule(xp: Any, g: Any) -> Any:
        raise RuntimeError(f"derivative for {name} is not implemented")

    op = NodeOp(*[rule] * len(edges))
    op.backward_name = "NotImplemented"
    data = tensor._data
    return Node(op, tensor._xp, edges, (), (), data.shape, data.dtype)


#: Value of ``argument`` for the arguments of a node that has been freed.
UNKNOWN: Any = object()


def argument(node: Node, name: str) -> Any:
    """Return an argument of a node: a Python value, or the raw array of a saved tensor.

    It is None for a tensor that is not saved or is packed, and ``UNKNOWN`` after it was freed.
    """
    if node.args is FREED:
        return UNKNOWN
    packed = packed_of(node)
    return (node.args if packed is None else packed.bare)[node.op.index[name]]


def input_requires_grad(node: Node, name: str) -> bool:
    """Whether the argument ``name`` of a node required grad."""
    op = node.op
    at = op.index[name]
    return at in op.differentiable and node.edges[op.differentiable.index(at)] is not None


def ndim_of(node: Node, name: str) -> int | None:
    """Number of dimensions of a tensor argument; None if it is not saved and needs no gradient."""
    op = node.op
    at = op.index[name]
    if input_requires_grad(node, name):
        return len(shape_and_dtype(node.edges[op.differentiable.index(at)])[0])
    value = argument(node, name)
    return getattr(value, "ndim", None)


def is_tensor(node: Node, name: str) -> bool:
    """Whether an operand is a tensor, not a number; False if it is not saved."""
    if input_requires_grad(node, name):
        return True
    value = argument(node, name)
    # A number may have been converted to an array, which is not the array of a saved tensor.
    return value is not UNKNOWN and any(t._data is value for t in node.saved)


def name_by_dim(whole: str, along: str) -> Callable[[Node], str]:
    """Return a function of a reduction's node that returns its name.

    Args:
        whole: The name for a reduction of all elements.
        along: The name for a reduction along the argument ``dim``.
    """

    def name(node: Node) -> str:
        dim = argument(node, "dim")
        return whole if dim is None or dim is UNKNOWN and not node.shape else along

    return name


def name_by_operand(parameter: str, number: str, tensor: str) -> Callable[[Node], str]:
    """Return a function of a node that returns its name, which depends on an operand.

    Args:
        parameter: The parameter of the operand.
        number: The name of the node if the operand is a number.
        tensor: The name of the node if it is a tensor.
    """
    return lambda node: tensor if is_tensor(node, parameter) else number
