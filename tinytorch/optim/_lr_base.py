"""What learning-rate schedulers share."""

from __future__ import annotations

from typing import Any

from ..core.tensor import Tensor
from ..warnings import warn
from .optimizer import Optimizer, ParamGroup

__all__ = ["EPOCH_DEPRECATION_WARNING", "ClosedForm", "LRScheduler", "Schedule"]

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


class LRScheduler:
    """Base class of the schedulers: a subclass defines ``get_lr``.

    ``step`` is called after ``optimizer.step``, once per epoch or per batch as the schedule
    is meant. It advances ``last_epoch`` and gives each parameter group the rate that
    ``get_lr`` returns for it.

    Args:
        optimizer: Whose rates are changed.
        last_epoch: Steps made so far, to resume; the optimizer's groups then hold the
            ``initial_lr`` of a scheduler before. Default: -1, which starts anew.

    Attributes:
        base_lrs: The rates the groups started with.
        last_epoch: Steps made so far.

    Raises:
        TypeError: If ``optimizer`` is none.
        KeyError: On resuming, for a group without ``initial_lr``.

    Example:
        >>> import tinytorch as tt
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

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        self.optimizer: Optimizer = check_optimizer(optimizer)
        for index, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", own(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(_RESUMING.format(index=index))
        self.base_lrs = values(optimizer, "initial_lr")
        self.last_epoch: int = last_epoch
        optimizer._opt_called = False
        self._step_count = 0
        self._is_initial = False
        self._get_lr_called_within_step = False
        self._initial_step()

    def _initial_step(self) -> None:
        self._step_count = 0
        self._step_initially()

    def _step_initially(self) -> None:
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimizer, to save.

        Returns:
            The attributes by name.

        Example:
            >>> import tinytorch as tt
            >>> optimizer = tt.optim.SGD([tt.ones(2, requires_grad=True)], lr=8.0)
            >>> tt.optim.lr_scheduler.StepLR(optimizer, 3).state_dict()["last_epoch"]
            0
        """
        return {key: value for key, value in self.__dict__.items() if key != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Continue from what ``state_dict`` returned; the optimizer has a state of its own.

        Args:
            state_dict: As ``state_dict()`` returns it.

        Example:
            >>> import tinytorch as tt
            >>> optimizer = tt.optim.SGD([tt.ones(2, requires_grad=True)], lr=8.0)
            >>> scheduler = tt.optim.lr_scheduler.StepLR(optimizer, 3)
            >>> scheduler.load_state_dict({"last_epoch": 7})
            >>> scheduler.last_epoch
            7
        """
        self.__dict__.update(state_dict)

    def get_last_lr(self) -> list[Any]:
        """The rates that the last step set, one per parameter group."""
        return self._last_lr

    def get_lr(self) -> list[Any]:
        """The rates of the next step, one per parameter group; ``step`` calls it.

        Raises:
            NotImplementedError: Here; every scheduler defines its own.
        """
        raise NotImplementedError

    def step(self, epoch: int | None = None) -> None:
        """Set the rates of the next epoch (or batch).

        Args:
            epoch: Deprecated: go to this epoch in place of the next.
        """
        if self._step_count == 1:
            self._check_order()
        self._step_count += 1
        if epoch is not None:
            warn(EPOCH_DEPRECATION_WARNING, UserWarning)
        self._update_lr(epoch)

    def _check_order(self) -> None:
        if "step" in vars(self.optimizer):
            warn(_OVERRIDDEN, UserWarning)
        elif not self.optimizer._opt_called:
            warn(_WRONG_ORDER, UserWarning)

    def _update_lr(self, epoch: int | None = None) -> None:
        closed_form = getattr(self, "_get_closed_form_lr", None)
        self._get_lr_called_within_step = True
        try:
            if epoch is None:
                self.last_epoch += 1
                rates = self.get_lr()
            else:
                self.last_epoch = epoch
                rates = self.get_lr() if closed_form is None else closed_form()
        finally:
            self._get_lr_called_within_step = False
        for group, rate in zip(self.optimizer.param_groups, rates, strict=False):
            assign(group, "lr", rate)
        self._last_lr = values(self.optimizer, "lr")

    def _warn_outside_step(self) -> None:
        if not self._get_lr_called_within_step:
            warn(
                "To get the last learning rate computed by the scheduler, please use "
                "`get_last_lr()`.",
                UserWarning,
            )


class Schedule(LRScheduler):
    """A scheduler that computes each group's rate on its own, from the one it has.

    Starting from the present rate, rather than from the first, lets several schedulers
    change one optimizer's rates.
    """

    def get_lr(self) -> list[Any]:
        """The rates of the next step, one per parameter group; ``step`` calls it."""
        self._warn_outside_step()
        groups = zip(self.optimizer.param_groups, self.base_lrs, strict=False)
        return [self._rate(i, group["lr"], base) for i, (group, base) in enumerate(groups)]

    def _rate(self, index: int, lr: Any, base_lr: Any) -> Any:
        """The next rate of group ``index``."""
        raise NotImplementedError


class ClosedForm(Schedule):
    """A schedule whose rate also follows from the number of the epoch alone."""

    def _get_closed_form_lr(self) -> list[Any]:
        return [self._closed_rate(base) for base in self.base_lrs]

    def _closed_rate(self, base_lr: Any) -> Any:
        raise NotImplementedError


def check_optimizer(optimizer: Any) -> Optimizer:
    """Return it if it is one; TypeError otherwise."""
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
    return optimizer


def check_anneal_strategy(strategy: str) -> None:
    """ValueError for a curve between two rates that there is not."""
    if strategy not in ("cos", "linear"):
        raise ValueError(
            f"anneal_strategy must be one of 'cos' or 'linear', instead got {strategy}"
        )


def own(value: Any) -> Any:
    """A copy of a tensor, which ``assign`` changes in place; anything else as it is."""
    return value.clone() if isinstance(value, Tensor) else value


def values(optimizer: Optimizer, name: str) -> list[Any]:
    """A hyper-parameter of every group."""
    return [own(group[name]) for group in optimizer.param_groups]


def assign(group: ParamGroup, name: str, value: Any) -> None:
    """Set a hyper-parameter; a tensor stays the same object."""
    if isinstance(group[name], Tensor):
        value = value.item() if isinstance(value, Tensor) else value
        group[name].fill_(value)
    else:
        group[name] = value


def per_group(name: str, value: Any, optimizer: Optimizer) -> list[Any]:
    """One value per parameter group, from one for all or a list of as many."""
    count = len(optimizer.param_groups)
    if not isinstance(value, (list, tuple)):
        return [value] * count
    if len(value) != count:
        raise ValueError(
            f"{name} must have the same length as optimizer.param_groups. {name} has "
            f"{len(value)} values, param_groups has {count}."
        )
    return list(value)
