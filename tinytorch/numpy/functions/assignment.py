"""Elements written in place, as NumPy's functions of no result do."""

from __future__ import annotations

import math
from typing import Any

from ...backends import load
from ...core.tensor import Tensor
from ...ops.pointwise.selection import where as where_
from ...ops.shape.broadcasting import broadcast_to
from .conversion import array_of, indices_of
from .editing import flatnonzero, resize
from .registration import shared


def _target(name: str, value: Any) -> Any:
    if not isinstance(value, Tensor):
        raise TypeError(f"{name}(): expected a Tensor to write to, got {type(value).__name__}")
    return value


@shared
def copyto(dst: Tensor, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    """Write the values of ``src`` to ``dst``, where ``where`` holds.

    Args:
        dst: The tensor that is written to.
        src: Values that broadcast with it.
        casting: Which casts to ``dst``'s dtype are allowed: ``"no"``, ``"equiv"``, ``"safe"``,
            ``"same_kind"`` (default) or ``"unsafe"``.
        where: Bools that broadcast with ``dst``; default everywhere.

    Raises:
        TypeError: If a cast is not allowed.
        RuntimeError: If the shapes do not broadcast, or a leaf that requires grad is written to.

    Example:
        >>> import tinytorch as tt
        >>> x = tt.zeros(3)
        >>> tt.copyto(x, 2, where=[True, False, True])
        >>> x
        tensor([2., 0., 2.])
    """
    target = _target("copyto", dst)
    values: Any = array_of(src, target._xp)
    if not _castable(src, values, target, casting):
        raise TypeError(
            f"copyto(): cannot cast {values.dtype.name} to {target.dtype.name} according to the "
            f"rule {casting!r}"
        )
    values = values.to(target.dtype)
    if where is not True:
        chosen = array_of(where, target._xp)
        values = where_(chosen, values, target)
    target.copy_(values)


def _castable(src: Any, values: Any, target: Any, casting: str) -> bool:
    """Whether NumPy's rule allows the cast; of Python's numbers the kind alone counts."""
    if isinstance(src, (bool, int, float, complex)):
        return casting == "unsafe" or values.dtype.category <= target.dtype.category
    can_cast = load("numpy").library.can_cast
    return bool(can_cast(values.dtype.dtype, target.dtype.dtype, casting))


@shared
def putmask(a: Tensor, mask: Any, values: Any) -> None:
    """Write to the places of ``a`` where ``mask`` holds the values at the same places.

    Args:
        a: The tensor that is written to.
        mask: Bools of ``a``'s shape.
        values: Values, repeated if there are fewer than elements of ``a``.

    Example:
        >>> import tinytorch as tt
        >>> x = tt.tensor([1, 2, 3, 4])
        >>> tt.putmask(x, x > 2, [10, 20])
        >>> x
        tensor([ 1,  2, 10, 20])
    """
    target = _target("putmask", a)
    chosen, given = (array_of(v, target._xp) for v in (mask, values))
    if not given.numel():
        return
    repeated: Any = resize(given, tuple(target.shape)).to(target.dtype)
    target.copy_(where_(chosen.reshape(target.shape).bool(), repeated, target))


@shared
def place(arr: Tensor, mask: Any, vals: Any) -> None:
    """Write ``vals``, one after the other, to the places of ``arr`` where ``mask`` holds.

    Args:
        arr: The tensor that is written to.
        mask: Bools of ``arr``'s shape.
        vals: Values, repeated if there are fewer than places.

    Raises:
        ValueError: If there are no values.

    Example:
        >>> import tinytorch as tt
        >>> x = tt.tensor([1, 2, 3, 4])
        >>> tt.place(x, x > 1, [10, 20])
        >>> x
        tensor([ 1, 10, 20, 10])
    """
    target = _target("place", arr)
    values = array_of(vals, target._xp)
    places = flatnonzero(array_of(mask, target._xp))
    count = places.shape[0]
    if not count:
        return
    if not values.numel():
        raise ValueError("place(): cannot insert from an empty array")
    source: Any = resize(values, count).to(target.dtype)
    target.put_(places, source)


@shared
def put_along_axis(arr: Tensor, indices: Any, values: Any, axis: int | None) -> None:
    """Write ``values`` to the elements along ``axis`` that ``argsort`` and ``argmax`` named.

    Args:
        arr: The tensor that is written to.
        indices: Integers; its shape and ``arr``'s broadcast but for ``axis``.
        values: Values that broadcast with ``indices``.
        axis: The dimension; None means the flattened tensor.

    Raises:
        RuntimeError: If an index is out of range.

    Example:
        >>> import tinytorch as tt
        >>> x = tt.tensor([[10, 30, 20], [60, 40, 50]])
        >>> tt.put_along_axis(x, tt.tensor([[1], [0]]), 99, axis=1)
        >>> x
        tensor([[10, 99, 20],
                [99, 40, 50]])
    """
    target = _target("put_along_axis", arr)
    places: Any = array_of(indices, target._xp).long()
    new: Any = array_of(values, target._xp).to(target.dtype)
    if axis is None:
        target.put_(places, broadcast_to(new, tuple(places.shape)).contiguous())
        return
    shape = list(target.shape)
    shape[axis] = places.shape[axis]
    places = broadcast_to(places, shape)
    size = target.shape[axis]
    places = where_(places < 0, places + size, places)
    target.scatter_(axis, places, broadcast_to(new, shape))


@shared
def fill_diagonal(a: Tensor, val: Any, wrap: bool = False) -> None:
    """Write ``val`` to the main diagonal of ``a``.

    Args:
        a: The tensor that is written to, of two or more dimensions; of more than two all are
            of one size.
        val: A number, or values, repeated if there are fewer than places.
        wrap: Whether in a tall matrix the diagonal begins anew after a row.

    Raises:
        ValueError: For another shape.

    Example:
        >>> import tinytorch as tt
        >>> x = tt.zeros(2, 3)
        >>> tt.fill_diagonal(x, 5)
        >>> x
        tensor([[5., 0., 0.],
                [0., 5., 0.]])
    """
    target = _target("fill_diagonal", a)
    shape = list(target.shape)
    if len(shape) < 2 or (len(shape) > 2 and len(set(shape)) > 1):
        raise ValueError(
            f"fill_diagonal(): expected two dimensions, or more of one size, got shape {shape}"
        )
    step = sum(math.prod(shape[d + 1 :]) for d in range(len(shape)))
    stop = target.numel()
    if len(shape) == 2 and not wrap:
        stop = min(stop, shape[1] * shape[1])
    places = indices_of(range(0, stop, step), target)
    source: Any = resize(array_of(val, target._xp), places.shape[0]).to(target.dtype)
    target.put_(places, source)
