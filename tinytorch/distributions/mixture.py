"""Mixtures of distributions."""

from __future__ import annotations

from typing import Any

from ..core.tensor import Size, Tensor
from ..state import no_grad
from . import constraints
from .categorical import Categorical
from .distribution import Distribution

__all__ = ["MixtureSameFamily"]


class MixtureSameFamily(Distribution):
    """A mixture of distributions of one class.

    Args:
        mixture_distribution: The ``Categorical`` distribution over the components.
        component_distribution: The components, along the last dimension of the batch.
        validate_args: Whether parameters and values are checked.

    Raises:
        ValueError: If an argument is of another class, or if their batch shapes do not fit.
        IndexError: If the components have no batch dimension.

    Example:
        >>> from tinytorch.distributions import Categorical, MixtureSameFamily, Normal
        >>> parts = Normal(tt.tensor([-1.0, 1.0]), 0.5)
        >>> MixtureSameFamily(Categorical(tt.ones(2)), parts).mean
        tensor(0.)
    """

    arg_constraints: dict[str, Any] = {}

    def __init__(
        self, mixture_distribution: Any, component_distribution: Any, validate_args: Any = None
    ) -> None:
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError(
                " The Mixture distribution needs to be an  instance of "
                "torch.distributions.Categorical"
            )
        if not isinstance(component_distribution, Distribution):
            raise ValueError(
                "The Component distribution needs to be an instance of "
                "torch.distributions.Distribution"
            )
        inner = component_distribution.batch_shape
        _check_batches(mixture_distribution, inner)
        self._mixture_distribution = mixture_distribution
        self._component_distribution = component_distribution
        super().__init__(
            inner[:-1], component_distribution.event_shape, validate_args=validate_args
        )

    def _copy_extra_state(self, new: Any, batch_shape: Size) -> None:
        components, mixture = self._component_distribution, self._mixture_distribution
        new._component_distribution = components.expand((*batch_shape, components.batch_shape[-1]))
        new._mixture_distribution = mixture.expand(batch_shape)

    @constraints.dependent_property()
    def support(self) -> Any:
        return constraints.MixtureSameFamilyConstraint(self._component_distribution.support)

    @property
    def mixture_distribution(self) -> Categorical:
        """The ``Categorical`` distribution over the components."""
        return self._mixture_distribution

    @property
    def component_distribution(self) -> Any:
        """The distributions of the components."""
        return self._component_distribution

    @property
    def _event_ndims(self) -> int:
        """Number of dimensions of a sample."""
        return len(self._event_shape)

    @property
    def _num_component(self) -> int:
        """Number of components."""
        return self._mixture_distribution.probs.shape[-1]

    def _mixture_sum(self, values: Tensor) -> Tensor:
        """The sum over the components of probability times value."""
        dim = -1 - len(self._event_shape)
        return (self._pad_mixture_dimensions(self._mixture_distribution.probs) * values).sum(dim)

    def _pad_mixture_dimensions(self, x: Tensor) -> Tensor:
        """``x`` with a dimension of size 1 at the end for each event dimension."""
        return x.reshape((*x.shape, *(1 for _ in self._event_shape)))

    @property
    def mean(self) -> Tensor:
        return self._mixture_sum(self._component_distribution.mean)

    @property
    def variance(self) -> Tensor:
        parts, at = self._component_distribution, -1 - len(self._event_shape)
        away = parts.mean - self.mean.unsqueeze(at)
        return self._mixture_sum(parts.variance) + self._mixture_sum(away.pow(2.0))

    def cdf(self, x: Tensor) -> Tensor:
        found = self._component_distribution.cdf(self._pad(x))
        return (found * self._mixture_distribution.probs).sum(-1)

    def log_prob(self, x: Tensor) -> Tensor:
        self._check_sample(x)
        log_probs = self._component_distribution.log_prob(self._pad(x))
        weights = self._mixture_distribution.logits.log_softmax(-1)
        found: Tensor = (log_probs + weights).logsumexp(-1)
        return found

    def _pad(self, x: Tensor) -> Tensor:
        """``x`` with a dimension of size 1 for the components before its event dimensions."""
        return x.unsqueeze(-1 - len(self._event_shape))

    def sample(self, sample_shape: Any = Size()) -> Tensor:
        with no_grad():
            dim = len(sample_shape) + len(self.batch_shape)
            chosen = self._mixture_distribution.sample(sample_shape)
            samples = self._component_distribution.sample(sample_shape)
            chosen = chosen.reshape((*chosen.shape, 1, *(1 for _ in self._event_shape)))
            index = chosen.expand((*chosen.shape[: dim + 1], *self._event_shape))
            result: Tensor = samples.gather(dim, index).squeeze(dim)
            return result

    def __repr__(self) -> str:
        return (
            f"MixtureSameFamily(\n  {self._mixture_distribution},\n  "
            f"{self._component_distribution})"
        )


def _check_batches(mixture: Categorical, component_shape: Size) -> None:
    """Check that the batch shapes of a mixture's two distributions fit.

    Args:
        mixture: The distribution over the components.
        component_shape: Batch shape of the components, whose last dimension numbers them.
    """
    for size1, size2 in zip(
        reversed(mixture.batch_shape), reversed(component_shape[:-1]), strict=False
    ):
        if 1 not in (size1, size2) and size1 != size2:
            raise ValueError(
                f"`mixture_distribution.batch_shape` ({mixture.batch_shape}) is not compatible "
                f"with `component_distribution.batch_shape`({component_shape[:-1]})"
            )
    if mixture.logits.shape[-1] != component_shape[-1]:
        raise ValueError(
            f"`mixture_distribution component` ({mixture.logits.shape[-1]}) does not equal "
            f"`component_distribution.batch_shape[-1]` ({component_shape[-1]})"
        )
