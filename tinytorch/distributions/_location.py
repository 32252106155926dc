"""What laws have in common that have a location."""

from __future__ import annotations

from typing import Any

from ..core.tensor import Size, Tensor
from . import constraints
from .distribution import Distribution
from .utils import broadcast_all, is_number

__all__: list[str] = []


class _Located(Distribution):
    """A law that is most probable at its location."""

    loc: Tensor

    @property
    def mode(self) -> Tensor:
        return self.loc


class _Centered(_Located):
    """A law whose mean is there, too."""

    @property
    def mean(self) -> Tensor:
        return self.loc


class _LocationScale(_Located):
    """The law of ``loc + scale * x``, where x has the law of location 0 and scale 1."""

    arg_constraints: Any = {"loc": constraints.real, "scale": constraints.positive}
    support: Any = constraints.real
    has_rsample = True
    scale: Tensor
    loc: Tensor

    def __init__(self, loc: Any, scale: Any, validate_args: Any = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        shape = Size() if is_number(loc, scale) else self.loc.shape
        super().__init__(shape, validate_args=validate_args)
