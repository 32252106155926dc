"""Logarithms of sums and products with logarithms, right where the plain formulas are not."""

from __future__ import annotations

import math
from typing import Any

from ...dispatch.op import Array, Backend, Operand, op
from ..checks import as_arrays, refuse


@op(method=True, promote="arithmetic", strict=True, elementwise=True)
def logaddexp(xp: Backend, input: Array, other: Array) -> Array:
    """``log(exp(input) + exp(other))``, without overflow on the way.

    Args:
        input: Floating-point or complex tensor of any shape.
        other: Tensor; the two shapes broadcast.

    Raises:
        NotImplementedError: For integers and bools.

    Example:
        >>> import tinytorch as tt
        >>> tt.logaddexp(tt.tensor([1000.0]), tt.tensor([0.0]))
        tensor([1000.])
    """
    refuse(xp, "logaddexp_cpu", "uib", input, other)
    if input.dtype.kind == "f":
        return xp.logaddexp(input, other)
    larger = input.real >= other.real
    high, low = xp.where(larger, input, other), xp.where(larger, other, input)
    return high + xp.log1p(xp.exp(low - high))


def _share(xp: Any, mine: Any, yours: Any, base: float) -> Any:
    """``base^mine / (base^mine + base^yours)``: 1/2 for equal infinities."""
    same = (mine == yours) & xp.isinf(mine)  # equal numbers keep their second derivative
    difference = xp.where(same, 0, yours - xp.where(same, 0, mine))
    return 1 / (1 + xp.exp(xp.where(same, 0, difference) * math.log(base)))


logaddexp.vjp(
    input=lambda xp, g, input, other: g * _share(xp, input, other, math.e),
    other=lambda xp, g, input, other: g * _share(xp, other, input, math.e),
)


@op(method=True, promote="arithmetic", strict=True, elementwise=True)
def logaddexp2(xp: Backend, input: Array, other: Array) -> Array:
    """``log2(2 ** input + 2 ** other)``, without overflow on the way.

    Args:
        input: Floating-point tensor of any shape.
        other: Tensor; the two shapes broadcast.

    Raises:
        NotImplementedError: For integers, bools and complex tensors.

    Example:
        >>> import tinytorch as tt
        >>> tt.logaddexp2(tt.tensor([1000.0]), tt.tensor([1000.0]))
        tensor([1001.])
    """
    refuse(xp, "logaddexp2_cpu", "uibc", input, other)
    return xp.logaddexp2(input, other)


logaddexp2.vjp(
    input=lambda xp, g, input, other: g * _share(xp, input, other, 2),
    other=lambda xp, g, input, other: g * _share(xp, other, input, 2),
)


@op(inplace=True, promote="float", strict=True, namespaces=("", "special"), method=True)
def xlogy(xp: Backend, input: Operand, other: Operand) -> Array:
    """``input * log(other)``, 0 where ``input`` is 0, and NaN where ``other`` is NaN.

    Args:
        input: Tensor or number.
        other: Tensor or number; the two shapes broadcast.

    Returns:
        Tensor of the broadcast shape; integers give the default dtype.

    Example:
        >>> import tinytorch as tt
        >>> tt.xlogy(tt.tensor([0.0, 2.0]), tt.tensor([0.0, 1.0]))
        tensor([0., 0.])
    """
    return _times_log(xp, input, other, xp.log)


def _times_log(xp: Backend, input: Any, other: Any, log: Any) -> Array:
    refuse(xp, "xlogy_cpu", "c", input, other)
    input, other = as_arrays(xp, input, other)
    kept = xp.not_equal(input, 0) | xp.isnan(other)
    one = 1 if log is xp.log else 0
    return xp.where(kept, input * log(xp.where(kept, other, one)), 0)


xlogy.vjp(
    input=lambda xp, g, input, other: _times_log_gradient(xp, g, input, other, xlogy, 0),
    other=lambda xp, g, input, other: g * (input / other),
)


def _times_log_gradient(xp: Any, g: Any, input: Any, other: Any, op: Any, shift: int) -> Any:
    """``g * log(other + shift)``; 0 where ``g`` is, or where ``input`` is and no log exists."""
    void = (input == 0) & (other <= -shift)
    return xp.call(op, g, xp.where(void, 1 - shift, other))


@op(promote="float", strict=True, namespaces=("special",))
def xlog1py(xp: Backend, input: Operand, other: Operand) -> Array:
    """``input * log1p(other)``, 0 where ``input`` is 0, and NaN where ``other`` is NaN.

    Args:
        input: Tensor or number.
        other: Tensor or number; the two shapes broadcast.

    Returns:
        Tensor of the broadcast shape; integers give the default dtype.

    Example:
        >>> import tinytorch as tt
        >>> tt.special.xlog1py(tt.tensor([0.0, 2.0]), tt.tensor([-1.0, 0.0]))
        tensor([0., 0.])
    """
    return _times_log(xp, input, other, xp.log1p)


xlog1py.vjp(
    input=lambda xp, g, input, other: _times_log_gradient(xp, g, input, other, xlog1py, 1),
    other=lambda xp, g, input, other: g * (input / (other + 1)),
)


@op(inplace=True, promote="float", namespaces=("", "special"), method=True)
def logit(xp: Backend, input: Array, eps: float | None = None) -> Array:
    """``log(x / (1 - x))``, the inverse of ``sigmoid``; NaN outside [0, 1].

    Args:
        input: Tensor of any shape.
        eps: Keep ``x`` between ``eps`` and ``1 - eps`` first; default None.

    Example:
        >>> import tinytorch as tt
        >>> tt.logit(tt.tensor([0.5, 1.0]))
        tensor([0., inf])
        >>> tt.logit(tt.tensor([1.0]), eps=0.5)
        tensor([0.])
    """
    refuse(xp, "logit_cpu", "c", input)
    if eps is not None:
        input = xp.where(input < eps, eps, xp.minimum(input, 1 - eps))
    return xp.log(input / (1 - input))


def _logit_gradient(xp: Any, g: Any, input: Any, eps: Any) -> Any:
    slope = g / ((input + 0) * (1 - input))  # at -0 as at 0
    if eps is None:
        return xp.where((input < 0) | (input > 1), math.nan, slope)
    return xp.where((input < eps) | (input > 1 - eps), 0, slope)


logit.vjp(input=_logit_gradient)
