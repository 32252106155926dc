"""Optimizers of several processes."""

from __future__ import annotations

from ...compat.module_aliases import publish
from ...compat.unsupported import Absent
from .zero_redundancy import ZeroRedundancyOptimizer as ZeroRedundancyOptimizer

__all__ = ["DistributedOptimizer", "PostLocalSGDOptimizer", "ZeroRedundancyOptimizer"]


class DistributedOptimizer(Absent, why="tinytorch calls no functions of other processes"):
    """An optimizer of parameters in other processes, which none is here."""


class PostLocalSGDOptimizer(Absent, why="average with distributed.all_reduce"):
    """An optimizer that averages over processes now and then, which none is here."""


publish(__name__, "zero_redundancy_optimizer")
