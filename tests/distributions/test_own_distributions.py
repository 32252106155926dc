"""Laws, transforms and divergences of one's own, as libraries on top of PyTorch write them."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.oracles import host, libraries

D = tt.distributions


def test_a_user_defined_exponential_family_has_entropy_and_divergence() -> None:
    class Own(D.ExponentialFamily):
        """Poisson's law with Bregman's formulas."""

        arg_constraints = {"rate": D.constraints.positive}
        _mean_carrier_measure = 0

        def __init__(self, rate: tt.Tensor) -> None:
            self.rate = rate
            super().__init__(rate.shape)

        @property
        def _natural_params(self) -> tuple[tt.Tensor, ...]:
            return (-self.rate,)

        def _log_normalizer(self, *natural_params: tt.Tensor) -> tt.Tensor:
            return -(-natural_params[0]).log()

    rates = [tt.tensor([0.5, 2.0], requires_grad=True), tt.tensor([1.0, 3.0])]
    own, plain = [[kind(rate) for rate in rates] for kind in (Own, D.Exponential)]
    for found, expected in (
        (own[0].entropy(), plain[0].entropy()),
        (D.kl_divergence(*own), D.kl_divergence(*plain)),
    ):
        grads = [tt.autograd.grad(x.sum(), rates[0])[0] for x in (found, expected)]
        np.testing.assert_allclose(host(found.detach()), host(expected.detach()), rtol=1e-6)
        np.testing.assert_allclose(host(grads[0]), host(grads[1]), rtol=1e-5)
    with pytest.raises(NotImplementedError, match="cross KL-divergence"):
        D.kl_divergence(own[0], plain[0])
    with pytest.raises(NotImplementedError):
        D.Poisson(2.0).entropy()


@pytest.mark.torch
def test_a_subclass_with_another_init_must_override_expand() -> None:
    for library in libraries():
        normal = library.distributions.Normal

        class Standard(normal):  # type: ignore[misc, valid-type]
            def __init__(self) -> None:
                super().__init__(0.0, 1.0)

        with pytest.raises(NotImplementedError, match=re.escape(
            "Subclass Standard of Normal that defines a custom __init__ method must also define a "
            "custom .expand() method."
        )):  # fmt: skip
            Standard().expand((2,))


@pytest.mark.torch
def test_kl_divergence_warns_if_two_registered_formulas_fit_equally() -> None:
    for library in libraries():
        d = library.distributions

        class Left(d.Normal):  # type: ignore[misc, name-defined]
            pass

        d.register_kl(Left, d.Normal)(lambda p, q: 1)
        d.register_kl(d.Normal, Left)(lambda p, q: 2)
        both = Left(0.0, 1.0)
        with pytest.warns(RuntimeWarning, match=r"Ambiguous kl_divergence\(Left, Left\)"):
            assert d.kl_divergence(both, both) == 1
        for pair in ((Left, d.Normal), (d.Normal, Left)):
            del d.kl._KL_REGISTRY[pair]
        d.kl._KL_MEMOIZE.clear()


@pytest.mark.torch
def test_a_transform_may_be_a_module() -> None:
    for library in libraries():
        transforms, nn = library.distributions.transforms, library.nn

        class Shift(transforms.Transform, nn.Module):  # type: ignore[misc, name-defined]
            domain = codomain = library.distributions.constraints.real
            bijective = True

            def __init__(self) -> None:
                super().__init__(cache_size=1)
                self.by = nn.Parameter(library.ones(1))

            def _call(self, x: Any) -> Any:
                return x + self.by

            def _inverse(self, y: Any) -> Any:
                return y - self.by

            def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
                return 0 * x

            def __hash__(self) -> int:
                return id(self)

        shift = Shift()
        law = library.distributions.TransformedDistribution(
            library.distributions.Normal(library.zeros(1), 1.0), [shift]
        )
        law.log_prob(library.tensor([3.0])).backward()
        assert shift.by.grad.item() == 2
        assert len(list(shift.parameters())) == 1


@pytest.mark.torch
def test_a_subclass_may_have_other_parameters_than_its_base() -> None:
    for library in libraries():
        d = library.distributions

        class Squared(d.Categorical):  # type: ignore[misc, name-defined]
            arg_constraints = {"weights": d.constraints.independent(d.constraints.positive, 1)}

            def __init__(self, weights: Any) -> None:
                self.weights = weights
                super().__init__(weights**2)

            def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
                new = self._get_checked_instance(Squared, _instance)
                new.weights = self.weights.expand((*batch_shape, -1))
                return super().expand(batch_shape, _instance=new)

        larger = Squared(library.tensor([1.0, 2.0])).expand((3,))
        assert larger.probs[2].tolist() == pytest.approx([0.2, 0.8])
        assert larger.entropy().shape == (3,)


@pytest.mark.torch
def test_a_divergence_registered_for_a_shared_base_class_is_found() -> None:
    for library in libraries():
        d = library.distributions

        class Marked:
            pass

        class Own(d.Normal, Marked):  # type: ignore[misc, name-defined]
            pass

        d.register_kl(d.Cauchy, Marked)(lambda p, q: 7)
        assert d.kl_divergence(d.Cauchy(0.0, 1.0), Own(0.0, 1.0)) == 7
        del d.kl._KL_REGISTRY[d.Cauchy, Marked]
        d.kl._KL_MEMOIZE.clear()


def test_a_user_defined_distribution_without_constraints_warns() -> None:
    class Bare(D.Distribution):
        pass

    with pytest.warns(UserWarning, match="does not define `arg_constraints`"):
        bare = Bare()
    with pytest.warns(UserWarning, match="does not define `support`"):
        bare._validate_sample(tt.zeros(()))
    with pytest.warns(FutureWarning, match=r"`sample_n\(n\)` will be deprecated"):
        assert D.Normal(0.0, 1.0).sample_n(3).shape == (3,)
