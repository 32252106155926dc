"""Modules for several devices and processes."""

from __future__ import annotations

from ...facade.packages import publish
from ...facade.unsupported import absent
from .data_parallel import DataParallel as DataParallel
from .distributed import DistributedDataParallel as DistributedDataParallel

__all__ = ["DataParallel", "DistributedDataParallel"]

_WHY = "a module runs on one device, so nothing is scattered over several"
scatter, gather, replicate, parallel_apply = (
    absent(f"nn.parallel.{name}", _WHY)
    for name in ("scatter", "gather", "replicate", "parallel_apply")
)
publish(__name__, "scatter_gather")
