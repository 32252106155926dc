"""``Independent``, which counts batch dimensions as event dimensions."""

from __future__ import annotations

from typing import Any

from ..core.tensor import Size, Tensor
from . import constraints
from .distribution import Distribution
from .utils import _sum_rightmost

__all__ = ["Independent"]


class Independent(Distribution):
    """A distribution whose last batch dimensions count as event dimensions.

    Args:
        base_distribution: The distribution.
        reinterpreted_batch_ndims: The number of batch dimensions that count as event dimensions.
        validate_args: Whether parameters and values are checked.

    Raises:
        ValueError: If the distribution has fewer batch dimensions.

    Example:
        >>> from tinytorch.distributions import Independent, Normal
        >>> Independent(Normal(tt.zeros(2), 1.0), 1).log_prob(tt.zeros(2))
        tensor(-1.8379)
    """

    arg_constraints: dict[str, Any] = {}

    def __init__(
        self, base_distribution: Any, reinterpreted_batch_ndims: int, validate_args: Any = None
    ) -> None:
        batch = base_distribution.batch_shape
        if reinterpreted_batch_ndims > len(batch):
            raise ValueError(
                "Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), actual "
                f"{reinterpreted_batch_ndims} vs {len(batch)}"
            )
        shape = batch + base_distribution.event_shape
        start = len(batch) - reinterpreted_batch_ndims
        self.base_dist = base_distribution
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        super().__init__(shape[:start], shape[start:], validate_args=validate_args)

    def _copy_extra_state(self, new: Any, batch_shape: Size) -> None:
        inner = self._event_shape[: self.reinterpreted_batch_ndims]
        new.base_dist = self.base_dist.expand((*batch_shape, *inner))
        new.reinterpreted_batch_ndims = self.reinterpreted_batch_ndims

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        """Whether ``rsample`` draws differentiable samples."""
        found: bool = self.base_dist.has_rsample
        return found

    @property
    def has_enumerate_support(self) -> bool:  # type: ignore[override]
        """Whether ``enumerate_support`` lists all values."""
        return self.reinterpreted_batch_ndims == 0 and self.base_dist.has_enumerate_support

    @constraints.dependent_property()
    def support(self) -> Any:
        found = self.base_dist.support
        n = self.reinterpreted_batch_ndims
        return constraints.independent(found, n) if n else found

    @property
    def mean(self) -> Tensor:
        found: Tensor = self.base_dist.mean
        return found

    @property
    def mode(self) -> Tensor:
        found: Tensor = self.base_dist.mode
        return found

    @property
    def variance(self) -> Tensor:
        found: Tensor = self.base_dist.variance
        return found

    def sample(self, sample_shape: Any = Size()) -> Tensor:
        found: Tensor = self.base_dist.sample(sample_shape)
        return found

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        found: Tensor = self.base_dist.rsample(sample_shape)
        return found

    def log_prob(self, value: Tensor) -> Tensor:
        return _sum_rightmost(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def entropy(self) -> Tensor:
        return _sum_rightmost(self.base_dist.entropy(), self.reinterpreted_batch_ndims)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        if self.reinterpreted_batch_ndims > 0:
            raise NotImplementedError("Enumeration over cartesian product is not implemented")
        found: Tensor = self.base_dist.enumerate_support(expand)
        return found

    def __repr__(self) -> str:
        return f"Independent({self.base_dist}, {self.reinterpreted_batch_ndims})"
