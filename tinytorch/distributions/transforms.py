"""Invertible functions whose Jacobians have known determinants."""

from __future__ import annotations

import math
from typing import Any

from ..core.tensor import Size, Tensor
from ..dtypes import finfo
from ..ops.nn.rectifiers import logsigmoid, softplus
from ..ops.shape.strides import broadcast_shapes
from . import constraints
from ._joined_transforms import CatTransform as CatTransform
from ._joined_transforms import StackTransform as StackTransform
from ._shaping_transforms import IndependentTransform as IndependentTransform
from ._shaping_transforms import ReshapeTransform as ReshapeTransform
from ._transform import ComposeTransform as ComposeTransform
from ._transform import Transform as Transform
from ._transform import _InverseTransform as _InverseTransform
from ._transform import _ParameterlessTransform
from ._transform import identity_transform as identity_transform
from ._vector_transforms import CorrCholeskyTransform as CorrCholeskyTransform
from ._vector_transforms import LowerCholeskyTransform as LowerCholeskyTransform
from ._vector_transforms import PositiveDefiniteTransform as PositiveDefiniteTransform
from ._vector_transforms import SoftmaxTransform as SoftmaxTransform
from ._vector_transforms import StickBreakingTransform as StickBreakingTransform
from .utils import _sum_rightmost, broadcast_all
from .utils import clipped_sigmoid as _clipped_sigmoid

__all__ = [
    "AbsTransform", "AffineTransform", "CatTransform", "ComposeTransform",
    "CorrCholeskyTransform", "CumulativeDistributionTransform", "ExpTransform",
    "IndependentTransform", "LowerCholeskyTransform", "PositiveDefiniteTransform",
    "PowerTransform", "ReshapeTransform", "SigmoidTransform", "SoftmaxTransform",
    "SoftplusTransform", "StackTransform", "StickBreakingTransform", "TanhTransform", "Transform",
    "identity_transform",
]  # fmt: skip


class ExpTransform(_ParameterlessTransform):
    """``y = exp(x)``.

    Example:
        >>> from tinytorch.distributions import transforms
        >>> transforms.ExpTransform()(tt.zeros(2))
        tensor([1., 1.])
    """

    domain = constraints.real
    codomain = constraints.positive
    bijective = True
    sign = 1

    def _call(self, x: Tensor) -> Tensor:
        return x.exp()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return x


class PowerTransform(Transform):
    """``y = x ** exponent``, of positive numbers.

    Args:
        exponent: The exponent, a tensor or number.
        cache_size: As for ``Transform``.

    Example:
        >>> from tinytorch.distributions import transforms
        >>> transforms.PowerTransform(2.0)(tt.tensor([1.0, 3.0]))
        tensor([1., 9.])
    """

    exponent: Tensor

    domain = constraints.positive
    codomain = constraints.positive
    bijective = True

    def __init__(self, exponent: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        (self.exponent,) = broadcast_all(exponent)

    def _copy_with_cache(self, cache_size: int) -> Any:
        return PowerTransform(self.exponent, cache_size)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PowerTransform) and _is_equal(self.exponent, other.exponent)

    __hash__ = Transform.__hash__

    @property
    def sign(self) -> Any:
        return self.exponent.sign()

    def _call(self, x: Tensor) -> Tensor:
        return x.pow(self.exponent)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.pow(1 / self.exponent)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return (self.exponent * y / x).abs().log()

    def forward_shape(self, shape: Any) -> Size:
        return _broadcast(shape, self.exponent)

    inverse_shape = forward_shape


def _is_equal(one: Any, other: Any) -> bool:
    """Whether all elements of two numbers or tensors are equal."""
    same = one == other
    return bool(same.all()) if isinstance(same, Tensor) else bool(same)


def _broadcast(shape: Any, *parameters: Any) -> Size:
    """The shape of an argument broadcast with the parameters that are tensors."""
    return broadcast_shapes(Size(shape), *(p.shape for p in parameters if isinstance(p, Tensor)))


class SigmoidTransform(_ParameterlessTransform):
    """``y = 1 / (1 + exp(-x))``.

    Example:
        >>> from tinytorch.distributions import transforms
        >>> transforms.SigmoidTransform()(tt.zeros(1))
        tensor([0.5000])
    """

    domain = constraints.real
    codomain = constraints.unit_interval
    bijective = True
    sign = 1

    def _call(self, x: Tensor) -> Tensor:
        return _clipped_sigmoid(x)

    def _inverse(self, y: Tensor) -> Tensor:
        limits = finfo(y.dtype)
        y = y.clamp(min=limits.tiny, max=1.0 - limits.eps)
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return logsigmoid(-x) + logsigmoid(x)


class SoftplusTransform(_ParameterlessTransform):
    """``y = log(1 + exp(x))``, and ``x`` itself above 20.

    Example:
        >>> from tinytorch.distributions import transforms
        >>> transforms.SoftplusTransform()(tt.tensor([0.0, 30.0]))
        tensor([ 0.6931, 30.0000])
    """

    domain = constraints.real
    codomain = constraints.positive
    bijective = True
    sign = 1

    def _call(self, x: Tensor) -> Tensor:
        return softplus(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return (-y).expm1().neg().log() + y

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -softplus(-x)


class TanhTransform(_ParameterlessTransform):
    """``y = tanh(x)``.

    Example:
        >>> from tinytorch.distributions import transforms
        >>> transforms.TanhTransform()(tt.tensor([0.0, 1.0]))
        tensor([0.0000, 0.7616])
    """

    domain = constraints.real
    codomain: Any = constraints.interval(-1.0, 1.0)
    bijective = True
    sign = 1

    def _call(self, x: Tensor) -> Tensor:
        return x.tanh()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.atanh()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return 2.0 * (math.log(2.0) - x - softplus(-2.0 * x))


class AbsTransform(_ParameterlessTransform):
    """``y = |x|``, whose inverse returns the nonnegative solution.

    Example:
        >>> from tinytorch.distributions import transforms
        >>> transforms.AbsTransform()(tt.tensor([-2.0, 1.0]))
        tensor([2., 1.])
    """

    domain = constraints.real
    codomain = constraints.positive

    def _call(self, x: Tensor) -> Tensor:
        return x.abs()

    def _inverse(self, y: Tensor) -> Tensor:
        return y


class AffineTransform(Transform):
    """``y = loc + scale * x``.

    Args:
        loc: The summand, a tensor or number.
        scale: The factor, a tensor or number.
        event_dim: The number of dimensions of one value. Default: 0.
        cache_size: As for ``Transform``.

    Example:
        >>> tt.distributions.AffineTransform(1.0, 2.0)(tt.ones(1))
        tensor([3.])
    """

    loc: Any
    scale: Any

    bijective = True

    def __init__(self, loc: Any, scale: Any, event_dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.loc, self.scale, self._event_dim = loc, scale, event_dim

    def _copy_with_cache(self, cache_size: int) -> Any:
        return AffineTransform(self.loc, self.scale, self._event_dim, cache_size)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, AffineTransform)
            and _is_equal(self.loc, other.loc)
            and _is_equal(self.scale, other.scale)
        )

    __hash__ = Transform.__hash__

    @property
    def event_dim(self) -> int:
        return self._event_dim

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Any:
        if self._event_dim == 0:
            return constraints.real
        return constraints.independent(constraints.real, self._event_dim)

    @constraints.dependent_property(is_discrete=False)
    def codomain(self) -> Any:
        """The constraint of results, which is that of arguments."""
        return self.domain

    @property
    def sign(self) -> Any:
        if isinstance(self.scale, Tensor):
            return self.scale.sign()
        return 1 if self.scale > 0 else -1 if self.scale < 0 else 0

    def _call(self, x: Tensor) -> Tensor:
        found: Tensor = self.loc + self.scale * x
        return found

    def _inverse(self, y: Tensor) -> Tensor:
        found: Tensor = (y - self.loc) / self.scale
        return found

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        if isinstance(self.scale, Tensor):
            change = self.scale.abs().log()
        else:
            change = x.new_full((), math.log(abs(self.scale)))
        change = change.expand(x.shape)
        return _sum_rightmost(change, self._event_dim)

    def forward_shape(self, shape: Any) -> Size:
        return _broadcast(shape, self.loc, self.scale)

    inverse_shape = forward_shape


class CumulativeDistributionTransform(Transform):
    """``y = cdf(x)``, which maps samples of a distribution to uniform ones.

    Args:
        distribution: A distribution with ``cdf``, ``icdf`` and ``log_prob``.
        cache_size: As for ``Transform``.

    Example:
        >>> from tinytorch.distributions import CumulativeDistributionTransform, Normal
        >>> CumulativeDistributionTransform(Normal(0.0, 1.0))(tt.zeros(1))
        tensor([0.5000])
    """

    codomain = constraints.unit_interval
    bijective = True
    sign = 1

    def __init__(self, distribution: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.distribution = distribution

    def _copy_with_cache(self, cache_size: int) -> Any:
        return CumulativeDistributionTransform(self.distribution, cache_size)

    @property
    def domain(self) -> Any:
        return self.distribution.support

    def _call(self, x: Tensor) -> Tensor:
        found: Tensor = self.distribution.cdf(x)
        return found

    def _inverse(self, y: Tensor) -> Tensor:
        found: Tensor = self.distribution.icdf(y)
        return found

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        found: Tensor = self.distribution.log_prob(x)
        return found
