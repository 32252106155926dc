"""Sorting, the largest elements, positions in sorted sequences, and membership."""

from __future__ import annotations

from typing import Any

from ... import dtypes
from ...core.tensor import Tensor
from ...dispatch.op import (
    Array,
    Backend,
    Nodes,
    Operand,
    Out,
    Overlap,
    composite,
    op,
)
from ...dispatch.out import scalar_name
from ...dispatch.promotion import dtype_of_number, to_python_number
from ..checks import as_int, check_supported
from ..index.gathering import gather, selected_gradient, take_in_order
from ..memory_order import as_row_major, memory_order, restore_order
from ..results import named_result
from ..shape.sizes import normalize_dim


@op(public=False)
def order_along(xp: Backend, input: Array, dim: int, descending: bool, name: str) -> Array:
    """Indices that sort stably along ``dim``; NaN is the largest.

    They are in the memory order of ``input``. ``name`` is the one for errors.
    """
    at = normalize_dim(name, dim, input.ndim)
    if input.dtype.kind == "c":
        raise RuntimeError("Sort currently does not support complex dtypes on CPU")
    if not input.ndim:
        return xp.zeros((), xp.native_dtype(dtypes.int64))
    if input.flags.c_contiguous:
        return as_row_major(xp, xp.order(input, at, descending))
    order = memory_order(input)
    found = xp.order(as_row_major(xp, input.transpose(order)), order.index(at), descending)
    return restore_order(xp, as_row_major(xp, found), order)


_sort_result = named_result("sort", "values indices")
_topk_result = named_result("topk", "values indices")


@op(returns=_sort_result, node=Nodes("SortBackward0", frees=True))
def _sort_along(
    xp: Backend, input: Array, dim: int = -1, descending: bool = False, stable: bool = False
) -> tuple[Array, Array]:
    """Sorted elements and their indices, both in the memory order of ``input``."""
    indices = order_along.kernel(xp, input, dim, descending, "sort")
    return take_in_order(xp, input, dim, indices), indices


_sort_along.vjp(input=selected_gradient)


@composite(
    method=True, out=Out.CAST, node=Nodes("SortBackward0", frees=True), overlap=Overlap.CHECKED,
    fast=_sort_along,
)  # fmt: skip
def sort(
    input: Tensor, dim: int = -1, descending: bool = False, stable: bool | None = False
) -> tuple[Tensor, Tensor]:
    """Sort ``input`` in ascending order along ``dim``; also return the indices.

    ``axis`` is an alias of ``dim``. With ``kind=`` or ``axis=None`` it is NumPy's ``sort``, which
    returns only the values.

    Args:
        input: Real tensor of any shape; a NaN is larger than any number.
        dim: The dimension; default the last.
        descending: Whether to sort in descending order; default False.
        stable: Accepted; the sort is always stable.

    Returns:
        A named tuple ``(values, indices)`` of ``input``'s shape; ``indices`` are int64.

    Raises:
        IndexError: If there is no such dimension.
        RuntimeError: If ``input`` is complex.

    Example:
        >>> tt.sort(tt.tensor([3, 1, 2])).values
        tensor([1, 2, 3])
    """
    return _sort_along(input, dim, bool(descending))  # type: ignore[return-value]


def _numpy_arguments(input: Any, axis: Any, kind: Any, order: Any) -> tuple[Any, int]:
    """Tensor and dimension to sort, from NumPy's arguments; raise for unsupported ones."""
    if order is not None:
        raise NotImplementedError("sort(): order= is for structured arrays, which tensors are not")
    if kind not in (None, "quicksort", "mergesort", "heapsort", "stable"):
        raise ValueError(f"sort(): unrecognized kind {kind!r}; all of them are stable here")
    return (input.reshape(-1), 0) if axis is None else (input, axis)


@sort.numpy
def _numpy_sort(
    input: Any = None, axis: int | None = -1, kind: str | None = None, order: Any = None, *,
    stable: Any = None, descending: bool = False, **options: Any,
) -> Tensor:  # fmt: skip
    source, dim = _numpy_arguments(options.get("a", input), axis, kind, order)
    values, _ = sort(source, dim, descending)
    return values


@op(method=True, out=Out.EXACT, like=sort)
def argsort(
    xp: Backend, input: Array, dim: int = -1, descending: bool = False,
    stable: bool | None = False,
) -> Array:  # fmt: skip
    """Indices that sort ``input`` along ``dim``.

    Returns:
        int64 tensor of ``input``'s shape.

    Example:
        >>> tt.argsort(tt.tensor([3, 1, 2]))
        tensor([1, 2, 0])
    """
    return order_along.kernel(xp, input, dim, bool(descending), "argsort")


@argsort.numpy
def _numpy_argsort(
    input: Any = None, axis: int | None = -1, kind: str | None = None, order: Any = None, *,
    stable: Any = None, descending: bool = False, **options: Any,
) -> Tensor:  # fmt: skip
    source, dim = _numpy_arguments(options.get("a", input), axis, kind, order)
    return argsort(source, dim, descending)


@composite(method=True, node="SortBackward0", out=Out.EXACT, overlap=Overlap.CHECKED)
def msort(input: Tensor) -> Tensor:
    """Sort ``input`` in ascending order along its first dimension.

    Example:
        >>> tt.msort(tt.tensor([3, 1, 2]))
        tensor([1, 2, 3])
    """
    return sort(input, 0)[0]


@op(returns=_topk_result, node=Nodes("TopkBackward0", frees=True))
def _top_along(
    xp: Backend, input: Array, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
) -> tuple[Array, Array]:
    """The ``k`` largest or smallest elements along ``dim``, in order, and their indices."""
    check_supported(xp, "topk_cpu", input, unsupported="bc")
    at = normalize_dim("topk", dim, input.ndim)
    size = input.shape[at] if input.ndim else 1
    if not 0 <= k <= size:
        raise RuntimeError(f"selected index k out of range: k={k}, size {size} of dimension {at}")
    if not input.ndim:
        indices = xp.zeros((), xp.native_dtype(dtypes.int64))
    else:
        indices = as_row_major(xp, xp.leading(input, k, at, largest))
    return take_in_order(xp, input, at, indices), indices


_top_along.vjp(input=selected_gradient)


@composite(
    method=True, out=Out.CAST, node=Nodes("TopkBackward0", frees=True), overlap=Overlap.CHECKED,
    fast=_top_along,
)  # fmt: skip
def topk(
    input: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
) -> tuple[Tensor, Tensor]:
    """The ``k`` largest or smallest elements along ``dim``, and their indices.

    Args:
        input: Real tensor of any shape; a NaN is larger than any number.
        k: The number of elements.
        dim: The dimension; default the last.
        largest: Whether to return the largest or the smallest elements; default True.
        sorted: Accepted; the result is always sorted.

    Returns:
        A named tuple ``(values, indices)``, of size ``k`` at ``dim``; ``indices`` are int64.

    Raises:
        RuntimeError: If there are fewer than ``k`` elements.
        IndexError: If there is no such dimension.

    Example:
        >>> tt.topk(tt.tensor([3, 1, 2]), 2)
        tinytorch.return_types.topk(
        values=tensor([3, 2]),
        indices=tensor([0, 2]))
    """
    return _top_along(input, as_int("topk", "k", k), dim, largest)  # type: ignore[return-value]


# -- searching in sorted sequences -------------------------------------------------------------


@op
def _search(xp: Backend, boundaries: Array, values: Array, right: bool, out_int32: bool) -> Array:
    """Number of boundaries below each value; with ``right``, below or equal.

    NaN is larger than all numbers. A NaN among the values is placed at the end for both sides.
    Boundaries that are not sorted are bisected in the same way as in PyTorch.
    """
    if boundaries.dtype.kind == "c":
        check_supported(xp, "searchsorted_out_cpu", boundaries, unsupported="c")
    # Boundaries that ascend hold no NaN, unless there is only one of them.
    ascend = boundaries.ndim == 1 and bool((boundaries[:-1] <= boundaries[1:]).all())
    if boundaries.ndim > 1:
        found = _bisect(xp, boundaries, values, right)
    elif ascend or not bool((boundaries[:-1] > boundaries[1:]).any()):
        found = xp.searchsorted(boundaries, values, side="right" if right else "left")
    else:
        row = values.reshape((1, -1))
        found = xp.reshape(_bisect(xp, boundaries[None], row, right), values.shape)
    if values.dtype.kind == "f" and not (ascend and boundaries.size > 1):
        found = xp.where(values != values, boundaries.shape[-1], found)
    native = xp.native_dtype(dtypes.int32 if out_int32 else dtypes.int64)
    return xp.astype(xp.asarray(found), native)


def _bisect(xp: Backend, boundaries: Array, values: Array, right: bool) -> Array:
    """``searchsorted`` in each row, by bisection of all rows at once."""
    size = boundaries.shape[-1]
    low = xp.zeros(values.shape, xp.native_dtype(dtypes.int64))
    if not size or not values.size:
        return low
    high = low + size
    for _ in range(size.bit_length()):
        middle = (low + high) // 2
        probe = xp.take_along_axis(boundaries, xp.minimum(middle, size - 1), axis=-1)
        # A NaN among the boundaries is larger than every value except NaN.
        beyond = (probe == probe) & ~(probe > values if right else probe >= values)
        beyond &= low < high
        low, high = xp.where(beyond, middle + 1, low), xp.where(beyond, high, middle)
    return low


def _is_right_side(name: str, right: bool, side: str | None) -> bool:
    """Whether the right side is searched, from ``right`` and ``side``, which may be None."""
    if side is None:
        return right
    if side not in ("left", "right"):
        raise RuntimeError(f"{name}(): side can only be 'left' or 'right' but got {side}")
    if side == "left" and right:
        raise RuntimeError(
            f"{name}(): side and right can't be set to opposites, got side of left while right was "
            "True"
        )
    return side == "right"


def _to_values(input: Any, boundaries: Tensor) -> Tensor:
    """Convert the searched values to a tensor."""
    if isinstance(input, Tensor):
        return input
    input = to_python_number(input)
    wanted = dtypes.promote_types(dtype_of_number(input), boundaries.dtype)
    return boundaries.new_tensor(input, dtype=wanted)


def _promote_both(boundaries: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
    """Convert both to the promoted dtype, so that 1.5 is not truncated to 1."""
    if boundaries._data.dtype is values._data.dtype:
        return boundaries, values
    wanted = dtypes.promote_types(boundaries.dtype, values.dtype)
    return boundaries.to(wanted), values.to(wanted)


@composite(method=True, out=Out.EXACT)
def searchsorted(
    sorted_sequence: Tensor, input: Any, *, out_int32: bool = False, right: bool = False,
    side: str | None = None, sorter: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Indices at which values would be inserted in sorted sequences to keep them sorted.

    Args:
        sorted_sequence: Tensor that is sorted along its last dimension.
        input: A number, or a tensor whose leading sizes are those of ``sorted_sequence``; of
            any shape for a single sequence. Different dtypes are promoted.
        out_int32: Whether to return int32 instead of int64.
        right: Whether to insert after equal elements instead of before them.
        side: ``"left"`` or ``"right"``, an alternative to ``right``.
        sorter: int64 indices that sort ``sorted_sequence`` along its last dimension.

    Returns:
        int64 or int32 tensor of ``input``'s shape.

    Raises:
        RuntimeError: If shapes do not fit.

    Example:
        >>> tt.searchsorted(tt.tensor([1, 3, 5]), tt.tensor([3, 4]))
        tensor([1, 2])
    """
    values, sequence = _to_values(input, sorted_sequence), sorted_sequence
    ndim, shape = sequence._data.ndim, values._data.shape
    if not ndim:
        raise RuntimeError(
            "torch.searchsorted(): boundaries tensor should have positive dimension, but got 0 "
            "dimension"
        )
    if ndim > 1 and not shape:
        raise RuntimeError(
            "torch.searchsorted(): input value can be a scalar only when boundaries tensor "
            f"dimension is 1, but we got boundaries tensor dim({ndim}) and input value's dim(0)"
        )
    if ndim > 1 and sequence._data.shape[:-1] != shape[:-1]:
        raise RuntimeError(
            "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 "
            f"dimensions of boundaries tensor and input value tensor must match, but we got "
            f"boundaries tensor {list(sequence.shape)} and input value tensor {list(shape)}"
        )
    if sorter is not None:
        _check_sorter(sorter, sequence)
        sequence = gather(sequence, -1, sorter)
    after = _is_right_side("searchsorted", right, side)
    return _search(*_promote_both(sequence, values), after, out_int32)


def _check_sorter(sorter: Tensor, sequence: Tensor) -> None:
    """Raise RuntimeError unless ``sorter`` is an int64 tensor of the shape of ``sequence``."""
    if sorter.shape != sequence.shape:
        raise RuntimeError(
            "torch.searchsorted(): boundary and sorter must have the same size, but got boundary "
            f"tensor {list(sequence.shape)} and sorter tensor {list(sorter.shape)}"
        )
    if sorter.dtype.name != "int64":
        raise RuntimeError(
            "torch.searchsorted(): sorter must be a tensor of long dtype but got dtype "
            f"{scalar_name(sorter.dtype)}"
        )


@composite(out=Out.EXACT)
def bucketize(
    input: Any, boundaries: Tensor, *, out_int32: bool = False, right: bool = False
) -> Tensor:
    """Index of the bucket of each value: the number of boundaries below it.

    Args:
        input: A number, or a tensor of any shape.
        boundaries: Sorted tensor of one dimension.
        out_int32: Whether to return int32 instead of int64.
        right: Whether a value that equals a boundary belongs to the bucket above it.

    Returns:
        int64 or int32 tensor of ``input``'s shape.

    Raises:
        RuntimeError: If ``boundaries`` has more dimensions.

    Example:
        >>> tt.bucketize(tt.tensor([0.5, 1.0, 2.5]), tt.tensor([1.0, 2.0]))
        tensor([0, 0, 2])
    """
    if boundaries._data.ndim != 1:
        raise RuntimeError(
            f"bucketize: boundaries tensor must be 1 dimension, but got dim({boundaries.ndim})"
        )
    values = _to_values(input, boundaries)
    return _search(*_promote_both(boundaries, values), right, out_int32)


@op(promote="arithmetic", strict=True, out=Out.EXACT)
def isin(
    xp: Backend,
    elements: Operand,
    test_elements: Operand,
    *,
    assume_unique: bool = False,
    invert: bool = False,
) -> Array:
    """Whether each of ``elements`` is equal to any of ``test_elements``.

    Args:
        elements: Tensor of any shape, or a number if the other is a tensor.
        test_elements: Tensor of any shape, or a number if the other is a tensor.
        assume_unique: Accepted and ignored.
        invert: Whether to return the negation.

    Returns:
        Bool tensor of the shape of ``elements``.

    Example:
        >>> tt.isin(tt.tensor([1, 2, 3]), tt.tensor([3, 1]))
        tensor([ True, False,  True])
    """
    flat = xp.asarray(elements).reshape(-1)
    known = xp.asarray(test_elements).reshape(-1)
    if known.dtype.kind in "bc":
        kind = scalar_name(xp.dtype_of(known))
        raise RuntimeError(f"Unsupported input type encountered for isin(): {kind}")
    known = xp.sort(known)
    if not known.size:
        found = xp.zeros(flat.shape, bool)
    else:
        at = xp.minimum(xp.searchsorted(known, flat), known.size - 1)
        found = known[at] == flat
    return (~found if invert else found).reshape(xp.asarray(elements).shape)
