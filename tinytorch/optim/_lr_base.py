"""Base classes of the learning-rate schedulers, and schedules that depend on the epoch."""

from __future__ import annotations

import functools
import math
import types
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Self, TypeVar, cast

from ..backends.base import Backend
from ..core.tensor import Tensor
from ..state import current_backend
from ..state.tracebacks import ShortTracebacks
from ..warnings import warn
from .optimizer import Optimizer, ParamGroup

__all__ = [
    "ClosedForm",
    "ConstantLR",
    "CosineAnnealingLR",
    "EPOCH_DEPRECATION_WARNING",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "MultiplicativeLR",
    "PolynomialLR",
    "Schedule",
    "StepLR",
]

EPOCH_DEPRECATION_WARNING = (
    "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated "
    "where possible. Please use `scheduler.step()` to step the scheduler. During the "
    "deprecation, if epoch is different from None, the closed form is used instead of the "
    "new chainable form, where available. Please open an issue if you are unable to "
    "replicate your use case: https://github.com/pytorch/pytorch/issues/new/choose."
)
_SEE = "See more details at https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"
_OVERRIDDEN = (
    "Seems like `optimizer.step()` has been overridden after learning rate scheduler "
    "initialization. Please, make sure to call `optimizer.step()` before "
    f"`lr_scheduler.step()`. {_SEE}"
)
_WRONG_ORDER = (
    "Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch 1.1.0 and "
    "later, you should call them in the opposite order: `optimizer.step()` before "
    "`lr_scheduler.step()`.  Failure to do this will result in PyTorch skipping the first "
    f"value of the learning rate schedule. {_SEE}"
)
_RESUMING = (
    "param 'initial_lr' is not specified in param_groups[{index}] when resuming scheduler with "
    "last_epoch >= 0.\nThis typically happens when:\n1. You're trying to resume training from "
    "a checkpoint but haven't properly loaded the optimizer state\n2. You're using last_epoch "
    ">= 0 for a fresh training run (not recommended)"
)


def _has_tensor(args: tuple[Any, ...]) -> bool:
    return any(isinstance(arg, Tensor) for arg in args)


_Step = TypeVar("_Step", bound=Callable[..., None])


def run_outside_recording(step: _Step) -> _Step:
    """Return a ``step`` that ``tt.compile`` does not record: each replay calls it.

    A step that reads a tensor is recorded, which is a break.
    """

    @functools.wraps(step)
    def step_outside(self: LRScheduler, *args: Any, **kwargs: Any) -> None:
        backend = current_backend() if Backend.recordings else None
        if backend is None or backend.recorded is None or _has_tensor(args):
            step(self, *args, **kwargs)
        else:
            backend.act(self, functools.partial(step, self, *args, **kwargs))

    return cast("_Step", step_outside)


class _enable_get_lr_call:
    """Scope of a step, in which ``get_lr`` of the scheduler ``o`` does not warn."""

    def __init__(self, o: LRScheduler) -> None:
        self.o = o

    def __enter__(self) -> Self:
        self.o._get_lr_called_within_step = True
        return self

    def __exit__(self, *error: object) -> None:
        self.o._get_lr_called_within_step = False


class LRScheduler(ShortTracebacks):
    """Base class of the schedulers: a subclass defines ``get_lr``.

    Call ``step`` after ``optimizer.step``, once per epoch or once per batch, depending on the
    schedule. ``step`` advances ``last_epoch`` and sets the learning rate of each parameter group
    to the value that ``get_lr`` returns for it.

    Args:
        optimizer: The optimizer whose learning rates are changed.
        last_epoch: Number of steps made so far, for resuming. In that case each of the optimizer's
            groups must have the ``initial_lr`` of the earlier scheduler. Default: -1, which starts
            at the beginning.

    Attributes:
        base_lrs: The initial learning rates of the groups.
        last_epoch: Number of steps made so far.

    Raises:
        TypeError: If ``optimizer`` is not an ``Optimizer``.
        KeyError: If a group has no ``initial_lr`` when resuming.

    Example:
        >>> class Halve(tt.optim.lr_scheduler.LRScheduler):
        ...     def get_lr(self):
        ...         return [lr / 2**self.last_epoch for lr in self.base_lrs]
        >>> optimizer = tt.optim.SGD([tt.ones(2, requires_grad=True)], lr=8.0)
        >>> scheduler = Halve(optimizer)
        >>> optimizer.step()
        >>> scheduler.step()
        >>> scheduler.get_last_lr()
        [4.0]
    """

    base_lrs: list[Any]
    _last_lr: list[Any]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "step" in vars(cls):
            cls.step = run_outside_recording(vars(cls)["step"])  # type: ignore[method-assign]

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        self.optimizer: Optimizer = check_optimizer(optimizer)
        for index, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", clone_tensor(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(_RESUMING.format(index=index))
        self.base_lrs = group_values(optimizer, "initial_lr")
        self.last_epoch: int = last_epoch
        optimizer._opt_called = False
        self._step_count = 0
        self._is_initial = False
        self._get_lr_called_within_step = False
        self._initial_step()

    #: Whether ``step`` is running, and whether ``__init__`` has called it.
    _get_lr_called_within_step: bool = False
    _is_initial: bool = False

    def _initial_step(self) -> None:
        """Set the learning rates of the first epoch; ``__init__`` calls it."""
        self._step_count = 0
        self._run_initial_step()

    def _run_initial_step(self) -> None:
        """Call ``step`` with ``_is_initial`` set."""
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def state_dict(self) -> dict[str, Any]:
        """The scheduler's state as a dict, without the optimizer.

        Returns:
            The attributes by name.

        Example:
            >>> optimizer = tt.optim.SGD([tt.ones(2, requires_grad=True)], lr=8.0)
            >>> tt.optim.lr_scheduler.StepLR(optimizer, 3).state_dict()["last_epoch"]
            0
        """
        return {key: value for key, value in self.__dict__.items() if key != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore the state that ``state_dict`` returned; restore the optimizer's separately.

        Args:
            state_dict: A dict that ``state_dict()`` returned.

        Example:
            >>> optimizer = tt.optim.SGD([tt.ones(2, requires_grad=True)], lr=8.0)
            >>> scheduler = tt.optim.lr_scheduler.StepLR(optimizer, 3)
            >>> scheduler.load_state_dict({"last_epoch": 7})
            >>> scheduler.last_epoch
            7
        """
        self.__dict__.update(state_dict)

    def get_last_lr(self) -> list[Any]:
        """Learning rates that the last step set, one per parameter group."""
        return self._last_lr

    def get_lr(self) -> list[Any]:
        """Learning rates of the next step, one per parameter group; called by ``step``.

        Raises:
            NotImplementedError: Always, in the base class; a subclass overrides the method.
        """
        raise NotImplementedError

    @run_outside_recording
    def step(self, epoch: int | None = None) -> None:
        """Set the learning rates of the next epoch (or batch).

        Args:
            epoch: Deprecated: the epoch whose learning rates are set, in place of the next one.
        """
        check_untraced(self.optimizer)
        if self._step_count == 1:
            self._check_order()
        self._step_count += 1
        if epoch is not None:
            warn(EPOCH_DEPRECATION_WARNING, UserWarning)
        self._update_lr(epoch)

    def _check_order(self) -> None:
        """Warn if the optimizer has not stepped before the first ``step`` of the scheduler."""
        if "step" in vars(self.optimizer):
            warn(_OVERRIDDEN, UserWarning)
        elif not self.optimizer._opt_called:
            warn(_WRONG_ORDER, UserWarning)

    def _update_lr(self, epoch: int | None = None) -> None:
        """Set the learning rates of the next epoch, or of ``epoch`` if it is given.

        For a given epoch, the closed form of the schedule is used if it has one.
        """
        closed_form = getattr(self, "_get_closed_form_lr", None)
        with _enable_get_lr_call(self):
            if epoch is None:
                self.last_epoch += 1
                rates = self.get_lr()
            else:
                self.last_epoch = epoch
                rates = self.get_lr() if closed_form is None else closed_form()
        for group, rate in zip(self.optimizer.param_groups, rates, strict=False):
            assign(group, "lr", rate)
        self._last_lr = group_values(self.optimizer, "lr")

    def _warn_outside_step(self) -> None:
        """Warn if ``get_lr`` is called by other code than ``step``."""
        if not self._get_lr_called_within_step:
            warn(
                "To get the last learning rate computed by the scheduler, please use "
                "`get_last_lr()`.",
                UserWarning,
            )


class Schedule(LRScheduler):
    """Scheduler that computes each group's learning rate from its present one.

    Because it starts from the present rate rather than from the initial one, several schedulers
    can change the rates of one optimizer.
    """

    def get_lr(self) -> list[Any]:
        """Learning rates of the next step, one per parameter group; called by ``step``."""
        self._warn_outside_step()
        groups = zip(self.optimizer.param_groups, self.base_lrs, strict=False)
        return [self._rate(i, group["lr"], base) for i, (group, base) in enumerate(groups)]

    def _rate(self, index: int, lr: Any, base_lr: Any) -> Any:
        """The next learning rate of one parameter group.

        Args:
            index: The index of the group.
            lr: Its present learning rate.
            base_lr: Its initial learning rate.
        """
        raise NotImplementedError


class ClosedForm(Schedule):
    """Schedule that also has a formula for the learning rate at any epoch."""

    def _get_closed_form_lr(self) -> list[Any]:
        return [self._closed_rate(base) for base in self.base_lrs]

    def _closed_rate(self, base_lr: Any) -> Any:
        """The rate at epoch ``last_epoch`` of a group, given its initial learning rate."""
        raise NotImplementedError


def check_optimizer(optimizer: Any) -> Optimizer:
    """Return ``optimizer``; raise TypeError if it is not an ``Optimizer``."""
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
    return optimizer


def check_untraced(optimizer: Optimizer) -> None:
    """Raise RuntimeError if a scheduler steps in a function that the library traces."""
    for group in optimizer.param_groups[:1]:
        for p in group["params"][:1]:
            p._xp.check_not_compiling("a scheduler of learning rates steps")


def check_anneal_strategy(strategy: str) -> None:
    """Raise ValueError for an unknown annealing strategy."""
    if strategy not in ("cos", "linear"):
        raise ValueError(
            f"anneal_strategy must be one of 'cos' or 'linear', instead got {strategy}"
        )


def clone_tensor(value: Any) -> Any:
    """Clone a tensor, since ``assign`` changes it in place; return other values unchanged."""
    return value.clone() if isinstance(value, Tensor) else value


def group_values(optimizer: Optimizer, name: str) -> list[Any]:
    """Values of a hyperparameter, one per parameter group."""
    return [clone_tensor(group[name]) for group in optimizer.param_groups]


def assign(group: ParamGroup, name: str, value: Any) -> None:
    """Set a hyperparameter; a tensor is filled in place and stays the same object."""
    if isinstance(group[name], Tensor):
        value = value.item() if isinstance(value, Tensor) else value
        group[name].fill_(value)
    else:
        group[name] = value


def per_group(name: str, value: Any, optimizer: Optimizer) -> list[Any]:
    """Return one value of the hyperparameter ``name`` per parameter group.

    ``value`` is a single value for all groups, or a list or tuple of one value per group.
    """
    count = len(optimizer.param_groups)
    if not isinstance(value, (list, tuple)):
        return [value] * count
    if len(value) != count:
        raise ValueError(
            f"{name} must have the same length as optimizer.param_groups. {name} has "
            f"{len(value)} values, param_groups has {count}."
        )
    return list(value)


LRLambda = Callable[[int], float]


class _FunctionSchedule(Schedule):
    """Schedule that the user's function computes, or one function per parameter group."""

    def __init__(
        self, optimizer: Optimizer, lr_lambda: LRLambda | Sequence[LRLambda], last_epoch: int = -1
    ) -> None:
        self.optimizer = optimizer
        count = len(optimizer.param_groups)
        if isinstance(lr_lambda, (list, tuple)):
            if len(lr_lambda) != count:
                raise ValueError(f"Expected {count} lr_lambdas, but got {len(lr_lambda)}")
            self.lr_lambdas: list[Any] = list(lr_lambda)
        else:
            self.lr_lambdas = [lr_lambda] * count
        super().__init__(optimizer, last_epoch)

    def state_dict(self) -> dict[str, Any]:
        """The scheduler's state as a dict, without the optimizer and the functions.

        The attributes of a callable object are saved. A function is replaced by None, because it
        could not be unpickled.

        Returns:
            The attributes by name.
        """
        state = super().state_dict()
        del state["lr_lambdas"]
        state["lr_lambdas"] = [
            None if isinstance(fn, types.FunctionType) else fn.__dict__.copy()
            for fn in self.lr_lambdas
        ]
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore the state that ``state_dict`` returned; functions stay unchanged.

        Args:
            state_dict: A dict that ``state_dict()`` returned.
        """
        saved = dict(state_dict)
        for fn, attributes in zip(self.lr_lambdas, saved.pop("lr_lambdas"), strict=True):
            if attributes is not None:
                fn.__dict__.update(attributes)
        super().load_state_dict(saved)


class LambdaLR(_FunctionSchedule):
    """Schedule: the initial learning rate times a function of the epoch.

    Args:
        optimizer: The optimizer whose learning rates are changed.
        lr_lambda: Function from the epoch to the factor, or a list of one per parameter group.
        last_epoch: Number of steps made so far, for resuming. Default: -1.

    Raises:
        ValueError: If the list has another length than the parameter groups.

    Example:
        >>> optimizer = tt.optim.SGD([tt.ones(2, requires_grad=True)], lr=8.0)
        >>> scheduler = tt.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 1 / (1 + epoch))
        >>> optimizer.step()
        >>> scheduler.step()
        >>> scheduler.get_last_lr()
        [4.0]
    """

    def _rate(self, index: int, lr: Any, base_lr: Any) -> Any:
        return base_lr * self.lr_lambdas[index](self.last_epoch)


class MultiplicativeLR(_FunctionSchedule):
    """Schedule that multiplies the learning rate by a function of the epoch, at every step.

    Args:
        optimizer: The optimizer whose learning rates are changed.
        lr_lambda: Function from the epoch to the factor, or a list of one per parameter group.
        last_epoch: Number of steps made so far, for resuming. Default: -1.

    Raises:
        ValueError: If the list has another length than the parameter groups.

    Example:
        >>> optimizer = tt.optim.SGD([tt.ones(2, requires_grad=True)], lr=8.0)
        >>> scheduler = tt.optim.lr_scheduler.MultiplicativeLR(optimizer, lambda epoch: 0.5)
        >>> for _ in range(2):
        ...     optimizer.step()
        ...     scheduler.step()
        >>> scheduler.get_last_lr()
        [2.0]
    """

    def _rate(self, index: int, lr: Any, base_lr: Any) -> Any:
        return lr if self._is_initial else lr * self.lr_lambdas[index](self.last_epoch)


class StepLR(ClosedForm):
    """Schedule that multiplies the learning rate by ``gamma`` every ``step_size`` epochs.

    Args:
        optimizer: The optimizer whose learning rates are changed.
        step_size: Number of epochs between two changes.
        gamma: The factor. Default: 0.1.
        last_epoch: Number of steps made so far, for resuming. Default: -1.

    Example:
        >>> optimizer = tt.optim.SGD([tt.ones(2, requires_grad=True)], lr=8.0)
        >>> scheduler = tt.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)
        >>> for _ in range(5):
        ...     optimizer.step()
        ...     scheduler.step()
        >>> scheduler.get_last_lr()
        [2.0]
    """

    def __init__(
        self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.step_size = step_size
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _rate(self, index: int, lr: Any, base_lr: Any) -> Any:
        if self.last_epoch == 0 or self.last_epoch % self.step_size != 0:
            return lr
        return lr * self.gamma

    def _closed_rate(self, base_lr: Any) -> Any:
        return base_lr * self.gamma ** (self.last_epoch // self.step_size)


class MultiStepLR(ClosedForm):
    """Schedule that multiplies the learning rate by ``gamma`` at each of the milestones.

    Args:
        optimizer: The optimizer whose learning rates are changed.
        milestones: The epochs. An epoch that is listed twice counts twice.
        gamma: The factor. Default: 0.1.
        last_epoch: Number of steps made so far, for resuming. Default: -1.

    Example:
        >>> optimizer = tt.optim.SGD([tt.ones(2, requires_grad=True)], lr=8.0)
        >>> scheduler = tt.optim.lr_scheduler.MultiStepLR(optimizer, [1, 3], gamma=0.5)
        >>> for _ in range(3):
        ...     optimizer.step()
        ...     scheduler.step()
        >>> scheduler.get_last_lr()
        [2.0]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        milestones: Iterable[int],
        gamma: float = 0.1,
        last_epoch: int = -1,
    ) -> None:
        self.milestones: Counter[int] = Counter(milestones)
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _rate(self, index: int, lr: Any, base_lr: Any) -> Any:
        times = self.milestones.get(self.last_epoch)
        return lr if times is None else lr * self.gamma**times

    def _closed_rate(self, base_lr: Any) -> Any:
        passed = sum(n for epoch, n in self.milestones.items() if epoch <= self.last_epoch)
        return base_lr * self.gamma**passed


class ConstantLR(ClosedForm):
    """Schedule that multiplies the learning rate by ``factor`` until epoch ``total_iters``.

    Args:
        optimizer: The optimizer whose learning rates are changed.
        factor: The factor, from 0 to 1. Default: 1/3.
        total_iters: Number of epochs with the factor; then the initial rate returns. Default: 5.
        last_epoch: Number of steps made so far, for resuming. Default: -1.

    Raises:
        ValueError: If ``factor`` is not between 0 and 1.

    Example:
        >>> optimizer = tt.optim.SGD([tt.ones(2, requires_grad=True)], lr=8.0)
        >>> scheduler = tt.optim.lr_scheduler.ConstantLR(optimizer, factor=0.5)
        >>> scheduler.get_last_lr()
        [4.0]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        factor: float = 1.0 / 3,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if not 0 <= factor <= 1.0:
            raise ValueError("Constant multiplicative factor expected to be between 0 and 1.")
        self.factor = factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def _rate(self, index: int, lr: Any, base_lr: Any) -> Any:
        if self.last_epoch == 0:
            return lr * self.factor
        return lr if self.last_epoch != self.total_iters else lr * (1.0 / self.factor)

    def _closed_rate(self, base_lr: Any) -> Any:
        return base_lr * (self.factor if self.last_epoch < self.total_iters else 1)


class LinearLR(ClosedForm):
    """Schedule that multiplies the learning rate by a factor that changes linearly.

    Args:
        optimizer: The optimizer whose learning rates are changed.
        start_factor: The factor at the start, above 0 and up to 1. Default: 1/3.
        end_factor: The factor from epoch ``total_iters`` on, from 0 to 1. Default: 1.
        total_iters: Number of epochs in which the factor changes. Default: 5.
        last_epoch: Number of steps made so far, for resuming. Default: -1.

    Raises:
        ValueError: If a factor is out of range.

    Example:
        >>> optimizer = tt.optim.SGD([tt.ones(2, requires_grad=True)], lr=8.0)
        >>> scheduler = tt.optim.lr_scheduler.LinearLR(optimizer, 0.5, total_iters=2)
        >>> optimizer.step()
        >>> scheduler.step()
        >>> scheduler.get_last_lr()
        [6.0]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if not 0 < start_factor <= 1.0:
            raise ValueError(
                "Starting multiplicative factor expected to be greater than 0 and less or "
                "equal to 1."
            )
        if not 0 <= end_factor <= 1.0:
            raise ValueError("Ending multiplicative factor expected to be between 0 and 1.")
        self.start_factor = start_factor
        self.end_factor = end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def _rate(self, index: int, lr: Any, base_lr: Any) -> Any:
        if self.last_epoch == 0:
            return lr * self.start_factor
        if self._is_initial or self.last_epoch > self.total_iters:
            return lr
        # The ratio of two successive factors, which are linear in the epoch.
        rise = self.end_factor - self.start_factor
        before = self.total_iters * self.start_factor + (self.last_epoch - 1) * rise
        return lr * (1.0 + rise / before)

    def _closed_rate(self, base_lr: Any) -> Any:
        done = min(self.total_iters, self.last_epoch) / self.total_iters
        return base_lr * (self.start_factor + (self.end_factor - self.start_factor) * done)


class ExponentialLR(ClosedForm):
    """Schedule that multiplies the learning rate by ``gamma`` at every epoch.

    Args:
        optimizer: The optimizer whose learning rates are changed.
        gamma: The factor.
        last_epoch: Number of steps made so far, for resuming. Default: -1.

    Example:
        >>> optimizer = tt.optim.SGD([tt.ones(2, requires_grad=True)], lr=8.0)
        >>> scheduler = tt.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5)
        >>> optimizer.step()
        >>> scheduler.step()
        >>> scheduler.get_last_lr()
        [4.0]
    """

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _rate(self, index: int, lr: Any, base_lr: Any) -> Any:
        return lr if self._is_initial else lr * self.gamma

    def _closed_rate(self, base_lr: Any) -> Any:
        return base_lr * self.gamma**self.last_epoch


class PolynomialLR(ClosedForm):
    """Schedule whose learning rate falls to 0 as a power of the remaining epochs.

    Args:
        optimizer: The optimizer whose learning rates are changed.
        total_iters: Number of epochs until the rate is 0. Default: 5.
        power: The power. Default: 1.
        last_epoch: Number of steps made so far, for resuming. Default: -1.

    Example:
        >>> optimizer = tt.optim.SGD([tt.ones(2, requires_grad=True)], lr=8.0)
        >>> scheduler = tt.optim.lr_scheduler.PolynomialLR(optimizer, total_iters=4)
        >>> optimizer.step()
        >>> scheduler.step()
        >>> scheduler.get_last_lr()
        [6.0]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        total_iters: int = 5,
        power: float = 1.0,
        last_epoch: int = -1,
    ) -> None:
        self.total_iters = total_iters
        self.power = power
        super().__init__(optimizer, last_epoch)

    def _rate(self, index: int, lr: Any, base_lr: Any) -> Any:
        if self._is_initial or self.last_epoch > self.total_iters:
            return lr
        # The bases of the present and of the previous power, whose ratio changes the rate.
        left = 1.0 - self.last_epoch / self.total_iters
        before = 1.0 - (self.last_epoch - 1) / self.total_iters
        return lr * (left / before) ** self.power

    def _closed_rate(self, base_lr: Any) -> Any:
        done = min(self.total_iters, self.last_epoch) / self.total_iters
        return base_lr * (1.0 - done) ** self.power


class CosineAnnealingLR(ClosedForm):
    """Schedule whose rate falls to ``eta_min`` along half a cosine, and then rises again.

    Args:
        optimizer: The optimizer whose learning rates are changed.
        T_max: Number of epochs until the minimum.
        eta_min: The lowest learning rate. Default: 0.
        last_epoch: Number of steps made so far, for resuming. Default: -1.

    Example:
        >>> optimizer = tt.optim.SGD([tt.ones(2, requires_grad=True)], lr=8.0)
        >>> scheduler = tt.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=2)
        >>> optimizer.step()
        >>> scheduler.step()
        >>> scheduler.get_last_lr()
        [4.0]

    Reference:
        I. Loshchilov, F. Hutter, "SGDR: Stochastic Gradient Descent with Warm Restarts",
        ICLR 2017.
    """

    def __init__(
        self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None:
        self.T_max = T_max
        self.eta_min = eta_min
        super().__init__(optimizer, last_epoch)

    def _cosine(self, epoch: int) -> float:
        """A number from 2 to 0 to which the rate's distance from ``eta_min`` is proportional."""
        return 1 + math.cos(math.pi * epoch / self.T_max)

    def _rate(self, index: int, lr: Any, base_lr: Any) -> Any:
        if self._is_initial:
            return lr
        if self._step_count == 1 and self.last_epoch > 0:
            return self._closed_rate(base_lr)
        if (self.last_epoch - 1 - self.T_max) % (2 * self.T_max) == 0:
            # The rate is at its minimum, so the ratio below would divide by zero.
            return lr + (base_lr - self.eta_min) * (1 - math.cos(math.pi / self.T_max)) / 2
        ratio = self._cosine(self.last_epoch) / self._cosine(self.last_epoch - 1)
        return ratio * (lr - self.eta_min) + self.eta_min

    def _closed_rate(self, base_lr: Any) -> Any:
        return self.eta_min + (base_lr - self.eta_min) * self._cosine(self.last_epoch) / 2
