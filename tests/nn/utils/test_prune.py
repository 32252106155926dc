"""nn.utils.prune: masks, their order, and going back, beside PyTorch's."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import pytest

import tinytorch as tt
from tests.oracles import assert_same
from tinytorch import nn
from tinytorch.nn.utils import prune

STEPS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "identity": lambda lib, p, m: p.identity(m, "weight"),
    "random": lambda lib, p, m: p.random_unstructured(m, "weight", 0.4),
    "random count": lambda lib, p, m: p.random_unstructured(m, "weight", amount=5),
    "l1": lambda lib, p, m: p.l1_unstructured(m, "weight", 0.3),
    "l1 of the bias": lambda lib, p, m: p.l1_unstructured(m, "bias", 2),
    "l1 by scores": lambda lib, p, m: p.l1_unstructured(
        m, "weight", 3, importance_scores=lib.arange(24.0).reshape(4, 6)
    ),
    "random channels": lambda lib, p, m: p.random_structured(m, "weight", 0.5, dim=0),
    "channels": lambda lib, p, m: p.ln_structured(m, "weight", 2, n=2, dim=1),
    "channels by maximum": lambda lib, p, m: p.ln_structured(
        m, "weight", 0.3, n=float("inf"), dim=-1
    ),
    "mask": lambda lib, p, m: p.custom_from_mask(
        m, "weight", (lib.arange(24).reshape(4, 6) % 3 > 0)
    ),
    "nothing": lambda lib, p, m: p.ln_structured(m, "weight", 0, n=1, dim=0),
}
PLANS = [
    *([name] for name in STEPS),
    ["l1", "l1"],
    ["random", "channels"],
    ["channels", "l1"],
    ["channels", "random channels", "l1"],
    ["mask", "l1 by scores", "random"],
    ["l1", "l1 of the bias", "mask"],
]


def pruned(lib: Any, plan: list[str]) -> list[Any]:
    p = importlib.import_module(f"{lib.__name__}.nn.utils.prune")
    lib.manual_seed(0)
    layer = lib.nn.Linear(6, 4)
    x = lib.randn(3, 6)
    seen: list[Any] = []
    for step in plan:
        assert STEPS[step](lib, p, layer) is layer
        seen.append([list(layer.state_dict()), layer.weight.tolist(), layer.bias.tolist()])
    optimizer = lib.optim.SGD(layer.parameters(), lr=0.1)
    for _ in range(2):
        optimizer.zero_grad()
        layer(x).square().sum().backward()
        optimizer.step()
    seen.append([[name for name, _ in layer.named_parameters()], layer(x).tolist()])
    seen.append([list(layer.state_dict()), [v.tolist() for v in layer.state_dict().values()]])
    for name in [n.removesuffix("_orig") for n, _ in layer.named_parameters() if "_orig" in n]:
        p.remove(layer, name)
    seen.append([[name for name, _ in layer.named_parameters()], layer.weight.tolist()])
    return seen


#: Weights and outputs of float32 layers.
WEIGHTS = {"rtol": 1e-4, "atol": 1e-5}


@pytest.mark.parametrize("plan", PLANS, ids=" then ".join)
def test_pruned_layers_are_pytorchs(torch: Any, plan: list[str]) -> None:
    assert_same(pruned(tt, plan), pruned(torch, plan), **WEIGHTS)


def all_together(lib: Any) -> Any:
    p = importlib.import_module(f"{lib.__name__}.nn.utils.prune")
    lib.manual_seed(1)
    net = lib.nn.Sequential(lib.nn.Conv1d(2, 3, 2), lib.nn.Linear(3, 2))
    pairs = [(net[0], "weight"), (net[1], "weight")]
    p.global_unstructured(pairs, p.L1Unstructured, amount=0.4)
    p.global_unstructured(tuple(pairs), p.RandomUnstructured, amount=3)
    p.global_unstructured(
        pairs, p.L1Unstructured, {pairs[0]: lib.arange(12.0).reshape(3, 2, 2)}, amount=0.2
    )
    return [[name, value.tolist()] for name, value in net.state_dict().items()]


def test_pruning_several_parameters_is_torchs(torch: Any) -> None:
    assert_same(all_together(tt), all_together(torch), **WEIGHTS)


def test_l1_pruning_removes_the_smallest_weights() -> None:
    layer: Any = nn.Linear(3, 1, bias=False)
    layer.weight.data = tt.tensor([[0.5, -0.1, 2.0]])
    prune.l1_unstructured(layer, "weight", 1)
    assert layer.weight_mask.tolist() == [[1.0, 0.0, 1.0]]
    layer(tt.ones(1, 3)).sum().backward()
    assert layer.weight_orig.grad.tolist() == [[1.0, 0.0, 1.0]]


def test_pruned_layers_save_their_state_and_pruning_can_be_removed() -> None:
    net: Any = nn.Sequential(nn.Linear(3, 2))
    parameter = net[0].weight
    assert not prune.is_pruned(net)
    prune.random_unstructured(net[0], "weight", 2)
    assert prune.is_pruned(net) and net[0].weight_orig is parameter
    other = nn.Sequential(prune.identity(nn.Linear(3, 2), "weight"))
    other.load_state_dict(net.state_dict())
    x = tt.ones(1, 3)
    assert tt.equal(other(x), net(x))
    weight = net[0].weight.detach()
    prune.remove(net[0], "weight")
    assert net[0].weight is parameter and tt.equal(parameter, weight)
    assert not prune.is_pruned(net) and prune.is_pruned(other)


LAYER = nn.Linear(3, 2)


@pytest.mark.parametrize(
    ("error", "text", "call"),
    [
        (TypeError, "Invalid type for amount: a", lambda: prune.L1Unstructured("a")),
        (ValueError, "amount=1.5 should either be a float in the range",
         lambda: prune.L1Unstructured(1.5)),
        (ValueError, "amount=-1 should either be", lambda: prune.RandomStructured(-1, 0)),
        (ValueError, "amount=7 should be smaller than the number of parameters to prune=6",
         lambda: prune.l1_unstructured(LAYER, "weight", 7)),
        (ValueError, "can only be applied to multidimensional tensors",
         lambda: prune.ln_structured(LAYER, "bias", 1, 2, 0)),
        (IndexError, "Invalid index 2 for tensor of size",
         lambda: prune.random_structured(LAYER, "weight", 1, 2)),
        (ValueError, "has to be pruned before pruning can be removed",
         lambda: prune.remove(LAYER, "weight")),
        (AssertionError, "importance_scores should have the same shape",
         lambda: prune.l1_unstructured(LAYER, "weight", 1, tt.ones(2))),
        (TypeError, "parameters is not an Iterable",
         lambda: prune.global_unstructured(3, prune.Identity)),  # type: ignore[arg-type]
        (TypeError, "must be of type dict", lambda: prune.global_unstructured(
            [], prune.L1Unstructured, [1], amount=1)),  # type: ignore[arg-type]
        (TypeError, 'Only "unstructured" PRUNING_TYPE supported',
         lambda: prune.global_unstructured([], prune.LnStructured, amount=1)),
        (AssertionError, "must match self.mask shape", lambda: prune.custom_from_mask(
            LAYER, "weight", tt.ones(4, 2, 3))),
        (AttributeError, "no attribute 'x'", lambda: prune.identity(LAYER, "x")),
    ],
)  # fmt: skip
def test_wrong_use_of_pruning_raises_and_changes_nothing(
    error: type[Exception], text: str, call: Callable[[], Any]
) -> None:
    with pytest.raises(error, match=text):
        call()
    assert list(LAYER.state_dict()) == ["weight", "bias"]


def test_a_method_that_fails_leaves_the_ones_before_as_they_were() -> None:
    layer = prune.l1_unstructured(prune.identity(nn.Linear(3, 2), "weight"), "weight", 2)
    (hook,) = layer._forward_pre_hooks.values()
    with pytest.raises(IndexError):
        prune.ln_structured(layer, "weight", 1, 2, 5)
    assert [*layer._forward_pre_hooks.values()] == [hook]
    assert isinstance(hook, prune.PruningContainer) and len(hook) == 2
    assert prune.l1_unstructured(layer, "weight", 1).weight_mask.sum().item() == 3
