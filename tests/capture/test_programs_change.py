"""Compiled programs stay equal to eager ones over 50 steps while everything changes under them."""

from __future__ import annotations

import contextlib
import copy
import random
import threading
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import tinytorch
from tinytorch import nn

tt: Any = tinytorch

STEPS = 50
TEMPERATURE = 1.0


class Model(nn.Module):
    """Classifier with dropout, batch norm, a flag and a schedule of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(20, 8)
        self.rnn = nn.GRU(8, 8, batch_first=True)
        self.norm = nn.BatchNorm1d(8)
        self.head = nn.Linear(8, 5)
        self.rate, self.skip, self.name = 0.1, False, "relu"
        self.extra: Any = None

    def forward(self, tokens: Any, mask: Any = None) -> Any:
        x = self.embed(tokens)
        if mask is not None:
            x = x.masked_fill(mask.unsqueeze(-1), 0.0)
        y, _ = self.rnn(x)
        h = self.norm(y.mean(1))
        h = nn.functional.dropout(h, self.rate, self.training)
        if self.skip:
            h = h + x.mean(1)
        if self.extra is not None:
            h = self.extra(h)
        return getattr(h, self.name)() @ self.head.weight.t() / TEMPERATURE + self.head.bias


class Trainer:
    """A model with an optimizer and a scheduler, whose step is compiled or not."""

    forward: Any
    step: Any

    def __init__(self, wrap: Callable[[Any], Any], whole: bool) -> None:
        tt.manual_seed(0)
        self.model = Model().double()
        self.optimizer = tt.optim.AdamW(self.model.parameters(), lr=1e-2)
        self.scheduler = tt.optim.lr_scheduler.CosineAnnealingLR(self.optimizer, 20)
        model = self.model if whole else wrap(self.model)

        def step(tokens: Any, target: Any, mask: Any) -> Any:
            self.optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(tokens, mask), target)
            loss.backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.optimizer.step()
            self.scheduler.step()
            return loss.detach()

        self.forward = model
        self.step = wrap(step) if whole else step


def change(trainer: Trainer, step: int) -> None:
    """Change something that the program reads."""
    global TEMPERATURE
    model, group = trainer.model, trainer.optimizer.param_groups[0]
    if step == 8:
        model.rate = 0.3
    elif step == 12:
        model.skip = True
    elif step == 16:
        TEMPERATURE = 2.0
    elif step == 20:
        group["weight_decay"] = 0.1
    elif step == 24:
        group["lr"] = 0.05
    elif step == 28:
        model.embed.requires_grad_(False)
    elif step == 32:
        model.name = "tanh"
    elif step == 36:
        model.load_state_dict({k: v * 0.5 for k, v in model.state_dict().items()}, strict=False)
    elif step == 40:
        group["betas"] = (0.8, 0.9)
    elif step == 44:
        model.head.weight.data = model.head.weight.data.clone()


def batches() -> Iterator[tuple[Any, ...]]:
    """Batches of changing sizes, some with a mask."""
    numbers = random.Random(0)
    draws = tt.Generator().manual_seed(1)
    for _ in range(STEPS):
        size, length = numbers.choice(((6, 7), (6, 7), (6, 7), (3, 7)))
        tokens = tt.randint(20, (size, length), generator=draws)
        target = tt.randint(5, (size,), generator=draws)
        mask = tt.rand(size, length, generator=draws) < 0.2
        yield tokens, target, mask if numbers.random() < 0.5 else None


@contextlib.contextmanager
def many_recordings() -> Iterator[None]:
    with tt._dynamo.config.patch(recompile_limit=100, cache_size_limit=100):
        yield


@pytest.mark.parametrize("whole", [False, True], ids=["model", "step"])
def test_training_stays_equal_while_everything_changes(whole: bool) -> None:
    global TEMPERATURE
    histories = []
    for wrap in (lambda f: f, tt.compile):
        TEMPERATURE = 1.0
        trainer = Trainer(wrap, whole)
        tt.manual_seed(7)
        losses = []
        with many_recordings():
            for step, batch in enumerate(batches()):
                change(trainer, step)
                if step % 10 == 9:
                    trainer.model.eval()
                    with tt.no_grad():
                        losses.append(trainer.forward(batch[0]).sum())
                    trainer.model.train()
                losses.append(trainer.step(*batch))
        histories.append((losses, trainer, tt.rand(3)))
    (expected, first, after), (found, second, later) = histories
    for i, (a, b) in enumerate(zip(expected, found, strict=True)):
        assert tt.allclose(a, b, rtol=1e-9, atol=1e-9), i
    assert tt.equal(after, later)
    for a, b in zip(
        first.model.state_dict().values(), second.model.state_dict().values(), strict=True
    ):
        assert tt.allclose(a, b, rtol=1e-8, atol=1e-9)
    assert first.scheduler.get_last_lr() == second.scheduler.get_last_lr()
    compiled = second.step._compiled if whole else second.forward.forward
    assert compiled.entries and not compiled.breaks
    TEMPERATURE = 1.0


def test_gradients_accumulate_over_micro_batches_in_a_compiled_step() -> None:
    found = []
    for wrap in (lambda f: f, tt.compile):
        tt.manual_seed(0)
        net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1)).double()
        optimizer = tt.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)

        def backward(x: Any, net: Any = net) -> Any:
            loss = net(x).square().mean()
            loss.backward()
            return loss.detach()

        def update(optimizer: Any = optimizer, net: Any = net) -> None:
            optimizer.step()

        accumulate, step = wrap(backward), wrap(update)
        data = tt.Generator().manual_seed(3)
        losses = []
        for i in range(20):
            losses.append(accumulate(tt.randn(5, 4, dtype=tt.float64, generator=data)))
            if i % 4 == 3:
                step()
                optimizer.zero_grad(set_to_none=i % 8 == 3)
        found.append((losses, list(net.parameters())))
    for a, b in zip(found[0][0], found[1][0], strict=True):
        assert tt.allclose(a, b, rtol=1e-10)
    assert all(map(tt.allclose, found[0][1], found[1][1]))


def test_a_loss_after_backward_inside_has_a_freed_graph() -> None:
    net: Any = nn.Linear(2, 1)

    def step(x: Any) -> Any:
        net.zero_grad()
        loss = net(x).sum()
        loss.backward()
        return loss

    compiled = tt.compile(step)
    for _ in range(4):
        loss = compiled(tt.ones(1, 2))
        assert loss.requires_grad and net.weight.grad.tolist() == [[1.0, 1.0]]
        with pytest.raises(RuntimeError, match="backward through the graph a second time"):
            loss.backward()


def test_inference_stays_equal_while_threads_and_modes_change() -> None:
    model = Model().eval()
    reference = copy.deepcopy(model)
    compiled = tt.compile(model)
    wrong: list[int] = []

    def work(seed: int) -> None:
        draws = tt.Generator().manual_seed(seed)
        for i in range(STEPS // 2):
            mode = (tt.no_grad, tt.inference_mode, tt.enable_grad)[i % 3]
            tokens = tt.randint(20, (2 + i % 2, 6), generator=draws)
            with mode():
                a, b = reference(tokens), compiled(tokens)
            if not tt.allclose(a, b, rtol=1e-5, atol=1e-6) or a.requires_grad != b.requires_grad:
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_generation_with_growing_inputs_falls_back_after_the_limit() -> None:
    layer = nn.Linear(4, 4)
    compiled = tt.compile(layer)
    x = tt.randn(1, 4)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(STEPS):
            assert tt.allclose(compiled(x), layer(x), atol=1e-6)
            x = tt.cat([x, x[-1:]])
    assert len(caught) == 1
