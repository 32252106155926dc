"""Averages of a model's weights over training: stochastic weight averaging and EMA.

Reference:
    Izmailov et al.: Averaging Weights Leads to Wider Optima and Better Generalization,
    arXiv:1803.05407.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any

from ..core.tensor import Tensor
from ..dtypes import int64
from ..nn import Module  # import the package, not a submodule: another thread may be importing it
from ..nn.batchnorm import BatchNorm
from ..ops.create.factories import tensor
from ..state import no_grad
from ._lr_base import LRScheduler, check_anneal_strategy, per_group
from .optimizer import Optimizer

__all__ = [
    "SWALR", "AveragedModel", "get_ema_avg_fn", "get_ema_multi_avg_fn", "get_swa_avg_fn",
    "get_swa_multi_avg_fn", "update_bn",
]  # fmt: skip

#: Function from the average, a new value and the number averaged so far to the next average.
AvgFn = Callable[[Tensor, Tensor, Any], Tensor]
#: Function that updates a list of averages in place from a list of new values.
MultiAvgFn = Callable[[Sequence[Tensor], Sequence[Tensor], Any], None]


def get_ema_avg_fn(decay: float = 0.999) -> AvgFn:
    """Averaging function for ``AveragedModel``: ``decay * average + (1 - decay) * new``.

    Args:
        decay: The weight of the old average, in [0, 1]. Default: 0.999.

    Raises:
        ValueError: If ``decay`` is not in [0, 1].

    Example:
        >>> tt.optim.swa_utils.get_ema_avg_fn(0.5)(tt.tensor(1.0), tt.tensor(3.0), 1)
        tensor(2.)
    """
    _check_decay(decay)

    def update(average: Any, new: Any, num_averaged: Any) -> Tensor:
        return decay * average + (1 - decay) * new  # type: ignore[no-any-return]

    return no_grad()(update)


def get_swa_avg_fn() -> AvgFn:
    """Averaging function for ``AveragedModel``: the mean of all values.

    Example:
        >>> tt.optim.swa_utils.get_swa_avg_fn()(tt.tensor(1.0), tt.tensor(4.0), 2)
        tensor(2.)
    """

    def update(average: Any, new: Any, num_averaged: Any) -> Tensor:
        return average + (new - average) / (num_averaged + 1)  # type: ignore[no-any-return]

    return no_grad()(update)


def get_ema_multi_avg_fn(decay: float = 0.999) -> MultiAvgFn:
    """``get_ema_avg_fn`` for lists of tensors, in place.

    Args:
        decay: The weight of the old average, in [0, 1]. Default: 0.999.

    Raises:
        ValueError: If ``decay`` is not in [0, 1].

    Example:
        >>> averages = [tt.tensor(1.0)]
        >>> tt.optim.swa_utils.get_ema_multi_avg_fn(0.5)(averages, [tt.tensor(3.0)], 1)
        >>> averages
        [tensor(2.)]
    """
    return _to_multi_avg_fn(get_ema_avg_fn(decay))


def get_swa_multi_avg_fn() -> MultiAvgFn:
    """``get_swa_avg_fn`` for lists of tensors, in place.

    Example:
        >>> averages = [tt.tensor(1.0)]
        >>> tt.optim.swa_utils.get_swa_multi_avg_fn()(averages, [tt.tensor(4.0)], 2)
        >>> averages
        [tensor(2.)]
    """
    return _to_multi_avg_fn(get_swa_avg_fn())


def _to_multi_avg_fn(avg_fn: AvgFn) -> MultiAvgFn:
    """Return a function that applies ``avg_fn``, of one average and value, to lists of them."""

    def update(averages: Sequence[Any], new: Sequence[Any], num_averaged: Any) -> None:
        for average, value in zip(averages, new, strict=True):
            average.copy_(avg_fn(average, value, num_averaged))

    return no_grad()(update)


def _check_decay(decay: float) -> None:
    """Check that the decay is in [0, 1]."""
    if not 0.0 <= decay <= 1.0:
        raise ValueError(
            f"Invalid decay value {decay} provided. Please provide a value in [0,1] range."
        )


class AveragedModel(Module):
    """A copy of a model whose parameters are averages of the model's over training.

    Args:
        model: The model, which is copied.
        device: The device of the copy. Default: the model's device.
        avg_fn: Function that averages one parameter. Default: the mean of all values.
        multi_avg_fn: Function that averages a list of parameters in place. Default: None.
        use_buffers: Whether buffers are averaged, too, instead of copied. Default: False.

    Attributes:
        module: The copy.
        n_averaged: The number of models that have been averaged, a 0-d tensor.

    Raises:
        AssertionError: If both functions are passed.

    Example:
        >>> model = tt.nn.Linear(1, 1, bias=False)
        >>> averaged = tt.optim.swa_utils.AveragedModel(model)
        >>> for value in (1.0, 2.0, 6.0):
        ...     _ = tt.nn.init.constant_(model.weight, value)
        ...     averaged.update_parameters(model)
        >>> averaged(tt.ones(1, 1)).item()
        3.0
    """

    n_averaged: Any

    def __init__(
        self,
        model: Module,
        device: Any = None,
        avg_fn: AvgFn | None = None,
        multi_avg_fn: MultiAvgFn | None = None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module: Module = copy.deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", tensor(0, dtype=int64, device=device))
        self.avg_fn = avg_fn
        self.multi_avg_fn = multi_avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Call the averaged model."""
        return self.module(*args, **kwargs)

    def update_parameters(self, model: Module) -> None:
        """Update the averages with the model's present parameters.

        Args:
            model: The model that is being trained.

        Example:
            >>> model = tt.nn.Linear(1, 1, bias=False)
            >>> averaged = tt.optim.swa_utils.AveragedModel(model)
            >>> averaged.update_parameters(model)
            >>> tt.equal(averaged.module.weight, model.weight)
            True
        """
        averages, values = (
            [each.detach() for each in _averaged_tensors(net, self.use_buffers)]
            for net in (self.module, model)
        )
        with no_grad():
            values = [b.to(a.device) for a, b in zip(averages, values, strict=True)]
            self._update_averages(averages, values)
            if not self.use_buffers:
                for own, other in zip(self.module.buffers(), model.buffers(), strict=True):
                    own.detach().copy_(other.detach())
            self.n_averaged += 1

    def _update_averages(self, averages: list[Any], values: list[Any]) -> None:
        """Update the averages in place from the new values, to which the first call sets them."""
        if self.n_averaged == 0:
            for average, value in zip(averages, values, strict=True):
                average.copy_(value)
        elif self.multi_avg_fn is not None:
            self.multi_avg_fn(averages, values, self.n_averaged)
        else:
            _to_multi_avg_fn(self.avg_fn or get_swa_avg_fn())(averages, values, self.n_averaged)


def _averaged_tensors(model: Module, use_buffers: bool) -> Iterable[Any]:
    return chain(model.parameters(), model.buffers() if use_buffers else ())


def update_bn(loader: Iterable[Any], model: Module, device: Any = None) -> None:
    """Recompute the running statistics of a model's batch norm layers in a pass over data.

    Args:
        loader: Batches, each the model's input, or a list or tuple that begins with it.
        model: The model, such as an ``AveragedModel``.
        device: The device to which batches are moved. Default: None, which does not move them.

    Example:
        >>> norm = tt.nn.BatchNorm1d(1)
        >>> tt.optim.swa_utils.update_bn([tt.tensor([[1.0], [3.0]])], norm)
        >>> norm.running_mean
        tensor([2.])
    """
    norms = [module for module in model.modules() if isinstance(module, BatchNorm)]
    if not norms:
        return
    momenta = [norm.momentum for norm in norms]
    for norm in norms:
        norm.reset_running_stats()
        norm.momentum = None  # all batches have equal weight
    was_training = model.training
    model.train()
    with no_grad():
        for batch in loader:
            first: Any = batch[0] if isinstance(batch, (list, tuple)) else batch
            model(first if device is None else first.to(device))
    for norm, momentum in zip(norms, momenta, strict=True):
        norm.momentum = momentum
    model.train(was_training)


class SWALR(LRScheduler):
    """Schedule that anneals to a constant learning rate, for averaging weights.

    Args:
        optimizer: The optimizer whose learning rates are changed.
        swa_lr: The constant rate, or a list with one per parameter group.
        anneal_epochs: Number of steps until it is reached. Default: 10.
        anneal_strategy: ``"cos"`` or ``"linear"``. Default: ``"cos"``.
        last_epoch: Number of steps made so far, for resuming. Default: -1.

    Raises:
        ValueError: If the strategy is unknown, or ``anneal_epochs`` is negative.

    Example:
        >>> optimizer = tt.optim.SGD([tt.ones(2, requires_grad=True)], lr=1.0)
        >>> scheduler = tt.optim.swa_utils.SWALR(optimizer, 0.5, 2, "linear")
        >>> for _ in range(4):
        ...     optimizer.step()
        ...     scheduler.step()
        >>> scheduler.get_last_lr()
        [0.5]
    """

    anneal_epochs: int

    def __init__(
        self,
        optimizer: Optimizer,
        swa_lr: float | Sequence[float],
        anneal_epochs: int = 10,
        anneal_strategy: str = "cos",
        last_epoch: int = -1,
    ) -> None:
        for rate, group in zip(
            per_group("swa_lr", swa_lr, optimizer), optimizer.param_groups, strict=True
        ):
            group["swa_lr"] = rate
        check_anneal_strategy(anneal_strategy)
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self._set_anneal_func(anneal_strategy)
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """Learning rates of the next step, one per parameter group; called by ``step``."""
        self._warn_outside_step()
        step = self._step_count - 1
        if not self.anneal_epochs:
            step = max(1, step)
        before, now = self._annealed_share(step - 1), self._annealed_share(step)
        rates = []
        for group in self.optimizer.param_groups:
            goal = group["swa_lr"]
            start = self._get_initial_lr(group["lr"], goal, before)
            rates.append(goal * now + start * (1 - now))
        return rates

    def _annealed_share(self, step: int) -> float:
        """Share of the annealing that is complete after ``step``, from 0 to 1."""
        return self.anneal_func(max(0.0, min(1.0, step / max(1, self.anneal_epochs))))

    def _set_anneal_func(self, anneal_strategy: str) -> None:
        """Set the annealing strategy; called by ``__init__``."""
        self._anneal_strategy = anneal_strategy

    def anneal_func(self, t: float) -> float:
        """Share of the annealing that is complete at the share ``t`` of the epochs.

        Args:
            t: Share of the epochs, from 0 to 1.

        Example:
            >>> optimizer = tt.optim.SGD([tt.ones(1, requires_grad=True)], lr=1.0)
            >>> tt.optim.swa_utils.SWALR(optimizer, 0.1, anneal_strategy="linear").anneal_func(0.5)
            0.5
        """
        linear = self._anneal_strategy == "linear"
        return self._linear_anneal(t) if linear else self._cosine_anneal(t)

    @staticmethod
    def _linear_anneal(t: float) -> float:
        return t

    @staticmethod
    def _cosine_anneal(t: float) -> float:
        return (1 - math.cos(math.pi * t)) / 2

    def _get_initial_lr(self, lr: Any, swa_lr: Any, alpha: float) -> Any:
        """Initial rate of the annealing, computed from the current rate; called by ``get_lr``."""
        return swa_lr if alpha == 1 else (lr - alpha * swa_lr) / (1 - alpha)
