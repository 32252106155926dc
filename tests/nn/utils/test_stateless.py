"""nn.utils.stateless: a module called with other tensors than its own."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import pytest

import tinytorch as tt
from tinytorch import nn
from tinytorch.nn.utils.stateless import functional_call


def test_gradients_reach_the_tensors_given() -> None:
    net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
    own = dict(net.named_parameters())
    given = {name: p.detach().mul(2).requires_grad_() for name, p in own.items()}
    out = functional_call(net, given, tt.ones(4, 2))
    out.sum().backward()
    assert all(tensor.grad is not None for tensor in given.values())
    assert all(p.grad is None for p in net.parameters())
    assert dict(net.named_parameters()) == own
    twice = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
    twice.load_state_dict(given)
    assert tt.equal(twice(tt.ones(4, 2)), out)


def test_functional_call_accepts_some_tensors_buffers_and_keywords() -> None:
    norm = nn.BatchNorm1d(2).eval()
    out = functional_call(norm, {"running_mean": tt.ones(2)}, kwargs={"input": tt.ones(1, 2)})
    assert out.tolist() == [[0.0, 0.0]] and norm.running_mean.tolist() == [0.0, 0.0]


def test_the_modules_own_tensors_come_back_after_an_error() -> None:
    layer = nn.Linear(2, 2)
    weight = layer.weight
    with pytest.raises(RuntimeError):
        functional_call(layer, {"weight": tt.ones(2, 5)}, tt.ones(1, 2))
    assert layer.weight is weight


class Tied(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = nn.Linear(2, 2, bias=False), nn.Linear(2, 2, bias=False)
        self.b.weight = self.a.weight

    def forward(self, x: Any) -> Any:
        return self.a(x) + self.b(x)


def test_functional_call_replaces_tied_weights_together() -> None:
    net, x, one = Tied(), tt.ones(1, 2), tt.ones(2, 2)
    assert functional_call(net, {"a.weight": one}, x).tolist() == [[4.0, 4.0]]
    out = functional_call(net, {"a.weight": one}, x, tie_weights=False)
    assert tt.allclose(out, 2 * tt.ones(1, 2) + net.b(x))
    with pytest.raises(ValueError, match="multiple values for keys"):
        functional_call(net, {"a.weight": one, "b.weight": 2 * one}, x)


def test_functional_call_with_strict_refuses_missing_and_unexpected_names() -> None:
    layer, x = nn.Linear(2, 2), tt.ones(1, 2)
    with pytest.raises(RuntimeError, match=r"Missing key\(s\): 'bias'"):
        functional_call(layer, {"weight": tt.ones(2, 2)}, x, strict=True)
    with pytest.raises(RuntimeError, match=r"Unexpected key\(s\): 'y'"):
        functional_call(layer, {**layer.state_dict(), "y": x}, x, strict=True)
    functional_call(layer, {"y": x}, x)


def test_buffers_that_the_module_assigns_are_written_to_the_mapping() -> None:
    class Counting(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("count", tt.zeros(1))
            self.weight = nn.Parameter(tt.ones(1))

        def forward(self, x: Any) -> Any:
            self.count = self.count + 1
            return x * self.weight + self.count

    module, given = Counting(), {"count": tt.tensor([5.0]), "weight": tt.tensor([2.0])}
    weight = given["weight"]
    assert functional_call(module, given, tt.ones(1)).item() == 8.0
    assert given["count"].item() == 6.0 and given["weight"] is weight
    assert module.count.item() == 0.0
    layer = nn.Linear(1, 1)  # nothing is assigned, so nothing is written to the mapping
    frozen = MappingProxyType({"weight": tt.ones(1, 1), "bias": tt.ones(1)})
    assert functional_call(layer, frozen, tt.ones(1)).item() == 2.0


def test_the_modules_own_tensors_come_back_whatever_became_of_its_buffers() -> None:
    class Changing(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(tt.ones(1))
            self.register_buffer("count", tt.zeros(1))

        def forward(self, x: Any, drop: bool) -> Any:
            if drop:
                del self.count
            else:
                self.count = self.count + 1
            return x * self.weight

    module = Changing()
    own = module.weight, module.count
    given = {"weight": tt.tensor([2.0]), "count": tt.tensor([5.0])}
    assert functional_call(module, given, (tt.ones(1), True)).item() == 2.0
    assert module.weight is own[0] and module.count is own[1]
    with pytest.raises(AttributeError):  # there is nowhere to put the new one
        functional_call(module, MappingProxyType(given), (tt.ones(1), False))
    assert module.weight is own[0] and module.count is own[1]
