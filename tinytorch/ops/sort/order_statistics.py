"""Medians, modes and k-th smallest elements."""

from __future__ import annotations

from typing import Any

from ... import dtypes
from ...core.tensor import Tensor
from ...dispatch.op import Array, Backend, Nodes, Out, Overlap, composite, op
from ...graph.nodes import Node
from ..checks import as_int, check_supported
from ..index.gathering import gather_computed
from ..index.positions import int64_range, to_int64
from ..memory_order import as_row_major
from ..reduce.extrema import share_equally
from ..results import named_result
from ..shape.sizes import normalize_dim, squeeze
from .sorting import order_along


def _size(name: str, input: Array, at: int) -> int:
    """Size along ``at``; raise IndexError if it is 0."""
    size: int = input.shape[at] if input.ndim else 1
    if size == 0:
        raise IndexError(f"{name}(): Expected reduction dim {at} to have non-zero size.")
    return size


@op
def _rank_index(xp: Backend, input: Array, dim: int, rank: int | None, ignore: bool) -> Array:
    """Index of the element of a rank along ``dim``, where the result has size 1.

    Args:
        xp: The backend.
        input: Real array.
        dim: The dimension, not negative.
        rank: Position in sorted order; None for the median.
        ignore: Whether the median ignores NaNs; else a NaN is the median.
    """
    if input.dtype.kind == "c":
        raise RuntimeError("Sort currently does not support complex dtypes on CPU")
    at = dim if input.ndim else 0
    rows = input if input.ndim else input.reshape(1)
    size = rows.shape[at]
    position: Any = (size - 1) // 2 if rank is None else rank
    shape = tuple(1 if i == at else n for i, n in enumerate(rows.shape))
    native = xp.native_dtype(dtypes.int64)
    if rank is None and input.dtype.kind == "f":
        nan_count = xp.sum(rows != rows, axis=at, keepdims=True, dtype=native)
        if ignore:
            position = xp.maximum(size - 1 - nan_count, 0) // 2
        else:
            position = xp.where(nan_count > 0, size - nan_count, position)
    position = xp.broadcast_to(xp.asarray(position, dtype=native), shape)
    found = as_row_major(xp, xp.pick(rows, at, position))
    return found if input.ndim else found.reshape(())


def _result_at(result: Any, input: Tensor, index: Tensor, at: int, keepdim: bool) -> Any:
    """Named tuple of the elements at ``index`` and their indices."""
    values = gather_computed(input, at, index)
    if keepdim or not input.ndim:
        return result(values, index)
    return result(squeeze(values, at), squeeze(index, at))


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
    return xp.take(flat, xp.call(_rank_index, flat, 0, None, ignore)).reshape(())


def _median_of_all_gradient(xp: Any, g: Any, out: Any, input: Any) -> Any:
    """Gradient of the median; elements that are equal to it share it."""
    return share_equally(xp, g, (input == out) | ((input != input) & (out != out)))


_median_of_all.vjp(input=_median_of_all_gradient)


def _median(name: str, result: Any, input: Tensor, dim: Any, keepdim: bool, ignore: bool) -> Any:
    """``median``, or ``nanmedian`` with ``ignore``.

    Args:
        name: Name of the operation.
        result: Class of the named tuple for a median along ``dim``.
        input: The tensor.
        dim: The dimension; None for the median of all elements.
        keepdim: Whether the dimension stays, with size 1.
        ignore: Whether NaNs are ignored.
    """
    if dim is None:
        found = _median_of_all(input, ignore)
        return found.reshape((1,) * input.ndim) if keepdim else found
    check_supported(input._xp, "median_cpu", input._data, unsupported="bc")
    at = normalize_dim(name, dim, input.ndim)
    _size(name, input._data, at)
    return _result_at(result, input, _rank_index(input.detach(), at, None, ignore), at, keepdim)


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
    out=Out.CAST, forms=tuple(form.format(name="median") for form in _FORMS), node=_median_name,
    overlap=Overlap.CHECKED,
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
    return _median("median", _median_result, input, dim, keepdim, False)


@composite(method=True,
    out=Out.CAST, forms=tuple(form.format(name="nanmedian") for form in _FORMS),
    node=_nanmedian_name, overlap=Overlap.CHECKED, like=median)  # fmt: skip
def nanmedian(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """Median of the elements that are not NaN, the lower of two middle elements.

    Returns:
        0-d tensor; along a dimension a named tuple ``(values, indices)``. NaN if all elements
        are NaN.

    Example:
        >>> tt.nanmedian(tt.tensor([4.0, float("nan"), 3.0]))
        tensor(3.)
    """
    return _median("nanmedian", _nanmedian_result, input, dim, keepdim, True)


@composite(method=True, out=Out.CAST, node="KthvalueBackward0", overlap=Overlap.DISJOINT)
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
    at, k = normalize_dim("kthvalue", dim, input.ndim), as_int("kthvalue", "k", k)
    size = _size("kthvalue", input._data, at)
    if not 1 <= k <= size:
        raise RuntimeError(
            f"kthvalue(): selected number k out of range for dimension {at}: k={k}, size {size}"
        )
    index = _rank_index(input.detach(), at, k - 1, False)
    return _result_at(_kthvalue_result, input, index, at, keepdim)  # type: ignore[no-any-return]


@op
def _most_frequent(xp: Backend, input: Array, dim: int) -> Array:
    """Index of the last occurrence of the most frequent element, the smallest of several."""
    rows = xp.ascontiguousarray(xp.moveaxis(input, dim, -1))
    last = rows.ndim - 1
    order = xp.call(order_along, rows, last, False, "mode")
    ordered = xp.take_along_axis(rows, order, last)
    starts = xp.concatenate(
        (ordered[..., :1] == ordered[..., :1], ordered[..., 1:] != ordered[..., :-1]), -1
    )
    run = int64_range(xp, ordered.shape[-1]) - xp.last_true(starts, last)
    longest = xp.expand_dims(to_int64(xp, xp.argmax(run, axis=-1)), -1)
    return xp.moveaxis(xp.take_along_axis(order, longest, last), -1, dim)


@composite(
    method=True, out=Out.CAST, node=Nodes("ModeBackward0", frees=True), overlap=Overlap.CHECKED
)
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
    at = normalize_dim("mode", dim, input.ndim)
    _size("mode", input._data, at)
    if not input.ndim:
        index = input.new_zeros((), dtype=dtypes.int64)
    else:
        index = _most_frequent(input.detach(), at)
    return _result_at(_mode_result, input, index, at, keepdim)  # type: ignore[no-any-return]
