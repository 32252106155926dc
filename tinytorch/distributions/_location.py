"""Base classes of distributions with a location parameter."""

from __future__ import annotations

from typing import Any

from ..core.tensor import Size, Tensor
from . import constraints
from .distribution import Distribution
from .utils import broadcast_all, is_number

__all__: list[str] = []


class _WithLocation(Distribution):
    """A distribution whose mode is its location."""

    loc: Tensor

    @property
    def mode(self) -> Tensor:
        return self.loc


class _MeanAtLocation(_WithLocation):
    """A distribution whose mode and mean are its location."""

    @property
    def mean(self) -> Tensor:
        return self.loc


class _LocationScale(_WithLocation):
    """The distribution of ``loc + scale * x``, where ``x`` has location 0 and scale 1."""

    loc: Tensor
    scale: Tensor

    arg_constraints: Any = {"loc": constraints.real, "scale": constraints.positive}
    support: Any = constraints.real
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: Any = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        shape = Size() if is_number(loc, scale) else self.loc.shape
        super().__init__(shape, validate_args=validate_args)
