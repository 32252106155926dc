"""NumPy's statistics, histograms, differences and integrals."""

from __future__ import annotations

import math
from typing import Any

from ... import dtypes
from ...core.tensor import Tensor
from ...ops.create.ranges import linspace
from ...ops.pointwise import comparison, floating_point, selection
from ...ops.reduce import differences, histograms, sampled_gradients
from ...ops.reduce.variance import variables
from ...ops.sort.sorting import searchsorted
from ...state import default_dtype
from ...ops.reduce import variance
from .conversion import (
    array_of,
    arrays_of,
    as_dtype,
    as_float,
    axes_of,
    common_dtype,
    float_array,
    in_float64,
    joined,
    promoted,
    tensor_of,
    tensors_of,
)
from .registration import joining, numpy_function, shared


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
    return histograms.bincount(place[inside], kept, count)


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


@numpy_function
def cov(
    m: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: int | None = None,
    fweights: Any = None, aweights: Any = None, *, dtype: Any = None,
) -> Tensor:  # fmt: skip
    """The covariance matrix of variables, one a row.

    Args:
        m: Tensor of one or two dimensions.
        y: More variables.
        rowvar: Whether variables are rows; else they are columns.
        bias: Divide by the number of observations, not by one less.
        ddof: Divide by that number less this instead.
        fweights: How often each observation counts.
        aweights: How much each counts.
        dtype: Of the result.

    Example:
        >>> import tinytorch.numpy as np
        >>> np.cov([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]])
        array([[ 1., -1.],
               [-1.,  1.]])
    """
    rows = _observations(m, y, rowvar, dtype)
    correction = ddof if ddof is not None else 0 if bias else 1
    often = None if fweights is None else tensor_of(fweights, rows._xp)
    much = None if aweights is None else as_float(tensor_of(aweights, rows._xp))
    for weights in (often, much):
        if weights is not None and not float(weights.sum()):
            raise ZeroDivisionError("cov(): weights sum to zero, cannot be normalized")
    return variance.cov(rows, correction=correction, fweights=often, aweights=much)


def _observations(m: Any, y: Any, rowvar: bool, dtype: Any) -> Any:
    """One variable a row, in the dtype to compute in: float64 or what is wider."""
    parts = tensors_of(m) if y is None else tensors_of(m, y)
    kind = common_dtype(*parts, dtypes.float64) if dtype is None else as_dtype(dtype)
    first, *second = (part.to(kind) for part in parts)
    return variables(first, second[0] if second else None, rowvar)


@numpy_function
def corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> Tensor:
    """The correlation coefficients of variables, one a row.

    Args:
        x: Tensor of one or two dimensions.
        y: More variables.
        rowvar: Whether variables are rows; else they are columns.
        dtype: Of the result.

    Example:
        >>> import tinytorch.numpy as np
        >>> np.corrcoef([1.0, 2.0, 3.0], [6.0, 4.0, 2.0]).round(decimals=4)
        array([[ 1., -1.],
               [-1.,  1.]])
    """
    return variance.corrcoef(_observations(x, y, rowvar, dtype))


@numpy_function
def histogram(
    a: Any, bins: Any = 10, range: Any = None, density: bool | None = None, weights: Any = None
) -> tuple[Tensor, Tensor]:
    """How many elements each bin holds.

    Args:
        a: Tensor, or what makes one.
        bins: How many, the edges, or a rule of thumb; see ``histogram_bin_edges``.
        range: The first and the last edge; default the extremes.
        density: Divide by the number of elements and the bins' widths.
        weights: How much each element counts; default 1.

    Returns:
        The counts, int64 unless there are weights or a density; and the edges.

    Example:
        >>> import tinytorch.numpy as np
        >>> np.histogram([1, 2, 2, 4], bins=3)
        (array([1, 2, 1]), array([1., 2., 3., 4.]))
    """
    x = tensor_of(a).detach().reshape(-1)
    with in_float64():
        edges: Any = histogram_bin_edges(x, bins, range, weights)
    place = bin_numbers(x.to(edges.dtype), edges)
    w = None if weights is None else tensor_of(weights, x._xp)
    counts = counted(place, place >= 0, edges.shape[0] - 1, w)
    if density:
        counts = counts.to(dtypes.float64) / edges.diff() / counts.sum()
    return counts, edges


@numpy_function
def histogramdd(
    sample: Any, bins: Any = 10, range: Any = None, density: bool | None = None,
    weights: Any = None,
) -> tuple[Tensor, tuple[Tensor, ...]]:  # fmt: skip
    """How many points each field of a grid holds.

    Args:
        sample: Tensor of shape ``(points, dimensions)``, or a tensor for each dimension.
        bins: How many, or the edges; one for all, or one for each dimension.
        range: The first and the last edge for each; default the extremes.
        density: Divide by the number of points and the fields' sizes.
        weights: How much each point counts; default 1.

    Returns:
        The counts, floating-point, and the edges of each dimension.

    Example:
        >>> import tinytorch.numpy as np
        >>> counts, edges = np.histogramdd([[0.0, 0.0], [1.0, 1.0]], bins=2)
        >>> counts
        array([[0., 0.],
               [0., 2.]])
    """
    points = _points(sample)
    each = list(bins) if isinstance(bins, (tuple, list)) else [bins] * len(points)
    return grid_counts(points, each, range, bool(density), weights, dtypes.float64)


def _points(sample: Any) -> list[Any]:
    """The coordinates in each dimension, in one floating-point dtype."""
    if isinstance(sample, (tuple, list)) and not all(isinstance(x, (int, float)) for x in sample):
        return [as_float(x).detach().reshape(-1) for x in joined(*sample)]
    x = as_float(tensor_of(sample)).detach()
    return list((x.reshape(-1, 1) if x.ndim == 1 else x).unbind(1))


@numpy_function
def bincount(x: Any, /, weights: Any = None, minlength: int = 0) -> Tensor:
    """How often each integer from 0 on comes.

    Args:
        x: Tensor of one dimension, integers that are not negative.
        weights: How much each counts; default 1.
        minlength: The least length of the result.

    Example:
        >>> import tinytorch.numpy as np
        >>> np.bincount([0, 1, 1, 3])
        array([1, 2, 0, 1])
    """
    places = tensor_of(x)
    places = places.long() if places.dtype is dtypes.bool else places
    w = None if weights is None else as_float(tensor_of(weights, places._xp)).to(dtypes.float64)
    return histograms.bincount(places, w, minlength)


@numpy_function
def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Tensor:
    """The differences of neighbours along ``axis``.

    Args:
        a: Tensor of at least one dimension.
        n: How often to take differences.
        axis: The dimension; default the last.
        prepend: What to put before ``a`` first; a number stands for one slice.
        append: What to put after it.

    Example:
        >>> import tinytorch.numpy as np
        >>> np.diff([1, 4, 9, 16])
        array([3, 5, 7])
    """
    x = tensor_of(a)
    if not n:
        return x  # type: ignore[no-any-return]
    (axis,) = axes_of("diff", axis, x.ndim)
    ends = [_slice_of(v, x, axis) for v in (prepend, append)]
    x, *more = promoted(x, *(e for e in ends if e is not None))
    given = iter(more)
    first, last = (None if e is None else next(given) for e in ends)
    return differences.diff(x, n, axis, first, last)


def _slice_of(value: Any, x: Any, axis: int) -> Any:
    if value is None:
        return None
    part = tensor_of(value, x._xp)
    shape = list(x.shape)
    shape[axis] = 1
    return part.expand(shape) if not part.ndim else part


@numpy_function
def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Tensor:
    """The integral of ``y`` along ``axis``, by the trapezoidal rule.

    Args:
        y: Tensor of values.
        x: Where they belong; default at equal distances.
        dx: The distance where ``x`` is not given.
        axis: The dimension; default the last.

    Example:
        >>> import tinytorch.numpy as np
        >>> np.trapezoid([1, 2, 3], dx=2)
        8.0
    """
    values = as_float(y)
    integrate = differences.trapezoid
    if x is None:
        return integrate(values, dx=dx, dim=axis)
    return integrate(values, as_float(tensor_of(x, values._xp)), dim=axis)


@numpy_function
def gradient(
    f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1
) -> Tensor | tuple[Tensor, ...]:
    """Derivatives of a sampled function, by second-order differences inside.

    Args:
        f: The samples.
        *varargs: The distance of neighbours, or the places; for all dimensions or for each.
        axis: Dimension or dimensions; None, the default, means all.
        edge_order: 1 (default) or 2: the order of the differences at both ends.

    Returns:
        A tensor for each dimension; not in a tuple if there is only one.

    Example:
        >>> import tinytorch.numpy as np
        >>> np.gradient([1.0, 4.0, 9.0, 16.0])
        array([3., 4., 6., 7.])
    """
    x = as_float(f)
    axes = axes_of("gradient", axis, x.ndim)
    spacing: Any = 1
    if varargs:
        given = list(varargs) * (len(axes) if len(varargs) == 1 else 1)
        spacing = [
            s if isinstance(s, (int, float)) else as_float(tensor_of(s, x._xp)) for s in given
        ]
        spacing = [s.item() if isinstance(s, Tensor) and not s.ndim else s for s in spacing]
    found = sampled_gradients.gradient(x, spacing=spacing, dim=axes, edge_order=edge_order)
    return found[0] if len(axes) == 1 else tuple(found)


@numpy_function
def nan_to_num(
    x: Any, copy: bool = True, nan: float = 0.0, posinf: float | None = None,
    neginf: float | None = None,
) -> Tensor:  # fmt: skip
    """Numbers in the place of NaN and infinities.

    Args:
        x: Tensor, or what makes one.
        copy: Whether to leave ``x`` as it is (default) rather than write to it.
        nan: For NaN; default 0. This and the next may be arrays that broadcast with ``x``.
        posinf: For plus infinity; default the largest number.
        neginf: For minus infinity; default the smallest.

    Example:
        >>> import tinytorch.numpy as np
        >>> np.nan_to_num([1.0, np.nan])
        array([1., 0.])
    """
    source = tensor_of(x)
    if source._data.dtype.kind not in "fc":  # There is nothing to fill, so nothing is read.
        return source.clone() if copy else source  # type: ignore[no-any-return]
    numbers: list[Any] = [nan, posinf, neginf]
    tests = (comparison.isnan, comparison.isposinf, comparison.isneginf)
    given = [value if hasattr(value, "__len__") else None for value in numbers]
    found = source
    for test, value in zip(tests, given, strict=True):
        if value is not None:  # arrays, of which each element has its own
            filling = tensor_of(value, source._xp).to(source.dtype)
            found = selection.where(test(source), filling, found)
    rest = [value if each is None else None for value, each in zip(numbers, given, strict=True)]
    found = floating_point.nan_to_num(found, *rest)
    return found if copy else source.copy_(found)
