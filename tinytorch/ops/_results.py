"""Named results, such as ``values, indices``: the classes that torch keeps in ``return_types``."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

#: Every class by the name of the operation that returns it.
RESULTS: dict[str, Any] = {}


def named_result(name: str, fields: str) -> Any:
    """The named tuple that the operation ``name`` returns; ``fields`` are separated by spaces."""
    make: Any = namedtuple
    RESULTS[name] = make(name, fields, module="tinytorch.return_types")
    return RESULTS[name]
