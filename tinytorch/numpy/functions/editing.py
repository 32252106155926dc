"""NumPy's functions that insert, delete and select elements, and that assign through indices."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

from ...backends import load
from ...core.tensor import Tensor
from ...ops.index.gathering import nonzero
from ...ops.pointwise.selection import where as where_
from ...ops.shape.joining import cat
from ...ops.shape.sizes import normalize_dim
from ...ops.shape.strides import broadcast_to
from .conversion import (
    array_of,
    arrays_of,
    axes_of,
    backend_of,
    flat_if_none,
    index_tensor,
    promote_strong,
)
from .registration import promote_first, register_shared


@register_shared(prepare=promote_first(2))
def append(arr: Any, values: Any, axis: int | None = None) -> Tensor:
    """``arr`` with ``values`` appended.

    Args:
        arr: Tensor of any shape.
        values: Tensor or array-like, whose shape differs from ``arr``'s only along ``axis``.
        axis: The dimension; None, the default, flattens both.

    Returns:
        A copy.

    Raises:
        RuntimeError: If the shapes do not agree.

    Example:
        >>> tt.append(tt.tensor([1, 2]), [3, 4])
        tensor([1, 2, 3, 4])
    """
    first, second = arrays_of(arr, values)
    if axis is None:
        return cat([first.ravel(), second.ravel()])
    return cat([first, second], axis)


def _positions(name: str, obj: Any, size: int) -> list[int]:
    """Convert the argument ``obj`` of ``insert`` or ``delete`` to a list of nonnegative positions.

    Args:
        name: ``"insert"`` or ``"delete"``; only for ``insert`` is ``size`` a valid position.
        obj: An int, a slice, several ints, or a bool for each position.
        size: Size of the dimension.

    Raises:
        IndexError: For a position out of bounds.
    """
    if isinstance(obj, slice):
        return list(range(*obj.indices(size)))
    values = obj.tolist() if hasattr(obj, "tolist") else obj
    given = list(values) if isinstance(values, (list, tuple, range)) else [values]
    if given and all(isinstance(i, bool) for i in given):
        return [i for i, selected in enumerate(given) if selected]
    found = []
    for i in map(operator.index, given):
        if not -size <= i <= size or (i == size and name == "delete"):
            raise IndexError(f"{name}(): index {i} is out of bounds for a dimension of size {size}")
        found.append(i + size if i < 0 else i)
    return found


@register_shared
def delete(arr: Any, obj: Any, axis: int | None = None) -> Tensor:
    """``arr`` without some of its slices.

    Args:
        arr: Tensor of any shape.
        obj: The slices to delete: an int, a slice, several ints or a bool for each.
        axis: The dimension; None, the default, means that of the flattened tensor.

    Returns:
        A copy.

    Raises:
        IndexError: For a position out of bounds.

    Example:
        >>> tt.delete(tt.tensor([1, 2, 3]), 1)
        tensor([1, 3])
    """
    x, at = flat_if_none("delete", array_of(arr), axis)
    deleted = set(_positions("delete", obj, x.shape[at]))
    remaining = [i for i in range(x.shape[at]) if i not in deleted]
    return x.index_select(at, index_tensor(remaining, x))  # type: ignore[no-any-return]


@register_shared
def insert(arr: Any, obj: Any, values: Any, axis: int | None = None) -> Tensor:
    """``arr`` with ``values`` inserted before some of its slices.

    Args:
        arr: Tensor of any shape.
        obj: Positions of these slices: an int, a slice or several ints.
        values: New slices, cast to ``arr``'s dtype, or values that broadcast to them.
        axis: The dimension; None, the default, means that of the flattened tensor.

    Returns:
        A copy.

    Raises:
        IndexError: For a position out of bounds.

    Example:
        >>> tt.insert(tt.tensor([1, 2, 3]), 1, 9)
        tensor([1, 9, 2, 3])
    """
    source, new = arrays_of(arr, values)
    x, at = flat_if_none("insert", source, axis)
    at = normalize_dim("insert", at, x.ndim)
    new = new.to(x.dtype)
    is_single = not isinstance(obj, (slice, Sequence)) and not getattr(obj, "ndim", 0)
    positions = _positions("insert", obj, x.shape[at])
    if is_single:  # Any number of slices can be inserted at a single position.
        new = new.reshape([1] * (x.ndim - new.ndim) + list(new.shape)).movedim(0, at)
        positions = positions * new.shape[at]
    shape = list(x.shape)
    shape[at] = len(positions)
    # Sort by keys: 2i + 1 for slice i, and 2i for those that are inserted before it.
    keys = [2 * i + 1 for i in range(x.shape[at])] + [2 * i for i in positions]
    order = sorted(range(len(keys)), key=keys.__getitem__)
    both: Any = cat([x, broadcast_to(new, shape)], at)
    return both.index_select(at, index_tensor(order, x))  # type: ignore[no-any-return]


@register_shared
def resize(a: Any, new_shape: int | Sequence[int]) -> Tensor:
    """The elements of ``a`` in another shape, repeated as often as needed.

    Args:
        a: Tensor of any shape.
        new_shape: The sizes.

    Returns:
        A copy.

    Raises:
        ValueError: For a negative size.

    Example:
        >>> tt.resize(tt.tensor([1, 2, 3]), (2, 2))
        tensor([[1, 2],
                [3, 1]])
    """
    x: Any = array_of(a)
    given = new_shape if isinstance(new_shape, (tuple, list)) else (new_shape,)
    shape = [operator.index(n) for n in given]
    if any(n < 0 for n in shape):
        raise ValueError(f"resize(): all elements of new_shape must be non-negative, got {shape}")
    flat, count = x.ravel(), math.prod(shape)
    if not flat.shape[0]:
        return x.new_zeros(shape)  # type: ignore[no-any-return]
    repeats = -(-count // flat.shape[0])
    return flat.repeat(repeats)[:count].reshape(shape)  # type: ignore[no-any-return]


@register_shared(
    forms=(
        "(..., filt: list[int] | list[float]) -> list[float]",
        "(..., filt: tuple[float, ...]) -> tuple[float, ...]",
        "(..., filt: Tensor) -> Tensor",
    ),
)
def trim_zeros(filt: Any, trim: str = "fb", axis: Any = None) -> Any:
    """``filt`` without the zeros at its ends.

    Args:
        filt: Tensor or array-like of any shape.
        trim: The ends to trim: ``"f"`` the front, ``"b"`` the back, ``"fb"`` (default) both.
        axis: Dimension or dimensions; None, the default, means all.

    Returns:
        A view; for a list or a tuple of numbers, a list or a tuple.

    Raises:
        ValueError: For another ``trim``.

    Example:
        >>> tt.trim_zeros(tt.tensor([0, 1, 0, 2, 0]))
        tensor([1, 0, 2])
    """
    ends = trim.lower()
    if ends not in ("f", "b", "fb", "bf"):
        raise ValueError(f"unexpected character(s) in `trim`: {trim!r}")
    x: Any = array_of(filt)
    found = nonzero(x.detach())
    key = [slice(None)] * x.ndim
    for d in axes_of("trim_zeros", axis, x.ndim):
        first, last = found[:, d].aminmax() if len(found) else (0, -1)
        start = int(first) if "f" in ends or not len(found) else 0
        key[d] = slice(start, int(last) + 1 if "b" in ends or not len(found) else None)
    if isinstance(filt, (list, tuple)) and x.ndim == 1:
        return filt[key[0]]
    return x[tuple(key)]


@register_shared
def flatnonzero(a: Any) -> Tensor:
    """Indices of the nonzero elements of the flattened tensor.

    Args:
        a: Tensor of any shape.

    Returns:
        1-d int64 tensor.

    Example:
        >>> tt.flatnonzero(tt.tensor([[0, 1], [2, 0]]))
        tensor([1, 2])
    """
    flat: Any = array_of(a).detach().ravel()
    return nonzero(flat)[:, 0]


@register_shared
def extract(condition: Any, arr: Any) -> Tensor:
    """The elements of ``arr`` for which ``condition`` is true.

    Args:
        condition: Tensor with as many elements as ``arr``, or fewer.
        arr: Tensor of any shape.

    Returns:
        1-d tensor, a copy.

    Example:
        >>> tt.extract([True, False, True], [1, 2, 3])
        tensor([1, 3])
    """
    mask, x = arrays_of(condition, arr)
    return x.ravel().index_select(0, flatnonzero(mask))  # type: ignore[no-any-return]


@register_shared
def compress(condition: Any, a: Any, axis: int | None = None) -> Tensor:
    """The slices of ``a`` along ``axis`` for which ``condition`` is true.

    Args:
        condition: Bools, one for each slice; it may have fewer.
        a: Tensor of any shape.
        axis: The dimension; None, the default, means that of the flattened tensor.

    Returns:
        A copy.

    Example:
        >>> tt.compress([False, True], tt.tensor([[1, 2], [3, 4]]), axis=0)
        tensor([[3, 4]])
    """
    mask, source = arrays_of(condition, a)
    x, at = flat_if_none("compress", source, axis)
    return x.index_select(at, flatnonzero(mask))  # type: ignore[no-any-return]


@register_shared
def take_along_axis(arr: Any, indices: Any, axis: int | None = -1) -> Tensor:
    """Elements at indices along ``axis``, such as those of ``argsort``; see ``take_along_dim``.

    Args:
        arr: Tensor of any shape.
        indices: Integers; its shape broadcasts with ``arr``'s except along ``axis``.
        axis: The dimension, default the last; None means the flattened tensor.

    Raises:
        IndexError: If an index is out of range.

    Example:
        >>> tt.take_along_axis(tt.tensor([[3, 1, 2]]), tt.tensor([[1, 2, 0]]), axis=1)
        tensor([[1, 2, 3]])
    """
    x, index = arrays_of(arr, indices)
    return x.take_along_dim(index.long(), axis)  # type: ignore[no-any-return]


def _depth(arrays: Any) -> int:
    """Depth of nested lists: 0 for something else than a list, 1 for a list without lists."""
    return 1 + max((_depth(a) for a in arrays), default=0) if isinstance(arrays, list) else 0


def _join_blocks(arrays: Any, depth: int, ndim: int, backend: Any) -> Tensor:
    """Join the nested lists of ``block`` to one tensor.

    Args:
        arrays: Nested lists of arrays, or one array, which gets ``ndim`` dimensions.
        depth: Depth of the lists: a list at depth ``k``, where the innermost have depth 1, is
            joined along dimension ``-k``.
        ndim: Number of dimensions of the result.
        backend: Backend of the result; None means the active one.
    """
    if not isinstance(arrays, list):
        x: Any = array_of(arrays, backend)
        return x.reshape([1] * (ndim - x.ndim) + list(x.shape))  # type: ignore[no-any-return]
    if not arrays:
        raise ValueError("block(): lists cannot be empty")
    return cat([_join_blocks(a, depth - 1, ndim, backend) for a in arrays], -depth)


def _leaves(arrays: Any) -> list[Any]:
    """The items of nested lists that are not lists."""
    if not isinstance(arrays, list):
        return [arrays]
    return [leaf for part in arrays for leaf in _leaves(part)]


def _promote_blocks(arrays: Any) -> tuple[Any, ...]:
    """Promote the tensors in nested lists to their common dtype by NumPy's rules.

    Returns:
        A tuple of the new nested lists, as the only argument of ``block``.
    """
    found = iter(promote_strong(*_leaves(arrays)))

    def replace(part: Any) -> Any:
        return list(map(replace, part)) if isinstance(part, list) else next(found)

    return (replace(arrays),)


@register_shared(prepare=_promote_blocks)
def block(arrays: Any) -> Tensor:
    """Join nested lists of blocks to one tensor.

    Args:
        arrays: Nested lists of tensors: the innermost are joined along the last dimension,
            their results along the one before, and so on.

    Raises:
        ValueError: For an empty list.
        RuntimeError: If the shapes do not fit.

    Example:
        >>> tt.block([[tt.eye(1), tt.zeros(1, 2)], [tt.ones(1, 3)]])
        tensor([[1., 0., 0.],
                [1., 1., 1.]])
    """
    depth = _depth(arrays)
    ndim = max(depth, *(array_of(leaf).ndim for leaf in _leaves(arrays)), 0)
    return _join_blocks(arrays, depth, ndim, backend_of(arrays)).clone()


def _target(name: str, value: Any) -> Any:
    """Check that the argument to write to is a Tensor, and return it."""
    if not isinstance(value, Tensor):
        raise TypeError(f"{name}(): expected a Tensor to write to, got {type(value).__name__}")
    return value


@register_shared
def copyto(dst: Tensor, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    """Write the values of ``src`` to the elements of ``dst`` for which ``where`` is true.

    Args:
        dst: The tensor to write to.
        src: Values that broadcast with it.
        casting: Which casts to ``dst``'s dtype are allowed: ``"no"``, ``"equiv"``, ``"safe"``,
            ``"same_kind"`` (default) or ``"unsafe"``.
        where: Bools that broadcast with ``dst``; default all elements.

    Raises:
        TypeError: If a cast is not allowed.
        RuntimeError: If the shapes do not broadcast, or a leaf that requires grad is written to.

    Example:
        >>> x = tt.zeros(3)
        >>> tt.copyto(x, 2, where=[True, False, True])
        >>> x
        tensor([2., 0., 2.])
    """
    target = _target("copyto", dst)
    values: Any = array_of(src, target._xp)
    if not _is_castable(src, values, target, casting):
        raise TypeError(
            f"copyto(): cannot cast {values.dtype.name} to {target.dtype.name} according to the "
            f"rule {casting!r}"
        )
    values = values.to(target.dtype)
    if where is not True:
        values = where_(array_of(where, target._xp), values, target)
    target.copy_(values)


def _is_castable(src: Any, values: Any, target: Any, casting: str) -> bool:
    """Whether ``copyto`` may cast its values to the dtype of the tensor to write to.

    Args:
        src: The argument of ``copyto``. Of a Python number only the kind counts, not its dtype.
        values: That argument as a tensor.
        target: The tensor to write to.
        casting: NumPy's rule; see ``copyto``.
    """
    if isinstance(src, (bool, int, float, complex)):
        # Categories ascend: bool, integer, floating-point, complex.
        return casting == "unsafe" or values.dtype.category <= target.dtype.category
    can_cast = load("numpy").library.can_cast
    return bool(can_cast(values.dtype.dtype, target.dtype.dtype, casting))


@register_shared
def putmask(a: Tensor, mask: Any, values: Any) -> None:
    """Write to the elements of ``a`` for which ``mask`` is true the values at their positions.

    Args:
        a: The tensor to write to.
        mask: Bools of ``a``'s shape.
        values: Values, repeated if there are fewer than elements of ``a``.

    Example:
        >>> x = tt.tensor([1, 2, 3, 4])
        >>> tt.putmask(x, x > 2, [10, 20])
        >>> x
        tensor([ 1,  2, 10, 20])
    """
    target = _target("putmask", a)
    where, given = (array_of(v, target._xp) for v in (mask, values))
    if not given.numel():
        return
    repeated: Any = resize(given, tuple(target.shape)).to(target.dtype)
    target.copy_(where_(where.reshape(target.shape).bool(), repeated, target))


@register_shared
def place(arr: Tensor, mask: Any, vals: Any) -> None:
    """Write ``vals``, one after the other, to the elements of ``arr`` for which ``mask`` is true.

    Args:
        arr: The tensor to write to.
        mask: Bools of ``arr``'s shape.
        vals: Values, repeated if there are fewer than such elements.

    Raises:
        ValueError: If there are no values.

    Example:
        >>> x = tt.tensor([1, 2, 3, 4])
        >>> tt.place(x, x > 1, [10, 20])
        >>> x
        tensor([ 1, 10, 20, 10])
    """
    target = _target("place", arr)
    values = array_of(vals, target._xp)
    index = flatnonzero(array_of(mask, target._xp))
    if not index.shape[0]:
        return
    if not values.numel():
        raise ValueError("place(): cannot insert from an empty array")
    source: Any = resize(values, index.shape[0]).to(target.dtype)
    target.put_(index, source)


@register_shared
def put_along_axis(arr: Tensor, indices: Any, values: Any, axis: int | None) -> None:
    """Write ``values`` to elements at indices along ``axis``, such as those of ``argmax``.

    Args:
        arr: The tensor to write to.
        indices: Integers; its shape broadcasts with ``arr``'s except along ``axis``.
        values: Values that broadcast with ``indices``.
        axis: The dimension; None means the flattened tensor.

    Raises:
        RuntimeError: If an index is out of range.

    Example:
        >>> x = tt.tensor([[10, 30, 20], [60, 40, 50]])
        >>> tt.put_along_axis(x, tt.tensor([[1], [0]]), 99, axis=1)
        >>> x
        tensor([[10, 99, 20],
                [99, 40, 50]])
    """
    target = _target("put_along_axis", arr)
    index: Any = array_of(indices, target._xp).long()
    new: Any = array_of(values, target._xp).to(target.dtype)
    if axis is None:
        target.put_(index, broadcast_to(new, tuple(index.shape)).contiguous())
        return
    shape = list(target.shape)
    shape[axis] = index.shape[axis]
    index = broadcast_to(index, shape)
    index = where_(index < 0, index + target.shape[axis], index)
    target.scatter_(axis, index, broadcast_to(new, shape))


@register_shared
def fill_diagonal(a: Tensor, val: Any, wrap: bool = False) -> None:
    """Write ``val`` to the main diagonal of ``a``.

    Args:
        a: The tensor to write to, of two or more dimensions; if there are more than two, they
            have one size.
        val: A number, or values, repeated if there are fewer than elements of the diagonal.
        wrap: Whether in a tall matrix the diagonal starts again, one row after its end.

    Raises:
        ValueError: For another shape.

    Example:
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
    index = index_tensor(range(0, stop, step), target)
    source: Any = resize(array_of(val, target._xp), index.shape[0]).to(target.dtype)
    target.put_(index, source)
