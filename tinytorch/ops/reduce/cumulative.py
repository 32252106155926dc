"""Cumulative sums, products, extrema and log-sum-exps along a dimension."""

from __future__ import annotations

import math
from typing import Any

from ... import dtypes
from ...core.tensor import Tensor
from ...dispatch.op import Array, Backend, Nodes, Out, Overlap, composite, op
from ...dispatch.out import scalar_name
from ..checks import check_supported, discard_imaginary, sum_dtype
from ..index.gathering import selected_gradient
from ..memory_order import as_row_major
from ..results import named_result
from ..shape.sizes import flip, normalize_dim


def _axis(name: str, dim: int, array: Array) -> int:
    """Convert ``dim`` to a nonnegative dimension of ``array``."""
    return normalize_dim(name, dim, len(array.shape))


#: Dtype in which cumulative results are computed, by NumPy's type character.
_WIDER_DTYPES = {"e": "float32", "f": "float64", "F": "complex128"}


def _accumulate(function: Any, xp: Backend, input: Array, at: int, native: Any) -> Array:
    """Cumulative results of ``function``, computed in twice the precision of the result.

    torch's results are rounded once. With a rounding at every step, the fourth digit would be
    wrong after a million float32 numbers.
    """
    wide = _WIDER_DTYPES.get(native.char)
    if wide is None:
        return function(input, axis=at, dtype=native)

    def accumulate_part(part: Array) -> Array:
        buffer = xp.array(part, dtype=wide)
        axis = part.ndim - 1 if along_rows else at
        return xp.astype(function(buffer, axis=axis, out=buffer), native)

    along_rows = at == input.ndim - 1 and input.size and input.dtype == native
    return (
        xp.blockwise(accumulate_part, input, unit=input.shape[at])
        if along_rows
        else accumulate_part(input)
    )


def _flatten_without_dim(input: Array, dim: Any) -> tuple[Array, Any]:
    """Flatten the array if ``dim`` is None, as for NumPy's ``axis=None``."""
    return (input.reshape(-1), 0) if dim is None else (input, dim)


@op(method=True, inplace=True, out=Out.DTYPE_ARGUMENT)
def cumsum(
    xp: Backend, input: Array, dim: int | None = None, *, dtype: dtypes.dtype | None = None
) -> Array:
    """Cumulative sum of the elements along ``dim``.

    Args:
        input: Tensor of any shape.
        dim: The dimension; None, the default, means the flattened tensor.
        dtype: Dtype of the computation and result. Default: the input's, int64 for integers
            and bools.

    Returns:
        Tensor of ``input``'s shape.

    Raises:
        IndexError: If there is no such dimension.

    Example:
        >>> tt.cumsum(tt.tensor([1, 2, 3]), 0)
        tensor([1, 3, 6])
    """
    input, dim = _flatten_without_dim(input, dim)
    at = _axis("cumsum", dim, input)
    native = sum_dtype(xp, input, dtype)
    input = discard_imaginary(xp, input, native)
    if not input.ndim:
        return xp.array(input, dtype=native)
    return as_row_major(xp, _accumulate(xp.cumsum, xp, input, at, native))


cumsum.vjp(input=lambda xp, g, in_shape, dim: _suffix_sum(xp, g, dim).reshape(in_shape))


def _suffix_sum(xp: Any, g: Any, dim: int | None) -> Any:
    """Sum of ``g`` from each position to the end of ``dim``: the gradient of ``cumsum``."""
    if not g.ndim:
        return g
    at = (dim or 0) % g.ndim
    return xp.call(flip, xp.call(cumsum, xp.flip(g, at), at), (at,))


@op
def _recurrence(xp: Backend, factor: Array, term: Array, dim: int) -> Array:
    """``y[i] = factor[i] * y[i - 1] + term[i]`` along ``dim``, in log2(n) steps of halving.

    Reference:
        G. E. Blelloch, Prefix sums and their applications, 1990, section 1.4.1.
    """
    at = dim % term.ndim
    if at < term.ndim - 1 or not term.size or factor.dtype != term.dtype:
        return _recurrence_by_halving(xp, factor, term, at)
    rows = xp.ascontiguousarray(factor), xp.ascontiguousarray(term)
    return xp.blockwise(
        lambda a, y: _recurrence_by_halving(xp, a, y, y.ndim - 1), *rows, unit=term.shape[at]
    )


def _recurrence_by_halving(xp: Backend, a: Array, y: Array, dim: int) -> Array:
    """``_recurrence`` along one dimension of factors ``a`` and terms ``y``.

    Each pair of steps is combined into one. The results of this recurrence of half the length are
    those at the odd positions; one step from each of them gives those at the even positions.
    """
    size = y.shape[dim]
    out = xp.array(y)
    if size < 2:
        return out
    second = _part(a, dim, 1, None, 2)
    first = (_part(a, dim, 0, size - 1, 2), _part(y, dim, 0, size - 1, 2))
    ends = _recurrence_by_halving(
        xp, second * first[0], second * first[1] + _part(y, dim, 1, None, 2), dim
    )
    out[_slice_index(dim, 1, None, 2)] = ends
    before = _part(ends, dim, 0, (size - 1) // 2)
    out[_slice_index(dim, 2, None, 2)] += _part(a, dim, 2, None, 2) * before
    return out


def suffix_recurrence(xp: Any, factor: Any, term: Any, dim: int) -> Any:
    """``y[i] = factor[i + 1] * y[i + 1] + term[i]`` along ``dim``, from the end."""
    # The factor of the last element is not used, so its value does not matter.
    following = xp.concatenate((_part(factor, dim, 1, None), _part(factor, dim, 0, 1)), dim)
    flipped = xp.call(_recurrence, xp.flip(following, dim), xp.flip(term, dim), dim)
    return xp.call(flip, flipped, (dim,))


def _slice_index(dim: int, start: int | None, stop: int | None, step: int = 1) -> tuple[slice, ...]:
    """Index of a slice along ``dim``."""
    return (slice(None),) * dim + (slice(start, stop, step),)


def _part(array: Any, dim: int, start: int | None, stop: int | None, step: int = 1) -> Any:
    """Slice of an array along ``dim``."""
    return array[_slice_index(dim, start, stop, step)]


@_recurrence.vjp_joint("factor", "term")
def _recurrence_gradient(xp: Any, g: Any, out: Any, factor: Any, dim: int) -> Any:
    """Gradients of the factors and the terms."""
    total = suffix_recurrence(xp, factor, g, dim)
    previous = shift_along(xp, out, dim, 0)
    return total * previous, total


def shift_along(xp: Any, array: Any, dim: int, first: int) -> Any:
    """Shift the array by one along ``dim``, with the constant ``first`` at the start."""
    start = xp.zeros_like(_part(array, dim, 0, 1)) + first
    return xp.concatenate((start, _part(array, dim, None, -1)), dim)


@op(method=True, inplace=True, out=Out.DTYPE_ARGUMENT, like=cumsum)
def cumprod(
    xp: Backend, input: Array, dim: int | None = None, *, dtype: dtypes.dtype | None = None
) -> Array:
    """Cumulative product of the elements along ``dim``.

    Returns:
        Tensor of ``input``'s shape. Its gradient does not divide by elements, so they may be 0.

    Example:
        >>> tt.cumprod(tt.tensor([1, 2, 3, 4]), 0)
        tensor([ 1,  2,  6, 24])
    """
    input, dim = _flatten_without_dim(input, dim)
    at = _axis("cumprod", dim, input)
    native = sum_dtype(xp, input, dtype)
    input = discard_imaginary(xp, input, native)
    if not input.ndim:
        return xp.array(input, dtype=native)
    return as_row_major(xp, _accumulate(xp.cumprod, xp, input, at, native))


def _cumprod_gradient(xp: Any, g: Any, out: Any, input: Any, dim: int | None) -> Any:
    """Gradient of ``cumprod``, without divisions, which would fail for zeros.

    The product before each element times a sum over the later results, by ``suffix_recurrence``.
    """
    if not input.ndim or not input.size:
        return g
    shape = input.shape
    input = discard_imaginary(xp, input, g.dtype)
    x = input.reshape(-1) if dim is None else input
    at = (dim or 0) % x.ndim
    later = suffix_recurrence(xp, x, g, at)
    return (shift_along(xp, out, at, 1) * later).reshape(shape)


cumprod.vjp(input=_cumprod_gradient)


# -- cumulative extrema ------------------------------------------------------------------------

_cummax_result = named_result("cummax", "values indices")
_cummin_result = named_result("cummin", "values indices")


def _run_extrema(xp: Backend, input: Array, dim: int, name: str) -> tuple[Array, Array]:
    """Cumulative maxima or minima, and the index of the last occurrence of each."""
    check_supported(xp, f"{name}_cpu", input, unsupported="c")
    at = _axis(name, dim, input)
    if not input.size or not input.ndim:
        return xp.array(input), xp.zeros(input.shape, xp.native_dtype(dtypes.int64))
    word = "maximum" if name == "cummax" else "minimum"
    if at == input.ndim - 1:
        running = xp.blockwise(
            lambda part: xp.accumulate(word, part, part.ndim - 1), input, unit=input.shape[at]
        )
    else:
        running = xp.accumulate(word, input, at)
    # After a NaN the extremum is NaN.
    same = input == running
    if input.dtype.kind == "f":
        same |= input != input
    return as_row_major(xp, running), as_row_major(xp, xp.last_true(same, at))


@op(returns=_cummax_result, node=Nodes("CummaxBackward0", frees=True))
def _cummax_along(xp: Backend, input: Array, dim: int) -> tuple[Array, Array]:
    return _run_extrema(xp, input, dim, "cummax")


@op(returns=_cummin_result, node=Nodes("CumminBackward0", frees=True))
def _cummin_along(xp: Backend, input: Array, dim: int) -> tuple[Array, Array]:
    return _run_extrema(xp, input, dim, "cummin")


_cummax_along.vjp(input=selected_gradient)
_cummin_along.vjp(input=selected_gradient)


@composite(method=True, out=Out.CAST, node=Nodes("CummaxBackward0", frees=True), fast=_cummax_along)
def cummax(input: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    """Cumulative maximum along ``dim``, and its indices.

    Args:
        input: Tensor of any shape; a NaN is larger than any number.
        dim: The dimension.

    Returns:
        A named tuple ``(values, indices)`` of ``input``'s shape. Of equal elements the last one
        is selected and receives the gradient. ``indices`` are int64.

    Raises:
        NotImplementedError: If ``input`` is complex.

    Example:
        >>> tt.cummax(tt.tensor([1, 3, 2]), 0).values
        tensor([1, 3, 3])
    """
    return _cummax_along(input, dim)  # type: ignore[return-value]


@composite(method=True, out=Out.CAST, node=Nodes("CumminBackward0", frees=True), fast=_cummin_along)
def cummin(input: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    """Cumulative minimum along ``dim``, and its indices.

    Args:
        input: Tensor of any shape; a NaN is smaller than any number.
        dim: The dimension.

    Returns:
        A named tuple ``(values, indices)`` of ``input``'s shape. Of equal elements the last one
        is selected and receives the gradient. ``indices`` are int64.

    Raises:
        NotImplementedError: If ``input`` is complex.

    Example:
        >>> tt.cummin(tt.tensor([2, 3, 1]), 0).indices
        tensor([0, 0, 2])
    """
    return _cummin_along(input, dim)  # type: ignore[return-value]


# -- logarithms of sums of exponentials ----------------------------------------------------------


@op(method=True, out=Out.EXACT, overlap=Overlap.CHECKED)
def logcumsumexp(xp: Backend, input: Array, dim: int) -> Array:
    """``log(cumsum(exp(input)))`` along ``dim``, without overflow.

    Args:
        input: Floating-point or complex tensor of any shape.
        dim: The dimension.

    Returns:
        Tensor of ``input``'s shape.

    Raises:
        IndexError: If there is no such dimension.
        NotImplementedError: If ``input`` is integer or bool.

    Example:
        >>> tt.logcumsumexp(tt.tensor([0.0, 0.0]), 0)
        tensor([0.0000, 0.6931])
    """
    at = _axis("logcumsumexp", dim, input)
    if input.dtype.kind not in "fc":
        name = scalar_name(xp.dtype_of(input))
        raise NotImplementedError(f"\"logcumsumexp_out_cpu\" not implemented for '{name}'")
    if not input.ndim or input.shape[at] < 2:
        return xp.array(input, order="C")
    if input.dtype.kind == "c":
        return as_row_major(xp, xp.scan(lambda x, y: _log_sum(xp, x, y), input, at))
    wide = xp.astype(input, _WIDER_DTYPES.get(input.dtype.char, input.dtype))  # as in _accumulate
    return as_row_major(xp, xp.astype(xp.accumulate("logaddexp", wide, at), input.dtype))


def _log_sum(xp: Backend, x: Array, y: Array) -> Array:
    """``log(exp(x) + exp(y))`` of complex numbers: the larger one plus a correction."""
    swap = x.real < y.real
    larger, smaller = xp.where(swap, y, x), xp.where(swap, x, y)
    alike = larger.real == smaller.real
    ratio = xp.exp(xp.where(alike & ~xp.isfinite(larger.real), 0, smaller - larger))
    real, imag = ratio.real, ratio.imag
    size = xp.log1p(2 * real + real**2 + imag**2) / 2
    added = size + 1j * xp.arctan2(imag, 1 + real)
    return xp.where(larger.real == -math.inf, larger, larger + xp.astype(added, x.dtype))


def _logcumsumexp_gradient(xp: Any, g: Any, out: Any, input: Any, dim: int) -> Any:
    """Gradient of ``logcumsumexp``.

    Each later result passes on the share of the exponential sum that it takes over from its
    predecessor; the sum of all these is computed by ``suffix_recurrence``.
    """
    if not input.ndim or not input.size:
        return g
    at = dim % input.ndim
    # Every exponent is at most 0, since a partial sum is not larger than the next one.
    is_empty_sum = out.real == -math.inf
    before = shift_along(xp, out, at, 0)
    infinite = xp.isinf(out) & (before == out)  # equal infinite sums, whose difference is NaN
    decay = xp.exp(xp.where(is_empty_sum, -math.inf, xp.where(infinite, 0, before - out)))
    later = suffix_recurrence(xp, decay, g, at)
    share = xp.exp(xp.where(input.real == -math.inf, -math.inf, input - out))
    return share * later


logcumsumexp.vjp(input=_logcumsumexp_gradient)
