"""What is not a Tensor, but holds one: an array with another library's meanings."""

from __future__ import annotations

from typing import Any, Self

from .tensor import Tensor

#: Every class of them.
HOLDERS: set[type] = set()


class Holder:
    """An object around a Tensor, which is its memory and its place in the graph.

    Attributes:
        _tensor: The Tensor. It may change: an array whose shape is assigned to gets a view.
    """

    __slots__ = ("_tensor", "__weakref__")
    _tensor: Tensor

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        HOLDERS.add(cls)

    @classmethod
    def around(cls, tensor: Any) -> Self:
        """The object that holds ``tensor``."""
        found = object.__new__(cls)
        found._tensor = tensor
        return found


def held(value: Any) -> Any:
    """The Tensor that ``value`` holds; what holds none, as it is."""
    return value._tensor if isinstance(value, Holder) else value
