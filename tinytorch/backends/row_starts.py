"""Where the rows of row-major arrays begin in their flattened form."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .base import Array, Backend

#: The starts in arrays of fewer elements than this are kept, of so many shapes.
_FEW = 4096
_MOST = 64


class RowStarts(dict[tuple[int, ...], "Array"]):
    """By the shape of an array, where each of its rows begins; few are kept for the next time."""

    def __init__(self, xp: Backend) -> None:
        self.xp = xp

    def __missing__(self, shape: tuple[int, ...]) -> Array:
        size = math.prod(shape)
        starts = self.xp.arange(0, size, shape[-1]).reshape(shape[:-1])
        if size < _FEW and len(self) < _MOST:
            self[shape] = starts
        return starts
