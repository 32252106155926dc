"""nn.utils: what PyTorch accepts and refuses, with the same results and errors."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from tests.nn import parity
from tests.nn.parity import array

pytestmark = pytest.mark.torch

LAYERS: list[tuple[str, tuple[int, ...]]] = [
    ("Linear(2, 3)", (4, 2)),
    ("Conv1d(2, 3, 2)", (4, 2, 5)),
    ("Conv2d(2, 3, 2)", (4, 2, 5, 5)),
    ("Conv3d(2, 3, 2)", (4, 2, 3, 3, 3)),
    ("ConvTranspose2d(2, 3, 2)", (4, 2, 5, 5)),
]


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("dim", [None, 0, 1, -1])
@pytest.mark.parametrize("where", ["nn.utils", "nn.utils.parametrizations"])
@pytest.mark.parametrize(("make", "shape"), LAYERS)
def test_weight_norm(make: str, shape: tuple[int, ...], where: str, dim: int | None) -> None:
    def run(lib: Any) -> Any:
        space = {"nn": lib.nn}
        layer = eval(f"{where}.weight_norm", space)(parity.make_layer(lib, make), dim=dim)
        return [layer.state_dict(), layer(lib.tensor(array(*shape)))]

    parity.same(run)


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_spectral_norm_of_a_vector() -> None:
    def run(lib: Any) -> Any:
        layer = lib.nn.utils.spectral_norm(parity.make_layer(lib, "Linear(2, 3)"), "bias")
        return {name: list(x.shape) for name, x in layer.state_dict().items()}

    parity.same(run)


SETTING = """
class Smaller(nn.Module):
    def forward(self, x):
        return x

    def right_inverse(self, x):
        return x[:1]
"""
ERRORS = [
    "utils.weight_norm(nn.Linear(2, 3), dim=5)",
    "utils.parametrizations.weight_norm(nn.Linear(2, 3), dim=5)",
    "utils.parametrize.register_parametrization(nn.Linear(2, 3), 'weight', Smaller())",
    "call(nn.Sequential(nn.Linear(2, 3)), {'1.weight': ones(3, 2)}, ones(1, 2))",
    "call(nn.Sequential(nn.Linear(2, 3)), {'a.b.c': ones(3, 2)}, ones(1, 2))",
    "call(nn.Sequential(nn.Linear(2, 3)), {'0.weight.x': ones(3, 2)}, ones(1, 2))",
    "call(nn.Sequential(nn.Linear(2, 3)), {'0': ones(3, 2)}, ones(1, 2))",
    "call(nn.Sequential(nn.Linear(2, 3)), {'0.': ones(3, 2)}, ones(1, 2))",
    "call(nn.Linear(2, 3), {'foo': ones(3, 2)}, ones(1, 2), strict=True)",
    "rnn.pad_sequence([1, 2])",
    "rnn.pad_sequence([ones(2), 3])",
    "rnn.pad_sequence([lib.tensor(1.0)])",
    "rnn.pack_padded_sequence(ones(3, 2, 2), lib.tensor([[3, 2]]))",
    "rnn.pack_padded_sequence(ones(3, 2, 2), lib.tensor(3))",
    "rnn.pack_padded_sequence(ones(3, 2, 0), [3, 2])",
    "rnn.pack_padded_sequence(ones(3, 0, 2), [])",
    "rnn.pack_padded_sequence(ones(5), [3, 2])",
    "rnn.pack_sequence([ones(0)])",
]


@pytest.mark.parametrize("use", ERRORS)
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_errors(use: str) -> None:
    def run(lib: Any) -> Any:
        scope = {"lib": lib, "nn": lib.nn, "utils": lib.nn.utils, "rnn": lib.nn.utils.rnn,
                 "ones": lib.ones, "call": lib.func.functional_call}  # fmt: skip
        exec(SETTING, scope)
        return eval(use, scope)

    ours, theirs = parity.refusals(run)
    if "tensor(1.0)" not in use:  # whose text is about an array's reference
        assert " ".join(theirs.split()[:3]) in ours, (ours, theirs)


def test_a_tensor_with_a_history_is_pickled_without_it() -> None:
    def run(lib: Any) -> Any:
        x = lib.ones(2, requires_grad=True)
        back = pickle.loads(pickle.dumps([x, x * 2]))
        return [back, [each.requires_grad and each.is_leaf for each in back]]

    parity.same(run)


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_a_layer_with_weight_norm_can_be_pickled() -> None:
    def run(lib: Any) -> Any:
        layer = lib.nn.utils.weight_norm(parity.make_layer(lib, "Linear(2, 3)"))
        back = pickle.loads(pickle.dumps(layer))
        return [back.state_dict(), back(lib.ones(1, 2))]

    parity.same(run)
