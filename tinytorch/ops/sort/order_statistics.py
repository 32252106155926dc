"""Medians, modes and k-th smallest elements."""

from __future__ import annotations

from typing import Any

from ... import dtypes
from ...core.tensor import Tensor
from ...dispatch.op import Array, Backend, Nodes, Out, Overlap, composite, op
from ...graph.nodes import Node
from ..checks import as_int, check_supported
from ..index.gathering import take_in_order, take_lanes
from ..index.positions import int64_range, to_int64
from ..memory_order import as_row_major
from ..reduce.extrema import scatter_gradient, share_equally
from ..results import named_result
from ..shape.sizes import normalize_dim
from .sorting import order_along


def _size(name: str, input: Array, at: int) -> int:
    """Size along ``at``; raise IndexError if it is 0."""
    size: int = input.shape[at] if input.ndim else 1
    if size == 0:
        raise IndexError(f"{name}(): Expected reduction dim {at} to have non-zero size.")
    return size


def _rank_index(xp: Backend, input: Array, at: int, rank: int | None, ignore: bool) -> Array:
    """Index of the element of a rank along ``at``, where the result has size 1.

    Args:
        xp: The backend.
        input: Real array.
        at: The dimension, not negative.
        rank: Position in sorted order; None for the median.
        ignore: Whether the median ignores NaNs; else a NaN is the median.
    """
    if input.dtype.kind == "c":
        raise RuntimeError("Sort currently does not support complex dtypes on CPU")
    rows = input if input.ndim else input.reshape(1)
    size = rows.shape[at]
    position: Any = (size - 1) // 2 if rank is None else rank
    # Where all elements are finite there is no NaN; the host does not wait to find out.
    if rank is None and input.dtype.kind == "f" and not xp.is_finite(rows):
        native = xp.native_dtype(dtypes.int64)
        nan_count = xp.sum(rows != rows, axis=at, keepdims=True, dtype=native)
        if ignore:
            position = xp.maximum(size - 1 - nan_count, 0) // 2
        else:
            position = xp.where(nan_count > 0, size - nan_count, position)
    found = as_row_major(xp, xp.pick(rows, at, position))
    return found if input.ndim else found.reshape(())


def _values_at(
    xp: Backend, input: Array, at: int, index: Array, keepdim: bool
) -> tuple[Array, Array]:
    """Elements at ``index``, of size 1 along ``at``, and the indices."""
    values = take_in_order(xp, input, at, index)
    if keepdim or not input.ndim:
        return values, index
    shape = (*input.shape[:at], *input.shape[at + 1 :])
    return values.reshape(shape), index.reshape(shape)


_median_result = named_result("median", "values indices")
_nanmedian_result = named_result("nanmedian", "values indices")
_kthvalue_result = named_result("kthvalue", "values indices")
_mode_result = named_result("mode", "values indices")


@op
def _median_of_all(xp: Backend, input: Array, ignore: bool) -> Array:
    """Median of all elements; NaN, or an integer as in PyTorch, if there are none."""
    check_supported(xp, "median_cpu", input, unsupported="bc")
    if not input.size:
        if input.dtype.kind == "f":
            return xp.full((), xp.nan, input.dtype)
        # NaN converted to an integer in C: the lowest int, or 0 for dtypes of at most 16 bits.
        wide = input.dtype.itemsize > 2
        return xp.full((), dtypes.iinfo(xp.dtype_of(input)).min if wide else 0, input.dtype)
    flat = input.reshape(-1)
    return xp.take(flat, _rank_index(xp, flat, 0, None, ignore)).reshape(())


def _median_of_all_gradient(xp: Any, g: Any, out: Any, input: Any) -> Any:
    """Gradient of the median; elements that are equal to it share it."""
    return share_equally(xp, g, (input == out) | ((input != input) & (out != out)))


_median_of_all.vjp(input=_median_of_all_gradient)


def _find_along(
    xp: Backend, name: str, input: Array, dim: int, keepdim: bool, ignore: bool
) -> tuple[Array, Array]:
    """Medians along ``dim`` and their indices; ``name`` is the one for errors."""
    check_supported(xp, "median_cpu", input, unsupported="bc")
    at = normalize_dim(name, dim, input.ndim)
    _size(name, input, at)
    return _values_at(xp, input, at, _rank_index(xp, input, at, None, ignore), keepdim)


@op(returns=_median_result, node=Nodes("MedianBackward1", frees=True))
def _median_along(
    xp: Backend, input: Array, dim: int, keepdim: bool = False
) -> tuple[Array, Array]:
    return _find_along(xp, "median", input, dim, keepdim, False)


@op(returns=_nanmedian_result, node=Nodes("NanmedianBackward1", frees=True))
def _nanmedian_along(
    xp: Backend, input: Array, dim: int, keepdim: bool = False
) -> tuple[Array, Array]:
    return _find_along(xp, "nanmedian", input, dim, keepdim, True)


_median_along.vjp(input=scatter_gradient)
_nanmedian_along.vjp(input=scatter_gradient)


def _median(along: Any, input: Tensor, dim: Any, keepdim: bool) -> Any:
    """``median``, or ``nanmedian``.

    Args:
        along: The operation for the medians along a dimension.
        input: The tensor.
        dim: The dimension; None for the median of all elements.
        keepdim: Whether the dimension stays, with size 1.
    """
    if dim is not None:
        return along(input, dim, keepdim)
    found = _median_of_all(input, along is _nanmedian_along)
    return found.reshape((1,) * input._data.ndim) if keepdim else found


_FORMS = (
    "(input: Tensor, dim: None = None, keepdim: bool = False, *, out: Tensor | None = None)"
    " -> Tensor",
    "(input: Tensor, dim: int, keepdim: bool = False, *, out: Sequence[Tensor] | None = None)"
    " -> return_types.{name}",
)


def _median_name(node: Node) -> str:
    return f"MedianBackward{int(node.op.name != '_median_of_all')}"


def _nanmedian_name(node: Node) -> str:
    return f"NanmedianBackward{int(node.op.name != '_median_of_all')}"


@composite(method=True,
    out=Out.CAST, forms=tuple(form.format(name="median") for form in _FORMS),
    node=Nodes(_median_name, frees=True), overlap=Overlap.CHECKED, fast=_median_along,
)  # fmt: skip
def median(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """Median, the lower of two middle elements; NaN if an element is NaN.

    Args:
        input: Real tensor of any shape.
        dim: The dimension; None, the default, means all elements.
        keepdim: Whether to keep the dimension, with size 1.

    Returns:
        0-d tensor; along a dimension a named tuple ``(values, indices)``.

    Raises:
        IndexError: If there is no such dimension, or its size is 0.
        NotImplementedError: For bool and complex tensors.

    Example:
        >>> tt.median(tt.tensor([4, 1, 3, 2]))
        tensor(2)
    """
    return _median(_median_along, input, dim, keepdim)


@composite(method=True,
    out=Out.CAST, forms=tuple(form.format(name="nanmedian") for form in _FORMS),
    node=Nodes(_nanmedian_name, frees=True), overlap=Overlap.CHECKED, fast=_nanmedian_along,
    like=median,
)  # fmt: skip
def nanmedian(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """Median of the elements that are not NaN, the lower of two middle elements.

    Returns:
        0-d tensor; along a dimension a named tuple ``(values, indices)``. NaN if all elements
        are NaN.

    Example:
        >>> tt.nanmedian(tt.tensor([4.0, float("nan"), 3.0]))
        tensor(3.)
    """
    return _median(_nanmedian_along, input, dim, keepdim)


@op(returns=_kthvalue_result, node=Nodes("KthvalueBackward0", frees=True))
def _kth_along(
    xp: Backend, input: Array, k: int, dim: int = -1, keepdim: bool = False
) -> tuple[Array, Array]:
    at = normalize_dim("kthvalue", dim, input.ndim)
    size = _size("kthvalue", input, at)
    if not 1 <= k <= size:
        raise RuntimeError(
            f"kthvalue(): selected number k out of range for dimension {at}: k={k}, size {size}"
        )
    return _values_at(xp, input, at, _rank_index(xp, input, at, k - 1, False), keepdim)


_kth_along.vjp(input=scatter_gradient)


@composite(
    method=True, out=Out.CAST, node=Nodes("KthvalueBackward0", frees=True),
    overlap=Overlap.DISJOINT, fast=_kth_along,
)  # fmt: skip
def kthvalue(input: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """The ``k``-th smallest element along ``dim``, and its index.

    Args:
        input: Real tensor of any shape; a NaN is larger than any number.
        k: The rank, counted from 1.
        dim: The dimension; default the last.
        keepdim: Whether to keep the dimension, with size 1.

    Returns:
        A named tuple ``(values, indices)``; ``indices`` are int64.

    Raises:
        RuntimeError: If there are fewer than ``k`` elements.
        IndexError: If there is no such dimension, or its size is 0.

    Example:
        >>> tt.kthvalue(tt.tensor([3, 1, 2]), 2).values
        tensor(2)
    """
    return _kth_along(input, as_int("kthvalue", "k", k), dim, keepdim)  # type: ignore[return-value]


def _most_frequent(xp: Backend, input: Array, dim: int) -> Array:
    """Index of the last occurrence of the most frequent element, the smallest of several.

    The result has size 1 along ``dim``.
    """
    rows = as_row_major(xp, input if dim == input.ndim - 1 else xp.moveaxis(input, dim, -1))
    last = rows.ndim - 1
    order = order_along.kernel(xp, rows, last, False, "mode")
    ordered = take_lanes(xp, rows, last, order)
    starts = xp.ones(rows.shape, bool)
    starts[..., 1:] = ordered[..., 1:] != ordered[..., :-1]
    run = int64_range(xp, rows.shape[-1]) - xp.last_true(starts, last)
    found = xp.one_of_each_row(order, to_int64(xp, xp.asarray(run.argmax(-1))))
    return found.reshape((*input.shape[:dim], 1, *input.shape[dim + 1 :]))


@op(returns=_mode_result, node=Nodes("ModeBackward0", frees=True))
def _mode_along(
    xp: Backend, input: Array, dim: int = -1, keepdim: bool = False
) -> tuple[Array, Array]:
    at = normalize_dim("mode", dim, input.ndim)
    _size("mode", input, at)
    if input.ndim:
        return _values_at(xp, input, at, _most_frequent(xp, input, at), keepdim)
    return xp.array(input), xp.zeros((), xp.native_dtype(dtypes.int64))


_mode_along.vjp(input=scatter_gradient)


@composite(
    method=True, out=Out.CAST, node=Nodes("ModeBackward0", frees=True), overlap=Overlap.CHECKED,
    fast=_mode_along,
)  # fmt: skip
def mode(input: Tensor, dim: int = -1, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """The most frequent element along ``dim``, the smallest of several, and its index.

    Args:
        input: Real tensor of any shape.
        dim: The dimension; default the last.
        keepdim: Whether to keep the dimension, with size 1.

    Returns:
        A named tuple ``(values, indices)``; the index is that of the last occurrence.

    Raises:
        IndexError: If there is no such dimension, or its size is 0.

    Example:
        >>> tt.mode(tt.tensor([3, 1, 3])).values
        tensor(3)
    """
    return _mode_along(input, dim, keepdim)  # type: ignore[return-value]
