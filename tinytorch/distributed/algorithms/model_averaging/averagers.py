"""Averagers, which replace parameters by their means over the ranks every few steps."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

from ...process_group import world
from . import utils

__all__ = ["ModelAverager", "PeriodicModelAverager"]


class ModelAverager(ABC):
    """Base of averagers.

    Args:
        process_group: Process group. Default: the default group.

    Example:
        >>> from tinytorch.distributed.algorithms.model_averaging import averagers, utils
        >>> class Always(averagers.ModelAverager):
        ...     def average_parameters(self, params):
        ...         utils.average_parameters(iter(params), self.process_group)
        >>> tt.distributed.init_process_group("mpi")
        >>> w = tt.nn.Parameter(tt.ones(1))
        >>> Always().average_parameters([w])
        >>> w.tolist()
        [1.0]
        >>> tt.distributed.destroy_process_group()
    """

    def __init__(self, process_group: Any = None) -> None:
        self.process_group: Any = world() if process_group is None else process_group
        self.step = 0

    @abstractmethod
    def average_parameters(self, params: Iterable[Any]) -> None:
        """Average the parameters if that is due in this step."""
        raise NotImplementedError


class PeriodicModelAverager(ModelAverager):
    """Averages parameters every ``period`` steps.

    Args:
        period: Number of steps between two averages.
        warmup_steps: Number of first steps without averaging. Default: 0.
        process_group: Process group. Default: the default group.

    Raises:
        ValueError: If ``period`` is not positive or ``warmup_steps`` is negative.

    Example:
        >>> from tinytorch.distributed.algorithms.model_averaging.averagers import (
        ...     PeriodicModelAverager)
        >>> tt.distributed.init_process_group("mpi")
        >>> averager = PeriodicModelAverager(period=2)
        >>> averager.average_parameters(tt.nn.Linear(1, 1).parameters())
        >>> averager.step
        1
        >>> tt.distributed.destroy_process_group()
    """

    def __init__(self, period: int, warmup_steps: int = 0, process_group: Any = None) -> None:
        super().__init__(process_group)
        if warmup_steps < 0:
            raise ValueError("Arg ``warmup_steps`` must be a non-negative number.")
        if period < 1:
            raise ValueError("Arg ``period`` must be a positive value.")
        if period == 1:
            warnings.warn(
                "When period is 1, no need to use model averaging because the communication cost "
                "of all-reducing parameters will be no less than the cost of all-reducing "
                "gradients by DistributedDataParallel in the backward pass. Therefore, only "
                "DistributedDataParallel should be used for this case.",
                stacklevel=2,
            )
        self.period: int = period
        self.warmup_steps: int = warmup_steps

    def average_parameters(self, params: Iterable[Any]) -> None:
        """Average the parameters if that is due in this step, and count the step."""
        steps_after_warmup = self.step - self.warmup_steps
        if steps_after_warmup >= 0 and steps_after_warmup % self.period == 0:
            utils.average_parameters_or_parameter_groups(params, self.process_group)
        self.step += 1
