"""ReLU, sigmoid, SiLU, ELU, GELU. Rarer activations are in ``rectifiers``."""

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
    """``max(x, 0)``, element by element; the derivative at 0 is 0.

    Args:
        input: Tensor of any shape.
        inplace: Write the result over ``input``; default False.

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
        check_supported(xp, "clamp_min_scalar_cpu", input, unsupported="c")
    fused = xp.fused("relu", input) if xp.fuses else None
    return xp.between(input, 0, None) if fused is None else fused


def _relu_gradient(xp: Any, g: Any, out: Any) -> Any:
    """Gradient of ``relu``. NaN != 0, so it passes where the result is NaN."""
    if not xp.records and xp.fuses:
        fused = xp.fused("relu_backward", g, out)
        if fused is not None:
            return fused
    return masked(xp, g, out != 0)


relu.vjp(input=piecewise(_relu_gradient))


@op(inplace=True, namespaces=FUNCTIONAL, elementwise=True, like=relu)
def leaky_relu(
    xp: Backend, input: Array, negative_slope: float = 0.01, inplace: bool = False
) -> Array:
    """``x`` where it is above 0, ``negative_slope * x`` elsewhere.

    Args:
        input: Tensor of any shape.
        negative_slope: Slope below 0 and at 0; default 0.01.

    Example:
        >>> tt.nn.functional.leaky_relu(tt.tensor([-1.0, 2.0]), 0.1)
        tensor([-0.1000,  2.0000])

    Reference:
        Maas, Hannun, Ng: Rectifier Nonlinearities Improve Neural Network Acoustic Models, 2013.
    """
    check_supported(xp, "leaky_relu_cpu", input, unsupported="uibc")
    if is_half(input):
        return compute_in_single(xp, leaky_relu.kernel, input, negative_slope)
    if 0 < negative_slope <= 1:  # not 0: 0 times infinity is NaN, which maximum propagates
        return xp.blockwise(lambda x: xp.maximum(x, x * negative_slope), input)
    return xp.where(input > 0, input, input * negative_slope)


leaky_relu.vjp(
    input=piecewise(lambda xp, g, input, negative_slope: xp.where(input > 0, g, g * negative_slope))
)


@op(inplace=True, promote="float", namespaces=BOTH, method=True, aliases=("special.expit",))
def sigmoid(xp: Backend, input: Array) -> Array:
    """``1 / (1 + exp(-x))``, between 0 and 1.


    Example:
        >>> tt.sigmoid(tt.tensor([0.0, 1000.0, -1000.0]))
        tensor([0.5000, 1.0000, 0.0000])
    """

    def compute(x: Array) -> Array:
        # exp overflows to inf for large negative numbers, whose reciprocal is the right 0.
        out = xp.exp(-x)
        out += 1
        return xp.reciprocal(out)

    return blockwise(xp, compute, input)


sigmoid.vjp(input=lambda xp, g, out: blockwise(xp, lambda g, out: g * (out * (1 - out)), g, out))


@op(inplace=True, namespaces=FUNCTIONAL, elementwise=True, like=relu)
def silu(xp: Backend, input: Array, inplace: bool = False) -> Array:
    """``x * sigmoid(x)``, also called swish.

    Example:
        >>> tt.nn.functional.silu(tt.tensor([0.0, 1.0]))
        tensor([0.0000, 0.7311])

    Reference:
        Elfwing, Uchibe, Doya: Sigmoid-Weighted Linear Units, arXiv:1702.03118.
    """
    check_supported(xp, "silu_cpu", input, unsupported="uib")
    return blockwise(xp, lambda x: x / (1 + xp.exp(-x)), input)


def logistic(xp: Any, x: Any) -> Any:
    """Sigmoid of ``x``, for gradient rules.

    A rule that runs on Tensors (``create_graph=True``) calls the operation ``sigmoid``, whose
    derivative is finite. The derivative of the formula is infinity times 0 where ``exp`` overflows.
    """
    return xp.call(sigmoid, x) if xp.records else 1 / (1 + xp.exp(-x))


def _silu_backward(xp: Any, g: Any, input: Any) -> Any:
    """Gradient of ``silu`` at ``input``: ``g`` times its derivative."""
    s = logistic(xp, input)
    return g * (s * (1 + input * (1 - s)))


silu.vjp(input=lambda xp, g, input: blockwise(xp, lambda g, x: _silu_backward(xp, g, x), g, input))


@op(inplace=True, namespaces=FUNCTIONAL, elementwise=True, like=relu)
def elu(xp: Backend, input: Array, alpha: float = 1.0, inplace: bool = False) -> Array:
    """``x`` where it is above 0, ``alpha * (exp(x) - 1)`` elsewhere.

    Args:
        input: Tensor of any shape.
        alpha: Scale of the negative part, which approaches ``-alpha``; default 1.

    Example:
        >>> tt.nn.functional.elu(tt.tensor([-1.0, 2.0]))
        tensor([-0.6321,  2.0000])

    Reference:
        Clevert, Unterthiner, Hochreiter: Exponential Linear Units, arXiv:1511.07289.
    """
    return scaled_elu(xp, "elu_cpu", input, alpha, 1.0, 1.0)


def scaled_elu(
    xp: Backend, kernel: str, x: Array, alpha: float, scale: float, rate: float
) -> Array:
    """``scale * x`` where x > 0, ``scale * alpha * (exp(rate * x) - 1)`` elsewhere.

    ``kernel`` is the name of PyTorch's kernel in the error for unsupported dtypes.
    """
    if x.dtype.kind != "f":
        check_supported(xp, kernel, x, unsupported="uibc")

    def compute(x: Array) -> Array:
        # exp gets min(x, 0) alone, so it cannot overflow.
        negative, positive = xp.between(x, None, 0), xp.between(x, 0, None)
        factor, scale_, rate_ = xp.constants(x, alpha * scale, scale, rate)
        negative = xp.expm1(negative if rate == 1 else negative * rate_) * factor
        return negative + (positive if scale == 1 else positive * scale_)

    return blockwise(xp, compute, x)


def _negative_part(xp: Any, x: Any) -> Any:
    """``min(x, 0)``, and 0 for NaN, for gradient rules.

    In a rule that runs on Tensors (``xp.records``) its derivative at 0 is 0.
    """
    return masked(xp, x, x < 0) if xp.records else xp.fmin(x, 0)


def scaled_elu_backward(xp: Any, g: Any, x: Any, alpha: float, scale: float, rate: float) -> Any:
    """Gradient of ``scaled_elu``. At x = 0 the exponential branch gives the derivative."""

    def compute(g: Any, x: Any) -> Any:
        # Where x > 0 the exponential is exp(0) = 1: add the difference of the two slopes.
        slope = xp.exp(_negative_part(xp, x) * rate) * (alpha * scale * rate)
        if alpha * rate != 1:
            slope = slope + xp.astype(~(x <= 0), x.dtype) * (scale - alpha * scale * rate)
        return g * slope

    return blockwise(xp, compute, g, x)


elu.vjp(input=lambda xp, g, input, alpha: scaled_elu_backward(xp, g, input, alpha, 1.0, 1.0))


def _gelu_and_cdf(xp: Backend, input: Array, approximate: str) -> tuple[Array, Array | None]:
    """Result of ``gelu``, and the normal CDF ``P(X <= input)``, which is saved for the gradient.

    Computing the CDF again would take most of the gradient's time. The second value is None where
    ``gelu`` does not compute the CDF.
    """
    if approximate != "none" or input.dtype.char not in "fd" or xp.kernel("gelu") is not None:
        return gelu.kernel(xp, input, approximate=approximate), None
    cdf = xp.ndtr(input)
    return cdf * input, cdf


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
    check_supported(xp, "GeluKernelImpl", input, unsupported="uibc")
    if approximate not in ("none", "tanh"):
        raise RuntimeError(f"approximate argument must be either none or tanh, got {approximate!r}")
    fused = xp.fused("gelu", input) if approximate == "none" else None
    if fused is not None:
        return fused
    if is_half(input):  # in float16, 1 + erf(x) loses its digits where x is negative
        return compute_in_single(xp, gelu.kernel, input, approximate=approximate)
    if approximate == "tanh":
        return xp.blockwise(lambda x: x * 0.5 * (1 + xp.tanh(_gelu_inner(x))), input)

    def compute(x: Array) -> Array:
        out = xp.ndtr(x)
        out *= x
        return out

    return xp.blockwise(compute, input)


def _gelu_inner(x: Any) -> Any:
    """Argument of tanh in the tanh approximation of ``gelu``."""
    return (x + x * x * x * 0.044715) * math.sqrt(2 / math.pi)


def _gelu_backward(xp: Any, g: Any, x: Any, approximate: str) -> Any:
    """Gradient of ``gelu`` at ``x``, without a saved CDF."""
    if not xp.records and is_half(x):
        return compute_in_single(xp, _gelu_backward, g, x, approximate=approximate)
    if approximate == "tanh":
        t = xp.tanh(_gelu_inner(x))
        if x.dtype.itemsize == 2:
            x = xp.minimum(xp.maximum(x, -9.0), 9.0)  # where t is 1 or -1, and x * x is finite
        slope = (1 + x * x * (3 * 0.044715)) * math.sqrt(2 / math.pi)
        return g * ((1 + t) * 0.5 + x * (1 - t * t) * slope * 0.5)
    if not xp.records:
        return _gelu_backward_from_cdf(xp, g, x, xp.ndtr(x))
    density = xp.exp(x * x * -0.5) * (1 / math.sqrt(2 * math.pi))
    return g * ((1 + xp.erf(x * math.sqrt(0.5))) * 0.5 + x * density)


def _gelu_backward_from_cdf(xp: Backend, g: Array, x: Array, cdf: Array) -> Array:
    """Gradient of ``gelu`` at ``x``: ``g * (cdf + x * density(x))``.

    ``cdf`` and ``density`` are those of the normal distribution.
    """
    slope = x * x
    slope *= -0.5
    slope = xp.exp(slope, out=slope if slope.ndim else None)
    slope *= 1 / math.sqrt(2 * math.pi)
    slope *= x
    slope += cdf
    slope *= g
    return slope


def _gelu_rule(xp: Any, g: Any, kept: Any, input: Any, approximate: str) -> Any:
    """Gradient rule of ``gelu``; ``kept`` is the CDF that ``_gelu_and_cdf`` saved, or None."""
    if kept is not None:
        return xp.blockwise(lambda *parts: _gelu_backward_from_cdf(xp, *parts), g, input, kept)
    return blockwise(xp, lambda g, x: _gelu_backward(xp, g, x, approximate), g, input)


gelu.vjp(input=_gelu_rule)
gelu.op.registered.forward_with_saved = _gelu_and_cdf


def halving_dim(name: str, x: Array, dim: int) -> int:
    """``dim``, along which ``glu`` halves ``x``, as a non-negative int.

    Raises RuntimeError if that dimension has an odd size. ``name`` is the function, for errors.
    """
    if x.dtype.kind == "c":
        check_not_complex(name, x)
    if not x.ndim:
        raise RuntimeError(f"{name} does not support scalars: there is no dimension to halve")
    dim_index = normalize_dim(name, dim, x.ndim)
    if x.shape[dim_index] % 2:
        size = x.shape[dim_index]
        raise RuntimeError(
            f"{name}: Halving dimension must be even, but dimension {dim} is size {size}"
        )
    return dim_index
