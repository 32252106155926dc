"""NumPy's statistics: quantiles, histograms, covariances, differences and integrals."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ... import dtypes
from ...core.tensor import Tensor
from ...ops.create.ranges import linspace
from ...ops.pointwise import comparison, floating_point, selection
from ...ops.reduce import differences, histograms, sampled_gradients, variance
from ...ops.reduce.variance import variables
from ...ops.sort import sorting
from ...ops.sort.sorting import searchsorted
from ...state import default_dtype
from .conversion import (
    array_of,
    arrays_of,
    as_dtype,
    as_float,
    axes_of,
    common_dtype,
    float64_default,
    float_array,
    is_number,
    promote,
    promote_strong,
    tensor_of,
    tensors_of,
    write_out,
)
from .registration import (
    numpy_function,
    promote_first,
    register_as,
    register_shared,
    register_shared_as,
)


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


@register_shared
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


@register_shared(prepare=promote_first(2))
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
        >>> np.histogram([1, 2, 2, 4], bins=3)
        (array([1, 2, 1]), array([1., 2., 3., 4.]))
    """
    x = tensor_of(a).detach().reshape(-1)
    with float64_default():
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
        return [as_float(x).detach().reshape(-1) for x in promote_strong(*sample)]
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
        >>> np.diff([1, 4, 9, 16])
        array([3, 5, 7])
    """
    x = tensor_of(a)
    if not n:
        return x  # type: ignore[no-any-return]
    (axis,) = axes_of("diff", axis, x.ndim)
    ends = [_slice_of(v, x, axis) for v in (prepend, append)]
    x, *more = promote(x, *(e for e in ends if e is not None))
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


def rows(x: Any, axes: tuple[int, ...]) -> Any:
    """The tensor with some of its dimensions as one, the last."""
    kept = [n for d, n in enumerate(x.shape) if d not in axes]
    size = math.prod(x.shape[d] for d in axes)
    moved = x.movedim(axes, tuple(range(-len(axes), 0))) if axes else x
    return moved.reshape((*kept, size))


def weights_for(x: Any, weights: Any, axis: Any, axes: tuple[int, ...]) -> Any:
    """Weights in the shape of the elements.

    Raises:
        TypeError: If their shape is another one and no dimension is named.
        ValueError: If it is not that of the dimensions either, or a weight is below 0.
    """
    given = tensor_of(weights, x._xp).to(dtypes.float64)
    if given.shape != x.shape:
        if axis is None:
            raise TypeError("Axis must be specified when shapes of a and weights differ.")
        if tuple(given.shape) != tuple(x.shape[d] for d in axes):
            raise ValueError(
                "Shape of weights must be consistent with shape of a along specified axis."
            )
        order = sorted(range(len(axes)), key=axes.__getitem__)
        given = given.permute(order)
        sizes = [n if d in axes else 1 for d, n in enumerate(x.shape)]
        given = given.reshape(sizes).expand(tuple(x.shape))
    given._xp.check_all(given._data >= 0, "Weights must be non-negative.")
    return given


def weighted(
    x: Any, q: Any, axes: tuple[int, ...], keepdims: bool, weights: Any, ignore: bool
) -> Any:
    """The first elements up to which at least parts ``q`` of the weights lie."""
    kept = [1 if d in axes else n for d, n in enumerate(x.shape) if keepdims or d not in axes]
    values, counts = rows(x, axes), rows(weights, axes)
    lost = values != values
    order = sorting.argsort(values.detach(), stable=True)
    values = values.gather(-1, order)
    counts = (counts.masked_fill(lost, 0) if ignore else counts).gather(-1, order)
    below = counts.cumsum(-1)
    total = below[..., -1:]
    nothing = lost.all(-1, keepdim=True) if ignore else lost.any(-1, keepdim=True)
    sound = ((total > 0) & total.isfinite()) | nothing
    x._xp.check_all(sound._data, "Weights included NaN, inf or were all zero.")
    share = (below / total).masked_fill(below == 0, -1)  # what counts for nothing is never picked
    parts = q.detach().reshape(-1).to(dtypes.float64)
    at = (share.unsqueeze(-2) < parts.unsqueeze(-1)).sum(-1).clamp(max=values.shape[-1] - 1)
    found = values.gather(-1, at)
    if values.dtype.category > 1:
        found = found.masked_fill(nothing, math.nan)
    return found.movedim(-1, 0).reshape((*q.shape, *kept))


#: The methods that interpolate between ranks, with alpha and beta: Hyndman, Fan: Sample Quantiles
#: in Statistical Packages, 1996.
_CONTINUOUS = {
    "linear": (1, 1), "weibull": (0, 0), "hazen": (0.5, 0.5), "median_unbiased": (1 / 3, 1 / 3),
    "normal_unbiased": (3 / 8, 3 / 8), "interpolated_inverted_cdf": (0, 1),
}  # fmt: skip
#: Methods of quantiles that return an element.
_PICKING = ("lower", "higher", "nearest", "inverted_cdf", "closest_observation")
_METHODS = (*_CONTINUOUS, *_PICKING, "midpoint", "averaged_inverted_cdf")


def _rank(method: str, n: Any, q: Any) -> Any:
    """Where among ``n`` sorted elements the quantiles lie, counted from 0."""
    if method in _CONTINUOUS:
        alpha, beta = _CONTINUOUS[method]
        return n * q + (alpha + q * (1 - alpha - beta)) - 1
    last = (n - 1) * q
    if method == "midpoint":
        return (last.floor() + last.ceil()) / 2
    if method in ("lower", "higher", "nearest"):
        return {"lower": last.floor, "higher": last.ceil, "nearest": last.round}[method]()
    place = n * q - 1
    if method == "inverted_cdf":
        return place.ceil()
    if method == "averaged_inverted_cdf":
        return (place + 0.5).where(place == place.floor(), place.ceil())
    up = (place + 0.5).floor()  # the nearest; between two the one of odd index
    return (up - 1).where((place + 0.5 == up) & (up % 2 == 0), up)


def _rows(x: Any, axes: tuple[int, ...]) -> Any:
    """Sort the reduced dimensions, flattened to the last one, in ascending order with NaN last."""
    flat = rows(x, axes)
    if x.dtype is dtypes.bool:
        return sorting.sort(flat.to(dtypes.uint8))[0].bool()
    return sorting.sort(flat)[0]


def _counted(rows: Any, ignore: bool) -> tuple[Any, Any]:
    """How many numbers a row has to look at, and whether its result is NaN."""
    size = rows.shape[-1]
    if rows.dtype.category < 2:
        return size, None
    lost = (rows != rows).sum(-1, keepdim=True)
    if ignore:
        left = (size - lost).to(dtypes.float64)
        return left, left == 0
    return size, lost > 0


def _between(rows: Any, rank: Any, n: Any, picking: bool) -> Any:
    """Elements at ranks, interpolated if they are not whole."""
    last = n - 1 if isinstance(n, int) else (n - 1).clamp(min=0)
    rank = rank.clamp(min=0)
    rank = rank.clamp(max=last) if isinstance(last, int) else rank.where(rank < last, last)
    rank = rank.expand((*rows.shape[:-1], rank.shape[-1]))
    low = rank.detach().floor()
    below = rows.gather(-1, low.long())
    if picking:
        return below
    above = rows.gather(-1, rank.detach().ceil().long())
    weight = (rank - low).to(below.dtype)
    step = above - below
    found = (below + step * weight).where(weight < 0.5, above - step * (1 - weight))
    return below.where(above == below, found)  # the difference of infinities is NaN


def _along(x: Any, q: Any, axes: tuple[int, ...], keepdims: bool, method: str, ignore: bool) -> Any:
    """Quantiles of the elements along some dimensions; those of ``q`` come first."""
    if x.is_complex():
        raise TypeError("a must be an array of real numbers")
    kept: list[int] = [
        1 if d in axes else n for d, n in enumerate(x.shape) if keepdims or d not in axes
    ]
    if not x.numel():
        if not ignore and 0 not in kept:
            raise IndexError("there are no elements to find a quantile of")
        return x.new_full((*q.shape, *kept), math.nan, dtype=common_dtype(x, q, 1.0))
    ranked = _rows(x, axes)
    n, nothing = _counted(ranked.detach(), ignore)
    picking = method in _PICKING or (method == "linear" and q.dtype.category == 1)
    parts = q.reshape(-1).to(dtypes.float64)
    source = ranked if picking else ranked.to(common_dtype(ranked, q, 1.0))
    found = _between(source, _rank(method, n, parts), n, picking)
    if nothing is not None:
        found = found.masked_fill(nothing, math.nan)
    return found.movedim(-1, 0).reshape((*q.shape, *kept))


_QUANTILE = """The values below which given parts of the elements{ignoring} lie.

    Args:
        a: Real tensor, or what makes one.
        q: The parts, from 0 to {scale}; tensor of any shape.
        axis: Dimension or dimensions; None, the default, means all.
        out: Where to write the result.
        overwrite_input: Accepted.
        method: How it is found between two elements: ``"linear"`` (default), ``"lower"``,
            ``"higher"``, ``"midpoint"``, ``"nearest"``, ``"inverted_cdf"``,
            ``"averaged_inverted_cdf"``, ``"closest_observation"``,
            ``"interpolated_inverted_cdf"``, ``"hazen"``, ``"weibull"``, ``"median_unbiased"``
            or ``"normal_unbiased"``.
        keepdims: Keep the reduced dimensions with size 1.
        weights: How often each element counts; of ``a``'s shape, or that of ``axis``. Only
            with ``"inverted_cdf"``.

    Returns:
        Tensor with ``q``'s dimensions first; of ``a``'s dtype where an element is picked.

    Raises:
        ValueError: If a part is out of range, for another method, or for weights below 0.
        IndexError: If there are no elements.
    """


def _quantile(name: str, scale: int, *example: str) -> Callable[..., Tensor]:
    """``quantile`` and ``nanquantile``, and the percentiles, which NumPy alone has."""
    ignore, alone = name.startswith("nan"), scale != 1
    convert, register = (array_of, register_shared_as) if alone else (tensor_of, register_as)

    def function(
        a: Any, q: Any, axis: Any = None, out: Tensor | None = None,
        overwrite_input: bool = False, method: str = "linear", keepdims: bool = False, *,
        weights: Any = None,
    ) -> Tensor:  # fmt: skip
        if method not in _METHODS:
            raise ValueError(f"{method!r} is not a valid method; known are {', '.join(_METHODS)}")
        x = convert(a)
        part = convert(q, x._xp)
        if alone:
            x = x if x.dtype.category > 1 or method in _PICKING else x.to(default_dtype())
            part = (part if part.dtype.category > 1 else part.to(default_dtype())) / scale
        if is_number(q) and x.is_floating_point():
            part = part.to(x.dtype)  # a number is weak
        part._xp.check_all(
            (part._data >= 0) & (part._data <= 1), f"{name}(): q must be in the range [0, {scale}]"
        )
        axes = axes_of(name, axis, x.ndim)
        if weights is None:
            found = _along(x, part, axes, keepdims, method, ignore)
        elif method != "inverted_cdf":
            raise ValueError(f"Only method 'inverted_cdf' supports weights. Got: {method}.")
        else:
            found = weighted(x, part, axes, keepdims, weights_for(x, weights, axis, axes), ignore)
        return write_out(found, out)  # type: ignore[no-any-return]

    doc = _QUANTILE.format(ignoring=" that are not NaN" if ignore else "", scale=scale)
    return register(function, name, doc, *example)


quantile: Callable[..., Tensor] = _quantile(
    "quantile", 1,
    ">>> np.quantile([1.0, 2.0, 3.0, 4.0], 0.5)", "2.5",
)  # fmt: skip
nanquantile: Callable[..., Tensor] = _quantile(
    "nanquantile", 1,
    ">>> np.nanquantile([1.0, np.nan, 3.0], 0.5)", "2.0",
)  # fmt: skip
percentile: Callable[..., Tensor] = _quantile(
    "percentile", 100,
    ">>> tt.percentile(tt.tensor([1.0, 2.0, 3.0, 4.0, 5.0]), [25, 50])",
    "tensor([2., 3.])",
)  # fmt: skip
nanpercentile: Callable[..., Tensor] = _quantile(
    "nanpercentile", 100,
    ">>> tt.nanpercentile(tt.tensor([1.0, tt.nan, 3.0]), 50)", "tensor(2.)",
)  # fmt: skip


def _middle(name: str, *example: str) -> Callable[..., Tensor]:
    """``median`` and ``nanmedian``."""
    ignore = name.startswith("nan")

    def function(
        a: Any, axis: Any = None, out: Tensor | None = None, overwrite_input: bool = False,
        keepdims: bool = False,
    ) -> Tensor:  # fmt: skip
        x = tensor_of(a)
        axes = axes_of(name, axis, x.ndim)
        x = x if x.dtype.category > 1 else x.to(dtypes.float64)
        # Of nothing both medians are NaN, unlike quantiles.
        quiet = ignore or not x.numel()
        found = _along(x, x.new_full((), 0.5), axes, keepdims, "midpoint", quiet)
        return write_out(found, out)  # type: ignore[no-any-return]

    rest = " that are not NaN" if ignore else ""
    doc = f"""The middle element, or the mean of the two middle ones, of those{rest}.

    Args:
        a: Real tensor, or what makes one; integers are cast to float64.
        axis: Dimension or dimensions; None, the default, means all.
        out: Where to write the result.
        overwrite_input: Accepted.
        keepdims: Keep the reduced dimensions with size 1.

    Returns:
        Tensor without the reduced dimensions; NaN where there is nothing.
    """
    return register_as(function, name, doc, *example)


median: Callable[..., Tensor] = _middle(
    "median",
    ">>> np.median([[1, 2], [3, 5]], axis=0)", "array([2. , 3.5])",
)  # fmt: skip
nanmedian: Callable[..., Tensor] = _middle(
    "nanmedian",
    ">>> np.nanmedian([1.0, np.nan, 3.0])", "2.0",
)  # fmt: skip
