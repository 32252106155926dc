"""Schedules that let the rate fall (or rise) by a rule of the epoch."""

from __future__ import annotations

import math
import types
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ._lr_base import ClosedForm, Schedule
from .optimizer import Optimizer

__all__ = [
    "ConstantLR",
    "CosineAnnealingLR",
    "ExponentialLR",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "MultiplicativeLR",
    "PolynomialLR",
    "StepLR",
]

LRLambda = Callable[[int], float]


class _ByFunction(Schedule):
    """A schedule of the user's own function, or one per parameter group."""

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
        """Everything but the optimizer and the functions.

        Of a callable object its attributes are saved; a function is not, for it would not
        unpickle: None stands in its place.

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
        """Continue from what ``state_dict`` returned; functions stay as they are.

        Args:
            state_dict: As ``state_dict()`` returns it.
        """
        saved = dict(state_dict)
        for fn, attributes in zip(self.lr_lambdas, saved.pop("lr_lambdas"), strict=True):
            if attributes is not None:
                fn.__dict__.update(attributes)
        super().load_state_dict(saved)


class LambdaLR(_ByFunction):
    """The first rate times a function of the epoch.

    Args:
        optimizer: Whose rates are changed.
        lr_lambda: From the epoch to the factor, or a list with one per parameter group.
        last_epoch: Steps made so far, to resume. Default: -1.

    Raises:
        ValueError: If the list is not as long as the parameter groups.

    Example:
        >>> import tinytorch as tt
        >>> optimizer = tt.optim.SGD([tt.ones(2, requires_grad=True)], lr=8.0)
        >>> scheduler = tt.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 1 / (1 + epoch))
        >>> optimizer.step()
        >>> scheduler.step()
        >>> scheduler.get_last_lr()
        [4.0]
    """

    def _rate(self, index: int, lr: Any, base_lr: Any) -> Any:
        return base_lr * self.lr_lambdas[index](self.last_epoch)


class MultiplicativeLR(_ByFunction):
    """The rate times a function of the epoch, at every step.

    Args:
        optimizer: Whose rates are changed.
        lr_lambda: From the epoch to the factor, or a list with one per parameter group.
        last_epoch: Steps made so far, to resume. Default: -1.

    Raises:
        ValueError: If the list is not as long as the parameter groups.

    Example:
        >>> import tinytorch as tt
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
    """The rate times ``gamma`` every ``step_size`` epochs.

    Args:
        optimizer: Whose rates are changed.
        step_size: Epochs between falls.
        gamma: The factor. Default: 0.1.
        last_epoch: Steps made so far, to resume. Default: -1.

    Example:
        >>> import tinytorch as tt
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
    """The rate times ``gamma`` at given epochs.

    Args:
        optimizer: Whose rates are changed.
        milestones: The epochs; one that comes twice counts twice.
        gamma: The factor. Default: 0.1.
        last_epoch: Steps made so far, to resume. Default: -1.

    Example:
        >>> import tinytorch as tt
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
    """The rate times ``factor`` until epoch ``total_iters``, then as it was.

    Args:
        optimizer: Whose rates are changed.
        factor: The factor, from 0 to 1. Default: 1/3.
        total_iters: Epochs it holds for. Default: 5.
        last_epoch: Steps made so far, to resume. Default: -1.

    Raises:
        ValueError: If ``factor`` is not between 0 and 1.

    Example:
        >>> import tinytorch as tt
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
    """The rate times a factor that goes from one value to another along a line.

    Args:
        optimizer: Whose rates are changed.
        start_factor: The factor at first, above 0 and up to 1. Default: 1/3.
        end_factor: The factor from epoch ``total_iters`` on, from 0 to 1. Default: 1.
        total_iters: Epochs on the way. Default: 5.
        last_epoch: Steps made so far, to resume. Default: -1.

    Raises:
        ValueError: If a factor is out of range.

    Example:
        >>> import tinytorch as tt
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
        rise = self.end_factor - self.start_factor
        before = self.total_iters * self.start_factor + (self.last_epoch - 1) * rise
        return lr * (1.0 + rise / before)

    def _closed_rate(self, base_lr: Any) -> Any:
        done = min(self.total_iters, self.last_epoch) / self.total_iters
        return base_lr * (self.start_factor + (self.end_factor - self.start_factor) * done)


class ExponentialLR(ClosedForm):
    """The rate times ``gamma`` at every epoch.

    Args:
        optimizer: Whose rates are changed.
        gamma: The factor.
        last_epoch: Steps made so far, to resume. Default: -1.

    Example:
        >>> import tinytorch as tt
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
    """The rate falls to 0 as a power of the epochs that are left.

    Args:
        optimizer: Whose rates are changed.
        total_iters: Epochs until 0. Default: 5.
        power: The power. Default: 1.
        last_epoch: Steps made so far, to resume. Default: -1.

    Example:
        >>> import tinytorch as tt
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
        left = 1.0 - self.last_epoch / self.total_iters
        before = 1.0 - (self.last_epoch - 1) / self.total_iters
        return lr * (left / before) ** self.power

    def _closed_rate(self, base_lr: Any) -> Any:
        done = min(self.total_iters, self.last_epoch) / self.total_iters
        return base_lr * (1.0 - done) ** self.power


class CosineAnnealingLR(ClosedForm):
    """The rate falls to ``eta_min`` along half a cosine in ``T_max`` epochs, and rises again.

    Args:
        optimizer: Whose rates are changed.
        T_max: Epochs until the minimum.
        eta_min: The least rate. Default: 0.
        last_epoch: Steps made so far, to resume. Default: -1.

    Example:
        >>> import tinytorch as tt
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
        return 1 + math.cos(math.pi * epoch / self.T_max)

    def _rate(self, index: int, lr: Any, base_lr: Any) -> Any:
        if self._is_initial:
            return lr
        if self._step_count == 1 and self.last_epoch > 0:
            return self._closed_rate(base_lr)
        if (self.last_epoch - 1 - self.T_max) % (2 * self.T_max) == 0:
            # The rate is at its minimum: there is no ratio to go on from.
            return lr + (base_lr - self.eta_min) * (1 - math.cos(math.pi / self.T_max)) / 2
        ratio = self._cosine(self.last_epoch) / self._cosine(self.last_epoch - 1)
        return ratio * (lr - self.eta_min) + self.eta_min

    def _closed_rate(self, base_lr: Any) -> Any:
        return self.eta_min + (base_lr - self.eta_min) * self._cosine(self.last_epoch) / 2
