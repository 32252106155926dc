"""Versions, as ``torch.version``."""

from __future__ import annotations

import re
import sys
from importlib.metadata import distributions

__all__ = ["__version__", "cuda", "debug", "git_version", "hip", "rocm", "xpu"]

#: As it is while the program runs: a program for PyTorch sees the version of its API.
__version__: str = sys.modules[__name__.partition(".")[0]].__version__


def _cuda() -> str | None:
    """The CUDA version that the installed CuPy was made for, without importing it."""
    for each in distributions():
        found = re.fullmatch(r"cupy[-_]cuda(\d+)x", each.metadata["Name"] or "")
        if found:
            return f"{found[1]}.0"
    return None


cuda: str | None = _cuda()
hip: str | None = None
rocm: str | None = None
xpu: str | None = None
debug: bool = False
git_version: str | None = None
