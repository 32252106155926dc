"""``torch.distributed.elastic``: functions for programs that a launcher has started."""

from __future__ import annotations

from . import multiprocessing as multiprocessing

__all__ = ["multiprocessing"]
