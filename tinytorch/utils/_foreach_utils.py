"""How optimizers outside of the library sort tensors, as ``torch.utils._foreach_utils``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.tensor import Tensor

__all__ = ["_get_foreach_kernels_supported_devices", "_group_tensors_by_device_and_dtype"]


def _group_tensors_by_device_and_dtype(
    tensorlistlist: Sequence[Sequence[Tensor | None]], with_indices: bool = False
) -> dict[tuple[Any, Any], tuple[list[list[Tensor | None]], list[int]]]:
    """Lists of tensors that belong together, taken apart by the first list's devices and dtypes.

    Args:
        tensorlistlist: Lists of one length, or empty ones; tensors may be missing but in the first.
        with_indices: Whether to tell where in the lists the tensors were.

    Returns:
        By device and dtype, the lists' parts and the places.

    Example:
        >>> from tinytorch.utils._foreach_utils import _group_tensors_by_device_and_dtype
        >>> lists = [[tt.ones(1), tt.ones(1, dtype=tt.int64), tt.zeros(1)]]
        >>> [places for _, places in _group_tensors_by_device_and_dtype(lists, True).values()]
        [[0, 2], [1]]
    """
    groups: dict[tuple[Any, Any], tuple[list[list[Tensor | None]], list[int]]] = {}
    for at, tensor in enumerate(tensorlistlist[0]):
        if tensor is None:
            raise RuntimeError("Tensors of the first list must not be None")
        key = tensor.device, tensor.dtype
        parts, places = groups.setdefault(key, ([[] for _ in tensorlistlist], []))
        for part, whole in zip(parts, tensorlistlist, strict=True):
            if whole:
                part.append(whole[at])
        if with_indices:
            places.append(at)
    return groups


def _get_foreach_kernels_supported_devices() -> list[str]:
    """None: every operation takes one tensor at a time."""
    return []
