"""Classes of named tuples that operations with several results return, by the operations' names.

Example:
    >>> found = tt.max(tt.tensor([[1, 5], [7, 3]]), 1)
    >>> isinstance(found, tt.return_types.max), found.indices
    (True, tensor([1, 0]))
"""

from __future__ import annotations

from typing import Any

from .dispatch import registry
from .facade import resolve
from .ops.results import RESULTS


def __getattr__(name: str) -> Any:
    # ``RESULTS`` has a class once the family of its operation is imported, which ``find`` does.
    found = registry.find("return_types", name, RESULTS)
    if found is None:
        known = () if name.startswith("_") else __dir__()
        raise AttributeError(resolve.missing(__name__, name, known), name=name, obj=None)
    return found


def __dir__() -> list[str]:
    return sorted({*registry.names("return_types"), *RESULTS})
