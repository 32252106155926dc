"""Conversion of nested Python sequences to an array with torch's dtype inference."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any, NoReturn

from ... import dtypes
from ...core.tensor import Tensor
from ...dispatch.op import Array, Backend
from ...dispatch.promotion import dtype_of_number
from ...state import default_dtype

PYTHON_SCALARS: set[type] = {bool, int, float, complex}
_TEXT = (str, bytes)


def array_from(data: Any, xp: Backend, wanted: dtypes.dtype | None) -> Array:
    """Create an array from nested sequences of numbers, tensors of one element and arrays.

    Args:
        data: The sequence.
        xp: The backend of the array.
        wanted: The dtype. Default: the promoted dtype of all elements, where Python scalars have
            the default dtypes.

    Raises:
        ValueError: If it is ragged, contains text, an int beyond int64, or, for floating-point
            and complex dtypes, a tensor of several elements.
        TypeError: If there are numbers in the place of sequences, or the reverse, or a tensor of
            several elements for other dtypes.
        RuntimeError: If it contains anything else, or a number that exceeds ``wanted``.
    """
    leaves: set[type] = set()
    try:
        _collect_types(data, leaves)
    except RecursionError:  # the sequence contains itself
        raise ValueError(f"too many dimensions {type(data).__name__!r}") from None
    if leaves <= PYTHON_SCALARS:
        return array_of_scalars(data, xp, wanted or _dtype_of_scalars(leaves))
    found: dict[dtypes.dtype, bool] = {}
    scalars = [_to_scalars(item, xp, found, first=i == 0) for i, item in enumerate(data)]
    dtype = wanted or (reduce(dtypes.promote_types, found) if found else default_dtype())
    if any(found.values()):
        _raise_for_tensor(dtype)
    return array_of_scalars(scalars, xp, dtype)


def _collect_types(data: Any, leaves: set[type]) -> None:
    """Add the types of the elements of nested lists and tuples to ``leaves``."""
    nested = False
    for kind in set(map(type, data)):
        if issubclass(kind, (list, tuple)):
            nested = True
        else:
            leaves.add(kind)
    if nested:
        for item in data:
            if isinstance(item, (list, tuple)):
                _collect_types(item, leaves)


def _dtype_of_scalars(leaves: set[type]) -> dtypes.dtype:
    """Default dtype for Python scalars of these types."""
    for kind in (complex, float, int, bool):
        if kind in leaves:
            return dtype_of_number(kind())
    return default_dtype()


def _to_scalars(item: Any, xp: Backend, found: dict[dtypes.dtype, bool], first: bool) -> Any:
    """Convert ``item`` to Python lists and scalars, and add its dtypes to ``found``.

    The value of a dtype in ``found`` is whether a tensor of it has several elements.
    """
    if isinstance(item, Tensor):
        several = item.numel() != 1
        found[item.dtype] = several or found.get(item.dtype, False)
        return None if several else item.item()
    if isinstance(item, _TEXT):
        if first:
            raise ValueError(f"too many dimensions {type(item).__name__!r}")
        raise TypeError(f"new(): invalid data type {type(item).__name__!r}")
    if hasattr(getattr(item, "dtype", None), "char"):  # an array, or a NumPy scalar
        found.setdefault(xp.dtype_of_native(item.dtype), False)
        return item.tolist()
    if isinstance(item, (bool, int, float, complex)):
        found.setdefault(dtype_of_number(item), False)
        return item
    if isinstance(item, Sequence):
        return [_to_scalars(part, xp, found, first=i == 0) for i, part in enumerate(item)]
    if has_items(item):
        return _to_scalars(as_list(item), xp, found, first)
    raise RuntimeError(f"Could not infer dtype of {type(item).__name__}")


def has_items(data: Any) -> bool:
    """Whether an object has items by index, as a sequence does."""
    return hasattr(data, "__getitem__") and not isinstance(data, dict)


def as_list(data: Any) -> list[Any]:
    """Items of an object that has a length and items by index but is not a ``Sequence``.

    Raises:
        TypeError: If it has no length.
        ValueError: If an item cannot be read by index.
    """
    count = len(data)
    try:
        return [data[i] for i in range(count)]
    except Exception as error:
        raise ValueError(
            f"could not determine the shape of object type {type(data).__name__!r}"
        ) from error


def _raise_for_tensor(dtype: dtypes.dtype) -> NoReturn:
    """Raise torch's error for a tensor of several elements in place of a number."""
    if dtype.is_floating_point or dtype.is_complex:
        raise ValueError("only one element tensors can be converted to Python scalars")
    raise TypeError("only integer tensors of a single element can be converted to an index")


def array_of_scalars(data: Any, xp: Backend, dtype: dtypes.dtype) -> Array:
    """Create an array of ``dtype`` from a number or nested numbers; see ``array_from``."""
    try:
        return xp.convert(data, dtype)
    except OverflowError:
        return _wrap_negative_ints(data, xp, dtype)
    except (TypeError, ValueError) as error:
        _raise_for_ragged(data, _leading_shape(data), 0, dtype)
        if "NaN to integer" in str(error):
            raise RuntimeError(
                f"value cannot be converted to type {dtype.name} without overflow: NaN"
            ) from None
        raise


def _wrap_negative_ints(data: Any, xp: Backend, dtype: dtypes.dtype) -> Array:
    """Convert ints that exceed a dtype; negative ints wrap around in unsigned dtypes, as in C."""
    if dtype in (dtypes.int64, dtypes.uint64):
        raise ValueError("Overflow when unpacking long long")
    wide = array_of_scalars(data, xp, dtypes.int64)
    limit = dtypes.iinfo(dtype).max
    least = dtypes.iinfo(dtype).min or -limit
    if bool(((wide > limit) | (wide < least)).any()):
        raise RuntimeError(f"value cannot be converted to type {dtype.name} without overflow")
    return xp.astype(wide, xp.native_dtype(dtype))


def _leading_shape(data: Any) -> list[int]:
    """Shape of nested sequences, according to the first element of each."""
    sizes = []
    while isinstance(data, (list, tuple)):
        sizes.append(len(data))
        if not data:
            break
        data = data[0]
    return sizes


def _raise_for_ragged(data: Any, sizes: list[int], dim: int, dtype: dtypes.dtype) -> None:
    """Raise torch's error for the first sequence that does not fit the shape ``sizes``."""
    sequence = isinstance(data, (list, tuple))
    if dim == len(sizes):
        if sequence:
            _raise_for_sequence(data, dtype)
        return
    if not sequence:
        raise TypeError("not a sequence")
    if len(data) != sizes[dim]:
        raise ValueError(f"expected sequence of length {sizes[dim]} at dim {dim} (got {len(data)})")
    for item in data:
        _raise_for_ragged(item, sizes, dim + 1, dtype)


def _raise_for_sequence(data: Any, dtype: dtypes.dtype) -> NoReturn:
    """Raise torch's error for a sequence in place of a number of ``dtype``."""
    kind = type(data).__name__
    if dtype.is_floating_point or dtype.is_complex:
        raise TypeError(f"must be real number, not {kind}")
    raise TypeError(f"{kind!r} object cannot be interpreted as an integer")
