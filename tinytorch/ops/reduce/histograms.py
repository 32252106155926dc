"""Histograms, and counts of integers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ... import dtypes
from ...core.tensor import Tensor
from ...dispatch.op import Array, Backend, Out, composite, no_derivative, op
from ..checks import integer, refuse
from ..create.ranges import space_evenly
from ..results import named_result

# -- edges ----------------------------------------------------------------------------------------


def _bounds(xp: Backend, name: str, values: Array, low: Any, high: Any) -> tuple[Any, Any]:
    """The range of a histogram, of the values' own if it is empty, and never empty."""
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


def _checked_bins(name: str, bins: int) -> int:
    if bins <= 0:
        raise RuntimeError(f"torch.{name}: bins must be > 0, but got {bins}")
    return bins


@op
def _edges(xp: Backend, input: Array, name: str, bins: int, low: Any, high: Any) -> Array:
    low, high = _bounds(xp, name, input, low, high)
    alone = low == high
    half = xp.asarray(0.5, dtype=low.dtype)
    low, high = xp.where(alone, low - half, low), xp.where(alone, high + half, high)
    return space_evenly(xp, low, high, _checked_bins(name, bins) + 1, low.dtype).astype(low.dtype)


# -- counting ------------------------------------------------------------------------------------


@op(method=True, out=Out.EXACT)
def histc(xp: Backend, input: Array, bins: int = 100, min: Any = 0, max: Any = 0) -> Array:
    """How many elements fall into each of ``bins`` equal bins.

    Args:
        input: Floating-point tensor of any shape.
        bins: Number of bins; default 100.
        min: Lower end of the range.
        max: Upper end, included; where it equals ``min``, the smallest and the largest
            element are the range.

    Returns:
        Tensor of shape ``(bins,)`` and ``input``'s dtype; what is out of range is not counted.

    Raises:
        RuntimeError: If the range is not finite or turned around, or ``bins`` not positive.

    Example:
        >>> import tinytorch as tt
        >>> tt.histc(tt.tensor([1.0, 2.0, 1.0]), bins=4, min=0, max=3)
        tensor([0., 2., 1., 0.])
    """
    refuse(xp, "histogram_cpu", "biuc", input)
    bins = _checked_bins("histc", integer("histc", "bins", bins))
    min, max = (b.item() if hasattr(b, "item") else b for b in (min, max))
    if max < min:
        raise RuntimeError(f"torch.histc: max must be larger than min, got min={min}, max={max}")
    values = input.reshape(-1)
    low, high = _bounds(xp, "histc", values, min, max)
    alone = low == high
    # Beside a large number 1 is lost: the range reaches to its neighbors at least.
    below = xp.minimum(low - 1, xp.nextafter(low, -xp.inf))
    above = xp.maximum(high + 1, xp.nextafter(high, xp.inf))
    low, high = xp.where(alone, below, low), xp.where(alone, above, high)
    inside = (values >= low) & (values <= high)
    # A power of two keeps each product within the dtype's range, and changes no digit.
    smaller = math.ldexp(1.0, -2 - bins.bit_length())
    scale = xp.where(xp.isfinite((high - low) * bins), 1, smaller).astype(values.dtype)
    low, span = low * scale, high * scale - low * scale
    place = xp.floor((xp.where(inside, values * scale, low) - low) * bins / span)
    # Of numbers so large that adding 1 leaves them alone, the range is empty still.
    place = xp.astype(xp.where(span > 0, xp.minimum(place, bins - 1), 0), "int64")
    return _tally(xp, place, inside, bins, values.dtype, None)


def _tally(
    xp: Backend, place: Array, inside: Array, bins: int, dtype: Any, weight: Array | None
) -> Array:
    """Weights (1 by default) summed by place; what is not inside goes to a place of its own."""
    out = xp.zeros(bins + 1, dtype)
    ones = xp.ones(place.shape, dtype) if weight is None else xp.astype(weight, dtype)
    xp.index_add(out, xp.where(inside, place, bins), ones)
    return out[:bins]


@op(node="NotImplemented")
def _histogram(
    xp: Backend, input: Array, weight: Array | None, edges: Sequence[Array], density: bool
) -> Array:
    """Weights of points ``(n, d)`` summed in the cells of a grid, given its d edges."""
    shape = tuple(e.size - 1 for e in edges)
    place: Any = 0
    inside: Any = True
    for d, edge in enumerate(edges):
        values = xp.ascontiguousarray(input[:, d])
        cell = xp.searchsorted(edge, values, side="right") - 1
        inside = inside & (values >= edge[0]) & (values <= edge[-1])
        place = place * shape[d] + xp.clip(cell, 0, shape[d] - 1)  # the last edge is inside
    counts = _tally(xp, place, inside, math.prod(shape), input.dtype, weight).reshape(shape)
    return _density(xp, counts, edges) if density else counts


_histogram.vjp(input=no_derivative("histogram"), weight=no_derivative("histogram"))


def _density(xp: Backend, counts: Array, edges: Sequence[Array]) -> Array:
    """Counts per total and size of the cell."""
    out = counts / xp.sum(counts)
    for d, edge in enumerate(edges):
        widths = xp.diff(edge)
        out = out / widths.reshape(tuple(-1 if i == d else 1 for i in range(len(edges))))
    return out


def _check_weight(points: Tensor, weight: Tensor | None) -> None:
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
    """The edges along each dimension, from numbers of bins or given as tensors."""
    refuse(points._xp, "histogramdd", "b", points._data)
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
            _checked_bins(name, given.numel() - 1)
            edges.append(given.clone())
            continue
        low, high = (None, None) if range is None else range[2 * d : 2 * d + 2]
        if low is not None and high is not None and low > high:
            raise RuntimeError(
                f"torch.{name}: min should not exceed max, but got min {low} max {high} for "
                f"dimension {d}"
            )
        edges.append(_edges(points[..., d], name, integer(name, "bins", given), low, high))
    return tuple(edges)


_histogram_result = named_result("histogram", "hist bin_edges")
_histogramdd_result = named_result("histogramdd", "hist bin_edges")


def _counted(points: Tensor, weight: Tensor | None, edges: Any, density: bool) -> Tensor:
    _check_weight(points, weight)
    refuse(points._xp, "histogramdd", "biuc", points._data)
    flat = points.reshape(math.prod(points.shape[:-1]), points.shape[-1])
    weights = None if weight is None else weight.reshape(-1)
    return _histogram(flat, weights, edges, density)


@composite(method=True, out=Out.CAST)
def histogram(
    input: Tensor, bins: Any = 100, *, range: Sequence[float] | None = None,
    weight: Tensor | None = None, density: bool = False,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """How many elements fall into each bin, and the edges of the bins.

    Args:
        input: Floating-point tensor of any shape.
        bins: Number of equal bins, default 100, or a tensor of ascending edges.
        range: Lower and upper end of the bins; default the smallest and largest element.
        weight: Tensor of ``input``'s shape to sum up, rather than counting.
        density: Divide by the total and by the widths of the bins.

    Returns:
        A named tuple ``(hist, bin_edges)`` of ``input``'s dtype. The last bin includes its
        upper edge; what is out of range is not counted.

    Raises:
        RuntimeError: If the range is not finite, or shapes or dtypes do not fit.

    Example:
        >>> import tinytorch as tt
        >>> tt.histogram(tt.tensor([1.0, 2.0, 1.0]), bins=4, range=(0.0, 3.0)).hist
        tensor([0., 2., 1., 0.])
    """
    points = input.unsqueeze(-1)
    edges = _grid(points, [bins], range, "histogramdd")
    hist = _counted(points, weight, edges, density)
    return _histogram_result(hist, edges[0])  # type: ignore[no-any-return]


@composite
def histogramdd(
    input: Tensor, bins: Any = 10, range: Sequence[float] | None = None,
    weight: Tensor | None = None, density: bool = False,
) -> tuple[Tensor, tuple[Tensor, ...]]:  # fmt: skip
    """How many points fall into each cell of a grid, and the edges of the cells.

    Args:
        input: Floating-point tensor of shape ``(*, d)``: points in d dimensions.
        bins: Number of equal bins along each dimension (one int for all), or tensors of edges.
        range: Lower and upper end along each dimension, ``2 * d`` numbers; default those of
            the points.
        weight: Tensor of shape ``(*)`` to sum up, rather than counting.
        density: Divide by the total and by the sizes of the cells.

    Returns:
        A named tuple ``(hist, bin_edges)``; the second is a tuple of d tensors.

    Raises:
        RuntimeError: If shapes or dtypes do not fit.

    Example:
        >>> import tinytorch as tt
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
    return _histogramdd_result(_counted(input, weight, edges, density), edges)  # type: ignore


@op(method=True, node="NotImplemented")
def bincount(xp: Backend, input: Array, weights: Array | None = None, minlength: int = 0) -> Array:
    """How often each number from 0 on comes.

    The host waits for the device to learn the largest.

    Args:
        input: Integer tensor of shape ``(n,)``, not negative.
        weights: Tensor of shape ``(n,)`` to sum up, rather than counting.
        minlength: Least size of the result; default 0.

    Returns:
        int64 tensor of shape ``(max(input) + 1,)`` at least; with weights float32 for
        float32 weights, float64 for all others.

    Raises:
        RuntimeError: For negative numbers, the largest int64, or shapes that do not fit.
        NotImplementedError: If ``input`` does not hold integers.

    Example:
        >>> import tinytorch as tt
        >>> tt.bincount(tt.tensor([1, 2, 2]))
        tensor([0, 1, 2])
    """
    refuse(xp, "bincount_cpu", "bfc", input)
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
    if largest >= most:  # NumPy would count one more than there is memory for
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
