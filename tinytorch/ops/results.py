"""Results of operations: named tuples such as ``values, indices``, and ``out=`` of composites."""

from __future__ import annotations

import inspect
from collections import namedtuple
from collections.abc import Iterable
from typing import Any

from .. import dtypes
from ..dispatch.call import write_if_unrecorded
from ..dispatch.op import OPS

#: Every class by the name of the operation that returns it.
RESULTS: dict[str, Any] = {}


def named_result(name: str, fields: str) -> Any:
    """The named tuple that the operation ``name`` returns; ``fields`` are separated by spaces."""
    make: Any = namedtuple
    kind = RESULTS[name] = make(name, fields, module="tinytorch.return_types")
    kind.n_fields = kind.n_sequence_fields = len(kind._fields)
    kind.n_unnamed_fields = 0
    kind.__new__, kind.__repr__ = _constructor(kind), _text
    # torch calls what it has written to out= by another name.
    written = f"{name}_out"
    kind.written = RESULTS[written] = type(written, (kind,), {
        "__slots__": (), "__module__": kind.__module__, "__doc__": f"{name}, written to ``out=``.",
    })  # fmt: skip
    return kind


def _constructor(kind: Any) -> Any:
    """Makes it of its fields or, as torch's are made, of one sequence of them."""
    count = kind.n_fields

    def __new__(cls: Any, *fields: Any) -> Any:
        if len(fields) != count:
            fields = _fields_of(cls, count, *fields)
        return tuple.__new__(cls, fields)

    __new__.__signature__ = inspect.signature(kind.__new__)  # type: ignore[attr-defined]
    return __new__


def _fields_of(cls: Any, count: int, *given: Any) -> tuple[Any, ...]:
    if not given:
        raise TypeError("structseq() missing required argument 'sequence' (pos 1)")
    if len(given) > 1 or not isinstance(given[0], Iterable):
        raise TypeError("constructor requires a sequence")
    fields = tuple(given[0])
    if len(fields) != count:
        raise TypeError(
            f"{dtypes.shown_as}.return_types.{cls.__name__}() takes a {count}-sequence "
            f"({len(fields)}-sequence given)"
        )
    return fields


def _text(result: Any) -> str:
    """As torch writes it: every field begins a line, and rows of a matrix stay below another."""
    fields = ",\n".join(f"{name}={value!r}" for name, value in zip(result._fields, result))
    return f"{dtypes.shown_as}.return_types.{type(result).__name__}(\n{fields})"


def first(*results: Any) -> Any:
    """What users get of results of which the others are kept for the gradient alone."""
    return results[0]


def written(out: Any, result: Any, name: str) -> Any:
    """``result``, or ``out`` with the result in it if that was given.

    Args:
        out: The user's ``out=``: a tensor, a tuple of them for several results, or None.
        result: What the function computed.
        name: The function's qualified name.

    Raises:
        RuntimeError: If the result is part of a graph, or its dtype does not fit ``out``.
    """
    return result if out is None else write_if_unrecorded(out, result, OPS[name])
