"""Sums, products, means, logical reductions and checksums."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ... import dtypes
from ...dispatch.op import Array, Backend, Out, Overlap, op, piecewise
from ...dispatch.out import scalar_name
from ...graph.special_nodes import name_by_dim
from ...state import default_dtype
from ..checks import as_int, check_supported, discard_imaginary, sum_dtype
from ..memory_order import as_row_major
from ..shape.sizes import distinct_dims

Dims = int | Sequence[int] | None


def reduced_axes(name: str, dim: Any, ndim: int) -> tuple[int, ...] | None:
    """Convert ``dim`` of a reduction to NumPy's axis; None and an empty list mean all."""
    if dim is None or dim.__class__ is tuple and not dim:
        return None
    if dim.__class__ is int and -ndim <= dim < ndim:
        return (dim % ndim,)
    if dim.__class__ is tuple and len({*dim}) == len(dim):
        for d in dim:
            if d.__class__ is not int or not 0 <= d < ndim:
                break
        else:
            return dim
    axes = distinct_dims(name, dim, ndim)
    return (axes if ndim else ()) or None


def _logical_axes(name: str, dim: Any, ndim: int) -> tuple[int, ...] | None:
    """``reduced_axes`` for ``all`` and ``any``, where an empty list means no dimension."""
    return () if isinstance(dim, (tuple, list)) and not dim else reduced_axes(name, dim, ndim)


def spread(xp: Any, g: Any, shape: tuple[int, ...], dim: Any, keepdim: bool) -> Any:
    """Expand the gradient of a reduction to the shape of its input."""
    axes = None if dim is None else reduced_axes("sum", dim, len(shape))
    if not keepdim and axes is not None:
        g = xp.reshape(g, tuple(1 if i in axes else n for i, n in enumerate(shape)))
    return xp.broadcast_to(g, shape)


@op(
    method=True,
    backend_function="total",
    node=name_by_dim("SumBackward0", "SumBackward1"),
    out=Out.DTYPE_ARGUMENT,
)
def sum(
    xp: Backend,
    input: Array,
    dim: Dims = None,
    keepdim: bool = False,
    *,
    dtype: dtypes.dtype | None = None,
) -> Array:
    """Sum of all elements, or along ``dim``.

    Args:
        input: Tensor of any shape.
        dim: Dimension or dimensions to sum over; None, the default, means all.
        keepdim: Whether to keep the summed dimensions, with size 1.
        dtype: Dtype of the computation and result. Default: the input's, int64 for integers
            and bools.

    Returns:
        Tensor without the summed dimensions.

    Example:
        >>> tt.ones(2, 3).sum(1)
        tensor([3., 3.])
    """
    if dtype is None and input.dtype.kind in "fc":
        if dim is None:
            return xp.sum(input, keepdims=True) if keepdim else xp.sum(input)
        ndim = input.ndim
        out = xp.sum(input, reduced_axes("sum", dim, ndim), keepdims=keepdim)
        return out if ndim < 3 else as_row_major(xp, out)
    axes = reduced_axes("sum", dim, len(input.shape))
    native = sum_dtype(xp, input, dtype)
    total = xp.sum(discard_imaginary(xp, input, native), axis=axes, dtype=native, keepdims=keepdim)
    return as_row_major(xp, total)


sum.vjp(input=lambda xp, g, in_shape, dim, keepdim: spread(xp, g, in_shape, dim, keepdim))


@op(method=True, like=sum)
def nansum(
    xp: Backend,
    input: Array,
    dim: Dims = None,
    keepdim: bool = False,
    *,
    dtype: dtypes.dtype | None = None,
) -> Array:
    """Sum of all elements that are not NaN, or along ``dim``.

    Args:
        input: Real tensor of any shape.

    Returns:
        Tensor without the summed dimensions; 0 if all elements are NaN.

    Raises:
        RuntimeError: If ``input`` is complex.

    Example:
        >>> tt.nansum(tt.tensor([1.0, float("nan"), 2.0]))
        tensor(3.)
    """
    if input.dtype.kind == "c":
        raise RuntimeError("nansum does not support complex inputs")
    known = xp.where(input == input, input, 0) if input.dtype.kind == "f" else input
    return xp.call(sum, known, dim, keepdim, dtype=dtype)


def _nansum_gradient(xp: Any, g: Any, input: Any, dim: Any, keepdim: bool) -> Any:
    return xp.where(input == input, spread(xp, g, input.shape, dim, keepdim), 0)


nansum.vjp(input=_nansum_gradient)


def element_count(shape: Any, axes: tuple[int, ...] | None) -> int:
    """Number of elements that are reduced to one; ``axes`` None reduces all."""
    return math.prod(shape if axes is None else [shape[i] for i in axes])


@op(method=True, node=name_by_dim("MeanBackward0", "MeanBackward1"))
def mean(
    xp: Backend,
    input: Array,
    dim: Dims = None,
    keepdim: bool = False,
    *,
    dtype: dtypes.dtype | None = None,
) -> Array:
    """Arithmetic mean of all elements, or along ``dim``.

    Args:
        input: Tensor of any shape. For integers and bools the result has the default dtype, as in
            NumPy.
        dim: Dimension or dimensions to average over; None, the default, means all.
        keepdim: Whether to keep the averaged dimensions, with size 1.
        dtype: Dtype of the computation and result. Default: the input's.

    Returns:
        Tensor without the averaged dimensions; NaN if there are no elements.

    Raises:
        RuntimeError: If ``dtype`` is neither floating-point nor complex.

    Example:
        >>> tt.tensor([[1.0, 3.0], [5.0, 7.0]]).mean(1)
        tensor([2., 6.])
    """
    ndim = input.ndim
    axes = reduced_axes("mean", dim, ndim)
    char = input.dtype.char
    if dtype is None and char in "fd" and input.size:
        out = xp.mean(input, axes, None, None, keepdim)
        return out if ndim < 3 else as_row_major(xp, xp.asarray(out))
    native = _mean_dtype(xp, input, dtype)
    if char == "e" and native is None:
        native = xp.native_dtype(dtypes.float32)  # the sum may overflow the dtype of the mean
    total = xp.sum(input, axis=axes, dtype=native, keepdims=keepdim)
    if ndim > 2:
        total = as_row_major(xp, total)
    mean_ = total / _float_count(input.shape, axes)
    return xp.astype(mean_, input.dtype) if dtype is None and input.dtype.kind == "f" else mean_


def _mean_dtype(xp: Backend, input: Array, dtype: Any) -> Any:
    """Native dtype in which the mean is computed; None for that of ``input``."""
    if dtype is None:
        return xp.native_dtype(default_dtype()) if input.dtype.kind in "uib" else None
    wanted = dtypes.as_dtype(dtype)
    if wanted.category < 2:  # bool or integer
        raise RuntimeError(
            "mean(): could not infer output dtype. Optional dtype must be either a floating point "
            f"or complex dtype. Got: {scalar_name(wanted)}"
        )
    return xp.native_dtype(wanted)


def _float_count(shape: Any, axes: tuple[int, ...] | None) -> float:
    """``element_count`` as a float; NaN for 0, because the mean of no elements is NaN."""
    count = element_count(shape, axes)
    return float(count) if count else math.nan


def divide_by_count(xp: Any, g: Any, count: float) -> Any:
    """``g / count``; in float32 if ``count`` exceeds 65504, the maximum of float16."""
    if count > 65504 and g.dtype == "float16":
        return xp.astype(xp.astype(g, "float32") / count, "float16")
    return g / count


def mean_gradient(xp: Any, g: Any, in_shape: Any, dim: Any, keepdim: Any) -> Any:
    """Gradient of the input of ``mean``."""
    axes = reduced_axes("mean", dim, len(in_shape))
    return spread(xp, divide_by_count(xp, g, _float_count(in_shape, axes)), in_shape, dim, keepdim)


mean.vjp(input=mean_gradient)


@op(method=True, node="DivBackward0", like=mean)
def nanmean(
    xp: Backend,
    input: Array,
    dim: Dims = None,
    keepdim: bool = False,
    *,
    dtype: dtypes.dtype | None = None,
) -> Array:
    """Arithmetic mean of all elements that are not NaN, or along ``dim``.

    Args:
        input: Floating-point or complex tensor of any shape.

    Returns:
        Tensor without the averaged dimensions; NaN if all elements are NaN.

    Raises:
        RuntimeError: If ``input`` is integer or bool.

    Example:
        >>> tt.nanmean(tt.tensor([1.0, float("nan"), 3.0]))
        tensor(2.)
    """
    if input.dtype.kind not in "fc":
        raise RuntimeError(
            "nanmean(): expected input to have floating point or complex dtype but got "
            f"{scalar_name(xp.dtype_of(input))}"
        )
    known = input == input
    native = _mean_dtype(xp, input, dtype) or input.dtype
    axes = reduced_axes("nanmean", dim, input.ndim)
    total = xp.sum(xp.where(known, input, 0), axis=axes, dtype=native, keepdims=keepdim)
    # The count is an integer, since the maximum of float16 is 65504.
    count = xp.sum(known, axis=axes, keepdims=keepdim)
    return xp.astype(total / count, native)


def _nanmean_gradient(xp: Any, g: Any, input: Any, dim: Any, keepdim: bool) -> Any:
    """Divide ``g`` equally among the elements that are not NaN."""
    known = input == input
    axes = reduced_axes("nanmean", dim, input.ndim)
    count = xp.sum(known, axis=axes, keepdims=keepdim)
    share = xp.astype(g / count, g.dtype)
    return xp.where(known, spread(xp, share, input.shape, dim, keepdim), 0)


nanmean.vjp(input=_nanmean_gradient)


@op(
    method=True,
    node=name_by_dim("ProdBackward0", "ProdBackward1"),
    out=Out.DTYPE_ARGUMENT,
    like=sum,
)
def prod(
    xp: Backend,
    input: Array,
    dim: Dims = None,
    keepdim: bool = False,
    *,
    dtype: dtypes.dtype | None = None,
) -> Array:
    """Product of all elements, or along ``dim``.

    Args:
        dim: Dimension to multiply along (or several); None, the default, means all.
        keepdim: Whether to keep the reduced dimensions, with size 1.

    Returns:
        Tensor without the reduced dimensions. Its gradient does not divide by elements, so they
        may be 0.

    Example:
        >>> tt.prod(tt.tensor([[1, 2], [3, 4]]), 1)
        tensor([ 2, 12])
    """
    axes = reduced_axes("prod", dim, input.ndim)
    native = sum_dtype(xp, input, dtype)
    product = xp.prod(
        discard_imaginary(xp, input, native), axis=axes, dtype=native, keepdims=keepdim
    )
    return as_row_major(xp, product)


def _prod_gradient(xp: Any, g: Any, input: Any, dim: Any, keepdim: bool) -> Any:
    """Gradient of a product: for each element the product of the others."""
    input = discard_imaginary(xp, input, g.dtype)
    shape = tuple(input.shape)
    axes = reduced_axes("prod", dim, len(shape)) or tuple(range(len(shape)))
    g = spread(xp, g, shape, dim, keepdim)
    if not math.prod(shape):
        return g
    other_axes = tuple(i for i in range(len(shape)) if i not in axes)
    order = other_axes + axes
    rows = xp.transpose(input, order)
    flat = rows.reshape((*(shape[i] for i in other_axes), -1))
    others = _product_of_others(xp, flat)
    inverse_order = tuple(order.index(i) for i in range(len(shape)))
    return g * xp.transpose(others.reshape(rows.shape), inverse_order)


def _product_of_others(xp: Any, rows: Any) -> Any:
    """Product of the other elements along the last dimension, for each element.

    It is the product of the element's partner in the other half and of all other pairs.
    """
    size = rows.shape[-1]
    if size < 2:
        return xp.zeros_like(rows) + 1
    half = size // 2
    first, second = rows[..., :half], rows[..., half : 2 * half]
    pairs = first * second
    if size % 2:
        pairs = xp.concatenate((pairs, rows[..., 2 * half :]), -1)
    others = _product_of_others(xp, pairs)
    of_pairs = others[..., :half]
    parts = (of_pairs * second, of_pairs * first, others[..., half:])
    return xp.concatenate(parts if size % 2 else parts[:2], -1)


prod.vjp(input=piecewise(_prod_gradient))


@op(
    method=True,
    promote="float",
    aliases=("special.logsumexp",),
    overlap=Overlap.ALLOWED,
    elementwise=False,
)
def logsumexp(xp: Backend, input: Array, dim: Dims, keepdim: bool = False) -> Array:
    """``log(sum(exp(input)))`` along ``dim``, without overflow.

    Args:
        input: Tensor of any shape; integers and bools are cast to the default dtype.
        dim: Dimension or dimensions to sum over; None or an empty list means all.
        keepdim: Whether to keep the summed dimensions, with size 1.

    Returns:
        Tensor without the summed dimensions; -inf if there are no elements.

    Example:
        >>> tt.logsumexp(tt.tensor([0.0, 0.0]), 0)
        tensor(0.6931)
    """
    axes = reduced_axes("logsumexp", dim, input.ndim)
    if not input.size:
        return xp.log(xp.sum(input, axis=axes, keepdims=keepdim))
    top = xp.max(input.real, axis=axes, keepdims=True)
    top = xp.where(xp.isfinite(top), top, 0)
    total = xp.log(xp.sum(xp.exp(input - top), axis=axes, keepdims=keepdim))
    return as_row_major(xp, total + top.reshape(total.shape))


logsumexp.vjp(
    input=lambda xp, g, out, input, dim, keepdim: (
        spread(xp, g, input.shape, dim, keepdim)
        * xp.exp(input - spread(xp, out, input.shape, dim, keepdim))
    )
)


@op(method=True, out=Out.BOOL)
def all(xp: Backend, input: Array, dim: Dims = None, keepdim: bool = False) -> Array:
    """Whether all elements are nonzero, in total or along ``dim``.

    Args:
        input: Tensor of any shape.
        dim: Dimension or dimensions; None, the default, means all.
        keepdim: Whether to keep the reduced dimensions, with size 1.

    Returns:
        bool tensor; uint8 for uint8 input.

    Example:
        >>> tt.all(tt.tensor([True, False]))
        tensor(False)
    """
    out = xp.all(input, axis=_logical_axes("all", dim, input.ndim), keepdims=keepdim)
    out = out if input.ndim < 3 else as_row_major(xp, out)
    return xp.astype(out, input.dtype) if input.dtype.char == "B" else out


@op(method=True, out=Out.BOOL, like=all)
def any(xp: Backend, input: Array, dim: Dims = None, keepdim: bool = False) -> Array:
    """Whether any element is nonzero, in total or along ``dim``.

    Returns:
        bool tensor; uint8 for uint8 input.

    Example:
        >>> tt.any(tt.tensor([True, False]))
        tensor(True)
    """
    out = xp.any(input, axis=_logical_axes("any", dim, input.ndim), keepdims=keepdim)
    out = out if input.ndim < 3 else as_row_major(xp, out)
    return xp.astype(out, input.dtype) if input.dtype.char == "B" else out


@op(method=True)
def count_nonzero(xp: Backend, input: Array, dim: Dims = None, keepdim: bool = False) -> Array:
    """Number of nonzero elements, in total or along ``dim``.

    Args:
        input: Tensor of any shape.
        dim: Dimension or dimensions to count along; None, the default, means all.
        keepdim: Whether to keep the reduced dimensions, with size 1; default False.

    Returns:
        int64 tensor without the reduced dimensions.

    Example:
        >>> tt.count_nonzero(tt.tensor([[0, 1], [2, 3]]), 0)
        tensor([1, 2])
    """
    axes = reduced_axes("count_nonzero", dim, input.ndim)
    native = xp.native_dtype(dtypes.int64)
    if axes is None and not keepdim:
        return xp.asarray(xp.count_nonzero(input), native)
    return as_row_major(xp, xp.sum(input != 0, axis=axes, dtype=native, keepdims=keepdim))


@op(method=True, out=Out.EXACT)
def hash_tensor(
    xp: Backend, input: Array, dim: Dims = (), *, keepdim: bool = False, mode: int = 0
) -> Array:
    """Checksum of the elements' bits, in total or along ``dim``.

    The bits are those of the elements in float64, or in int64 for integers and bools. They are
    combined by exclusive or.

    Args:
        input: Real tensor of any shape.
        dim: Dimension or dimensions to combine; the default means all.
        keepdim: Whether to keep the combined dimensions, with size 1.
        mode: The checksum; only 0, exclusive or, is supported.

    Returns:
        uint64 tensor without the combined dimensions.

    Raises:
        RuntimeError: For another mode, or if ``input`` is empty.
        IndexError: If a combined dimension has size 0.
        NotImplementedError: If ``input`` is complex.

    Example:
        >>> tt.hash_tensor(tt.tensor([3, 5])).item()
        6
    """
    if as_int("hash_tensor", "mode", mode) != 0:
        raise RuntimeError(f"Unknown hash_tensor mode: {mode}")
    check_supported(xp, "xor_sum_cpu", input, unsupported="c")
    axes = reduced_axes("hash_tensor", dim, input.ndim)
    if axes is None and not input.size:
        raise RuntimeError(
            "hash_tensor: Expected reduction dim to be specified for input.numel() == 0. Specify "
            "the reduction dim with the 'dim' argument."
        )
    empty = [d for d in axes or () if not input.shape[d]]
    if empty:
        raise IndexError(f"hash_tensor: Expected reduction dim {empty[0]} to have non-zero size.")
    wide = dtypes.float64 if input.dtype.kind == "f" else dtypes.int64
    bits = as_row_major(xp, input.reshape(-1)).astype(xp.native_dtype(wide))
    bits = bits.view(xp.native_dtype(dtypes.uint64)).reshape(input.shape)
    return _xor_along(xp, bits, tuple(range(input.ndim)) if axes is None else axes, keepdim)


def _xor_along(xp: Backend, bits: Array, axes: tuple[int, ...], keepdim: bool) -> Any:
    """Exclusive or along ``axes`` by repeated halving, for libraries without the reduction."""
    shape = bits.shape
    kept = tuple([i for i in range(bits.ndim) if i not in axes])
    count = element_count(shape, axes)
    rows = xp.transpose(bits, (*axes, *kept)) if kept else bits
    rows = rows.reshape((count, *[shape[i] for i in kept]))
    while rows.shape[0] > 1:
        half = rows.shape[0] // 2
        folded = rows[:half] ^ rows[half : 2 * half]
        rows = xp.concatenate((folded, rows[2 * half :]))
    total = rows[0] if count else xp.zeros(rows.shape[1:], rows.dtype)
    if not keepdim:
        return total
    return total.reshape(tuple(1 if i in axes else n for i, n in enumerate(shape)))
