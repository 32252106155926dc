"""Gamma and Dirichlet numbers: PyTorch's own, the law's moments, and derivatives of quantiles."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tinytorch.ops.random.gammas import (
    _dirichlet_grad,
    _sample_dirichlet,
    _standard_gamma,
    _standard_gamma_grad,
)

SHAPES = np.array([0.01, 0.3, 0.9, 1.0, 1.7, 5.0, 40.0, 1e4])


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_gamma_and_dirichlet_draw_pytorchs_numbers(torch: Any, seed: int, dtype: str) -> None:
    shapes = np.tile(SHAPES, (20, 1)).astype(dtype)
    for ours, theirs in (
        (_standard_gamma, torch._standard_gamma), (_sample_dirichlet, torch._sample_dirichlet),
    ):  # fmt: skip
        for library in (tt, torch):
            library.manual_seed(seed)
            library.randn(3)  # leaves a normal number over, which is drawn first
        found = ours(tt.tensor(shapes)).cpu().numpy()
        wanted = theirs(torch.tensor(shapes)).numpy()
        # PyTorch computes float32 in single precision, and raises to powers up to 100.
        np.testing.assert_allclose(found, wanted, rtol=1e-14 if dtype == "float64" else 1e-4)
        assert tt.randn(1).item() == torch.randn(1).item()


def test_mean_and_variance_of_gamma_are_the_shape() -> None:
    tt.manual_seed(0)
    for shape in (0.2, 1.0, 7.5):
        drawn = _standard_gamma(tt.full((20000,), shape, dtype=tt.float64)).cpu().numpy()
        assert drawn.mean() == pytest.approx(shape, rel=0.05)
        assert drawn.var() == pytest.approx(shape, rel=0.1)


def test_gamma_of_zero_and_nan_has_defined_values() -> None:
    drawn = _standard_gamma(tt.tensor([0.0, float("nan")]))
    assert drawn[0].item() == tt.finfo(tt.float32).tiny and drawn[1].isnan().item()
    assert _standard_gamma(tt.zeros(0, 2)).shape == (0, 2)


@pytest.mark.parametrize("draw", [_standard_gamma, _sample_dirichlet])
def test_gamma_and_dirichlet_refuse_other_dtypes(draw: Any) -> None:
    for dtype in (tt.float16, tt.int64):
        with pytest.raises(NotImplementedError, match="not implemented for"):
            draw(tt.ones(2, dtype=dtype))


@pytest.mark.parametrize("chance", [1e-3, 0.1, 0.5, 0.9, 0.999])
def test_derivatives_are_those_of_quantiles(chance: float) -> None:
    stats = pytest.importorskip("scipy.stats", reason="SciPy has the quantiles")
    shapes, step = SHAPES[1:], 1e-5 * SHAPES[1:]
    points = stats.gamma.ppf(chance, shapes)
    wanted = stats.gamma.ppf(chance, shapes + step) - stats.gamma.ppf(chance, shapes - step)
    found = _standard_gamma_grad(tt.tensor(shapes), tt.tensor(points)).cpu().numpy()
    np.testing.assert_allclose(found, wanted / (2 * step), rtol=1e-6)
    for other in (0.5, 1.0, 6.0, 80.0):
        points = stats.beta.ppf(chance, shapes, other)
        known = (points > 1e-250) & (points < 1 - 1e-6)
        above, below = (stats.beta.ppf(chance, shapes + s, other) for s in (step, -step))
        wanted = ((above - below) / (2 * step) / (1 - points))[known]
        given = (tt.tensor(a[known]) for a in (points, shapes, shapes + other))
        found = _dirichlet_grad(*given).cpu().numpy()
        np.testing.assert_allclose(found, wanted, rtol=1e-4)


def test_gradients_of_gamma_and_dirichlet_flow_to_their_parameters() -> None:
    shapes = tt.tensor([0.5, 3.0], dtype=tt.float64, requires_grad=True)
    (slope,) = tt.autograd.grad(_standard_gamma(shapes).sum(), shapes)
    assert (slope > 0).all()
    (slope,) = tt.autograd.grad(_sample_dirichlet(shapes)[0], shapes)
    assert slope[0].item() > 0 > slope[1].item()


@pytest.mark.parametrize("shape", [1e-3, 0.01, 0.1, 0.9])
def test_derivatives_of_large_numbers_by_small_shapes(torch: Any, shape: float) -> None:
    points = np.array([1e-5, 1e-3, 0.01, 0.012, 0.05, 0.13])
    shapes = np.full_like(points, shape)
    found = _standard_gamma_grad(tt.tensor(shapes), tt.tensor(points)).cpu().numpy()
    wanted = torch._standard_gamma_grad(torch.tensor(shapes), torch.tensor(points)).numpy()
    np.testing.assert_allclose(found, wanted, rtol=1e-6)
    for other in (1.0, 10.0):
        given = points, shapes, shapes + other
        found = _dirichlet_grad(*map(tt.tensor, given)).cpu().numpy()
        wanted = torch._dirichlet_grad(*map(torch.tensor, given)).numpy()
        np.testing.assert_allclose(found, wanted, rtol=1e-5)
