"""``torch.ao``, of which there is ``ao.quantization``."""

from __future__ import annotations

import sys

from . import quantization as quantization

__all__ = ["quantization"]

#: Makes a package of this file: ``import tinytorch.ao.quantization`` finds what is named here.
__path__: list[str] = []
sys.modules[f"{__name__}.quantization"] = quantization
