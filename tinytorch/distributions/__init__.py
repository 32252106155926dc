"""Probability distributions, as ``torch.distributions``.

A distribution draws samples and computes their log probabilities and its own moments. ``rsample``
draws samples through which gradients flow to the parameters. Where a distribution has no
``rsample``, ``log_prob`` serves to estimate the gradients. With the same seed the samples are
equal to PyTorch's.

    >>> from tinytorch.distributions import Categorical, Normal, kl_divergence
    >>> policy = Categorical(logits=tt.zeros(2, requires_grad=True))
    >>> action = policy.sample()
    >>> loss = -policy.log_prob(action) * 1.0
    >>> kl_divergence(Normal(0.0, 1.0), Normal(0.0, 2.0))
    tensor(0.3181)

Each distribution can also be imported from the module that PyTorch has for it, for example
``distributions.beta.Beta``.
"""

from __future__ import annotations

import re
import sys

from . import constraint_registry as constraint_registry
from . import constraints as constraints
from . import kl as kl
from . import transforms as transforms
from . import utils as utils
from .categorical import *  # noqa: F403
from .constraint_registry import biject_to as biject_to
from .constraint_registry import transform_to as transform_to
from .continuous import *  # noqa: F403
from .discrete import *  # noqa: F403
from .distribution import Distribution as Distribution
from .exp_family import ExponentialFamily as ExponentialFamily
from .extreme_values import *  # noqa: F403
from .gamma import *  # noqa: F403
from .half import *  # noqa: F403
from .independent import Independent as Independent
from .kl import kl_divergence as kl_divergence
from .kl import register_kl as register_kl
from .lowrank_multivariate_normal import LowRankMultivariateNormal as LowRankMultivariateNormal
from .mixture import MixtureSameFamily as MixtureSameFamily
from .multivariate_normal import MultivariateNormal as MultivariateNormal
from .normal import *  # noqa: F403
from .random_matrices import *  # noqa: F403
from .relaxed import RelaxedBernoulli as RelaxedBernoulli
from .relaxed import RelaxedOneHotCategorical as RelaxedOneHotCategorical
from .transformed_distribution import TransformedDistribution as TransformedDistribution
from .transforms import *  # noqa: F403
from .unit_interval import *  # noqa: F403
from .von_mises import VonMises as VonMises

__all__ = [
    "Bernoulli", "Beta", "Binomial", "Categorical", "Cauchy", "Chi2", "ContinuousBernoulli",
    "Dirichlet", "Distribution", "Exponential", "ExponentialFamily", "FisherSnedecor", "Gamma",
    "GeneralizedPareto", "Geometric", "Gumbel", "HalfCauchy", "HalfNormal", "Independent",
    "InverseGamma", "Kumaraswamy", "LKJCholesky", "Laplace", "LogNormal", "LogisticNormal",
    "LowRankMultivariateNormal", "MixtureSameFamily", "Multinomial", "MultivariateNormal",
    "NegativeBinomial", "Normal", "OneHotCategorical", "OneHotCategoricalStraightThrough", "Pareto",
    "Poisson", "RelaxedBernoulli", "RelaxedOneHotCategorical", "StudentT",
    "TransformedDistribution", "Uniform", "VonMises", "Weibull", "Wishart", "biject_to",
    "kl_divergence", "register_kl", "transform_to",
]  # fmt: skip
__all__ += transforms.__all__

#: PyTorch's modules that are not named like their class in snake case.
_IRREGULAR_MODULES = {
    "FisherSnedecor": "fishersnedecor", "RelaxedOneHotCategorical": "relaxed_categorical",
    "StudentT": "studentT",
}  # fmt: skip


def _publish() -> None:
    """Register each class's module under the name that PyTorch has for it."""
    for name, kind in list(globals().items()):
        if isinstance(kind, type) and issubclass(kind, Distribution):
            words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name)
            file = _IRREGULAR_MODULES.get(name, words.lower())
            module = sys.modules[kind.__module__]
            globals()[file] = sys.modules.setdefault(f"{__name__}.{file}", module)


_publish()
