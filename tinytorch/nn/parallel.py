"""Modules for several devices, of which one is used."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..compat.module_aliases import publish
from ..compat.unsupported import absent
from ..core.tensor import Tensor
from ..distributed import barrier
from .module import Module

__all__ = ["DataParallel", "DistributedDataParallel"]


class DataParallel(Module):
    """Calls the module that it holds, on the device where that is, as PyTorch's does on the CPU.

    Args:
        module: The module, kept as ``module``: the names in ``state_dict`` begin with it.
        device_ids: Accepted; selects nothing. Default: None.
        output_device: The same.
        dim: The same. Default: 0.

    Example:
        >>> import tinytorch as tt
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

    def forward(self, *inputs: Any, **kwargs: Any) -> Tensor:
        """What the module computes; typed as one tensor, like ``Sequential``."""
        return self.module(*inputs, **kwargs)  # type: ignore[no-any-return]


class DistributedDataParallel(Module):
    """What PyTorch trains a module in several processes with; nothing here is an instance of it.

    Raises:
        ValueError: If it is called, as in PyTorch before ``init_process_group``.

    Example:
        >>> import tinytorch as tt
        >>> isinstance(tt.nn.Linear(1, 1), tt.nn.parallel.DistributedDataParallel)
        False
    """

    def __init__(self, module: Module, *args: Any, **kwargs: Any) -> None:
        barrier()  # which refuses, as everything does without other processes


_WHY = "a module is used on one device: nothing is spread over several"
scatter, gather, replicate, parallel_apply = (
    absent(f"nn.parallel.{name}", _WHY)
    for name in ("scatter", "gather", "replicate", "parallel_apply")
)
publish(__name__, "scatter_gather distributed data_parallel")
