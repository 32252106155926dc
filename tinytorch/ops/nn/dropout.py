"""Dropout and randomized leaky ReLU. Random numbers come from the default generator."""

from __future__ import annotations

import functools
import math
from typing import Any

from ... import dtypes
from ...core.tensor import Tensor, wrap
from ...dispatch.inplace import call_inplace
from ...dispatch.op import Array, Backend, Mask, composite, op, piecewise
from ...dispatch.out import scalar_name
from ...warnings import warn
from ..checks import check_supported, check_tensor
from ..memory_order import draw_in_order, memory_order_like
from ..random.inplace import engine_of

BOTH = ("nn.functional", "")
FUNCTIONAL = ("nn.functional",)

#: λα of Klambauer et al., arXiv:1706.02515: SELU approaches ``-_ALPHA`` towards -infinity.
_ALPHA = 1.7580993408473766


@op(inplace=True, node="MulBackward0")
def _multiply_noise(xp: Backend, input: Array, noise: Mask) -> Array:
    """``input * noise``; only the noise is saved for the gradient."""
    return input * noise


_multiply_noise.vjp(input=lambda xp, g, noise: g * noise)


@op(inplace=True, node="RreluWithNoiseBackward0")
def _multiply_slopes(xp: Backend, input: Array, slopes: Mask) -> Array:
    """``input * slopes``; only the slopes are saved for the gradient."""
    return input * slopes


# The slopes are constants, except for the change at 0.
_multiply_slopes.vjp(input=piecewise(lambda xp, g, slopes: g * slopes))


@op(inplace=True, node="MulBackward0")
def _multiply_mask(xp: Backend, input: Array, keep: Mask, *, scale: float) -> Array:
    """``input * scale`` where the bool ``keep`` is True, else ``input * 0``."""
    out = xp.fused("dropout", input, keep, scale)
    return input * (keep.astype(input.dtype) * scale) if out is None else out


_multiply_mask.vjp(input=lambda xp, g, keep, scale: xp.call(_multiply_mask, g, keep, scale=scale))


@op(inplace=True, node="AddBackward0")
def _multiply_add_noise(xp: Backend, input: Array, noise: Mask, offset: Mask) -> Array:
    """``input * noise + offset``; only the noise is saved for the gradient."""
    return input * noise + offset


_multiply_add_noise.vjp(input=lambda xp, g, noise: g * noise)


def check_probability(p: float) -> None:
    """Raise ValueError unless ``0 <= p <= 1``."""
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def _draw_mask(name: str, input: Tensor, p: float, features: bool, dtype: Any = None) -> Array:
    """Random array of 0 with probability ``p``, else 1.

    Args:
        name: The function, for errors.
        input: The tensor that the mask is for.
        p: Probability of 0.
        features: Whether to draw one number per channel, for a mask ``(N, C, 1, ...)``; else the
            mask has the shape of ``input``.
        dtype: The dtype of the mask; that of ``input`` by default.
    """
    data, xp = input._data, input._xp
    if data.dtype.kind not in "fcV":
        raise RuntimeError(
            f"{name}: result type Float can't be cast to the desired output type "
            f"{scalar_name(input.dtype)}"
        )
    engine = engine_of(name, xp, None)
    if features:
        if data.ndim < 2:
            raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
        shape = (*data.shape[:2], *(1 for _ in data.shape[2:]))
        return engine.bernoulli(1 - p, shape, dtype or data.dtype)
    if data.flags.c_contiguous:
        return engine.bernoulli(1 - p, data.shape, dtype or data.dtype)
    order, _ = memory_order_like(data)
    return draw_in_order(
        xp, data.shape, order, lambda s: engine.bernoulli(1 - p, s, dtype or data.dtype)
    )


@functools.lru_cache(maxsize=64)
def _scale(xp: Backend, dtype: Any, p_keep: float) -> Any:
    """``1 / p_keep`` as a scalar of ``dtype``; divided in float32 for 16-bit dtypes, as PyTorch."""
    wide = xp.float32 if dtype.itemsize == 2 else dtype.type
    return dtype.type(wide(1) / wide(p_keep))


def drop(
    name: str, input: Tensor, p: float, training: bool, inplace: bool, features: bool = False
) -> Tensor:
    """Dropout of elements, or of whole channels with ``features``; ``name`` is for errors."""
    check_tensor(name, input)
    check_probability(p)
    if not training or p == 0.0 or not input.numel():
        return input
    xp, dtype = input._xp, input._data.dtype
    if p == 1.0:
        return _apply(_multiply_noise, input, inplace, wrap(xp.zeros((), dtype), xp))
    if xp.kernel("dropout") is not None:  # it reads bools, which take a quarter of a float's memory
        keep = _draw_mask(name, input, p, features, xp.native_dtype(dtypes.bool))
        if dtype.kind == "f":
            scale = float(_scale(xp, dtype, 1 - p))
            return _apply(_multiply_mask, input, inplace, wrap(keep, xp), scale=scale)
        return _apply(_multiply_noise, input, inplace, wrap(keep.astype(dtype) / (1 - p), xp))
    noise = _draw_mask(name, input, p, features)
    noise *= _scale(xp, dtype, 1 - p)
    return _apply(_multiply_noise, input, inplace, wrap(noise, xp))


def _apply(function: Any, input: Tensor, inplace: bool, *noise: Tensor, **options: float) -> Tensor:
    """Call ``function(input, *noise, **options)``, or the in-place form of this operation."""
    if inplace:
        return call_inplace(function.op, (input, *noise), options)
    return function(input, *noise, **options)  # type: ignore[no-any-return]


def _alpha_drop(
    name: str, input: Tensor, p: float, training: bool, inplace: bool, features: bool
) -> Tensor:
    """Dropout that sets elements, or channels with ``features``, to SELU's lower limit.

    A scale and an offset restore mean and variance. ``name`` is the function, for errors.
    """
    check_tensor(name, input)
    check_probability(p)
    if not training or p == 0.0 or not input.numel():
        return input
    xp = input._xp
    if p == 1.0:
        return _apply(_multiply_noise, input, inplace, wrap(xp.zeros((), input._data.dtype), xp))
    mask = _draw_mask(name, input, p, features)
    a = 1.0 / math.sqrt((_ALPHA * _ALPHA * p + 1) * (1 - p))
    dtype = mask.dtype  # a bfloat16 array times a Python float is float32
    offset = ((mask - 1) * (_ALPHA * a)).astype(dtype) + _ALPHA * a * p
    factor, offset = (mask * a).astype(dtype), offset.astype(dtype)
    return _apply(_multiply_add_noise, input, inplace, wrap(factor, xp), wrap(offset, xp))


@composite(namespaces=BOTH)
def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """``input`` with elements zeroed at random and the others scaled by ``1 / (1 - p)``.

    Args:
        input: Tensor of any shape.
        p: Probability that an element becomes zero; default 0.5.
        training: Whether to apply dropout; else ``input`` is returned; default True.
        inplace: Write the result over ``input``; default False.

    Returns:
        Tensor of the same shape. For the same seed, the zeros are where PyTorch's are.

    Raises:
        ValueError: If ``p`` is not between 0 and 1.

    Example:
        >>> tt.nn.functional.dropout(tt.ones(3), p=0.5, training=False)
        tensor([1., 1., 1.])

    Reference:
        Srivastava et al.: Dropout, Journal of Machine Learning Research 15 (2014).
    """
    return drop("dropout", input, p, training, inplace)


@composite(namespaces=FUNCTIONAL, like=dropout)
def dropout1d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Dropout of whole channels of sequences.

    Args:
        input: Tensor of shape ``(batch, channels, length)`` or ``(channels, length)``.
        p: Probability that a channel becomes zero; default 0.5.

    Raises:
        ValueError: If ``p`` is not between 0 and 1.
        RuntimeError: For another number of dimensions.

    Example:
        >>> tt.nn.functional.dropout1d(tt.ones(1, 2, 3), training=False).shape
        tinytorch.Size([1, 2, 3])
    """
    check_probability(p)
    if input.ndim not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {input.ndim}D input. Note that "
            "dropout1d exists to provide channel-wise dropout on inputs with 1 spatial dimension, "
            "a channel dimension, and an optional batch dimension (i.e. 2D or 3D inputs)."
        )
    return _drop_channels("dropout1d", input, p, training, inplace, batched=input.ndim == 3)


def _drop_channels(
    name: str, input: Tensor, p: float, training: bool, inplace: bool, batched: bool
) -> Tensor:
    """Dropout of tensor channels of ``(N, C, *)``, or of ``(C, *)`` unless ``batched``.

    ``name`` is the function, for errors.
    """
    if batched:
        return drop(name, input, p, training, inplace, features=True)
    tensor: Any = input
    out: Any = drop(name, tensor.unsqueeze(0), p, training, False, features=True)
    return tensor.copy_(out.squeeze(0)) if inplace else out.squeeze(0)  # type: ignore[no-any-return]


def _warn_about_ndim(name: str, spatial: int, ndim: int) -> None:
    """Warn unless an input of ``ndim`` dimensions fits ``spatial`` spatial ones."""
    if ndim not in (spatial + 1, spatial + 2):
        warn(
            f"{name}: Received a {ndim}-D input to {name}, which is deprecated and will result in "
            "an error in a future release. To retain the behavior and silence this warning, "
            f"please use dropout instead. Note that {name} exists to provide channel-wise dropout "
            f"on inputs with {spatial} spatial dimensions, a channel dimension, and an optional "
            f"batch dimension (i.e. {spatial + 1}D or {spatial + 2}D inputs).",
        )


@composite(namespaces=FUNCTIONAL, like=dropout1d)
def dropout2d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Dropout of whole channels of images.

    Args:
        input: Tensor of shape ``(batch, channels, height, width)``. Three dimensions are
            taken for ``(batch, channels, length)``, with a warning, as in torch.

    Raises:
        ValueError: If ``p`` is not between 0 and 1.

    Example:
        >>> tt.nn.functional.dropout2d(tt.ones(1, 2, 3, 3), training=False).shape
        tinytorch.Size([1, 2, 3, 3])
    """
    check_probability(p)
    _warn_about_ndim("dropout2d", 2, input.ndim)
    if input.ndim == 3:
        warn(
            "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout "
            "behavior is desired - input is interpreted as shape (N, C, L), where C is the channel "
            "dim. This behavior will change in a future release to interpret the input as one "
            "without a batch dimension, i.e. shape (C, H, W). To maintain the 1D channel-wise "
            "dropout behavior, please switch to using dropout1d instead.",
        )
    return drop("dropout2d", input, p, training, inplace, features=True)


@composite(namespaces=FUNCTIONAL, like=dropout1d)
def dropout3d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Dropout of whole channels of volumes; see ``dropout1d``.

    Args:
        input: Tensor of shape ``(batch, channels, depth, height, width)``, or without batch.

    Example:
        >>> tt.nn.functional.dropout3d(tt.ones(1, 2, 3, 3, 3), training=False).shape
        tinytorch.Size([1, 2, 3, 3, 3])
    """
    check_probability(p)
    _warn_about_ndim("dropout3d", 3, input.ndim)
    return _drop_channels("dropout3d", input, p, training, inplace, batched=input.ndim == 5)


@composite(namespaces=("",), like=dropout1d)
def feature_dropout(input: Tensor, p: float = 0.5, train: bool = True) -> Tensor:
    """Dropout of whole channels, with any number of other dimensions.

    Args:
        input: Tensor of shape ``(batch, channels, *)``.
        train: Whether to apply dropout; else ``input`` is returned; default True.

    Raises:
        ValueError: If ``p`` is not between 0 and 1.
        RuntimeError: For fewer than two dimensions.

    Example:
        >>> tt.feature_dropout(tt.ones(1, 2, 3), 0.5, False).shape
        tinytorch.Size([1, 2, 3])
    """
    return drop("feature_dropout", input, p, train, False, features=True)


@composite(namespaces=BOTH, like=dropout)
def alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """Dropout for SELU networks, which keeps mean 0 and variance 1 of normalized inputs.

    Args:
        p: Probability that an element is set to SELU's lower limit; default 0.5.
        training: Whether to apply dropout; else ``input`` is returned; default False.

    Raises:
        ValueError: If ``p`` is not between 0 and 1.

    Example:
        >>> tt.nn.functional.alpha_dropout(tt.ones(3), training=False)
        tensor([1., 1., 1.])

    Reference:
        Klambauer, Unterthiner, Mayr, Hochreiter: Self-Normalizing Neural Networks,
        arXiv:1706.02515.
    """
    return _alpha_drop("alpha_dropout", input, p, training, inplace, features=False)


@composite(namespaces=BOTH, like=alpha_dropout)
def feature_alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """``alpha_dropout`` of whole channels.

    Args:
        input: Tensor of shape ``(batch, channels, *)``.
        p: Probability that a channel is set to SELU's lower limit; default 0.5.

    Raises:
        ValueError: If ``p`` is not between 0 and 1.
        RuntimeError: For fewer than two dimensions.

    Example:
        >>> tt.nn.functional.feature_alpha_dropout(tt.ones(1, 2, 3), training=False).shape
        tinytorch.Size([1, 2, 3])
    """
    return _alpha_drop("feature_alpha_dropout", input, p, training, inplace, features=True)


@composite(namespaces=BOTH, node="RreluWithNoiseBackward0")
def rrelu(
    input: Tensor,
    lower: float = 1 / 8,
    upper: float = 1 / 3,
    training: bool = False,
    inplace: bool = False,
) -> Tensor:
    """``x`` above 0, else ``x`` times a slope: random in training, the mean slope otherwise.

    Args:
        input: Tensor of any shape.
        lower: The smallest slope; default 1/8.
        upper: The largest slope; default 1/3.
        training: Draw a slope for each element; default False.
        inplace: Write the result over ``input``; default False.

    Raises:
        RuntimeError: If ``lower`` is above ``upper``.

    Example:
        >>> tt.nn.functional.rrelu(tt.tensor([-2.0, 1.0]), 0.5, 0.5)
        tensor([-1.,  1.])

    Reference:
        Xu, Wang, Chen, Li: Empirical Evaluation of Rectified Activations, arXiv:1505.00853.
    """
    if lower > upper:
        raise RuntimeError(
            f"rrelu: Lower bound should be less than or equal to the upper bound, got {lower} and "
            f"{upper}"
        )
    check_supported(input._xp, "rrelu_with_noise_out_cpu", input._data, unsupported="c")
    if not training:
        from ..shape.views import contiguous
        from .activation import leaky_relu

        out = leaky_relu(input, (lower + upper) / 2, inplace)
        return out if inplace else contiguous(out)
    slopes = wrap(_draw_slopes(input, lower, upper), input._xp)
    return _apply(_multiply_slopes, input, inplace, slopes)


def _draw_slopes(input: Tensor, lower: float, upper: float) -> Array:
    """Slope of each element: 1 for positive elements, else random between ``lower`` and ``upper``.

    The numbers are drawn in row-major order.
    """
    xp, data = input._xp, input._data
    slopes = xp.ones(data.shape, data.dtype)
    negative = data <= 0
    engine = engine_of("rrelu", xp, None)
    # PyTorch draws one number for each element <= 0, and the generator advances by their count. So
    # the count must be known on the host: a GPU synchronizes here.
    count = int(xp.count_nonzero(negative))
    slopes[negative] = engine.uniform((count,), "float64", lower, upper).astype(data.dtype)
    return slopes
