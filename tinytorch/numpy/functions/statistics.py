"""NumPy's statistics: histograms, covariances, differences and integrals."""

from __future__ import annotations

import math
from typing import Any

from ... import dtypes
from ...core.tensor import Tensor
from ...dispatch.op import composite
from ...ops.create.ranges import linspace
from ...ops.pointwise import comparison, floating_point, selection
from ...ops.reduce import differences, histograms, sampled_gradients, variance
from ...ops.reduce.variance import variables
from ...ops.sort.sorting import searchsorted
from ...state import default_dtype
from .conversion import (
    array_of, arrays_of, as_dtype, as_float, axes_of, common_dtype, float64_default, float_array,
    is_inexact, promote, promote_strong, tensor_of, tensors_of,
)  # fmt: skip
from .registration import numpy_function, promote_first, register_shared


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
