"""NumPy's reductions that leave NaN out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.tensor import Tensor
from ...ops.array_arguments import reduction_axes
from .dialect import as_float, cast, filed, numpy_function, tensor_of
from .reductions import cumprod, cumsum, mean, prod, sum


def _numbers(a: Any, value: float) -> Any:
    """``a`` with another value for each NaN."""
    x = tensor_of(a)
    return x.masked_fill(x != x, value) if x.dtype.category > 1 else x


def _of_numbers(
    name: str, summary: str, reduce: Any, start: float, *example: str
) -> Callable[..., Tensor]:
    """``nansum`` and ``nanprod``."""

    def function(
        a: Any, axis: Any = None, dtype: Any = None, out: Tensor | None = None,
        keepdims: bool = False, initial: Any = None, where: Any = True,
    ) -> Tensor:  # fmt: skip
        x = _numbers(a, start)
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
    return filed(function, name, doc, *example)


nansum: Callable[..., Tensor] = _of_numbers(
    "nansum", "The sum", sum, 0,
    ">>> np.nansum([1.0, np.nan, 2.0])", "3.0",
)  # fmt: skip
nanprod: Callable[..., Tensor] = _of_numbers(
    "nanprod", "The product", prod, 1,
    ">>> np.nanprod([3.0, np.nan, 2.0])", "6.0",
)  # fmt: skip


def _running_numbers(
    name: str, summary: str, run: Any, start: float, *example: str
) -> Callable[..., Tensor]:
    """``nancumsum`` and ``nancumprod``."""

    def function(
        a: Any, axis: int | None = None, dtype: Any = None, out: Tensor | None = None
    ) -> Tensor:
        return run(_numbers(a, start), axis, dtype, out)  # type: ignore[no-any-return]

    return filed(
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
    ">>> np.nancumsum([1.0, np.nan, 2.0])", "array([1., 1., 3.])",
)  # fmt: skip
nancumprod: Callable[..., Tensor] = _running_numbers(
    "nancumprod", "Running products", cumprod, 1,
    ">>> np.nancumprod([3.0, np.nan, 2.0])", "array([3., 3., 6.])",
)  # fmt: skip


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

    Example:
        >>> import tinytorch.numpy as np
        >>> np.nanmean([1.0, np.nan, 2.0])
        1.5
    """
    x = cast(as_float(a), dtype)
    axes = reduction_axes("nanmean", axis, x.ndim)
    return mean(x, axes, None, out, keepdims, where=x == x)
