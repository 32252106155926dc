"""NumPy's reductions and averages, and their variants that ignore NaN."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ... import dtypes
from ...core.tensor import Tensor
from ...dispatch.op import composite
from ...ops.pointwise import arithmetic, selection
from ...ops.pointwise.selection import where as where_
from ...ops.reduce.reduction import Dims
from ...ops.shape.joining import cat
from ...ops.shape.strides import broadcast_to
from ...warnings import warn
from .conversion import (
    array_of, as_dtype, as_float, axes_of, cast, flat_if_none, float_array, is_inexact, reduce_axes,
    reduction_axes, tensor_of, write_out,
)  # fmt: skip
from .registration import register_as, register_shared, register_shared_as

_NOT_NAN = " that are not NaN"
#: Args sections of docstrings, each for a function and its variant that ignores NaN.
_TOTAL_ARGS = """Args:
        a: Tensor or array-like.
        axis: Dimension or dimensions; None, the default, means all.
        dtype: Dtype of the computation; default ``a``'s, 64 bits for integers.
        out: Tensor for the result.
        keepdims: Whether the reduced dimensions stay, with size 1.
        initial: Value to start with; default {:g}.
        where: Mask of the elements to include; default all."""
_SPREAD_ARGS = """Args:
        a: Tensor or array-like.
        axis: Dimension or dimensions; None, the default, means all.
        dtype: Dtype of the computation.
        out: Tensor for the result.
        ddof: The divisor is the number of elements less ``ddof``; default 0.
        keepdims: Whether the reduced dimensions stay, with size 1.
        where: Mask of the elements to include; default all.
        mean: Accepted and ignored.
        correction: Another name of ``ddof``, over which it takes precedence."""
_EXTREME_ARGS = """Args:
        a: Tensor or array-like.
        axis: Dimension or dimensions; None, the default, means all.
        out: Tensor for the result.
        keepdims: Whether the reduced dimensions stay, with size 1.
        initial: Lower bound of a maximum, or upper bound of a minimum.
        where: Mask of the elements to include; needs ``initial``."""
_INDEX_ARGS = """Args:
        a: Tensor or array-like.
        axis: The dimension; None, the default, flattens the tensor first.
        out: Tensor for the result.
        keepdims: Whether the dimension stays, with size 1."""
_RUNNING_ARGS = """Args:
        a: Tensor or array-like.
        axis: The dimension; None, the default, flattens the tensor first.
        dtype: Dtype of the computation; default ``a``'s, 64 bits for integers.
        out: Tensor for the result."""


def _mask_out(a: Any, where: Any, value: Any) -> Any:
    """``a``, in which ``value`` replaces the elements that the mask ``where`` excludes."""
    return a if where is True else where_(tensor_of(where, a._xp), a, a.new_full((), value))


def _replace_nan(x: Any, value: float) -> Any:
    """``x`` with ``value`` in the place of NaN; integers and bools have no NaN."""
    return x.masked_fill(x != x, value) if is_inexact(x) else x


def _number_mask(x: Any, where: Any) -> Any:
    """Mask of the elements that are not NaN and that ``where`` includes."""
    return x == x if where is True else (x == x) & tensor_of(where, x._xp).bool()


def total_dtype(a: Any, dtype: Any) -> Any:
    """NumPy's dtype of a sum or product of the tensor ``a``.

    It is the argument ``dtype`` of the call if that is not None. Otherwise it is ``a``'s dtype,
    but uint64 for unsigned integers and int64 for signed integers and bools.
    """
    if dtype is not None:
        return as_dtype(dtype)
    if is_inexact(a):
        return a.dtype
    return dtypes.uint64 if a.dtype.kind == "u" else dtypes.int64


def _sum_axes(a: Any, axis: Any, dtype: Any, keepdims: bool) -> Any:
    """Sum of a tensor along ``axis``, in NumPy's dtype; the arguments are ``sum``'s."""
    wanted = total_dtype(a, dtype)
    source = a if dtype is None else a.to(wanted)
    axes = reduction_axes("sum", axis, a.ndim)
    return reduce_axes(source, "sum", axes, keepdims).to(wanted)


def _combine_initial(found: Any, initial: Any, combine: Any) -> Any:
    """Combine the result of a reduction with the initial value, in the dtype of the result.

    Args:
        found: Result of the reduction.
        initial: The argument ``initial`` of the call: a number, or None to return ``found``.
        combine: Function of two tensors, such as ``add`` for a sum.
    """
    if initial is None:
        return found
    return combine(found, found.new_full((), _number_like(initial, found)))


def _number_like(value: Any, like: Any) -> Any:
    """Python number ``value``, a number or 0-d array, converted to the dtype of a tensor.

    Args:
        value: The number.
        like: The tensor that has the dtype.

    Raises:
        OverflowError: If an integer is out of the range of the dtype.
    """
    return like._data.dtype.type(value.item() if hasattr(value, "item") else value).item()


def _prod_axes(a: Any, axis: Any, dtype: Any, keepdims: bool) -> Any:
    """Product of a tensor along ``axis``, in NumPy's dtype; the arguments are ``prod``'s."""
    wanted = total_dtype(a, dtype)
    found = a if dtype is None else a.to(wanted)
    axes = reduction_axes("prod", axis, a.ndim)
    for d in sorted(axes, reverse=True):
        found = found.prod(d, keepdim=keepdims)
    return (found if axes else found.clone()).to(wanted)


def _make_total(
    name: str, summary: str, reduce: Any, combine: Any, start: int, *example: str,
    register: Any = register_as,
) -> Callable[..., Tensor]:  # fmt: skip
    """Make and register ``sum``, ``prod``, ``nansum`` or ``nanprod``.

    Args:
        name: Name of the function.
        summary: Beginning of its docstring.
        reduce: ``_sum_axes`` or ``_prod_axes``.
        combine: Function that combines the result with ``initial``.
        start: The neutral element, 0 or 1, which replaces excluded elements and ignored NaN.
        *example: Lines of the docstring's example.
        register: ``register_shared_as`` for a function that PyTorch does not have.
    """
    ignore_nan = name.startswith("nan")
    read = tensor_of if register is register_as else array_of

    def function(
        a: Any, axis: Any = None, dtype: Any = None, out: Tensor | None = None,
        keepdims: bool = False, initial: Any = None, where: Any = True,
    ) -> Tensor:  # fmt: skip
        x = _replace_nan(read(a), start) if ignore_nan else read(a)
        found = reduce(_mask_out(x, where, start), axis, dtype, keepdims)
        return write_out(_combine_initial(found, initial, combine), out)  # type: ignore

    doc = f"""{summary} of the elements{_NOT_NAN * ignore_nan}, of all or along ``axis``.

    {_TOTAL_ARGS.format(start)}
    """
    return register(function, name, doc, *example)  # type: ignore[no-any-return]


sum: Callable[..., Tensor] = _make_total(
    "sum", "Sum", _sum_axes, arithmetic.add, 0,
    ">>> np.sum([[1, 2], [3, 4]], axis=0)", "array([4, 6])",
)  # fmt: skip
prod: Callable[..., Tensor] = _make_total(
    "prod", "Product", _prod_axes, arithmetic.mul, 1,
    ">>> np.prod([[1, 2], [3, 4]])", "24",
)  # fmt: skip
nansum: Callable[..., Tensor] = _make_total(
    "nansum", "Sum", _sum_axes, arithmetic.add, 0,
    ">>> np.nansum([1.0, np.nan, 2.0])", "3.0",
)  # fmt: skip
nanprod: Callable[..., Tensor] = _make_total(
    "nanprod", "Product", _prod_axes, arithmetic.mul, 1,
    ">>> tt.nanprod(tt.tensor([3.0, tt.nan, 2.0]))", "tensor(6.)",
    register=register_shared_as,
)  # fmt: skip


def _count_included(x: Any, axes: tuple[int, ...], keepdims: bool, where: Any) -> Any:
    """Number of elements that the mask ``where`` includes, along ``axes`` of ``x``, as a tensor."""
    mask = tensor_of(where, x._xp).bool().expand(tuple(x.shape))
    return _sum_axes(mask, axes, None, keepdims)


def _warn_empty(mask: Any, axes: tuple[int, ...], text: str) -> None:
    """Give the warning ``text`` if along ``axes`` no element of some slice is in ``mask``.

    On a GPU no warning is given, because the host would have to wait for the mask.
    """
    if mask.device.type == "cpu" and not mask.all():
        if not any(mask, axes).all():
            warn(text, RuntimeWarning)


def _make_mean(name: str, *example: str) -> Callable[..., Tensor]:
    """Make and register ``mean`` or ``nanmean``.

    Args:
        name: ``"mean"`` or ``"nanmean"``.
        *example: Lines of the docstring's example.
    """
    ignore_nan = name == "nanmean"

    def function(
        a: Any, axis: Any = None, dtype: Any = None, out: Tensor | None = None,
        keepdims: bool = False, *, where: Any = True,
    ) -> Tensor:  # fmt: skip
        x = cast(as_float(a), dtype)
        axes = (reduction_axes if ignore_nan else axes_of)(name, axis, x.ndim)
        if ignore_nan:
            where = _number_mask(x, where)
            _warn_empty(where, axes, "Mean of empty slice")
        if where is True:
            found = reduce_axes(x, "mean", axes, keepdims)
        else:
            total = _sum_axes(_mask_out(x, where, 0), axes, None, keepdims)
            found = total / _count_included(x, axes, keepdims, where)
        return write_out(found, out)  # type: ignore[no-any-return]

    integers = "" if ignore_nan else "; the mean of integers is float64"
    doc = f"""Mean of the elements{_NOT_NAN * ignore_nan}, of all or along ``axis``{integers}.

    Args:
        a: Tensor or array-like.
        axis: Dimension or dimensions; None, the default, means all.
        dtype: Dtype of the computation.
        out: Tensor for the result.
        keepdims: Whether the reduced dimensions stay, with size 1.
        where: Mask of the elements to include; default all.
    """
    return register_as(function, name, doc, *example)


mean: Callable[..., Tensor] = _make_mean(
    "mean", ">>> np.mean([[1, 2], [3, 4]], axis=1)", "array([1.5, 3.5])",
)  # fmt: skip
nanmean: Callable[..., Tensor] = _make_mean(
    "nanmean", ">>> np.nanmean([1.0, np.nan, 2.0])", "1.5",
)  # fmt: skip


def _variance(x: Any, axes: tuple[int, ...], ddof: float, keepdims: bool, where: Any) -> Any:
    """Variance of a floating-point or complex tensor over ``axes``; see ``var``.

    Args:
        x: The tensor.
        axes: The dimensions to reduce, counted from the front.
        ddof: The divisor is the number of elements minus ``ddof``.
        keepdims: Whether the reduced dimensions stay, with size 1.
        where: Mask of the elements to include; True for all.
    """
    if where is True:
        if not axes:  # Each result is the variance of a single element.
            return x.unsqueeze(0).var(0, correction=ddof)
        return x.var(axes, correction=ddof, keepdim=keepdims)
    center = mean(x, axes, keepdims=True, where=where)
    squares = _mask_out((x - center).abs() ** 2, where, 0)
    divisor = _count_included(x, axes, keepdims, where) - ddof
    return _sum_axes(squares, axes, None, keepdims) / divisor.clamp(min=0)


def _empty_result(x: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    """Uninitialized tensor of the shape that a reduction of ``x`` over ``axes`` has."""
    shape = [1 if d in axes else n for d, n in enumerate(x.shape) if keepdims or d not in axes]
    return x.new_empty(shape)


def _make_extreme(
    name: str, summary: str, reduce: str, combine: Any, *example: str, worst: float | None = None
) -> Callable[..., Tensor]:
    """Make and register ``max``, ``amax``, ``nanmax``, ``min``, ``amin`` or ``nanmin``.

    Args:
        name: Name of the function.
        summary: Beginning of its docstring.
        reduce: Method of Tensor: ``"amax"`` or ``"amin"``.
        combine: Function that combines the result with ``initial``.
        *example: Lines of the docstring's example.
        worst: For ``nanmax`` and ``nanmin`` the infinity that replaces NaN, so that NaN is never
            chosen; None for a function that does not ignore NaN.
    """
    ignore_nan = worst is not None
    read, register = (array_of, register_shared_as) if ignore_nan else (tensor_of, register_as)

    def function(
        a: Any, axis: Any = None, out: Tensor | None = None, keepdims: bool = False,
        initial: Any = None, where: Any = True,
    ) -> Tensor:  # fmt: skip
        x = read(a)
        axes = reduction_axes(name, axis, x.ndim)
        mask = None
        if ignore_nan and is_inexact(x) and x.numel():
            mask = _number_mask(x, where)
            x = x.masked_fill(x != x, worst)
        if where is not True:
            if initial is None:
                raise ValueError(
                    f"reduction operation '{name.removeprefix('nan')}' does not have an identity, "
                    "so to use a where mask one has to specify 'initial'"
                )
            x = _mask_out(x, where, initial)
        if initial is not None and not math.prod(x.shape[d] for d in axes):
            first = _empty_result(x, axes, keepdims).fill_(_number_like(initial, x))
            return write_out(first, out)  # type: ignore[no-any-return]
        found = _combine_initial(reduce_axes(x, reduce, axes, keepdims), initial, combine)
        if mask is not None and initial is None:
            found = found.masked_fill(~any(mask, axes, keepdims=keepdims), math.nan)
            _warn_empty(mask, axes, "All-NaN slice encountered")
        return write_out(found, out)  # type: ignore[no-any-return]

    returns = """

    Returns:
        Tensor without the reduced dimensions; NaN, with a RuntimeWarning, if all elements are NaN.
    """
    which = " of those that are not NaN" * ignore_nan
    doc = (
        f"{summary}{which}, of all or along ``axis``.\n\n    {_EXTREME_ARGS}{returns * ignore_nan}"
    )
    return register(function, name, doc, *example)


max: Callable[..., Tensor] = _make_extreme(
    "max", "Largest element", "amax", selection.maximum,
    ">>> np.max([[1, 4], [3, 2]], axis=1)", "array([4, 3])",
)  # fmt: skip
min: Callable[..., Tensor] = _make_extreme(
    "min", "Smallest element", "amin", selection.minimum,
    ">>> np.min([[1, 4], [3, 2]], axis=1)", "array([1, 2])",
)  # fmt: skip
amax: Callable[..., Tensor] = _make_extreme(
    "amax", "Largest element", "amax", selection.maximum,
    ">>> np.amax([1, 4, 3])", "4",
)  # fmt: skip
amin: Callable[..., Tensor] = _make_extreme(
    "amin", "Smallest element", "amin", selection.minimum,
    ">>> np.amin([2, 1, 3])", "1",
)  # fmt: skip


nanmax: Callable[..., Tensor] = _make_extreme(
    "nanmax", "Largest element", "amax", selection.maximum,
    ">>> tt.nanmax(tt.tensor([1.0, tt.nan, 3.0]))", "tensor(3.)", worst=-math.inf,
)  # fmt: skip
nanmin: Callable[..., Tensor] = _make_extreme(
    "nanmin", "Smallest element", "amin", selection.minimum,
    ">>> tt.nanmin(tt.tensor([1.0, tt.nan, 3.0]))", "tensor(1.)", worst=math.inf,
)  # fmt: skip


def _make_truth(name: str, summary: str, start: bool, *example: str) -> Callable[..., Tensor]:
    """Make and register ``all`` or ``any``.

    Args:
        name: ``"all"`` or ``"any"``.
        summary: Beginning of the docstring.
        start: The neutral element, which replaces the elements that ``where`` excludes.
        *example: Lines of the docstring's example.
    """

    def function(
        a: Any, axis: Any = None, out: Tensor | None = None, keepdims: bool = False, *,
        where: Any = True,
    ) -> Tensor:  # fmt: skip
        x = _mask_out(tensor_of(a).bool(), where, start)
        for d in sorted(reduction_axes(name, axis, x.ndim), reverse=True):
            x = getattr(x, name)(d, keepdim=keepdims)
        return write_out(x, out)  # type: ignore[no-any-return]

    return register_as(
        function,
        name,
        f"""{summary}, of all or along ``axis``.

    Args:
        a: Tensor or array-like.
        axis: Dimension or dimensions; None, the default, means all.
        out: Tensor for the result.
        keepdims: Whether the reduced dimensions stay, with size 1.
        where: Mask of the elements to include; default all.
    """,
        *example,
    )


all: Callable[..., Tensor] = _make_truth(
    "all", "Whether all elements are nonzero", True,
    ">>> np.all([[1, 0], [1, 1]], axis=1)", "array([False,  True])",
)  # fmt: skip
any: Callable[..., Tensor] = _make_truth(
    "any", "Whether any element is nonzero", False,
    ">>> np.any([[0, 0], [1, 0]], axis=1)", "array([False,  True])",
)  # fmt: skip


def _make_arg_extreme(
    name: str, summary: str, *example: str, worst: float | None = None
) -> Callable[..., Tensor]:
    """Make and register ``argmax``, ``argmin``, ``nanargmax`` or ``nanargmin``.

    Args:
        name: Name of the function.
        summary: Beginning of its docstring.
        *example: Lines of the docstring's example.
        worst: For ``nanargmax`` and ``nanargmin`` the infinity that replaces NaN; else None.
    """
    method = name.removeprefix("nan")
    ignore_nan = worst is not None
    read, register = (array_of, register_shared_as) if ignore_nan else (tensor_of, register_as)

    def function(
        a: Any, axis: int | None = None, out: Tensor | None = None, *, keepdims: bool = False
    ) -> Tensor:
        x = read(a)
        if ignore_nan and is_inexact(x) and x.numel():
            x._xp.check_all(any(x == x, axis)._data, "All-NaN slice encountered")
            x = x.masked_fill(x != x, worst)
        x = x.to(dtypes.uint8) if x.dtype is dtypes.bool else x
        at = None if axis is None else axes_of(method, axis, x.ndim or 1)[0]
        return write_out(getattr(x, method)(at, keepdims), out)  # type: ignore[no-any-return]

    which = " of those that are not NaN" * ignore_nan
    raises = (
        "\n\n    Raises:\n        ValueError: If all elements of a result are NaN." * ignore_nan
    )
    doc = f"""{summary}{which}, in the flattened tensor or along ``axis``.

    {_INDEX_ARGS}{raises}
    """
    return register(function, name, doc, *example)


argmax: Callable[..., Tensor] = _make_arg_extreme(
    "argmax", "Index of the largest element",
    ">>> np.argmax([1, 4, 3])", "1",
)  # fmt: skip
argmin: Callable[..., Tensor] = _make_arg_extreme(
    "argmin", "Index of the smallest element",
    ">>> np.argmin([[2, 1], [0, 3]], axis=0)", "array([1, 0])",
)  # fmt: skip
nanargmax: Callable[..., Tensor] = _make_arg_extreme(
    "nanargmax", "Index of the largest element",
    ">>> tt.nanargmax(tt.tensor([1.0, tt.nan, 3.0]))", "tensor(2)", worst=-math.inf,
)  # fmt: skip
nanargmin: Callable[..., Tensor] = _make_arg_extreme(
    "nanargmin", "Index of the smallest element",
    ">>> tt.nanargmin(tt.tensor([tt.nan, 1.0, 3.0]))", "tensor(1)", worst=math.inf,
)  # fmt: skip


def _make_running(
    name: str, summary: str, *example: str, nan: float | None = None
) -> Callable[..., Tensor]:
    """Make and register ``cumsum``, ``cumprod``, ``nancumsum`` or ``nancumprod``.

    Args:
        name: Name of the function.
        summary: Beginning of its docstring.
        *example: Lines of the docstring's example.
        nan: For ``nancumsum`` and ``nancumprod`` the number that replaces NaN; else None.
    """
    method = name.removeprefix("nan")
    read, register = (tensor_of, register_as) if nan is None else (array_of, register_shared_as)

    def function(
        a: Any, axis: int | None = None, dtype: Any = None, out: Tensor | None = None
    ) -> Tensor:
        x = read(a) if nan is None else _replace_nan(read(a), nan)
        x, at = flat_if_none(method, x if x.ndim else x.reshape(1), axis)
        wanted = total_dtype(x, dtype)
        found = getattr(x if dtype is None else x.to(wanted), method)(at)
        return write_out(found.to(wanted), out)  # type: ignore[no-any-return]

    counts = "" if nan is None else f", in which NaN counts as {nan:g}"
    doc = f"""{summary} along ``axis``{counts}.

    {_RUNNING_ARGS}
    """
    return register(function, name, doc, *example)


cumsum: Callable[..., Tensor] = _make_running(
    "cumsum", "Cumulative sums",
    ">>> np.cumsum([1, 2, 3])", "array([1, 3, 6])",
)  # fmt: skip
cumprod: Callable[..., Tensor] = _make_running(
    "cumprod", "Cumulative products",
    ">>> np.cumprod([1, 2, 3])", "array([1, 2, 6])",
)  # fmt: skip
nancumsum: Callable[..., Tensor] = _make_running(
    "nancumsum", "Cumulative sums",
    ">>> tt.nancumsum(tt.tensor([1.0, tt.nan, 2.0]))", "tensor([1., 1., 3.])", nan=0,
)  # fmt: skip
nancumprod: Callable[..., Tensor] = _make_running(
    "nancumprod", "Cumulative products",
    ">>> tt.nancumprod(tt.tensor([3.0, tt.nan, 2.0]))", "tensor([3., 3., 6.])", nan=1,
)  # fmt: skip


@composite(namespaces=("numpy",), like=sum)
def count_nonzero(a: Any, axis: Any = None, *, keepdims: bool = False) -> Tensor:
    """Number of nonzero elements, of all or along ``axis``.

    Example:
        >>> np.count_nonzero([[0, 5], [7, 8]], axis=1)
        array([1, 2])
    """
    return _sum_axes(tensor_of(a) != 0, axis, None, keepdims)  # type: ignore[no-any-return]


def _broadcast_weights(weights: Any, a: Tensor, axes: tuple[int, ...]) -> Any:
    """Reshape the weights of ``average`` so that they broadcast with ``a``.

    Args:
        weights: Tensor of ``a``'s shape, or of the sizes of ``a`` along ``axes``, in that order.
        a: The tensor to average.
        axes: The dimensions to reduce, counted from the front.

    Raises:
        ValueError: If the weights have another shape.
    """
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
        weights: Weights of ``a``'s shape, or of its shape along ``axis``. Default: equal weights.
        returned: Also return the sum of the weights.
        keepdims: Whether the reduced dimensions stay, with size 1.

    Returns:
        The mean; with ``returned`` a tuple of it and the sum of the weights.

    Raises:
        ValueError: If the weights have another shape.
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
        w = _broadcast_weights(array_of(weights, x._xp), x, axes)
        product = x * w
        w = broadcast_to(w, tuple(x.shape)).to(product.dtype)
        total = reduce_axes(w, "sum", axes, keepdims)
        if bool((total == 0).any()):
            raise ZeroDivisionError("average(): weights sum to zero, cannot be normalized")
        found = reduce_axes(product, "sum", axes, keepdims) / total
    return (found, broadcast_to(total, tuple(found.shape)).clone()) if returned else found


@register_shared(like=sum)
def ptp(a: Any, axis: Dims = None, *, keepdims: bool = False) -> Tensor:
    """Range of the elements, largest minus smallest, of all or along ``axis``.

    Args:
        a: Real tensor of any shape.

    Raises:
        IndexError: If there are no elements.

    Example:
        >>> tt.ptp(tt.tensor([[1, 5], [7, 3]]), axis=0)
        tensor([6, 2])
    """
    x: Any = array_of(a)
    axes = reduction_axes("ptp", axis, x.ndim)
    largest, smallest = (reduce_axes(x, name, axes, keepdims) for name in ("amax", "amin"))
    return largest - smallest  # type: ignore[no-any-return]


def _make_cumulative(
    name: str, summary: str, run: Callable[..., Tensor], start: int, *example: str
) -> Callable[..., Tensor]:
    """Make and register the array API's ``cumulative_sum`` or ``cumulative_prod``.

    Args:
        name: Name of the function.
        summary: Beginning of its docstring.
        run: ``cumsum`` or ``cumprod``.
        start: The neutral element, 0 or 1, with which the result begins on request.
        *example: Lines of the docstring's example.
    """

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
        axis: The dimension; it may be omitted for a vector.
        dtype: Dtype of the computation; default ``x``'s, 64 bits for integers.
        include_initial: Whether the result begins with {start}.

    Raises:
        ValueError: If ``axis`` is missing for a tensor of several dimensions.
    """,
        *example,
    )


cumulative_sum: Callable[..., Tensor] = _make_cumulative(
    "cumulative_sum", "Cumulative sums", cumsum, 0,
    ">>> tt.cumulative_sum(tt.tensor([1, 2, 3]), include_initial=True)", "tensor([0, 1, 3, 6])",
)  # fmt: skip
cumulative_prod: Callable[..., Tensor] = _make_cumulative(
    "cumulative_prod", "Cumulative products", cumprod, 1,
    ">>> tt.cumulative_prod(tt.tensor([1, 2, 3]), include_initial=True)", "tensor([1, 1, 2, 6])",
)  # fmt: skip


def _nan_variance(x: Any, axes: tuple[int, ...], ddof: float, keepdims: bool, where: Any) -> Any:
    """Variance of the elements that are not NaN; the arguments are those of ``_variance``."""
    mask = _number_mask(x, where)
    values = x.masked_fill(~mask, 0)
    count = sum(mask, axes, keepdims=True).to(x.dtype.to_real())
    center = sum(values, axes, keepdims=True) / count.clamp(min=1)
    deviation = (values - center).masked_fill(~mask, 0)
    squares = (deviation * deviation.conj()).real if x.is_complex() else deviation**2
    divisor = count - ddof
    undefined = divisor <= 0
    found = sum(squares, axes, keepdims=True) / divisor.masked_fill(undefined, 1)
    if undefined.device.type == "cpu" and undefined.any():
        warn("Degrees of freedom <= 0 for slice.", RuntimeWarning)
    found = found.masked_fill(undefined, math.nan)
    return found if keepdims or not axes else found.squeeze(axes)


def _make_spread(
    name: str, summary: str, finish: Callable[[Any], Any], *example: str
) -> Callable[..., Tensor]:
    """Make and register ``var``, ``nanvar``, ``std`` or ``nanstd``.

    Args:
        name: Name of the function.
        summary: Beginning of its docstring.
        finish: Function that computes the result from the variance, such as its square root.
        *example: Lines of the docstring's example.
    """
    ignore_nan = name.startswith("nan")
    compute: Any = _nan_variance if ignore_nan else _variance

    def function(
        a: Any, axis: Any = None, dtype: Any = None, out: Tensor | None = None, ddof: float = 0,
        keepdims: bool = False, *, where: Any = True, mean: Any = None,
        correction: float | None = None,
    ) -> Tensor:  # fmt: skip
        x = cast(float_array(a) if ignore_nan else as_float(a), dtype)
        axes = (reduction_axes if ignore_nan else axes_of)(name, axis, x.ndim)
        ddof = ddof if correction is None else correction
        return write_out(finish(compute(x, axes, ddof, keepdims, where)), out)  # type: ignore

    returns = """

    Returns:
        Tensor without the reduced dimensions; NaN, with a RuntimeWarning, for at most ``ddof``
        elements."""
    doc = f"""{summary} of the elements{_NOT_NAN * ignore_nan}, of all or along ``axis``.

    {_SPREAD_ARGS}{returns * ignore_nan}
    """
    return (register_shared_as if ignore_nan else register_as)(function, name, doc, *example)


def _safe_sqrt(variance: Any) -> Any:
    """Square root whose gradient at 0 is 0 instead of infinite."""
    zero = variance == 0
    return variance.masked_fill(zero, 1).sqrt().masked_fill(zero, 0)


var: Callable[..., Tensor] = _make_spread(
    "var", "Variance", lambda variance: variance,
    ">>> np.var([1.0, 3.0])", "1.0",
)  # fmt: skip
std: Callable[..., Tensor] = _make_spread(
    "std", "Standard deviation", lambda variance: variance.sqrt(),
    ">>> np.std([1.0, 3.0])", "1.0",
)  # fmt: skip
nanvar: Callable[..., Tensor] = _make_spread(
    "nanvar", "Variance", lambda variance: variance,
    ">>> tt.nanvar(tt.tensor([1.0, tt.nan, 3.0]))", "tensor(1.)",
)  # fmt: skip
nanstd: Callable[..., Tensor] = _make_spread(
    "nanstd", "Standard deviation", _safe_sqrt,
    ">>> tt.nanstd(tt.tensor([1.0, tt.nan, 3.0]))", "tensor(1.)",
)  # fmt: skip
