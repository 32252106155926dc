"""Continuous relaxations of discrete distributions, with differentiable samples."""

from __future__ import annotations

import math
from typing import Any

from ..core.tensor import Size, Tensor
from ..ops.random.sampling import rand
from . import constraints
from ._probs import _ProbsOrLogits
from .categorical import _CategoricalBased
from .transformed_distribution import TransformedDistribution
from .transforms import ExpTransform, SigmoidTransform
from .utils import broadcast_all, clamp_probs

__all__ = [
    "ExpRelaxedCategorical", "LogitRelaxedBernoulli", "RelaxedBernoulli",
    "RelaxedOneHotCategorical",
]  # fmt: skip


class LogitRelaxedBernoulli(_ProbsOrLogits):
    """The distribution of the log-odds of a ``RelaxedBernoulli`` sample.

    Args:
        temperature: A tensor. The lower it is, the closer the samples are to 0 or 1.
        probs: The probability of 1. Pass either ``probs`` or ``logits``.
        logits: The log-odds of 1.
        validate_args: Whether parameters and values are checked.

    Example:
        >>> from tinytorch.distributions.relaxed import LogitRelaxedBernoulli
        >>> distribution = LogitRelaxedBernoulli(tt.tensor(1.0), tt.tensor([0.5]))
        >>> distribution.log_prob(tt.zeros(1)).exp()
        tensor([0.2500])
    """

    arg_constraints: Any = {"probs": constraints.unit_interval, "logits": constraints.real}
    support: Any = constraints.real
    has_rsample = True

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: Any = None
    ) -> None:
        self.temperature: Tensor = temperature
        is_scalar = self._set_probs_or_logits(probs, logits)
        super().__init__(Size() if is_scalar else self._param.shape, validate_args=validate_args)

    def _copy_extra_state(self, new: Any, batch_shape: Size) -> None:
        new.temperature = self.temperature

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        probs = clamp_probs(self.probs.expand(shape))
        u = clamp_probs(rand(shape, dtype=probs.dtype, device=probs.device))
        odds = u.log() - (-u).log1p() + probs.log() - (-probs).log1p()
        return odds / self.temperature

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_sample(value)
        logits, value = broadcast_all(self.logits, value)
        score = logits - value.mul(self.temperature)
        found: Tensor = self.temperature.log() + score - 2 * score.exp().log1p()
        return found


class _Relaxed(TransformedDistribution):
    """Base of relaxed distributions that transform a distribution of logits."""

    has_rsample = True

    @property
    def temperature(self) -> Tensor:
        """The temperature: the lower it is, the closer the samples are to discrete ones."""
        found: Tensor = self.base_dist.temperature
        return found

    @property
    def logits(self) -> Tensor:
        """Log-odds, or log probabilities."""
        found: Tensor = self.base_dist.logits
        return found

    @property
    def probs(self) -> Tensor:
        """Probabilities."""
        found: Tensor = self.base_dist.probs
        return found


class RelaxedBernoulli(_Relaxed):
    """A distribution between 0 and 1 that approaches ``Bernoulli`` at low temperatures.

    Args:
        temperature: A tensor. The lower it is, the closer the samples are to 0 or 1.
        probs: The probability of 1. Pass either ``probs`` or ``logits``.
        logits: The log-odds of 1.
        validate_args: Whether parameters and values are checked.

    Example:
        >>> distribution = tt.distributions.RelaxedBernoulli(tt.tensor(1.0), tt.tensor([0.5]))
        >>> distribution.log_prob(tt.tensor([0.5])).exp()
        tensor([1.])
    """

    arg_constraints: Any = {"probs": constraints.unit_interval, "logits": constraints.real}
    support: Any = constraints.unit_interval

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: Any = None
    ) -> None:
        base = LogitRelaxedBernoulli(temperature, probs, logits)
        super().__init__(base, SigmoidTransform(), validate_args=validate_args)


class ExpRelaxedCategorical(_CategoricalBased):
    """The distribution of the logarithms of a ``RelaxedOneHotCategorical`` sample.

    Args:
        temperature: A tensor. The lower it is, the closer the samples are to one-hot vectors.
        probs: As for ``Categorical``.
        logits: As for ``Categorical``.
        validate_args: Whether parameters and values are checked.

    Example:
        >>> from tinytorch.distributions.relaxed import ExpRelaxedCategorical
        >>> distribution = ExpRelaxedCategorical(tt.tensor(1.0), tt.ones(3))
        >>> distribution.rsample().exp().sum().round()
        tensor(1.)
    """

    support: Any = constraints.real_vector
    has_rsample = True

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: Any = None
    ) -> None:
        self.temperature: Tensor = temperature
        super().__init__(probs, logits, validate_args)

    def _copy_extra_state(self, new: Any, batch_shape: Size) -> None:
        super()._copy_extra_state(new, batch_shape)
        new.temperature = self.temperature

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        u = clamp_probs(rand(shape, dtype=self.logits.dtype, device=self.logits.device))
        scores = (self.logits - (-u.log()).log()) / self.temperature
        return scores - scores.logsumexp(-1, keepdim=True)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_sample(value)
        n = self._event_shape[0]
        logits, value = broadcast_all(self.logits, value)
        log_constant = self.temperature.log() * (n - 1) + math.lgamma(n)
        score = logits - value.mul(self.temperature)
        found: Tensor = (score - score.logsumexp(-1, keepdim=True)).sum(-1) + log_constant
        return found


class RelaxedOneHotCategorical(_Relaxed):
    """A distribution on the simplex that approaches ``OneHotCategorical`` at low temperatures.

    Args:
        temperature: A tensor. The lower it is, the closer the samples are to one-hot vectors.
        probs: As for ``Categorical``.
        logits: As for ``Categorical``.
        validate_args: Whether parameters and values are checked.

    Example:
        >>> distribution = tt.distributions.RelaxedOneHotCategorical(tt.tensor(1.0), tt.ones(3))
        >>> distribution.rsample().sum().round()
        tensor(1.)
    """

    arg_constraints: Any = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support: Any = constraints.simplex

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: Any = None
    ) -> None:
        base = ExpRelaxedCategorical(temperature, probs, logits, validate_args=validate_args)
        super().__init__(base, ExpTransform(), validate_args=validate_args)
