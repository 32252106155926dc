"""Uniform, exponential, Laplace and Cauchy distributions."""

from __future__ import annotations

import math
from typing import Any

from ..core.tensor import Size, Tensor
from ..dtypes import finfo
from ..ops.random.sampling import rand
from . import constraints
from ._location import _LocationScale, _MeanAtLocation
from .distribution import Distribution
from .exp_family import ExponentialFamily
from .utils import broadcast_all, is_number

__all__ = ["Cauchy", "Exponential", "Laplace", "Uniform"]


class Uniform(Distribution):
    """The uniform distribution on ``[low, high)``.

    Args:
        low: The lower bound.
        high: The upper bound.
        validate_args: Whether parameters and values are checked.

    Example:
        >>> tt.distributions.Uniform(0.0, 4.0).log_prob(tt.tensor(1.0)).exp()
        tensor(0.2500)
    """

    low: Tensor
    high: Tensor

    has_rsample = True

    def __init__(self, low: Any, high: Any, validate_args: Any = None) -> None:
        self.low, self.high = broadcast_all(low, high)
        shape = Size() if is_number(low, high) else self.low.shape
        super().__init__(shape, validate_args=validate_args)

    @property
    def arg_constraints(self) -> Any:
        """Constraints of the bounds: each bound limits the other."""
        return {
            "low": constraints.less_than(self.high), "high": constraints.greater_than(self.low),
        }  # fmt: skip

    def _parameters(self) -> tuple[str, ...]:
        return ("low", "high")

    def _parameter_event_dim(self, name: str) -> int:
        return 0

    def _repr_parameters(self) -> Any:
        return self._parameters()

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        return constraints.interval(self.low, self.high)

    @property
    def mean(self) -> Tensor:
        return (self.high + self.low) / 2

    @property
    def mode(self) -> Tensor:
        return math.nan * self.high

    @property
    def stddev(self) -> Tensor:
        return (self.high - self.low) / math.sqrt(12)

    @property
    def variance(self) -> Tensor:
        return (self.high - self.low).pow(2) / 12

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        drawn = rand(shape, dtype=self.low.dtype, device=self.low.device)
        return self.low + drawn * (self.high - self.low)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_sample(value)
        inside = (self.low <= value) & (self.high > value)
        return inside.to(self.low.dtype).log() - (self.high - self.low).log()

    def cdf(self, value: Tensor) -> Tensor:
        self._check_sample(value)
        return ((value - self.low) / (self.high - self.low)).clamp(min=0, max=1)

    def icdf(self, value: Tensor) -> Tensor:
        return value * (self.high - self.low) + self.low

    def entropy(self) -> Tensor:
        return (self.high - self.low).log()


class Exponential(ExponentialFamily):
    """The exponential distribution.

    Args:
        rate: The inverse of the mean.
        validate_args: Whether parameters and values are checked.

    Example:
        >>> tt.distributions.Exponential(2.0).mean
        tensor(0.5000)
    """

    rate: Tensor

    arg_constraints: Any = {"rate": constraints.positive}
    support: Any = constraints.nonnegative
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, rate: Any, validate_args: Any = None) -> None:
        (self.rate,) = broadcast_all(rate)
        shape = Size() if is_number(rate) else self.rate.shape
        super().__init__(shape, validate_args=validate_args)

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (-self.rate,)

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        return -(-natural_params[0]).log()

    @property
    def mean(self) -> Tensor:
        return self.rate.reciprocal()

    @property
    def mode(self) -> Tensor:
        return self.rate.new_zeros(self.rate.shape)

    @property
    def stddev(self) -> Tensor:
        return self.rate.reciprocal()

    @property
    def variance(self) -> Tensor:
        return self.rate.pow(-2)

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        return self.rate.new_empty(self._extended_shape(sample_shape)).exponential_() / self.rate

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_sample(value)
        return self.rate.log() - self.rate * value

    def cdf(self, value: Tensor) -> Tensor:
        self._check_sample(value)
        return 1 - (-self.rate * value).exp()

    def icdf(self, value: Tensor) -> Tensor:
        return -(-value).log1p() / self.rate

    def entropy(self) -> Tensor:
        return 1.0 - self.rate.log()


class Laplace(_LocationScale, _MeanAtLocation):
    """The Laplace, or double exponential, distribution.

    Args:
        loc: The mean.
        scale: The mean absolute deviation from ``loc``.
        validate_args: Whether parameters and values are checked.

    Example:
        >>> tt.distributions.Laplace(0.0, 1.0).variance
        tensor(2.)
    """

    @property
    def stddev(self) -> Tensor:
        return 2**0.5 * self.scale

    @property
    def variance(self) -> Tensor:
        return 2 * self.scale.pow(2)

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        eps = finfo(self.loc.dtype).eps
        u = self.loc.new_empty(self._extended_shape(sample_shape)).uniform_(eps - 1, 1)
        return self.loc - self.scale * u.sign() * (-u.abs()).log1p()

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_sample(value)
        return -(2 * self.scale).log() - (value - self.loc).abs() / self.scale

    def cdf(self, value: Tensor) -> Tensor:
        self._check_sample(value)
        away = value - self.loc
        return 0.5 - 0.5 * away.sign() * (-away.abs() / self.scale).expm1()

    def icdf(self, value: Tensor) -> Tensor:
        term = value - 0.5
        return self.loc - self.scale * term.sign() * (-2 * term.abs()).log1p()

    def entropy(self) -> Tensor:
        return 1 + (2 * self.scale).log()


class Cauchy(_LocationScale):
    """The Cauchy distribution, which has no mean.

    Args:
        loc: The median.
        scale: Half of the distance between the quartiles.
        validate_args: Whether parameters and values are checked.

    Example:
        >>> tt.distributions.Cauchy(0.0, 1.0).cdf(tt.tensor(1.0))
        tensor(0.7500)
    """

    @property
    def mean(self) -> Tensor:
        return self.loc.new_full(self._extended_shape(), math.nan)

    @property
    def variance(self) -> Tensor:
        return self.loc.new_full(self._extended_shape(), math.inf)

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        drawn = self.loc.new_empty(self._extended_shape(sample_shape)).cauchy_()
        return self.loc + drawn * self.scale

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_sample(value)
        away = ((value - self.loc) / self.scale) ** 2
        return -math.log(math.pi) - self.scale.log() - away.log1p()

    def cdf(self, value: Tensor) -> Tensor:
        self._check_sample(value)
        return ((value - self.loc) / self.scale).atan() / math.pi + 0.5

    def icdf(self, value: Tensor) -> Tensor:
        return (math.pi * (value - 0.5)).tan() * self.scale + self.loc

    def entropy(self) -> Tensor:
        return math.log(4 * math.pi) + self.scale.log()
