"""Rearranging channels and pixels."""

from __future__ import annotations

from ..core.tensor import Tensor
from . import functional as F
from .module import Module

__all__ = ["ChannelShuffle", "PixelShuffle", "PixelUnshuffle"]


class PixelShuffle(Module):
    """Make images r times larger in both directions, out of r² channels for each.

    Args:
        upscale_factor: r.

    Example:
        >>> import tinytorch as tt
        >>> tt.nn.PixelShuffle(3)(tt.randn(1, 9, 4, 4)).shape
        tinytorch.Size([1, 1, 12, 12])

    Reference:
        W. Shi et al., "Real-time single image and video super-resolution using an efficient
        sub-pixel convolutional neural network" (2016).
    """

    upscale_factor: int

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = upscale_factor

    def forward(self, input: Tensor) -> Tensor:
        """Rearrange a tensor of shape ``(*, channels * r², height, width)``."""
        return F.pixel_shuffle(input, self.upscale_factor)

    def extra_repr(self) -> str:
        """The configuration."""
        return f"upscale_factor={self.upscale_factor}"


class PixelUnshuffle(Module):
    """Make images r times smaller in both directions, with r² channels for each.

    Args:
        downscale_factor: r.

    Example:
        >>> import tinytorch as tt
        >>> tt.nn.PixelUnshuffle(3)(tt.randn(1, 1, 12, 12)).shape
        tinytorch.Size([1, 9, 4, 4])

    Reference:
        W. Shi et al., "Real-time single image and video super-resolution using an efficient
        sub-pixel convolutional neural network" (2016).
    """

    downscale_factor: int

    def __init__(self, downscale_factor: int) -> None:
        super().__init__()
        self.downscale_factor = downscale_factor

    def forward(self, input: Tensor) -> Tensor:
        """Rearrange a tensor of shape ``(*, channels, height * r, width * r)``."""
        return F.pixel_unshuffle(input, self.downscale_factor)

    def extra_repr(self) -> str:
        """The configuration."""
        return f"downscale_factor={self.downscale_factor}"


class ChannelShuffle(Module):
    """Interleave groups of channels.

    Args:
        groups: How many groups there are.

    Example:
        >>> import tinytorch as tt
        >>> tt.nn.ChannelShuffle(2)(tt.arange(4.0).reshape(1, 4, 1, 1)).flatten()
        tensor([0., 2., 1., 3.])

    Reference:
        X. Zhang et al., "ShuffleNet" (2017).
    """

    groups: int

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = groups

    def forward(self, input: Tensor) -> Tensor:
        """Rearrange a tensor of shape ``(batch, channels, *)``."""
        return F.channel_shuffle(input, self.groups)

    def extra_repr(self) -> str:
        """The configuration."""
        return f"groups={self.groups}"
