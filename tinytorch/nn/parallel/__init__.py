"""Modules for several devices and processes."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from ...facade.packages import publish
from ...facade.unsupported import absent
from .data_parallel import DataParallel as DataParallel
from .distributed import DistributedDataParallel as DistributedDataParallel

__all__ = ["DataParallel", "DistributedDataParallel"]

_WHY = "a module runs on one device, so nothing is scattered over several"
scatter: Callable[..., NoReturn] = absent("nn.parallel.scatter", _WHY)
gather: Callable[..., NoReturn] = absent("nn.parallel.gather", _WHY)
replicate: Callable[..., NoReturn] = absent("nn.parallel.replicate", _WHY)
parallel_apply: Callable[..., NoReturn] = absent("nn.parallel.parallel_apply", _WHY)
publish(__name__, "scatter_gather")
