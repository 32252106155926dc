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
    array_of, axes_of, cast_all, is_inexact, promote_strong, tensor_of, tensors_of, write_out,
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


def _make_stack(
    name: str, torch_function: Any, summary: str, *example: str
) -> Callable[..., Tensor]:
    """Make and register a NumPy function that joins arrays, such as ``hstack``.

    Args:
        name: NumPy's name of the function.
        torch_function: PyTorch's function that joins a list of tensors of one dtype.
        summary: First line of the docstring.
        *example: Lines of the docstring's example.

    Returns:
        The registered function: it casts the arrays by NumPy's promotion rules and calls
        ``torch_function``.
    """

    def function(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Tensor:
        parts = cast_all(promote_strong(*tup), dtype, casting)
        return torch_function(parts)  # type: ignore[no-any-return]

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
    name: str, torch_function: Any, count: int, *example: str
) -> Callable[..., Tensor | tuple[Tensor, ...]]:
    """Make and register ``atleast_1d``, ``atleast_2d`` or ``atleast_3d``.

    Args:
        name: Name of the function.
        torch_function: PyTorch's function of that name, which is called with one tensor at a time.
        count: The minimum number of dimensions, for the docstring.
        *example: Lines of the docstring's example.

    Returns:
        The registered function: it returns one tensor for one argument, else a tuple of tensors.
    """

    def function(*arys: Any) -> Tensor | tuple[Tensor, ...]:
        found = tuple(torch_function(x) for x in tensors_of(*arys))
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


def _split(ary: Any, indices_or_sections: Any, axis: int, equal: bool) -> list[Tensor]:
    """Split a tensor along a dimension into views.

    Args:
        ary: Tensor or array-like.
        indices_or_sections: Number of the parts, or the indices at which the parts after the first
            one begin.
        axis: The dimension.
        equal: Whether to raise if a number of parts of equal size is impossible.
    """
    x = tensor_of(ary)
    (axis,) = axes_of("split", axis, x.ndim)
    sections = indices_or_sections
    sections = sections.tolist() if hasattr(sections, "tolist") else sections
    if equal and isinstance(sections, int) and x.shape[axis] % sections:
        raise ValueError("array split does not result in an equal division")
    return list(splitting.tensor_split(x, sections, axis))


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
    name: str, axis: int, min_ndim: int, dimension: str, *example: str
) -> Callable[..., list[Tensor]]:
    """Make and register ``hsplit``, ``vsplit`` or ``dsplit``.

    Args:
        name: Name of the function.
        axis: The dimension to split; the last one if the tensor has fewer dimensions.
        min_ndim: The function raises for a tensor of fewer dimensions.
        dimension: End of the docstring's first line, which says which dimension is split.
        *example: Lines of the docstring's example.
    """

    def function(ary: Any, indices_or_sections: Any) -> list[Tensor]:
        x = tensor_of(ary)
        if x.ndim < min_ndim:
            raise ValueError(
                f"{name} only works on arrays of {min_ndim} or more dimensions, got {x.ndim}"
            )
        return _split(x, indices_or_sections, min(axis, x.ndim - 1), True)

    return register_as(
        function,
        name,
        f"""List of views of parts of equal size, or split at given indices, {dimension}.

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
    """Read an argument of ``pad`` as a list of a pair ``(before, after)`` for each dimension.

    Args:
        name: Name of the argument, for errors.
        given: The argument: a number, or a pair, for all dimensions; a pair for each dimension; or
            a dictionary from dimensions to numbers or pairs, 0 for dimensions that are not keys.
        ndim: Number of dimensions of the tensor to pad.
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
    """Indices of the elements that a padded dimension copies, as an array of the backend.

    Args:
        mode: ``"edge"``, ``"wrap"``, ``"reflect"`` or ``"symmetric"``; see ``pad``.
        xp: Backend of the tensor to pad.
        before: Width of the padding before the elements.
        size: Size of the dimension.
        after: Width of the padding after the elements.

    Returns:
        int64 array of shape ``(before + size + after,)`` with indices from 0 to ``size - 1``.
    """
    indices = xp.arange(-before, size + after, dtype="int64")
    if mode == "edge":
        return xp.clip(indices, 0, size - 1)
    if mode == "wrap" or size == 1:
        return indices % size
    # The reflected dimension is periodic; "reflect" does not repeat the two edge elements.
    period = 2 * size - (2 if mode == "reflect" else 0)
    indices %= period
    return xp.minimum(indices, (period if mode == "reflect" else period - 1) - indices)


#: Modes whose padding is a copy of elements.
_COPIES = ("edge", "reflect", "symmetric", "wrap")
#: Modes whose padding is a statistic of the elements next to it.
_STATISTICS = ("maximum", "mean", "median", "minimum")


def _statistic(mode: str, part: Any, axis: int) -> Any:
    """Statistic of ``part`` along ``axis``, which stays with size 1; of integers it is rounded.

    Args:
        mode: ``"maximum"``, ``"minimum"``, ``"mean"`` or ``"median"``.
        part: The elements next to the padding.
        axis: The dimension that is padded.
    """
    if mode == "maximum":
        return part.amax(axis, True)
    if mode == "minimum":
        return part.amin(axis, True)
    found = (
        part.mean(axis, True)
        if mode == "mean"
        else part.quantile(0.5, axis, True, interpolation="midpoint")
    )
    return found if is_inexact(part) else found.round()


def _border(mode: str, x: Any, axis: int, width: int, value: Any, front: bool) -> Any:
    """Padding for one end of a dimension, in the modes of ``pad`` that do not copy elements.

    Args:
        mode: The mode of ``pad``.
        x: The tensor to pad.
        axis: The dimension.
        width: Width of the padding.
        value: By mode: the constant, the outer end of the linear ramp, or the number of elements
            that the statistic is of (None for all).
        front: Whether the padding comes before the elements of ``x``; else after them.

    Returns:
        Tensor of ``x``'s shape, but of size ``width`` along ``axis``.
    """
    size = x.shape[axis]
    shape = list(x.shape)
    shape[axis] = width
    if mode in ("constant", "empty"):
        return array_of(0 if mode == "empty" else value, x._xp).to(x.dtype).expand(shape)
    if mode == "linear_ramp":
        edge = x.narrow(axis, 0 if front else size - 1, 1)
        # The weight of the edge element rises from 0 at the outer end of the ramp.
        weight = linspace(0, 1, width + 1, dtype=x.dtype if x.is_floating_point() else None,
                          backend=x._xp)[:-1]  # fmt: skip
        weight = (weight if front else weight.flip(0)).reshape([-1] + [1] * (x.ndim - axis - 1))
        ramp = array_of(value, x._xp) * (1 - weight) + edge * weight
        return ramp.to(x.dtype) if is_inexact(x) else ramp.trunc().to(x.dtype)
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
    """Pad with zeros, then let a function write to each vector along each dimension.

    Args:
        function: The argument ``mode`` of ``pad``.
        x: The tensor to pad.
        widths: For each dimension the widths ``(before, after)`` of the padding.
        options: Keyword arguments of the call of ``pad``, passed to ``function`` as a dictionary.
    """
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

    A reflection maps an element ``e`` to ``2 * end - e``, where ``end`` is the first or the last
    element. Hence every element of the result, also after several reflections, is
    ``sign * e + a * last + b * first``, whose terms this function computes.

    Args:
        mode: ``"reflect"`` or ``"symmetric"``; see ``pad``.
        x: The tensor to pad.
        axis: The dimension.
        indices: Positions of the result's elements along ``axis`` as an int64 array of the
            backend; the first element of ``x`` is at 0, so the padding before it is below 0.
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
    """Pad ``x`` along one dimension, before and after its elements.

    Args:
        mode: The mode of ``pad``; not a function.
        x: The tensor to pad.
        axis: The dimension.
        width: The pair ``(before, after)`` of widths.
        value: For the modes that do not copy elements a pair ``(before, after)`` of arguments
            ``value`` of ``_border``.
        odd: Whether ``reflect_type`` is ``"odd"``.
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
