"""Probability distributions, as ``torch.distributions``.

A distribution draws samples, tells their log probabilities and knows its moments. ``rsample``
draws so that gradients flow to the parameters; where there is none, ``log_prob`` serves to
estimate them. For the same seed the samples are PyTorch's own.

    >>> import tinytorch as tt
    >>> from tinytorch.distributions import Categorical, Normal, kl_divergence
    >>> policy = Categorical(logits=tt.zeros(2, requires_grad=True))
    >>> action = policy.sample()
    >>> loss = -policy.log_prob(action) * 1.0
    >>> kl_divergence(Normal(0.0, 1.0), Normal(0.0, 2.0))
    tensor(0.3181)

There are no ``ContinuousBernoulli``, ``GeneralizedPareto``, ``Kumaraswamy``, ``LKJCholesky``,
``LogisticNormal``, ``LowRankMultivariateNormal``, ``VonMises``, ``Weibull`` and ``Wishart``.
"""

from __future__ import annotations

from . import constraints as constraints
from . import kl as kl
from . import transforms as transforms
from . import utils as utils
from .categorical import Categorical as Categorical
from .categorical import Multinomial as Multinomial
from .categorical import OneHotCategorical as OneHotCategorical
from .categorical import OneHotCategoricalStraightThrough as OneHotCategoricalStraightThrough
from .constraint_registry import biject_to as biject_to
from .constraint_registry import transform_to as transform_to
from .continuous import Cauchy as Cauchy
from .continuous import Exponential as Exponential
from .continuous import Gumbel as Gumbel
from .continuous import Laplace as Laplace
from .continuous import Pareto as Pareto
from .continuous import Uniform as Uniform
from .counts import Bernoulli as Bernoulli
from .counts import Binomial as Binomial
from .counts import Geometric as Geometric
from .counts import NegativeBinomial as NegativeBinomial
from .counts import Poisson as Poisson
from .distribution import Distribution as Distribution
from .distribution import ExponentialFamily as ExponentialFamily
from .gamma import Beta as Beta
from .gamma import Chi2 as Chi2
from .gamma import Dirichlet as Dirichlet
from .gamma import FisherSnedecor as FisherSnedecor
from .gamma import Gamma as Gamma
from .gamma import InverseGamma as InverseGamma
from .gamma import StudentT as StudentT
from .half import HalfCauchy as HalfCauchy
from .half import HalfNormal as HalfNormal
from .independent import Independent as Independent
from .kl import kl_divergence as kl_divergence
from .kl import register_kl as register_kl
from .mixture import MixtureSameFamily as MixtureSameFamily
from .multivariate_normal import MultivariateNormal as MultivariateNormal
from .normal import LogNormal as LogNormal
from .normal import Normal as Normal
from .relaxed import RelaxedBernoulli as RelaxedBernoulli
from .relaxed import RelaxedOneHotCategorical as RelaxedOneHotCategorical
from .transformed_distribution import TransformedDistribution as TransformedDistribution
from .transforms import AbsTransform as AbsTransform
from .transforms import AffineTransform as AffineTransform
from .transforms import ComposeTransform as ComposeTransform
from .transforms import ExpTransform as ExpTransform
from .transforms import IndependentTransform as IndependentTransform
from .transforms import LowerCholeskyTransform as LowerCholeskyTransform
from .transforms import PositiveDefiniteTransform as PositiveDefiniteTransform
from .transforms import PowerTransform as PowerTransform
from .transforms import ReshapeTransform as ReshapeTransform
from .transforms import SigmoidTransform as SigmoidTransform
from .transforms import SoftmaxTransform as SoftmaxTransform
from .transforms import SoftplusTransform as SoftplusTransform
from .transforms import StickBreakingTransform as StickBreakingTransform
from .transforms import TanhTransform as TanhTransform
from .transforms import Transform as Transform
from .transforms import identity_transform as identity_transform

__all__ = [
    "AbsTransform", "AffineTransform", "Bernoulli", "Beta", "Binomial", "Categorical", "Cauchy",
    "Chi2", "ComposeTransform", "Dirichlet", "Distribution", "ExpTransform", "Exponential",
    "ExponentialFamily", "FisherSnedecor", "Gamma", "Geometric", "Gumbel", "HalfCauchy",
    "HalfNormal", "Independent", "IndependentTransform", "InverseGamma", "Laplace", "LogNormal",
    "LowerCholeskyTransform", "MixtureSameFamily", "Multinomial", "MultivariateNormal",
    "NegativeBinomial", "Normal", "OneHotCategorical", "OneHotCategoricalStraightThrough",
    "Pareto", "Poisson", "PositiveDefiniteTransform", "PowerTransform", "RelaxedBernoulli",
    "RelaxedOneHotCategorical", "ReshapeTransform", "SigmoidTransform", "SoftmaxTransform",
    "SoftplusTransform", "StickBreakingTransform", "StudentT", "TanhTransform", "Transform",
    "TransformedDistribution", "Uniform", "biject_to", "identity_transform", "kl_divergence",
    "register_kl", "transform_to",
]  # fmt: skip
