"""NumPy's medians, quantiles and percentiles, by each of its methods, and with weights."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ... import dtypes
from ...core.tensor import Tensor
from ...ops.sort import sorting
from ...state import default_dtype
from .conversion import array_of, axes_of, common_dtype, is_number, tensor_of, written
from .registration import filed, shared_as


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
#: Those that pick an element.
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
    """What is reduced, in the last dimension, in ascending order and NaN at the end."""
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
    convert, register = (array_of, shared_as) if alone else (tensor_of, filed)

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
        return written(found, out)  # type: ignore[no-any-return]

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
        return written(found, out)  # type: ignore[no-any-return]

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
    return filed(function, name, doc, *example)


median: Callable[..., Tensor] = _middle(
    "median",
    ">>> np.median([[1, 2], [3, 5]], axis=0)", "array([2. , 3.5])",
)  # fmt: skip
nanmedian: Callable[..., Tensor] = _middle(
    "nanmedian",
    ">>> np.nanmedian([1.0, np.nan, 3.0])", "2.0",
)  # fmt: skip
