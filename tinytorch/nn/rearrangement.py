"""Layers that rearrange elements: Flatten, Fold, PixelShuffle, their inverses, ChannelShuffle."""

from __future__ import annotations

from typing import Any

from ..core.tensor import Tensor
from . import functional as F
from .common_types import Sizes
from .module import Module

__all__ = [
    "ChannelShuffle", "Flatten", "Fold", "PixelShuffle", "PixelUnshuffle", "Unflatten", "Unfold",
]  # fmt: skip


class Flatten(Module):
    """Flattens a range of dimensions into one.

    Args:
        start_dim: The first of these dimensions. Default: 1, which keeps the batch dimension.
        end_dim: The last of these dimensions. Default: -1.

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
        """Reshape the input, to a view of it if possible."""
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Unflatten(Module):
    """Splits a dimension into several.

    Args:
        dim: The dimension to split.
        unflattened_size: Tuple or list of the new sizes; one of them may be -1.

    Raises:
        TypeError: If ``unflattened_size`` is not a tuple or list of ints.

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
        """Reshape the input, to a view of it if possible."""
        return input.unflatten(self.dim, self.unflattened_size)

    def extra_repr(self) -> str:
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"

    def _require_tuple_int(self, input: object) -> None:
        """Check that ``unflattened_size`` is a tuple or list of ints; ``__init__`` calls it."""
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


class _Windows(Module):
    """Base class of Unfold and Fold.

    Args:
        kernel_size: Size of a window: an int, or ``(height, width)``.
        dilation: Step between the elements of a window, likewise. Default: 1.
        padding: Number of zeros added on both sides of height and width, likewise. Default: 0.
        stride: Step from one window to the next, likewise. Default: 1.
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

    def extra_repr(self) -> str:
        return (
            f"kernel_size={self.kernel_size}, dilation={self.dilation}, "
            f"padding={self.padding}, stride={self.stride}"
        )


class Unfold(_Windows):
    """Extracts the windows of an image, which may overlap, as the columns of a matrix.

    Example:
        >>> tt.nn.Unfold((2, 3))(tt.randn(2, 5, 3, 4)).shape
        tinytorch.Size([2, 30, 4])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Extract the windows of shape ``(batch, channels, height, width)``, or without batch.

        Returns:
            Shape ``(batch, channels * elements of a window, windows)``, or without batch.
        """
        return F.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)


class Fold(_Windows):
    """Adds windows, as Unfold extracts them, to an image of zeros at their positions.

    Args:
        output_size: Size of the image: an int, or ``(height, width)``.

    Example:
        >>> tt.nn.Fold((4, 5), (2, 2))(tt.randn(1, 12, 12)).shape
        tinytorch.Size([1, 3, 4, 5])
    """

    output_size: Sizes

    def __init__(
        self,
        output_size: Sizes,
        kernel_size: Sizes,
        dilation: Sizes = 1,
        padding: Sizes = 0,
        stride: Sizes = 1,
    ) -> None:
        super().__init__(kernel_size, dilation, padding, stride)
        self.output_size = output_size

    def forward(self, input: Tensor) -> Tensor:
        """Fold a tensor of shape ``(batch, channels * elements of a window, windows)``.

        Returns:
            Shape ``(batch, channels, *output_size)``.
        """
        return F.fold(
            input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride
        )

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}, {super().extra_repr()}"


class PixelShuffle(Module):
    """Makes images r times higher and wider; r² channels become one.

    Args:
        upscale_factor: The factor r.

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
        return f"upscale_factor={self.upscale_factor}"


class PixelUnshuffle(Module):
    """Makes images r times smaller in height and width; one channel becomes r².

    Args:
        downscale_factor: The factor r.

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
        return f"downscale_factor={self.downscale_factor}"


class ChannelShuffle(Module):
    """Interleaves the groups of channels.

    Args:
        groups: Number of groups.

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
        return f"groups={self.groups}"
