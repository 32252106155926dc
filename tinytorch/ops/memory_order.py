"""Order of elements in memory, of results and of tensors created like another.

PyTorch's element-wise functions preserve the memory order of their input, as NumPy's do; many
other functions return row-major results. The order decides which calls of ``view`` succeed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..backends.storage import extent
from ..core.layout import (
    channels_last,
    channels_last_3d,
    check_format,
    contiguous_format,
    memory_format,
    preserve_format,
)
from ..dispatch.op import Array, Backend


def as_row_major(xp: Backend, array: Array) -> Array:
    """``array``, or a copy, with its elements in row-major order in memory."""
    return array if array.flags.c_contiguous else xp.ascontiguousarray(array)


def to_memory_format(xp: Backend, array: Array, wanted: memory_format) -> Array:
    """``array``, or a copy, in the memory format ``wanted``.

    Raises:
        RuntimeError: If the format is for another number of dimensions.
    """
    order = wanted.order(array.ndim)
    if wanted.holds(array):
        return array
    if order is None:
        return xp.ascontiguousarray(array)
    return xp.ascontiguousarray(array.transpose(order)).transpose(inverse_permutation(order))


def has_strides(array: Array, strides: Sequence[int]) -> bool:
    """Whether ``array`` has these strides, in elements; sizes of 1 may have any stride."""
    triples = zip(array.shape, array.strides, strides, strict=True)
    return not array.size or all(n == 1 or t == s * array.itemsize for n, t, s in triples)


def copy_with_strides(xp: Backend, array: Array, strides: Sequence[int] | None) -> Array:
    """A copy of ``array`` with these strides, in elements; row-major for None."""
    if strides is None:
        return xp.array(array, order="C")
    flat = xp.zeros(extent(array.shape, strides), array.dtype)
    out = xp.as_strided(flat, array.shape, tuple(s * array.itemsize for s in strides))
    out[...] = array
    return out


def suggest_memory_format(array: Array) -> memory_format:
    """The memory format for a result computed from ``array``: channels last, or contiguous.

    It is channels last if the strides grow from the channels outwards; they may leave gaps.
    """
    ndim = array.ndim
    last = channels_last if ndim == 4 else channels_last_3d if ndim == 5 else None
    if last is None or array.flags.c_contiguous or not array.size:
        return contiguous_format
    order = last.order(array.ndim) or ()
    least = 0
    for d in reversed(order if array.shape[0] > 1 else order[1:]):  # a batch of 1 has any stride
        stride = array.strides[d]
        if stride < least or not stride or (d == 0 and stride == array.strides[1]):
            return contiguous_format
        least = stride * array.shape[d]
    return last


def memory_order(array: Array) -> tuple[int, ...]:
    """Dimensions of an array from the largest stride to the smallest.

    PyTorch fills tensors in this order and copies them with it.
    """
    if array.flags.c_contiguous:
        return tuple(range(array.ndim))
    return sort_by_strides(array.shape, tuple(abs(stride) for stride in array.strides))


def sort_by_strides(shape: Sequence[int], strides: Sequence[int]) -> tuple[int, ...]:
    """Dimensions from the largest stride to the smallest.

    Some pairs have no order (``compare_strides``). The insertion sort of PyTorch's TensorIterator
    therefore decides the result.
    """
    order = list(reversed(range(len(shape))))
    for end in range(1, len(order)):
        position = end
        for other in reversed(range(end)):
            is_outer = compare_strides(shape, strides, order[other], order[position])
            if is_outer is False:
                break
            if is_outer:
                order[other], order[position] = order[position], order[other]
                position = other
    return tuple(order[::-1])


def compare_strides(shape: Sequence[int], strides: Sequence[int], a: int, b: int) -> bool | None:
    """Whether dimension ``a`` is outside dimension ``b`` in memory; None if undetermined."""
    if 0 in (strides[a], strides[b]):
        return None
    if strides[a] == strides[b]:
        return True if shape[a] > shape[b] else None
    return bool(strides[a] > strides[b])


def copy_in_memory_order(xp: Backend, array: Array) -> Array:
    """A copy of ``array`` without gaps, in the array's memory order."""
    if 0 in array.strides:  # NumPy's order="K" would put expanded dimensions innermost
        order = memory_order(array)
        return xp.transpose(xp.array(array.transpose(order), order="C"), inverse_permutation(order))
    return xp.array(array, order="K")


def memory_order_like(array: Array, wanted: Any = None) -> tuple[tuple[int, ...], bool]:
    """The memory order of a new tensor like ``array``, and whether that is contiguous.

    The memory format ``wanted`` takes precedence, unless it is None or ``preserve_format``.
    """
    shape = array.shape
    if wanted is not None and wanted is not preserve_format:
        chosen = check_format("empty_like", wanted).order(array.ndim)
        return (tuple(range(array.ndim)), True) if chosen is None else (chosen, False)
    order = memory_order(array)
    several = [d for d in order if shape[d] != 1]
    return order, several == sorted(several)


def draw_in_order(
    xp: Backend, shape: Sequence[int], order: Sequence[int], draw: Callable[[Any], Array]
) -> Array:
    """An array of ``shape`` whose elements ``draw(shape)`` creates in the order ``order``."""
    return restore_order(xp, draw(tuple(shape[d] for d in order)), order)


def restore_order(xp: Backend, array: Array, order: Sequence[int]) -> Array:
    """``array``, whose dimensions were permuted by ``order``, with the permutation undone."""
    return array if list(order) == sorted(order) else array.transpose(inverse_permutation(order))


def match_memory_order(xp: Backend, array: Array, like: Array) -> Array:
    """``array``, or a copy, without gaps and in the memory order of ``like``, of the same shape."""
    if like.flags.c_contiguous:
        return as_row_major(xp, array)
    order = memory_order(like)
    return restore_order(xp, as_row_major(xp, array.transpose(order)), order)


def advanced_index_order(array: Array, index: Any, out: Array) -> Sequence[int]:
    """The memory order that PyTorch gives ``out = array[index]`` with arrays in the index.

    The other dimensions have the strides of ``array``. The dimensions of the index arrays have
    none (0 here), so they stay at the position where NumPy puts them.
    """
    items = index if isinstance(index, tuple) else (index,)
    if not out.size or any(isinstance(item, bool) for item in items):
        return range(out.ndim)
    at = [position for position, item in enumerate(items) if hasattr(item, "dtype")]
    basic = [part for item in items for part in _replace_arrays(item)]
    consumed = sum(isinstance(part, (int, slice)) for part in basic)
    rest = array[tuple(basic)]
    ahead = (
        0
        if at[-1] - at[0] >= len(at)
        else sum(
            array.ndim - consumed if item is Ellipsis else not isinstance(item, int)
            for item in items[: at[0]]
        )
    )
    strides = [abs(stride) for stride in rest.strides]
    strides[ahead:ahead] = [0] * (out.ndim - rest.ndim)
    return sort_by_strides(out.shape, strides)


def _replace_arrays(item: Any) -> list[Any]:
    """The items of a basic index that stand for ``item`` when only the other strides matter.

    An array becomes a 0 for each dimension that it indexes: a bool mask indexes as many as it has,
    an integer array one. Any other item stays.
    """
    if not hasattr(item, "dtype"):
        return [item]
    return [0] * (item.ndim if item.dtype.kind == "b" else 1)


def inverse_permutation(order: Sequence[int]) -> tuple[int, ...]:
    """The permutation that undoes ``order``."""
    return tuple(sorted(range(len(order)), key=order.__getitem__))
