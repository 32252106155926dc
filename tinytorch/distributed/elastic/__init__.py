"""``torch.distributed.elastic``: what programs use that a launcher starts."""

from __future__ import annotations

from . import multiprocessing as multiprocessing

__all__ = ["multiprocessing"]
