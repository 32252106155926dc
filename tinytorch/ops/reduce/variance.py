"""Variances, standard deviations, covariances and correlations."""

from __future__ import annotations

import math
from typing import Any

from ... import dtypes
from ...core.tensor import Tensor
from ...dispatch.op import Array, Backend, Out, accepts_none, composite, op, reads_results
from ...warnings import warn
from ..checks import as_int
from ..memory_order import as_row_major
from ..pointwise.complex_numbers import complex as complex_
from ..shape.joining import cat
from .reduction import (
    Dims,
    divide_by_count,
    element_count,
    mean,
    mean_gradient,
    reduced_axes,
    spread,
)

_DOUBLE = dtypes.float64.dtype


def _freedom(shape: Any, axes: tuple[int, ...] | None, correction: float) -> float:
    """Degrees of freedom, which are the divisor; division by 0 is inf or NaN, as in torch."""
    count = element_count(shape, axes)
    left = float(count - correction)
    return max(left, 0.0) if count else math.nan  # the mean of no elements is NaN


@op
def _var(xp: Backend, input: Array, dim: Dims, correction: float, keepdim: bool) -> Array:
    """Variance, rounded once."""
    if input.dtype.char == "e":  # squares overflow long before the variance does
        wide = xp.astype(input, xp.native_dtype(dtypes.float32))
        return xp.astype(xp.asarray(xp.call(_var, wide, dim, correction, keepdim)), input.dtype)
    variance = _variance_in_float64(xp, input, dim, correction, keepdim)
    return xp.astype(variance, input.real.dtype)


def _variance_in_float64(
    xp: Backend, input: Array, dim: Dims, correction: float, keepdim: bool
) -> Array:
    """Variance in float64, since squares of float32 overflow before their root does."""
    if input.dtype.kind not in "fc":
        raise RuntimeError("std and var only support floating point and complex dtypes")
    axes = reduced_axes("var", dim, input.ndim)
    if input.dtype.kind == "f" and input.size:
        found = xp.squared_deviations(input, axes, keepdim)
        if found is not None:
            return found / xp.number(_DOUBLE)(_freedom(input.shape, axes, correction))
    if input.dtype.kind == "f" and input.size and axes is not None and len(axes) == 1:
        return _variance_along(xp, input, axes[0], correction, keepdim)
    if input.dtype.kind == "f" and input.size and axes is None and not keepdim:
        total = xp.squared_deviation(input, xp.mean(input))
        return total / _freedom(input.shape, axes, correction)
    if input.size:
        centered = input - xp.mean(input, axes, None, None, True)
    else:
        centered = input - xp.call(mean, input, dim, True)
    if centered.dtype.kind == "c":
        squares = _square(xp, centered.real) + _square(xp, centered.imag)
    else:
        squares = _square(xp, centered)
    total = xp.asarray(xp.sum(squares, axes, None, None, keepdim))
    freedom = xp.number(total.dtype)(_freedom(input.shape, axes, correction))
    return as_row_major(xp, total) / freedom


def _variance_along(
    xp: Backend, input: Array, axis: int, correction: float, keepdim: bool
) -> Array:
    """``_variance_in_float64`` along one dimension of a nonempty real array."""
    shape = input.shape
    count = shape[axis]
    mean = xp.sum_along(input, axis)
    mean /= xp.number(input.dtype)(count)
    centered = xp.subtract(input, mean, dtype=_DOUBLE)
    if axis == len(shape) - 1:
        total = xp.sum_of_products(centered, centered)
    else:
        centered *= centered
        total = xp.sum_along(centered, axis)
    if not keepdim:
        total = total[(slice(None),) * axis + (0,)]
    return as_row_major(xp, total) / xp.number(_DOUBLE)(max(count - correction, 0))


def _square(xp: Backend, part: Array) -> Array:
    """Square in float64; in place if ``part`` is float64 already."""
    wide = xp.astype(part, _DOUBLE)
    wide *= wide
    return wide


def _var_gradient(xp: Any, g: Any, input: Any, dim: Any, correction: Any, keepdim: Any) -> Any:
    """``2 * (input - mean) / degrees of freedom``, times ``g``."""
    axes = reduced_axes("var", dim, input.ndim)
    centered = input - xp.call(mean, input, dim, True)
    share = divide_by_count(xp, g * 2.0, _freedom(input.shape, axes, correction))
    return spread(xp, share, input.shape, dim, keepdim) * xp.conj(centered)


_var.vjp(input=_var_gradient)


@op
def _std(xp: Backend, input: Array, dim: Dims, correction: float, keepdim: bool) -> Array:
    """Square root of the variance, rounded once."""
    if input.dtype.char == "e":
        wide = xp.astype(input, xp.native_dtype(dtypes.float32))
        return xp.astype(xp.asarray(xp.call(_std, wide, dim, correction, keepdim)), input.dtype)
    variance = _variance_in_float64(xp, input, dim, correction, keepdim)
    return xp.astype(xp.sqrt(variance), input.real.dtype)


def _std_gradient(
    xp: Any, g: Any, out: Any, input: Any, dim: Any, correction: Any, keepdim: Any
) -> Any:
    """Gradient of ``std``; 0 where all elements are equal, instead of the infinite slope.

    The deviation of equal elements is 0 or a rounding error of their mean.
    """
    is_constant = (out == 0) | _are_equal(xp, input, dim, keepdim)
    share = xp.where(is_constant, 0, g / (2 * xp.where(is_constant, 1, out)))
    return _var_gradient(xp, share, input, dim, correction, keepdim)


def _are_equal(xp: Any, input: Any, dim: Any, keepdim: bool) -> Any:
    """Whether all elements are equal in each slice that ``dim`` reduces."""
    axes = reduced_axes("std", dim, input.ndim)
    reduced = range(input.ndim) if axes is None else axes
    first = input[tuple(slice(1) if i in reduced else slice(None) for i in range(input.ndim))]
    return xp.all(input == first, axes, keepdims=keepdim)


_std.vjp(input=_std_gradient)


def _arguments(
    name: str, input: Tensor, dim: Any, unbiased: Any, keepdim: Any, correction: Any
) -> tuple[Any, float, bool]:
    """Read ``dim``, ``correction`` and ``keepdim`` from torch's forms, such as ``var(True)``."""
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    if correction is None:
        correction = 1 if unbiased is None or unbiased else 0
    shape = input._data.shape
    if element_count(shape, reduced_axes(name, dim, len(shape))) <= correction:
        _warn_of_freedom(name)
    return dim, correction, keepdim


def _warn_of_freedom(name: str) -> None:
    """Warn that the degrees of freedom are not positive."""
    warn(
        f"{name}(): degrees of freedom is <= 0. Correction should be strictly less than the "
        "reduction factor (input numel divided by output numel)."
    )


@op(node="VarBackward0")
def _var_along(xp: Backend, input: Array, dim: int) -> Array:
    """``var`` along one dimension with the default options: a fast path."""
    shape = input.shape
    if not -len(shape) <= dim < len(shape) or shape[dim] < 2:
        axes = reduced_axes("var", dim, len(shape))
        if element_count(shape, axes) < 2:
            _warn_of_freedom("var")
    return _var.kernel(xp, input, dim, 1, False)


_var_along.vjp(input=lambda xp, g, input, dim: _var_gradient(xp, g, input, dim, 1, False))


@composite(method=True, out=Out.CAST, fast=_var_along)
def var(
    input: Tensor,
    dim: Dims = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> Tensor:
    """Variance of all elements, or along ``dim``.

    With ``axis=`` or ``ddof=`` it is NumPy's ``var``, whose default divisor is n, not n - 1.

    Args:
        input: Floating-point or complex tensor.
        dim: Dimension or dimensions; None, the default, means all.
        unbiased: Whether to divide by n - 1 (default) or n.
        keepdim: Whether to keep the reduced dimensions, with size 1.
        correction: Divide by n - ``correction`` instead; default 1.

    Returns:
        Real tensor without the reduced dimensions; NaN or inf if n is not larger than
        ``correction``.

    Raises:
        RuntimeError: If ``input`` is integer or bool.

    Example:
        >>> tt.tensor([1.0, 2.0, 3.0, 4.0]).var(correction=0)
        tensor(1.2500)
    """
    return _var(input, *_arguments("var", input, dim, unbiased, keepdim, correction))


@composite(method=True, out=Out.CAST, like=var)
def std(
    input: Tensor,
    dim: Dims = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> Tensor:
    """Standard deviation of the elements: the square root of ``var``, with the same arguments.

    Example:
        >>> tt.tensor([1.0, 3.0]).std(correction=0)
        tensor(1.)
    """
    return _std(input, *_arguments("std", input, dim, unbiased, keepdim, correction))


def _numpy_options(
    axis: Any = None, dtype: Any = None, ddof: float = 0, keepdims: bool = False, **options: Any
) -> dict[str, Any]:
    """Convert NumPy's keywords to arguments of ``var``."""
    options.setdefault("correction", ddof)
    options.setdefault("keepdim", keepdims)
    options.setdefault("dim", axis)
    return options


@var.numpy
def _numpy_var(
    input: Tensor,
    axis: Dims = None,
    dtype: Any = None,
    ddof: float = 0,
    keepdims: bool = False,
    **options: Any,
) -> Tensor:
    return var(input, **_numpy_options(axis, dtype, ddof, keepdims, **options))


@std.numpy
def _numpy_std(
    input: Tensor,
    axis: Dims = None,
    dtype: Any = None,
    ddof: float = 0,
    keepdims: bool = False,
    **options: Any,
) -> Tensor:
    return std(input, **_numpy_options(axis, dtype, ddof, keepdims, **options))


@op(node="VarMeanBackward0")
def _var_mean(
    xp: Backend, input: Array, dim: Dims, correction: float, keepdim: bool
) -> tuple[Array, Array]:
    """Variance and mean."""
    return (
        _var.kernel(xp, input, dim, correction, keepdim),
        as_row_major(xp, xp.asarray(mean.kernel(xp, input, dim, keepdim))),
    )


@op(node="StdMeanBackward0")
def _std_mean(
    xp: Backend, input: Array, dim: Dims, correction: float, keepdim: bool
) -> tuple[Array, Array]:
    """Standard deviation and mean."""
    return (
        _std.kernel(xp, input, dim, correction, keepdim),
        as_row_major(xp, xp.asarray(mean.kernel(xp, input, dim, keepdim))),
    )


def _sum_gradients(xp: Any, g: Any, in_shape: Any, dim: Any, keepdim: Any, first: Any) -> Any:
    """Sum of the gradients of a deviation, ``first()``, and of the mean; None for a missing one."""
    if g[1] is None:
        return first()
    of_mean = mean_gradient(xp, g[1], in_shape, dim, keepdim)
    return of_mean if g[0] is None else first() + of_mean


_var_mean.vjp(input=accepts_none(
    lambda xp, g, in_shape, input, dim, correction, keepdim: _sum_gradients(
        xp, g, in_shape, dim, keepdim,
        lambda: _var_gradient(xp, g[0], input, dim, correction, keepdim),
    )
))  # fmt: skip
_std_mean.vjp(input=accepts_none(reads_results(0)(
    lambda xp, g, out, in_shape, input, dim, correction, keepdim: _sum_gradients(
        xp, g, in_shape, dim, keepdim,
        lambda: _std_gradient(xp, g[0], out[0], input, dim, correction, keepdim),
    )
)))  # fmt: skip


@composite(like=var)
def var_mean(
    input: Tensor,
    dim: Dims = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> tuple[Tensor, Tensor]:
    """Variance and mean of the elements; the arguments are those of ``var``.

    Returns:
        A tuple ``(variance, mean)``.

    Example:
        >>> tt.var_mean(tt.tensor([1.0, 3.0]), correction=0)
        (tensor(1.), tensor(2.))
    """
    dim, correction, keepdim = _arguments("var_mean", input, dim, unbiased, keepdim, correction)
    return _var_mean(input, dim, correction, keepdim)  # type: ignore[return-value]


@composite(like=var)
def std_mean(
    input: Tensor,
    dim: Dims = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> tuple[Tensor, Tensor]:
    """Standard deviation and mean of the elements; the arguments are those of ``var``.

    Returns:
        A tuple ``(standard deviation, mean)``.

    Example:
        >>> tt.std_mean(tt.tensor([1.0, 3.0]), correction=0)
        (tensor(1.), tensor(2.))
    """
    dim, correction, keepdim = _arguments("std_mean", input, dim, unbiased, keepdim, correction)
    return _std_mean(input, dim, correction, keepdim)  # type: ignore[return-value]


def _check_weights(name: str, weights: Tensor, kinds: str, wanted: str, count: int) -> None:
    """Raise RuntimeError unless weights fit ``cov``.

    Args:
        name: Name of the argument.
        weights: The weights.
        kinds: Supported kind letters of the dtype.
        wanted: Description of these kinds.
        count: Number of observations.
    """
    if weights.ndim > 1:
        raise RuntimeError(
            f"cov(): expected {name} to have one or fewer dimensions but got {weights.ndim} "
            "dimensions"
        )
    if weights.dtype.kind not in kinds:
        raise RuntimeError(
            f"cov(): expected {name} to have {wanted} dtype but got {name} with "
            f"{weights.dtype.name} dtype"
        )
    if weights.numel() != count:
        raise RuntimeError(
            f"cov(): expected {name} to have the same numel as there are observations in the input "
            f"but got {weights.numel()} != {count}"
        )
    weights._xp.check_all(weights._data >= 0, f"cov(): {name} cannot be negative")


def _weights(fweights: Tensor | None, aweights: Tensor | None, count: int) -> Tensor | None:
    """Product of both kinds of weights, or None if there are none."""
    if fweights is not None:
        _check_weights("fweights", fweights, "iu", "integral", count)
    if aweights is not None:
        _check_weights("aweights", aweights, "f", "floating point", count)
        return aweights if fweights is None else fweights * aweights
    return fweights


def _weighted_freedom(w: Tensor, aweights: Tensor | None, correction: int) -> Tensor:
    """Divisor of a weighted covariance, for the product ``w`` of both kinds of weights."""
    total = w.sum()
    if aweights is None or correction == 0:
        return total - correction
    return total - correction * (w * aweights).sum() / total


@composite(method=True)
def cov(
    input: Tensor,
    y: Tensor | None = None,
    *,
    correction: int = 1,
    fweights: Tensor | None = None,
    aweights: Tensor | None = None,
) -> Tensor:
    """Covariance matrix of variables, one variable in each row.

    Args:
        input: Tensor of shape ``(variables, observations)``, or ``(observations,)``.
        y: Additional variables.
        correction: Divide by the number of observations minus this; default 1.
        fweights: The number of repetitions of each observation, an integer tensor of one dimension.
        aweights: The weight of each observation, a floating-point tensor of one dimension.

    Returns:
        Tensor of shape ``(variables, variables)``, 0-d for a single variable.

    Raises:
        RuntimeError: If shapes or dtypes do not fit, or a weight is negative.

    Example:
        >>> tt.cov(tt.tensor([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]))
        tensor([[ 1., -1.],
                [-1.,  1.]])
    """
    input = variables(input, y, True)
    if input.ndim > 2:
        raise RuntimeError(
            f"cov(): expected input to have two or fewer dimensions but got an input with "
            f"{input.ndim} dimensions"
        )
    correction = as_int("cov", "correction", correction)
    if input.dtype is dtypes.bool:
        raise RuntimeError("cov(): bool dtype is not supported for input")
    x = input.reshape(1, -1) if input.ndim < 2 else input
    count = x.shape[1]
    w = _weights(fweights, aweights, count)
    if w is None:
        mean: Any = x.sum(1, keepdim=True) / count if count else x.sum(1, keepdim=True)
        freedom: Any = count - correction
    else:
        weight = w.sum()
        weight._xp.check_all(weight._data != 0, "cov(): weights sum to zero, can't be normalized")
        mean = (x * w).sum(1, keepdim=True) / weight
        freedom = _weighted_freedom(w, aweights, correction)
    if isinstance(freedom, Tensor):
        freedom = freedom.clamp(min=0)
    elif freedom <= 0:
        warn(
            "cov(): degrees of freedom is <= 0. Correction should be strictly less than the number "
            "of observations."
        )
        freedom = 0
    centered = x - mean
    weighted = (centered if w is None else centered * w).transpose(0, 1).conj_physical()
    out = _divide_by_freedom(centered.to(weighted.dtype) @ weighted, freedom)
    return out.squeeze()


def _divide_by_freedom(product: Tensor, freedom: Any) -> Tensor:
    """Divide by the degrees of freedom, a tensor or a number."""
    if isinstance(freedom, Tensor):
        return product / freedom
    if product.is_floating_point():
        return product / float(freedom)
    return product / product.new_full((), float(freedom), dtype=product.dtype.to_real())


def variables(m: Any, y: Any, rowvar: bool) -> Any:
    """Arrange variables in rows, those of ``y`` after those of ``m``."""
    first = m if rowvar or m.ndim < 2 else m.transpose(0, 1)
    if y is None:
        return first
    second = y if rowvar or y.ndim < 2 else y.transpose(0, 1)
    return cat([x.reshape(1, -1) if x.ndim < 2 else x for x in (first, second)])


@cov.numpy
def _numpy_cov(
    input: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: int | None = None,
    fweights: Any = None, aweights: Any = None, **options: Any,
) -> Tensor:  # fmt: skip
    rows = variables(input, y, rowvar)
    correction = ddof if ddof is not None else 0 if bias else 1
    return cov(rows, correction=correction, fweights=fweights, aweights=aweights)


@composite(method=True, like=cov)
def corrcoef(input: Tensor, y: Tensor | None = None) -> Tensor:
    """Correlation coefficients of variables, one variable in each row.

    Returns:
        Tensor of shape ``(variables, variables)``, 0-d for a single variable.

    Raises:
        RuntimeError: If ``input`` has more than two dimensions.

    Example:
        >>> tt.corrcoef(tt.tensor([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]))
        tensor([[ 1., -1.],
                [-1.,  1.]])
    """
    if input.ndim > 2:
        raise RuntimeError(
            "corrcoef(): expected input to have two or fewer dimensions but got an input with "
            f"{input.ndim} dimensions"
        )
    c = cov(input, y)
    if not c.ndim:
        return c / c
    spread = c.diagonal().real.sqrt()
    c = c / spread.unsqueeze(1) / spread.unsqueeze(0)
    if c.is_complex():
        return complex_(c.real.clamp(-1, 1), c.imag.clamp(-1, 1))
    return c.clamp(-1, 1)


@corrcoef.numpy
def _numpy_corrcoef(input: Any, y: Any = None, rowvar: bool = True, **options: Any) -> Tensor:
    return corrcoef(variables(input, y, rowvar))
