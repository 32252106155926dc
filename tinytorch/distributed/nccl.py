"""The engine that carries messages of GPUs by NCCL, through CuPy."""

from __future__ import annotations

from typing import Any


def available() -> bool:
    """Whether there are mpi4py, and CuPy with NCCL and a GPU."""
    return False


class NCCLEngine:
    def __init__(self, engine: Any, device: Any) -> None:
        raise NotImplementedError
