"""Laws against SciPy's and against closed forms, where PyTorch's are rough, wrong or missing."""

from __future__ import annotations

import importlib
import math
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.distributions.examples import EXAMPLES, PAIRS, SELF
from tests.distributions.test_distributions import build_distribution, parameters
from tests.oracles import host, libraries

D = tt.distributions
special = pytest.importorskip("scipy.special", reason="SciPy has the gamma and Bessel functions")
stats = pytest.importorskip("scipy.stats", reason="SciPy is the oracle")


def assert_formula(ours: tt.Tensor, expected: Any, rtol: float = 1e-10) -> None:
    np.testing.assert_allclose(host(ours.detach()), expected, rtol=rtol, atol=1e-12)


#: Ours, SciPy's, and values.
SAME: dict[str, tuple[Callable[..., Any], Any, Any]] = {
    "von Mises": (lambda t: D.VonMises(t(0.3), t(2.5)), stats.vonmises(2.5, 0.3), [-2.0, 0.1, 3.0]),
    "von Mises, narrow": (
        lambda t: D.VonMises(t(0.0), t(900.0)), stats.vonmises(900.0), [-0.1, 0.0, 0.02]),
    "Weibull": (
        lambda t: D.Weibull(t(2.0), t(1.5)), stats.weibull_min(1.5, scale=2), [0.1, 1.0, 5.0]),
    "generalized Pareto": (
        lambda t: D.GeneralizedPareto(t(1.0), t(2.0), t(0.3)),
        stats.genpareto(0.3, 1.0, 2.0), [1.1, 2.0, 30.0]),
    "generalized Pareto, bounded": (
        lambda t: D.GeneralizedPareto(t(0.0), t(1.0), t(-0.4)),
        stats.genpareto(-0.4), [0.1, 1.0, 2.4]),
    "generalized Pareto, exponential": (
        lambda t: D.GeneralizedPareto(t(0.0), t(2.0), t(0.0)),
        stats.genpareto(0.0, scale=2.0), [0.1, 1.0, 9.0]),
    "generalized Pareto, uniform": (
        lambda t: D.GeneralizedPareto(t(0.0), t(2.0), t(-1.0)), stats.uniform(0, 2), [0.1, 1.9]),
}  # fmt: skip


@pytest.mark.parametrize("name", SAME)
def test_densities_and_moments_are_scipys(name: str) -> None:
    make, other, values = SAME[name]
    ours, x = make(lambda number: tt.tensor(number, dtype=tt.float64)), np.array(values)
    assert_formula(ours.log_prob(tt.tensor(x)), other.logpdf(x))
    if "von Mises" in name:
        return
    assert_formula(ours.cdf(tt.tensor(x)), other.cdf(x))
    chances = np.array([0.01, 0.5, 0.99])
    assert_formula(ours.icdf(tt.tensor(chances)), other.ppf(chances))
    assert_formula(ours.mean, other.mean())
    assert_formula(ours.variance, other.var())
    assert_formula(ours.entropy(), other.entropy())


def test_von_mises_is_right_over_a_wide_range_of_concentrations() -> None:
    kappa = np.array([1e-6, 0.1, 3.7, 3.8, 50.0, 1e4])
    ours = D.VonMises(tt.zeros(6, dtype=tt.float64), tt.tensor(kappa))
    assert_formula(ours.variance, 1 - special.i1e(kappa) / special.i0e(kappa), 1e-12)
    assert bool(ours.sample((100,)).isfinite().all())


def test_the_mode_has_the_greatest_density() -> None:
    """The greatest density on a fine grid is where the mode says."""
    grid = np.linspace(0.0005, 0.9995, 1000)
    for a, b in ((2.0, 3.0), (5.0, 1.5), (1.0, 2.0), (3.0, 1.0)):
        made = D.Kumaraswamy(tt.tensor(a, dtype=tt.float64), b)
        best = grid[host(made.log_prob(tt.tensor(grid))).argmax()]
        assert made.mode.item() == pytest.approx(best, abs=1e-3)
    assert math.isnan(D.Kumaraswamy(0.5, 2.0).mode.item())
    # PyTorch's is the scale at 1/2, of a law that falls from infinity at 0.
    assert D.Weibull(1.0, tt.tensor([0.5, 1.0])).mode.tolist() == [0.0, 0.0]


def test_generalized_pareto_with_shape_minus_one_has_a_gradient() -> None:
    c = tt.tensor(-1.0, dtype=tt.float64, requires_grad=True)
    z = tt.tensor([0.3, 0.6], dtype=tt.float64)
    D.GeneralizedPareto(0.0, 1.0, c).log_prob(z).sum().backward()
    assert_formula(c.grad, np.log1p(-host(z)).sum())  # of -(1 + 1 / c) log(1 + c z)
    assert D.GeneralizedPareto(0.0, 1.0, -1.0).log_prob(tt.tensor(1.0)).item() == 0


def test_lkj_correlations_of_two_variables_follow_a_beta_distribution() -> None:
    r = np.linspace(-0.9, 0.9, 7)
    factors = np.stack(
        [np.stack([np.ones(7), np.zeros(7)], -1), np.stack([r, np.sqrt(1 - r * r)], -1)], -2
    )
    for eta in (0.5, 1.0, 3.0):
        ours = D.LKJCholesky(2, tt.tensor(eta, dtype=tt.float64))
        # The density of r; that of the factor's own numbers has the same Jacobian for every r.
        expected = stats.beta(eta, eta).logpdf((r + 1) / 2) - math.log(2)
        assert_formula(ours.log_prob(tt.tensor(factors)), expected)


def test_correlation_factors_are_of_their_region() -> None:
    drawn = D.LKJCholesky(5, tt.tensor([0.3, 1.0, 40.0])).sample((20,))
    assert tuple(drawn.shape) == (20, 3, 5, 5)
    assert bool(D.constraints.corr_cholesky.check(drawn).all())


def wishart(df: float, matrix: Any, **options: Any) -> Any:
    return D.Wishart(tt.tensor(df, dtype=tt.float64), tt.tensor(matrix), **options)


V1, V2 = np.array([[2.0, 0.3], [0.3, 1.0]]), np.array([[1.0, -0.2], [-0.2, 3.0]])


def test_density_and_moments_of_wishart_are_scipys() -> None:
    ours, other = wishart(4.5, V1), stats.wishart(4.5, V1)
    x = np.stack([V1, V2, 9 * V2])
    assert_formula(ours.log_prob(tt.tensor(x)), [other.logpdf(m) for m in x])
    assert_formula(ours.mean, other.mean())
    assert_formula(ours.variance, other.var())
    assert_formula(ours.mode, other.mode())
    assert_formula(ours.entropy(), other.entropy())
    assert bool(wishart(3.0, V1).mode.isnan().all())


def wishart_divergence(m: float, v: Any, n: float, w: Any) -> float:
    """Penny, "Kullback-Liebler divergences of normal, gamma, Dirichlet and Wishart" (2001)."""
    d = len(v)
    digamma = sum(special.digamma(m / 2 - i / 2) for i in range(d))
    logs = n / 2 * (np.linalg.slogdet(w)[1] - np.linalg.slogdet(v)[1])
    sizes = special.multigammaln(n / 2, d) - special.multigammaln(m / 2, d)
    trace = m / 2 * (np.trace(np.linalg.inv(w) @ v) - d)
    return float(logs + sizes + trace + (m - n) / 2 * digamma)


def test_divergence_of_wishart_distributions_is_the_formula() -> None:
    expected = wishart_divergence(4.5, V1, 6.0, V2)
    assert_formula(D.kl_divergence(wishart(4.5, V1), wishart(6.0, V2)), expected)
    several = D.Wishart(tt.tensor([4.5, 6.0], dtype=tt.float64), tt.tensor(np.stack([V1, V2])))
    other = D.Wishart(tt.tensor([6.0, 5.0], dtype=tt.float64), tt.tensor(np.stack([V2, V2])))
    assert_formula(
        D.kl_divergence(several, other), [expected, wishart_divergence(6.0, V2, 5.0, V2)]
    )
    assert not D.kl_divergence(several, other).requires_grad


def test_gradients_of_divergences_of_the_exponential_family() -> None:
    """PyTorch cuts the first law off."""
    df = tt.tensor(4.5, dtype=tt.float64, requires_grad=True)
    scale = tt.tensor(V1, requires_grad=True)

    def divergence(df: tt.Tensor, scale: tt.Tensor) -> tt.Tensor:
        symmetric = (scale + scale.mT) / 2
        return D.kl_divergence(D.Wishart(df, symmetric), wishart(6.0, V2))

    assert tt.autograd.gradcheck(divergence, (df, scale))


def test_samples_of_matrices_have_gradients() -> None:
    def drawn(df: tt.Tensor, scale: tt.Tensor) -> tt.Tensor:
        tt.manual_seed(0)
        return D.Wishart(df, scale_tril=scale.tril()).rsample((3,))

    scale = tt.tensor(np.linalg.cholesky(V1), requires_grad=True)
    df = tt.tensor(4.5, dtype=tt.float64)
    assert tt.autograd.gradcheck(lambda scale: drawn(df, scale), (scale,))


def test_moments_of_matrices_are_those_of_samples() -> None:
    tt.manual_seed(0)
    ours = wishart(5.0, V1)
    drawn = ours.sample((20000,))
    assert bool(ours.support.check(drawn).all())
    np.testing.assert_allclose(host(drawn.mean(0)), host(ours.mean), rtol=0.02, atol=0.05)
    np.testing.assert_allclose(host(drawn.var(0)), host(ours.variance), rtol=0.05, atol=0.05)


def test_singular_matrices_are_drawn_again() -> None:
    with pytest.warns(UserWarning, match="Low df values detected"):
        low = D.Wishart(1.0001, tt.eye(2))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        low.rsample((500,), max_try_correction=50)
    assert any("Singular sample" in str(warning.message) for warning in caught)


def test_a_batch_of_diagonal_normals_has_the_density_of_each() -> None:
    """PyTorch fails where the factors are in no batch."""
    loc, factor = tt.zeros(3, dtype=tt.float64), tt.tensor([[0.5], [0.1], [-0.7]]).double()
    low = D.LowRankMultivariateNormal(loc, factor, tt.tensor([[1.0, 2, 3], [3, 1, 1]]).double())
    full = D.MultivariateNormal(loc, low.covariance_matrix)
    for p, q in ((low, full), (full, low), (low, low)):
        assert_formula(D.kl_divergence(p, q), [0.0, 0.0])
    assert tuple(low.entropy().shape) == (2,)
    assert_formula(low.precision_matrix @ low.covariance_matrix, np.stack([np.eye(3)] * 2))
    assert_formula(low.scale_tril @ low.scale_tril.mT, host(low.covariance_matrix))


@pytest.mark.parametrize("share", [
    lambda: D.ContinuousBernoulli(tt.tensor([0.2, 0.7], dtype=tt.float64)),
    lambda: D.Beta(tt.tensor([0.2, 1.7], dtype=tt.float64), 1.0),
])  # fmt: skip
def test_divergence_from_the_uniform_distribution_is_the_formula(share: Callable[[], Any]) -> None:
    """PyTorch's is infinite for the continuous Bernoulli law, though the two share [0, 1]."""
    assert_formula(D.kl_divergence(share(), D.Uniform(0.0, 1.0)), host(-share().entropy()))
    assert D.kl_divergence(share(), D.Uniform(0.1, 1.0)).tolist() == [math.inf, math.inf]
    other = D.kl_divergence(D.Uniform(0.0, 1.0), D.ContinuousBernoulli(0.3))
    x = tt.linspace(0.00005, 0.99995, 10000)
    expected = -D.ContinuousBernoulli(0.3).log_prob(x).mean()
    assert other.item() == pytest.approx(expected.item(), rel=1e-4)


@pytest.fixture
def unchecked() -> Iterator[None]:
    D.Distribution.set_default_validate_args(False)
    yield
    D.Distribution.set_default_validate_args(True)


#: Their log densities have no variance, or so great a one that many samples are needed.
HEAVY = {("Pareto", "Exponential"), ("Pareto", "Gamma"), ("Pareto", "Normal"), ("Gumbel", "Gumbel"),
         ("Normal", "Gumbel")}  # fmt: skip


@pytest.mark.parametrize("pair", [*PAIRS, *((name, name) for name in SELF)])
def test_divergences_are_means_of_samples(pair: tuple[str, str], unchecked: None) -> None:
    """``log p(x) - log q(x)``, in the mean of many samples of the first law."""
    arrays = [
        np.ascontiguousarray(array[::-1]) if array.shape == (2, 3) else array
        for array in EXAMPLES[pair[1]][1]
    ]
    p, q = (
        build_distribution(tt, pair[0]),
        build_distribution(tt, pair[1], [tt.tensor(array) for array in arrays]),
    )
    tt.manual_seed(0)
    x = p.sample((4000,))
    expected = D.kl_divergence(p, q)
    finite = host(expected.isfinite())
    change = host(p.log_prob(x) - q.log_prob(x))[:, finite]
    error = 5 * change.std(0) / math.sqrt(4000) + 1e-9
    off = np.abs(change.mean(0) - host(expected)[finite]) - error
    assert (off <= 0).all() or pair in HEAVY and (np.median(off / error) <= 1)


def test_expanding_keeps_what_is_checked() -> None:
    for made in (D.Gumbel(0.0, 1.0), D.Pareto(1.0, 1.0), D.Weibull(1.0, 1.0)):
        assert made.expand((2,))._validate_args is True
        unchecked = type(made)(1.0, 1.0, validate_args=False)
        assert unchecked.expand((2,))._validate_args is False


def test_components_of_a_mixture_have_regions_of_their_own() -> None:
    parts = D.Uniform(tt.zeros(2), tt.tensor([1.0, 3.0]))
    mixture = D.MixtureSameFamily(D.Categorical(tt.ones(2)), parts)
    density = mixture.log_prob(tt.tensor([0.5, 0.25, 0.75])).exp()
    assert density.tolist() == pytest.approx([2 / 3] * 3)
    with pytest.raises(ValueError, match="to be within the support"):
        mixture.log_prob(tt.tensor(2.0))


@pytest.mark.torch
def test_parameters_of_transforms_make_a_batch() -> None:
    found = []
    for library in libraries():
        d = library.distributions
        made = d.TransformedDistribution(
            d.Normal(0.0, 1.0), d.AffineTransform(library.zeros(3), library.ones(2, 1))
        )
        assert tuple(made.batch_shape) == (2, 3) == tuple(made.sample().shape)
        several = d.TransformedDistribution(
            d.Normal(library.zeros(3), 1.0),
            d.ComposeTransform([d.ExpTransform(), d.StickBreakingTransform()]),
        )
        assert tuple(several.event_shape) == (4,)
        found.append(several.log_prob(library.tensor([0.4, 0.3, 0.2, 0.1])).item())
    assert found[0] == pytest.approx(found[1], rel=1e-5)


@pytest.mark.torch
@pytest.mark.parametrize("names", [
    "Normal normal", "Beta beta", "Categorical categorical",
    "OneHotCategorical one_hot_categorical",
    "LogitRelaxedBernoulli relaxed_bernoulli", "ExpRelaxedCategorical relaxed_categorical",
    "LKJCholesky lkj_cholesky", "LowRankMultivariateNormal lowrank_multivariate_normal",
    "_batch_lowrank_logdet lowrank_multivariate_normal", "StudentT studentT", "Chi2 chi2",
    "FisherSnedecor fishersnedecor", "ExponentialFamily exp_family",
    "_batch_mv multivariate_normal",
    "_KL_REGISTRY kl", "broadcast_all utils", "lazy_property utils", "ComposeTransform transforms",
    "ConstraintRegistry constraint_registry", "_GreaterThan constraints",
])  # fmt: skip
def test_submodules_of_distributions_have_pytorchs_names(names: str) -> None:
    name, module = names.split()
    for library in libraries():
        found = importlib.import_module(f"{library.__name__}.distributions.{module}")
        assert hasattr(found, name)


@pytest.mark.torch
def test_all_modules_of_pytorchs_are_there() -> None:
    from pathlib import Path

    theirs = Path(libraries()[1].distributions.__file__).parent
    for path in theirs.glob("[a-z]*.py"):
        ours = importlib.import_module(f"tinytorch.distributions.{path.stem}")
        module = importlib.import_module(f"torch.distributions.{path.stem}")
        assert [name for name in module.__all__ if not hasattr(ours, name)] == []
    assert set(libraries()[1].distributions.__all__) == set(D.__all__)


#: Parameters and values that no law takes.
WRONG = (
    lambda d, t: d.ContinuousBernoulli(t([1.2]), validate_args=True),
    lambda d, t: d.LKJCholesky(1),
    lambda d, t: d.LKJCholesky(2, -1.0),
    lambda d, t: d.Wishart(3.0),
    lambda d, t: d.Wishart(1.0, t([[1.0, 0], [0, 1.0]])),
    lambda d, t: d.Wishart(3.0, t([1.0])),
    lambda d, t: d.Wishart(3.0, t([[1.0, 2.0], [0.0, 1.0]])),
    lambda d, t: d.LowRankMultivariateNormal(t(1.0), t([[1.0]]), t([1.0])),
    lambda d, t: d.LowRankMultivariateNormal(t([1.0]), t([1.0]), t([1.0])),
    lambda d, t: d.LowRankMultivariateNormal(t([1.0]), t([[1.0], [2.0]]), t([1.0])),
    lambda d, t: d.LowRankMultivariateNormal(t([1.0]), t([[1.0]]), t([1.0, 2.0])),
    lambda d, t: d.LowRankMultivariateNormal(t([1.0]), t([[1.0]]), t([-1.0])),
    lambda d, t: d.VonMises(t([0.0]), t([-1.0])),
    lambda d, t: d.Kumaraswamy(0.0, 1.0),
    lambda d, t: d.Weibull(1.0, 1.0).log_prob(t(-1.0)),
    lambda d, t: d.GeneralizedPareto(0.0, 1.0, -0.5).log_prob(t(3.0)),
    lambda d, t: d.LKJCholesky(2).log_prob(t([[1.0, 0.0], [1.0, 1.0]])),
)  # fmt: skip


@pytest.mark.torch
@pytest.mark.parametrize("make", WRONG)
def test_parameters_are_checked_as_by_pytorch(make: Callable[[Any, Any], Any]) -> None:
    raised = []
    for library in libraries():
        with pytest.raises((ValueError, AssertionError, RuntimeError)) as caught:
            make(library.distributions, library.tensor)
        text = str(caught.value).replace("tinytorch.", "torch.")
        raised.append((caught.type.__name__.strip("_"), text[:120]))
    assert raised[0] == raised[1]


def test_log_prob_broadcasts_its_value() -> None:
    for name in ("VonMises", "Weibull", "ContinuousBernoulli", "GeneralizedPareto", "Kumaraswamy"):
        made = build_distribution(tt, name, parameters(tt, name))
        value = made.sample()[0, 0]
        made._validate_args = False
        assert made.log_prob(value).shape == made.batch_shape
