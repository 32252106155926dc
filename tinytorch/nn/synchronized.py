"""Batch normalisation over the batches of several processes."""

from __future__ import annotations

from typing import Any

from ..core.tensor import Tensor
from ..distributed.functional import all_reduce
from ..distributed.membership import get_world_size
from ..distributed.process_group import is_initialized
from ..ops.shape.joining import cat
from ..state import no_grad
from .batchnorm import BatchNorm
from .module import Module

__all__ = ["SyncBatchNorm"]


class SyncBatchNorm(BatchNorm):
    """Batch normalisation of ``(batch, channels, *)`` by the statistics of all ranks' batches.

    In one process, and by running statistics, it is plain.

    Args:
        num_features: Channels of the input.
        eps: Added to the variance. Default: 1e-5.
        momentum: Weight of a new batch in the running statistics; None for their plain mean.
            Default: 0.1.
        affine: Whether there are weight and bias. Default: True.
        track_running_stats: Whether there are running statistics. Default: True.
        process_group: Whose batches. Default: all processes', if there are several.
        device: Where parameters and statistics live. Default: the active backend's.
        dtype: Their dtype. Default: the default dtype.
        bias: Whether there is a bias, given there is a weight. Default: True.

    Example:
        >>> import tinytorch as tt
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
        if input.ndim < 2:
            raise ValueError(f"expected at least 2D input (got {input.ndim}D input)")

    def _check_non_zero_input_channels(self, input: Tensor) -> None:
        """Check that there are channels; ``forward`` calls it."""
        if input.shape[1] == 0:
            raise ValueError("SyncBatchNorm number of input channels should be non-zero")

    def forward(self, input: Tensor) -> Tensor:
        """Normalise: in training by the statistics of all ranks, else by the running ones.

        Raises:
            ValueError: If the input has no channels, or the ranks together one value in each.
        """
        self._check_input_dim(input)
        self._check_non_zero_input_channels(input)
        by_batch = self.training or self.running_mean is None
        if not by_batch or not is_initialized() or get_world_size(self.process_group) < 2:
            return super().forward(input)
        dims = [dim for dim in range(input.ndim) if dim != 1]
        shape = [-1 if dim == 1 else 1 for dim in range(input.ndim)]
        own = input.new_tensor([input.numel() / max(input.shape[1], 1)])
        sums = all_reduce(cat([input.sum(dims), own]), group=self.process_group)
        count = float(sums[-1].detach())
        if count <= 1:
            raise ValueError(
                "Expected more than 1 value per channel when training, got input size "
                f"{input.shape}"
            )
        mean = sums[:-1] / count
        centred = input - mean.view(shape)
        variance = all_reduce(centred.square().sum(dims), group=self.process_group) / count
        self._track(mean.detach(), variance.detach() * (count / (count - 1)))
        normal = centred * (variance + self.eps).rsqrt().view(shape)
        if self.weight is not None:
            normal = normal * self.weight.view(shape)
        return normal if self.bias is None else normal + self.bias.view(shape)

    def _track(self, mean: Tensor, variance: Tensor) -> None:
        """Take a batch into the running statistics, as ``BatchNorm`` does."""
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
        """A module with its batch norms replaced by ``SyncBatchNorm``, of the same tensors.

        Args:
            module: The module; changed, and returned unless it is a batch norm itself.
            process_group: Handed on. Default: None.

        Example:
            >>> from tinytorch import nn
            >>> net = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
            >>> type(nn.SyncBatchNorm.convert_sync_batchnorm(net)[1]).__name__
            'SyncBatchNorm'
        """
        converted = module
        if isinstance(module, BatchNorm):
            converted = cls._like(module, process_group)
        for name, child in module.named_children():
            converted.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return converted

    @classmethod
    def _like(cls, norm: BatchNorm, process_group: Any) -> SyncBatchNorm:
        made = cls(
            norm.num_features, norm.eps, norm.momentum, norm.affine, norm.track_running_stats,
            process_group, bias=norm.bias is not None,
        )  # fmt: skip
        if norm.affine:
            made.weight, made.bias = norm.weight, norm.bias
        for name in ("running_mean", "running_var", "num_batches_tracked"):
            setattr(made, name, getattr(norm, name))
        made.training = norm.training
        return made
