"""Tensors that nodes save for the backward pass: check of versions, release, hooks.

Hooks of ``saved_tensors_hooks`` pack a tensor when it is saved and unpack it when it is needed.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import nullcontext
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


class Hooks:
    """Functions that pack and unpack the tensors that are saved inside a block.

    ``utils.checkpoint`` has its own class with these three methods.
    """

    __slots__ = ("pack", "unpack")

    def __init__(self, pack: Callable[[Any], Any], unpack: Callable[[Any], Any]) -> None:
        self.pack = pack
        self.unpack = unpack

    def pack_node(self, node: Node, out: Any, edge_of: Callable[[Any], Edge]) -> None:
        """Replace the tensors that ``node`` saved by what the hooks return for them."""
        PackedNode(node, out, self, edge_of).strip(node)


class _Recording:
    """What is looked at where an operation is recorded, in the whole process.

    Attributes:
        used: Whether anything ever asks, in a backward pass, which pass that is.
        watched: Whether there is more to do than usual: anomaly mode is on, or some thread has
            hooks for saved tensors.
    """

    __slots__ = ("_anomaly", "_blocks", "_lock", "used", "watched")

    def __init__(self) -> None:
        self.watched = self.used = self._anomaly = False
        self._blocks = 0
        self._lock = threading.Lock()

    def enter_block(self) -> None:
        """Count a block with hooks more."""
        with self._lock:
            self._blocks += 1
            self.watched = True

    def exit_block(self) -> None:
        """Count a block with hooks less."""
        with self._lock:
            self._blocks -= 1
            self.watched = self._anomaly or self._blocks > 0

    def set_anomaly(self, mode: bool) -> None:
        """Note whether anomaly mode is on."""
        with self._lock:
            self._anomaly = mode
            self.watched = mode or self._blocks > 0


Recording = _Recording()
#: The hooks of the blocks around, innermost last.
STACK: Variable[tuple[Any, ...]] = Variable("saved_tensors_hooks", ())
#: Why there may be none, or None.
FORBIDDEN: Variable[str | None] = Variable("no_saved_tensors_hooks", None)


class Packed:
    """A saved tensor as a hook packed it, and its place in the graph."""

    __slots__ = ("_edge", "_unpack", "_value")

    def __init__(self, tensor: Any, hooks: Hooks, edge: Edge) -> None:
        self._unpack = hooks.unpack
        self._edge = edge
        before = version_of(tensor)
        with no_grad():
            self._value = hooks.pack(tensor)
        if version_of(tensor) != before:
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
        return detach_at(result, self._edge)


def detach_at(tensor: Any, edge: Edge) -> Any:
    """Tensor of the same memory whose gradient flows along ``edge``, if that is not None."""
    out = tensor.detach()
    if edge is not None:
        out._node = edge if node_of(edge) is not None else towards(edge)
        out._rg = True
    return out


def version_of(tensor: Any) -> int:
    """How often the memory of ``tensor`` was changed in place."""
    return 0 if tensor._vc is None else int(tensor._vc[0])


class SavedOutput:
    """An output kept for backward: its array, since the tensor would make a cycle."""

    def __init__(self, tensor: Any, index: int | None, differentiable: bool) -> None:
        hooks = STACK.get()
        self.data: Any = Packed(tensor, hooks[-1], None) if hooks else tensor._data
        self.xp: Any = tensor._xp
        self.index = index
        self.differentiable = differentiable


class Packing:
    """A block in which what operations save is packed, by an object as ``Hooks`` is one."""

    __slots__ = ("hooks",)

    def __init__(self, hooks: Any) -> None:
        self.hooks = hooks

    def __enter__(self) -> None:
        message = FORBIDDEN.get()
        if message is not None:
            raise RuntimeError(message)
        STACK.set((*STACK.get(), self.hooks))
        Recording.enter_block()

    def __exit__(self, *exception: object) -> None:
        STACK.set(STACK.get()[:-1])
        Recording.exit_block()


class PackedNode:
    """Everything that a node saved, packed by hooks; it stands in ``Node.args``.

    Attributes:
        bare: The arguments of the node, without those that were packed.
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
        """Stand in the place of everything that ``node`` saved."""
        node.args = self
        node.saved = ()
        node.versions = node.out = node.out_version = None

    def restore(self, node: Node, sweep: Any = None) -> None:
        """Unpack what ``node`` saved, for one visit.

        Args:
            node: The node.
            sweep: The backward pass that visits it, if one does.
        """
        with nullcontext() if sweep is None else sweep.mode():
            args = list(self.bare)
            saved: list[Any] = []
            for position, packed in self.arguments.items():
                tensors = _map(packed, lambda p: p.tensor())
                args[position] = _map(tensors, lambda t: t._data)
                saved.extend(tensors if isinstance(tensors, tuple) else (tensors,))
            out = None if self.out is None else _map(self.out, _raw_of)
        node.args, node.saved, node.out = tuple(args), tuple(saved), out


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
