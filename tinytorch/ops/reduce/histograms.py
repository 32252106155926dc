"""Histograms, and counts of integers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ... import dtypes
from ...core.tensor import Tensor
from ...dispatch.op import Array, Backend, Out, composite, no_derivative, op
from ..checks import as_int, check_supported
from ..create.ranges import space_evenly
from ..results import named_result

# -- edges ----------------------------------------------------------------------------------------


def _bounds(xp: Backend, name: str, values: Array, low: Any, high: Any) -> tuple[Any, Any]:
    """Range of a histogram; the range of the values if none is given."""
    if low is None or low == high:
        if values.size:
            low, high = xp.min(values), xp.max(values)
        elif low is None:
            low, high = 0.0, 1.0
    low, high = (xp.asarray(b, dtype=values.dtype) for b in (low, high))
    xp.check_all(
        xp.isfinite(low) & xp.isfinite(high), f"torch.{name}: range of the values is not finite"
    )
    return low, high


def _check_bins(name: str, bins: int) -> int:
    """Return the number of bins; raise RuntimeError unless it is positive."""
    if bins <= 0:
        raise RuntimeError(f"torch.{name}: bins must be > 0, but got {bins}")
    return bins


@op
def _edges(xp: Backend, input: Array, name: str, bins: int, low: Any, high: Any) -> Array:
    """Edges of ``bins`` equal bins between the bounds, or over the range of the values."""
    low, high = _bounds(xp, name, input, low, high)
    is_one_point = low == high
    half = xp.asarray(0.5, dtype=low.dtype)
    low, high = xp.where(is_one_point, low - half, low), xp.where(is_one_point, high + half, high)
    return space_evenly(xp, low, high, _check_bins(name, bins) + 1, low.dtype).astype(low.dtype)


# -- counting ------------------------------------------------------------------------------------


@op(method=True, out=Out.EXACT)
def histc(xp: Backend, input: Array, bins: int = 100, min: Any = 0, max: Any = 0) -> Array:
    """Histogram: the number of elements in each of ``bins`` equal bins.

    Args:
        input: Floating-point tensor of any shape.
        bins: Number of bins; default 100.
        min: Lower end of the range.
        max: Upper end of the range, included. If it equals ``min``, the range is from the smallest
            to the largest element.

    Returns:
        Tensor of shape ``(bins,)`` and ``input``'s dtype. Elements out of range are not counted.

    Raises:
        RuntimeError: If the range is not finite or reversed, or ``bins`` not positive.

    Example:
        >>> tt.histc(tt.tensor([1.0, 2.0, 1.0]), bins=4, min=0, max=3)
        tensor([0., 2., 1., 0.])
    """
    check_supported(xp, "histogram_cpu", input, unsupported="biuc")
    bins = _check_bins("histc", as_int("histc", "bins", bins))
    min, max = (b.item() if hasattr(b, "item") else b for b in (min, max))
    if max < min:
        raise RuntimeError(f"torch.histc: max must be larger than min, got min={min}, max={max}")
    values = input.reshape(-1)
    low, high = _bounds(xp, "histc", values, min, max)
    alone = low == high
    # Adding 1 to a large number has no effect, so extend the range at least to the next floats.
    below = xp.minimum(low - 1, xp.nextafter(low, -xp.inf))
    above = xp.maximum(high + 1, xp.nextafter(high, xp.inf))
    low, high = xp.where(alone, below, low), xp.where(alone, above, high)
    inside = (values >= low) & (values <= high)
    # Scaling by a power of two keeps each product in the dtype's range and is exact.
    smaller = math.ldexp(1.0, -2 - bins.bit_length())
    scale = xp.where(xp.isfinite((high - low) * bins), 1, smaller).astype(values.dtype)
    low, span = low * scale, high * scale - low * scale
    place = xp.floor((xp.where(inside, values * scale, low) - low) * bins / span)
    # For numbers so large that adding 1 has no effect, the range is still empty.
    place = xp.astype(xp.where(span > 0, xp.minimum(place, bins - 1), 0), "int64")
    return _tally(xp, place, inside, bins, values.dtype, None)


def _tally(
    xp: Backend, place: Array, inside: Array, bins: int, dtype: Any, weight: Array | None
) -> Array:
    """Sum of the weights of the elements in each bin.

    Args:
        xp: The backend.
        place: The bin of each element.
        inside: Whether each element is in a bin at all.
        bins: Number of bins.
        dtype: Dtype of the sums.
        weight: Weight of each element; None for 1.
    """
    out = xp.zeros(bins + 1, dtype)
    weights = xp.ones(place.shape, dtype) if weight is None else xp.astype(weight, dtype)
    xp.index_add(out, xp.where(inside, place, bins), weights)
    return out[:bins]


@op(node="NotImplemented")
def _histogram(
    xp: Backend, input: Array, weight: Array | None, edges: Sequence[Array], density: bool
) -> Array:
    """Sum the weights of points ``(n, d)`` in the cells of a grid with the given edges."""
    shape = tuple(e.size - 1 for e in edges)
    cells: Any = 0
    inside: Any = True
    for d, edge in enumerate(edges):
        values = xp.ascontiguousarray(input[:, d])
        cell = xp.searchsorted(edge, values, side="right") - 1
        inside = inside & (values >= edge[0]) & (values <= edge[-1])
        cells = cells * shape[d] + xp.clip(cell, 0, shape[d] - 1)  # the last edge is inside
    counts = _tally(xp, cells, inside, math.prod(shape), input.dtype, weight).reshape(shape)
    return _density(xp, counts, edges) if density else counts


_histogram.vjp(input=no_derivative("histogram"), weight=no_derivative("histogram"))


def _density(xp: Backend, counts: Array, edges: Sequence[Array]) -> Array:
    """Divide counts by their total and by the sizes of the cells."""
    out = counts / xp.sum(counts)
    for d, edge in enumerate(edges):
        widths = xp.diff(edge)
        out = out / widths.reshape(tuple(-1 if i == d else 1 for i in range(len(edges))))
    return out


def _check_weight(points: Tensor, weight: Tensor | None) -> None:
    """Raise RuntimeError unless there is one weight for each point, of its dtype."""
    if weight is None:
        return
    if weight.dtype is not points.dtype:
        raise RuntimeError(
            "torch.histogramdd: if weight tensor is provided, input tensor and weight tensor "
            "should "
            f"have the same dtype, but got input({points.dtype.name}), and "
            f"weight({weight.dtype.name})"
        )
    if tuple(weight.shape) != tuple(points.shape[:-1]):
        raise RuntimeError(
            "torch.histogramdd: if weight tensor is provided it should have the same shape as the "
            f"input tensor excluding its innermost dimension, but got input with shape "
            f"{list(points.shape)} and weight with shape {list(weight.shape)}"
        )


def _grid(
    points: Tensor, bins: Sequence[Any], range: Sequence[float] | None, name: str
) -> tuple[Tensor, ...]:
    """Edges along each dimension, from numbers of bins or from tensors of edges."""
    check_supported(points._xp, "histogramdd", points._data, unsupported="b")
    if range is not None and len(range) != 2 * len(bins):
        raise RuntimeError(
            f"torch.{name}: for a {len(bins)}-dimensional histogram range should have "
            f"{2 * len(bins)} elements, but got {len(range)}"
        )
    edges = []
    for d, given in enumerate(bins):
        if isinstance(given, Tensor):
            if given.dtype is not points.dtype:
                raise RuntimeError(
                    f"torch.{name}: input tensor and bins tensors should have the same dtype, but "
                    f"got input with dtype {points.dtype.name} and bins with {given.dtype.name}"
                )
            _check_bins(name, given.numel() - 1)
            edges.append(given.clone())
            continue
        low, high = (None, None) if range is None else range[2 * d : 2 * d + 2]
        if low is not None and high is not None and low > high:
            raise RuntimeError(
                f"torch.{name}: min should not exceed max, but got min {low} max {high} for "
                f"dimension {d}"
            )
        edges.append(_edges(points[..., d], name, as_int(name, "bins", given), low, high))
    return tuple(edges)


_histogram_result = named_result("histogram", "hist bin_edges")
_histogramdd_result = named_result("histogramdd", "hist bin_edges")


def _count_points(points: Tensor, weight: Tensor | None, edges: Any, density: bool) -> Tensor:
    """Histogram of points ``(..., d)`` in the cells of a grid with these edges."""
    _check_weight(points, weight)
    check_supported(points._xp, "histogramdd", points._data, unsupported="biuc")
    flat = points.reshape(math.prod(points.shape[:-1]), points.shape[-1])
    weights = None if weight is None else weight.reshape(-1)
    return _histogram(flat, weights, edges, density)


@composite(method=True, out=Out.CAST)
def histogram(
    input: Tensor, bins: Any = 100, *, range: Sequence[float] | None = None,
    weight: Tensor | None = None, density: bool = False,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Histogram: the number of elements in each bin, and the edges of the bins.

    Args:
        input: Floating-point tensor of any shape.
        bins: Number of equal bins, default 100, or a tensor of ascending edges.
        range: Lower and upper end of the bins; default the smallest and largest element.
        weight: Tensor of ``input``'s shape, which is summed instead of counting elements.
        density: Whether to divide by the total and by the widths of the bins.

    Returns:
        A named tuple ``(hist, bin_edges)`` of ``input``'s dtype. The last bin includes its
        upper edge. Elements out of range are not counted.

    Raises:
        RuntimeError: If the range is not finite, or shapes or dtypes do not fit.

    Example:
        >>> tt.histogram(tt.tensor([1.0, 2.0, 1.0]), bins=4, range=(0.0, 3.0)).hist
        tensor([0., 2., 1., 0.])
    """
    points = input.unsqueeze(-1)
    edges = _grid(points, [bins], range, "histogramdd")
    hist = _count_points(points, weight, edges, density)
    return _histogram_result(hist, edges[0])  # type: ignore[no-any-return]


@composite
def histogramdd(
    input: Tensor, bins: Any = 10, range: Sequence[float] | None = None,
    weight: Tensor | None = None, density: bool = False,
) -> tuple[Tensor, tuple[Tensor, ...]]:  # fmt: skip
    """Histogram of points: the number of points in each cell of a grid, and the edges.

    Args:
        input: Floating-point tensor of shape ``(*, d)``: points in d dimensions.
        bins: Number of equal bins along each dimension (one int for all), or tensors of edges.
        range: Lower and upper end along each dimension, ``2 * d`` numbers; default those of
            the points.
        weight: Tensor of shape ``(*)``, which is summed instead of counting points.
        density: Whether to divide by the total and by the sizes of the cells.

    Returns:
        A named tuple ``(hist, bin_edges)``; the second is a tuple of d tensors.

    Raises:
        RuntimeError: If shapes or dtypes do not fit.

    Example:
        >>> tt.histogramdd(tt.tensor([[0.0, 1.0], [1.0, 0.0]]), [2, 2]).hist
        tensor([[0., 1.],
                [1., 0.]])
    """
    if input.ndim < 2:
        raise RuntimeError("torch.histogramdd: input tensor should have at least 2 dimensions")
    given = list(bins) if hasattr(bins, "__len__") else [bins] * input.shape[-1]
    if len(given) != input.shape[-1]:
        raise RuntimeError(
            "torch.histogramdd: histogramdd: The size of bins must be equal to the innermost "
            f"dimension of the input. Got {len(given)} bins for {input.shape[-1]} dimensions"
        )
    edges = _grid(input, given, range, "histogramdd")
    return _histogramdd_result(_count_points(input, weight, edges, density), edges)  # type: ignore


@op(method=True, node="NotImplemented")
def bincount(xp: Backend, input: Array, weights: Array | None = None, minlength: int = 0) -> Array:
    """Count of each integer from 0 to the maximum.

    The host waits for the device, to read the maximum.

    Args:
        input: Integer tensor of shape ``(n,)``, not negative.
        weights: Tensor of shape ``(n,)``, which is summed instead of counting.
        minlength: Smallest size of the result; default 0.

    Returns:
        int64 tensor of shape ``(max(input) + 1,)`` at least; with weights float32 for
        float32 weights, float64 for all others.

    Raises:
        RuntimeError: If a number is negative or the largest int64, or shapes do not fit.
        NotImplementedError: If ``input`` is not an integer tensor.

    Example:
        >>> tt.bincount(tt.tensor([1, 2, 2]))
        tensor([0, 1, 2])
    """
    check_supported(xp, "bincount_cpu", input, unsupported="bfc")
    if minlength < 0:
        raise RuntimeError(f"bincount: minlength should be >= 0, got {minlength}")
    if input.ndim != 1 or (input.size and int(input.min()) < 0):
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    if input.size and weights is not None and weights.shape != input.shape:
        raise RuntimeError(
            f"bincount: weights should be 1-d and have the same length as input, got "
            f"{list(weights.shape)} and {list(input.shape)}"
        )
    native = xp.native_dtype(dtypes.int64)
    if not input.size:
        return xp.zeros(minlength, native)
    largest, most = int(input.max()), dtypes.iinfo(dtypes.int64).max
    if largest >= most:  # NumPy would try to allocate one element too many
        raise RuntimeError(
            f"bincount: maximum value of input overflowed, it should be < {most} but got {largest}"
        )
    if weights is None:
        return xp.astype(xp.bincount(input, minlength=minlength), native)
    single = weights.dtype.name == "float32"
    wide = xp.native_dtype(dtypes.float32 if single else dtypes.float64)
    count = max(largest + 1, minlength)
    out = xp.zeros(count, wide)
    xp.index_add(out, input, xp.astype(weights, wide))
    return out


bincount.vjp(weights=no_derivative("bincount"))
