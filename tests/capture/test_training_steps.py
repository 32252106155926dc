"""Recorded training steps stay equal to eager ones: every optimizer, every scheduler."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tinytorch import nn, optim

from tests.capture.replayer import Replayer

OPTIMIZERS: dict[str, Callable[[Any], Any]] = {
    "SGD": lambda p: optim.SGD(p, lr=0.05),
    "SGD with momentum": lambda p: optim.SGD(p, 0.05, 0.9, dampening=0.1, weight_decay=1e-3),
    "SGD with Nesterov": lambda p: optim.SGD(p, 0.05, momentum=0.9, nesterov=True, maximize=True),
    "Adam": lambda p: optim.Adam(p, lr=0.01),
    "Adam with AMSGrad": lambda p: optim.Adam(p, lr=0.01, amsgrad=True, weight_decay=1e-3),
    "AdamW": lambda p: optim.AdamW(p, lr=0.01),
    "Adamax": lambda p: optim.Adamax(p, lr=0.01),
    "NAdam": lambda p: optim.NAdam(p, lr=0.01),
    "RAdam": lambda p: optim.RAdam(p, lr=0.01),
    "Adagrad": lambda p: optim.Adagrad(p, lr=0.05, lr_decay=0.01),
    "Adadelta": lambda p: optim.Adadelta(p, lr=1.0),
    "RMSprop": lambda p: optim.RMSprop(p, lr=0.005, centered=True, momentum=0.5),
    "Rprop": lambda p: optim.Rprop(p, lr=0.01),
    "ASGD": lambda p: optim.ASGD(p, lr=0.05, t0=20),
    "Adafactor": lambda p: optim.Adafactor(p, lr=0.05),
    "Muon": lambda p: optim.Muon([each for each in p if each.ndim == 2], lr=0.02),
}  # fmt: skip
SCHEDULERS: dict[str, Callable[[Any], Any]] = {
    "StepLR": lambda o: optim.lr_scheduler.StepLR(o, 7, 0.5),
    "MultiStepLR": lambda o: optim.lr_scheduler.MultiStepLR(o, [5, 40], 0.3),
    "ConstantLR": lambda o: optim.lr_scheduler.ConstantLR(o, 0.2, 9),
    "LinearLR": lambda o: optim.lr_scheduler.LinearLR(o, 0.1, 1.0, 30),
    "ExponentialLR": lambda o: optim.lr_scheduler.ExponentialLR(o, 0.97),
    "PolynomialLR": lambda o: optim.lr_scheduler.PolynomialLR(o, 80, 2.0),
    "CosineAnnealingLR": lambda o: optim.lr_scheduler.CosineAnnealingLR(o, 20),
    "CosineAnnealingWarmRestarts": lambda o: (
        optim.lr_scheduler.CosineAnnealingWarmRestarts(o, 9, 2)
    ),
    "LambdaLR": lambda o: optim.lr_scheduler.LambdaLR(o, lambda epoch: 1 / (1 + epoch)),
    "MultiplicativeLR": lambda o: optim.lr_scheduler.MultiplicativeLR(o, lambda epoch: 0.98),
    "CyclicLR": lambda o: optim.lr_scheduler.CyclicLR(o, 0.001, 0.05, 6, mode="triangular2"),
    "OneCycleLR": lambda o: optim.lr_scheduler.OneCycleLR(o, 0.1, total_steps=200),
    "ChainedScheduler": lambda o: optim.lr_scheduler.ChainedScheduler(
        [optim.lr_scheduler.LinearLR(o, 0.5, 1.0, 10), optim.lr_scheduler.ExponentialLR(o, 0.98)]
    ),
    "SequentialLR": lambda o: optim.lr_scheduler.SequentialLR(
        o,
        [optim.lr_scheduler.LinearLR(o, 0.1, 1.0, 10), optim.lr_scheduler.ExponentialLR(o, 0.98)],
        [10],
    ),
    "SWALR": lambda o: optim.swa_utils.SWALR(o, 0.01, 12),
}  # fmt: skip
TOLERANCES = {tt.float64: 1e-9, tt.float32: 1e-4}


class Training:
    """A small model with an optimizer and a scheduler, the same each time it is made."""

    def __init__(
        self, optimizer: Callable[[Any], Any], scheduler: Callable[[Any], Any] | None, dtype: Any,
        set_to_none: bool = True,
    ) -> None:  # fmt: skip
        tt.manual_seed(3)
        self.model = nn.Sequential(
            nn.Linear(4, 6), nn.BatchNorm1d(6), nn.Tanh(), nn.Dropout(0.2), nn.Linear(6, 1)
        ).to(dtype)
        self.optimizer = optimizer(list(self.model.parameters()))
        self.scheduler = None if scheduler is None else scheduler(self.optimizer)
        self.dtype, self.set_to_none = dtype, set_to_none

    def batch(self, number: int) -> list[Any]:
        """Inputs and targets of a step."""
        rng = np.random.default_rng(number)
        x = rng.standard_normal((8, 4))
        return [tt.tensor(a, dtype=self.dtype) for a in (x, np.sin(x.sum(1, keepdims=True)))]

    def step(self, x: Any, y: Any) -> Any:
        """One step; returns the loss."""
        self.optimizer.zero_grad(set_to_none=self.set_to_none)
        loss = nn.functional.mse_loss(self.model(x), y)
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        if self.scheduler is not None:
            self.scheduler.step()
        return loss.detach()

    def train_eagerly(self, steps: int) -> list[float]:
        """Losses of eager steps."""
        return [self.step(*self.batch(number)).item() for number in range(steps)]

    def train_recorded(self, steps: int) -> list[float]:
        """Losses of steps of which the third is recorded and later ones replay it."""
        losses = self.train_eagerly(2)
        replay = Replayer(self.step, self.batch(2), list(self.model.parameters()))
        losses.append(replay.recording.result.item())
        assert not replay.recording.once
        return losses + [replay(*self.batch(number))[0].item() for number in range(3, steps)]

    def state(self) -> list[Any]:
        """All tensors of the model and the optimizer, and the learning rates."""
        found = [tensor.detach().numpy() for tensor in self.model.state_dict().values()]
        for entry in self.optimizer.state.values():
            found += [np.asarray(value) for value in entry.values() if value is not None]
        return [*found, np.array([group["lr"] for group in self.optimizer.param_groups])]


def assert_equal_training(make: Callable[[], Training], dtype: Any, steps: int = 30) -> None:
    """Compare eager and recorded training: losses and state."""
    eager, recorded = make(), make()
    tt.manual_seed(5)
    wanted = eager.train_eagerly(steps)
    tt.manual_seed(5)
    losses = recorded.train_recorded(steps)
    tolerance = TOLERANCES[dtype]
    np.testing.assert_allclose(losses, wanted, rtol=tolerance, atol=tolerance)
    for found, expected in zip(recorded.state(), eager.state(), strict=True):
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", [tt.float64, tt.float32], ids=["float64", "float32"])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_every_optimizer_trains_as_eager_code(name: str, dtype: Any) -> None:
    assert_equal_training(lambda: Training(OPTIMIZERS[name], None, dtype), dtype)


@pytest.mark.parametrize("name", SCHEDULERS)
def test_every_scheduler_changes_the_rate_of_replays(name: str) -> None:
    def sgd(p: Any) -> Any:
        return optim.SGD(p, lr=0.05, momentum=0.8)

    assert_equal_training(lambda: Training(sgd, SCHEDULERS[name], tt.float64), tt.float64, 50)


def test_a_scheduler_of_momentums_and_betas_changes_them_in_replays() -> None:
    assert_equal_training(
        lambda: Training(OPTIMIZERS["Adam"], SCHEDULERS["OneCycleLR"], tt.float64), tt.float64
    )


def test_gradients_that_are_zeroed_in_place_accumulate_as_in_eager_code() -> None:
    assert_equal_training(
        lambda: Training(OPTIMIZERS["AdamW"], None, tt.float64, set_to_none=False), tt.float64
    )


def test_a_learning_rate_that_is_a_tensor_is_read_by_each_replay() -> None:
    def sgd(p: Any) -> Any:
        return optim.SGD(p, lr=tt.tensor(0.05, dtype=tt.float64))

    assert_equal_training(
        lambda: Training(sgd, SCHEDULERS["ExponentialLR"], tt.float64), tt.float64
    )


def test_a_learning_rate_that_the_program_reads_is_a_guard() -> None:
    parameter = tt.ones(2, requires_grad=True)
    optimizer = optim.SGD([parameter], lr=0.5)

    def step(x: Any) -> Any:
        optimizer.step()
        return x * optimizer.param_groups[0]["lr"]

    parameter.grad = tt.ones(2)
    compiled = tt.compile(step)
    for rate in (0.5, 0.25, 0.25, 0.125):
        optimizer.param_groups[0]["lr"] = rate
        assert compiled(tt.ones(1)).item() == rate


def test_a_step_that_creates_an_optimizers_state_stands_for_one_call() -> None:
    training = Training(OPTIMIZERS["Adam"], None, tt.float64)
    replay = Replayer(training.step, training.batch(0), list(training.model.parameters()))
    assert replay.recording.once


def _subclasses(module: Any, base: type) -> set[str]:
    """Names of the public classes of a module that derive from ``base``."""
    found = ((name, getattr(module, name)) for name in dir(module))
    return {
        name for name, value in found
        if isinstance(value, type) and issubclass(value, base) and not name.startswith("_")
    }  # fmt: skip


def test_every_optimizer_and_scheduler_of_the_library_is_tried() -> None:
    tried = {name.partition(" ")[0] for name in OPTIMIZERS}
    # LBFGS and ReduceLROnPlateau read numbers; SparseAdam has no sparse gradients here.
    assert _subclasses(optim, optim.Optimizer) - tried == {"LBFGS", "Optimizer", "SparseAdam"}
    schedulers = _subclasses(optim.lr_scheduler, optim.lr_scheduler.LRScheduler)
    assert schedulers - {*SCHEDULERS} == {"LRScheduler", "ReduceLROnPlateau"}


@pytest.mark.filterwarnings("ignore:.*runs eagerly")
@pytest.mark.parametrize(
    ("name", "options"),
    [("SGD", {}), ("SGD", {"momentum": 0.9}), ("SparseAdam", {}), ("Adagrad", {})],
)
def test_sparse_gradients_train_as_eager_code(name: str, options: dict[str, Any]) -> None:
    results = []
    for is_compiled in (False, True):
        tt.manual_seed(0)
        table = tt.nn.Embedding(5, 2, sparse=True)
        optimizer: Any = getattr(tt.optim, name)(table.parameters(), lr=0.1, **options)
        scheduler = tt.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)

        def step(index: Any, table: Any = table, optimizer: Any = optimizer) -> Any:
            optimizer.zero_grad()
            loss = table(index).square().sum()
            loss.backward()
            optimizer.step()
            return loss

        function = tt.compile(step) if is_compiled else step
        for k in range(6):
            function(tt.tensor([1, 2, k % 5]))
            scheduler.step()
        results.append(table.weight.detach())
    assert tt.allclose(*results)


@pytest.mark.parametrize("name", ["SGD", "Adam", "Adadelta"])
def test_a_training_step_is_recorded_once(name: str) -> None:
    net = nn.Linear(3, 2)
    optimizer = OPTIMIZERS[name](net.parameters())

    @tt.compile
    def step(x: Any) -> Any:
        optimizer.zero_grad()
        loss = net(x).square().mean()
        loss.backward()
        optimizer.step()
        return loss.detach()

    losses = [float(step(tt.ones(4, 3))) for _ in range(6)]
    assert losses == sorted(losses, reverse=True) and len(step._compiled.entries) == 1


def test_step_counts_that_become_different_are_not_taken_for_equal() -> None:
    def train(compiles: bool) -> list[Any]:
        tt.manual_seed(0)
        first, second = nn.Linear(3, 3).double(), nn.Linear(3, 1).double()
        optimizer = optim.Adam([*first.parameters(), *second.parameters()], lr=0.1)

        def step(x: Any) -> Any:
            optimizer.zero_grad()
            loss = second(first(x)).square().mean()
            loss.backward()
            optimizer.step()
            return loss.detach()

        call: Any = tt.compile(step) if compiles else step
        x = tt.ones(4, 3, dtype=tt.float64)
        found = [call(x) for _ in range(4)]
        optimizer.state[second.weight]["step"] += 40
        return [*found, *(call(x) for _ in range(4)), *first.parameters(), *second.parameters()]

    for expected, found in zip(train(False), train(True), strict=True):
        assert tt.allclose(expected, found, rtol=1e-12, atol=1e-12)
