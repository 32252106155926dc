"""The lazy forms of batch and instance normalisation."""

from __future__ import annotations

from typing import Any

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
from .lazy import LazyModuleMixin, materialize
from .module import Module
from .parameter import UninitializedBuffer, UninitializedParameter

__all__ = [
    "LazyBatchNorm1d",
    "LazyBatchNorm2d",
    "LazyBatchNorm3d",
    "LazyInstanceNorm1d",
    "LazyInstanceNorm2d",
    "LazyInstanceNorm3d",
]


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
        >>> import tinytorch as tt
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
        >>> import tinytorch as tt
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
        >>> import tinytorch as tt
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
        >>> import tinytorch as tt
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
        >>> import tinytorch as tt
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
        >>> import tinytorch as tt
        >>> tt.nn.LazyInstanceNorm3d()(tt.randn(4, 3, 2, 2, 2)).shape
        tinytorch.Size([4, 3, 2, 2, 2])
    """

    cls_to_become: type[Module] | None = InstanceNorm3d
