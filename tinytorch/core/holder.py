"""What is not a Tensor, but holds one: an array with another library's meanings."""

from __future__ import annotations

from .tensor import Tensor


class Holder:
    """An object around a Tensor, which is its memory and its place in the graph.

    Attributes:
        _tensor: The Tensor. It may change: an array whose shape is assigned to gets a view.
    """

    __slots__ = ("_tensor", "__weakref__")
    _tensor: Tensor
