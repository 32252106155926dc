"""Layers that rearrange elements: Flatten, Fold, PixelShuffle, ChannelShuffle and inverses."""

from __future__ import annotations

from typing import Any

from ..core.tensor import Tensor
from . import functional as F
from .common_types import Sizes
from .module import Module

__all__ = [
    "ChannelShuffle",
    "Flatten",
    "Fold",
    "PixelShuffle",
    "PixelUnshuffle",
    "Unflatten",
    "Unfold",
]


class Flatten(Module):
    """Join dimensions into one.

    Args:
        start_dim: The first of them. Default: 1, which keeps the batch.
        end_dim: The last of them. Default: -1.

    Example:
        >>> tt.nn.Flatten()(tt.zeros(32, 1, 5, 5)).shape
        tinytorch.Size([32, 25])
    """

    start_dim: int
    end_dim: int

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim = start_dim
        self.end_dim = end_dim

    def forward(self, input: Tensor) -> Tensor:
        """Apply it; a view where that is possible."""
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        """The configuration."""
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Unflatten(Module):
    """Split a dimension into several.

    Args:
        dim: The dimension.
        unflattened_size: The sizes it becomes, a tuple or list; one of them may be -1.

    Raises:
        TypeError: If the sizes are no tuple or list of ints.

    Example:
        >>> tt.nn.Unflatten(1, (2, 5))(tt.zeros(32, 10)).shape
        tinytorch.Size([32, 2, 5])
    """

    dim: int
    unflattened_size: Any

    def __init__(self, dim: int, unflattened_size: Any) -> None:
        super().__init__()
        self._require_tuple_int(unflattened_size)
        self.dim = dim
        self.unflattened_size = unflattened_size

    def forward(self, input: Tensor) -> Tensor:
        """Apply it; a view where that is possible."""
        return input.unflatten(self.dim, self.unflattened_size)

    def extra_repr(self) -> str:
        """The configuration."""
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"

    def _require_tuple_int(self, input: object) -> None:
        """Check the input; ``__init__`` calls it."""
        if not isinstance(input, (tuple, list)):
            raise TypeError(
                f"unflattened_size must be a tuple of ints, but found type {type(input).__name__}"
            )
        for place, size in enumerate(input):
            if not isinstance(size, int):
                raise TypeError(
                    "unflattened_size must be tuple of ints, but found element of type "
                    f"{type(size).__name__} at pos {place}"
                )


class Unfold(Module):
    """Cut images into pieces that may overlap, each a column.

    Args:
        kernel_size: Size of a piece, an int or ``(height, width)``; so for all sizes.
        dilation: Step between a piece's elements. Default: 1.
        padding: How many zeros are added on all sides. Default: 0.
        stride: Step from one piece to the next. Default: 1.

    Example:
        >>> tt.nn.Unfold((2, 3))(tt.randn(2, 5, 3, 4)).shape
        tinytorch.Size([2, 30, 4])
    """

    kernel_size: Sizes
    dilation: Sizes
    padding: Sizes
    stride: Sizes

    def __init__(
        self, kernel_size: Sizes, dilation: Sizes = 1, padding: Sizes = 0, stride: Sizes = 1
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.dilation = dilation
        self.padding = padding
        self.stride = stride

    def forward(self, input: Tensor) -> Tensor:
        """Cut a tensor of shape ``(batch, channels, height, width)``, or without batch.

        Returns:
            Shape ``(batch, channels * elements of a piece, pieces)``, or without batch.
        """
        return F.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self) -> str:
        """The configuration."""
        return (
            f"kernel_size={self.kernel_size}, dilation={self.dilation}, "
            f"padding={self.padding}, stride={self.stride}"
        )


class Fold(Module):
    """Put pieces back at their places, adding where they overlap.

    Args:
        output_size: ``(height, width)`` of the images, or one for both.
        kernel_size: That of ``Unfold``; so for all sizes.
        dilation: Default: 1.
        padding: Default: 0.
        stride: Default: 1.

    Example:
        >>> tt.nn.Fold((4, 5), (2, 2))(tt.randn(1, 12, 12)).shape
        tinytorch.Size([1, 3, 4, 5])
    """

    output_size: Sizes
    kernel_size: Sizes
    dilation: Sizes
    padding: Sizes
    stride: Sizes

    def __init__(
        self,
        output_size: Sizes,
        kernel_size: Sizes,
        dilation: Sizes = 1,
        padding: Sizes = 0,
        stride: Sizes = 1,
    ) -> None:
        super().__init__()
        self.output_size = output_size
        self.kernel_size = kernel_size
        self.dilation = dilation
        self.padding = padding
        self.stride = stride

    def forward(self, input: Tensor) -> Tensor:
        """Fold a tensor of shape ``(batch, channels * elements of a piece, pieces)``.

        Returns:
            Shape ``(batch, channels, *output_size)``.
        """
        return F.fold(
            input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride
        )

    def extra_repr(self) -> str:
        """The configuration."""
        return (
            f"output_size={self.output_size}, kernel_size={self.kernel_size}, "
            f"dilation={self.dilation}, padding={self.padding}, stride={self.stride}"
        )


class PixelShuffle(Module):
    """Make images r times larger in both directions, out of r² channels for each.

    Args:
        upscale_factor: r.

    Example:
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
