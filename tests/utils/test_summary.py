"""``tt.summary``: shapes, parameters and FLOPs of a model's layers."""

from __future__ import annotations

from typing import Any

import pytest

import tinytorch as tt
from tinytorch import nn


def small() -> Any:
    return nn.Sequential(
        nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Sequential(nn.Linear(144, 10), nn.ReLU())
    )


def test_layers_have_the_shapes_that_they_give() -> None:
    found = tt.summary(small(), (2, 1, 8, 8))
    assert [(layer.name, layer.kind, layer.depth, layer.output_size) for layer in found.layers] == [
        ("", "Sequential", 0, (2, 10)), ("0", "Conv2d", 1, (2, 4, 6, 6)),
        ("1", "ReLU", 1, (2, 4, 6, 6)), ("2", "Flatten", 1, (2, 144)),
        ("3", "Sequential", 1, (2, 10)), ("3.0", "Linear", 2, (2, 10)), ("3.1", "ReLU", 2, (2, 10)),
    ]  # fmt: skip
    assert found.layers[1].input_size == (2, 1, 8, 8)


def test_parameters_and_flops_add_up() -> None:
    found = tt.summary(small(), (2, 1, 8, 8))
    conv, linear = 2 * 2 * 4 * 36 * 9, 2 * 2 * 144 * 10
    assert [layer.flops for layer in found.layers] == [conv + linear, conv, 0, 0, linear, linear, 0]
    assert [layer.num_params for layer in found.layers] == [1490, 40, 0, 0, 1450, 1450, 0]
    assert (found.total_params, found.total_flops) == (1490, conv + linear)
    assert found.param_bytes == 1490 * 4


def test_flops_are_those_that_the_counter_counts() -> None:
    model = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval()
    x = tt.ones(2, 5, 8)
    with tt.utils.flop_counter.FlopCounterMode(display=False) as counter, tt.no_grad():
        model(x)
    assert tt.summary(model, input_data=x).total_flops == counter.get_total_flops() > 0


def test_a_shared_module_is_one_layer_with_two_calls() -> None:
    class Twice(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = self.second = nn.Linear(3, 3)

        def forward(self, x: Any) -> Any:
            return self.second(self.first(x))

    whole, layer = tt.summary(Twice(), (5, 3)).layers
    assert (layer.calls, layer.num_params, layer.flops) == (2, 12, 2 * 2 * 5 * 9)
    assert (whole.num_params, whole.flops) == (12, 2 * 2 * 5 * 9)


def test_a_shared_parameter_counts_once_and_frozen_ones_are_counted_apart() -> None:
    model = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
    model[1].weight = model[0].weight
    model[1].bias.requires_grad_(False)
    found = tt.summary(model, (1, 3))
    assert [layer.num_params for layer in found.layers] == [15, 12, 3]
    assert found.trainable_params == 12 and "15 (3 frozen)" in str(found)


def test_inputs_are_given_as_shapes_or_as_they_are() -> None:
    pair = nn.Bilinear(2, 3, 4)
    for found in (
        tt.summary(pair, [(5, 2), (5, 3)]),
        tt.summary(pair, input_data=(tt.ones(5, 2), tt.ones(5, 3))),
        tt.summary(pair, input_data={"input1": tt.ones(5, 2), "input2": tt.ones(5, 3)}),
    ):
        assert found.layers[0].output_size == (5, 4)
        assert found.layers[0].input_size == [(5, 2), (5, 3)]
    assert tt.summary(nn.Linear(3, 2).double(), (4, 3)).param_bytes == 8 * 8
    words = tt.summary(nn.Embedding(7, 2), (4,), dtypes=tt.int64)
    assert words.layers[0].output_size == (4, 2)


def test_the_model_the_modes_and_the_random_numbers_are_left_as_they_were() -> None:
    model = nn.Sequential(nn.Dropout(), nn.BatchNorm1d(3).eval(), nn.Linear(3, 2))
    before = {name: value.clone() for name, value in model.state_dict().items()}
    tt.manual_seed(3)
    tt.summary(model, (4, 3))
    drawn = tt.rand(1)
    tt.manual_seed(3)
    assert drawn == tt.rand(1)
    assert [module.training for module in model.modules()] == [True, True, False, True]
    assert all(tt.equal(value, before[name]) for name, value in model.state_dict().items())
    assert not any(module._forward_hooks for module in model.modules())
    with pytest.raises(RuntimeError):
        tt.summary(model, (4, 5))
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in model.modules())
    assert model.training


def test_the_depth_argument_limits_the_rows_of_a_summary() -> None:
    lines = str(tt.summary(small(), (2, 1, 8, 8), depth=1)).splitlines()
    assert [line.split()[0] for line in lines[2:7]] == ["Sequential", "0:", "1:", "2:", "3:"]
    assert lines[6].split() == ["3:", "Sequential", "(2,", "10)", "1,450", "5,760"]
    assert repr(tt.summary(small(), (2, 1, 8, 8), depth=1)) == "\n".join(lines)


def test_wrong_arguments_are_refused() -> None:
    model = nn.Linear(3, 2)
    with pytest.raises(TypeError, match="expected a Module, got function"):
        tt.summary(lambda x: x, (1, 3))
    with pytest.raises(ValueError, match="either input_size or input_data"):
        tt.summary(model)
    with pytest.raises(ValueError, match="either input_size or input_data"):
        tt.summary(model, (1, 3), input_data=tt.ones(1, 3))
    with pytest.raises(ValueError, match="2 dtypes for 1 inputs"):
        tt.summary(model, (1, 3), dtypes=[tt.float32, tt.float32])
    with pytest.raises(ValueError, match="expected mode 'eval', 'train' or 'same', got 'fast'"):
        tt.summary(model, (1, 3), mode="fast")
