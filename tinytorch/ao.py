"""``torch.ao``, of which there is ``ao.quantization``."""

from __future__ import annotations

from . import quantization as quantization

__all__ = ["quantization"]

#: Makes a package of this file: the import hook knows the names below it.
__path__: list[str] = []
