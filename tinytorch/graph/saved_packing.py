"""What nodes save, in the hands of a user's hooks: packed when recorded, unpacked when needed."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from ..state import Variable, no_grad
from .identity_nodes import towards
from .nodes import Edge, Node, node_of
from .saved_tensors import saved_arguments

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
