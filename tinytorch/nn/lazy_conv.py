"""The lazy forms of convolutions."""

from __future__ import annotations

from typing import Any

from ..core.tensor import Tensor
from ._sizes import Sizes
from .conv import Conv1d, Conv2d, Conv3d, ConvBase
from .conv_transpose import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from .lazy import LazyModuleMixin, materialize
from .module import Module
from .parameter import UninitializedParameter

__all__ = [
    "LazyConv1d",
    "LazyConv2d",
    "LazyConv3d",
    "LazyConvTranspose1d",
    "LazyConvTranspose2d",
    "LazyConvTranspose3d",
]


class _LazyConv(LazyModuleMixin, ConvBase):
    """What the lazy convolutions share."""

    _ndim: int

    def _make_lazy(self, out_channels: int, bias: bool, **factory: Any) -> None:
        self.weight: UninitializedParameter = UninitializedParameter(**factory)
        self.out_channels = out_channels
        if bias:
            self.bias: UninitializedParameter = UninitializedParameter(**factory)

    def reset_parameters(self) -> None:
        """Draw the parameters anew, once they have shapes."""
        if not self.has_uninitialized_params() and self.in_channels:
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor, *args: Any, **kwargs: Any) -> None:
        """Give the parameters the shapes that fit ``input``."""
        if not self.has_uninitialized_params():
            return
        self.in_channels: int = self._get_in_channels(input)
        if self.in_channels % self.groups:
            raise ValueError("in_channels must be divisible by groups")
        materialize(self.weight, self._weight_shape())
        materialize(self.bias, (self.out_channels,))
        self.reset_parameters()

    def _get_in_channels(self, input: Tensor) -> int:
        """Channels of an input; ``initialize_parameters`` calls it."""
        ndim = self._get_num_spatial_dims()
        if input.ndim not in (ndim + 1, ndim + 2):
            raise RuntimeError(
                f"Expected {ndim + 1}D (unbatched) or {ndim + 2}D (batched) input to "
                f"{type(self).__name__}, but got input of size: {input.shape}"
            )
        return input.shape[-ndim - 1]

    def _get_num_spatial_dims(self) -> int:
        return self._ndim


class _LazyForward(_LazyConv):
    def __init__(
        self,
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
        arguments: tuple[Any, ...] = (
            0, 0, kernel_size, stride, padding, dilation, groups, False, padding_mode,
        )  # fmt: skip
        super().__init__(*arguments)
        self._make_lazy(out_channels, bias, device=device, dtype=dtype)


class LazyConv1d(_LazyForward, Conv1d):
    """A Conv1d that takes ``in_channels`` from its first input.

    Args:
        out_channels: Channels of the output.
        kernel_size: See Conv1d; so for the others.
        stride: Default: 1.
        padding: Default: 0.
        dilation: Default: 1.
        groups: Default: 1.
        bias: Default: True.
        padding_mode: Default: ``"zeros"``.
        device: Where the parameters live. Default: the active backend's.
        dtype: Their dtype. Default: the default dtype.

    Example:
        >>> import tinytorch as tt
        >>> tt.nn.LazyConv1d(4, 3)(tt.ones(2, 5, 8)).shape
        tinytorch.Size([2, 4, 6])
    """

    cls_to_become: type[Module] | None = Conv1d


class LazyConv2d(_LazyForward, Conv2d):
    """A Conv2d that takes ``in_channels`` from its first input.

    Args:
        out_channels: Channels of the output.
        kernel_size: See Conv2d; so for the others.
        stride: Default: 1.
        padding: Default: 0.
        dilation: Default: 1.
        groups: Default: 1.
        bias: Default: True.
        padding_mode: Default: ``"zeros"``.
        device: Where the parameters live. Default: the active backend's.
        dtype: Their dtype. Default: the default dtype.

    Example:
        >>> import tinytorch as tt
        >>> tt.nn.LazyConv2d(4, 3)(tt.ones(2, 5, 8, 8)).shape
        tinytorch.Size([2, 4, 6, 6])
    """

    cls_to_become: type[Module] | None = Conv2d


class LazyConv3d(_LazyForward, Conv3d):
    """A Conv3d that takes ``in_channels`` from its first input.

    Args:
        out_channels: Channels of the output.
        kernel_size: See Conv3d; so for the others.
        stride: Default: 1.
        padding: Default: 0.
        dilation: Default: 1.
        groups: Default: 1.
        bias: Default: True.
        padding_mode: Default: ``"zeros"``.
        device: Where the parameters live. Default: the active backend's.
        dtype: Their dtype. Default: the default dtype.

    Example:
        >>> import tinytorch as tt
        >>> tt.nn.LazyConv3d(4, 2)(tt.ones(2, 5, 3, 3, 3)).shape
        tinytorch.Size([2, 4, 2, 2, 2])
    """

    cls_to_become: type[Module] | None = Conv3d


class _LazyTranspose(_LazyConv):
    def __init__(
        self,
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
        arguments: tuple[Any, ...] = (
            0, 0, kernel_size, stride, padding, output_padding, groups, False, dilation,
            padding_mode,
        )  # fmt: skip
        super().__init__(*arguments)
        self._make_lazy(out_channels, bias, device=device, dtype=dtype)


class LazyConvTranspose1d(_LazyTranspose, ConvTranspose1d):
    """A ConvTranspose1d that takes ``in_channels`` from its first input.

    Args:
        out_channels: Channels of the output.
        kernel_size: See ConvTranspose1d; so for the others.
        stride: Default: 1.
        padding: Default: 0.
        output_padding: Default: 0.
        groups: Default: 1.
        bias: Default: True.
        dilation: Default: 1.
        padding_mode: Default: ``"zeros"``.
        device: Where the parameters live. Default: the active backend's.
        dtype: Their dtype. Default: the default dtype.

    Example:
        >>> import tinytorch as tt
        >>> tt.nn.LazyConvTranspose1d(4, 3)(tt.ones(2, 5, 8)).shape
        tinytorch.Size([2, 4, 10])
    """

    cls_to_become: type[Module] | None = ConvTranspose1d


class LazyConvTranspose2d(_LazyTranspose, ConvTranspose2d):
    """A ConvTranspose2d that takes ``in_channels`` from its first input.

    Args:
        out_channels: Channels of the output.
        kernel_size: See ConvTranspose2d; so for the others.
        stride: Default: 1.
        padding: Default: 0.
        output_padding: Default: 0.
        groups: Default: 1.
        bias: Default: True.
        dilation: Default: 1.
        padding_mode: Default: ``"zeros"``.
        device: Where the parameters live. Default: the active backend's.
        dtype: Their dtype. Default: the default dtype.

    Example:
        >>> import tinytorch as tt
        >>> tt.nn.LazyConvTranspose2d(4, 3)(tt.ones(2, 5, 8, 8)).shape
        tinytorch.Size([2, 4, 10, 10])
    """

    cls_to_become: type[Module] | None = ConvTranspose2d


class LazyConvTranspose3d(_LazyTranspose, ConvTranspose3d):
    """A ConvTranspose3d that takes ``in_channels`` from its first input.

    Args:
        out_channels: Channels of the output.
        kernel_size: See ConvTranspose3d; so for the others.
        stride: Default: 1.
        padding: Default: 0.
        output_padding: Default: 0.
        groups: Default: 1.
        bias: Default: True.
        dilation: Default: 1.
        padding_mode: Default: ``"zeros"``.
        device: Where the parameters live. Default: the active backend's.
        dtype: Their dtype. Default: the default dtype.

    Example:
        >>> import tinytorch as tt
        >>> tt.nn.LazyConvTranspose3d(4, 2)(tt.ones(2, 5, 3, 3, 3)).shape
        tinytorch.Size([2, 4, 4, 4, 4])
    """

    cls_to_become: type[Module] | None = ConvTranspose3d
