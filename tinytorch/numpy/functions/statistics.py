"""NumPy's statistics: quantiles, histograms, covariances, differences and integrals."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ... import dtypes
from ...core.tensor import Tensor
from ...dispatch.op import composite
from ...ops.create.ranges import linspace
from ...ops.pointwise import comparison, floating_point, selection
from ...ops.reduce import differences, histograms, sampled_gradients, variance
from ...ops.reduce.variance import variables
from ...ops.sort import sorting
from ...ops.sort.sorting import searchsorted
from ...state import default_dtype
from .conversion import (
    array_of, arrays_of, as_dtype, as_float, axes_of, common_dtype, float64_default, float_array,
    is_inexact, is_number, promote, promote_strong, tensor_of, tensors_of, write_out,
)  # fmt: skip
from .registration import (
    numpy_function, promote_first, register_as, register_shared, register_shared_as,
)  # fmt: skip


def _outer_edges(a: Any, range: Any) -> tuple[float, float]:
    """First and last edge of a histogram.

    Args:
        a: The data.
        range: The pair of edges, or None for the extremes of the data.

    Returns:
        Two different numbers: equal edges are moved apart by 0.5 each.
    """
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
    """Interquartile range: the 0.75 quantile of the tensor ``a`` minus the 0.25 quantile."""
    quarters = a.quantile(a.new_tensor([0.25, 0.75]))
    return float(quarters[1] - quarters[0])


def _doane(a: Any, n: float, spread: float) -> float:
    """Width of the bins by Doane's rule, which extends Sturges' rule to skewed data.

    Args:
        a: The data.
        n: Number of elements.
        spread: Largest minus smallest element.

    Reference: D. P. Doane, Aesthetic Frequency Classifications, 1976
    """
    deviation = float(a.std(correction=0)) if n > 2 else 0.0
    if not deviation:
        return 0.0
    skewness = float((((a - a.mean()) / deviation) ** 3).mean())
    standard_error = math.sqrt(6 * (n - 2) / ((n + 1) * (n + 3)))
    return spread / (1 + math.log2(n) + math.log2(1 + abs(skewness) / standard_error))


def _bin_width(rule: str, a: Any) -> float:
    """Width of a histogram's bins by a rule of thumb; 0 means a single bin.

    Args:
        rule: Name of the rule; see ``histogram_bin_edges``.
        a: The data, at least one element.
    """
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
        return min(max(_bin_width("fd", a), _bin_width("sqrt", a) / 2), _bin_width("sturges", a))
    raise ValueError(
        f"histogram_bin_edges(): expected a number of bins, edges, 'auto', 'doane', 'fd', 'rice', "
        f"'scott', 'sqrt' or 'sturges', got {rule!r}"
    )


@register_shared
def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Tensor:
    """Edges of the bins that ``histogram`` uses.

    Args:
        a: Real tensor of any shape.
        bins: Number of bins, their edges, or a rule of thumb: ``"auto"``, ``"doane"``, ``"fd"``,
            ``"rice"``, ``"scott"``, ``"sqrt"`` or ``"sturges"``.
        range: The first and the last edge; default the extremes of ``a``.
        weights: Must be None for a rule of thumb; the edges do not depend on weights.

    Returns:
        Tensor of shape ``(bins + 1,)``.

    Raises:
        ValueError: For an unknown rule, an invalid range, or edges that do not ascend.
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
            "histogram_bin_edges(): expected a number of bins with weights, got a rule of thumb"
        )
    low, high = _outer_edges(x, range)
    if isinstance(bins, str):
        inside = x if range is None else x[(x >= low) & (x <= high)]
        width = _bin_width(bins, inside) if inside.numel() else 0.0
        if width and not is_inexact(array_of(a)):
            width = max(width, 1.0)
        bins = math.ceil((high - low) / width) if width else 1
    if bins < 1:
        raise ValueError(f"histogram_bin_edges(): bins must be positive, got {bins}")
    return linspace(low, high, bins + 1, dtype=x.dtype, backend=x._xp)


def _bin_indices(x: Any, edges: Any) -> Any:
    """Index of the bin of each element of ``x``, given ``edges`` in ascending order.

    It is -1 for an element outside the edges. Only the last bin includes its upper edge.
    """
    size = edges.shape[0] - 1
    index = searchsorted(edges, x.to(edges.dtype).contiguous(), right=True) - 1
    index = index.where(x != edges[-1], index.new_full((), size - 1))
    return index.where((x >= edges[0]) & (x <= edges[-1]), index.new_full((), -1))


def _count_bins(index: Any, inside: Any, count: int, weights: Any) -> Any:
    """Number of elements, or sum of their weights, in each bin.

    Args:
        index: Index of the bin of each element.
        inside: Mask of the elements to count.
        count: Number of bins.
        weights: Weight of each element; None means 1.
    """
    weights = None if weights is None else weights.ravel()[inside]
    return histograms.bincount(index[inside], weights, count)


def _grid_counts(
    points: list[Any], bins: list[Any], ranges: Any, density: Any, weights: Any, dtype: Any
) -> tuple[Any, tuple[Any, ...]]:
    """Histogram of points in several dimensions: the counts or densities, and the edges.

    Args:
        points: For each dimension a vector of coordinates.
        bins: For each dimension the number of bins, or their edges.
        ranges: For each dimension the first and the last edge; None means the extremes.
        density: Whether to divide by the number of points and the volume of the bin.
        weights: Weight of each point; None means 1.
        dtype: Dtype of the counts.
    """
    given = [None] * len(points) if ranges is None else list(ranges)
    edges: list[Any] = [
        histogram_bin_edges(x, n, r) for x, n, r in zip(points, bins, given, strict=True)
    ]
    sizes = [e.shape[0] - 1 for e in edges]
    flat: Any = 0
    inside: Any = True
    for x, e, n in zip(points, edges, sizes, strict=True):
        index = _bin_indices(x, e)
        flat, inside = flat * n + index, inside & (index >= 0)
    w = None if weights is None else array_of(weights, points[0]._xp)
    counts = _count_bins(flat, inside, math.prod(sizes), w).reshape(sizes).to(dtype)
    if not density:
        return counts, tuple(edges)
    total = counts.sum()
    for d, e in enumerate(edges):
        counts = counts / e.diff().reshape([-1] + [1] * (len(edges) - d - 1))
    return counts / total, tuple(edges)


@register_shared(prepare=promote_first(2))
def histogram2d(
    x: Any, y: Any, bins: Any = 10, range: Any = None, density: bool | None = None,
    weights: Any = None,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Histogram of points in two dimensions: the number of points in each bin.

    Args:
        x: First coordinates: tensor of shape ``(n,)``.
        y: Second coordinates: tensor of shape ``(n,)``.
        bins: Number of bins, or their edges; for both dimensions, or a pair.
        range: For each dimension the first and the last edge; default the extremes.
        density: Whether to divide by the number of points and the area of the bin.
        weights: Weight of each point; default 1.

    Returns:
        A tuple of the counts, floating-point of shape ``(nx, ny)``, the edges of ``x`` and the
        edges of ``y``.

    Raises:
        ValueError: If ``x`` and ``y`` differ in length.

    Example:
        >>> tt.histogram2d([0.0, 1.0, 1.0], [0.0, 1.0, 1.0], bins=2)[0]
        tensor([[1., 0.],
                [0., 2.]])
    """
    a, b = (float_array(v).detach().ravel() for v in arrays_of(x, y))
    if a.shape != b.shape:
        raise ValueError(f"x and y must have the same length, got {a.shape[0]} and {b.shape[0]}")
    each = list(bins) if isinstance(bins, (tuple, list)) and len(bins) == 2 else [bins, bins]
    dtype = dtypes.promote_types(a.dtype, default_dtype())
    counts, (first, second) = _grid_counts([a, b], each, range, density, weights, dtype)
    return counts, first, second


@numpy_function
def cov(
    m: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: int | None = None,
    fweights: Any = None, aweights: Any = None, *, dtype: Any = None,
) -> Tensor:  # fmt: skip
    """Covariance matrix of variables.

    Args:
        m: Tensor of one or two dimensions: observations of the variables.
        y: Observations of additional variables.
        rowvar: Whether each row is a variable (default); else each column is.
        bias: Whether to divide by the number of observations ``n`` instead of ``n - 1``.
        ddof: Divide by ``n - ddof`` instead.
        fweights: Number of repetitions of each observation, integers.
        aweights: Weight of each observation.
        dtype: Dtype of the result.

    Example:
        >>> np.cov([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]])
        array([[ 1., -1.],
               [-1.,  1.]])
    """
    rows = _variables(m, y, rowvar, dtype)
    correction = ddof if ddof is not None else 0 if bias else 1
    fweights = None if fweights is None else tensor_of(fweights, rows._xp)
    aweights = None if aweights is None else as_float(tensor_of(aweights, rows._xp))
    for weights in (fweights, aweights):
        if weights is not None and not float(weights.sum()):
            raise ZeroDivisionError("cov(): weights sum to zero, cannot be normalized")
    return variance.cov(rows, correction=correction, fweights=fweights, aweights=aweights)


def _variables(m: Any, y: Any, rowvar: bool, dtype: Any) -> Any:
    """Matrix whose rows are the variables of ``m`` and, unless it is None, of ``y``.

    Args:
        m: See ``cov``.
        y: See ``cov``.
        rowvar: Whether a row of ``m`` and ``y`` is a variable; else a column is.
        dtype: Dtype of the matrix; None means the common dtype of the arguments and float64.
    """
    parts = tensors_of(m) if y is None else tensors_of(m, y)
    dtype = common_dtype(*parts, dtypes.float64) if dtype is None else as_dtype(dtype)
    first, *second = (part.to(dtype) for part in parts)
    return variables(first, second[0] if second else None, rowvar)


@composite(namespaces=("numpy",), like=cov)
def corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> Tensor:
    """Matrix of the correlation coefficients of variables.

    Args:
        x: Tensor of one or two dimensions: observations of the variables.

    Example:
        >>> np.corrcoef([1.0, 2.0, 3.0], [6.0, 4.0, 2.0]).round(decimals=4)
        array([[ 1., -1.],
               [-1.,  1.]])
    """
    return variance.corrcoef(_variables(x, y, rowvar, dtype))


@numpy_function
def histogram(
    a: Any, bins: Any = 10, range: Any = None, density: bool | None = None, weights: Any = None
) -> tuple[Tensor, Tensor]:
    """Histogram: the number of elements in each bin.

    Args:
        a: Tensor or array-like.
        bins: Number of bins, their edges, or a rule of thumb; see ``histogram_bin_edges``.
        range: The first and the last edge; default the extremes.
        density: Whether to divide by the number of elements and the width of the bin.
        weights: Weight of each element; default 1.

    Returns:
        A tuple of the counts, int64 without ``weights`` and ``density``, and the edges.

    Example:
        >>> np.histogram([1, 2, 2, 4], bins=3)
        (array([1, 2, 1]), array([1., 2., 3., 4.]))
    """
    x = tensor_of(a).detach().reshape(-1)
    with float64_default():
        edges: Any = histogram_bin_edges(x, bins, range, weights)
    index = _bin_indices(x.to(edges.dtype), edges)
    w = None if weights is None else tensor_of(weights, x._xp)
    counts = _count_bins(index, index >= 0, edges.shape[0] - 1, w)
    if density:
        counts = counts.to(dtypes.float64) / edges.diff() / counts.sum()
    return counts, edges


@numpy_function
def histogramdd(
    sample: Any, bins: Any = 10, range: Any = None, density: bool | None = None,
    weights: Any = None,
) -> tuple[Tensor, tuple[Tensor, ...]]:  # fmt: skip
    """Histogram of points in several dimensions: the number of points in each bin.

    Args:
        sample: Tensor of shape ``(points, dimensions)``, or a sequence of one tensor of
            coordinates for each dimension.
        bins: Number of bins, or their edges; for all dimensions, or a list of one for each.
        range: For each dimension the first and the last edge; default the extremes.
        density: Whether to divide by the number of points and the volume of the bin.
        weights: Weight of each point; default 1.

    Returns:
        A tuple of the counts, floating-point, and the tuple of the edges of each dimension.

    Example:
        >>> counts, edges = np.histogramdd([[0.0, 0.0], [1.0, 1.0]], bins=2)
        >>> counts
        array([[0., 0.],
               [0., 2.]])
    """
    points = _coordinates(sample)
    each = list(bins) if isinstance(bins, (tuple, list)) else [bins] * len(points)
    return _grid_counts(points, each, range, bool(density), weights, dtypes.float64)


def _coordinates(sample: Any) -> list[Any]:
    """Convert the argument ``sample`` of ``histogramdd`` to a vector for each dimension.

    The vectors have one floating-point dtype and are detached.
    """
    if isinstance(sample, (tuple, list)) and not all(isinstance(x, (int, float)) for x in sample):
        return [as_float(x).detach().reshape(-1) for x in promote_strong(*sample)]
    x = as_float(tensor_of(sample)).detach()
    return list((x.reshape(-1, 1) if x.ndim == 1 else x).unbind(1))


@numpy_function
def bincount(x: Any, /, weights: Any = None, minlength: int = 0) -> Tensor:
    """Number of occurrences of each integer from 0 to the largest element.

    Args:
        x: Tensor of one dimension with integers that are not negative.
        weights: Weight of each element; default 1.
        minlength: Minimum length of the result.

    Example:
        >>> np.bincount([0, 1, 1, 3])
        array([1, 2, 0, 1])
    """
    values = tensor_of(x)
    values = values.long() if values.dtype is dtypes.bool else values
    w = None if weights is None else as_float(tensor_of(weights, values._xp)).to(dtypes.float64)
    return histograms.bincount(values, w, minlength)


@numpy_function
def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Tensor:
    """Differences of neighboring elements along ``axis``.

    Args:
        a: Tensor of at least one dimension.
        n: Order of the differences; default 1.
        axis: The dimension; default the last.
        prepend: Slices to prepend to ``a`` first; a number stands for one constant slice.
        append: Slices to append to ``a`` first, likewise.

    Example:
        >>> np.diff([1, 4, 9, 16])
        array([3, 5, 7])
    """
    x = tensor_of(a)
    if not n:
        return x  # type: ignore[no-any-return]
    (axis,) = axes_of("diff", axis, x.ndim)
    ends = [_expand_to_slice(v, x, axis) for v in (prepend, append)]
    x, *more = promote(x, *(e for e in ends if e is not None))
    given = iter(more)
    first, last = (None if e is None else next(given) for e in ends)
    return differences.diff(x, n, axis, first, last)


def _expand_to_slice(value: Any, x: Any, axis: int) -> Any:
    """Convert the argument ``prepend`` or ``append`` of ``diff`` to a tensor.

    A number, or a 0-d array, becomes a tensor of ``x``'s shape, but of size 1 along ``axis``. None
    is returned as it is.
    """
    if value is None:
        return None
    part = tensor_of(value, x._xp)
    shape = list(x.shape)
    shape[axis] = 1
    return part.expand(shape) if not part.ndim else part


@numpy_function
def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Tensor:
    """Integral of ``y`` along ``axis`` by the trapezoidal rule.

    Args:
        y: Tensor of values.
        x: Points of the values; default equidistant points.
        dx: Distance of the points without ``x``.
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
    """Derivatives of a sampled function, by central differences of second order inside.

    Args:
        f: Tensor of samples.
        *varargs: Distance of neighboring samples, or the points of the samples; one for all
            dimensions or one for each.
        axis: Dimension or dimensions; None, the default, means all.
        edge_order: Order of the differences at both ends: 1 (default) or 2.

    Returns:
        A tensor for one dimension, else a tuple of a tensor for each.

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
    """Replace NaN and infinities by numbers.

    Args:
        x: Tensor or array-like.
        copy: Whether to return a copy (default) instead of changing ``x`` in place.
        nan: Replacement of NaN; default 0. All replacements may be arrays that broadcast with
            ``x``.
        posinf: Replacement of plus infinity; default the dtype's largest number.
        neginf: Replacement of minus infinity; default the dtype's smallest number.

    Example:
        >>> np.nan_to_num([1.0, np.nan])
        array([1., 0.])
    """
    source = tensor_of(x)
    if source._data.dtype.kind not in "fc":
        return source.clone() if copy else source  # type: ignore[no-any-return]
    replacements: list[Any] = [nan, posinf, neginf]
    predicates = (comparison.isnan, comparison.isposinf, comparison.isneginf)
    found = source
    for i, predicate in enumerate(predicates):
        if hasattr(replacements[i], "__len__"):  # PyTorch's function does not accept arrays.
            value = tensor_of(replacements[i], source._xp).to(source.dtype)
            found = selection.where(predicate(source), value, found)
            replacements[i] = None
    found = floating_point.nan_to_num(found, *replacements)
    return found if copy else source.copy_(found)


def _flatten_axes(x: Any, axes: tuple[int, ...]) -> Any:
    """View or copy of ``x`` in which the dimensions ``axes`` are flattened to one, the last one."""
    shape = [n for d, n in enumerate(x.shape) if d not in axes]
    size = math.prod(x.shape[d] for d in axes)
    moved = x.movedim(axes, tuple(range(-len(axes), 0))) if axes else x
    return moved.reshape((*shape, size))


def _result_shape(x: Any, axes: tuple[int, ...], keepdims: bool) -> list[int]:
    """Shape of the result of a reduction of ``x`` over ``axes``."""
    return [1 if d in axes else n for d, n in enumerate(x.shape) if keepdims or d not in axes]


def _check_weights(x: Any, weights: Any, axis: Any, axes: tuple[int, ...]) -> Any:
    """Check the weights of a quantile; return them as float64 in the shape of ``x``.

    Args:
        x: The data.
        weights: Weights of ``x``'s shape, or of the sizes of ``x`` along ``axes``, in that order.
        axis: The argument ``axis`` of the call.
        axes: The dimensions that it names, counted from the front.

    Raises:
        TypeError: If the weights do not have ``x``'s shape and ``axis`` is None.
        ValueError: If the weights have another shape, or one is negative.
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


def _weighted_quantile(
    x: Any, q: Any, axes: tuple[int, ...], keepdims: bool, weights: Any, ignore_nan: bool
) -> Any:
    """Quantiles by the method ``"inverted_cdf"`` with weights.

    The quantile is the first element, in ascending order, such that the weights up to and with it
    sum to at least the fraction ``q`` of all weights.

    Args:
        weights: Weights of ``x``'s shape.
        x, q, axes, keepdims, ignore_nan: See ``_quantile``.
    """
    values, counts = _flatten_axes(x, axes), _flatten_axes(weights, axes)
    is_nan = values != values
    order = sorting.argsort(values.detach(), stable=True)
    values = values.gather(-1, order)
    counts = (counts.masked_fill(is_nan, 0) if ignore_nan else counts).gather(-1, order)
    below = counts.cumsum(-1)
    total = below[..., -1:]
    no_result = is_nan.all(-1, keepdim=True) if ignore_nan else is_nan.any(-1, keepdim=True)
    valid = ((total > 0) & total.isfinite()) | no_result
    x._xp.check_all(valid._data, "Weights included NaN, inf or were all zero.")
    fraction = (below / total).masked_fill(below == 0, -1)  # so that weight 0 is never chosen
    parts = q.detach().reshape(-1).to(dtypes.float64)
    at = (fraction.unsqueeze(-2) < parts.unsqueeze(-1)).sum(-1).clamp(max=values.shape[-1] - 1)
    found = values.gather(-1, at)
    if is_inexact(values):
        found = found.masked_fill(no_result, math.nan)
    return found.movedim(-1, 0).reshape((*q.shape, *_result_shape(x, axes, keepdims)))


#: The parameters alpha and beta of the methods that interpolate between ranks.
#: Reference: Hyndman, Fan: Sample Quantiles in Statistical Packages, 1996
_CONTINUOUS = {
    "linear": (1, 1), "weibull": (0, 0), "hazen": (0.5, 0.5), "median_unbiased": (1 / 3, 1 / 3),
    "normal_unbiased": (3 / 8, 3 / 8), "interpolated_inverted_cdf": (0, 1),
}  # fmt: skip
#: Methods of quantiles whose result is an element.
_PICKING = ("lower", "higher", "nearest", "inverted_cdf", "closest_observation")
_METHODS = (*_CONTINUOUS, *_PICKING, "midpoint", "averaged_inverted_cdf")


def _rank(method: str, n: Any, q: Any) -> Any:
    """Ranks of quantiles among sorted elements: 0 is the first one; a rank may be fractional.

    Args:
        method: The method of ``quantile``.
        n: Number of elements: an int, or a tensor with one number for each row.
        q: Tensor of the probabilities of the quantiles.
    """
    if method in _CONTINUOUS:
        alpha, beta = _CONTINUOUS[method]
        return n * q + (alpha + q * (1 - alpha - beta)) - 1
    last = (n - 1) * q
    if method == "midpoint":
        return (last.floor() + last.ceil()) / 2
    if method in ("lower", "higher", "nearest"):
        return {"lower": last.floor, "higher": last.ceil, "nearest": last.round}[method]()
    rank = n * q - 1
    if method == "inverted_cdf":
        return rank.ceil()
    if method == "averaged_inverted_cdf":  # Rank r + 0.5 is the mean of the elements r and r + 1.
        return (rank + 0.5).where(rank == rank.floor(), rank.ceil())
    # "closest_observation" is the nearest rank; of two nearest ranks, the odd one.
    up = (rank + 0.5).floor()
    return (up - 1).where((rank + 0.5 == up) & (up % 2 == 0), up)


def _sort_axes(x: Any, axes: tuple[int, ...]) -> Any:
    """Flatten ``axes`` to the last dimension and sort it in ascending order, with NaN last."""
    flat = _flatten_axes(x, axes)
    if x.dtype is dtypes.bool:
        return sorting.sort(flat.to(dtypes.uint8))[0].bool()
    return sorting.sort(flat)[0]


def _count_valid(rows: Any, ignore_nan: bool) -> tuple[Any, Any]:
    """Count the elements of each row that a quantile uses.

    Args:
        rows: Tensor whose last dimension is to be reduced.
        ignore_nan: Whether NaN is ignored; else a row with NaN has the quantile NaN.

    Returns:
        The number of elements, an int or a tensor with one number for each row, and the mask of
        the rows whose quantile is NaN. The mask is None for integers.
    """
    size = rows.shape[-1]
    if not is_inexact(rows):
        return size, None
    nans = (rows != rows).sum(-1, keepdim=True)
    if ignore_nan:
        count = (size - nans).to(dtypes.float64)
        return count, count == 0
    return size, nans > 0


def _interpolate(rows: Any, rank: Any, n: Any, picking: bool) -> Any:
    """Elements of sorted rows at some ranks, linearly interpolated at fractional ranks.

    Args:
        rows: Tensor sorted along its last dimension.
        rank: Tensor of ranks; see ``_rank``.
        n: Number of elements of each row to use: an int, or a tensor with one number per row.
        picking: Whether all ranks are integral, so that no interpolation is needed.

    Returns:
        Tensor of the shape of ``rows``, but with the number of ranks as its last size.
    """
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
    return below.where(above == below, found)  # The difference of equal infinities is NaN.


def _quantile(
    x: Any, q: Any, axes: tuple[int, ...], keepdims: bool, method: str, ignore_nan: bool
) -> Any:
    """Quantiles without weights.

    Args:
        x: Real tensor.
        q: Tensor of the probabilities, from 0 to 1.
        axes: The dimensions to reduce, counted from the front.
        keepdims: Whether the reduced dimensions stay, with size 1.
        method: The method of ``quantile``.
        ignore_nan: Whether NaN is ignored; else the quantiles of elements with NaN are NaN.

    Returns:
        Tensor whose first dimensions are those of ``q``.
    """
    if x.is_complex():
        raise TypeError("a must be an array of real numbers")
    shape = _result_shape(x, axes, keepdims)
    if not x.numel():
        if not ignore_nan and 0 not in shape:
            raise IndexError("there are no elements to find a quantile of")
        return x.new_full((*q.shape, *shape), math.nan, dtype=common_dtype(x, q, 1.0))
    ranked = _sort_axes(x, axes)
    n, no_result = _count_valid(ranked.detach(), ignore_nan)
    picking = method in _PICKING or (method == "linear" and q.dtype.kind in "iu")
    parts = q.reshape(-1).to(dtypes.float64)
    source = ranked if picking else ranked.to(common_dtype(ranked, q, 1.0))
    found = _interpolate(source, _rank(method, n, parts), n, picking)
    if no_result is not None:
        found = found.masked_fill(no_result, math.nan)
    return found.movedim(-1, 0).reshape((*q.shape, *shape))


_QUANTILE_DOC = """{title} of the elements{ignoring}, of all or along ``axis``.

    Args:
        a: Real tensor or array-like.
        q: The probabilities of the quantiles, from 0 to {scale}; tensor of any shape.
        axis: Dimension or dimensions; None, the default, means all.
        out: Tensor for the result.
        overwrite_input: Accepted and ignored.
        method: Method between two elements: ``"linear"`` (default), ``"lower"``, ``"higher"``,
            ``"midpoint"``, ``"nearest"``, ``"inverted_cdf"``, ``"averaged_inverted_cdf"``,
            ``"closest_observation"``, ``"interpolated_inverted_cdf"``, ``"hazen"``,
            ``"weibull"``, ``"median_unbiased"`` or ``"normal_unbiased"``.
        keepdims: Whether the reduced dimensions stay, with size 1.
        weights: Weights of the elements, of ``a``'s shape or of its shape along ``axis``; only
            for ``"inverted_cdf"``.

    Returns:
        Tensor with ``q``'s dimensions first; of ``a``'s dtype if the method selects elements.

    Raises:
        ValueError: If ``q`` is out of range, for another method, or for negative weights.
        IndexError: If there are no elements.
    """


def _make_quantile(name: str, scale: int, *example: str) -> Callable[..., Tensor]:
    """Make and register ``quantile``, ``nanquantile``, ``percentile`` or ``nanpercentile``.

    PyTorch has no percentiles, so they are registered also under ``tinytorch``.

    Args:
        name: Name of the function.
        scale: The largest ``q``: 1, or 100 for percentiles.
        *example: Lines of the docstring's example.
    """
    ignore_nan, is_shared = name.startswith("nan"), scale != 1
    convert, register = (array_of, register_shared_as) if is_shared else (tensor_of, register_as)

    def function(
        a: Any, q: Any, axis: Any = None, out: Tensor | None = None,
        overwrite_input: bool = False, method: str = "linear", keepdims: bool = False, *,
        weights: Any = None,
    ) -> Tensor:  # fmt: skip
        if method not in _METHODS:
            raise ValueError(f"{method!r} is not a valid method; known are {', '.join(_METHODS)}")
        x = convert(a)
        part = convert(q, x._xp)
        if is_shared:
            x = x if is_inexact(x) or method in _PICKING else x.to(default_dtype())
            part = (part if is_inexact(part) else part.to(default_dtype())) / scale
        if is_number(q) and x.is_floating_point():
            part = part.to(x.dtype)  # A Python number is weak.
        part._xp.check_all(
            (part._data >= 0) & (part._data <= 1), f"{name}(): q must be in the range [0, {scale}]"
        )
        axes = axes_of(name, axis, x.ndim)
        if weights is None:
            found = _quantile(x, part, axes, keepdims, method, ignore_nan)
        elif method != "inverted_cdf":
            raise ValueError(f"Only method 'inverted_cdf' supports weights. Got: {method}.")
        else:
            weights = _check_weights(x, weights, axis, axes)
            found = _weighted_quantile(x, part, axes, keepdims, weights, ignore_nan)
        return write_out(found, out)  # type: ignore[no-any-return]

    title = "Percentiles" if is_shared else "Quantiles"
    doc = _QUANTILE_DOC.format(
        title=title, ignoring=" that are not NaN" if ignore_nan else "", scale=scale
    )
    return register(function, name, doc, *example)


quantile: Callable[..., Tensor] = _make_quantile(
    "quantile", 1,
    ">>> np.quantile([1.0, 2.0, 3.0, 4.0], 0.5)", "2.5",
)  # fmt: skip
nanquantile: Callable[..., Tensor] = _make_quantile(
    "nanquantile", 1,
    ">>> np.nanquantile([1.0, np.nan, 3.0], 0.5)", "2.0",
)  # fmt: skip
percentile: Callable[..., Tensor] = _make_quantile(
    "percentile", 100,
    ">>> tt.percentile(tt.tensor([1.0, 2.0, 3.0, 4.0, 5.0]), [25, 50])",
    "tensor([2., 3.])",
)  # fmt: skip
nanpercentile: Callable[..., Tensor] = _make_quantile(
    "nanpercentile", 100,
    ">>> tt.nanpercentile(tt.tensor([1.0, tt.nan, 3.0]), 50)", "tensor(2.)",
)  # fmt: skip


def _make_median(name: str, *example: str) -> Callable[..., Tensor]:
    """Make and register ``median`` or ``nanmedian``.

    Args:
        name: Name of the function.
        *example: Lines of the docstring's example.
    """
    ignores_nan = name.startswith("nan")

    def function(
        a: Any, axis: Any = None, out: Tensor | None = None, overwrite_input: bool = False,
        keepdims: bool = False,
    ) -> Tensor:  # fmt: skip
        x = tensor_of(a)
        axes = axes_of(name, axis, x.ndim)
        x = x if is_inexact(x) else x.to(dtypes.float64)
        # Without elements, both medians are NaN, whereas `quantile` raises.
        ignore_nan = ignores_nan or not x.numel()
        found = _quantile(x, x.new_full((), 0.5), axes, keepdims, "midpoint", ignore_nan)
        return write_out(found, out)  # type: ignore[no-any-return]

    doc = f"""Median of the elements{" that are not NaN" if ignores_nan else ""}.

    It is the middle one of the sorted elements, or the mean of the two middle ones.

    Args:
        a: Real tensor or array-like; integers are cast to float64.
        axis: Dimension or dimensions; None, the default, means all.
        out: Tensor for the result.
        overwrite_input: Accepted and ignored.
        keepdims: Whether the reduced dimensions stay, with size 1.

    Returns:
        Tensor without the reduced dimensions; NaN for no elements.
    """
    return register_as(function, name, doc, *example)


median: Callable[..., Tensor] = _make_median(
    "median",
    ">>> np.median([[1, 2], [3, 5]], axis=0)", "array([2. , 3.5])",
)  # fmt: skip
nanmedian: Callable[..., Tensor] = _make_median(
    "nanmedian",
    ">>> np.nanmedian([1.0, np.nan, 3.0])", "2.0",
)  # fmt: skip
