"""Distributions of the absolute value of a variable that is symmetric around 0."""

from __future__ import annotations

import math
from typing import Any

from ..core.tensor import Tensor
from . import constraints
from .continuous import Cauchy
from .normal import Normal
from .transformed_distribution import TransformedDistribution
from .transforms import AbsTransform

__all__ = ["HalfCauchy", "HalfNormal"]


class _Half(TransformedDistribution):
    """The distribution of the absolute value of a variable that is symmetric around 0."""

    arg_constraints: Any = {"scale": constraints.positive}
    support: Any = constraints.nonnegative
    has_rsample = True
    base_dist: Any
    _symmetric: Any

    def __init__(self, scale: Any, validate_args: Any = None) -> None:
        whole = self._symmetric(0, scale, validate_args=False)
        super().__init__(whole, AbsTransform(), validate_args=validate_args)

    @property
    def scale(self) -> Tensor:
        """The scale of the symmetric distribution."""
        found: Tensor = self.base_dist.scale
        return found

    @property
    def mode(self) -> Tensor:
        return self.scale.new_zeros(self.scale.shape)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_sample(value)
        both: Tensor = self.base_dist.log_prob(value) + math.log(2)
        return both.where(value >= 0, -math.inf)

    def cdf(self, value: Tensor) -> Tensor:
        self._check_sample(value)
        found: Tensor = 2 * self.base_dist.cdf(value) - 1
        return found

    def icdf(self, prob: Tensor) -> Tensor:
        found: Tensor = self.base_dist.icdf((prob + 1) / 2)
        return found

    def entropy(self) -> Tensor:
        found: Tensor = self.base_dist.entropy() - math.log(2)
        return found


class HalfCauchy(_Half):
    """The distribution of the absolute value of a Cauchy variable with location 0.

    Args:
        scale: The scale of the Cauchy distribution.
        validate_args: Whether parameters and values are checked.

    Example:
        >>> tt.distributions.HalfCauchy(1.0).cdf(tt.tensor(1.0))
        tensor(0.5000)
    """

    base_dist: Cauchy
    _symmetric = Cauchy

    @property
    def mean(self) -> Tensor:
        return self.scale.new_full(self._extended_shape(), math.inf)

    @property
    def variance(self) -> Tensor:
        return self.base_dist.variance


class HalfNormal(_Half):
    """The distribution of the absolute value of a normal variable with mean 0.

    Args:
        scale: The standard deviation of the normal distribution.
        validate_args: Whether parameters and values are checked.

    Example:
        >>> tt.distributions.HalfNormal(1.0).mean
        tensor(0.7979)
    """

    base_dist: Normal
    _symmetric = Normal

    @property
    def mean(self) -> Tensor:
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def variance(self) -> Tensor:
        return self.scale.pow(2) * (1 - 2 / math.pi)
