"""Layers: repr, arguments, state, output and gradients are PyTorch's."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.nn import parity

pytestmark = pytest.mark.torch

array = parity.array
A23, A234, A2345 = array(2, 3), array(2, 3, 4), array(2, 3, 4, 5)

# Layers without randomness in forward: how to make them, and what they are called with.
LAYERS: list[tuple[str, tuple[Any, ...]]] = [
    ("Identity()", (A23,)),
    ("Identity(3, unused=True)", (A23,)),
    ("Linear(4, 5)", (A234,)),
    ("Linear(4, 5, bias=False)", (A234,)),
    ("Linear(in_features=4, out_features=1)", (array(4),)),
    ("Bilinear(3, 4, 5)", (array(2, 3), array(2, 4))),
    ("Bilinear(3, 4, 5, bias=False)", (array(2, 6, 3), array(2, 6, 4))),
    ("Flatten()", (A2345,)),
    ("Flatten(0, 2)", (A2345,)),
    ("Unflatten(1, (3, 1))", (A234,)),
    ("Unflatten(-1, [2, -1])", (A234,)),
    ("ReLU()", (A234,)),
    ("ReLU(inplace=True)", (A234,)),
    ("ReLU6()", (9 * A234,)),
    ("ReLU6(inplace=True)", (A234,)),
    ("LeakyReLU()", (A234,)),
    ("LeakyReLU(0.2, inplace=True)", (A234,)),
    ("PReLU()", (A234,)),
    ("PReLU(3, 0.1)", (A234,)),
    ("RReLU(0.1, 0.3).eval()", (A234,)),
    ("ELU()", (A234,)),
    ("ELU(0.5, True)", (A234,)),
    ("CELU(2.0)", (A234,)),
    ("SELU()", (A234,)),
    ("SELU(True)", (A234,)),
    ("SiLU()", (A234,)),
    ("SiLU(inplace=True)", (A234,)),
    ("Mish()", (A234,)),
    ("Threshold(0.1, 20.0)", (A234,)),
    ("Threshold(0.1, 20.0, True)", (A234,)),
    ("Hardtanh()", (A234,)),
    ("Hardtanh(-0.5, 2.0, inplace=True)", (A234,)),
    ("Hardsigmoid()", (4 * A234,)),
    ("Hardswish()", (4 * A234,)),
    ("GELU()", (A234,)),
    ("GELU('tanh')", (A234,)),
    ("GLU()", (A234,)),
    ("GLU(dim=2)", (A234,)),
    ("Sigmoid()", (A234,)),
    ("LogSigmoid()", (30 * A234,)),
    ("Tanh()", (A234,)),
    ("Tanhshrink()", (A234,)),
    ("Softsign()", (A234,)),
    ("Hardshrink()", (A234,)),
    ("Hardshrink(0.2)", (A234,)),
    ("Softshrink()", (A234,)),
    ("Softshrink(0.2)", (A234,)),
    ("Softplus()", (9 * A234,)),
    ("Softplus(2.0, 5.0)", (9 * A234,)),
    ("Softmax(dim=1)", (A234,)),
    ("Softmax(-1)", (30 * A234,)),
    ("Softmin(dim=1)", (A234,)),
    ("LogSoftmax(dim=1)", (30 * A234,)),
    ("Softmax2d()", (A2345,)),
    ("Softmax2d()", (A234,)),
    ("Dropout().eval()", (A234,)),
    ("Dropout(0.0)", (A234,)),
    ("Dropout(1.0)", (A234,)),
    ("Dropout1d(0.3).eval()", (A234,)),
    ("Dropout2d(0.3).eval()", (A2345,)),
    ("Dropout3d(0.3, inplace=True).eval()", (array(1, 2, 3, 2, 2),)),
    ("AlphaDropout(0.3).eval()", (A234,)),
    ("FeatureAlphaDropout(0.3).eval()", (A234,)),
    ("LayerNorm(4)", (A234,)),
    ("LayerNorm((3, 4), eps=0.1)", (A234,)),
    ("LayerNorm([4], elementwise_affine=False)", (A234,)),
    ("LayerNorm(4, bias=False)", (A234,)),
    ("RMSNorm(4)", (A234,)),
    ("RMSNorm((3, 4), eps=0.1)", (A234,)),
    ("RMSNorm(4, elementwise_affine=False)", (A234,)),
    ("GroupNorm(3, 6)", (array(2, 6, 4),)),
    ("GroupNorm(3, 6)", (array(0, 6, 4),)),
    ("GroupNorm(1, 3, affine=False)", (A234,)),
    ("GroupNorm(3, 3, bias=False)", (A234,)),
    ("LocalResponseNorm(2)", (A234,)),
    ("LocalResponseNorm(3, 0.5, 0.6, 2.0)", (A2345,)),
    ("CrossMapLRN2d(7, 0.5, 0.6, 2.0)", (A2345,)),
    ("CrossMapLRN2d(6, 0.5)", (A2345,)),
    ("Embedding(10, 3)", (np.array([[1, 2], [2, 9]]),)),
    ("Embedding(10, 3, padding_idx=2)", (np.array([[1, 2], [2, 9]]),)),
    ("Embedding(10, 3, padding_idx=-1, scale_grad_by_freq=True)", (np.array([1, 1, 9]),)),
    ("Embedding(10, 3, max_norm=0.5)", (np.array([1, 1, 9]),)),
    ("Embedding(10, 3, max_norm=0.5, norm_type=1.0)", (np.array([1, 1, 9]),)),
    ("EmbeddingBag(10, 3)", (np.array([[1, 2], [2, 9]]),)),
    ("EmbeddingBag(10, 3, mode='sum', padding_idx=2)", (np.array([1, 2, 2]), np.array([0, 2]))),
    ("EmbeddingBag(10, 3, mode='max')", (np.array([1, 2, 2, 4]), np.array([0, 2]))),
    ("PairwiseDistance()", (A23, array(2, 3, seed=1))),
    ("PairwiseDistance(1.0, keepdim=True)", (A23, array(2, 3, seed=1))),
    ("CosineSimilarity()", (A234, array(2, 3, 4, seed=1))),
    ("CosineSimilarity(dim=-1)", (A234, array(2, 3, 4, seed=1))),
]  # fmt: skip


# What a layer calls, where its name in lower case is not it.
FUNCTIONS = {
    "Dropout1d": "dropout1d", "Dropout2d": "dropout2d", "Dropout3d": "dropout3d",
    "AlphaDropout": "alpha_dropout", "FeatureAlphaDropout": "feature_alpha_dropout",
    "RReLU": "rrelu", "Bilinear": "bilinear", "GroupNorm": "group_norm",
    "LocalResponseNorm": "local_response_norm", "EmbeddingBag": "embedding_bag",
    "CrossMapLRN2d": "local_response_norm",
}  # fmt: skip


def skip_if_missing(make: str) -> None:
    """Skip a layer whose function is still to come."""
    function = FUNCTIONS.get(make.partition("(")[0])
    if function is not None and not hasattr(tt.nn.functional, function):
        pytest.skip(f"nn.functional.{function} is not there yet")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("make", "inputs"), LAYERS)
def test_output_and_gradients(make: str, inputs: Any, dtype: str) -> None:
    skip_if_missing(make)
    if make == "Hardsigmoid()" and dtype == "float64":
        pytest.skip("PyTorch rounds 1/6 to float32 there")
    parity.same(lambda lib: parity.layer_results(lib, make, inputs, dtype))


@pytest.mark.parametrize("make", sorted({make for make, _ in LAYERS}))
def test_repr(make: str) -> None:
    parity.same(lambda lib: repr(parity.make_layer(lib, make)))


RANDOM_LAYERS: list[tuple[str, tuple[int, ...]]] = [
    ("Dropout(0.3)", (40, 5)),
    ("Dropout(0.3, inplace=True)", (40, 5)),
    ("Dropout1d(0.3)", (2, 8, 3)),
    ("Dropout2d(0.3)", (2, 8, 3, 2)),
    ("Dropout3d(0.3)", (2, 8, 3, 2, 2)),
    ("AlphaDropout(0.3)", (40, 5)),
    ("FeatureAlphaDropout(0.3)", (2, 8, 3)),
    ("RReLU()", (40, 5)),
]


@pytest.mark.parametrize(("make", "shape"), RANDOM_LAYERS)
def test_random_layers_draw_the_same(make: str, shape: tuple[int, ...]) -> None:
    skip_if_missing(make)

    def run(lib: Any) -> Any:
        layer = parity.make_layer(lib, make)
        return parity.gradients(lib, lambda x: layer(1 * x), array(*shape))

    parity.same(run)


ERRORS = [
    "Linear(2, 3)(lib.ones(3, 4))",
    "Bilinear(0, 2, 3)",
    "LayerNorm(3)(lib.zeros(2, 2))",
    "Dropout(1.5)",
    "Hardtanh(1.0, 1.0)",
    "Embedding(4, 3, padding_idx=4)",
    "Embedding(4, 3, _weight=lib.ones(4, 2))",
    "Embedding.from_pretrained(lib.ones(3))",
    "Embedding(4, 3, max_norm=1.0)(lib.ones(1))",
    "Embedding(4, 3, scale_grad_by_freq=True)(lib.ones(1))",
    "EmbeddingBag(4, 3, padding_idx=7)",
    "RMSNorm((2, 3))(lib.ones(3))",
    "LocalResponseNorm(0)(lib.ones(2, 3, 4))",
    "CrossMapLRN2d(2)(lib.ones(2, 3, 4))",
    "Unflatten(1, 3)",
    "Unflatten(0, (1, 1))(lib.tensor(1.0))",
    "Unflatten(1, (2, 1.5))",
    "GroupNorm(2, 5)",
    "Softmax2d()(lib.zeros(2, 2))",
    "Identity()(1, 2)",
]


@pytest.mark.parametrize("use", ERRORS)
def test_errors(use: str) -> None:
    parity.refusals(parity.of_nn(use))


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
def test_neighbours_across_maps(size: int) -> None:
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
def test_arguments_are_torchs(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours, theirs = getattr(tt.nn, name), getattr(parity.torch.nn, name)
    # Of these PyTorch does not name the arguments.
    if name not in ("RNN", "LSTM", "GRU", "NLLLoss2d", "Container"):
        assert parity.arguments(ours) == parity.arguments(theirs)
    if ours.forward is not tt.nn.Module.forward:
        names = [name for name, _ in parity.arguments(theirs.forward)]
        assert [name for name, _ in parity.arguments(ours.forward)] == names
