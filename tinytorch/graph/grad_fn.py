"""``grad_fn``, the public form of a node, of a type with PyTorch's name, and its saved tensors.

The engine's nodes are all of one class, for speed. The public form is made on access and freed
with its last reference; until then a node has one alone, so that ``x.grad_fn is x.grad_fn``.
``grad_fn._raw_saved_self.register_hooks`` sets hooks for one saved tensor.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..backends.weak_references import WeakValues
from .hooks import AfterAccumulation, BeforeAccumulation, LeafHooks, RemovableHandle, add_hook
from .late_bound import LATE_BOUND
from .nodes import FREED, TWICE, Edge, Node, Slot, node_of, packed_of
from .saved_tensors import Hooks, Packed, PackedNode, SavedOutput, saved_arguments
from .views import edge_of

_TWICE = (
    "Calling register_hooks on a saved tensor whose hooks have already been set. Hint: only one "
    "pair of hooks is allowed at a time."
)
_FREED = (
    "Calling register_hooks on a saved tensor after it has been freed. Saved intermediate values "
    "of the graph are freed when you call .backward() or autograd.grad(). Specify "
    "retain_graph=True if you need to backward through the graph a second time or if you need to "
    "access saved variables after calling backward."
)


class SavedTensor:
    """What a node keeps of a tensor for its backward pass.

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
        """Have it stored otherwise: as ``pack_hook`` makes it, at once.

        Args:
            pack_hook: Called with the tensor; its result is kept instead.
            unpack_hook: Called with that when the gradient is computed; gives a tensor.

        Raises:
            TypeError: If one is not callable, or later if ``unpack_hook`` gives no tensor.
            RuntimeError: If there are hooks already, or the graph was freed.
        """
        if not (callable(pack_hook) and callable(unpack_hook)):
            raise TypeError("register_hooks(): incompatible function arguments: expected two "
                            f"functions, got {pack_hook!r} and {unpack_hook!r}")  # fmt: skip
        if self._node.args is FREED:
            raise RuntimeError(_FREED)
        self._pack(Hooks(pack_hook, unpack_hook))


def of_place(node: Node, place: int) -> SavedTensor:
    """That of the argument at ``place``; -1 for the result."""

    def pack(hooks: Hooks) -> None:
        packed = packed_of(node)
        own = node._extra().setdefault("hooked", set())
        if place in own or (packed is not None and not own):
            raise RuntimeError(_TWICE)
        if packed is not None:
            packed.restore(node)
        tensor = LATE_BOUND.output_of(node).detach() if place < 0 else saved_arguments(node)[place]
        chosen = Packed(tensor, hooks, None if place < 0 else edge_of(tensor))
        if packed is None:
            packed = PackedNode(node, _result(node), Hooks(_same, _same), edge_of)
        if place < 0:
            packed.out = chosen
        else:
            packed.arguments[place] = chosen
        own.add(place)
        packed.strip(node)

    return SavedTensor(node, pack)


def of_context(node: Node, ctx: Any) -> tuple[SavedTensor, ...]:
    """Those of what a user's ``Function`` gave to ``save_for_backward``."""
    return tuple(_of_item(node, ctx, i) for i in range(len(ctx._saved)))


def _of_item(node: Node, ctx: Any, i: int) -> SavedTensor:
    def pack(hooks: Hooks) -> None:
        saved = list(ctx._saved)
        tensor = saved[i]
        if isinstance(tensor, Packed):
            raise RuntimeError(_TWICE)
        if isinstance(tensor, SavedOutput):
            tensor.data = Packed(ctx._output(tensor).detach(), hooks, None)
        else:
            saved[i] = Packed(tensor, hooks, edge_of(tensor))
        ctx._saved = tuple(saved)

    return SavedTensor(node, pack)


def _result(node: Node) -> Any:
    out = None if node.out is None else LATE_BOUND.output_of(node)
    if isinstance(out, tuple):
        return tuple(None if t is None else t.detach() for t in out)
    return None if out is None else out.detach()


def _same(tensor: Any) -> Any:
    return tensor


class GraphNode:
    """A recorded operation, as ``grad_fn`` and ``next_functions`` show it.

    ``_saved_self``, ``_saved_result`` and the like are what it keeps for the backward pass; the
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

    #: Whether gradients pass here: always.
    requires_grad = True

    def __init__(self, node: Node) -> None:
        self._node = node

    def name(self) -> str:
        """torch's name of the node, such as ``AddBackward0``."""
        return self._node.name()

    @property
    def next_functions(self) -> tuple[tuple[GraphNode | None, int], ...]:
        """``(node, index)`` of every input, ``(None, 0)`` where none is differentiable."""
        return tuple(
            (face_of(edge), edge.index if isinstance(edge, Slot) else 0)
            for edge in self._node.edges
        )

    @property
    def metadata(self) -> dict[Any, Any]:
        """A dictionary for the user's own notes; in anomaly mode with the ``traceback_``."""
        extra = self._node._extra()
        notes: dict[Any, Any] = extra.setdefault("metadata", {})
        if "traceback" in extra:
            notes.setdefault("traceback_", extra["traceback"])
        return notes

    def register_hook(self, hook: Any) -> RemovableHandle:
        """Call ``hook(grad_inputs, grad_outputs)`` after this node's backward.

        Returns:
            A handle whose ``remove()`` takes the hook away.

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
        """Call ``hook(grad_outputs)`` before this node's backward; it may replace them.

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
            return _raw(self._node, name, context)
        if context is not None and not name.startswith("__"):
            return getattr(context(self._node), name)
        if name.startswith("_saved_"):
            return _saved(self._node, name)
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
        return sorted({*object.__dir__(self), *_saved_places(self._node)})


class AccumulateGrad(GraphNode):
    """The end of a graph at a leaf, ``variable``, to whose ``grad`` it adds.

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
        """torch's name, which is that of its class in C++."""
        return "torch::autograd::AccumulateGrad"

    @property
    def next_functions(self) -> tuple[tuple[GraphNode | None, int], ...]:
        """Nothing: the graph ends here."""
        return ()

    @property
    def metadata(self) -> dict[Any, Any]:
        """A dictionary for the user's own notes."""
        return vars(self.variable).setdefault("_metadata", {})  # type: ignore[no-any-return]

    def register_hook(self, hook: Any) -> RemovableHandle:
        """Call ``hook((), grad_outputs)`` after the leaf's ``grad`` was added to."""
        leaf = self.variable
        if leaf._post_accumulate_grad_hooks is None:
            leaf._post_accumulate_grad_hooks = LeafHooks()
        return add_hook(leaf._post_accumulate_grad_hooks, AfterAccumulation(hook))

    def register_prehook(self, hook: Any) -> RemovableHandle:
        """Call ``hook(grad_outputs)`` before the leaf's ``grad`` is added to."""
        handle: RemovableHandle = self.variable.register_hook(BeforeAccumulation(hook))
        return handle

    def _sequence_nr(self) -> int:
        return 2**64 - 1  # later than anything recorded, as in torch

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"'AccumulateGrad' object has no attribute {name!r}")

    def __dir__(self) -> list[str]:
        return sorted(object.__dir__(self))


_FACES: WeakValues[int, GraphNode] = WeakValues()
_LEAVES: WeakValues[int, AccumulateGrad] = WeakValues()
_TYPES: dict[tuple[str, str], type[GraphNode]] = {}


def face_of(edge: Edge) -> GraphNode | None:
    """The face of the node an edge leads to; None for no edge."""
    if edge is None:
        return None
    node = node_of(edge)
    if node is None:
        return _LEAVES.get(id(edge)) or _LEAVES.setdefault(id(edge), AccumulateGrad(edge))
    found = _FACES.get(node.seq)
    return found if found is not None else _FACES.setdefault(node.seq, _type_of(node)(node))


def _type_of(node: Node) -> type[GraphNode]:
    """The class of a node's face, which is named as in torch."""
    module = "builtins"
    if getattr(node.op, "context", None) is not None:
        module = "tinytorch.autograd.function"
    key = module, node.name()
    if key not in _TYPES:
        members = {"__slots__": (), "__module__": module, "__doc__": GraphNode.__doc__}
        _TYPES[key] = type(node.name(), (GraphNode,), members)
    return _TYPES[key]


def _saved_places(node: Node) -> dict[str, int]:
    """By name, the positions of the arguments that a node keeps; -1 for its result."""
    op = node.op
    kept = [i for i, keeps in enumerate(getattr(op, "saves", ())) if keeps]
    places = {f"_saved_{_torchs(op.params[i])}": i for i in kept}
    return {**places, "_saved_result": -1} if getattr(op, "saves_out", False) else places


def _torchs(parameter: str) -> str:
    return "self" if parameter == "input" else parameter


def _saved(node: Node, name: str) -> Any:
    places = _saved_places(node)
    if name not in places:
        raise AttributeError(f"{node.name()!r} object has no attribute {name!r}")
    if node.args is FREED:
        raise RuntimeError(TWICE)
    packed = packed_of(node)
    if packed is not None:
        packed.restore(node)
    try:
        return _kept(node, places[name])
    finally:
        if packed is not None:
            packed.strip(node)


def _raw(node: Node, name: str, context: Any) -> Any:
    """What ``register_hooks`` is called on for a tensor that a node saved, or for several."""
    if context is not None and name == "_raw_saved_tensors":
        return of_context(node, context(node))
    place = _saved_places(node).get(name.removeprefix("_raw"))
    if context is not None or place not in _tensors_of(node):
        raise AttributeError(f"{node.name()!r} object has no attribute {name!r}")
    return of_place(node, place)


def _tensors_of(node: Node) -> set[int]:
    """The places where a node keeps a single tensor."""
    out = set() if isinstance(node.out, tuple) else {-1}
    return out | {i for i in node.op.saved_positions if i != node.op.sequence}


def _kept(node: Node, place: int) -> Any:
    if place < 0:
        return LATE_BOUND.output_of(node)
    return saved_arguments(node)[place]
