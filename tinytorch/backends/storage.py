"""The memory that an array is a part of, and how much of it a window takes."""

from __future__ import annotations

from typing import Any


def extent(size: Any, stride: Any) -> int:
    """Elements from the first to the last of a window, both included."""
    if not all(size):
        return 0
    return 1 + int(sum((n - 1) * s for n, s in zip(size, stride, strict=True)))


def whole_memory(xp: Any, array: Any) -> tuple[Any, int] | None:
    """What ``Backend.memory`` returns, found by the arrays that ``array`` is a view of."""
    if not array.size or min(array.strides, default=0) < 0:
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
    """All elements of an array that owns its memory, in their order there; None: there are gaps."""
    dense = root.transpose(sorted(range(root.ndim), key=lambda axis: -root.strides[axis]))
    if not dense.flags.c_contiguous:
        return None
    flat = dense.reshape(-1)
    if flat.dtype == dtype:
        return flat
    return flat.view(dtype) if flat.nbytes % dtype.itemsize == 0 else None
