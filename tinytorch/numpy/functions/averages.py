"""Averages, spreads and percentiles, as NumPy names them."""

from __future__ import annotations

from typing import Any

from ...core.tensor import Tensor
from ...ops.reduce.reduction import Dims
from ...ops.shape.joining import cat
from .conversion import array_of, axes_of, float_array, reduced, reduction_axes
from .reductions import total_dtype
from .registration import shared


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


@shared(forms=(
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
        >>> import tinytorch as tt
        >>> tt.average(tt.tensor([1.0, 2.0]), weights=[3, 1])
        tensor(1.2500)
    """
    x: Any = float_array(a)
    axes = axes_of("average", axis, x.ndim)
    if weights is None:
        found = reduced(x, "mean", axes, keepdims)
        total = x.new_ones(()) * (x.numel() / max(found.numel(), 1))
    else:
        w = _spread_out(array_of(weights, x._xp), x, axes)
        product = x * w
        spread = broadcast_to(w, tuple(x.shape)).to(product.dtype)
        total = reduced(spread, "sum", axes, keepdims)
        if bool((total == 0).any()):
            raise ZeroDivisionError("average(): weights sum to zero, cannot be normalized")
        found = reduced(product, "sum", axes, keepdims) / total
    return (found, broadcast_to(total, tuple(found.shape)).clone()) if returned else found


@shared
def ptp(a: Any, axis: Dims = None, *, keepdims: bool = False) -> Tensor:
    """The distance from the smallest element to the largest, of all or along ``axis``.

    Args:
        a: Real tensor of any shape.
        axis: Dimension or dimensions; None, the default, means all.
        keepdims: Keep the reduced dimensions with size 1.

    Raises:
        IndexError: If there is nothing to compare.

    Example:
        >>> import tinytorch as tt
        >>> tt.ptp(tt.tensor([[1, 5], [7, 3]]), axis=0)
        tensor([6, 2])
    """
    x: Any = array_of(a)
    axes = reduction_axes("ptp", axis, x.ndim)
    largest, smallest = (reduced(x, name, axes, keepdims) for name in ("amax", "amin"))
    return largest - smallest  # type: ignore[no-any-return]


def _running(name: str, x: Any, axis: int | None, dtype: Any, include_initial: bool) -> Tensor:
    x = x if x.ndim else x.reshape(1)
    if axis is None and x.ndim > 1:
        raise ValueError(f"{name}(): axis is required for a tensor of {x.ndim} dimensions")
    (at,) = axes_of(name, axis, x.ndim)
    sums, wanted = name == "cumulative_sum", total_dtype(x, dtype)
    x = x if dtype is None else x.to(wanted)
    found = (x.cumsum(at) if sums else x.cumprod(at)).to(wanted)
    if not include_initial:
        return found  # type: ignore[no-any-return]
    first = list(found.shape)
    first[at] = 1
    return cat([found.new_full(first, 0 if sums else 1), found], at)


@shared
def cumulative_sum(
    x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> Tensor:
    """Running sums along ``axis``.

    Args:
        x: Tensor of at least one dimension.
        axis: The dimension; it may be left out where there is only one.
        dtype: The dtype to add in; default ``x``'s, 64 bits for integers.
        include_initial: Begin with 0.

    Raises:
        ValueError: If ``axis`` is missing and there are several dimensions.

    Example:
        >>> import tinytorch as tt
        >>> tt.cumulative_sum(tt.tensor([1, 2, 3]), include_initial=True)
        tensor([0, 1, 3, 6])
    """
    return _running("cumulative_sum", array_of(x), axis, dtype, include_initial)


@shared
def cumulative_prod(
    x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> Tensor:
    """Running products along ``axis``.

    Args:
        x: Tensor of at least one dimension.
        axis: The dimension; it may be left out where there is only one.
        dtype: The dtype to multiply in; default ``x``'s, 64 bits for integers.
        include_initial: Begin with 1.

    Raises:
        ValueError: If ``axis`` is missing and there are several dimensions.

    Example:
        >>> import tinytorch as tt
        >>> tt.cumulative_prod(tt.tensor([1, 2, 3]), include_initial=True)
        tensor([1, 1, 2, 6])
    """
    return _running("cumulative_prod", array_of(x), axis, dtype, include_initial)
