"""Losses: functions and modules, values, gradients, second gradients and errors are PyTorch's."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
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
def test_value_and_gradients(
    name: str, inputs: Any, options: Any, reduction: str, dtype: str
) -> None:
    arrays = [
        cast(each, dtype)
        for each in (np.asarray(x) if isinstance(x, np.generic) else x for x in inputs)
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
    parity.same(lambda lib: parity.gradients(lib, lib.nn.functional.binary_cross_entropy, x, y))


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
        "binary_cross_entropy_with_logits(x, x.double())",
        "binary_cross_entropy_with_logits(x.double(), x)",
        "binary_cross_entropy_with_logits(x, x, weight=x.double())",
        "binary_cross_entropy_with_logits(x, x, pos_weight=x.double())",
        "binary_cross_entropy(x, x, weight=x.double())",
        "cross_entropy(x, x.double())",
        "cross_entropy(x, x, weight=x[0].double())",
        "cross_entropy(x, x, weight=x[0].long())",
        "cross_entropy(x, x[:, 0].byte())",
    ],
)
def test_dtypes_that_differ(use: str) -> None:
    def run(lib: Any) -> Any:
        scope = {"lib": lib, "x": lib.arange(12.0).reshape(3, 4) / 12}
        loss = eval(f"lib.nn.functional.{use}", scope)
        return [str(loss.dtype).split(".")[-1], loss.float()]

    parity.same(run)


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
    ("LinearCrossEntropyLoss(5, 3, options=nn.LinearCrossEntropyOptions(batch_chunk_size=2))",
     (X, CLASSES % 3)),
]  # fmt: skip


@pytest.mark.parametrize(("make", "inputs"), MODULES)
def test_modules(make: str, inputs: Any) -> None:
    arrays = [cast(each, "float32") for each in inputs]

    def run(lib: Any) -> Any:
        layer = eval(f"nn.{make}", {"nn": lib.nn, "lib": lib})
        return [repr(layer), layer.state_dict(), parity.gradients(lib, layer, *arrays)]

    parity.same(run)


@pytest.mark.parametrize(
    "options",
    ["batch_chunk_size=0", "batch_chunk_size=2.5", "chunking_method='x'", "acc_policy='x'",
     "acc_dtype=lib.int32", "acc_dtype='float32'"],
)  # fmt: skip
def test_options_of_linear_cross_entropy(options: str) -> None:
    def run(lib: Any) -> Any:
        make = lib.nn.LinearCrossEntropyOptions
        with pytest.raises(ValueError, match=options.partition("=")[0]):
            eval(f"make({options})", {"make": make, "lib": lib})
        return [repr(make()), make() == make(True), hash(make()) == hash(make())]

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
    "cross_entropy(x, t([0, 1, 2]), weight=ones(5).requires_grad_())",
    "cross_entropy(x, t([0, 1, 2], dtype=lib.int32))",
    "cross_entropy(x, t([0, 1, 2], dtype=lib.int16))",
    "cross_entropy(x.long(), t([0, 1, 2]))",
    "cross_entropy(x, x, weight=ones(4))",
    "cross_entropy(ones(3, 5, 2), lib.zeros(3, 2, dtype=lib.uint8))",
    "nll_loss(x, t([0, 1, 2]), weight=ones(5).requires_grad_())",
    "nll_loss(ones(3, 5, 2), t([[0, 1]] * 3), weight=ones(5).requires_grad_())",
    "nll_loss(ones(3, 5, 2), t([[0, 1]] * 3), weight=ones(4))",
    "nll_loss(ones(3, 5, 2, 2), t([[[0, 1]]] * 3))",
    "nll_loss(x.long(), t([0, 1, 2]))",
    "nll_loss(x, t(1))",
    "mse_loss(x, x, reduction='avg')",
    "mse_loss(x, x, weight=lib.ones(3))",
    "smooth_l1_loss(x, x, beta=-1)",
    "huber_loss(x, x, delta=0)",
    "binary_cross_entropy(x, x)",
    "binary_cross_entropy(x.sigmoid(), 2 + x)",
    "binary_cross_entropy(x.sigmoid(), lib.zeros(3, 4))",
    "binary_cross_entropy(x.sigmoid(), lib.zeros(3, 5, dtype=lib.float64))",
    "binary_cross_entropy_with_logits(x, lib.zeros(3, 4))",
    "binary_cross_entropy(x / 15, x / 15, weight=ones(5).requires_grad_())",
    "binary_cross_entropy(x / 15, x / 15, weight=ones(2, 3, 5))",
    "binary_cross_entropy(x.long() // 15, x.long() // 15)",
    "binary_cross_entropy_with_logits(x, x / 15, weight=ones(5).requires_grad_())",
    "binary_cross_entropy_with_logits(x, x / 15, pos_weight=ones(5).requires_grad_())",
    "binary_cross_entropy_with_logits(x, x / 15, pos_weight=ones(2, 3, 5))",
    "binary_cross_entropy_with_logits(x, x.long())",
    "binary_cross_entropy_with_logits(x.long(), x)",
    "soft_margin_loss(x, ones(3, 5).requires_grad_())",
    "kl_div(x, x, reduction='avg')",
    "gaussian_nll_loss(x, x, -lib.ones(3, 5))",
    "gaussian_nll_loss(x, x, lib.ones(3, 4))",
    "margin_ranking_loss(x, x, lib.ones(3))",
    "hinge_embedding_loss(x, x, reduction='avg')",
    "cosine_embedding_loss(x, x, lib.ones(3, 5))",
    "cosine_embedding_loss(x[0], x, lib.ones(3))",
    "multi_margin_loss(x, t([1, 2]))",
    "multi_margin_loss(x, t([1, 2, 0]), p=3)",
    "multi_margin_loss(x, t([1, 5, 0]))",
    "multi_margin_loss(x, t([1, -1, 0]))",
    "multi_margin_loss(x, t([1, 2, 0]), weight=lib.ones(4))",
    "multi_margin_loss(x, t([1, 2, 0]), weight=ones(5).requires_grad_())",
    "multi_margin_loss(x, t([1, 2, 0]), weight=ones(5, dtype=lib.float64))",
    "multi_margin_loss(x, t([1, 2, 0], dtype=lib.int32))",
    "multilabel_margin_loss(x, t([[1] * 5] * 3, dtype=lib.int32))",
    "multilabel_margin_loss(x, t([1, 2, 0]))",
    "multilabel_margin_loss(x, t([[7] * 5] * 3))",
    "triplet_margin_loss(x, x, x[0])",
    "triplet_margin_loss(x, x, x, margin=-1)",
]


@pytest.mark.parametrize("use", ERRORS)
def test_errors(use: str) -> None:
    """The type is PyTorch's, and the text has its first words."""

    def run(lib: Any) -> Any:
        x = lib.arange(15.0).reshape(3, 5)
        scope = {"lib": lib, "x": x, "t": lib.tensor, "ones": lib.ones}
        return eval(f"lib.nn.functional.{use}", scope)

    parity.refused(run)
