"""The kernels' ``xp`` of a step over tensors: one that is recorded, or whose rate is a tensor."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..core.tensor import Tensor
from ..graph.late_bound import ABOVE

__all__ = ["RecordedArrays"]


class RecordedArrays:
    """NumPy's names over tensors.

    Parameters and state are changed in place, as ``out=`` says, by a copy that is recorded;
    what the kernels use for intermediate results is left alone, for the graph may have
    saved it. For the same reason operations see clones of what will be changed.

    Args:
        tensors: The parameters and their state.
    """

    block_elements = None

    def __init__(self, tensors: Iterable[Tensor]) -> None:
        self.kept = {id(tensor) for tensor in tensors}

    def add_scaled(
        self, target: Tensor, array: Tensor, scale: Any, keep: Any = 1.0, buffer: Any = None
    ) -> None:
        """``Backend.add_scaled``; a factor that is a tensor is not looked at."""
        if isinstance(keep, Tensor) or keep != 1.0:
            self.multiply(target, keep, out=target)
        if isinstance(scale, Tensor) or scale != 1.0:
            array = self.multiply(array, scale)
        self.add(target, array, out=target)

    def kernel(self, name: str) -> None:
        """A fused kernel records nothing: use the shared twin."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        function = getattr(ABOVE.graph_namespace(), name)

        def record(*args: Any, out: Tensor | None = None) -> Any:
            result = function(*(a.clone() if self._is_kept(a) else a for a in args))
            return out.copy_(result) if self._is_kept(out) else result  # type: ignore[union-attr]

        return record

    def _is_kept(self, value: Any) -> bool:
        # A kernel's views are views of what is kept: parts of complex tensors.
        return isinstance(value, Tensor) and (id(value) in self.kept or value._is_view())
