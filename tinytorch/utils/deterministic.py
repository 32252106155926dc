"""``torch.utils.deterministic``: the setting ``fill_uninitialized_memory``.

If it is True, as it is by default, and with ``use_deterministic_algorithms(True)``, ``empty`` and
related functions and ``resize_`` fill uninitialized memory: with NaN, the largest integer or True.

Example:
    >>> tt.use_deterministic_algorithms(True)
    >>> tt.empty(2)
    tensor([nan, nan])
    >>> tt.utils.deterministic.fill_uninitialized_memory = False
    >>> tt.use_deterministic_algorithms(False)
    >>> tt.utils.deterministic.fill_uninitialized_memory = True
"""

from __future__ import annotations

import sys

from ..core.pickling import NamedModule
from ..state import settings

__all__ = ["fill_uninitialized_memory"]

fill_uninitialized_memory: bool


class _Deterministic(NamedModule):
    """Class of this module, with the setting as a property."""

    @property
    def fill_uninitialized_memory(self) -> bool:
        """Whether deterministic algorithms fill the memory of new tensors."""
        return bool(settings.values["fill"])

    @fill_uninitialized_memory.setter
    def fill_uninitialized_memory(self, mode: bool) -> None:
        if not isinstance(mode, bool):
            raise RuntimeError(f"expected a bool, but got {type(mode).__name__}")
        settings.values["fill"] = mode


sys.modules[__name__].__class__ = _Deterministic
