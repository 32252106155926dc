"""What the tests compare with."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

import tinytorch as tt


def libraries() -> tuple[Any, Any]:
    """tinytorch and PyTorch, for a test that is marked ``torch``."""
    return tt, importlib.import_module("torch")


def counted(*arrays: np.ndarray) -> Any:
    """Where every number counts: on a GPU subnormal float32 are 0, see ``docs/numerics.md``."""
    if tt.get_backend() != "cupy":
        return np.full(arrays[0].shape, True)
    smallest = np.finfo(np.float32).tiny
    return np.all([(x == 0) | ~(abs(x) < smallest) for x in arrays], axis=0)
