"""What the tests compare with."""

from __future__ import annotations

import importlib
from typing import Any

import tinytorch as tt


def libraries() -> tuple[Any, Any]:
    """tinytorch and PyTorch, for a test that is marked ``torch``."""
    return tt, importlib.import_module("torch")
