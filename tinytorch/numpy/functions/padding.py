"""``pad``: tensors with more elements around them, in the modes that NumPy names."""

from __future__ import annotations

from itertools import product
from typing import Any

from ...core.tensor import Tensor, wrap
from ...ops.create.ranges import linspace
from ...ops.shape.joining import cat
from .conversion import array_of
from .registration import shared


def _pairs(name: str, given: Any, ndim: int) -> list[tuple[Any, Any]]:
    """One number, a pair or a pair for each dimension, as a pair for each dimension."""
    if isinstance(given, dict):
        whole: list[Any] = [0] * ndim
        for axis, width in given.items():
            whole[axis] = width
        given = [w if isinstance(w, (tuple, list)) else (w, w) for w in whole]
    plain = given.tolist() if hasattr(given, "tolist") else given
    if not isinstance(plain, (tuple, list)):
        return [(plain, plain)] * ndim
    items = [item.tolist() if hasattr(item, "tolist") else item for item in plain]
    if not any(isinstance(item, (tuple, list)) for item in items):
        first, last = items if len(items) == 2 else (items[0], items[0])
        return [(first, last)] * ndim
    pairs = [tuple(item) * 2 if len(item) == 1 else tuple(item) for item in items]
    if len(pairs) not in (1, ndim) or any(len(pair) != 2 for pair in pairs):
        raise ValueError(f"pad(): {name} has a pair for each of {ndim} dimensions, got {given!r}")
    return pairs * ndim if len(pairs) == 1 else pairs


def _sources(mode: str, xp: Any, before: int, size: int, after: int) -> Any:
    """Which elements of ``size`` stand at the places from ``before`` them to ``after``."""
    places = xp.arange(-before, size + after, dtype="int64")
    if mode == "edge":
        return xp.clip(places, 0, size - 1)
    if mode == "wrap" or size == 1:
        return places % size
    period = 2 * size - (2 if mode == "reflect" else 0)
    places %= period
    return xp.minimum(places, (period if mode == "reflect" else period - 1) - places)


_BY_PLACE = ("edge", "reflect", "symmetric", "wrap")
_STATISTICS = ("maximum", "mean", "median", "minimum")


def _statistic(mode: str, part: Any, axis: int) -> Any:
    if mode == "maximum":
        return part.amax(axis, True)
    if mode == "minimum":
        return part.amin(axis, True)
    found = (
        part.mean(axis, True)
        if mode == "mean"
        else part.quantile(0.5, axis, True, interpolation="midpoint")
    )
    return found if part.dtype.category > 1 else found.round()


def _border(mode: str, x: Any, axis: int, width: int, value: Any, front: bool) -> Any:
    """What lies before or after ``x`` along ``axis``."""
    size = x.shape[axis]
    shape = list(x.shape)
    shape[axis] = width
    if mode in ("constant", "empty"):
        return array_of(0 if mode == "empty" else value, x._xp).to(x.dtype).expand(shape)
    if mode == "linear_ramp":
        edge = x.narrow(axis, 0 if front else size - 1, 1)
        part = linspace(0, 1, width + 1, dtype=x.dtype if x.is_floating_point() else None,
                        backend=x._xp)[:-1]  # fmt: skip
        part = (part if front else part.flip(0)).reshape([-1] + [1] * (x.ndim - axis - 1))
        ramp = array_of(value, x._xp) * (1 - part) + edge * part
        return ramp.to(x.dtype) if x.dtype.category > 1 else ramp.trunc().to(x.dtype)
    length = size if value is None else min(value, size)
    part = x.narrow(axis, 0 if front else size - length, length)
    return _statistic(mode, part, axis).to(x.dtype).expand(shape)


_OPTIONS = {"constant": ("constant_values", 0), "linear_ramp": ("end_values", 0)}


@shared
def pad(array: Any, pad_width: Any, mode: Any = "constant", **options: Any) -> Tensor:
    """``array`` with more elements before and after it along each dimension.

    Args:
        array: Tensor of any shape.
        pad_width: How many: an int, a pair ``(before, after)``, a pair for each dimension, or
            a dict from dimensions to widths.
        mode: What they are: ``"constant"`` (default); copies by ``"edge"``, ``"reflect"``,
            ``"symmetric"`` or ``"wrap"``; ``"linear_ramp"``; ``"maximum"``, ``"mean"``,
            ``"median"`` or ``"minimum"`` along the dimension; ``"empty"``; or a function that
            writes to each line, called with it, the pair of widths, the dimension and a dict.
        **options: ``constant_values`` or ``end_values``, default 0, or ``stat_length``,
            default all; in the forms of ``pad_width``; ``reflect_type``, ``"even"`` or ``"odd"``.

    Returns:
        A copy.

    Raises:
        ValueError: For another mode, or where there is nothing to copy.

    Example:
        >>> import tinytorch as tt
        >>> tt.pad(tt.tensor([1, 2, 3]), (2, 1), mode="reflect")
        tensor([3, 2, 1, 2, 3, 2])
    """
    x: Any = array_of(array)
    if callable(mode):
        return _filled_by(mode, x, _pairs("pad_width", pad_width, x.ndim), options)
    if mode not in (*_BY_PLACE, *_STATISTICS, *_OPTIONS, "empty"):
        raise ValueError(f"pad(): mode {mode!r} is not supported")
    name, default = _OPTIONS.get(mode, ("stat_length", None))
    values = _pairs(name, options.pop(name, default), x.ndim)
    odd = mode in ("reflect", "symmetric") and options.pop("reflect_type", "even") == "odd"
    if options:
        raise ValueError(f"pad(): unsupported keyword arguments for mode {mode!r}: {options}")
    for axis, (width, value) in enumerate(
        zip(_pairs("pad_width", pad_width, x.ndim), values, strict=True)
    ):
        x = _padded(mode, x, axis, width, value, odd)
    return x if isinstance(x, Tensor) and x is not array else x.clone()


def _filled_by(function: Any, x: Any, widths: list[tuple[Any, Any]], options: Any) -> Tensor:
    """``x`` between zeros, over which ``function`` writes along one dimension after the other."""
    for axis, (before, after) in enumerate(widths):
        x = _padded("constant", x, axis, (before, after), (0, 0), False)
    result: Tensor = x.clone()
    for axis, width in enumerate(widths):
        lines = result.movedim(axis, -1)
        for place in product(*map(range, lines.shape[:-1])):
            function(lines[place], tuple(int(n) for n in width), axis, options)
    return result


def _reflected_oddly(mode: str, x: Any, axis: int, places: Any) -> Any:
    """Elements at ``places`` where ``x`` continues as its point reflection about each end."""
    size = x.shape[axis]
    period = 2 * size - (2 if mode == "reflect" else 0)
    turns, rest = places // period, places % period
    beyond = rest >= size
    source = (~beyond) * rest + beyond * ((period if mode == "reflect" else period - 1) - rest)
    shape = [-1] + [1] * (x.ndim - axis - 1)
    sign, last, first = (
        wrap(n.astype("int64"), x._xp).to(x.dtype).reshape(shape)
        for n in (1 - 2 * beyond, 2 * beyond + 2 * turns, -2 * turns)
    )
    ends = (x.narrow(axis, size - 1, 1), x.narrow(axis, 0, 1))
    return x.index_select(axis, wrap(source, x._xp)) * sign + ends[0] * last + ends[1] * first


def _padded(mode: str, x: Any, axis: int, width: Any, value: Any, odd: bool) -> Any:
    before, after = (int(n) for n in width)
    if before < 0 or after < 0:
        raise ValueError(f"pad(): index can't contain negative values, got {width}")
    size = x.shape[axis]
    if not before and not after:
        return x
    if mode in _BY_PLACE:
        if not size:
            raise ValueError(f"pad(): can't extend empty axis {axis} using mode {mode!r}")
        if odd and size > 1:
            places = x._xp.arange(-before, size + after, dtype="int64")
            return _reflected_oddly(mode, x, axis, places)
        places = _sources(mode, x._xp, before, size, after)
        return x.index_select(axis, wrap(places, x._xp))
    parts = [x]
    if before:
        parts.insert(0, _border(mode, x, axis, before, value[0], True))
    if after:
        parts.append(_border(mode, x, axis, after, value[1], False))
    return cat(parts, axis)
