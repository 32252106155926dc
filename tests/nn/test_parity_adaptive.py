"""Adaptive softmax is PyTorch's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.nn import parity
from tests.oracles import assert_same_behavior, assert_same_error

pytestmark = pytest.mark.torch

TARGETS = np.array([0, 19, 3, 9, 4, 2, 10])


def make(lib: Any, **options: Any) -> Any:
    lib.manual_seed(0)
    return lib.nn.AdaptiveLogSoftmaxWithLoss(16, 20, [4, 10], div_value=2.0, **options).double()


def scores(lib: Any, rows: int = 7) -> Any:
    return lib.tensor(parity.array(rows, 16, dtype="float64"), requires_grad=True)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("targets", [TARGETS, TARGETS % 4, np.array([5] * 7)])
def test_output_loss_and_gradients_of_adaptive_softmax_are_pytorchs(
    targets: Any, bias: bool
) -> None:
    def run(lib: Any) -> Any:
        layer, x = make(lib, head_bias=bias), scores(lib)
        output, loss = layer(x, lib.tensor(targets))
        (loss + output[0]).backward()
        grads = [param.grad for param in layer.parameters()]
        return [repr(layer), list(layer.state_dict()), output, loss, x.grad, grads]

    assert_same_behavior(run)


def test_adaptive_softmax_of_one_sample_is_pytorchs() -> None:
    assert_same_behavior(lambda lib: list(make(lib)(scores(lib)[0], lib.tensor(12))))


def test_log_prob_and_predict_of_adaptive_softmax_are_pytorchs() -> None:
    assert_same_behavior(
        lambda lib: [make(lib).log_prob(scores(lib)), make(lib).predict(scores(lib, 50))]
    )


def test_initial_weights_of_adaptive_softmax_are_pytorchs() -> None:
    def run(lib: Any) -> Any:
        layer = make(lib)
        layer.reset_parameters()
        return layer.state_dict()

    assert_same_behavior(run)


ERRORS: list[Any] = [
    lambda lib: lib.nn.AdaptiveLogSoftmaxWithLoss(16, 20, []),
    lambda lib: lib.nn.AdaptiveLogSoftmaxWithLoss(16, 20, [5, 5]),
    lambda lib: lib.nn.AdaptiveLogSoftmaxWithLoss(16, 20, [20]),
    lambda lib: make(lib)(scores(lib), lib.tensor([1, 2])),
    lambda lib: make(lib)(scores(lib), lib.tensor([[1]])),
    lambda lib: make(lib)(scores(lib), lib.tensor(1)),
]


@pytest.mark.parametrize("use", ERRORS)
def test_adaptive_softmax_raises_pytorchs_errors(use: Any) -> None:
    assert_same_behavior(use)


def test_targets_must_be_classes() -> None:
    assert_same_error(lambda lib: make(lib)(scores(lib, 1), lib.tensor([20])), words=6)
