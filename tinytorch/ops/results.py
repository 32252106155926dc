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
    kind.__new__, kind.__repr__ = _constructor(kind), _repr
    # PyTorch returns a class of another name for results that are written to out=.
    out_name = f"{name}_out"
    kind._out_type = RESULTS[out_name] = type(out_name, (kind,), {
        "__slots__": (), "__module__": kind.__module__, "__doc__": f"{name}, written to ``out=``.",
    })  # fmt: skip
    return kind


def _constructor(kind: Any) -> Any:
    """``__new__`` that accepts the fields one by one or, as PyTorch's, as one sequence."""
    count = kind.n_fields

    def __new__(cls: Any, *fields: Any) -> Any:
        if len(fields) != count:
            fields = _fields_of(cls, count, *fields)
        return tuple.__new__(cls, fields)

    __new__.__signature__ = inspect.signature(kind.__new__)  # type: ignore[attr-defined]
    return __new__


def _fields_of(cls: Any, count: int, *given: Any) -> tuple[Any, ...]:
    """The ``count`` fields of the one sequence in ``given``; TypeError for other arguments."""
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


def _repr(result: Any) -> str:
    """``__repr__`` in PyTorch's format: each field begins a line, so that matrix rows align."""
    fields = ",\n".join(f"{name}={value!r}" for name, value in zip(result._fields, result))
    return f"{dtypes.shown_as}.return_types.{type(result).__name__}(\n{fields})"


def first_result(*results: Any) -> Any:
    """The first result, for operations whose other results only serve the gradient."""
    return results[0]


def write_result(out: Any, result: Any, name: str) -> Any:
    """Write ``result`` to ``out`` and return ``out``; return ``result`` if ``out`` is None.

    Args:
        out: The ``out=`` of the call: a tensor, a tuple of them for several results, or None.
        result: The computed tensor or tuple of tensors.
        name: The function's qualified name.

    Raises:
        RuntimeError: If the result is part of a graph, or its dtype does not fit ``out``.
    """
    return result if out is None else write_if_unrecorded(out, result, OPS[name])
