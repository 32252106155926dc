"""Zero mean and unit variance: what batch, instance and group normalization share."""

from __future__ import annotations

from typing import Any

from .. import dtypes
from .._op import Array, Backend, op
from .._tensor import Tensor
from .._write import scalar_name


@op(public=False, materialize=False, node="NativeBatchNormBackward0")
def standardize(
    xp: Backend,
    input: Array,
    weight: Array | None,
    bias: Array | None,
    axes: tuple[int, ...],
    eps: float,
) -> tuple[Array, Array, Array]:
    """``(input - mean) / sqrt(var + eps) * weight + bias``, the mean and the variance.

    Args:
        xp: The backend.
        input: Array of any shape.
        weight: Array that broadcasts with ``input``.
        bias: The same.
        axes: The dimensions that mean and variance are taken over; they keep size 1.
        eps: Added to the variance.
    """
    mean = xp.mean(input, axis=axes, keepdims=True)
    out = input - mean
    var = xp.mean(out * out, axis=axes, keepdims=True)
    factor = 1.0 / xp.sqrt(var + eps)
    out *= factor if weight is None else factor * weight  # small, both: one pass over the input
    if bias is not None:
        out += bias
    return out, mean, var


@standardize.vjp_joint("input", "weight", "bias")
def _standardize_rule(
    xp: Any, g: Any, in_shape: Any, input: Any, weight: Any, axes: Any, eps: float
) -> tuple[Any, ...]:
    # Mean and variance, the other results, are only used where nothing is recorded.
    g = g[0]
    if isinstance(xp, Backend):
        return _raw_gradients(xp, g, in_shape, input, weight, axes, eps)
    centered = input - xp.mean(input, axis=axes, keepdims=True)
    scale = 1.0 / xp.sqrt(xp.mean(centered * centered, axis=axes, keepdims=True) + eps)
    normal = centered * scale
    for_input = None
    if in_shape[0] is not None:
        for_input = unstandardized(xp, g, weight, normal, scale, axes)
    return (
        for_input,
        None if in_shape[1] is None else g * normal,
        g if in_shape[2] is not None else None,
    )


def unstandardized(xp: Any, g: Any, weight: Any, normal: Any, scale: Any, axes: Any) -> Any:
    """The gradient of an input that was normalized over ``axes`` and multiplied by ``weight``.

    With n the normalized input and s one over its deviation, it is s (h - mean(h) - n mean(h n)),
    h = g w.  Ioffe, Szegedy 2015, arXiv:1502.03167; Ba et al. 2016, arXiv:1607.06450.
    """
    h = g if weight is None else g * weight
    mean = xp.mean(h, axis=axes, keepdims=True)
    return scale * (h - mean - normal * xp.mean(h * normal, axis=axes, keepdims=True))


def _raw_gradients(
    xp: Backend, g: Array, in_shape: Any, input: Array, weight: Any, axes: Any, eps: float
) -> tuple[Any, ...]:
    """The same on raw arrays, in as little memory as it takes."""
    normal = input - xp.mean(input, axis=axes, keepdims=True)
    scale = 1.0 / xp.sqrt(xp.mean(normal * normal, axis=axes, keepdims=True) + eps)
    normal *= scale
    of_weight = None if in_shape[1] is None else g * normal
    of_bias = None if in_shape[2] is None else g
    if in_shape[0] is None:
        return None, of_weight, of_bias
    h = g if weight is None else g * weight
    slope = h * normal
    normal *= xp.mean(slope, axis=axes, keepdims=True)
    xp.subtract(h, xp.mean(h, axis=axes, keepdims=True), out=slope)
    slope -= normal
    slope *= scale
    return slope, of_weight, of_bias


def check_float(name: str, input: Tensor) -> None:
    """NotImplementedError unless ``input`` holds real floating-point numbers."""
    if not input.is_floating_point():
        raise NotImplementedError(f"\"{name}\" not implemented for '{scalar_name(input.dtype)}'")


def check_parameter_dtypes(name: str, input: Tensor, *given: Tensor | None) -> None:
    """RuntimeError unless parameters have the input's dtype, or float32 for halves."""
    for parameter in given:
        if parameter is None or parameter.dtype is input.dtype:
            continue
        if input.dtype is dtypes.float16 and parameter.dtype is dtypes.float32:
            continue
        raise RuntimeError(
            f"{name}: mixed dtype (CPU): expect parameter to have scalar type of "
            f"{scalar_name(input.dtype)}, got {scalar_name(parameter.dtype)}"
        )


def single(*tensors: Any) -> tuple[Any, ...]:
    """Halves in single precision, in which their statistics are taken; others as they are."""
    return tuple(
        t.to(dtypes.float32) if t is not None and t.dtype is dtypes.float16 else t for t in tensors
    )


def along_channels(parameter: Any, ndim: int) -> Any:
    """A number per channel, in the shape ``(channels, 1, ...)`` that broadcasts with a batch."""
    return None if parameter is None else parameter.reshape((-1, *(1,) * (ndim - 2)))
