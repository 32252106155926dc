"""Tensors that nodes save for the backward pass: check of versions, release, hooks.

Hooks of ``saved_tensors_hooks`` pack a tensor when it is saved and unpack it when it is needed.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from ..state import Variable, no_grad
from .nodes import FREED, Edge, Node, node_of
from .special_nodes import towards


def saved_arguments(node: Node) -> list[Any]:
    """``node.args`` with the saved tensors in place of their arrays."""
    args = list(node.args)
    saved = iter(node.saved)
    for position in node.op.saved_positions:
        value = args[position]
        if position == node.op.sequence:
            args[position] = tuple(next(saved, None) for _ in value)
        elif hasattr(value, "dtype"):
            # A number in an operand's place is no tensor. It may have become an array, but then
            # it is the second of two operands.
            tensor = next(saved, None)
            args[position] = value.item() if tensor is None else tensor
    return args


def release(node: Node) -> None:
    """Let go of what ``node`` saved."""
    node.args = FREED
    node.saved = ()
    node.out = None
    node.out_version = None
    if node.extra is not None:
        node.extra.pop("packed", None)


def check_versions(node: Node) -> None:
    """RuntimeError if a tensor ``node`` saved was modified in place since."""
    versions = node.versions
    for i, tensor in enumerate(node.saved):
        cell = tensor._vc
        expected = 0 if versions is None else versions[i]
        if cell is not None and cell[0] != expected and is_needed(tensor, node):
            raise RuntimeError(_modified(tensor.shape, tensor._origin(), cell[0], expected, node))
    for i, (cell, expected, *argument) in enumerate(node.out_version or ()):
        if cell[0] != expected:
            shape = node.shape[i] if node.out.__class__ is tuple else node.shape
            where = f", which is output {i} of {node.name()},"
            if argument:
                (shape,), where = argument, ""
            raise RuntimeError(_modified(shape, where, cell[0], expected, node))


def is_needed(tensor: Any, node: Any) -> bool:
    """Whether the gradient of an input that wants one is computed from ``tensor``."""
    op = node.op
    if op.sequence is not None or not hasattr(op, "needs"):
        return True
    needed = {
        name
        for i, edge in zip(op.differentiable, node.edges, strict=True)
        if edge is not None
        for name in op.needs(i)
    }
    saved = (node.args[op.index[name]] for name in needed & op.index.keys())
    arrays = (x for value in saved for x in (value if value.__class__ is tuple else (value,)))
    return any(hasattr(x, "dtype") and tensor._xp.is_view(tensor._data, x) for x in arrays)


def _modified(shape: Any, origin: str, version: int, expected: int, node: Node) -> str:
    return (
        "one of the variables needed for gradient computation has been modified by an inplace "
        f"operation: [Tensor of shape {list(shape)}]{origin} is at version {version}; expected "
        f"version {expected} instead. It was saved by {node.name()}. Hint: enable anomaly "
        "detection to find the operation that failed to compute its gradient, with "
        "autograd.set_detect_anomaly(True)."
    )


Hooks = tuple[Callable[[Any], Any], Callable[[Any], Any]]


class Recording:
    """What whoever records an operation looks at.

    Attributes:
        used: Whether anything ever asks, in a backward pass, which pass that is.
        watched: Whether there is more to do than usual: anomaly mode is on, or some thread has
            hooks for saved tensors.
    """

    watched: bool = False
    used = False
    _anomaly = False
    _blocks = 0
    _lock = threading.Lock()

    @classmethod
    def note(cls, blocks: int = 0, anomaly: bool | None = None) -> None:
        """So many blocks with hooks more, or anomaly mode on or off."""
        with cls._lock:
            cls._blocks += blocks
            if anomaly is not None:
                cls._anomaly = anomaly
            cls.watched = cls._anomaly or cls._blocks > 0


#: The hooks of the blocks around, innermost last.
STACK: Variable[tuple[Hooks, ...]] = Variable("saved_tensors_hooks", ())
#: Why there may be none, or None.
FORBIDDEN: Variable[str | None] = Variable("no_saved_tensors_hooks", None)


class Packed:
    """A saved tensor as a hook packed it, and its place in the graph."""

    __slots__ = ("_edge", "_unpack", "_value")

    def __init__(self, tensor: Any, hooks: Hooks, edge: Edge) -> None:
        pack, self._unpack = hooks
        self._edge = edge
        before = _version(tensor)
        with no_grad():
            self._value = pack(tensor)
        if _version(tensor) != before:
            raise RuntimeError(
                "A saved tensor pack hook is modifying its input in place. Tensors provided as "
                "input to pack hook cannot be modified by in-place operations as this can lead to "
                "unexpected side-effects. Please open an issue if you need to perform in-place "
                "operations on the input to a pack hook."
            )

    def tensor(self) -> Any:
        """The tensor that the other hook makes of it, in the same place in the graph."""
        result = self._unpack(self._value)
        if not hasattr(result, "_data"):
            raise TypeError(
                "Output of saved tensor unpack_hook expected to be a Tensor but got result of type "
                f"{type(result).__name__}"
            )
        out = result.detach()
        if self._edge is not None:
            out._node = self._edge if node_of(self._edge) is not None else towards(self._edge)
            out._rg = True
        return out


def _version(tensor: Any) -> int:
    return 0 if tensor._vc is None else int(tensor._vc[0])


class SavedOutput:
    """An output kept for backward: its array, since the tensor would make a cycle."""

    def __init__(self, tensor: Any, index: int | None, differentiable: bool) -> None:
        hooks = STACK.get()
        self.data: Any = Packed(tensor, hooks[-1], None) if hooks else tensor._data
        self.xp: Any = tensor._xp
        self.index = index
        self.differentiable = differentiable


class PackedNode:
    """Everything a node saved, as hooks packed it.

    Attributes:
        bare: ``Node.args`` without what was packed.
        arguments: By position, the packed argument, or the list of them for a sequence.
        out: The packed result, a list for several, or None.
    """

    __slots__ = ("arguments", "bare", "out")

    def __init__(self, node: Node, out: Any, hooks: Hooks, edge_of: Callable[[Any], Edge]) -> None:
        bare = list(node.args)
        self.arguments: dict[int, Any] = {}
        for position, tensor in zip(range(len(bare)), saved_arguments(node), strict=True):
            if position in node.op.saved_positions and _is_saved(tensor):
                self.arguments[position] = _pack_argument(tensor, hooks, edge_of)
                bare[position] = (None,) * len(tensor) if isinstance(tensor, tuple) else None
        self.bare: tuple[Any, ...] = tuple(bare)
        # Without its edge, which would be the node itself.
        if node.out.__class__ is tuple:
            out = tuple(None if x is None else t for t, x in zip(out, node.out, strict=True))
        self.out: Any | None = (
            None if node.out is None else _map(out, lambda t: _packed_out(t, hooks))
        )

    def strip(self, node: Node) -> None:
        """Let ``node`` hold nothing of what was packed."""
        node.args = self.bare
        node.saved = ()
        node.versions = node.out = node.out_version = None

    def restore(self, node: Node) -> None:
        """Let ``node`` hold what it saved again, for one visit."""
        args = list(self.bare)
        saved: list[Any] = []
        for position, packed in self.arguments.items():
            tensors = _map(packed, lambda p: p.tensor())
            args[position] = _map(tensors, lambda t: t._data)
            saved.extend(tensors if isinstance(tensors, tuple) else (tensors,))
        node.args = tuple(args)
        node.saved = tuple(saved)
        node.out = None if self.out is None else _map(self.out, _raw_of)


def _pack_argument(value: Any, hooks: Hooks, edge_of: Callable[[Any], Edge]) -> Any:
    """Pack a tensor, or each of a tuple of them, with their places in the graph."""
    if isinstance(value, tuple):
        return [_pack_argument(tensor, hooks, edge_of) for tensor in value]
    return None if value is None else Packed(value, hooks, edge_of(value))


def _packed_out(tensor: Any, hooks: Hooks) -> Packed | None:
    return None if tensor is None else Packed(tensor, hooks, None)


def _raw_of(packed: Packed | None) -> Any:
    return None if packed is None else packed.tensor()._data


def _is_saved(value: Any) -> bool:
    return isinstance(value, tuple) or hasattr(value, "_data")


def _map(value: Any, function: Callable[[Any], Any]) -> Any:
    if isinstance(value, (tuple, list)):
        return tuple(function(item) for item in value)
    return function(value)


def packed_of(node: Node) -> PackedNode | None:
    """What hooks packed of ``node``, if any did."""
    return None if node.extra is None else node.extra.get("packed")


def pack(node: Node, out: Any, edge_of: Callable[[Any], Edge]) -> None:
    """Give what ``node`` saved to the hooks of this block, if it has any."""
    stack = STACK.get()
    if stack and (node.saved or node.out is not None):
        packed = PackedNode(node, out, stack[-1], edge_of)
        node._extra()["packed"] = packed
        packed.strip(node)
