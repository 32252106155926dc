"""Conversion of convolutions' weights to the memory format of images."""

from __future__ import annotations

from typing import TypeVar

from ...core.layout import memory_format as _format
from ...core.tensor import Tensor
from ..conv import Conv2d, Conv3d, ConvTranspose2d, ConvTranspose3d
from ..module import Module

__all__ = ["convert_conv2d_weight_memory_format", "convert_conv3d_weight_memory_format"]

_M = TypeVar("_M", bound=Module)


def convert_conv2d_weight_memory_format(module: _M, memory_format: _format) -> _M:
    """Convert the weights of every ``Conv2d`` and ``ConvTranspose2d`` to a memory format.

    Args:
        module: A module; it is changed in place.
        memory_format: The memory format, for example ``channels_last``.

    Returns:
        The module.

    Example:
        >>> layer = tt.nn.Conv2d(8, 4, 3)
        >>> convert = tt.nn.utils.convert_conv2d_weight_memory_format
        >>> convert(layer, tt.channels_last).weight.stride()
        (72, 1, 24, 8)
    """
    return _convert_weights(module, (Conv2d, ConvTranspose2d), memory_format)


def convert_conv3d_weight_memory_format(module: _M, memory_format: _format) -> _M:
    """Convert the weights of every ``Conv3d`` and ``ConvTranspose3d`` to a memory format.

    Args:
        module: A module; it is changed in place.
        memory_format: The memory format, for example ``channels_last_3d``.

    Returns:
        The module.

    Example:
        >>> layer = tt.nn.Conv3d(8, 4, 3)
        >>> convert = tt.nn.utils.convert_conv3d_weight_memory_format
        >>> convert(layer, tt.channels_last_3d).weight.stride()
        (216, 1, 72, 24, 8)
    """
    return _convert_weights(module, (Conv3d, ConvTranspose3d), memory_format)


def _convert_weights(module: _M, kinds: tuple[type[Module], ...], memory_format: _format) -> _M:
    """Convert the weights of all submodules of these classes."""
    for part in module.modules():
        if isinstance(part, kinds):
            weight: Tensor = part.weight  # type: ignore[attr-defined]
            weight.data = weight.detach().clone().contiguous(memory_format=memory_format)
    return module
