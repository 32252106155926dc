"""The reduction of losses; losses of regression, of probabilities, and of distributions."""

from __future__ import annotations

import math
from typing import Any

from ... import dtypes
from ...core.tensor import Tensor
from ...dispatch.op import Array, Backend, composite, op
from ...dispatch.out import scalar_name
from ...state import grad_enabled
from ...warnings import warn
from ..checks import check_supported
from .activation import sigmoid
from .rectifiers import hardtanh, logsigmoid

#: The namespaces of the losses.
SPACE = ("nn.functional",)


def reduction_of(
    reduction: str, size_average: bool | None = None, reduce: bool | None = None
) -> str:
    """Reduction of a loss: ``reduction``, or what its deprecated alternatives stand for.

    ``size_average`` and ``reduce`` replace ``reduction`` with a warning if they are not None.
    """
    if size_average is None and reduce is None:
        return current_reduction(reduction)
    reduction = "none" if reduce is False else "sum" if size_average is False else "mean"
    warn(
        "size_average and reduce args will be deprecated, "
        f"please use reduction='{reduction}' instead.",
    )
    return reduction


def current_reduction(reduction: str) -> str:
    """The reduction, with its deprecated name replaced after a warning."""
    if reduction == "elementwise_mean":
        warn("reduction='elementwise_mean' is deprecated. Please use reduction='mean' instead.")
        return "mean"
    return reduction


def refuse_grad(function: str, **tensors: Any) -> None:
    """Raise RuntimeError if one of ``tensors`` requires a gradient that PyTorch does not have.

    ``function`` is the name of PyTorch's function in the error; None stands for no tensor.
    """
    for name, tensor in tensors.items():
        if tensor is not None and tensor.requires_grad and grad_enabled():
            raise RuntimeError(
                f"The function '{function}' is not differentiable with respect to argument "
                f"'{name}'. This input cannot have requires_grad True."
            )


def check_scalar_type(expected: Any, tensor: Any) -> None:
    """Raise RuntimeError for a tensor of another dtype than ``expected``."""
    if tensor.dtype != expected:
        raise RuntimeError(
            f"expected scalar type {scalar_name(expected)} but found {scalar_name(tensor.dtype)}"
        )


def multiply_weight(loss: Any, weight: Any) -> Any:
    """``loss * weight`` in the loss's shape and dtype, as of an in-place product.

    Raises:
        RuntimeError: If the product has another shape, or its dtype cannot be cast.
    """
    return loss if weight is None else cast_inplace(loss, loss * weight)


def cast_inplace(tensor: Any, value: Any) -> Any:
    """``value`` in the dtype of ``tensor``; raise RuntimeError if it cannot be written into it.

    PyTorch writes it into ``tensor``, so it must have that shape, too.
    """
    if value.shape != tensor.shape:
        raise RuntimeError(
            f"output with shape {list(tensor.shape)} doesn't match the broadcast shape "
            f"{list(value.shape)}"
        )
    return cast_loss(value, tensor.dtype)


def cast_loss(loss: Any, dtype: Any) -> Any:
    """``loss`` in ``dtype``, that of PyTorch's result; raise RuntimeError if it cannot be cast."""
    if loss.dtype == dtype:
        return loss
    if loss.is_complex() or not dtype.is_floating_point:
        raise RuntimeError(
            f"result type {scalar_name(loss.dtype)} can't be cast to the desired output type "
            f"{scalar_name(dtype)}"
        )
    return loss.to(dtype)


def reduce_loss(loss: Any, reduction: str) -> Tensor:
    """Loss of each element, their sum, or their mean.

    Raises:
        ValueError: For any other ``reduction``.
    """
    if reduction == "mean":
        return loss.mean()  # type: ignore[no-any-return]
    if reduction == "sum":
        return loss.sum()  # type: ignore[no-any-return]
    if reduction != "none":
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return loss  # type: ignore[no-any-return]


def _reduce_weighted(loss: Any, weight: Any, input: Tensor, reduction: str) -> Tensor:
    """``reduce_loss`` of weighted elements; the mean divides by the sum of the weights."""
    if weight is None:
        return reduce_loss(loss, reduction)
    if weight.shape != input.shape:
        raise ValueError("Weights and input must have the same size.")
    if reduction == "mean":
        return (loss * weight).sum() / weight.sum()  # type: ignore[no-any-return]
    return reduce_loss(loss * weight, reduction)


def _are_floats_of_one_shape(input: Tensor, target: Tensor) -> bool:
    """Whether both are real floating-point tensors of one shape, and not empty."""
    x, y = input._data, target._data
    return bool(x.dtype.kind == y.dtype.kind == "f" and x.shape == y.shape and x.size)


def _warn_about_broadcasting(input: Tensor, target: Tensor) -> None:
    """Warn if the target has another shape than the input."""
    if target._data.shape != input._data.shape:
        warn(
            f"Using a target size ({target.shape}) that is different to the input size "
            f"({input.shape}). This will likely lead to incorrect results due to broadcasting. "
            "Please ensure they have the same size.",
        )


def _promote_zero_dim(input: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """Input and target, promoted to one dtype if exactly one of them is 0-d.

    PyTorch expands a 0-d tensor first, so that its dtype counts, too.
    """
    if input.dtype == target.dtype or bool(input.ndim) == bool(target.ndim):
        return input, target
    dtype = dtypes.promote_types(input.dtype, target.dtype)
    return input.to(dtype), target.to(dtype)


@op(public=False, promote="arithmetic", node="MseLossBackward0")
def _squared_error(xp: Backend, input: Array, other: Array) -> Array:
    """``(input - other) ** 2`` of each element."""
    check_supported(xp, "mse_cpu", input, unsupported="biuc")
    difference = input - other
    return difference * difference


_squared_error.vjp(
    input=lambda xp, g, input, other: g * (2 * (input - other)),
    other=lambda xp, g, input, other: g * (2 * (other - input)),
)


@op(public=False, promote="arithmetic", node="MseLossBackward0")
def _mean_squared_error(xp: Backend, input: Array, other: Array) -> Array:
    """Mean of ``_squared_error`` of two arrays of one shape."""
    difference = input - other
    return xp.mean(difference * difference)


_mean_squared_error.vjp(
    input=lambda xp, g, input, other: (g * (2 / input.size)) * (input - other),
    other=lambda xp, g, input, other: (g * (2 / input.size)) * (other - input),
)


@op(public=False, promote="arithmetic", node="HuberLossBackward0")
def _huber_error(
    xp: Backend, input: Array, target: Array, delta: float, kernel: str = "huber_cpu"
) -> Array:
    """Huber loss of each element."""
    check_supported(xp, kernel, input, unsupported="biuc")
    error = xp.abs(input - target)
    # Both branches are c * (error - c / 2) with c = min(error, delta).
    clipped = xp.between(error, None, delta)
    return clipped * (error - 0.5 * clipped)


# hardtanh, not clip: at ±delta its derivative is 0, as PyTorch's second derivative of this loss.
_huber_error.vjp(
    input=lambda xp, g, input, target, delta: g * xp.call(hardtanh, input - target, -delta, delta),
    target=lambda xp, g, input, target, delta: g * xp.call(hardtanh, target - input, -delta, delta),
)


@composite(public=False, node="MseLossBackward0")
def _sum_of_squares(input: Tensor, target: Tensor) -> Tensor:
    """Sum of ``_squared_error``, as one node."""
    return _squared_error(input, target).sum()


@composite(namespaces=SPACE)
def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """(input - target)².

    Args:
        input: Any shape.
        target: The same shape.
        size_average: Deprecated; see ``reduction``.
        reduce: Deprecated; see ``reduction``.
        reduction: ``"mean"`` or ``"sum"`` of the losses, a 0-d tensor, or ``"none"``, the losses of
            all elements. Default: ``"mean"``.
        weight: A factor for each element, of the input's shape. Default: all 1.

    Raises:
        ValueError: If ``weight`` has another shape or ``reduction`` is unknown.

    Example:
        >>> tt.nn.functional.mse_loss(tt.tensor([1.0, 2.0]), tt.tensor([1.0, 4.0]))
        tensor(2.)
    """
    _warn_about_broadcasting(input, target)
    input, target = _promote_zero_dim(input, target)
    reduction = reduction_of(reduction, size_average, reduce)
    if reduction == "mean" and weight is None and _are_floats_of_one_shape(input, target):
        return _mean_squared_error(input, target)
    if reduction == "sum" and weight is None:
        return _sum_of_squares(input, target)
    if weight is None:
        return reduce_loss(_squared_error(input, target), reduction)
    difference: Any = input - target  # unlike the others, it supports integers
    return _reduce_weighted(difference.square(), weight, input, reduction)


@composite(namespaces=SPACE, like=mse_loss)
def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """|input - target|.

    Raises:
        ValueError: If ``weight`` has another shape or ``reduction`` is unknown.

    Example:
        >>> tt.nn.functional.l1_loss(tt.tensor([1.0, 2.0]), tt.tensor([1.0, 4.0]))
        tensor(1.)
    """
    _warn_about_broadcasting(input, target)
    input, target = _promote_zero_dim(input, target)
    reduction = reduction_of(reduction, size_average, reduce)
    difference: Any = input - target  # input and target are not saved: they may be modified
    return _reduce_weighted(difference.abs(), weight, input, reduction)


@composite(namespaces=SPACE, node="SmoothL1LossBackward0", like=mse_loss)
def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Tensor:
    """d² / (2 beta) where d = |input - target| is below beta, else d - beta / 2.

    Args:
        input: Any shape.
        target: The same shape.
        beta: Not negative; with 0 it is ``l1_loss``. Default: 1.

    Raises:
        RuntimeError: If ``beta`` is negative.
        ValueError: If ``reduction`` is unknown.

    Example:
        >>> x, y = tt.tensor([1.0, 2.0]), tt.tensor([1.5, 4.0])
        >>> tt.nn.functional.smooth_l1_loss(x, y, reduction="none")
        tensor([0.1250, 1.5000])

    Reference:
        R. Girshick, "Fast R-CNN" (2015).
    """
    _warn_about_broadcasting(input, target)
    input, target = _promote_zero_dim(input, target)
    reduction = reduction_of(reduction, size_average, reduce)
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    if beta == 0:
        difference: Any = input - target
        return reduce_loss(difference.abs(), reduction)
    return reduce_loss(_huber_error(input, target, float(beta), "smooth_l1_cpu") / beta, reduction)


@composite(namespaces=SPACE, node="HuberLossBackward0", like=mse_loss)
def huber_loss(
    input: Tensor,
    target: Tensor,
    reduction: str = "mean",
    delta: float = 1.0,
    weight: Tensor | None = None,
) -> Tensor:
    """d² / 2 where d = |input - target| is below delta, else delta · (d - delta / 2).

    Args:
        input: Any shape.
        target: The same shape.
        delta: Positive. Default: 1.
        weight: A factor for each element, of the input's shape; ``"mean"`` still divides by
            the number of elements. Default: all 1.

    Returns:
        A 0-d tensor, or for ``"none"`` one of the input's shape; of the input's dtype.

    Raises:
        RuntimeError: If ``delta`` is not positive, or the input holds integers.
        ValueError: If ``weight`` has another shape or ``reduction`` is unknown.

    Example:
        >>> x, y = tt.tensor([1.0, 2.0]), tt.tensor([1.5, 6.0])
        >>> tt.nn.functional.huber_loss(x, y, "none", delta=2.0)
        tensor([0.1250, 6.0000])

    Reference:
        P. Huber, "Robust estimation of a location parameter" (1964).
    """
    _warn_about_broadcasting(input, target)
    if not delta > 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    reduction = current_reduction(reduction)
    loss = cast_loss(_huber_error(input, target, float(delta)), input.dtype)
    if weight is None:
        return reduce_loss(loss, reduction)
    if weight.shape != input.shape:
        raise ValueError("Weights and input must have the same size.")
    return reduce_loss(loss * weight, reduction)


@op(public=False, promote="arithmetic", node="BinaryCrossEntropyBackward0")
def _binary_cross_entropy(xp: Backend, input: Array, target: Array) -> Array:
    """``-target log(input) - (1 - target) log(1 - input)`` of each element."""
    check_supported(xp, "binary_cross_entropy", input, unsupported="uic")
    # As in PyTorch, the lower bound keeps the loss finite, and 0 * log(0) from being NaN.
    log_p = xp.maximum(xp.log(input), -100)
    log_q = xp.maximum(xp.log1p(-input), -100)
    return (target - 1) * log_q - target * log_p


@op(public=False, promote="arithmetic")
def _bce_derivative(xp: Backend, input: Array, target: Array) -> Array:
    """Derivative of ``_binary_cross_entropy`` with respect to the input."""
    return (input - target) / xp.maximum((1 - input) * input, 1e-12)


def _bce_double_backward(xp: Any, g: Any, input: Any, target: Any) -> Any:
    """Derivative of ``_bce_derivative`` with respect to the input, times ``g``.

    The formula is PyTorch's. It is 0 for an input of 0 or 1 that equals the target.
    """
    p, q = input + 1e-12, 1 - input + 1e-12
    return g * (input * input - 2 * input * target + target) / (p * p * q * q)


_bce_derivative.vjp(
    input=_bce_double_backward,
    target=lambda xp, g, input: -g / xp.maximum((1 - input) * input, 1e-12),
)
_binary_cross_entropy.vjp(
    input=lambda xp, g, input, target: g * xp.call(_bce_derivative, input, target),
    target=lambda xp, g, input: g * (xp.log1p(-input) - xp.log(input)),
)


@composite(namespaces=SPACE, node="BinaryCrossEntropyBackward0", like=mse_loss)
def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """-(target · log(input) + (1 - target) · log(1 - input)), with logarithms of at least -100.

    Args:
        input: Probabilities, any shape.
        target: The same shape, in [0, 1].
        weight: A factor for each element, broadcast. Default: all 1.

    Raises:
        ValueError: If the shapes differ or ``reduction`` is unknown.
        RuntimeError: If the dtypes differ or elements lie outside [0, 1].

    Example:
        >>> x, y = tt.tensor([0.5, 0.9]), tt.tensor([0.0, 1.0])
        >>> tt.nn.functional.binary_cross_entropy(x, y)
        tensor(0.3993)
    """
    reduction = reduction_of(reduction, size_average, reduce)
    if target.shape != input.shape:
        raise ValueError(
            f"Using a target size ({target.shape}) that is different to the input size "
            f"({input.shape}) is deprecated. Please ensure they have the same size."
        )
    refuse_grad("binary_cross_entropy", weight=weight)
    if target.dtype != input.dtype:
        found, expected = scalar_name(target.dtype), scalar_name(input.dtype)
        raise RuntimeError(f"Found dtype {found} but expected {expected}")
    for name, values in (("input", input._data), ("target", target._data)):
        low, high = input._xp.constants(values, 0.0, 1.0)
        inside = (values >= low) & (values <= high)
        input._xp.check_all(inside, f"all elements of {name} should be between 0 and 1")
    return reduce_loss(multiply_weight(_binary_cross_entropy(input, target), weight), reduction)


@op(public=False, promote="arithmetic", node="BinaryCrossEntropyWithLogitsBackward0")
def _logits_cross_entropy(xp: Backend, input: Array, other: Array) -> Array:
    """``_binary_cross_entropy`` of ``sigmoid(input)`` with the targets ``other``."""
    # (1 - y) x - log σ(x), written so that no exponent is positive and no infinite x gives NaN.
    return (1 - other) * input + xp.maximum(-input, 0) + xp.log1p(xp.exp(-xp.abs(input)))


_logits_cross_entropy.vjp(
    input=lambda xp, g, input, other: g * (xp.call(sigmoid, input) - other),
    other=lambda xp, g, input: -g * input,
)


@composite(
    namespaces=SPACE, node="BinaryCrossEntropyWithLogitsBackward0", like=binary_cross_entropy
)
def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """``binary_cross_entropy`` of the sigmoid of the input, computed without overflow.

    Args:
        input: Logits, any shape.
        pos_weight: A factor on the loss where the target is 1, broadcast. Default: 1.

    Raises:
        ValueError: If the shapes differ or ``reduction`` is unknown.

    Example:
        >>> x, y = tt.tensor([0.0, 2.0]), tt.tensor([0.0, 1.0])
        >>> tt.nn.functional.binary_cross_entropy_with_logits(x, y)
        tensor(0.4100)
    """
    reduction = reduction_of(reduction, size_average, reduce)
    if target.shape != input.shape:
        raise ValueError(
            f"Target size ({target.shape}) must be the same as input size ({input.shape})"
        )
    refuse_grad("binary_cross_entropy_with_logits", weight=weight, pos_weight=pos_weight)
    check_supported(input._xp, "log_sigmoid_cpu", input._data, unsupported="uibc")
    loss: Any
    if pos_weight is None:
        loss = _logits_cross_entropy(input, target)
    else:
        # log(1 - σ(x)) = log σ(x) - x.
        scale = 1 + (pos_weight - 1) * target
        loss = (1 - target) * input - multiply_weight(logsigmoid(input), scale)
    # As in PyTorch, the loss has the target's dtype.
    return reduce_loss(multiply_weight(cast_loss(loss, target.dtype), weight), reduction)


@composite(namespaces=SPACE, like=mse_loss)
def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Tensor:
    """target · (log target - input), where ``input`` holds logarithms of probabilities.

    Args:
        input: Logarithms of probabilities, any shape.
        target: Probabilities, the same shape.
        reduction: ``"batchmean"`` (the sum divided by the batch size, as in the definition),
            ``"mean"``, ``"sum"`` or ``"none"``. Default: ``"mean"``.
        log_target: Whether the target holds logarithms, too. Default: False.

    Raises:
        ValueError: If ``reduction`` is unknown.

    Example:
        >>> x, y = tt.tensor([[0.5, 0.5]]).log(), tt.tensor([[0.25, 0.75]])
        >>> tt.nn.functional.kl_div(x, y, reduction="batchmean")
        tensor(0.1308)

    Reference:
        S. Kullback and R. Leibler, "On information and sufficiency" (1951).
    """
    if input.is_complex():
        raise RuntimeError("kl_div: Complex inputs not supported.")
    if not (input.is_floating_point() and target.is_floating_point()):
        raise RuntimeError("kl_div: Integral inputs not supported.")
    if reduction == "mean" and size_average is None and reduce is None:
        warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support "
            "size.'batchmean' divides only by the batch size, and aligns with the KL div math "
            "definition.",
        )
    reduction = reduction_of(reduction, size_average, reduce)
    x: Any = input
    y: Any = target
    if log_target:
        loss = y.exp() * (y - x)
    else:
        # 0 * log(0) counts as its limit, 0.
        loss = y * y.masked_fill(y == 0, 1).log() - y * x
    if reduction == "batchmean":
        return loss.sum() / (input.shape[0] if input.ndim else 1)  # type: ignore[no-any-return]
    return reduce_loss(loss, reduction)


@composite(namespaces=SPACE, like=mse_loss)
def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    size_average: bool | None = None,
    eps: float = 1e-8,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """exp(input) - target · input: the negative log-likelihood of a Poisson distribution.

    Args:
        input: The logarithm of the rate, any shape.
        target: The same shape.
        log_input: Whether the input is the logarithm of the rate. If not, it is the rate, and the
            loss is input - target · log(input + eps). Default: True.
        full: Whether to add Stirling's approximation of log(target!). Default: False.
        eps: Default: 1e-8.

    Raises:
        ValueError: If ``reduction`` is unknown.

    Example:
        >>> x, y = tt.tensor([0.0, 1.0]), tt.tensor([1.0, 2.0])
        >>> tt.nn.functional.poisson_nll_loss(x, y)
        tensor(0.8591)
    """
    reduction = reduction_of(reduction, size_average, reduce)
    x: Any = input
    y: Any = target
    loss = x.exp() - y * x if log_input else x - y * (x + eps).log()
    if full:
        stirling = y * y.log() - y + 0.5 * (2 * math.pi * y).log()
        # For targets up to 1 the approximation is inaccurate, and at 0 infinite.
        loss = loss + stirling.masked_fill(y <= 1, 0)
    return reduce_loss(loss, reduction)


@composite(namespaces=SPACE, like=mse_loss)
def gaussian_nll_loss(
    input: Tensor,
    target: Tensor,
    var: Tensor | float,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Tensor:
    """(log var + (input - target)² / var) / 2: negative log-likelihood of a normal distribution.

    Args:
        input: The means, any shape.
        target: Samples, of the same shape.
        var: The variances: of that shape, of that shape without its last dimension or with a size
            of 1 in one dimension; or a Python scalar.
        full: Whether to add log(2π) / 2. Default: False.
        eps: Lower bound of the variances, which the gradient ignores. Default: 1e-6.

    Raises:
        ValueError: If a variance is negative, its shape does not fit, or ``reduction`` is
            unknown.

    Example:
        >>> mean, y = tt.zeros(2), tt.tensor([1.0, 2.0])
        >>> tt.nn.functional.gaussian_nll_loss(mean, y, tt.ones(2))
        tensor(1.2500)

    Reference:
        D. Nix and A. Weigend, "Estimating the mean and variance of the target probability
        distribution" (1994).
    """
    variance: Any = _variance(input, var)
    # Not `variance.clamp(min=eps)`, whose gradient is zero below eps.
    variance = variance + (eps - variance.detach()).clamp(min=0)
    difference: Any = input - target
    loss = 0.5 * (variance.log() + difference * difference / variance)
    if full:
        loss = loss + 0.5 * math.log(2 * math.pi)
    return reduce_loss(loss, reduction)


def _variance(input: Any, var: Any) -> Any:
    """Variances ``var``, a tensor or a number, as a tensor that broadcasts with the input.

    Raises ValueError for negative ones or sizes that do not fit.
    """
    if not isinstance(var, Tensor):
        var = input.new_full(input.shape, var)
    if not var._xp.holds(~(var._data < 0)):
        raise ValueError("var has negative entry/entries")
    if var.shape == input.shape:
        return var
    if var.shape == input.shape[:-1]:
        return var.unsqueeze(-1)
    differing = [v for x, v in zip(input.shape, var.shape, strict=False) if x != v]
    if var.ndim == input.ndim and differing == [1]:
        return var
    raise ValueError(
        f"var is of incorrect size: expected {tuple(input.shape)}, got {tuple(var.shape)}"
    )
