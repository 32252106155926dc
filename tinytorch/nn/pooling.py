"""Pooling: the maximum, mean or norm of pieces of sequences, images and volumes."""

from __future__ import annotations

from typing import Any

from ..core.tensor import Tensor
from . import functional as F
from ._sizes import Sizes, each
from .module import Module

__all__ = [
    "AvgPool1d",
    "AvgPool2d",
    "AvgPool3d",
    "LPPool1d",
    "LPPool2d",
    "LPPool3d",
    "MaxPool1d",
    "MaxPool2d",
    "MaxPool3d",
]


class _MaxPool(Module):
    kernel_size: Sizes
    stride: Sizes
    padding: Sizes
    dilation: Sizes
    return_indices: bool
    ceil_mode: bool

    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        dilation: Sizes = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.dilation = dilation
        self.return_indices = return_indices
        self.ceil_mode = ceil_mode

    def _settings(self) -> tuple[Any, ...]:
        sizes = (self.kernel_size, self.stride, self.padding, self.dilation)
        return *sizes, self.ceil_mode, self.return_indices

    def extra_repr(self) -> str:
        """The configuration."""
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, "
            f"dilation={self.dilation}, ceil_mode={self.ceil_mode}"
        )


class MaxPool1d(_MaxPool):
    """The maximum of each piece of a sequence.

    Args:
        kernel_size: Size of a piece.
        stride: Step from one to the next. Default: ``kernel_size``.
        padding: What is added on both sides, minus infinity. Default: 0.
        dilation: Step between a piece's elements. Default: 1.
        return_indices: Whether to return where the maxima are, too. Default: False.
        ceil_mode: Whether a piece may begin inside and end outside. Default: False.

    Example:
        >>> import tinytorch as tt
        >>> tt.nn.MaxPool1d(2)(tt.tensor([[1.0, 3.0, 2.0, 4.0]]))
        tensor([[3., 4.]])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Pool a tensor of shape ``(batch, channels, length)``, or without batch."""
        # With ``return_indices`` a pair, which no type checker could tell from the class.
        pooled: Tensor = F.max_pool1d(input, *self._settings())
        return pooled


class MaxPool2d(_MaxPool):
    """The maximum of each piece of an image.

    Args:
        kernel_size: Size of a piece, an int or ``(height, width)``; so for all sizes.
        stride: Step from one to the next. Default: ``kernel_size``.
        padding: What is added on both sides, minus infinity. Default: 0.
        dilation: Step between a piece's elements. Default: 1.
        return_indices: Whether to return where the maxima are, too. Default: False.
        ceil_mode: Whether a piece may begin inside and end outside. Default: False.

    Example:
        >>> import tinytorch as tt
        >>> tt.nn.MaxPool2d(2)(tt.arange(8.0).reshape(1, 2, 4))
        tensor([[[5., 7.]]])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Pool a tensor of shape ``(batch, channels, height, width)``, or without batch."""
        # With ``return_indices`` a pair, which no type checker could tell from the class.
        pooled: Tensor = F.max_pool2d(input, *self._settings())
        return pooled


class MaxPool3d(_MaxPool):
    """The maximum of each piece of a volume.

    Args:
        kernel_size: Size of a piece, an int or ``(depth, height, width)``; so for all sizes.
        stride: Step from one to the next. Default: ``kernel_size``.
        padding: What is added on both sides, minus infinity. Default: 0.
        dilation: Step between a piece's elements. Default: 1.
        return_indices: Whether to return where the maxima are, too. Default: False.
        ceil_mode: Whether a piece may begin inside and end outside. Default: False.

    Example:
        >>> import tinytorch as tt
        >>> tt.nn.MaxPool3d(2)(tt.zeros(1, 3, 4, 6, 8)).shape
        tinytorch.Size([1, 3, 2, 3, 4])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Pool a tensor of shape ``(batch, channels, depth, height, width)``, or without batch."""
        # With ``return_indices`` a pair, which no type checker could tell from the class.
        pooled: Tensor = F.max_pool3d(input, *self._settings())
        return pooled


class _AvgPool(Module):
    kernel_size: Sizes
    stride: Sizes
    padding: Sizes
    ceil_mode: bool
    count_include_pad: bool

    def _configure(
        self, kernel_size: Sizes, stride: Sizes, padding: Sizes, ceil_mode: bool, counted: bool
    ) -> None:
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.count_include_pad = counted

    def extra_repr(self) -> str:
        """The configuration."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool1d(_AvgPool):
    """The mean of each piece of a sequence.

    Args:
        kernel_size: Size of a piece.
        stride: Step from one to the next. Default: ``kernel_size``.
        padding: How many zeros are added on both sides. Default: 0.
        ceil_mode: Whether a piece may begin inside and end outside. Default: False.
        count_include_pad: Whether these zeros count in the mean. Default: True.

    Example:
        >>> import tinytorch as tt
        >>> tt.nn.AvgPool1d(2)(tt.tensor([[1.0, 3.0, 2.0, 4.0]]))
        tensor([[2., 3.]])
    """

    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__()
        step = each(1, kernel_size if stride is None else stride)
        sizes = each(1, kernel_size), step, each(1, padding)
        self._configure(*sizes, ceil_mode, count_include_pad)

    def forward(self, input: Tensor) -> Tensor:
        """Pool a tensor of shape ``(batch, channels, length)``, or without batch."""
        return F.avg_pool1d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
        )


class _AvgPoolWithDivisor(_AvgPool):
    divisor_override: int | None

    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__()
        step = kernel_size if stride is None else stride
        self._configure(kernel_size, step, padding, ceil_mode, count_include_pad)
        self.divisor_override = divisor_override

    def _settings(self) -> tuple[Any, ...]:
        sizes = (self.kernel_size, self.stride, self.padding)
        return *sizes, self.ceil_mode, self.count_include_pad, self.divisor_override


class AvgPool2d(_AvgPoolWithDivisor):
    """The mean of each piece of an image.

    Args:
        kernel_size: Size of a piece, an int or ``(height, width)``; so for all sizes.
        stride: Step from one to the next. Default: ``kernel_size``.
        padding: How many zeros are added on both sides. Default: 0.
        ceil_mode: Whether a piece may begin inside and end outside. Default: False.
        count_include_pad: Whether these zeros count in the mean. Default: True.
        divisor_override: What to divide by instead of the number of elements. Default: none.

    Example:
        >>> import tinytorch as tt
        >>> tt.nn.AvgPool2d(2)(tt.arange(8.0).reshape(1, 2, 4))
        tensor([[[2.5000, 4.5000]]])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Pool a tensor of shape ``(batch, channels, height, width)``, or without batch."""
        return F.avg_pool2d(input, *self._settings())


class AvgPool3d(_AvgPoolWithDivisor):
    """The mean of each piece of a volume.

    Args:
        kernel_size: Size of a piece, an int or ``(depth, height, width)``; so for all sizes.
        stride: Step from one to the next. Default: ``kernel_size``.
        padding: How many zeros are added on both sides. Default: 0.
        ceil_mode: Whether a piece may begin inside and end outside. Default: False.
        count_include_pad: Whether these zeros count in the mean. Default: True.
        divisor_override: What to divide by instead of the number of elements. Default: none.

    Example:
        >>> import tinytorch as tt
        >>> tt.nn.AvgPool3d(2)(tt.zeros(1, 3, 4, 6, 8)).shape
        tinytorch.Size([1, 3, 2, 3, 4])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Pool a tensor of shape ``(batch, channels, depth, height, width)``, or without batch."""
        return F.avg_pool3d(input, *self._settings())


class _LPPool(Module):
    norm_type: float
    kernel_size: Sizes
    stride: Sizes | None
    ceil_mode: bool

    def __init__(
        self,
        norm_type: float,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.norm_type = norm_type
        self.kernel_size = kernel_size
        self.stride = stride
        self.ceil_mode = ceil_mode

    def _settings(self) -> tuple[Any, ...]:
        return float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode

    def extra_repr(self) -> str:
        """The configuration."""
        return (
            f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, stride={self.stride}, "
            f"ceil_mode={self.ceil_mode}"
        )


class LPPool1d(_LPPool):
    """(Σ x^p)^(1/p) of each piece of a sequence.

    Args:
        norm_type: p.
        kernel_size: Size of a piece.
        stride: Step from one to the next. Default: ``kernel_size``.
        ceil_mode: Whether a piece may begin inside and end outside. Default: False.

    Example:
        >>> import tinytorch as tt
        >>> tt.nn.LPPool1d(2, 2)(tt.tensor([[3.0, 4.0]]))
        tensor([[5.]])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Pool a tensor of shape ``(batch, channels, length)``, or without batch."""
        return F.lp_pool1d(input, *self._settings())


class LPPool2d(_LPPool):
    """(Σ x^p)^(1/p) of each piece of an image.

    Args:
        norm_type: p.
        kernel_size: Size of a piece, an int or ``(height, width)``.
        stride: Step from one to the next. Default: ``kernel_size``.
        ceil_mode: Whether a piece may begin inside and end outside. Default: False.

    Example:
        >>> import tinytorch as tt
        >>> tt.nn.LPPool2d(2, (1, 2))(tt.tensor([[[3.0, 4.0]]]))
        tensor([[[5.]]])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Pool a tensor of shape ``(batch, channels, height, width)``, or without batch."""
        return F.lp_pool2d(input, *self._settings())


class LPPool3d(_LPPool):
    """(Σ x^p)^(1/p) of each piece of a volume.

    Args:
        norm_type: p.
        kernel_size: Size of a piece, an int or ``(depth, height, width)``.
        stride: Step from one to the next. Default: ``kernel_size``.
        ceil_mode: Whether a piece may begin inside and end outside. Default: False.

    Example:
        >>> import tinytorch as tt
        >>> tt.nn.LPPool3d(2, 2)(tt.ones(1, 3, 4, 6, 8)).shape
        tinytorch.Size([1, 3, 2, 3, 4])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Pool a tensor of shape ``(batch, channels, depth, height, width)``, or without batch."""
        return F.lp_pool3d(input, *self._settings())
