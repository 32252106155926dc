"""``torch._utils``: several tensors in one and back, which distributed programs import."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.tensor import Tensor
from ..ops.shape.joining import cat

__all__ = ["_flatten_dense_tensors", "_unflatten_dense_tensors"]


def _flatten_dense_tensors(tensors: Sequence[Tensor]) -> Tensor:
    """The elements of several tensors of one dtype, one after the other, ``(n,)``.

    Args:
        tensors: The tensors.

    Example:
        >>> import tinytorch as tt
        >>> from tinytorch._utils import _flatten_dense_tensors
        >>> _flatten_dense_tensors([tt.zeros(2), tt.ones(1, 1)])
        tensor([0., 0., 1.])
    """
    return cat([tensor.reshape(-1) for tensor in tensors])


def _unflatten_dense_tensors(flat: Tensor, tensors: Sequence[Tensor]) -> tuple[Any, ...]:
    """Views of a flat tensor with the shapes of others, the reverse of flattening them.

    Args:
        flat: ``(n,)``.
        tensors: Those with the shapes.

    Example:
        >>> import tinytorch as tt
        >>> from tinytorch._utils import _unflatten_dense_tensors
        >>> parts = _unflatten_dense_tensors(tt.arange(3), [tt.zeros(2), tt.ones(1, 1)])
        >>> [part.tolist() for part in parts]
        [[0, 1], [[2]]]
    """
    parts = flat.split([tensor.numel() for tensor in tensors])
    return tuple(part.reshape(tensor.shape) for part, tensor in zip(parts, tensors, strict=True))
