"""Bernoulli, geometric, binomial, negative binomial and Poisson distributions."""

from __future__ import annotations

import math
from typing import Any

from ..core.tensor import Size, Tensor
from ..dtypes import finfo
from ..ops.create.ranges import arange
from ..ops.nn.rectifiers import logsigmoid
from ..ops.random.sampling import bernoulli, binomial, poisson
from ..state import no_grad
from . import constraints
from ._probs import _expand_support, _ProbsOrLogits
from .exp_family import ExponentialFamily
from .gamma import Gamma
from .utils import broadcast_all, is_number, lazy_property, log_odds_loss

__all__ = ["Bernoulli", "Binomial", "Geometric", "NegativeBinomial", "Poisson"]


class Bernoulli(_ProbsOrLogits, ExponentialFamily):
    """The Bernoulli distribution: 1 with probability ``probs``, otherwise 0.

    Args:
        probs: The probability of 1. Pass either ``probs`` or ``logits``.
        logits: The log-odds of 1.
        validate_args: Whether parameters and values are checked.

    Example:
        >>> tt.distributions.Bernoulli(0.25).log_prob(tt.tensor(1.0)).exp()
        tensor(0.2500)
    """

    arg_constraints: Any = {"probs": constraints.unit_interval, "logits": constraints.real}
    support: Any = constraints.boolean
    has_enumerate_support = True
    _mean_carrier_measure = 0

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: Any = None) -> None:
        alone = self._set_probs_or_logits(probs, logits)
        shape = Size() if alone else self._param.shape
        super().__init__(shape, validate_args=validate_args)

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (self.logits,)

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        return natural_params[0].exp().log1p()

    @property
    def mean(self) -> Tensor:
        return self.probs

    @property
    def mode(self) -> Tensor:
        mode = (self.probs >= 0.5).to(self.probs.dtype)
        return mode.where(self.probs != 0.5, math.nan)

    @property
    def variance(self) -> Tensor:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = Size()) -> Tensor:
        with no_grad():
            return bernoulli(self.probs.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_sample(value)
        logits, value = broadcast_all(self.logits, value)
        return -log_odds_loss(logits, value)

    def entropy(self) -> Tensor:
        return log_odds_loss(self.logits, self.probs)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        return _expand_support(
            self, arange(2, dtype=self._param.dtype, device=self._param.device), expand
        )


class Geometric(_ProbsOrLogits):
    """The geometric distribution: that of the number of failures before the first success.

    Args:
        probs: The probability of success. Pass either ``probs`` or ``logits``.
        logits: The log-odds of success.
        validate_args: Whether parameters and values are checked.

    Example:
        >>> tt.distributions.Geometric(0.25).mean
        tensor(3.)
    """

    arg_constraints: Any = {"probs": constraints.unit_interval, "logits": constraints.real}
    support: Any = constraints.nonnegative_integer

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: Any = None) -> None:
        is_scalar = self._set_probs_or_logits(probs, logits)
        super().__init__(Size() if is_scalar else self._param.shape, validate_args=validate_args)
        if self._validate_args and probs is not None and not bool((self.probs > 0).all()):
            wrong = self.probs.detach()[self.probs <= 0]
            raise ValueError(
                f"Expected parameter probs ({type(self.probs).__name__} of shape "
                f"{tuple(self.probs.shape)}) of distribution {self!r} to be positive but found "
                f"invalid values:\n{wrong}"
            )

    @property
    def mean(self) -> Tensor:
        return 1.0 / self.probs - 1.0

    @property
    def mode(self) -> Tensor:
        return self.probs.new_zeros(self.probs.shape)

    @property
    def variance(self) -> Tensor:
        return (1.0 / self.probs - 1.0) / self.probs

    def sample(self, sample_shape: Any = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        with no_grad():
            u = self.probs.new_empty(shape).uniform_(finfo(self.probs.dtype).tiny, 1)
            return (u.log() / (-self.probs).log1p()).floor()

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_sample(value)
        value, probs = broadcast_all(value, self.probs)
        sure = (probs == 1) & (value == 0)
        probs = probs.where(~sure, 0.0)
        return value * (-probs).log1p() + self.probs.log()

    def entropy(self) -> Tensor:
        return log_odds_loss(self.logits, self.probs) / self.probs


class _TrialsDistribution(_ProbsOrLogits):
    """Base of distributions with the parameters ``total_count`` and ``probs`` or ``logits``."""

    total_count: Tensor

    def __init__(
        self, total_count: Any = 1, probs: Any = None, logits: Any = None, validate_args: Any = None
    ) -> None:
        self._set_probs_or_logits(probs, logits)
        name = "logits" if probs is None else "probs"
        self.total_count, value = broadcast_all(total_count, self._param)
        self.total_count = self.total_count.to(value.dtype)
        setattr(self, name, value)
        super().__init__(value.shape, validate_args=validate_args)


class Binomial(_TrialsDistribution):
    """The binomial distribution: that of the number of successes in ``total_count`` trials.

    Args:
        total_count: The number of trials. Default: 1.
        probs: The probability of success. Pass either ``probs`` or ``logits``.
        logits: The log-odds of success.
        validate_args: Whether parameters and values are checked.

    Example:
        >>> tt.distributions.Binomial(4, 0.25).mean
        tensor(1.)
    """

    arg_constraints: Any = {
        "total_count": constraints.nonnegative_integer,
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    has_enumerate_support = True

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self) -> Tensor:
        return self.total_count * self.probs

    @property
    def mode(self) -> Tensor:
        return ((self.total_count + 1) * self.probs).floor().clamp(max=self.total_count)

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_sample(value)
        n = self.total_count
        log_binomial = (n + 1).lgamma() - (value + 1).lgamma() - (n - value + 1).lgamma()
        return value * self.logits + log_binomial + n * logsigmoid(-self.logits)

    def entropy(self) -> Tensor:
        if not bool((self.total_count == self.total_count.max()).all()):
            raise NotImplementedError("Inhomogeneous total count not supported by `entropy`.")
        log_prob = self.log_prob(self.enumerate_support(False))
        return -(log_prob.exp() * log_prob).sum(0)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        most = int(self.total_count.max().item())
        if int(self.total_count.min().item()) != most:
            raise NotImplementedError(
                "Inhomogeneous total count not supported by `enumerate_support`."
            )
        values = arange(1 + most, dtype=self._param.dtype, device=self._param.device)
        return _expand_support(self, values, expand)


class NegativeBinomial(_TrialsDistribution):
    """The distribution of the number of successes before ``total_count`` failures.

    Args:
        total_count: The number of failures.
        probs: The probability of success. Pass either ``probs`` or ``logits``.
        logits: The log-odds of success.
        validate_args: Whether parameters and values are checked.

    Example:
        >>> tt.distributions.NegativeBinomial(3.0, 0.5).mean
        tensor(3.)
    """

    arg_constraints: Any = {
        "total_count": constraints.greater_than_eq(0),
        "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }
    support: Any = constraints.nonnegative_integer

    def __init__(
        self, total_count: Any, probs: Any = None, logits: Any = None, validate_args: Any = None
    ) -> None:
        super().__init__(total_count, probs, logits, validate_args)

    @property
    def mean(self) -> Tensor:
        return self.total_count * self.logits.exp()

    @property
    def mode(self) -> Tensor:
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0.0)

    @property
    def variance(self) -> Tensor:
        return self.mean / (-self.logits).sigmoid()

    @lazy_property
    def _gamma(self) -> Gamma:
        """Distribution of the rate of the Poisson distribution that is sampled from."""
        return Gamma(self.total_count, (-self.logits).exp(), validate_args=False)

    def sample(self, sample_shape: Any = Size()) -> Tensor:
        with no_grad():
            return poisson(self._gamma.sample(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_sample(value)
        n = self.total_count
        log_powers = n * logsigmoid(-self.logits) + value * logsigmoid(self.logits)
        negative_log_binomial = -(n + value).lgamma() + (1.0 + value).lgamma() + n.lgamma()
        return log_powers - negative_log_binomial.where(n + value != 0, 0.0)


class Poisson(ExponentialFamily):
    """The Poisson distribution: that of the number of events that occur at a given rate.

    Args:
        rate: The mean number.
        validate_args: Whether parameters and values are checked.

    Example:
        >>> tt.distributions.Poisson(2.0).log_prob(tt.tensor(0.0))
        tensor(-2.)
    """

    rate: Tensor

    arg_constraints: Any = {"rate": constraints.nonnegative}
    support: Any = constraints.nonnegative_integer

    def __init__(self, rate: Any, validate_args: Any = None) -> None:
        (self.rate,) = broadcast_all(rate)
        shape = Size() if is_number(rate) else self.rate.shape
        super().__init__(shape, validate_args=validate_args)

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (self.rate.log(),)

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        return natural_params[0].exp()

    @property
    def mean(self) -> Tensor:
        return self.rate

    @property
    def mode(self) -> Tensor:
        return self.rate.floor()

    @property
    def variance(self) -> Tensor:
        return self.rate

    def sample(self, sample_shape: Any = Size()) -> Tensor:
        with no_grad():
            return poisson(self.rate.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_sample(value)
        rate, value = broadcast_all(self.rate, value)
        return value.xlogy(rate) - rate - (value + 1).lgamma()
