"""Utilities for training: ``utils.data`` loads data, ``utils.checkpoint`` saves memory.

``utils.dlpack`` exchanges tensors with other libraries.

Example:
    >>> loader = tt.utils.data.DataLoader(range(4), batch_size=2)
    >>> [batch.tolist() for batch in loader]
    [[0, 1], [2, 3]]
"""

from __future__ import annotations

from typing import Any

__all__ = [
    "benchmark", "checkpoint", "collect_env", "cpp_extension", "data", "deterministic", "dlpack",
    "draw", "flop_counter", "hooks", "model_zoo", "set_module", "swap_tensors", "weak",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    # Imported on first access, because most programs do not need them.
    if name == "draw":
        from .graph_drawing import draw

        return draw
    if name in ("set_module", "swap_tensors"):
        from ..core import relocation

        return getattr(relocation, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
