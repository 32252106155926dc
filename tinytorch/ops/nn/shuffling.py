"""Pixel shuffle, its inverse, and channel shuffle."""

from __future__ import annotations

from typing import Any

from ...core.tensor import Tensor
from ...dispatch.op import composite
from ..checks import as_int
from ..shape.views import following, own_copy

_BOTH = ("nn.functional", "")


@composite(namespaces=_BOTH, node="PixelShuffleBackward0")
def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """Rearrange channels as pixels: the image is r times as large, with r² times fewer channels.

    Args:
        input: ``(*, channels * r², height, width)``.
        upscale_factor: The factor r.

    Returns:
        ``(*, channels, height * r, width * r)``.

    Raises:
        RuntimeError: If shapes do not fit.
        ValueError: If r² overflows int64.

    Example:
        >>> tt.pixel_shuffle(tt.arange(4).reshape(4, 1, 1), 2)
        tensor([[[0, 1],
                 [2, 3]]])

    Reference:
        Shi et al.: Real-Time Single Image and Video Super-Resolution Using an Efficient
        Sub-Pixel Convolutional Neural Network, arXiv:1609.05158.
    """
    r = as_int("pixel_shuffle", "upscale_factor", upscale_factor)
    _check_dims("pixel_shuffle", input)
    _check_factor("pixel_shuffle", "upscale_factor", r)
    if r * r >= 2**63:
        raise ValueError(
            "pixel_shuffle: upscale factor is too large, (upscale_factor)^2 overflowed: "
            f"upscale_factor={r}"
        )
    channels, height, width = input.shape[-3:]
    if channels % (r * r):
        raise RuntimeError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square "
            f"of upscale_factor, but input.size(-3)={channels} is not divisible by {r * r}"
        )
    lead = tuple(input.shape[:-3])
    out = channels // (r * r)
    parts: Any = input.reshape((*lead, out, r, r, height, width))
    n = len(lead)
    order = (*range(n), n, n + 3, n + 1, n + 4, n + 2)
    pixels = parts.permute(order).reshape((*lead, out, height * r, width * r))
    return following(_copy_view(pixels), input)


@composite(namespaces=_BOTH, node="PixelUnshuffleBackward0")
def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
    """Rearrange pixels as channels, the inverse of ``pixel_shuffle``.

    Args:
        input: ``(*, channels, height * r, width * r)``.
        downscale_factor: The factor r.

    Returns:
        ``(*, channels * r², height, width)``; the input's shape if it has no elements.

    Raises:
        RuntimeError: If shapes do not fit.

    Example:
        >>> tt.pixel_unshuffle(tt.arange(4).reshape(1, 2, 2), 2).flatten()
        tensor([0, 1, 2, 3])
    """
    r = as_int("pixel_unshuffle", "downscale_factor", downscale_factor)
    _check_dims("pixel_unshuffle", input)
    _check_factor("pixel_unshuffle", "downscale_factor", r)
    channels, height, width = input.shape[-3:]
    for what, at, size in (("height", -2, height), ("width", -1, width)):
        if size % r:
            raise RuntimeError(
                f"pixel_unshuffle expects {what} to be divisible by downscale_factor, but "
                f"input.size({at})={size} is not divisible by {r}"
            )
    if not input.numel():
        return own_copy(input)  # as in PyTorch, the shape does not change without elements
    lead = tuple(input.shape[:-3])
    n = len(lead)
    rows, columns = height // r, width // r
    parts: Any = input.reshape((*lead, channels, rows, r, columns, r))
    order = (*range(n), n, n + 2, n + 4, n + 1, n + 3)
    pixels = parts.permute(order).reshape((*lead, channels * r * r, rows, columns))
    return following(_copy_view(pixels), input)


def _copy_view(pixels: Any) -> Tensor:
    """A copy of ``pixels`` if they are a view, as they are for a factor of 1; else ``pixels``."""
    return pixels if pixels._base is None else own_copy(pixels)


def _check_dims(name: str, input: Tensor) -> None:
    """Raise RuntimeError unless ``input`` has at least 3 dimensions."""
    if input.ndim < 3:
        raise RuntimeError(
            f"{name} expects input to have at least 3 dimensions, but got input with {input.ndim} "
            "dimension(s)"
        )


def _check_factor(name: str, argument: str, factor: int) -> None:
    """Raise RuntimeError unless ``factor`` is positive."""
    if factor <= 0:
        raise RuntimeError(f"{name} expects a positive {argument}, but got {factor}")


@composite(namespaces=_BOTH, aliases=("native_channel_shuffle",), node="ChannelShuffleBackward0")
def channel_shuffle(input: Tensor, groups: int) -> Tensor:
    """Interleave groups of channels: the first of each group, then the second of each, and so on.

    Args:
        input: ``(batch, channels, *image)``.
        groups: Number of groups of consecutive channels.

    Returns:
        Tensor of ``input``'s shape.

    Raises:
        RuntimeError: If shapes do not fit.

    Example:
        >>> tt.channel_shuffle(tt.arange(4).reshape(1, 4, 1), 2).flatten()
        tensor([0, 2, 1, 3])

    Reference:
        Zhang et al.: ShuffleNet, arXiv:1707.01083.
    """
    if input.ndim < 3:
        raise RuntimeError(
            f"channel_shuffle expects input with > 2 dims, but got input with sizes "
            f"{list(input.shape)}"
        )
    groups = as_int("channel_shuffle", "groups", groups)
    if groups <= 0:
        raise RuntimeError(
            "channel_shuffle: Number of groups to divide channels in must be positive. Value of "
            f"groups:{groups}"
        )
    channels = input.shape[1]
    if channels % groups:
        raise RuntimeError(
            "channel_shuffle: Number of channels must be divisible by groups. Got "
            f"{channels} channels and {groups} groups."
        )
    if groups in (1, channels):  # the reshape below would return a view
        return following(input.clone(), input)
    rest = tuple(input.shape[2:])
    x: Any = input.reshape((input.shape[0], groups, channels // groups, *rest))
    return following(x.transpose(1, 2).reshape(tuple(input.shape)), input)
