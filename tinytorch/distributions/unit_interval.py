"""Continuous Bernoulli and Kumaraswamy distributions, on the unit interval."""

from __future__ import annotations

import math
from typing import Any

from ..core.tensor import Size, Tensor
from ..ops.random.sampling import rand
from ..state import no_grad
from . import constraints
from ._probs import _ProbsOrLogits
from .continuous import Uniform
from .exp_family import ExponentialFamily
from .transformed_distribution import TransformedDistribution
from .transforms import AffineTransform, PowerTransform
from .utils import (
    broadcast_all,
    clamp_probs,
    euler_constant,
    lazy_property,
    log_odds_loss,
    logits_to_probs,
)

__all__ = ["ContinuousBernoulli", "Kumaraswamy"]


class ContinuousBernoulli(_ProbsOrLogits, ExponentialFamily):
    """The continuous Bernoulli distribution: density ``~ probs**x * (1 - probs)**(1 - x)``.

    Args:
        probs: The parameter, between 0 and 1. It is not the mean. Pass either ``probs`` or
            ``logits``.
        logits: The log-odds of ``probs``.
        lims: The interval around 1/2 in which Taylor series replace the formulas, which are 0 / 0
            at 1/2. Default: (0.499, 0.501).
        validate_args: Whether parameters and values are checked.

    Raises:
        ValueError: If both or neither are passed, or if ``probs`` are not between 0 and 1.

    Example:
        >>> tt.distributions.ContinuousBernoulli(0.5).log_prob(tt.tensor(0.25)).exp()
        tensor(1.)

    Reference:
        G. Loaiza-Ganem and J. P. Cunningham, "The continuous Bernoulli: fixing a pervasive error
        in variational autoencoders", https://arxiv.org/abs/1907.06845
    """

    arg_constraints: Any = {"probs": constraints.unit_interval, "logits": constraints.real}
    support: Any = constraints.unit_interval
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(
        self, probs: Any = None, logits: Any = None, lims: tuple[float, float] = (0.499, 0.501),
        validate_args: Any = None,
    ) -> None:  # fmt: skip
        is_scalar = self._set_probs_or_logits(probs, logits)
        if probs is not None:
            checked = self._validate_args if validate_args is None else validate_args
            if checked and not bool(constraints.unit_interval.check(self.probs).all()):
                raise ValueError("The parameter probs has invalid values")
            self.probs = clamp_probs(self.probs)
        self._lims = lims
        super().__init__(Size() if is_scalar else self._param.shape, validate_args=validate_args)

    def _copy_extra_state(self, new: Any, batch_shape: Size) -> None:
        new._lims = self._lims

    @lazy_property
    def probs(self) -> Tensor:
        """The parameter between 0 and 1."""
        return clamp_probs(logits_to_probs(self.logits, is_binary=True))

    def _outside_unstable_region(self) -> Tensor:
        """Whether the parameter is far enough from 1/2 for the formulas."""
        return (self.probs <= self._lims[0]) | (self.probs > self._lims[1])

    def _cut_probs(self) -> Tensor:
        """The parameters outside ``lims``, with the lower limit in place of the others."""
        return self.probs.where(self._outside_unstable_region(), self._lims[0])

    def _cont_bern_log_norm(self) -> Tensor:
        """The logarithm of the constant that normalizes the density."""
        p = self._cut_probs()
        formula = (_negative_log_odds(p).abs() / (1 - 2 * p).abs()).log()
        x = (self.probs - 0.5) ** 2
        return formula.where(
            self._outside_unstable_region(), math.log(2.0) + (4.0 / 3.0 + 104.0 / 45.0 * x) * x
        )

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (self.logits,)

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        (x,) = natural_params
        outside = (x <= self._lims[0] - 0.5) | (x > self._lims[1] - 0.5)
        cut = x.where(outside, self._lims[0] - 0.5)
        formula = (cut.exp() - 1).abs().log() - cut.abs().log()
        return formula.where(outside, 0.5 * x + x**2 / 24 - x**4 / 2880)

    @property
    def mean(self) -> Tensor:
        p, x = self._cut_probs(), self.probs - 0.5
        formula = p / (2 * p - 1) + 1 / _negative_log_odds(p)
        return formula.where(
            self._outside_unstable_region(), 0.5 + (1.0 / 3.0 + 16.0 / 45.0 * x**2) * x
        )

    @property
    def variance(self) -> Tensor:
        p, x = self._cut_probs(), (self.probs - 0.5) ** 2
        formula = p * (p - 1) / (1 - 2 * p) ** 2 + 1 / _negative_log_odds(p) ** 2
        return formula.where(
            self._outside_unstable_region(), 1.0 / 12.0 - (1.0 / 15.0 - 128.0 / 945.0 * x) * x
        )

    def sample(self, sample_shape: Any = Size()) -> Tensor:
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        return self.icdf(rand(shape, dtype=self.probs.dtype, device=self.probs.device))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_sample(value)
        logits, value = broadcast_all(self.logits, value)
        return self._cont_bern_log_norm() - log_odds_loss(logits, value)

    def cdf(self, value: Tensor) -> Tensor:
        self._check_sample(value)
        p = self._cut_probs()
        formula = (p**value * (1 - p) ** (1 - value) + p - 1) / (2 * p - 1)
        probability = formula.where(self._outside_unstable_region(), value)
        return probability.masked_fill(value <= 0, 0.0).masked_fill(value >= 1, 1.0)

    def icdf(self, value: Tensor) -> Tensor:
        p = self._cut_probs()
        formula = ((-p).log1p() - (value * (2 * p - 1) - p).log1p()) / _negative_log_odds(p)
        return formula.where(self._outside_unstable_region(), value)

    def entropy(self) -> Tensor:
        fall = _negative_log_odds(self.probs)
        return self.mean * fall - self._cont_bern_log_norm() - (-self.probs).log1p()


def _negative_log_odds(p: Tensor) -> Tensor:
    """``log(1 - p) - log(p)``, the negative of the log-odds."""
    return (-p).log1p() - p.log()


class Kumaraswamy(TransformedDistribution):
    """The Kumaraswamy distribution, whose cdf is ``1 - (1 - x ** a) ** b``.

    Args:
        concentration1: ``a``.
        concentration0: ``b``.
        validate_args: Whether parameters and values are checked.

    Example:
        >>> tt.distributions.Kumaraswamy(2.0, 1.0).mean
        tensor(0.6667)
    """

    concentration1: Tensor
    concentration0: Tensor

    arg_constraints: Any = {
        "concentration1": constraints.positive, "concentration0": constraints.positive,
    }  # fmt: skip
    support: Any = constraints.unit_interval
    has_rsample = True

    def __init__(self, concentration1: Any, concentration0: Any, validate_args: Any = None) -> None:
        self.concentration1, self.concentration0 = broadcast_all(concentration1, concentration0)
        one, zero = self.concentration1, self.concentration0
        base = Uniform(
            zero.new_zeros(zero.shape), zero.new_ones(zero.shape), validate_args=validate_args
        )
        steps = [
            PowerTransform(zero.reciprocal()), AffineTransform(1.0, -1.0),
            PowerTransform(one.reciprocal()),
        ]  # fmt: skip
        super().__init__(base, steps, validate_args=validate_args)

    def _moment(self, n: int) -> Tensor:
        """Moment of order ``n``."""
        order, b = 1 + n / self.concentration1, self.concentration0
        return b * (order.lgamma() + b.lgamma() - (order + b).lgamma()).exp()

    @property
    def mean(self) -> Tensor:
        return self._moment(1)

    @property
    def mode(self) -> Tensor:
        a, b = self.concentration1, self.concentration0
        mode = ((a - 1) / (a * b - 1)) ** a.reciprocal()
        return mode.where((a >= 1) & (b >= 1), math.nan)

    @property
    def variance(self) -> Tensor:
        return self._moment(2) - self.mean.pow(2)

    def entropy(self) -> Tensor:
        a, b = self.concentration1, self.concentration0
        harmonic = (b + 1).digamma() + euler_constant
        return 1 - b.reciprocal() + (1 - a.reciprocal()) * harmonic - a.log() - b.log()
