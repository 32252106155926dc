"""``grad_fn``: the public form of a node, of a class with PyTorch's name, and its saved tensors.

The engine's nodes are all of one class, for speed. The public form is created on access and freed
with its last reference; while it lives, it is the only one of its node, so that
``x.grad_fn is x.grad_fn``. ``grad_fn._raw_saved_self.register_hooks`` sets hooks for one saved
tensor.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..backends.weak_references import WeakValues
from .hooks import AfterAccumulation, BeforeAccumulation, LeafHooks, RemovableHandle, add_hook
from .late_bound import LATE_BOUND
from .nodes import FREED, FREED_MESSAGE, Edge, Node, NodeOutput, node_of, packed_of
from .saved_tensors import Hooks, Packed, PackedNode, SavedOutput, saved_arguments
from .views import edge_of

_HOOKS_SET_MESSAGE = (
    "Calling register_hooks on a saved tensor whose hooks have already been set. Hint: only one "
    "pair of hooks is allowed at a time."
)
_FREED_MESSAGE = (
    "Calling register_hooks on a saved tensor after it has been freed. Saved intermediate values "
    "of the graph are freed when you call .backward() or autograd.grad(). Specify "
    "retain_graph=True if you need to backward through the graph a second time or if you need to "
    "access saved variables after calling backward."
)


class SavedTensor:
    """A tensor that a node has saved for the backward pass.

    Example:
        >>> x = tt.ones(2, requires_grad=True)
        >>> y = x.exp()
        >>> y.grad_fn._raw_saved_result.register_hooks(lambda t: t.numpy(force=True), tt.tensor)
        >>> y.sum().backward()
        >>> x.grad
        tensor([2.7183, 2.7183])
    """

    def __init__(self, node: Node, pack: Callable[[Hooks], None]) -> None:
        self._node = node
        self._pack = pack

    def register_hooks(
        self, pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]
    ) -> None:
        """Replace the saved tensor by the result of ``pack_hook``, at once.

        Args:
            pack_hook: Called with the tensor; its result is saved instead.
            unpack_hook: Called with that result when the gradient is computed; returns a tensor.

        Raises:
            TypeError: If a hook is not callable, or later if ``unpack_hook`` returns no tensor.
            RuntimeError: If the tensor has hooks already, or the graph was freed.
        """
        if not (callable(pack_hook) and callable(unpack_hook)):
            raise TypeError("register_hooks(): incompatible function arguments: expected two "
                            f"functions, got {pack_hook!r} and {unpack_hook!r}")  # fmt: skip
        if self._node.args is FREED:
            raise RuntimeError(_FREED_MESSAGE)
        self._pack(Hooks(pack_hook, unpack_hook))


def saved_tensor_at(node: Node, position: int) -> SavedTensor:
    """Return the ``SavedTensor`` of the argument at ``position``; -1 for the result."""

    def pack(hooks: Hooks) -> None:
        """Replace the saved tensor by the result of ``hooks``, in the node's ``PackedNode``.

        A node that has none gets one, in which the other saved values are unchanged.
        """
        packed = packed_of(node)
        hooked = node._extra().setdefault("hooked", set())
        if position in hooked or (packed is not None and not hooked):
            raise RuntimeError(_HOOKS_SET_MESSAGE)
        if packed is not None:
            packed.restore(node)
        of_result = position < 0
        tensor = LATE_BOUND.output_of(node).detach() if of_result else _saved_value(node, position)
        item = Packed(tensor, hooks, None if of_result else edge_of(tensor))
        if packed is None:
            packed = PackedNode(node, _detached_result(node), Hooks(_identity, _identity), edge_of)
        if of_result:
            packed.out = item
        else:
            packed.arguments[position] = item
        hooked.add(position)
        packed.strip(node)

    return SavedTensor(node, pack)


def _context_saved_tensor(node: Node, ctx: Any, i: int) -> SavedTensor:
    """Return the ``SavedTensor`` of item ``i`` of ``ctx.save_for_backward``."""

    def pack(hooks: Hooks) -> None:
        """Replace the saved tensor in ``ctx`` by the result of ``hooks``."""
        saved = list(ctx._saved)
        tensor = saved[i]
        if isinstance(tensor, Packed):
            raise RuntimeError(_HOOKS_SET_MESSAGE)
        if isinstance(tensor, SavedOutput):
            tensor.data = Packed(ctx._output(tensor).detach(), hooks, None)
        else:
            saved[i] = Packed(tensor, hooks, edge_of(tensor))
        ctx._saved = tuple(saved)

    return SavedTensor(node, pack)


def _detached_result(node: Node) -> Any:
    """Return the saved result of a node, detached; None if it is not saved."""
    out = None if node.out is None else LATE_BOUND.output_of(node)
    if isinstance(out, tuple):
        return tuple(None if t is None else t.detach() for t in out)
    return None if out is None else out.detach()


def _identity(tensor: Any) -> Any:
    """Return ``tensor``: the hook of saved tensors for which the user has set none."""
    return tensor


class GraphNode:
    """Public form of a node: a value of ``grad_fn`` and ``next_functions``.

    ``_saved_self``, ``_saved_result`` and other attributes ``_saved_…`` are its saved tensors. The
    node of a ``Function`` also has the attributes of its ``ctx``.

    Example:
        >>> x = tt.ones(2, requires_grad=True)
        >>> y = (x * 3).sum()
        >>> type(y.grad_fn).__name__
        'SumBackward0'
        >>> [node.name() for node, _ in y.grad_fn.next_functions]
        ['MulBackward0']
    """

    __slots__ = ("__weakref__", "_node")

    #: True, as for every node of PyTorch.
    requires_grad = True

    def __init__(self, node: Node) -> None:
        self._node = node

    def name(self) -> str:
        """PyTorch's name of the node, such as ``AddBackward0``."""
        return self._node.name()

    @property
    def next_functions(self) -> tuple[tuple[GraphNode | None, int], ...]:
        """``(node, index)`` of every input; ``(None, 0)`` for one that needs no gradient."""
        return tuple(
            (grad_fn_of(edge), edge.index if isinstance(edge, NodeOutput) else 0)
            for edge in self._node.edges
        )

    @property
    def metadata(self) -> dict[Any, Any]:
        """A dictionary for the user's own data; in anomaly mode it has the ``traceback_``."""
        extra = self._node._extra()
        metadata: dict[Any, Any] = extra.setdefault("metadata", {})
        if "traceback" in extra:
            metadata.setdefault("traceback_", extra["traceback"])
        return metadata

    def register_hook(self, hook: Any) -> RemovableHandle:
        """Call ``hook(grad_inputs, grad_outputs)`` after this node's backward.

        Returns:
            A handle whose ``remove()`` removes the hook.

        Example:
            >>> x = tt.ones(1, requires_grad=True)
            >>> y = x.exp()
            >>> handle = y.grad_fn.register_hook(lambda inputs, outputs: (2 * inputs[0],))
            >>> y.backward(tt.ones(1))
            >>> x.grad
            tensor([5.4366])
        """
        return add_hook(self._node._extra().setdefault("post_hooks", {}), hook)

    def register_prehook(self, hook: Any) -> RemovableHandle:
        """Call ``hook(grad_outputs)`` before this node's backward; it may return new gradients.

        Example:
            >>> x = tt.ones(1, requires_grad=True)
            >>> y = 3 * x
            >>> handle = y.grad_fn.register_prehook(lambda outputs: (2 * outputs[0],))
            >>> y.backward()
            >>> x.grad
            tensor([6.])
        """
        return add_hook(self._node._extra().setdefault("pre_hooks", {}), hook)

    def _sequence_nr(self) -> int:
        return self._node.seq

    def __getattr__(self, name: str) -> Any:
        context = getattr(self._node.op, "context", None)
        if name.startswith("_raw_saved_"):
            return _raw_saved(self._node, name, context)
        if context is not None and not name.startswith("__"):
            return getattr(context(self._node), name)
        if name.startswith("_saved_"):
            return _saved_attribute(self._node, name)
        raise AttributeError(f"{self.name()!r} object has no attribute {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        if hasattr(type(self), name):
            object.__setattr__(self, name, value)
            return
        node = getattr(self, "_node", None)
        context = getattr(getattr(node, "op", None), "context", None)
        if context is None:
            raise AttributeError(f"{self.name()!r} object has no attribute {name!r}")
        setattr(context(node), name, value)

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *_saved_positions(self._node)})


class AccumulateGrad(GraphNode):
    """Public form of the edge to a leaf: it adds gradients to ``grad`` of the leaf ``variable``.

    Example:
        >>> x = tt.ones(2, requires_grad=True)
        >>> (x * 3).grad_fn.next_functions[0][0].variable is x
        True
    """

    __slots__ = ("variable",)

    def __init__(self, variable: Any) -> None:
        self.variable: Any = variable

    def __repr__(self) -> str:
        return f"<AccumulateGrad object at {id(self):#x}>"

    def name(self) -> str:
        """PyTorch's name of the node: the name of its class in C++."""
        return "torch::autograd::AccumulateGrad"

    @property
    def next_functions(self) -> tuple[tuple[GraphNode | None, int], ...]:
        """An empty tuple: the graph ends here."""
        return ()

    @property
    def metadata(self) -> dict[Any, Any]:
        """A dictionary for the user's own data."""
        return vars(self.variable).setdefault("_metadata", {})  # type: ignore[no-any-return]

    def register_hook(self, hook: Any) -> RemovableHandle:
        """Call ``hook((), grad_outputs)`` after the gradient was added to the leaf's ``grad``."""
        leaf = self.variable
        if leaf._post_accumulate_grad_hooks is None:
            leaf._post_accumulate_grad_hooks = LeafHooks()
        return add_hook(leaf._post_accumulate_grad_hooks, AfterAccumulation(hook))

    def register_prehook(self, hook: Any) -> RemovableHandle:
        """Call ``hook(grad_outputs)`` before the gradient is added to the leaf's ``grad``."""
        handle: RemovableHandle = self.variable.register_hook(BeforeAccumulation(hook))
        return handle

    def _sequence_nr(self) -> int:
        return 2**64 - 1  # later than anything recorded, as in torch

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"'AccumulateGrad' object has no attribute {name!r}")

    def __dir__(self) -> list[str]:
        return sorted(object.__dir__(self))


_GRAD_FNS: WeakValues[int, GraphNode] = WeakValues()
_LEAVES: WeakValues[int, AccumulateGrad] = WeakValues()
_TYPES: dict[tuple[str, str], type[GraphNode]] = {}


def grad_fn_of(edge: Edge) -> GraphNode | None:
    """Return the public form of the node, or of the leaf, at the end of an edge; None for None."""
    if edge is None:
        return None
    node = node_of(edge)
    if node is None:
        return _LEAVES.get(id(edge)) or _LEAVES.setdefault(id(edge), AccumulateGrad(edge))
    found = _GRAD_FNS.get(node.seq)
    return found if found is not None else _GRAD_FNS.setdefault(node.seq, _class_of(node)(node))


def _class_of(node: Node) -> type[GraphNode]:
    """Return the class of a node's public form; it has PyTorch's name of the node."""
    module = "builtins"
    if getattr(node.op, "context", None) is not None:
        module = "tinytorch.autograd.function"
    key = module, node.name()
    if key not in _TYPES:
        members = {"__slots__": (), "__module__": module, "__doc__": GraphNode.__doc__}
        _TYPES[key] = type(node.name(), (GraphNode,), members)
    return _TYPES[key]


def _saved_positions(node: Node) -> dict[str, int]:
    """Positions of the arguments that a node saves, by attribute name; -1 for its result."""
    op = node.op
    saved = [i for i, is_saved in enumerate(getattr(op, "saves", ())) if is_saved]
    names = ("self" if op.params[i] == "input" else op.params[i] for i in saved)
    positions = {f"_saved_{name}": i for name, i in zip(names, saved, strict=True)}
    return {**positions, "_saved_result": -1} if getattr(op, "saves_out", False) else positions


def _saved_attribute(node: Node, name: str) -> Any:
    """Return the saved value that ``grad_fn`` has under ``name``, such as ``_saved_self``."""
    positions = _saved_positions(node)
    if name not in positions:
        raise AttributeError(f"{node.name()!r} object has no attribute {name!r}")
    if node.args is FREED:
        raise RuntimeError(FREED_MESSAGE)
    packed = packed_of(node)
    if packed is not None:
        packed.restore(node)
    try:
        return _saved_value(node, positions[name])
    finally:
        if packed is not None:
            packed.strip(node)


def _raw_saved(node: Node, name: str, context: Any) -> Any:
    """Return the ``SavedTensor`` of an attribute ``_raw_saved_NAME`` of ``grad_fn``.

    Args:
        node: The node.
        name: The attribute, such as ``_raw_saved_self``. The node of a custom ``Function`` has only
            ``_raw_saved_tensors``, a tuple.
        context: Function that returns the ``ctx`` of a custom ``Function``'s node; else None.
    """
    if context is not None and name == "_raw_saved_tensors":
        ctx = context(node)
        return tuple(_context_saved_tensor(node, ctx, i) for i in range(len(ctx._saved)))
    position = _saved_positions(node).get(name.removeprefix("_raw"))
    if context is not None or position not in _single_tensor_positions(node):
        raise AttributeError(f"{node.name()!r} object has no attribute {name!r}")
    return saved_tensor_at(node, position)


def _single_tensor_positions(node: Node) -> set[int]:
    """Positions at which a node saves one tensor, not a sequence of them; -1 is the result."""
    out = set() if isinstance(node.out, tuple) else {-1}
    return out | {i for i in node.op.saved_positions if i != node.op.sequence}


def _saved_value(node: Node, position: int) -> Any:
    """Return the saved argument at a position of a node that is not packed; -1 for the result."""
    return LATE_BOUND.output_of(node) if position < 0 else saved_arguments(node)[position]
