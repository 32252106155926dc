"""Dropout: random zeros during training, drawn from the default generator as PyTorch does."""

from __future__ import annotations

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

#: What SELU tends to far below 0, negated: λα of Klambauer et al., arXiv:1706.02515.
_ALPHA = 1.7580993408473766


@op(inplace=True, node="MulBackward0")
def _scaled(xp: Backend, input: Array, noise: Mask) -> Array:
    """``input * noise``: only the noise is kept for the gradient."""
    return input * noise


_scaled.vjp(input=lambda xp, g, noise: g * noise)


@op(inplace=True, node="RreluWithNoiseBackward0")
def _sloped(xp: Backend, input: Array, slopes: Mask) -> Array:
    return input * slopes


# The slopes are drawn where the input is below 0.
_sloped.vjp(input=piecewise(lambda xp, g, slopes: g * slopes))


@op(inplace=True, node="MulBackward0")
def _dropped(xp: Backend, input: Array, keep: Mask, *, scale: float) -> Array:
    """``input`` times ``scale`` where ``keep`` holds, else times 0."""
    out = xp.fused("dropout", input, keep, scale)
    return input * (keep.astype(input.dtype) * scale) if out is None else out


_dropped.vjp(input=lambda xp, g, keep, scale: xp.call(_dropped, g, keep, scale=scale))


@op(inplace=True, node="AddBackward0")
def _scaled_and_moved(xp: Backend, input: Array, noise: Mask, offset: Mask) -> Array:
    return input * noise + offset


_scaled_and_moved.vjp(input=lambda xp, g, noise: g * noise)


def check_share(p: float) -> None:
    """ValueError unless ``p`` is a probability."""
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def _ones_and_zeros(name: str, input: Tensor, p: float, features: bool, dtype: Any = None) -> Array:
    """Zeros with probability ``p``, else ones: of ``input``'s shape, or one per channel."""
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
    order, _ = memory_order_like(data)
    return draw_in_order(
        xp, data.shape, order, lambda s: engine.bernoulli(1 - p, s, dtype or data.dtype)
    )


def _scale(xp: Backend, dtype: Any, share: float) -> Any:
    """What a one becomes, divided by the ``share`` that is kept: torch computes halves wide."""
    wide = xp.float32 if dtype.itemsize == 2 else dtype.type
    return dtype.type(wide(1) / wide(share))


def drop(
    name: str, input: Tensor, p: float, training: bool, inplace: bool, features: bool = False
) -> Tensor:
    """``input`` with elements, or whole features, put to zero; ``name`` is for errors."""
    check_tensor(name, input)
    check_share(p)
    if not training or p == 0.0 or not input.numel():
        return input
    xp, dtype = input._xp, input._data.dtype
    if p == 1.0:
        return _apply(_scaled, input, inplace, wrap(xp.zeros((), dtype), xp))
    if xp.kernel("dropout") is not None:  # then bools are enough, a quarter of what floats take
        keep = _ones_and_zeros(name, input, p, features, xp.native_dtype(dtypes.bool))
        if dtype.kind == "f":
            scale = float(_scale(xp, dtype, 1 - p))
            return _apply(_dropped, input, inplace, wrap(keep, xp), scale=scale)
        return _apply(_scaled, input, inplace, wrap(keep.astype(dtype) / (1 - p), xp))
    noise = _ones_and_zeros(name, input, p, features)
    noise *= _scale(xp, dtype, 1 - p)
    return _apply(_scaled, input, inplace, wrap(noise, xp))


def _apply(function: Any, input: Tensor, inplace: bool, *noise: Tensor, **numbers: float) -> Tensor:
    if inplace:
        return call_inplace(function.op, (input, *noise), numbers)
    return function(input, *noise, **numbers)  # type: ignore[no-any-return]


def _drop_alpha(
    name: str, input: Tensor, p: float, training: bool, inplace: bool, features: bool
) -> Tensor:
    """Dropout to SELU's lower limit, scaled and moved so that mean and variance stay."""
    check_tensor(name, input)
    check_share(p)
    if not training or p == 0.0 or not input.numel():
        return input
    xp = input._xp
    if p == 1.0:
        return _apply(_scaled, input, inplace, wrap(xp.zeros((), input._data.dtype), xp))
    kept = _ones_and_zeros(name, input, p, features)
    a = 1.0 / math.sqrt((_ALPHA * _ALPHA * p + 1) * (1 - p))
    dtype = kept.dtype  # a bfloat16 array times a number of Python's is float32
    offset = ((kept - 1) * (_ALPHA * a)).astype(dtype) + _ALPHA * a * p
    factor, offset = (kept * a).astype(dtype), offset.astype(dtype)
    return _apply(_scaled_and_moved, input, inplace, wrap(factor, xp), wrap(offset, xp))


@composite(namespaces=BOTH)
def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """``input`` with elements zeroed at random and the others scaled by ``1 / (1 - p)``.

    Args:
        input: Tensor of any shape.
        p: Probability that an element becomes zero; default 0.5.
        training: Whether anything happens at all; default True.
        inplace: Write the result over ``input``; default False.

    Returns:
        Tensor of the same shape; for the same seed PyTorch's zeros.

    Raises:
        ValueError: If ``p`` is no probability.

    Example:
        >>> tt.nn.functional.dropout(tt.ones(3), p=0.5, training=False)
        tensor([1., 1., 1.])

    Reference:
        Srivastava et al.: Dropout, Journal of Machine Learning Research 15 (2014).
    """
    return drop("dropout", input, p, training, inplace)


@composite(namespaces=FUNCTIONAL)
def dropout1d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Dropout of whole channels of sequences.

    Args:
        input: Tensor of shape ``(batch, channels, length)`` or ``(channels, length)``.
        p: Probability that a channel becomes zero; default 0.5.
        training: Whether anything happens at all; default True.
        inplace: Write the result over ``input``; default False.

    Raises:
        ValueError: If ``p`` is no probability.
        RuntimeError: For another number of dimensions.

    Example:
        >>> tt.nn.functional.dropout1d(tt.ones(1, 2, 3), training=False).shape
        tinytorch.Size([1, 2, 3])
    """
    check_share(p)
    if input.ndim not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {input.ndim}D input. Note that "
            "dropout1d exists to provide channel-wise dropout on inputs with 1 spatial dimension, "
            "a channel dimension, and an optional batch dimension (i.e. 2D or 3D inputs)."
        )
    return _with_batch("dropout1d", input, p, training, inplace, batched=input.ndim == 3)


def _with_batch(
    name: str, input: Tensor, p: float, training: bool, inplace: bool, batched: bool
) -> Tensor:
    if batched:
        return drop(name, input, p, training, inplace, features=True)
    whole: Any = input
    out: Any = drop(name, whole.unsqueeze(0), p, training, False, features=True)
    return whole.copy_(out.squeeze(0)) if inplace else out.squeeze(0)  # type: ignore[no-any-return]


def _warn_of_dimensions(name: str, spatial: int, ndim: int) -> None:
    if ndim not in (spatial + 1, spatial + 2):
        warn(
            f"{name}: Received a {ndim}-D input to {name}, which is deprecated and will result in "
            "an error in a future release. To retain the behavior and silence this warning, "
            f"please use dropout instead. Note that {name} exists to provide channel-wise dropout "
            f"on inputs with {spatial} spatial dimensions, a channel dimension, and an optional "
            f"batch dimension (i.e. {spatial + 1}D or {spatial + 2}D inputs).",
        )


@composite(namespaces=FUNCTIONAL)
def dropout2d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Dropout of whole channels of images.

    Args:
        input: Tensor of shape ``(batch, channels, height, width)``. Three dimensions are
            taken for ``(batch, channels, length)``, with a warning, as in torch.
        p: Probability that a channel becomes zero; default 0.5.
        training: Whether anything happens at all; default True.
        inplace: Write the result over ``input``; default False.

    Raises:
        ValueError: If ``p`` is no probability.

    Example:
        >>> tt.nn.functional.dropout2d(tt.ones(1, 2, 3, 3), training=False).shape
        tinytorch.Size([1, 2, 3, 3])
    """
    check_share(p)
    _warn_of_dimensions("dropout2d", 2, input.ndim)
    if input.ndim == 3:
        warn(
            "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout "
            "behavior is desired - input is interpreted as shape (N, C, L), where C is the channel "
            "dim. This behavior will change in a future release to interpret the input as one "
            "without a batch dimension, i.e. shape (C, H, W). To maintain the 1D channel-wise "
            "dropout behavior, please switch to using dropout1d instead.",
        )
    return drop("dropout2d", input, p, training, inplace, features=True)


@composite(namespaces=FUNCTIONAL)
def dropout3d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Dropout of whole channels of volumes.

    Args:
        input: Tensor of shape ``(batch, channels, depth, height, width)``, or without batch.
        p: Probability that a channel becomes zero; default 0.5.
        training: Whether anything happens at all; default True.
        inplace: Write the result over ``input``; default False.

    Raises:
        ValueError: If ``p`` is no probability.

    Example:
        >>> tt.nn.functional.dropout3d(tt.ones(1, 2, 3, 3, 3), training=False).shape
        tinytorch.Size([1, 2, 3, 3, 3])
    """
    check_share(p)
    _warn_of_dimensions("dropout3d", 3, input.ndim)
    return _with_batch("dropout3d", input, p, training, inplace, batched=input.ndim == 5)


@composite(namespaces=("",))
def feature_dropout(input: Tensor, p: float = 0.5, train: bool = True) -> Tensor:
    """Dropout of whole channels, whatever the number of other dimensions.

    Args:
        input: Tensor of shape ``(batch, channels, *)``.
        p: Probability that a channel becomes zero; default 0.5.
        train: Whether anything happens at all; default True.

    Raises:
        ValueError: If ``p`` is no probability.
        RuntimeError: For fewer than two dimensions.

    Example:
        >>> tt.feature_dropout(tt.ones(1, 2, 3), 0.5, False).shape
        tinytorch.Size([1, 2, 3])
    """
    return drop("feature_dropout", input, p, train, False, features=True)


@composite(namespaces=BOTH)
def alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """Dropout for networks of SELUs: mean and variance of normalised inputs stay.

    Args:
        input: Tensor of any shape.
        p: Probability that an element drops to SELU's lower limit; default 0.5.
        training: Whether anything happens at all; default False.
        inplace: Write the result over ``input``; default False.

    Raises:
        ValueError: If ``p`` is no probability.

    Example:
        >>> tt.nn.functional.alpha_dropout(tt.ones(3), training=False)
        tensor([1., 1., 1.])

    Reference:
        Klambauer, Unterthiner, Mayr, Hochreiter: Self-Normalizing Neural Networks,
        arXiv:1706.02515.
    """
    return _drop_alpha("alpha_dropout", input, p, training, inplace, features=False)


@composite(namespaces=BOTH)
def feature_alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """``alpha_dropout`` of whole channels.

    Args:
        input: Tensor of shape ``(batch, channels, *)``.
        p: Probability that a channel drops to SELU's lower limit; default 0.5.
        training: Whether anything happens at all; default False.
        inplace: Write the result over ``input``; default False.

    Raises:
        ValueError: If ``p`` is no probability.
        RuntimeError: For fewer than two dimensions.

    Example:
        >>> tt.nn.functional.feature_alpha_dropout(tt.ones(1, 2, 3), training=False).shape
        tinytorch.Size([1, 2, 3])
    """
    return _drop_alpha("feature_alpha_dropout", input, p, training, inplace, features=True)


# -- randomised leaky relu -----------------------------------------------------------------------


@composite(namespaces=BOTH, node="RreluWithNoiseBackward0")
def rrelu(
    input: Tensor,
    lower: float = 1 / 8,
    upper: float = 1 / 3,
    training: bool = False,
    inplace: bool = False,
) -> Tensor:
    """``x`` above 0; below, ``x`` times a random slope in training, else the mean slope.

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
    check_supported(input._xp, "rrelu_with_noise_out_cpu", "c", input._data)
    if not training:
        from ..shape.views import contiguous
        from .activation import leaky_relu

        out = leaky_relu(input, (lower + upper) / 2, inplace)
        return out if inplace else contiguous(out)
    return _apply(_sloped, input, inplace, wrap(_slopes(input, lower, upper), input._xp))


def _slopes(input: Tensor, lower: float, upper: float) -> Array:
    """1 above 0, and for the others a slope each, drawn in row-major order."""
    xp, data = input._xp, input._data
    slopes = xp.ones(data.shape, data.dtype)
    below = data <= 0
    engine = engine_of("rrelu", xp, None)
    # A GPU is waited for here: PyTorch draws a number an element below 0 and no more, and where the
    # generator goes on from depends on their count.
    count = int(xp.count_nonzero(below))
    slopes[below] = engine.uniform((count,), "float64", lower, upper).astype(data.dtype)
    return slopes
