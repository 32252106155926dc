"""Kullback-Leibler divergences of two distributions of one class."""

from __future__ import annotations

import math
from typing import Any

from ..core.tensor import Tensor
from ..ops.nn.rectifiers import softplus
from . import kl_divergences as kl_divergences
from ._kl_registry import _KL_MEMOIZE as _KL_MEMOIZE
from ._kl_registry import _KL_REGISTRY as _KL_REGISTRY
from ._kl_registry import kl_divergence as kl_divergence
from ._kl_registry import register_kl as register_kl
from .categorical import Categorical, OneHotCategorical
from .continuous import Cauchy, Exponential, Laplace, Uniform
from .discrete import Bernoulli, Binomial, Geometric, Poisson
from .exp_family import ExponentialFamily, _bregman_divergence
from .extreme_values import Gumbel, Pareto
from .gamma import Beta, Dirichlet, Gamma
from .half import HalfNormal
from .independent import Independent
from .lowrank_multivariate_normal import LowRankMultivariateNormal
from .multivariate_normal import MultivariateNormal
from .normal import Normal
from .transformed_distribution import TransformedDistribution
from .unit_interval import ContinuousBernoulli
from .utils import _sum_rightmost, euler_constant

__all__ = ["kl_divergence", "register_kl"]


@register_kl(Normal, Normal)
def _normal(p: Normal, q: Normal) -> Tensor:
    """KL divergence of two normal distributions."""
    ratio = (p.scale / q.scale).pow(2)
    squared_difference = ((p.loc - q.loc) / q.scale).pow(2)
    return 0.5 * (ratio + squared_difference - 1 - ratio.log())


@register_kl(HalfNormal, HalfNormal)
def _half_normal(p: HalfNormal, q: HalfNormal) -> Tensor:
    found: Tensor = _normal(p.base_dist, q.base_dist)
    return found


@register_kl(Laplace, Laplace)
def _laplace(p: Laplace, q: Laplace) -> Tensor:
    """KL divergence of two Laplace distributions."""
    ratio = p.scale / q.scale
    difference = (p.loc - q.loc).abs()
    return -ratio.log() + difference / q.scale + ratio * (-difference / p.scale).exp() - 1


@register_kl(Cauchy, Cauchy)
def _cauchy(p: Cauchy, q: Cauchy) -> Tensor:
    """KL divergence of two Cauchy distributions."""
    squared_distance = (p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)
    return squared_distance.log() - (4 * p.scale * q.scale).log()


@register_kl(Uniform, Uniform)
def _uniform(p: Uniform, q: Uniform) -> Tensor:
    """KL divergence of two uniform distributions."""
    found = ((q.high - q.low) / (p.high - p.low)).log()
    return found.where((q.low <= p.low) & (q.high >= p.high), math.inf)


@register_kl(Exponential, Exponential)
def _exponential(p: Exponential, q: Exponential) -> Tensor:
    """KL divergence of two exponential distributions."""
    ratio = q.rate / p.rate
    return ratio - ratio.log() - 1


@register_kl(Gamma, Gamma)
def _gamma(p: Gamma, q: Gamma) -> Tensor:
    """KL divergence of two gamma distributions."""
    rate_term = q.concentration * (p.rate / q.rate).log()
    normalizer_term = q.concentration.lgamma() - p.concentration.lgamma()
    shape_term = (p.concentration - q.concentration) * p.concentration.digamma()
    return rate_term + normalizer_term + shape_term + (q.rate - p.rate) * (p.concentration / p.rate)


@register_kl(Dirichlet, Dirichlet)
def _dirichlet(p: Dirichlet, q: Dirichlet) -> Tensor:
    """KL divergence of two Dirichlet distributions."""
    a, b = p.concentration, q.concentration
    total = a.sum(-1)
    log_normalizers = total.lgamma() - b.sum(-1).lgamma() - (a.lgamma() - b.lgamma()).sum(-1)
    mean_logs = a.digamma() - total.digamma().unsqueeze(-1)
    return log_normalizers + ((a - b) * mean_logs).sum(-1)


@register_kl(Beta, Beta)
def _beta(p: Beta, q: Beta) -> Tensor:
    found: Tensor = _dirichlet(p._dirichlet, q._dirichlet)
    return found


@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p: Bernoulli, q: Bernoulli) -> Tensor:
    """KL divergence of two Bernoulli distributions."""
    success = p.probs * (softplus(-q.logits) - softplus(-p.logits))
    success = success.where(q.probs != 0, math.inf).where(p.probs != 0, 0.0)
    failure = (1 - p.probs) * (softplus(q.logits) - softplus(p.logits))
    return success + failure.where(q.probs != 1, math.inf).where(p.probs != 1, 0.0)


@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def _continuous_bernoulli(p: ContinuousBernoulli, q: ContinuousBernoulli) -> Tensor:
    """KL divergence of two continuous Bernoulli distributions."""
    log_constants = p._cont_bern_log_norm() - q._cont_bern_log_norm()
    return p.mean * (p.logits - q.logits) + log_constants + (-p.probs).log1p() - (-q.probs).log1p()


@register_kl(Binomial, Binomial)
def _binomial(p: Binomial, q: Binomial) -> Tensor:
    """KL divergence of two binomial distributions."""
    # There is no closed form where q has more trials than p.
    if bool((p.total_count < q.total_count).any()):
        raise NotImplementedError(
            "KL between Binomials where q.total_count > p.total_count is not implemented"
        )
    per_trial = p.probs * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p()
    return (p.total_count * per_trial).where(p.total_count <= q.total_count, math.inf)


@register_kl(Geometric, Geometric)
def _geometric(p: Geometric, q: Geometric) -> Tensor:
    return -p.entropy() - (-q.probs).log1p() / p.probs - q.logits


@register_kl(Poisson, Poisson)
def _poisson(p: Poisson, q: Poisson) -> Tensor:
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(Categorical, Categorical)
def _categorical(p: Categorical, q: Categorical) -> Tensor:
    """KL divergence of two categorical distributions."""
    terms = p.probs * (p.logits - q.logits)
    terms = terms.where((q.probs != 0).expand_as(terms), math.inf)
    return terms.where((p.probs != 0).expand_as(terms), 0.0).sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _one_hot(p: OneHotCategorical, q: OneHotCategorical) -> Tensor:
    found: Tensor = _categorical(p._categorical, q._categorical)
    return found


@register_kl(MultivariateNormal, MultivariateNormal)
@register_kl(MultivariateNormal, LowRankMultivariateNormal)
@register_kl(LowRankMultivariateNormal, MultivariateNormal)
@register_kl(LowRankMultivariateNormal, LowRankMultivariateNormal)
def _multivariate_normal(p: Any, q: Any) -> Tensor:
    """KL divergence of two normal distributions of vectors, in any parametrization."""
    if p.event_shape != q.event_shape:
        raise ValueError(
            "KL-divergence between two Multivariate Normals with different event shapes cannot "
            "be computed"
        )
    log_ratio = q._log_determinant() - p._log_determinant() - p.event_shape[0]
    found: Tensor = 0.5 * (log_ratio + p._trace_under(q) + q._mahalanobis(q.loc - p.loc))
    return found


@register_kl(Gumbel, Gumbel)
def _gumbel(p: Gumbel, q: Gumbel) -> Tensor:
    """KL divergence of two Gumbel distributions."""
    ratio, difference = p.scale / q.scale, (p.loc - q.loc) / q.scale
    mean = difference + ratio * euler_constant
    return mean - ratio.log() + ((1 + ratio).lgamma() - difference).exp() - (1 + euler_constant)


@register_kl(Pareto, Pareto)
def _pareto(p: Pareto, q: Pareto) -> Tensor:
    """KL divergence of two Pareto distributions."""
    ratio = q.alpha / p.alpha
    found = q.alpha * (p.scale / q.scale).log() - ratio.log() + ratio - 1
    return found.where(p.scale >= q.scale, math.inf)


@register_kl(ExponentialFamily, ExponentialFamily)
def _exponential_family(p: ExponentialFamily, q: ExponentialFamily) -> Tensor:
    """KL divergence of two distributions of one exponential family."""
    if type(p) is not type(q):
        raise NotImplementedError(
            "The cross KL-divergence between different exponential families cannot be computed "
            "using Bregman divergences"
        )
    return _bregman_divergence(p, q)


@register_kl(Independent, Independent)
def _independent(p: Independent, q: Independent) -> Tensor:
    """KL divergence of two ``Independent``: the base's, summed over the event dimensions."""
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError
    found = kl_divergence(p.base_dist, q.base_dist)
    return _sum_rightmost(found, p.reinterpreted_batch_ndims)


@register_kl(TransformedDistribution, TransformedDistribution)
def _transformed_distribution(p: TransformedDistribution, q: TransformedDistribution) -> Tensor:
    """KL divergence of two distributions with equal transforms, which do not change it."""
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError
    extra = len(p.event_shape) - len(p.base_dist.event_shape)
    return _sum_rightmost(kl_divergence(p.base_dist, q.base_dist), extra)
