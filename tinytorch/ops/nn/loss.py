"""Losses of regression, element by element, and the reduction that all losses share.

Losses of probabilities, and of the parameters of distributions.
"""

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

#: Where the losses are public.
SPACE = ("nn.functional",)


def reduction_of(
    reduction: str, size_average: bool | None = None, reduce: bool | None = None
) -> str:
    """The reduction a call asks for, in today's way or by the two arguments of old."""
    if size_average is None and reduce is None:
        return in_present_words(reduction)
    wanted = "none" if reduce is False else "sum" if size_average is False else "mean"
    warn(
        "size_average and reduce args will be deprecated, "
        f"please use reduction='{wanted}' instead.",
    )
    return wanted


def in_present_words(reduction: str) -> str:
    """The reduction, with a warning for the word of old."""
    if reduction == "elementwise_mean":
        warn("reduction='elementwise_mean' is deprecated. Please use reduction='mean' instead.")
        return "mean"
    return reduction


def refuse_grad(function: str, **tensors: Any) -> None:
    """RuntimeError for arguments that require grad where PyTorch has no gradient for them."""
    for name, tensor in tensors.items():
        if tensor is not None and tensor.requires_grad and grad_enabled():
            raise RuntimeError(
                f"The function '{function}' is not differentiable with respect to argument "
                f"'{name}'. This input cannot have requires_grad True."
            )


def check_scalar_type(expected: Any, tensor: Any) -> None:
    """RuntimeError for a tensor of another dtype than a kernel expects."""
    if tensor.dtype != expected:
        raise RuntimeError(
            f"expected scalar type {scalar_name(expected)} but found {scalar_name(tensor.dtype)}"
        )


def weighted(loss: Any, weight: Any) -> Any:
    """``loss * weight`` in the shape and dtype of the loss, as a product in place gives it.

    Raises:
        RuntimeError: If the product has another shape, or a kind of numbers the loss is not.
    """
    if weight is None:
        return loss
    return in_place_of(loss, loss * weight)


def in_place_of(tensor: Any, value: Any) -> Any:
    """``value`` in the dtype of ``tensor``, which PyTorch writes it into; RuntimeError if unfit."""
    if value.shape != tensor.shape:
        raise RuntimeError(
            f"output with shape {list(tensor.shape)} doesn't match the broadcast shape "
            f"{list(value.shape)}"
        )
    return in_dtype(value, tensor.dtype)


def in_dtype(loss: Any, dtype: Any) -> Any:
    """``loss`` in the dtype of what PyTorch writes it into; RuntimeError where that cannot be."""
    if loss.dtype == dtype:
        return loss
    if loss.is_complex() or not dtype.is_floating_point:
        raise RuntimeError(
            f"result type {scalar_name(loss.dtype)} can't be cast to the desired output type "
            f"{scalar_name(dtype)}"
        )
    return loss.to(dtype)


def reduced(loss: Any, reduction: str) -> Tensor:
    """The loss of every element, their sum, or their mean.

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


def _weighted(loss: Any, weight: Any, input: Tensor, reduction: str) -> Tensor:
    """``reduced``, each element counting as much as its weight says."""
    if weight is None:
        return reduced(loss, reduction)
    if weight.shape != input.shape:
        raise ValueError("Weights and input must have the same size.")
    if reduction == "mean":
        return (loss * weight).sum() / weight.sum()  # type: ignore[no-any-return]
    return reduced(loss * weight, reduction)


def _are_floats_of_one_shape(input: Tensor, target: Tensor) -> bool:
    x, y = input._data, target._data
    return bool(x.dtype.kind == y.dtype.kind == "f" and x.shape == y.shape and x.size)


def _warn_of_broadcasting(input: Tensor, target: Tensor) -> None:
    if target._data.shape != input._data.shape:
        warn(
            f"Using a target size ({target.shape}) that is different to the input size "
            f"({input.shape}). This will likely lead to incorrect results due to broadcasting. "
            "Please ensure they have the same size.",
        )


def _in_common(input: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """Both in one dtype where one is 0-d: broadcast to the other's shape, it counts in full."""
    if input.dtype == target.dtype or bool(input.ndim) == bool(target.ndim):
        return input, target
    dtype = dtypes.promote_types(input.dtype, target.dtype)
    return input.to(dtype), target.to(dtype)


@op(public=False, promote="arithmetic", node="MseLossBackward0")
def _squared_error(xp: Backend, input: Array, other: Array) -> Array:
    check_supported(xp, "mse_cpu", "biuc", input)
    difference = input - other
    return difference * difference


_squared_error.vjp(
    input=lambda xp, g, input, other: g * (2 * (input - other)),
    other=lambda xp, g, input, other: g * (2 * (other - input)),
)


@op(public=False, promote="arithmetic", node="MseLossBackward0")
def _mean_squared_error(xp: Backend, input: Array, other: Array) -> Array:
    """The mean of ``_squared_error`` of two arrays of one shape."""
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
    check_supported(xp, kernel, "biuc", input)
    error = xp.abs(input - target)
    # min(error, delta) · (error - min(error, delta) / 2) is both branches at once.
    inner = xp.between(error, None, delta)
    return inner * (error - 0.5 * inner)


# hardtanh, not clip: its slope where the two branches meet is 0, as is this loss's second there.
_huber_error.vjp(
    input=lambda xp, g, input, target, delta: g * xp.call(hardtanh, input - target, -delta, delta),
    target=lambda xp, g, input, target, delta: g * xp.call(hardtanh, target - input, -delta, delta),
)


@composite(public=False, node="MseLossBackward0")
def _sum_of_squares(input: Tensor, target: Tensor) -> Tensor:
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
        reduction: ``"mean"``, ``"sum"`` or ``"none"``. Default: ``"mean"``.
        weight: A factor for each element, of the input's shape. Default: all 1.

    Returns:
        A 0-d tensor, or for ``"none"`` one of the input's shape.

    Raises:
        ValueError: If ``weight`` has another shape or ``reduction`` is unknown.

    Example:
        >>> tt.nn.functional.mse_loss(tt.tensor([1.0, 2.0]), tt.tensor([1.0, 4.0]))
        tensor(2.)
    """
    _warn_of_broadcasting(input, target)
    input, target = _in_common(input, target)
    reduction = reduction_of(reduction, size_average, reduce)
    if reduction == "mean" and weight is None and _are_floats_of_one_shape(input, target):
        return _mean_squared_error(input, target)
    if reduction == "sum" and weight is None:
        return _sum_of_squares(input, target)
    if weight is None:
        return reduced(_squared_error(input, target), reduction)
    difference: Any = input - target  # of any numbers, as PyTorch's weighted form takes them
    return _weighted(difference.square(), weight, input, reduction)


@composite(namespaces=SPACE)
def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """|input - target|.

    Args:
        input: Any shape.
        target: The same shape.
        size_average: Deprecated; see ``reduction``.
        reduce: Deprecated; see ``reduction``.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``. Default: ``"mean"``.
        weight: A factor for each element, of the input's shape. Default: all 1.

    Returns:
        A 0-d tensor, or for ``"none"`` one of the input's shape.

    Raises:
        ValueError: If ``weight`` has another shape or ``reduction`` is unknown.

    Example:
        >>> tt.nn.functional.l1_loss(tt.tensor([1.0, 2.0]), tt.tensor([1.0, 4.0]))
        tensor(1.)
    """
    _warn_of_broadcasting(input, target)
    input, target = _in_common(input, target)
    reduction = reduction_of(reduction, size_average, reduce)
    difference: Any = input - target  # all that is kept, so that both may be modified
    return _weighted(difference.abs(), weight, input, reduction)


@composite(namespaces=SPACE, node="SmoothL1LossBackward0")
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
        size_average: Deprecated; see ``reduction``.
        reduce: Deprecated; see ``reduction``.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``. Default: ``"mean"``.
        beta: Not negative; 0 gives ``l1_loss``. Default: 1.

    Returns:
        A 0-d tensor, or for ``"none"`` one of the input's shape.

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
    _warn_of_broadcasting(input, target)
    input, target = _in_common(input, target)
    reduction = reduction_of(reduction, size_average, reduce)
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    if beta == 0:
        difference: Any = input - target
        return reduced(difference.abs(), reduction)
    return reduced(_huber_error(input, target, float(beta), "smooth_l1_cpu") / beta, reduction)


@composite(namespaces=SPACE, node="HuberLossBackward0")
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
        reduction: ``"mean"``, ``"sum"`` or ``"none"``. Default: ``"mean"``.
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
    _warn_of_broadcasting(input, target)
    if not delta > 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    reduction = in_present_words(reduction)
    loss = in_dtype(_huber_error(input, target, float(delta)), input.dtype)
    if weight is None:
        return reduced(loss, reduction)
    if weight.shape != input.shape:
        raise ValueError("Weights and input must have the same size.")
    return reduced(loss * weight, reduction)


@op(public=False, promote="arithmetic", node="BinaryCrossEntropyBackward0")
def _binary_cross_entropy(xp: Backend, input: Array, target: Array) -> Array:
    check_supported(xp, "binary_cross_entropy", "uic", input)
    # log(0) = -inf would make the loss of a sure mistake infinite and 0 · log(0) NaN.
    log_yes = xp.maximum(xp.log(input), -100)
    log_no = xp.maximum(xp.log1p(-input), -100)
    return (target - 1) * log_no - target * log_yes


@op(public=False, promote="arithmetic")
def _slope_of_bce(xp: Backend, input: Array, target: Array) -> Array:
    return (input - target) / xp.maximum((1 - input) * input, 1e-12)


def _curvature_of_bce(xp: Any, g: Any, input: Any, target: Any) -> Any:
    """As torch's: 0, not a huge number, where a probability of 0 or 1 is right."""
    yes, no = input + 1e-12, 1 - input + 1e-12
    return g * (input * input - 2 * input * target + target) / (yes * yes * no * no)


_slope_of_bce.vjp(
    input=_curvature_of_bce,
    target=lambda xp, g, input: -g / xp.maximum((1 - input) * input, 1e-12),
)
_binary_cross_entropy.vjp(
    input=lambda xp, g, input, target: g * xp.call(_slope_of_bce, input, target),
    target=lambda xp, g, input: g * (xp.log1p(-input) - xp.log(input)),
)


@composite(namespaces=SPACE, node="BinaryCrossEntropyBackward0")
def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """-(target · log(input) + (1 - target) · log(1 - input)); logarithms not below -100.

    Args:
        input: Probabilities, any shape.
        target: The same shape, in [0, 1].
        weight: A factor for each element, broadcast. Default: all 1.
        size_average: Deprecated; see ``reduction``.
        reduce: Deprecated; see ``reduction``.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``. Default: ``"mean"``.

    Returns:
        A 0-d tensor, or for ``"none"`` one of the input's shape.

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
        inside = (values >= 0) & (values <= 1)
        input._xp.check_all(inside, f"all elements of {name} should be between 0 and 1")
    return reduced(weighted(_binary_cross_entropy(input, target), weight), reduction)


@op(public=False, promote="arithmetic", node="BinaryCrossEntropyWithLogitsBackward0")
def _logits_cross_entropy(xp: Backend, input: Array, other: Array) -> Array:
    # (1 - y) x - log σ(x): infinite, not NaN, for an infinite x. The exponent is never positive.
    return (1 - other) * input + xp.maximum(-input, 0) + xp.log1p(xp.exp(-xp.abs(input)))


_logits_cross_entropy.vjp(
    input=lambda xp, g, input, other: g * (xp.call(sigmoid, input) - other),
    other=lambda xp, g, input: -g * input,
)


@composite(namespaces=SPACE, node="BinaryCrossEntropyWithLogitsBackward0")
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
        target: The same shape, in [0, 1].
        weight: A factor for each element, broadcast. Default: all 1.
        size_average: Deprecated; see ``reduction``.
        reduce: Deprecated; see ``reduction``.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``. Default: ``"mean"``.
        pos_weight: A factor on the loss where the target is 1, broadcast. Default: 1.

    Returns:
        A 0-d tensor, or for ``"none"`` one of the input's shape.

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
    check_supported(input._xp, "log_sigmoid_cpu", "uibc", input._data)
    loss: Any
    if pos_weight is None:
        loss = _logits_cross_entropy(input, target)
    else:
        # log(1 - σ(x)) = log σ(x) - x.
        scale = 1 + (pos_weight - 1) * target
        loss = (1 - target) * input - weighted(logsigmoid(input), scale)
    # The loss is of the target's dtype, whose complement PyTorch begins with.
    return reduced(weighted(in_dtype(loss, target.dtype), weight), reduction)


@composite(namespaces=SPACE)
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
        size_average: Deprecated; see ``reduction``.
        reduce: Deprecated; see ``reduction``.
        reduction: ``"batchmean"`` (the sum divided by the batch size, which is the
            definition), ``"mean"``, ``"sum"`` or ``"none"``. Default: ``"mean"``.
        log_target: Whether the target holds logarithms, too. Default: False.

    Returns:
        A 0-d tensor, or for ``"none"`` one of the input's shape.

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
        # 0 · log 0 is 0 here, its limit.
        loss = y * y.masked_fill(y == 0, 1).log() - y * x
    if reduction == "batchmean":
        return loss.sum() / (input.shape[0] if input.ndim else 1)  # type: ignore[no-any-return]
    return reduced(loss, reduction)


@composite(namespaces=SPACE)
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
    """exp(input) - target · input, where the target has a Poisson distribution.

    Args:
        input: The logarithm of the rate, any shape.
        target: The same shape.
        log_input: False: the input is the rate itself, and the loss is
            input - target · log(input + eps). Default: True.
        full: Whether to add Stirling's approximation of log(target!). Default: False.
        size_average: Deprecated; see ``reduction``.
        eps: Default: 1e-8.
        reduce: Deprecated; see ``reduction``.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``. Default: ``"mean"``.

    Returns:
        A 0-d tensor, or for ``"none"`` one of the input's shape.

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
        # The approximation is off, and its logarithm infinite, for the smallest counts.
        loss = loss + stirling.masked_fill(y <= 1, 0)
    return reduced(loss, reduction)


@composite(namespaces=SPACE)
def gaussian_nll_loss(
    input: Tensor,
    target: Tensor,
    var: Tensor | float,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Tensor:
    """(log var + (input - target)² / var) / 2, where the target has a normal distribution.

    Args:
        input: The expected values, any shape.
        target: Samples, of the same shape.
        var: The variances: of that shape, or without or with 1 in one of its dimensions; or
            one number.
        full: Whether to add log(2π) / 2. Default: False.
        eps: The least variance; the gradient ignores this bound. Default: 1e-6.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``. Default: ``"mean"``.

    Returns:
        A 0-d tensor, or for ``"none"`` one of the input's shape.

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
    # Not `variance.clamp(min=eps)`: its gradient would be zero below eps.
    variance = variance + (eps - variance.detach()).clamp(min=0)
    difference: Any = input - target
    loss = 0.5 * (variance.log() + difference * difference / variance)
    if full:
        loss = loss + 0.5 * math.log(2 * math.pi)
    return reduced(loss, reduction)


def _variance(input: Any, var: Any) -> Any:
    if not isinstance(var, Tensor):
        var = input.new_full(input.shape, var)
    if (var < 0).any():
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
