"""Formulas that stand in for SciPy, beside SciPy and mpmath; distributions without SciPy."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.calls import Call, call_with_names, words
from tinytorch.backends import load
from tinytorch.backends.numpy.gamma_formulas import FORMULAS

special: Any = tt.special
RANDOM = np.random.default_rng(0)
HUGE = 10.0 ** np.linspace(-300, 300, 601)
EDGES = [0.0, 1.0, math.inf, math.nan, -1.0, 1e-300, 1e300, 5.0]

_LINE = np.r_[np.linspace(-30, 30, 20_001), HUGE, -(10.0 ** np.linspace(-300, 8, 601)), EDGES]
_NEAR_POLES = np.r_[np.arange(-50, 50) + 1e-9, np.arange(-50, 50) - 1e-12]
_S = np.r_[np.arange(1, 30), 1.0001, 1.5, 2.5, 50, 100, 1000, 0.5, -1, math.nan]
_Q = np.r_[10.0 ** np.linspace(-3, 8, 200), np.linspace(-20.3, -0.1, 100), 0, -1, -5, math.inf]
_A = 10.0 ** RANDOM.uniform(-8, 2, 5_000)
_X = _A * 10.0 ** RANDOM.uniform(-3, 1, 5_000)
#: Near a large a SciPy is right where it has Temme's expansion: 4.5 standard deviations on.
_LARGE = 10.0 ** RANDOM.uniform(2.31, 7, 5_000)
_NEAR = _LARGE + RANDOM.uniform(-4.4, 4.4, 5_000) * np.sqrt(_LARGE)
_EDGES = np.stack(np.meshgrid(EDGES, EDGES)).reshape(2, -1)
_PAIRS = np.r_[_A, _LARGE, _EDGES[0]], np.r_[_X, _NEAR, _EDGES[1]]

ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "gammaln": (np.r_[_LINE, _NEAR_POLES],),
    "zeta": tuple(grid.ravel() for grid in np.meshgrid(_S, _Q)),
    "gammainc": _PAIRS,
    "gammaincc": _PAIRS,
    **{name: (np.r_[np.linspace(-60, 60, 2_001), EDGES],) for name in ("i0", "i0e", "i1", "i1e")},
}


def without_scipy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "scipy"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "scipy", None)


def error(got: Any, wanted: Any) -> float:
    """The largest error, relative to values above 1."""
    with np.errstate(all="ignore"):
        same = (got == wanted) | (np.isnan(got) & np.isnan(wanted))
        off = np.abs(got - wanted) / np.maximum(1, np.abs(wanted))
    return float(np.where(same, 0, np.where(np.isnan(off), np.inf, off)).max())


def test_every_formula_is_tried() -> None:
    assert ARGUMENTS.keys() == FORMULAS.keys()


@pytest.mark.parametrize("name", ARGUMENTS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_values_of_the_formulas_are_scipys(name: str) -> None:
    scipy = pytest.importorskip("scipy.special", reason="SciPy is the oracle")
    arguments = ARGUMENTS[name]
    wanted = getattr(scipy, name)(*arguments)
    assert error(FORMULAS[name](load("numpy"), *arguments), wanted) <= 1e-12
    single = [values.astype("float32").astype("float64") for values in arguments]
    got = FORMULAS[name](load("numpy"), *[values.astype("float32") for values in arguments])
    within = np.abs(got) < 1e38
    assert error(got[within], getattr(scipy, name)(*single)[within]) <= 1e-6


def tail_by_quadrature(a: float, x: float) -> tuple[float, float]:
    """``P(a, x)`` and ``Q(a, x)`` of a large ``a`` by mpmath's integral in units of ``a``."""
    mp = pytest.importorskip("mpmath", reason="mpmath is the oracle")
    with mp.workdps(40):
        n, start = mp.mpf(a), (mp.mpf(x) - mp.mpf(a)) / mp.mpf(a)
        stirling = mp.loggamma(n) - ((n - mp.mpf(1) / 2) * mp.log(n) - n + mp.log(2 * mp.pi) / 2)
        scale = mp.sqrt(n / (2 * mp.pi)) * mp.exp(-stirling)
        width = (14 if start > 0 else -14) / mp.sqrt(n)
        end = max(start + width, mp.mpf(-1) + mp.mpf(10) ** -30)
        points = [start + (end - start) * share for share in (0, 0.125, 0.375, 1)]
        tail = abs(scale * mp.quad(lambda u: mp.exp(n * (mp.log(1 + u) - u)) / (1 + u), points))
        below = 1 - tail if start > 0 else tail
        return float(below), float(1 - below)


@pytest.mark.parametrize("a", [250.0, 1e4, 3e6, 1e9])
@pytest.mark.parametrize("deviations", [-8.0, -4.6, -1.0, 0.3, 5.0, 9.0])
def test_tails_near_a_large_parameter_are_mpmaths(a: float, deviations: float) -> None:
    x = a + deviations * math.sqrt(a)
    for name, wanted in zip(("gammainc", "gammaincc"), tail_by_quadrature(a, x), strict=True):
        got = float(FORMULAS[name](load("numpy"), np.array([a]), np.array([x]))[0])
        assert abs(got - wanted) <= min(1e-12, 1e-10 * wanted)


@pytest.mark.parametrize(
    ("call", "wanted"),
    [
        (lambda x: tt.lgamma(x), [0.5723649429247001, 0.2846828704729192]),
        (lambda x: tt.digamma(x), [-1.9635100260214235, 0.7031566406452432]),
        (lambda x: tt.polygamma(2, x), [-16.8287966442343199, -0.2362040516417274]),
        (lambda x: special.zeta(x + 1.5, x), [4.9348022005446793, math.pi**4 / 6 - 16 - 16 / 81]),
        (lambda x: tt.igamma(x, x), [0.6826894921370859, 0.5841198130044212]),
        (lambda x: tt.igammac(x, x), [0.3173105078629141, 0.4158801869955788]),
        (lambda x: tt.i0(x), [1.0634833707413236, 3.2898391440501231]),
    ],
    ids=words,
)
def test_operations_and_their_gradients_without_scipy(
    call: Call, wanted: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    if tt.get_backend() == "numpy":
        without_scipy(monkeypatch)
    x = tt.tensor([0.5, 2.5], dtype=tt.float64)
    np.testing.assert_allclose(call_with_names(call, {"x": x}).cpu().numpy(), wanted, rtol=1e-12)
    if words(call) not in ("special.zeta(x + 1.5, x)", "tt.igamma(x, x)", "tt.igammac(x, x)"):
        assert tt.autograd.gradcheck(call, (x.requires_grad_(),))


DISTRIBUTIONS: dict[str, tuple[Call, Any]] = {
    "Beta": (lambda D, t: D.Beta(t(2.0), t(3.0)), 0.3),
    "Binomial": (lambda D, t: D.Binomial(5, t(0.3)), 2.0),
    "Chi2": (lambda D, t: D.Chi2(t(3.0)), 2.0),
    "Dirichlet": (lambda D, t: D.Dirichlet(t([1.0, 2.0, 3.0])), [0.2, 0.3, 0.5]),
    "FisherSnedecor": (lambda D, t: D.FisherSnedecor(t(3.0), t(4.0)), 2.0),
    "Gamma": (lambda D, t: D.Gamma(t(2.0), t(1.0)), 1.5),
    "InverseGamma": (lambda D, t: D.InverseGamma(t(3.0), t(4.0)), 2.0),
    "Kumaraswamy": (lambda D, t: D.Kumaraswamy(t(3.0), t(4.0)), 0.2),
    "LKJCholesky": (lambda D, t: D.LKJCholesky(2, t(1.5)), [[1.0, 0.0], [0.6, 0.8]]),
    "Multinomial": (lambda D, t: D.Multinomial(4, t([0.2, 0.3, 0.5])), [1.0, 1.0, 2.0]),
    "NegativeBinomial": (lambda D, t: D.NegativeBinomial(t(5.0), t(0.3)), 2.0),
    "Poisson": (lambda D, t: D.Poisson(t(3.0)), 2.0),
    "StudentT": (lambda D, t: D.StudentT(t(3.0)), 0.5),
    "Wishart": (
        lambda D, t: D.Wishart(t(3.0), t([[1.0, 0.2], [0.2, 1.0]])),
        [[2.0, 0.5], [0.5, 1.0]],
    ),
}


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_log_prob_without_scipy_is_torchs(
    name: str, torch: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    if tt.get_backend() == "numpy":
        without_scipy(monkeypatch)
    make, value = DISTRIBUTIONS[name]
    found = []
    for library in (tt, torch):
        parameters = []

        def t(values: Any, library: Any = library, parameters: Any = parameters) -> Any:
            parameters.append(library.tensor(values, dtype=library.float64, requires_grad=True))
            return parameters[-1]

        at = library.tensor(value, dtype=library.float64)
        density = make(library.distributions, t).log_prob(at)
        density.sum().backward()
        gradients = [p.grad for p in parameters]
        found.append([x.detach().cpu().numpy() for x in (density, *gradients)])
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda x: special.modified_bessel_k0(x), "modified_bessel_k0"),
        (lambda x: special.scaled_modified_bessel_k1(x), "scaled_modified_bessel_k1"),
        (lambda x: special.airy_ai(x), "airy_ai"),
    ],
    ids=words,
)
def test_errors_for_missing_scipy_name_the_function_called(
    call: Call, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if tt.get_backend() != "numpy":
        pytest.skip("CuPy brings its own special functions")
    without_scipy(monkeypatch)
    with pytest.raises(ImportError, match=rf"^{name}\(\): .*install it with `pip install scipy`"):
        call(tt.ones(1))
