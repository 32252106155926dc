"""An averager with several periods: small groups average often, larger ones seldom."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from typing import Any

from ...group_queries import new_subgroups
from . import utils
from .averagers import ModelAverager

__all__ = ["HierarchicalModelAverager"]


class HierarchicalModelAverager(ModelAverager):
    """Averages parameters over groups whose size grows with the period.

    Args:
        period_group_size_dict: Group sizes by period in steps, from the smallest period to the
            largest; the last size is that of ``process_group``.
        warmup_steps: Number of first steps without averaging. Default: 0.
        process_group: Process group. Default: the default group.

    Raises:
        ValueError: If a period or ``warmup_steps`` is out of range, or if the last size is not the
            size of ``process_group``.

    Example:
        >>> from tinytorch.distributed.algorithms.model_averaging import (
        ...     hierarchical_model_averager)
        >>> tt.distributed.init_process_group("mpi")
        >>> averager = hierarchical_model_averager.HierarchicalModelAverager({4: 1})
        >>> averager.average_parameters(tt.nn.Linear(1, 1).parameters())
        >>> averager.step
        1
        >>> tt.distributed.destroy_process_group()
    """

    def __init__(
        self,
        period_group_size_dict: Mapping[int, int] | None = None,
        warmup_steps: int = 0,
        process_group: Any = None,
    ) -> None:
        super().__init__(process_group)
        if not period_group_size_dict:
            raise ValueError("Arg ``period_group_size_dict`` must not be empty.")
        periods, sizes = list(period_group_size_dict), list(period_group_size_dict.values())
        if periods[0] <= 0:
            raise ValueError(
                "The minimum period in arg ``period_group_size_dict`` must be a positive value."
            )
        if periods[-1] == 1:
            warnings.warn(
                "When the maximum period in arg ``period_group_size_dict`` is 1, no need to use "
                "model averaging: DistributedDataParallel costs no more.",
                stacklevel=2,
            )
        whole = self.process_group.size()
        if sizes[-1] != whole:
            raise ValueError(
                f"The last value in arg ``period_group_size_dict`` {sizes[-1]} must be equal to "
                f"the size of arg ``process_group`` {whole}."
            )
        if warmup_steps < 0:
            raise ValueError("Arg ``warmup_steps`` must be a non-negative number.")
        self.warmup_steps = warmup_steps
        self.period_process_group_dict: dict[int, Any] = {
            period: self.process_group
            if size == whole
            else new_subgroups(group_size=size, group=self.process_group)[0]
            for period, size in period_group_size_dict.items()
        }

    def average_parameters(self, params: Iterable[Any]) -> None:
        """Average over the group of the largest period that divides the step; count the step."""
        for period, group in reversed(self.period_process_group_dict.items()):
            if self.step >= self.warmup_steps and self.step % period == 0:
                utils.average_parameters_or_parameter_groups(params, group)
                break
        self.step += 1
