"""Histograms by NumPy's names: edges, and of pairs of numbers."""

from __future__ import annotations

import math
from typing import Any

from ... import dtypes
from ...core.tensor import Tensor
from ...ops.create.ranges import linspace
from ...ops.reduce.histograms import bincount
from ...ops.sort.sorting import searchsorted
from ...state import default_dtype
from .conversion import array_of, arrays_of, float_array
from .registration import joining, shared


def bounds(a: Any, range: Any) -> tuple[float, float]:
    """The first and the last edge: what is asked for, or the extremes of the data."""
    if range is not None:
        low, high = (float(v) for v in range)
        if low > high:
            raise ValueError(f"max must be larger than min in range parameter, got {range}")
    elif a.numel():
        low, high = float(a.min()), float(a.max())
    else:
        low, high = 0.0, 1.0
    if not (math.isfinite(low) and math.isfinite(high)):
        raise ValueError(f"range of [{low}, {high}] is not finite")
    return (low - 0.5, high + 0.5) if low == high else (low, high)


def _iqr(a: Any) -> float:
    quarters = a.quantile(a.new_tensor([0.25, 0.75]))
    return float(quarters[1] - quarters[0])


def _doane(a: Any, n: float, spread: float) -> float:
    """D. P. Doane: Aesthetic Frequency Classifications, 1976: Sturges' rule for skew data."""
    deviation = float(a.std(correction=0)) if n > 2 else 0.0
    if not deviation:
        return 0.0
    skewness = float((((a - a.mean()) / deviation) ** 3).mean())
    usual = math.sqrt(6 * (n - 2) / ((n + 1) * (n + 3)))
    return spread / (1 + math.log2(n) + math.log2(1 + abs(skewness) / usual))


def _width(rule: str, a: Any) -> float:
    """The width of the bins that a rule of thumb gives; 0 for one bin."""
    n = float(a.numel())
    spread = float(a.max() - a.min())
    if rule == "sqrt":
        return spread / math.sqrt(n)
    if rule == "sturges":
        return spread / (math.log2(n) + 1)
    if rule == "rice":
        return spread / (2 * math.pow(n, 1 / 3))
    if rule == "scott":
        return math.pow(24 * math.sqrt(math.pi) / n, 1 / 3) * float(a.std(correction=0))
    if rule == "fd":
        return 2 * _iqr(a) * math.pow(n, -1 / 3)
    if rule == "doane":
        return _doane(a, n, spread)
    if rule == "auto":
        return min(max(_width("fd", a), _width("sqrt", a) / 2), _width("sturges", a))
    raise ValueError(
        f"histogram_bin_edges(): {rule!r} is not supported; give a number of bins, or 'auto', "
        "'doane', 'fd', 'rice', 'scott', 'sqrt' or 'sturges'"
    )


@shared
def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Tensor:
    """The edges of the bins that ``histogram`` uses.

    Args:
        a: Real tensor of any shape.
        bins: How many, the edges themselves, or a rule of thumb: ``"auto"``, ``"doane"``,
            ``"fd"``, ``"rice"``, ``"scott"``, ``"sqrt"`` or ``"sturges"``.
        range: The first and the last edge; default the extremes of ``a``.
        weights: The edges do not depend on them; no rule of thumb goes with them.

    Returns:
        Tensor of shape ``(bins + 1,)``.

    Raises:
        ValueError: For a rule or a range that does not exist, or edges that do not ascend.
        TypeError: For a rule of thumb with weights.

    Example:
        >>> import tinytorch as tt
        >>> tt.histogram_bin_edges(tt.tensor([0.0, 4.0]), bins=4)
        tensor([0., 1., 2., 3., 4.])
    """
    x: Any = float_array(a).detach().ravel()
    if not isinstance(bins, (int, str)):
        edges: Any = array_of(bins, x._xp)
        if bool((edges.diff() < 0).any()):
            raise ValueError("histogram_bin_edges(): bins must increase monotonically")
        return edges  # type: ignore[no-any-return]
    if isinstance(bins, str) and weights is not None:
        raise TypeError(
            "histogram_bin_edges(): no rule of thumb counts weights; give a number of bins"
        )
    low, high = bounds(x, range)
    if isinstance(bins, str):
        kept = x if range is None else x[(x >= low) & (x <= high)]
        width = _width(bins, kept) if kept.numel() else 0.0
        if width and array_of(a).dtype.category < 2:
            width = max(width, 1.0)
        bins = math.ceil((high - low) / width) if width else 1
    if bins < 1:
        raise ValueError(f"histogram_bin_edges(): bins must be positive, got {bins}")
    return linspace(low, high, bins + 1, dtype=x.dtype, backend=x._xp)


def bin_numbers(x: Any, edges: Any) -> Any:
    """The bin each element is in, the last one with its upper edge; -1 outside."""
    size = edges.shape[0] - 1
    place = searchsorted(edges, x.to(edges.dtype).contiguous(), right=True) - 1
    place = place.where(x != edges[-1], place.new_full((), size - 1))
    return place.where((x >= edges[0]) & (x <= edges[-1]), place.new_full((), -1))


def counted(place: Any, inside: Any, count: int, weights: Any) -> Any:
    """How often each number below ``count`` comes, or the sum of the weights."""
    kept = None if weights is None else weights.ravel()[inside]
    return bincount(place[inside], kept, count)


def grid_counts(
    points: list[Any], bins: list[Any], ranges: Any, density: Any, weights: Any, dtype: Any
) -> tuple[Any, tuple[Any, ...]]:
    """How many points each field of a grid holds, or their density; and the edges.

    Args:
        points: The coordinates in each dimension.
        bins: How many, or the edges, for each.
        ranges: The first and the last edge for each; None means the extremes.
        density: Whether to divide by the number of points and the fields' sizes.
        weights: How much each point counts; None means 1.
        dtype: Of the counts.
    """
    given = [None] * len(points) if ranges is None else list(ranges)
    edges: list[Any] = [
        histogram_bin_edges(x, n, r) for x, n, r in zip(points, bins, given, strict=True)
    ]
    sizes = [e.shape[0] - 1 for e in edges]
    flat: Any = 0
    inside: Any = True
    for x, e, n in zip(points, edges, sizes, strict=True):
        place = bin_numbers(x, e)
        flat, inside = flat * n + place, inside & (place >= 0)
    w = None if weights is None else array_of(weights, points[0]._xp)
    counts = counted(flat, inside, math.prod(sizes), w).reshape(sizes).to(dtype)
    if not density:
        return counts, tuple(edges)
    total = counts.sum()
    for d, e in enumerate(edges):
        counts = counts / e.diff().reshape([-1] + [1] * (len(edges) - d - 1))
    return counts / total, tuple(edges)


@shared(prepare=joining(2))
def histogram2d(
    x: Any,
    y: Any,
    bins: Any = 10,
    range: Any = None,
    density: bool | None = None,
    weights: Any = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """How many pairs of numbers are in each field of a grid.

    Args:
        x: Tensor of shape ``(n,)``.
        y: Tensor of shape ``(n,)``.
        bins: How many, or the edges; one for both, or one for each.
        range: The first and the last edge for each; default the extremes.
        density: Divide by the number of pairs and the fields' sizes.
        weights: How much each pair counts; default 1.

    Returns:
        The counts, of shape ``(nx, ny)`` and floating-point; the edges of ``x``; those of ``y``.

    Raises:
        ValueError: If ``x`` and ``y`` are of different lengths.

    Example:
        >>> import tinytorch as tt
        >>> tt.histogram2d([0.0, 1.0, 1.0], [0.0, 1.0, 1.0], bins=2)[0]
        tensor([[1., 0.],
                [0., 2.]])
    """
    a, b = (float_array(v).detach().ravel() for v in arrays_of(x, y))
    if a.shape != b.shape:
        raise ValueError(f"x and y must have the same length, got {a.shape[0]} and {b.shape[0]}")
    each = list(bins) if isinstance(bins, (tuple, list)) and len(bins) == 2 else [bins, bins]
    kind = dtypes.promote_types(a.dtype, default_dtype())
    counts, (first, second) = grid_counts([a, b], each, range, density, weights, kind)
    return counts, first, second
