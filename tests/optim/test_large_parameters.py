"""Updates of parameters so large that they go through BLAS, beside their formulas in NumPy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tinytorch.backends.numpy import blas, sums
from tinytorch.optim import SGD, Adam

SIZES = [20_000, 150_001]


@pytest.fixture(params=["as found", "another BLAS"])
def library(request: Any, monkeypatch: Any) -> Iterator[None]:
    """NumPy may run on a BLAS whose functions cannot be called."""
    if request.param == "another BLAS":
        monkeypatch.setattr(blas, "loaded", lambda: None)
    sums._blas_function.cache_clear()
    yield
    sums._blas_function.cache_clear()


def start(size: int, dtype: str) -> tuple[tt.Tensor, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(size)
    values, grad = (rng.standard_normal(size).astype(dtype) for _ in range(2))
    p = tt.tensor(values, requires_grad=True)
    p.grad = tt.tensor(grad)
    return p, values.astype("float64"), grad.astype("float64")


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("maximize", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("size", SIZES)
def test_sgd_on_large_parameters_is_the_formula(size: int, dtype: str, maximize: bool) -> None:
    p, values, grad = start(size, dtype)
    SGD([p], lr=0.1, maximize=maximize).step()
    expected = values + (0.1 if maximize else -0.1) * grad
    limit = 1e-15 if dtype == "float64" else 3e-7
    np.testing.assert_allclose(p.detach().numpy(), expected, limit, limit)


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("dampening", [0.0, 0.25])
@pytest.mark.parametrize("size", SIZES)
def test_sgd_with_momentum_on_large_parameters_is_the_formula(size: int, dampening: float) -> None:
    p, values, grad = start(size, "float32")
    optimizer = SGD([p], lr=0.1, momentum=0.9, dampening=dampening)
    buffer = grad
    for step in range(3):
        optimizer.step()
        buffer = buffer if step == 0 else 0.9 * buffer + (1 - dampening) * grad
        values = values - 0.1 * buffer
    np.testing.assert_allclose(p.detach().numpy(), values, 1e-6, 1e-6)


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("size", SIZES)
def test_adam_on_large_parameters_is_the_formula(size: int) -> None:
    p, values, grad = start(size, "float32")
    optimizer = Adam([p], lr=0.1)
    mean, square = np.zeros(size), np.zeros(size)
    for step in range(1, 4):
        optimizer.step()
        mean, square = 0.9 * mean + 0.1 * grad, 0.999 * square + 0.001 * grad**2
        root = np.sqrt(square / (1 - 0.999**step)) + 1e-8
        values = values - 0.1 * mean / (1 - 0.9**step) / root
    np.testing.assert_allclose(p.detach().numpy(), values, 1e-6, 1e-6)


@pytest.mark.usefixtures("library")
def test_a_rate_of_0_does_not_hide_what_is_not_finite() -> None:
    p, values, _ = start(20_000, "float32")
    p.grad[5], p.grad[6] = tt.inf, tt.nan
    SGD([p], lr=0.0).step()
    found = p.detach().numpy()
    assert np.isnan(found[5:7]).all()
    np.testing.assert_array_equal(np.delete(found, [5, 6]), np.delete(values, [5, 6]).astype("f"))


def transposed(array: tt.Tensor) -> tt.Tensor:
    return array.reshape(200, 100).t()


def spaced(array: tt.Tensor) -> tt.Tensor:
    return array.repeat_interleave(2)[::2].reshape(100, 200)


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("layout", [transposed, spaced])
def test_sgd_updates_parameters_in_other_layouts(layout: Callable[[tt.Tensor], tt.Tensor]) -> None:
    _, values, grad = start(20_000, "float32")
    p = layout(tt.tensor(values, dtype=tt.float32)).requires_grad_()
    before = p.detach().numpy().copy()
    p.grad = tt.tensor(grad.reshape(100, 200), dtype=tt.float32)
    SGD([p], lr=0.1).step()
    expected = before - 0.1 * grad.reshape(100, 200)
    np.testing.assert_allclose(p.detach().numpy(), expected, 3e-7, 3e-7)
    assert not p.is_contiguous()
