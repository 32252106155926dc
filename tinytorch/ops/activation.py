"""Activation functions."""

from __future__ import annotations

import math
from typing import Any

from .. import dtypes
from .._op import Array, Backend, composite, op
from .._tensor import Tensor
from .shape import normalize_dim


@op(inplace=True, namespaces=("", "nn.functional"))
def relu(xp: Backend, input: Array) -> Array:
    """``max(x, 0)`` for each element; the slope at 0 is 0.

    Args:
        input: Tensor of any shape.

    Returns:
        Tensor of the same shape.

    Example:
        >>> import tinytorch as tt
        >>> tt.relu(tt.tensor([-1.0, 2.0]))
        tensor([0., 2.])
    """
    return xp.maximum(input, 0)


relu.vjp(input=lambda xp, g, out: g * xp.astype(out > 0, g.dtype))


@op(inplace=True, promote="float", namespaces=("", "nn.functional"), also=("special.expit",))
def sigmoid(xp: Backend, input: Array) -> Array:
    """``1 / (1 + exp(-x))``, between 0 and 1. Integers give the default dtype.

    Args:
        input: Tensor of any shape.

    Returns:
        Tensor of the same shape.

    Example:
        >>> import tinytorch as tt
        >>> tt.sigmoid(tt.tensor([0.0, 1000.0, -1000.0]))
        tensor([0.5000, 1.0000, 0.0000])
    """
    # exp overflows to inf for large negative numbers, whose reciprocal is the right 0.
    return 1 / (1 + xp.exp(-input))


sigmoid.vjp(input=lambda xp, g, out: g * (out * (1 - out)))


@op(method=False)
def _softmax(xp: Backend, input: Array, dim: int) -> Array:
    fused = xp.kernel("softmax")
    if fused is not None:
        return fused(input, dim)
    if not input.size:
        return xp.array(input)
    out = input - xp.max(input, axis=dim, keepdims=True)
    xp.exp(out, out=out)
    return xp.divide(out, xp.sum(out, axis=dim, keepdims=True), out=out)


_softmax.vjp(
    input=lambda xp, g, out, dim: out * (g - xp.sum(g * out, axis=dim, keepdims=True))
)


@op(method=False)
def _log_softmax(xp: Backend, input: Array, dim: int) -> Array:
    fused = xp.kernel("log_softmax")
    if fused is not None:
        return fused(input, dim)
    if not input.size:
        return xp.array(input)
    out = input - xp.max(input, axis=dim, keepdims=True)
    total = xp.sum(xp.exp(out), axis=dim, keepdims=True)
    return xp.subtract(out, xp.log(total), out=out)


_log_softmax.vjp(
    input=lambda xp, g, out, dim: g - xp.exp(out) * xp.sum(g, axis=dim, keepdims=True)
)


def _default_dim(ndim: int) -> int:
    return 0 if ndim in (0, 1, 3) else 1


@composite(namespaces=("", "nn.functional", "special"))
def softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None
) -> Tensor:
    """``exp(x) / sum(exp(x))`` along ``dim``: positive numbers that sum to 1.

    Args:
        input: Tensor of any shape.
        dim: The dimension; None is torch's legacy choice by the number of dimensions.
        dtype: Compute and return in this type; the default is the input's.

    Example:
        >>> import tinytorch as tt
        >>> tt.softmax(tt.zeros(2), 0)
        tensor([0.5000, 0.5000])
    """
    return _along(_softmax, "softmax", input, dim, dtype)


@composite(namespaces=("", "nn.functional", "special"))
def log_softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None
) -> Tensor:
    """Logarithm of ``softmax`` along ``dim``, without its rounding to 0.

    Args:
        input: Tensor of any shape.
        dim: The dimension; None is torch's legacy choice by the number of dimensions.
        dtype: Compute and return in this type; the default is the input's.

    Example:
        >>> import tinytorch as tt
        >>> tt.log_softmax(tt.tensor([0.0, 0.0]), 0)
        tensor([-0.6931, -0.6931])
    """
    return _along(_log_softmax, "log_softmax", input, dim, dtype)


def _along(function: Any, name: str, input: Tensor, dim: int | None, dtype: Any) -> Tensor:
    x: Any = input if dtype is None else input.to(dtype)  # type: ignore[attr-defined]
    if not (x.is_floating_point() or x.is_complex()):
        x = x.to(dtypes.float32) if dtype is not None else _refuse(name, x)
    at = normalize_dim(name, _default_dim(x.ndim) if dim is None else dim, x.ndim)
    return function(x.reshape(1), 0).reshape(()) if not x.ndim else function(x, at)  # type: ignore[no-any-return]


def _refuse(name: str, x: Tensor) -> Any:
    raise NotImplementedError(f'"{name}_lastdim_kernel_impl" not implemented for {x.dtype}')


@op(namespaces=("nn.functional",), method=False)
def gelu(xp: Backend, input: Array, approximate: str = "none") -> Array:
    """``x * P(X <= x)`` for a standard normal X: the Gaussian error linear unit.

    Args:
        input: Tensor of any shape.
        approximate: ``"none"`` (default) for the exact function, ``"tanh"`` for
            ``x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))``.

    Raises:
        RuntimeError: For another ``approximate``.

    Example:
        >>> import tinytorch as tt
        >>> tt.nn.functional.gelu(tt.tensor([0.0, 1.0]))
        tensor([0.0000, 0.8413])

    Reference:
        Hendrycks, Gimpel: Gaussian Error Linear Units, arXiv:1606.08415.
    """
    if approximate == "tanh":
        return input * 0.5 * (1 + xp.tanh(_gelu_inner(input)))
    if approximate != "none":
        raise RuntimeError(f"approximate argument must be either none or tanh, got {approximate!r}")
    return input * 0.5 * (1 + xp.erf(input * math.sqrt(0.5)))


def _gelu_inner(x: Any) -> Any:
    return (x + x * x * x * 0.044715) * math.sqrt(2 / math.pi)


def _gelu_rule(xp: Any, g: Any, input: Any, approximate: str) -> Any:
    x = input
    if approximate == "tanh":
        t = xp.tanh(_gelu_inner(x))
        slope = (1 + x * x * (3 * 0.044715)) * math.sqrt(2 / math.pi)
        return g * ((1 + t) * 0.5 + x * (1 - t * t) * slope * 0.5)
    density = xp.exp(x * x * -0.5) * (1 / math.sqrt(2 * math.pi))
    return g * ((1 + xp.erf(x * math.sqrt(0.5))) * 0.5 + x * density)


gelu.vjp(input=_gelu_rule)
