"""DLPack by its first interface: a capsule made of a tensor, and a tensor made of one.

``np.from_dlpack(tensor)`` and ``tt.from_dlpack(array)`` need neither.

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
    """A capsule that shares the tensor's memory; it can be taken once.

    Args:
        tensor: The tensor. What is written through the capsule has no gradient.

    Raises:
        BufferError: If the library of its backend does not hand its memory out.

    Example:
        >>> x = tt.zeros(2, device="cpu")
        >>> tt.from_dlpack(tt.to_dlpack(x)).data_ptr() == x.data_ptr()
        True
    """
    return dlpack.dlpack(tensor.detach())
