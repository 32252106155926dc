"""Views and in-place changes: the node of a tensor after a write to its memory.

A view shares the memory of its base. When either is changed in place, the base gets a new node, and
the nodes of all its views are out of date. ``edge_of`` notices that by the version of the memory
and rebuilds a view's node from the base's new one: it replays the view operations, which each view
stores. So a base needs no list of its views.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..state import inference_enabled, inference_mode
from .inference import UNSETTLED, copy_marks
from .nodes import Edge, Node, NodeOutput, node_of
from .special_nodes import discarding_node, error_node

#: ``Tensor._rg`` of a view: whether it requires grad depends on its base; see ``edge_of``.
VIEW = 2

#: Kinds of views whose node cannot be rebuilt: those that an operation with several views returns,
#: that were created under ``no_grad`` or in inference mode, that a user's ``Function`` returns, and
#: that replace an argument of a function that a transform of ``func`` calls.
SEVERAL, NO_GRAD, INFERENCE, FUNCTION = "several", "no_grad", "inference", "function"
TRANSFORM = "transform"


class Reshapes(tuple[Any, ...]):
    """View operations that undo changes of a base's shape in place, the last change first.

    The operations of a view begin with those of its base when it was created, so that they show
    which changes came after.
    """

    __slots__ = ()


def unrecorded_kind() -> str:
    """Kind of a view that is created now, while gradients are not recorded."""
    return INFERENCE if inference_enabled() else NO_GRAD


def track_view(
    out: Any, source: Any, function: Any, arguments: Any, node: Any, kind: str = ""
) -> None:
    """Set the fields that make ``out`` a view of ``source``.

    Args:
        out: The view, a new tensor on memory of ``source``.
        source: The tensor it is a view of; itself a view or not.
        function: The view operation, which computes ``out`` from ``source``.
        arguments: The other arguments of ``function``.
        node: Node of the view; None if it is not recorded.
        kind: One of the kinds above, or "".
    """
    version = source._vc
    if version is UNSETTLED or out._vc is UNSETTLED:
        copy_marks(out, source)
        version = source._vc
        if source._inference:  # as in PyTorch, its views never require grad
            node = None
    if version is None:
        version = source._vc = [0]
    out._vc = version
    base = source._base
    if base is None:
        base = source
        out._view_ops = (source._reshaped, function, *arguments)
    else:
        kind = kind or source._kind
        out._view_ops = (source._view_ops, function, *arguments)
    out._base = base
    out._node = node
    out._rg = VIEW
    out._own_rg = node is not None
    out._kind = kind
    out._attr_version = version[0]


class _BaseViewOps(tuple[Any, ...]):
    """View operations of a view of a view that depend on the base alone, such as ``as_strided``."""

    __slots__ = ()


def replay_from_base(view: Any, function: Any, arguments: Any) -> None:
    """Set the operations of a view of a view to ``function(base, *arguments)`` alone.

    The view's node is rebuilt from the base once the memory is modified. Until then its gradient
    goes through the view from which it was computed, as in PyTorch.
    """
    view._view_ops = _BaseViewOps((view._base._reshaped, function, *arguments))


def _has_base_view_ops(view: Any) -> bool:
    """Whether ``replay_from_base`` was called for a view or for one of its sources."""
    ops = view._view_ops
    while ops.__class__ is tuple:
        ops = ops[0]
    return ops.__class__ is _BaseViewOps


def _has_hooks(view: Any) -> bool:
    """Whether a hook is registered on a view, or on a view between it and its base.

    Once such a view is modified in place, its gradient goes to the base without these hooks.
    """
    edge, base = view._node, view._base._node
    while edge is not None and edge is not base:
        node = node_of(edge)
        if node is None or len(node.edges) != 1:
            return False
        if edge.hooks or node.extra:
            return True
        edge = node.edges[0]
    return False


def set_kind(tensor: Any, kind: str) -> None:
    """Set the kind of a new view."""
    tensor._kind = kind
    tensor._attr_version = tensor._vc[0]


def copy_view_state(tensor: Any, view: Any) -> None:
    """Copy the view operations, version and kind of a view to another view of the same base."""
    tensor._view_ops, tensor._attr_version = view._view_ops, view._attr_version
    tensor._own_rg, tensor._kind = view._own_rg, view._kind


def has_lost_grad_fn(tensor: Any) -> bool:
    """Whether the node of a view is out of date and cannot be rebuilt, because of its kind."""
    if tensor._rg is not VIEW:
        return False
    return bool(tensor._kind) and tensor._vc[0] != tensor._attr_version


def record_reshape(base: Any, operation: ViewOp) -> None:
    """Record that ``base``, which may have views, was reshaped in place.

    Args:
        base: A tensor that is not a view.
        operation: The view operation that computes a tensor of the old shape from the new one.
    """
    base._reshaped = Reshapes((operation, *base._reshaped))


def separate_from_views(base: Any) -> None:
    """Separate ``base`` from its views, before other data of another shape is assigned to it.

    The views keep the old memory and its version cell. After that memory is modified, a gradient
    that would go from a view to ``base`` is an error.
    """
    if base._vc is not UNSETTLED:
        version = base._vc[0]
        base._vc.append(base._memory())
        base._vc = [version]


def _operations_to_replay(tensor: Any) -> tuple[ViewOp, ...]:
    """Return the view operations that compute a view from its base as it is now, in order.

    They are those of the view, after those that undo the reshapings of the base in place since
    then.
    """
    found, ops = [], tensor._view_ops
    while ops.__class__ is not Reshapes:
        ops, function, *arguments = ops
        found.append((function, tuple(arguments)))
    reshaped = tensor._base._reshaped
    return (*reshaped[: len(reshaped) - len(ops)], *reversed(found))


def edge_of(tensor: Any) -> Edge:
    """Edge of ``tensor``: its node, itself if it is a leaf, None if it requires no grad."""
    rg = tensor._rg
    if rg is True:
        node = tensor._node
        return tensor if node is None else node
    if rg is False:
        return None
    if tensor._vc[0] != tensor._attr_version:
        _rebuild_grad_fn(tensor)
    node = tensor._node
    if node is not None:
        return node
    if tensor._own_rg:
        return tensor
    # The view was created before its base required grad, so no operation was recorded: its
    # gradient does not reach the base.
    return discarding_node(tensor) if tensor._base._rg and _inherits_requires_grad(tensor) else None


def requires_grad(tensor: Any) -> bool:
    """Whether ``tensor`` requires grad; a view also requires grad if its base does."""
    rg = tensor._rg
    if rg is not VIEW:
        return bool(rg)
    return tensor._own_rg or _inherits_requires_grad(tensor)


def _inherits_requires_grad(view: Any) -> bool:
    """Whether a view requires grad because its base does.

    A view with the bits of another dtype and a view of an inference tensor never do.
    """
    base = view._base
    if view._data.dtype.kind in "biu" or base._inference or not requires_grad(base):
        return False
    ops = (getattr(function, "op", None) for function, _ in _operations_to_replay(view))
    return all(op is None or op.backward.differentiable for op in ops)


def own_memory(view: Any) -> None:
    """Turn a view of a temporary tensor into a tensor that is not a view, in memory of its size."""
    edge, whole = edge_of(view), view._memory()
    view._base, view._rg, view._node = None, edge is not None, edge
    if whole.size > view._data.size and not view._is_lazy:
        view._data, view._vc = view._xp.array(view._data, order="C"), None


def _rebuild_grad_fn(tensor: Any) -> None:
    """Rebuild the node of a view whose memory was modified after the node was created."""
    if tensor._node is None and not _inherits_requires_grad(tensor):
        return
    if tensor._kind:  # its operations cannot be replayed
        modified = "its base or another view of its base has been"
        raise RuntimeError(_forbidden_message(tensor, modified))
    base = tensor._base
    if tensor._vc is not base._vc:
        tensor._attr_version = tensor._vc[0]
        node = error_node("a view whose base was given other data", tensor, (base,))
        node.op.backward_name = "AsStridedBackward0"
        tensor._node = node
        return
    replay = _operations_to_replay(tensor)
    with inference_mode(False):  # so that the operations are recorded in any mode
        base = last = view = _source(tensor)
        for function, arguments in replay:
            last, view = view, function(view, *arguments)
    tensor._attr_version = tensor._vc[0]
    # A view still requires grad if its base no longer does: its gradient is discarded.
    is_end = not view.requires_grad
    tensor._node = discarding_node(tensor, "AsStridedBackward0") if is_end else view._node
    tensor._own_rg = True
    last_node = node_of(view._node)
    if view is not base and last_node is not None:
        # PyTorch replays a view with ``as_strided`` if it has the dtype of its source and is not a
        # conjugate, or if it is the real or imaginary part of a complex tensor.
        same = view._data.dtype == last._data.dtype and last_node.name() != "ConjBackward0"
        if same or last_node.name() == "SelectBackward0":
            last_node.op = last_node.op.rename("AsStridedBackward0")
    if tensor._retains_grad:
        tensor._retain_from_here()


def _source(view: Any) -> Any:
    """Tensor from which to replay a view: its base, with the history that it had at the last write.

    ``rebase`` marks a view to which it was the last to write by ``~version``.
    """
    base = view._base
    if base._node is not None or ~view._attr_version != view._vc[0]:
        return base
    source = base.detach()
    source._node, source._rg = view._node, True
    return source


def check_inplace(tensor: Any) -> None:
    """Raise a RuntimeError if autograd forbids changing ``tensor`` in place."""
    if tensor._base is not None and tensor._kind:
        raise RuntimeError(_forbidden_message(tensor, "is being"))
    if tensor._base is None:
        if tensor._rg and tensor._node is None:
            raise RuntimeError(
                "a leaf Variable that requires grad is being used in an in-place operation."
            )
        return
    if tensor._base._node is None and edge_of(tensor) is not None:
        raise RuntimeError(
            "a view of a leaf Variable that requires grad is being used in an in-place operation."
        )
    if tensor._node is None and tensor._own_rg:
        raise RuntimeError(
            "a leaf Variable that requires grad is being used in an in-place operation."
        )
    if tensor._attr_version == tensor._vc[0] and (_has_base_view_ops(tensor) or _has_hooks(tensor)):
        _rebuild_grad_fn(tensor)


def rebase(tensor: Any, node: Node, scatter: Any, in_part: bool = False) -> None:
    """Set the node of ``tensor`` after an in-place change; for a view, that of its base.

    Args:
        tensor: The tensor that was changed.
        node: Node of the in-place operation.
        scatter: ``Backward`` of the operation that writes the value of a view into its base.
        in_part: Whether only a view of ``tensor`` was changed, as by ``tensor[0] = 1``.
    """
    base = tensor._base
    if base is not None and tensor._vc is not base._vc:
        tensor._node, tensor._attr_version, tensor._own_rg = node, tensor._vc[0], True
        return
    if base is None:
        tensor._node = node
        tensor._rg = True
        if tensor._retains_grad:
            tensor._retain_from_here()
        return
    data = base._data
    base._node = Node(
        scatter.rename(scatter.backward_name, frees=True), base._xp, (edge_of(base), node),
        (None, None, _operations_to_replay(tensor), _strides(data)), (), data.shape, data.dtype,
    )  # fmt: skip
    base._rg = True
    if base._retains_grad:
        base._retain_from_here()
    if not in_part:  # the view keeps this history even if ``base`` loses it; see ``_source``
        tensor._node, tensor._own_rg, tensor._attr_version = base._node, True, ~tensor._vc[0]
    elif tensor._attr_version == tensor._vc[0]:  # its node leads to the old node of the base
        tensor._attr_version -= 1
    if tensor._retains_grad:  # its hook moves to the new node now, even if that is never used
        edge_of(tensor)


def _strides(array: Any) -> tuple[int, ...] | None:
    """Strides of ``array`` in elements; None if it is contiguous in row-major order."""
    if array.flags.c_contiguous:
        return None
    return tuple(step // array.itemsize for step in array.strides)


def view_of_array(array: Any, replay: tuple[Any, ...], xp: Any) -> Any:
    """Apply view operations to a raw array: the result is the part that the view occupies."""
    for function, arguments in replay:
        array = xp.call(function, array, *arguments)
    return array


def lazy_function_of(replay: tuple[Any, ...]) -> str | None:
    """Name of the function that the view computed by ``replay`` applies to its base lazily.

    It is ``"conjugate"`` for the conj bit, ``"negative"`` for the neg bit, else None.
    """
    found: str | None = None
    for function, _ in replay:
        name = getattr(getattr(function, "op", None), "name", "")
        if name == "_conj":
            found = None if found == "conjugate" else "conjugate"
        elif found == "conjugate" and name in ("_real", "_imag"):
            found = "negative" if name == "_imag" else None
    return found


_UNRECORDED = {
    NO_GRAD: ("no_grad", "with grad mode enabled"),
    INFERENCE: ("inference", "in normal mode"),
}
_KIND_HINTS = {
    SEVERAL: "This view is the output of a function that returns multiple views. Such functions do "
    "not allow the output views to be modified inplace. You should replace the inplace operation "
    "by an out-of-place one.",
    FUNCTION: "This view was created inside a custom Function (or because an input was returned "
    "as-is) and the autograd logic to handle view+inplace would override the custom backward "
    "associated with the custom Function, leading to incorrect gradients. This behavior is "
    "forbidden. You can fix this by cloning the output of the custom Function.",
    TRANSFORM: "A function is differentiated by it: a leaf Variable that requires grad is being "
    "used in an in-place operation.",
}


def _forbidden_message(tensor: Any, modified: str) -> str:
    """Message of the error for an in-place change that a view's kind forbids.

    ``modified`` says what has been or is being modified, the beginning of "… modified inplace".
    """
    kind = tensor._kind
    edge = tensor._node
    node = node_of(edge)
    name = "A view"
    if node is not None:
        operation = node.name().removesuffix("0").removesuffix("Backward")
        name = f"Output {edge.index if edge.__class__ is NodeOutput else 0} of {operation}"
    if kind in _KIND_HINTS:
        state = modified if node is None else f"is a view and {modified}"
        return f"{name} {state} modified inplace. {_KIND_HINTS[kind]}"
    mode, where = _UNRECORDED[kind]
    created = f"{'' if node is None else 'is a view of a view which '}was created in {mode} mode"
    block = f"{mode}_mode" if kind == INFERENCE else mode
    return (
        f"{name} {created} and {modified} "
        f"modified inplace {where}. Given that this use case is ambiguous and error-prone, it is "
        "forbidden. You can clarify your code by moving both the view and the inplace either both "
        f"inside the {block} block (if you don't want the inplace to be tracked) or both outside "
        "(if you want the inplace to be tracked)."
    )


ViewOp = tuple[Callable[..., Any], tuple[Any, ...]]
