"""Recording of one call of a compiled function, with the gradients of its results.

The function runs once, as eager code: its result, with its graph, is that of this call. If a result
requires grad, a backward pass is recorded besides, from gradients that are inputs of the program to
the tensors that were listed. A listed tensor that has a history is cut from it meanwhile, so that
the gradients are partial derivatives.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..autograd import grad
from ..core.layout import strided
from ..core.tensor import Tensor, wrap
from ..dispatch import autocast
from ..graph.nodes import FREED, NodeOutput, next_seq
from ..graph.special_nodes import identity_node
from ..graph.views import edge_of
from ..state import bind, no_grad
from .arrays import ProgramArray
from .backend import NUMPY, RECORDING
from .graph import Program, Value
from .recorder import ProgramRecorder
from .traced_memory import Input
from .recording import recording
from .trees import tensors_in
from ..state.bindings import contextmanager


#: Keys of ``Node.extra`` for hooks.
_HOOKS = frozenset(("pre_hooks", "post_hooks"))


@dataclass
class CallRecording:
    """One call of a function, and the program of later calls.

    Attributes:
        recorder: The recorder.
        result: What the function returned.
        leaves: The tensors of ``result``.
        outputs: The value of each of them.
        split: Number of nodes before the backward pass.
        writes: For inputs that the function writes: the number of the input and its final value.
        grads: Tensors whose ``.grad`` the function set, with the value; None for one set to None.
        cotangents: For each of ``leaves`` the value that is its gradient, or None.
        gradients: For each listed tensor its gradient, or None.
        freed: Numbers of the leaves whose graph the function has freed.
        reasons: Why the program must not be replayed.
        reads_grads: Whether the function reads ``.grad`` of any tensor.
        has_passes: Whether it runs a backward pass.
    """

    recorder: ProgramRecorder
    result: Any = None
    leaves: list[Any] = field(default_factory=list)
    outputs: list[Value] = field(default_factory=list)
    split: int = 0
    writes: list[tuple[int, Value]] = field(default_factory=list)
    grads: list[tuple[Any, Value | None]] = field(default_factory=list)
    cotangents: list[Value | None] = field(default_factory=list)
    gradients: list[Value | None] = field(default_factory=list)
    freed: set[int] = field(default_factory=set)
    reasons: list[str] = field(default_factory=list)
    reads_grads: bool = False
    has_passes: bool = False

    @property
    def sources(self) -> list[Input]:
        """The origin of each input."""
        return self.recorder.sources

    @property
    def program(self) -> Program:
        """The program of the function, without the backward pass."""
        program = self.recorder.program
        kept = [v for v in self.grads_set() if v is not None]
        return Program(
            program.nodes[: self.split], program.inputs, [*self.outputs, *kept], self.writes
        )

    def grads_set(self) -> list[Value | None]:
        """Values of the gradients that the function set."""
        return [value for _, value in self.grads]

    def gradients_for_ones(self, tensors: Sequence[Any]) -> list[Any]:
        """Return the arrays of the gradients of listed tensors, for gradients of ones.

        Args:
            tensors: The listed tensors.
        """
        roots = [
            leaf for leaf, v in zip(self.leaves, self.cotangents, strict=True) if v is not None
        ]
        wanted = [t for t, v in zip(tensors, self.gradients, strict=True) if v is not None]
        if not roots or not wanted:
            return []
        ones = [wrap(NUMPY.ones(r.shape, r._data.dtype), NUMPY) for r in roots]
        return [g._data for g in grad(roots, wanted, ones, retain_graph=True)]


class HistoryCut:
    """A tensor with a history, while a function of it is differentiated: its node leads to a leaf.

    Args:
        tensor: A tensor that requires grad and is no leaf.
    """

    def __init__(self, tensor: Any) -> None:
        self.tensor, self.edge = tensor, edge_of(tensor)
        self._before = tensor._rg, tensor._node
        self.leaf = wrap(tensor._data, tensor._xp)
        self.leaf._rg = True
        self.node = identity_node(self.leaf)
        tensor._rg, tensor._node = True, self.node

    def rejoin(self) -> bool:
        """Restore the tensor and its history; return whether a change in place replaced it."""
        self.node.edges = (self.edge,)
        if self.tensor._node is not self.node:
            return True
        self.tensor._rg, self.tensor._node = self._before
        return False


def record_call(function: Callable[[], Any], tensors: Sequence[Any]) -> CallRecording:
    """Call a function, and record what it computes and the gradients of its result.

    Args:
        function: Function without arguments.
        tensors: Tensors that are the program's first inputs, each once.
    """
    cuts = [HistoryCut(tensor) for tensor in tensors if tensor.requires_grad and not tensor.is_leaf]
    histories = [(tensor, tensor._rg, tensor._node) for tensor in tensors]
    old = [tensor._grad for tensor in tensors]
    arrays = [tensor._data for tensor in tensors]
    first = next_seq()
    try:
        with (
            bind(autocast._CASTS, {}),  # casts of a block must not become constants
            recording(tensors, sys._getframe()) as recorder,
        ):
            call = CallRecording(recorder)
            call.result = function()
            call.reads_grads = call.recorder.reads_grads
            call.has_passes = call.recorder.passes > 0
            _note_results(call, tensors, old)
            leaves = {id(cut.tensor): cut.leaf for cut in cuts}
            if not _refuses_graph(call, tensors, cuts, first):
                _record_backward(call, tensors, [leaves.get(id(t), t) for t in tensors])
    finally:
        changed = [cut.rejoin() for cut in cuts]
    if any(t._data is not a for t, a in zip(tensors, arrays, strict=True)):
        call.reasons.append("the memory or the shape of an input is replaced")
    for cut in cuts:
        if cut.leaf._grad is not None:
            call.reasons.append("a backward pass runs through the history of an input")
            cut.tensor.backward(cut.leaf._grad)
    if any(changed) or any(
        t._rg is not rg or t._node is not node
        for t, rg, node in histories if id(t) not in leaves
    ):  # fmt: skip
        call.reasons.append("requires_grad or the history of an input was changed in place")
    return call


def _note_results(call: CallRecording, tensors: Sequence[Any], old: Sequence[Any]) -> None:
    """Note the values of the results, of the gradients that were set, and of what was written."""
    recorder = call.recorder
    call.leaves = tensors_in(call.result)
    set_grads = [(t, t._grad) for t, g in zip(tensors, old, strict=True) if t._grad is not g]
    for tensor in [*call.leaves, *[g for _, g in set_grads if g is not None]]:
        if tensor.layout is not strided:
            call.reasons.append("a result or a gradient is sparse")
            return
        if tensor._data.__class__ is not ProgramArray:
            call.reasons.append(f"a result is on {tensor._xp}, not on the NumPy backend")
            return
    call.outputs = [leaf._data.value() for leaf in call.leaves]
    call.grads = [(t, None if g is None else g._data.value()) for t, g in set_grads]
    call.writes = [
        (base.input, base.store.raw)
        for _, base in recorder._bases.values()
        if base.store.version and base.input is not None
    ]
    call.split = len(recorder.program.nodes)
    call.cotangents = [None] * len(call.leaves)
    call.gradients = [None] * len(tensors)


def _refuses_graph(
    call: CallRecording, tensors: Sequence[Any], cuts: Sequence[HistoryCut], first: int
) -> bool:
    """Search the graph of the results for what a replay would lose; note which graphs are freed.

    Args:
        call: The recording.
        tensors: The listed tensors.
        cuts: Those that are cut from their history.
        first: Creation number of a node before the call.
    """
    ends = {id(cut.node) for cut in cuts}
    listed = {id(tensor) for tensor in tensors}
    for place, leaf in enumerate(call.leaves):
        if not leaf.requires_grad or id(leaf) in listed:
            continue
        if leaf.is_leaf:
            call.reasons.append("a result is a new leaf that requires grad")
        pending, seen = [edge_of(leaf)], set()
        while pending and not call.reasons:
            edge = pending.pop()
            if edge is None or id(edge) in seen or id(edge) in ends:
                continue
            seen.add(id(edge))
            if isinstance(edge, Tensor):
                if id(edge) not in listed and edge._data.memory.input is not None:
                    call.reasons.append("a tensor that requires grad is not found by the guards")
                continue
            if edge.hooks:
                call.reasons.append("a hook is registered on a tensor that the function makes")
            if isinstance(edge, NodeOutput):
                edge = edge.node
                if id(edge) in ends or id(edge) in seen:
                    continue
                seen.add(id(edge))
            if edge.hooks or not _HOOKS.isdisjoint(edge.extra or ()):
                call.reasons.append("a hook is registered on a node that the function makes")
            if edge.args is FREED:
                call.freed.add(place)
            if edge.seq < first:
                call.reasons.append("a tensor with a history is not found by the guards")
            pending.extend(edge.edges)
    return bool(call.reasons)


@contextmanager
def _hide_hooks(tensors: Sequence[Any]) -> Iterator[None]:
    """Scope in which tensors have no hooks: a backward pass through the call's node calls them."""
    hooks = [(tensor, tensor._backward_hooks) for tensor in tensors if tensor._backward_hooks]
    for tensor, _ in hooks:
        tensor._backward_hooks = None
    try:
        yield
    finally:
        for tensor, found in hooks:
            tensor._backward_hooks = found


def _record_backward(
    call: CallRecording, tensors: Sequence[Any], inputs: Sequence[Any]
) -> None:  # fmt: skip
    """Record a backward pass from the results to the inputs that require grad.

    Args:
        call: The recording.
        tensors: The listed tensors.
        inputs: For each listed tensor the leaf that stands for it.
    """
    recorder = call.recorder
    roots: list[Any] = []
    grads: list[Any] = []
    listed = set(map(id, tensors))
    for place, leaf in enumerate(call.leaves):
        if leaf.requires_grad and place not in call.freed and id(leaf) not in listed:
            ones = NUMPY.ones(leaf.shape, leaf._data.dtype)
            value = recorder.add_input(Input("cotangent", ones), ones)
            call.cotangents[place] = value
            roots.append(leaf)
            grads.append(wrap(recorder.fresh(ones, value), RECORDING))
    wanted = [tensor for tensor in inputs if tensor.requires_grad]
    if not roots or not wanted:
        return
    recorder.set_phase("backward")
    try:
        with no_grad(), _hide_hooks(wanted):
            found = iter(grad(roots, wanted, grads, retain_graph=True, allow_unused=True))
    except Exception as error:  # which the user's backward pass raises again, if there is one
        call.reasons.append(f"the gradient of a result raises {type(error).__name__}: {error}")
        return
    for place, tensor in enumerate(inputs):
        if tensor.requires_grad:
            gradient = next(found)
            call.gradients[place] = None if gradient is None else gradient._data.value()
