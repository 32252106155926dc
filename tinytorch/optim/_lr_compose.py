"""Schedules that depend on a metric, and schedules composed of other schedules."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from ..warnings import warn
from ._lr_base import (
    EPOCH_DEPRECATION_WARNING,
    LRScheduler,
    assign,
    check_optimizer,
    check_untraced,
    group_values,
)
from .optimizer import Optimizer

__all__ = ["ChainedScheduler", "ReduceLROnPlateau", "SequentialLR"]


class ReduceLROnPlateau(LRScheduler):
    """Schedule that multiplies the rate by ``factor`` when a metric has stopped improving.

    ``step`` takes the metric, such as the validation loss of the epoch.

    Args:
        optimizer: The optimizer whose learning rates are changed.
        mode: ``"min"`` if a smaller metric is better, ``"max"`` if a larger one is. Default:
            ``"min"``.
        factor: The factor, below 1. Default: 0.1.
        patience: Number of epochs without improvement before the rate is reduced. Default: 10.
        threshold: The smallest change that counts as an improvement. Default: 1e-4.
        threshold_mode: Whether ``threshold`` is a share of the best value (``"rel"``) or a
            difference from it (``"abs"``). Default: ``"rel"``.
        cooldown: Number of epochs after a reduction in which bad epochs do not count. Default: 0.
        min_lr: The lowest rate, or a list with one per parameter group. Default: 0.
        eps: The smallest reduction; a smaller one is not made. Default: 1e-8.

    Raises:
        TypeError: If ``optimizer`` is not an ``Optimizer``.
        ValueError: If the factor is 1 or more, or a mode is unknown.

    Example:
        >>> optimizer = tt.optim.SGD([tt.ones(2, requires_grad=True)], lr=8.0)
        >>> scheduler = tt.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=1)
        >>> for loss in [1.0, 0.5, 0.5, 0.5]:
        ...     optimizer.step()
        ...     scheduler.step(loss)
        >>> scheduler.get_last_lr()
        [4.0]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: list[float] | float = 0,
        eps: float = 1e-8,
    ) -> None:
        if factor >= 1.0:
            raise ValueError("Factor should be < 1.0.")
        self.factor = factor
        self.optimizer: Optimizer = check_optimizer(optimizer)
        self.default_min_lr: float | None
        self.min_lrs: list[float]
        count = len(optimizer.param_groups)
        if isinstance(min_lr, (list, tuple)):
            if len(min_lr) != count:
                raise ValueError(f"expected {count} min_lrs, got {len(min_lr)}")
            self.default_min_lr, self.min_lrs = None, list(min_lr)
        else:
            self.default_min_lr, self.min_lrs = min_lr, [min_lr] * count
        self.patience = patience
        self.cooldown = cooldown
        self.eps = eps
        self.last_epoch: int = 0
        self._last_lr = group_values(optimizer, "lr")
        self._init_is_better(mode, threshold, threshold_mode)
        self._reset()

    def _init_is_better(self, mode: str, threshold: float, threshold_mode: str) -> None:
        """Check and store the options of the comparison in ``_is_better``."""
        if mode not in ("min", "max"):
            raise ValueError(f"mode {mode} is unknown!")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError(f"threshold mode {threshold_mode} is unknown!")
        self.mode_worse: float = math.inf if mode == "min" else -math.inf
        self.mode = mode
        self.threshold = threshold
        self.threshold_mode = threshold_mode

    def _reset(self) -> None:
        """Forget the metrics so far."""
        self.best: float = self.mode_worse
        self.cooldown_counter: int = 0
        self.num_bad_epochs: int = 0

    def step(self, metrics: Any, epoch: int | None = None) -> None:  # type: ignore[override]
        """Count the epoch as good or bad, and lower the rates after too many bad epochs.

        Args:
            metrics: The metric, a number or a tensor of one element.
            epoch: Deprecated: the number of this epoch, in place of the next one.
        """
        check_untraced(self.optimizer)
        current = float(metrics)
        if epoch is None:
            epoch = self.last_epoch + 1
        else:
            warn(EPOCH_DEPRECATION_WARNING, UserWarning)
        self.last_epoch = epoch
        if self._is_better(current, self.best):
            self.best = current
            self.num_bad_epochs = 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce_lr()
            self.cooldown_counter = self.cooldown
            self.num_bad_epochs = 0
        self._last_lr = group_values(self.optimizer, "lr")

    def _reduce_lr(self) -> None:
        """Multiply the learning rates by ``factor``, but not below ``min_lr`` of the group."""
        groups = self.optimizer.param_groups
        if len(groups) != len(self.min_lrs):
            if self.default_min_lr is None:
                raise RuntimeError(
                    "The number of param groups in the `optimizer` "
                    f"({len(groups)}) differs from when `ReduceLROnPlateau` was initialized "
                    f"({len(self.min_lrs)}), usually due to a new param group being added to "
                    "the optimizer. Please modify the `min_lrs` field to match the length of "
                    "the `optimizer` param groups."
                )
            self.min_lrs = [self.default_min_lr] * len(groups)
        for group, least in zip(groups, self.min_lrs, strict=True):
            old = float(group["lr"])
            new = max(old * self.factor, least)
            if old - new > self.eps:
                assign(group, "lr", new)

    @property
    def in_cooldown(self) -> bool:
        """Whether the rate was reduced so recently that bad epochs do not count."""
        return self.cooldown_counter > 0

    def _is_better(self, a: float, best: float) -> bool:
        """Whether the metric ``a`` is better than ``best`` by more than the threshold."""
        sign = -1.0 if self.mode == "min" else 1.0
        if self.threshold_mode == "rel":
            limit = best * (1.0 + sign * self.threshold)
        else:
            limit = best + sign * self.threshold
        return a < limit if self.mode == "min" else a > limit

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore the state that ``state_dict`` returned.

        Args:
            state_dict: A dict that ``state_dict()`` returned.
        """
        super().load_state_dict(state_dict)
        self._init_is_better(self.mode, self.threshold, self.threshold_mode)


class _Composition(LRScheduler):
    """Scheduler that is composed of other schedulers."""

    _schedulers: list[LRScheduler]

    def state_dict(self) -> dict[str, Any]:
        """The state as a dict, without the optimizer, with a state for each scheduler.

        Returns:
            The attributes by name; ``_schedulers`` is a list of state dicts.
        """
        state = super().state_dict()
        del state["_schedulers"]
        state["_schedulers"] = [scheduler.state_dict() for scheduler in self._schedulers]
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore the state that ``state_dict`` returned.

        Args:
            state_dict: A dict that ``state_dict()`` returned.
        """
        saved = dict(state_dict)
        for scheduler, state in zip(self._schedulers, saved.pop("_schedulers"), strict=True):
            scheduler.load_state_dict(state)
        super().load_state_dict(saved)

    def _check(self, schedulers: Sequence[Any], optimizer: Any) -> None:
        """Raise for schedulers that cannot be stepped together."""
        name = type(self).__name__
        for i, scheduler in enumerate(schedulers):
            if not hasattr(scheduler, "optimizer"):
                raise TypeError(f"{name} at index {i} should have `optimizer` as its attribute.")
            if isinstance(scheduler, ReduceLROnPlateau):
                raise ValueError(
                    f"{name} does not support `ReduceLROnPlateau` scheduler as it requires "
                    "additional kwargs to be specified when calling `step`, but got one at "
                    f"index {i} in the given schedulers sequence."
                )
            if scheduler.optimizer is not optimizer:
                raise ValueError(
                    f"{name} expects all schedulers to belong to the same optimizer, but got "
                    f"scheduler {type(scheduler).__name__} at index {i} has "
                    f"{scheduler.optimizer}, which is different from "
                    f"{type(optimizer).__name__}."
                )

    def _begin(self) -> None:
        """Repeat the initial step."""
        raise NotImplementedError


def _start_within_sequence(scheduler: LRScheduler) -> None:
    """Start a scheduler in the middle of a ``SequentialLR``.

    Its first learning rates are computed from the initial ones, not from those that the previous
    scheduler left.
    """
    if not isinstance(scheduler, _Composition):
        scheduler._update_lr(0)
        return
    for group in scheduler.optimizer.param_groups:
        assign(group, "lr", group["initial_lr"])
    scheduler._begin()


def _begin(scheduler: LRScheduler) -> None:
    """Repeat the initial step of a scheduler, or of the parts of a composed one."""
    if isinstance(scheduler, _Composition):
        scheduler._begin()
    else:
        scheduler.last_epoch = -1
        scheduler._initial_step()


class ChainedScheduler(_Composition):
    """Schedule that steps several schedulers at every step, each on the rates of the one before.

    Args:
        schedulers: The schedulers, all of one optimizer.
        optimizer: The optimizer. Default: that of the first scheduler.

    Raises:
        ValueError: If there is no scheduler, if the schedulers have different optimizers, or if
            one is a ``ReduceLROnPlateau``, whose ``step`` requires an argument.

    Example:
        >>> from tinytorch.optim.lr_scheduler import ChainedScheduler, ConstantLR, ExponentialLR
        >>> optimizer = tt.optim.SGD([tt.ones(2, requires_grad=True)], lr=8.0)
        >>> warm_up = ConstantLR(optimizer, factor=0.5, total_iters=1)
        >>> scheduler = ChainedScheduler([warm_up, ExponentialLR(optimizer, gamma=0.5)])
        >>> optimizer.step()
        >>> scheduler.step()
        >>> scheduler.get_last_lr()
        [4.0]
    """

    def __init__(
        self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None = None
    ) -> None:
        if len(schedulers) < 1:
            raise ValueError(
                "ChainedScheduler expects at least one scheduler to be chained, but got no "
                "scheduler."
            )
        optimizer = optimizer or getattr(schedulers[0], "optimizer", None)
        self._check(schedulers, optimizer)
        self._schedulers = list(schedulers)
        self.optimizer: Optimizer = check_optimizer(optimizer)
        self._last_lr = group_values(self.optimizer, "lr")

    def step(self) -> None:  # type: ignore[override]
        """Step every scheduler, in order."""
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = group_values(self.optimizer, "lr")

    def _begin(self) -> None:
        """Repeat the initial steps of all schedulers."""
        for scheduler in self._schedulers:
            _begin(scheduler)
        self._last_lr = group_values(self.optimizer, "lr")


class SequentialLR(_Composition):
    """Schedule that runs several schedulers one after the other.

    Args:
        optimizer: The optimizer whose learning rates are changed.
        schedulers: The schedulers, all of ``optimizer``.
        milestones: Epochs at which the second, third, ... scheduler starts. Each scheduler starts
            at its own epoch 0.
        last_epoch: Number of steps made so far, for resuming. Default: -1.

    Raises:
        ValueError: If there is no scheduler, if the schedulers have different optimizers, if one
            is a ``ReduceLROnPlateau``, or unless there is one milestone less than schedulers.

    Example:
        >>> from tinytorch.optim.lr_scheduler import ConstantLR, ExponentialLR, SequentialLR
        >>> optimizer = tt.optim.SGD([tt.ones(2, requires_grad=True)], lr=8.0)
        >>> warm_up = ConstantLR(optimizer, factor=0.5, total_iters=2)
        >>> fall = ExponentialLR(optimizer, gamma=0.5)
        >>> scheduler = SequentialLR(optimizer, [warm_up, fall], milestones=[2])
        >>> rates = []
        >>> for _ in range(4):
        ...     rates += scheduler.get_last_lr()
        ...     optimizer.step()
        ...     scheduler.step()
        >>> rates
        [4.0, 4.0, 8.0, 4.0]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        schedulers: list[LRScheduler],
        milestones: list[int],
        last_epoch: int = -1,
    ) -> None:
        if len(schedulers) < 1:
            raise ValueError("SequentialLR expects at least one scheduler, but got no scheduler.")
        self._check(schedulers, optimizer)
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                "Sequential Schedulers expects number of schedulers provided to be one more "
                "than the number of milestone points, but got number of schedulers "
                f"{len(schedulers)} and the number of milestones to be equal to "
                f"{len(milestones)}"
            )
        self._schedulers = schedulers
        self._milestones = milestones
        self.last_epoch: int = last_epoch + 1
        self.optimizer = optimizer
        self._start_over()
        self._last_lr = schedulers[0].get_last_lr()

    def _start_over(self) -> None:
        """Undo the initial step of every scheduler, and repeat that of the first scheduler."""
        for group in self.optimizer.param_groups:
            assign(group, "lr", group["initial_lr"])
        self.recursive_undo()
        self._schedulers[0]._initial_step()

    def recursive_undo(self, sched: LRScheduler | None = None) -> None:
        """Move every scheduler that is not a composition one step back.

        Args:
            sched: The scheduler to move back. Default: all schedulers of the sequence.

        Example:
            >>> optimizer = tt.optim.SGD([tt.ones(1, requires_grad=True)], lr=1.0)
            >>> schedulers = tt.optim.lr_scheduler
            >>> parts = [schedulers.ConstantLR(optimizer), schedulers.ExponentialLR(optimizer, 0.9)]
            >>> scheduler = schedulers.SequentialLR(optimizer, parts, milestones=[2])
            >>> scheduler.recursive_undo()
            >>> [part.last_epoch for part in parts]
            [-1, -2]
        """
        sched = self if sched is None else sched
        if isinstance(sched, _Composition):
            for part in sched._schedulers:
                self.recursive_undo(part)
        else:
            sched.last_epoch -= 1

    def _begin(self) -> None:
        """Repeat the initial step of the first scheduler."""
        self.last_epoch = 0
        _begin(self._schedulers[0])
        self._last_lr = group_values(self.optimizer, "lr")

    def step(self) -> None:  # type: ignore[override]
        """Step the scheduler of the present epoch."""
        check_untraced(self.optimizer)
        self.last_epoch += 1
        turn = bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[turn]
        if turn > 0 and self._milestones[turn - 1] == self.last_epoch:
            _start_within_sequence(scheduler)
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()
