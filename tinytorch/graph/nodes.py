"""Nodes of the autograd graph, the edges between them, and the shape and dtype along an edge.

A tensor that requires grad is either a *leaf*, whose edge is the tensor itself, or the result of an
operation, whose edge is a ``Node``, or a ``NodeOutput`` if the operation has several results. Edges
point from results to inputs, and a node has no reference to its result, so a graph is freed with
the last reference to its end.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import Any, Final, NoReturn, TypeAlias

from ..warnings import warn

#: Next creation number of a node; the node of an input has a smaller number than the node itself.
next_seq: Callable[[], int] = itertools.count().__next__


class Node:
    """Node of the autograd graph: one recorded operation.

    Attributes:
        seq: Creation number; the engine visits nodes from the newest to the oldest.
        op: The operation's ``Backward``, which has the gradient rules.
        xp: The backend the operation ran on.
        edges: Edge of each differentiable argument, None if it needs no gradient.
        args: The operation's arguments as raw arrays and Python values, None for those that no
            rule reads; ``FREED`` once they are freed; a ``PackedNode`` if hooks packed them.
        saved: The tensors whose arrays are in ``args``, in the order of ``op.saved_positions``.
        versions: Versions of ``saved`` at recording; None if all were unmodified.
        shape: Shape of the result (a tuple of shapes for several results).
        dtype: Native dtype of the result (or a tuple of them).
        out: The raw result, if a rule reads it.
        out_version: ``(version cell, version)`` of each result, if ``out`` is saved, and
            ``(version cell, version, shape)`` of each argument that PyTorch saves though no rule
            reads it here.
        hooks: Hooks of the result's gradient, by the ids of their handles, or None.
        extra: Rarely used values by name (node hooks, anomaly traceback), or None.
    """

    __slots__ = (
        "seq", "op", "xp", "edges", "args", "saved", "versions", "shape", "dtype",
        "out", "out_version", "hooks", "extra", "__weakref__",
    )  # fmt: skip

    def __init__(
        self, op: Any, xp: Any, edges: Any, args: Any, saved: Any, shape: Any, dtype: Any
    ) -> None:
        self.seq: int = next_seq()
        self.op: Any = op
        self.xp: Any = xp
        self.edges: Any = edges
        self.args: Any = args
        self.saved: Any = saved
        self.versions: tuple[int, ...] | None = None
        self.shape: Any = shape
        self.dtype: Any = dtype
        self.out: Any = None
        self.out_version: tuple[tuple[Any, ...], ...] | None = None
        self.hooks: dict[int, Any] | None = None
        self.extra: dict[str, Any] | None = None

    def __repr__(self) -> str:
        return f"<{self.name()} object at {id(self):#x}>"

    def name(self) -> str:
        """PyTorch's name of the node, such as ``AddBackward0``."""
        name = self.op.backward_name
        return name if isinstance(name, str) else str(name(self))

    def _extra(self) -> dict[str, Any]:
        """Return ``extra``, created if it is None."""
        if self.extra is None:
            self.extra = {}
        return self.extra


class NodeOutput:
    """One of several results of a node: the edge of a tensor that is such a result."""

    __slots__ = ("node", "index", "hooks", "__weakref__")

    def __init__(self, node: Node, index: int) -> None:
        self.node: Node = node
        self.index: int = index
        self.hooks: dict[int, Any] | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        return self.node.shape[self.index]  # type: ignore[no-any-return]

    @property
    def dtype(self) -> Any:
        return self.node.dtype[self.index]


Edge: TypeAlias = Any  # Node | NodeOutput | Tensor (a leaf) | None

#: Message of the error if saved tensors are needed that have been freed.
FREED_MESSAGE = (
    "Trying to backward through the graph a second time (or directly access saved tensors "
    "after they have already been freed). Saved intermediate values of the graph are freed "
    "when you call .backward() or autograd.grad(). Specify retain_graph=True if you need to "
    "backward through the graph a second time or if you need to access saved tensors after "
    "calling backward."
)


class _Freed:
    """Type of ``FREED``: restoring the saved tensors is an error."""

    def restore(self, node: Node, task: Any = None) -> NoReturn:
        raise RuntimeError(FREED_MESSAGE)


#: Value of ``Node.args`` after a backward pass has freed the saved tensors of the node.
FREED: Final = _Freed()


def packed_of(node: Node) -> Any:
    """The ``PackedNode`` of a node whose saved tensors were packed by hooks, else None."""
    args = node.args
    return None if args.__class__ is tuple or args is FREED else args


def shape_and_dtype(edge: Edge) -> tuple[tuple[int, ...], Any]:
    """Return the shape and the native dtype of the gradients along ``edge``."""
    if edge.__class__ is Node or edge.__class__ is NodeOutput:
        return edge.shape, edge.dtype
    return edge._data.shape, edge._data.dtype


def backend_of(edge: Edge) -> Any:
    """Return the backend of the gradients along ``edge``."""
    if edge.__class__ is Node:
        return edge.xp
    return edge.node.xp if edge.__class__ is NodeOutput else edge._xp


def sum_to_shape(gradient: Any, shape: tuple[int, ...], add: Any = None) -> Any:
    """Undo broadcasting: sum ``gradient`` over the dimensions along which ``shape`` was broadcast.

    Args:
        gradient: A raw array or a tensor.
        shape: Shape of the result.
        add: ``add(gradient, axes)``, called for the sum instead of ``gradient.sum(axes)``.
    """
    wide = tuple(gradient.shape)
    lead = len(wide) - len(shape)
    if lead < 0 or any(n != m and n != 1 for n, m in zip(shape, wide[lead:], strict=True)):
        raise RuntimeError(
            f"got a gradient of shape {list(wide)} for an input of shape {list(shape)}; "
            "the shapes are not compatible"
        )
    axes = tuple(range(lead)) + tuple(
        i + lead for i, n in enumerate(shape) if n == 1 and wide[i + lead] != 1
    )
    if axes:
        gradient = gradient.sum(axes) if add is None else add(gradient, axes)
    return gradient.reshape(shape)


def reachable(roots: Iterable[Edge]) -> set[int]:
    """Return the ``id`` of every edge, and of every node, that can be reached from ``roots``."""
    seen: set[int] = set()
    stack = [edge for edge in roots if edge is not None]
    while stack:
        edge = stack.pop()
        if id(edge) not in seen:
            seen.add(id(edge))
            node = node_of(edge)
            if node is not None and id(node) not in seen or node is edge:
                seen.add(id(node))
                stack.extend(e for e in node.edges if e is not None)
    return seen


def needed_nodes(roots: Iterable[Edge], inputs: Iterable[Edge]) -> set[int]:
    """Return the ``seq`` of each node, reached from ``roots``, that leads to one of ``inputs``."""
    wanted = {id(edge) for edge in inputs}
    seen: dict[int, Node] = {}
    stack = [node_of(edge) for edge in roots]
    while stack:
        node = stack.pop()
        if node is None or node.seq in seen:
            continue
        seen[node.seq] = node
        stack.extend(node_of(edge) for edge in node.edges)
    needed: set[int] = set()
    for seq in sorted(seen):  # each node after the nodes of its inputs, which are older
        for edge in seen[seq].edges:
            target = node_of(edge)
            if id(edge) in wanted or (target is not None and target.seq in needed):
                needed.add(seq)
    return needed


def node_of(edge: Edge) -> Node | None:
    """Return the node at the end of an edge; None for a leaf."""
    if edge.__class__ is NodeOutput:
        return edge.node
    return edge if edge.__class__ is Node else None


def warn_of_no_grad() -> None:
    """Warn that ``grad`` of a tensor that is not a leaf stays None."""
    warn(
        "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad "
        "attribute won't be populated during autograd.backward(): call .retain_grad() on it before "
        "that, or access the leaf Tensor instead."
    )
