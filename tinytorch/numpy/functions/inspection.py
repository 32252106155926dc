"""Properties of arrays and dtypes as Python values, and the array API's inspection namespace."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from numbers import Number
from typing import Any

from ... import dtypes
from ...core.device import device as device_
from ...core.size import Size
from ...core.tensor import Tensor
from ...state import current_backend, default_dtype
from .conversion import (
    array_of, arrays_of, as_dtype, axes_of, common_dtype, host, is_inexact,
)  # fmt: skip
from .registration import numpy_function, register_shared


@register_shared
def shape(a: Any) -> Size:
    """The sizes of a tensor's dimensions.

    Args:
        a: Tensor or array-like.

    Example:
        >>> tt.shape([[1, 2], [3, 4], [5, 6]])
        tinytorch.Size([3, 2])
    """
    return array_of(a).shape  # type: ignore[no-any-return]


@register_shared
def size(a: Any, axis: int | Sequence[int] | None = None) -> int:
    """The number of elements, of all or along ``axis``.

    Args:
        a: Tensor or array-like.
        axis: Dimension or dimensions; None, the default, means all.

    Example:
        >>> tt.size([[1, 2], [3, 4], [5, 6]], 0)
        3
    """
    sizes = array_of(a).shape
    if axis is None:
        return int(sizes.numel())
    return math.prod(sizes[d] for d in axes_of("size", axis, len(sizes)))


@register_shared
def ndim(a: Any) -> int:
    """The number of a tensor's dimensions.

    Args:
        a: Tensor or array-like.

    Example:
        >>> tt.ndim([[1, 2], [3, 4]])
        2
    """
    return array_of(a).ndim  # type: ignore[no-any-return]


@register_shared
def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> bool:
    """Whether two tensors have the same shape and elements.

    Args:
        a1: Tensor or array-like.
        a2: Tensor or array-like.
        equal_nan: Whether NaNs are equal to each other.

    Example:
        >>> tt.array_equal([1, 2], tt.tensor([1, 2]))
        True
    """
    first, second = arrays_of(a1, a2)
    return first.shape == second.shape and _all_equal(first, second, equal_nan)


def _all_equal(first: Any, second: Any, equal_nan: bool = False) -> bool:
    """Whether all elements of two tensors that broadcast are equal; NaNs are by ``equal_nan``."""
    same = first == second
    if equal_nan:
        same = same | ((first != first) & (second != second))
    return bool(same.all())


@register_shared
def array_equiv(a1: Any, a2: Any) -> bool:
    """Whether two tensors have the same elements after they are broadcast.

    Args:
        a1: Tensor or array-like.
        a2: Tensor or array-like.

    Example:
        >>> tt.array_equiv([1, 2], tt.tensor([[1, 2], [1, 2]]))
        True
    """
    first, second = arrays_of(a1, a2)
    for n, m in zip(reversed(first.shape), reversed(second.shape), strict=False):
        if n != m and 1 not in (n, m):
            return False
    return _all_equal(first, second)


@register_shared
def isscalar(element: Any) -> bool:
    """Whether ``element`` is a number or a string; a tensor is neither.

    Args:
        element: Any object.

    Example:
        >>> tt.isscalar(3.1), tt.isscalar(tt.tensor(3.1))
        (True, False)
    """
    if isinstance(element, Tensor):
        return False
    # NumPy's own scalars have a dtype, and cannot be assigned to by index.
    is_numpy_scalar = hasattr(element, "dtype") and not hasattr(element, "__setitem__")
    return is_numpy_scalar or isinstance(element, (str, bytes, Number))


@register_shared
def iscomplexobj(x: Any) -> bool:
    """Whether the dtype is complex.

    Args:
        x: Tensor or array-like.

    Example:
        >>> tt.iscomplexobj(tt.tensor([1j]))
        True
    """
    return array_of(x).is_complex()  # type: ignore[no-any-return]


@register_shared
def isrealobj(x: Any) -> bool:
    """Whether the dtype is not complex.

    Args:
        x: Tensor or array-like.

    Example:
        >>> tt.isrealobj(tt.tensor([1j]))
        False
    """
    return not array_of(x).is_complex()


# -- dtypes ---------------------------------------------------------------------------------------

#: By NumPy's name of an abstract type, or the array API's name of a kind: kind characters.
_KINDS = {
    "generic": "biufc", "number": "iufc", "integer": "iu", "signedinteger": "i",
    "unsignedinteger": "u", "inexact": "fc", "floating": "f", "complexfloating": "c",
    "signed integer": "i", "unsigned integer": "u", "integral": "iu", "real floating": "f",
    "complex floating": "c", "numeric": "iufc", "bool": "b",
}  # fmt: skip


@register_shared
def issubdtype(arg1: Any, arg2: Any) -> bool:
    """Whether a dtype is another, or a subtype of an abstract type.

    Args:
        arg1: Anything that is accepted as a dtype, or an abstract type.
        arg2: The same; an abstract type is one of NumPy's, or its name, such as ``"floating"``.

    Raises:
        TypeError: For another argument.

    Example:
        >>> tt.issubdtype(tt.float32, "floating"), tt.issubdtype(tt.float32, tt.float64)
        (True, False)
    """
    name = arg2 if isinstance(arg2, str) else getattr(arg2, "__name__", "")
    first = getattr(arg1, "__name__", arg1)
    if isinstance(first, str) and first in _KINDS and first != "bool":
        return name in _KINDS and set(_KINDS[first]) <= set(_KINDS[name])
    kind = dtypes.as_dtype(arg1)
    if name in _KINDS and name != "bool":
        return kind.kind in _KINDS[name]
    return kind is dtypes.as_dtype(arg2)


@register_shared
def isdtype(dtype: Any, kind: Any) -> bool:
    """Whether a dtype is of a kind.

    Args:
        dtype: A dtype.
        kind: A dtype, a tuple of kinds, or ``"bool"``, ``"signed integer"``,
            ``"unsigned integer"``, ``"integral"``, ``"real floating"``, ``"complex floating"``
            or ``"numeric"``.

    Raises:
        ValueError: For an unknown kind.

    Example:
        >>> tt.isdtype(tt.float32, ("integral", "real floating"))
        True
    """
    wanted = dtypes.as_dtype(dtype)
    if isinstance(kind, tuple):
        return any(isdtype(wanted, k) for k in kind)
    if isinstance(kind, str) and kind not in dtypes.NAMES:
        if kind not in _KINDS:
            raise ValueError(f"isdtype(): unknown kind {kind!r}; known are {', '.join(_KINDS)}")
        return wanted.kind in _KINDS[kind]
    return wanted is dtypes.as_dtype(kind)


@register_shared
def common_type(*arrays: Any) -> dtypes.dtype:
    """A floating-point or complex dtype for all the tensors; integers count as the default dtype.

    Args:
        *arrays: Tensors.

    Returns:
        A dtype.

    Example:
        >>> tt.common_type(tt.ones(2), tt.ones(2, dtype=tt.complex64))
        tinytorch.complex64
    """
    found = None
    for tensor in arrays_of(*arrays):
        kind = tensor.dtype if is_inexact(tensor) else default_dtype()
        found = kind if found is None else dtypes.promote_types(found, kind)
    return found or dtypes.float16


@register_shared
def min_scalar_type(a: Any) -> dtypes.dtype:
    """The smallest dtype that can hold a number; for a tensor that is not 0-d, its dtype.

    Args:
        a: A number or a tensor.

    Returns:
        A dtype of the number's kind.

    Example:
        >>> tt.min_scalar_type(10), tt.min_scalar_type(-300)
        (tinytorch.uint8, tinytorch.int16)
    """
    if isinstance(a, Tensor):
        if a.ndim:
            return a.dtype
        a = a.item()
    if isinstance(a, bool):
        return dtypes.bool
    if isinstance(a, int):
        return _smallest_integer(a)
    single = _smallest_float(abs(a.real), abs(a.imag)) if isinstance(a, complex) else None
    if single is not None:
        return dtypes.complex128 if single is dtypes.float64 else dtypes.complex64
    return _smallest_float(abs(a)) if isinstance(a, float) else array_of(a).dtype


def _smallest_integer(value: int) -> dtypes.dtype:
    """The smallest integer dtype for a value, unsigned unless it is negative."""
    kind = "int" if value < 0 else "uint"
    for bits in (8, 16, 32, 64):
        found = dtypes.NAMES[f"{kind}{bits}"]
        limits = dtypes.iinfo(found)
        if limits.min <= value <= limits.max:
            return found
    raise OverflowError(f"min_scalar_type(): no integer dtype holds {value}")


def _smallest_float(*values: float) -> dtypes.dtype:
    """The smallest floating-point dtype whose range includes all of some nonnegative values."""
    for found in (dtypes.float16, dtypes.float32):
        if all(v <= dtypes.finfo(found).max or v == float("inf") or v != v for v in values):
            return found
    return dtypes.float64


@numpy_function
def result_type(*arrays_and_dtypes: Any) -> dtypes.dtype:
    """The dtype that results from NumPy's rules of promotion.

    Args:
        *arrays_and_dtypes: Tensors, dtypes and Python numbers.

    Example:
        >>> np.result_type(np.int32, np.float32)
        dtype('float64')
    """
    return common_dtype(*(as_dtype(v) if isinstance(v, (str, type)) else v
                          for v in arrays_and_dtypes))  # fmt: skip


@numpy_function
def promote_types(type1: Any, type2: Any) -> dtypes.dtype:
    """The smallest dtype to which both can be cast safely.

    Args:
        type1: A dtype.
        type2: A dtype.

    Example:
        >>> np.promote_types("int8", "uint8")
        dtype('int16')
    """
    return result_type(as_dtype(type1), as_dtype(type2))


@numpy_function
def can_cast(from_: Any, to: Any, casting: str = "safe") -> bool:
    """Whether a cast is allowed.

    Args:
        from_: A dtype or a tensor.
        to: A dtype.
        casting: ``"no"``, ``"equiv"``, ``"safe"`` (default), ``"same_kind"`` or ``"unsafe"``.

    Example:
        >>> np.can_cast("int64", "float32"), np.can_cast("int32", "float64")
        (False, True)
    """
    source = from_.dtype if isinstance(from_, Tensor) else as_dtype(from_)
    return bool(host().can_cast(source.dtype, as_dtype(to).dtype, casting))


#: Versions of the array API standard that are implemented.
VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")


class NamespaceInfo:
    """Devices, dtypes and limits of a namespace, by the array API standard.

    Args:
        device: Makes a device of the namespace from a name.
        dtype: Converts a dtype of tensors to one of the namespace.
    """

    def __init__(
        self,
        device: Callable[[str], Any] = device_,
        dtype: Callable[[Any], Any] = dtypes.as_dtype,
    ) -> None:
        self._device = device
        self._dtype = dtype

    def capabilities(self) -> dict[str, Any]:
        """Whether shapes may depend on data, and the maximum number of dimensions."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> Any:
        """Device of a tensor that is created without one."""
        return self._device(current_backend().device_type)

    def default_dtypes(self, *, device: Any = None) -> dict[str, Any]:
        """Dtypes of tensors that are created without one, by kind."""
        found = {
            "real floating": dtypes.float64, "complex floating": dtypes.complex128,
            "integral": dtypes.int64, "indexing": dtypes.int64,
        }  # fmt: skip
        return {name: self._dtype(kind) for name, kind in found.items()}

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, Any]:
        """Dtypes of a kind, or of a tuple of kinds, by name; default all of the standard."""
        excluded = (dtypes.float16, *dtypes.LOW)  # They are not part of the standard.
        every = [d for d in dtypes.ALL if d not in excluded]
        found = [d for d in every if kind is None or isdtype(d, kind)]
        return {d.name: self._dtype(d) for d in found}

    def devices(self) -> tuple[Any, ...]:
        """Devices of the active backend."""
        return tuple(self._device(name) for name in current_backend().devices())
