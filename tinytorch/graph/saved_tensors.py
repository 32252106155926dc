"""Tensors that nodes save for the backward pass: version checks, release, packing by hooks.

Hooks of ``saved_tensors_hooks`` pack a tensor when it is saved and unpack it when it is needed.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

from ..state import Stacked, Variable, no_grad
from .nodes import FREED, Edge, Node, node_of
from .special_nodes import identity_node


def saved_arguments(node: Node) -> list[Any]:
    """Return ``node.args`` with the saved tensors in place of their arrays."""
    args = list(node.args)
    saved = iter(node.saved)
    for position in node.op.saved_positions:
        value = args[position]
        if position == node.op.sequence:
            args[position] = tuple(next(saved, None) for _ in value)
        elif hasattr(value, "dtype"):
            # The second operand may be a number that was converted to an array: it has no tensor
            # in ``saved``.
            tensor = next(saved, None)
            args[position] = value.item() if tensor is None else tensor
    return args


def release(node: Node) -> None:
    """Free the arguments and the result that ``node`` saved."""
    node.args = FREED
    node.saved = ()
    node.out = None
    node.out_version = None


def check_versions(node: Node) -> None:
    """Raise a RuntimeError if a tensor that ``node`` saved was modified in place since."""
    versions = node.versions
    for i, tensor in enumerate(node.saved):
        cell = tensor._vc
        expected = 0 if versions is None else versions[i]
        if cell is not None and cell[0] != expected and is_needed(tensor, node):
            origin = tensor._origin()
            raise RuntimeError(_version_error(tensor.shape, origin, cell[0], expected, node))
    for i, (cell, expected, *argument) in enumerate(node.out_version or ()):
        if cell[0] != expected:
            shape = node.shape[i] if node.out.__class__ is tuple else node.shape
            origin = f", which is output {i} of {node.name()},"
            if argument:
                (shape,), origin = argument, ""
            raise RuntimeError(_version_error(shape, origin, cell[0], expected, node))


def is_needed(tensor: Any, node: Any) -> bool:
    """Whether a gradient rule of an input that requires grad reads ``tensor``."""
    op = node.op
    if op.sequence is not None or not hasattr(op, "needs"):
        return True
    needed = {
        name
        for i, edge in zip(op.differentiable, node.edges, strict=True)
        if edge is not None and not _discards(edge)
        for name in op.needs(i)
    }
    saved = (node.args[op.index[name]] for name in needed & op.index.keys())
    arrays = (x for value in saved for x in (value if value.__class__ is tuple else (value,)))
    return any(hasattr(x, "dtype") and tensor._xp.is_view(tensor._data, x) for x in arrays)


def _discards(edge: Any) -> bool:
    """Whether an edge leads to a node that discards its gradient; see ``discarding_node``."""
    return edge.__class__ is Node and edge.edges == (None,) and not (edge.hooks or edge.extra)


def _version_error(shape: Any, origin: str, version: int, expected: int, node: Node) -> str:
    """Message of the error for a saved tensor that was modified in place."""
    return (
        "one of the variables needed for gradient computation has been modified by an inplace "
        f"operation: [Tensor of shape {list(shape)}]{origin} is at version {version}; expected "
        f"version {expected} instead. It was saved by {node.name()}. Hint: enable anomaly "
        "detection to find the operation that failed to compute its gradient, with "
        "autograd.set_detect_anomaly(True)."
    )


class Hooks:
    """Functions that pack and unpack the tensors saved inside a block.

    ``utils.checkpoint`` has its own class with the same three methods.
    """

    __slots__ = ("pack", "unpack")

    def __init__(self, pack: Callable[[Any], Any], unpack: Callable[[Any], Any]) -> None:
        self.pack: Callable[[Any], Any] = pack
        self.unpack: Callable[[Any], Any] = unpack

    def pack_node(self, node: Node, out: Any, edge_of: Callable[[Any], Edge]) -> None:
        """Replace the tensors that ``node`` saved by the results of ``pack``."""
        PackedNode(node, out, self, edge_of).strip(node)


class _Recording:
    """Flags of the whole process that are read when an operation is recorded.

    Attributes:
        watched: Whether recording takes more than usual: anomaly mode is on, or some thread has
            hooks for saved tensors.
        needs_current: Whether any code reads ``CURRENT`` outside of hooks, so that backward passes
            set it. It stays true.
    """

    __slots__ = ("_anomaly", "_blocks", "_lock", "needs_current", "watched")

    def __init__(self) -> None:
        self.watched = self.needs_current = self._anomaly = False
        self._blocks = 0
        self._lock = threading.Lock()

    def count_block(self, change: int) -> None:
        """Add 1 to the number of running blocks with hooks, or -1."""
        with self._lock:
            self._blocks += change
            self.watched = self._anomaly or self._blocks > 0

    def set_anomaly(self, mode: bool) -> None:
        """Set whether anomaly mode is on."""
        with self._lock:
            self._anomaly = mode
            self.watched = mode or self._blocks > 0


Recording: _Recording = _Recording()
#: The hooks of the enclosing blocks, innermost last.
HOOK_STACK: Variable[tuple[Any, ...]] = Variable("saved_tensors_hooks", ())
#: Message of the error if hooks are set where they are disabled; None where they are enabled.
HOOKS_FORBIDDEN: Variable[str | None] = Variable("no_saved_tensors_hooks", None)


class Packed:
    """A saved tensor, packed by a hook, and its edge."""

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
        """Unpack the tensor; the result has the edge of the saved tensor."""
        result = self._unpack(self._value)
        if not hasattr(result, "_data"):
            raise TypeError(
                "Output of saved tensor unpack_hook expected to be a Tensor but got result of type "
                f"{type(result).__name__}"
            )
        return detach_at(result, self._edge)


def detach_at(tensor: Any, edge: Edge) -> Any:
    """Return a tensor on the same memory with ``edge`` as its edge, or without one for None."""
    out = tensor.detach()
    if edge is not None:
        out._node = edge if node_of(edge) is not None else identity_node(edge)
        out._rg = True
    return out


def version_of(tensor: Any) -> int:
    """Number of in-place changes of the memory of ``tensor``."""
    return 0 if tensor._vc is None else int(tensor._vc[0])


class SavedOutput:
    """An output saved for backward: its array, since the tensor would make a reference cycle."""

    def __init__(self, tensor: Any, index: int | None, differentiable: bool) -> None:
        hooks = HOOK_STACK.get()
        self.data: Any = Packed(tensor, hooks[-1], None) if hooks else tensor._data
        self.xp: Any = tensor._xp
        self.index = index
        self.differentiable = differentiable


class Packing(Stacked):
    """Context manager of a block in which saved tensors are packed by an object like ``Hooks``."""

    _bound_variable = HOOK_STACK
    _bound_count: Any = staticmethod(Recording.count_block)

    def __init__(self, hooks: Any) -> None:
        self.hooks: Any = hooks

    def _bound_item(self) -> Any:
        message = HOOKS_FORBIDDEN.get()
        if message is not None:
            raise RuntimeError(message)
        return self.hooks


class PackedNode:
    """All values that a node saved, packed by hooks; it replaces ``Node.args``.

    Attributes:
        bare: The arguments of the node, with None for those that were packed.
        arguments: The packed arguments by position; a list for a sequence.
        out: The packed result, a tuple for several, or None.
    """

    __slots__ = ("arguments", "bare", "out")

    def __init__(self, node: Node, out: Any, hooks: Hooks, edge_of: Callable[[Any], Edge]) -> None:
        bare = list(node.args)
        self.arguments: dict[int, Any] = {}
        for position, tensor in zip(range(len(bare)), saved_arguments(node), strict=True):
            is_saved = isinstance(tensor, tuple) or hasattr(tensor, "_data")
            if position in node.op.saved_positions and is_saved:
                self.arguments[position] = _pack_argument(tensor, hooks, edge_of)
                bare[position] = (None,) * len(tensor) if isinstance(tensor, tuple) else None
        self.bare: tuple[Any, ...] = tuple(bare)
        if node.out.__class__ is tuple:
            out = tuple(None if x is None else t for t, x in zip(out, node.out, strict=True))
        # Without an edge: that would be the node itself, a reference cycle.
        self.out: Any | None = (
            None
            if node.out is None
            else _map(out, lambda t: None if t is None else Packed(t, hooks, None))
        )

    def strip(self, node: Node) -> None:
        """Replace all values that ``node`` saved by this object."""
        node.args = self
        node.saved = ()
        node.versions = node.out = node.out_version = None

    def restore(self, node: Node, task: Any = None) -> None:
        """Unpack the values that ``node`` saved, for one visit.

        Args:
            node: The node.
            task: The backward pass that visits it, if one does.
        """
        with nullcontext() if task is None else task.mode():
            args = list(self.bare)
            saved: list[Any] = []
            for position, packed in self.arguments.items():
                tensors = _map(packed, lambda p: p.tensor())
                args[position] = _map(tensors, lambda t: t._data)
                saved.extend(tensors if isinstance(tensors, tuple) else (tensors,))
            out = self.out
            if out is not None:
                out = _map(out, lambda p: None if p is None else p.tensor()._data)
        node.args, node.saved, node.out = tuple(args), tuple(saved), out


def _pack_argument(value: Any, hooks: Hooks, edge_of: Callable[[Any], Edge]) -> Any:
    """Pack a tensor with its edge, or each tensor of a tuple."""
    if isinstance(value, tuple):
        return [_pack_argument(tensor, hooks, edge_of) for tensor in value]
    return None if value is None else Packed(value, hooks, edge_of(value))


def _map(value: Any, function: Callable[[Any], Any]) -> Any:
    """Return ``function`` of a value, or the tuple of its results for a tuple or list of values."""
    if isinstance(value, (tuple, list)):
        return tuple(function(item) for item in value)
    return function(value)
