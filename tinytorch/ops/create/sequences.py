"""From nested Python sequences to an array, in the dtype torch finds for what is in them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any, NoReturn

from ... import dtypes
from ...core.tensor import Tensor
from ...dispatch.op import Array, Backend
from ...dispatch.promotion import dtype_of_number
from ...state import default_dtype

PLAIN_NUMBERS = {bool, int, float, complex}
_TEXT = (str, bytes)


def array_from(data: Any, xp: Backend, wanted: dtypes.dtype | None) -> Array:
    """A new array from nested sequences of numbers, tensors of one element and arrays.

    Args:
        data: The sequence.
        xp: The backend of the array.
        wanted: Its dtype; default: Python's numbers count as the default dtypes, all else has
            its own, and together they are promoted.

    Raises:
        ValueError: If it is ragged, holds text, an int beyond int64, or, for floating-point
            and complex dtypes, a tensor of several elements.
        TypeError: If there are numbers where sequences should be, or the other way round, or
            a tensor of several elements for other dtypes.
        RuntimeError: If it holds anything else, or a number beyond ``wanted``.
    """
    leaves: set[type] = set()
    try:
        _collect_types(data, leaves)
    except RecursionError:  # one that holds itself
        raise ValueError(f"too many dimensions {type(data).__name__!r}") from None
    if leaves <= PLAIN_NUMBERS:
        return array_of_plain(data, xp, wanted or _dtype_of_plain(leaves))
    found: dict[dtypes.dtype, bool] = {}
    plain = [_plain(item, xp, found, first=i == 0) for i, item in enumerate(data)]
    dtype = wanted or (reduce(dtypes.promote_types, found) if found else default_dtype())
    if any(found.values()):
        _refuse_tensor(dtype)
    return array_of_plain(plain, xp, dtype)


def _collect_types(data: Any, leaves: set[type]) -> None:
    """Add the types of what is in nested lists and tuples, level by level."""
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


def _dtype_of_plain(leaves: set[type]) -> dtypes.dtype:
    for kind in (complex, float, int, bool):
        if kind in leaves:
            return dtype_of_number(kind())
    return default_dtype()


def _plain(item: Any, xp: Backend, found: dict[dtypes.dtype, bool], first: bool) -> Any:
    """``item`` in terms of Python's lists and numbers; its dtypes are added to ``found``.

    Beside a dtype is whether a tensor of it is no number.
    """
    if isinstance(item, Tensor):
        several = item.numel() != 1
        found[item.dtype] = several or found.get(item.dtype, False)
        return None if several else item.item()
    if isinstance(item, _TEXT):
        if first:
            raise ValueError(f"too many dimensions {type(item).__name__!r}")
        raise TypeError(f"new(): invalid data type {type(item).__name__!r}")
    if hasattr(getattr(item, "dtype", None), "char"):  # an array, or a number of NumPy's
        found.setdefault(xp.dtype_of_native(item.dtype), False)
        return item.tolist()
    if isinstance(item, (bool, int, float, complex)):
        found.setdefault(dtype_of_number(item), False)
        return item
    if isinstance(item, Sequence):
        return [_plain(part, xp, found, first=i == 0) for i, part in enumerate(item)]
    if has_items(item):
        return _plain(as_list(item), xp, found, first)
    raise RuntimeError(f"Could not infer dtype of {type(item).__name__}")


def has_items(data: Any) -> bool:
    """Whether Python calls its items by number, as those of a sequence."""
    return hasattr(data, "__getitem__") and not isinstance(data, dict)


def as_list(data: Any) -> list[Any]:
    """The items of what is no ``Sequence`` but has them by number, as many as its length says.

    Raises:
        TypeError: If it has no length.
        ValueError: If it does not give its items by number.
    """
    count = len(data)
    try:
        return [data[i] for i in range(count)]
    except Exception as error:
        raise ValueError(
            f"could not determine the shape of object type {type(data).__name__!r}"
        ) from error


def _refuse_tensor(dtype: dtypes.dtype) -> NoReturn:
    """torch's error for a tensor of several elements where a number of ``dtype`` should be."""
    if dtype.is_floating_point or dtype.is_complex:
        raise ValueError("only one element tensors can be converted to Python scalars")
    raise TypeError("only integer tensors of a single element can be converted to an index")


def array_of_plain(data: Any, xp: Backend, dtype: dtypes.dtype) -> Array:
    """A new array of ``dtype`` from a number, or nested numbers; see ``array_from``."""
    try:
        return xp.convert(data, dtype)
    except OverflowError:
        return _wrapped(data, xp, dtype)
    except (TypeError, ValueError) as error:
        _refuse_ragged(data, _sizes(data), 0, dtype)
        if "NaN to integer" in str(error):
            raise RuntimeError(
                f"value cannot be converted to type {dtype.name} without overflow: NaN"
            ) from None
        raise


def _wrapped(data: Any, xp: Backend, dtype: dtypes.dtype) -> Array:
    """Ints that do not fit: unsigned dtypes count negative ones from their end, as in C."""
    if dtype in (dtypes.int64, dtypes.uint64):
        raise ValueError("Overflow when unpacking long long")
    wide = array_of_plain(data, xp, dtypes.int64)
    limit = dtypes.iinfo(dtype).max
    least = dtypes.iinfo(dtype).min or -limit
    if bool(((wide > limit) | (wide < least)).any()):
        raise RuntimeError(f"value cannot be converted to type {dtype.name} without overflow")
    return xp.astype(wide, xp.native_dtype(dtype))


def _sizes(data: Any) -> list[int]:
    """The shape that the first elements promise."""
    sizes = []
    while isinstance(data, (list, tuple)):
        sizes.append(len(data))
        if not data:
            break
        data = data[0]
    return sizes


def _refuse_ragged(data: Any, sizes: list[int], dim: int, dtype: dtypes.dtype) -> None:
    """torch's error for the first place where ``data`` is not of shape ``sizes``."""
    sequence = isinstance(data, (list, tuple))
    if dim == len(sizes):
        if sequence:
            _refuse_sequence(data, dtype)
        return
    if not sequence:
        raise TypeError("not a sequence")
    if len(data) != sizes[dim]:
        raise ValueError(f"expected sequence of length {sizes[dim]} at dim {dim} (got {len(data)})")
    for item in data:
        _refuse_ragged(item, sizes, dim + 1, dtype)


def _refuse_sequence(data: Any, dtype: dtypes.dtype) -> NoReturn:
    kind = type(data).__name__
    if dtype.is_floating_point or dtype.is_complex:
        raise TypeError(f"must be real number, not {kind}")
    raise TypeError(f"{kind!r} object cannot be interpreted as an integer")
