"""``torch.distributed.optim`` for programs that name its optimizers."""

from __future__ import annotations

from typing import Any

from ..optim.optimizer import Optimizer

__all__ = ["DistributedOptimizer", "PostLocalSGDOptimizer", "ZeroRedundancyOptimizer"]

_WHY = "tinytorch trains in one process: no optimizer is spread over several"


class ZeroRedundancyOptimizer(Optimizer):
    """An optimizer whose state is spread over processes, which none is here.

    Raises:
        NotImplementedError: When one is made.
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"distributed.optim.{cls.__name__}: {_WHY}")


class DistributedOptimizer(ZeroRedundancyOptimizer):
    """An optimizer of parameters in other processes, which none is here."""


class PostLocalSGDOptimizer(ZeroRedundancyOptimizer):
    """An optimizer that averages over processes, which none is here."""
