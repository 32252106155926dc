"""``torch._utils``: several tensors in one and back, and tensors of their storage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.tensor import Tensor
from ..ops.create.factories import empty
from ..ops.shape.joining import cat

__all__ = [
    "_flatten_dense_tensors", "_rebuild_tensor", "_rebuild_tensor_v2", "_unflatten_dense_tensors",
]  # fmt: skip


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


def _rebuild_tensor(storage: Any, storage_offset: int, size: Any, stride: Any) -> Tensor:
    """The tensor of this shape and these strides in a storage.

    Args:
        storage: What ``Tensor.storage`` gives.
        storage_offset: The place of its first element.
        size: Its shape.
        stride: Its strides.

    Example:
        >>> import tinytorch as tt
        >>> from tinytorch._utils import _rebuild_tensor
        >>> storage = tt.storage.TypedStorage(wrap_storage=tt.arange(4).untyped_storage(),
        ...                                   dtype=tt.int64, _internal=True)
        >>> _rebuild_tensor(storage, 1, (3,), (1,))
        tensor([1, 2, 3])
    """
    made = empty(0, dtype=storage.dtype, device=storage.device)
    return made.set_(storage._untyped_storage, storage_offset, tuple(size), tuple(stride))


def _rebuild_tensor_v2(
    storage: Any, storage_offset: int, size: Any, stride: Any, requires_grad: bool,
    backward_hooks: Any, metadata: Any = None,
) -> Tensor:  # fmt: skip
    """The same, as pickles of tensors call it.

    Args:
        storage: As above.
        storage_offset: As above.
        size: As above.
        stride: As above.
        requires_grad: Whether it requires grad.
        backward_hooks: Its hooks; empty or None.
        metadata: Not used: it says how a tensor looks through views.

    Example:
        >>> import tinytorch as tt
        >>> from tinytorch._utils import _rebuild_tensor_v2
        >>> storage = tt.storage.TypedStorage(wrap_storage=tt.ones(2).untyped_storage(),
        ...                                   dtype=tt.float32, _internal=True)
        >>> _rebuild_tensor_v2(storage, 0, (2,), (1,), True, None)
        tensor([1., 1.], requires_grad=True)
    """
    if backward_hooks:
        raise NotImplementedError("_rebuild_tensor_v2: hooks of tensors are not rebuilt")
    made = _rebuild_tensor(storage, storage_offset, size, stride)
    return made.requires_grad_(requires_grad)
