"""Poisson and binomial numbers: PyTorch's own, and the laws' means and variances."""

from __future__ import annotations

from typing import Any

import pytest

import tinytorch as tt

RATES = {
    "few events": lambda t: t.rand(500) * 9,
    "many events": lambda t: t.rand(500) * 1000,
    "in double precision": lambda t: t.rand(100, 5, dtype=t.float64).t() * 30,
    "halves": lambda t: (t.rand(300) * 30).half(),
    "none": lambda t: t.zeros(4),
    "no rates": lambda t: t.zeros(0, 3),
    "0-d": lambda t: t.tensor(50.0),
    "the threshold": lambda t: t.full((300,), 10.0),
}
TRIALS: dict[str, Any] = {
    "few trials": lambda t: ((t.rand(500) * 10).floor(), t.rand(500)),
    "many trials": lambda t: ((t.rand(500) * 1000).floor(), t.rand(500)),
    "in double precision": lambda t: (
        (t.rand(500, dtype=t.float64) * 200).floor(), t.rand(500, dtype=t.float64)),
    "broadcast": lambda t: (t.full((4, 3), 20.0), t.rand(3)),
    "one chance": lambda t: (t.full((50,), 9.5), t.tensor(0.3)),
    "certain": lambda t: (
        t.tensor([5.0, 5.0, 0.0, -1.0, 5.0]), t.tensor([0.0, 1.0, 0.5, 0.5, 2.0])),
    "rare": lambda t: (t.full((50,), 1e6), t.full((50,), 1e-7)),
}  # fmt: skip


def assert_drawn_alike(call: Any) -> None:
    """Assert that both libraries draw the same from three seeds, and leave the same state."""
    from tests.ops.random.random_oracle import assert_exact  # imports PyTorch

    for seed in range(3):
        assert_exact(call, seed)


@pytest.mark.torch
@pytest.mark.parametrize("case", RATES)
def test_poisson_draws_pytorchs_numbers(case: str) -> None:
    assert_drawn_alike(lambda t: t.poisson(RATES[case](t)))


@pytest.mark.torch
@pytest.mark.parametrize("case", TRIALS)
def test_binomial_draws_pytorchs_numbers(case: str) -> None:
    assert_drawn_alike(lambda t: t.binomial(*TRIALS[case](t)))


def test_poisson_and_binomial_accept_a_generator() -> None:
    first, second = (tt.Generator().manual_seed(3) for _ in range(2))
    rates = tt.full((20,), 7.0)
    assert tt.poisson(rates, first).tolist() == tt.poisson(rates, generator=second).tolist()


@pytest.mark.parametrize("rate", [0.5, 9.9, 10.0, 200.0])
def test_mean_and_variance_of_poisson_are_the_rate(rate: float) -> None:
    tt.manual_seed(1)
    drawn = tt.poisson(tt.full((20000,), rate, dtype=tt.float64)).cpu().numpy()
    # Five standard errors; that of the variance of a Poisson number follows from its kurtosis.
    assert abs(drawn.mean() - rate) < 5 * (rate / 20000) ** 0.5
    assert abs(drawn.var() - rate) < 5 * ((2 * rate**2 + rate) / 20000) ** 0.5


@pytest.mark.parametrize(("count", "chance"), [(12, 0.2), (12, 0.9), (500, 0.3), (500, 0.6)])
def test_mean_and_variance_of_binomial_are_the_formulas(count: float, chance: float) -> None:
    tt.manual_seed(1)
    trials = tt.full((20000,), float(count), dtype=tt.float64)
    drawn = tt.binomial(trials, tt.full((20000,), chance, dtype=tt.float64)).cpu().numpy()
    variance = count * chance * (1 - chance)
    assert abs(drawn.mean() - count * chance) < 5 * (variance / 20000) ** 0.5
    assert abs(drawn.var() - variance) < 5 * variance * (3 / 20000) ** 0.5


def test_binomial_of_nan_is_nan() -> None:
    nan = float("nan")  # on which PyTorch never comes back
    drawn = tt.binomial(tt.tensor([nan, 3.0]), tt.tensor([0.5, nan]))
    assert drawn.isnan().all()


def test_poisson_and_binomial_of_infinity_are_their_means() -> None:
    """As their means; PyTorch gives the least integer, and sometimes NaN."""
    inf = float("inf")
    assert tt.poisson(tt.tensor([inf, 0.0])).tolist() == [inf, 0.0]
    chances = tt.tensor([0.0, 0.25, 0.75, 1.0])
    assert tt.binomial(tt.full((4,), inf), chances).tolist() == [0.0, inf, inf, inf]


def test_the_gradient_of_events_is_zero() -> None:
    rates = tt.tensor([2.0, 20.0], requires_grad=True)
    tt.poisson(rates).sum().backward()
    assert rates.grad is not None and rates.grad.tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    "call",
    [
        lambda t: t.poisson(t.tensor([-1.0])),
        lambda t: t.poisson(t.tensor([float("nan")])),
        lambda t: t.poisson(t.tensor([3])),
        lambda t: t.poisson(t.tensor([1j])),
        lambda t: t.binomial(t.tensor([10]), t.tensor([0.5])),
        lambda t: t.binomial(t.tensor([10.0]), t.tensor([0.5]).double()),
        lambda t: t.binomial(t.tensor([10.0]).half(), t.tensor([0.5]).half()),
    ],
)
def test_poisson_and_binomial_refuse_what_pytorchs_refuse(torch: Any, call: Any) -> None:
    kinds = []
    for library in (torch, tt):
        with pytest.raises((RuntimeError, NotImplementedError, ValueError)) as caught:
            call(library)
        kinds.append(caught.type)
        if library is torch:
            words = str(caught.value)
    assert kinds[0] is kinds[1]
    assert words in str(caught.value)
