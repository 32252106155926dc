"""Views and in-place changes: which node a tensor has after somebody wrote to its memory.

A view shares its base's memory. When either is changed in place, the base gets a new
node, and every view of it is *stale*: its own node is made again, from the base's new one,
when somebody next asks for it. Nobody has to know a base's views.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..state import inference_enabled, inference_mode
from .inference import UNSETTLED, take_after
from .nodes import Edge, Node, Slot, node_of
from .special_nodes import dead_end, without_derivative

#: ``Tensor._rg`` of a view: whether it requires grad depends on its base; ask ``edge_of``.
VIEW = 2

#: Made by an operation that returns several views, in a mode that records nothing, by a user's
#: ``Function``, or by a transform of ``func`` in the place of an argument.
SEVERAL, NO_GRAD, INFERENCE, FUNCTION = "several", "no_grad", "inference", "function"
TRANSFORM = "transform"


def unrecorded_kind() -> str:
    """The kind of a view that is made here and now, where nothing is recorded."""
    return INFERENCE if inference_enabled() else NO_GRAD


def track(out: Any, source: Any, function: Any, arguments: Any, node: Any, kind: str = "") -> None:
    """Make ``out`` a view of ``source``, made by ``function`` and recorded as ``node``.

    Args:
        out: The view; of what a tensor has, only its array, backend, gradient and version are
            looked at.
        source: What it shows.
        function: The operation that makes it from ``source``.
        arguments: Its other arguments.
        node: Where its gradient goes.
        kind: One of the kinds above, or "".
    """
    version = source._vc
    if version is UNSETTLED or out._vc is UNSETTLED:
        take_after(out, source)
        version = source._vc
        if source._inference:  # as in torch, its views never require grad
            node = None
    if version is None:
        version = source._vc = [0]
    out._vc = version
    base = source._base
    if base is None:
        base = source
        out._steps = (None, function, *arguments)
    else:
        kind = kind or source._kind
        out._steps = (source._steps, function, *arguments)
    out._base = base
    out._node = node
    out._rg = VIEW
    out._wanted = node is not None
    out._kind = kind
    out._attr_version = version[0]


class _FromBase(tuple[Any, ...]):
    """Steps of a view of a view that shows its base's memory, whatever its source shows."""

    __slots__ = ()


def replay_from_base(view: Any, function: Any, arguments: Any) -> None:
    """Make a view of a view again from the base alone once its memory is modified.

    Until then its gradient goes through the view that it was made of, as in PyTorch.
    """
    view._steps = _FromBase((None, function, *arguments))


def _is_from_base(view: Any) -> bool:
    """Whether the node of a view may be of its source alone, though it shows its base."""
    steps = view._steps
    while steps is not None and steps.__class__ is not _FromBase:
        steps = steps[0]
    return steps is not None


def fix(tensor: Any, kind: str) -> None:
    """Give a view that was just made a kind."""
    tensor._kind = kind
    tensor._attr_version = tensor._vc[0]


def show_as(tensor: Any, view: Any) -> None:
    """Make a view what another view of the same base is."""
    tensor._steps, tensor._attr_version = view._steps, view._attr_version
    tensor._wanted, tensor._kind = view._wanted, view._kind


def cannot_refresh(tensor: Any) -> bool:
    """Whether a view is stale and of a kind whose node cannot be made again."""
    if tensor._rg is not VIEW:
        return False
    return bool(tensor._kind) and tensor._vc[0] != tensor._attr_version


def note_reshaped(base: Any, step: Step) -> None:
    """Remember that ``base``, of which there may be views, was given another shape in place.

    Args:
        base: Tensor that is no view, after its version was counted.
        step: View operation that makes a tensor of the old shape from the new one.
    """
    base._reshaped = ((base._vc[0], step), *base._reshaped)


def leave_views(base: Any) -> None:
    """Separate ``base``, which is given other data of another shape, from its views.

    They keep the old memory, and its version. A gradient that would reach ``base`` from one of
    them after that memory is modified is an error.
    """
    if base._vc is not UNSETTLED:
        version = base._vc[0]
        base._vc.append(base._memory())
        base._vc = [version]


def _replay(tensor: Any) -> tuple[Step, ...]:
    """The operations that make a view from its base."""
    found, steps = [], tensor._steps
    while steps is not None:
        steps, function, *arguments = steps
        found.append((function, tuple(arguments)))
    reshaped = tensor._base._reshaped
    if reshaped:
        made = tensor._attr_version
        found.extend(step for version, step in reversed(reshaped) if version > made)
    return tuple(reversed(found))


def edge_of(tensor: Any) -> Edge:
    """Where the gradient of ``tensor`` goes: its node, itself if it is a leaf, or None."""
    rg = tensor._rg
    if rg is True:
        node = tensor._node
        return tensor if node is None else node
    if rg is False:
        return None
    if tensor._vc[0] != tensor._attr_version:
        _refresh(tensor)
    node = tensor._node
    if node is not None:
        return node
    if tensor._wanted:
        return tensor
    # Nothing was recorded: gradients do not reach a base that requires grad since.
    return dead_end(tensor) if tensor._base._rg and _as_its_base(tensor) else None


def requires_grad(tensor: Any) -> bool:
    """Whether ``tensor`` requires grad, which a view does where its base does."""
    rg = tensor._rg
    if rg is not VIEW:
        return bool(rg)
    return tensor._wanted or _as_its_base(tensor)


def _as_its_base(view: Any) -> bool:
    """Whether a view requires grad because its base does: bits shown as another dtype do not.

    Nor do views of an inference tensor.
    """
    base = view._base
    if view._data.dtype.kind in "biu" or base._inference or not requires_grad(base):
        return False
    steps = (getattr(function, "op", None) for function, _ in _replay(view))
    return all(op is None or op.backward.differentiable for op in steps)


def release(view: Any) -> None:
    """Make a view of a temporary a tensor of its own, in memory of its own size."""
    edge, whole = edge_of(view), view._memory()
    view._base, view._rg, view._node = None, edge is not None, edge
    if whole.size > view._data.size and not view._is_lazy:
        view._data, view._vc = view._xp.array(view._data, order="C"), None


def _refresh(tensor: Any) -> None:
    """Make the node of a view again, since its memory was modified after the view was made."""
    if tensor._node is None and not _as_its_base(tensor):
        return
    if tensor._kind:  # its operations cannot be replayed
        raise RuntimeError(_refusal(tensor, "its base or another view of its base has been"))
    base = tensor._base
    if tensor._vc is not base._vc:
        tensor._attr_version = tensor._vc[0]
        node = without_derivative("a view whose base was given other data", tensor, (base,))
        node.op.backward_name = "AsStridedBackward0"
        tensor._node = node
        return
    replay = _replay(tensor)
    with inference_mode(False):  # recorded whatever the mode
        last = again = base
        for function, arguments in replay:
            last, again = again, function(again, *arguments)
    if base._reshaped:
        tensor._steps = None
        for function, arguments in replay:
            tensor._steps = (tensor._steps, function, *arguments)
    tensor._attr_version = tensor._vc[0]
    # A view whose base no longer requires grad keeps requiring it: its gradient is discarded.
    ends = not again.requires_grad
    tensor._node = dead_end(tensor, "AsStridedBackward0") if ends else again._node
    tensor._wanted = True
    made = node_of(again._node)
    if again is not base and made is not None:
        # PyTorch replays a view by its strides if it has the dtype of its source, or is a part of
        # each complex number; not a conjugate.
        same = again._data.dtype == last._data.dtype and made.name() != "ConjBackward0"
        if same or made.name() == "SelectBackward0":
            made.op = made.op.rename("AsStridedBackward0")
    if tensor._retains_grad:
        tensor._retain_from_here()


def check_inplace(tensor: Any) -> None:
    """RuntimeError if autograd forbids changing ``tensor`` in place."""
    if tensor._base is not None and tensor._kind:
        raise RuntimeError(_refusal(tensor, "is being"))
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
    if tensor._node is None and tensor._wanted:
        raise RuntimeError(
            "a leaf Variable that requires grad is being used in an in-place operation."
        )
    if tensor._attr_version == tensor._vc[0] and _is_from_base(tensor):
        _refresh(tensor)


def rebase(tensor: Any, node: Node, scatter: Any) -> None:
    """Make ``node`` the history of ``tensor`` after an in-place change, also through views.

    Args:
        tensor: What was changed.
        node: The in-place operation's node.
        scatter: The operation that writes a view's value into its base's.
    """
    base = tensor._base
    if base is not None and tensor._vc is not base._vc:
        tensor._node, tensor._attr_version, tensor._wanted = node, tensor._vc[0], True
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
        (None, None, _replay(tensor), _strides(data)), (), data.shape, data.dtype,
    )  # fmt: skip
    base._rg = True
    if base._retains_grad:
        base._retain_from_here()
    if tensor._attr_version == tensor._vc[0]:  # its node was made from the base's old one
        tensor._attr_version -= 1


def _strides(array: Any) -> tuple[int, ...] | None:
    """How many elements apart those of ``array`` are; None: in row-major order."""
    if array.flags.c_contiguous:
        return None
    return tuple(step // array.itemsize for step in array.strides)


def region(array: Any, replay: tuple[Any, ...], xp: Any) -> Any:
    """The part of a raw array that the view made by ``replay`` occupies."""
    for function, arguments in replay:
        array = xp.call(function, array, *arguments)
    return array


def waiting(replay: tuple[Any, ...]) -> str | None:
    """What the elements of the view made by ``replay`` wait for in its base's memory."""
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
_WHY = {
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


def _refusal(tensor: Any, modified: str) -> str:
    """Why a view with a kind may not be modified, or read once its memory ``modified``."""
    kind = tensor._kind
    edge = tensor._node
    node = node_of(edge)
    name = "A view"
    if node is not None:
        made_by = node.name().removesuffix("0").removesuffix("Backward")
        name = f"Output {edge.index if edge.__class__ is Slot else 0} of {made_by}"
    if kind in _WHY:
        state = modified if node is None else f"is a view and {modified}"
        return f"{name} {state} modified inplace. {_WHY[kind]}"
    mode, where = _UNRECORDED[kind]
    made = f"was created in {mode} mode"
    block = f"{mode}_mode" if kind == INFERENCE else mode
    return (
        f"{name} {made if node is None else f'is a view of a view which {made}'} and {modified} "
        f"modified inplace {where}. Given that this use case is ambiguous and error-prone, it is "
        "forbidden. You can clarify your code by moving both the view and the inplace either both "
        f"inside the {block} block (if you don't want the inplace to be tracked) or both outside "
        "(if you want the inplace to be tracked)."
    )


Step = tuple[Callable[..., Any], tuple[Any, ...]]
