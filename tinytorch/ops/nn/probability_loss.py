"""Losses of probabilities, and of the parameters of distributions."""

from __future__ import annotations

import math
from typing import Any

from ...core.tensor import Tensor
from ...dispatch.op import Array, Backend, composite, op
from ...dispatch.out import scalar_name
from ...warnings import warn
from ..checks import refuse
from .activation import sigmoid
from .loss import SPACE, in_dtype, reduced, reduction_of, refuse_grad, weighted
from .smooth_activation import logsigmoid


@op(public=False, promote="arithmetic", node="BinaryCrossEntropyBackward0")
def _binary_cross_entropy(xp: Backend, input: Array, target: Array) -> Array:
    refuse(xp, "binary_cross_entropy", "uic", input)
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
        >>> import tinytorch as tt
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
        >>> import tinytorch as tt
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
    refuse(input._xp, "log_sigmoid_cpu", "uibc", input._data)
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
        >>> import tinytorch as tt
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
        >>> import tinytorch as tt
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
        >>> import tinytorch as tt
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
