"""Every distribution against PyTorch's: samples, log probabilities, moments and gradients."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.distributions.examples import EXAMPLES, FOREIGN, PAIRS, SELF
from tests.oracles import assert_all_close, host, libraries

#: PyTorch's Bessel functions are polynomials of an error below 2e-7 (Abramowitz and Stegun, 9.8).
APPROXIMATE = {"VonMises": {"rtol": 1e-6, "atol": 1e-6}}
#: PyTorch's formulas for these are wrong; ``test_closed_forms`` has the right ones.
MISTAKEN = {("Kumaraswamy", "mode")}
# PyTorch warns of each sample: it takes those for singular that are not.
pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore:Singular sample detected")]


@pytest.fixture(autouse=True)
def double_precision(request: pytest.FixtureRequest) -> Iterator[None]:
    """PyTorch's ``GeneralizedPareto`` takes parameters of the default dtype alone."""
    if "GeneralizedPareto" not in str(getattr(request.node, "callspec", None)):
        yield
        return
    both = [library for library in libraries() if library is not tt]
    try:
        for library in both:
            library.set_default_dtype(library.float64)
        yield
    finally:
        for library in both:
            library.set_default_dtype(library.float32)


def parameters(library: Any, name: str, grad: bool = False) -> list[Any]:
    tensors = [library.tensor(array) for array in EXAMPLES[name][1]]
    return [tensor.requires_grad_() for tensor in tensors] if grad else tensors


def build_distribution(library: Any, name: str, tensors: list[Any] | None = None) -> Any:
    given = parameters(library, name) if tensors is None else tensors
    return EXAMPLES[name][0](library.distributions, *given)


def outcome(call: Any) -> Any:
    """The result, or the type of the error in its place."""
    try:
        return call()
    except (NotImplementedError, ValueError) as error:
        return type(error)


def assert_same_values(ours: Any, theirs: Any, name: str) -> None:
    if isinstance(theirs, type):
        assert ours is theirs
    elif name in APPROXIMATE:
        np.testing.assert_allclose(host(ours.detach()), host(theirs.detach()), **APPROXIMATE[name])
    else:
        assert_all_close(ours.detach(), theirs.detach())


@pytest.mark.parametrize("name", EXAMPLES)
def test_shapes_and_samples_of_distributions_are_pytorchs(name: str) -> None:
    drawn = []
    for library in libraries():
        found = build_distribution(library, name)
        library.manual_seed(0)
        samples = [found.sample(), found.sample((5,)), found.sample((2, 3))]
        shapes = tuple(found.batch_shape), tuple(found.event_shape)
        drawn.append((shapes, found.has_rsample, found.has_enumerate_support, samples))
    assert drawn[0][:3] == drawn[1][:3]
    for ours, theirs in zip(drawn[0][3], drawn[1][3], strict=True):
        assert_all_close(ours, theirs)


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("what", ["mean", "variance", "stddev", "mode", "entropy", "perplexity"])
def test_moments_and_entropy_are_pytorchs(name: str, what: str) -> None:
    def found(library: Any) -> Any:
        value = getattr(build_distribution(library, name), what)
        return value() if callable(value) else value

    ours, theirs = (outcome(lambda library=library: found(library)) for library in libraries())
    if theirs is NotImplementedError and name in ("FisherSnedecor", "Chi2"):
        return
    if (name, what) not in MISTAKEN:
        assert_same_values(ours, theirs, name)


@pytest.mark.parametrize("name", EXAMPLES)
def test_log_probabilities_and_their_gradients_are_pytorchs(name: str) -> None:
    found = []
    for library in libraries():
        tensors = parameters(library, name, grad=True)
        made = build_distribution(library, name, tensors)
        library.manual_seed(1)
        value = made.sample((4,)).detach()
        log_prob = made.log_prob(value)
        wanted = [t for t in tensors if t.requires_grad]
        grads = library.autograd.grad(log_prob.sum(), wanted, allow_unused=True)
        found.append((log_prob.detach(), [0 if g is None else g for g in grads]))
    assert_same_values(found[0][0], found[1][0], name)
    close = APPROXIMATE.get(name, {"rtol": 1e-6, "atol": 1e-8})
    for ours, theirs in zip(found[0][1], found[1][1], strict=True):
        np.testing.assert_allclose(host(ours), host(theirs), **close)


@pytest.mark.parametrize("name", EXAMPLES)
def test_cdf_and_icdf_are_pytorchs(name: str) -> None:
    answers = []
    for library in libraries():
        made = build_distribution(library, name)
        library.manual_seed(2)
        value = made.sample((4,))
        chances = library.tensor(np.linspace(0.1, 0.9, 4)).reshape(-1, 1, 1)
        answers.append((outcome(lambda: made.cdf(value)), outcome(lambda: made.icdf(chances))))
    for ours, theirs in zip(*answers, strict=True):
        assert_same_values(ours, theirs, name)


@pytest.fixture
def unchecked() -> Iterator[None]:
    switches = [lib.distributions.Distribution.set_default_validate_args for lib in libraries()]
    for switch in switches:
        switch(False)
    yield
    for switch in switches:
        switch(True)


#: PyTorch's is NaN below the least value, where ours goes on as the formula does.
UNLIKE_OUTSIDE = {"GeneralizedPareto"}


@pytest.mark.parametrize("name", sorted(set(EXAMPLES) - UNLIKE_OUTSIDE))
@pytest.mark.parametrize("value", [-1.0, 0.0, 0.5, 1.0, 2.0, np.nan, np.inf])
def test_log_prob_outside_of_the_support_is_pytorchs(
    name: str, value: float, unchecked: None
) -> None:
    answers = []
    for library in libraries():
        made = build_distribution(library, name)
        if made.support.event_dim or made.support.is_discrete:
            return
        x = library.full(tuple(made.batch_shape), value, dtype=library.float64)
        answers.append((made.log_prob(x), outcome(lambda: made.cdf(x))))
    for ours, theirs in zip(*answers, strict=True):
        assert_same_values(ours, theirs, name)


@pytest.mark.parametrize("name", EXAMPLES)
def test_gradients_of_rsample_are_pytorchs(name: str) -> None:
    found = []
    for library in libraries():
        tensors = parameters(library, name, grad=True)
        made = build_distribution(library, name, tensors)
        if name.startswith("Wishart"):
            pytest.skip("PyTorch changes what its backward pass needs")
        if not made.has_rsample:
            assert outcome(made.rsample) is NotImplementedError
            return
        library.manual_seed(3)
        sample = made.rsample((6,))
        found.append(library.autograd.grad(sample.sin().sum(), tensors, allow_unused=True))
    for ours, theirs in zip(*found, strict=True):
        assert (ours is None) == (theirs is None)
        if ours is not None:  # PyTorch's formula for gamma numbers is a fit to four digits
            np.testing.assert_allclose(host(ours), host(theirs), rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize("name", EXAMPLES)
def test_expanded_distributions_are_pytorchs(name: str) -> None:
    found = []
    for library in libraries():
        made = build_distribution(library, name)
        larger = made.expand((3, *made.batch_shape))
        library.manual_seed(4)
        value = larger.sample()
        shapes = tuple(larger.batch_shape), tuple(larger.event_shape)
        found.append((type(larger).__name__, shapes, value, larger.log_prob(value)))
    assert found[0][:2] == found[1][:2]
    assert_all_close(found[0][2], found[1][2])
    assert_same_values(found[0][3], found[1][3], name)


@pytest.mark.parametrize("name", EXAMPLES)
def test_repr_and_support_are_pytorchs(name: str) -> None:
    for text in (repr, lambda made: made.support.event_dim, lambda made: made.support.is_discrete):
        ours, theirs = (
            outcome(lambda lib=lib: text(build_distribution(lib, name))) for lib in libraries()
        )
        assert str(ours).replace("tinytorch.", "torch.") == str(theirs)


@pytest.mark.parametrize("name", ["Bernoulli", "Binomial", "Categorical", "OneHotCategorical"])
@pytest.mark.parametrize("expand", [True, False])
def test_enumerate_support_returns_pytorchs_values(name: str, expand: bool) -> None:
    assert_all_close(
        *(build_distribution(library, name).enumerate_support(expand) for library in libraries())
    )


@pytest.mark.parametrize("pair", [*PAIRS, *FOREIGN, *((name, name) for name in SELF)])
def test_divergences_and_their_gradients_are_pytorchs(pair: tuple[str, str]) -> None:
    found = []
    for library in libraries():
        others = [
            array[::-1].copy() if array.shape == (2, 3) else array for array in EXAMPLES[pair[1]][1]
        ]
        given = [
            parameters(library, pair[0], grad=True),
            [library.tensor(array).requires_grad_() for array in others],
        ]
        pq = [
            build_distribution(library, name, tensors)
            for name, tensors in zip(pair, given, strict=True)
        ]
        divergence = library.distributions.kl_divergence(*pq)
        finite = divergence[divergence.isfinite()].sum() + 0 * given[0][0].sum()
        grads = library.autograd.grad(finite, sum(given, []), allow_unused=True)
        found.append((divergence.detach(), grads))
    assert_all_close(found[0][0], found[1][0])
    for ours, theirs in zip(found[0][1], found[1][1], strict=True):
        assert (ours is None) == (theirs is None)
        if theirs is not None:  # PyTorch's are NaN for laws just too heavy for a variance
            known = ~theirs.isnan().numpy()
            assert_all_close(host(ours)[known], theirs.numpy()[known])


def test_a_divergence_without_a_formula_is_not_implemented() -> None:
    d = tt.distributions
    with pytest.raises(NotImplementedError, match="No KL"):
        d.kl_divergence(d.Cauchy(0.0, 1.0), d.Bernoulli(0.5))
    with pytest.raises(TypeError, match="Expected type_p to be a Distribution subclass"):
        d.register_kl(3, d.Normal)


ERRORS: dict[str, Any] = {
    "a negative scale": lambda t: t.distributions.Normal(0.0, -1.0),
    "no number": lambda t: t.distributions.Normal(t.tensor(float("nan")), 1.0),
    "no tensor": lambda t: t.distributions.Normal("a", 1.0),
    "bounds that are turned round": lambda t: t.distributions.Uniform(1.0, 0.0),
    "both": lambda t: t.distributions.Bernoulli(0.5, 0.5),
    "none": lambda t: t.distributions.Categorical(),
    "a number of weights": lambda t: t.distributions.Categorical(t.tensor(1.0)),
    "a chance of zero": lambda t: t.distributions.Geometric(0.0),
    "a number of concentrations": lambda t: t.distributions.Dirichlet(t.tensor(1.0)),
    "two matrices": lambda t: t.distributions.MultivariateNormal(t.zeros(2), t.eye(2), t.eye(2)),
    "no matrix": lambda t: t.distributions.MultivariateNormal(t.zeros(2), t.ones(2)),
    "a matrix not definite": lambda t: t.distributions.MultivariateNormal(t.zeros(2), -t.eye(2)),
    "too many dimensions": lambda t: t.distributions.Independent(
        t.distributions.Normal(0.0, 1.0), 1),
    "a value outside": lambda t: t.distributions.Exponential(1.0).log_prob(t.tensor(-1.0)),
    "a value that is no tensor": lambda t: t.distributions.Normal(0.0, 1.0).log_prob("a"),
    "a value of another shape": lambda t: t.distributions.Normal(t.zeros(3), 1.0).log_prob(
        t.zeros(2)),
    "a vector of another size": lambda t: t.distributions.Dirichlet(t.ones(3)).log_prob(
        t.ones(2) / 2),
    "transforms that are none": lambda t: t.distributions.TransformedDistribution(
        t.distributions.Normal(0.0, 1.0), [3]),
    "counts that differ": lambda t: t.distributions.Binomial(t.tensor([1.0, 2.0]), 0.5).entropy(),
    "a mixture of a number": lambda t: t.distributions.MixtureSameFamily(
        t.distributions.Categorical(t.ones(2)), t.distributions.Normal(0.0, 1.0)),
    "a mixture of another batch": lambda t: t.distributions.MixtureSameFamily(
        t.distributions.Categorical(t.ones(2, 2)), t.distributions.Normal(t.zeros(3, 2), 1.0)),
    "gradients of a choice": lambda t: t.distributions.Categorical(t.ones(2)).rsample(),
}  # fmt: skip


@pytest.mark.parametrize("case", ERRORS)
def test_wrong_use_of_distributions_raises_pytorchs_errors(case: str) -> None:
    raised = []
    for library in libraries():
        with pytest.raises(Exception) as caught:
            ERRORS[case](library)
        raised.append((caught.type, str(caught.value).replace("tinytorch.", "torch.")))
    assert raised[0][0] is raised[1][0]
    assert raised[0][1][:60] == raised[1][1][:60]


def test_checks_can_be_left_out() -> None:
    d = tt.distributions
    assert d.Normal(0.0, -1.0, validate_args=False).scale.item() == -1
    d.Distribution.set_default_validate_args(False)
    try:
        assert d.Exponential(1.0).log_prob(tt.tensor(-1.0)).item() == 1
    finally:
        d.Distribution.set_default_validate_args(True)


def test_policy_gradient_reaches_the_logits() -> None:
    logits = tt.zeros(2, requires_grad=True)
    for _ in range(200):
        build_distribution = tt.distributions.Categorical(logits=logits)
        action = build_distribution.sample()
        (-build_distribution.log_prob(action) * (action == 1)).backward()
        with tt.no_grad():
            logits -= 0.1 * logits.grad
        logits.grad = None
    assert logits[1].item() > logits[0].item() + 1
