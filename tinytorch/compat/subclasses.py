"""``torch._subclasses`` for programs that ask whether a tensor is a compiler's: none is."""

from __future__ import annotations

from .module_aliases import publish
from .unsupported import Absent

__all__ = ["FakeTensor", "FakeTensorMode", "is_fake"]

_WHY = "tinytorch compiles nothing: tensors have elements"


class FakeTensor(Absent, why=_WHY):
    """A tensor of a shape and no elements, which a compiler computes with; nothing is one here."""


class FakeTensorMode(Absent, why=_WHY):
    """A scope that makes such tensors of others."""


def is_fake(x: object) -> bool:
    """Whether ``x`` is such a tensor: False."""
    return False


publish(__name__, "fake_tensor")
