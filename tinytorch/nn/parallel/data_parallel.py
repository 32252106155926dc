"""A module for several devices, of which one is used."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.tensor import Tensor
from ..module import Module

__all__ = ["DataParallel"]


class DataParallel(Module):
    """Calls the module that it holds, on the device where that is, as PyTorch's does on the CPU.

    Args:
        module: The module, kept as ``module``: the names in ``state_dict`` begin with it.
        device_ids: Accepted; selects nothing. Default: None.
        output_device: The same.
        dim: The same. Default: 0.

    Example:
        >>> model = tt.nn.DataParallel(tt.nn.Linear(2, 1))
        >>> list(model.state_dict()), model(tt.zeros(3, 2)).shape
        (['module.weight', 'module.bias'], tinytorch.Size([3, 1]))
    """

    module: Module

    def __init__(
        self,
        module: Module,
        device_ids: Sequence[Any] | None = None,
        output_device: Any = None,
        dim: int = 0,
    ) -> None:
        super().__init__()
        self.module = module
        self.dim = dim
        self.device_ids: list[Any] = []
        self.output_device = output_device

    def forward(self, *inputs: Any, **kwargs: Any) -> Tensor:
        """What the module computes; typed as one tensor, like ``Sequential``."""
        return self.module(*inputs, **kwargs)  # type: ignore[no-any-return]
