"""Pixel shuffle, its inverse, and channel shuffle."""

from __future__ import annotations

import functools

from ...core.tensor import Tensor
from ...dispatch.op import Array, Backend, Reduced, composite, op
from ..checks import as_int
from ..memory_order import inverse_permutation
from ..shape.views import following, own_copy

_BOTH = ("nn.functional", "")
Sizes = tuple[int, ...]


@op(reduced=Reduced.NATIVE)
def _rearrange(xp: Backend, input: Array, parts: Sizes, order: Sizes, shape: Sizes) -> Array:
    """A copy of ``input`` in the shape ``parts``, permuted by ``order``, in the shape ``shape``."""
    return xp.array(input.reshape(parts).transpose(order), order="C").reshape(shape)


_rearrange.vjp(
    input=lambda xp, g, in_shape, parts, order: xp.call(
        _rearrange, g, tuple([parts[i] for i in order]), inverse_permutation(order), tuple(in_shape)
    )
)


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
    return following(_rearrange(input, *_plan_shuffle(input._data.shape, r)), input)


@functools.lru_cache(maxsize=256)
def _plan_shuffle(shape: Sizes, r: int) -> tuple[Sizes, Sizes, Sizes]:
    """Arguments of ``_rearrange`` for ``pixel_shuffle``, after checks of the shape and factor."""
    _check_dims("pixel_shuffle", shape)
    _check_factor("pixel_shuffle", "upscale_factor", r)
    if r * r >= 2**63:
        raise ValueError(
            "pixel_shuffle: upscale factor is too large, (upscale_factor)^2 overflowed: "
            f"upscale_factor={r}"
        )
    *lead, channels, height, width = shape
    if channels % (r * r):
        raise RuntimeError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square "
            f"of upscale_factor, but input.size(-3)={channels} is not divisible by {r * r}"
        )
    out, n = channels // (r * r), len(lead)
    order = (*range(n), n, n + 3, n + 1, n + 4, n + 2)
    return (*lead, out, r, r, height, width), order, (*lead, out, height * r, width * r)


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
    plan = _plan_unshuffle(input._data.shape, r)
    if not input._data.size:
        return own_copy(input)  # as in PyTorch, the shape does not change without elements
    return following(_rearrange(input, *plan), input)


@functools.lru_cache(maxsize=256)
def _plan_unshuffle(shape: Sizes, r: int) -> tuple[Sizes, Sizes, Sizes]:
    """Arguments of ``_rearrange`` for ``pixel_unshuffle``, after checks of shape and factor."""
    _check_dims("pixel_unshuffle", shape)
    _check_factor("pixel_unshuffle", "downscale_factor", r)
    *lead, channels, height, width = shape
    for what, at, size in (("height", -2, height), ("width", -1, width)):
        if size % r:
            raise RuntimeError(
                f"pixel_unshuffle expects {what} to be divisible by downscale_factor, but "
                f"input.size({at})={size} is not divisible by {r}"
            )
    n, rows, columns = len(lead), height // r, width // r
    order = (*range(n), n, n + 2, n + 4, n + 1, n + 3)
    return (*lead, channels, rows, r, columns, r), order, (*lead, channels * r * r, rows, columns)


def _check_dims(name: str, shape: Sizes) -> None:
    """Raise RuntimeError unless an input of ``shape`` has at least 3 dimensions."""
    if len(shape) < 3:
        raise RuntimeError(
            f"{name} expects input to have at least 3 dimensions, but got input with {len(shape)} "
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
    if input._data.ndim < 3:
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
    batch, channels, *rest = input._data.shape
    if channels % groups:
        raise RuntimeError(
            "channel_shuffle: Number of channels must be divisible by groups. Got "
            f"{channels} channels and {groups} groups."
        )
    parts = (batch, groups, channels // groups, *rest)
    order = (0, 2, 1, *range(3, len(parts)))
    return following(_rearrange(input, parts, order, (batch, channels, *rest)), input)
