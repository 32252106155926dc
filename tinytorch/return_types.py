"""The named tuples that operations with several results return, by the operations' names.

Example:
    >>> import tinytorch as tt
    >>> found = tt.max(tt.tensor([[1, 5], [7, 3]]), 1)
    >>> isinstance(found, tt.return_types.max), found.indices
    (True, tensor([1, 0]))
"""

from __future__ import annotations

from typing import Any

from . import _facade
from .ops._results import RESULTS


def __getattr__(name: str) -> Any:
    # A class is there once the family of its operation is imported.
    if not name.startswith("_") and _facade.load_until(lambda: name in RESULTS):
        return RESULTS[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    _facade.load_all()
    return sorted(RESULTS)
