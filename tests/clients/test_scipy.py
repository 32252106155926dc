"""SciPy computes on tensors: on their numbers, or through the array API where that is on."""

from __future__ import annotations

import pytest

import tinytorch as tt
from tests.fresh import program
from tests.runner import Runner

scipy = pytest.importorskip("scipy")
special, stats = pytest.importorskip("scipy.special"), pytest.importorskip("scipy.stats")
linalg, optimize = pytest.importorskip("scipy.linalg"), pytest.importorskip("scipy.optimize")
A = tt.tensor([[4.0, 1.0], [1.0, 3.0]], dtype=tt.float64)
B = tt.tensor([1.0, 2.0], dtype=tt.float64)


def test_scipy_functions_accept_tensors() -> None:
    tt.testing.assert_close(tt.as_tensor(linalg.solve(A, B)), tt.linalg.solve(A, B))
    tt.testing.assert_close(tt.as_tensor(linalg.cho_factor(A)[0]).triu(), tt.linalg.cholesky(A).mT)
    tt.testing.assert_close(tt.as_tensor(special.logsumexp(B)), B.logsumexp(0))
    assert stats.ttest_1samp(B, 1.5).statistic == 0
    found = optimize.minimize(lambda x: ((tt.as_tensor(x) - B) ** 2).sum(), tt.zeros_like(B))
    tt.testing.assert_close(tt.as_tensor(found.x), B, atol=1e-6, rtol=0)


def test_scipys_minimizers_use_gradients_of_tinytorch() -> None:
    def value_and_gradient(numbers: object) -> tuple[float, object]:
        x = tt.tensor(numbers, requires_grad=True)
        value = ((A @ x - B) ** 2).sum()
        (gradient,) = tt.autograd.grad(value, x)
        return value.item(), gradient.numpy()

    found = optimize.minimize(value_and_gradient, tt.zeros_like(B), jac=True, method="L-BFGS-B")
    tt.testing.assert_close(tt.as_tensor(found.x), tt.linalg.solve(A, B), atol=1e-4, rtol=0)


def test_scipy_functions_return_tensors_under_the_array_api(runner: Runner) -> None:
    def computes() -> None:
        from scipy import special, stats

        import tinytorch as tt

        x = tt.tensor([1.0, 2.0, 4.0], dtype=tt.float64)
        for found in (special.logsumexp(x), stats.zscore(x), special.expit(x)):
            print(type(found).__name__)
        print(abs(float(special.logsumexp(x) - x.logsumexp(0))) < 1e-12)

    out = runner.python("-c", program(computes), SCIPY_ARRAY_API="1").stdout
    assert out.split() == ["Tensor"] * 3 + ["True"]
