"""Named results, such as ``values, indices``: the classes that torch keeps in ``return_types``."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

from .. import dtypes

#: Every class by the name of the operation that returns it.
RESULTS: dict[str, Any] = {}


def named_result(name: str, fields: str) -> Any:
    """The named tuple that the operation ``name`` returns; ``fields`` are separated by spaces."""
    make: Any = namedtuple
    RESULTS[name] = make(name, fields, module="tinytorch.return_types")
    RESULTS[name].__repr__ = _text
    return RESULTS[name]


def _text(result: Any) -> str:
    """As torch writes it: every field begins a line, and rows of a matrix stay below another."""
    fields = ",\n".join(f"{name}={value!r}" for name, value in zip(result._fields, result))
    return f"{dtypes.shown_as}.return_types.{type(result).__name__}(\n{fields})"
