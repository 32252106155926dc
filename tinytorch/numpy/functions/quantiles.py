"""NumPy's quantiles, percentiles and medians, with all methods, weights and variants for NaN."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ... import dtypes
from ...core.tensor import Tensor
from ...ops.sort import sorting
from ...state import default_dtype
from .conversion import (
    array_of, axes_of, common_dtype, is_inexact, is_number, tensor_of, write_out,
)  # fmt: skip
from .registration import register_as, register_shared_as


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
