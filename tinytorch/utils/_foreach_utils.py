"""``torch.utils._foreach_utils``: functions that optimizers of other libraries use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.tensor import Tensor

__all__ = ["_get_foreach_kernels_supported_devices", "_group_tensors_by_device_and_dtype"]


def _group_tensors_by_device_and_dtype(
    tensorlistlist: Sequence[Sequence[Tensor | None]], with_indices: bool = False
) -> dict[tuple[Any, Any], tuple[list[list[Tensor | None]], list[int]]]:
    """Group lists of tensors by the devices and dtypes of the tensors in the first list.

    Args:
        tensorlistlist: Lists of one length, or empty lists. Items may be None except in the first
            list.
        with_indices: Whether to return the indices of the items in the lists.

    Returns:
        Dict from device and dtype to a pair: the lists with the items of the group, and the
        indices.

    Example:
        >>> from tinytorch.utils._foreach_utils import _group_tensors_by_device_and_dtype
        >>> lists = [[tt.ones(1), tt.ones(1, dtype=tt.int64), tt.zeros(1)]]
        >>> [indices for _, indices in _group_tensors_by_device_and_dtype(lists, True).values()]
        [[0, 2], [1]]
    """
    groups: dict[tuple[Any, Any], tuple[list[list[Tensor | None]], list[int]]] = {}
    for index, tensor in enumerate(tensorlistlist[0]):
        if tensor is None:
            raise RuntimeError("Tensors of the first list must not be None")
        key = tensor.device, tensor.dtype
        parts, indices = groups.setdefault(key, ([[] for _ in tensorlistlist], []))
        for part, tensors in zip(parts, tensorlistlist, strict=True):
            if tensors:
                part.append(tensors[index])
        if with_indices:
            indices.append(index)
    return groups


def _get_foreach_kernels_supported_devices() -> list[str]:
    """Device types with foreach kernels: none, operations take one tensor at a time."""
    return []
