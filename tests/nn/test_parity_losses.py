"""Losses: functions and modules, values, gradients, second gradients and errors are PyTorch's."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.calls import Call, call_with_names, words
from tests.nn import parity
from tests.nn.loss_cases import (
    CASES,
    CLASSES,
    PAIR,
    PIXELS,
    REDUCTIONS,
    SIGNS,
    X,
    Y,
    Z,
    probabilities,
    uniform,
)
from tests.oracles import assert_same_behavior, assert_same_error

pytestmark = pytest.mark.torch


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
def test_value_and_gradients_of_losses_are_pytorchs(
    name: str, inputs: Any, options: Any, reduction: str, dtype: str
) -> None:
    arrays = [
        cast(each, dtype)
        for each in (np.asarray(x) if isinstance(x, np.generic) else x for x in inputs)
    ]
    assert_same_behavior(
        lambda lib: parity.gradients(lib, call(lib, name, options, reduction, dtype), *arrays)
    )


# PyTorch has no second derivative of these.
ONCE_ONLY = ("multi_margin_loss", "multilabel_margin_loss")


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize(
    ("name", "inputs", "options"), [case for case in CASES if case[0] not in ONCE_ONLY]
)
def test_second_derivatives_of_losses_are_pytorchs(
    name: str, inputs: Any, options: Any, reduction: str
) -> None:
    first = np.asarray(inputs[0])

    def run(lib: Any) -> Any:
        x = lib.tensor(first, requires_grad=True)
        rest = [lib.tensor(y) if isinstance(y, (np.ndarray, np.generic)) else y for y in inputs[1:]]
        out = call(lib, name, options, reduction, "float64")(x, *rest)
        (grad,) = lib.autograd.grad((out * out).sum(), x, create_graph=True)
        weights = lib.tensor(np.sin(np.arange(first.size, dtype=float)).reshape(first.shape))
        (second,) = lib.autograd.grad((grad * weights).sum(), x)
        return [grad, second]

    assert_same_behavior(run)


def test_kl_div_with_batchmean_is_pytorchs() -> None:
    inputs = np.log(probabilities(4, 5)), probabilities(4, 5, seed=1)
    assert_same_behavior(
        lambda lib: parity.gradients(
            lib, lambda x, y: lib.nn.functional.kl_div(x, y, reduction="batchmean"), *inputs
        )
    )


def test_binary_cross_entropy_of_certain_probabilities_is_pytorchs() -> None:
    x = np.array([0.0, 1.0, 0.0, 1.0], np.float32)
    y = parity.constant(np.array([0.0, 1.0, 1.0, 0.0], np.float32))
    assert_same_behavior(
        lambda lib: parity.gradients(lib, lib.nn.functional.binary_cross_entropy, x, y)
    )


@pytest.mark.parametrize("name", ["nll_loss", "cross_entropy"])
@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("batch", [0, 3])
def test_losses_with_every_target_ignored_are_pytorchs(
    name: str, reduction: str, batch: int
) -> None:
    assert_same_behavior(
        lambda lib: getattr(lib.nn.functional, name)(
            lib.zeros(batch, 5), lib.full((batch,), -100), reduction=reduction
        )
    )


@pytest.mark.parametrize(
    ("average", "reduce"), [(True, None), (False, None), (None, False), (True, False)]
)
def test_deprecated_size_average_and_reduce_are_accepted_with_a_warning(
    average: Any, reduce: Any
) -> None:
    def run(lib: Any) -> Any:
        with pytest.warns(UserWarning, match="size_average and reduce args will be deprecated"):
            layer = lib.nn.MSELoss(size_average=average, reduce=reduce)
        with pytest.warns(UserWarning, match="size_average and reduce args will be deprecated"):
            value = lib.nn.functional.mse_loss(
                lib.ones(2), lib.zeros(2), size_average=average, reduce=reduce
            )
        return [layer.reduction, value]

    assert_same_behavior(run)


def test_losses_warn_of_targets_of_another_shape() -> None:
    for name in ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"):
        with pytest.warns(UserWarning, match="Using a target size .* that is different"):
            getattr(tt.nn.functional, name)(tt.ones(3, 2), tt.ones(2))


@pytest.mark.filterwarnings("ignore:Using a target size")
@pytest.mark.parametrize("name", ["mse_loss", "l1_loss", "smooth_l1_loss"])
@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_a_0d_tensor_counts_in_full_for_the_dtype(torch: Any, name: str, reduction: str) -> None:
    for shapes in (((3,), ()), ((), (3,)), ((), ())):
        for kinds in (("float32", "float64"), ("float64", "float32"), ("float32", "float16")):
            x, y = np.full(shapes[0], 0.5, kinds[0]), np.full(shapes[1], 2.0, kinds[1])
            loss = [
                getattr(lib.nn.functional, name)(lib.tensor(x), lib.tensor(y), reduction=reduction)
                for lib in (torch, tt)
            ]
            assert str(loss[1].dtype).split(".")[-1] == str(loss[0].dtype).split(".")[-1]
            np.testing.assert_array_equal(loss[1].tolist(), loss[0].tolist())


@pytest.mark.parametrize("name", ["binary_cross_entropy", "nll_loss", "cross_entropy"])
def test_a_weight_may_require_grad_where_nothing_is_recorded(name: str) -> None:
    weight = tt.ones(2, requires_grad=True)
    target = tt.tensor([0, 1]) if name != "binary_cross_entropy" else tt.ones(2, 2)
    with tt.no_grad():
        loss = getattr(tt.nn.functional, name)(tt.full((2, 2), 0.5), target, weight)
    assert not loss.requires_grad


@pytest.mark.parametrize(
    "use",
    [
        lambda F, x: F.binary_cross_entropy_with_logits(x, x.double()),
        lambda F, x: F.binary_cross_entropy_with_logits(x.double(), x),
        lambda F, x: F.binary_cross_entropy_with_logits(x, x, weight=x.double()),
        lambda F, x: F.binary_cross_entropy_with_logits(x, x, pos_weight=x.double()),
        lambda F, x: F.binary_cross_entropy(x, x, weight=x.double()),
        lambda F, x: F.cross_entropy(x, x.double()),
        lambda F, x: F.cross_entropy(x, x, weight=x[0].double()),
        lambda F, x: F.cross_entropy(x, x, weight=x[0].long()),
        lambda F, x: F.cross_entropy(x, x[:, 0].byte()),
    ],
    ids=words,
)
def test_losses_of_mixed_dtypes_are_pytorchs(use: Call) -> None:
    def run(lib: Any) -> Any:
        loss = call_with_names(
            use, {"F": lib.nn.functional, "x": lib.arange(12.0).reshape(3, 4) / 12}
        )
        return [str(loss.dtype).split(".")[-1], loss.float()]

    assert_same_behavior(run)


# -- modules -----------------------------------------------------------------------------------

MODULES: list[tuple[Call, tuple[Any, ...]]] = [
    (lambda nn: nn.L1Loss(), PAIR),
    (lambda nn: nn.MSELoss(reduction="sum"), PAIR),
    (lambda nn: nn.SmoothL1Loss(beta=0.5), PAIR),
    (lambda nn: nn.HuberLoss("none", 0.5), PAIR),
    (lambda nn: nn.NLLLoss(ignore_index=4), (X, CLASSES)),
    (lambda nn, lib: nn.NLLLoss(weight=lib.tensor([0.5, 1.0, 2.0, 0.25, 3.0])), (X, CLASSES)),
    (lambda nn: nn.CrossEntropyLoss(label_smoothing=0.1), (X, CLASSES)),
    (
        lambda nn, lib: nn.CrossEntropyLoss(weight=lib.tensor([0.5, 1.0, 2.0, 0.25, 3.0])),
        (X, CLASSES),
    ),
    (
        lambda nn: nn.KLDivLoss(reduction="batchmean"),
        (np.log(probabilities(4, 5)), probabilities(4, 5)),
    ),
    (lambda nn: nn.KLDivLoss(reduction="sum", log_target=True), PAIR),
    (lambda nn: nn.BCELoss(reduction="sum"), (uniform(4, 5), uniform(4, 5, seed=1))),
    (lambda nn, lib: nn.BCEWithLogitsLoss(pos_weight=lib.tensor([2.0])), (X, uniform(4, 5))),
    (lambda nn: nn.PoissonNLLLoss(full=True), (X, np.abs(3 * Y))),
    (lambda nn: nn.GaussianNLLLoss(full=True), (X, Y, np.abs(Z))),
    (lambda nn: nn.MarginRankingLoss(0.5), (X, Y, SIGNS)),
    (lambda nn: nn.HingeEmbeddingLoss(0.5), (X, SIGNS)),
    (lambda nn: nn.SoftMarginLoss(), (X, parity.constant(SIGNS))),
    (lambda nn: nn.CosineEmbeddingLoss(0.2), (X, Y, SIGNS[:, 0])),
    (lambda nn: nn.MultiLabelMarginLoss(), (X, np.array([[1, 2, -1, 0, 0]] * 4))),
    (lambda nn: nn.MultiLabelSoftMarginLoss(), (X, uniform(4, 5))),
    (lambda nn: nn.MultiMarginLoss(p=2), (X, CLASSES)),
    (lambda nn: nn.TripletMarginLoss(swap=True), (X, Y, Z)),
    (lambda nn: nn.TripletMarginWithDistanceLoss(margin=2.0), (X, Y, Z)),
    (lambda nn: nn.LinearCrossEntropyLoss(5, 3), (X, CLASSES % 3)),
    (lambda nn: nn.LinearCrossEntropyLoss(5, 3, out_features=(2,), bias=True), (X, PIXELS[0] % 3)),
    (
        lambda nn: nn.LinearCrossEntropyLoss(
            5, 3, options=nn.LinearCrossEntropyOptions(batch_chunk_size=2)
        ),
        (X, CLASSES % 3),
    ),
]


@pytest.mark.parametrize(("make", "inputs"), MODULES, ids=words)
def test_modules_of_losses_are_pytorchs(make: Call, inputs: Any) -> None:
    arrays = [cast(each, "float32") for each in inputs]

    def run(lib: Any) -> Any:
        layer = parity.build(lib, make)
        return [repr(layer), layer.state_dict(), parity.gradients(lib, layer, *arrays)]

    assert_same_behavior(run)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("batch_chunk_size", 0),
        ("batch_chunk_size", 2.5),
        ("chunking_method", "x"),
        ("acc_policy", "x"),
        ("acc_dtype", lambda lib: lib.int32),
        ("acc_dtype", "float32"),
    ],
)
def test_linear_cross_entropy_accepts_pytorchs_options(option: str, value: Any) -> None:
    def run(lib: Any) -> Any:
        make = lib.nn.LinearCrossEntropyOptions
        with pytest.raises(ValueError, match=option):
            make(**{option: value(lib) if callable(value) else value})
        return [repr(make()), make() == make(True), hash(make()) == hash(make())]

    assert_same_behavior(run)


# -- errors ------------------------------------------------------------------------------------

ERRORS: list[Call] = [
    lambda F, x, t: F.nll_loss(x, t([0, 1, 5])),
    lambda F, x, t: F.nll_loss(x, t([0, 1, -1])),
    lambda F, x, t: F.nll_loss(x, t([0, 1])),
    lambda F, x, t: F.nll_loss(x, t([[0, 1]] * 3)),
    lambda F, x, lib: F.nll_loss(x, lib.zeros(3)),
    lambda F, x, t, lib: F.nll_loss(x, t([0, 1, 2]), weight=lib.ones(3)),
    lambda F, x, t, lib: F.nll_loss(x, t([0, 1, 2]), weight=lib.ones(5, dtype=lib.float64)),
    lambda F, t, lib: F.nll_loss(lib.tensor(1.0), t([0, 1, 2])),
    lambda F, t, lib: F.nll_loss(lib.ones(3, 5, 4), t([[0, 1]] * 3)),
    lambda F, t, lib: F.nll_loss(lib.ones(3, 5, 4, 4), t([[0, 1]] * 3)),
    lambda F, t, lib: F.nll_loss(lib.ones(5), t([2, 1])),
    lambda F, x, t: F.nll_loss(x, t([0, 1, 2]), reduction="avg"),
    lambda F, x, t: F.cross_entropy(x, t([0, 1, 5])),
    lambda F, x, t: F.cross_entropy(x, t([0, 1])),
    lambda F, x, lib: F.cross_entropy(x, lib.zeros(3)),
    lambda F, x, lib: F.cross_entropy(x, lib.zeros(3, 5), ignore_index=1),
    lambda F, x, t: F.cross_entropy(x, t([[0] * 5] * 3)),
    lambda F, x, t: F.cross_entropy(x, t([0, 1, 2]), label_smoothing=1.5),
    lambda F, x, t, lib: F.cross_entropy(x, t([0, 1, 2]), weight=lib.ones(3)),
    lambda F, t, lib: F.cross_entropy(lib.zeros(3, 0), t([0, 0, 0])),
    lambda F, x, t, ones: F.cross_entropy(x, t([0, 1, 2]), weight=ones(5).requires_grad_()),
    lambda F, x, t, lib: F.cross_entropy(x, t([0, 1, 2], dtype=lib.int32)),
    lambda F, x, t, lib: F.cross_entropy(x, t([0, 1, 2], dtype=lib.int16)),
    lambda F, x, t: F.cross_entropy(x.long(), t([0, 1, 2])),
    lambda F, x, ones: F.cross_entropy(x, x, weight=ones(4)),
    lambda F, ones, lib: F.cross_entropy(ones(3, 5, 2), lib.zeros(3, 2, dtype=lib.uint8)),
    lambda F, x, t, ones: F.nll_loss(x, t([0, 1, 2]), weight=ones(5).requires_grad_()),
    lambda F, t, ones: F.nll_loss(ones(3, 5, 2), t([[0, 1]] * 3), weight=ones(5).requires_grad_()),
    lambda F, t, ones: F.nll_loss(ones(3, 5, 2), t([[0, 1]] * 3), weight=ones(4)),
    lambda F, t, ones: F.nll_loss(ones(3, 5, 2, 2), t([[[0, 1]]] * 3)),
    lambda F, x, t: F.nll_loss(x.long(), t([0, 1, 2])),
    lambda F, x, t: F.nll_loss(x, t(1)),
    lambda F, x: F.mse_loss(x, x, reduction="avg"),
    lambda F, x, lib: F.mse_loss(x, x, weight=lib.ones(3)),
    lambda F, x: F.smooth_l1_loss(x, x, beta=-1),
    lambda F, x: F.huber_loss(x, x, delta=0),
    lambda F, x: F.binary_cross_entropy(x, x),
    lambda F, x: F.binary_cross_entropy(x.sigmoid(), 2 + x),
    lambda F, x, lib: F.binary_cross_entropy(x.sigmoid(), lib.zeros(3, 4)),
    lambda F, x, lib: F.binary_cross_entropy(x.sigmoid(), lib.zeros(3, 5, dtype=lib.float64)),
    lambda F, x, lib: F.binary_cross_entropy_with_logits(x, lib.zeros(3, 4)),
    lambda F, x, ones: F.binary_cross_entropy(x / 15, x / 15, weight=ones(5).requires_grad_()),
    lambda F, x, ones: F.binary_cross_entropy(x / 15, x / 15, weight=ones(2, 3, 5)),
    lambda F, x: F.binary_cross_entropy(x.long() // 15, x.long() // 15),
    lambda F, x, ones: F.binary_cross_entropy_with_logits(
        x, x / 15, weight=ones(5).requires_grad_()
    ),
    lambda F, x, ones: F.binary_cross_entropy_with_logits(
        x, x / 15, pos_weight=ones(5).requires_grad_()
    ),
    lambda F, x, ones: F.binary_cross_entropy_with_logits(x, x / 15, pos_weight=ones(2, 3, 5)),
    lambda F, x: F.binary_cross_entropy_with_logits(x, x.long()),
    lambda F, x: F.binary_cross_entropy_with_logits(x.long(), x),
    lambda F, x, ones: F.soft_margin_loss(x, ones(3, 5).requires_grad_()),
    lambda F, x: F.kl_div(x, x, reduction="avg"),
    lambda F, x, lib: F.gaussian_nll_loss(x, x, -lib.ones(3, 5)),
    lambda F, x, lib: F.gaussian_nll_loss(x, x, lib.ones(3, 4)),
    lambda F, x, lib: F.margin_ranking_loss(x, x, lib.ones(3)),
    lambda F, x: F.hinge_embedding_loss(x, x, reduction="avg"),
    lambda F, x, lib: F.cosine_embedding_loss(x, x, lib.ones(3, 5)),
    lambda F, x, lib: F.cosine_embedding_loss(x[0], x, lib.ones(3)),
    lambda F, x, t: F.multi_margin_loss(x, t([1, 2])),
    lambda F, x, t: F.multi_margin_loss(x, t([1, 2, 0]), p=3),
    lambda F, x, t: F.multi_margin_loss(x, t([1, 5, 0])),
    lambda F, x, t: F.multi_margin_loss(x, t([1, -1, 0])),
    lambda F, x, t, lib: F.multi_margin_loss(x, t([1, 2, 0]), weight=lib.ones(4)),
    lambda F, x, t, ones: F.multi_margin_loss(x, t([1, 2, 0]), weight=ones(5).requires_grad_()),
    lambda F, x, t, ones, lib: F.multi_margin_loss(
        x, t([1, 2, 0]), weight=ones(5, dtype=lib.float64)
    ),
    lambda F, x, t, lib: F.multi_margin_loss(x, t([1, 2, 0], dtype=lib.int32)),
    lambda F, x, t, lib: F.multilabel_margin_loss(x, t([[1] * 5] * 3, dtype=lib.int32)),
    lambda F, x, t: F.multilabel_margin_loss(x, t([1, 2, 0])),
    lambda F, x, t: F.multilabel_margin_loss(x, t([[7] * 5] * 3)),
    lambda F, x: F.triplet_margin_loss(x, x, x[0]),
    lambda F, x: F.triplet_margin_loss(x, x, x, margin=-1),
]


@pytest.mark.parametrize("use", ERRORS, ids=words)
def test_losses_raise_pytorchs_errors(use: Call) -> None:
    """The type is PyTorch's, and the text has its first words."""

    def run(lib: Any) -> Any:
        x = lib.arange(15.0).reshape(3, 5)
        functional = lib.nn.functional
        return call_with_names(
            use, {"lib": lib, "F": functional, "x": x, "t": lib.tensor, "ones": lib.ones}
        )

    assert_same_error(run)
