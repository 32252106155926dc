"""Cyclic schedules: warm restarts, cycles and the one-cycle policy."""

from __future__ import annotations

import functools
import math
import types
from collections.abc import Callable
from typing import Any

from ._lr_base import (
    LRScheduler,
    Schedule,
    assign,
    check_anneal_strategy,
    check_optimizer,
    check_untraced,
    clone_tensor,
    per_group,
)  # fmt: skip
from .optimizer import Optimizer, ParamGroup

__all__ = ["CosineAnnealingWarmRestarts", "CyclicLR", "OneCycleLR"]

_NO_MOMENTUM = "optimizer must support momentum or beta1 with `cycle_momentum` option enabled"


class CosineAnnealingWarmRestarts(Schedule):
    """Schedule whose rate falls to ``eta_min`` along half a cosine, and then restarts.

    Args:
        optimizer: The optimizer whose learning rates are changed.
        T_0: Number of epochs until the first restart.
        T_mult: Factor by which each cycle is longer than the one before. Default: 1.
        eta_min: The lowest learning rate. Default: 0.
        last_epoch: Number of steps made so far, for resuming. Default: -1.

    Raises:
        ValueError: If ``T_0`` or ``T_mult`` is not a positive int, or ``eta_min`` not a number.

    Example:
        >>> optimizer = tt.optim.SGD([tt.ones(2, requires_grad=True)], lr=8.0)
        >>> scheduler = tt.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0=2)
        >>> rates = []
        >>> for _ in range(4):
        ...     rates += scheduler.get_last_lr()
        ...     optimizer.step()
        ...     scheduler.step()
        >>> rates
        [8.0, 4.0, 8.0, 4.0]

    Reference:
        I. Loshchilov, F. Hutter, "SGDR: Stochastic Gradient Descent with Warm Restarts",
        ICLR 2017.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        T_0: int,
        T_mult: int = 1,
        eta_min: float = 0.0,
        last_epoch: int = -1,
    ) -> None:
        if not isinstance(T_0, int) or T_0 <= 0:
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if not isinstance(T_mult, int) or T_mult < 1:
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        if not isinstance(eta_min, (int, float)):
            raise ValueError(
                f"Expected float or int eta_min, but got {eta_min} of type {type(eta_min)}"
            )
        self.T_0 = T_0
        self.T_i: int = T_0
        self.T_mult = T_mult
        self.eta_min = eta_min
        self.T_cur: float = last_epoch
        super().__init__(optimizer, last_epoch)

    def _initial_step(self) -> None:
        self._run_initial_step()

    def _rate(self, index: int, lr: Any, base_lr: Any) -> Any:
        height = 1 + math.cos(math.pi * self.T_cur / self.T_i)
        return self.eta_min + (base_lr - self.eta_min) * height / 2

    def step(self, epoch: float | None = None) -> None:
        """Set the learning rates of the next epoch, or of any point within an epoch.

        Args:
            epoch: The epoch, which may be fractional: ``i + batch / batches`` changes the rate
                from batch to batch. Default: the next epoch.

        Raises:
            ValueError: If ``epoch`` is negative.
        """
        check_untraced(self.optimizer)
        if epoch is None and self.last_epoch >= 0:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur %= self.T_i
                self.T_i *= self.T_mult
        else:
            # This includes the initial step, which SequentialLR undoes and repeats.
            epoch = 0 if epoch is None else epoch
            if epoch < 0:
                raise ValueError(f"Expected non-negative epoch, but got {epoch}")
            self._go_to(epoch)
        # The base class adds one to last_epoch.
        self.last_epoch: int = math.floor(epoch) - 1
        self._update_lr()

    def _go_to(self, epoch: float) -> None:
        """Set ``T_i``, the length of the cycle that contains ``epoch``, and the position in it."""
        if epoch < self.T_0:
            self.T_i, self.T_cur = self.T_0, epoch
        elif self.T_mult == 1:
            self.T_i, self.T_cur = self.T_0, epoch % self.T_0
        else:
            # Cycle n starts after T_0 * (T_mult**n - 1) / (T_mult - 1) epochs.
            n = int(math.log(epoch / self.T_0 * (self.T_mult - 1) + 1, self.T_mult))
            start = self.T_0 * (self.T_mult**n - 1) / (self.T_mult - 1)
            self.T_i, self.T_cur = self.T_0 * self.T_mult**n, epoch - start


class _MomentumCycle(LRScheduler):
    """Base of the schedules that change momentum inversely to the learning rate."""

    cycle_momentum: bool
    use_beta1: bool

    def _find_momentum(self, optimizer: Optimizer) -> None:
        """Record whether the optimizer has ``momentum`` or ``betas``."""
        if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
            raise ValueError(_NO_MOMENTUM)
        self.use_beta1 = "betas" in optimizer.defaults

    def _set_momentum(self, group: ParamGroup, momentum: Any) -> None:
        """Set ``momentum`` of a group, or the first of its ``betas``."""
        if self.use_beta1:
            group["betas"] = (momentum, *group["betas"][1:])
        else:
            group["momentum"] = momentum


class CyclicLR(_MomentumCycle):
    """Schedule whose rate cycles between two values; momentum changes inversely.

    Call ``step`` after every batch.

    Args:
        optimizer: The optimizer whose learning rates are changed.
        base_lr: The lowest rate, or a list with one per parameter group.
        max_lr: The highest rate of the first cycle, or a list.
        step_size_up: Number of steps in which the rate rises. Default: 2000.
        step_size_down: Number of steps in which it falls. Default: ``step_size_up``.
        mode: ``"triangular"``: all cycles have the same height. ``"triangular2"``: each cycle
            has half the height of the one before. ``"exp_range"``: the height is scaled by
            ``gamma**step``.
        gamma: See ``mode``. Default: 1.
        scale_fn: Function from the number of the cycle, or of the step, to the height; replaces
            ``mode``.
        scale_mode: Argument of ``scale_fn``: ``"cycle"`` or ``"iterations"``.
        cycle_momentum: Whether to change the momentum, or Adam's first beta, too. Default: True.
        base_momentum: The lowest momentum, or a list. Default: 0.8.
        max_momentum: The highest momentum, or a list. Default: 0.9.
        last_epoch: Number of steps made so far, for resuming. Default: -1.

    Raises:
        ValueError: If the mode is unknown, if a list has another length than the parameter groups,
            or if ``cycle_momentum`` is set for an optimizer without momentum.

    Example:
        >>> optimizer = tt.optim.SGD([tt.ones(2, requires_grad=True)], lr=1.0, momentum=0.9)
        >>> scheduler = tt.optim.lr_scheduler.CyclicLR(optimizer, 1.0, 3.0, step_size_up=2)
        >>> rates = []
        >>> for _ in range(5):
        ...     rates += scheduler.get_last_lr()
        ...     optimizer.step()
        ...     scheduler.step()
        >>> rates
        [1.0, 2.0, 3.0, 2.0, 1.0]

    Reference:
        L. N. Smith, "Cyclical Learning Rates for Training Neural Networks", WACV 2017.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: float | list[float],
        max_lr: float | list[float],
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle",
        cycle_momentum: bool = True,
        base_momentum: float | list[float] = 0.8,
        max_momentum: float | list[float] = 0.9,
        last_epoch: int = -1,
    ) -> None:
        self.optimizer: Optimizer = check_optimizer(optimizer)
        base_lrs = per_group("base_lr", base_lr, optimizer)
        if last_epoch == -1:
            for group, lr in zip(optimizer.param_groups, base_lrs, strict=True):
                assign(group, "lr", lr)
        self.max_lrs: list[Any] = per_group("max_lr", max_lr, optimizer)
        down = step_size_up if step_size_down is None else step_size_down
        self.total_size: float = float(step_size_up) + float(down)
        self.step_ratio: float = float(step_size_up) / self.total_size
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        self.mode = mode
        self.gamma = gamma
        self._scale_fn_custom = scale_fn
        self.scale_mode: str = scale_mode
        self._init_scale_fn()
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._find_momentum(optimizer)
            self.base_momentums: list[Any] = per_group("base_momentum", base_momentum, optimizer)
            self.max_momentums: list[Any] = per_group("max_momentum", max_momentum, optimizer)
            if last_epoch == -1:
                self._start_momentum()
        super().__init__(optimizer, last_epoch)
        self.base_lrs = base_lrs

    def _start_momentum(self) -> None:
        """Store both limits of the momentum in each group, and start at the upper one."""
        limits = zip(self.max_momentums, self.base_momentums, strict=True)
        for group, (top, low) in zip(self.optimizer.param_groups, limits, strict=True):
            self._set_momentum(group, top)
            group["max_momentum"] = top
            group["base_momentum"] = low

    def _init_scale_fn(self) -> None:
        """Set ``scale_mode`` for a built-in ``scale_fn``; called by ``__init__``."""
        if self._scale_fn_custom is None:
            self.scale_mode = "iterations" if self.mode == "exp_range" else "cycle"

    def scale_fn(self, x: float) -> float:
        """The height of a cycle relative to the first cycle.

        Example:
            >>> optimizer = tt.optim.SGD([tt.ones(1, requires_grad=True)], lr=1.0)
            >>> schedulers = tt.optim.lr_scheduler
            >>> schedulers.CyclicLR(optimizer, 0.1, 1.0, mode="triangular2").scale_fn(3)
            0.25
        """
        scale_fn: Any = self._scale_fn_custom or self._scale_fn_ref
        return scale_fn(x)  # type: ignore[no-any-return]

    @property
    def _scale_fn_ref(self) -> Callable[[float], float] | None:
        """Built-in function of the mode; None if ``scale_fn`` was passed."""
        if self._scale_fn_custom is not None:
            return None
        if self.mode == "triangular":
            return self._triangular_scale_fn
        if self.mode == "triangular2":
            return self._triangular2_scale_fn
        return functools.partial(self._exp_range_scale_fn, self.gamma)

    @staticmethod
    def _triangular_scale_fn(x: float) -> float:
        return 1.0

    @staticmethod
    def _triangular2_scale_fn(x: float) -> float:
        return float(1 / 2.0 ** (x - 1))

    @staticmethod
    def _exp_range_scale_fn(gamma: float, x: float) -> float:
        return float(gamma**x)

    def get_lr(self) -> list[Any]:
        """Learning rates of the next step; also sets the momentum."""
        self._warn_outside_step()
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        share = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)
        scale = self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            limits = zip(self.base_momentums, self.max_momentums, strict=True)
            for group, (low, top) in zip(self.optimizer.param_groups, limits, strict=True):
                self._set_momentum(group, top - (top - low) * share * scale)
        return [
            low + (top - low) * share * scale
            for low, top in zip(self.base_lrs, self.max_lrs, strict=True)
        ]

    def state_dict(self) -> dict[str, Any]:
        """The state as a dict, without the optimizer; ``scale_fn`` as its attributes, if any.

        Returns:
            The attributes by name.
        """
        state = super().state_dict()
        fn = state.pop("_scale_fn_custom")
        is_function = fn is None or isinstance(fn, types.FunctionType)
        state["_scale_fn_custom"] = None if is_function else fn.__dict__.copy()
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore the state that ``state_dict`` returned; a function ``scale_fn`` stays unchanged.

        Args:
            state_dict: A dict that ``state_dict()`` returned.
        """
        saved = dict(state_dict)
        attributes = saved.pop("_scale_fn_custom")
        if attributes is not None and self._scale_fn_custom is not None:
            self._scale_fn_custom.__dict__.update(attributes)
        super().load_state_dict(saved)


class OneCycleLR(_MomentumCycle):
    """Schedule of one cycle: the rate rises to ``max_lr`` and falls far below its initial value.

    Call ``step`` after every batch.

    Args:
        optimizer: The optimizer whose learning rates are changed.
        max_lr: The highest rate, or a list with one per parameter group.
        total_steps: Number of steps of the cycle. Default: ``epochs * steps_per_epoch``.
        epochs: Number of epochs of the cycle.
        steps_per_epoch: Number of batches of an epoch.
        pct_start: Share of the steps in which the rate rises. Default: 0.3.
        anneal_strategy: ``"cos"`` or ``"linear"``. Default: ``"cos"``.
        cycle_momentum: Whether to change the momentum, or Adam's first beta, inversely to the
            rate. Default: True.
        base_momentum: The lowest momentum, or a list. Default: 0.85.
        max_momentum: The highest momentum, or a list. Default: 0.95.
        div_factor: The initial rate is ``max_lr / div_factor``. Default: 25.
        final_div_factor: The final rate is the initial rate divided by this. Default: 1e4.
        three_phase: Whether the rate falls to the initial rate in as many steps as it rose, and
            then to the final rate. Default: False.
        last_epoch: Number of steps made so far, for resuming. Default: -1.

    Raises:
        ValueError: If an argument is out of range or missing, if ``cycle_momentum`` is set for an
            optimizer without momentum, or if ``step`` is called more often than the cycle allows.

    Example:
        >>> optimizer = tt.optim.SGD([tt.ones(2, requires_grad=True)], lr=1.0, momentum=0.9)
        >>> scheduler = tt.optim.lr_scheduler.OneCycleLR(
        ...     optimizer, max_lr=5.0, total_steps=5, pct_start=0.6, anneal_strategy="linear",
        ...     div_factor=5, final_div_factor=1)
        >>> rates = []
        >>> for _ in range(4):
        ...     rates += scheduler.get_last_lr()
        ...     optimizer.step()
        ...     scheduler.step()
        >>> rates
        [1.0, 3.0, 5.0, 3.0]

    Reference:
        L. N. Smith, N. Topin, "Super-Convergence: Very Fast Training of Neural Networks
        Using Large Learning Rates", 2017, arXiv:1708.07120.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: float | list[float],
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        cycle_momentum: bool = True,
        base_momentum: float | list[float] = 0.85,
        max_momentum: float | list[float] = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        self.optimizer: Optimizer = check_optimizer(optimizer)
        self.total_steps: int = _cycle_length(total_steps, epochs, steps_per_epoch)
        if not (isinstance(pct_start, float) and 0 <= pct_start <= 1):
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        self._schedule_phases = _phases(self.total_steps, pct_start, three_phase)
        check_anneal_strategy(anneal_strategy)
        self._anneal_func_type = anneal_strategy
        max_lrs = per_group("max_lr", max_lr, optimizer)
        if last_epoch == -1:
            for group, lr in zip(optimizer.param_groups, max_lrs, strict=True):
                group["initial_lr"] = lr / div_factor
                group["max_lr"] = lr
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._find_momentum(optimizer)
            if last_epoch == -1:
                self._start_momentum(base_momentum, max_momentum)
        super().__init__(optimizer, last_epoch)

    def _start_momentum(self, base_momentum: Any, max_momentum: Any) -> None:
        """Store both limits of the momentum in each group, and start at the upper one.

        Both arguments are a number, or a list of one number per group.
        """
        lows = per_group("base_momentum", base_momentum, self.optimizer)
        tops = per_group("max_momentum", max_momentum, self.optimizer)
        for group, low, top in zip(self.optimizer.param_groups, lows, tops, strict=True):
            self._set_momentum(group, top)
            group["max_momentum"] = top
            group["base_momentum"] = low

    def _anneal_func(self, start: Any, end: Any, pct: float) -> Any:
        """Interpolate between ``start`` and ``end`` by the strategy; called by ``get_lr``."""
        if self._anneal_func_type == "linear":
            return self._annealing_linear(start, end, pct)
        return self._annealing_cos(start, end, pct)

    @staticmethod
    def _annealing_cos(start: Any, end: Any, pct: float) -> Any:
        return end + (start - end) / 2.0 * (math.cos(math.pi * pct) + 1)

    @staticmethod
    def _annealing_linear(start: Any, end: Any, pct: float) -> Any:
        return (end - start) * pct + start

    def get_lr(self) -> list[Any]:
        """Learning rates of the next step; also sets the momentum."""
        self._warn_outside_step()
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(
                f"Tried to step {step} times. The specified number of total steps is "
                f"{self.total_steps}"
            )
        start = 0.0
        phases = iter(self._schedule_phases)
        phase = next(phases)
        while step > phase["end_step"] and phase is not self._schedule_phases[-1]:
            start = phase["end_step"]
            phase = next(phases)
        share = (step - start) / (phase["end_step"] - start)
        if self.cycle_momentum:
            for group in self.optimizer.param_groups:
                first, last = group[phase["start_momentum"]], group[phase["end_momentum"]]
                self._set_momentum(group, self._anneal_func(first, last, share))
        return [
            self._anneal_func(clone_tensor(group[phase["start_lr"]]), group[phase["end_lr"]], share)
            for group in self.optimizer.param_groups
        ]


def _cycle_length(total_steps: int | None, epochs: int | None, steps_per_epoch: int | None) -> int:
    """Return the number of steps of ``OneCycleLR``, given directly or as epochs times steps."""

    def check_positive(name: str, value: Any) -> int:
        if not isinstance(value, int) or value <= 0:
            raise ValueError(f"Expected positive integer {name}, but got {value}")
        return value

    if total_steps is not None:
        return check_positive("total_steps", total_steps)
    if epochs is None or steps_per_epoch is None:
        raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
    return check_positive("epochs", epochs) * check_positive("steps_per_epoch", steps_per_epoch)


def _phases(total_steps: int, pct_start: float, three_phase: bool) -> list[dict[str, Any]]:
    """Return the phases of ``OneCycleLR`` in their order.

    Each is a dict of ``end_step``, its last step, and the keys of the values in a parameter group
    between which the learning rate and the momentum move. The first phase raises the learning rate.
    With ``three_phase`` the second one mirrors it, otherwise it falls in one phase.
    """
    rise_end = float(pct_start * total_steps) - 1
    phases = [(rise_end, "initial_lr", "max_lr", "max_momentum", "base_momentum")]
    last = total_steps - 1
    if three_phase:
        fall_end = float(2 * pct_start * total_steps) - 2
        phases.append((fall_end, "max_lr", "initial_lr", "base_momentum", "max_momentum"))
        phases.append((last, "initial_lr", "min_lr", "max_momentum", "max_momentum"))
    else:
        phases.append((last, "max_lr", "min_lr", "base_momentum", "max_momentum"))
    keys = ("end_step", "start_lr", "end_lr", "start_momentum", "end_momentum")
    return [dict(zip(keys, phase, strict=True)) for phase in phases]
