"""``torch.utils.flop_counter`` for programs that import it: operations are not counted."""

from __future__ import annotations

from ..compat.unsupported import Absent

__all__ = ["FlopCounterMode"]


class FlopCounterMode(Absent, why="nothing stands between programs and operations"):
    """What counts a program's operations in PyTorch; making one raises."""
