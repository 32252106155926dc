"""Reductions: one number for many elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import dtypes
from .._op import Array, Backend, op
from .shape import normalize_dim

Dims = int | Sequence[int] | None


def reduced_axes(name: str, dim: Any, ndim: int) -> tuple[int, ...] | None:
    """``dim`` of a reduction as NumPy's axis; None and an empty list mean all of them."""
    if dim is None:
        return None
    if isinstance(dim, int):
        dim = (dim,)
    axes = tuple(normalize_dim(name, int(d), ndim) for d in dim)
    if len(set(axes)) < len(axes):
        raise RuntimeError(f"{name}: dim appears multiple times in the list of dims {list(dim)}")
    return (axes if ndim else ()) or None


def spread(xp: Any, g: Any, shape: tuple[int, ...], dim: Any, keepdim: bool) -> Any:
    """A reduction's gradient, stretched over what was reduced."""
    axes = reduced_axes("sum", dim, len(shape))
    if not keepdim and axes is not None:
        g = xp.reshape(g, tuple(1 if i in axes else n for i, n in enumerate(shape)))
    return xp.broadcast_to(g, shape)


@op
def sum(
    xp: Backend,
    input: Array,
    dim: Dims = None,
    keepdim: bool = False,
    *,
    dtype: dtypes.dtype | None = None,
) -> Array:
    """Sum of the elements, of all or along ``dim``.

    Args:
        input: Tensor of any shape.
        dim: Dimension or dimensions to sum over; None, the default, means all.
        keepdim: Keep the summed dimensions with size 1.
        dtype: Accumulate and return in this type; the default is the input's, int64 for
            integers and bools.

    Returns:
        Tensor without the summed dimensions.

    Example:
        >>> import tinytorch as tt
        >>> tt.ones(2, 3).sum(1)
        tensor([3., 3.])
    """
    axes = reduced_axes("sum", dim, len(input.shape))
    native = None
    if dtype is not None:
        native = xp.native_dtype(dtypes.as_dtype(dtype))
    elif input.dtype.kind in "uib":
        native = xp.native_dtype(dtypes.int64)
    return xp.sum(input, axis=axes, dtype=native, keepdims=keepdim)


sum.vjp(input=lambda xp, g, in_shape, dim, keepdim: spread(xp, g, in_shape, dim, keepdim))
