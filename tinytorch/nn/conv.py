"""Convolutions and transposed convolutions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.tensor import Tensor
from ..ops.create.factories import empty
from . import functional as F
from .common_types import Sizes, each
from .linear import draw_by_inputs
from .module import Module
from .parameter import Parameter

__all__ = ["Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"]

_PADDING_MODES = ("zeros", "reflect", "replicate", "circular")


class ConvBase(Module):
    """Base class of convolutions and transposed convolutions.

    Args:
        in_channels: Number of channels of the input.
        out_channels: Number of channels of the output.
        kernel_size: Size of the kernel: one int for every dimension, or one for each.
        dilation: Step between the kernel's elements, likewise. Default: 1.
        groups: Number of groups of channels; an output channel depends on the input channels of
            its own group alone. Default: 1.
        bias: Whether to add a learned bias. Default: True.
    """

    in_channels: int
    out_channels: int
    kernel_size: tuple[int, ...]
    stride: tuple[int, ...]
    padding: str | tuple[int, ...]
    dilation: tuple[int, ...]
    transposed: bool
    output_padding: tuple[int, ...]
    groups: int
    padding_mode: str
    weight: Parameter
    bias: Parameter | None

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: tuple[int, ...],
        stride: tuple[int, ...],
        padding: str | tuple[int, ...],
        dilation: tuple[int, ...],
        transposed: bool,
        output_padding: tuple[int, ...],
        groups: int,
        bias: bool,
        padding_mode: str,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        _check_channels(in_channels, out_channels, groups)
        _check_padding(padding, stride, padding_mode)
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding = padding
        self.dilation = dilation
        self.transposed = transposed
        self.output_padding = output_padding
        self.groups = groups
        self.padding_mode = padding_mode
        factory = {"device": device, "dtype": dtype}
        self.weight = Parameter(empty(self._weight_shape(), **factory))
        self.register_parameter("bias", Parameter(empty(out_channels, **factory)) if bias else None)
        self.reset_parameters()

    def _weight_shape(self) -> tuple[int, ...]:
        """Return ``(out, in / groups, *kernel_size)``, with out and in swapped if transposed."""
        channels = (self.out_channels, self.in_channels)
        outer, inner = reversed(channels) if self.transposed else channels
        return outer, inner // self.groups, *self.kernel_size

    @property
    def _reversed_padding_repeated_twice(self) -> Sequence[int]:
        """Padding as ``F.pad`` expects it: before and after, the last dimension first."""
        if self.padding == "valid":
            return [0, 0] * len(self.kernel_size)
        if not isinstance(self.padding, str):
            return tuple(n for n in reversed(self.padding) for _ in range(2))
        totals = [d * (k - 1) for d, k in zip(self.dilation, self.kernel_size, strict=True)]
        return [n for total in reversed(totals) for n in (total // 2, total - total // 2)]

    def _conv_forward(self, input: Any, weight: Any, bias: Any) -> Any:
        """Convolve the input; transposed convolutions return None here, as in PyTorch."""

    def reset_parameters(self) -> None:
        """Draw the parameters again from U(-k, k), k = 1 / √(number of inputs of an output)."""
        draw_by_inputs(self.weight, self.bias)

    def extra_repr(self) -> str:
        ones, zeros = (1,) * len(self.kernel_size), (0,) * len(self.kernel_size)
        optional = {
            "padding": (self.padding, zeros),
            "dilation": (self.dilation, ones),
            "output_padding": (self.output_padding, zeros),
            "groups": (self.groups, 1),
            "bias": (self.bias is not None, True),
            "padding_mode": (self.padding_mode, "zeros"),
        }
        shown = [f"{name}={value}" for name, (value, usual) in optional.items() if value != usual]
        sizes = [f"kernel_size={self.kernel_size}", f"stride={self.stride}"]
        return ", ".join([str(self.in_channels), str(self.out_channels), *sizes, *shown])


def _check_channels(in_channels: int, out_channels: int, groups: int) -> None:
    """Check that ``groups`` is positive and divides the numbers of channels."""
    if groups <= 0:
        raise ValueError("groups must be a positive integer")
    for name, channels in (("in_channels", in_channels), ("out_channels", out_channels)):
        if channels % groups:
            raise ValueError(f"{name} must be divisible by groups: {channels} and {groups}")


def _check_padding(padding: Any, stride: tuple[int, ...], mode: str) -> None:
    """Check the padding and the padding mode of a convolution.

    The padding ``"same"`` is allowed for stride 1 only.
    """
    if isinstance(padding, str):
        if padding not in ("same", "valid"):
            raise ValueError(
                f"Invalid padding string {padding!r}, should be one of 'same', 'valid'"
            )
        if padding == "same" and any(step != 1 for step in stride):
            raise ValueError("padding='same' is not supported for strided convolutions")
    if mode not in _PADDING_MODES:
        raise ValueError(
            f"padding_mode must be one of {_PADDING_MODES}, but got padding_mode='{mode}'"
        )


class _Conv(ConvBase):
    """Base class of convolutions in ``_ndim`` dimensions.

    Args:
        stride: Step of the kernel: one int for every dimension, or one for each. Default: 1.
        padding: Number of elements added on both sides of each dimension, likewise; ``"same"``
            adds as many as keep the size, ``"valid"`` none. Default: 0.
        padding_mode: Values of these elements: ``"zeros"``, ``"reflect"``, ``"replicate"`` or
            ``"circular"``. Default: ``"zeros"``.

    Attributes:
        weight: Shape ``(out_channels, in_channels / groups, *kernel_size)``.
        bias: Shape ``(out_channels,)``, or None.

    Raises:
        ValueError: If ``groups`` does not divide the numbers of channels, or if ``padding`` or
            ``padding_mode`` is an unknown string.
    """

    _ndim: int

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: str | Sizes = 0,
        dilation: Sizes = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(
            in_channels, out_channels, each(self._ndim, kernel_size), each(self._ndim, stride),
            padding if isinstance(padding, str) else each(self._ndim, padding),
            each(self._ndim, dilation), False, each(self._ndim, 0), groups, bias, padding_mode,
            device, dtype,
        )  # fmt: skip

    def _conv_forward(self, input: Any, weight: Any, bias: Any) -> Tensor:
        """Convolve the input with these parameters; ``forward`` calls it."""
        convolve = (F.conv1d, F.conv2d, F.conv3d)[self._ndim - 1]
        padding: Any = self.padding
        if self.padding_mode != "zeros":
            input = F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode)
            padding = each(self._ndim, 0)
        return convolve(input, weight, bias, self.stride, padding, self.dilation, self.groups)

    def forward(self, input: Tensor) -> Tensor:
        """Convolve the input with the weight and add the bias.

        Args:
            input: Shape ``(batch, in_channels, *sizes)`` with one size for each dimension of the
                kernel, or without ``batch``.

        Returns:
            Shape ``(batch, out_channels, *sizes)``, or without ``batch``.
        """
        return self._conv_forward(input, self.weight, self.bias)


class Conv1d(_Conv):
    """Convolution of a sequence: each output is the product of the kernel and a window of it.

    Example:
        >>> tt.nn.Conv1d(16, 33, 3, stride=2)(tt.randn(20, 16, 50)).shape
        tinytorch.Size([20, 33, 24])
    """

    _ndim = 1


class Conv2d(_Conv):
    """Convolution of an image: each output is the product of the kernel and a window of it.

    Example:
        >>> tt.nn.Conv2d(1, 6, 5, padding="same")(tt.randn(2, 1, 28, 28)).shape
        tinytorch.Size([2, 6, 28, 28])

    Reference:
        Y. LeCun et al., "Gradient-based learning applied to document recognition" (1998).
    """

    _ndim = 2


class Conv3d(_Conv):
    """Convolution of a volume: each output is the product of the kernel and a window of it.

    Example:
        >>> tt.nn.Conv3d(2, 4, (2, 3, 3))(tt.randn(1, 2, 5, 8, 8)).shape
        tinytorch.Size([1, 4, 4, 6, 6])
    """

    _ndim = 3


class _ConvTranspose(ConvBase):
    """Base class of transposed convolutions in ``_ndim`` dimensions.

    Args:
        stride: Step of the kernel in the output: one int for every dimension, or one for each.
            Default: 1.
        padding: Number of elements cut off on both sides of each dimension of the output,
            likewise. Default: 0.
        output_padding: Number of elements added on one side of the output, likewise. Default: 0.
        padding_mode: ``"zeros"``, the default, and nothing else.

    Attributes:
        weight: Shape ``(in_channels, out_channels / groups, *kernel_size)``.
        bias: Shape ``(out_channels,)``, or None.

    Raises:
        ValueError: If ``groups`` does not divide the numbers of channels, or ``padding_mode`` is
            not ``"zeros"``.
    """

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
            in_channels, out_channels, each(self._ndim, kernel_size), each(self._ndim, stride),
            each(self._ndim, padding), each(self._ndim, dilation), True,
            each(self._ndim, output_padding), groups, bias, padding_mode, device, dtype,
        )  # fmt: skip

    def forward(self, input: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        """Add a multiple of the kernel to the output for each element of the input.

        Args:
            input: Shape ``(batch, in_channels, *sizes)`` with one size for each dimension of the
                kernel, or without ``batch``.
            output_size: The sizes of the output, with or without its leading dimensions, where
                the stride leaves a choice. Default: the smallest ones plus ``output_padding``.

        Returns:
            Shape ``(batch, out_channels, *sizes)``, or without ``batch``.

        Raises:
            ValueError: If no output has the size ``output_size``.
        """
        functions = (F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d)
        padding: Any = self.padding
        output_padding: Any = self._output_padding(
            input, output_size, self.stride, padding, self.kernel_size, self._ndim, self.dilation
        )
        return functions[self._ndim - 1](
            input, self.weight, self.bias, self.stride, padding, output_padding, self.groups,
            self.dilation,
        )  # fmt: skip

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
        """Return the padding of one side of the output with which its size is ``output_size``.

        Without ``output_size`` it is the argument of the class. A dimension with stride ``s`` has
        ``s`` possible sizes, from ``least`` to ``most``.
        """
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
    """Transpose of the convolution of a sequence: each input adds a kernel to the output.

    Example:
        >>> tt.nn.ConvTranspose1d(16, 33, 3, stride=2)(tt.randn(20, 16, 50)).shape
        tinytorch.Size([20, 33, 101])
    """

    _ndim = 1


class ConvTranspose2d(_ConvTranspose):
    """Transpose of the convolution of an image: each input adds a kernel to the output.

    Example:
        >>> up = tt.nn.ConvTranspose2d(16, 16, 3, stride=2, padding=1)
        >>> up(tt.randn(1, 16, 6, 6), output_size=(12, 12)).shape
        tinytorch.Size([1, 16, 12, 12])

    Reference:
        M. Zeiler et al., "Deconvolutional networks" (2010).
    """

    _ndim = 2


class ConvTranspose3d(_ConvTranspose):
    """Transpose of the convolution of a volume: each input adds a kernel to the output.

    Example:
        >>> tt.nn.ConvTranspose3d(2, 4, 3, stride=2)(tt.randn(1, 2, 3, 4, 5)).shape
        tinytorch.Size([1, 4, 7, 9, 11])
    """

    _ndim = 3
