"""The device ``meta``: tensors that have a shape and a dtype but no values.

Programs create models on it before they load the weights. Arrays are NumPy arrays of zeros, for
which the system allocates no memory until they are written to. Their values are never read.
"""

from __future__ import annotations

import math
import mmap
from typing import Any, NoReturn

import numpy

from .base import Array
from .numpy import NumpyBackend
from .storage import shares_elements

#: Linux's flag for mappings larger than the memory; Python has the name since 3.13.
_NO_RESERVE = getattr(mmap, "MAP_NORESERVE", 0x4000)


def _zeros_without_memory(shape: Any, dtype: Any, order: Any) -> Array:
    """Zeros that exceed the memory: the system reserves addresses alone, if it can."""
    size = math.prod(shape) if isinstance(shape, (tuple, list)) else shape
    try:
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NO_RESERVE
        # Read-only: a write could exhaust the memory, and the system would kill the program.
        memory = mmap.mmap(-1, size * dtype.itemsize, flags=flags, prot=mmap.PROT_READ)
    except (AttributeError, OSError, OverflowError, TypeError, ValueError):
        raise MemoryError(f"no addresses for {size} elements of dtype {dtype}") from None
    return numpy.frombuffer(memory, dtype, size).reshape(shape, order=order)


class MetaBackend(NumpyBackend):
    """NumPy backend whose values are never read.

    Example:
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

    # Zeros, because uninitialized memory could be invalid as indices.
    def empty(self, shape: Any, dtype: Any = float, order: Any = "C") -> Array:
        """Zeros, which take no memory."""
        try:
            return numpy.zeros(shape, dtype, order)
        except MemoryError:
            return _zeros_without_memory(shape, numpy.dtype(dtype), order)

    zeros = empty
    ones = empty

    def full(self, shape: Any, fill_value: Any, dtype: Any = None, order: Any = "C") -> Array:
        """Zeros, whatever the ``fill_value``."""
        return self.empty(shape, numpy.asarray(fill_value).dtype if dtype is None else dtype, order)

    def empty_like(self, array: Array, dtype: Any = None, **options: Any) -> Array:
        """Zeros of the shape of ``array``, which take no memory."""
        return numpy.zeros_like(array, dtype, **options)

    def copyto(self, target: Array, source: Any, **options: Any) -> None:
        """Check the shapes. Writing values would allocate memory."""
        numpy.broadcast_to(numpy.broadcast_to(0, numpy.shape(source)), target.shape)

    def write_zeros(self, target: Array) -> None:
        """Do nothing: writing values would allocate memory."""

    refuses_writes = False

    def readonly(self, array: Array) -> bool:
        """Whether elements share one memory by a zero stride; the flag of NumPy is not used."""
        return shares_elements(array)

    def receive(self, array: Any, source: Any, non_blocking: bool = False) -> Array:
        """Zeros of the shape, dtype and memory order of ``array``."""
        return numpy.zeros_like(
            numpy.lib.stride_tricks.as_strided(
                numpy.zeros((), source.dtype_of(array).dtype), array.shape, array.strides
            )
        )

    def to_numpy(self, array: Array) -> NoReturn:
        """Raise NotImplementedError: there are no values to copy."""
        raise NotImplementedError("Cannot copy out of meta tensor; no data!")

    def item(self, array: Array) -> NoReturn:
        """Raise RuntimeError: there is no value."""
        raise RuntimeError("Tensor.item() cannot be called on meta tensors")

    def address(self, array: Array) -> int:
        """Address 0, as in PyTorch."""
        return 0

    def nonzero(self, array: Array) -> NoReturn:
        """Raise NotImplementedError: the size of the result depends on values."""
        raise NotImplementedError("nonzero: a meta tensor has no values to count")

    flatnonzero = nonzero
    count_nonzero = nonzero
    unique = nonzero

    def compress(self, mask: Array, array: Array, axis: int) -> NoReturn:
        """Raise NotImplementedError: the size of the result depends on values."""
        self.nonzero(mask)

    def check_read(self, index: Any) -> None:
        """Raise for masks: the size of the result depends on values."""
        for item in index if isinstance(index, tuple) else (index,):
            if getattr(item, "dtype", None) == bool:  # noqa: E721  # equal, not the same
                self.nonzero(item)

    # -- checks of values, which always pass ----------------------------------------------------

    def check_indices(self, *args: Any, **options: Any) -> None:
        """Check nothing: there are no values."""

    def check_extremes(self, *args: Any, **options: Any) -> None:
        """Check nothing: there are no values."""

    def check_all(self, valid: Array, message: str) -> None:
        """Check nothing: there are no values."""
