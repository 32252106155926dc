"""nn.init and the layers' first weights are PyTorch's for the same seed."""

from __future__ import annotations

from typing import Any

import pytest

from tests.oracles import assert_same_behavior

pytestmark = pytest.mark.torch

FILLS: list[tuple[str, tuple[int, ...], dict[str, Any]]] = [
    ("uniform_", (3, 5), {}),
    ("uniform_", (40, 5), {"a": -2.0, "b": 3.0}),
    ("normal_", (3, 5), {}),
    ("normal_", (40, 5), {"mean": 1.0, "std": 0.1}),
    ("trunc_normal_", (40, 5), {}),
    ("trunc_normal_", (40, 5), {"mean": 1.0, "std": 2.0, "a": 0.0, "b": 2.0}),
    ("trunc_normal_", (40, 5), {"a": 1.5, "b": 2.0}),
    ("trunc_normal_", (3, 5), {"mean": 0.5, "std": 2.0, "a": 0.0, "b": 0.5}),
    ("constant_", (3, 5), {"val": 0.3}),
    ("ones_", (3, 5), {}),
    ("zeros_", (3, 5), {}),
    ("eye_", (3, 5), {}),
    ("dirac_", (4, 2, 3), {}),
    ("dirac_", (6, 2, 3, 3), {"groups": 3}),
    ("dirac_", (2, 4, 2, 3, 5), {}),
    ("xavier_uniform_", (3, 5), {"gain": 2.0}),
    ("xavier_uniform_", (3, 5, 2), {}),
    ("xavier_normal_", (30, 5), {}),
    ("kaiming_uniform_", (3, 5), {"a": 0.3}),
    ("kaiming_uniform_", (4, 5, 3, 3), {"mode": "fan_out", "nonlinearity": "relu"}),
    ("kaiming_normal_", (30, 5), {"nonlinearity": "selu"}),
    ("orthogonal_", (3, 5), {}),
    ("orthogonal_", (5, 3), {"gain": 2.0}),
    ("orthogonal_", (4, 3, 2), {}),
    ("sparse_", (10, 4), {"sparsity": 0.3}),
]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("name", "shape", "options"), FILLS)
def test_initializers_fill_a_tensor_as_pytorchs(
    name: str, shape: tuple[int, ...], options: dict[str, Any], dtype: str
) -> None:
    def fill(lib: Any) -> Any:
        tensor = lib.full(shape, 9.0, dtype=getattr(lib, dtype), requires_grad=True)
        result = getattr(lib.nn.init, name)(tensor, **options)
        assert result is tensor and tensor.requires_grad and tensor.grad_fn is None
        return [tensor, lib.rand(3)]

    assert_same_behavior(fill)


def test_initializers_accept_a_generator() -> None:
    def fill(lib: Any) -> Any:
        generator = lib.Generator().manual_seed(7)
        return lib.nn.init.normal_(lib.empty(20), generator=generator)

    assert_same_behavior(fill)


ERRORS: list[Any] = [
    lambda lib: lib.nn.init.eye_(lib.empty(2)),
    lambda lib: lib.nn.init.dirac_(lib.empty(2, 2)),
    lambda lib: lib.nn.init.dirac_(lib.empty(3, 2, 2), groups=2),
    lambda lib: lib.nn.init.xavier_uniform_(lib.empty(3)),
    lambda lib: lib.nn.init.kaiming_uniform_(lib.empty(3, 2), mode="fan"),
    lambda lib: lib.nn.init.orthogonal_(lib.empty(3)),
    lambda lib: lib.nn.init.sparse_(lib.empty(3), 0.5),
    lambda lib: lib.nn.init.calculate_gain("leaky_relu", True),
]


@pytest.mark.parametrize("use", ERRORS)
def test_initializers_raise_pytorchs_errors(use: Any) -> None:
    assert_same_behavior(use)


@pytest.mark.parametrize(
    "name",
    ["linear", "conv1d", "conv_transpose3d", "sigmoid", "tanh", "relu", "leaky_relu", "selu"],
)
def test_calculate_gain_is_pytorchs(name: str) -> None:
    assert_same_behavior(lambda lib: float(lib.nn.init.calculate_gain(name)))


def test_calculate_gain_of_leaky_relu_uses_the_slope() -> None:
    assert_same_behavior(lambda lib: lib.nn.init.calculate_gain("leaky_relu", 0.2))


@pytest.mark.parametrize("shape", [(3, 5), (4, 2, 3, 7)])
def test_fan_in_and_fan_out_are_pytorchs(shape: tuple[int, ...]) -> None:
    assert_same_behavior(lambda lib: lib.nn.init._calculate_fan_in_and_fan_out(lib.empty(shape)))


LAYERS: list[Any] = [
    lambda nn, **f: nn.Linear(3, 4, **f),
    lambda nn, **f: nn.Linear(300, 40, **f),
    lambda nn, **f: nn.Linear(3, 4, bias=False, **f),
    lambda nn, **f: nn.Bilinear(3, 4, 5, **f),
    lambda nn, **f: nn.Bilinear(3, 4, 5, bias=False, **f),
    lambda nn, **f: nn.Embedding(10, 3, **f),
    lambda nn, **f: nn.Embedding(10, 3, padding_idx=-1, **f),
    lambda nn, **f: nn.EmbeddingBag(10, 3, padding_idx=2, **f),
    lambda nn, **f: nn.LayerNorm((3, 4), **f),
    lambda nn, **f: nn.RMSNorm(3, **f),
    lambda nn, **f: nn.GroupNorm(2, 4, **f),
    lambda nn, **f: nn.PReLU(3, **f),
    lambda nn, **f: nn.LinearCrossEntropyLoss(3, 4, out_features=(2,), bias=True, **f),
    lambda nn, **f: nn.Sequential(nn.Linear(3, 4, **f), nn.Embedding(2, 3, **f)),
]


@pytest.mark.parametrize("make", LAYERS)
def test_initial_weights_of_layers_are_pytorchs(make: Any) -> None:
    def weights(lib: Any) -> Any:
        state = make(lib.nn).state_dict()
        return [state, lib.rand(3)]

    assert_same_behavior(weights)


@pytest.mark.parametrize("make", LAYERS)
def test_initial_weights_in_another_dtype_are_pytorchs(make: Any) -> None:
    def weights(lib: Any) -> Any:
        layer = make(lib.nn, dtype=lib.float64, device="cpu")
        layer.apply(lambda m: m.reset_parameters() if hasattr(m, "reset_parameters") else None)
        return layer.state_dict()

    assert_same_behavior(weights)
