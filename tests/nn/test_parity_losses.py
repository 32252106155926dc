"""Losses: functions and modules, values, gradients, second gradients and errors are PyTorch's."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.nn import parity

torch = parity.torch
array = parity.array

REDUCTIONS = ["mean", "sum", "none"]


def probabilities(*shape: int, seed: int = 0) -> Any:
    """Positive numbers that sum to 1 along the second (or only) dimension."""
    x = np.exp(array(*shape, dtype="float64", seed=seed))
    return x / x.sum(1 if len(shape) > 1 else 0, keepdims=True)


def uniform(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).uniform(0.05, 0.95, shape)


X, Y = array(4, 5, dtype="float64"), array(4, 5, dtype="float64", seed=1)
Z = array(4, 5, dtype="float64", seed=2)
SIGNS = np.sign(Y)
CLASSES = np.array([1, 4, 0, 2])
IGNORED = np.array([1, -100, 0, 2])
IMAGE, PIXELS = array(2, 3, 4, 2, dtype="float64"), np.arange(16).reshape(2, 4, 2) % 3
WEIGHTS = np.array([0.5, 1.0, 2.0, 0.25, 3.0])
PAIR = (X, Y)

# Name, tensors, further arguments. Arrays among the latter become tensors.
CASES: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("mse_loss", PAIR, {}),
    ("mse_loss", PAIR, {"weight": np.abs(Z)}),
    ("l1_loss", PAIR, {}),
    ("l1_loss", PAIR, {"weight": np.abs(Z)}),
    ("smooth_l1_loss", PAIR, {}),
    ("smooth_l1_loss", PAIR, {"beta": 0.3}),
    ("smooth_l1_loss", PAIR, {"beta": 0}),
    ("huber_loss", PAIR, {}),
    ("huber_loss", PAIR, {"delta": 0.3}),
    ("huber_loss", PAIR, {"delta": 0.3, "weight": np.abs(Z)}),
    ("binary_cross_entropy", (uniform(4, 5), uniform(4, 5, seed=1)), {}),
    ("binary_cross_entropy", (uniform(4, 5), uniform(4, 5, seed=1)), {"weight": WEIGHTS}),
    ("binary_cross_entropy_with_logits", (X, uniform(4, 5)), {}),
    ("binary_cross_entropy_with_logits", (50 * X, uniform(4, 5)), {"weight": WEIGHTS}),
    ("binary_cross_entropy_with_logits", (X, uniform(4, 5)), {"pos_weight": WEIGHTS}),
    ("kl_div", (np.log(probabilities(4, 5)), probabilities(4, 5, seed=1)), {}),
    ("kl_div", (np.log(probabilities(4, 5)), np.log(probabilities(4, 5, seed=1))),
     {"log_target": True}),
    ("poisson_nll_loss", (X, np.abs(3 * Y)), {}),
    ("poisson_nll_loss", (X, np.abs(3 * Y)), {"full": True}),
    ("poisson_nll_loss", (np.abs(X), np.abs(Y)), {"log_input": False}),
    ("gaussian_nll_loss", (X, Y, np.abs(Z)), {}),
    ("gaussian_nll_loss", (X, Y, np.abs(Z)), {"full": True, "eps": 0.5}),
    ("gaussian_nll_loss", (X, Y, np.abs(Z[:, 0])), {}),
    ("gaussian_nll_loss", (X, Y, np.abs(Z[:, :1])), {}),
    ("gaussian_nll_loss", (X, Y, 0.7), {}),
    ("nll_loss", (X, CLASSES), {}),
    ("nll_loss", (X, CLASSES), {"weight": WEIGHTS}),
    ("nll_loss", (X, IGNORED), {}),
    ("nll_loss", (X, CLASSES), {"ignore_index": 4, "weight": WEIGHTS}),
    ("nll_loss", (IMAGE, PIXELS), {}),
    ("nll_loss", (IMAGE, PIXELS), {"weight": WEIGHTS[:3], "ignore_index": 1}),
    ("nll_loss", (IMAGE[..., 0], PIXELS[..., 0]), {}),
    ("nll_loss", (IMAGE[..., None], PIXELS[..., None]), {}),
    ("nll_loss", (X[0], np.array(3)), {}),
    ("cross_entropy", (X, CLASSES), {}),
    ("cross_entropy", (300 * X, CLASSES), {}),
    ("cross_entropy", (X, CLASSES), {"weight": WEIGHTS}),
    ("cross_entropy", (X, IGNORED), {}),
    ("cross_entropy", (X, CLASSES), {"ignore_index": 4, "weight": WEIGHTS}),
    ("cross_entropy", (X, CLASSES), {"label_smoothing": 0.1}),
    ("cross_entropy", (X, IGNORED), {"label_smoothing": 0.3, "weight": WEIGHTS}),
    ("cross_entropy", (IMAGE, PIXELS), {}),
    ("cross_entropy", (IMAGE, PIXELS), {"weight": WEIGHTS[:3], "ignore_index": 1}),
    ("cross_entropy", (IMAGE, PIXELS), {"weight": WEIGHTS[:3], "label_smoothing": 0.2}),
    ("cross_entropy", (X[0], np.array(3)), {}),
    ("cross_entropy", (X[0], np.array(3)), {"label_smoothing": 0.2}),
    ("cross_entropy", (X, probabilities(4, 5)), {}),
    ("cross_entropy", (X, probabilities(4, 5)), {"weight": WEIGHTS, "label_smoothing": 0.2}),
    ("cross_entropy", (IMAGE, probabilities(2, 3, 4, 2)), {"weight": WEIGHTS[:3]}),
    ("cross_entropy", (X[0], probabilities(5)), {"weight": WEIGHTS}),
    ("margin_ranking_loss", (X, Y, SIGNS), {}),
    ("margin_ranking_loss", (X, Y, SIGNS), {"margin": 0.5}),
    ("hinge_embedding_loss", (X, SIGNS), {}),
    ("hinge_embedding_loss", (X, SIGNS), {"margin": 0.4}),
    ("soft_margin_loss", (X, parity.constant(SIGNS)), {}),
    ("soft_margin_loss", (40 * X, parity.constant(SIGNS)), {}),
    ("multilabel_soft_margin_loss", (X, uniform(4, 5)), {}),
    ("multilabel_soft_margin_loss", (X, uniform(4, 5)), {"weight": WEIGHTS}),
    ("cosine_embedding_loss", (X, Y, SIGNS[:, 0]), {}),
    ("cosine_embedding_loss", (X, Y, SIGNS[:, 0]), {"margin": 0.1}),
    ("cosine_embedding_loss", (X[0], Y[0], SIGNS[0, 0]), {}),
    ("multi_margin_loss", (X, CLASSES), {}),
    ("multi_margin_loss", (X, CLASSES), {"p": 2, "margin": 0.5}),
    ("multi_margin_loss", (X, CLASSES), {"weight": WEIGHTS}),
    ("multi_margin_loss", (X[0], np.array(3)), {}),
    ("multilabel_margin_loss", (X, np.array([[3, 0, -1, 1, 1], [-1] * 5, [0, 1, 2, 3, 4],
                                             [2, 2, -1, 0, 0]])), {}),
    ("multilabel_margin_loss", (X[0], np.array([3, 0, -1, 1, 1])), {}),
    ("triplet_margin_loss", (X, Y, Z), {}),
    ("triplet_margin_loss", (X, Y, Z), {"p": 1.0, "margin": 2.0}),
    ("triplet_margin_loss", (X, Y, Z), {"swap": True}),
    ("triplet_margin_with_distance_loss", (X, Y, Z), {}),
    ("triplet_margin_with_distance_loss", (X, Y, Z), {"swap": True, "margin": 0.5}),
    ("linear_cross_entropy", (X, array(3, 5, dtype="float64"), CLASSES % 3), {}),
    ("linear_cross_entropy", (X, array(3, 5, dtype="float64"), CLASSES % 3),
     {"linear_bias": array(3, dtype="float64"), "label_smoothing": 0.1, "ignore_index": 1}),
    ("linear_cross_entropy", (X, array(3, 2, 5, dtype="float64"), PIXELS[0] % 3), {}),
]  # fmt: skip


def call(lib: Any, name: str, options: dict[str, Any], reduction: str, dtype: str) -> Any:
    given = {
        key: lib.tensor(value.astype(dtype)) if isinstance(value, np.ndarray) else value
        for key, value in options.items()
    }
    function = getattr(lib.nn.functional, name)

    def loss(*tensors: Any) -> Any:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "reduction: 'mean' divides")
            return function(*tensors, **given, reduction=reduction)

    return loss


def cast(value: Any, dtype: str) -> Any:
    """Float arrays in another dtype, constant ones still constant."""
    if not isinstance(value, np.ndarray) or value.dtype.kind != "f":
        return value
    out = value.astype(dtype)
    return out if value.flags.writeable else parity.constant(out)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize(("name", "inputs", "options"), CASES)
def test_value_and_gradients(
    name: str, inputs: Any, options: Any, reduction: str, dtype: str
) -> None:
    arrays = [
        cast(each, dtype)
        for each in map(lambda x: np.asarray(x) if isinstance(x, np.generic) else x, inputs)
    ]
    parity.same(
        lambda lib: parity.gradients(lib, call(lib, name, options, reduction, dtype), *arrays)
    )


# PyTorch has no second derivative of these.
ONCE_ONLY = ("multi_margin_loss", "multilabel_margin_loss")


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize(
    ("name", "inputs", "options"), [case for case in CASES if case[0] not in ONCE_ONLY]
)
def test_second_gradients(name: str, inputs: Any, options: Any, reduction: str) -> None:
    first = np.asarray(inputs[0])

    def run(lib: Any) -> Any:
        x = lib.tensor(first, requires_grad=True)
        rest = [lib.tensor(y) if isinstance(y, (np.ndarray, np.generic)) else y for y in inputs[1:]]
        out = call(lib, name, options, reduction, "float64")(x, *rest)
        (grad,) = lib.autograd.grad((out * out).sum(), x, create_graph=True)
        weights = lib.tensor(np.sin(np.arange(first.size, dtype=float)).reshape(first.shape))
        (second,) = lib.autograd.grad((grad * weights).sum(), x)
        return [grad, second]

    parity.same(run)


def test_batchmean() -> None:
    inputs = np.log(probabilities(4, 5)), probabilities(4, 5, seed=1)
    parity.same(
        lambda lib: parity.gradients(
            lib, lambda x, y: lib.nn.functional.kl_div(x, y, reduction="batchmean"), *inputs
        )
    )


def test_certain_probabilities() -> None:
    x = np.array([0.0, 1.0, 0.0, 1.0], np.float32)
    y = parity.constant(np.array([0.0, 1.0, 1.0, 0.0], np.float32))
    parity.same(
        lambda lib: parity.gradients(lib, lib.nn.functional.binary_cross_entropy, x, y)
    )


@pytest.mark.parametrize("name", ["nll_loss", "cross_entropy"])
@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("batch", [0, 3])
def test_nothing_to_average(name: str, reduction: str, batch: int) -> None:
    parity.same(
        lambda lib: getattr(lib.nn.functional, name)(
            lib.zeros(batch, 5), lib.full((batch,), -100), reduction=reduction
        )
    )


@pytest.mark.parametrize(
    ("average", "reduce"), [(True, None), (False, None), (None, False), (True, False)]
)
def test_older_arguments(average: Any, reduce: Any) -> None:
    def run(lib: Any) -> Any:
        with pytest.warns(UserWarning, match="size_average and reduce args will be deprecated"):
            layer = lib.nn.MSELoss(size_average=average, reduce=reduce)
        with pytest.warns(UserWarning, match="size_average and reduce args will be deprecated"):
            value = lib.nn.functional.mse_loss(
                lib.ones(2), lib.zeros(2), size_average=average, reduce=reduce
            )
        return [layer.reduction, value]

    parity.same(run)


def test_shapes_that_differ_warn() -> None:
    for name in ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"):
        with pytest.warns(UserWarning, match="Using a target size .* that is different"):
            getattr(tt.nn.functional, name)(tt.ones(3, 2), tt.ones(2))


# -- modules -----------------------------------------------------------------------------------

MODULES: list[tuple[str, tuple[Any, ...]]] = [
    ("L1Loss()", PAIR),
    ("MSELoss(reduction='sum')", PAIR),
    ("SmoothL1Loss(beta=0.5)", PAIR),
    ("HuberLoss('none', 0.5)", PAIR),
    ("NLLLoss(ignore_index=4)", (X, CLASSES)),
    ("NLLLoss(weight=lib.tensor([0.5, 1.0, 2.0, 0.25, 3.0]))", (X, CLASSES)),
    ("CrossEntropyLoss(label_smoothing=0.1)", (X, CLASSES)),
    ("CrossEntropyLoss(weight=lib.tensor([0.5, 1.0, 2.0, 0.25, 3.0]))", (X, CLASSES)),
    ("KLDivLoss(reduction='batchmean')", (np.log(probabilities(4, 5)), probabilities(4, 5))),
    ("KLDivLoss(reduction='sum', log_target=True)", PAIR),
    ("BCELoss(reduction='sum')", (uniform(4, 5), uniform(4, 5, seed=1))),
    ("BCEWithLogitsLoss(pos_weight=lib.tensor([2.0]))", (X, uniform(4, 5))),
    ("PoissonNLLLoss(full=True)", (X, np.abs(3 * Y))),
    ("GaussianNLLLoss(full=True)", (X, Y, np.abs(Z))),
    ("MarginRankingLoss(0.5)", (X, Y, SIGNS)),
    ("HingeEmbeddingLoss(0.5)", (X, SIGNS)),
    ("SoftMarginLoss()", (X, parity.constant(SIGNS))),
    ("CosineEmbeddingLoss(0.2)", (X, Y, SIGNS[:, 0])),
    ("MultiLabelMarginLoss()", (X, np.array([[1, 2, -1, 0, 0]] * 4))),
    ("MultiLabelSoftMarginLoss()", (X, uniform(4, 5))),
    ("MultiMarginLoss(p=2)", (X, CLASSES)),
    ("TripletMarginLoss(swap=True)", (X, Y, Z)),
    ("TripletMarginWithDistanceLoss(margin=2.0)", (X, Y, Z)),
    ("LinearCrossEntropyLoss(5, 3)", (X, CLASSES % 3)),
    ("LinearCrossEntropyLoss(5, 3, out_features=(2,), bias=True)", (X, PIXELS[0] % 3)),
]


@pytest.mark.parametrize(("make", "inputs"), MODULES)
def test_modules(make: str, inputs: Any) -> None:
    arrays = [cast(each, "float32") for each in inputs]

    def run(lib: Any) -> Any:
        layer = eval(f"nn.{make}", {"nn": lib.nn, "lib": lib})
        return [repr(layer), layer.state_dict(), parity.gradients(lib, layer, *arrays)]

    parity.same(run)


# -- errors ------------------------------------------------------------------------------------

ERRORS = [
    "nll_loss(x, t([0, 1, 5]))",
    "nll_loss(x, t([0, 1, -1]))",
    "nll_loss(x, t([0, 1]))",
    "nll_loss(x, t([[0, 1]] * 3))",
    "nll_loss(x, lib.zeros(3))",
    "nll_loss(x, t([0, 1, 2]), weight=lib.ones(3))",
    "nll_loss(x, t([0, 1, 2]), weight=lib.ones(5, dtype=lib.float64))",
    "nll_loss(lib.tensor(1.0), t([0, 1, 2]))",
    "nll_loss(lib.ones(3, 5, 4), t([[0, 1]] * 3))",
    "nll_loss(lib.ones(3, 5, 4, 4), t([[0, 1]] * 3))",
    "nll_loss(lib.ones(5), t([2, 1]))",
    "nll_loss(x, t([0, 1, 2]), reduction='avg')",
    "cross_entropy(x, t([0, 1, 5]))",
    "cross_entropy(x, t([0, 1]))",
    "cross_entropy(x, lib.zeros(3))",
    "cross_entropy(x, lib.zeros(3, 5), ignore_index=1)",
    "cross_entropy(x, t([[0] * 5] * 3))",
    "cross_entropy(x, t([0, 1, 2]), label_smoothing=1.5)",
    "cross_entropy(x, t([0, 1, 2]), weight=lib.ones(3))",
    "cross_entropy(lib.zeros(3, 0), t([0, 0, 0]))",
    "mse_loss(x, x, reduction='avg')",
    "mse_loss(x, x, weight=lib.ones(3))",
    "smooth_l1_loss(x, x, beta=-1)",
    "huber_loss(x, x, delta=0)",
    "binary_cross_entropy(x, x)",
    "binary_cross_entropy(x.sigmoid(), 2 + x)",
    "binary_cross_entropy(x.sigmoid(), lib.zeros(3, 4))",
    "binary_cross_entropy(x.sigmoid(), lib.zeros(3, 5, dtype=lib.float64))",
    "binary_cross_entropy_with_logits(x, lib.zeros(3, 4))",
    "kl_div(x, x, reduction='avg')",
    "gaussian_nll_loss(x, x, -lib.ones(3, 5))",
    "gaussian_nll_loss(x, x, lib.ones(3, 4))",
    "margin_ranking_loss(x, x, lib.ones(3))",
    "hinge_embedding_loss(x, x, reduction='avg')",
    "cosine_embedding_loss(x, x, lib.ones(3, 5))",
    "cosine_embedding_loss(x[0], x, lib.ones(3))",
    "multi_margin_loss(x, t([1, 2]))",
    "multi_margin_loss(x, t([1, 2, 0]), p=3)",
    "multi_margin_loss(x, t([1, 2, 0]), weight=lib.ones(4))",
    "multilabel_margin_loss(x, t([1, 2, 0]))",
    "multilabel_margin_loss(x, t([[7] * 5] * 3))",
    "triplet_margin_loss(x, x, x[0])",
    "triplet_margin_loss(x, x, x, margin=-1)",
]


@pytest.mark.parametrize("use", ERRORS)
def test_errors(use: str) -> None:
    """The type is PyTorch's, and the text has its first words."""

    def run(lib: Any) -> Any:
        scope = {"lib": lib, "x": lib.arange(15.0).reshape(3, 5), "t": lib.tensor}
        return parity.outcome(lambda lib: eval(f"lib.nn.functional.{use}", scope), lib)

    ours, theirs = parity.both(run)
    assert isinstance(theirs[0], str), "PyTorch accepts it"
    assert ours[0] == theirs[0], (ours, theirs)
    assert ours[1].split()[:3] == theirs[1].split()[:3], (ours, theirs)
