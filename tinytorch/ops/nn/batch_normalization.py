"""Batch, instance and local response normalization."""

from __future__ import annotations

import math
from typing import Any

from ...core.layout import channels_last, channels_last_3d, memory_format
from ...core.tensor import Tensor
from ...dispatch.op import Array, Backend, composite, op
from ...graph.inference import check_mapped
from ..checks import as_int
from ..memory_order import suggest_memory_format
from ..shape.views import contiguous, following
from .normalization import (
    Layout,
    check_float,
    check_parameter_dtypes,
    single,
    standardize,
)

_SPACE = ("nn.functional",)


@composite(namespaces=_SPACE, node="NativeBatchNormBackward0")
def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """``(input - mean) / sqrt(var + eps) * weight + bias`` for each channel.

    Args:
        input: ``(batch, channels, *)``.
        running_mean: ``(channels,)``: the mean outside training. In training it is updated in
            place: ``(1 - momentum) * running_mean + momentum * batch_mean``.
        running_var: The same for the (unbiased) variance.
        weight: ``(channels,)``; default none.
        bias: ``(channels,)``; default none.
        training: Whether to take mean and variance over the batch; default False.
        momentum: Weight of the batch in the running statistics; default 0.1.
        eps: Added to the variance; default 1e-5.

    Raises:
        ValueError: In training with one value per channel, or an ``eps`` that is not positive.
        RuntimeError: If shapes or dtypes do not fit, or statistics are missing.

    Example:
        >>> x = tt.tensor([[1.0], [3.0]])
        >>> tt.nn.functional.batch_norm(x, None, None, training=True)
        tensor([[-1.0000],
                [ 1.0000]])

    Reference:
        Ioffe, Szegedy: Batch Normalization, arXiv:1502.03167.
    """
    name = "batch_norm"
    if training:
        check_more_than_one(input, "value per channel")
    if eps < 0 or (training and eps == 0):
        kind = "positive during training" if training else "non-negative"
        raise ValueError(f"batch_norm eps must be {kind}, but got {eps}")
    check_parameters(
        name, input, running_mean=running_mean, running_var=running_var, weight=weight, bias=bias
    )
    if not training and (running_mean is None or running_var is None):
        missing = "running_mean" if running_mean is None else "running_var"
        raise RuntimeError(f"{name}: {missing} must be defined in evaluation mode")
    if not input._data.size:
        return _empty(input, weight, bias)
    if training:
        return _normalize_batch(input, running_mean, running_var, weight, bias, momentum, eps)
    return _use_running_statistics(input, running_mean, running_var, weight, bias, eps)


def check_more_than_one(input: Tensor, unit: str) -> None:
    """Raise ValueError if the statistics of an input are over a single value.

    ``unit`` says in the error what the statistics are over: ``"value per channel"`` (with the
    batch) or ``"spatial element"`` (without it).
    """
    shape = input._data.shape
    values = math.prod(shape[2:]) * (shape[0] if unit.endswith("channel") else 1)
    if values == 1:
        raise ValueError(f"Expected more than 1 {unit} when training, got input size {input.shape}")


def check_parameters(name: str, input: Tensor, **given: Tensor | None) -> None:
    """Check the dtypes and sizes of the input and its parameters, and raise if they do not fit.

    All must be floating-point. Unless the input is empty, parameters have one element per channel.
    The running statistics are both given or both None.
    """
    if (given["running_mean"] is None) != (given["running_var"] is None):
        raise ValueError(
            f"{name}: running_mean and running_var must either both be None or neither be None"
        )
    channels = input._data.shape[1] if input._data.ndim > 1 else 0
    checked = input._data.size > 0  # as PyTorch, which returns early
    for argument, value in given.items():
        if checked and value is not None and value._data.size != channels:
            raise RuntimeError(
                f"{name}: {argument} should contain {channels} elements not {value.numel()}"
            )
    check_float(name, input)
    if checked:
        check_parameter_dtypes(name, input, *given.values())


def _empty(input: Any, weight: Any, bias: Any) -> Tensor:
    """Result for an input without elements.

    It depends on the parameters, so that their gradients are zeros rather than None.
    """
    out = input.clone()
    for parameter in (weight, bias):
        if parameter is not None and parameter.numel() == input.shape[1]:
            parameter = parameter.to(input.dtype)
            out = out * parameter.reshape((-1, *(1,) * (input.ndim - 2)))
    return out  # type: ignore[no-any-return]


def _normalize_batch(
    input: Tensor, running_mean: Any, running_var: Any, weight: Any, bias: Any, momentum: float,
    eps: float,
) -> Tensor:  # fmt: skip
    """Normalize with the batch's statistics, and update the running statistics if given."""
    x, w, b = single(input, weight, bias)
    shape = input._data.shape
    layout = Layout((0, *range(2, len(shape))), (shape[1], *(1,) * (len(shape) - 2)))
    out, mean, var = standardize(x, w, b, layout, eps)
    if running_mean is not None:
        count = input._data.size // shape[1]
        _update_running(running_mean, mean._data, momentum)
        _update_running(running_var, var._data * (count / max(count - 1, 1)), momentum)
    return contiguous(out.to(input.dtype) if x is not input else out, _result_format(input._data))


def _result_format(array: Array) -> memory_format:
    """Memory format of the result of normalizing ``array``: the format of ``array``.

    Channels last also if the strides differ from that format in dimensions of size 1.
    """
    last = {4: channels_last, 5: channels_last_3d}.get(array.ndim)
    if last is not None and last.holds(array) and not array.flags.c_contiguous:
        return last
    return suggest_memory_format(array)


def _update_running(running: Any, batch: Any, momentum: float) -> None:
    """Set ``running = (1 - momentum) * running + momentum * batch`` in place.

    Autograd does not record it. ``running`` is a tensor and ``batch`` a raw array.
    """
    check_mapped("batch_norm", running)
    xp, data = running._xp, running._data
    batch = batch.reshape(data.shape)
    if data.dtype == batch.dtype and data.dtype.itemsize > 2:
        xp.add_scaled(data, batch, momentum, 1 - momentum)
    else:
        old = data if data.dtype.itemsize > 2 else data.astype("float32")
        new = old * (1 - momentum) + batch * momentum
        xp.copyto(data, new.astype(data.dtype, copy=False))
    running._bump()


def _use_running_statistics(
    input: Tensor, mean: Any, var: Any, weight: Any, bias: Any, eps: float
) -> Tensor:
    """Normalize with the running statistics: ``input * factor + shift`` for each channel."""
    x, mean, var, weight, bias = single(input, mean, var, weight, bias)
    # New tensors, which later updates of the statistics do not change.
    out = _scale_and_shift(x, -mean, (var + eps).rsqrt(), weight, bias)
    return contiguous(out if x is input else out.to(input.dtype), _result_format(input._data))


@op(public=False)
def _scale_and_shift(
    xp: Backend, input: Array, shift: Array, scale: Array, weight: Array | None, bias: Array | None
) -> Array:
    """``(input + shift) * scale * weight + bias`` for each channel, as one product and one sum."""
    factor = scale if weight is None else scale * weight
    shift = shift * factor
    if bias is not None:
        shift = bias + shift
    form = (-1, *(1,) * (input.ndim - 2))
    out = input * factor.reshape(form)
    out += shift.reshape(form)
    return out


@_scale_and_shift.vjp_joint("input", "shift", "scale", "weight", "bias")
def _scale_and_shift_rule(
    xp: Any, g: Any, in_shape: Any, input: Any, shift: Any, scale: Any, weight: Any
) -> tuple[Any, ...]:
    """Gradients of the arguments of ``_scale_and_shift``; None for each None in ``in_shape``."""
    form = (-1, *(1,) * (input.ndim - 2))
    axes = (0, *range(2, input.ndim))
    factor = scale if weight is None else scale * weight
    total = products = None
    if any(shape is not None for shape in in_shape[1:]):
        total = xp.sum(g, axis=axes)
    if in_shape[2] is not None or in_shape[3] is not None:
        products = xp.sum(g * input, axis=axes) + total * shift
    by_weight = products if weight is None or products is None else products * weight
    return (
        None if in_shape[0] is None else g * xp.reshape(factor, form),
        None if in_shape[1] is None else xp.reshape(total * factor, in_shape[1]),
        None if in_shape[2] is None else xp.reshape(by_weight, in_shape[2]),
        None if in_shape[3] is None else xp.reshape(products * scale, in_shape[3]),
        None if in_shape[4] is None else xp.reshape(total, in_shape[4]),
    )


@composite(namespaces=_SPACE, node="ViewBackward0", like=batch_norm)
def instance_norm(
    input: Tensor, running_mean: Tensor | None = None, running_var: Tensor | None = None,
    weight: Tensor | None = None, bias: Tensor | None = None, use_input_stats: bool = True,
    momentum: float = 0.1, eps: float = 1e-5,
) -> Tensor:  # fmt: skip
    """``batch_norm`` with separate statistics for each sample of the batch.

    Args:
        input: ``(batch, channels, *)`` with at least one more dimension.
        running_mean: ``(channels,)``, updated in place with the mean over the batch.
        running_var: The same for the variance.
        use_input_stats: Whether to use the input's statistics, not the running ones;
            default True.

    Raises:
        ValueError: With one value per channel.
        RuntimeError: If shapes or dtypes do not fit, or statistics are missing.

    Example:
        >>> tt.nn.functional.instance_norm(tt.tensor([[[1.0, 3.0]]]), eps=0.0)
        tensor([[[-1.,  1.]]])

    Reference:
        Ulyanov, Vedaldi, Lempitsky: Instance Normalization, arXiv:1607.08022.
    """
    name = "instance_norm"
    if use_input_stats:
        check_more_than_one(input, "spatial element")
    check_parameters(
        name, input, running_mean=running_mean, running_var=running_var, weight=weight, bias=bias
    )
    if not use_input_stats:
        if running_mean is None:
            raise RuntimeError(
                f"{name}: Expected running_mean and running_var to be defined when use_input_stats "
                "is false"
            )
    if not input.numel():
        for running in (running_mean, running_var):
            if running is not None and use_input_stats and not input.shape[0]:
                running.detach().fill_(math.nan)  # the mean over an empty batch, as in PyTorch
        return _empty(input, weight, bias)
    if not use_input_stats:
        return _use_running_statistics(input, running_mean, running_var, weight, bias, eps)
    # Clone the weight, as PyTorch repeats it: it may be changed in place before the backward pass.
    x, w, b = single(input, None if weight is None else weight.clone(), bias)
    shape = input._data.shape
    layout = Layout(tuple(range(2, len(shape))), (shape[1], *(1,) * (len(shape) - 2)))
    out, mean, var = standardize(x, w, b, layout, eps)
    if running_mean is not None:
        count = math.prod(shape[2:])
        xp = input._xp
        _update_running(running_mean, xp.mean(mean._data, axis=0), momentum)
        unbiased = xp.mean(var._data, axis=0) * (count / max(count - 1, 1))
        _update_running(running_var, unbiased, momentum)
    return contiguous(out.to(input.dtype) if x is not input else out)


@composite(namespaces=_SPACE)
def local_response_norm(
    input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Tensor:
    """``input / (k + alpha mean(x²))^beta``, the mean over neighboring channels.

    Args:
        input: ``(batch, channels, *)`` with at least one more dimension.
        size: Number of channels that the mean is taken over: a channel and its neighbors.
        alpha: Default 1e-4.
        beta: Default 0.75.
        k: Default 1.

    Raises:
        ValueError: For fewer than three dimensions.

    Example:
        >>> tt.nn.functional.local_response_norm(tt.ones(1, 2, 1), 2, alpha=2.0, beta=1.0)
        tensor([[[0.5000],
                 [0.3333]]])

    Reference:
        Krizhevsky, Sutskever, Hinton: ImageNet Classification with Deep Convolutional Neural
        Networks, 2012, section 3.3.
    """
    from .axis_windows import AxisWindows, window_sum

    if input.ndim < 3:
        raise ValueError(
            f"Expected 3D or higher dimensionality input (got {input.ndim} dimensions)"
        )
    x: Any = input
    if not x.numel():
        return x  # type: ignore[no-any-return]
    size = as_int("local_response_norm", "size", size)
    if size < 1:
        raise RuntimeError(
            f"local_response_norm: kernel size should be greater than zero, but got {size}"
        )
    neighbors = AxisWindows(1, size, 1, size // 2, 1, input.shape[1])
    mean = window_sum(x * x, neighbors) / size
    if not x.is_floating_point() and not x.is_complex():
        mean = mean.trunc()  # PyTorch pools integers into integers
    return following(x / (mean * alpha + k).pow(beta), x)
