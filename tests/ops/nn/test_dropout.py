"""Dropout: PyTorch's zeros for PyTorch's seed, and what dropout promises."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tinytorch import autograd

F: Any = tt.nn.functional

CALLS = [
    ("dropout", (5,), (0.3,)),
    ("dropout", (100,), (0.3,)),
    ("dropout", (7, 33), (0.9,)),
    ("dropout", (20,), (1.0,)),
    ("dropout1d", (3, 4, 5), (0.4,)),
    ("dropout1d", (4, 5), (0.4,)),
    ("dropout2d", (3, 4, 2, 2), (0.4,)),
    ("dropout2d", (3, 4, 2), (0.4,)),
    ("dropout3d", (2, 3, 2, 2, 2), (0.4,)),
    ("dropout3d", (3, 2, 2, 2), (0.4,)),
    ("dropout3d", (3, 2, 2), (0.4,)),
    ("alpha_dropout", (40,), (0.3, True)),
    ("alpha_dropout", (4,), (1.0, True)),
    ("feature_alpha_dropout", (4, 5, 3), (0.3, True)),
    ("rrelu", (50,), (0.1, 0.4, True)),
    ("gumbel_softmax", (4, 5), ()),
]


@pytest.mark.parametrize(("name", "shape", "arguments"), CALLS)
def test_zeros_of_dropout_are_pytorchs(
    torch: Any, name: str, shape: tuple[int, ...], arguments: tuple[Any, ...]
) -> None:
    x = np.random.randn(*shape).astype(np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # both warn about unusual numbers of dimensions
        torch.manual_seed(3)
        wanted = getattr(torch.nn.functional, name)(torch.tensor(x), *arguments)
        tt.manual_seed(3)
        got = getattr(F, name)(tt.tensor(x), *arguments)
    np.testing.assert_allclose(got.numpy(), wanted.numpy(), rtol=1e-5, atol=1e-6)


def test_a_transposed_tensor_is_filled_in_the_order_of_its_memory(torch: Any) -> None:
    x = np.random.randn(6, 9).astype(np.float32)
    torch.manual_seed(0)
    wanted = torch.nn.functional.dropout(torch.tensor(x).t())
    tt.manual_seed(0)
    np.testing.assert_array_equal(F.dropout(tt.tensor(x).t()).numpy(), wanted.numpy())


def test_kept_elements_keep_the_mean_and_carry_the_gradient() -> None:
    x = tt.ones(10000, dtype=tt.float64, requires_grad=True)
    out = F.dropout(x, 0.25)
    values = set(out.tolist())
    assert values == {0.0, 1 / 0.75}
    assert abs(out.mean().item() - 1) < 0.05
    (g,) = autograd.grad(out.sum(), x)
    assert g.tolist() == out.tolist()


def test_alpha_dropout_keeps_mean_and_variance() -> None:
    x = tt.randn(20000, dtype=tt.float64)
    out = F.alpha_dropout(x, 0.3, training=True)
    assert abs(out.mean().item()) < 0.05 and abs(out.std().item() - 1) < 0.05


def test_dropout2d_zeroes_whole_channels() -> None:
    out = F.dropout2d(tt.ones(4, 50, 3, 3), 0.5)
    per_channel = out.reshape(200, 9)
    assert ((per_channel == 0).all(1) | (per_channel == 2).all(1)).all()


@pytest.mark.parametrize("name", ["dropout", "dropout1d", "alpha_dropout", "feature_alpha_dropout"])
def test_dropout_in_evaluation_or_with_p_0_changes_nothing(name: str) -> None:
    x = tt.randn(2, 3)
    assert getattr(F, name)(x, 0.5, training=False).tolist() == x.tolist()
    assert getattr(F, name)(x, 0.0, training=True).tolist() == x.tolist()


def test_dropout_in_place_returns_its_input() -> None:
    for f in (F.dropout, F.alpha_dropout, F.dropout1d, F.feature_alpha_dropout):
        x = tt.ones(4, 5)
        assert f(x, 0.5, training=True, inplace=True) is x
        assert x.tolist() != tt.ones(4, 5).tolist()


def test_dropout_refuses_wrong_arguments() -> None:
    x = tt.ones(3)
    for p in (-0.1, 1.1):
        with pytest.raises(ValueError, match="dropout probability has to be between 0 and 1"):
            F.dropout(x, p)
    with pytest.raises(RuntimeError, match="dropout1d: Expected 2D or 3D input, but received a 1D"):
        F.dropout1d(x)
    with pytest.raises(RuntimeError, match="Feature dropout requires at least 2 dimensions"):
        F.feature_alpha_dropout(x, training=True)
    with pytest.warns(UserWarning, match="Received a 2-D input to dropout2d"):
        F.dropout2d(tt.ones(2, 3))
    with pytest.raises(RuntimeError, match="Lower bound should be less than or equal to the upper"):
        F.rrelu(x, 0.5, 0.1)
    with pytest.raises(RuntimeError, match="result type Float can't be cast"):
        F.dropout(tt.tensor([1, 2]))
