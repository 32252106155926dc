"""Categorical, one-hot and multinomial distributions."""

from __future__ import annotations

from typing import Any

from ..core.tensor import Size, Tensor
from ..dtypes import finfo
from ..ops.create.factories import eye, tensor
from ..ops.create.ranges import arange
from ..ops.random.sampling import multinomial
from ..ops.shape.strides import broadcast_tensors
from ..state import no_grad
from . import constraints
from ._probs import _expand_support, _ProbsOrLogits, _select_given
from .discrete import Binomial
from .distribution import Distribution

__all__ = ["Categorical", "Multinomial", "OneHotCategorical", "OneHotCategoricalStraightThrough"]


class Categorical(_ProbsOrLogits):
    """The distribution of the index of one of several categories.

    Args:
        probs: ``(..., n)``, the categories' weights, which are normalized. Pass either ``probs`` or
            ``logits``.
        logits: The weights' logarithms.
        validate_args: Whether parameters and values are checked.

    Raises:
        ValueError: If both or neither are passed, or if the parameter is a 0-d tensor.

    Example:
        >>> distribution = tt.distributions.Categorical(tt.tensor([1.0, 3.0]))
        >>> distribution.probs, distribution.log_prob(tt.tensor(1)).exp()
        (tensor([0.2500, 0.7500]), tensor(0.7500))
    """

    arg_constraints: Any = {"probs": constraints.simplex, "logits": constraints.real_vector}
    has_enumerate_support = True
    _is_binary = False

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: Any = None) -> None:
        name, given = "logits" if probs is None else "probs", _select_given(probs, logits)
        if given.dim() < 1:
            raise ValueError(f"`{name}` parameter must be at least one-dimensional.")
        if probs is not None:
            self.probs = probs / probs.sum(-1, keepdim=True)
        else:
            self.logits = logits - logits.logsumexp(-1, keepdim=True)
        self._num_events = given.shape[-1]
        super().__init__(given.shape[:-1], validate_args=validate_args)

    def _copy_extra_state(self, new: Any, batch_shape: Size) -> None:
        new._num_events = self._num_events

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        return constraints.integer_interval(0, self._num_events - 1)

    @property
    def mean(self) -> Tensor:
        return self.probs.new_full(self._extended_shape(), float("nan"))

    @property
    def mode(self) -> Tensor:
        return self.probs.argmax(-1)

    @property
    def variance(self) -> Tensor:
        return self.probs.new_full(self._extended_shape(), float("nan"))

    def sample(self, sample_shape: Any = Size()) -> Tensor:
        shape = Size(sample_shape)
        rows = self.probs.reshape(-1, self._num_events)
        with no_grad():
            drawn = multinomial(rows, shape.numel(), True).T
            return drawn.reshape(self._extended_shape(shape))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_sample(value)
        index, logits = broadcast_tensors(value.long().unsqueeze(-1), self.logits)
        return logits.gather(-1, index[..., :1]).squeeze(-1)

    def entropy(self) -> Tensor:
        logits = self.logits.clamp(min=finfo(self.logits.dtype).min)
        return -(logits * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        return _expand_support(self, arange(self._num_events, device=self._param.device), expand)


class _CategoricalBased(Distribution):
    """A distribution of vectors that is based on a ``Categorical``."""

    arg_constraints: Any = {"probs": constraints.simplex, "logits": constraints.real_vector}

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: Any = None) -> None:
        self._categorical = Categorical(probs, logits)
        shape = self._categorical.param_shape
        super().__init__(shape[:-1], shape[-1:], validate_args=validate_args)

    def _copy_extra_state(self, new: Any, batch_shape: Size) -> None:
        new._categorical = self._categorical.expand(batch_shape)

    def _new(self, *args: Any, **kwargs: Any) -> Any:
        """``Tensor.new`` of the parameter."""
        return self._categorical._new(*args, **kwargs)

    @property
    def _param(self) -> Tensor:
        """The parameter that was passed: ``probs`` or ``logits``."""
        return self._categorical._param

    @property
    def probs(self) -> Tensor:
        """Probabilities."""
        return self._categorical.probs

    @property
    def logits(self) -> Tensor:
        """Log probabilities."""
        return self._categorical.logits

    @property
    def param_shape(self) -> Size:
        """The shape of the probabilities."""
        return self._categorical.param_shape


class OneHotCategorical(_CategoricalBased):
    """The distribution of one-hot vectors: a 1 at one of several categories, zeros elsewhere.

    Args:
        probs: As for ``Categorical``.
        logits: As for ``Categorical``.
        validate_args: Whether parameters and values are checked.

    Example:
        >>> tt.distributions.OneHotCategorical(tt.tensor([1.0, 3.0])).mode
        tensor([0., 1.])
    """

    support: Any = constraints.one_hot
    has_enumerate_support = True

    @property
    def mean(self) -> Tensor:
        return self.probs

    @property
    def mode(self) -> Tensor:
        return self._to_one_hot(self._categorical.mode)

    @property
    def variance(self) -> Tensor:
        return self.probs * (1 - self.probs)

    def _to_one_hot(self, index: Tensor) -> Tensor:
        n = self._event_shape[0]
        return (index.unsqueeze(-1) == arange(n, device=index.device)).to(self.probs.dtype)

    def sample(self, sample_shape: Any = Size()) -> Tensor:
        return self._to_one_hot(self._categorical.sample(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_sample(value)
        return self._categorical.log_prob(value.max(-1)[1])

    def entropy(self) -> Tensor:
        return self._categorical.entropy()

    def enumerate_support(self, expand: bool = True) -> Tensor:
        n = self.event_shape[0]
        values = eye(n, dtype=self.probs.dtype, device=self.probs.device)
        values = values.view((n, *(1 for _ in self.batch_shape), n))
        return values.expand((n, *self.batch_shape, n)) if expand else values


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """``OneHotCategorical`` whose samples have the gradients of the probabilities.

    Args:
        probs: As for ``Categorical``.
        logits: As for ``Categorical``.
        validate_args: Whether parameters and values are checked.

    Example:
        >>> weights = tt.ones(2, requires_grad=True)
        >>> tt.distributions.OneHotCategoricalStraightThrough(weights).rsample().requires_grad
        True
    """

    has_rsample = True

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        return self.sample(sample_shape) + (self.probs - self.probs.detach())


class Multinomial(_CategoricalBased):
    """The distribution of the count of each category in ``total_count`` draws.

    Args:
        total_count: The number of draws, an int. Default: 1.
        probs: As for ``Categorical``.
        logits: As for ``Categorical``.
        validate_args: Whether parameters and values are checked.

    Raises:
        NotImplementedError: If ``total_count`` is not an int.

    Example:
        >>> tt.distributions.Multinomial(8, tt.tensor([1.0, 3.0])).mean
        tensor([2., 6.])
    """

    def __init__(
        self, total_count: int = 1, probs: Any = None, logits: Any = None, validate_args: Any = None
    ) -> None:
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        self.total_count = total_count
        super().__init__(probs, logits, validate_args)

    def _copy_extra_state(self, new: Any, batch_shape: Size) -> None:
        super()._copy_extra_state(new, batch_shape)
        new.total_count = self.total_count

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self) -> Any:
        return constraints.multinomial(self.total_count)

    @property
    def mean(self) -> Tensor:
        return self.probs * self.total_count

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = Size()) -> Tensor:
        shape = Size(sample_shape)
        drawn = self._categorical.sample((self.total_count, *shape))
        drawn = drawn.permute((*range(1, drawn.dim()), 0))  # move the dimension of draws to the end
        counts = drawn.new_zeros(self._extended_shape(shape))
        counts.scatter_add_(-1, drawn, drawn.new_ones(drawn.shape))
        return counts.to(self.probs.dtype)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_sample(value)
        log_coefficient = (value.sum(-1) + 1).lgamma() - (value + 1).lgamma().sum(-1)
        logits = self.logits.where((value != 0) | (self.logits != -float("inf")), 0.0)
        return log_coefficient + (logits * value).sum(-1)

    @property
    def _binomial(self) -> Binomial:
        """Marginal distribution of the count of each category."""
        return Binomial(self.total_count, self.probs)

    def entropy(self) -> Tensor:
        n = tensor(float(self.total_count))
        binomial = self._binomial
        counts = binomial.enumerate_support(False)[1:]
        probabilities = binomial.log_prob(counts).exp()
        expected_log = (probabilities * (counts + 1).lgamma()).sum((0, -1))
        return self.total_count * self._categorical.entropy() - (n + 1).lgamma() + expected_log
