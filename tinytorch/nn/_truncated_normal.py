"""Drawing from the normal distribution restricted to an interval."""

from __future__ import annotations

import math
from typing import Any

from ..core.tensor import Tensor


def fill_truncated_normal(
    tensor: Tensor, mean: float, std: float, a: float, b: float, generator: Any
) -> None:
    """Fill with normal numbers in [a, b], by rejection.

    Proposals come from the normal distribution itself where more than 0.3 of it lies in the
    interval, else from the uniform distribution over the interval.
    """
    if tensor.is_meta:  # whose numbers nobody can reject
        return
    inside = _normal_cdf((b - mean) / std) - _normal_cdf((a - mean) / std)
    fill = _reject_normal if inside > 0.3 else _reject_uniform
    fill(tensor, mean, std, a, b, generator)


def _normal_cdf(x: float) -> float:
    return (1.0 + math.erf(x / math.sqrt(2.0))) / 2.0


def _reject_normal(
    tensor: Tensor, mean: float, std: float, a: float, b: float, generator: Any
) -> None:
    """Draw all from the normal distribution and again those that fell outside."""
    # The bounds as the tensor's dtype has them: a value rounded onto a bound is inside.
    low, high = (tensor.new_tensor(bound).item() for bound in (a, b))
    result = tensor.normal_(mean, std, generator=generator)
    while (outside := (result < low) | (result > high)).any():
        again = tensor.new_empty(tensor.shape).normal_(mean, std, generator=generator)
        result = again.where(outside, result)
    if result is not tensor:
        tensor.copy_(result)


def _reject_uniform(
    tensor: Tensor, mean: float, std: float, a: float, b: float, generator: Any
) -> None:
    """Draw uniformly; accept with the density's ratio to its largest value in [a, b]."""
    mode = max(a, min(mean, b))
    log_peak = -0.5 * ((mode - mean) / std) ** 2
    result: Any = tensor.uniform_(a, b, generator=generator)
    drawn: Any = result
    pending: Any = None
    while pending is None or pending.any():
        if pending is not None:
            drawn = tensor.new_empty(tensor.shape).uniform_(a, b, generator=generator)
            result = drawn.where(pending, result)
        log_ratio = (drawn - mean).div_(std).pow_(2).mul_(-0.5).sub_(log_peak)
        height = tensor.new_empty(tensor.shape).uniform_(generator=generator)
        rejected = height.log_() > log_ratio
        pending = rejected if pending is None else pending & rejected
    if result is not tensor:
        tensor.copy_(result)
