"""Gumbel, Pareto, generalized Pareto and Weibull distributions."""

from __future__ import annotations

import math
from typing import Any

from ..core.tensor import Size, Tensor
from ..dtypes import finfo
from ..ops.pointwise.exponential import xlog1py
from ..ops.random.sampling import rand
from . import constraints
from ._location import _WithLocation
from .continuous import Exponential, Uniform
from .transformed_distribution import TransformedDistribution
from .transforms import AffineTransform, ExpTransform, PowerTransform
from .utils import broadcast_all, euler_constant, is_number

__all__ = ["GeneralizedPareto", "Gumbel", "Pareto", "Weibull"]


class GeneralizedPareto(_WithLocation):
    """The generalized Pareto distribution: that of excesses over a high threshold.

    Args:
        loc: The threshold, which is the least value.
        scale: The scale.
        concentration: The shape of the tail: exponential at 0, heavier above 0. Below 0 there is
            a greatest value, ``loc - scale / concentration``.
        validate_args: Whether parameters and values are checked.

    Example:
        >>> tt.distributions.GeneralizedPareto(0.0, 1.0, 0.5).mean
        tensor(2.)

    Reference:
        J. Pickands, "Statistical inference using extreme order statistics", Annals of Statistics
        3 (1975).
    """

    loc: Tensor
    scale: Tensor
    concentration: Tensor

    arg_constraints: Any = {
        "loc": constraints.real, "scale": constraints.positive, "concentration": constraints.real,
    }  # fmt: skip
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, concentration: Any, validate_args: Any = None) -> None:
        self.loc, self.scale, self.concentration = broadcast_all(loc, scale, concentration)
        shape = Size() if is_number(loc, scale, concentration) else self.loc.shape
        super().__init__(shape, validate_args=validate_args)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        greatest = self.loc - self.scale / self.concentration
        return constraints.interval(self.loc, greatest.where(self.concentration < 0, math.inf))

    @property
    def mean(self) -> Tensor:
        known = self.concentration < 1
        c = self.concentration.where(known, 0.0)
        return (self.loc + self.scale / (1 - c)).where(known, math.nan)

    @property
    def variance(self) -> Tensor:
        known = self.concentration < 0.5
        c = self.concentration.where(known, 0.0)
        return (self.scale**2 / ((1 - c) ** 2 * (1 - 2 * c))).where(known, math.nan)

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        return self.icdf(rand(shape, dtype=self.loc.dtype, device=self.loc.device))

    def _is_exponential(self) -> Tensor:
        return self.concentration.abs() <= 1e-8

    def _nonzero_concentration(self) -> Tensor:
        """The concentrations, with 1 in place of those near 0."""
        return self.concentration.where(~self._is_exponential(), 1.0)

    def _z(self, value: Tensor) -> Tensor:
        self._check_sample(value)
        return (value - self.loc) / self.scale

    def log_prob(self, value: Tensor) -> Tensor:
        z, c = self._z(value), self._nonzero_concentration()
        fall = xlog1py(1 / c + 1, c * z)  # 0 for the uniform distribution, also at its upper end
        return -self.scale.log() - z.where(self._is_exponential(), fall)

    def log_survival_function(self, value: Tensor) -> Tensor:
        """The logarithm of the probability of exceeding each of ``value``.

        Example:
            >>> distribution = tt.distributions.GeneralizedPareto(0.0, 1.0, 0.0)
            >>> distribution.log_survival_function(tt.tensor([0.0, 2.0]))
            tensor([-0., -2.])
        """
        z, c = self._z(value), self._nonzero_concentration()
        return (-z).where(self._is_exponential(), -(c * z).log1p() / c)

    def log_cdf(self, value: Tensor) -> Tensor:
        """The logarithm of ``cdf``.

        Example:
            >>> distribution = tt.distributions.GeneralizedPareto(0.0, 1.0, 0.0)
            >>> distribution.log_cdf(tt.tensor([1.0]))
            tensor([-0.4587])
        """
        return self.cdf(value).log()

    def cdf(self, value: Tensor) -> Tensor:
        return -self.log_survival_function(value).expm1()

    def icdf(self, value: Tensor) -> Tensor:
        left, c = (-value).log1p(), self._nonzero_concentration()
        away = (-left).where(self._is_exponential(), (-c * left).expm1() / c)
        return self.loc + self.scale * away

    def entropy(self) -> Tensor:
        return (self.scale.log() + self.concentration + 1).expand(self._batch_shape)


class Gumbel(_WithLocation, TransformedDistribution):
    """The Gumbel distribution, the limit distribution of the maximum of many samples.

    Args:
        loc: The mode.
        scale: The scale.
        validate_args: Whether parameters and values are checked.

    Example:
        >>> tt.distributions.Gumbel(0.0, 1.0).mean
        tensor(0.5772)
    """

    loc: Tensor
    scale: Tensor

    arg_constraints: Any = {"loc": constraints.real, "scale": constraints.positive}
    support: Any = constraints.real

    def __init__(self, loc: Any, scale: Any, validate_args: Any = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        limits = finfo(self.loc.dtype)
        if is_number(loc, scale):
            base = Uniform(limits.tiny, 1 - limits.eps, validate_args=validate_args)
        else:
            low = self.loc.new_full(self.loc.shape, limits.tiny)
            base = Uniform(low, 1 - limits.eps, validate_args=validate_args)
        minus_one = -self.scale.new_ones(self.scale.shape)
        steps = [
            ExpTransform().inv, AffineTransform(0, minus_one), ExpTransform().inv,
            AffineTransform(self.loc, -self.scale),
        ]  # fmt: skip
        super().__init__(base, steps, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.loc + self.scale * euler_constant

    @property
    def stddev(self) -> Tensor:
        return math.pi / math.sqrt(6) * self.scale

    @property
    def variance(self) -> Tensor:
        return self.stddev.pow(2)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_sample(value)
        y = (self.loc - value) / self.scale
        return (y - y.exp()) - self.scale.log()

    def entropy(self) -> Tensor:
        return self.scale.log() + (1 + euler_constant)


class Pareto(TransformedDistribution):
    """The Pareto distribution.

    Args:
        scale: The least value.
        alpha: The exponent of the tail: the density falls as ``value ** -(alpha + 1)``.
        validate_args: Whether parameters and values are checked.

    Example:
        >>> tt.distributions.Pareto(1.0, 3.0).mean
        tensor(1.5000)
    """

    scale: Tensor
    alpha: Tensor

    arg_constraints: Any = {"alpha": constraints.positive, "scale": constraints.positive}

    def __init__(self, scale: Any, alpha: Any, validate_args: Any = None) -> None:
        self.scale, self.alpha = broadcast_all(scale, alpha)
        steps = [ExpTransform(), AffineTransform(0, self.scale)]
        base = Exponential(self.alpha, validate_args=validate_args)
        super().__init__(base, steps, validate_args=validate_args)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        return constraints.greater_than_eq(self.scale)

    @property
    def mean(self) -> Tensor:
        a = self.alpha.clamp(min=1)
        return a * self.scale / (a - 1)

    @property
    def mode(self) -> Tensor:
        return self.scale

    @property
    def variance(self) -> Tensor:
        a = self.alpha.clamp(min=2)
        return self.scale.pow(2) * a / ((a - 1).pow(2) * (a - 2))

    def entropy(self) -> Tensor:
        return (self.scale / self.alpha).log() + (1 + self.alpha.reciprocal())


class Weibull(TransformedDistribution):
    """The Weibull distribution, of lifetimes whose hazard rate is a power of time.

    Args:
        scale: The scale.
        concentration: The shape: the hazard rate grows with time above 1 and falls below 1.
        validate_args: Whether parameters and values are checked.

    Example:
        >>> tt.distributions.Weibull(2.0, 1.0).mean
        tensor(2.)
    """

    scale: Tensor
    concentration: Tensor

    arg_constraints: Any = {"scale": constraints.positive, "concentration": constraints.positive}
    support: Any = constraints.positive

    def __init__(self, scale: Any, concentration: Any, validate_args: Any = None) -> None:
        self.scale, self.concentration = broadcast_all(scale, concentration)
        ones = self.scale.new_ones(self.scale.shape)
        base = Exponential(ones, validate_args=validate_args)
        steps = [PowerTransform(self.concentration_reciprocal), AffineTransform(0, self.scale)]
        super().__init__(base, steps, validate_args=validate_args)

    @property
    def concentration_reciprocal(self) -> Tensor:
        """The reciprocal of ``concentration``."""
        return self.concentration.reciprocal()

    def _moment(self, n: int) -> Tensor:
        """Moment of order ``n`` of the distribution of scale 1."""
        return (1 + n * self.concentration_reciprocal).lgamma().exp()

    @property
    def mean(self) -> Tensor:
        return self.scale * self._moment(1)

    @property
    def mode(self) -> Tensor:
        share = ((self.concentration - 1) / self.concentration).clamp(min=0)
        return self.scale * share**self.concentration_reciprocal

    @property
    def variance(self) -> Tensor:
        return self.scale.pow(2) * (self._moment(2) - self._moment(1).pow(2))

    def entropy(self) -> Tensor:
        inverse = self.concentration_reciprocal
        return euler_constant * (1 - inverse) + (self.scale * inverse).log() + 1
