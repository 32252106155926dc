"""NumPy's reductions: values alone, no correction, ``where=`` and ``initial=``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import dtypes
from .._op import composite
from .._tensor import Tensor
from ..ops._arrays import axes_of, flat_if_none
from ..ops.selection import where as where_
from ._dialect import as_float, cast, numpy_function, tensor_of, top_level, written


def _masked(a: Any, where: Any, value: Any) -> Any:
    """``a`` with ``value`` where it is left out."""
    return a if where is True else where_(tensor_of(where, a._xp), a, a.new_full((), value))


def _total_dtype(a: Any, dtype: Any) -> Any:
    """What integers are added up in: 64 bits, with the sign they have."""
    if dtype is not None:
        return dtypes.as_dtype(dtype)
    return dtypes.uint64 if a.dtype.kind == "u" else None


def _into(found: Any, dtype: Any, a: Any) -> Any:
    """A sum or product in the dtype it is to have."""
    wanted = _total_dtype(a, dtype)
    return found if wanted is None else found.to(wanted)


def _added(a: Any, axis: Any, dtype: Any, keepdims: bool) -> Any:
    wanted = _total_dtype(a, dtype)
    early = wanted if wanted is not None and wanted.category > 1 else None
    axes = None if axis is None else axes_of("sum", axis, a.ndim)
    source = cast(a, early)
    if axes == ():  # which means all of them to torch
        return _into(source * 1 if a.dtype.category > 1 else source.long(), dtype, a)
    return _into(source.sum(axes, keepdim=keepdims), dtype, a)


@numpy_function
def sum(
    a: Any, axis: Any = None, dtype: Any = None, out: Tensor | None = None,
    keepdims: bool = False, initial: Any = None, where: Any = True,
) -> Tensor:  # fmt: skip
    """The sum of the elements, of all or along ``axis``.

    Args:
        a: Tensor, or what makes one.
        axis: Dimension or dimensions; None, the default, means all.
        dtype: What to add in; default ``a``'s, 64 bits for integers.
        out: Where to write the result.
        keepdims: Keep the reduced dimensions with size 1.
        initial: What to begin with; default 0.
        where: Which elements count; default all.
    """
    x = tensor_of(a)
    found = _added(_masked(x, where, 0), axis, dtype, keepdims)
    return written(found if initial is None else found + initial, out)  # type: ignore


@numpy_function
def prod(
    a: Any, axis: Any = None, dtype: Any = None, out: Tensor | None = None,
    keepdims: bool = False, initial: Any = None, where: Any = True,
) -> Tensor:  # fmt: skip
    """The product of the elements, of all or along ``axis``.

    Args:
        a: Tensor, or what makes one.
        axis: Dimension or dimensions; None, the default, means all.
        dtype: What to multiply in; default ``a``'s, 64 bits for integers.
        out: Where to write the result.
        keepdims: Keep the reduced dimensions with size 1.
        initial: What to begin with; default 1.
        where: Which elements count; default all.
    """
    x = tensor_of(a)
    found = _masked(x, where, 1)
    wanted = _total_dtype(x, dtype)
    found = cast(found, wanted if wanted is not None and wanted.category > 1 else None)
    for d in sorted(axes_of("prod", axis, x.ndim), reverse=True):
        found = found.prod(d, keepdim=keepdims)
    found = found if x.ndim else found.prod()
    found = _into(found, dtype, x)
    return written(found if initial is None else found * initial, out)  # type: ignore


def _count(x: Any, axis: Any, keepdims: bool, where: Any) -> Any:
    """How many elements each result is made of."""
    if where is True:
        axes = axes_of("mean", axis, x.ndim)
        count = 1
        for d in axes:
            count *= x.shape[d]
        return count
    chosen = tensor_of(where, x._xp).bool().expand(tuple(x.shape))
    return _added(chosen, axis, None, keepdims)


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
    """
    x = cast(as_float(a), dtype)
    if where is True:
        axes = None if axis is None else axes_of("mean", axis, x.ndim)
        found = x * 1 if axes == () else x.mean(axes, keepdim=keepdims)
        return written(found, out)  # type: ignore[no-any-return]
    total = _added(_masked(x, where, 0), axis, None, keepdims)
    return written(total / _count(x, axis, keepdims, where), out)  # type: ignore[no-any-return]


@numpy_function
def var(
    a: Any, axis: Any = None, dtype: Any = None, out: Tensor | None = None, ddof: float = 0,
    keepdims: bool = False, *, where: Any = True, correction: float | None = None,
) -> Tensor:  # fmt: skip
    """The variance of the elements, of all or along ``axis``.

    Args:
        a: Tensor, or what makes one.
        axis: Dimension or dimensions; None, the default, means all.
        dtype: What to compute in.
        out: Where to write the result.
        ddof: Divide by the number of elements less this; default 0.
        keepdims: Keep the reduced dimensions with size 1.
        where: Which elements count; default all.
        correction: The same as ``ddof``, before which it comes.
    """
    freedom = ddof if correction is None else correction
    x = cast(as_float(a), dtype)
    axes = axes_of("var", axis, x.ndim)
    if where is True:
        found = x.unsqueeze(0).var(0, correction=freedom) if not axes else x.var(
            axes, correction=freedom, keepdim=keepdims
        )
        return written(found, out)  # type: ignore[no-any-return]
    center = mean(x, axes, keepdims=True, where=where)
    squares = _masked((x - center).abs() ** 2, where, 0)
    total = _added(squares, axes, None, keepdims)
    return written(total / (_count(x, axes, keepdims, where) - freedom), out)  # type: ignore


@numpy_function
def std(
    a: Any, axis: Any = None, dtype: Any = None, out: Tensor | None = None, ddof: float = 0,
    keepdims: bool = False, *, where: Any = True, correction: float | None = None,
) -> Tensor:  # fmt: skip
    """The standard deviation of the elements: the square root of ``var``.

    Args:
        a: Tensor, or what makes one.
        axis: Dimension or dimensions; None, the default, means all.
        dtype: What to compute in.
        out: Where to write the result.
        ddof: Divide by the number of elements less this; default 0.
        keepdims: Keep the reduced dimensions with size 1.
        where: Which elements count; default all.
        correction: The same as ``ddof``, before which it comes.
    """
    freedom = ddof if correction is None else correction
    x = cast(as_float(a), dtype)
    if where is True:
        axes = axes_of("std", axis, x.ndim)
        found = x.unsqueeze(0).std(0, correction=freedom) if not axes else x.std(
            axes, correction=freedom, keepdim=keepdims
        )
        return written(found, out)  # type: ignore[no-any-return]
    variance: Any = var(x, axis, ddof=freedom, keepdims=keepdims, where=where)
    return written(variance.sqrt(), out)  # type: ignore[no-any-return]


def _extreme(name: str, summary: str, reduce: str, combine: str) -> Callable[..., Tensor]:
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
        axes = axes_of(name, axis, x.ndim)
        found = getattr(x, reduce)(axes, keepdims) if axes else x * 1
        if initial is not None:
            found = top_level(combine)(found, found.new_full((), initial))
        return written(found, out)  # type: ignore[no-any-return]

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""{summary}, of all or along ``axis``.

    Args:
        a: Tensor, or what makes one.
        axis: Dimension or dimensions; None, the default, means all.
        out: Where to write the result.
        keepdims: Keep the reduced dimensions with size 1.
        initial: The result is at least, or at most, this.
        where: Which elements count; needs ``initial``.
    """
    return composite(function, namespaces=("numpy",), method=False)


max = _extreme("max", "The largest element", "amax", "maximum")
min = _extreme("min", "The smallest element", "amin", "minimum")
amax = _extreme("amax", "The largest element", "amax", "maximum")
amin = _extreme("amin", "The smallest element", "amin", "minimum")


def _truth(name: str, summary: str, start: bool) -> Callable[..., Tensor]:
    def function(
        a: Any, axis: Any = None, out: Tensor | None = None, keepdims: bool = False, *,
        where: Any = True,
    ) -> Tensor:  # fmt: skip
        x = _masked(tensor_of(a).bool(), where, start)
        for d in sorted(axes_of(name, axis, x.ndim), reverse=True):
            x = getattr(x, name)(d, keepdim=keepdims)
        return written(x, out)  # type: ignore[no-any-return]

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""{summary}, in all or along ``axis``.

    Args:
        a: Tensor, or what makes one.
        axis: Dimension or dimensions; None, the default, means all.
        out: Where to write the result.
        keepdims: Keep the reduced dimensions with size 1.
        where: Which elements count; default all.
    """
    return composite(function, namespaces=("numpy",), method=False)


all = _truth("all", "Whether no element is zero", True)
any = _truth("any", "Whether an element is not zero", False)


def _place(name: str, summary: str) -> Callable[..., Tensor]:
    def function(
        a: Any, axis: int | None = None, out: Tensor | None = None, *, keepdims: bool = False
    ) -> Tensor:
        x = tensor_of(a)
        x = x.to(dtypes.uint8) if x.dtype is dtypes.bool else x
        return written(getattr(x, name)(axis, keepdims), out)  # type: ignore[no-any-return]

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""{summary}, in row-major order or along ``axis``.

    Args:
        a: Tensor, or what makes one.
        axis: The dimension; None, the default, means the flattened tensor.
        out: Where to write the result.
        keepdims: Keep the dimension with size 1.
    """
    return composite(function, namespaces=("numpy",), method=False)


argmax = _place("argmax", "The index of the largest element")
argmin = _place("argmin", "The index of the smallest element")


def _running(name: str, summary: str) -> Callable[..., Tensor]:
    def function(
        a: Any, axis: int | None = None, dtype: Any = None, out: Tensor | None = None
    ) -> Tensor:
        x, at = flat_if_none(tensor_of(a), axis)
        wanted = _total_dtype(x, dtype)
        found = getattr(cast(x, wanted if wanted and wanted.category > 1 else None), name)(at)
        return written(_into(found, dtype, x), out)  # type: ignore[no-any-return]

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""{summary} along ``axis``.

    Args:
        a: Tensor, or what makes one.
        axis: The dimension; None, the default, means that of the flattened tensor.
        dtype: What to compute in; default ``a``'s, 64 bits for integers.
        out: Where to write the result.
    """
    return composite(function, namespaces=("numpy",), method=False)


cumsum = _running("cumsum", "Running sums")
cumprod = _running("cumprod", "Running products")


@numpy_function
def count_nonzero(a: Any, axis: Any = None, *, keepdims: bool = False) -> Tensor:
    """How many elements are not zero, of all or along ``axis``.

    Args:
        a: Tensor, or what makes one.
        axis: Dimension or dimensions; None, the default, means all.
        keepdims: Keep the reduced dimensions with size 1.
    """
    return _added(tensor_of(a) != 0, axis, None, keepdims)  # type: ignore[no-any-return]


def _spelt(name: str) -> Callable[..., Tensor]:
    """A function that takes NumPy's keywords for NumPy's meaning at the top level, too."""

    def function(
        a: Any, axis: Any = None, out: Tensor | None = None, overwrite_input: bool = False,
        keepdims: bool = False,
    ) -> Tensor:  # fmt: skip
        found = top_level(name)(as_float(a), axis=axis, keepdims=keepdims)
        return written(found, out)  # type: ignore[no-any-return]

    function.__name__ = function.__qualname__ = name
    rest = "" if name == "median" else " that are not NaN"
    function.__doc__ = f"""The middle element, or the mean of the two middle ones, of those{rest}.

    Args:
        a: Tensor, or what makes one.
        axis: Dimension or dimensions; None, the default, means all.
        out: Where to write the result.
        overwrite_input: Accepted.
        keepdims: Keep the reduced dimensions with size 1.
    """
    return composite(function, namespaces=("numpy",), method=False)


median = _spelt("median")
nanmedian = _spelt("nanmedian")


def _quantile(name: str, base: str, scale: float) -> Callable[..., Tensor]:
    def function(
        a: Any, q: Any, axis: Any = None, out: Tensor | None = None,
        overwrite_input: bool = False, method: str = "linear", keepdims: bool = False,
    ) -> Tensor:  # fmt: skip
        x = as_float(a)
        part = tensor_of(q, x._xp).to(x.dtype) / scale
        shape = tuple(part.shape)
        found = top_level(base)(
            x, part.reshape(-1) if part.ndim > 1 else part, axis=axis, keepdims=keepdims,
            method=method,
        )
        found = found.reshape(shape + tuple(found.shape[1:])) if len(shape) > 1 else found
        return written(found, out)  # type: ignore[no-any-return]

    function.__name__ = function.__qualname__ = name
    ignoring = " that are not NaN" if name.startswith("nan") else ""
    function.__doc__ = f"""The values below which given parts of the elements{ignoring} lie.

    Args:
        a: Tensor, or what makes one.
        q: The parts, from 0 to {scale:g}; tensor of any shape.
        axis: Dimension or dimensions; None, the default, means all.
        out: Where to write the result.
        overwrite_input: Accepted.
        method: ``"linear"``, ``"lower"``, ``"higher"``, ``"midpoint"`` or ``"nearest"``.
        keepdims: Keep the reduced dimensions with size 1.
    """
    return composite(function, namespaces=("numpy",), method=False)


quantile = _quantile("quantile", "quantile", 1)
nanquantile = _quantile("nanquantile", "nanquantile", 1)
percentile = _quantile("percentile", "quantile", 100)
nanpercentile = _quantile("nanpercentile", "nanquantile", 100)


@numpy_function
def nansum(
    a: Any, axis: Any = None, dtype: Any = None, out: Tensor | None = None, keepdims: bool = False
) -> Tensor:
    """The sum of the elements that are not NaN, of all or along ``axis``.

    Args:
        a: Tensor, or what makes one.
        axis: Dimension or dimensions; None, the default, means all.
        dtype: What to add in; default ``a``'s, 64 bits for integers.
        out: Where to write the result.
        keepdims: Keep the reduced dimensions with size 1.
    """
    x = tensor_of(a)
    return sum(x.masked_fill(x != x, 0), axis, dtype, out, keepdims)


@numpy_function
def nanmean(
    a: Any, axis: Any = None, dtype: Any = None, out: Tensor | None = None, keepdims: bool = False
) -> Tensor:
    """The mean of the elements that are not NaN, of all or along ``axis``.

    Args:
        a: Tensor, or what makes one.
        axis: Dimension or dimensions; None, the default, means all.
        dtype: What to compute in.
        out: Where to write the result.
        keepdims: Keep the reduced dimensions with size 1.
    """
    x = cast(as_float(a), dtype)
    return mean(x, axis, None, out, keepdims, where=x == x)
