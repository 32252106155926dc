"""Memory layout of arrays: the memory block of a view, its extent and its order."""

from __future__ import annotations

from typing import Any


class WritableMemory:
    """Part of a backend whose library has no read-only arrays and would write to shared elements.

    Such an array must not be written where several of its elements share one memory.
    """

    refuses_writes = False

    def readonly(self, array: Any) -> bool:
        """Whether several elements of ``array`` share one memory."""
        return shares_elements(array)

    def memory_is_readonly(self, array: Any) -> bool:
        """False."""
        return False

    def writable(self, array: Any) -> Any:
        """Return ``array``; raise ValueError if several of its elements share one memory."""
        if shares_elements(array):
            raise ValueError("one element stands for many")
        return array

    def writable_view(self, array: Any) -> Any:
        """Return ``array``, to which the library writes also if elements share one memory."""
        return array


def shares_elements(array: Any) -> bool:
    """Whether several elements of an array share one memory by a stride of 0."""
    strides = array.strides
    return 0 in strides and array.size > 0 and any(
        size > 1 and not step for size, step in zip(array.shape, strides, strict=True)
    )  # fmt: skip


def extent(size: Any, stride: Any) -> int:
    """Number of elements from the first to the last of a view, both included."""
    last = 0
    for n, step in zip(size, stride, strict=True):
        if not n:
            return 0
        last += (n - 1) * step
    return int(last) + 1


def row_major(size: Any) -> tuple[int, ...]:
    """Row-major strides, in elements."""
    steps, step = [], 1
    for n in reversed(size):
        steps.append(step)
        step *= max(n, 1)
    return tuple(reversed(steps))


def whole_memory(xp: Any, array: Any) -> tuple[Any, int] | None:
    """``Backend.memory``, found by following the bases of ``array``."""
    if min(array.strides, default=0) < 0:
        return None
    root = array
    base = getattr(array, "base", None)
    while base is not None:
        if isinstance(base, xp.array_type):
            root = base
        base = getattr(base, "base", None)
    flat = _flat(root, array.dtype)
    if flat is None:
        return None
    distance = xp.address(array) - xp.address(flat)
    if any(step % array.itemsize for step in (distance, *array.strides)):
        return None
    start = distance // array.itemsize
    span = extent(array.shape, [step // array.itemsize for step in array.strides])
    return (flat, start) if 0 <= start and start + span <= flat.size else None


def _flat(root: Any, dtype: Any) -> Any:
    """``flat_order`` as elements of ``dtype``.

    None if there are gaps, or if the number of bytes is not a multiple of the dtype's size.
    """
    flat = flat_order(root)
    if flat is None or flat.dtype == dtype:
        return flat
    return flat.view(dtype) if flat.nbytes % dtype.itemsize == 0 else None


def flat_order(root: Any) -> Any:
    """Elements of an array that owns its memory, in memory order; None if there are gaps."""
    dense = root.transpose(sorted(range(root.ndim), key=lambda axis: -root.strides[axis]))
    return dense.reshape(-1) if dense.flags.c_contiguous else None


def window(xp: Any, flat: Any, start: int, shape: Any, strides: Any) -> Any:
    """View of ``flat`` that begins at ``start`` and has these strides, in elements."""
    if tuple(strides) == row_major(shape):
        return flat[start : start + extent(shape, strides)].reshape(shape)
    return xp.as_strided(flat[start:], shape, [step * flat.itemsize for step in strides])


def dense_order(array: Any) -> list[int] | None:
    """Dimensions from the outermost in memory to the innermost.

    None if elements share memory or there are gaps between them.
    """
    if array.flags.c_contiguous:
        return list(range(array.ndim))
    order = sorted(range(array.ndim), key=lambda d: (array.shape[d] != 1, -array.strides[d]))
    return order if array.transpose(order).flags.c_contiguous else None


def match_order(xp: Any, array: Any, like: Any, fresh: bool) -> Any:
    """Copy ``array`` to the memory order of ``like``.

    The order is row-major if ``like`` has gaps or elements that share memory. With ``fresh`` an
    array that already has this order is returned itself.
    """
    fresh = fresh and array.__class__ is xp.array_type  # NumPy's conj may give a scalar
    order = None if like.flags.c_contiguous else dense_order(like)
    if order is None:
        return array if fresh and array.flags.c_contiguous else xp.array(array, order="C")
    array = array.transpose(order)
    array = array if fresh and array.flags.c_contiguous else xp.array(array, order="C")
    return array.transpose(sorted(range(array.ndim), key=order.__getitem__))


def deep_copy(xp: Any, array: Any, memo: dict[Any, Any]) -> tuple[Any, Any]:
    """Copy an array. Arrays that share memory share its copy, as in PyTorch.

    Args:
        xp: Backend of the array.
        array: The array.
        memo: The dictionary of ``copy.deepcopy``, which also holds the copies of memory.

    Returns:
        The copy and its whole memory block, or None if the copy is the whole block.
    """
    found = xp.memory(array)
    if found is None:
        return xp.array(array), None
    whole, start = found
    copies = memo.setdefault("tinytorch", {})
    key = xp.owner(whole)
    if key not in copies:
        copies[key] = xp.array(whole), whole  # the block must live as long as its key is used
    flat = copies[key][0].view(array.dtype)
    part = window(xp, flat, start, array.shape, [step // array.itemsize for step in array.strides])
    return part, None if part.size == flat.size else flat
