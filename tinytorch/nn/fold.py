"""Images as columns of pieces, and back."""

from __future__ import annotations

from ..core.tensor import Tensor
from . import functional as F
from ._sizes import Sizes
from .module import Module

__all__ = ["Fold", "Unfold"]


class Unfold(Module):
    """Cut images into pieces that may overlap, each a column.

    Args:
        kernel_size: Size of a piece, an int or ``(height, width)``; so for all sizes.
        dilation: Step between a piece's elements. Default: 1.
        padding: How many zeros are added on all sides. Default: 0.
        stride: Step from one piece to the next. Default: 1.

    Example:
        >>> import tinytorch as tt
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
        >>> import tinytorch as tt
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
