"""Kinds of programs that people write, compiled, while what they read changes from step to step."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from typing import Any

import pytest

import tinytorch
from tinytorch import nn

tt: Any = tinytorch
F: Any = nn.functional

STEPS = 50
Program = Callable[[int], Any]


def change_modules(wrap: Callable[[Any], Any]) -> Program:
    """A model whose layers, parameters, hooks and dtype are replaced."""
    net: Any = nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.5), nn.Linear(4, 2))
    compiled, hooks = wrap(net), []
    changes: dict[int, Callable[[], Any]] = {
        4: net.double,
        8: lambda: net.append(nn.Sigmoid()),
        12: lambda: net.__setitem__(0, nn.Linear(3, 4, bias=False).double()),
        16: net.eval,
        17: net.train,
        18: lambda: setattr(net[1], "inplace", True),
        20: lambda: nn.utils.prune.l1_unstructured(net[0], "weight", 0.3),
        24: lambda: nn.utils.prune.remove(net[0], "weight"),
        28: lambda: net[2].register_parameter("bias", None),
        32: lambda: net.load_state_dict(copy.deepcopy(net.state_dict()), assign=True),
        36: lambda: hooks.append(net[2].register_forward_hook(lambda *args: args[-1] * 2)),
        38: lambda: hooks.pop().remove(),
        40: net.float,
        44: lambda: net.__delitem__(3),
        46: lambda: net.register_forward_pre_hook(lambda module, args: (args[0] + 1,)),
    }

    def step(i: int) -> Any:
        changes.get(i, list)()
        net.zero_grad()
        y = compiled(tt.randn(3, 3, dtype=net[2].weight.dtype))
        y.sum().backward()
        return [y, *[p.grad for p in net.parameters()]]

    return step


def change_optimizers(wrap: Callable[[Any], Any]) -> Program:
    """A training step whose optimizer, its state and its hyperparameters are replaced."""
    net = nn.Linear(3, 2).double()
    made = [tt.optim.SGD(net.parameters(), lr=0.1)]
    group = made[0].param_groups[0]

    def train(x: Any) -> Any:
        made[0].zero_grad()
        loss = net(x).square().mean()
        loss.backward()
        made[0].step()
        return loss.detach()

    def use(name: str, **options: Any) -> Callable[[], None]:
        return lambda: made.__setitem__(0, getattr(tt.optim, name)(net.parameters(), **options))

    changes: dict[int, Callable[[], Any]] = {
        5: lambda: group.update(momentum=0.9),
        8: lambda: group.update(lr=tt.tensor(0.05, dtype=tt.float64)),
        9: lambda: group["lr"].fill_(0.01),
        10: use("Adam", lr=1e-2),
        14: lambda: made[0].load_state_dict(copy.deepcopy(made[0].state_dict())),
        18: lambda: made[0].state.clear(),
        20: use("RAdam", lr=1e-2),
        28: use("Adadelta"),
        32: use("Adam", lr=1e-2, amsgrad=True),
        36: lambda: made[0].state[net.weight].update(step=tt.tensor(100.0)),
        38: lambda: made[0].param_groups[0].update(params=[net.weight]),
        40: use("Rprop", lr=1e-2),
        46: lambda: made[0].register_step_post_hook(lambda *args: net.bias.data.mul_(0.5)),
    }
    compiled = wrap(train)

    def step(i: int) -> Any:
        changes.get(i, list)()
        return [compiled(tt.randn(4, 3, dtype=tt.float64)), net.weight, net.bias]

    return step


def share_memory(wrap: Callable[[Any], Any]) -> Program:
    """Arguments that are one tensor, overlap, or have other strides, and are changed in place."""

    def change(a: Any, b: Any) -> Any:
        a.add_(1.0)
        c = a * b
        b[0] = 5.0
        return c + a

    changed, added = wrap(change), wrap(lambda a, out: tt.add(a, 1.0, out=out))

    def step(i: int) -> Any:
        base, out = tt.randn(6, 6), tt.zeros(3, 3)
        a, b = [
            (base[:3], base[3:]), (base[:3], base[:3]), (base[:3], base[1:4]),
            (base[:, :3].t(), base[3:]), (base[:3].clone(), base[::2]),
        ][i % 5]  # fmt: skip
        result = changed(a, a if i % 10 == 1 else b)
        return [result, base, added(tt.randn(3, 3), out if i % 2 else out.t()), out]

    return step


def raise_errors(wrap: Callable[[Any], Any]) -> Program:
    """A function that raises at some calls, after it has changed what it was given."""
    embedding, count = nn.Embedding(5, 3), tt.zeros(3)

    def function(index: Any, x: Any) -> Any:
        count.add_(1.0)
        found = embedding(index)
        x.mul_(2.0)
        return found.sum(0) + x

    compiled = wrap(function)

    def step(i: int) -> Any:
        x = tt.randn(3)
        try:
            result = compiled(tt.tensor([0, 1, 4 if i % 5 else 7]), x)
        except IndexError:
            result = tt.zeros(3)
        return [result, count.clone(), x]

    return step


def vary_batches(wrap: Callable[[Any], Any]) -> Program:
    """Batches in dicts with other keys, lists of other lengths, and keyword arguments."""
    net = nn.Linear(3, 2)

    def function(batch: Any, *rest: Any, scale: Any = 1.0, **more: Any) -> Any:
        y = net(batch["x"]) * scale
        if "mask" in batch:
            y = y * batch["mask"]
        for name, each in [*enumerate(rest), *more.items()]:
            y = y - each if name == "minus" else y + each
        return y + batch["extra"][0] - batch["extra"][1]["z"] if batch.get("extra") else y

    compiled = wrap(function)

    def step(i: int) -> Any:
        batch: dict[str, Any] = {"x": tt.randn(2, 3)}
        if i % 2:
            batch = {"mask": tt.rand(2, 1) > 0.5, **batch}
        if i % 3 == 0:
            batch["extra"] = [tt.randn(2), {"z": tt.randn(1)}] if i % 5 else []
        more = [{"minus": tt.ones(2)}, {"plus": 2.0}, {}][i % 7 % 3]
        scale = (1.0, 2, True, -0.0)[i % 4]
        return [compiled(batch, *[tt.randn(2, 2)] * (i % 2), scale=scale, **more)]

    return step


PROGRAMS = [change_modules, change_optimizers, share_memory, raise_errors, vary_batches]


def run(make: Callable[[Callable[[Any], Any]], Program], wrap: Callable[[Any], Any]) -> Any:
    """Return the results of all steps of a program, and numbers drawn behind them."""
    tt.manual_seed(0)
    step = make(wrap)
    limits = {"recompile_limit": 100, "cache_size_limit": 100}
    with warnings.catch_warnings(), tt._dynamo.config.patch(limits):
        warnings.simplefilter("ignore")
        found = [[each.detach().clone() for each in step(i)] for i in range(STEPS)]
    return [*found, [tt.rand(3)]]


@pytest.mark.parametrize("options", [{}, {"backend": "c"}, {"mode": "check"}], ids=str)
@pytest.mark.parametrize("make", PROGRAMS, ids=lambda make: make.__name__)
def test_a_program_stays_equal_over_50_steps(make: Any, options: dict[str, str]) -> None:
    expected = run(make, lambda function: function)
    found = run(make, lambda function: tt.compile(function, **options))
    for i, (ours, theirs) in enumerate(zip(found, expected, strict=True)):
        for a, b in zip(ours, theirs, strict=True):
            assert a.dtype == b.dtype and tt.allclose(a, b, rtol=1e-4, atol=1e-6), i
