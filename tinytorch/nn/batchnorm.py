"""Batch normalization, instance normalization, and batch normalization over several processes."""

from __future__ import annotations

from typing import Any

from ..core.tensor import Tensor
from ..distributed.functional import all_reduce
from ..distributed.group_queries import get_world_size
from ..distributed.process_group import is_initialized
from ..dtypes import int64
from ..ops.create.factories import empty, ones, tensor, zeros
from ..ops.shape.joining import cat
from ..state import no_grad
from ..warnings import warn
from . import functional as F
from . import init
from .module import Module
from .parameter import Parameter

__all__ = [
    "BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "InstanceNorm1d", "InstanceNorm2d",
    "InstanceNorm3d", "SyncBatchNorm",
]  # fmt: skip


class NormBase(Module):
    """Base class of batch and instance normalization.

    Args:
        num_features: Number of channels of the input.
        eps: Added to the variance. Default: 1e-5.
        momentum: Weight of a new batch in the running statistics; with None these are the
            cumulative averages over all batches. Default: 0.1.
        affine: Whether there are a learned weight and bias. Default: True.
        track_running_stats: Whether there are running statistics. Default: True.
        device: Device of parameters and statistics. Default: the active backend's.
        dtype: Dtype of parameters and statistics. Default: the default dtype.
        bias: Whether there is a bias beside the weight. Default: True.

    Attributes:
        weight: Shape ``(num_features,)``, initially 1; or None.
        bias: Shape ``(num_features,)``, initially 0; or None.
        running_mean: Shape ``(num_features,)``, initially 0; or None.
        running_var: Shape ``(num_features,)``, initially 1; or None.
        num_batches_tracked: Number of batches in the running statistics; or None.
    """

    # From version 2 on, the state dict contains num_batches_tracked.
    _version = 2
    #: The numbers of dimensions that the input may have.
    _ndims: tuple[int, ...]

    num_features: int
    eps: float
    momentum: float | None
    affine: bool
    track_running_stats: bool
    #: May be None, but typed as in PyTorch, so that ``layer.weight.data`` type-checks.
    weight: Parameter
    bias: Parameter
    running_mean: Tensor | None
    running_var: Tensor | None
    num_batches_tracked: Tensor | None

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.track_running_stats = track_running_stats
        factory = {"device": device, "dtype": dtype}
        for name, wanted in (("weight", affine), ("bias", affine and bias)):
            parameter = Parameter(empty(num_features, **factory)) if wanted else None
            self.register_parameter(name, parameter)
        tracked = track_running_stats
        self.register_buffer("running_mean", zeros(num_features, **factory) if tracked else None)
        self.register_buffer("running_var", ones(num_features, **factory) if tracked else None)
        batches = tensor(0, dtype=int64, device=device) if tracked else None
        self.register_buffer("num_batches_tracked", batches)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Reset the running statistics to their initial values.

        Example:
            >>> norm = tt.nn.BatchNorm1d(2)
            >>> norm.reset_running_stats()
            >>> norm.running_var
            tensor([1., 1.])
        """
        for name, value in (("running_mean", 0), ("running_var", 1), ("num_batches_tracked", 0)):
            statistic: Any = getattr(self, name)
            if statistic is not None:
                statistic.fill_(value)

    def reset_parameters(self) -> None:
        """Set the weight to 1 and the bias to 0, and reset the running statistics."""
        self.reset_running_stats()
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def _check_input_dim(self, input: Tensor) -> None:
        """Check the number of dimensions of the input; ``forward`` calls it."""
        if input.ndim not in self._ndims:
            expected = " or ".join(f"{n}D" for n in self._ndims)
            raise ValueError(f"expected {expected} input (got {input.ndim}D input)")

    def extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, "
            f"affine={self.affine}, bias={self.bias is not None}, "
            f"track_running_stats={self.track_running_stats}"
        )

    def _load_from_state_dict(
        self, state_dict: Any, prefix: str, local_metadata: Any, *rest: Any
    ) -> None:
        """Load the state; a state of version 1, which lacks ``num_batches_tracked``, leaves it."""
        key = f"{prefix}num_batches_tracked"
        if (local_metadata.get("version") or 0) < 2 and self.num_batches_tracked is not None:
            state_dict.setdefault(key, self.num_batches_tracked)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)


class BatchNorm(NormBase):
    """Base class of batch normalization.

    Reference:
        S. Ioffe and C. Szegedy, "Batch normalization" (2015).
    """

    def forward(self, input: Tensor) -> Tensor:
        """Normalize: in training with the batch's statistics, else with the running statistics.

        Raises:
            ValueError: If the input has the wrong number of dimensions.
        """
        self._check_input_dim(input)
        factor = 0.0 if self.momentum is None else self.momentum
        if self.training and self.track_running_stats and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:
                factor = 1.0 / float(self.num_batches_tracked)
        by_batch = self.training or (self.running_mean is None and self.running_var is None)
        # In training batch_norm updates the statistics, in evaluation it uses them.
        given = not self.training or self.track_running_stats
        return F.batch_norm(
            input, self.running_mean if given else None, self.running_var if given else None,
            self.weight, self.bias, by_batch, factor, self.eps,
        )  # fmt: skip


class BatchNorm1d(BatchNorm):
    """(x - mean) / √(variance + eps) · weight + bias, over a batch of vectors or sequences.

    Mean and (biased) variance are those of each channel over the batch and the length. In
    evaluation mode they are running averages of the batches' mean and unbiased variance.

    Example:
        >>> tt.nn.BatchNorm1d(1)(tt.tensor([[1.0], [3.0]])).detach()
        tensor([[-1.0000],
                [ 1.0000]])
    """

    _ndims = (2, 3)


class BatchNorm2d(BatchNorm):
    """Batch normalization of images, of shape ``(batch, channels, height, width)``.

    Example:
        >>> tt.nn.BatchNorm2d(6)(tt.randn(20, 6, 10, 10)).shape
        tinytorch.Size([20, 6, 10, 10])
    """

    _ndims = (4,)


class BatchNorm3d(BatchNorm):
    """Batch normalization of volumes, of shape ``(batch, channels, depth, height, width)``.

    Example:
        >>> tt.nn.BatchNorm3d(6)(tt.randn(2, 6, 3, 4, 5)).shape
        tinytorch.Size([2, 6, 3, 4, 5])
    """

    _ndims = (5,)


class InstanceNorm(NormBase):
    """Base class of instance normalization.

    Args:
        momentum: Weight of a new batch in the running statistics. Default: 0.1.
        affine: Whether there are a learned weight and bias. Default: False.
        track_running_stats: Whether there are running statistics, which evaluation mode uses.
            Default: False.

    Reference:
        D. Ulyanov et al., "Instance normalization" (2016).
    """

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(
            num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias
        )

    def forward(self, input: Tensor) -> Tensor:
        """Normalize with each sample's statistics; in evaluation with running ones, if tracked.

        Raises:
            ValueError: If the input has the wrong number of dimensions, or of channels while
                ``affine`` is true.
        """
        self._check_input_dim(input)
        unbatched = self._get_no_batch_dim()
        self._check_channels(input, input.ndim - unbatched)
        if input.ndim == unbatched:
            return self._handle_no_batch_input(input)
        return self._apply_instance_norm(input)

    def _get_no_batch_dim(self) -> int:
        """Return the number of dimensions of an input without a batch."""
        return self._ndims[0]

    def _handle_no_batch_input(self, input: Tensor) -> Tensor:
        """Normalize a sample without a batch; ``forward`` calls it."""
        return self._apply_instance_norm(input.unsqueeze(0)).squeeze(0)

    def _check_channels(self, input: Tensor, dim: int) -> None:
        """Check the number of channels, at ``dim``; without ``affine`` only warn."""
        if input.shape[dim] == self.num_features:
            return
        if self.affine:
            raise ValueError(
                f"expected input's size at dim={dim} to match num_features "
                f"({self.num_features}), but got: {input.shape[dim]}."
            )
        warn(
            f"input's size at dim={dim} does not match num_features. You can silence this "
            "warning by not passing in num_features, which is not used because affine=False"
        )

    def _apply_instance_norm(self, input: Tensor) -> Tensor:
        """Normalize an input with a batch dimension; ``forward`` calls it."""
        return F.instance_norm(
            input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or not self.track_running_stats,
            0.0 if self.momentum is None else self.momentum,
            self.eps,
        )


class InstanceNorm1d(InstanceNorm):
    """Normalization of each channel of each sequence by its own mean and variance.

    Example:
        >>> tt.nn.InstanceNorm1d(1)(tt.tensor([[[1.0, 3.0]]]))
        tensor([[[-1.0000,  1.0000]]])
    """

    _ndims = (2, 3)


class InstanceNorm2d(InstanceNorm):
    """Normalization of each channel of each image by its own mean and variance.

    Example:
        >>> tt.nn.InstanceNorm2d(6)(tt.randn(20, 6, 10, 10)).shape
        tinytorch.Size([20, 6, 10, 10])
    """

    _ndims = (3, 4)


class InstanceNorm3d(InstanceNorm):
    """Normalization of each channel of each volume by its own mean and variance.

    Example:
        >>> tt.nn.InstanceNorm3d(6)(tt.randn(2, 6, 3, 4, 5)).shape
        tinytorch.Size([2, 6, 3, 4, 5])
    """

    _ndims = (4, 5)


class SyncBatchNorm(BatchNorm):
    """Batch normalization of ``(batch, channels, *)`` with the statistics of all ranks' batches.

    In one process, and in evaluation mode, it computes the same as ``BatchNorm1d``.

    Args:
        process_group: The ranks whose batches count. Default: all ranks.

    Example:
        >>> tt.nn.SyncBatchNorm(6)(tt.randn(20, 6, 10)).shape
        tinytorch.Size([20, 6, 10])
    """

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: Any = None,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(
            num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias
        )
        self.process_group = process_group

    def _check_input_dim(self, input: Any) -> None:
        """Check that the input has two dimensions at least."""
        if input.ndim < 2:
            raise ValueError(f"expected at least 2D input (got {input.ndim}D input)")

    def _check_non_zero_input_channels(self, input: Tensor) -> None:
        """Check that there are channels; ``forward`` calls it."""
        if input.shape[1] == 0:
            raise ValueError("SyncBatchNorm number of input channels should be non-zero")

    def forward(self, input: Tensor) -> Tensor:
        """Normalize: in training with the statistics of all ranks, else with the running ones.

        Raises:
            ValueError: If the input has no channels, or all ranks together have no more than one
                value for each channel.
        """
        self._check_input_dim(input)
        self._check_non_zero_input_channels(input)
        by_batch = self.training or self.running_mean is None
        if not by_batch or not is_initialized() or get_world_size(self.process_group) < 2:
            return super().forward(input)
        dims = [dim for dim in range(input.ndim) if dim != 1]
        shape = [-1 if dim == 1 else 1 for dim in range(input.ndim)]
        # The number of values per channel on this rank, which is summed with the values.
        own_count = input.new_tensor([input.numel() / max(input.shape[1], 1)])
        sums = all_reduce(cat([input.sum(dims), own_count]), group=self.process_group)
        count = float(sums[-1].detach())
        if count <= 1:
            raise ValueError(
                "Expected more than 1 value per channel when training, got input size "
                f"{input.shape}"
            )
        mean = sums[:-1] / count
        centered = input - mean.view(shape)
        variance = all_reduce(centered.square().sum(dims), group=self.process_group) / count
        self._track(mean.detach(), variance.detach() * (count / (count - 1)))
        normal = centered * (variance + self.eps).rsqrt().view(shape)
        if self.weight is not None:
            normal = normal * self.weight.view(shape)
        return normal if self.bias is None else normal + self.bias.view(shape)

    def _track(self, mean: Tensor, variance: Tensor) -> None:
        """Update the running statistics, in training and if they are tracked.

        Args:
            mean: The mean of the batch on all ranks, ``(channels,)``.
            variance: The unbiased variance of this batch, ``(channels,)``.
        """
        if not (self.training and self.track_running_stats):
            return
        batches: Any = self.num_batches_tracked
        batches.add_(1)
        factor = 1.0 / float(batches) if self.momentum is None else self.momentum
        with no_grad():
            for running, new in ((self.running_mean, mean), (self.running_var, variance)):
                running.lerp_(new.to(running.dtype), factor)  # type: ignore[union-attr]

    @classmethod
    def convert_sync_batchnorm(cls, module: Module, process_group: Any = None) -> Module:
        """Replace each batch normalization in a module by ``SyncBatchNorm`` with its tensors.

        Args:
            module: The module; it is changed, and returned unless it is a batch normalization.
            process_group: Argument of each ``SyncBatchNorm``. Default: None.

        Example:
            >>> net = tt.nn.Sequential(tt.nn.Linear(2, 3), tt.nn.BatchNorm1d(3))
            >>> type(tt.nn.SyncBatchNorm.convert_sync_batchnorm(net)[1]).__name__
            'SyncBatchNorm'
        """
        converted = module
        if isinstance(module, BatchNorm):
            converted = cls._from_batch_norm(module, process_group)
        for name, child in module.named_children():
            converted.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return converted

    @classmethod
    def _from_batch_norm(cls, norm: BatchNorm, process_group: Any) -> SyncBatchNorm:
        """Return a ``SyncBatchNorm`` with the settings, tensors and mode of ``norm``."""
        sync = cls(
            norm.num_features, norm.eps, norm.momentum, norm.affine, norm.track_running_stats,
            process_group, bias=norm.bias is not None,
        )  # fmt: skip
        if norm.affine:
            sync.weight, sync.bias = norm.weight, norm.bias
        for name in ("running_mean", "running_var", "num_batches_tracked"):
            setattr(sync, name, getattr(norm, name))
        sync.training = norm.training
        return sync
