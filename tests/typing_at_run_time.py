"""Run programs with an ``assert_type`` that checks the value: ``python ... program.py ...``."""

from __future__ import annotations

import runpy
import sys
import types
import typing
from typing import Any


def holds(value: Any, wanted: Any) -> bool:
    """Whether a value is of a type, its items included."""
    origin, parts = typing.get_origin(wanted) or wanted, typing.get_args(wanted)
    if origin in (typing.Union, types.UnionType):
        return any(holds(value, part) for part in parts)
    if origin is Any or not isinstance(origin, type):
        return True  # or a type variable, a protocol's call
    if origin is float:  # which to checkers integers are, too
        return isinstance(value, float | int)
    if not isinstance(value, origin):
        return False
    if origin is tuple and parts[-1:] != (...,):
        return not parts or all(map(holds, value, parts))
    if origin in (tuple, list):
        return all(holds(each, parts[0]) for each in value)
    return True


def assert_type(value: Any, wanted: Any) -> Any:
    """Return ``value``; raise if it is not of the type ``wanted``."""
    if not holds(value, wanted):
        raise TypeError(f"a {type(value)} is no {wanted}: {value!r}")
    return value


if __name__ == "__main__":
    typing.assert_type = assert_type
    for program in sys.argv[1:]:
        runpy.run_path(program, run_name="__main__")
