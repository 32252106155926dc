"""Transforms whose parts each move a part of a tensor."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..core.tensor import Tensor
from ..ops.shape.joining import cat as joined
from ..ops.shape.joining import stack as stacked
from . import constraints
from ._constraint import check_dim, lengths_of, parts_of, stretches
from ._transform import Transform
from .utils import _sum_rightmost

__all__ = ["CatTransform", "StackTransform"]


class _Joined(Transform):
    """Several transforms, side by side."""

    def __init__(self, tseq: Iterable[Any], dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        parts = parts_of(tseq, Transform, "tseq")
        self.transforms: list[Any] = (
            [t.with_cache(cache_size) for t in parts] if cache_size else parts
        )
        self.dim = dim

    @property
    def bijective(self) -> Any:
        return all(t.bijective for t in self.transforms)

    def _parts(self, value: Tensor, name: str) -> list[Tensor]:
        raise NotImplementedError

    def _check_length(self, value: Tensor, name: str, length: int, what: str) -> None:
        check_dim(self.dim, value, "tensor")
        if value.shape[self.dim] != length:
            raise AssertionError(
                f"{name}.size({self.dim}) = {value.shape[self.dim]} must equal {what} {length}"
            )

    def _moved(self, x: Tensor) -> list[Tensor]:
        return [t(part) for t, part in zip(self.transforms, self._parts(x, "x"), strict=True)]

    def _moved_back(self, y: Tensor) -> list[Tensor]:
        return [t.inv(part) for t, part in zip(self.transforms, self._parts(y, "y"), strict=True)]

    def _changes(self, x: Tensor, y: Tensor) -> list[Tensor]:
        parts = zip(self.transforms, self._parts(x, "x"), self._parts(y, "y"), strict=True)
        return [t.log_abs_det_jacobian(before, after) for t, before, after in parts]


class CatTransform(_Joined):
    """Transforms of the stretches of a dimension, whose results are joined as by ``cat``.

    Args:
        tseq: The transforms.
        dim: The dimension.
        lengths: How long the stretches are. Default: 1 each.
        cache_size: As for ``Transform``.

    Raises:
        AssertionError: For what is no transform, lengths of another number, or an argument
            whose dimension has another length.

    Example:
        >>> import tinytorch as tt
        >>> from tinytorch.distributions import transforms
        >>> parts = [transforms.ExpTransform(), transforms.identity_transform]
        >>> transforms.CatTransform(parts, lengths=[1, 2])(tt.zeros(3))
        tensor([1., 0., 0.])
    """

    def __init__(
        self, tseq: Iterable[Any], dim: int = 0, lengths: Any = None, cache_size: int = 0
    ) -> None:
        super().__init__(tseq, dim, cache_size)
        self.lengths: list[int] = lengths_of(self.transforms, lengths, "transforms")

    @property
    def length(self) -> int:
        """The length of all stretches together."""
        return sum(self.lengths)

    @property
    def event_dim(self) -> int:
        found: int = max(t.event_dim for t in self.transforms)
        return found

    def _anew(self, cache_size: int) -> Any:
        return CatTransform(self.transforms, self.dim, self.lengths, cache_size)

    def _parts(self, value: Tensor, name: str) -> list[Tensor]:
        self._check_length(value, name, self.length, "length")
        return stretches(value, self.lengths, self.dim)

    def _call(self, x: Tensor) -> Tensor:
        return joined(self._moved(x), self.dim)

    def _inverse(self, y: Tensor) -> Tensor:
        return joined(self._moved_back(y), self.dim)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        changes = [
            _sum_rightmost(change, self.event_dim - t.event_dim)
            for t, change in zip(self.transforms, self._changes(x, y), strict=True)
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


class StackTransform(_Joined):
    """Transforms of the slices of a dimension, whose results are joined as by ``stack``.

    Args:
        tseq: The transforms, as many as there are slices.
        dim: The dimension.
        cache_size: As for ``Transform``.

    Raises:
        AssertionError: For what is no transform, or an argument with another number of slices.

    Example:
        >>> import tinytorch as tt
        >>> from tinytorch.distributions import transforms
        >>> parts = [transforms.ExpTransform(), transforms.identity_transform]
        >>> transforms.StackTransform(parts, dim=1)(tt.zeros(2, 2))
        tensor([[1., 0.],
                [1., 0.]])
    """

    def _anew(self, cache_size: int) -> Any:
        return StackTransform(self.transforms, self.dim, cache_size)

    def _parts(self, value: Tensor, name: str) -> list[Tensor]:
        self._check_length(value, name, len(self.transforms), "len(transforms)")
        return self._slice(value)

    def _slice(self, z: Tensor) -> list[Tensor]:
        """Slices of ``z``, one for each transform."""
        return list(z.unbind(self.dim))

    def _call(self, x: Tensor) -> Tensor:
        return stacked(self._moved(x), self.dim)

    def _inverse(self, y: Tensor) -> Tensor:
        return stacked(self._moved_back(y), self.dim)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return stacked(self._changes(x, y), self.dim)

    @constraints.dependent_property()
    def domain(self) -> Any:
        return constraints.stack([t.domain for t in self.transforms], self.dim)

    @constraints.dependent_property()
    def codomain(self) -> Any:
        return constraints.stack([t.codomain for t in self.transforms], self.dim)
