"""What storages have for other dtypes: copies in them, and another order of bytes."""

from __future__ import annotations

from typing import Any

from ... import dtypes
from ...core.tensor import wrap
from ...dispatch.op import Array, Backend


class Casts:
    """Copies of a storage in other dtypes, by the names of PyTorch's tensor types."""

    _array: Array
    _xp: Backend
    #: The class of the copies.
    _typed: Any

    def _numbers(self) -> Array:
        raise NotImplementedError

    def _cast(self, dtype: dtypes.dtype) -> Any:
        """A storage of the elements as numbers of a dtype; itself if they are such already."""
        numbers: Any = wrap(self._numbers(), self._xp)
        if isinstance(self, self._typed) and numbers.dtype is dtype:
            return self
        return self._typed._of(numbers.to(dtype)._data, self._xp)

    def byte(self) -> Any:
        """The elements as uint8."""
        return self._cast(dtypes.uint8)

    def char(self) -> Any:
        """The elements as int8."""
        return self._cast(dtypes.int8)

    def short(self) -> Any:
        """The elements as int16."""
        return self._cast(dtypes.int16)

    def int(self) -> Any:
        """The elements as int32."""
        return self._cast(dtypes.int32)

    def long(self) -> Any:
        """The elements as int64."""
        return self._cast(dtypes.int64)

    def half(self) -> Any:
        """The elements as float16."""
        return self._cast(dtypes.float16)

    def bfloat16(self) -> Any:
        """The elements as bfloat16."""
        return self._cast(dtypes.bfloat16)

    def float(self) -> Any:
        """The elements as float32."""
        return self._cast(dtypes.float32)

    def double(self) -> Any:
        """The elements as float64."""
        return self._cast(dtypes.float64)

    def complex_float(self) -> Any:
        """The elements as complex64."""
        return self._cast(dtypes.complex64)

    def complex_double(self) -> Any:
        """The elements as complex128."""
        return self._cast(dtypes.complex128)

    def bool(self) -> Any:
        """Which elements are not 0."""
        return self._cast(dtypes.bool)
