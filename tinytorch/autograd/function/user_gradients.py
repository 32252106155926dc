"""Gradients as a user's ``Function`` takes and returns them: tensors, and conjugate to ours."""

from __future__ import annotations

from typing import Any

from ...core.tensor import Tensor, wrap
from ...graph.engine import conjugate


def fits(have: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    """Whether a gradient can be summed to the shape that is wanted."""
    lead = len(have) - len(wanted)
    return lead >= 0 and all(n in (m, 1) for n, m in zip(wanted, have[lead:], strict=True))


def as_user(h: Any, backend: Any) -> Any:
    """A gradient of the engine's as a tensor, or None."""
    if h is None:
        return None
    return conjugate(h if isinstance(h, Tensor) else wrap(h, backend))


def from_user(op: Any, result: Any, graph_mode: bool) -> Any:
    """What ``backward`` returned, as the engine takes it: an array unless it is recorded."""
    if result is None:
        return None
    if not isinstance(result, Tensor):
        raise RuntimeError(
            f"{op.backward_name}: expected Variable or None (got {type(result).__name__})"
        )
    result = conjugate(result)
    return result if graph_mode else result._data
