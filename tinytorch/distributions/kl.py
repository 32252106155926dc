"""Kullback-Leibler divergences."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .._tensor import Tensor
from ..ops.linalg_triangular import solve_triangular
from .categorical import Categorical, OneHotCategorical
from .continuous import Cauchy, Exponential, Laplace, Uniform
from .counts import Bernoulli, Binomial, Geometric, Poisson
from .distribution import Distribution
from .gamma import Beta, Dirichlet, Gamma
from .independent import Independent
from .multivariate_normal import MultivariateNormal, _batch_mahalanobis
from .half import HalfNormal
from .normal import Normal
from .transformed_distribution import TransformedDistribution
from .utils import _sum_rightmost

__all__ = ["kl_divergence", "register_kl"]

_FORMULAS: dict[tuple[type, type], Callable[[Any, Any], Tensor]] = {}


def register_kl(type_p: type, type_q: type) -> Callable[[Any], Any]:
    """A decorator for the function that computes the divergence of two kinds of distribution.

    Args:
        type_p: The class of the first.
        type_q: The class of the second.

    Raises:
        TypeError: If one is no class of distributions.

    Example:
        >>> import tinytorch as tt
        >>> from tinytorch.distributions import Normal, kl_divergence, register_kl
        >>> class Standard(Normal):
        ...     def __init__(self):
        ...         super().__init__(0.0, 1.0)
        >>> @register_kl(Standard, Standard)
        ... def same(p, q):
        ...     return tt.zeros(())
        >>> kl_divergence(Standard(), Standard())
        tensor(0.)
    """
    for name, given in (("type_p", type_p), ("type_q", type_q)):
        if not (isinstance(given, type) and issubclass(given, Distribution)):
            raise TypeError(
                f"Expected {name} to be a Distribution subclass but got {given}"
            )

    def decorator(formula: Any) -> Any:
        _FORMULAS[type_p, type_q] = formula
        return formula

    return decorator


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """The Kullback-Leibler divergence of ``q`` from ``p``: the mean of ``log p(x) - log q(x)``.

    Args:
        p: The distribution that the mean is taken in.
        q: The other one.

    Returns:
        Tensor of the batch's shape.

    Raises:
        NotImplementedError: If there is no formula for the two.

    Example:
        >>> from tinytorch.distributions import Normal, kl_divergence
        >>> kl_divergence(Normal(0.0, 1.0), Normal(1.0, 1.0))
        tensor(0.5000)
    """
    formula = _formula(type(p), type(q))
    if formula is None:
        raise NotImplementedError(
            f"No KL(p || q) is implemented for p type {type(p).__name__} and q type "
            f"{type(q).__name__}"
        )
    return formula(p, q)


def _formula(type_p: type, type_q: type) -> Callable[[Any, Any], Tensor] | None:
    """That of the nearest classes that both are made from; the first one counts more."""
    for p in type_p.__mro__:
        for q in type_q.__mro__:
            if (p, q) in _FORMULAS:
                return _FORMULAS[p, q]
    return None


@register_kl(Normal, Normal)
def _normal(p: Normal, q: Normal) -> Tensor:
    ratio = (p.scale / q.scale).pow(2)
    away = ((p.loc - q.loc) / q.scale).pow(2)
    return 0.5 * (ratio + away - 1 - ratio.log())


@register_kl(HalfNormal, HalfNormal)
def _half_normal(p: HalfNormal, q: HalfNormal) -> Tensor:
    found: Tensor = _normal(p.base_dist, q.base_dist)
    return found


@register_kl(Laplace, Laplace)
def _laplace(p: Laplace, q: Laplace) -> Tensor:
    ratio = p.scale / q.scale
    away = (p.loc - q.loc).abs()
    return -ratio.log() + away / q.scale + ratio * (-away / p.scale).exp() - 1


@register_kl(Cauchy, Cauchy)
def _cauchy(p: Cauchy, q: Cauchy) -> Tensor:
    away = (p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)
    return away.log() - (4 * p.scale * q.scale).log()


@register_kl(Uniform, Uniform)
def _uniform(p: Uniform, q: Uniform) -> Tensor:
    found = ((q.high - q.low) / (p.high - p.low)).log()
    return found.where((q.low <= p.low) & (q.high >= p.high), math.inf)


@register_kl(Exponential, Exponential)
def _exponential(p: Exponential, q: Exponential) -> Tensor:
    ratio = q.rate / p.rate
    return ratio - ratio.log() - 1


@register_kl(Gamma, Gamma)
def _gamma(p: Gamma, q: Gamma) -> Tensor:
    growth = q.concentration * (p.rate / q.rate).log()
    shapes = q.concentration.lgamma() - p.concentration.lgamma()
    spread = (p.concentration - q.concentration) * p.concentration.digamma()
    return growth + shapes + spread + (q.rate - p.rate) * (p.concentration / p.rate)


@register_kl(Dirichlet, Dirichlet)
def _dirichlet(p: Dirichlet, q: Dirichlet) -> Tensor:
    a, b = p.concentration, q.concentration
    total = a.sum(-1)
    size = total.lgamma() - b.sum(-1).lgamma() - (a.lgamma() - b.lgamma()).sum(-1)
    means = a.digamma() - total.digamma().unsqueeze(-1)
    return size + ((a - b) * means).sum(-1)


@register_kl(Beta, Beta)
def _beta(p: Beta, q: Beta) -> Tensor:
    found: Tensor = _dirichlet(p._dirichlet, q._dirichlet)
    return found


@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p: Bernoulli, q: Bernoulli) -> Tensor:
    success = _expected(p.probs, p.probs, q.probs)
    return success + _expected(1 - p.probs, 1 - p.probs, 1 - q.probs)


def _expected(weight: Tensor, p: Tensor, q: Tensor) -> Tensor:
    """``weight * log(p / q)``: nothing where ``p`` is 0, infinite where ``q`` alone is."""
    return (weight * (p / q).log()).where(q != 0, math.inf).where(p != 0, 0.0)


@register_kl(Binomial, Binomial)
def _binomial(p: Binomial, q: Binomial) -> Tensor:
    # Where q has more trials there is no closed form.
    if bool((p.total_count < q.total_count).any()):
        raise NotImplementedError(
            "KL between Binomials where q.total_count > p.total_count is not implemented"
        )
    odds = p.probs * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p()
    return (p.total_count * odds).where(p.total_count <= q.total_count, math.inf)


@register_kl(Geometric, Geometric)
def _geometric(p: Geometric, q: Geometric) -> Tensor:
    return -p.entropy() - (-q.probs).log1p() / p.probs - q.logits


@register_kl(Poisson, Poisson)
def _poisson(p: Poisson, q: Poisson) -> Tensor:
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(Categorical, Categorical)
def _categorical(p: Categorical, q: Categorical) -> Tensor:
    terms = p.probs * (p.logits - q.logits)
    terms = terms.where((q.probs != 0).expand_as(terms), math.inf)
    return terms.where((p.probs != 0).expand_as(terms), 0.0).sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _one_hot(p: OneHotCategorical, q: OneHotCategorical) -> Tensor:
    found: Tensor = _categorical(p._categorical, q._categorical)
    return found


@register_kl(MultivariateNormal, MultivariateNormal)
def _multivariate_normal(p: MultivariateNormal, q: MultivariateNormal) -> Tensor:
    if p.event_shape != q.event_shape:
        raise ValueError(
            "KL-divergence between two Multivariate Normals with different event shapes cannot "
            "be computed"
        )
    own, other = p._unbroadcasted_scale_tril, q._unbroadcasted_scale_tril
    size = _log_diagonal(other) - _log_diagonal(own)
    spread = solve_triangular(other, own, upper=False).pow(2).sum((-2, -1))
    distance = _batch_mahalanobis(other, q.loc - p.loc)
    return size + 0.5 * (spread + distance - p.event_shape[0])


def _log_diagonal(factor: Tensor) -> Tensor:
    return factor.diagonal(dim1=-2, dim2=-1).log().sum(-1)


@register_kl(Independent, Independent)
def _independent(p: Independent, q: Independent) -> Tensor:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError
    found = kl_divergence(p.base_dist, q.base_dist)
    return _sum_rightmost(found, p.reinterpreted_batch_ndims)


@register_kl(TransformedDistribution, TransformedDistribution)
def _transformed(p: TransformedDistribution, q: TransformedDistribution) -> Tensor:
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError
    extra = len(p.event_shape) - len(p.base_dist.event_shape)
    return _sum_rightmost(kl_divergence(p.base_dist, q.base_dist), extra)


@register_kl(Normal, Laplace)
def _normal_laplace(p: Normal, q: Laplace) -> Tensor:
    away = p.loc - q.loc
    ratio = away / p.scale
    size = (q.scale / p.scale).log() + 0.5 * math.log(2 / math.pi) - 0.5
    mean = math.sqrt(2 / math.pi) * p.scale * (-0.5 * ratio.pow(2)).exp()
    mean = mean + away * (math.sqrt(0.5) * ratio).erf()
    return size + mean / q.scale


@register_kl(Laplace, Normal)
def _laplace_normal(p: Laplace, q: Normal) -> Tensor:
    square = q.scale.pow(2)
    ratio = p.scale.pow(2) / square
    size = 0.5 * (2 * ratio / math.pi).log()
    return -size + ratio + 0.5 * p.loc.pow(2) / square - p.loc * q.loc / square + (
        0.5 * q.loc.pow(2) / square - 1
    )


@register_kl(Uniform, Normal)
def _uniform_normal(p: Uniform, q: Normal) -> Tensor:
    width = p.high - p.low
    away = (p.high + p.low - 2 * q.loc) / 2
    size = (math.sqrt(2 * math.pi) * q.scale / width).log()
    return size + 0.5 * (width.pow(2) / 12 + away.pow(2)) / q.scale.pow(2)


@register_kl(Exponential, Gamma)
def _exponential_gamma(p: Exponential, q: Gamma) -> Tensor:
    ratio, euler = q.rate / p.rate, 0.57721566490153286060
    shapes = q.concentration.lgamma() + q.concentration * euler
    return -q.concentration * ratio.log() + ratio + shapes - (1 + euler)


@register_kl(Gamma, Exponential)
def _gamma_exponential(p: Gamma, q: Exponential) -> Tensor:
    return -p.entropy() - q.rate.log() + q.rate * p.concentration / p.rate


@register_kl(Gamma, Normal)
def _gamma_normal(p: Gamma, q: Normal) -> Tensor:
    square = q.scale.pow(2)
    second = p.concentration * (p.concentration + 1) / p.rate.pow(2)
    away = second - 2 * q.loc * p.concentration / p.rate + q.loc.pow(2)
    return -p.entropy() + 0.5 * (2 * math.pi * square).log() + 0.5 * away / square


@register_kl(Exponential, Normal)
def _exponential_normal(p: Exponential, q: Normal) -> Tensor:
    square = q.scale.pow(2)
    away = 2 / p.rate.pow(2) - 2 * q.loc / p.rate + q.loc.pow(2)
    return -p.entropy() + 0.5 * (2 * math.pi * square).log() + 0.5 * away / square
