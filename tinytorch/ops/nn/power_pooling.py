"""Pooling by the p-norm of each window."""

from __future__ import annotations

import math
from typing import Any

from ...core.tensor import Tensor
from ...dispatch.op import composite
from ..shape.views import following, following_sequence
from .pooling import (
    Size,
    avg_pool1d,
    avg_pool2d,
    avg_pool3d,
    max_pool1d,
    max_pool2d,
    max_pool3d,
    per_dimension,
)

_F = ("nn.functional",)


@composite(namespaces=_F)
def lp_pool1d(
    input: Tensor,
    norm_type: float,
    kernel_size: int,
    stride: Size | None = None,
    ceil_mode: bool = False,
) -> Tensor:
    """``(Σ x^p)^(1/p)`` over each window of a sequence.

    Args:
        input: ``(batch, channels, length)``, or without ``batch``.
        norm_type: The p; infinity takes the largest magnitude, -infinity the smallest.
        kernel_size: Elements in a window.
        stride: Steps from one window to the next; default ``kernel_size``.
        ceil_mode: Whether a last window may reach over the end; default False.

    Returns:
        ``(batch, channels, windows)``.

    Example:
        >>> import tinytorch as tt
        >>> tt.nn.functional.lp_pool1d(tt.tensor([[[3.0, 4.0]]]), 2, 2)
        tensor([[[5.]]])
    """
    return _lp_pool(avg_pool1d, 1, input, norm_type, kernel_size, stride, ceil_mode)


@composite(namespaces=_F)
def lp_pool2d(
    input: Tensor,
    norm_type: float,
    kernel_size: Size,
    stride: Size | None = None,
    ceil_mode: bool = False,
) -> Tensor:
    """``(Σ x^p)^(1/p)`` over each window of an image.

    Args:
        input: ``(batch, channels, height, width)``, or without ``batch``.
        norm_type: The p; infinity takes the largest magnitude, -infinity the smallest.
        kernel_size: Sides of a window, one for both or each.
        stride: Steps from one window to the next; default ``kernel_size``.
        ceil_mode: Whether the last windows may reach over the end; default False.

    Returns:
        ``(batch, channels, *windows)``.

    Example:
        >>> import tinytorch as tt
        >>> tt.nn.functional.lp_pool2d(tt.ones(1, 1, 2, 2), 2, 2)
        tensor([[[[2.]]]])
    """
    return _lp_pool(avg_pool2d, 2, input, norm_type, kernel_size, stride, ceil_mode)


@composite(namespaces=_F)
def lp_pool3d(
    input: Tensor,
    norm_type: float,
    kernel_size: Size,
    stride: Size | None = None,
    ceil_mode: bool = False,
) -> Tensor:
    """``(Σ x^p)^(1/p)`` over each window of a volume.

    Args:
        input: ``(batch, channels, depth, height, width)``, or without ``batch``.
        norm_type: The p; infinity takes the largest magnitude, -infinity the smallest.
        kernel_size: Sides of a window, one for all or each.
        stride: Steps from one window to the next; default ``kernel_size``.
        ceil_mode: Whether the last windows may reach over the end; default False.

    Returns:
        ``(batch, channels, *windows)``.

    Example:
        >>> import tinytorch as tt
        >>> tt.nn.functional.lp_pool3d(tt.ones(1, 1, 2, 2, 2), 3, 2).round()
        tensor([[[[[2.]]]]])
    """
    return _lp_pool(avg_pool3d, 3, input, norm_type, kernel_size, stride, ceil_mode)


def _lp_pool(
    pool: Any,
    spatial: int,
    input: Tensor,
    norm_type: float,
    kernel_size: Any,
    stride: Any,
    ceil_mode: bool,
) -> Tensor:
    kernel = per_dimension("lp_pool", "kernel_size", kernel_size, spatial)
    x: Any = input
    if abs(norm_type) == math.inf:
        most = {1: max_pool1d, 2: max_pool2d, 3: max_pool3d}[spatial]
        sign = math.copysign(1.0, norm_type)
        largest: Any = most(sign * x.abs(), kernel, stride, 0, 1, ceil_mode)
        return sign * largest  # type: ignore[no-any-return]
    mean = pool(x.pow(norm_type), kernel, stride, 0, ceil_mode)
    # A sum that rounds below 0 has no root: the sign is put back around relu, as torch does.
    positive = mean.sign() * mean.abs().relu()
    out: Any = (positive * math.prod(kernel)).pow(1.0 / norm_type)
    if spatial == 3:
        return out  # type: ignore[no-any-return]
    return (following if spatial == 2 else following_sequence)(out, input)
