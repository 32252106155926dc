"""Optimizers of several processes."""

from __future__ import annotations

from ...compat.tables.distributed_parts import TABLES, fill
from ...facade.module_aliases import publish
from .post_localSGD_optimizer import PostLocalSGDOptimizer as PostLocalSGDOptimizer
from .zero_redundancy import ZeroRedundancyOptimizer as ZeroRedundancyOptimizer

__all__ = ["PostLocalSGDOptimizer", "ZeroRedundancyOptimizer"]

publish(__name__, "zero_redundancy_optimizer")
fill(globals(), TABLES["distributed.optim"])
