"""Averages of parameters over the ranks of a group."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ....core.tensor import Tensor
from ...coalescing import all_reduce_coalesced
from ...process_group import world

__all__ = [
    "average_parameters", "average_parameters_or_parameter_groups", "get_params_to_average",
]  # fmt: skip


def average_parameters(params: Iterator[Tensor], process_group: Any) -> None:
    """Replace parameters by their means over the ranks.

    Args:
        params: The parameters.
        process_group: Process group; None is the default group.

    Example:
        >>> from tinytorch.distributed.algorithms.model_averaging import utils
        >>> tt.distributed.init_process_group("mpi")
        >>> utils.average_parameters(iter([tt.ones(2)]), None)
        >>> tt.distributed.destroy_process_group()
    """
    group = world() if process_group is None else process_group
    values = [param.detach() for param in params]
    for value in values:
        value.div_(group.size())
    if values:
        all_reduce_coalesced(values, group=group)


def get_params_to_average(params: Iterable[Any]) -> list[Tensor]:
    """List the parameters that have gradients.

    Args:
        params: Parameters, or parameter groups of an optimizer.

    Raises:
        NotImplementedError: If an item is neither a tensor nor a parameter group.

    Example:
        >>> from tinytorch.distributed.algorithms.model_averaging import utils
        >>> utils.get_params_to_average([tt.nn.Parameter(tt.ones(2))])
        []
    """
    found: list[Tensor] = []
    for each in params:
        if isinstance(each, Tensor):
            found.append(each)
        elif isinstance(each, dict):
            found.extend(each["params"])
        else:
            raise NotImplementedError(f"Parameter input of type {type(each)} is not supported")
    return [param for param in found if param.grad is not None]


def average_parameters_or_parameter_groups(params: Iterable[Any], process_group: Any) -> None:
    """Replace parameters that have gradients by their means over the ranks.

    Args:
        params: Parameters, or parameter groups of an optimizer.
        process_group: Process group; None is the default group.

    Example:
        >>> from tinytorch.distributed.algorithms.model_averaging import utils
        >>> tt.distributed.init_process_group("mpi")
        >>> utils.average_parameters_or_parameter_groups([], None)
        >>> tt.distributed.destroy_process_group()
    """
    average_parameters(iter(get_params_to_average(params)), process_group)
