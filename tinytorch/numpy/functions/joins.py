"""NumPy's joining, splitting and padding of arrays."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

from ...core.tensor import Tensor, wrap
from ...dispatch.op import composite
from ...ops.create.ranges import linspace
from ...ops.shape import joining, splitting
from ...ops.shape.joining import cat
from .conversion import (
    array_of,
    axes_of,
    cast_all,
    promote_strong,
    tensor_of,
    tensors_of,
    write_out,
)
from .registration import (
    describe,
    numpy_function,
    numpy_function_per_array,
    register_as,
    register_shared,
)


@composite(namespaces=("numpy",), aliases=("concat",))
def concatenate(
    arrays: Any, /, axis: int | None = 0, out: Tensor | None = None, *, dtype: Any = None,
    casting: str = "same_kind",
) -> Tensor:  # fmt: skip
    """``arrays`` joined along an existing dimension.

    Args:
        arrays: Tensors, or what makes them.
        axis: The dimension; None means they are flattened first.
        out: Where to write the result.
        dtype: Of the result; default by NumPy's rules of promotion.
        casting: Which casts ``dtype`` may make: ``"no"``, ``"equiv"``, ``"safe"``,
            ``"same_kind"`` (default) or ``"unsafe"``.

    Example:
        >>> np.concatenate([[1, 2], [3.5]])
        array([1. , 2. , 3.5])
    """
    parts = cast_all(promote_strong(*arrays), dtype, casting)
    parts, at = ([part.ravel() for part in parts], 0) if axis is None else (parts, axis)
    if parts:
        axes_of("concatenate", at, parts[0].ndim or 1)
    if len({part.ndim for part in parts}) > 1:  # PyTorch passes over empty vectors
        raise ValueError(
            "concatenate(): all the input array dimensions must be alike, got "
            f"{[part.ndim for part in parts]}"
        )
    return write_out(joining.cat(parts, at), out)  # type: ignore[no-any-return]


@numpy_function
def stack(
    arrays: Any, axis: int = 0, out: Tensor | None = None, *, dtype: Any = None,
    casting: str = "same_kind",
) -> Tensor:  # fmt: skip
    """``arrays`` of one shape joined along a new dimension.

    Args:
        arrays: Tensors, or what makes them.
        axis: Where the new dimension goes; default first.
        out: Where to write the result.
        dtype: Of the result; default by NumPy's rules of promotion.
        casting: Which casts ``dtype`` may make: ``"no"``, ``"equiv"``, ``"safe"``,
            ``"same_kind"`` (default) or ``"unsafe"``.

    Example:
        >>> np.stack([[1, 2], [3, 4]], axis=1)
        array([[1, 3],
               [2, 4]])
    """
    parts = cast_all(promote_strong(*arrays), dtype, casting)
    return write_out(joining.stack(parts, axis), out)  # type: ignore[no-any-return]


def _stacked(name: str, stack: Any, summary: str, *example: str) -> Callable[..., Tensor]:
    def function(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Tensor:
        return stack(cast_all(promote_strong(*tup), dtype, casting))  # type: ignore[no-any-return]

    return register_as(
        function,
        name,
        f"""{summary}

    Args:
        tup: Tensors, or what makes them.
        dtype: Of the result; default by NumPy's rules of promotion.
        casting: Which casts ``dtype`` may make: ``"no"``, ``"equiv"``, ``"safe"``,
            ``"same_kind"`` (default) or ``"unsafe"``.
    """,
        *example,
    )


hstack: Callable[..., Tensor] = _stacked(
    "hstack", joining.hstack, "Tensors side by side: along the second dimension, or the only one.",
    ">>> np.hstack([[1, 2], [3]])", "array([1, 2, 3])",
)  # fmt: skip
vstack: Callable[..., Tensor] = _stacked(
    "vstack", joining.vstack, "Tensors one below the other: rows, or along the first dimension.",
    ">>> np.vstack([[1, 2], [3, 4]])", "array([[1, 2],", "       [3, 4]])",
)  # fmt: skip
row_stack: Callable[..., Tensor] = _stacked(
    "row_stack", joining.vstack, "Tensors one below the other: ``vstack``.",
    ">>> np.row_stack([[1, 2], [3, 4]])", "array([[1, 2],", "       [3, 4]])",
)  # fmt: skip
dstack: Callable[..., Tensor] = _stacked(
    "dstack", joining.dstack, "Tensors behind each other: along the third dimension.",
    ">>> np.dstack([[1, 2], [3, 4]])", "array([[[1, 3],", "        [2, 4]]])",
)  # fmt: skip
column_stack: Callable[..., Tensor] = _stacked(
    "column_stack", joining.column_stack, "Vectors as the columns of a matrix.",
    ">>> np.column_stack([[1, 2], [3, 4]])", "array([[1, 3],", "       [2, 4]])",
)  # fmt: skip


def _at_least(
    name: str, widen: Any, count: int, *example: str
) -> Callable[..., Tensor | tuple[Tensor, ...]]:
    def function(*arys: Any) -> Tensor | tuple[Tensor, ...]:
        found = tuple(widen(x) for x in tensors_of(*arys))
        return found[0] if len(found) == 1 else found

    doc = f"""Tensors with at least {count} dimension{"s" * (count > 1)}.

    Args:
        *arys: Tensors, or what makes them.

    Returns:
        One tensor, or a tuple of as many as were given.
    """
    return numpy_function_per_array(describe(function, name, doc, *example))


atleast_1d: Callable[..., Tensor | tuple[Tensor, ...]] = _at_least(
    "atleast_1d", joining.atleast_1d, 1,
    ">>> np.atleast_1d(3.0)", "array([3.])",
)  # fmt: skip
atleast_2d: Callable[..., Tensor | tuple[Tensor, ...]] = _at_least(
    "atleast_2d", joining.atleast_2d, 2,
    ">>> np.atleast_2d([1, 2])", "array([[1, 2]])",
)  # fmt: skip
atleast_3d: Callable[..., Tensor | tuple[Tensor, ...]] = _at_least(
    "atleast_3d", joining.atleast_3d, 3,
    ">>> np.atleast_3d([1, 2]).shape", "(1, 2, 1)",
)  # fmt: skip


def _cut(ary: Any, given: Any, axis: int, equal: bool) -> list[Tensor]:
    x = tensor_of(ary)
    (axis,) = axes_of("split", axis, x.ndim)
    at = given.tolist() if hasattr(given, "tolist") else given
    if equal and isinstance(at, int) and x.shape[axis] % at:
        raise ValueError("array split does not result in an equal division")
    return list(splitting.tensor_split(x, at, axis))


@numpy_function
def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Tensor]:
    """A tensor cut into equal parts, or before given places.

    Args:
        ary: Tensor, or what makes one.
        indices_or_sections: How many parts, or the places.
        axis: The dimension; default the first.

    Returns:
        Views.

    Raises:
        ValueError: If the parts are not equal.

    Example:
        >>> np.split(np.array([1, 2, 3, 4]), 2)
        [array([1, 2]), array([3, 4])]
    """
    return _cut(ary, indices_or_sections, axis, True)


@numpy_function
def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Tensor]:
    """A tensor cut into parts of nearly equal size, or before given places.

    Args:
        ary: Tensor, or what makes one.
        indices_or_sections: How many parts, or the places.
        axis: The dimension; default the first.

    Returns:
        Views.

    Example:
        >>> np.array_split([1, 2, 3], 2)
        [array([1, 2]), array([3])]
    """
    return _cut(ary, indices_or_sections, axis, False)


def _cut_along(
    name: str, axis: int, least: int, word: str, *example: str
) -> Callable[..., list[Tensor]]:
    def function(ary: Any, indices_or_sections: Any) -> list[Tensor]:
        x = tensor_of(ary)
        if x.ndim < least:
            raise ValueError(
                f"{name} only works on arrays of {least} or more dimensions, got {x.ndim}"
            )
        return _cut(x, indices_or_sections, min(axis, x.ndim - 1), True)

    return register_as(
        function,
        name,
        f"""A tensor cut into equal parts, or before given places, {word}.

    Args:
        ary: Tensor, or what makes one.
        indices_or_sections: How many parts, or the places.

    Returns:
        Views.
    """,
        *example,
    )


hsplit: Callable[..., list[Tensor]] = _cut_along(
    "hsplit", 1, 1, "along the second dimension, or the only one",
    ">>> np.hsplit(np.array([[1, 2], [3, 4]]), 2)[0]", "array([[1],", "       [3]])",
)  # fmt: skip
vsplit: Callable[..., list[Tensor]] = _cut_along(
    "vsplit", 0, 2, "along the first dimension",
    ">>> np.vsplit(np.array([[1, 2], [3, 4]]), 2)[0]", "array([[1, 2]])",
)  # fmt: skip
dsplit: Callable[..., list[Tensor]] = _cut_along(
    "dsplit", 2, 3, "along the third dimension",
    ">>> np.dsplit(np.array([[[1, 2]]]), 2)[1]", "array([[[2]]])",
)  # fmt: skip


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


@register_shared
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
