"""Transforms that apply a transform to each of several parts of a tensor."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..core.tensor import Tensor
from ..ops.shape.joining import cat as joined
from ..ops.shape.joining import stack as stacked
from . import constraints
from ._constraint import check_dim, check_lengths, check_parts, split_lengths
from ._transform import Transform
from .utils import _sum_rightmost

__all__ = ["CatTransform", "StackTransform"]


class _PartsTransform(Transform):
    """Base of transforms that apply a transform to each part of a tensor."""

    def __init__(self, tseq: Iterable[Any], dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        parts = check_parts(tseq, Transform, "tseq")
        self.transforms: list[Any] = (
            [t.with_cache(cache_size) for t in parts] if cache_size else parts
        )
        self.dim = dim

    @property
    def bijective(self) -> Any:
        return all(t.bijective for t in self.transforms)

    def _parts(self, value: Tensor, name: str) -> list[Tensor]:
        """Split ``value``, called ``name`` in errors, into one part for each transform."""
        raise NotImplementedError

    def _check_length(self, value: Tensor, name: str, length: int, length_name: str) -> None:
        """Check the size of the dimension ``self.dim`` of a tensor.

        Args:
            value: The tensor.
            name: Its name for the error.
            length: The expected size.
            length_name: Name of the expected size for the error.
        """
        check_dim(self.dim, value, "tensor")
        if value.shape[self.dim] != length:
            raise AssertionError(
                f"{name}.size({self.dim}) = {value.shape[self.dim]} must equal {length_name} "
                f"{length}"
            )

    def _apply(self, x: Tensor) -> list[Tensor]:
        """Apply each transform to its part of ``x``."""
        return [t(part) for t, part in zip(self.transforms, self._parts(x, "x"), strict=True)]

    def _apply_inverse(self, y: Tensor) -> list[Tensor]:
        """Apply the inverse of each transform to its part of ``y``."""
        return [t.inv(part) for t, part in zip(self.transforms, self._parts(y, "y"), strict=True)]

    def _log_abs_dets(self, x: Tensor, y: Tensor) -> list[Tensor]:
        """Log determinants of the transforms' Jacobians, for the parts of ``x`` and ``y``."""
        parts = zip(self.transforms, self._parts(x, "x"), self._parts(y, "y"), strict=True)
        return [t.log_abs_det_jacobian(before, after) for t, before, after in parts]


class CatTransform(_PartsTransform):
    """Transforms of consecutive pieces of a dimension, whose results are joined by ``cat``.

    Args:
        tseq: The transforms.
        dim: The dimension.
        lengths: The lengths of the pieces. Default: 1 each.
        cache_size: As for ``Transform``.

    Raises:
        AssertionError: If an element is not a transform, if there are not as many lengths as
            transforms, or if the argument's dimension has another length than their sum.

    Example:
        >>> from tinytorch.distributions import transforms
        >>> parts = [transforms.ExpTransform(), transforms.identity_transform]
        >>> transforms.CatTransform(parts, lengths=[1, 2])(tt.zeros(3))
        tensor([1., 0., 0.])
    """

    def __init__(
        self, tseq: Iterable[Any], dim: int = 0, lengths: Any = None, cache_size: int = 0
    ) -> None:
        super().__init__(tseq, dim, cache_size)
        self.lengths: list[int] = check_lengths(self.transforms, lengths, "transforms")

    @property
    def length(self) -> int:
        """The sum of the lengths of the pieces."""
        return sum(self.lengths)

    @property
    def event_dim(self) -> int:
        found: int = max(t.event_dim for t in self.transforms)
        return found

    def _copy_with_cache(self, cache_size: int) -> Any:
        return CatTransform(self.transforms, self.dim, self.lengths, cache_size)

    def _parts(self, value: Tensor, name: str) -> list[Tensor]:
        self._check_length(value, name, self.length, "length")
        return split_lengths(value, self.lengths, self.dim)

    def _call(self, x: Tensor) -> Tensor:
        return joined(self._apply(x), self.dim)

    def _inverse(self, y: Tensor) -> Tensor:
        return joined(self._apply_inverse(y), self.dim)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        changes = [
            _sum_rightmost(change, self.event_dim - t.event_dim)
            for t, change in zip(self.transforms, self._log_abs_dets(x, y), strict=True)
        ]
        from_the_end = self.dim - x.dim() if self.dim >= 0 else self.dim
        dim = from_the_end + self.event_dim
        if dim < 0:
            return joined(changes, dim)
        total = changes[0]
        for change in changes[1:]:
            total = total + change
        return total

    @constraints.dependent_property()
    def domain(self) -> Any:
        return constraints.cat([t.domain for t in self.transforms], self.dim, self.lengths)

    @constraints.dependent_property()
    def codomain(self) -> Any:
        return constraints.cat([t.codomain for t in self.transforms], self.dim, self.lengths)


class StackTransform(_PartsTransform):
    """Transforms of the slices of a dimension, whose results are joined by ``stack``.

    Args:
        tseq: The transforms, as many as there are slices.
        dim: The dimension.
        cache_size: As for ``Transform``.

    Raises:
        AssertionError: If an element is not a transform, or if the argument has another number of
            slices.

    Example:
        >>> from tinytorch.distributions import transforms
        >>> parts = [transforms.ExpTransform(), transforms.identity_transform]
        >>> transforms.StackTransform(parts, dim=1)(tt.zeros(2, 2))
        tensor([[1., 0.],
                [1., 0.]])
    """

    def _copy_with_cache(self, cache_size: int) -> Any:
        return StackTransform(self.transforms, self.dim, cache_size)

    def _parts(self, value: Tensor, name: str) -> list[Tensor]:
        self._check_length(value, name, len(self.transforms), "len(transforms)")
        return self._slice(value)

    def _slice(self, z: Tensor) -> list[Tensor]:
        """Slices of ``z``, one for each transform."""
        return list(z.unbind(self.dim))

    def _call(self, x: Tensor) -> Tensor:
        return stacked(self._apply(x), self.dim)

    def _inverse(self, y: Tensor) -> Tensor:
        return stacked(self._apply_inverse(y), self.dim)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return stacked(self._log_abs_dets(x, y), self.dim)

    @constraints.dependent_property()
    def domain(self) -> Any:
        return constraints.stack([t.domain for t in self.transforms], self.dim)

    @constraints.dependent_property()
    def codomain(self) -> Any:
        return constraints.stack([t.codomain for t in self.transforms], self.dim)
