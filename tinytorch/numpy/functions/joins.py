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
    array_of, axes_of, cast_all, promote_strong, tensor_of, tensors_of, write_out,
)  # fmt: skip
from .registration import (
    describe, numpy_function, numpy_function_per_array, register_as, register_shared,
)  # fmt: skip


@composite(namespaces=("numpy",), aliases=("concat",))
def concatenate(
    arrays: Any, /, axis: int | None = 0, out: Tensor | None = None, *, dtype: Any = None,
    casting: str = "same_kind",
) -> Tensor:  # fmt: skip
    """Concatenation of ``arrays`` along an existing dimension.

    Args:
        arrays: Tensors or array-likes.
        axis: The dimension, default the first; None flattens the arrays first.
        out: Tensor for the result.
        dtype: Dtype of the result; default by NumPy's promotion rules.
        casting: Casts to ``dtype`` that are allowed: ``"no"``, ``"equiv"``, ``"safe"``,
            ``"same_kind"`` (default) or ``"unsafe"``.

    Example:
        >>> np.concatenate([[1, 2], [3.5]])
        array([1. , 2. , 3.5])
    """
    parts = cast_all(promote_strong(*arrays), dtype, casting)
    parts, at = ([part.ravel() for part in parts], 0) if axis is None else (parts, axis)
    if parts:
        axes_of("concatenate", at, parts[0].ndim or 1)
    if len({part.ndim for part in parts}) > 1:  # PyTorch would skip empty vectors.
        raise ValueError(
            "concatenate(): all the input array dimensions must be alike, got "
            f"{[part.ndim for part in parts]}"
        )
    return write_out(joining.cat(parts, at), out)  # type: ignore[no-any-return]


@composite(namespaces=("numpy",), like=concatenate)
def stack(
    arrays: Any, axis: int = 0, out: Tensor | None = None, *, dtype: Any = None,
    casting: str = "same_kind",
) -> Tensor:  # fmt: skip
    """Concatenation of ``arrays`` of one shape along a new dimension.

    Args:
        axis: Position of the new dimension; default first.
        out: Tensor for the result.

    Example:
        >>> np.stack([[1, 2], [3, 4]], axis=1)
        array([[1, 3],
               [2, 4]])
    """
    parts = cast_all(promote_strong(*arrays), dtype, casting)
    return write_out(joining.stack(parts, axis), out)  # type: ignore[no-any-return]


def _make_stack(name: str, stack: Any, summary: str, *example: str) -> Callable[..., Tensor]:
    """Make NumPy's function ``name`` of PyTorch's function ``stack``."""

    def function(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Tensor:
        return stack(cast_all(promote_strong(*tup), dtype, casting))  # type: ignore[no-any-return]

    return register_as(
        function,
        name,
        f"""{summary}

    Args:
        tup: Tensors or array-likes.
        dtype: Dtype of the result; default by NumPy's promotion rules.
        casting: Casts to ``dtype`` that are allowed: ``"no"``, ``"equiv"``, ``"safe"``,
            ``"same_kind"`` (default) or ``"unsafe"``.
    """,
        *example,
    )


hstack: Callable[..., Tensor] = _make_stack(
    "hstack", joining.hstack, "Concatenation along the second dimension, or of vectors.",
    ">>> np.hstack([[1, 2], [3]])", "array([1, 2, 3])",
)  # fmt: skip
vstack: Callable[..., Tensor] = _make_stack(
    "vstack", joining.vstack, "Concatenation along the first dimension; a vector is one row.",
    ">>> np.vstack([[1, 2], [3, 4]])", "array([[1, 2],", "       [3, 4]])",
)  # fmt: skip
row_stack: Callable[..., Tensor] = _make_stack(
    "row_stack", joining.vstack, "Older name of ``vstack``.",
    ">>> np.row_stack([[1, 2], [3, 4]])", "array([[1, 2],", "       [3, 4]])",
)  # fmt: skip
dstack: Callable[..., Tensor] = _make_stack(
    "dstack", joining.dstack, "Concatenation along the third dimension.",
    ">>> np.dstack([[1, 2], [3, 4]])", "array([[[1, 3],", "        [2, 4]]])",
)  # fmt: skip
column_stack: Callable[..., Tensor] = _make_stack(
    "column_stack", joining.column_stack, "Matrix whose columns are the vectors or matrices.",
    ">>> np.column_stack([[1, 2], [3, 4]])", "array([[1, 3],", "       [2, 4]])",
)  # fmt: skip


def _make_atleast(
    name: str, widen: Any, count: int, *example: str
) -> Callable[..., Tensor | tuple[Tensor, ...]]:
    """Make NumPy's function ``name`` of PyTorch's function ``widen`` for one tensor."""

    def function(*arys: Any) -> Tensor | tuple[Tensor, ...]:
        found = tuple(widen(x) for x in tensors_of(*arys))
        return found[0] if len(found) == 1 else found

    doc = f"""Each argument as a tensor with at least {count} dimension{"s" * (count > 1)}.

    Args:
        *arys: Tensors or array-likes.

    Returns:
        A tensor for one argument, else a tuple of tensors.
    """
    return numpy_function_per_array(describe(function, name, doc, *example))


atleast_1d: Callable[..., Tensor | tuple[Tensor, ...]] = _make_atleast(
    "atleast_1d", joining.atleast_1d, 1,
    ">>> np.atleast_1d(3.0)", "array([3.])",
)  # fmt: skip
atleast_2d: Callable[..., Tensor | tuple[Tensor, ...]] = _make_atleast(
    "atleast_2d", joining.atleast_2d, 2,
    ">>> np.atleast_2d([1, 2])", "array([[1, 2]])",
)  # fmt: skip
atleast_3d: Callable[..., Tensor | tuple[Tensor, ...]] = _make_atleast(
    "atleast_3d", joining.atleast_3d, 3,
    ">>> np.atleast_3d([1, 2]).shape", "(1, 2, 1)",
)  # fmt: skip


def _split(ary: Any, given: Any, axis: int, equal: bool) -> list[Tensor]:
    """Split a tensor along ``axis`` into ``given`` parts, of equal size if ``equal``.

    ``given`` may instead be the sequence of the indices at which the parts begin.
    """
    x = tensor_of(ary)
    (axis,) = axes_of("split", axis, x.ndim)
    at = given.tolist() if hasattr(given, "tolist") else given
    if equal and isinstance(at, int) and x.shape[axis] % at:
        raise ValueError("array split does not result in an equal division")
    return list(splitting.tensor_split(x, at, axis))


@numpy_function
def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Tensor]:
    """List of views of parts of equal size, or split at given indices.

    Args:
        ary: Tensor or array-like.
        indices_or_sections: Number of the parts, or the indices at which a part begins.
        axis: The dimension; default the first.

    Raises:
        ValueError: If no parts of equal size exist.

    Example:
        >>> np.split(np.array([1, 2, 3, 4]), 2)
        [array([1, 2]), array([3, 4])]
    """
    return _split(ary, indices_or_sections, axis, True)


@composite(namespaces=("numpy",), like=split)
def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Tensor]:
    """List of views of parts of nearly equal size, or split at given indices.

    Example:
        >>> np.array_split([1, 2, 3], 2)
        [array([1, 2]), array([3])]
    """
    return _split(ary, indices_or_sections, axis, False)


def _make_split(
    name: str, axis: int, least: int, where: str, *example: str
) -> Callable[..., list[Tensor]]:
    """Make a function that splits along ``axis``, or the last dimension if ``axis`` is beyond it.

    It raises for a tensor of fewer than ``least`` dimensions.
    """

    def function(ary: Any, indices_or_sections: Any) -> list[Tensor]:
        x = tensor_of(ary)
        if x.ndim < least:
            raise ValueError(
                f"{name} only works on arrays of {least} or more dimensions, got {x.ndim}"
            )
        return _split(x, indices_or_sections, min(axis, x.ndim - 1), True)

    return register_as(
        function,
        name,
        f"""List of views of parts of equal size, or split at given indices, {where}.

    Args:
        ary: Tensor or array-like.
        indices_or_sections: Number of the parts, or the indices at which a part begins.
    """,
        *example,
    )


hsplit: Callable[..., list[Tensor]] = _make_split(
    "hsplit", 1, 1, "along the second dimension, or the only one",
    ">>> np.hsplit(np.array([[1, 2], [3, 4]]), 2)[0]", "array([[1],", "       [3]])",
)  # fmt: skip
vsplit: Callable[..., list[Tensor]] = _make_split(
    "vsplit", 0, 2, "along the first dimension",
    ">>> np.vsplit(np.array([[1, 2], [3, 4]]), 2)[0]", "array([[1, 2]])",
)  # fmt: skip
dsplit: Callable[..., list[Tensor]] = _make_split(
    "dsplit", 2, 3, "along the third dimension",
    ">>> np.dsplit(np.array([[[1, 2]]]), 2)[1]", "array([[[2]]])",
)  # fmt: skip


def _pairs(name: str, given: Any, ndim: int) -> list[tuple[Any, Any]]:
    """A pair ``(before, after)`` for each dimension.

    Args:
        name: Name of the argument, for errors.
        given: A number for all, a pair for all, a pair for each dimension, or a dictionary from
            dimensions to numbers or pairs; 0 for those it lacks.
        ndim: Number of dimensions.
    """
    if isinstance(given, dict):
        widths: list[Any] = [0] * ndim
        for axis, width in given.items():
            widths[axis] = width
        given = [w if isinstance(w, (tuple, list)) else (w, w) for w in widths]
    values = given.tolist() if hasattr(given, "tolist") else given
    if not isinstance(values, (tuple, list)):
        return [(values, values)] * ndim
    items = [item.tolist() if hasattr(item, "tolist") else item for item in values]
    if not any(isinstance(item, (tuple, list)) for item in items):
        first, last = items if len(items) == 2 else (items[0], items[0])
        return [(first, last)] * ndim
    pairs = [tuple(item) * 2 if len(item) == 1 else tuple(item) for item in items]
    if len(pairs) not in (1, ndim) or any(len(pair) != 2 for pair in pairs):
        raise ValueError(
            f"pad(): {name}: expected a pair for each of {ndim} dimensions, got {given!r}"
        )
    return pairs * ndim if len(pairs) == 1 else pairs


def _source_indices(mode: str, xp: Any, before: int, size: int, after: int) -> Any:
    """Index in ``x`` of each element of the padded dimension, of size ``before + size + after``."""
    indices = xp.arange(-before, size + after, dtype="int64")
    if mode == "edge":
        return xp.clip(indices, 0, size - 1)
    if mode == "wrap" or size == 1:
        return indices % size
    period = 2 * size - (2 if mode == "reflect" else 0)
    indices %= period
    return xp.minimum(indices, (period if mode == "reflect" else period - 1) - indices)


#: Modes whose padding is a copy of elements.
_COPIES = ("edge", "reflect", "symmetric", "wrap")
#: Modes whose padding is a statistic of the elements next to it.
_STATISTICS = ("maximum", "mean", "median", "minimum")


def _statistic(mode: str, part: Any, axis: int) -> Any:
    """The statistic ``mode`` of ``part`` along ``axis``, which stays; rounded for integers."""
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
    """The padding before (``front``) or after ``x`` along ``axis``, for modes that do not copy.

    ``value`` is the constant, the end of a ramp, or the number of elements for a statistic.
    """
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


#: Option and its default of the modes that need values; other modes have ``stat_length``.
_OPTIONS = {"constant": ("constant_values", 0), "linear_ramp": ("end_values", 0)}


@register_shared
def pad(array: Any, pad_width: Any, mode: Any = "constant", **options: Any) -> Tensor:
    """Copy of a tensor, padded before and after its elements along each dimension.

    Args:
        array: Tensor of any shape.
        pad_width: Width of the padding: an int, a pair ``(before, after)``, a pair for each
            dimension, or a dict from dimensions to widths.
        mode: Values of the padding: ``"constant"`` (default); copies of elements by ``"edge"``,
            ``"reflect"``, ``"symmetric"`` or ``"wrap"``; ``"linear_ramp"``; ``"maximum"``,
            ``"mean"``, ``"median"`` or ``"minimum"`` along the dimension; ``"empty"``; or a
            function that writes to each padded vector, called as
            ``mode(vector, (before, after), axis, options)``.
        **options: ``constant_values`` or ``end_values``, default 0, or ``stat_length``, default
            all elements, each in the forms of ``pad_width``; ``reflect_type``, ``"even"`` or
            ``"odd"``.

    Raises:
        ValueError: For another mode, or if an empty dimension has no elements to copy.

    Example:
        >>> tt.pad(tt.tensor([1, 2, 3]), (2, 1), mode="reflect")
        tensor([3, 2, 1, 2, 3, 2])
    """
    x: Any = array_of(array)
    if callable(mode):
        return _pad_by_function(mode, x, _pairs("pad_width", pad_width, x.ndim), options)
    if mode not in (*_COPIES, *_STATISTICS, *_OPTIONS, "empty"):
        raise ValueError(f"pad(): mode {mode!r} is not supported")
    name, default = _OPTIONS.get(mode, ("stat_length", None))
    values = _pairs(name, options.pop(name, default), x.ndim)
    odd = mode in ("reflect", "symmetric") and options.pop("reflect_type", "even") == "odd"
    if options:
        raise ValueError(f"pad(): unsupported keyword arguments for mode {mode!r}: {options}")
    for axis, (width, value) in enumerate(
        zip(_pairs("pad_width", pad_width, x.ndim), values, strict=True)
    ):
        x = _pad_axis(mode, x, axis, width, value, odd)
    return x if isinstance(x, Tensor) and x is not array else x.clone()


def _pad_by_function(function: Any, x: Any, widths: list[tuple[Any, Any]], options: Any) -> Tensor:
    """Pad with zeros, then let ``function`` write to each vector along each dimension."""
    for axis, width in enumerate(widths):
        x = _pad_axis("constant", x, axis, width, (0, 0), False)
    result: Tensor = x.clone()
    for axis, width in enumerate(widths):
        vectors = result.movedim(axis, -1)
        for index in product(*map(range, vectors.shape[:-1])):
            function(vectors[index], tuple(int(n) for n in width), axis, options)
    return result


def _reflect_odd(mode: str, x: Any, axis: int, indices: Any) -> Any:
    """Pad ``x`` along ``axis`` by its point reflections about the first and the last element.

    ``indices`` are the positions of the result, which are below 0 before ``x``. Each reflection
    is ``2 * end - x``, so repeated ones are plus or minus an element plus multiples of both ends.
    """
    size = x.shape[axis]
    period = 2 * size - (2 if mode == "reflect" else 0)
    turns, rest = indices // period, indices % period
    mirrored = rest >= size
    source = (~mirrored) * rest + mirrored * ((period if mode == "reflect" else period - 1) - rest)
    shape = [-1] + [1] * (x.ndim - axis - 1)
    sign, last, first = (
        wrap(n.astype("int64"), x._xp).to(x.dtype).reshape(shape)
        for n in (1 - 2 * mirrored, 2 * mirrored + 2 * turns, -2 * turns)
    )
    ends = (x.narrow(axis, size - 1, 1), x.narrow(axis, 0, 1))
    return x.index_select(axis, wrap(source, x._xp)) * sign + ends[0] * last + ends[1] * first


def _pad_axis(mode: str, x: Any, axis: int, width: Any, value: Any, odd: bool) -> Any:
    """Pad ``x`` along one dimension by a pair of widths.

    ``value`` is the pair of constants, ends or lengths; ``odd`` is ``reflect_type="odd"``.
    """
    before, after = (int(n) for n in width)
    if before < 0 or after < 0:
        raise ValueError(f"pad(): index can't contain negative values, got {width}")
    size = x.shape[axis]
    if not before and not after:
        return x
    if mode in _COPIES:
        if not size:
            raise ValueError(f"pad(): can't extend empty axis {axis} using mode {mode!r}")
        if odd and size > 1:
            return _reflect_odd(mode, x, axis, x._xp.arange(-before, size + after, dtype="int64"))
        indices = _source_indices(mode, x._xp, before, size, after)
        return x.index_select(axis, wrap(indices, x._xp))
    parts = [x]
    if before:
        parts.insert(0, _border(mode, x, axis, before, value[0], True))
    if after:
        parts.append(_border(mode, x, axis, after, value[1], False))
    return cat(parts, axis)
