"""``out=`` for functions that are made of other operations."""

from __future__ import annotations

from typing import Any

from .. import _state
from .._op import OPS
from .._tensor import Tensor
from .._write import write_to_out


def written(out: Any, result: Any, name: str) -> Any:
    """``result``, or ``out`` with the result in it if that was given.

    Args:
        out: The user's ``out=``: a tensor, a tuple of them for several results, or None.
        result: What the function computed.
        name: The function's qualified name.

    Raises:
        RuntimeError: If the result is part of a graph, or its dtype does not fit ``out``.
    """
    if out is None:
        return result
    parts = result if isinstance(result, tuple) else (result,)
    if _state.grad_enabled() and any(isinstance(t, Tensor) and t.requires_grad for t in parts):
        raise RuntimeError(
            f"{name}(): functions with out=... arguments don't support automatic "
            "differentiation, but one of the arguments requires grad."
        )
    return write_to_out(out, result, OPS[name])
