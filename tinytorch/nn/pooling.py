"""Pooling: the maximum, mean or norm of pieces of sequences, images and volumes.

Pooling to a given size, at random, and its inverse.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from ..core.tensor import Tensor
from . import functional as F
from .common_types import Sizes, each
from .module import Module

__all__ = [
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveAvgPool3d",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d",
    "AvgPool1d",
    "AvgPool2d",
    "AvgPool3d",
    "FractionalMaxPool2d",
    "FractionalMaxPool3d",
    "LPPool1d",
    "LPPool2d",
    "LPPool3d",
    "MaxPool1d",
    "MaxPool2d",
    "MaxPool3d",
    "MaxUnpool1d",
    "MaxUnpool2d",
    "MaxUnpool3d",
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
        >>> tt.nn.LPPool3d(2, 2)(tt.ones(1, 3, 4, 6, 8)).shape
        tinytorch.Size([1, 3, 2, 3, 4])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Pool a tensor of shape ``(batch, channels, depth, height, width)``, or without batch."""
        return F.lp_pool3d(input, *self._settings())


#: Sizes of an output: an int, or a tuple in which None keeps the input's.
OutputSizes: TypeAlias = Any


class _AdaptiveAvgPool(Module):
    output_size: OutputSizes

    def __init__(self, output_size: OutputSizes) -> None:
        super().__init__()
        self.output_size = output_size

    def extra_repr(self) -> str:
        """The configuration."""
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(_AdaptiveAvgPool):
    """The means of as many pieces of a sequence as asked for.

    Args:
        output_size: How many.

    Example:
        >>> tt.nn.AdaptiveAvgPool1d(2)(tt.tensor([[1.0, 3.0, 2.0, 4.0]]))
        tensor([[2., 3.]])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Pool a tensor of shape ``(batch, channels, length)``, or without batch."""
        return F.adaptive_avg_pool1d(input, self.output_size)


class AdaptiveAvgPool2d(_AdaptiveAvgPool):
    """The means of as many pieces of an image as asked for.

    Args:
        output_size: ``(height, width)`` of the output, or one number for both; None keeps the
            input's.

    Example:
        >>> tt.nn.AdaptiveAvgPool2d((5, None))(tt.zeros(1, 64, 8, 9)).shape
        tinytorch.Size([1, 64, 5, 9])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Pool a tensor of shape ``(batch, channels, height, width)``, or without batch."""
        return F.adaptive_avg_pool2d(input, self.output_size)


class AdaptiveAvgPool3d(_AdaptiveAvgPool):
    """The means of as many pieces of a volume as asked for.

    Args:
        output_size: ``(depth, height, width)`` of the output, or one number for all; None keeps
            the input's.

    Example:
        >>> tt.nn.AdaptiveAvgPool3d(2)(tt.zeros(1, 3, 4, 5, 6)).shape
        tinytorch.Size([1, 3, 2, 2, 2])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Pool a tensor of shape ``(batch, channels, depth, height, width)``, or without batch."""
        return F.adaptive_avg_pool3d(input, self.output_size)


class _AdaptiveMaxPool(Module):
    output_size: OutputSizes
    return_indices: bool

    def __init__(self, output_size: OutputSizes, return_indices: bool = False) -> None:
        super().__init__()
        self.output_size = output_size
        self.return_indices = return_indices

    def _settings(self) -> tuple[Any, ...]:
        return self.output_size, self.return_indices

    def extra_repr(self) -> str:
        """The configuration."""
        return f"output_size={self.output_size}"


class AdaptiveMaxPool1d(_AdaptiveMaxPool):
    """The maxima of as many pieces of a sequence as asked for.

    Args:
        output_size: How many.
        return_indices: Whether to return where they are, too. Default: False.

    Example:
        >>> tt.nn.AdaptiveMaxPool1d(2)(tt.tensor([[1.0, 3.0, 2.0, 4.0]]))
        tensor([[3., 4.]])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Pool a tensor of shape ``(batch, channels, length)``, or without batch."""
        # With ``return_indices`` a pair, which no type checker could tell from the class.
        pooled: Tensor = F.adaptive_max_pool1d(input, *self._settings())
        return pooled


class AdaptiveMaxPool2d(_AdaptiveMaxPool):
    """The maxima of as many pieces of an image as asked for.

    Args:
        output_size: ``(height, width)`` of the output, or one number for both; None keeps the
            input's.
        return_indices: Whether to return where they are, too. Default: False.

    Example:
        >>> tt.nn.AdaptiveMaxPool2d((5, None))(tt.zeros(1, 64, 8, 9)).shape
        tinytorch.Size([1, 64, 5, 9])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Pool a tensor of shape ``(batch, channels, height, width)``, or without batch."""
        # With ``return_indices`` a pair, which no type checker could tell from the class.
        pooled: Tensor = F.adaptive_max_pool2d(input, *self._settings())
        return pooled


class AdaptiveMaxPool3d(_AdaptiveMaxPool):
    """The maxima of as many pieces of a volume as asked for.

    Args:
        output_size: ``(depth, height, width)`` of the output, or one number for all; None keeps
            the input's.
        return_indices: Whether to return where they are, too. Default: False.

    Example:
        >>> tt.nn.AdaptiveMaxPool3d(2)(tt.zeros(1, 3, 4, 5, 6)).shape
        tinytorch.Size([1, 3, 2, 2, 2])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Pool a tensor of shape ``(batch, channels, depth, height, width)``, or without batch."""
        # With ``return_indices`` a pair, which no type checker could tell from the class.
        pooled: Tensor = F.adaptive_max_pool3d(input, *self._settings())
        return pooled


class _FractionalMaxPool(Module):
    _ndim: int
    kernel_size: tuple[int, ...]
    return_indices: bool
    output_size: tuple[int, ...] | None
    output_ratio: tuple[float, ...] | None
    _random_samples: Tensor | None

    def __init__(
        self,
        kernel_size: Sizes,
        output_size: Sizes | None = None,
        output_ratio: float | tuple[float, ...] | None = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size = each(self._ndim, kernel_size)
        if self._ndim == 3 and min(self.kernel_size) <= 0:
            raise ValueError(f"kernel_size must be greater than 0, but got {kernel_size}")
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = None if output_size is None else each(self._ndim, output_size)
        self.output_ratio = None if output_ratio is None else each(self._ndim, output_ratio)
        self._check_sizes()

    def _check_sizes(self) -> None:
        if self.output_size is None and self.output_ratio is None:
            raise ValueError(
                f"{self._get_name()} requires specifying either an output size, or a pooling ratio"
            )
        if self.output_size is not None and self.output_ratio is not None:
            raise ValueError("only one of output_size and output_ratio may be specified")
        if self.output_ratio is not None and not all(0 < r < 1 for r in self.output_ratio):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {self.output_ratio})")

    def _settings(self) -> tuple[Any, ...]:
        sizes = (self.kernel_size, self.output_size, self.output_ratio)
        return *sizes, self.return_indices, self._random_samples


class FractionalMaxPool2d(_FractionalMaxPool):
    """The maxima of pieces of an image that begin at random places.

    Args:
        kernel_size: Size of a piece, an int or ``(height, width)``.
        output_size: ``(height, width)`` of the output, or one number for both. Default: by
            ``output_ratio``.
        output_ratio: The output's size divided by the input's, between 0 and 1. Default: by
            ``output_size``.
        return_indices: Whether to return where the maxima are, too. Default: False.

    Raises:
        ValueError: If not exactly one of size and ratio is given, or the ratio is no such.

    Example:
        >>> tt.nn.FractionalMaxPool2d(3, output_size=(13, 12))(tt.randn(2, 3, 50, 32)).shape
        tinytorch.Size([2, 3, 13, 12])

    Reference:
        B. Graham, "Fractional max-pooling" (2014).
    """

    _ndim = 2

    def forward(self, input: Tensor) -> Tensor:
        """Pool a tensor of shape ``(batch, channels, height, width)``, or without batch."""
        # With ``return_indices`` a pair, which no type checker could tell from the class.
        pooled: Tensor = F.fractional_max_pool2d(input, *self._settings())
        return pooled


class FractionalMaxPool3d(_FractionalMaxPool):
    """The maxima of pieces of a volume that begin at random places.

    Args:
        kernel_size: Size of a piece, an int or ``(depth, height, width)``.
        output_size: ``(depth, height, width)`` of the output, or one number for all. Default:
            by ``output_ratio``.
        output_ratio: The output's size divided by the input's, between 0 and 1. Default: by
            ``output_size``.
        return_indices: Whether to return where the maxima are, too. Default: False.

    Raises:
        ValueError: If not exactly one of size and ratio is given, or one of them is no such.

    Example:
        >>> tt.nn.FractionalMaxPool3d(2, output_size=3)(tt.randn(2, 3, 8, 8, 8)).shape
        tinytorch.Size([2, 3, 3, 3, 3])

    Reference:
        B. Graham, "Fractional max-pooling" (2014).
    """

    _ndim = 3

    def forward(self, input: Tensor) -> Tensor:
        """Pool a tensor of shape ``(batch, channels, depth, height, width)``, or without batch."""
        # With ``return_indices`` a pair, which no type checker could tell from the class.
        pooled: Tensor = F.fractional_max_pool3d(input, *self._settings())
        return pooled


class _MaxUnpool(Module):
    _ndim: int
    kernel_size: tuple[int, ...]
    stride: tuple[int, ...]
    padding: tuple[int, ...]

    def __init__(self, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0) -> None:
        super().__init__()
        self.kernel_size = each(self._ndim, kernel_size)
        self.stride = each(self._ndim, kernel_size if stride is None else stride)
        self.padding = each(self._ndim, padding)

    def _settings(self, output_size: Sequence[int] | None) -> tuple[Any, ...]:
        return self.kernel_size, self.stride, self.padding, output_size

    def extra_repr(self) -> str:
        """The configuration."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(_MaxUnpool):
    """Puts maxima back where ``MaxPool1d`` found them, and zeros elsewhere.

    Args:
        kernel_size: That of the pooling.
        stride: That of the pooling. Default: ``kernel_size``.
        padding: That of the pooling. Default: 0.

    Example:
        >>> x = tt.tensor([[[1.0, 3.0, 2.0, 4.0]]])
        >>> tt.nn.MaxUnpool1d(2)(*tt.nn.MaxPool1d(2, return_indices=True)(x))
        tensor([[[0., 3., 0., 4.]]])
    """

    _ndim = 1

    def forward(
        self, input: Tensor, indices: Tensor, output_size: Sequence[int] | None = None
    ) -> Tensor:
        """Unpool.

        Args:
            input: The maxima.
            indices: Where they were found.
            output_size: The size to restore. Default: the least that fits.
        """
        return F.max_unpool1d(input, indices, *self._settings(output_size))


class MaxUnpool2d(_MaxUnpool):
    """Puts maxima back where ``MaxPool2d`` found them, and zeros elsewhere.

    Args:
        kernel_size: That of the pooling.
        stride: That of the pooling. Default: ``kernel_size``.
        padding: That of the pooling. Default: 0.

    Example:
        >>> x = tt.arange(4.0).reshape(1, 1, 2, 2)
        >>> tt.nn.MaxUnpool2d(2)(*tt.nn.MaxPool2d(2, return_indices=True)(x))
        tensor([[[[0., 0.],
                  [0., 3.]]]])
    """

    _ndim = 2

    def forward(
        self, input: Tensor, indices: Tensor, output_size: Sequence[int] | None = None
    ) -> Tensor:
        """Unpool.

        Args:
            input: The maxima.
            indices: Where they were found.
            output_size: The size to restore. Default: the least that fits.
        """
        return F.max_unpool2d(input, indices, *self._settings(output_size))


class MaxUnpool3d(_MaxUnpool):
    """Puts maxima back where ``MaxPool3d`` found them, and zeros elsewhere.

    Args:
        kernel_size: That of the pooling.
        stride: That of the pooling. Default: ``kernel_size``.
        padding: That of the pooling. Default: 0.

    Example:
        >>> x = tt.randn(2, 3, 4, 4, 4)
        >>> tt.nn.MaxUnpool3d(2)(*tt.nn.MaxPool3d(2, return_indices=True)(x)).shape
        tinytorch.Size([2, 3, 4, 4, 4])
    """

    _ndim = 3

    def forward(
        self, input: Tensor, indices: Tensor, output_size: Sequence[int] | None = None
    ) -> Tensor:
        """Unpool.

        Args:
            input: The maxima.
            indices: Where they were found.
            output_size: The size to restore. Default: the least that fits.
        """
        return F.max_unpool3d(input, indices, *self._settings(output_size))
