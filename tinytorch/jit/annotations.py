"""``torch.jit.annotations``: names that programs annotate with."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple, Union  # noqa: UP035, the names are wanted

__all__ = [
    "Any", "BroadcastingList1", "BroadcastingList2", "BroadcastingList3", "Dict", "List",
    "Optional", "Tuple", "Union",
]  # fmt: skip

BroadcastingList1 = BroadcastingList2 = BroadcastingList3 = list
