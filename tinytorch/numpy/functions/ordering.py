"""NumPy's sorting, searching and selecting of elements, and its functions of sets."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

from ... import dtypes
from ...core.tensor import Tensor
from ...dispatch.op import composite
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
    array_of, arrays_of, as_dtype, common_dtype, flat_if_none, is_inexact, is_number, promote,
    tensor_of, tensors_of, wrap_or_clip, write_out,
)  # fmt: skip
from .registration import (
    numpy_function, numpy_function_where, numpy_function_with_indices, promote_first,
    register_shared, register_shared_as,
)  # fmt: skip


def _as_sortable(x: Any) -> Any:
    """Cast bools to uint8, so that they are sorted as numbers; return another tensor as it is."""
    return x.to(dtypes.uint8) if x.dtype is dtypes.bool else x


@numpy_function
def sort_complex(a: Any) -> Tensor:
    """The elements as complex numbers, sorted by real part and then by imaginary part.

    Args:
        a: Tensor or array-like.

    Example:
        >>> np.sort_complex([5, 3, 6])
        array([3.+0.j, 5.+0.j, 6.+0.j])
    """
    x: Any = sort(a)
    short = x.dtype.kind in "iu" and x.dtype.itemsize < 4
    dtype = dtypes.complex64 if short else dtypes.complex128
    return x if x.is_complex() else x.to(dtype)  # type: ignore[no-any-return]


@numpy_function
def sort(
    a: Any, axis: int | None = -1, kind: str | None = None, order: Any = None, *,
    stable: bool | None = None, descending: bool = False,
) -> Tensor:  # fmt: skip
    """Sort the elements along ``axis``.

    Args:
        a: Tensor or array-like.
        axis: The dimension, default the last; None flattens the tensor first.
        kind: Accepted and ignored; sorting is stable.
        order: Must be None.
        stable: Accepted and ignored.
        descending: Whether to sort in descending order, an argument of the array API standard.

    Example:
        >>> np.sort([[3, 1], [2, 4]], axis=0)
        array([[2, 1],
               [3, 4]])
    """
    x, at = flat_if_none("sort", tensor_of(a), axis)
    if x.is_complex():
        return x.gather(at, _stable_order(x, at, descending))  # type: ignore[no-any-return]
    found = sorting.sort(_as_sortable(x), at, descending)[0]
    return found.to(x.dtype)


@composite(namespaces=("numpy",), like=sort)
def argsort(
    a: Any, axis: int | None = -1, kind: str | None = None, order: Any = None, *,
    stable: bool | None = None, descending: bool = False,
) -> Tensor:  # fmt: skip
    """Indices that sort the elements along ``axis``; the order of equal elements is stable.

    Example:
        >>> np.argsort([30, 10, 20])
        array([1, 2, 0])
    """
    x = tensor_of(a)
    x, at = flat_if_none("argsort", x if x.ndim else x.reshape(1), axis)
    return _stable_order(x, at, descending)  # type: ignore[no-any-return]


def _stable_order(x: Any, axis: int, descending: bool) -> Any:
    """Indices that sort ``x`` along ``axis``, where equal elements keep their order.

    Complex numbers are sorted by real part, those of equal real parts by imaginary part.
    """
    find_order = functools.partial(sorting.argsort, descending=descending, stable=True)
    if not x.is_complex():
        return find_order(_as_sortable(x), axis)
    # Sort by the secondary key first: the stable sort by the primary key preserves its order.
    first = find_order(x.imag, axis)
    return first.gather(axis, find_order(x.real.gather(axis, first), axis))


@numpy_function
def nonzero(a: Any) -> tuple[Tensor, ...]:
    """Indices of the nonzero elements, as a tuple of one tensor for each dimension.

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
    """Indices of the nonzero elements, as a matrix with one row for each element.

    Args:
        a: Tensor or array-like.

    Example:
        >>> np.argwhere([[0, 5], [7, 0]])
        array([[0, 1],
               [1, 0]])
    """
    return gathering.argwhere(tensor_of(a).detach())


@numpy_function_where
def where(condition: Any, x: Any = None, y: Any = None, /) -> Any:
    """Elements of ``x`` where a condition is true, and of ``y`` elsewhere.

    Args:
        condition: Tensor or array-like.
        x: Elements where the condition is true. Without ``x`` and ``y`` the result is
            ``nonzero(condition)``.
        y: Elements where it is false.

    Raises:
        ValueError: If only one of ``x`` and ``y`` is given.

    Returns:
        Tensor of the broadcast shape, or the tuple of ``nonzero``.

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
        x = _promote_other(x, y)
    elif not isinstance(y, Tensor):
        y = _promote_other(y, x)
    mask = tensor_of(condition, (x if isinstance(x, Tensor) else y)._xp)
    mask = mask if mask.dtype is dtypes.bool else mask.bool()
    return selection.where(mask, x, y)


def _promote_other(value: Any, tensor: Any) -> Any:
    """Convert the one of ``x`` and ``y`` in ``where(condition, x, y)`` that is not a Tensor.

    A real number stays a number if the other choice is floating-point or complex, because the
    result has that tensor's dtype. Another Python number becomes a tensor of NumPy's common dtype,
    and an array-like a tensor.

    Args:
        value: The choice that is not a Tensor.
        tensor: The other choice, a Tensor.
    """
    if isinstance(value, (int, float)) and is_inexact(tensor):
        return value
    if is_number(value):
        return tensor_of(value, tensor._xp).to(common_dtype(tensor, value))
    return tensor_of(value, tensor._xp)


@numpy_function
def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Tensor:
    """Indices at which to insert elements into a sorted vector to keep it sorted.

    Args:
        a: Tensor of shape ``(n,)``, in ascending order, or sorted by ``sorter``.
        v: The elements to insert; tensor of any shape.
        side: ``"left"`` (default): before equal elements, or ``"right"``: after them.
        sorter: Indices that sort ``a``.

    Example:
        >>> np.searchsorted([1, 3, 5], [3, 4])
        array([1, 2])
    """
    sequence, values = promote(a, v)
    if sorter is not None:
        sequence = sequence[tensor_of(sorter, sequence._xp).long()]
    found: Tensor = sorting.searchsorted(sequence, values.contiguous(), side=side)
    if side == "left" and sequence.dtype.is_floating_point:
        # NumPy inserts a NaN before the first NaN, PyTorch at the end.
        first_nan = sequence.shape[0] - sequence.isnan().sum()
        found = found.where(values == values, first_nan)
    return found


@numpy_function
def isin(
    element: Any, test_elements: Any, assume_unique: bool = False, invert: bool = False, *,
    kind: str | None = None,
) -> Tensor:  # fmt: skip
    """Whether each element is in ``test_elements``.

    Args:
        element, test_elements: Tensor or array-like.
        assume_unique: Accepted and ignored; promises that neither has duplicates.
        invert: Whether to negate the result.
        kind: Accepted and ignored.

    Example:
        >>> np.isin([1, 2, 3], [2, 3, 4])
        array([False,  True,  True])
    """
    # NumPy takes a set or a dictionary for a single object, which equals no number.
    if isinstance(test_elements, (set, frozenset, dict)):
        return factories.full(tuple(tensor_of(element).shape), bool(invert))
    x, others = promote(element, test_elements)
    return sorting.isin(x, others, invert=bool(invert))


@numpy_function_with_indices
def unique(
    ar: Any, return_index: bool = False, return_inverse: bool = False,
    return_counts: bool = False, axis: int | None = None, *, equal_nan: bool = True,
    sorted: bool = True,
) -> Any:  # fmt: skip
    """The distinct elements, or distinct slices along ``axis``, in ascending order.

    Args:
        ar: Tensor or array-like.
        return_index: Also return the index of the first occurrence of each.
        return_inverse: Also return, for each element, its index in the result.
        return_counts: Also return the number of occurrences of each.
        axis: The dimension of the slices; default None: elements of the flattened tensor.
        equal_nan: Whether NaNs are equal to each other.
        sorted: Accepted and ignored; the result is always sorted.

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
    """Elements of the choice that belongs to the first true condition, for each position.

    Args:
        condlist: List of conditions.
        choicelist: List of as many tensors.
        default: Element where no condition is true.

    Raises:
        ValueError: If the lists differ in length or are empty.

    Example:
        >>> x = np.arange(4)
        >>> np.select([x < 1, x > 2], [x, 10 * x], default=-1)
        array([ 0, -1, -1, 30])
    """
    if len(condlist) != len(choicelist) or not condlist:
        raise ValueError("list of cases must be same length as list of conditions")
    *choices, found = promote(*choicelist, default)
    conditions = tensors_of(*condlist)
    for mask, choice in zip(reversed(conditions), reversed(choices), strict=True):
        found = selection.where(mask.bool(), choice, found)
    return found  # type: ignore[no-any-return]


@numpy_function
def choose(a: Any, choices: Any, out: Tensor | None = None, mode: str = "raise") -> Tensor:
    """Elements of ``choices[a[i]]`` at each index ``i``, where all broadcast to one shape.

    Args:
        a: Tensor of indices into ``choices``.
        choices: Tensors or array-likes that broadcast with ``a`` and each other.
        out: Tensor for the result.
        mode: Treatment of an index out of range: ``"raise"`` (default), ``"wrap"`` or ``"clip"``.

    Raises:
        ValueError: For an index out of range with ``"raise"``.

    Example:
        >>> np.choose([0, 1, 0], [[1, 2, 3], [10, 20, 30]])
        array([ 1, 20,  3])
    """
    options = promote(*choices)
    indices = wrap_or_clip("choose", tensor_of(a, options[0]._xp), len(options), mode)
    if bool(((indices < 0) | (indices >= len(options))).any()):
        raise ValueError("invalid entry in choice array")
    found = options[0]
    for i, choice in enumerate(options[1:], 1):
        found = selection.where(indices == i, choice, found)
    shape = strides.broadcast_shapes(tuple(indices.shape), tuple(found.shape))
    return write_out(found.expand(tuple(shape)).clone(), out)  # type: ignore[no-any-return]


@numpy_function
def put(a: Tensor, ind: Any, v: Any, mode: str = "raise") -> None:
    """Set elements of the flattened ``a``, in place.

    Args:
        a: The tensor to change.
        ind: Indices into the flattened tensor.
        v: The values, repeated if there are fewer than indices.
        mode: Treatment of an index out of range: ``"raise"`` (default), ``"wrap"`` or ``"clip"``.

    Raises:
        IndexError: For an index out of range with ``"raise"``.

    Example:
        >>> x = np.zeros(3)
        >>> np.put(x, [0, 2], [1, 2])
        >>> x
        array([1., 0., 2.])
    """
    target: Any = a
    indices = tensor_of(ind, a._xp).long().reshape(-1)
    indices = wrap_or_clip("put", indices, target.numel(), mode)
    values = tensor_of(v, a._xp)
    if indices.numel() and values.numel():
        values = editing.resize(values, indices.shape[0])
        target.put_(indices, values.to(target.dtype))


@numpy_function
def unravel_index(indices: Any, shape: Any, order: str = "C") -> tuple[Tensor, ...]:
    """Convert indices of a flattened tensor to indices in each of its dimensions.

    Args:
        indices: Indices of the flattened tensor.
        shape: Shape of the tensor.
        order: ``"C"`` (default), the last index changes fastest, or ``"F"``, the first.

    Example:
        >>> np.unravel_index([1, 5], (2, 3))
        (array([0, 1]), array([1, 2]))
    """
    sizes = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    flat = tensor_of(indices).long()
    flat._xp.check_all(
        (flat._data >= 0) & (flat._data < math.prod(sizes)),
        f"unravel_index(): an index is out of bounds for array with size {math.prod(sizes)}",
    )
    if order == "C":
        return tuple(joining_ops.unravel_index(flat, sizes))
    return tuple(joining_ops.unravel_index(flat, sizes[::-1]))[::-1]


@numpy_function
def clip(
    a: Any, min: Any = None, max: Any = None, out: Tensor | None = None, *,
    a_min: Any = None, a_max: Any = None, dtype: Any = None,
) -> Tensor:  # fmt: skip
    """Limit the elements to the range from ``min`` to ``max``.

    Args:
        a: Tensor or array-like.
        min: The lower bound: a number, a tensor, or None for no bound.
        max: The upper bound.
        out: Tensor for the result.
        a_min: Another name of ``min``.
        a_max: Another name of ``max``.
        dtype: Dtype of the computation.

    Example:
        >>> np.clip([-1.0, 0.5, 2.0], 0, 1)
        array([0. , 0.5, 1. ])
    """
    found: Any = tensor_of(a) if dtype is None else tensor_of(a).to(as_dtype(dtype))
    low, high = (min if a_min is None else a_min), (max if a_max is None else a_max)
    if found.dtype.kind in "iu":  # A bound beyond the range of the dtype has no effect.
        limits = dtypes.iinfo(found.dtype)
        low = None if type(low) is int and low <= limits.min else low
        high = None if type(high) is int and high >= limits.max else high
    if low is not None:
        found = ufuncs.maximum(found, low)
    if high is not None:
        found = ufuncs.minimum(found, high)
    return write_out(found if found is not a else found.clone(), out)  # type: ignore


def _make_partition(
    name: str, summary: str, sort: Callable[..., Any], *example: str
) -> Callable[..., Tensor]:
    """Make and register ``partition`` or ``argpartition``; both sort all elements.

    Args:
        name: Name of the function.
        summary: First line of its docstring.
        sort: Function of a tensor and a dimension: it sorts, or returns the indices that sort.
        *example: Lines of the docstring's example.
    """

    def function(a: Any, kth: Any, axis: int | None = -1) -> Tensor:
        x, at = flat_if_none(name, array_of(a), axis)
        size = x.shape[at] if x.numel() else 0
        for index in (kth if isinstance(kth, (tuple, list)) else (kth,)) if size else ():
            if not -size <= index < size:
                raise IndexError(
                    f"{name}(): kth={index} is out of bounds for a dimension of {size}"
                )
        return sort(x, at)  # type: ignore[no-any-return]

    doc = f"""{summary}

    Args:
        a: Tensor of at least one dimension.
        kth: Index or indices; they may be any, as all elements are sorted.
        axis: The dimension, default the last; None flattens the tensor first.

    Raises:
        IndexError: If ``kth`` is out of range.
    """
    return register_shared_as(function, name, doc, *example)


partition: Callable[..., Tensor] = _make_partition(
    "partition",
    "Copy whose ``kth`` element is at its sorted position, after all smaller elements.",
    lambda x, axis: sorting.sort(x, axis)[0],
    ">>> tt.partition(tt.tensor([3, 1, 2]), 1)", "tensor([1, 2, 3])",
)  # fmt: skip
argpartition: Callable[..., Tensor] = _make_partition(
    "argpartition",
    "Indices of ``partition``: they move the ``kth`` element to its sorted position.",
    sorting.argsort,
    ">>> tt.argpartition(tt.tensor([3, 1, 2]), 1)", "tensor([1, 2, 0])",
)  # fmt: skip


@register_shared
def lexsort(keys: Any, axis: int = -1) -> Tensor:
    """Indices that sort by several keys, of which the last is the primary key.

    Args:
        keys: Tensors of one shape; equal elements of the last are sorted by the key before it,
            and so on.
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


@register_shared(like=unique_values)
def unique_counts(x: Any) -> tuple[Tensor, Tensor]:
    """The distinct elements, in ascending order, and the number of occurrences of each.

    Returns:
        A named tuple ``(values, counts)``.

    Example:
        >>> tt.unique_counts(tt.tensor([3, 1, 3])).counts
        tensor([1, 2])
    """
    return _unique_counts_result(  # type: ignore[no-any-return]
        *unique_ops.unique(array_of(x), return_counts=True)
    )


@register_shared(like=unique_values)
def unique_inverse(x: Any) -> tuple[Tensor, Tensor]:
    """The distinct elements, in ascending order, and the index among them of each element.

    Returns:
        A named tuple ``(values, inverse_indices)``.

    Example:
        >>> tt.unique_inverse(tt.tensor([3, 1, 3])).inverse_indices
        tensor([1, 0, 1])
    """
    return _unique_inverse_result(  # type: ignore[no-any-return]
        *unique_ops.unique(array_of(x), return_inverse=True)
    )


@register_shared(like=unique_values)
def unique_all(x: Any) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The distinct elements, in ascending order, with their indices and counts.

    Returns:
        A named tuple ``(values, indices, inverse_indices, counts)``; ``indices`` are those of the
        first occurrences in the flattened tensor.

    Example:
        >>> tt.unique_all(tt.tensor([3, 1, 3])).indices
        tensor([1, 0])
    """
    options: Any = dict.fromkeys(("return_index", "return_inverse", "return_counts"), True)
    options["equal_nan"] = False
    found: Any = unique_ops.unique(array_of(x), **options)
    return _unique_all_result(*found)  # type: ignore[no-any-return]


def _as_set(x: Any, assume_unique: bool) -> Any:
    """The distinct elements of ``x`` as a vector, in ascending order.

    If ``assume_unique``, all elements are distinct already: ``x`` is flattened and not sorted.
    """
    return x.ravel() if assume_unique else unique_ops.unique(x)


@register_shared(prepare=promote_first(2))
def union1d(ar1: Any, ar2: Any) -> Tensor:
    """Union of two tensors: their distinct elements, in ascending order.

    Args:
        ar1, ar2: Tensor of any shape.

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
    """Intersection of two tensors: the distinct elements of both, in ascending order.

    Args:
        ar1, ar2: Tensor of any shape.
        assume_unique: Accepted and ignored; promises that neither tensor has duplicates.
        return_indices: Also return the indices of the first occurrences in each flattened tensor.

    Returns:
        The elements; with ``return_indices`` a tuple of them and the indices in ``ar1`` and
        ``ar2``.

    Example:
        >>> tt.intersect1d(tt.tensor([3, 1, 2]), tt.tensor([2, 3]))
        tensor([2, 3])
    """
    a, b = arrays_of(ar1, ar2)
    options: Any = {"return_index": True}
    first, index1 = unique_ops.unique(a, **options)
    second, index2 = unique_ops.unique(b, **options)
    mask1, mask2 = sorting.isin(first, second), sorting.isin(second, first)
    return (first[mask1], index1[mask1], index2[mask2]) if return_indices else first[mask1]


@register_shared
def setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Tensor:
    """Difference of two tensors: the distinct elements of the first that are not in the second.

    Args:
        ar1, ar2: Tensor of any shape.
        assume_unique: Promises that neither tensor has duplicates; the order of ``ar1`` is then
            preserved.

    Returns:
        Tensor of one dimension, by default in ascending order.

    Example:
        >>> tt.setdiff1d(tt.tensor([3, 1, 2]), tt.tensor([2]))
        tensor([1, 3])
    """
    a, b = arrays_of(ar1, ar2)
    elements = _as_set(a, assume_unique)
    return elements[~sorting.isin(elements, b)]  # type: ignore[no-any-return]


@register_shared(prepare=promote_first(2))
def setxor1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Tensor:
    """Symmetric difference: the distinct elements of exactly one tensor, in ascending order.

    Args:
        ar1, ar2: Tensor of any shape.
        assume_unique: Promises that neither tensor has duplicates.

    Example:
        >>> tt.setxor1d(tt.tensor([3, 1]), tt.tensor([1, 2]))
        tensor([2, 3])
    """
    a, b = (_as_set(x, assume_unique) for x in arrays_of(ar1, ar2))
    either = cat([a[~sorting.isin(a, b)], b[~sorting.isin(b, a)]])
    return unique_ops.unique(either)  # type: ignore[no-any-return]
