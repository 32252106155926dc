"""Transposed convolutions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.tensor import Tensor
from . import functional as F
from ._sizes import Sizes, each
from .conv import ConvBase

__all__ = ["ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"]


class _ConvTranspose(ConvBase):
    """A transposed convolution in ``_ndim`` dimensions."""

    _ndim: int

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: Sizes = 0,
        output_padding: Sizes = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Sizes = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if padding_mode != "zeros":
            raise ValueError(
                f'Only "zeros" padding mode is supported for {self.__class__.__name__}'
            )
        super().__init__(
            in_channels,
            out_channels,
            each(self._ndim, kernel_size),
            each(self._ndim, stride),
            each(self._ndim, padding),
            each(self._ndim, dilation),
            True,
            each(self._ndim, output_padding),
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def _transpose_forward(self, input: Any, output_size: Sequence[int] | None) -> Tensor:
        functions = (F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d)
        padding: Any = self.padding
        output_padding: Any = self._output_padding(
            input, output_size, self.stride, padding, self.kernel_size, self._ndim, self.dilation
        )
        return functions[self._ndim - 1](
            input,
            self.weight,
            self.bias,
            self.stride,
            padding,
            output_padding,
            self.groups,
            self.dilation,
        )

    def _output_padding(
        self,
        input: Tensor,
        output_size: Sequence[int] | None,
        stride: Sequence[int],
        padding: Any,
        kernel_size: Sequence[int],
        num_spatial_dims: int,
        dilation: Sequence[int] | None = None,
    ) -> Sequence[int]:
        """Padding that gives the output the size ``output_size``; ``forward`` calls it."""
        if output_size is None:
            return self.output_padding
        outer, wanted = input.ndim - num_spatial_dims, list(output_size)
        if len(wanted) == input.ndim:
            wanted = wanted[outer:]
        if len(wanted) != num_spatial_dims:
            raise ValueError(
                f"ConvTranspose{num_spatial_dims}D: for {input.ndim}D input, output_size must "
                f"have {num_spatial_dims} or {input.ndim} elements (got {len(wanted)})"
            )
        steps = [1] * num_spatial_dims if dilation is None else dilation
        settings = zip(input.shape[outer:], stride, padding, steps, kernel_size, strict=True)
        least = [(n - 1) * s - 2 * pad + d * (k - 1) + 1 for n, s, pad, d, k in settings]
        most = [size + step - 1 for size, step in zip(least, stride, strict=True)]
        if any(not a <= n <= b for a, n, b in zip(least, wanted, most, strict=True)):
            raise ValueError(
                f"requested an output size of {wanted}, but valid sizes range from {least} to "
                f"{most} (for an input of {input.shape[2:]})"
            )
        return tuple(n - size for n, size in zip(wanted, least, strict=True))


class ConvTranspose1d(_ConvTranspose):
    """The transpose of a convolution along a sequence: each input adds a kernel to the output.

    Args:
        in_channels: Channels of the input.
        out_channels: Channels of the output.
        kernel_size: Size of the kernel.
        stride: Step of the kernel in the output. Default: 1.
        padding: What is cut off on both sides of the output. Default: 0.
        output_padding: What is added on one side of the output. Default: 0.
        groups: How many groups of channels there are; outputs see only their own. Default: 1.
        bias: Whether there is a bias. Default: True.
        dilation: Step between the kernel's elements. Default: 1.
        padding_mode: ``"zeros"``. Default: ``"zeros"``.
        device: Where the parameters live. Default: the active backend's.
        dtype: Their dtype. Default: the default dtype.

    Attributes:
        weight: Shape ``(in_channels, out_channels / groups, kernel_size)``.
        bias: Shape ``(out_channels,)``, or None.

    Raises:
        ValueError: If ``groups`` does not divide the channels, or ``padding_mode`` is another.

    Example:
        >>> import tinytorch as tt
        >>> tt.nn.ConvTranspose1d(16, 33, 3, stride=2)(tt.randn(20, 16, 50)).shape
        tinytorch.Size([20, 33, 101])
    """

    _ndim = 1

    def forward(self, input: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        """Convolve.

        Args:
            input: Shape ``(batch, in_channels, length)``, or without batch.
            output_size: The output's length, where the stride leaves a choice. Default: the
                least plus ``output_padding``.

        Returns:
            Shape ``(batch, out_channels, length)``, or without batch.

        Raises:
            ValueError: If there is no such choice.
        """
        return self._transpose_forward(input, output_size)


class ConvTranspose2d(_ConvTranspose):
    """The transpose of a convolution over an image: each input adds a kernel to the output.

    Args:
        in_channels: Channels of the input.
        out_channels: Channels of the output.
        kernel_size: Size of the kernel, an int or ``(height, width)``; so for all sizes.
        stride: Step of the kernel in the output. Default: 1.
        padding: What is cut off on both sides of the output. Default: 0.
        output_padding: What is added on one side of the output. Default: 0.
        groups: How many groups of channels there are; outputs see only their own. Default: 1.
        bias: Whether there is a bias. Default: True.
        dilation: Step between the kernel's elements. Default: 1.
        padding_mode: ``"zeros"``. Default: ``"zeros"``.
        device: Where the parameters live. Default: the active backend's.
        dtype: Their dtype. Default: the default dtype.

    Attributes:
        weight: Shape ``(in_channels, out_channels / groups, *kernel_size)``.
        bias: Shape ``(out_channels,)``, or None.

    Raises:
        ValueError: If ``groups`` does not divide the channels, or ``padding_mode`` is another.

    Example:
        >>> import tinytorch as tt
        >>> up = tt.nn.ConvTranspose2d(16, 16, 3, stride=2, padding=1)
        >>> up(tt.randn(1, 16, 6, 6), output_size=(12, 12)).shape
        tinytorch.Size([1, 16, 12, 12])

    Reference:
        M. Zeiler et al., "Deconvolutional networks" (2010).
    """

    _ndim = 2

    def forward(self, input: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        """Convolve.

        Args:
            input: Shape ``(batch, in_channels, height, width)``, or without batch.
            output_size: The output's height and width, where the stride leaves a choice.
                Default: the least plus ``output_padding``.

        Returns:
            Shape ``(batch, out_channels, height, width)``, or without batch.

        Raises:
            ValueError: If there is no such choice.
        """
        return self._transpose_forward(input, output_size)


class ConvTranspose3d(_ConvTranspose):
    """The transpose of a convolution over a volume: each input adds a kernel to the output.

    Args:
        in_channels: Channels of the input.
        out_channels: Channels of the output.
        kernel_size: Size of the kernel, an int or ``(depth, height, width)``; so for all sizes.
        stride: Step of the kernel in the output. Default: 1.
        padding: What is cut off on both sides of the output. Default: 0.
        output_padding: What is added on one side of the output. Default: 0.
        groups: How many groups of channels there are; outputs see only their own. Default: 1.
        bias: Whether there is a bias. Default: True.
        dilation: Step between the kernel's elements. Default: 1.
        padding_mode: ``"zeros"``. Default: ``"zeros"``.
        device: Where the parameters live. Default: the active backend's.
        dtype: Their dtype. Default: the default dtype.

    Attributes:
        weight: Shape ``(in_channels, out_channels / groups, *kernel_size)``.
        bias: Shape ``(out_channels,)``, or None.

    Raises:
        ValueError: If ``groups`` does not divide the channels, or ``padding_mode`` is another.

    Example:
        >>> import tinytorch as tt
        >>> tt.nn.ConvTranspose3d(2, 4, 3, stride=2)(tt.randn(1, 2, 3, 4, 5)).shape
        tinytorch.Size([1, 4, 7, 9, 11])
    """

    _ndim = 3

    def forward(self, input: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        """Convolve.

        Args:
            input: Shape ``(batch, in_channels, depth, height, width)``, or without batch.
            output_size: The output's sizes, where the stride leaves a choice. Default: the
                least plus ``output_padding``.

        Returns:
            Shape ``(batch, out_channels, depth, height, width)``, or without batch.

        Raises:
            ValueError: If there is no such choice.
        """
        return self._transpose_forward(input, output_size)
