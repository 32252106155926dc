"""What ``forward`` of a user's ``Function`` returns: what was marked, kept and gets a history."""

from __future__ import annotations

from typing import Any

from ...core.tensor import Tensor
from ...dispatch.record import note_versions
from ...graph.above import ABOVE
from ...graph.nodes import Node
from ...graph.saved_packing import STACK, Packed, SavedOutput
from ...graph.views import check_inplace, edge_of, rebase
from ...state import no_grad
from ...warnings import warn


def is_among(value: Any, values: tuple[Any, ...]) -> bool:
    """Whether that very object is one of them."""
    return any(value is other for other in values)


def check_marks(
    ctx: Any, args: tuple[Any, ...], outputs: tuple[Any, ...], context_apart: bool
) -> None:
    """Refuse what ``ctx`` was told that cannot be, recorded or not; note what was changed.

    Args:
        ctx: Filled by ``forward`` or ``setup_context``.
        args: The arguments of ``forward``.
        outputs: Its results.
        context_apart: Whether ``setup_context`` filled it.
    """
    _check_tensors("mark_dirty can only accept variables", ctx._dirty)
    _check_tensors(
        "mark_non_differentiable only accepts variable arguments", ctx._non_differentiable
    )
    if any(not is_among(tensor, outputs) for tensor in ctx._dirty):
        raise RuntimeError(
            "Some elements marked as dirty during the forward method were not returned as "
            "output. The inputs that are modified inplace must all be outputs of the Function."
        )
    if context_apart:
        _check_returned_as_is(ctx, args, outputs)
    for tensor in ctx._dirty:
        tensor._bump()


def _check_tensors(rule: str, marked: tuple[Any, ...]) -> None:
    for at, value in enumerate(marked):
        if not isinstance(value, Tensor):
            raise RuntimeError(f"{rule}, but argument {at} is of type {type(value).__name__}")


def _check_returned_as_is(ctx: Any, args: tuple[Any, ...], outputs: tuple[Any, ...]) -> None:
    kept = (*ctx._to_save, *(ctx._for_forward or ()))
    for out in outputs:
        if isinstance(out, Tensor) and is_among(out, args) and not is_among(out, ctx._dirty):
            if is_among(out, kept):
                raise RuntimeError(
                    "An input that has been returned as-is as output is being saved for backward. "
                    "This is not supported if you override setup_context. You should return and "
                    "save a view of the input instead, e.g. with x.view_as(x) or setup ctx inside "
                    "the forward function itself."
                )


def check_dirty(ctx: Any, args: tuple[Any, ...], outputs: tuple[Any, ...]) -> None:
    """RuntimeError for a change in place that cannot be recorded."""
    for tensor in ctx._dirty:
        if is_among(tensor, ctx._non_differentiable):
            continue
        if not is_among(tensor, args):
            warn(
                "ctx.mark_dirty() received a tensor that was not an input. Only input Tensors that "
                "have been mutated should be passed to ctx.mark_dirty()."
            )
        check_inplace(tensor)
        if tensor._base is not None and len(outputs) > 1:
            raise RuntimeError(
                "If your Function modifies inplace an input that is a view of another Tensor, your "
                "Function cannot return more than one Tensor. This is not supported by the current "
                "autograd engine. You should either make sure the input is not a view (using "
                ".clone() for example) or make your Function only return one Tensor."
            )


def fresh(ctx: Any, args: tuple[Any, ...], out: Any) -> Any:
    """An output that may get a history: not an input that came back unchanged."""
    if is_among(out, ctx._dirty):
        without = is_among(out, ctx._non_differentiable) and out.requires_grad
        return out.detach() if without else out
    if isinstance(out, Tensor) and is_among(out, args):
        if is_among(out, ctx._non_differentiable):
            return out.detach()
        with no_grad():
            return out.view(out.shape)
    return out


def set_history(ctx: Any, tensor: Tensor, edge: Any) -> None:
    """Make ``edge`` the history of a result; its base's, too, if it is a view that was changed."""
    if is_among(tensor, ctx._dirty):
        rebase(tensor, edge, ABOVE.writing().view_scatter)
    else:
        tensor._node = edge
        tensor._rg = True


def save(ctx: Any, node: Node, outputs: list[Tensor], single: bool) -> None:
    """Hand over what ``ctx`` was given to save; ``outputs`` are those that are tensors."""
    hooks = STACK.get()
    saved: list[Any] = []
    for place, tensor in enumerate(ctx._to_save):
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"save_for_backward can only save variables, but argument {place} is of type "
                f"{type(tensor).__name__}"
            )
        at = next((i for i, out in enumerate(outputs) if out is tensor), None)
        if tensor is not None and at is not None:
            saved.append(SavedOutput(tensor, None if single else at, bool(tensor._rg)))
        elif tensor is not None and hooks:
            saved.append(Packed(tensor, hooks[-1], edge_of(tensor)))
        else:
            saved.append(tensor)
    ctx._saved = tuple(saved)
    ctx._to_save = ()
    node.saved = tuple(t for t in saved if isinstance(t, Tensor))
    note_versions(node)
