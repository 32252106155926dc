"""Nodes of the recorded graph, the edges between them, and how a gradient fits an edge.

A tensor that requires grad is either a *leaf* (its edge is the tensor itself, where the
gradient is stored) or the result of an operation (its edge is a ``Node``, or a ``Slot`` of
one where the operation has several results). Edges point from results to inputs, and a
node never points at its result, so a graph is freed with the last reference to its end.

Besides: hooks of tensors and nodes, nodes that compute nothing (identity, error), and the names
that an operation's ``node`` option computes from the arguments that a node saved.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import Any, Final, TypeAlias

from ..backends.weak_references import WeakValues
from ..warnings import warn

#: Numbers nodes in the order of their creation: an input's node is always older.
next_seq = itertools.count().__next__


class Node:
    """One recorded operation.

    Attributes:
        seq: Creation number; the engine visits nodes from the newest to the oldest.
        op: The operation, which knows the gradient rules.
        xp: The backend the operation ran on.
        edges: Per differentiable argument, where its gradient goes, or None.
        args: The operation's arguments as raw arrays and plain values, None where no rule
            wants them; ``FREED`` after a backward that did not retain the graph.
        saved: The tensors behind ``args``, in the order of ``op.saved_positions``.
        versions: Versions of ``saved`` at recording; None while all were unmodified.
        shape: Shape of the result (a tuple of shapes for several results).
        dtype: Native dtype of the result (or a tuple of them).
        out: The raw result, where a rule wants it.
        out_version: ``(version cell, version)`` of each result, where ``out`` is kept, and
            ``(version cell, version, shape)`` of each argument that no rule reads but torch keeps.
        hooks: Functions to call on the gradient of the result, or None.
        extra: Rarely used facts by name (node hooks, anomaly traceback), or None.
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
        """torch's name of the node, such as ``AddBackward0``."""
        name = self.op.backward_name
        return name if isinstance(name, str) else str(name(self))

    def _extra(self) -> dict[str, Any]:
        if self.extra is None:
            self.extra = {}
        return self.extra


class Slot:
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


Edge: TypeAlias = Any  # Node | Slot | Tensor (a leaf) | None

#: Stands in ``Node.args`` once a backward has let go of what the node had saved.
FREED: Final = object()


#: What is said where it was still needed.
TWICE = (
    "Trying to backward through the graph a second time (or directly access saved tensors "
    "after they have already been freed). Saved intermediate values of the graph are freed "
    "when you call .backward() or autograd.grad(). Specify retain_graph=True if you need to "
    "backward through the graph a second time or if you need to access saved tensors after "
    "calling backward."
)


class RemovableHandle:
    """Takes a hook away again; also a context manager.

    Example:
        >>> import tinytorch as tt
        >>> x = tt.ones(2, requires_grad=True)
        >>> handle = x.register_hook(lambda grad: grad * 2)
        >>> handle.remove()
    """

    _next_id = itertools.count().__next__

    def __init__(self, hooks: dict[int, Any]) -> None:
        self.hooks = hooks
        self.id: int = RemovableHandle._next_id()

    def hooks_dict_ref(self) -> dict[int, Any]:
        """The hooks among which the one of this handle was put, by the ids of their handles.

        Example:
            >>> import tinytorch as tt
            >>> handle = tt.ones(2, requires_grad=True).register_hook(print)
            >>> handle.id in handle.hooks_dict_ref()
            True
        """
        return self.hooks

    def remove(self) -> None:
        """Take the hook away; a second call does nothing."""
        self.hooks.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exception: object) -> None:
        self.remove()


def add_hook(hooks: dict[int, Any], hook: Any) -> RemovableHandle:
    """File ``hook`` in an ordered table and return the handle that removes it."""
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    return handle


class LeafHooks(dict[int, Any]):
    """The hooks of a leaf, in order; a pass asks whether any leaf has some."""

    _tables: WeakValues[int, LeafHooks] = WeakValues()

    def __init__(self) -> None:
        super().__init__()
        LeafHooks._tables[id(self)] = self

    @classmethod
    def in_use(cls) -> bool:
        """Whether there is a hook in a table; other threads may make tables meanwhile."""
        return any(ref() for ref in cls._tables.refs())


class BeforeAccumulation:
    """A hook of ``AccumulateGrad`` among those that take a leaf's gradient."""

    def __init__(self, hook: Any) -> None:
        self.hook = hook

    def __call__(self, g: Any) -> Any:
        result = self.hook((g,))
        return None if result is None else result[0]


class AfterAccumulation:
    """A hook of ``AccumulateGrad`` among those that take the leaf."""

    def __init__(self, hook: Any) -> None:
        self.hook = hook


def check_nothing(value: Any, leaf: Any) -> None:
    """Refuse what a hook returned that is called after accumulation, but for the leaf itself."""
    if value is not None and value is not leaf:
        text = "Tensor post accumulate grad hooks should return None."
        if hasattr(value, "_data"):
            raise RuntimeError(text)
        raise TypeError(f"expected Variable, but hook returned {type(value).__name__!r}: {text}")


def check_count(hook: Any, values: Any, expected: int) -> None:
    """Refuse what a node's hook returned that is not as many gradients as it was given.

    Raises:
        TypeError: If it is no tuple.
        RuntimeError: If it is one of another length.
    """
    if not isinstance(values, tuple):
        raise TypeError(f"expected tuple, but hook returned {type(values).__name__!r}")
    if len(values) != expected:
        raise RuntimeError(
            f"hook {name_of(hook)!r} has returned an incorrect number of values (got "
            f"{len(values)}, but expected {expected})"
        )


def call_hook(hook: Any, of: str, *args: Any) -> Any:
    """What a user's hook returns; an error of its gets a note that names the hook.

    Args:
        hook: The function.
        of: What it hangs on, for the note: ``"hook of Linear"``.
        *args: What it is called with.
    """
    try:
        return hook(*args)
    except Exception as error:
        error.add_note(f"in {name_of(hook)!r}, a {of}")
        error._in_hook = True  # type: ignore[attr-defined]
        raise


def name_of(hook: Any) -> str:
    """What texts call a hook."""
    return getattr(hook, "__name__", None) or repr(hook)


def hooked(hook: Any, g: Any) -> Any:
    """What a user's hook makes of the gradient ``g``, or ``g`` itself if it returns None.

    Raises:
        TypeError: If it returns no tensor.
        RuntimeError: If it returns one of another shape or dtype.
    """
    result = call_hook(hook, f"hook of a tensor of shape {tuple(g._data.shape)}", g)
    if result is None:
        return g
    name = name_of(hook)
    if not hasattr(result, "_data"):
        raise TypeError(f"expected Variable, but hook returned {type(result).__name__!r}")
    if result._data.shape != g._data.shape:
        raise RuntimeError(f"hook {name!r} has changed the size of value")
    if result._data.dtype != g._data.dtype:
        raise RuntimeError(
            f"hook {name!r} has changed the type of value (was {g.dtype} got {result.dtype})"
        )
    return result


def target_of(edge: Edge) -> tuple[tuple[int, ...], Any]:
    """Shape and native dtype that a gradient must have to flow along ``edge``."""
    if edge.__class__ is Node or edge.__class__ is Slot:
        return edge.shape, edge.dtype
    return edge._data.shape, edge._data.dtype


def backend_of(edge: Edge) -> Any:
    """The backend whose arrays flow along ``edge``."""
    if edge.__class__ is Node:
        return edge.xp
    return edge.node.xp if edge.__class__ is Slot else edge._xp


def sum_to_shape(gradient: Any, shape: tuple[int, ...], add: Any = None) -> Any:
    """Undo broadcasting: sum ``gradient`` over what ``shape`` was stretched along.

    Works on raw arrays and on tensors alike: it uses methods both have, unless ``add(gradient,
    axes)`` says how to sum.
    """
    have = tuple(gradient.shape)
    lead = len(have) - len(shape)
    if lead < 0 or any(n != m and n != 1 for n, m in zip(shape, have[lead:], strict=True)):
        raise RuntimeError(
            f"got a gradient of shape {list(have)} for an input of shape {list(shape)}; "
            "the shapes are not compatible"
        )
    axes = tuple(range(lead)) + tuple(
        i + lead for i, n in enumerate(shape) if n == 1 and have[i + lead] != 1
    )
    if axes:
        gradient = gradient.sum(axes) if add is None else add(gradient, axes)
    return gradient.reshape(shape)


def reachable(roots: Iterable[Edge]) -> set[int]:
    """``id`` of every edge, and of every node behind one, on the way from ``roots``."""
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
    """``seq`` of every node from which one of ``inputs`` can be reached."""
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
    for seq in sorted(seen):
        for edge in seen[seq].edges:
            target = node_of(edge)
            if id(edge) in wanted or (target is not None and target.seq in needed):
                needed.add(seq)
    return needed


def node_of(edge: Edge) -> Node | None:
    """The node an edge leads to; None for a leaf."""
    if edge.__class__ is Slot:
        return edge.node
    return edge if edge.__class__ is Node else None


def warn_of_no_grad() -> None:
    """Say that ``grad`` of a result stays None."""
    warn(
        "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad "
        "attribute won't be populated during autograd.backward(): call .retain_grad() on it before "
        "that, or access the leaf Tensor instead."
    )


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
