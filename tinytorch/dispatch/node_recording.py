"""``apply``: run a kernel, wrap its result, record the call as a node of the autograd graph.

A view of a lazily conjugated or negated tensor is lazily conjugated or negated, too.
"""

from __future__ import annotations

import functools
import weakref
from typing import Any

from ..core.tensor import Tensor, creation, tensors, wrap
from ..core.lazy_bits import Conjugate, Negative, LazyView, mark_lazy, physical_view
from ..graph.engine import Anomaly
from ..graph.inference import UNSETTLED, check_saved, settle_version
from ..graph.nodes import Node, NodeOutput, node_of, packed_of
from ..graph.saved_tensors import HOOK_STACK, Recording
from ..graph.special_nodes import identity_node
from ..graph.views import SEVERAL, VIEW, edge_of, track_view, unrecorded_kind
from ..state import GRAD, grad_enabled, scoped_grad
from ..warnings import program_traceback
from .arguments import explain_shapes, unwrap
from .backward import Backward
from .operation import Op


def apply(op: Op, xp: Any, given: tuple[Any, ...]) -> Any:
    """Run an operation on converted arguments and record it: call the kernel, wrap its result.

    The generated functions do the same for the arguments of their fast path.

    Args:
        op: The operation.
        xp: Its backend.
        given: One argument for each parameter, the tensors of one backend and promoted.
    """
    plan, backward = op.plan, op.backward
    arrays, wanted = [*given], False
    for i in plan.tensors:
        value = arrays[i]
        if value.__class__ is Tensor or isinstance(value, Tensor):
            arrays[i] = value._data
            wanted = wanted or value._rg
        elif i == plan.sequence:
            arrays[i] = unwrap(value)
            wanted = True
    for i in plan.others:
        if arrays[i] is not plan.defaults[i]:
            arrays[i] = unwrap(arrays[i])
    raws = tuple(arrays)
    wanted = bool(
        wanted and backward.differentiable and any_requires_grad(backward, given) and grad_enabled()
    )
    try:
        y = op.run(xp, raws)
    except ValueError as error:
        raise explain_shapes(op, given, error) from None
    if y.__class__ is not xp.array_type:
        if y.__class__ is tuple or y.__class__ is list:
            if op.view:
                return wrap_views(pick_view(op), xp, y, given[0], raws[0], given[1:], wanted)
            return wrap_results(op, xp, y, given, raws, wanted)
        y = xp.asarray(y)
    if op.plan.returns_input and y is raws[op.plan.tensors[0]]:
        return given[op.plan.tensors[0]]
    if op.view:
        return _wrap_view(op, xp, y, given, raws, wanted)
    out = wrap(y, xp)
    if wanted:
        record(backward.drop_numbers(given), xp, out, given, raws)
    return out


def _wrap_view(
    op: Op, xp: Any, y: Any, given: tuple[Any, ...], raws: tuple[Any, ...], wanted: bool
) -> Tensor:
    """Return the result of an operation that returns a view, or a copy where it has to.

    Args:
        op: The operation.
        xp: The backend.
        y: The result of the kernel, which may share memory with the first tensor.
        given: The arguments with their tensors.
        raws: The same arguments as the kernel saw them.
        wanted: Whether to record the call.
    """
    at = op.plan.tensors[0]
    y, shares = _share_memory(xp, y, raws[at])
    out = wrap(y, xp)
    node = None
    if wanted:
        node = make_node(op.backward if shares else op.backward.copy_variant, xp, given, raws)
    if node is not None:
        node.shape, node.dtype = y.shape, y.dtype
        out._node, out._rg = node, True
    if shares:
        kind = "" if node is not None or grad_enabled() else unrecorded_kind()
        track_view(out, given[at], op.function, (*given[:at], *given[at + 1 :]), node, kind)
    if node is not None and Recording.watched:
        on_record(node, out)
    return out


def _share_memory(xp: Any, y: Any, array: Any) -> tuple[Any, bool]:
    """Return a result as a new array object, and whether it shares memory with ``array``."""
    if y is array:
        return y[...], True
    base = y.base
    shares = base is not None and (base is array or base is array.base)
    return y, shares or xp.is_view(y, array)


def wrap_views(
    pick: PickView,
    xp: Any,
    ys: Any,
    source: Tensor,
    array: Any,
    rest: tuple[Any, ...],
    wanted: bool,
) -> tuple[Tensor, ...]:
    """Return the results of an operation that returns several views.

    Args:
        pick: The view operation that returns one of them, for replays.
        xp: The backend.
        ys: The results of the kernel.
        source: The tensor that they are views of.
        array: Its array.
        rest: The other arguments of the call.
        wanted: Whether to record the call.
    """
    # ``grad_enabled()`` without the frame of a call, as in the generated functions.
    records = scoped_grad() is None and not GRAD.by_thread or grad_enabled()
    kind = SEVERAL if records else unrecorded_kind()
    cell, owner = source._vc, array.base
    base = source._base
    base, steps = (source, source._reshaped) if base is None else (base, source._view_ops)
    unsettled = creation.version is not None or cell is UNSETTLED
    outs: list[Tensor] = []
    for i, y in enumerate(ys):
        shared = y.base
        if shared is None or shared is not array and shared is not owner or unsettled:
            y, shares = _share_memory(xp, y, array)
            out = wrap(y, xp)
            if shares:
                track_view(out, source, pick, (i, rest), None, kind)
        else:  # the same as ``wrap`` and ``track_view``, without their calls
            if cell is None:
                cell = source._vc = source._vc or [0]
            out = next(tensors)
            out._data, out._xp = y, xp
            out._grad = out._node = None
            out._vc, out._base, out._rg = cell, base, VIEW
            out._view_ops = (steps, pick, i, rest)
            out._own_rg, out._kind, out._attr_version = False, kind, cell[0]
        outs.append(out)
    if wanted and not source._inference:  # as for one view, see ``track_view``
        record(pick.op.backward, xp, tuple(outs), (source, *rest), (array, *rest))
    return tuple(outs)


class PickView:
    """View operation, for replays: one of several views that an operation returns, by index."""

    def __init__(self, op: Op) -> None:
        self.op = op

    def __call__(self, source: Any, index: int, rest: tuple[Any, ...]) -> Any:
        return self.op.function(source, *rest)[index]

    def kernel(self, xp: Any, source: Any, index: int, rest: tuple[Any, ...]) -> Any:
        """The same on raw arrays."""
        return self.op.run(xp, (source, *rest))[index]


pick_view = functools.cache(PickView)


def wrap_results(
    op: Op, xp: Any, ys: Any, given: tuple[Any, ...], raws: tuple[Any, ...], wanted: bool
) -> Any:
    """Return several results of a kernel as a tuple, or named tuple, of tensors.

    Args:
        op: The operation.
        xp: The backend.
        ys: The results of the kernel.
        given: The arguments with their tensors.
        raws: The same arguments as the kernel saw them.
        wanted: Whether to record the call.
    """
    array_type = xp.array_type
    outs = tuple([wrap(y if y.__class__ is array_type else xp.asarray(y), xp) for y in ys])
    if wanted:
        record(op.backward, xp, outs, given, raws)
    returns = op.returns
    if returns is None:
        return outs
    # Not by the constructor of the named tuple, which also accepts a sequence, as PyTorch's does.
    return tuple.__new__(returns, outs) if returns.__class__ is type else returns(*outs)


def record(op: Backward, xp: Any, out: Any, given: tuple[Any, ...], raws: tuple[Any, ...]) -> Any:
    """Make ``out`` (or each of several results) a recorded result of ``op``, and return it.

    Args:
        op: The operation.
        xp: Its backend.
        out: The result, or a tuple of results.
        given: The arguments with their tensors.
        raws: The same arguments as the kernel saw them.
    """
    if isinstance(out, Tensor) and out._data.dtype.kind not in "fcV":
        return out
    node = make_node(op, xp, given, raws)
    if node is None:
        return out
    if isinstance(out, tuple):
        arrays = [t._data for t in out]
        node.shape = tuple([array.shape for array in arrays])
        node.dtype = tuple([array.dtype for array in arrays])
        for i, t in enumerate(out):
            if t._data.dtype.kind in "fcV":
                t._node = NodeOutput(node, i)
                if t._base is None:
                    t._rg = True
                else:
                    t._own_rg = True
        if op.saves_out:
            save_results(op, node, out)
            # For rules that are recorded; weak, since a ``NodeOutput`` refers to its node.
            node._extra()["results"] = [t._node and weakref.ref(t._node) for t in out]
        if Recording.watched:
            on_record(node, out)
        return out
    data = out._data
    node.shape = data.shape
    node.dtype = data.dtype
    if op.saves_out:
        save_result(node, out)
    out._node = node
    out._rg = True
    if Recording.watched:
        on_record(node, out)
    return out


def make_node(op: Backward, xp: Any, given: tuple[Any, ...], raws: tuple[Any, ...]) -> Node | None:
    """Return a node for a call, without its result; None if no input requires grad.

    Args:
        op: The operation's ``Backward``.
        xp: The backend.
        given: The arguments with their tensors.
        raws: The same arguments as the kernel saw them.
    """
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
    """Store the versions of the saved tensors in the node, if any of them was ever modified."""
    versions = []
    for tensor in node.saved:
        cell = tensor._vc
        if cell is UNSETTLED:
            check_saved(tensor, node)
        versions.append(0 if cell is None else cell[0])
    if any(versions):
        node.versions = tuple(versions)


def save_result(node: Node, out: Tensor) -> None:
    """Save the array of the result for the rules that read it; the tensor would be a cycle."""
    node.out = out._data
    node.out_version = (_current_version(out),)


def save_results(op: Backward, node: Node, out: tuple[Tensor, ...]) -> None:
    """Save those of several results that the rules read."""
    read = range(len(out)) if op.saved_results is None else op.saved_results
    node.out = tuple([t._data if i in read else None for i, t in enumerate(out)])
    # A result that is not saved gets a version cell that never changes.
    node.out_version = tuple(
        [_current_version(t) if i in read else ([0], 0) for i, t in enumerate(out)]
    )


def keep_versions(out: Tensor, *tensors: Tensor | None) -> Tensor:
    """Return ``out``, whose backward pass raises an error once one of ``tensors`` was modified.

    For composites that are one operation in torch, which saves its arguments. The rules here read
    only their shapes, so the tensors themselves are not saved.
    """
    node = node_of(out._node) if out._rg else None
    if node is not None and packed_of(node) is None:
        normal = [  # inference tensors have no versions
            t for t in tensors if t is not None and not (t._vc is UNSETTLED and settle_version(t))
        ]
        versions = [(*_current_version(t), t._data.shape) for t in normal]
        node.out_version = (*(node.out_version or ()), *versions)
    return out


def _current_version(out: Tensor) -> tuple[list[int], int]:
    """Return the version cell of a tensor, which is created if it has none, and its version."""
    if out._vc is None or out._vc is UNSETTLED:
        out._vc = [0]
    return out._vc, out._vc[0]


def on_record(node: Node, out: Any) -> None:
    """Store the stack in anomaly mode, and call the hooks on saved tensors.

    Args:
        node: The node of the recorded call.
        out: Its result, or the tuple of its results.
    """
    if Anomaly.enabled:
        node._extra()["traceback"] = program_traceback()
    stack = HOOK_STACK.get()
    if stack and (node.saved or node.out is not None):
        stack[-1].pack_node(node, out, edge_of)


def any_requires_grad(op: Backward, given: tuple[Any, ...]) -> bool:
    """Whether a tensor among the differentiable arguments may require grad."""
    for i in op.differentiable:
        value = given[i]
        if isinstance(value, Tensor):
            if value._rg:
                return True
        elif i == op.sequence and any(t._rg for t in value):
            return True
    return False


def saved_result(node: Node) -> Any:
    """Return the saved result of a node as a tensor, with its edge in the graph.

    It is a tuple for several results. It is None if the saved array is one that
    ``forward_with_saved`` computed on the way, which is no result and has no edge.
    """
    if node.op.forward_with_saved is not None:
        return None
    if isinstance(node.out, tuple):
        return tuple(saved_result_at(node, i) for i in range(len(node.out)))
    out = wrap(node.out, node.xp)
    out._node = node
    out._rg = True
    if node.out_version is not None:
        out._vc = node.out_version[0][0]
    return out


def saved_result_at(node: Node, index: int) -> Tensor | None:
    """Return one of several results of a node, with its edge; None if it was not saved."""
    if node.out[index] is None:
        return None
    out = wrap(node.out[index], node.xp)
    ref = node._extra()["results"][index]
    if ref is not None:
        # The ``NodeOutput`` that hooks and captures refer to, while its tensor is alive.
        out._node = ref() or NodeOutput(node, index)
        out._rg = True
    if node.out_version is not None:
        out._vc = node.out_version[index][0]
    return out


#: Lazy class of the parts of a conjugated tensor, by operation.
PARTS: dict[str, type[LazyView] | None] = {"_real": None, "_imag": Negative}


def resolve(tensor: Tensor) -> Tensor:
    """Return the elements of a lazily conjugated or negated tensor, with its edge in the graph.

    While gradients are not recorded the edge is not looked for: a modified view may have none.
    """
    out = wrap(tensor._data, tensor._xp)
    edge = edge_of(tensor) if grad_enabled() else None
    if edge is not None:
        out._rg, out._node = True, identity_node(tensor) if edge is tensor else edge
    return out


def apply_lazy_view(op: Op, xp: Any, args: tuple[Any, ...]) -> Any:
    """Run a view operation on the memory of a lazily conjugated or negated tensor.

    The results are lazy, too, except that ``real`` of a conjugated tensor is an ordinary view, and
    ``imag`` a negated one.
    """
    position = op.plan.tensors[0]
    lazy: LazyView = args[position]
    if op.name == "view_as_real":
        raise RuntimeError(
            "view_as_real doesn't work on unresolved conjugated tensors.  To resolve the conjugate "
            "tensor so you can view it as real, use self.resolve_conj(); however, be warned that "
            "the resulting tensor will NOT alias the original."
        )
    source = physical_view(lazy)
    result = apply(op, xp, (*args[:position], source, *args[position + 1 :]))
    lazy_class: Any = type(lazy)
    if lazy_class is Conjugate:
        lazy_class = PARTS.get(op.name, lazy_class)
    for out in result if isinstance(result, (tuple, list)) else (result,):
        if op.name not in PARTS and out.dtype is not lazy.dtype:
            raise RuntimeError(
                f"torch.Tensor.view is not supported for {lazy._words[0]} view tensors when "
                "converting to a different dtype."
            )
        if out._base is None:  # not a view: apply the bit to its values now
            if lazy_class is not None:
                out._data = lazy._apply_bit(out._data)
            continue
        if out._base is source:
            out._base = lazy
        if lazy_class is not None:
            mark_lazy(out, lazy_class)
    return result
