"""Arrays over libraries whose arrays are memory with strides, such as PyTorch's."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from .array import StandardArray
from .indexing import has_negative_step
from .library import Dtype, ArrayLibrary, Raw, Shape


class StridedLibrary(ArrayLibrary):
    """ArrayLibrary whose arrays are memory with strides. It defines the methods of this class.

    ``slice`` and ``permute`` return views, except that a slice with a negative step is a copy.
    """

    strided = True

    def steps(self, raw: Raw) -> tuple[int, ...]:
        """Strides in elements."""
        raise NotImplementedError

    def is_row_major(self, raw: Raw) -> bool:
        """Whether elements lie in row-major order without gaps."""
        raise NotImplementedError

    def alias(self, raw: Raw) -> Raw:
        """View of all elements."""
        raise NotImplementedError

    def window(self, raw: Raw, start: int, shape: Shape, steps: Shape) -> Raw:
        """View by strides in elements, beginning ``start`` elements after ``raw``."""
        raise NotImplementedError

    def view_part(self, raw: Raw, name: str) -> Raw:
        """View of the ``"real"`` or ``"imag"`` parts of complex numbers."""
        raise NotImplementedError

    def view_bits(self, raw: Raw, dtype: Dtype) -> Raw:
        """View of the bits as another dtype."""
        raise NotImplementedError

    def store(self, raw: Raw, key: tuple[Any, ...], value: Raw) -> None:
        """``raw[key] = value`` in place, also where the two share memory."""
        raise NotImplementedError

    def add_in_place(self, raw: Raw, key: tuple[Any, ...], values: Raw) -> None:
        """``raw[key] += values`` in place, repeated places summed."""
        raise NotImplementedError

    def owner(self, raw: Raw) -> Any:
        """Return a key of the memory, which all views of it share."""
        raise NotImplementedError

    def address(self, raw: Raw) -> int:
        """Address of the first element."""
        raise NotImplementedError

    def memory(self, raw: Raw) -> tuple[Raw, int]:
        """Return the whole memory as a 1-d array, and the offset of ``raw`` there in elements."""
        raise NotImplementedError


class StridedArray(StandardArray):
    """Array of a ``StridedLibrary``: its views are the library's."""

    __slots__ = ("base", "dtype", "ndim", "raw", "shape")
    numpy_dtypes: ClassVar[dict[Any, Dtype]]
    library: StridedLibrary  # type: ignore[misc]  # of the class, as in the base class

    def __init__(self, raw: Raw, base: StridedArray | None = None) -> None:
        self.raw: Any = raw
        self.dtype: Dtype = self.numpy_dtypes[raw.dtype]
        self.shape: tuple[int, ...] = (*raw.shape,)
        self.ndim: int = len(self.shape)  # read several times by most kernels
        self.base: Any = base

    def _view(self, raw: Raw) -> Self:
        """Wrap a view of this array's memory."""
        return self.__class__(raw, self if self.base is None else self.base)

    def steps(self) -> tuple[int, ...]:
        return self.library.steps(self.raw)

    def is_row_major(self) -> bool:
        return self.library.is_row_major(self.raw)

    def alias(self) -> Self:
        return self._view(self.library.alias(self.raw))

    def permute(self, axes: tuple[int, ...]) -> Self:
        return self._view(self.library.permute(self.raw, axes))

    def reshape_to(self, shape: tuple[int, ...]) -> Self:
        raw = self.library.reshape(self.raw, shape)
        if self.library.is_row_major(self.raw):
            return self._view(raw)
        shares = self.library.owner(raw) == self.library.owner(self.raw)
        return self._view(raw) if shares else self.__class__(raw)

    def expand(self, shape: tuple[int, ...]) -> Self:
        return self._view(self.library.broadcast_to(self.raw, shape))

    def window(self, start: int, shape: tuple[int, ...], steps: tuple[int, ...]) -> Self:
        return self._view(self.library.window(self.raw, start, shape, steps))

    def slice(self, key: tuple[Any, ...]) -> Self:
        raw = self.library.slice(self.raw, key)
        return self.__class__(raw) if has_negative_step(key) else self._view(raw)

    def read_at(self, key: tuple[Any, ...]) -> Self:
        return self.__class__(self.library.read_at(self.raw, key))

    def write(self, raw: Raw) -> None:
        self.library.store(self.raw, (Ellipsis,), raw)

    def write_slice(self, key: tuple[Any, ...], raw: Raw) -> None:
        self.library.store(self.raw, key, raw)

    def write_key(self, key: tuple[Any, ...], raw: Raw) -> None:
        self.library.store(self.raw, key, raw)

    def add_at(self, key: tuple[Any, ...], raw: Raw) -> None:
        self.library.add_in_place(self.raw, key, raw)

    def reinterpret(self, dtype: Dtype) -> Self:
        return self._view(self.library.view_bits(self.raw, dtype))

    @property
    def real(self) -> Self:
        """View of the real parts."""
        is_complex = self.dtype.kind == "c"
        return self._view(self.library.view_part(self.raw, "real")) if is_complex else self

    @real.setter
    def real(self, value: Any) -> None:
        self.real[...] = value

    @property
    def imag(self) -> Self:
        """View of the imaginary parts; of real numbers zeros."""
        if self.dtype.kind != "c":
            return self.names.zeros_like(self)  # type: ignore[no-any-return]
        return self._view(self.library.view_part(self.raw, "imag"))

    @imag.setter
    def imag(self, value: Any) -> None:
        self.imag[...] = value
