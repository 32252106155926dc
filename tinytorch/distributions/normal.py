"""Normal, log-normal and logistic-normal distributions."""

from __future__ import annotations

import math
from typing import Any

from ..core.tensor import Size, Tensor
from ..ops.random.sampling import normal
from ..state import no_grad
from . import constraints
from ._location import _LocationScale, _MeanAtLocation
from .exp_family import ExponentialFamily
from .transformed_distribution import TransformedDistribution
from .transforms import ExpTransform, StickBreakingTransform
from .utils import _standard_normal

__all__ = ["LogNormal", "LogisticNormal", "Normal"]


class Normal(_LocationScale, _MeanAtLocation, ExponentialFamily):
    """The normal, or Gaussian, distribution.

    Args:
        loc: The mean.
        scale: The standard deviation.
        validate_args: Whether parameters and values are checked.

    Example:
        >>> tt.distributions.Normal(0.0, 1.0).log_prob(tt.tensor(0.0))
        tensor(-0.9189)
    """

    _mean_carrier_measure = 0

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return self.loc / self.scale**2, -0.5 * self.scale.pow(2).reciprocal()

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        x, y = natural_params
        return -0.25 * x**2 / y + 0.5 * (-math.pi / y).log()

    @property
    def stddev(self) -> Tensor:
        return self.scale

    @property
    def variance(self) -> Tensor:
        return self.stddev.pow(2)

    def sample(self, sample_shape: Any = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return normal(self.loc.expand(shape), self.scale.expand(shape))

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        return self.loc + _standard_normal(shape, self.loc.dtype, self.loc.device) * self.scale

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_sample(value)
        distance = (value - self.loc) ** 2 / (2 * self.scale**2)
        return -distance - self.scale.log() - math.log(math.sqrt(2 * math.pi))

    def cdf(self, value: Tensor) -> Tensor:
        self._check_sample(value)
        return 0.5 * (1 + ((value - self.loc) * self.scale.reciprocal() / math.sqrt(2)).erf())

    def icdf(self, value: Tensor) -> Tensor:
        return self.loc + self.scale * (2 * value - 1).erfinv() * math.sqrt(2)

    def entropy(self) -> Tensor:
        return 0.5 + 0.5 * math.log(2 * math.pi) + self.scale.log()


class LogNormal(TransformedDistribution):
    """The log-normal distribution: that of numbers whose logarithm is normal.

    Args:
        loc: The logarithm's mean.
        scale: The logarithm's standard deviation.
        validate_args: Whether parameters and values are checked.

    Example:
        >>> tt.distributions.LogNormal(0.0, 1.0).mean
        tensor(1.6487)
    """

    arg_constraints: Any = {"loc": constraints.real, "scale": constraints.positive}
    support: Any = constraints.positive
    has_rsample = True
    base_dist: Normal

    def __init__(self, loc: Any, scale: Any, validate_args: Any = None) -> None:
        super().__init__(
            Normal(loc, scale, validate_args=validate_args), ExpTransform(),
            validate_args=validate_args,
        )  # fmt: skip

    @property
    def loc(self) -> Tensor:
        """The logarithm's mean."""
        return self.base_dist.loc

    @property
    def scale(self) -> Tensor:
        """The logarithm's standard deviation."""
        return self.base_dist.scale

    @property
    def mean(self) -> Tensor:
        return (self.loc + self.scale.pow(2) / 2).exp()

    @property
    def mode(self) -> Tensor:
        return (self.loc - self.scale.square()).exp()

    @property
    def variance(self) -> Tensor:
        square = self.scale.pow(2)
        return square.expm1() * (2 * self.loc + square).exp()

    def entropy(self) -> Tensor:
        return self.base_dist.entropy() + self.loc


class LogisticNormal(TransformedDistribution):
    """The logistic-normal distribution: normal vectors mapped to shares by stick breaking.

    Args:
        loc: ``(..., n)``, the means of the normal variables. There are ``n + 1`` shares.
        scale: The standard deviations of the normal variables.
        validate_args: Whether parameters and values are checked.

    Example:
        >>> list(tt.distributions.LogisticNormal(tt.zeros(2), tt.ones(2)).event_shape)
        [3]
    """

    arg_constraints: Any = {"loc": constraints.real, "scale": constraints.positive}
    support: Any = constraints.simplex
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: Any = None) -> None:
        base = Normal(loc, scale, validate_args=validate_args)
        if not base.batch_shape:
            base = base.expand((1,))
        super().__init__(base, StickBreakingTransform(), validate_args=validate_args)

    @property
    def loc(self) -> Tensor:
        """The means of the normal variables."""
        found: Tensor = self.base_dist.base_dist.loc
        return found

    @property
    def scale(self) -> Tensor:
        """The standard deviations of the normal variables."""
        found: Tensor = self.base_dist.base_dist.scale
        return found
