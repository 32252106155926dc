"""``torch.ao.quantization`` without quantization.

The stub modules return their input, as PyTorch's do before a model is converted; converting raises.
"""

from __future__ import annotations

from typing import Any

from .compat.tables.unsupported import TABLES
from .compat.tables.unsupported import fill
from .core.tensor import Tensor
from .nn.module import Module

__all__ = ["DeQuantStub", "QuantStub", "QuantWrapper"]


class QuantStub(Module):
    """Identity that marks where a tensor would be quantized.

    Args:
        qconfig: Configuration of the quantization, an unused attribute. Default: None.

    Example:
        >>> tt.ao.quantization.QuantStub()(tt.ones(1))
        tensor([1.])
    """

    def __init__(self, qconfig: Any = None) -> None:
        super().__init__()
        if qconfig is not None:
            self.qconfig = qconfig

    def forward(self, x: Tensor) -> Tensor:
        """Return ``x``."""
        return x


class DeQuantStub(QuantStub):
    """Identity that marks where a quantized tensor would be converted back to floating point.

    Args:
        qconfig: Configuration of the quantization, an unused attribute. Default: None.

    Example:
        >>> tt.ao.quantization.DeQuantStub()(tt.ones(1))
        tensor([1.])
    """


class QuantWrapper(Module):
    """Module between a ``QuantStub`` and a ``DeQuantStub``.

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
        """Result of the module, annotated as one tensor, as for ``Sequential``."""
        return self.dequant(self.module(self.quant(X)))


fill(globals(), TABLES["quantization"])
