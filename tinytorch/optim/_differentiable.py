"""The kernels' ``xp`` of a differentiable step: every call is recorded in the graph."""

from __future__ import annotations

from typing import Any

from .._tensor import Tensor
from ..autograd.engine import Hooks

__all__ = ["RecordedArrays"]


class _RecordedArrays:
    """NumPy's names over tensors; ``out=`` becomes an in-place copy, which has a gradient.

    Operands are cloned, for the next call may write to them: a product would find that
    what it saved for the backward pass has changed.
    """

    block_elements = None

    def kernel(self, name: str) -> None:
        """A fused kernel records nothing: use the shared twin."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        function = getattr(Hooks.graph_namespace(), name)

        def record(*args: Any, out: Tensor | None = None) -> Any:
            result = function(*(a.clone() if isinstance(a, Tensor) else a for a in args))
            return result if out is None else out.copy_(result)

        return record


RecordedArrays = _RecordedArrays()
