"""The device ``meta``: tensors that have a shape, a dtype and no numbers.

Programs describe models there before they load what is in them. Arrays are NumPy's and full of
zeros, which the system keeps no memory for before they are written to; nobody reads them.
"""

from __future__ import annotations

import math
import mmap
from typing import Any, NoReturn

import numpy

from .base import Array
from .numpy import NumpyBackend

#: Linux's flag for memory that may be more than there is, which Python names from 3.13 on.
_NO_RESERVE = getattr(mmap, "MAP_NORESERVE", 0x4000)


def _unbacked(shape: Any, dtype: Any, order: Any) -> Array:
    """Zeros that are more than the memory there is: addresses alone, where the system has them."""
    size = math.prod(shape) if isinstance(shape, (tuple, list)) else shape
    try:
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NO_RESERVE
        # Not to be written to, lest the system end the program when there is no memory left.
        memory = mmap.mmap(-1, size * dtype.itemsize, flags=flags, prot=mmap.PROT_READ)
    except (AttributeError, OSError, OverflowError, TypeError, ValueError):
        raise MemoryError(f"no addresses for {size} elements of dtype {dtype}") from None
    return numpy.frombuffer(memory, dtype, size).reshape(shape, order=order)


class MetaBackend(NumpyBackend):
    """NumPy, with numbers that nobody is told.

    Example:
        >>> import tinytorch as tt
        >>> x = tt.ones(2, 3, device="meta")
        >>> (x @ x.mT).shape
        tinytorch.Size([2, 2])
        >>> x.tolist()
        Traceback (most recent call last):
            ...
        NotImplementedError: Cannot copy out of meta tensor; no data!
    """

    name = "meta"
    device_type = "meta"
    has_numbers = False
    can_be_shared = False

    # Zeros are indices of anything, and no random memory.
    def empty(self, shape: Any, dtype: Any = float, order: Any = "C") -> Array:
        """Zeros, of which none are stored."""
        try:
            return numpy.zeros(shape, dtype, order)
        except MemoryError:
            return _unbacked(shape, numpy.dtype(dtype), order)

    zeros = ones = empty

    def full(self, shape: Any, fill_value: Any, dtype: Any = None, order: Any = "C") -> Array:
        """Zeros, likewise."""
        return self.empty(shape, numpy.asarray(fill_value).dtype if dtype is None else dtype, order)

    def empty_like(self, array: Array, dtype: Any = None, **options: Any) -> Array:
        """Zeros, of which none are stored, of the shape of ``array``."""
        return numpy.zeros_like(array, dtype, **options)

    def copyto(self, target: Array, source: Any, **options: Any) -> None:
        """Nothing but a look at the shapes: what is written to would need memory."""
        numpy.broadcast_to(numpy.broadcast_to(0, numpy.shape(source)), target.shape)

    def write_zeros(self, target: Array) -> None:
        """Nothing, likewise."""

    refuses_writes = False

    def readonly(self, array: Array) -> bool:
        """Whether one element stands for many: memory that is not there is not written to."""
        steps = zip(array.shape, array.strides, strict=True)
        return array.size > 0 and any(step == 0 and size > 1 for size, step in steps)

    def receive(self, array: Any, source: Any, non_blocking: bool = False) -> Array:
        """Zeros of the shape, dtype and order in memory of ``array``."""
        return numpy.zeros_like(
            numpy.lib.stride_tricks.as_strided(
                numpy.zeros((), source.dtype_of(array).dtype), array.shape, array.strides
            )
        )

    def to_numpy(self, array: Array) -> NoReturn:
        """Refused: there is nothing to copy."""
        raise NotImplementedError("Cannot copy out of meta tensor; no data!")

    def item(self, array: Array) -> NoReturn:
        """Refused: there is no number."""
        raise RuntimeError("Tensor.item() cannot be called on meta tensors")

    def address(self, array: Array) -> int:
        """Nowhere."""
        return 0

    def nonzero(self, array: Array) -> NoReturn:
        """Refused: how many there are depends on the numbers."""
        raise NotImplementedError("nonzero: a meta tensor has no numbers to count")

    flatnonzero = count_nonzero = unique = nonzero

    def compress(self, mask: Array, array: Array, axis: int) -> NoReturn:
        """Refused, likewise."""
        self.nonzero(mask)

    def check_read(self, index: Any) -> None:
        """Refused for masks."""
        for item in index if isinstance(index, tuple) else (index,):
            if getattr(item, "dtype", None) == bool:  # noqa: E721  # equal, not the same
                self.nonzero(item)

    # -- what numbers are asked, none has to answer ---------------------------------------------

    def check_indices(self, *args: Any, **options: Any) -> None:
        """Nothing to check."""

    def check_extremes(self, *args: Any, **options: Any) -> None:
        """Nothing to check."""

    def check_all(self, valid: Array, message: str) -> None:
        """Nothing to check."""
