"""Gradients of losses and cells against finite differences, and values against closed forms."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.nn.loss_cases import CASES, array
from tests.oracles import has_second_derivatives
from tinytorch.autograd import gradcheck

F = tt.nn.functional

# 1e-6 is the step of the differences: a kink within it shows.
SMOOTH_TWICE = (
    "mse_loss", "binary_cross_entropy", "binary_cross_entropy_with_logits", "kl_div",
    "poisson_nll_loss", "gaussian_nll_loss", "nll_loss", "cross_entropy", "soft_margin_loss",
    "multilabel_soft_margin_loss", "linear_cross_entropy",
)  # fmt: skip


def as_function(name: str, inputs: Any, options: Any) -> tuple[Any, list[Any]]:
    """The loss of its float tensors, and these."""
    tensors = [tt.tensor(x) if isinstance(x, (np.ndarray, np.generic)) else x for x in inputs]
    floats = [x for x in tensors if isinstance(x, tt.Tensor) and x.is_floating_point()]
    given = {k: tt.tensor(v) if isinstance(v, np.ndarray) else v for k, v in options.items()}

    def loss(*values: Any) -> Any:
        left = iter(values)
        arguments = [next(left) if any(x is f for f in floats) else x for x in tensors]
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "reduction: 'mean' divides")
            return getattr(F, name)(*arguments, **given, reduction="none")

    return loss, [x.requires_grad_() for x in floats]


# The bound on the variance is left out of the gradient, as in PyTorch.
EXACT = [case for case in CASES if case[2].get("eps") != 0.5]


@pytest.mark.parametrize(("name", "inputs", "options"), EXACT)
def test_gradients_of_losses_are_finite_differences(name: str, inputs: Any, options: Any) -> None:
    loss, values = as_function(name, inputs, options)
    if name == "soft_margin_loss":  # PyTorch refuses a target that requires grad
        values[1] = values[1].detach()
    assert gradcheck(loss, values)


@pytest.mark.parametrize(
    ("name", "inputs", "options"), [case for case in CASES if case[0] in SMOOTH_TWICE]
)
def test_losses_have_second_derivatives(name: str, inputs: Any, options: Any) -> None:
    loss, values = as_function(name, inputs, options)
    assert has_second_derivatives(loss, values[:1] + [v.detach() for v in values[1:]])


@pytest.mark.parametrize("name", ["RNNCell", "GRUCell", "LSTMCell"])
def test_gradients_of_recurrent_cells_are_finite_differences(name: str) -> None:
    cell = getattr(tt.nn, name)(2, 3).double()
    x, h, c = (tt.tensor(array(2, n, dtype="float64"), requires_grad=True) for n in (2, 3, 3))
    if name == "LSTMCell":
        inputs, run = [x, h, c], lambda x, h, c: cell(x, (h, c))
    else:
        inputs, run = [x, h], cell
    assert gradcheck(run, inputs) and has_second_derivatives(run, inputs)


def test_binary_cross_entropy_with_infinite_wrong_logits_is_infinite() -> None:
    x, y = tt.tensor([np.inf, np.inf, 30.0, -30.0]), tt.tensor([0.0, 0.3, 1.0, 0.0])
    loss = F.binary_cross_entropy_with_logits(x, y, reduction="none")
    np.testing.assert_allclose(loss, [np.inf, np.inf, np.exp(-30.0), np.exp(-30.0)], rtol=1e-5)


def test_cross_entropy_is_the_log_of_the_softmax() -> None:
    logits = array(3, 4, dtype="float64")
    expected = np.log(np.exp(logits).sum(1)) - logits[np.arange(3), [2, 0, 3]]
    loss = F.cross_entropy(tt.tensor(logits), tt.tensor([2, 0, 3]), reduction="none")
    np.testing.assert_allclose(loss, expected)


def test_cross_entropy_of_huge_logits_is_finite() -> None:
    x = tt.tensor([[1e4, 0.0], [-1e4, 0.0]], requires_grad=True)
    loss = F.cross_entropy(x, tt.tensor([1, 1]), reduction="sum")
    loss.backward()
    assert loss.item() == 1e4 and x.grad.tolist() == [[1.0, -1.0], [0.0, 0.0]]


def test_ignored_targets_have_no_gradient() -> None:
    x = tt.tensor(array(3, 4), requires_grad=True)
    F.cross_entropy(x, tt.tensor([1, -100, 2])).backward()
    assert x.grad[1].tolist() == [0, 0, 0, 0]
    assert x.grad.sum().item() == pytest.approx(0, abs=1e-6)


def test_cross_entropy_refuses_targets_out_of_range() -> None:
    for wrong in (4, -1):
        with pytest.raises(IndexError, match=f"Target {wrong} is out of bounds."):
            F.cross_entropy(tt.zeros(2, 4), tt.tensor([0, wrong]))


def test_huber_and_smooth_l1_meet_at_one() -> None:
    x, y = tt.tensor(array(20, dtype="float64")), tt.tensor(array(20, dtype="float64", seed=1))
    assert tt.equal(F.huber_loss(x, y, "none"), F.smooth_l1_loss(x, y, reduction="none"))


def test_pairwise_distances_are_numpys_norms() -> None:
    x, y = array(4, 3, dtype="float64"), array(4, 3, dtype="float64", seed=1)
    a, b = tt.tensor(x, requires_grad=True), tt.tensor(y, requires_grad=True)
    for p in (1.0, 2.0, 3.0, np.inf):
        expected = np.linalg.norm(x - y + 1e-6, ord=p, axis=1)
        np.testing.assert_allclose(tt.pairwise_distance(a, b, p).detach(), expected)
        assert gradcheck(lambda a, b, p=p: tt.pairwise_distance(a, b, p), [a, b])
    expected = (x * y).sum(1) / np.linalg.norm(x, axis=1) / np.linalg.norm(y, axis=1)
    np.testing.assert_allclose(tt.cosine_similarity(a, b).detach(), expected)
    assert gradcheck(tt.cosine_similarity, [a, b])
