"""In which order elements lie in memory: of results, and of tensors made after another.

PyTorch's element-by-element functions keep the order of their input, as NumPy's do; many others
write row by row whatever the input's. What may be seen through ``view`` hangs on it.
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


def in_rows(xp: Backend, array: Array) -> Array:
    """``array``, or a copy, with its elements in row-major order in memory."""
    return array if array.flags.c_contiguous else xp.ascontiguousarray(array)


def arranged(xp: Backend, array: Array, wanted: memory_format) -> Array:
    """``array``, or a copy, with its elements in the ``wanted`` order in memory.

    Raises:
        RuntimeError: If ``wanted`` is an order for another number of dimensions.
    """
    order = wanted.order(array.ndim)
    if wanted.holds(array):
        return array
    if order is None:
        return xp.ascontiguousarray(array)
    return xp.ascontiguousarray(array.transpose(order)).transpose(back(order))


def lies(array: Array, strides: Sequence[int]) -> bool:
    """Whether the elements of ``array`` are as many elements apart as ``strides`` says."""
    steps = zip(array.shape, array.strides, strides, strict=True)
    return not array.size or all(n == 1 or t == s * array.itemsize for n, t, s in steps)


def laid(xp: Backend, array: Array, strides: Sequence[int] | None) -> Array:
    """A copy of ``array`` with its elements so far apart; None: in row-major order."""
    if strides is None:
        return xp.array(array, order="C")
    flat = xp.zeros(extent(array.shape, strides), array.dtype)
    out = xp.as_strided(flat, array.shape, tuple(s * array.itemsize for s in strides))
    out[...] = array
    return out


def suggested(array: Array) -> memory_format:
    """The format of what is computed from ``array``: channels last if it lies so, else row-major.

    It lies so if steps grow from the channels outwards; they may leave gaps.
    """
    ndim = array.ndim
    last = channels_last if ndim == 4 else channels_last_3d if ndim == 5 else None
    if last is None or array.flags.c_contiguous or not array.size:
        return contiguous_format
    order = last.order(array.ndim) or ()
    least = 0
    for d in reversed(order if array.shape[0] > 1 else order[1:]):  # one's step may be any
        step = array.strides[d]
        if step < least or not step or (d == 0 and step == array.strides[1]):
            return contiguous_format
        least = step * array.shape[d]
    return last


def memory_order(array: Array) -> tuple[int, ...]:
    """Dimensions from the one with the longest steps in memory to the shortest.

    That is the order in which torch fills a tensor, and that of the copies it makes.
    """
    if array.flags.c_contiguous:
        return tuple(range(array.ndim))
    return from_longest(array.shape, tuple(abs(step) for step in array.strides))


def from_longest(shape: Sequence[int], strides: Sequence[int]) -> tuple[int, ...]:
    """The dimensions by their steps, by an insertion sort, because not all can be compared."""
    order = list(reversed(range(len(shape))))
    for end in range(1, len(order)):
        place = end
        for other in reversed(range(end)):
            longer = longer_steps(shape, strides, order[other], order[place])
            if longer is False:
                break
            if longer:
                order[other], order[place] = order[place], order[other]
                place = other
    return tuple(order[::-1])


def longer_steps(shape: Sequence[int], strides: Sequence[int], a: int, b: int) -> bool | None:
    """Whether dimension ``a`` belongs outside ``b``; None if that does not matter."""
    if 0 in (strides[a], strides[b]):
        return None
    if strides[a] == strides[b]:
        return True if shape[a] > shape[b] else None
    return bool(strides[a] > strides[b])


def copied(xp: Backend, array: Array) -> Array:
    """A copy of ``array`` without gaps and in its order in memory."""
    if 0 in array.strides:  # the library would put what is expanded innermost
        order = memory_order(array)
        return xp.transpose(xp.array(xp.transpose(array, order), order="C"), back(order))
    return xp.array(array, order="K")


def order_like(array: Array, wanted: Any = None) -> tuple[tuple[int, ...], bool]:
    """The order in memory of a new tensor like ``array``, and whether it is contiguous.

    ``wanted`` is a format to have instead of its order.
    """
    shape = array.shape
    if wanted is not None and wanted is not preserve_format:
        chosen = check_format("empty_like", wanted).order(array.ndim)
        return (tuple(range(array.ndim)), True) if chosen is None else (chosen, False)
    order = memory_order(array)
    longer = [d for d in order if shape[d] != 1]
    return order, longer == sorted(longer)


def in_order(
    xp: Backend, shape: Sequence[int], order: Sequence[int], draw: Callable[[Any], Array]
) -> Array:
    """An array of ``shape``, drawn in the order of its dimensions that ``order`` says."""
    return restored(xp, draw(tuple(shape[d] for d in order)), order)


def restored(xp: Backend, array: Array, order: Sequence[int]) -> Array:
    """``array``, of which the dimensions are in ``order``, with them in the usual one."""
    return array if list(order) == sorted(order) else xp.transpose(array, back(order))


def ordered_like(xp: Backend, array: Array, like: Array) -> Array:
    """``array``, or a copy, without gaps and in the order in memory of ``like``, of its shape."""
    if like.flags.c_contiguous:
        return in_rows(xp, array)
    order = memory_order(like)
    return restored(xp, in_rows(xp, xp.transpose(array, order)), order)


def order_of_chosen(array: Array, index: Any, out: Array) -> Sequence[int]:
    """The order in memory in which torch lays ``out = array[index]``, with arrays in the index.

    What they choose has no steps of its own: it stays where NumPy puts it.
    """
    items = index if isinstance(index, tuple) else (index,)
    if not out.size or any(isinstance(item, bool) for item in items):
        return range(out.ndim)
    at = [place for place, item in enumerate(items) if hasattr(item, "dtype")]
    plain = [part for item in items for part in _first(item)]
    taken = sum(isinstance(part, (int, slice)) for part in plain)
    rest = array[tuple(plain)]
    ahead = (
        0
        if at[-1] - at[0] >= len(at)
        else sum(
            array.ndim - taken if item is Ellipsis else not isinstance(item, int)
            for item in items[: at[0]]
        )
    )
    steps = [abs(step) for step in rest.strides]
    steps[ahead:ahead] = [0] * (out.ndim - rest.ndim)
    return from_longest(out.shape, steps)


def _first(item: Any) -> list[Any]:
    """An array of an index as numbers, one for each dimension it takes; other items as they are."""
    if not hasattr(item, "dtype"):
        return [item]
    return [0] * (item.ndim if item.dtype.kind == "b" else 1)


def back(order: Sequence[int]) -> tuple[int, ...]:
    """The permutation that undoes ``order``."""
    return tuple(sorted(range(len(order)), key=lambda place: order[place]))
