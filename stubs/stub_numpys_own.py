"""Declarations of NumPy's own objects in ``tinytorch.numpy``: scalar types, host functions."""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy
from stub_names import Entity, NameScope
from stub_numpy import is_wrapped, is_ufunc, write_wrapped, write_ufunc
from stub_writer import Writer, declaration

from tinytorch.numpy import scalars

#: Names of array types in NumPy's stubs.
ARRAYS = ("NDArray", "ndarray", "_Array1D")


def writer_of(value: Any) -> Callable[[Writer, str, Any], None] | None:
    """The function that declares a value of ``tinytorch.numpy`` alone; None for other values."""
    for belongs, write in (
        (is_wrapped, write_wrapped), (is_ufunc, write_ufunc),
        (is_scalar_type, write_scalar_type), (is_array_function, write_array_function),
    ):  # fmt: skip
        if belongs(value):
            return write
    return None


def is_from_numpy(value: Any, name: str, module: str) -> bool:
    """Whether ``module.name`` is an object of NumPy's, or wraps it.

    Args:
        value: The value of the name.
        name: The name.
        module: The module, such as ``tinytorch.numpy.linalg`` for ``numpy.linalg``.
    """
    if not module.startswith("tinytorch.numpy") or module.startswith("tinytorch.numpy.functions"):
        return False
    theirs = vars(importlib.import_module(module.removeprefix("tinytorch.")))
    return name in theirs and theirs[name] in (value, getattr(value, "__wrapped__", value))


def is_scalar_type(value: Any) -> bool:
    """Whether a value is a scalar type such as ``np.float64``."""
    return isinstance(value, scalars.ScalarType) and value._dtype is not None


def write_scalar_type(writer: Writer, name: str, value: Any) -> None:
    """Declare a scalar type, whose calls return arrays; a second name is an alias."""
    if value.__name__ != name:
        writer.line(f"{name} = {value.__name__}")
        return
    base = value.__base__ if value.__base__ is not object else None
    head = f"({writer.word(Entity('numpy', base.__name__))})" if base is not None else ""
    writer.line(f"class {name}{head}:")
    words = [writer.word(writer.known[word]) for word in ("ArrayLike", "ndarray")]
    declared = f"def __new__(cls, value: {words[0]} = 0, /) -> {words[1]}: ..."
    writer.line(f"    {declared}  # type: ignore[misc]\n")


def is_array_function(value: Any) -> bool:
    """Whether a value is a function of NumPy that returns arrays."""
    inner = getattr(value, "__wrapped__", None)
    name = getattr(inner, "__name__", "")
    return name in vars(numpy) and getattr(numpy, name) is inner and bool(array_results(inner))


def array_results(function: Any) -> set[str]:
    """The result annotations of a function in NumPy's stubs that name arrays, of this package."""
    said = numpy_results().get(function.__name__, [])
    return {ast.unparse(_NumpyToOurArray().visit(node)) for node in said
            if any(word in ast.unparse(node) for word in ARRAYS)}  # fmt: skip


def write_array_function(writer: Writer, name: str, value: Any) -> None:
    """Declare a function of NumPy with its own parameters, which returns our arrays."""
    scope = NameScope.of("tinytorch.numpy.namespace")
    assert scope is not None
    try:
        signature = inspect.signature(value)
    except ValueError:  # NumPy's functions in C have no signature
        signature = inspect.signature(lambda *args, **options: None)
    parameters = [p.replace(annotation="Any") for p in signature.parameters.values()]
    (result,) = array_results(value.__wrapped__)
    typed = signature.replace(parameters=parameters, return_annotation=result)
    writer.function(declaration(name, typed), scope)


@cache
def numpy_results() -> dict[str, list[ast.expr]]:
    """The result annotations of each public function in NumPy's stubs."""
    found: dict[str, list[ast.expr]] = {}
    home = Path(numpy.__file__).parent
    for path in (*home.glob("lib/*.pyi"), *home.glob("_core/*.pyi")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and node.returns is not None:
                found.setdefault(node.name, []).append(node.returns)
    return found


class _NumpyToOurArray(ast.NodeTransformer):
    """Replace NumPy's array types by ``ndarray`` in annotations of NumPy's stubs."""

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        if ast.unparse(node.value) in ARRAYS:
            return ast.Name("ndarray")
        node.slice = self.visit(node.slice)
        return node
