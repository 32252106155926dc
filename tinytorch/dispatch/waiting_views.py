"""What operations do with tensors whose elements wait: views of them wait likewise."""

from __future__ import annotations

from typing import Any

from ..core.tensor import Tensor, wrap
from ..core.waiting import Conjugate, Negative, Waiting, let_wait, plain
from ..graph.special_nodes import towards
from ..graph.views import edge_of
from .operation import Op
from .record import apply

#: What the parts of a conjugate wait for.
PARTS: dict[str, type[Waiting] | None] = {"_real": None, "_imag": Negative}


def elements_of(tensor: Tensor) -> Tensor:
    """The elements of a tensor that waits, in its place in the graph."""
    out = wrap(tensor._data, tensor._xp)
    edge = edge_of(tensor)
    if edge is not None:
        out._rg, out._node = True, towards(tensor) if edge is tensor else edge
    return out


def view_of_waiting(op: Op, xp: Any, given: tuple[Any, ...]) -> Any:
    """A call of an operation that makes views: its results wait as what it shows does."""
    at = op.plan.tensors[0]
    shown: Waiting = given[at]
    if op.name == "view_as_real":
        raise RuntimeError(
            "view_as_real doesn't work on unresolved conjugated tensors.  To resolve the conjugate "
            "tensor so you can view it as real, use self.resolve_conj(); however, be warned that "
            "the resulting tensor will NOT alias the original."
        )
    source = plain(shown)
    result = apply(op, xp, (*given[:at], source, *given[at + 1 :]))
    kind: Any = type(shown)
    if kind is Conjugate:
        kind = PARTS.get(op.name, kind)
    for out in result if isinstance(result, (tuple, list)) else (result,):
        if op.name not in PARTS and out.dtype is not shown.dtype:
            raise RuntimeError(
                f"torch.Tensor.view is not supported for {shown._words[0]} view tensors when "
                "converting to a different dtype."
            )
        if out._base is None:
            if kind is not None:
                out._data = shown._meant(out._data)
            continue
        if out._base is source:
            out._base = shown
        if kind is not None:
            let_wait(out, kind)
    return result
