"""Changing the shape between layers."""

from __future__ import annotations

from typing import Any

from ..core.tensor import Tensor
from .module import Module

__all__ = ["Flatten", "Unflatten"]


class Flatten(Module):
    """Join dimensions into one.

    Args:
        start_dim: The first of them. Default: 1, which keeps the batch.
        end_dim: The last of them. Default: -1.

    Example:
        >>> import tinytorch as tt
        >>> tt.nn.Flatten()(tt.zeros(32, 1, 5, 5)).shape
        tinytorch.Size([32, 25])
    """

    start_dim: int
    end_dim: int

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim = start_dim
        self.end_dim = end_dim

    def forward(self, input: Tensor) -> Tensor:
        """Apply it; a view where that is possible."""
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        """The configuration."""
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Unflatten(Module):
    """Split a dimension into several.

    Args:
        dim: The dimension.
        unflattened_size: The sizes it becomes, a tuple or list; one of them may be -1.

    Raises:
        TypeError: If the sizes are no tuple or list of ints.

    Example:
        >>> import tinytorch as tt
        >>> tt.nn.Unflatten(1, (2, 5))(tt.zeros(32, 10)).shape
        tinytorch.Size([32, 2, 5])
    """

    dim: int
    unflattened_size: Any

    def __init__(self, dim: int, unflattened_size: Any) -> None:
        super().__init__()
        self._require_tuple_int(unflattened_size)
        self.dim = dim
        self.unflattened_size = unflattened_size

    def forward(self, input: Tensor) -> Tensor:
        """Apply it; a view where that is possible."""
        return input.unflatten(self.dim, self.unflattened_size)

    def extra_repr(self) -> str:
        """The configuration."""
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"

    def _require_tuple_int(self, input: object) -> None:
        """Check the input; ``__init__`` calls it."""
        if not isinstance(input, (tuple, list)):
            raise TypeError(
                f"unflattened_size must be a tuple of ints, but found type {type(input).__name__}"
            )
        for place, size in enumerate(input):
            if not isinstance(size, int):
                raise TypeError(
                    "unflattened_size must be tuple of ints, but found element of type "
                    f"{type(size).__name__} at pos {place}"
                )
