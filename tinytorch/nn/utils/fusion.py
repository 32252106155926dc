"""Fusion of a linear or convolution layer with the batch normalization that follows it."""

from __future__ import annotations

import copy
from typing import Any

from ...core.tensor import Tensor
from ...ops.create.factories import ones_like, zeros_like
from ...state.tracebacks import short
from ..module import Module
from ..parameter import Parameter

__all__ = [
    "fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fuse_linear_bn_weights",
]  # fmt: skip


@short
def fuse_conv_bn_eval(conv: Module, bn: Module, transpose: bool = False) -> Module:
    """Return a convolution that computes ``bn(conv(x))`` of both modules in evaluation mode.

    Args:
        conv: The convolution.
        bn: The batch normalization that follows it.
        transpose: Whether it is a transposed convolution. Default: False.

    Returns:
        A new module.

    Raises:
        AssertionError: If a module is in training mode, or ``bn`` has no running statistics.

    Example:
        >>> conv, bn = tt.nn.Conv2d(2, 3, 3).eval(), tt.nn.BatchNorm2d(3).eval()
        >>> x = tt.ones(1, 2, 4, 4)
        >>> fused = tt.nn.utils.fuse_conv_bn_eval(conv, bn)
        >>> tt.allclose(fused(x), bn(conv(x)), atol=1e-6)
        True
    """
    return _fuse(conv, bn, transpose)


@short
def fuse_linear_bn_eval(linear: Module, bn: Module) -> Module:
    """Return a linear layer that computes ``bn(linear(x))`` of both modules in evaluation mode.

    Args:
        linear: The linear layer.
        bn: The batch normalization that follows it.

    Returns:
        A new module.

    Raises:
        AssertionError: If a module is in training mode, ``bn`` has no running statistics, or the
            numbers of features differ.

    Example:
        >>> linear, bn = tt.nn.Linear(2, 3).eval(), tt.nn.BatchNorm1d(3).eval()
        >>> fused = tt.nn.utils.fuse_linear_bn_eval(linear, bn)
        >>> tt.allclose(fused(tt.ones(1, 2)), bn(linear(tt.ones(1, 2))), atol=1e-6)
        True
    """
    out_features, num_features = linear.out_features, bn.num_features  # type: ignore[attr-defined]
    if num_features not in (out_features, 1):
        raise AssertionError(
            "To fuse, linear.out_features == bn.num_features or bn.num_features == 1"
        )
    return _fuse(linear, bn, False)


def _fuse(layer: Any, bn: Any, transpose: bool) -> Module:
    """Return a copy of a layer with the weight and bias of it and a batch normalization."""
    if layer.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    if bn.running_mean is None or bn.running_var is None:
        raise AssertionError("Only support fusion for eval mode with running statistics")
    fused = copy.deepcopy(layer)
    fused.weight, fused.bias = fuse_conv_bn_weights(
        layer.weight, layer.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias,
        transpose,
    )  # fmt: skip
    return fused  # type: ignore[no-any-return]


@short
def fuse_conv_bn_weights(
    conv_w: Tensor,
    conv_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor | None,
    bn_b: Tensor | None,
    transpose: bool = False,
) -> tuple[Parameter, Parameter]:
    """Return weight and bias of a convolution fused with the batch normalization after it.

    Args:
        conv_w: Weight, ``(out, in, *kernel)``, or ``(in, out, *kernel)`` if transposed.
        conv_b: Bias, ``(out,)``, or None.
        bn_rm: Running mean, ``(out,)``.
        bn_rv: Running variance, ``(out,)``.
        bn_eps: Added to the variance.
        bn_w: Weight of the batch normalization, ``(out,)``, or None.
        bn_b: Bias of the batch normalization, ``(out,)``, or None.
        transpose: Whether it is a transposed convolution. Default: False.

    Example:
        >>> one = tt.ones(1)
        >>> kernel, statistics = tt.ones(1, 1, 1), (one, 4 * one)
        >>> w, b = tt.nn.utils.fuse_conv_bn_weights(kernel, None, *statistics, 0.0, one, one)
        >>> w.item(), b.item()
        (0.5, 0.5)
    """
    weight: Any = conv_w
    gain = ones_like(bn_rm) if bn_w is None else bn_w
    factor: Any = gain * (bn_rv + bn_eps) ** -0.5
    shape = [1, -1] if transpose else [-1, 1]
    scaled = weight * factor.reshape(shape + [1] * (weight.ndim - 2))
    offset: Any = zeros_like(bn_rm) if conv_b is None else conv_b
    bias = (offset - bn_rm) * factor + (0 if bn_b is None else bn_b)
    bias_dtype = weight.dtype if conv_b is None else conv_b.dtype
    return (
        Parameter(scaled.detach().to(weight.dtype), weight.requires_grad),
        Parameter(bias.detach().to(bias_dtype), conv_b is not None and conv_b.requires_grad),
    )


@short
def fuse_linear_bn_weights(
    linear_w: Tensor,
    linear_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor | None,
    bn_b: Tensor | None,
) -> tuple[Parameter, Parameter]:
    """Return weight and bias of a linear layer fused with the batch normalization after it.

    Args:
        linear_w: Weight, ``(out, in)``.
        linear_b: Bias, ``(out,)``, or None.
        bn_rm: Running mean, ``(out,)``.
        bn_rv: Running variance, ``(out,)``.
        bn_eps: Added to the variance.
        bn_w: Weight of the batch normalization, ``(out,)``, or None.
        bn_b: Bias of the batch normalization, ``(out,)``, or None.

    Example:
        >>> from tinytorch import nn
        >>> one = tt.ones(1)
        >>> w, b = nn.utils.fuse_linear_bn_weights(tt.ones(1, 1), one, one, 4 * one, 0.0, one, one)
        >>> w.item(), b.item()
        (0.5, 1.0)
    """
    return fuse_conv_bn_weights(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b)
