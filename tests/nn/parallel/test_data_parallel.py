"""``DataParallel`` on one device: it computes what its module computes."""

from __future__ import annotations

from typing import Any

import pytest

from tests.oracles import assert_same_behavior


def build(lib: Any, **options: Any) -> tuple[Any, Any]:
    lib.manual_seed(0)
    module = lib.nn.Sequential(lib.nn.Linear(3, 4), lib.nn.Dropout(0.5), lib.nn.Linear(4, 2))
    return module, lib.nn.DataParallel(module, **options)


@pytest.mark.torch
def test_outputs_gradients_and_state_of_data_parallel_are_pytorchs() -> None:
    def use(lib: Any) -> Any:
        module = lib.nn.Linear(2, 2)
        with lib.no_grad():
            module.weight.copy_(lib.tensor([[1.0, -2.0], [0.5, 3.0]]))
            module.bias.fill_(0.25)
        model = lib.nn.DataParallel(module)
        x = lib.tensor([[1.0, 2.0], [-1.0, 0.5], [0.0, 4.0]], requires_grad=True)
        y = model(x)
        (y * y).sum().backward()
        return [y, x.grad, module.weight.grad, module.bias.grad, model.state_dict(), repr(model)]

    assert_same_behavior(use)


def test_data_parallel_holds_the_module_itself(lib: Any) -> None:
    module, model = build(lib, device_ids=None, output_device=None)
    assert model.module is module and list(model.children()) == [module]
    for own, inner in zip(model.parameters(), module.parameters(), strict=True):
        assert own is inner
    assert list(model.state_dict()) == [f"module.{name}" for name in module.state_dict()]
    assert model.device_ids == []


def test_modes_and_arguments_reach_the_module(lib: Any) -> None:
    module, model = build(lib)
    x = lib.ones(5, 3)
    model.eval()
    assert not module[1].training and (model(x) == module(x)).all()
    model.train()
    assert module[1].training

    class Scale(lib.nn.Module):  # type: ignore[misc, name-defined]
        def forward(self, x: Any, factor: float = 1.0) -> Any:
            return x * factor

    assert lib.nn.DataParallel(Scale())(x, factor=3.0).sum() == 45
    assert lib.nn.DataParallel(Scale())(x, 2.0).sum() == 30


def test_loading_a_state_dict_needs_the_prefix(lib: Any) -> None:
    module, model = build(lib)
    other, copy = build(lib)
    with lib.no_grad():
        module[0].weight.add_(1)
    copy.load_state_dict(model.state_dict())
    assert (other[0].weight == module[0].weight).all()
    with pytest.raises(RuntimeError, match="Missing key"):
        copy.load_state_dict(module.state_dict())
