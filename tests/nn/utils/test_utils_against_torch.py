"""nn.utils: what PyTorch accepts and refuses, with the same results and errors."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from tests.calls import Call, call_with_names, words
from tests.nn import parity
from tests.nn.parity import array
from tests.oracles import assert_same_behavior, error_texts

pytestmark = pytest.mark.torch

LAYERS: list[tuple[Call, tuple[int, ...]]] = [
    (lambda nn: nn.Linear(2, 3), (4, 2)),
    (lambda nn: nn.Conv1d(2, 3, 2), (4, 2, 5)),
    (lambda nn: nn.Conv2d(2, 3, 2), (4, 2, 5, 5)),
    (lambda nn: nn.Conv3d(2, 3, 2), (4, 2, 3, 3, 3)),
    (lambda nn: nn.ConvTranspose2d(2, 3, 2), (4, 2, 5, 5)),
]


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("dim", [None, 0, 1, -1])
@pytest.mark.parametrize(
    "where", [lambda nn: nn.utils, lambda nn: nn.utils.parametrizations], ids=words
)
@pytest.mark.parametrize(("make", "shape"), LAYERS, ids=words)
def test_weight_norm_equals_pytorchs(
    make: Call, shape: tuple[int, ...], where: Call, dim: int | None
) -> None:
    def run(lib: Any) -> Any:
        layer = where(lib.nn).weight_norm(parity.make_layer(lib, make), dim=dim)
        return [layer.state_dict(), layer(lib.tensor(array(*shape)))]

    assert_same_behavior(run)


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_spectral_norm_of_a_vector_equals_pytorchs() -> None:
    def run(lib: Any) -> Any:
        layer = lib.nn.utils.spectral_norm(
            parity.make_layer(lib, lambda nn: nn.Linear(2, 3)), "bias"
        )
        return {name: list(x.shape) for name, x in layer.state_dict().items()}

    assert_same_behavior(run)


def smaller(nn: Any) -> Any:
    """A parametrization whose inverse gives less than it was given."""

    class Smaller(nn.Module):  # type: ignore[name-defined,misc]
        def forward(self, x: Any) -> Any:
            return x

        def right_inverse(self, x: Any) -> Any:
            return x[:1]

    return Smaller


ERRORS: list[Call] = [
    lambda nn, utils: utils.weight_norm(nn.Linear(2, 3), dim=5),
    lambda nn, utils: utils.parametrizations.weight_norm(nn.Linear(2, 3), dim=5),
    lambda nn, utils, Smaller: utils.parametrize.register_parametrization(
        nn.Linear(2, 3), "weight", Smaller()
    ),
    lambda nn, ones, call: call(
        nn.Sequential(nn.Linear(2, 3)), {"1.weight": ones(3, 2)}, ones(1, 2)
    ),
    lambda nn, ones, call: call(nn.Sequential(nn.Linear(2, 3)), {"a.b.c": ones(3, 2)}, ones(1, 2)),
    lambda nn, ones, call: call(
        nn.Sequential(nn.Linear(2, 3)), {"0.weight.x": ones(3, 2)}, ones(1, 2)
    ),
    lambda nn, ones, call: call(nn.Sequential(nn.Linear(2, 3)), {"0": ones(3, 2)}, ones(1, 2)),
    lambda nn, ones, call: call(nn.Sequential(nn.Linear(2, 3)), {"0.": ones(3, 2)}, ones(1, 2)),
    lambda nn, ones, call: call(nn.Linear(2, 3), {"foo": ones(3, 2)}, ones(1, 2), strict=True),
    lambda rnn: rnn.pad_sequence([1, 2]),
    lambda rnn, ones: rnn.pad_sequence([ones(2), 3]),
    lambda lib, rnn: rnn.pad_sequence([lib.tensor(1.0)]),
    lambda lib, rnn, ones: rnn.pack_padded_sequence(ones(3, 2, 2), lib.tensor([[3, 2]])),
    lambda lib, rnn, ones: rnn.pack_padded_sequence(ones(3, 2, 2), lib.tensor(3)),
    lambda rnn, ones: rnn.pack_padded_sequence(ones(3, 2, 0), [3, 2]),
    lambda rnn, ones: rnn.pack_padded_sequence(ones(3, 0, 2), []),
    lambda rnn, ones: rnn.pack_padded_sequence(ones(5), [3, 2]),
    lambda rnn, ones: rnn.pack_sequence([ones(0)]),
]


@pytest.mark.parametrize("use", ERRORS, ids=words)
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_utilities_raise_pytorchs_errors(use: Call) -> None:
    def run(lib: Any) -> Any:
        scope = {"lib": lib, "nn": lib.nn, "utils": lib.nn.utils, "rnn": lib.nn.utils.rnn,
                 "ones": lib.ones, "call": lib.func.functional_call,
                 "Smaller": smaller(lib.nn)}  # fmt: skip
        return call_with_names(use, scope)

    ours, theirs = error_texts(run)
    if "tensor(1.0)" not in str(words(use)):  # whose text is about an array's reference
        assert " ".join(theirs.split()[:3]) in ours, (ours, theirs)


def test_a_tensor_with_a_history_is_pickled_without_it() -> None:
    def run(lib: Any) -> Any:
        x = lib.ones(2, requires_grad=True)
        back = pickle.loads(pickle.dumps([x, x * 2]))
        return [back, [each.requires_grad and each.is_leaf for each in back]]

    assert_same_behavior(run)


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_a_layer_with_weight_norm_can_be_pickled() -> None:
    def run(lib: Any) -> Any:
        layer = lib.nn.utils.weight_norm(parity.make_layer(lib, lambda nn: nn.Linear(2, 3)))
        back = pickle.loads(pickle.dumps(layer))
        return [back.state_dict(), back(lib.ones(1, 2))]

    assert_same_behavior(run)
