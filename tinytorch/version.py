"""Versions, as ``torch.version``."""

from __future__ import annotations

import re
from importlib.metadata import distributions

__all__ = ["cuda", "debug", "git_version", "hip", "xpu"]


def _cuda() -> str | None:
    """The CUDA version that the installed CuPy was made for, without importing it."""
    for each in distributions():
        found = re.fullmatch(r"cupy[-_]cuda(\d+)x", each.metadata["Name"] or "")
        if found:
            return f"{found[1]}.0"
    return None


cuda: str | None = _cuda()
hip: str | None = None
xpu: str | None = None
debug: bool = False
git_version: str | None = None
