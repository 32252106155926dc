"""Functions whose top-level form differs from that in ``nn.functional``: arguments as PyTorch's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.oracles import assert_all_close, compare

randn = np.random.randn
drawn = np.random.RandomState(0).randn
X, W, B = drawn(4, 3, 5), drawn(3), drawn(3)
MEAN, VAR = drawn(3), np.abs(drawn(3)) + 0.5
SIGNS = np.sign(drawn(4, 3))
P = np.abs(drawn(4, 3)) / 10
PLACES = np.tanh(drawn(1, 3, 3, 2))


def tensors(t: Any, *arrays: Any) -> list[Any]:
    return [None if a is None else t.tensor(a) for a in arrays]


def distances(t: Any, x: Any) -> Any:
    return t.nn.functional.log_softmax(x, -1)


FORMS: dict[str, Any] = {
    "batch_norm": (
        lambda t, x, w, b: t.batch_norm(x, w, b, None, None, True, 0.1, 1e-5, False), X, W, B),
    "batch_norm running": (
        lambda t, x, w, b: t.batch_norm(
            x, w, b, *tensors(t, MEAN, VAR), False, 0.1, 1e-5, True), X, W, B),
    "instance_norm": (
        lambda t, x, w, b: t.instance_norm(x, w, b, None, None, True, 0.1, 1e-5, False), X, W, B),
    "instance_norm running": (
        lambda t, x, w, b: t.instance_norm(
            x, w, b, *tensors(t, MEAN, VAR), False, 0.1, 1e-5, True), X, W, B),
    "native_batch_norm": (
        lambda t, x, w, b: t.native_batch_norm(x, w, b, None, None, True, 0.1, 1e-5)[0], X, W, B),
    "native_layer_norm": (
        lambda t, x, w, b: t.native_layer_norm(x.mT, (3,), w, b, 1e-5)[0], X, W, B),
    "native_group_norm": (
        lambda t, x, w, b: t.native_group_norm(x, w, b, 4, 3, 5, 3, 1e-5)[0], X, W, B),
    "_softmax_backward_data": (
        lambda t, g, x: t._softmax_backward_data(g, x, -1, t.float64), X, drawn(4, 3, 5)),
    "_log_softmax_backward_data": (
        lambda t, g, x: t._log_softmax_backward_data(g, x, 1, t.float64), X, drawn(4, 3, 5)),
    "embedding": (lambda t, w: t.embedding(w, t.tensor([[1, 3], [3, 0]])), drawn(4, 3)),
    "embedding padded": (lambda t, w: t.embedding(w, t.tensor([1, 3, 0]), 3), drawn(4, 3)),
    "embedding by frequency": (
        lambda t, w: t.embedding(w, t.tensor([1, 3, 3]), -1, True), drawn(4, 3)),
    "adaptive_max_pool1d": (lambda t, x: t.adaptive_max_pool1d(x, 2), X),
    "max_pool1d_with_indices": (lambda t, x: t.max_pool1d_with_indices(x, 2, 1), X),
    "max_pool1d_with_indices of F": (
        lambda t, x: t.nn.functional.max_pool1d_with_indices(x, 2, padding=1), X),
    "max_pool2d_with_indices": (
        lambda t, x: t.nn.functional.max_pool2d_with_indices(x, 2, ceil_mode=True), X),
    "max_pool3d_with_indices": (
        lambda t, x: t.nn.functional.max_pool3d_with_indices(x, (2, 1, 2), 1), drawn(1, 3, 4, 4)),
    "adaptive_max_pool1d_with_indices": (
        lambda t, x: t.nn.functional.adaptive_max_pool1d_with_indices(x, 3), X),
    "adaptive_max_pool2d_with_indices": (
        lambda t, x: t.nn.functional.adaptive_max_pool2d_with_indices(x, (2, None)), X),
    "adaptive_max_pool3d_with_indices": (
        lambda t, x: t.nn.functional.adaptive_max_pool3d_with_indices(x, 2), drawn(1, 3, 4, 4)),
    "fractional_max_pool2d_with_indices": (
        lambda t, x: t.nn.functional.fractional_max_pool2d_with_indices(
            x, 2, output_size=2, _random_samples=t.full((1, 4, 2), 0.3).double()), X),
    "fractional_max_pool3d_with_indices": (
        lambda t, x: t.nn.functional.fractional_max_pool3d_with_indices(
            x, 2, output_ratio=0.5, _random_samples=t.full((1, 1, 3), 0.3).double()),
        drawn(1, 4, 4, 4)),
    "grid_sampler": (
        lambda t, x, g: t.grid_sampler(x, g.tanh(), 0, 1, True),
        drawn(1, 2, 4, 4), drawn(1, 3, 3, 2)),
    "grid_sampler nearest": (
        lambda t, x: t.grid_sampler(x, t.tensor(PLACES), 1, 0, False), drawn(1, 2, 4, 4)),
    "grid_sampler_2d": (
        lambda t, x: t.grid_sampler_2d(x, t.tensor(PLACES), 2, 2, False), drawn(1, 2, 4, 4)),
    "grid_sampler_3d": (
        lambda t, x, g: t.grid_sampler_3d(x, g.tanh(), 0, 2, False),
        drawn(1, 2, 3, 4, 4), drawn(1, 2, 3, 3, 3)),
    "affine_grid_generator": (
        lambda t, x: t.affine_grid_generator(x, (2, 1, 3, 4), False), drawn(2, 2, 3)),
    "norm_except_dim": (lambda t, x: t.norm_except_dim(x, 2, 1), X),
}  # fmt: skip


@pytest.mark.torch
@pytest.mark.parametrize("case", FORMS)
def test_low_level_operators_are_pytorchs(case: str) -> None:
    call, *arrays = FORMS[case]
    orders = 1 if "grid" in case or "pool3d" in case else 2
    compare(call, *arrays, orders=orders)


LOSSES: dict[str, Any] = {
    "margin_ranking_loss": (
        lambda t, r, x, y: t.margin_ranking_loss(x, y, t.tensor(SIGNS), 0.5, r), 2),
    "hinge_embedding_loss": (lambda t, r, x: t.hinge_embedding_loss(x, t.tensor(SIGNS), 1.0, r), 1),
    "cosine_embedding_loss": (
        lambda t, r, x, y: t.cosine_embedding_loss(x, y, t.tensor(SIGNS[:, 0]), 0.1, r), 2),
    "triplet_margin_loss": (
        lambda t, r, x, y, z: t.triplet_margin_loss(x, y, z, 1.0, 2.0, 1e-6, True, r), 3),
    "binary_cross_entropy_with_logits": (
        lambda t, r, x: t.binary_cross_entropy_with_logits(
            x, t.tensor(P), None, t.tensor([1.0, 2.0, 3.0]).double(), r), 1),
    "kl_div": (lambda t, r, x: t.kl_div(x, t.tensor(P), r), 1),
    "kl_div of logarithms": (
        lambda t, r, x: t.kl_div(x, t.tensor(np.log(P)), r, log_target=True), 1),
    "poisson_nll_loss": (
        lambda t, r, x: t.poisson_nll_loss(x, t.tensor(P * 30), True, True, 1e-8, r), 1),
    "ctc_loss": (
        lambda t, r, x: t.ctc_loss(
            distances(t, x[:, None]), t.tensor([[1, 2]]), (4,), (2,), 0, r, True), 1),
}  # fmt: skip


@pytest.mark.torch
@pytest.mark.parametrize("reduction", [0, 1, 2])
@pytest.mark.parametrize("case", LOSSES)
def test_low_level_losses_are_pytorchs(case: str, reduction: int) -> None:
    call, count = LOSSES[case]
    arrays = [randn(4, 3) for _ in range(count)]
    compare(lambda t, *xs: call(t, reduction, *xs), *arrays, orders=1)


@pytest.mark.parametrize("name", ["margin_ranking_loss", "triplet_margin_loss"])
def test_words_for_a_reduction_are_for_functional(name: str) -> None:
    with pytest.raises(TypeError, match="argument 'reduction' must be int, not str"):
        getattr(tt, name)(tt.ones(2, 2), tt.ones(2, 2), tt.ones(2, 2), reduction="mean")
    with pytest.raises(ValueError, match="3 is not a valid value for reduction"):
        getattr(tt, name)(tt.ones(2, 2), tt.ones(2, 2), tt.ones(2, 2), reduction=3)


STATISTICS = {
    "batch": lambda t: t.native_batch_norm(
        t.tensor(X), None, None, *tensors(t, MEAN, VAR), True, 0.1, 1e-5),
    "running": lambda t: t.native_batch_norm(
        t.tensor(X), None, None, *tensors(t, MEAN, VAR), False, 0.1, 1e-5),
    "layer": lambda t: t.native_layer_norm(t.tensor(X), (3, 5), None, None, 1e-5),
    "last dimension": lambda t: t.native_layer_norm(t.tensor(X), [5], None, None, 1e-5),
    "group": lambda t: t.native_group_norm(t.tensor(X), None, None, 4, 3, 5, 3, 1e-5),
    "no batch": lambda t: t.native_group_norm(t.zeros(0, 4), None, None, 0, 4, 1, 2, 1e-5),
    "one group": lambda t: t.native_group_norm(t.tensor(X), None, None, 4, 3, 5, 1, 1e-5),
}  # fmt: skip


@pytest.mark.parametrize("case", STATISTICS)
def test_low_level_batch_statistics_are_pytorchs(torch: Any, case: str) -> None:
    assert_all_close(STATISTICS[case](tt), STATISTICS[case](torch))


def test_batch_norm_and_instance_norm_update_running_statistics(torch: Any) -> None:
    moved = []
    for library in (tt, torch):
        running = tensors(library, MEAN, VAR)
        library.batch_norm(library.tensor(X), None, None, *running, True, 0.1, 1e-5, False)
        library.instance_norm(library.tensor(X), None, None, *running, True, 0.1, 1e-5, False)
        moved.append(running)
    assert_all_close(*moved)


DROPPED: dict[str, Any] = {
    "native_dropout": lambda t: t.native_dropout(t.ones(50), 0.3, True),
    "native_dropout by default": lambda t: t.native_dropout(t.ones(50), 0.3, None),
    "native_dropout of nothing": lambda t: t.native_dropout(t.ones(5), 0.3, False),
    "native_dropout of all": lambda t: t.native_dropout(t.ones(5), 1.0, True),
    "dropout_": lambda t: t.dropout_(t.ones(50), 0.3, True),
    "alpha_dropout_": lambda t: t.alpha_dropout_(t.ones(50), 0.3, True),
    "feature_dropout_": lambda t: t.feature_dropout_(t.ones(5, 6, 2), 0.3, True),
    "feature_alpha_dropout_": lambda t: t.feature_alpha_dropout_(t.ones(5, 6, 2), 0.3, True),
    "rrelu_": lambda t: t.rrelu_(t.arange(-25.0, 25.0) / 8, 0.1, 0.3, True),
    "rrelu_ of F": lambda t: t.nn.functional.rrelu_(t.arange(-25.0, 25.0) / 8),
}


@pytest.mark.parametrize("case", DROPPED)
def test_low_level_dropout_draws_pytorchs_zeros(torch: Any, case: str) -> None:
    if tt.get_backend() == "cupy":
        pytest.skip("a GPU draws other numbers")
    drawn = []
    for library in (tt, torch):
        library.manual_seed(4)
        out = DROPPED[case](library)
        parts = [p.cpu().numpy() for p in (out if isinstance(out, tuple) else (out,))]
        drawn.append([*parts, library.rand(2).cpu().numpy()])
    for ours, theirs in zip(*drawn, strict=True):
        assert ours.dtype == theirs.dtype
        np.testing.assert_allclose(ours, theirs, rtol=1e-6)


@pytest.mark.parametrize("name", ["dropout_", "alpha_dropout_", "rrelu_"])
def test_results_are_written_in_place(name: str) -> None:
    x = -tt.ones(4)
    arguments = (0.5, True) if "dropout" in name else (0.1, 0.2, True)
    assert getattr(tt, name)(x, *arguments) is x and x._version == 1


def test_the_gradient_of_native_dropout_is_the_scaled_mask() -> None:
    x = tt.ones(40, requires_grad=True)
    out, mask = tt.native_dropout(x, 0.5, True)
    out.sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == (mask * 2.0).tolist() and not mask.requires_grad


def test_rows_are_scaled_down_to_a_norm(torch: Any) -> None:
    table = randn(5, 3) * 3
    found = [
        t.embedding_renorm_(t.tensor(table), t.tensor([0, 2, 2]), 1.0, 2.0) for t in (tt, torch)
    ]
    assert_all_close(found[:1], found[1:])


@pytest.mark.parametrize(
    ("error", "text", "call"),
    [
        (RuntimeError, "a leaf Variable that requires grad", lambda: tt.embedding_renorm_(
            tt.ones(2, 2, requires_grad=True), tt.tensor([0]), 1.0, 2.0)),
        (RuntimeError, "derivative for 'embedding_renorm_'", lambda: tt.embedding_renorm_(
            tt.ones(2, 2, requires_grad=True) * 2, tt.tensor([0]), 1.0, 2.0)),
        (RuntimeError, "scale_grad_by_freq not supported", lambda: tt.embedding(
            tt.ones(2, 2), tt.tensor([0]), -1, True, True)),
        (ValueError, "expected a mode of 0 to 2", lambda: tt.grid_sampler(
            tt.ones(1, 1, 2, 2), tt.ones(1, 1, 1, 2), 3, 0, False)),
        (RuntimeError, r"X.numel\(\) == N \* C \* HxW", lambda: tt.native_group_norm(
            tt.ones(1, 2, 3), None, None, 1, 2, 4, 1, 1e-5)),
        (TypeError, "missing", lambda: tt.batch_norm(tt.ones(2, 2), None, None)),
    ],
)  # fmt: skip
def test_low_level_operators_refuse_wrong_arguments(error: Any, text: str, call: Any) -> None:
    with pytest.raises(error, match=text):
        call()


GRADIENTS_REFUSED: dict[str, Any] = {
    "two shapes": lambda t: (t.ones(3), t.ones(2, 3), 0, t.float32),
    "two dtypes": lambda t: (t.ones(3), t.ones(3, dtype=t.float64), 0, t.float32),
    "another dtype of the input": lambda t: (t.ones(3), t.ones(3), 0, t.float16),
    "no such dimension": lambda t: (t.ones(3), t.ones(3), 1, t.float32),
}


@pytest.mark.parametrize("case", GRADIENTS_REFUSED)
def test_softmax_backward_data_refuses_wrong_arguments(torch: Any, case: str) -> None:
    for library in (tt, torch):
        with pytest.raises(
            (RuntimeError, IndexError),
            match="to have same size as|expected scalar type|Dimension out of range",
        ):
            library._softmax_backward_data(*GRADIENTS_REFUSED[case](library))


@pytest.mark.parametrize("name", ["_softmax_backward_data", "_log_softmax_backward_data"])
def test_gradients_of_softmax_in_half_precision(torch: Any, name: str) -> None:
    assert_all_close(*(
        getattr(t, name)(t.tensor(X).half(), t.tensor(X).half(), 1, t.float16) for t in (tt, torch)
    ))  # fmt: skip
