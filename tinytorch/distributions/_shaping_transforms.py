"""Transforms that reinterpret batch dimensions as event dimensions, or reshape events."""

from __future__ import annotations

from typing import Any

from ..core.tensor import Size, Tensor
from . import constraints
from ._transform import Transform, check_dims
from .utils import _sum_rightmost

__all__ = ["IndependentTransform", "ReshapeTransform"]


class IndependentTransform(Transform):
    """A transform whose last batch dimensions count as event dimensions.

    Args:
        base_transform: The transform.
        reinterpreted_batch_ndims: The number of batch dimensions that count as event dimensions.
        cache_size: As for ``Transform``.

    Example:
        >>> from tinytorch.distributions import transforms
        >>> each = transforms.ExpTransform()
        >>> x = tt.ones(2, 3)
        >>> transforms.IndependentTransform(each, 1).log_abs_det_jacobian(x, each(x))
        tensor([3., 3.])
    """

    def __init__(
        self, base_transform: Any, reinterpreted_batch_ndims: int, cache_size: int = 0
    ) -> None:
        super().__init__(cache_size=cache_size)
        self.base_transform: Any = base_transform.with_cache(cache_size)
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    def _copy_with_cache(self, cache_size: int) -> Any:
        n = self.reinterpreted_batch_ndims
        return IndependentTransform(self.base_transform, n, cache_size)

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Any:
        inner = self.base_transform.domain
        return constraints.independent(inner, self.reinterpreted_batch_ndims)

    @constraints.dependent_property(is_discrete=False)
    def codomain(self) -> Any:
        inner = self.base_transform.codomain
        return constraints.independent(inner, self.reinterpreted_batch_ndims)

    @property
    def bijective(self) -> Any:
        return self.base_transform.bijective

    @property
    def sign(self) -> Any:
        return self.base_transform.sign

    def _call(self, x: Tensor) -> Tensor:
        check_dims(x.shape, self.domain.event_dim)
        found: Tensor = self.base_transform(x)
        return found

    def _inverse(self, y: Tensor) -> Tensor:
        check_dims(y.shape, self.codomain.event_dim)
        found: Tensor = self.base_transform.inv(y)
        return found

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        change = self.base_transform.log_abs_det_jacobian(x, y)
        return _sum_rightmost(change, self.reinterpreted_batch_ndims)

    def forward_shape(self, shape: Any) -> Size:
        found: Size = self.base_transform.forward_shape(shape)
        return found

    def inverse_shape(self, shape: Any) -> Size:
        found: Size = self.base_transform.inverse_shape(shape)
        return found

    def __repr__(self) -> str:
        return f"IndependentTransform({self.base_transform!r}, {self.reinterpreted_batch_ndims})"


class ReshapeTransform(Transform):
    """Reshape each value.

    Args:
        in_shape: The shape of arguments.
        out_shape: The shape of results.
        cache_size: As for ``Transform``.

    Example:
        >>> from tinytorch.distributions import transforms
        >>> transforms.ReshapeTransform((4,), (2, 2))(tt.zeros(3, 4)).shape
        tinytorch.Size([3, 2, 2])
    """

    in_shape: Size
    out_shape: Size

    bijective = True

    def __init__(self, in_shape: Any, out_shape: Any, cache_size: int = 0) -> None:
        self.in_shape, self.out_shape = Size(in_shape), Size(out_shape)
        if self.in_shape.numel() != self.out_shape.numel():
            raise ValueError("in_shape, out_shape have different numbers of elements")
        super().__init__(cache_size=cache_size)

    def _copy_with_cache(self, cache_size: int) -> Any:
        return ReshapeTransform(self.in_shape, self.out_shape, cache_size)

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Any:
        return constraints.independent(constraints.real, len(self.in_shape))

    @constraints.dependent_property(is_discrete=False)
    def codomain(self) -> Any:
        return constraints.independent(constraints.real, len(self.out_shape))

    def _call(self, x: Tensor) -> Tensor:
        return x.reshape((*x.shape[: x.dim() - len(self.in_shape)], *self.out_shape))

    def _inverse(self, y: Tensor) -> Tensor:
        return y.reshape((*y.shape[: y.dim() - len(self.out_shape)], *self.in_shape))

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return x.new_zeros(x.shape[: x.dim() - len(self.in_shape)])

    def forward_shape(self, shape: Any) -> Size:
        return _reshape_event(Size(shape), self.in_shape, self.out_shape)

    def inverse_shape(self, shape: Any) -> Size:
        return _reshape_event(Size(shape), self.out_shape, self.in_shape)


def _reshape_event(shape: Size, old: Size, new: Size) -> Size:
    """Return ``shape`` with its last dimensions, which must be ``old``, replaced by ``new``."""
    check_dims(shape, len(old))
    cut = len(shape) - len(old)
    if shape[cut:] != old:
        raise ValueError(f"Shape mismatch: expected {old} but got {shape[cut:]}")
    return shape[:cut] + new
