"""``torch.export`` for programs that import it: programs are not traced here.

``Dim`` names a dimension, as programs do where they are imported; everything that needs a graph
raises NotImplementedError.
"""

from __future__ import annotations

from typing import Any

from .compat.tables.unsupported import TABLES, fill

__all__ = ["Dim"]


class Dim:
    """A dimension that may change, by its name.

    Args:
        name: The name.
        min: The least size. Default: 0.
        max: The greatest size. Default: none.

    Example:
        >>> from tinytorch.export import Dim
        >>> Dim("batch", max=64).__name__
        'batch'
    """

    AUTO, DYNAMIC, STATIC = "AUTO", "DYNAMIC", "STATIC"

    def __init__(self, name: str, *, min: Any = None, max: Any = None) -> None:
        self.__name__ = name
        self.min = 0 if min is None else min
        self.max = max


fill(globals(), TABLES["export"])
