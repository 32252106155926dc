"""DLPack's older interface, with capsules: ``to_dlpack`` and ``from_dlpack``.

``np.from_dlpack(tensor)`` and ``tt.from_dlpack(array)`` need no capsule.

Example:
    >>> from tinytorch.utils import dlpack
    >>> x = tt.zeros(2, device="cpu")
    >>> y = dlpack.from_dlpack(dlpack.to_dlpack(x))
    >>> y += 1
    >>> x
    tensor([1., 1.])
"""

from __future__ import annotations

from typing import Any

from ..core import dlpack
from ..core.tensor import Tensor
from ..ops.shape.tensor_functions import from_dlpack

__all__ = ["from_dlpack", "to_dlpack"]


def to_dlpack(tensor: Tensor) -> Any:
    """DLPack capsule that shares the tensor's memory, for one call of ``from_dlpack``.

    Args:
        tensor: The tensor. Writes through the capsule are not recorded for gradients.

    Raises:
        BufferError: If the library of its backend does not export its memory.

    Example:
        >>> x = tt.zeros(2, device="cpu")
        >>> tt.from_dlpack(tt.to_dlpack(x)).data_ptr() == x.data_ptr()
        True
    """
    return dlpack.dlpack(tensor.detach())
