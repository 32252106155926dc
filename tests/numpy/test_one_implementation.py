"""NumPy's functions have one implementation, in NumPy's folder; imports say what they call."""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest

import tinytorch
from tests.numpy.names import STANDARD_ONLY, WANTED
from tinytorch.dispatch.op import NAMESPACES
from tinytorch.numpy import functions

PACKAGE = Path(tinytorch.__file__).parent
#: Names of NumPy's for operations that PyTorch has under another one.
ALIASES = {
    "around", "array_split", "bitwise_invert", "conjugate", "degrees", "invert", "left_shift",
    "mod", "power", "radians", "right_shift",
}  # fmt: skip
#: NumPy's functions of the functions of the same name, which compute in NumPy's dtypes.
UFUNCS = {"bitwise_count", "cbrt", "divmod", "fabs", "modf", "rint"}


def names_of_numpy_alone() -> list[str]:
    return [name for name in (*STANDARD_ONLY, *WANTED)
            if name not in ALIASES and name in NAMESPACES[""]]  # fmt: skip


def source(function: Callable[..., Any]) -> tuple[str, int]:
    """Return the file and the first line of the code that runs."""
    code = inspect.unwrap(function).__code__
    return Path(code.co_filename).relative_to(PACKAGE).as_posix(), code.co_firstlineno


def test_many_names_are_those_of_numpy_alone() -> None:
    for name in STANDARD_ONLY + WANTED:
        getattr(tinytorch, name)  # registers it
    assert len(names_of_numpy_alone()) > 100


@pytest.mark.parametrize("name", sorted({*STANDARD_ONLY, *WANTED} - ALIASES))
def test_a_function_of_numpy_alone_is_in_numpys_folder(name: str) -> None:
    function = getattr(tinytorch, name)
    if name in NAMESPACES[""]:
        assert source(function)[0].startswith("numpy/functions/")
        assert function.__module__ == "tinytorch"


@pytest.mark.parametrize("name", sorted({*STANDARD_ONLY, *WANTED} - ALIASES - UFUNCS))
def test_a_name_in_both_namespaces_has_one_implementation(name: str) -> None:
    function = getattr(tinytorch, name)
    if name in NAMESPACES[""]:
        assert source(functions.function_of(name)) == source(function)


@pytest.mark.parametrize("name", ["matrix_transpose", "outer", "tensordot", "trace"])
def test_each_linalg_function_has_one_implementation(name: str) -> None:
    ours = getattr(tinytorch.linalg, name)
    assert source(ours) == source(getattr(functions.linalg, name))
    assert source(ours)[0].startswith("numpy/functions/")


@pytest.mark.parametrize(("name", "calls"), [
    ("cross", {"ops.linalg.products"}),
    ("diagonal", {"ops.shape.diagonal"}),
    ("outer", {"ops.linalg.matmul"}),
    ("tensordot", {"ops.linalg.einsum"}),
    ("trace", {"ops.linalg.vector_products"}),
])  # fmt: skip
def test_products_are_computed_by_pytorchs(name: str, calls: set[str]) -> None:
    """The operation of PyTorch's runs, whichever of the namespaces is called."""
    matrix = tinytorch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]])
    first = () if name in ("diagonal", "trace") else (matrix,)
    if name == "outer":
        matrix, first = matrix[0], (matrix[1],)
    for namespace in (functions, functions.linalg):
        function = getattr(namespace, name)
        found = numpy.asarray(function(matrix, *first))
        expected = getattr(numpy, name)(matrix.numpy(), *(x.numpy() for x in first))
        numpy.testing.assert_allclose(found, expected)
    assert calls <= modules_called(functions, name, matrix, first)


def modules_called(namespace: Any, name: str, matrix: Any, first: Any) -> set[str]:
    import sys

    found = set()

    def see(frame: Any, event: str, value: object) -> None:
        file = Path(frame.f_code.co_filename)
        if event == "call" and PACKAGE in file.parents:
            found.add(".".join(file.relative_to(PACKAGE).with_suffix("").parts))

    sys.setprofile(see)
    try:
        getattr(namespace, name)(matrix, *first)
    finally:
        sys.setprofile(None)
    return found


def looks_up_by_name(node: ast.AST) -> bool:
    """Whether a call names an operation in a string: ``find("", "cat")``."""
    match node:
        case ast.Call(ast.Name("find"), arguments):
            return all(isinstance(argument, ast.Constant) for argument in arguments)
    return False


@pytest.mark.parametrize(
    "path", sorted((PACKAGE / "numpy").rglob("*.py")), ids=lambda path: path.stem
)
def test_operations_are_imported_and_not_looked_up_by_name(path: Path) -> None:
    found = [node for node in ast.walk(ast.parse(path.read_text())) if looks_up_by_name(node)]
    assert not found, [ast.unparse(node) for node in found]


def test_numpys_functions_are_not_imported_with_the_package() -> None:
    from tests.fresh import run

    def program() -> None:
        import sys

        import tinytorch  # noqa: F401

        print(any(name.startswith("tinytorch.numpy") for name in sys.modules))

    assert run(program) == "False"


def test_names_are_registered_once() -> None:
    importlib.import_module("tinytorch.numpy.functions")
    both = set(NAMESPACES[""]) & set(NAMESPACES["numpy"])
    alone = {name for name in both if name in {*STANDARD_ONLY, *WANTED}} - ALIASES
    assert alone == UFUNCS
