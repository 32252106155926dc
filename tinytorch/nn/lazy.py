"""Lazy layers, which take the number of their input's features or channels from the first input.

There are lazy forms of Linear, of the convolutions, and of batch and instance normalization.
"""

from __future__ import annotations

from itertools import chain
from typing import Any, cast

from ..core.tensor import Tensor
from ..dtypes import int64
from ..ops.create.factories import tensor
from .batchnorm import (
    BatchNorm1d, BatchNorm2d, BatchNorm3d, InstanceNorm1d, InstanceNorm2d, InstanceNorm3d, NormBase,
)  # fmt: skip
from .common_types import Sizes
from .conv import (
    Conv1d, Conv2d, Conv3d, ConvBase, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d,
)  # fmt: skip
from .linear import Linear
from .module import Module
from .parameter import Uninitialized, UninitializedBuffer, UninitializedParameter, is_lazy

__all__ = [
    "LazyBatchNorm1d", "LazyBatchNorm2d", "LazyBatchNorm3d", "LazyConv1d", "LazyConv2d",
    "LazyConv3d", "LazyConvTranspose1d", "LazyConvTranspose2d", "LazyConvTranspose3d",
    "LazyInstanceNorm1d", "LazyInstanceNorm2d", "LazyInstanceNorm3d", "LazyLinear",
    "LazyModuleMixin",
]  # fmt: skip


class LazyModuleMixin:
    """Mixin of modules whose parameters get their shapes in the first call.

    A subclass lists it before the module's class, makes UninitializedParameters in ``__init__``
    and gives them their shapes in ``initialize_parameters``.

    Attributes:
        cls_to_become: Class of the module after the first call; None leaves the class as it is.

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
        """Give the parameters their shapes; every subclass overrides it.

        Args:
            *args: The positional arguments of ``forward``.
            **kwargs: The keyword arguments of ``forward``.

        Raises:
            NotImplementedError: Unless overridden.
        """
        raise NotImplementedError(
            f"initialize_parameters is not implemented for {type(self).__name__}"
        )

    def has_uninitialized_params(self) -> bool:
        """Whether a parameter or buffer has no shape yet.

        Example:
            >>> tt.nn.LazyLinear(3).has_uninitialized_params()
            True
        """
        return any(is_lazy(member) for member in self._members().values())

    def _members(self) -> dict[str, Any]:
        """Return the module's own parameters and buffers by name."""
        module = cast(Any, self)
        return dict(chain(module._parameters.items(), module._buffers.items()))

    def _infer_parameters(self, module: Any, args: Any, kwargs: Any) -> None:
        """Initialize the parameters and remove the hooks; a forward pre-hook of the first call."""
        module.initialize_parameters(*args, **kwargs)
        if module.has_uninitialized_params():
            raise RuntimeError(f"module {module._get_name()} has not been fully initialized")
        for name in ("_initialize_hook", "_load_hook"):
            getattr(module, name).remove()
            delattr(module, name)
        if module.cls_to_become is not None:
            module.__class__ = module.cls_to_become

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        """Save the tensors; uninitialized ones cannot be detached."""
        module = cast(Any, self)
        for name, member in module._own_state().items():
            as_is = keep_vars or is_lazy(member)
            destination[prefix + name] = member if as_is else member.detach()

    def _lazy_load_hook(self, state_dict: Any, prefix: str, *rest: Any) -> None:
        """Give uninitialized members the shapes of the tensors to load; a hook before loading."""
        for name, member in self._members().items():
            loaded = state_dict.get(prefix + name)
            if isinstance(member, Uninitialized) and loaded is not None and not is_lazy(loaded):
                member.materialize(loaded.shape)


def materialize(member: Any, shape: tuple[int, ...]) -> None:
    """Give a parameter or buffer its shape if it is uninitialized."""
    if isinstance(member, Uninitialized):
        member.materialize(shape)


class LazyLinear(LazyModuleMixin, Linear):
    """Linear layer that takes ``in_features`` from its first input.

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
        """Draw the parameters again, if they have shapes."""
        if not self.has_uninitialized_params() and self.in_features:
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor) -> None:
        """Give the parameters the shapes that fit ``input``."""
        if self.has_uninitialized_params():
            self.in_features: int = input.shape[-1]
            materialize(self.weight, (self.out_features, self.in_features))
            materialize(self.bias, (self.out_features,))
            self.reset_parameters()
        # After loading, the parameters have shapes but in_features is still 0.
        self.in_features = self.weight.shape[-1]


class _LazyConv(LazyModuleMixin, ConvBase):
    """Base class of the lazy convolutions."""

    _ndim: int

    def _make_lazy(self, out_channels: int, bias: bool, **factory: Any) -> None:
        """Make the uninitialized parameters; ``factory`` has their device and dtype."""
        self.weight: UninitializedParameter = UninitializedParameter(**factory)
        self.out_channels = out_channels
        if bias:
            self.bias: UninitializedParameter = UninitializedParameter(**factory)

    def reset_parameters(self) -> None:
        """Draw the parameters again, if they have shapes."""
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
        """Return the number of channels of an input; ``initialize_parameters`` calls it."""
        ndim = self._get_num_spatial_dims()
        if input.ndim not in (ndim + 1, ndim + 2):
            raise RuntimeError(
                f"Expected {ndim + 1}D (unbatched) or {ndim + 2}D (batched) input to "
                f"{type(self).__name__}, but got input of size: {input.shape}"
            )
        return input.shape[-ndim - 1]

    def _get_num_spatial_dims(self) -> int:
        """Return the number of dimensions of the kernel."""
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
    """``Conv1d`` that takes ``in_channels`` from its first input.

    Example:
        >>> tt.nn.LazyConv1d(4, 3)(tt.ones(2, 5, 8)).shape
        tinytorch.Size([2, 4, 6])
    """

    cls_to_become: type[Module] | None = Conv1d


class LazyConv2d(_LazyForward, Conv2d):
    """``Conv2d`` that takes ``in_channels`` from its first input.

    Example:
        >>> tt.nn.LazyConv2d(4, 3)(tt.ones(2, 5, 8, 8)).shape
        tinytorch.Size([2, 4, 6, 6])
    """

    cls_to_become: type[Module] | None = Conv2d


class LazyConv3d(_LazyForward, Conv3d):
    """``Conv3d`` that takes ``in_channels`` from its first input.

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
    """``ConvTranspose1d`` that takes ``in_channels`` from its first input.

    Example:
        >>> tt.nn.LazyConvTranspose1d(4, 3)(tt.ones(2, 5, 8)).shape
        tinytorch.Size([2, 4, 10])
    """

    cls_to_become: type[Module] | None = ConvTranspose1d


class LazyConvTranspose2d(_LazyTranspose, ConvTranspose2d):
    """``ConvTranspose2d`` that takes ``in_channels`` from its first input.

    Example:
        >>> tt.nn.LazyConvTranspose2d(4, 3)(tt.ones(2, 5, 8, 8)).shape
        tinytorch.Size([2, 4, 10, 10])
    """

    cls_to_become: type[Module] | None = ConvTranspose2d


class LazyConvTranspose3d(_LazyTranspose, ConvTranspose3d):
    """``ConvTranspose3d`` that takes ``in_channels`` from its first input.

    Example:
        >>> tt.nn.LazyConvTranspose3d(4, 2)(tt.ones(2, 5, 3, 3, 3)).shape
        tinytorch.Size([2, 4, 4, 4, 4])
    """

    cls_to_become: type[Module] | None = ConvTranspose3d


class _LazyNorm(LazyModuleMixin, NormBase):
    """Base class of the lazy batch and instance normalizations.

    Args:
        affine: Whether there are a learned weight and bias. Default: True.
        track_running_stats: Whether there are running statistics. Default: True.
    """

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

    def _make_lazy(self, affine: bool, bias: bool, tracked: bool, **factory: Any) -> None:
        """Make the uninitialized parameters and statistics with the device and dtype given."""
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
        """Set parameters and statistics to their initial values, if they have shapes."""
        if not self.has_uninitialized_params() and self.num_features:
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor) -> None:
        """Give parameters and statistics the shapes that fit ``input``."""
        if self.has_uninitialized_params():
            self.num_features: int = input.shape[1]
            for name in ("weight", "bias", "running_mean", "running_var"):
                materialize(getattr(self, name), (self.num_features,))
            self.reset_parameters()


class LazyBatchNorm1d(_LazyNorm, BatchNorm1d):
    """``BatchNorm1d`` that takes ``num_features`` from its first input.

    Example:
        >>> tt.nn.LazyBatchNorm1d()(tt.randn(4, 3)).shape
        tinytorch.Size([4, 3])
    """

    cls_to_become: type[Module] | None = BatchNorm1d


class LazyBatchNorm2d(_LazyNorm, BatchNorm2d):
    """``BatchNorm2d`` that takes ``num_features`` from its first input.

    Example:
        >>> tt.nn.LazyBatchNorm2d()(tt.randn(4, 3, 5, 5)).shape
        tinytorch.Size([4, 3, 5, 5])
    """

    cls_to_become: type[Module] | None = BatchNorm2d


class LazyBatchNorm3d(_LazyNorm, BatchNorm3d):
    """``BatchNorm3d`` that takes ``num_features`` from its first input.

    Example:
        >>> tt.nn.LazyBatchNorm3d()(tt.randn(4, 3, 2, 2, 2)).shape
        tinytorch.Size([4, 3, 2, 2, 2])
    """

    cls_to_become: type[Module] | None = BatchNorm3d


class LazyInstanceNorm1d(_LazyNorm, InstanceNorm1d):
    """``InstanceNorm1d`` that takes ``num_features`` from its first input.

    Example:
        >>> tt.nn.LazyInstanceNorm1d()(tt.randn(4, 3, 5)).shape
        tinytorch.Size([4, 3, 5])
    """

    cls_to_become: type[Module] | None = InstanceNorm1d


class LazyInstanceNorm2d(_LazyNorm, InstanceNorm2d):
    """``InstanceNorm2d`` that takes ``num_features`` from its first input.

    Example:
        >>> tt.nn.LazyInstanceNorm2d()(tt.randn(4, 3, 5, 5)).shape
        tinytorch.Size([4, 3, 5, 5])
    """

    cls_to_become: type[Module] | None = InstanceNorm2d


class LazyInstanceNorm3d(_LazyNorm, InstanceNorm3d):
    """``InstanceNorm3d`` that takes ``num_features`` from its first input.

    Example:
        >>> tt.nn.LazyInstanceNorm3d()(tt.randn(4, 3, 2, 2, 2)).shape
        tinytorch.Size([4, 3, 2, 2, 2])
    """

    cls_to_become: type[Module] | None = InstanceNorm3d
