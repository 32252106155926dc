"""Smooth activation functions, gates, and softmax's relatives."""

from __future__ import annotations

from typing import Any

from ...core.layout import contiguous_format
from ...core.tensor import Tensor
from ...dispatch.op import Array, Backend, composite, op, reads_results
from ...warnings import warn
from ..checks import blockwise, refuse
from ..memory_order import in_rows
from ..named_results import first
from .activation import FUNCTIONAL, gate_halves, logistic
from .softmax import _softmax as softmax_kernel
from .softmax import along, softmax


@op(namespaces=FUNCTIONAL, exact_out=True, elementwise=True)
def softplus(xp: Backend, input: Array, beta: float = 1.0, threshold: float = 20.0) -> Array:
    """``log(1 + exp(beta * x)) / beta``, a smooth ``relu``.

    Args:
        input: Tensor of any shape.
        beta: How sharp the bend is; default 1.
        threshold: Where ``beta * x`` exceeds it the function is ``x``; default 20.

    Example:
        >>> import tinytorch as tt
        >>> tt.nn.functional.softplus(tt.tensor([0.0, 100.0]))
        tensor([  0.6931, 100.0000])
    """
    refuse(xp, "softplus_cpu", "uibc", input)

    def part(x: Array) -> Array:
        scaled = x * beta
        bent = xp.log1p(xp.exp(xp.minimum(scaled, threshold))) / beta
        return xp.where(scaled > threshold, x, bent)

    return blockwise(xp, part, input)


def _softplus_gradient(xp: Any, g: Any, input: Any, beta: Any, threshold: Any) -> Any:
    scaled = input * beta
    return xp.where(scaled > threshold, g, g * logistic(xp, scaled))


softplus.vjp(
    input=lambda xp, g, input, beta, threshold: blockwise(
        xp, lambda g, x: _softplus_gradient(xp, g, x, beta, threshold), g, input
    )
)


@op(
    namespaces=FUNCTIONAL,
    node="LogSigmoidBackward0",
    exact_out=True,
    buffered=True,
    elementwise=True,
)
def logsigmoid(xp: Backend, input: Array) -> Array:
    """``log(sigmoid(x))``, without rounding to ``log(0)``.

    Args:
        input: Tensor of any shape.

    Example:
        >>> import tinytorch as tt
        >>> tt.nn.functional.logsigmoid(tt.tensor([0.0, -1000.0]))
        tensor([-6.9315e-01, -1.0000e+03])
    """
    refuse(xp, "log_sigmoid_cpu", "uibc", input)
    return blockwise(
        xp, lambda x: xp.minimum(x, 0) - xp.log1p(xp.exp(-xp.absolute(x))), in_rows(xp, input)
    )


logsigmoid.vjp(
    input=lambda xp, g, input: blockwise(xp, lambda g, x: g * logistic(xp, -x), g, input)
)


@op(inplace=True, namespaces=FUNCTIONAL, elementwise=True)
def mish(xp: Backend, input: Array, inplace: bool = False) -> Array:
    """``x * tanh(softplus(x))``.

    Args:
        input: Tensor of any shape.
        inplace: Write the result over ``input``; default False.

    Example:
        >>> import tinytorch as tt
        >>> tt.nn.functional.mish(tt.tensor([0.0, 1.0]))
        tensor([0.0000, 0.8651])

    Reference:
        Misra: Mish: A Self Regularized Non-Monotonic Activation Function, arXiv:1908.08681.
    """
    refuse(xp, "mish_cpu", "uibc", input)
    return blockwise(xp, lambda x: x * _tanh_of_softplus(xp, x), input)


def _tanh_of_softplus(xp: Any, x: Any) -> Any:
    """With ``e = exp(x)``: ``e (e + 2) / (e (e + 2) + 2)``.

    That is 1 in any dtype from 20 on; in half precision from 5 on, and above infinite soon.
    """
    e = xp.exp(xp.minimum(x, 5 if x.dtype.itemsize == 2 else 20))
    top = e * (e + 2)
    return top / (top + 2)


def _mish_gradient(xp: Any, g: Any, x: Any) -> Any:
    t = _tanh_of_softplus(xp, x)
    return g * (t + x * (1 - t * t) * logistic(xp, x))


mish.vjp(input=lambda xp, g, input: blockwise(xp, lambda g, x: _mish_gradient(xp, g, x), g, input))


@op(namespaces=FUNCTIONAL, promote="float", node="DivBackward0")
def softsign(xp: Backend, input: Array) -> Array:
    """``x / (1 + |x|)``.

    Args:
        input: Tensor of any shape; integers give the default dtype.

    Example:
        >>> import tinytorch as tt
        >>> tt.nn.functional.softsign(tt.tensor([-1.0, 3.0]))
        tensor([-0.5000,  0.7500])
    """
    return input / (1 + xp.absolute(input))


def _softsign_gradient(xp: Any, g: Any, input: Any) -> Any:
    size = 1 + xp.abs(input)
    if input.dtype.kind != "c":
        return g / (size * size)
    # d(z / s) = dz / s - z Re(conj(z) dz) / (|z| s²), as a map of the conjugated gradient.
    modulus = xp.where(size == 1, 1, size - 1)
    return g / size - xp.conj(input) * xp.real(g * input) / (modulus * size * size)


softsign.vjp(input=_softsign_gradient)


@op(
    promote="float", public=False, node="SubBackward0", materialize=False, returns=first,
    strict=True,
)  # fmt: skip
def _tanhshrink(xp: Backend, input: Array) -> tuple[Array, Array]:
    """``tanhshrink``, and the ``tanh`` to keep for its gradient."""
    t = xp.tanh(input)
    return input - t, t


@reads_results(1)
def _tanhshrink_gradient(xp: Any, g: Any, out: Any) -> Any:
    square = out[1] * out[1]
    slope = None if g[0] is None else g[0] * square
    if g[1] is None:
        return slope
    further = g[1] * (1 - square)
    return further if slope is None else slope + further


_tanhshrink.vjp(input=_tanhshrink_gradient)


@composite(namespaces=FUNCTIONAL, node="SubBackward0")
def tanhshrink(input: Tensor) -> Tensor:
    """``x - tanh(x)``.

    Args:
        input: Tensor of any shape; integers give the default dtype.

    Example:
        >>> import tinytorch as tt
        >>> tt.nn.functional.tanhshrink(tt.tensor([0.0, 1.0]))
        tensor([0.0000, 0.2384])
    """
    return _tanhshrink(input)


@op(namespaces=FUNCTIONAL)
def glu(xp: Backend, input: Array, dim: int = -1) -> Array:
    """The first half of ``input`` along ``dim`` times the sigmoid of the second.

    Args:
        input: Tensor of shape ``(*, 2n, *)``.
        dim: The dimension to halve; default the last.

    Returns:
        Tensor of shape ``(*, n, *)``.

    Raises:
        RuntimeError: If that dimension has an odd size, or for a 0-d tensor.

    Example:
        >>> import tinytorch as tt
        >>> tt.nn.functional.glu(tt.tensor([3.0, 0.0]))
        tensor([1.5000])

    Reference:
        Dauphin, Fan, Auli, Grangier: Language Modeling with Gated Convolutional Networks,
        arXiv:1612.08083.
    """
    at = gate_halves("glu", input, dim)
    refuse(xp, "glu_cpu", "uib", input)
    value, gate = xp.split(input, 2, axis=at)
    return value / (1 + xp.exp(-gate))


def _glu_gradient(xp: Any, g: Any, input: Any, dim: int) -> Any:
    at = dim % input.ndim
    half = input.shape[at] // 2
    before = (slice(None),) * at
    value, gate = input[(*before, slice(0, half))], input[(*before, slice(half, None))]
    s = logistic(xp, gate)
    return xp.concatenate((g * s, g * (value * (s * (1 - s)))), axis=at)


glu.vjp(input=_glu_gradient)


@composite(namespaces=FUNCTIONAL)
def softmin(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None
) -> Tensor:
    """``softmax(-input)``: the smallest number gets the largest share.

    Args:
        input: Tensor of any shape.
        dim: The dimension; None is torch's legacy choice, as in ``softmax``.
        dtype: Compute and return in this type; the default is the input's.

    Example:
        >>> import tinytorch as tt
        >>> tt.nn.functional.softmin(tt.zeros(2), 0)
        tensor([0.5000, 0.5000])
    """
    return along(softmax_kernel, "softmin", -input, dim, dtype, _stacklevel)


@composite(namespaces=FUNCTIONAL)
def gumbel_softmax(
    logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1
) -> Tensor:
    """A differentiable draw from the categorical distributions along ``dim``.

    Args:
        logits: Unnormalised log probabilities; tensor of any shape.
        tau: Temperature, above 0; default 1.
        hard: Return one-hot vectors, with the gradient of the soft ones; default False.
        eps: Without effect, as in torch.
        dim: The dimension of the categories; default the last.

    Returns:
        Tensor of the same shape whose numbers along ``dim`` sum to 1.

    Example:
        >>> import tinytorch as tt
        >>> tt.nn.functional.gumbel_softmax(tt.zeros(2, 3), hard=True).sum(-1)
        tensor([1., 1.])

    Reference:
        Jang, Gu, Poole: Categorical Reparameterization with Gumbel-Softmax, arXiv:1611.01144.
    """
    from ..create.factories_like import empty_like, zeros_like

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
