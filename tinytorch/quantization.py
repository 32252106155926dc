"""``torch.ao.quantization`` for programs that mark where tensors would be quantized: none are.

The marks let tensors through, as PyTorch's do before a model is converted; converting raises.
"""

from __future__ import annotations

from typing import Any

from .compat.tables.unsupported import TABLES
from .compat.tables.unsupported import fill
from .core.tensor import Tensor
from .nn.module import Module

__all__ = ["DeQuantStub", "QuantStub", "QuantWrapper"]


class QuantStub(Module):
    """Marks where a tensor would be quantized, and lets it through.

    Args:
        qconfig: How it would be. Default: None.

    Example:
        >>> tt.ao.quantization.QuantStub()(tt.ones(1))
        tensor([1.])
    """

    def __init__(self, qconfig: Any = None) -> None:
        super().__init__()
        if qconfig is not None:
            self.qconfig = qconfig

    def forward(self, x: Tensor) -> Tensor:
        """``x``."""
        return x


class DeQuantStub(QuantStub):
    """Marks where a tensor would be made one of floats again, and lets it through.

    Args:
        qconfig: How it would be. Default: None.

    Example:
        >>> tt.ao.quantization.DeQuantStub()(tt.ones(1))
        tensor([1.])
    """


class QuantWrapper(Module):
    """A module between two such marks.

    Args:
        module: The module.

    Example:
        >>> tt.ao.quantization.QuantWrapper(tt.nn.ReLU())(-tt.ones(1))
        tensor([0.])
    """

    def __init__(self, module: Module) -> None:
        super().__init__()
        self.quant = QuantStub()
        self.dequant = DeQuantStub()
        self.module = module
        self.train(module.training)

    def forward(self, X: Tensor) -> Tensor:
        """What the module makes of it; typed as one tensor, like ``Sequential``."""
        return self.dequant(self.module(self.quant(X)))


fill(globals(), TABLES["quantization"])
