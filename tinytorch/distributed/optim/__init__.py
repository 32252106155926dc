"""Optimizers for several processes."""

from __future__ import annotations

from ...compat.tables.distributed import TABLES
from ...compat.tables.distributed import fill
from ...facade.packages import publish
from .post_localSGD_optimizer import PostLocalSGDOptimizer as PostLocalSGDOptimizer
from .zero_redundancy import ZeroRedundancyOptimizer as ZeroRedundancyOptimizer

__all__ = ["PostLocalSGDOptimizer", "ZeroRedundancyOptimizer"]

publish(__name__, "zero_redundancy_optimizer")
fill(globals(), TABLES["distributed.optim"])
