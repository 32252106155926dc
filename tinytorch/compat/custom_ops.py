"""``torch._custom_ops``, the older home of ``tinytorch.library``."""

from __future__ import annotations

from ..library import custom_op as custom_op
from ..library import impl as impl
from ..library import impl_abstract as impl_abstract

__all__ = ["custom_op", "impl", "impl_abstract"]
