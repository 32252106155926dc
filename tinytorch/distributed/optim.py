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

    Example:
        >>> from tinytorch.distributed.optim import ZeroRedundancyOptimizer
        >>> ZeroRedundancyOptimizer()
        Traceback (most recent call last):
            ...
        NotImplementedError: distributed.optim.ZeroRedundancyOptimizer: tinytorch trains ...
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"distributed.optim.{cls.__name__}: {_WHY}")


class DistributedOptimizer(ZeroRedundancyOptimizer):
    """An optimizer of parameters in other processes, which none is here.

    Example:
        >>> from tinytorch.distributed.optim import DistributedOptimizer
        >>> DistributedOptimizer()
        Traceback (most recent call last):
            ...
        NotImplementedError: distributed.optim.DistributedOptimizer: tinytorch trains ...
    """


class PostLocalSGDOptimizer(ZeroRedundancyOptimizer):
    """An optimizer that averages over processes, which none is here.

    Example:
        >>> from tinytorch.distributed.optim import PostLocalSGDOptimizer
        >>> PostLocalSGDOptimizer()
        Traceback (most recent call last):
            ...
        NotImplementedError: distributed.optim.PostLocalSGDOptimizer: tinytorch trains ...
    """
