"""``torch.export``: models as programs of operations, without their code."""

from __future__ import annotations

from typing import Any

from ..compat.tables.unsupported import TABLES, fill
from .program import ExportedProgram as ExportedProgram
from .program import export as export
from .serialization import load as load
from .serialization import save as save
from .tracing import ExportError as ExportError

__all__ = ["Dim", "ExportError", "ExportedProgram", "export", "load", "save"]


class Dim:
    """Named dimension whose size may vary.

    Args:
        name: The name.
        min: The smallest size. Default: 0.
        max: The largest size. Default: no limit.

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
