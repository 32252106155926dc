"""Types of arguments for annotations, as ``torch.types``.

Example:
    >>> from tinytorch.types import Number
    >>> def scaled(x, factor: Number):
    ...     return x * factor
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import IO, TypeAlias

from .core.device import device
from .core.tensor import Size as Size
from .core.tensor import Tensor as Tensor
from .dtypes import dtype
from .storage import UntypedStorage as Storage

__all__ = ["Device", "FileLike", "Number", "Size", "Storage", "Tensor"]

#: A device, its name or its number; None for the default device.
Device: TypeAlias = device | str | int | None
#: A path, or an open file of bytes.
FileLike: TypeAlias = str | os.PathLike[str] | IO[bytes]
Number: TypeAlias = int | float | bool
#: One size or several.
_size: TypeAlias = Size | list[int] | tuple[int, ...]
_int: TypeAlias = int
_float: TypeAlias = float
_bool: TypeAlias = bool
_complex: TypeAlias = complex
_dtype: TypeAlias = dtype
_device: TypeAlias = device
_TensorOrTensors: TypeAlias = Tensor | Sequence[Tensor]
