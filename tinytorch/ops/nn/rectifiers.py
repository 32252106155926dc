"""Activation functions made of straight pieces, and units that damp numbers below 0."""

from __future__ import annotations

from typing import Any

from ...dispatch.op import Array, Backend, op, piecewise
from ...dispatch.out import scalar_name
from ...dispatch.promotion import written_number
from ...dtypes import finfo
from ..checks import blockwise, refuse
from ..pointwise.selection import masked
from .activation import BOTH, FUNCTIONAL, exponential_below, slope_of_exponential


@op(inplace=True, namespaces=FUNCTIONAL, elementwise=True)
def hardtanh(
    xp: Backend, input: Array, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False
) -> Array:
    """``x`` kept between ``min_val`` and ``max_val``; the slope at both is 0.

    Args:
        input: Tensor of any shape.
        min_val: Lower bound; default -1.
        max_val: Upper bound; default 1.
        inplace: Write the result over ``input``; default False.

    Raises:
        ValueError: If ``min_val`` is above ``max_val``.
        RuntimeError: For booleans, for unsigned integers if ``min_val`` is below 0, and if the
            dtype of integers does not hold a bound.

    Example:
        >>> import tinytorch as tt
        >>> tt.nn.functional.hardtanh(tt.tensor([-2.0, 0.5]))
        tensor([-1.0000,  0.5000])
    """
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    _refuse_in_hardtanh(xp, input)
    if input.dtype.kind == "u" and min_val < 0:
        raise RuntimeError("cannot do hardtanh on an unsigned type with negative limits")
    if input.dtype.kind in "ui":
        dtype = xp.dtype_of(input)
        min_val, max_val = (written_number(value, dtype) for value in (min_val, max_val))
    return xp.between(input, min_val, max_val)


def _refuse_in_hardtanh(xp: Backend, input: Array) -> None:
    if input.dtype.kind == "b":
        raise RuntimeError("Bool inputs not supported for hardtanh")
    refuse(xp, "hardtanh_cpu", "c", input)


hardtanh.vjp(
    input=piecewise(
        lambda xp, g, input, min_val, max_val: masked(xp, g, (input > min_val) & (input < max_val))
    )
)


@op(inplace=True, namespaces=FUNCTIONAL, node="HardtanhBackward0", elementwise=True)
def relu6(xp: Backend, input: Array, inplace: bool = False) -> Array:
    """``x`` kept between 0 and 6.

    Args:
        input: Tensor of any shape.
        inplace: Write the result over ``input``; default False.

    Example:
        >>> import tinytorch as tt
        >>> tt.nn.functional.relu6(tt.tensor([-1.0, 3.0, 8.0]))
        tensor([0., 3., 6.])
    """
    _refuse_in_hardtanh(xp, input)
    return xp.between(input, 0, 6)


relu6.vjp(input=piecewise(lambda xp, g, input: masked(xp, g, ~((input <= 0) | (input >= 6)))))


@op(inplace=True, namespaces=BOTH, elementwise=True)
def threshold(
    xp: Backend, input: Array, threshold: float, value: float, inplace: bool = False
) -> Array:
    """``x`` above ``threshold``, else ``value``.

    Args:
        input: Tensor of any shape.
        threshold: What ``x`` must exceed to pass.
        value: What stands in the place of the others.
        inplace: Write the result over ``input``; default False.

    Example:
        >>> import tinytorch as tt
        >>> tt.nn.functional.threshold(tt.tensor([0.5, 2.0]), 1.0, 0.0)
        tensor([0., 2.])
    """
    refuse(xp, "threshold_cpu", "bc", input)
    if input.dtype.kind in "ui":
        threshold, value = (written_number(v, xp.dtype_of(input)) for v in (threshold, value))
    # NaN is not below the threshold: it passes.
    return xp.where(input <= threshold, xp.asarray(value).astype(input.dtype), input)


threshold.vjp(input=piecewise(lambda xp, g, input, threshold: masked(xp, g, ~(input <= threshold))))


@op(namespaces=(*FUNCTIONAL, ""), method=True, exact_out=True, elementwise=True)
def hardshrink(xp: Backend, input: Array, lambd: float = 0.5) -> Array:
    """``x`` where ``|x| > lambd``, else 0.

    Args:
        input: Tensor of any shape.
        lambd: Half the width of the dead zone; default 0.5.

    Example:
        >>> import tinytorch as tt
        >>> tt.nn.functional.hardshrink(tt.tensor([-0.3, 2.0]))
        tensor([0., 2.])
    """
    refuse(xp, "hardshrink_cpu", "uibc", input)
    return xp.where((input >= -lambd) & (input <= lambd), 0, input)


hardshrink.vjp(
    input=piecewise(
        lambda xp, g, input, lambd: masked(xp, g, ~((input >= -lambd) & (input <= lambd)))
    )
)


@op(namespaces=FUNCTIONAL, exact_out=True, elementwise=True)
def softshrink(xp: Backend, input: Array, lambd: float = 0.5) -> Array:
    """``x`` moved by ``lambd`` towards 0, and 0 where ``|x| <= lambd``.

    Args:
        input: Tensor of any shape.
        lambd: How far; not negative; default 0.5.

    Raises:
        RuntimeError: For a negative ``lambd``.

    Example:
        >>> import tinytorch as tt
        >>> tt.nn.functional.softshrink(tt.tensor([-0.3, 2.0]))
        tensor([0.0000, 1.5000])
    """
    refuse(xp, "softshrink_cpu", "uibc", input)
    if lambd < 0:
        dtype = xp.dtype_of(input)
        raise RuntimeError(
            f"softshrink: lambda must be in range [0, {finfo(dtype).max:g}] for input dtype "
            f"{scalar_name(dtype)}, but found {lambd:g}; it must be greater or equal to 0"
        )
    # x - clamp(x) and not x -/+ lambd by cases: NaN stays NaN.
    return input - xp.minimum(xp.maximum(input, -lambd), lambd)


softshrink.vjp(
    input=piecewise(
        lambda xp, g, input, lambd: masked(xp, g, ~((input >= -lambd) & (input <= lambd)))
    )
)


def _six_times(xp: Backend, x: Array) -> Array:
    """``6 hardsigmoid(x)``."""
    return xp.between(x + 3, 0, 6)


@op(inplace=True, namespaces=FUNCTIONAL, elementwise=True)
def hardsigmoid(xp: Backend, input: Array, inplace: bool = False) -> Array:
    """``x / 6 + 1/2`` kept between 0 and 1: a sigmoid of straight pieces.

    Args:
        input: Tensor of any shape.
        inplace: Write the result over ``input``; default False.

    Example:
        >>> import tinytorch as tt
        >>> tt.nn.functional.hardsigmoid(tt.tensor([-3.0, 0.0, 3.0]))
        tensor([0.0000, 0.5000, 1.0000])
    """
    refuse(xp, "hardsigmoid_cpu", "uibc", input)
    return blockwise(xp, lambda x: _six_times(xp, x) / 6, input)


hardsigmoid.vjp(
    input=piecewise(lambda xp, g, input: masked(xp, g * (1 / 6), (input > -3) & (input < 3)))
)


@op(inplace=True, namespaces=FUNCTIONAL, elementwise=True)
def hardswish(xp: Backend, input: Array, inplace: bool = False) -> Array:
    """``x * hardsigmoid(x)``.

    Args:
        input: Tensor of any shape.
        inplace: Write the result over ``input``; default False.

    Example:
        >>> import tinytorch as tt
        >>> tt.nn.functional.hardswish(tt.tensor([-3.0, 3.0]))
        tensor([-0.,  3.])

    Reference:
        Howard et al.: Searching for MobileNetV3, arXiv:1905.02244.
    """
    refuse(xp, "hardswish_cpu", "uibc", input)
    return blockwise(xp, lambda x: x * _six_times(xp, x) / 6, input)


def _hardswish_gradient(xp: Any, g: Any, input: Any) -> Any:
    inside = (input > -3) & (input < 3)
    # Infinities are put out of the product, which would be NaN where a later gradient is 0.
    slope = masked(xp, input, inside) / 3 + 0.5
    return masked(xp, g * slope, inside) + masked(xp, g, ~(input < 3))


hardswish.vjp(
    input=lambda xp, g, input: blockwise(xp, lambda g, x: _hardswish_gradient(xp, g, x), g, input)
)


@op(namespaces=BOTH, method=True, node="PreluKernelBackward0")
def prelu(xp: Backend, input: Array, weight: Array) -> Array:
    """``x`` above 0 and ``weight * x`` below, the slope being learned.

    Args:
        input: Tensor ``(batch, channels, *)``, or of any shape with a single weight.
        weight: Tensor of shape ``(channels,)`` or ``(1,)``, or a 0-d one, of the same dtype.

    Raises:
        RuntimeError: If ``weight`` fits neither, or the dtypes differ.

    Example:
        >>> import tinytorch as tt
        >>> tt.nn.functional.prelu(tt.tensor([-2.0, 2.0]), tt.tensor([0.25]))
        tensor([-0.5000,  2.0000])

    Reference:
        He, Zhang, Ren, Sun: Delving Deep into Rectifiers, arXiv:1502.01852.
    """
    _check_prelu(xp, input, weight)
    refuse(xp, "prelu_cpu", "biuc", input)
    return xp.where(input > 0, input, _per_channel(xp, weight, input.ndim) * input)


def _check_prelu(xp: Backend, input: Array, weight: Array) -> None:
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


def _per_channel(xp: Any, weight: Any, ndim: int) -> Any:
    """The weight in a shape that broadcasts along dimension 1 of the input."""
    size = weight.shape[0] if weight.ndim else 1
    if size == 1:
        return xp.reshape(weight, ())
    return xp.reshape(weight, (1, size) + (1,) * (ndim - 2))


def _weight_gradient(xp: Any, g: Any, input: Any, in_shape: Any) -> Any:
    below = ~(input >= 0)
    # Infinities are put out of the product, which would be NaN where a later gradient is 0.
    return _per_weight(xp, masked(xp, g * masked(xp, input, below), below), in_shape)


def _per_weight(xp: Any, moved: Any, in_shape: Any) -> Any:
    """The sum over all that a weight was multiplied with."""
    size = in_shape[0] if in_shape else 1
    if size == 1:
        return xp.reshape(xp.sum(moved), in_shape)
    return xp.sum(moved, axis=(0, *range(2, moved.ndim)))


@op(public=False)
def _prelu_gradient(xp: Backend, grad: Array, input: Array, weight: Array) -> Array:
    """``grad`` times the slope of ``prelu``; at 0 that of the part below."""
    return xp.where(input > 0, grad, grad * _per_channel(xp, weight, input.ndim))


# The slope's own derivatives are at 0 those of the part above, as in PyTorch.
_prelu_gradient.vjp(
    grad=lambda xp, g, input, weight: xp.where(
        input >= 0, g, g * _per_channel(xp, weight, input.ndim)
    ),
    weight=lambda xp, g, grad, input, in_shape: _per_weight(
        xp, masked(xp, g * grad, ~(input >= 0)), in_shape
    ),
)
prelu.vjp(
    input=piecewise(lambda xp, g, input, weight: xp.call(_prelu_gradient, g, input, weight)),
    weight=_weight_gradient,
)


# α and λ that keep mean 0 and variance 1 from layer to layer; Klambauer et al., equation (14).
SELU_ALPHA = 1.6732632423543772848170429916717
SELU_SCALE = 1.0507009873554804934193349852946


@op(inplace=True, namespaces=BOTH, node="EluBackward0", elementwise=True)
def selu(xp: Backend, input: Array, inplace: bool = False) -> Array:
    """An ELU scaled so that layers keep mean 0 and variance 1.

    Args:
        input: Tensor of any shape.
        inplace: Write the result over ``input``; default False.

    Example:
        >>> import tinytorch as tt
        >>> tt.nn.functional.selu(tt.tensor([-1.0, 1.0]))
        tensor([-1.1113,  1.0507])

    Reference:
        Klambauer, Unterthiner, Mayr, Hochreiter: Self-Normalizing Neural Networks,
        arXiv:1706.02515.
    """
    return exponential_below(xp, "elu_cpu", input, SELU_ALPHA, SELU_SCALE, 1.0)


selu.vjp(input=lambda xp, g, input: slope_of_exponential(xp, g, input, SELU_ALPHA, SELU_SCALE, 1.0))


@op(inplace=True, namespaces=BOTH, elementwise=True)
def celu(xp: Backend, input: Array, alpha: float = 1.0, inplace: bool = False) -> Array:
    """``x`` above 0 and ``alpha * (exp(x / alpha) - 1)`` below: an ELU without a kink.

    Args:
        input: Tensor of any shape.
        alpha: Minus the limit far below 0; not 0; default 1.
        inplace: Write the result over ``input``; default False.

    Raises:
        RuntimeError: For an ``alpha`` of 0.

    Example:
        >>> import tinytorch as tt
        >>> tt.nn.functional.celu(tt.tensor([-1.0, 1.0]), alpha=2.0)
        tensor([-0.7869,  1.0000])

    Reference:
        Barron: Continuously Differentiable Exponential Linear Units, arXiv:1704.07483.
    """
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    return exponential_below(xp, "elu_cpu", input, alpha, 1.0, 1 / alpha)


celu.vjp(
    input=lambda xp, g, input, alpha: slope_of_exponential(xp, g, input, alpha, 1.0, 1 / alpha)
)
