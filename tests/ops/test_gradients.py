"""``gradient``: NumPy's values and closed forms, on even and uneven grids."""

from __future__ import annotations

import numpy as np
import pytest

import tinytorch as tt


@pytest.mark.parametrize("edge_order", [1, 2])
def test_agrees_with_numpy_on_an_even_grid(edge_order: int) -> None:
    values = np.random.rand(5, 4)
    ours = tt.gradient(tt.tensor(values), spacing=0.5, edge_order=edge_order)
    wanted = np.gradient(values, 0.5, edge_order=edge_order)
    for a, b in zip(ours, wanted, strict=True):
        np.testing.assert_allclose(a.numpy(), b, rtol=1e-12)


@pytest.mark.parametrize("edge_order", [1, 2])
def test_agrees_with_numpy_on_an_uneven_grid(edge_order: int) -> None:
    places = np.array([0.0, 0.5, 2.0, 3.0, 7.0])
    values = np.random.rand(5)
    (ours,) = tt.gradient(tt.tensor(values), spacing=[tt.tensor(places)], edge_order=edge_order)
    wanted = np.gradient(values, places, edge_order=edge_order)
    np.testing.assert_allclose(ours.numpy(), wanted, rtol=1e-12)


def test_a_parabola_is_exact_at_second_order() -> None:
    x = tt.arange(6, dtype=tt.float64)
    (slope,) = tt.gradient(x * x, edge_order=2)
    assert slope.tolist() == [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]


def test_gradient_of_gradient_agrees_with_differences() -> None:
    x = tt.rand(4, dtype=tt.float64).requires_grad_()
    assert tt.autograd.gradcheck(lambda t: tt.gradient(t, edge_order=2)[0], (x,))


def test_axis_gives_a_tuple_of_one_gradient() -> None:
    values = np.random.rand(3, 4)
    (ours,) = tt.gradient(tt.tensor(values), axis=1)
    np.testing.assert_allclose(ours.numpy(), np.gradient(values, axis=1), rtol=1e-12)


def test_too_few_samples_are_refused() -> None:
    with pytest.raises(RuntimeError, match="each dimension size to be at least edge_order"):
        tt.gradient(tt.ones(1))
