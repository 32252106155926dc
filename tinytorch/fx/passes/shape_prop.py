"""Shapes and dtypes of the values in a graph."""

from __future__ import annotations

from typing import Any, NamedTuple

from ...core.layout import channels_last, channels_last_3d, contiguous_format
from ...core.tensor import Tensor
from ..interpreter import Interpreter
from ..node import Node, map_aggregate

__all__ = ["ShapeProp", "TensorMetadata"]


class TensorMetadata(NamedTuple):
    """Properties of a tensor.

    Attributes:
        shape: Its shape.
        dtype: Its dtype.
        requires_grad: Whether it requires grad.
        stride: Its strides.
        memory_format: The memory format that the strides have, or None.
        is_quantized: False.
        qparams: Empty.
    """

    shape: Any
    dtype: Any
    requires_grad: bool
    stride: tuple[int, ...]
    memory_format: Any
    is_quantized: bool
    qparams: dict[str, Any]


def _extract_tensor_metadata(result: Tensor, include_contiguity: bool = True) -> TensorMetadata:
    """Return the properties of a tensor.

    Args:
        result: The tensor.
        include_contiguity: Whether to look for its memory format. Default: True.
    """
    formats = {contiguous_format, channels_last, channels_last_3d} if include_contiguity else ()
    by_dim = {channels_last: 4, channels_last_3d: 5}
    found = [
        each
        for each in (contiguous_format, channels_last, channels_last_3d)
        if each in formats and by_dim.get(each, result.dim()) == result.dim()
        and result.is_contiguous(memory_format=each)
    ]  # fmt: skip
    return TensorMetadata(
        result.shape, result.dtype, result.requires_grad, tuple(result.stride()),
        found[0] if found else None, False, {},
    )  # fmt: skip


class ShapeProp(Interpreter):
    """Interpreter that records the shapes and dtypes of all values.

    Each node with a tensor gets ``meta["tensor_meta"]``, a ``TensorMetadata``, and
    ``meta["type"]``.

    Args:
        gm: The module with the graph.
        fake_mode: Must be None.

    Example:
        >>> from tinytorch.fx.passes.shape_prop import ShapeProp
        >>> gm = tt.fx.symbolic_trace(tt.nn.Linear(2, 3))
        >>> result = ShapeProp(gm).propagate(tt.ones(4, 2))
        >>> [node.meta["tensor_meta"].shape for node in gm.graph.nodes][-1]
        tinytorch.Size([4, 3])
    """

    def __init__(self, gm: Any, fake_mode: Any = None) -> None:
        if fake_mode is not None:
            raise NotImplementedError("ShapeProp: fake_mode: there are no fake tensors here")
        super().__init__(gm)

    def run_node(self, n: Node) -> Any:
        """Run a node, and record the properties of its value."""
        result = super().run_node(n)
        seen = False

        def extract(value: Any) -> Any:
            nonlocal seen
            if not isinstance(value, Tensor):
                return value
            seen = True
            return _extract_tensor_metadata(value)

        meta = map_aggregate(result, extract)
        if seen:
            n.meta["tensor_meta"] = meta
        n.meta["type"] = type(result)
        return result

    def propagate(self, *args: Any) -> Any:
        """Run the graph.

        Args:
            *args: The values of the inputs.

        Returns:
            The value of the output.
        """
        return super().run(*args)
