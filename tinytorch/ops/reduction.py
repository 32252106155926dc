"""Reductions: one number for many elements."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .. import _state, dtypes
from .._op import OPS, Array, Backend, composite, op
from .._tensor import Tensor
from ._results import named_result
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


def _count(shape: Any, axes: tuple[int, ...] | None) -> int:
    return math.prod(shape if axes is None else (shape[i] for i in axes))


@op
def mean(
    xp: Backend,
    input: Array,
    dim: Dims = None,
    keepdim: bool = False,
    *,
    dtype: dtypes.dtype | None = None,
) -> Array:
    """Arithmetic mean of the elements, of all or along ``dim``.

    Args:
        input: Tensor of any shape; integers and bools give the default dtype, as in NumPy.
        dim: Dimension or dimensions to average over; None, the default, means all.
        keepdim: Keep the averaged dimensions with size 1.
        dtype: Compute and return in this type; the default is the input's.

    Returns:
        Tensor without the averaged dimensions; NaN for no elements.

    Example:
        >>> import tinytorch as tt
        >>> tt.tensor([[1.0, 3.0], [5.0, 7.0]]).mean(1)
        tensor([2., 6.])
    """
    axes = reduced_axes("mean", dim, input.ndim)
    native = None
    if dtype is not None:
        native = xp.native_dtype(dtypes.as_dtype(dtype))
    elif input.dtype.kind in "uib":
        native = xp.native_dtype(_state.default_dtype())
    total = xp.sum(input, axis=axes, dtype=native, keepdims=keepdim)
    return total / _float_count(input.shape, axes)


def _float_count(shape: Any, axes: tuple[int, ...] | None) -> float:
    count = _count(shape, axes)
    return float(count) if count else math.nan


def _mean_gradient(xp: Any, g: Any, in_shape: Any, dim: Any, keepdim: Any) -> Any:
    axes = reduced_axes("mean", dim, len(in_shape))
    return spread(xp, g / _float_count(in_shape, axes), in_shape, dim, keepdim)


mean.vjp(input=_mean_gradient)


@op(method=False)
def _var(xp: Backend, input: Array, dim: Dims, correction: float, keepdim: bool) -> Array:
    if input.dtype.kind not in "fc":
        raise RuntimeError("std and var only support floating point and complex dtypes")
    axes = reduced_axes("var", dim, input.ndim)
    count = _count(input.shape, axes)
    centered = input - xp.sum(input, axis=axes, keepdims=True) / (float(count) or math.nan)
    if centered.dtype.kind == "c":
        squares = centered.real**2 + centered.imag**2
    else:
        squares = xp.multiply(centered, centered, out=centered)
    return xp.sum(squares, axis=axes, keepdims=keepdim) / _freedom(count, correction)


def _freedom(count: int, correction: float) -> float:
    """Degrees of freedom: 0 gives NaN or inf by IEEE division, as in torch."""
    left = float(count - correction)
    return left if left > 0 else math.nan


def _var_gradient(
    xp: Any, g: Any, input: Any, dim: Any, correction: Any, keepdim: Any
) -> Any:
    axes = reduced_axes("var", dim, input.ndim)
    count = _count(input.shape, axes)
    mean_ = xp.mean(input, axis=axes, keepdims=True)
    g = spread(xp, g * (2.0 / _freedom(count, correction)), input.shape, dim, keepdim)
    return g * xp.conj(input - mean_)


_var.vjp(input=_var_gradient)


def _variance_arguments(
    dim: Any, unbiased: bool | None, correction: Any
) -> tuple[Any, float]:
    """``dim`` and ``correction`` of torch's several forms: ``var(True)`` is unbiased."""
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    if correction is None:
        correction = 1 if unbiased is None or unbiased else 0
    return dim, correction


@composite
def var(
    input: Tensor,
    dim: Dims = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> Tensor:
    """Variance of the elements, of all or along ``dim``.

    With ``axis=`` or ``ddof=`` it is NumPy's: the divisor is then n, not n - 1.

    Args:
        input: Floating-point or complex tensor.
        dim: Dimension or dimensions; None, the default, means all.
        unbiased: Divide by n - 1 (default) or n.
        keepdim: Keep the reduced dimensions with size 1.
        correction: Divide by n - ``correction`` instead; default 1.

    Example:
        >>> import tinytorch as tt
        >>> tt.tensor([1.0, 2.0, 3.0, 4.0]).var(correction=0)
        tensor(1.2500)
    """
    dim, correction = _variance_arguments(dim, unbiased, correction)
    return _var(input, dim, correction, keepdim)


@composite
def std(
    input: Tensor,
    dim: Dims = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> Tensor:
    """Standard deviation of the elements: the square root of ``var``, with its arguments.

    Example:
        >>> import tinytorch as tt
        >>> tt.tensor([1.0, 3.0]).std(correction=0)
        tensor(1.)
    """
    return var(input, dim, unbiased, keepdim, correction=correction).sqrt()


@var.numpy
def _numpy_var(
    input: Tensor, axis: Dims = None, ddof: float = 0, keepdims: bool = False, **options: Any
) -> Tensor:
    options = {"keepdim": options.pop("keepdim", keepdims), **options}
    options.setdefault("correction", ddof)
    return var(input, options.pop("dim", axis), **options)


@std.numpy
def _numpy_std(
    input: Tensor, axis: Dims = None, ddof: float = 0, keepdims: bool = False, **options: Any
) -> Tensor:
    return _numpy_var(input, axis, ddof, keepdims, **options).sqrt()


@op
def amax(xp: Backend, input: Array, dim: Dims = (), keepdim: bool = False) -> Array:
    """Largest element, of all or along ``dim``; equal ones share the gradient.

    Args:
        input: Tensor with elements to compare.
        dim: Dimension or dimensions; the default means all.
        keepdim: Keep the reduced dimensions with size 1.

    Raises:
        IndexError: If there is nothing to compare.

    Example:
        >>> import tinytorch as tt
        >>> tt.amax(tt.tensor([[1, 5], [7, 3]]), 1)
        tensor([5, 7])
    """
    return _extreme(xp, "amax", xp.max, input, dim, keepdim)


@op
def amin(xp: Backend, input: Array, dim: Dims = (), keepdim: bool = False) -> Array:
    """Smallest element, of all or along ``dim``; equal ones share the gradient.

    Args:
        input: Tensor with elements to compare.
        dim: Dimension or dimensions; the default means all.
        keepdim: Keep the reduced dimensions with size 1.

    Raises:
        IndexError: If there is nothing to compare.

    Example:
        >>> import tinytorch as tt
        >>> tt.amin(tt.tensor([[1, 5], [7, 3]]), 1)
        tensor([1, 3])
    """
    return _extreme(xp, "amin", xp.min, input, dim, keepdim)


def _extreme(xp: Any, name: str, reduce: Any, input: Array, dim: Any, keepdim: bool) -> Array:
    axes = reduced_axes(name, dim, input.ndim)
    if _count(input.shape, axes) == 0 and (axes is None or input.size == 0):
        if axes is None:
            raise RuntimeError(
                f"{name}(): Expected reduction dim to be specified for input.numel() == 0. "
                "Specify the reduction dim with the 'dim' argument."
            )
        raise IndexError(f"{name}(): Expected reduction dim {axes[0]} to have non-zero size.")
    return reduce(input, axis=axes, keepdims=keepdim)


def _extreme_gradient(xp: Any, g: Any, out: Any, input: Any, dim: Any, keepdim: Any) -> Any:
    shape = input.shape
    chosen = input == spread(xp, out, shape, dim, keepdim)
    axes = reduced_axes("amax", dim, input.ndim)
    weight = xp.astype(chosen, g.dtype)
    share = weight / xp.sum(weight, axis=axes, keepdims=True)
    return spread(xp, g, shape, dim, keepdim) * share


amax.vjp(input=_extreme_gradient)
amin.vjp(input=_extreme_gradient)


@op
def argmax(xp: Backend, input: Array, dim: int | None = None, keepdim: bool = False) -> Array:
    """Index of the largest element, in row-major order or along ``dim``; NaN is largest.

    Args:
        input: Tensor of any shape.
        dim: The dimension; None, the default, means the flattened tensor.
        keepdim: Keep the dimension with size 1.

    Returns:
        int64 tensor.

    Example:
        >>> import tinytorch as tt
        >>> tt.argmax(tt.tensor([[1, 5], [7, 3]]), 1)
        tensor([1, 0])
    """
    return _arg_extreme(xp, "argmax", xp.argmax, input, dim, keepdim)


@op
def argmin(xp: Backend, input: Array, dim: int | None = None, keepdim: bool = False) -> Array:
    """Index of the smallest element, in row-major order or along ``dim``; NaN is smallest.

    Args:
        input: Tensor of any shape.
        dim: The dimension; None, the default, means the flattened tensor.
        keepdim: Keep the dimension with size 1.

    Returns:
        int64 tensor.

    Example:
        >>> import tinytorch as tt
        >>> tt.argmin(tt.tensor([[1, 5], [7, 3]]), 1)
        tensor([0, 1])
    """
    return _arg_extreme(xp, "argmin", xp.argmin, input, dim, keepdim)


def _arg_extreme(
    xp: Any, name: str, reduce: Any, input: Array, dim: int | None, keepdim: bool
) -> Array:
    at = None if dim is None else normalize_dim(name, dim, input.ndim)
    if input.dtype.kind in "bc":
        raise RuntimeError(f'"{name}_cpu" not implemented for {input.dtype.name!r}')
    if not input.size and (at is None or input.shape[at] == 0):
        raise IndexError(
            f"{name}(): Expected reduction dim {'to be specified for input.numel() == 0' if at is None else f'{at} to have non-zero size'}."
        )
    if not input.ndim:
        return xp.zeros((), xp.native_dtype(dtypes.int64))
    out = xp.astype(reduce(input, axis=at), xp.native_dtype(dtypes.int64))
    if keepdim:
        shape = (1,) * input.ndim if at is None else (*input.shape[:at], 1, *input.shape[at + 1 :])
        return xp.reshape(out, shape)
    return out


_max_result = named_result("max", "values indices")
_min_result = named_result("min", "values indices")


def _along(input: Tensor, indices: Tensor, dim: int, keepdim: bool) -> Tensor:
    """The elements at ``indices``, which has size 1 at ``dim``; differentiable."""
    if not input.ndim:
        return input.clone()
    picked = input.gather(dim, indices)
    return picked if keepdim else picked.squeeze(dim)


@composite(forms=(
    "(input: Tensor, dim: None = None, keepdim: bool = False, *, other: None = None) -> Tensor",
    "(input: Tensor, dim: int, keepdim: bool = False, *, other: None = None) -> return_types.max",
    "(input: Tensor, dim: Tensor, keepdim: bool = False, *, other: None = None) -> Tensor",
    "(input: Tensor, *, other: Tensor) -> Tensor",
))  # fmt: skip
def max(
    input: Tensor,
    dim: int | Tensor | None = None,
    keepdim: bool = False,
    *,
    other: Tensor | None = None,
) -> Any:
    """Largest element: of all, along ``dim`` with its index, or of two tensors.

    ``max(x)`` is one tensor, ``max(x, dim)`` a named tuple ``(values, indices)``,
    ``max(x, other)`` is ``maximum``, and ``max(x, axis=)`` NumPy's: values alone.

    Args:
        input: Tensor of any shape.
        dim: The dimension, or the tensor to compare with.
        keepdim: Keep the dimension with size 1.
        other: The tensor to compare with.

    Example:
        >>> import tinytorch as tt
        >>> values, indices = tt.max(tt.tensor([[1, 5], [7, 3]]), 1)
        >>> values, indices
        (tensor([5, 7]), tensor([1, 0]))
    """
    return _max_or_min("max", _max_result, input, dim, keepdim, other)


@composite(forms=(
    "(input: Tensor, dim: None = None, keepdim: bool = False, *, other: None = None) -> Tensor",
    "(input: Tensor, dim: int, keepdim: bool = False, *, other: None = None) -> return_types.min",
    "(input: Tensor, dim: Tensor, keepdim: bool = False, *, other: None = None) -> Tensor",
    "(input: Tensor, *, other: Tensor) -> Tensor",
))  # fmt: skip
def min(
    input: Tensor,
    dim: int | Tensor | None = None,
    keepdim: bool = False,
    *,
    other: Tensor | None = None,
) -> Any:
    """Smallest element: of all, along ``dim`` with its index, or of two tensors.

    ``min(x)`` is one tensor, ``min(x, dim)`` a named tuple ``(values, indices)``,
    ``min(x, other)`` is ``minimum``, and ``min(x, axis=)`` NumPy's: values alone.

    Args:
        input: Tensor of any shape.
        dim: The dimension, or the tensor to compare with.
        keepdim: Keep the dimension with size 1.
        other: The tensor to compare with.

    Example:
        >>> import tinytorch as tt
        >>> tt.min(tt.tensor([3, 1, 2]))
        tensor(1)
    """
    return _max_or_min("min", _min_result, input, dim, keepdim, other)


def _max_or_min(
    name: str, result: Any, input: Tensor, dim: Any, keepdim: bool, other: Any
) -> Any:
    if isinstance(dim, Tensor):
        other = dim
    if other is not None:
        return OPS[f"{name}imum"].function(input, other)
    if dim is None:
        if not input.numel():
            raise RuntimeError(
                f"{name}(): Expected reduction dim to be specified for input.numel() == 0. "
                "Specify the reduction dim with the 'dim' argument."
            )
        return OPS[f"a{name}"].function(input)
    pick = argmax if name == "max" else argmin
    at = normalize_dim(name, dim, input.ndim)
    if input.ndim and input.shape[at] == 0:
        raise IndexError(f"{name}(): Expected reduction dim {at} to have non-zero size.")
    plain = input.detach() if input.dtype.kind != "b" else input.to(dtypes.uint8)
    indices = pick(plain, dim, True)
    values = _along(input, indices, dim, keepdim)
    return result(values, indices if keepdim else indices.squeeze(dim))


@max.numpy
def _numpy_max(
    input: Tensor, axis: Dims = None, keepdims: bool = False, **options: Any
) -> Tensor:
    return amax(input, () if axis is None else axis, options.get("keepdim", keepdims))


@min.numpy
def _numpy_min(
    input: Tensor, axis: Dims = None, keepdims: bool = False, **options: Any
) -> Tensor:
    return amin(input, () if axis is None else axis, options.get("keepdim", keepdims))


@op
def all(xp: Backend, input: Array, dim: Dims = None, keepdim: bool = False) -> Array:
    """Whether every element is true (not zero), of all or along ``dim``.

    Args:
        input: Tensor of any shape.
        dim: Dimension or dimensions; None, the default, means all.
        keepdim: Keep the reduced dimensions with size 1.

    Returns:
        bool tensor; uint8 for uint8 input.

    Example:
        >>> import tinytorch as tt
        >>> tt.all(tt.tensor([True, False]))
        tensor(False)
    """
    out = xp.all(input, axis=reduced_axes("all", dim, input.ndim), keepdims=keepdim)
    return xp.astype(out, input.dtype) if input.dtype.name == "uint8" else out


@op
def any(xp: Backend, input: Array, dim: Dims = None, keepdim: bool = False) -> Array:
    """Whether some element is true (not zero), of all or along ``dim``.

    Args:
        input: Tensor of any shape.
        dim: Dimension or dimensions; None, the default, means all.
        keepdim: Keep the reduced dimensions with size 1.

    Returns:
        bool tensor; uint8 for uint8 input.

    Example:
        >>> import tinytorch as tt
        >>> tt.any(tt.tensor([True, False]))
        tensor(True)
    """
    out = xp.any(input, axis=reduced_axes("any", dim, input.ndim), keepdims=keepdim)
    return xp.astype(out, input.dtype) if input.dtype.name == "uint8" else out
