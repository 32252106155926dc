"""``Join``: training with uneven inputs across the ranks.

A rank without inputs shadows the collectives that other ranks still call. Before each iteration,
all ranks count those with inputs by an ``all_reduce``, so that shadowing ends with the last one.

Reference: https://docs.pytorch.org/docs/stable/distributed.algorithms.join.html
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

from ...ops.create.factories import ones, zeros
from ..collectives import all_reduce
from ..group_queries import get_rank
from ..work import Work

__all__ = ["Join", "JoinHook", "Joinable"]

_EXHAUSTED = "Detected at least one rank that exhausted inputs. Throwing across all ranks."


class JoinHook:
    """Base of join hooks: actions of a rank that has no inputs left, during and after ``Join``.

    Example:
        >>> from tinytorch.distributed.algorithms import JoinHook
        >>> JoinHook().main_hook()
        >>> JoinHook().post_hook(is_last_joiner=True)
    """

    def main_hook(self) -> None:
        """Shadow the collectives of one iteration of the other ranks."""

    def post_hook(self, is_last_joiner: bool) -> None:
        """Finish the block: called once on every rank, when no rank has inputs left.

        Args:
            is_last_joiner: Whether this rank is one of the last to run out of inputs.
        """


@dataclass
class JoinConfig:
    """Options of the ``Join`` block that a ``Joinable`` is in."""

    enable: bool = False
    throw_on_early_termination: bool = False
    is_first_joinable: bool = False


class Joinable(ABC):
    """Base of models and optimizers for ``Join``.

    They call ``Join.notify_join_context`` once in each iteration, before their collectives.

    Example:
        >>> from tinytorch.distributed.algorithms import Joinable
        >>> tt.distributed.init_process_group("mpi")
        >>> model = tt.nn.parallel.DistributedDataParallel(tt.nn.Linear(1, 1))
        >>> isinstance(model, Joinable), str(model.join_device)
        (True, 'cpu')
        >>> hook = model.join_hook(divide_by_initial_world_size=True)
        >>> tt.distributed.destroy_process_group()
    """

    _join_config: JoinConfig

    @abstractmethod
    def join_hook(self, **kwargs: Any) -> JoinHook:
        """Return the ``JoinHook`` of this object, with the keyword arguments of ``Join``."""

    @property
    @abstractmethod
    def join_device(self) -> Any:
        """Device of the tensors of the collectives."""

    @property
    @abstractmethod
    def join_process_group(self) -> Any:
        """Process group of the collectives."""


class Join:
    """Context manager for training with uneven inputs: ranks without inputs shadow collectives.

    Args:
        joinables: Models and optimizers whose collectives are shadowed, in the order of their
            calls.
        enable: Whether the block has an effect. Default: True.
        throw_on_early_termination: Whether all ranks raise as soon as one runs out of inputs.
            Default: False.
        **kwargs: Arguments of every ``join_hook``.

    Raises:
        ValueError: If there are no joinables, or they have different process groups.
        RuntimeError: On all ranks with ``throw_on_early_termination``, if one runs out of inputs.

    Example:
        >>> from tinytorch.distributed.algorithms import Join
        >>> tt.distributed.init_process_group("mpi")
        >>> model = tt.nn.parallel.DistributedDataParallel(tt.nn.Linear(1, 1))
        >>> with Join([model]):
        ...     for x in tt.ones(3, 1, 1):  # as many as this rank has
        ...         model(x).sum().backward()
        >>> Join.notify_join_context(model)  # which a joinable calls itself
        >>> tt.distributed.destroy_process_group()
    """

    def __init__(
        self, joinables: list[Joinable], enable: bool = True,
        throw_on_early_termination: bool = False, **kwargs: Any,
    ) -> None:  # fmt: skip
        if not joinables:
            raise ValueError("The join context manager requires at least one joinable")
        groups = {id(joinable.join_process_group) for joinable in joinables}
        if len(groups) > 1:
            raise ValueError("Using join context manager with multiple process groups")
        self._joinables, self._enable = joinables, enable
        self._throws = throw_on_early_termination
        self._hooks = [joinable.join_hook(**kwargs) for joinable in joinables]
        self._group = joinables[0].join_process_group
        self._device = joinables[0].join_device
        for index, joinable in enumerate(joinables):
            joinable._join_config = JoinConfig(enable, self._throws, index == 0)

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        try:
            if self._enable and kind is None:
                self._shadow()
        finally:
            for joinable in self._joinables:
                joinable._join_config = JoinConfig()

    def _shadow(self) -> None:
        """Shadow iterations while other ranks have inputs, then call the post hooks."""
        is_last = True  # of the ranks to run out of inputs
        while self._count():
            if self._throws:
                all_reduce(ones(1, device=self._device), group=self._group)
                raise RuntimeError(f"Rank {get_rank(self._group)} exhausted all inputs.")
            is_last = False
            for hook in self._hooks:
                hook.main_hook()
        for hook in self._hooks:
            hook.post_hook(is_last)

    def _count(self) -> int:
        """Number of ranks that still have inputs, each of which adds 1 in `notify_join_context`."""
        count = zeros(1, device=self._device)
        all_reduce(count, group=self._group)
        return int(count)

    @staticmethod
    def notify_join_context(joinable: Joinable) -> Work | None:
        """Notify the ranks without inputs that this one has another iteration.

        Args:
            joinable: The caller. Only the call of the block's first joinable has an effect.

        Returns:
            The work that counts the ranks with inputs; None outside a block, and for other
            joinables.

        Raises:
            RuntimeError: With ``throw_on_early_termination``, if a rank has no inputs.
        """
        config = getattr(joinable, "_join_config", JoinConfig())
        if not (config.enable and config.is_first_joinable):
            return None
        device, group = joinable.join_device, joinable.join_process_group
        work = all_reduce(ones(1, device=device), group=group, async_op=True)
        if config.throw_on_early_termination:
            stop = zeros(1, device=device)
            all_reduce(stop, group=group)
            if int(stop):
                raise RuntimeError(_EXHAUSTED)
        return work
