"""NumPy's sorting, searching and choosing, and sets of distinct elements."""

from __future__ import annotations

import functools
import math
from typing import Any

from ... import dtypes
from ...core.tensor import Tensor
from ...ops.create import factories
from ...ops.index import gathering
from ...ops.pointwise import selection
from ...ops.results import named_result
from ...ops.shape import joining as joining_ops
from ...ops.shape import strides
from ...ops.shape.joining import cat
from ...ops.shape.sizes import normalize_dim
from ...ops.sort import sorting
from ...ops.sort import unique as unique_ops
from . import editing, ufuncs
from .conversion import (
    array_of,
    arrays_of,
    as_dtype,
    common_dtype,
    flat_if_none,
    is_number,
    promote,
    tensor_of,
    tensors_of,
    wrap_or_clip,
    write_out,
)
from .registration import (
    numpy_function,
    numpy_function_where,
    numpy_function_with_indices,
    promote_first,
    register_shared,
)


def _orderable(x: Any) -> Any:
    return x.to(dtypes.uint8) if x.dtype is dtypes.bool else x


@numpy_function
def sort_complex(a: Any) -> Tensor:
    """The elements as complex numbers, in order of real parts and then of imaginary ones.

    Args:
        a: Tensor, or what makes one.

    Example:
        >>> np.sort_complex([5, 3, 6])
        array([3.+0.j, 5.+0.j, 6.+0.j])
    """
    x: Any = sort(a)
    short = x.dtype.category == 1 and x.dtype.itemsize < 4
    kind = dtypes.complex64 if short else dtypes.complex128
    return x if x.is_complex() else x.to(kind)  # type: ignore[no-any-return]


@numpy_function
def sort(
    a: Any, axis: int | None = -1, kind: str | None = None, order: Any = None, *,
    stable: bool | None = None, descending: bool = False,
) -> Tensor:  # fmt: skip
    """The elements in ascending order along ``axis``.

    Args:
        a: Tensor, or what makes one.
        axis: The dimension, default the last; None means that of the flattened tensor.
        kind: Accepted; equal elements stay in their order.
        order: Must be None.
        stable: Accepted.
        descending: From the largest down, as the array API standard spells it.

    Example:
        >>> np.sort([[3, 1], [2, 4]], axis=0)
        array([[2, 1],
               [3, 4]])
    """
    x, at = flat_if_none("sort", tensor_of(a), axis)
    if x.is_complex():
        return x.gather(at, _order(x, at, descending))  # type: ignore[no-any-return]
    found = sorting.sort(_orderable(x), at, descending)[0]
    return found.to(x.dtype)


@numpy_function
def argsort(
    a: Any, axis: int | None = -1, kind: str | None = None, order: Any = None, *,
    stable: bool | None = None, descending: bool = False,
) -> Tensor:  # fmt: skip
    """The indices that sort along ``axis``; equal elements stay in their order.

    Args:
        a: Tensor, or what makes one.
        axis: The dimension, default the last; None means that of the flattened tensor.
        kind: Accepted.
        order: Must be None.
        stable: Accepted.
        descending: From the largest down, as the array API standard spells it.

    Example:
        >>> np.argsort([30, 10, 20])
        array([1, 2, 0])
    """
    x = tensor_of(a)
    x, at = flat_if_none("argsort", x if x.ndim else x.reshape(1), axis)
    return _order(x, at, descending)  # type: ignore[no-any-return]


def _order(x: Any, axis: int, descending: bool) -> Any:
    """The indices that sort; complex numbers by their real parts, and then by imaginary ones."""
    find_order = functools.partial(sorting.argsort, descending=descending, stable=True)
    if not x.is_complex():
        return find_order(_orderable(x), axis)
    first = find_order(x.imag, axis)
    return first.gather(axis, find_order(x.real.gather(axis, first), axis))


@numpy_function
def nonzero(a: Any) -> tuple[Tensor, ...]:
    """Where the elements that are not zero lie: the indices in each dimension.

    Args:
        a: Tensor of at least one dimension.

    Raises:
        ValueError: For a 0-d tensor.

    Example:
        >>> np.nonzero([0, 5, 0, 7])
        (array([1, 3]),)
    """
    x = tensor_of(a)
    if not x.ndim:
        raise ValueError("Calling nonzero on 0d arrays is not allowed.")
    return tuple(gathering.nonzero(x.detach(), as_tuple=True))


@numpy_function
def argwhere(a: Any) -> Tensor:
    """Where the elements that are not zero lie: the indices of each, as a matrix.

    Args:
        a: Tensor, or what makes one.

    Example:
        >>> np.argwhere([[0, 5], [7, 0]])
        array([[0, 1],
               [1, 0]])
    """
    return gathering.argwhere(tensor_of(a).detach())


@numpy_function_where
def where(condition: Any, x: Any = None, y: Any = None, /) -> Any:
    """Elements of one tensor where a condition holds, and of another elsewhere.

    Args:
        condition: Tensor, or what makes one.
        x: Elements where it holds; without ``x`` and ``y``, the places where it does.
        y: Elements elsewhere.

    Raises:
        ValueError: If there is one of them alone.

    Returns:
        Tensor of the common shape; without choices what ``nonzero`` gives.

    Example:
        >>> np.where([True, False], [1, 2], 0)
        array([1, 0])
        >>> np.where([False, True])
        (array([1]),)
    """
    if x is None and y is None:
        return nonzero(condition)
    if x is None or y is None:
        raise ValueError("either both or neither of x and y should be given")
    if isinstance(x, Tensor) and isinstance(y, Tensor) and x._data.dtype != y._data.dtype:
        x, y = promote(x, y)
    elif not isinstance(x, Tensor) and not isinstance(y, Tensor):
        x, y = promote(x, y)
    elif not isinstance(x, Tensor):
        x = _beside(x, y)
    elif not isinstance(y, Tensor):
        y = _beside(y, x)
    mask = tensor_of(condition, (x if isinstance(x, Tensor) else y)._xp)
    mask = mask if mask.dtype is dtypes.bool else mask.bool()
    return selection.where(mask, x, y)


def _beside(value: Any, tensor: Any) -> Any:
    """A number as it is beside floats, and anything else as a tensor."""
    if isinstance(value, (int, float)) and tensor.dtype.category > 1:
        return value
    if is_number(value):
        return tensor_of(value, tensor._xp).to(common_dtype(tensor, value))
    return tensor_of(value, tensor._xp)


@numpy_function
def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Tensor:
    """Where elements would go in a sorted vector.

    Args:
        a: Tensor of shape ``(n,)``, in ascending order or put there by ``sorter``.
        v: What to look for; tensor of any shape.
        side: ``"left"`` (default), before equal elements, or ``"right"``, after them.
        sorter: Indices that sort ``a``.

    Example:
        >>> np.searchsorted([1, 3, 5], [3, 4])
        array([1, 2])
    """
    places, values = promote(a, v)
    if sorter is not None:
        places = places[tensor_of(sorter, places._xp).long()]
    found: Tensor = sorting.searchsorted(places, values.contiguous(), side=side)
    if side == "left" and places.dtype.category == 2:  # before the first NaN, not at the end
        numbers = places.shape[0] - places.isnan().sum()
        found = found.where(values == values, numbers)
    return found


@numpy_function
def isin(
    element: Any, test_elements: Any, assume_unique: bool = False, invert: bool = False, *,
    kind: str | None = None,
) -> Tensor:  # fmt: skip
    """Whether each element is among others.

    Args:
        element: Tensor, or what makes one.
        test_elements: The others.
        assume_unique: The elements of each are known to be distinct.
        invert: Whether it is not.
        kind: Accepted.

    Example:
        >>> np.isin([1, 2, 3], [2, 3, 4])
        array([False,  True,  True])
    """
    if isinstance(test_elements, (set, frozenset, dict)):  # one object to NumPy, equal to no number
        return factories.full(tuple(tensor_of(element).shape), bool(invert))
    x, others = promote(element, test_elements)
    return sorting.isin(x, others, invert=bool(invert))


@numpy_function_with_indices
def unique(
    ar: Any, return_index: bool = False, return_inverse: bool = False,
    return_counts: bool = False, axis: int | None = None, *, equal_nan: bool = True,
    sorted: bool = True,
) -> Any:  # fmt: skip
    """The distinct elements, or slices along ``axis``, in ascending order.

    Args:
        ar: Tensor, or what makes one.
        return_index: Also return where each comes first.
        return_inverse: Also return which of them each element is.
        return_counts: Also return how often each comes.
        axis: The dimension of the slices; default elements.
        equal_nan: Whether NaNs are equal to each other.
        sorted: Accepted; they are.

    Example:
        >>> np.unique([3, 1, 3], return_counts=True)
        (array([1, 3]), array([1, 2]))
    """
    x = tensor_of(ar)
    options: Any = {"return_index": return_index, "equal_nan": equal_nan}
    return unique_ops.unique(
        x, return_inverse=return_inverse, return_counts=return_counts, dim=axis, **options
    )


@numpy_function
def select(condlist: Any, choicelist: Any, default: Any = 0) -> Tensor:
    """For each element the choice of the first condition that holds.

    Args:
        condlist: Conditions.
        choicelist: As many tensors.
        default: Where none holds.

    Raises:
        ValueError: If there are not as many conditions as choices, or none.

    Example:
        >>> x = np.arange(4)
        >>> np.select([x < 1, x > 2], [x, 10 * x], default=-1)
        array([ 0, -1, -1, 30])
    """
    if len(condlist) != len(choicelist) or not condlist:
        raise ValueError("list of cases must be same length as list of conditions")
    *choices, rest = promote(*choicelist, default)
    found = rest
    conditions = tensors_of(*condlist)
    for mask, choice in zip(reversed(conditions), reversed(choices), strict=True):
        found = selection.where(mask.bool(), choice, found)
    return found  # type: ignore[no-any-return]


@numpy_function
def choose(a: Any, choices: Any, out: Tensor | None = None, mode: str = "raise") -> Tensor:
    """For each element the one in its place of the choice that it names by number.

    Args:
        a: Integers.
        choices: Arrays that broadcast with ``a`` and each other.
        out: Where to write the result.
        mode: What happens to a number that there is not: ``"raise"``, ``"wrap"`` or ``"clip"``.

    Raises:
        ValueError: For a number that there is not.

    Example:
        >>> np.choose([0, 1, 0], [[1, 2, 3], [10, 20, 30]])
        array([ 1, 20,  3])
    """
    options = promote(*choices)
    places = wrap_or_clip("choose", tensor_of(a, options[0]._xp), len(options), mode)
    if bool(((places < 0) | (places >= len(options))).any()):
        raise ValueError("invalid entry in choice array")
    found = options[0]
    for i, choice in enumerate(options[1:], 1):
        found = selection.where(places == i, choice, found)
    shape = strides.broadcast_shapes(tuple(places.shape), tuple(found.shape))
    return write_out(found.expand(tuple(shape)).clone(), out)  # type: ignore[no-any-return]


@numpy_function
def put(a: Tensor, ind: Any, v: Any, mode: str = "raise") -> None:
    """Write values to places of the flattened ``a``.

    Args:
        a: The tensor that is written to.
        ind: The places.
        v: The values, repeated if there are fewer.
        mode: What happens to a place out of range: ``"raise"``, ``"wrap"`` or ``"clip"``.

    Raises:
        IndexError: For a place out of range.

    Example:
        >>> x = np.zeros(3)
        >>> np.put(x, [0, 2], [1, 2])
        >>> x
        array([1., 0., 2.])
    """
    target: Any = a
    places = tensor_of(ind, a._xp).long().reshape(-1)
    places = wrap_or_clip("put", places, target.numel(), mode)
    given = tensor_of(v, a._xp)
    if not places.numel() or not given.numel():
        return
    values = editing.resize(given, places.shape[0])
    target.put_(places, values.to(target.dtype))


@numpy_function
def unravel_index(indices: Any, shape: Any, order: str = "C") -> tuple[Tensor, ...]:
    """The index in each dimension of places in the flattened tensor.

    Args:
        indices: The places.
        shape: The sizes.
        order: ``"C"`` (default), the last index changes fastest, or ``"F"``, the first.

    Example:
        >>> np.unravel_index([1, 5], (2, 3))
        (array([0, 1]), array([1, 2]))
    """
    sizes = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    places = tensor_of(indices).long()
    places._xp.check_all(
        (places._data >= 0) & (places._data < math.prod(sizes)),
        f"unravel_index(): an index is out of bounds for array with size {math.prod(sizes)}",
    )
    if order == "C":
        return tuple(joining_ops.unravel_index(places, sizes))
    return tuple(joining_ops.unravel_index(places, sizes[::-1]))[::-1]


@numpy_function
def clip(
    a: Any, min: Any = None, max: Any = None, out: Tensor | None = None, *,
    a_min: Any = None, a_max: Any = None, dtype: Any = None,
) -> Tensor:  # fmt: skip
    """The elements, but none below ``min`` or above ``max``.

    Args:
        a: Tensor, or what makes one.
        min: The lower bound: a number, a tensor, or None for none.
        max: The upper bound.
        out: Where to write the result.
        a_min: The same as ``min``.
        a_max: The same as ``max``.
        dtype: What to compute in.

    Example:
        >>> np.clip([-1.0, 0.5, 2.0], 0, 1)
        array([0. , 0.5, 1. ])
    """
    found: Any = tensor_of(a) if dtype is None else tensor_of(a).to(as_dtype(dtype))
    low, high = (min if a_min is None else a_min), (max if a_max is None else a_max)
    if found.dtype.category == 1:  # a bound beyond all integers of the dtype is none
        limits = dtypes.iinfo(found.dtype)
        low = None if type(low) is int and low <= limits.min else low
        high = None if type(high) is int and high >= limits.max else high
    if low is not None:
        found = ufuncs.maximum(found, low)
    if high is not None:
        found = ufuncs.minimum(found, high)
    return write_out(found if found is not a else found.clone(), out)  # type: ignore


@register_shared
def partition(a: Any, kth: Any, axis: int | None = -1) -> Tensor:
    """A copy with the ``kth`` element in its place when sorted, smaller ones before it.

    Args:
        a: Tensor of at least one dimension.
        kth: The place or places; all elements are in theirs, for the tensor is sorted.
        axis: The dimension, default the last; None means that of the flattened tensor.

    Raises:
        IndexError: If there is no such place.

    Example:
        >>> tt.partition(tt.tensor([3, 1, 2]), 1)
        tensor([1, 2, 3])
    """
    x, at = flat_if_none("partition", array_of(a), axis)
    _check("partition", kth, x, at)
    return sorting.sort(x, at)[0]


@register_shared
def argpartition(a: Any, kth: Any, axis: int | None = -1) -> Tensor:
    """Indices that put the ``kth`` element in its place when sorted, smaller ones before it.

    Args:
        a: Tensor of at least one dimension.
        kth: The place or places; all are right, for the indices sort the tensor.
        axis: The dimension, default the last; None means that of the flattened tensor.

    Raises:
        IndexError: If there is no such place.

    Example:
        >>> tt.argpartition(tt.tensor([3, 1, 2]), 1)
        tensor([1, 2, 0])
    """
    x, at = flat_if_none("argpartition", array_of(a), axis)
    _check("argpartition", kth, x, at)
    return sorting.argsort(x, at)


def _check(name: str, kth: Any, x: Tensor, axis: int) -> None:
    if not x.numel():
        return
    for place in kth if isinstance(kth, (tuple, list)) else (kth,):
        size = x.shape[axis]
        if not -size <= place < size:
            raise IndexError(f"{name}(): kth={place} is out of bounds for a dimension of {size}")


@register_shared
def lexsort(keys: Any, axis: int = -1) -> Tensor:
    """Indices that sort by several keys, the last one first.

    Args:
        keys: Tensors of one shape; equal elements of the last are in the order of the one
            before, and so on.
        axis: The dimension; default the last.

    Returns:
        int64 tensor of a key's shape.

    Example:
        >>> tt.lexsort((tt.tensor([9, 1, 5]), tt.tensor([1, 0, 1])))
        tensor([1, 2, 0])
    """
    given = arrays_of(*keys)
    at = normalize_dim("lexsort", axis, given[0].ndim)
    order: Any = sorting.argsort(given[0], at, stable=True)
    for key in given[1:]:
        order = order.gather(at, sorting.argsort(key.gather(at, order), at, stable=True))
    return order  # type: ignore[no-any-return]


_unique_all_result = named_result("unique_all", "values indices inverse_indices counts")
_unique_counts_result = named_result("unique_counts", "values counts")
_unique_inverse_result = named_result("unique_inverse", "values inverse_indices")


@register_shared
def unique_values(x: Any) -> Tensor:
    """The distinct elements, in ascending order; NaNs are distinct from each other.

    Args:
        x: Tensor of any shape.

    Example:
        >>> tt.unique_values(tt.tensor([3, 1, 3]))
        tensor([1, 3])
    """
    return unique_ops.unique(array_of(x))  # type: ignore[no-any-return]


@register_shared
def unique_counts(x: Any) -> tuple[Tensor, Tensor]:
    """The distinct elements, in ascending order, and how often each comes.

    Args:
        x: Tensor of any shape.

    Returns:
        A named tuple ``(values, counts)``.

    Example:
        >>> tt.unique_counts(tt.tensor([3, 1, 3])).counts
        tensor([1, 2])
    """
    return _unique_counts_result(  # type: ignore[no-any-return]
        *unique_ops.unique(array_of(x), return_counts=True)
    )


@register_shared
def unique_inverse(x: Any) -> tuple[Tensor, Tensor]:
    """The distinct elements, in ascending order, and where among them each element is.

    Args:
        x: Tensor of any shape.

    Returns:
        A named tuple ``(values, inverse_indices)``.

    Example:
        >>> tt.unique_inverse(tt.tensor([3, 1, 3])).inverse_indices
        tensor([1, 0, 1])
    """
    return _unique_inverse_result(  # type: ignore[no-any-return]
        *unique_ops.unique(array_of(x), return_inverse=True)
    )


@register_shared
def unique_all(x: Any) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The distinct elements, in ascending order, with places and counts.

    Args:
        x: Tensor of any shape.

    Returns:
        A named tuple ``(values, indices, inverse_indices, counts)``; ``indices`` are the places
        of first occurrence in the flattened tensor.

    Example:
        >>> tt.unique_all(tt.tensor([3, 1, 3])).indices
        tensor([1, 0])
    """
    options: Any = {
        "return_index": True,
        "return_inverse": True,
        "return_counts": True,
        "equal_nan": False,
    }
    found: Any = unique_ops.unique(array_of(x), **options)
    return _unique_all_result(*found)  # type: ignore[no-any-return]


def _distinct(x: Any, assume_unique: bool) -> Any:
    return x.ravel() if assume_unique else unique_ops.unique(x)


@register_shared(prepare=promote_first(2))
def union1d(ar1: Any, ar2: Any) -> Tensor:
    """The elements that are in either tensor, each once and in ascending order.

    Args:
        ar1: Tensor of any shape.
        ar2: Tensor of any shape.

    Example:
        >>> tt.union1d(tt.tensor([3, 1]), tt.tensor([1, 2]))
        tensor([1, 2, 3])
    """
    return unique_ops.unique(cat([x.ravel() for x in arrays_of(ar1, ar2)]))  # type: ignore[no-any-return]


@register_shared(prepare=promote_first(2), forms=(
    "(..., return_indices: Literal[False] = False) -> Tensor",
    "(..., return_indices: Literal[True]) -> tuple[Tensor, Tensor, Tensor]",
))  # fmt: skip
def intersect1d(
    ar1: Any, ar2: Any, assume_unique: bool = False, return_indices: bool = False
) -> Any:
    """The elements that are in both tensors, each once and in ascending order.

    Args:
        ar1: Tensor of any shape.
        ar2: Tensor of any shape.
        assume_unique: The elements of each are known to be distinct.
        return_indices: Also return where each is in the flattened tensors, first occurrences.

    Returns:
        The elements; with ``return_indices`` a tuple with the places in ``ar1`` and ``ar2``.

    Example:
        >>> tt.intersect1d(tt.tensor([3, 1, 2]), tt.tensor([2, 3]))
        tensor([2, 3])
    """
    a, b = arrays_of(ar1, ar2)
    options: Any = {"return_index": True}
    first, at = unique_ops.unique(a, **options)
    second, other = unique_ops.unique(b, **options)
    mine, theirs = sorting.isin(first, second), sorting.isin(second, first)
    return (first[mine], at[mine], other[theirs]) if return_indices else first[mine]


@register_shared
def setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Tensor:
    """The elements of the first tensor that are not in the second.

    Args:
        ar1: Tensor of any shape.
        ar2: Tensor of any shape.
        assume_unique: The elements of each are known to be distinct; the order is then kept.

    Returns:
        Tensor of one dimension, in ascending order.

    Example:
        >>> tt.setdiff1d(tt.tensor([3, 1, 2]), tt.tensor([2]))
        tensor([1, 3])
    """
    a, b = arrays_of(ar1, ar2)
    kept = _distinct(a, assume_unique)
    return kept[~sorting.isin(kept, b)]  # type: ignore[no-any-return]


@register_shared(prepare=promote_first(2))
def setxor1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Tensor:
    """The elements that are in one of the tensors alone, each once and in ascending order.

    Args:
        ar1: Tensor of any shape.
        ar2: Tensor of any shape.
        assume_unique: The elements of each are known to be distinct.

    Example:
        >>> tt.setxor1d(tt.tensor([3, 1]), tt.tensor([1, 2]))
        tensor([2, 3])
    """
    a, b = (_distinct(x, assume_unique) for x in arrays_of(ar1, ar2))
    either = cat([a[~sorting.isin(a, b)], b[~sorting.isin(b, a)]])
    return unique_ops.unique(either)  # type: ignore[no-any-return]
