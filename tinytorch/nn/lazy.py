"""Modules that learn the size of their input from the first one they see.

The lazy forms of convolutions.

The lazy forms of batch and instance normalisation.
"""

from __future__ import annotations

from itertools import chain
from typing import Any, cast

from ..core.tensor import Tensor
from ..dtypes import int64
from ..ops.create.factories import tensor
from .batchnorm import (
    BatchNorm,
    BatchNorm1d,
    BatchNorm2d,
    BatchNorm3d,
    InstanceNorm,
    InstanceNorm1d,
    InstanceNorm2d,
    InstanceNorm3d,
    NormBase,
)
from .common_types import Sizes
from .conv import (
    Conv1d,
    Conv2d,
    Conv3d,
    ConvBase,
    ConvTranspose1d,
    ConvTranspose2d,
    ConvTranspose3d,
)
from .linear import Linear
from .module import Module
from .parameter import Uninitialized, UninitializedBuffer, UninitializedParameter, is_lazy

__all__ = [
    "LazyBatchNorm1d",
    "LazyBatchNorm2d",
    "LazyBatchNorm3d",
    "LazyConv1d",
    "LazyConv2d",
    "LazyConv3d",
    "LazyConvTranspose1d",
    "LazyConvTranspose2d",
    "LazyConvTranspose3d",
    "LazyInstanceNorm1d",
    "LazyInstanceNorm2d",
    "LazyInstanceNorm3d",
    "LazyLinear",
    "LazyModuleMixin",
]


class LazyModuleMixin:
    """Makes a module lazy: its parameters get their shapes in the first call.

    A subclass lists it before the module's class, makes UninitializedParameters in ``__init__``
    and gives them their shapes in ``initialize_parameters``, which gets what ``forward`` gets.

    Attributes:
        cls_to_become: The class of the module once it is initialised; None leaves it as it is.

    Example:
        >>> layer = tt.nn.LazyLinear(3)
        >>> layer(tt.ones(2, 5)).shape
        tinytorch.Size([2, 3])
        >>> layer
        Linear(in_features=5, out_features=3, bias=True)
    """

    cls_to_become: type[Module] | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        module = cast(Any, self)
        self._load_hook = module._register_load_state_dict_pre_hook(self._lazy_load_hook)
        self._initialize_hook = module.register_forward_pre_hook(
            self._infer_parameters, with_kwargs=True
        )

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        """Give the parameters their shapes; to be overridden.

        Args:
            *args: What ``forward`` gets.
            **kwargs: Likewise.

        Raises:
            NotImplementedError: Unless overridden.
        """
        raise NotImplementedError(
            f"initialize_parameters is not implemented for {type(self).__name__}"
        )

    def has_uninitialized_params(self) -> bool:
        """Whether a parameter or buffer has no shape yet.

        Example:
            >>> from tinytorch import nn
            >>> nn.LazyLinear(3).has_uninitialized_params()
            True
        """
        return any(is_lazy(member) for member in self._members().values())

    def _members(self) -> dict[str, Any]:
        module = cast(Any, self)
        return dict(chain(module._parameters.items(), module._buffers.items()))

    def _infer_parameters(self, module: Any, args: Any, kwargs: Any) -> None:
        module.initialize_parameters(*args, **kwargs)
        if module.has_uninitialized_params():
            raise RuntimeError(f"module {module._get_name()} has not been fully initialized")
        for name in ("_initialize_hook", "_load_hook"):
            getattr(module, name).remove()
            delattr(module, name)
        if module.cls_to_become is not None:
            module.__class__ = module.cls_to_become

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        module = cast(Any, self)
        for name, member in module._own_state().items():
            kept = keep_vars or is_lazy(member)
            destination[prefix + name] = member if kept else member.detach()

    def _lazy_load_hook(self, state_dict: Any, prefix: str, *rest: Any) -> None:
        """Before loading: take the shapes from what is loaded."""
        for name, member in self._members().items():
            given = state_dict.get(prefix + name)
            if isinstance(member, Uninitialized) and given is not None and not is_lazy(given):
                member.materialize(given.shape)


def materialize(member: Any, shape: tuple[int, ...]) -> None:
    """Give a parameter or buffer its shape, if it has none yet."""
    if isinstance(member, Uninitialized):
        member.materialize(shape)


class LazyLinear(LazyModuleMixin, Linear):
    """A Linear that takes ``in_features`` from its first input.

    Args:
        out_features: Size of the output's last dimension.
        bias: Whether there is a bias. Default: True.
        device: Where the parameters live. Default: the active backend's.
        dtype: Their dtype. Default: the default dtype.

    Example:
        >>> tt.nn.LazyLinear(3)(tt.ones(2, 5)).shape
        tinytorch.Size([2, 3])
    """

    cls_to_become: type[Module] | None = Linear

    def __init__(
        self, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(0, 0, False)
        self.weight: UninitializedParameter = UninitializedParameter(device=device, dtype=dtype)
        self.out_features = out_features
        if bias:
            self.bias: UninitializedParameter = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        """Draw the parameters anew, once they have shapes."""
        if not self.has_uninitialized_params() and self.in_features:
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor) -> None:
        """Give the parameters the shapes that fit ``input``."""
        if self.has_uninitialized_params():
            self.in_features: int = input.shape[-1]
            materialize(self.weight, (self.out_features, self.in_features))
            materialize(self.bias, (self.out_features,))
            self.reset_parameters()
        # Loaded parameters have their shapes already.
        self.in_features = self.weight.shape[-1]


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
        >>> tt.nn.LazyConvTranspose3d(4, 2)(tt.ones(2, 5, 3, 3, 3)).shape
        tinytorch.Size([2, 4, 4, 4, 4])
    """

    cls_to_become: type[Module] | None = ConvTranspose3d


class _LazyNorm(LazyModuleMixin, NormBase):
    """What the lazy normalisations share."""

    def _make_lazy(self, affine: bool, bias: bool, tracked: bool, **factory: Any) -> None:
        self.affine = affine
        self.track_running_stats = tracked
        if affine:
            self.weight: UninitializedParameter = UninitializedParameter(**factory)
        if affine and bias:
            self.bias: UninitializedParameter = UninitializedParameter(**factory)
        if tracked:
            self.running_mean: UninitializedBuffer = UninitializedBuffer(**factory)
            self.running_var: UninitializedBuffer = UninitializedBuffer(**factory)
            self.num_batches_tracked: Tensor = tensor(0, dtype=int64, device=factory["device"])

    def reset_parameters(self) -> None:
        """Set parameters and statistics to their first values, once they have shapes."""
        if not self.has_uninitialized_params() and self.num_features:
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor) -> None:
        """Give parameters and statistics the shapes that fit ``input``."""
        if self.has_uninitialized_params():
            self.num_features: int = input.shape[1]
            for name in ("weight", "bias", "running_mean", "running_var"):
                materialize(getattr(self, name), (self.num_features,))
            self.reset_parameters()


class _LazyBatchNorm(_LazyNorm, BatchNorm):
    def __init__(
        self,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(0, eps, momentum, False, False)
        self._make_lazy(affine, bias, track_running_stats, device=device, dtype=dtype)


class LazyBatchNorm1d(_LazyBatchNorm, BatchNorm1d):
    """A BatchNorm1d that takes ``num_features`` from its first input.

    Args:
        eps: See BatchNorm1d; so for the others. Default: 1e-5.
        momentum: Default: 0.1.
        affine: Default: True.
        track_running_stats: Default: True.
        device: Default: the active backend's.
        dtype: Default: the default dtype.
        bias: Default: True.

    Example:
        >>> tt.nn.LazyBatchNorm1d()(tt.randn(4, 3)).shape
        tinytorch.Size([4, 3])
    """

    cls_to_become: type[Module] | None = BatchNorm1d


class LazyBatchNorm2d(_LazyBatchNorm, BatchNorm2d):
    """A BatchNorm2d that takes ``num_features`` from its first input.

    Args:
        eps: See BatchNorm2d; so for the others. Default: 1e-5.
        momentum: Default: 0.1.
        affine: Default: True.
        track_running_stats: Default: True.
        device: Default: the active backend's.
        dtype: Default: the default dtype.
        bias: Default: True.

    Example:
        >>> tt.nn.LazyBatchNorm2d()(tt.randn(4, 3, 5, 5)).shape
        tinytorch.Size([4, 3, 5, 5])
    """

    cls_to_become: type[Module] | None = BatchNorm2d


class LazyBatchNorm3d(_LazyBatchNorm, BatchNorm3d):
    """A BatchNorm3d that takes ``num_features`` from its first input.

    Args:
        eps: See BatchNorm3d; so for the others. Default: 1e-5.
        momentum: Default: 0.1.
        affine: Default: True.
        track_running_stats: Default: True.
        device: Default: the active backend's.
        dtype: Default: the default dtype.
        bias: Default: True.

    Example:
        >>> tt.nn.LazyBatchNorm3d()(tt.randn(4, 3, 2, 2, 2)).shape
        tinytorch.Size([4, 3, 2, 2, 2])
    """

    cls_to_become: type[Module] | None = BatchNorm3d


class _LazyInstanceNorm(_LazyNorm, InstanceNorm):
    def __init__(
        self,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(0, eps, momentum, False, False)
        self._make_lazy(affine, bias, track_running_stats, device=device, dtype=dtype)


class LazyInstanceNorm1d(_LazyInstanceNorm, InstanceNorm1d):
    """An InstanceNorm1d that takes ``num_features`` from its first input.

    Args:
        eps: See InstanceNorm1d; so for the others. Default: 1e-5.
        momentum: Default: 0.1.
        affine: Default: True.
        track_running_stats: Default: True.
        device: Default: the active backend's.
        dtype: Default: the default dtype.
        bias: Default: True.

    Example:
        >>> tt.nn.LazyInstanceNorm1d()(tt.randn(4, 3, 5)).shape
        tinytorch.Size([4, 3, 5])
    """

    cls_to_become: type[Module] | None = InstanceNorm1d


class LazyInstanceNorm2d(_LazyInstanceNorm, InstanceNorm2d):
    """An InstanceNorm2d that takes ``num_features`` from its first input.

    Args:
        eps: See InstanceNorm2d; so for the others. Default: 1e-5.
        momentum: Default: 0.1.
        affine: Default: True.
        track_running_stats: Default: True.
        device: Default: the active backend's.
        dtype: Default: the default dtype.
        bias: Default: True.

    Example:
        >>> tt.nn.LazyInstanceNorm2d()(tt.randn(4, 3, 5, 5)).shape
        tinytorch.Size([4, 3, 5, 5])
    """

    cls_to_become: type[Module] | None = InstanceNorm2d


class LazyInstanceNorm3d(_LazyInstanceNorm, InstanceNorm3d):
    """An InstanceNorm3d that takes ``num_features`` from its first input.

    Args:
        eps: See InstanceNorm3d; so for the others. Default: 1e-5.
        momentum: Default: 0.1.
        affine: Default: True.
        track_running_stats: Default: True.
        device: Default: the active backend's.
        dtype: Default: the default dtype.
        bias: Default: True.

    Example:
        >>> tt.nn.LazyInstanceNorm3d()(tt.randn(4, 3, 2, 2, 2)).shape
        tinytorch.Size([4, 3, 2, 2, 2])
    """

    cls_to_become: type[Module] | None = InstanceNorm3d
