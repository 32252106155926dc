"""Kullback-Leibler divergences of two distributions of different classes.

Each divergence of ``q`` from ``p`` is the mean under ``p`` of ``-log q(x)``, minus the entropy of
``p``. It is infinite where ``p`` has values outside the support of ``q``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..core.tensor import Tensor
from ..ops.shape.strides import broadcast_shapes
from ._kl_registry import register_kl
from .continuous import Exponential, Laplace, Uniform
from .discrete import Bernoulli, Binomial, Poisson
from .distribution import Distribution
from .extreme_values import Gumbel, Pareto
from .gamma import Beta, Gamma
from .normal import Normal
from .unit_interval import ContinuousBernoulli
from .utils import euler_constant

__all__: list[str] = []

REAL_SUPPORT: tuple[type, ...] = (Gumbel, Laplace, Normal)
POSITIVE_SUPPORT: tuple[type, ...] = (Exponential, Gamma)
UNIT_SUPPORT: tuple[type, ...] = (Beta, ContinuousBernoulli)


def _infinite_divergence(p: Any, q: Any) -> Tensor:
    """Infinity, for two classes with values of ``p`` outside the support of ``q``."""
    parameter: Tensor = getattr(p, next(n for n in p._parameters() if n != "probs" or n in vars(p)))
    return parameter.new_full(broadcast_shapes(p.batch_shape, q.batch_shape), math.inf)


def _register_infinite() -> None:
    """Register the pairs of classes whose divergence is always infinite."""
    narrow_support: tuple[type, ...] = (*UNIT_SUPPORT, Pareto, Uniform)
    pairs: list[tuple[Any, Any]] = [
        (p, q) for p in REAL_SUPPORT for q in narrow_support + POSITIVE_SUPPORT
    ]
    pairs += [(p, q) for p in POSITIVE_SUPPORT for q in narrow_support]
    pairs += [(p, Pareto) for p in UNIT_SUPPORT] + [(Pareto, q) for q in (*UNIT_SUPPORT, Uniform)]
    pairs += [(Poisson, Bernoulli), (Poisson, Binomial)]
    for p, q in pairs:
        register_kl(p, q)(_infinite_divergence)


_register_infinite()


@register_kl(Beta, Normal)
@register_kl(ContinuousBernoulli, Normal)
@register_kl(Exponential, Normal)
@register_kl(Gamma, Normal)
@register_kl(Gumbel, Normal)
@register_kl(Laplace, Normal)
@register_kl(Uniform, Normal)
def _to_normal(p: Any, q: Normal) -> Tensor:
    """Divergence of a normal distribution from any distribution with a mean and a variance."""
    square = q.scale.pow(2)
    distance = (p.variance + (p.mean - q.loc).pow(2)) / square
    found: Tensor = 0.5 * ((2 * math.pi * square).log() + distance) - p.entropy()
    return found


@register_kl(Beta, Exponential)
@register_kl(ContinuousBernoulli, Exponential)
@register_kl(Gamma, Exponential)
def _to_exponential(p: Any, q: Exponential) -> Tensor:
    """Divergence of an exponential distribution from one with nonnegative values and a mean."""
    found: Tensor = q.rate * p.mean - q.rate.log() - p.entropy()
    return found


@register_kl(Uniform, Exponential)
def _uniform_exponential(p: Uniform, q: Exponential) -> Tensor:
    """Divergence; infinite if values of ``p`` are negative."""
    found: Tensor = _to_exponential(p, q)
    return found.where(p.low >= 0, math.inf)


def _x_log_x(x: Tensor) -> Tensor:
    found: Tensor = x.xlogy(x)
    return found


def _uniform_mean_log(low: Tensor, high: Tensor) -> Tensor:
    """The mean of the logarithm of a number that is uniform on ``[low, high)``."""
    return (_x_log_x(high) - _x_log_x(low)) / (high - low) - 1


#: The mean of a value's logarithm.
_MEAN_LOG: dict[Any, Callable[[Any], Tensor]] = {
    Beta: lambda p: p.concentration1.digamma() - (p.concentration1 + p.concentration0).digamma(),
    Exponential: lambda p: -p.rate.log() - euler_constant,
    Pareto: lambda p: p.scale.log() + p.alpha.reciprocal(),
    Uniform: lambda p: _uniform_mean_log(p.low, p.high),
}


def _to_gamma(p: Any, q: Gamma, mean_log: Tensor) -> Tensor:
    """Divergence of a gamma distribution from ``p``, whose logarithm has the mean ``mean_log``."""
    a, b = q.concentration, q.rate
    found: Tensor = a.lgamma() - a * b.log() - (a - 1) * mean_log + b * p.mean - p.entropy()
    return found


@register_kl(Beta, Gamma)
@register_kl(Exponential, Gamma)
def _positive_gamma(p: Any, q: Gamma) -> Tensor:
    return _to_gamma(p, q, _find_entry(p, _MEAN_LOG)(p))


def _infinite_without_moment(
    divergence: Callable[[Any, Any], Tensor], moment: int
) -> Callable[..., Tensor]:
    """Make a divergence infinite, with zero gradients, where ``p`` has no moment of this order."""

    def divergence_or_inf(p: Pareto, q: Any) -> Tensor:
        has_moment = p.alpha > moment
        with_moment = Pareto(p.scale, p.alpha.where(has_moment, moment + 1.0), validate_args=False)
        return divergence(with_moment, q).where(has_moment, math.inf)

    return divergence_or_inf


register_kl(Pareto, Exponential)(_infinite_without_moment(_to_exponential, 1))
register_kl(Pareto, Gamma)(_infinite_without_moment(_positive_gamma, 1))
register_kl(Pareto, Normal)(_infinite_without_moment(_to_normal, 2))


@register_kl(Uniform, Gamma)
def _uniform_gamma(p: Uniform, q: Gamma) -> Tensor:
    return _to_gamma(p, q, _MEAN_LOG[Uniform](p)).where(p.low >= 0, math.inf)


@register_kl(Uniform, Pareto)
def _uniform_pareto(p: Uniform, q: Pareto) -> Tensor:
    """Divergence; infinite if values of ``p`` are below the scale of ``q``."""
    log_constant = q.alpha.log() + q.alpha * q.scale.log() + p.entropy()
    return ((q.alpha + 1) * _MEAN_LOG[Uniform](p) - log_constant).where(p.low >= q.scale, math.inf)


def _find_entry(
    distribution: Distribution, table: dict[Any, Callable[..., Tensor]]
) -> Callable[..., Tensor]:
    """The table's entry for the nearest base class of a distribution."""
    return next(table[kind] for kind in type(distribution).__mro__ if kind in table)


def _uniform_exp_mean(p: Uniform, t: Tensor, origin: Tensor) -> Tensor:
    """The mean of ``exp(t * (value - origin))`` for values that are uniform."""
    ends = (t * (p.high - origin)).exp() - (t * (p.low - origin)).exp()
    return ends / (t * (p.high - p.low))


def _normal_exp_mean(p: Normal, t: Tensor, origin: Tensor) -> Tensor:
    """The mean of ``exp(t * (value - origin))`` for values that are normal."""
    return (t * (p.loc - origin) + 0.5 * (t * p.scale).pow(2)).exp()


#: The mean of ``exp(t * (value - origin))`` for negative ``t``.
_EXP_MEAN: dict[Any, Callable[[Any, Tensor, Tensor], Tensor]] = {
    Exponential: lambda p, t, origin: (-t * origin).exp() * p.rate / (p.rate - t),
    Gamma: lambda p, t, origin: (-t * origin - p.concentration * (-t / p.rate).log1p()).exp(),
    Normal: _normal_exp_mean,
    Uniform: _uniform_exp_mean,
}


@register_kl(Exponential, Gumbel)
@register_kl(Gamma, Gumbel)
@register_kl(Normal, Gumbel)
@register_kl(Uniform, Gumbel)
def _to_gumbel(p: Any, q: Gumbel) -> Tensor:
    """Divergence of a Gumbel distribution, which needs the mean of ``exp(-(x - loc) / scale)``."""
    t = -q.scale.reciprocal()
    tail = _find_entry(p, _EXP_MEAN)(p, t, q.loc)
    found: Tensor = q.scale.log() + (p.mean - q.loc) / q.scale + tail - p.entropy()
    return found


@register_kl(Beta, Uniform)
@register_kl(ContinuousBernoulli, Uniform)
def _unit_to_uniform(p: Any, q: Uniform) -> Tensor:
    """Divergence of a uniform distribution from one on the unit interval."""
    found: Tensor = (q.high - q.low).log() - p.entropy()
    return found.where((q.low <= 0) & (q.high >= 1), math.inf)


def _to_continuous_bernoulli(p: Any, q: ContinuousBernoulli) -> Tensor:
    """Divergence of a continuous Bernoulli distribution from one on the unit interval."""
    log_constant = (-q.probs).log1p() + q._cont_bern_log_norm()
    found: Tensor = -p.mean * q.logits - log_constant - p.entropy()
    return found


register_kl(Beta, ContinuousBernoulli)(_to_continuous_bernoulli)


def _infinite_outside_unit(p: Uniform, divergence: Tensor) -> Tensor:
    """``divergence``, or inf where ``p`` has values outside the unit interval."""
    return divergence.where((p.low >= 0) & (p.high <= 1), math.inf)


@register_kl(Uniform, ContinuousBernoulli)
def _uniform_continuous_bernoulli(p: Uniform, q: ContinuousBernoulli) -> Tensor:
    return _infinite_outside_unit(p, _to_continuous_bernoulli(p, q))


@register_kl(Uniform, Beta)
def _uniform_beta(p: Uniform, q: Beta) -> Tensor:
    """Divergence; infinite if values of ``p`` are outside the unit interval."""
    a, b = q.concentration1, q.concentration0
    log_normalizer = a.lgamma() + b.lgamma() - (a + b).lgamma()
    logs = (a - 1) * _MEAN_LOG[Uniform](p) + (b - 1) * _uniform_mean_log(1 - p.high, 1 - p.low)
    return _infinite_outside_unit(p, log_normalizer - logs - p.entropy())


@register_kl(Bernoulli, Poisson)
def _bernoulli_poisson(p: Bernoulli, q: Poisson) -> Tensor:
    return q.rate - p.probs * q.rate.log() - p.entropy()


@register_kl(Normal, Laplace)
def _normal_laplace(p: Normal, q: Laplace) -> Tensor:
    """Divergence, by the mean absolute difference of values of ``p`` from ``q.loc``."""
    difference = p.loc - q.loc
    ratio = difference / p.scale
    mean_absolute = math.sqrt(2 / math.pi) * p.scale * (-0.5 * ratio.pow(2)).exp()
    mean_absolute = mean_absolute + difference * (math.sqrt(0.5) * ratio).erf()
    return (2 * q.scale).log() + mean_absolute / q.scale - p.entropy()
