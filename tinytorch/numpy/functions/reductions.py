"""NumPy's reductions and averages, each also without NaN, with ``where=`` and ``initial=``."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ... import dtypes
from ...core.tensor import Tensor
from ...ops.pointwise import arithmetic, selection
from ...ops.pointwise.selection import where as where_
from ...ops.reduce.reduction import Dims
from ...ops.shape.joining import cat
from ...ops.shape.strides import broadcast_to
from ...warnings import warn
from .conversion import (
    array_of,
    as_dtype,
    as_float,
    axes_of,
    cast,
    flat_if_none,
    float_array,
    reduce_axes,
    reduction_axes,
    tensor_of,
    write_out,
)
from .registration import numpy_function, register_as, register_shared, register_shared_as

#: Sections of docstrings, each of two families of functions: with NaN, and without.
_TOTAL_ARGS = """Args:
        a: Tensor or array_like.
        axis: Dimension or dimensions; None, the default, means all.
        dtype: Dtype of the computation; default ``a``'s, 64 bits for integers.
        out: Where to write the result.
        keepdims: Keep the reduced dimensions with size 1.
        initial: Value to start with; default {:g}.
        where: Which elements to include; default all."""
_SPREAD_ARGS = """Args:
        a: Tensor or array_like.
        axis: Dimension or dimensions; None, the default, means all.
        dtype: Dtype of the computation.
        out: Where to write the result.
        ddof: Divide by the number of these elements less this; default 0.
        keepdims: Keep the reduced dimensions with size 1.
        where: Which elements to include; default all.
        mean: Accepted and not used.
        correction: The same as ``ddof``, over which it takes precedence."""
_EXTREME_ARGS = """Args:
        a: Tensor or array_like.
        axis: Dimension or dimensions; None, the default, means all.
        out: Where to write the result.
        keepdims: Keep the reduced dimensions with size 1.
        initial: Lower bound of a maximum, or upper bound of a minimum.
        where: Which elements to include; needs ``initial``."""
_PLACE_ARGS = """Args:
        a: Tensor or array_like.
        axis: The dimension; None, the default, means the flattened tensor.
        out: Where to write the result.
        keepdims: Keep the dimension with size 1."""
_RUNNING_ARGS = """Args:
        a: Tensor or array_like.
        axis: The dimension; None, the default, means that of the flattened tensor.
        dtype: Dtype of the computation; default ``a``'s, 64 bits for integers.
        out: Where to write the result."""


def _masked(a: Any, where: Any, value: Any) -> Any:
    """``a`` with ``value`` where it is left out."""
    return a if where is True else where_(tensor_of(where, a._xp), a, a.new_full((), value))


def total_dtype(a: Any, dtype: Any) -> Any:
    """What is added up in: as asked, or 64 bits for integers, with the sign they have."""
    if dtype is not None:
        return as_dtype(dtype)
    if a.dtype.category > 1:
        return a.dtype
    return dtypes.uint64 if a.dtype.kind == "u" else dtypes.int64


def _added(a: Any, axis: Any, dtype: Any, keepdims: bool) -> Any:
    wanted = total_dtype(a, dtype)
    source = a if dtype is None else a.to(wanted)
    axes = reduction_axes("sum", axis, a.ndim)
    return reduce_axes(source, "sum", axes, keepdims).to(wanted)


def _begun(found: Any, initial: Any, combine: Any) -> Any:
    """A result combined with what to begin with, in its own dtype."""
    if initial is None:
        return found
    return combine(found, found.new_full((), _number(initial, found)))


def _number(value: Any, like: Any) -> Any:
    """A number in the dtype of ``like``, which must hold it."""
    return like._data.dtype.type(value.item() if hasattr(value, "item") else value).item()


def _multiplied(a: Any, axis: Any, dtype: Any, keepdims: bool) -> Any:
    wanted = total_dtype(a, dtype)
    found = a if dtype is None else a.to(wanted)
    axes = reduction_axes("prod", axis, a.ndim)
    for d in sorted(axes, reverse=True):
        found = found.prod(d, keepdim=keepdims)
    return (found if axes else found.clone()).to(wanted)


def _total(
    name: str, summary: str, reduce: Any, combine: Any, start: int, *example: str
) -> Callable[..., Tensor]:
    """``sum`` and ``prod``."""

    def function(
        a: Any, axis: Any = None, dtype: Any = None, out: Tensor | None = None,
        keepdims: bool = False, initial: Any = None, where: Any = True,
    ) -> Tensor:  # fmt: skip
        found = reduce(_masked(tensor_of(a), where, start), axis, dtype, keepdims)
        return write_out(_begun(found, initial, combine), out)  # type: ignore[no-any-return]

    return register_as(
        function,
        name,
        f"""{summary} of the elements, of all or along ``axis``.

    {_TOTAL_ARGS.format(start)}
    """,
        *example,
    )


sum: Callable[..., Tensor] = _total(
    "sum", "The sum", _added, arithmetic.add, 0,
    ">>> np.sum([[1, 2], [3, 4]], axis=0)", "array([4, 6])",
)  # fmt: skip
prod: Callable[..., Tensor] = _total(
    "prod", "The product", _multiplied, arithmetic.mul, 1,
    ">>> np.prod([[1, 2], [3, 4]])", "24",
)  # fmt: skip


def _count(x: Any, axes: tuple[int, ...], keepdims: bool, where: Any) -> Any:
    """How many elements that are left in each result is made of."""
    chosen = tensor_of(where, x._xp).bool().expand(tuple(x.shape))
    return _added(chosen, axes, None, keepdims)


@numpy_function
def mean(
    a: Any, axis: Any = None, dtype: Any = None, out: Tensor | None = None,
    keepdims: bool = False, *, where: Any = True,
) -> Tensor:  # fmt: skip
    """The mean of the elements, of all or along ``axis``; of integers in float64.

    Args:
        a: Tensor, or what makes one.
        axis: Dimension or dimensions; None, the default, means all.
        dtype: What to compute in.
        out: Where to write the result.
        keepdims: Keep the reduced dimensions with size 1.
        where: Which elements count; default all.

    Example:
        >>> np.mean([[1, 2], [3, 4]], axis=1)
        array([1.5, 3.5])
    """
    x = cast(as_float(a), dtype)
    axes = axes_of("mean", axis, x.ndim)
    if where is True:
        found = reduce_axes(x, "mean", axes, keepdims)
    else:
        total = _added(_masked(x, where, 0), axes, None, keepdims)
        found = total / _count(x, axes, keepdims, where)
    return write_out(found, out)  # type: ignore[no-any-return]


def _variance(x: Any, axes: tuple[int, ...], freedom: float, keepdims: bool, where: Any) -> Any:
    if where is True:
        # Over no dimension each element varies alone.
        if not axes:
            return x.unsqueeze(0).var(0, correction=freedom)
        return x.var(axes, correction=freedom, keepdim=keepdims)
    center = mean(x, axes, keepdims=True, where=where)
    squares = _masked((x - center).abs() ** 2, where, 0)
    left = _count(x, axes, keepdims, where) - freedom
    return _added(squares, axes, None, keepdims) / left.clamp(min=0)


def _spread(
    name: str, summary: str, finish: Callable[[Any], Any], *example: str
) -> Callable[..., Tensor]:
    """``var`` and ``std``, which ``finish`` makes of it."""

    def function(
        a: Any, axis: Any = None, dtype: Any = None, out: Tensor | None = None,
        ddof: float = 0, keepdims: bool = False, *, where: Any = True, mean: Any = None,
        correction: float | None = None,
    ) -> Tensor:  # fmt: skip
        x = cast(as_float(a), dtype)
        freedom = ddof if correction is None else correction
        axes = axes_of(name, axis, x.ndim)
        return write_out(finish(_variance(x, axes, freedom, keepdims, where)), out)  # type: ignore

    return register_as(
        function,
        name,
        f"""{summary}, of all or along ``axis``.

    {_SPREAD_ARGS}
    """,
        *example,
    )


var: Callable[..., Tensor] = _spread(
    "var", "The variance of the elements", lambda variance: variance,
    ">>> np.var([1.0, 3.0])", "1.0",
)  # fmt: skip
std: Callable[..., Tensor] = _spread(
    "std", "The standard deviation of the elements", lambda variance: variance.sqrt(),
    ">>> np.std([1.0, 3.0])", "1.0",
)  # fmt: skip


def _nothing(x: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    """Room for the results of a reduction."""
    left = [n for d, n in enumerate(x.shape) if d not in axes]
    return x.new_empty([1 if d in axes else n for d, n in enumerate(x.shape)] if keepdims else left)


def _extreme(
    name: str, summary: str, reduce: str, combine: Any, *example: str
) -> Callable[..., Tensor]:
    """``max``, ``min`` and their other names."""

    def function(
        a: Any, axis: Any = None, out: Tensor | None = None, keepdims: bool = False,
        initial: Any = None, where: Any = True,
    ) -> Tensor:  # fmt: skip
        x = tensor_of(a)
        if where is not True:
            if initial is None:
                raise ValueError(
                    f"reduction operation '{name}' does not have an identity, so to use a where "
                    "mask one has to specify 'initial'"
                )
            x = _masked(x, where, initial)
        axes = reduction_axes(name, axis, x.ndim)
        if initial is not None and not math.prod(x.shape[d] for d in axes):
            first = _nothing(x, axes, keepdims).fill_(_number(initial, x))
            return write_out(first, out)  # type: ignore[no-any-return]
        found = reduce_axes(x, reduce, axes, keepdims)
        return write_out(_begun(found, initial, combine), out)  # type: ignore[no-any-return]

    return register_as(
        function,
        name,
        f"""{summary}, of all or along ``axis``.

    {_EXTREME_ARGS}
    """,
        *example,
    )


max: Callable[..., Tensor] = _extreme(
    "max", "The largest element", "amax", selection.maximum,
    ">>> np.max([[1, 4], [3, 2]], axis=1)", "array([4, 3])",
)  # fmt: skip
min: Callable[..., Tensor] = _extreme(
    "min", "The smallest element", "amin", selection.minimum,
    ">>> np.min([[1, 4], [3, 2]], axis=1)", "array([1, 2])",
)  # fmt: skip
amax: Callable[..., Tensor] = _extreme(
    "amax", "The largest element", "amax", selection.maximum,
    ">>> np.amax([1, 4, 3])", "4",
)  # fmt: skip
amin: Callable[..., Tensor] = _extreme(
    "amin", "The smallest element", "amin", selection.minimum,
    ">>> np.amin([2, 1, 3])", "1",
)  # fmt: skip


def _truth(name: str, summary: str, start: bool, *example: str) -> Callable[..., Tensor]:
    def function(
        a: Any, axis: Any = None, out: Tensor | None = None, keepdims: bool = False, *,
        where: Any = True,
    ) -> Tensor:  # fmt: skip
        x = _masked(tensor_of(a).bool(), where, start)
        for d in sorted(reduction_axes(name, axis, x.ndim), reverse=True):
            x = getattr(x, name)(d, keepdim=keepdims)
        return write_out(x, out)  # type: ignore[no-any-return]

    return register_as(
        function,
        name,
        f"""{summary}, in all or along ``axis``.

    Args:
        a: Tensor, or what makes one.
        axis: Dimension or dimensions; None, the default, means all.
        out: Where to write the result.
        keepdims: Keep the reduced dimensions with size 1.
        where: Which elements count; default all.
    """,
        *example,
    )


all: Callable[..., Tensor] = _truth(
    "all", "Whether no element is zero", True,
    ">>> np.all([[1, 0], [1, 1]], axis=1)", "array([False,  True])",
)  # fmt: skip
any: Callable[..., Tensor] = _truth(
    "any", "Whether an element is not zero", False,
    ">>> np.any([[0, 0], [1, 0]], axis=1)", "array([False,  True])",
)  # fmt: skip


def _place(name: str, summary: str, *example: str) -> Callable[..., Tensor]:
    def function(
        a: Any, axis: int | None = None, out: Tensor | None = None, *, keepdims: bool = False
    ) -> Tensor:
        x = tensor_of(a)
        x = x.to(dtypes.uint8) if x.dtype is dtypes.bool else x
        at = None if axis is None else axes_of(name, axis, x.ndim or 1)[0]
        return write_out(getattr(x, name)(at, keepdims), out)  # type: ignore[no-any-return]

    return register_as(
        function,
        name,
        f"""{summary}, in row-major order or along ``axis``.

    {_PLACE_ARGS}
    """,
        *example,
    )


argmax: Callable[..., Tensor] = _place(
    "argmax", "The index of the largest element",
    ">>> np.argmax([1, 4, 3])", "1",
)  # fmt: skip
argmin: Callable[..., Tensor] = _place(
    "argmin", "The index of the smallest element",
    ">>> np.argmin([[2, 1], [0, 3]], axis=0)", "array([1, 0])",
)  # fmt: skip


def _running(name: str, summary: str, *example: str) -> Callable[..., Tensor]:
    def function(
        a: Any, axis: int | None = None, dtype: Any = None, out: Tensor | None = None
    ) -> Tensor:
        x = tensor_of(a)
        x, at = flat_if_none(name, x if x.ndim else x.reshape(1), axis)
        wanted = total_dtype(x, dtype)
        found = getattr(x if dtype is None else x.to(wanted), name)(at)
        return write_out(found.to(wanted), out)  # type: ignore[no-any-return]

    return register_as(
        function,
        name,
        f"""{summary} along ``axis``.

    {_RUNNING_ARGS}
    """,
        *example,
    )


cumsum: Callable[..., Tensor] = _running(
    "cumsum", "Running sums",
    ">>> np.cumsum([1, 2, 3])", "array([1, 3, 6])",
)  # fmt: skip
cumprod: Callable[..., Tensor] = _running(
    "cumprod", "Running products",
    ">>> np.cumprod([1, 2, 3])", "array([1, 2, 6])",
)  # fmt: skip


@numpy_function
def count_nonzero(a: Any, axis: Any = None, *, keepdims: bool = False) -> Tensor:
    """How many elements are not zero, of all or along ``axis``.

    Args:
        a: Tensor, or what makes one.
        axis: Dimension or dimensions; None, the default, means all.
        keepdims: Keep the reduced dimensions with size 1.

    Example:
        >>> np.count_nonzero([[0, 5], [7, 8]], axis=1)
        array([1, 2])
    """
    return _added(tensor_of(a) != 0, axis, None, keepdims)  # type: ignore[no-any-return]


def _spread_out(weights: Any, a: Tensor, axes: tuple[int, ...]) -> Any:
    """Weights in a shape that broadcasts with ``a``: of its own, or of the axes alone."""
    if weights.shape == a.shape:
        return weights
    if weights.shape != tuple(a.shape[d] for d in axes):
        raise ValueError(
            f"average(): shape of weights must be consistent with shape of a along axis, got "
            f"weights {list(weights.shape)}, a {list(a.shape)}, axis {list(axes)}"
        )
    inner = weights.permute(sorted(range(weights.ndim), key=lambda i: axes[i]))
    return inner.reshape([n if d in axes else 1 for d, n in enumerate(a.shape)])


@register_shared(forms=(
    "(..., returned: Literal[False] = False) -> Tensor",
    "(..., returned: Literal[True]) -> tuple[Tensor, Tensor]",
))  # fmt: skip
def average(
    a: Any, axis: Dims = None, weights: Any = None, returned: bool = False, *,
    keepdims: bool = False,
) -> Any:  # fmt: skip
    """Weighted mean of the elements, of all or along ``axis``.

    Args:
        a: Tensor of any shape; integers are cast to the default dtype.
        axis: Dimension or dimensions; None, the default, means all.
        weights: How much each element counts: of ``a``'s shape, or of that along ``axis``.
            Default: all the same.
        returned: Also return the sum of the weights.
        keepdims: Keep the reduced dimensions with size 1.

    Returns:
        Tensor without the reduced dimensions; with ``returned`` a tuple of two.

    Raises:
        ValueError: If the weights' shape does not fit.
        ZeroDivisionError: If weights sum to zero.

    Example:
        >>> tt.average(tt.tensor([1.0, 2.0]), weights=[3, 1])
        tensor(1.2500)
    """
    x: Any = float_array(a)
    axes = axes_of("average", axis, x.ndim)
    if weights is None:
        found = reduce_axes(x, "mean", axes, keepdims)
        total = x.new_ones(()) * (x.numel() / (found.numel() or 1))
    else:
        w = _spread_out(array_of(weights, x._xp), x, axes)
        product = x * w
        spread = broadcast_to(w, tuple(x.shape)).to(product.dtype)
        total = reduce_axes(spread, "sum", axes, keepdims)
        if bool((total == 0).any()):
            raise ZeroDivisionError("average(): weights sum to zero, cannot be normalized")
        found = reduce_axes(product, "sum", axes, keepdims) / total
    return (found, broadcast_to(total, tuple(found.shape)).clone()) if returned else found


@register_shared
def ptp(a: Any, axis: Dims = None, *, keepdims: bool = False) -> Tensor:
    """The distance from the smallest element to the largest, of all or along ``axis``.

    Args:
        a: Real tensor of any shape.
        axis: Dimension or dimensions; None, the default, means all.
        keepdims: Keep the reduced dimensions with size 1.

    Raises:
        IndexError: If there is nothing to compare.

    Example:
        >>> tt.ptp(tt.tensor([[1, 5], [7, 3]]), axis=0)
        tensor([6, 2])
    """
    x: Any = array_of(a)
    axes = reduction_axes("ptp", axis, x.ndim)
    largest, smallest = (reduce_axes(x, name, axes, keepdims) for name in ("amax", "amin"))
    return largest - smallest  # type: ignore[no-any-return]


def _cumulative(
    name: str, summary: str, run: Callable[..., Tensor], start: int, *example: str
) -> Callable[..., Tensor]:
    """Return ``cumulative_sum`` or ``cumulative_prod``."""

    def function(
        x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
    ) -> Tensor:
        tensor = array_of(x)
        if axis is None and tensor.ndim > 1:
            raise ValueError(f"{name}(): axis is required for a tensor of {tensor.ndim} dimensions")
        (at,) = axes_of(name, axis, tensor.ndim or 1)
        found: Any = run(tensor, at, dtype)
        if not include_initial:
            return found  # type: ignore[no-any-return]
        first = list(found.shape)
        first[at] = 1
        return cat([found.new_full(first, start), found], at)

    return register_shared_as(
        function,
        name,
        f"""{summary} along ``axis``.

    Args:
        x: Tensor of at least one dimension.
        axis: The dimension; may be omitted if there is only one.
        dtype: Dtype of the computation; default ``x``'s, 64 bits for integers.
        include_initial: Start with {start}.

    Raises:
        ValueError: If ``axis`` is missing and there are several dimensions.
    """,
        *example,
    )


cumulative_sum: Callable[..., Tensor] = _cumulative(
    "cumulative_sum", "Running sums", cumsum, 0,
    ">>> tt.cumulative_sum(tt.tensor([1, 2, 3]), include_initial=True)", "tensor([0, 1, 3, 6])",
)  # fmt: skip
cumulative_prod: Callable[..., Tensor] = _cumulative(
    "cumulative_prod", "Running products", cumprod, 1,
    ">>> tt.cumulative_prod(tt.tensor([1, 2, 3]), include_initial=True)", "tensor([1, 1, 2, 6])",
)  # fmt: skip


def _numbers(x: Any, value: float) -> Any:
    """``x`` with another value for each NaN."""
    return x.masked_fill(x != x, value) if x.dtype.category > 1 else x


def _numbers_of(x: Any, where: Any) -> Any:
    """Which elements count: those that are wanted and not NaN."""
    return x == x if where is True else (x == x) & tensor_of(where, x._xp).bool()


def _of_numbers(
    name: str, summary: str, read: Any, register: Any, reduce: Any, start: float, *example: str
) -> Callable[..., Tensor]:
    """``nansum`` and ``nanprod``."""

    def function(
        a: Any, axis: Any = None, dtype: Any = None, out: Tensor | None = None,
        keepdims: bool = False, initial: Any = None, where: Any = True,
    ) -> Tensor:  # fmt: skip
        x = _numbers(read(a), start)
        return reduce(x, axis, dtype, out, keepdims, initial, where)  # type: ignore

    doc = f"""{summary} of the elements that are not NaN, of all or along ``axis``.

    {_TOTAL_ARGS.format(start)}
    """
    return register(function, name, doc, *example)  # type: ignore[no-any-return]


nansum: Callable[..., Tensor] = _of_numbers(
    "nansum", "The sum", tensor_of, register_as, sum, 0,
    ">>> np.nansum([1.0, np.nan, 2.0])", "3.0",
)  # fmt: skip
nanprod: Callable[..., Tensor] = _of_numbers(
    "nanprod", "The product", array_of, register_shared_as, prod, 1,
    ">>> tt.nanprod(tt.tensor([3.0, tt.nan, 2.0]))", "tensor(6.)",
)  # fmt: skip


def _running_numbers(
    name: str, summary: str, run: Any, start: float, *example: str
) -> Callable[..., Tensor]:
    """``nancumsum`` and ``nancumprod``."""

    def function(
        a: Any, axis: int | None = None, dtype: Any = None, out: Tensor | None = None
    ) -> Tensor:
        return run(_numbers(array_of(a), start), axis, dtype, out)  # type: ignore[no-any-return]

    return register_shared_as(
        function,
        name,
        f"""{summary} along ``axis`` that count NaN as {start:g}.

    {_RUNNING_ARGS}
    """,
        *example,
    )


nancumsum: Callable[..., Tensor] = _running_numbers(
    "nancumsum", "Running sums", cumsum, 0,
    ">>> tt.nancumsum(tt.tensor([1.0, tt.nan, 2.0]))", "tensor([1., 1., 3.])",
)  # fmt: skip
nancumprod: Callable[..., Tensor] = _running_numbers(
    "nancumprod", "Running products", cumprod, 1,
    ">>> tt.nancumprod(tt.tensor([3.0, tt.nan, 2.0]))", "tensor([3., 3., 6.])",
)  # fmt: skip


@numpy_function
def nanmean(
    a: Any, axis: Any = None, dtype: Any = None, out: Tensor | None = None, keepdims: bool = False,
    *, where: Any = True,
) -> Tensor:  # fmt: skip
    """The mean of the elements that are not NaN, of all or along ``axis``.

    Args:
        a: Tensor, or what makes one.
        axis: Dimension or dimensions; None, the default, means all.
        dtype: What to compute in.
        out: Where to write the result.
        keepdims: Keep the reduced dimensions with size 1.
        where: Which elements count; default all.

    Example:
        >>> np.nanmean([1.0, np.nan, 2.0])
        1.5
    """
    x = cast(as_float(a), dtype)
    axes = reduction_axes("nanmean", axis, x.ndim)
    counts = _numbers_of(x, where)
    _warn(counts, axes, "Mean of empty slice")
    return mean(x, axes, None, out, keepdims, where=counts)


def _warn(counts: Any, axes: tuple[int, ...], text: str) -> None:
    """A RuntimeWarning where nothing counts; arrays on a device are not read for that."""
    if counts.device.type == "cpu" and not counts.all():
        if not any(counts, axes).all():
            warn(text, RuntimeWarning)


def _nan_variance(x: Any, axes: tuple[int, ...], freedom: float, counts: Any) -> tuple[Any, Any]:
    """The variance, with the reduced dimensions, and where there is too little for one."""
    numbers = x.masked_fill(~counts, 0)
    count = sum(counts, axes, keepdims=True).to(x.dtype.to_real())
    center = sum(numbers, axes, keepdims=True) / count.clamp(min=1)
    deviation = (numbers - center).masked_fill(~counts, 0)
    squares = (deviation * deviation.conj()).real if x.is_complex() else deviation**2
    left = count - freedom
    unknown = left <= 0
    found = sum(squares, axes, keepdims=True) / left.masked_fill(unknown, 1)
    return found.masked_fill(unknown, math.nan), unknown


def _nan_spread(
    name: str, summary: str, finish: Callable[[Any], Any], *example: str
) -> Callable[..., Tensor]:
    """``nanvar`` and ``nanstd``, which ``finish`` makes of it."""

    def function(
        a: Any, axis: Any = None, dtype: Any = None, out: Tensor | None = None, ddof: float = 0,
        keepdims: bool = False, *, where: Any = True, mean: Any = None,
        correction: float | None = None,
    ) -> Tensor:  # fmt: skip
        x = cast(float_array(a), dtype)
        axes = reduction_axes(name, axis, x.ndim)
        counts = _numbers_of(x, where)
        freedom = ddof if correction is None else correction
        found, unknown = _nan_variance(x, axes, freedom, counts)
        if unknown.device.type == "cpu" and unknown.any():
            warn("Degrees of freedom <= 0 for slice.", RuntimeWarning)
        found = found if keepdims or not axes else found.squeeze(axes)
        return write_out(finish(found), out)  # type: ignore

    return register_shared_as(
        function,
        name,
        f"""{summary} of the elements that are not NaN, of all or along ``axis``.

    {_SPREAD_ARGS}

    Returns:
        Tensor without the reduced dimensions; NaN, with a RuntimeWarning, where there are not more
        elements than ``ddof``.
    """,
        *example,
    )


def _root(variance: Any) -> Any:
    """The square root, whose slope at 0, where nothing varies, is 0."""
    still = variance == 0
    return variance.masked_fill(still, 1).sqrt().masked_fill(still, 0)


nanvar: Callable[..., Tensor] = _nan_spread(
    "nanvar", "The variance", lambda variance: variance,
    ">>> tt.nanvar(tt.tensor([1.0, tt.nan, 3.0]))", "tensor(1.)",
)  # fmt: skip
nanstd: Callable[..., Tensor] = _nan_spread(
    "nanstd", "The standard deviation", _root,
    ">>> tt.nanstd(tt.tensor([1.0, tt.nan, 3.0]))", "tensor(1.)",
)  # fmt: skip


def _nan_extreme(
    name: str, summary: str, reduce: Callable[..., Any], worst: float, *example: str
) -> Callable[..., Tensor]:
    """``nanmax`` and ``nanmin``."""

    def function(
        a: Any, axis: Any = None, out: Tensor | None = None, keepdims: bool = False,
        initial: Any = None, where: Any = True,
    ) -> Tensor:  # fmt: skip
        x = array_of(a)
        if x.dtype.category < 2 or not x.numel():
            return reduce(x, axis, out, keepdims, initial, where)  # type: ignore[no-any-return]
        axes = reduction_axes(name, axis, x.ndim)
        counts = _numbers_of(x, where)
        found = reduce(x.masked_fill(x != x, worst), axes, None, keepdims, initial, where)
        if initial is None:
            found = found.masked_fill(~any(counts, axes, keepdims=keepdims), math.nan)
            _warn(counts, axes, "All-NaN slice encountered")
        return write_out(found, out)  # type: ignore[no-any-return]

    return register_shared_as(
        function,
        name,
        f"""{summary} of those that are not NaN, of all or along ``axis``.

    {_EXTREME_ARGS}

    Returns:
        Tensor without the reduced dimensions; NaN, with a RuntimeWarning, where everything is.
    """,
        *example,
    )


nanmax: Callable[..., Tensor] = _nan_extreme(
    "nanmax", "The largest element", max, -math.inf,
    ">>> tt.nanmax(tt.tensor([1.0, tt.nan, 3.0]))", "tensor(3.)",
)  # fmt: skip
nanmin: Callable[..., Tensor] = _nan_extreme(
    "nanmin", "The smallest element", min, math.inf,
    ">>> tt.nanmin(tt.tensor([1.0, tt.nan, 3.0]))", "tensor(1.)",
)  # fmt: skip


def _nan_place(
    name: str, summary: str, pick: Callable[..., Any], worst: float, *example: str
) -> Callable[..., Tensor]:
    """``nanargmax`` and ``nanargmin``."""

    def function(
        a: Any, axis: int | None = None, out: Tensor | None = None, *, keepdims: bool = False
    ) -> Tensor:
        x = array_of(a)
        if x.dtype.category > 1 and x.numel():
            numbers = any(x == x, axis)
            x._xp.check_all(numbers._data, "All-NaN slice encountered")
            x = x.masked_fill(x != x, worst)
        return pick(x, axis, out, keepdims=keepdims)  # type: ignore[no-any-return]

    return register_shared_as(
        function,
        name,
        f"""{summary} of those that are not NaN, in row-major order or along ``axis``.

    {_PLACE_ARGS}

    Raises:
        ValueError: Where everything is NaN.
    """,
        *example,
    )


nanargmax: Callable[..., Tensor] = _nan_place(
    "nanargmax", "The index of the largest element", argmax, -math.inf,
    ">>> tt.nanargmax(tt.tensor([1.0, tt.nan, 3.0]))", "tensor(2)",
)  # fmt: skip
nanargmin: Callable[..., Tensor] = _nan_place(
    "nanargmin", "The index of the smallest element", argmin, math.inf,
    ">>> tt.nanargmin(tt.tensor([tt.nan, 1.0, 3.0]))", "tensor(1)",
)  # fmt: skip
