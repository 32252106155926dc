"""Reductions that leave NaN out, as NumPy names them."""

from __future__ import annotations

import math
from typing import Any

from ... import dtypes
from ...core.tensor import Tensor
from ...ops.reduce.quantiles import nanquantile
from ...ops.reduce.reduction import Dims
from .conversion import array_of, axes_of, flat_if_none, float_array, reduced, reduction_axes
from .registration import shared


def _filled(a: Any, value: float) -> tuple[Any, Any]:
    """``a`` with another value for each NaN, and where they were; None where none can be."""
    x: Any = array_of(a)
    if x.dtype.category < 2:
        return x, None
    missing = x.isnan()
    return x.masked_fill(missing, value), missing


def _extreme(name: str, a: Any, axis: Dims, keepdims: bool, worst: float) -> Tensor:
    x, missing = _filled(a, worst)
    axes = reduction_axes(name, axis, x.ndim)
    found = reduced(x, "amax" if worst < 0 else "amin", axes, keepdims)
    if missing is None:
        return found  # type: ignore[no-any-return]
    nothing = missing
    for d in sorted(axes, reverse=True):
        nothing = nothing.all(d, keepdim=keepdims)
    return found.masked_fill(nothing, math.nan)  # type: ignore[no-any-return]


@shared
def nanmax(a: Any, axis: Dims = None, *, keepdims: bool = False) -> Tensor:
    """Largest element that is not NaN, of all or along ``axis``; equal ones share the gradient.

    Args:
        a: Tensor of any shape.
        axis: Dimension or dimensions; None, the default, means all.
        keepdims: Keep the reduced dimensions with size 1.

    Returns:
        Tensor without the reduced dimensions; NaN where everything is.

    Raises:
        IndexError: If there is nothing to compare.

    Example:
        >>> import tinytorch as tt
        >>> tt.nanmax(tt.tensor([1.0, float("nan"), 3.0]))
        tensor(3.)
    """
    return _extreme("nanmax", a, axis, keepdims, -math.inf)


@shared
def nanmin(a: Any, axis: Dims = None, *, keepdims: bool = False) -> Tensor:
    """Smallest element that is not NaN, of all or along ``axis``; equal ones share the gradient.

    Args:
        a: Tensor of any shape.
        axis: Dimension or dimensions; None, the default, means all.
        keepdims: Keep the reduced dimensions with size 1.

    Returns:
        Tensor without the reduced dimensions; NaN where everything is.

    Raises:
        IndexError: If there is nothing to compare.

    Example:
        >>> import tinytorch as tt
        >>> tt.nanmin(tt.tensor([1.0, float("nan"), 3.0]))
        tensor(1.)
    """
    return _extreme("nanmin", a, axis, keepdims, math.inf)


def _place(name: str, a: Any, axis: int | None, keepdims: bool, worst: float) -> Tensor:
    x, missing = _filled(a, worst)
    at = None if axis is None else axes_of(name, axis, x.ndim or 1)[0]
    if missing is not None:
        nothing = missing.all() if at is None else missing.all(at)
        x._xp.check_all(~nothing._data, f"{name}(): All-NaN slice encountered")
    source = x.to(dtypes.uint8) if x.dtype is dtypes.bool else x
    pick = source.argmax if worst < 0 else source.argmin
    return pick(at, keepdims)  # type: ignore[no-any-return]


@shared
def nanargmax(a: Any, axis: int | None = None, *, keepdims: bool = False) -> Tensor:
    """Index of the largest element that is not NaN, in row-major order or along ``axis``.

    Args:
        a: Tensor of any shape.
        axis: The dimension; None, the default, means the flattened tensor.
        keepdims: Keep the dimension with size 1.

    Returns:
        int64 tensor.

    Raises:
        RuntimeError: Where everything is NaN.

    Example:
        >>> import tinytorch as tt
        >>> tt.nanargmax(tt.tensor([1.0, float("nan"), 3.0]))
        tensor(2)
    """
    return _place("nanargmax", a, axis, keepdims, -math.inf)


@shared
def nanargmin(a: Any, axis: int | None = None, *, keepdims: bool = False) -> Tensor:
    """Index of the smallest element that is not NaN, in row-major order or along ``axis``.

    Args:
        a: Tensor of any shape.
        axis: The dimension; None, the default, means the flattened tensor.
        keepdims: Keep the dimension with size 1.

    Returns:
        int64 tensor.

    Raises:
        RuntimeError: Where everything is NaN.

    Example:
        >>> import tinytorch as tt
        >>> tt.nanargmin(tt.tensor([float("nan"), 1.0, 3.0]))
        tensor(1)
    """
    return _place("nanargmin", a, axis, keepdims, math.inf)


@shared
def nanprod(a: Any, axis: Dims = None, dtype: Any = None, *, keepdims: bool = False) -> Tensor:
    """Product of the elements that are not NaN, of all or along ``axis``.

    Args:
        a: Tensor of any shape.
        axis: Dimension or dimensions; None, the default, means all.
        dtype: The dtype to multiply in; default ``a``'s, int64 for integers.
        keepdims: Keep the reduced dimensions with size 1.

    Returns:
        Tensor without the reduced dimensions; 1 where everything is NaN.

    Example:
        >>> import tinytorch as tt
        >>> tt.nanprod(tt.tensor([2.0, float("nan"), 3.0]))
        tensor(6.)
    """
    x, _ = _filled(a, 1)
    if dtype is not None or x.dtype.category < 2:
        x = x.to(dtypes.int64 if dtype is None else dtypes.as_dtype(dtype))
    for d in sorted(reduction_axes("nanprod", axis, x.ndim), reverse=True):
        x = x.prod(d, keepdim=keepdims, dtype=x.dtype)
    return x  # type: ignore[no-any-return]


def _line(name: str, a: Any, value: float, axis: int | None) -> tuple[Any, int]:
    """Numbers alone, in at least one dimension, and the one to run along."""
    x, _ = _filled(a, value)
    return flat_if_none(name, x if x.ndim else x.reshape(1), axis)


@shared
def nancumsum(a: Any, axis: int | None = None, dtype: Any = None) -> Tensor:
    """Running sums that count NaN as 0.

    Args:
        a: Tensor of any shape.
        axis: The dimension; None, the default, means the flattened tensor.
        dtype: The dtype to add in; default ``a``'s, int64 for integers.

    Example:
        >>> import tinytorch as tt
        >>> tt.nancumsum(tt.tensor([2.0, float("nan"), 3.0]))
        tensor([2., 2., 5.])
    """
    x, at = _line("nancumsum", a, 0, axis)
    return x.cumsum(at, dtype=dtype)  # type: ignore[no-any-return]


@shared
def nancumprod(a: Any, axis: int | None = None, dtype: Any = None) -> Tensor:
    """Running products that count NaN as 1.

    Args:
        a: Tensor of any shape.
        axis: The dimension; None, the default, means the flattened tensor.
        dtype: The dtype to multiply in; default ``a``'s, int64 for integers.

    Example:
        >>> import tinytorch as tt
        >>> tt.nancumprod(tt.tensor([2.0, float("nan"), 3.0]))
        tensor([2., 2., 6.])
    """
    x, at = _line("nancumprod", a, 1, axis)
    return x.cumprod(at, dtype=dtype)  # type: ignore[no-any-return]


@shared
def nanvar(
    a: Any, axis: Dims = None, *, ddof: float = 0, correction: float | None = None,
    keepdims: bool = False,
) -> Tensor:  # fmt: skip
    """Variance of the elements that are not NaN, of all or along ``axis``.

    Args:
        a: Tensor of any shape; integers are cast to the default dtype.
        axis: Dimension or dimensions; None, the default, means all.
        ddof: Divide by the number of those elements less this; default 0.
        correction: The same; it comes before ``ddof``.
        keepdims: Keep the reduced dimensions with size 1.

    Returns:
        Tensor without the reduced dimensions; NaN where there are not more elements than
        ``ddof``.

    Example:
        >>> import tinytorch as tt
        >>> tt.nanvar(tt.tensor([1.0, float("nan"), 3.0]))
        tensor(1.)
    """
    x, missing = _filled(float_array(a), 0)
    axes = reduction_axes("nanvar", axis, x.ndim)
    count = reduced((~missing).to(x.dtype.to_real()), "sum", axes, True)
    deviation = (x - reduced(x, "sum", axes, True) / count).masked_fill(missing, 0)
    squares = (deviation * deviation.conj_physical()).real if x.is_complex() else deviation**2
    freedom = count - (ddof if correction is None else correction)
    unknown = freedom <= 0
    found = reduced(squares, "sum", axes, True) / freedom.masked_fill(unknown, 1)
    found = found.masked_fill(unknown, math.nan)
    return found if keepdims or not axes else found.squeeze(axes)  # type: ignore[no-any-return]


@shared
def nanstd(
    a: Any, axis: Dims = None, *, ddof: float = 0, correction: float | None = None,
    keepdims: bool = False,
) -> Tensor:  # fmt: skip
    """Standard deviation of the elements that are not NaN: the square root of ``nanvar``.

    Args:
        a: Tensor of any shape; integers are cast to the default dtype.
        axis: Dimension or dimensions; None, the default, means all.
        ddof: Divide by the number of those elements less this; default 0.
        correction: The same; it comes before ``ddof``.
        keepdims: Keep the reduced dimensions with size 1.

    Example:
        >>> import tinytorch as tt
        >>> tt.nanstd(tt.tensor([1.0, float("nan"), 3.0]))
        tensor(1.)
    """
    found: Any = nanvar(a, axis, ddof=ddof, correction=correction, keepdims=keepdims)
    still = found == 0  # where the root's slope is infinite, and nothing varies
    return found.masked_fill(still, 1).sqrt().masked_fill(still, 0)  # type: ignore[no-any-return]


@shared
def nanpercentile(
    a: Any, q: Any, axis: Dims = None, *, method: str = "linear", keepdims: bool = False
) -> Tensor:
    """``percentile`` of the elements that are not NaN; NaN where everything is.

    Args:
        a: Real tensor of any shape; integers are cast to the default dtype.
        q: The parts, from 0 to 100: a number, or a tensor of at most one dimension.
        axis: Dimension or dimensions; None, the default, means all.
        method: Between two elements: ``"linear"``, ``"lower"``, ``"higher"``,
            ``"midpoint"`` or ``"nearest"``.
        keepdims: Keep the reduced dimensions with size 1.

    Returns:
        Tensor without the reduced dimensions, with a first one for ``q``'s.

    Raises:
        RuntimeError: If ``q`` is out of range or there are no elements.

    Example:
        >>> import tinytorch as tt
        >>> tt.nanpercentile(tt.tensor([1.0, float("nan"), 3.0]), 50)
        tensor(2.)
    """
    x = float_array(a)
    part: Any = array_of(q, x._xp).to(x.dtype) / 100
    return nanquantile(x, part, axis, keepdims, interpolation=method)
