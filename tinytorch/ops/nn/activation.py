"""The activation functions of most networks; rarer ones are in the families beside this one."""

from __future__ import annotations

import math
from typing import Any

from ...dispatch.op import Array, Backend, Out, Overlap, op, piecewise
from ..checks import blockwise, check_not_complex, check_supported, compute_in_single, is_half
from ..pointwise.selection import masked
from ..shape.sizes import normalize_dim

FUNCTIONAL = ("nn.functional",)
BOTH = ("", "nn.functional")


@op(inplace=True, namespaces=BOTH, method=True, elementwise=True)
def relu(xp: Backend, input: Array, inplace: bool = False) -> Array:
    """``max(x, 0)``; the slope at 0 is 0.

    Args:
        input: Tensor of any shape.
        inplace: Write the result over ``input``; default False.

    Returns:
        Tensor of the same shape.

    Raises:
        RuntimeError: For booleans.

    Example:
        >>> tt.relu(tt.tensor([-1.0, 2.0]))
        tensor([0., 2.])
    """
    kind = input.dtype.kind
    if kind == "b":
        raise RuntimeError("Boolean inputs not supported for relu")
    if kind == "c":
        check_supported(xp, "clamp_min_scalar_cpu", "c", input)
    return xp.between(input, 0, None)


# The result is never below 0; NaN lets the gradient pass.
relu.vjp(input=piecewise(lambda xp, g, out: masked(xp, g, out != 0)))


@op(inplace=True, namespaces=FUNCTIONAL, elementwise=True)
def leaky_relu(
    xp: Backend, input: Array, negative_slope: float = 0.01, inplace: bool = False
) -> Array:
    """``x`` above 0 and ``negative_slope * x`` below.

    Args:
        input: Tensor of any shape.
        negative_slope: Slope below 0 and at 0; default 0.01.
        inplace: Write the result over ``input``; default False.

    Example:
        >>> tt.nn.functional.leaky_relu(tt.tensor([-1.0, 2.0]), 0.1)
        tensor([-0.1000,  2.0000])

    Reference:
        Maas, Hannun, Ng: Rectifier Nonlinearities Improve Neural Network Acoustic Models, 2013.
    """
    check_supported(xp, "leaky_relu_cpu", "uibc", input)
    if is_half(input):
        return compute_in_single(xp, leaky_relu.kernel, input, negative_slope)
    if 0 < negative_slope <= 1:  # 0 times infinity is NaN, the larger of the two
        return xp.blockwise(lambda x: xp.maximum(x, x * negative_slope), input)
    return xp.where(input > 0, input, input * negative_slope)


leaky_relu.vjp(
    input=piecewise(lambda xp, g, input, negative_slope: xp.where(input > 0, g, g * negative_slope))
)


@op(inplace=True, promote="float", namespaces=BOTH, method=True, aliases=("special.expit",))
def sigmoid(xp: Backend, input: Array) -> Array:
    """``1 / (1 + exp(-x))``, between 0 and 1. Integers give the default dtype.

    Args:
        input: Tensor of any shape.

    Returns:
        Tensor of the same shape.

    Example:
        >>> tt.sigmoid(tt.tensor([0.0, 1000.0, -1000.0]))
        tensor([0.5000, 1.0000, 0.0000])
    """

    def part(x: Array) -> Array:
        # exp overflows to inf for large negative numbers, whose reciprocal is the right 0.
        out = xp.exp(-x)
        out += 1
        return xp.reciprocal(out)

    return blockwise(xp, part, input)


sigmoid.vjp(input=lambda xp, g, out: blockwise(xp, lambda g, out: g * (out * (1 - out)), g, out))


@op(inplace=True, namespaces=FUNCTIONAL, elementwise=True)
def silu(xp: Backend, input: Array, inplace: bool = False) -> Array:
    """``x * sigmoid(x)``, also called swish.

    Args:
        input: Tensor of any shape.
        inplace: Write the result over ``input``; default False.

    Example:
        >>> tt.nn.functional.silu(tt.tensor([0.0, 1.0]))
        tensor([0.0000, 0.7311])

    Reference:
        Elfwing, Uchibe, Doya: Sigmoid-Weighted Linear Units, arXiv:1702.03118.
    """
    check_supported(xp, "silu_cpu", "uib", input)
    return blockwise(xp, lambda x: x / (1 + xp.exp(-x)), input)


def logistic(xp: Any, x: Any) -> Any:
    """``sigmoid`` inside a rule; on Tensors it is the operation, whose own rule is finite.

    That of the bare formula multiplies the infinity that ``exp`` overflows to by 0.
    """
    return xp.call(sigmoid, x) if xp.records else 1 / (1 + xp.exp(-x))


def _silu_gradient(xp: Any, g: Any, input: Any) -> Any:
    s = logistic(xp, input)
    return g * (s * (1 + input * (1 - s)))


silu.vjp(input=lambda xp, g, input: blockwise(xp, lambda g, x: _silu_gradient(xp, g, x), g, input))


@op(inplace=True, namespaces=FUNCTIONAL, elementwise=True)
def elu(xp: Backend, input: Array, alpha: float = 1.0, inplace: bool = False) -> Array:
    """``x`` above 0 and ``alpha * (exp(x) - 1)`` below.

    Args:
        input: Tensor of any shape.
        alpha: Minus the limit far below 0; default 1.
        inplace: Write the result over ``input``; default False.

    Example:
        >>> tt.nn.functional.elu(tt.tensor([-1.0, 2.0]))
        tensor([-0.6321,  2.0000])

    Reference:
        Clevert, Unterthiner, Hochreiter: Exponential Linear Units, arXiv:1511.07289.
    """
    return exponential_below(xp, "elu_cpu", input, alpha, 1.0, 1.0)


def exponential_below(
    xp: Backend, kernel: str, x: Array, alpha: float, scale: float, rate: float
) -> Array:
    """``scale * x`` above 0, ``scale * alpha * (exp(rate * x) - 1)`` below."""
    check_supported(xp, kernel, "uibc", x)

    def part(x: Array) -> Array:
        # The part of x below 0 alone goes through exp, which then cannot overflow.
        below = xp.expm1(xp.between(x, None, 0) * rate) * (alpha * scale)
        return below + xp.between(x, 0, None) * scale

    return blockwise(xp, part, x)


def _below_zero(xp: Any, x: Any) -> Any:
    """``min(x, 0)``, 0 for NaN; its slope at 0 is 0, in a rule on Tensors."""
    return masked(xp, x, x < 0) if xp.records else xp.fmin(x, 0)


def slope_of_exponential(xp: Any, g: Any, x: Any, alpha: float, scale: float, rate: float) -> Any:
    """The gradient of ``exponential_below``; at 0 that of the part below."""

    def part(g: Any, x: Any) -> Any:
        # exp of 0 above 0 is 1: only the difference of the two slopes is missing there.
        slope = xp.exp(_below_zero(xp, x) * rate) * (alpha * scale * rate)
        if alpha * rate != 1:
            slope = slope + xp.astype(~(x <= 0), x.dtype) * (scale - alpha * scale * rate)
        return g * slope

    return blockwise(xp, part, g, x)


elu.vjp(input=lambda xp, g, input, alpha: slope_of_exponential(xp, g, input, alpha, 1.0, 1.0))


def _gelu_and_share(xp: Backend, input: Array, approximate: str) -> tuple[Array, Array | None]:
    """``gelu``, and ``P(X <= x)``, which would take most of the gradient's time."""
    if approximate != "none" or input.dtype.char not in "fd" or xp.kernel("gelu") is not None:
        return gelu.kernel(xp, input, approximate=approximate), None
    share = xp.ndtr(input)
    return share * input, share


@op(namespaces=FUNCTIONAL, out=Out.EXACT, overlap=Overlap.CHECKED, elementwise=True)
def gelu(xp: Backend, input: Array, *, approximate: str = "none") -> Array:
    """``x * P(X <= x)`` for a standard normal X: the Gaussian error linear unit.

    Args:
        input: Tensor of any shape.
        approximate: ``"none"`` (default) for the exact function, ``"tanh"`` for
            ``x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))``.

    Raises:
        RuntimeError: For another ``approximate``.

    Example:
        >>> tt.nn.functional.gelu(tt.tensor([0.0, 1.0]))
        tensor([0.0000, 0.8413])

    Reference:
        Hendrycks, Gimpel: Gaussian Error Linear Units, arXiv:1606.08415.
    """
    check_supported(xp, "GeluKernelImpl", "uibc", input)
    if approximate not in ("none", "tanh"):
        raise RuntimeError(f"approximate argument must be either none or tanh, got {approximate!r}")
    fused = xp.fused("gelu", input) if approximate == "none" else None
    if fused is not None:
        return fused
    if is_half(input):  # 1 + erf(x) of halves has few digits left where x is negative
        return compute_in_single(xp, gelu.kernel, input, approximate=approximate)
    if approximate == "tanh":
        return xp.blockwise(lambda x: x * 0.5 * (1 + xp.tanh(_gelu_inner(x))), input)

    def part(x: Array) -> Array:
        out = xp.ndtr(x)
        out *= x
        return out

    return xp.blockwise(part, input)


def _gelu_inner(x: Any) -> Any:
    return (x + x * x * x * 0.044715) * math.sqrt(2 / math.pi)


def _gelu_gradient(xp: Any, g: Any, x: Any, approximate: str) -> Any:
    if not xp.records and is_half(x):
        return compute_in_single(xp, _gelu_gradient, g, x, approximate=approximate)
    if approximate == "tanh":
        t = xp.tanh(_gelu_inner(x))
        if x.dtype.itemsize == 2:
            x = xp.minimum(xp.maximum(x, -9.0), 9.0)  # where t is 1 or -1, and x * x is finite
        slope = (1 + x * x * (3 * 0.044715)) * math.sqrt(2 / math.pi)
        return g * ((1 + t) * 0.5 + x * (1 - t * t) * slope * 0.5)
    if not xp.records:
        return _gelu_slope(xp, g, x, xp.ndtr(x))
    density = xp.exp(x * x * -0.5) * (1 / math.sqrt(2 * math.pi))
    return g * ((1 + xp.erf(x * math.sqrt(0.5))) * 0.5 + x * density)


def _gelu_slope(xp: Backend, g: Array, x: Array, share: Array) -> Array:
    slope = x * x
    slope *= -0.5
    slope = xp.exp(slope, out=slope if slope.ndim else None)
    slope *= 1 / math.sqrt(2 * math.pi)
    slope *= x
    slope += share
    slope *= g
    return slope


def _gelu_rule(xp: Any, g: Any, kept: Any, input: Any, approximate: str) -> Any:
    if kept is not None:
        return xp.blockwise(lambda *parts: _gelu_slope(xp, *parts), g, input, kept)
    return blockwise(xp, lambda g, x: _gelu_gradient(xp, g, x, approximate), g, input)


gelu.vjp(input=_gelu_rule)
gelu.op.registered.forward_with_saved = _gelu_and_share


def gate_halves(name: str, x: Array, dim: int) -> int:
    """``dim`` counted from the front, checked to have an even size."""
    check_not_complex(name, x)
    if not x.ndim:
        raise RuntimeError(f"{name} does not support scalars: there is no dimension to halve")
    at = normalize_dim(name, dim, x.ndim)
    if x.shape[at] % 2:
        raise RuntimeError(
            f"{name}: Halving dimension must be even, but dimension {dim} is size {x.shape[at]}"
        )
    return at
