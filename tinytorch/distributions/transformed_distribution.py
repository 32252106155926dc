"""``TransformedDistribution``, the distribution of a transformed random variable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.tensor import Size, Tensor
from ..state import no_grad
from . import constraints
from .distribution import Distribution
from .independent import Independent
from .transforms import ComposeTransform, Transform
from .utils import _sum_rightmost

__all__ = ["TransformedDistribution"]


class TransformedDistribution(Distribution):
    """The distribution of another distribution's values after one or several transforms.

    Args:
        base_distribution: The distribution whose values are transformed.
        transforms: A ``Transform``, or several, applied one after the other.
        validate_args: Whether parameters and values are checked.

    Raises:
        ValueError: If an element is not a ``Transform``, or its event dimensions do not fit the
            distribution's.

    Example:
        >>> from tinytorch.distributions import Normal, TransformedDistribution
        >>> from tinytorch.distributions.transforms import ExpTransform
        >>> distribution = TransformedDistribution(Normal(0.0, 1.0), [ExpTransform()])
        >>> distribution.log_prob(tt.tensor(1.0))
        tensor(-0.9189)
    """

    arg_constraints: Any = {}
    base_dist: Any

    def __init__(
        self, base_distribution: Any, transforms: Transform | Sequence[Transform],
        validate_args: Any = None,
    ) -> None:  # fmt: skip
        self.transforms: list[Transform] | Sequence[Transform] = (
            [transforms] if isinstance(transforms, Transform) else transforms
        )
        if not isinstance(self.transforms, list) or not all(
            isinstance(t, Transform) for t in self.transforms
        ):
            raise ValueError(
                "transforms must be a Transform or a list of Transforms"
                if isinstance(transforms, list)
                else f"transforms must be a Transform or list, but was {transforms}"
            )
        composed = ComposeTransform(self.transforms)
        base_shape = base_distribution.batch_shape + base_distribution.event_shape
        base_event_dim = len(base_distribution.event_shape)
        if len(base_shape) < composed.domain.event_dim:
            raise ValueError(
                "base_distribution needs to have shape with size at least "
                f"{composed.domain.event_dim}, but got {base_shape}."
            )
        shape = composed.forward_shape(base_shape)
        expanded = composed.inverse_shape(shape)
        if base_shape != expanded:
            base_distribution = base_distribution.expand(expanded[: len(expanded) - base_event_dim])
        lacking = composed.domain.event_dim - base_event_dim
        if lacking > 0:
            base_distribution = Independent(base_distribution, lacking)
        self.base_dist = base_distribution
        dims = max(
            composed.codomain.event_dim + max(base_event_dim - composed.domain.event_dim, 0), 0
        )
        cut = len(shape) - dims
        super().__init__(shape[:cut], shape[cut:], validate_args=validate_args)

    def _copy_extra_state(self, new: Any, batch_shape: Size) -> None:
        composed = ComposeTransform(self.transforms)
        shape = composed.inverse_shape(Size((*batch_shape, *self.event_shape)))
        base_event_dim = len(self.base_dist.event_shape)
        new.transforms = self.transforms
        new.base_dist = self.base_dist.expand(shape[: len(shape) - base_event_dim])

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        """Whether ``rsample`` draws differentiable samples."""
        found: bool = self.base_dist.has_rsample
        return found

    @constraints.dependent_property(is_discrete=False)
    def support(self) -> Any:
        if not self.transforms:
            return self.base_dist.support
        found = self.transforms[-1].codomain
        lacking = len(self.event_shape) - found.event_dim
        return constraints.independent(found, lacking) if lacking > 0 else found

    def sample(self, sample_shape: Any = Size()) -> Tensor:
        with no_grad():
            return self._apply(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        return self._apply(self.base_dist.rsample(sample_shape))

    def _apply(self, x: Tensor) -> Tensor:
        """Apply all transforms to a sample of the base distribution."""
        for transform in self.transforms:
            x = transform(x)
        return x

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_sample(value)
        dims = len(self.event_shape)
        total: Any = 0.0
        y = value
        for transform in reversed(self.transforms):
            x = transform.inv(y)
            dims += transform.domain.event_dim - transform.codomain.event_dim
            change = transform.log_abs_det_jacobian(x, y)
            total = total - _sum_rightmost(change, dims - transform.domain.event_dim)
            y = x
        base_log_prob = _sum_rightmost(
            self.base_dist.log_prob(y), dims - len(self.base_dist.event_shape)
        )
        found: Tensor = total + base_log_prob
        return found

    def _monotonize_cdf(self, value: Tensor) -> Tensor:
        """Return the probability ``value``, or ``1 - value`` where the transforms decrease."""
        sign: Any = 1
        for transform in self.transforms:
            sign = sign * transform.sign
        if isinstance(sign, int) and sign == 1:
            return value
        probability: Tensor = sign * (value - 0.5) + 0.5
        return probability

    def cdf(self, value: Tensor) -> Tensor:
        for transform in self.transforms[::-1]:
            value = transform.inv(value)
        if self._validate_args:
            self.base_dist._validate_sample(value)
        found: Tensor = self._monotonize_cdf(self.base_dist.cdf(value))
        return found

    def icdf(self, value: Tensor) -> Tensor:
        return self._apply(self.base_dist.icdf(self._monotonize_cdf(value)))
