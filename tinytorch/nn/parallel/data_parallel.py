"""``DataParallel``, which uses a single device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.tensor import Tensor
from ..module import Module

__all__ = ["DataParallel"]


class DataParallel(Module):
    """Wrapper that calls a module on the device of its parameters, as PyTorch's does on the CPU.

    Args:
        module: The module, which becomes the attribute ``module``: the names in ``state_dict``
            begin with ``module.``.
        device_ids: Has no effect. Default: None.
        output_device: Has no effect. Default: None.
        dim: Has no effect. Default: 0.

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
        """Call the module; its output is typed as a Tensor, like that of ``Sequential``."""
        return self.module(*inputs, **kwargs)  # type: ignore[no-any-return]
