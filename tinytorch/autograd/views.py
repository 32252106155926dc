"""Views and in-place changes: which node a tensor has after somebody wrote to its memory.

A view shares its base's memory. When either is changed in place, the base gets a new
node, and every view of it is *stale*: its own node is made again, from the base's new one,
when somebody next asks for it. Nobody has to know a base's views.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .engine import Hooks
from .inference import UNSETTLED, take_after
from .nodes import Edge, Node

#: ``Tensor._rg`` of a view: whether it requires grad depends on its base; ask ``edge_of``.
VIEW = 2


class View:
    """How a view was made.

    Attributes:
        replay: The operations, as ``(function, arguments)``, that make it from its base.
        base_node: The base's node when the view's own node was made.
        rg: Whether the view requires grad as long as its base has that node.
        refusal: Why in-place changes are refused, or "".
    """

    __slots__ = ("replay", "base_node", "rg", "refusal")

    replay: tuple[Any, ...]
    base_node: Any
    rg: bool
    refusal: str


_MULTIPLE = (
    "Output {index} of {name} is a view and is being modified inplace. This view is the output "
    "of a function that returns multiple views. Such functions do not allow the output views "
    "to be modified inplace. You should replace the inplace operation by an out-of-place one."
)


def track(out: Any, source: Any, step: Any, node: Any, refusal: str = "") -> None:
    """Make ``out`` a view of ``source``, made by ``step`` and recorded as ``node``."""
    if source._vc is UNSETTLED or out._vc is UNSETTLED:
        take_after(out, source)
    if source._vc is None:
        source._vc = [0]
    out._vc = source._vc
    base = source._base
    replay: tuple[Any, ...] = (step,)
    if base is None:
        base = source
    else:
        refusal = refusal or source._view.refusal
        replay = source._view.replay + replay
    view = object.__new__(View)  # View(...), without the frame of a call
    view.replay = replay
    view.base_node = base._node
    view.rg = node is not None
    view.refusal = refusal
    out._base = base
    out._node = node
    out._rg = VIEW
    out._view = view


def edge_of(tensor: Any) -> Edge:
    """Where the gradient of ``tensor`` goes: its node, itself if it is a leaf, or None."""
    rg = tensor._rg
    if rg is True:
        node = tensor._node
        return tensor if node is None else node
    if rg is False:
        return None
    view = tensor._view
    if tensor._base._node is not view.base_node:
        _refresh(tensor, view)
    if not view.rg:
        return None
    return tensor if tensor._node is None else tensor._node


def _refresh(tensor: Any, view: View) -> None:
    base = tensor._base
    with Hooks.enable_grad():
        again = base
        for function, arguments in view.replay:
            again = function(again, *arguments)
    tensor._node = again._node
    view.rg = again.requires_grad
    view.base_node = base._node


def check_inplace(tensor: Any) -> None:
    """RuntimeError if autograd forbids changing ``tensor`` in place."""
    if tensor._base is None:
        if tensor._rg and tensor._node is None:
            raise RuntimeError(
                "a leaf Variable that requires grad is being used in an in-place operation."
            )
        return
    base, view = tensor._base, tensor._view
    if base._rg and base._node is None:
        raise RuntimeError(
            "a view of a leaf Variable that requires grad is being used in an in-place operation."
        )
    if tensor._node is None and view.rg:
        raise RuntimeError(
            "a leaf Variable that requires grad is being used in an in-place operation."
        )
    if view.refusal:
        raise RuntimeError(view.refusal)


def rebase(tensor: Any, node: Node, scatter: Any) -> None:
    """Make ``node`` the history of ``tensor`` after an in-place change, also through views.

    Args:
        tensor: What was changed.
        node: The in-place operation's node.
        scatter: The operation that writes a view's value into its base's.
    """
    base = tensor._base
    if base is None:
        tensor._node = node
        tensor._rg = True
        if tensor._retains_grad:
            tensor._retain_from_here()
        return
    replay = tensor._view.replay
    data = base._data
    base._node = Node(
        scatter, base._xp, (edge_of(base), node), (None, None, replay), (), data.shape, data.dtype
    )
    base._rg = True


def region(array: Any, replay: tuple[Any, ...], xp: Any) -> Any:
    """The part of a raw array that the view made by ``replay`` occupies."""
    for function, arguments in replay:
        array = xp.call(function, array, *arguments)
    return array


def multiple_outputs_refusal(index: int, name: str) -> str:
    """Why one of several views that an operation returned may not be changed in place."""
    return _MULTIPLE.format(index=index, name=name.removesuffix("Backward0"))


Step = tuple[Callable[..., Any], tuple[Any, ...]]
