"""Short calls written as functions, ``lambda L, x: L.sin(x)``: parameters name their inputs.

A test is named after what the function says, so that it can be asked for by its words.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import pytest

Call = Callable[..., Any]


def functions(module: ModuleType) -> list[Call]:
    """The functions that a module defines, without private ones."""
    return [
        value
        for name, value in vars(module).items()
        if isinstance(value, FunctionType) and not name.startswith("_")
    ]


def parameters(function: Call) -> tuple[str, ...]:
    code = function.__code__
    return code.co_varnames[: code.co_argcount]


def call_with_names(function: Call, names: Mapping[str, Any]) -> Any:
    """Call a function, each parameter set to the value of its name in ``names``."""
    if missing := set(parameters(function)) - names.keys():
        pytest.fail(f"nothing is called {missing}")  # no error that a test may expect
    return function(*(names[name] for name in parameters(function)))


@cache
def _lambdas(path: str) -> dict[int, list[ast.Lambda]]:
    """The lambdas of a file, by the line they begin in."""
    found: dict[int, list[ast.Lambda]] = {}
    for node in ast.walk(ast.parse(Path(path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Lambda):
            found.setdefault(node.lineno, []).append(node)
    return found


def words(value: Any) -> str | None:
    """Source of a lambda, or name of a function; None, pytest's default id, for other values."""
    if not isinstance(value, FunctionType):
        return None
    code = value.__code__
    if value.__name__ != "<lambda>":
        return value.__name__
    end = max(place[1::2] for place in code.co_positions() if place[3])
    (node,) = (
        node
        for node in _lambdas(code.co_filename)[code.co_firstlineno]
        if (node.body.end_lineno, node.body.end_col_offset) == end
    )
    return ast.unparse(node.body)
