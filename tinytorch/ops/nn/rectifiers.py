"""Activations besides those of ``activation``: piecewise linear, smooth, gated; Gumbel-softmax."""

from __future__ import annotations

from typing import Any

from ...core.layout import contiguous_format
from ...core.tensor import Tensor
from ...dispatch.op import (
    Array,
    Backend,
    Out,
    Overlap,
    accepts_none,
    composite,
    op,
    piecewise,
    reads_results,
)
from ...dispatch.out import scalar_name
from ...dispatch.promotion import convert_to_write
from ...dtypes import finfo
from ...warnings import warn
from ..checks import blockwise, check_supported
from ..index.filling import write_changes
from ..memory_order import as_row_major
from ..pointwise.selection import masked
from ..results import first_result
from .activation import (
    BOTH,
    FUNCTIONAL,
    halving_dim,
    logistic,
    relu,
    scaled_elu,
    scaled_elu_backward,
)
from .softmax import _softmax as softmax_kernel
from .softmax import softmax, softmax_call


@op(inplace=True, namespaces=FUNCTIONAL, elementwise=True, like=relu)
def hardtanh(
    xp: Backend, input: Array, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False
) -> Array:
    """``x`` clamped to ``min_val`` and ``max_val``; the derivative at both is 0.

    Args:
        input: Tensor of any shape.
        min_val: Lower bound; default -1.
        max_val: Upper bound; default 1.

    Raises:
        ValueError: If ``min_val`` is above ``max_val``.
        RuntimeError: For booleans, for unsigned integers if ``min_val`` is below 0, and if the
            dtype of integers does not hold a bound.

    Example:
        >>> tt.nn.functional.hardtanh(tt.tensor([-2.0, 0.5]))
        tensor([-1.0000,  0.5000])
    """
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    _check_hardtanh_dtype(xp, input)
    if input.dtype.kind == "u" and min_val < 0:
        raise RuntimeError("cannot do hardtanh on an unsigned type with negative limits")
    if input.dtype.kind in "ui":
        dtype = xp.dtype_of(input)
        min_val, max_val = (convert_to_write(value, dtype) for value in (min_val, max_val))
    return xp.between(input, min_val, max_val)


def _check_hardtanh_dtype(xp: Backend, input: Array) -> None:
    """Raise an error for bool and complex inputs."""
    if input.dtype.kind == "b":
        raise RuntimeError("Bool inputs not supported for hardtanh")
    check_supported(xp, "hardtanh_cpu", input, unsupported="c")


hardtanh.vjp(
    input=piecewise(
        lambda xp, g, input, min_val, max_val: masked(xp, g, (input > min_val) & (input < max_val))
    )
)


@op(inplace=True, namespaces=FUNCTIONAL, node="HardtanhBackward0", elementwise=True, like=relu)
def relu6(xp: Backend, input: Array, inplace: bool = False) -> Array:
    """``x`` clamped to 0 and 6.

    Example:
        >>> tt.nn.functional.relu6(tt.tensor([-1.0, 3.0, 8.0]))
        tensor([0., 3., 6.])
    """
    _check_hardtanh_dtype(xp, input)
    return xp.between(input, 0, 6)


relu6.vjp(input=piecewise(lambda xp, g, input: masked(xp, g, ~((input <= 0) | (input >= 6)))))


@op(inplace=True, namespaces=BOTH, elementwise=True, like=relu)
def threshold(
    xp: Backend, input: Array, threshold: float, value: float, inplace: bool = False
) -> Array:
    """``x`` where it is above ``threshold``, else ``value``.

    Args:
        input: Tensor of any shape.
        threshold: Elements above it pass unchanged.
        value: Replaces the other elements.

    Example:
        >>> tt.nn.functional.threshold(tt.tensor([0.5, 2.0]), 1.0, 0.0)
        tensor([0., 2.])
    """
    check_supported(xp, "threshold_cpu", input, unsupported="bc")
    if input.dtype.kind in "ui":
        threshold, value = (convert_to_write(v, xp.dtype_of(input)) for v in (threshold, value))
    # NaN <= threshold is False, so NaN passes.
    return xp.where(input <= threshold, xp.asarray(value).astype(input.dtype), input)


threshold.vjp(input=piecewise(lambda xp, g, input, threshold: masked(xp, g, ~(input <= threshold))))
write_changes(threshold.op)


@op(namespaces=(*FUNCTIONAL, ""), method=True, out=Out.EXACT, elementwise=True)
def hardshrink(xp: Backend, input: Array, lambd: float = 0.5) -> Array:
    """``x`` where ``|x| > lambd``, else 0.

    Args:
        input: Tensor of any shape.
        lambd: Elements of this magnitude or less become 0; default 0.5.

    Example:
        >>> tt.nn.functional.hardshrink(tt.tensor([-0.3, 2.0]))
        tensor([0., 2.])
    """
    check_supported(xp, "hardshrink_cpu", input, unsupported="uibc")
    return xp.where((input >= -lambd) & (input <= lambd), 0, input)


hardshrink.vjp(
    input=piecewise(
        lambda xp, g, input, lambd: masked(xp, g, ~((input >= -lambd) & (input <= lambd)))
    )
)


@op(namespaces=FUNCTIONAL, out=Out.EXACT, elementwise=True)
def softshrink(xp: Backend, input: Array, lambd: float = 0.5) -> Array:
    """``x`` moved by ``lambd`` towards 0, and 0 where ``|x| <= lambd``.

    Args:
        input: Tensor of any shape.
        lambd: Distance, not negative; default 0.5.

    Raises:
        RuntimeError: For a negative ``lambd``.

    Example:
        >>> tt.nn.functional.softshrink(tt.tensor([-0.3, 2.0]))
        tensor([0.0000, 1.5000])
    """
    check_supported(xp, "softshrink_cpu", input, unsupported="uibc")
    if lambd < 0:
        dtype = xp.dtype_of(input)
        raise RuntimeError(
            f"softshrink: lambda must be in range [0, {finfo(dtype).max:g}] for input dtype "
            f"{scalar_name(dtype)}, but found {lambd:g}; it must be greater or equal to 0"
        )
    # This formula keeps NaN, which a choice between x - lambd, 0 and x + lambd would not.
    return input - xp.minimum(xp.maximum(input, -lambd), lambd)


softshrink.vjp(
    input=piecewise(
        lambda xp, g, input, lambd: masked(xp, g, ~((input >= -lambd) & (input <= lambd)))
    )
)


def _six_times(xp: Backend, x: Array) -> Array:
    """``6 hardsigmoid(x)``."""
    return xp.between(x + xp.constants(x, 3.0)[0], 0, 6)


@op(inplace=True, namespaces=FUNCTIONAL, elementwise=True, like=relu)
def hardsigmoid(xp: Backend, input: Array, inplace: bool = False) -> Array:
    """``x / 6 + 1/2`` clamped to 0 and 1: a piecewise linear sigmoid.

    Example:
        >>> tt.nn.functional.hardsigmoid(tt.tensor([-3.0, 0.0, 3.0]))
        tensor([0.0000, 0.5000, 1.0000])
    """
    if input.dtype.kind != "f":
        check_supported(xp, "hardsigmoid_cpu", input, unsupported="uibc")
    return blockwise(xp, lambda x: _six_times(xp, x) / xp.constants(x, 6.0)[0], input)


hardsigmoid.vjp(
    input=piecewise(lambda xp, g, input: masked(xp, g * (1 / 6), (input > -3) & (input < 3)))
)


@op(inplace=True, namespaces=FUNCTIONAL, elementwise=True, like=relu)
def hardswish(xp: Backend, input: Array, inplace: bool = False) -> Array:
    """``x * hardsigmoid(x)``.

    Example:
        >>> tt.nn.functional.hardswish(tt.tensor([-3.0, 3.0]))
        tensor([-0.,  3.])

    Reference:
        Howard et al.: Searching for MobileNetV3, arXiv:1905.02244.
    """
    check_supported(xp, "hardswish_cpu", input, unsupported="uibc")
    return blockwise(xp, lambda x: x * _six_times(xp, x) / 6, input)


def _hardswish_backward(xp: Any, g: Any, input: Any) -> Any:
    """Gradient of ``hardswish``: ``g * (input / 3 + 1/2)`` in (-3, 3), 0 below and g above."""
    inside = (input > -3) & (input < 3)
    # Mask infinities out of the product: times a zero second-order gradient they would be NaN.
    slope = masked(xp, input, inside) / 3 + 0.5
    return masked(xp, g * slope, inside) + masked(xp, g, ~(input < 3))


hardswish.vjp(
    input=lambda xp, g, input: blockwise(xp, lambda g, x: _hardswish_backward(xp, g, x), g, input)
)


@op(namespaces=BOTH, method=True, node="PreluKernelBackward0")
def prelu(xp: Backend, input: Array, weight: Array) -> Array:
    """``x`` where it is above 0, ``weight * x`` elsewhere, with a learnable ``weight``.

    Args:
        input: Tensor ``(batch, channels, *)``, or of any shape with a single weight.
        weight: Tensor of shape ``(channels,)`` or ``(1,)``, or a 0-d one, of the same dtype.

    Raises:
        RuntimeError: If ``weight`` has neither one element nor one per channel, or another dtype.

    Example:
        >>> tt.nn.functional.prelu(tt.tensor([-2.0, 2.0]), tt.tensor([0.25]))
        tensor([-0.5000,  2.0000])

    Reference:
        He, Zhang, Ren, Sun: Delving Deep into Rectifiers, arXiv:1502.01852.
    """
    _check_prelu(xp, input, weight)
    check_supported(xp, "prelu_cpu", input, unsupported="biuc")
    return xp.where(input > 0, input, _reshape_to_channels(xp, weight, input.ndim) * input)


def _check_prelu(xp: Backend, input: Array, weight: Array) -> None:
    """Raise RuntimeError for weights of ``prelu`` that do not fit the input."""
    if weight.ndim > 1:
        raise RuntimeError(
            f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {weight.ndim}"
        )
    if input.dtype != weight.dtype:
        raise RuntimeError(
            "prelu: Type promoting not supported. Got "
            f"{xp.dtype_of(input).name} and {xp.dtype_of(weight).name}"
        )
    channels = input.shape[1] if input.ndim > 1 else 1
    if weight.size != 1 and weight.size != channels:
        if not input.ndim:
            raise RuntimeError("prelu: Not allow zero-dim input tensor.")
        raise RuntimeError(
            "prelu: Mismatch of parameter numbers and input channel size. Found parameter numbers "
            f"= {weight.size} and channel size = {channels}."
        )


def _reshape_to_channels(xp: Any, weight: Any, ndim: int) -> Any:
    """Weight as ``()`` or ``(1, C, 1, ...)``, which broadcasts with ``ndim`` dimensions."""
    size = weight.shape[0] if weight.ndim else 1
    if size == 1:
        return xp.reshape(weight, ())
    return xp.reshape(weight, (1, size) + (1,) * (ndim - 2))


def _prelu_weight_backward(xp: Any, g: Any, input: Any, in_shape: Any) -> Any:
    """Gradient of the weight of ``prelu``, whose shape is ``in_shape``."""
    negative = ~(input >= 0)
    # Mask infinities out of the product: times a zero second-order gradient they would be NaN.
    return _sum_to_weight(xp, masked(xp, g * masked(xp, input, negative), negative), in_shape)


def _sum_to_weight(xp: Any, products: Any, in_shape: Any) -> Any:
    """Gradient of a weight of shape ``in_shape``, from ``products`` of the input's shape.

    Sums over all dimensions but the channels, or over all for a weight with one element.
    """
    size = in_shape[0] if in_shape else 1
    if size == 1:
        return xp.reshape(xp.sum(products), in_shape)
    return xp.sum(products, axis=(0, *range(2, products.ndim)))


@op(public=False)
def _prelu_backward(xp: Backend, grad: Array, input: Array, weight: Array) -> Array:
    """``grad`` times the derivative of ``prelu``, which is ``weight`` at an input of 0."""
    return xp.where(input > 0, grad, grad * _reshape_to_channels(xp, weight, input.ndim))


# The second derivatives at 0 are those for positive inputs, as in PyTorch.
_prelu_backward.vjp(
    grad=lambda xp, g, input, weight: xp.where(
        input >= 0, g, g * _reshape_to_channels(xp, weight, input.ndim)
    ),
    weight=lambda xp, g, grad, input, in_shape: _sum_to_weight(
        xp, masked(xp, g * grad, ~(input >= 0)), in_shape
    ),
)
prelu.vjp(
    input=piecewise(lambda xp, g, input, weight: xp.call(_prelu_backward, g, input, weight)),
    weight=_prelu_weight_backward,
)


# α and λ that keep mean 0 and variance 1 from layer to layer; Klambauer et al., equation (14).
SELU_ALPHA = 1.6732632423543772848170429916717
SELU_SCALE = 1.0507009873554804934193349852946


@op(inplace=True, namespaces=BOTH, node="EluBackward0", elementwise=True, like=relu)
def selu(xp: Backend, input: Array, inplace: bool = False) -> Array:
    """An ELU scaled so that layers keep mean 0 and variance 1.

    Example:
        >>> tt.nn.functional.selu(tt.tensor([-1.0, 1.0]))
        tensor([-1.1113,  1.0507])

    Reference:
        Klambauer, Unterthiner, Mayr, Hochreiter: Self-Normalizing Neural Networks,
        arXiv:1706.02515.
    """
    return scaled_elu(xp, "elu_cpu", input, SELU_ALPHA, SELU_SCALE, 1.0)


selu.vjp(input=lambda xp, g, input: scaled_elu_backward(xp, g, input, SELU_ALPHA, SELU_SCALE, 1.0))


@op(inplace=True, namespaces=BOTH, elementwise=True, like=relu)
def celu(xp: Backend, input: Array, alpha: float = 1.0, inplace: bool = False) -> Array:
    """``x`` above 0, ``alpha * (exp(x / alpha) - 1)`` elsewhere: an ELU with derivative 1 at 0.

    Args:
        input: Tensor of any shape.
        alpha: Scale of the negative part, which approaches ``-alpha``; not 0; default 1.

    Raises:
        RuntimeError: For an ``alpha`` of 0.

    Example:
        >>> tt.nn.functional.celu(tt.tensor([-1.0, 1.0]), alpha=2.0)
        tensor([-0.7869,  1.0000])

    Reference:
        Barron: Continuously Differentiable Exponential Linear Units, arXiv:1704.07483.
    """
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    return scaled_elu(xp, "elu_cpu", input, alpha, 1.0, 1 / alpha)


celu.vjp(input=lambda xp, g, input, alpha: scaled_elu_backward(xp, g, input, alpha, 1.0, 1 / alpha))


@op(namespaces=FUNCTIONAL, out=Out.EXACT, elementwise=True)
def softplus(xp: Backend, input: Array, beta: float = 1.0, threshold: float = 20.0) -> Array:
    """``log(1 + exp(beta * x)) / beta``, a smooth ``relu``.

    Args:
        input: Tensor of any shape.
        beta: The larger, the closer the function is to ``relu``; default 1.
        threshold: Where ``beta * x`` exceeds it, the function is ``x``; default 20.

    Example:
        >>> tt.nn.functional.softplus(tt.tensor([0.0, 100.0]))
        tensor([  0.6931, 100.0000])
    """
    if input.dtype.kind != "f":
        check_supported(xp, "softplus_cpu", input, unsupported="uibc")

    def compute(x: Array) -> Array:
        factor, limit = xp.constants(x, beta, threshold)
        scaled = x * factor
        smooth = xp.log1p(xp.exp(xp.minimum(scaled, limit))) / factor
        return xp.where(scaled > limit, x, smooth)

    return blockwise(xp, compute, input)


def _softplus_backward(xp: Any, g: Any, input: Any, beta: Any, threshold: Any) -> Any:
    """Gradient of ``softplus``: ``g * sigmoid(beta * input)``, and g above the threshold."""
    scaled = input * beta
    return xp.where(scaled > threshold, g, g * logistic(xp, scaled))


softplus.vjp(
    input=lambda xp, g, input, beta, threshold: blockwise(
        xp, lambda g, x: _softplus_backward(xp, g, x, beta, threshold), g, input
    )
)


@op(
    namespaces=FUNCTIONAL, node="LogSigmoidBackward0", out=Out.EXACT, overlap=Overlap.ALLOWED,
    elementwise=True,
)  # fmt: skip
def logsigmoid(xp: Backend, input: Array) -> Array:
    """``log(sigmoid(x))``; finite also where ``sigmoid`` rounds to 0.

    Example:
        >>> tt.nn.functional.logsigmoid(tt.tensor([0.0, -1000.0]))
        tensor([-6.9315e-01, -1.0000e+03])
    """
    if input.dtype.kind != "f":
        check_supported(xp, "log_sigmoid_cpu", input, unsupported="uibc")

    def compute(x: Array) -> Array:
        return xp.between(x, None, 0) - xp.log1p(xp.exp(-xp.absolute(x)))

    return blockwise(xp, compute, as_row_major(xp, input))


logsigmoid.vjp(
    input=lambda xp, g, input: blockwise(xp, lambda g, x: g * logistic(xp, -x), g, input)
)


@op(inplace=True, namespaces=FUNCTIONAL, elementwise=True, like=relu)
def mish(xp: Backend, input: Array, inplace: bool = False) -> Array:
    """``x * tanh(softplus(x))``.

    Example:
        >>> tt.nn.functional.mish(tt.tensor([0.0, 1.0]))
        tensor([0.0000, 0.8651])

    Reference:
        Misra: Mish: A Self Regularized Non-Monotonic Activation Function, arXiv:1908.08681.
    """
    check_supported(xp, "mish_cpu", input, unsupported="uibc")
    return blockwise(xp, lambda x: x * _tanh_of_softplus(xp, x), input)


def _tanh_of_softplus(xp: Any, x: Any) -> Any:
    """``tanh(softplus(x))``, computed as ``e (e + 2) / (e (e + 2) + 2)`` with ``e = exp(x)``.

    It rounds to 1 for x >= 20, in half precision for x >= 5. Larger x are clamped to that bound,
    so that ``e * e`` does not overflow.
    """
    e = xp.exp(xp.minimum(x, 5 if x.dtype.itemsize == 2 else 20))
    numerator = e * (e + 2)
    return numerator / (numerator + 2)


def _mish_backward(xp: Any, g: Any, x: Any) -> Any:
    """Gradient of ``mish`` at ``x``."""
    t = _tanh_of_softplus(xp, x)
    return g * (t + x * (1 - t * t) * logistic(xp, x))


mish.vjp(input=lambda xp, g, input: blockwise(xp, lambda g, x: _mish_backward(xp, g, x), g, input))


@op(namespaces=FUNCTIONAL, promote="float", node="DivBackward0")
def softsign(xp: Backend, input: Array) -> Array:
    """``x / (1 + |x|)``.

    Example:
        >>> tt.nn.functional.softsign(tt.tensor([-1.0, 3.0]))
        tensor([-0.5000,  0.7500])
    """
    return input / (1 + xp.absolute(input))


def _softsign_backward(xp: Any, g: Any, input: Any) -> Any:
    """Gradient of ``softsign``: ``g / (1 + |input|)²`` for real numbers."""
    denominator = 1 + xp.abs(input)
    if input.dtype.kind != "c":
        return g / (denominator * denominator)
    # d(z / s) = dz / s - z Re(conj(z) dz) / (|z| s²) with s = 1 + |z|, applied to conj(g).
    modulus = xp.where(denominator == 1, 1, denominator - 1)
    projection = xp.real(g * input)
    return g / denominator - xp.conj(input) * projection / (modulus * denominator * denominator)


softsign.vjp(input=_softsign_backward)


@op(promote="float", public=False, node="SubBackward0", returns=first_result, strict=True)
def _tanhshrink(xp: Backend, input: Array) -> tuple[Array, Array]:
    """``x - tanh(x)`` and ``tanh(x)``, which is saved for the gradient."""
    t = xp.tanh(input)
    return input - t, t


@reads_results(1)
def _tanhshrink_backward(xp: Any, g: Any, out: Any) -> Any:
    """Gradient of the input, the sum of those through both results of ``_tanhshrink``.

    ``g`` has the gradients of both results, each of which may be None.
    """
    square = out[1] * out[1]
    first_part = None if g[0] is None else g[0] * square
    if g[1] is None:
        return first_part
    second_part = g[1] * (1 - square)
    return second_part if first_part is None else first_part + second_part


_tanhshrink.vjp(input=accepts_none(_tanhshrink_backward))


@composite(namespaces=FUNCTIONAL, node="SubBackward0")
def tanhshrink(input: Tensor) -> Tensor:
    """``x - tanh(x)``; integers give the default dtype.


    Example:
        >>> tt.nn.functional.tanhshrink(tt.tensor([0.0, 1.0]))
        tensor([0.0000, 0.2384])
    """
    return _tanhshrink(input)


@op(namespaces=FUNCTIONAL)
def glu(xp: Backend, input: Array, dim: int = -1) -> Array:
    """The first half of ``input`` along ``dim`` times the sigmoid of the second.

    Args:
        input: Tensor of shape ``(*, 2n, *)``.
        dim: The dimension to halve, here of size ``2n``; default the last.

    Returns:
        Tensor of shape ``(*, n, *)``.

    Raises:
        RuntimeError: If that dimension has an odd size, or for a 0-d tensor.

    Example:
        >>> tt.nn.functional.glu(tt.tensor([3.0, 0.0]))
        tensor([1.5000])

    Reference:
        Dauphin, Fan, Auli, Grangier: Language Modeling with Gated Convolutional Networks,
        arXiv:1612.08083.
    """
    axis = halving_dim("glu", input, dim)
    check_supported(xp, "glu_cpu", input, unsupported="uib")
    half, before = input.shape[axis] // 2, (slice(None),) * axis
    value, gate = input[(*before, slice(half))], input[(*before, slice(half, None))]
    return value / (1 + xp.exp(-gate))


def _glu_backward(xp: Any, g: Any, input: Any, dim: int) -> Any:
    """Gradients of both halves of the input of ``glu``, concatenated."""
    axis = dim % input.ndim
    half = input.shape[axis] // 2
    before = (slice(None),) * axis
    value, gate = input[(*before, slice(0, half))], input[(*before, slice(half, None))]
    s = logistic(xp, gate)
    return xp.concatenate((g * s, g * (value * (s * (1 - s)))), axis=axis)


glu.vjp(input=_glu_backward)


@composite(namespaces=FUNCTIONAL, like=softmax)
def softmin(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None
) -> Tensor:
    """``softmax(-input)``: the smallest element gets the largest probability.

    Example:
        >>> tt.nn.functional.softmin(tt.zeros(2), 0)
        tensor([0.5000, 0.5000])
    """
    return softmax_call(softmax_kernel, "softmin", -input, dim, dtype, _stacklevel)


@composite(namespaces=FUNCTIONAL)
def gumbel_softmax(
    logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1
) -> Tensor:
    """Differentiable sample from the categorical distributions along ``dim``.

    Args:
        logits: Unnormalized log probabilities; tensor of any shape.
        tau: Temperature, above 0; default 1.
        hard: Return one-hot vectors, with the gradient of the soft ones; default False.
        eps: Without effect, as in torch.
        dim: The dimension of the categories; default the last.

    Returns:
        Tensor of the same shape whose elements along ``dim`` sum to 1.

    Example:
        >>> tt.nn.functional.gumbel_softmax(tt.zeros(2, 3), hard=True).sum(-1)
        tensor([1., 1.])

    Reference:
        Jang, Gu, Poole: Categorical Reparameterization with Gumbel-Softmax, arXiv:1611.01144.
    """
    from ..create.factories import empty_like, zeros_like

    if eps != 1e-10:
        warn("`eps` parameter is deprecated and has no effect.")
    x: Any = logits
    noise: Any = empty_like(logits, memory_format=contiguous_format)
    gumbels = -noise.exponential_().log()
    soft = softmax((x + gumbels) / tau, dim)
    if not hard:
        return soft
    index = soft.max(dim, keepdim=True)[1]
    one_hot = zeros_like(logits).scatter_(dim, index, 1.0)
    return one_hot - soft.detach() + soft
