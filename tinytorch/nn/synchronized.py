"""Batch normalisation over the batches of several processes, of which there is one."""

from __future__ import annotations

from typing import Any

from .batchnorm import BatchNorm
from .module import Module

__all__ = ["SyncBatchNorm"]


class SyncBatchNorm(BatchNorm):
    """Batch normalisation of ``(batch, channels, *)``; in one process, as always here, plain.

    Args:
        num_features: Channels of the input.
        eps: Added to the variance. Default: 1e-5.
        momentum: Weight of a new batch in the running statistics; None for their plain mean.
            Default: 0.1.
        affine: Whether there are weight and bias. Default: True.
        track_running_stats: Whether there are running statistics. Default: True.
        process_group: Accepted; selects nothing. Default: None.
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
