"""Layers: repr, arguments, state, output and gradients are PyTorch's."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.calls import Call, words
from tests.nn import parity
from tests.oracles import assert_same_behavior, error_texts

pytestmark = pytest.mark.torch

array = parity.array
A23, A234, A2345 = array(2, 3), array(2, 3, 4), array(2, 3, 4, 5)

# Layers without randomness in forward: how to make them, and what they are called with.
LAYERS: list[tuple[Call, tuple[Any, ...]]] = [
    (lambda nn: nn.Identity(), (A23,)),
    (lambda nn: nn.Identity(3, unused=True), (A23,)),
    (lambda nn: nn.Linear(4, 5), (A234,)),
    (lambda nn: nn.Linear(4, 5, bias=False), (A234,)),
    (lambda nn: nn.Linear(in_features=4, out_features=1), (array(4),)),
    (lambda nn: nn.Bilinear(3, 4, 5), (array(2, 3), array(2, 4))),
    (lambda nn: nn.Bilinear(3, 4, 5, bias=False), (array(2, 6, 3), array(2, 6, 4))),
    (lambda nn: nn.Flatten(), (A2345,)),
    (lambda nn: nn.Flatten(0, 2), (A2345,)),
    (lambda nn: nn.Unflatten(1, (3, 1)), (A234,)),
    (lambda nn: nn.Unflatten(-1, [2, -1]), (A234,)),
    (lambda nn: nn.ReLU(), (A234,)),
    (lambda nn: nn.ReLU(inplace=True), (A234,)),
    (lambda nn: nn.ReLU6(), (9 * A234,)),
    (lambda nn: nn.ReLU6(inplace=True), (A234,)),
    (lambda nn: nn.LeakyReLU(), (A234,)),
    (lambda nn: nn.LeakyReLU(0.2, inplace=True), (A234,)),
    (lambda nn: nn.PReLU(), (A234,)),
    (lambda nn: nn.PReLU(3, 0.1), (A234,)),
    (lambda nn: nn.RReLU(0.1, 0.3).eval(), (A234,)),
    (lambda nn: nn.ELU(), (A234,)),
    (lambda nn: nn.ELU(0.5, True), (A234,)),
    (lambda nn: nn.CELU(2.0), (A234,)),
    (lambda nn: nn.SELU(), (A234,)),
    (lambda nn: nn.SELU(True), (A234,)),
    (lambda nn: nn.SiLU(), (A234,)),
    (lambda nn: nn.SiLU(inplace=True), (A234,)),
    (lambda nn: nn.Mish(), (A234,)),
    (lambda nn: nn.Threshold(0.1, 20.0), (A234,)),
    (lambda nn: nn.Threshold(0.1, 20.0, True), (A234,)),
    (lambda nn: nn.Hardtanh(), (A234,)),
    (lambda nn: nn.Hardtanh(-0.5, 2.0, inplace=True), (A234,)),
    (lambda nn: nn.Hardsigmoid(), (4 * A234,)),
    (lambda nn: nn.Hardswish(), (4 * A234,)),
    (lambda nn: nn.GELU(), (A234,)),
    (lambda nn: nn.GELU("tanh"), (A234,)),
    (lambda nn: nn.GLU(), (A234,)),
    (lambda nn: nn.GLU(dim=2), (A234,)),
    (lambda nn: nn.Sigmoid(), (A234,)),
    (lambda nn: nn.LogSigmoid(), (30 * A234,)),
    (lambda nn: nn.Tanh(), (A234,)),
    (lambda nn: nn.Tanhshrink(), (A234,)),
    (lambda nn: nn.Softsign(), (A234,)),
    (lambda nn: nn.Hardshrink(), (A234,)),
    (lambda nn: nn.Hardshrink(0.2), (A234,)),
    (lambda nn: nn.Softshrink(), (A234,)),
    (lambda nn: nn.Softshrink(0.2), (A234,)),
    (lambda nn: nn.Softplus(), (9 * A234,)),
    (lambda nn: nn.Softplus(2.0, 5.0), (9 * A234,)),
    (lambda nn: nn.Softmax(dim=1), (A234,)),
    (lambda nn: nn.Softmax(-1), (30 * A234,)),
    (lambda nn: nn.Softmin(dim=1), (A234,)),
    (lambda nn: nn.LogSoftmax(dim=1), (30 * A234,)),
    (lambda nn: nn.Softmax2d(), (A2345,)),
    (lambda nn: nn.Softmax2d(), (A234,)),
    (lambda nn: nn.Dropout().eval(), (A234,)),
    (lambda nn: nn.Dropout(0.0), (A234,)),
    (lambda nn: nn.Dropout(1.0), (A234,)),
    (lambda nn: nn.Dropout1d(0.3).eval(), (A234,)),
    (lambda nn: nn.Dropout2d(0.3).eval(), (A2345,)),
    (lambda nn: nn.Dropout3d(0.3, inplace=True).eval(), (array(1, 2, 3, 2, 2),)),
    (lambda nn: nn.AlphaDropout(0.3).eval(), (A234,)),
    (lambda nn: nn.FeatureAlphaDropout(0.3).eval(), (A234,)),
    (lambda nn: nn.LayerNorm(4), (A234,)),
    (lambda nn: nn.LayerNorm((3, 4), eps=0.1), (A234,)),
    (lambda nn: nn.LayerNorm([4], elementwise_affine=False), (A234,)),
    (lambda nn: nn.LayerNorm(4, bias=False), (A234,)),
    (lambda nn: nn.RMSNorm(4), (A234,)),
    (lambda nn: nn.RMSNorm((3, 4), eps=0.1), (A234,)),
    (lambda nn: nn.RMSNorm(4, elementwise_affine=False), (A234,)),
    (lambda nn: nn.GroupNorm(3, 6), (array(2, 6, 4),)),
    (lambda nn: nn.GroupNorm(3, 6), (array(0, 6, 4),)),
    (lambda nn: nn.GroupNorm(1, 3, affine=False), (A234,)),
    (lambda nn: nn.GroupNorm(3, 3, bias=False), (A234,)),
    (lambda nn: nn.LocalResponseNorm(2), (A234,)),
    (lambda nn: nn.LocalResponseNorm(3, 0.5, 0.6, 2.0), (A2345,)),
    (lambda nn: nn.CrossMapLRN2d(7, 0.5, 0.6, 2.0), (A2345,)),
    (lambda nn: nn.CrossMapLRN2d(6, 0.5), (A2345,)),
    (lambda nn: nn.Embedding(10, 3), (np.array([[1, 2], [2, 9]]),)),
    (lambda nn: nn.Embedding(10, 3, padding_idx=2), (np.array([[1, 2], [2, 9]]),)),
    (
        lambda nn: nn.Embedding(10, 3, padding_idx=-1, scale_grad_by_freq=True),
        (np.array([1, 1, 9]),),
    ),
    (lambda nn: nn.Embedding(10, 3, max_norm=0.5), (np.array([1, 1, 9]),)),
    (lambda nn: nn.Embedding(10, 3, max_norm=0.5, norm_type=1.0), (np.array([1, 1, 9]),)),
    (lambda nn: nn.EmbeddingBag(10, 3), (np.array([[1, 2], [2, 9]]),)),
    (
        lambda nn: nn.EmbeddingBag(10, 3, mode="sum", padding_idx=2),
        (np.array([1, 2, 2]), np.array([0, 2])),
    ),
    (lambda nn: nn.EmbeddingBag(10, 3, mode="max"), (np.array([1, 2, 2, 4]), np.array([0, 2]))),
    (lambda nn: nn.PairwiseDistance(), (A23, array(2, 3, seed=1))),
    (lambda nn: nn.PairwiseDistance(1.0, keepdim=True), (A23, array(2, 3, seed=1))),
    (lambda nn: nn.CosineSimilarity(), (A234, array(2, 3, 4, seed=1))),
    (lambda nn: nn.CosineSimilarity(dim=-1), (A234, array(2, 3, 4, seed=1))),
]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("make", "inputs"), LAYERS, ids=words)
def test_output_and_gradients_of_layers_are_pytorchs(make: Call, inputs: Any, dtype: str) -> None:
    if words(make) == "nn.Hardsigmoid()" and dtype == "float64":
        pytest.skip("PyTorch rounds 1/6 to float32 there")
    assert_same_behavior(lambda lib: parity.layer_results(lib, make, inputs, dtype))


@pytest.mark.parametrize("make", {words(make): make for make, _ in LAYERS}.values(), ids=words)
def test_the_repr_of_layers_is_pytorchs(make: Call) -> None:
    assert_same_behavior(lambda lib: repr(parity.make_layer(lib, make)))


RANDOM_LAYERS: list[tuple[Call, tuple[int, ...]]] = [
    (lambda nn: nn.Dropout(0.3), (40, 5)),
    (lambda nn: nn.Dropout(0.3, inplace=True), (40, 5)),
    (lambda nn: nn.Dropout1d(0.3), (2, 8, 3)),
    (lambda nn: nn.Dropout2d(0.3), (2, 8, 3, 2)),
    (lambda nn: nn.Dropout3d(0.3), (2, 8, 3, 2, 2)),
    (lambda nn: nn.AlphaDropout(0.3), (40, 5)),
    (lambda nn: nn.FeatureAlphaDropout(0.3), (2, 8, 3)),
    (lambda nn: nn.RReLU(), (40, 5)),
]


@pytest.mark.parametrize(("make", "shape"), RANDOM_LAYERS, ids=words)
def test_random_layers_draw_the_same(make: Call, shape: tuple[int, ...]) -> None:
    def run(lib: Any) -> Any:
        layer = parity.make_layer(lib, make)
        return parity.gradients(lib, lambda x: layer(1 * x), array(*shape))

    assert_same_behavior(run)


ERRORS: list[Call] = [
    lambda nn, lib: nn.Linear(2, 3)(lib.ones(3, 4)),
    lambda nn: nn.Bilinear(0, 2, 3),
    lambda nn, lib: nn.LayerNorm(3)(lib.zeros(2, 2)),
    lambda nn: nn.Dropout(1.5),
    lambda nn: nn.Hardtanh(1.0, 1.0),
    lambda nn: nn.Embedding(4, 3, padding_idx=4),
    lambda nn, lib: nn.Embedding(4, 3, _weight=lib.ones(4, 2)),
    lambda nn, lib: nn.Embedding.from_pretrained(lib.ones(3)),
    lambda nn, lib: nn.Embedding(4, 3, max_norm=1.0)(lib.ones(1)),
    lambda nn, lib: nn.Embedding(4, 3, scale_grad_by_freq=True)(lib.ones(1)),
    lambda nn: nn.EmbeddingBag(4, 3, padding_idx=7),
    lambda nn, lib: nn.RMSNorm((2, 3))(lib.ones(3)),
    lambda nn, lib: nn.LocalResponseNorm(0)(lib.ones(2, 3, 4)),
    lambda nn, lib: nn.CrossMapLRN2d(2)(lib.ones(2, 3, 4)),
    lambda nn: nn.Unflatten(1, 3),
    lambda nn, lib: nn.Unflatten(0, (1, 1))(lib.tensor(1.0)),
    lambda nn: nn.Unflatten(1, (2, 1.5)),
    lambda nn: nn.GroupNorm(2, 5),
    lambda nn, lib: nn.Softmax2d()(lib.zeros(2, 2)),
    lambda nn: nn.Identity()(1, 2),
]


@pytest.mark.parametrize("use", ERRORS, ids=words)
def test_layers_raise_pytorchs_errors(use: Call) -> None:
    error_texts(parity.as_library_call(use))


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
def test_local_response_norm_is_the_formula(size: int) -> None:
    """By hand: PyTorch's sums keep the first channel, and its gradients are not of its sums."""
    x, reach = array(2, 7, 3, 2), (size - 1) // 2
    sums = [(x[:, max(c - reach, 0) : c + reach + 1] ** 2).sum(1) for c in range(7)]
    meant = x / (2 + 0.5 / size * np.stack(sums, 1)) ** 0.6
    found = tt.nn.CrossMapLRN2d(size, 0.5, 0.6, 2)(tt.tensor(x))
    np.testing.assert_allclose(found.numpy(force=True), meant, rtol=1e-6)


CLASSES = sorted(
    name
    for name in dir(parity.torch.nn)
    if isinstance(getattr(parity.torch.nn, name), type)
    and issubclass(getattr(parity.torch.nn, name), parity.torch.nn.Module)
    and hasattr(tt.nn, name)
)


@pytest.mark.parametrize("name", CLASSES)
def test_arguments_of_layers_are_pytorchs(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours, theirs = getattr(tt.nn, name), getattr(parity.torch.nn, name)
    # Of these PyTorch does not name the arguments.
    if name not in ("RNN", "LSTM", "GRU", "NLLLoss2d", "Container"):
        assert parity.arguments(ours) == parity.arguments(theirs)
    if ours.forward is not tt.nn.Module.forward:
        names = [name for name, _ in parity.arguments(theirs.forward)]
        assert [name for name, _ in parity.arguments(ours.forward)] == names
