"""NumPy's reductions that leave NaN out."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ...core.tensor import Tensor
from ...warnings import warn
from .conversion import array_of, as_float, cast, float_array, reduction_axes, tensor_of, written
from .reductions import any as any_
from .reductions import argmax, argmin, cumprod, cumsum, max, mean, min, prod, sum
from .registration import filed, numpy_function, shared_as


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

    Args:
        a: Tensor, or what makes one.
        axis: Dimension or dimensions; None, the default, means all.
        dtype: What to compute in; default ``a``'s, 64 bits for integers.
        out: Where to write the result.
        keepdims: Keep the reduced dimensions with size 1.
        initial: What to begin with; default {start:g}.
        where: Which elements count; default all.
    """
    return register(function, name, doc, *example)  # type: ignore[no-any-return]


nansum: Callable[..., Tensor] = _of_numbers(
    "nansum", "The sum", tensor_of, filed, sum, 0,
    ">>> np.nansum([1.0, np.nan, 2.0])", "3.0",
)  # fmt: skip
nanprod: Callable[..., Tensor] = _of_numbers(
    "nanprod", "The product", array_of, shared_as, prod, 1,
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

    return shared_as(
        function,
        name,
        f"""{summary} along ``axis`` that count NaN as {start:g}.

    Args:
        a: Tensor, or what makes one.
        axis: The dimension; None, the default, means that of the flattened tensor.
        dtype: What to compute in; default ``a``'s, 64 bits for integers.
        out: Where to write the result.
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
        >>> import tinytorch.numpy as np
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
        if not any_(counts, axes).all():
            warn(text, RuntimeWarning)


def _variance(x: Any, axes: tuple[int, ...], freedom: float, counts: Any) -> tuple[Any, Any]:
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


def _spread(
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
        found, unknown = _variance(x, axes, freedom, counts)
        if unknown.device.type == "cpu" and unknown.any():
            text = "Degrees of freedom <= 0 for slice."
            warn(text, RuntimeWarning)
        found = found if keepdims or not axes else found.squeeze(axes)
        return written(finish(found), out)  # type: ignore

    return shared_as(
        function,
        name,
        f"""{summary} of the elements that are not NaN, of all or along ``axis``.

    Args:
        a: Tensor, or what makes one.
        axis: Dimension or dimensions; None, the default, means all.
        dtype: What to compute in.
        out: Where to write the result.
        ddof: Divide by the number of those elements less this; default 0.
        keepdims: Keep the reduced dimensions with size 1.
        where: Which elements count; default all.
        mean: Accepted; it is computed in any case.
        correction: The same as ``ddof``, before which it comes.

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


nanvar: Callable[..., Tensor] = _spread(
    "nanvar", "The variance", lambda variance: variance,
    ">>> tt.nanvar(tt.tensor([1.0, tt.nan, 3.0]))", "tensor(1.)",
)  # fmt: skip
nanstd: Callable[..., Tensor] = _spread(
    "nanstd", "The standard deviation", _root,
    ">>> tt.nanstd(tt.tensor([1.0, tt.nan, 3.0]))", "tensor(1.)",
)  # fmt: skip


def _extreme(
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
            found = found.masked_fill(~any_(counts, axes, keepdims=keepdims), math.nan)
            _warn(counts, axes, "All-NaN slice encountered")
        return written(found, out)  # type: ignore[no-any-return]

    return shared_as(
        function,
        name,
        f"""{summary} of those that are not NaN, of all or along ``axis``.

    Args:
        a: Tensor, or what makes one.
        axis: Dimension or dimensions; None, the default, means all.
        out: Where to write the result.
        keepdims: Keep the reduced dimensions with size 1.
        initial: The result is at least, or at most, this.
        where: Which elements count; needs ``initial``.

    Returns:
        Tensor without the reduced dimensions; NaN, with a RuntimeWarning, where everything is.
    """,
        *example,
    )


nanmax: Callable[..., Tensor] = _extreme(
    "nanmax", "The largest element", max, -math.inf,
    ">>> tt.nanmax(tt.tensor([1.0, tt.nan, 3.0]))", "tensor(3.)",
)  # fmt: skip
nanmin: Callable[..., Tensor] = _extreme(
    "nanmin", "The smallest element", min, math.inf,
    ">>> tt.nanmin(tt.tensor([1.0, tt.nan, 3.0]))", "tensor(1.)",
)  # fmt: skip


def _place(
    name: str, summary: str, pick: Callable[..., Any], worst: float, *example: str
) -> Callable[..., Tensor]:
    """``nanargmax`` and ``nanargmin``."""

    def function(
        a: Any, axis: int | None = None, out: Tensor | None = None, *, keepdims: bool = False
    ) -> Tensor:
        x = array_of(a)
        if x.dtype.category > 1 and x.numel():
            numbers = any_(x == x, axis)
            x._xp.check_all(numbers._data, "All-NaN slice encountered")
            x = x.masked_fill(x != x, worst)
        return pick(x, axis, out, keepdims=keepdims)  # type: ignore[no-any-return]

    return shared_as(
        function,
        name,
        f"""{summary} of those that are not NaN, in row-major order or along ``axis``.

    Args:
        a: Tensor, or what makes one.
        axis: The dimension; None, the default, means the flattened tensor.
        out: Where to write the result.
        keepdims: Keep the dimension with size 1.

    Raises:
        ValueError: Where everything is NaN.
    """,
        *example,
    )


nanargmax: Callable[..., Tensor] = _place(
    "nanargmax", "The index of the largest element", argmax, -math.inf,
    ">>> tt.nanargmax(tt.tensor([1.0, tt.nan, 3.0]))", "tensor(2)",
)  # fmt: skip
nanargmin: Callable[..., Tensor] = _place(
    "nanargmin", "The index of the smallest element", argmin, math.inf,
    ">>> tt.nanargmin(tt.tensor([tt.nan, 1.0, 3.0]))", "tensor(1)",
)  # fmt: skip
