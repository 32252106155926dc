"""Recording: which node a result gets, and what that keeps for the backward pass."""

from __future__ import annotations

import weakref
from typing import Any

from ..core.tensor import Tensor, wrap
from ..graph.engine import Anomaly
from ..graph.inference import UNSETTLED, check_saved, settle
from ..graph.nodes import Node, Slot, node_of, packed_of
from ..graph.saved_tensors import STACK, Recording
from ..graph.views import edge_of
from ..warnings import calls_of_the_program
from .backward import Backward


def record(op: Backward, xp: Any, out: Any, given: tuple[Any, ...], raws: tuple[Any, ...]) -> None:
    """Make ``out`` (or each of several results) a recorded result of ``op``.

    Args:
        op: The operation.
        xp: Its backend.
        out: The result, or a tuple of results.
        given: The arguments with their tensors.
        raws: The same arguments as the kernel saw them.
    """
    if isinstance(out, Tensor) and out._data.dtype.kind not in "fcV":
        return
    node = make_node(op, xp, given, raws)
    if node is None:
        return
    if isinstance(out, tuple):
        arrays = [t._data for t in out]
        node.shape = tuple([array.shape for array in arrays])
        node.dtype = tuple([array.dtype for array in arrays])
        for i, t in enumerate(out):
            if t._data.dtype.kind in "fcV":
                t._node = Slot(node, i)
                if t._base is None:
                    t._rg = True
                else:
                    t._wanted = True
        if op.saves_out:
            keep_results(op, node, out)
            # Weakly, since a slot holds its node: for rules that are recorded in their turn.
            node._extra()["results"] = [t._node and weakref.ref(t._node) for t in out]
        if Recording.watched:
            watch(node, out)
        return
    data = out._data
    node.shape = data.shape
    node.dtype = data.dtype
    if op.saves_out:
        keep_out(node, out)
    out._node = node
    out._rg = True
    if Recording.watched:
        watch(node, out)


def make_node(op: Backward, xp: Any, given: tuple[Any, ...], raws: tuple[Any, ...]) -> Node | None:
    """A node for a call of ``op``, without its result; None if no input wants a gradient."""
    if op.sequence is not None and op.sequence in op.differentiable:
        edges = [edge_of(t) for t in given[op.sequence]]
    else:
        edges = []
        for i in op.differentiable:
            t = given[i]
            edges.append(edge_of(t) if isinstance(t, Tensor) and t._rg else None)
    for edge in edges:
        if edge is not None:
            break
    else:
        return None
    args = list(raws)
    for i in op.dropped:
        args[i] = None
    if op.sequence is not None and not op.saves[op.sequence]:
        args[op.sequence] = tuple([tuple(raw.shape) for raw in raws[op.sequence]])
    saved: list[Any] = []
    for i in op.saved_positions:
        value = given[i]
        if isinstance(value, Tensor):
            saved.append(value)
        elif isinstance(value, (tuple, list)):
            saved.extend(value)
    node = Node(op, xp, tuple(edges), tuple(args), tuple(saved), None, None)
    if saved:
        note_versions(node)
    return node


def note_versions(node: Node) -> None:
    """Remember the versions of the saved tensors, unless none was ever modified."""
    versions = []
    for tensor in node.saved:
        cell = tensor._vc
        if cell is UNSETTLED:
            check_saved(tensor, node)
        versions.append(0 if cell is None else cell[0])
    if any(versions):
        node.versions = tuple(versions)


def keep_out(node: Node, out: Tensor) -> None:
    """Save the result for the rules that use it (not the tensor: that would be a cycle)."""
    node.out = out._data
    node.out_version = (_version_of(out),)


def keep_results(op: Backward, node: Node, out: tuple[Tensor, ...]) -> None:
    """``keep_out`` of several results, of which the rules may use but some."""
    kept = range(len(out)) if op.saved_results is None else op.saved_results
    node.out = tuple([t._data if i in kept else None for i, t in enumerate(out)])
    node.out_version = tuple([_version_of(t) if i in kept else ([0], 0) for i, t in enumerate(out)])


def keep_versions(out: Tensor, *tensors: Tensor | None) -> Tensor:
    """``out``, with a backward pass that is refused once one of ``tensors`` was modified.

    For composites that torch has as one operation, which keeps its arguments: the rules here read
    no more than their shapes, so the memory is let go.
    """
    node = node_of(out._node) if out._rg else None
    if node is not None and packed_of(node) is None:
        kept = [t for t in tensors if t is not None and not (t._vc is UNSETTLED and settle(t))]
        watched = [(*_version_of(t), t._data.shape) for t in kept]
        node.out_version = (*(node.out_version or ()), *watched)
    return out


def _version_of(out: Tensor) -> tuple[list[int], int]:
    if out._vc is None or out._vc is UNSETTLED:
        out._vc = [0]
    return out._vc, out._vc[0]


def watch(node: Node, out: Any) -> None:
    """Anomaly mode: remember where the operation was called. Hooks: give them what is saved.

    Args:
        node: What was recorded.
        out: Its result, or the tuple of its results.
    """
    if Anomaly.enabled:
        node._extra()["traceback"] = calls_of_the_program()
    stack = STACK.get()
    if stack and (node.saved or node.out is not None):
        stack[-1].pack_node(node, out, edge_of)


def any_rg(op: Backward, given: tuple[Any, ...]) -> bool:
    """Whether a tensor among the differentiable arguments may require grad."""
    for i in op.differentiable:
        value = given[i]
        if isinstance(value, Tensor):
            if value._rg:
                return True
        elif i == op.sequence and any(t._rg for t in value):
            return True
    return False


def output_of(node: Node) -> Any:
    """What ``node`` saved of its result, or of its several results, in its place in the graph.

    None for what a kernel kept on the way to the result: that has no place there.
    """
    if node.op.keeps is not None:
        return None
    if isinstance(node.out, tuple):
        return tuple(result_of(node, i) for i in range(len(node.out)))
    out = wrap(node.out, node.xp)
    out._node = node
    out._rg = True
    if node.out_version is not None:
        out._vc = node.out_version[0][0]
    return out


def result_of(node: Node, index: int) -> Tensor | None:
    if node.out[index] is None:
        return None
    out = wrap(node.out[index], node.xp)
    ref = node._extra()["results"][index]
    if ref is not None:
        # The slot that hooks and captures know, while the tensor it belonged to is alive.
        out._node = ref() or Slot(node, index)
        out._rg = True
    if node.out_version is not None:
        out._vc = node.out_version[index][0]
    return out
