"""Names that tables stand for: where they are found, what they say, and how they refuse."""

from __future__ import annotations

import importlib
import inspect
import pickle
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import tinytorch as tt
from tests.docstrings import read_examples, run_examples
from tests.fresh import run
from tinytorch.compat.import_hook import TABLED
from tinytorch.compat.module_tables import Row, Table

ROOT = Path(tt.__file__).parent


def tables() -> dict[str, Table]:
    files = sorted((ROOT / "compat" / "tables").glob("[a-z]*.py"))
    held = (importlib.import_module(f"tinytorch.compat.tables.{file.stem}") for file in files)
    return {module: table for each in held for module, table in each.TABLES.items()}


def made() -> Iterator[tuple[str, str]]:
    """Module and name of what the rows make, not of what is defined elsewhere."""
    for module, table in tables().items():
        for name, row in table.rows().items():
            is_module = name in table.files.split()  # in the package it hides what it has
            if isinstance(row, Row) and not row.place and not is_module:
                yield module, name


MADE = list(made())


def test_every_table_belongs_to_one_module() -> None:
    held = (importlib.import_module(f"tinytorch.compat.tables.{file}").TABLES for file in TABLED)
    assert sorted(m for table in held for m in table) == sorted(tables())
    for file, modules in TABLED.items():
        found = importlib.import_module(f"tinytorch.compat.tables.{file}").TABLES
        assert {*modules.split()} <= found.keys()


@pytest.mark.parametrize("module", tables())
def test_a_module_has_either_a_file_or_a_docstring_in_its_table(module: str) -> None:
    loaded, table = importlib.import_module(f"tinytorch.{module}"), tables()[module]
    path = ROOT.joinpath(*module.split("."))
    has_file = path.with_suffix(".py").exists() or (path / "__init__.py").exists()
    listed = module in " ".join(TABLED.values()).split()
    assert has_file != listed and has_file != bool(table.doc)
    assert isinstance(loaded, ModuleType) and loaded.__doc__ and loaded.__name__.endswith(module)
    public = {name for name in table.rows() if not name.startswith("_")}
    assert public <= {*loaded.__all__} <= {*dir(loaded)}
    for file in table.files.split():
        assert public <= {*dir(importlib.import_module(f"tinytorch.{module}.{file}"))}


@pytest.mark.parametrize(("module", "name"), MADE)
def test_generated_objects_have_a_name_a_module_and_a_pickle(module: str, name: str) -> None:
    value: Any = getattr(importlib.import_module(f"tinytorch.{module}"), name)
    assert value.__name__ == value.__qualname__ == name
    assert importlib.import_module(value.__module__).__dict__[name] is value
    assert pickle.loads(pickle.dumps(value)) is value
    text = inspect.getdoc(value) or ""
    test = read_examples(text, name, module)
    assert test.examples
    run_examples(test)


def test_arguments_are_those_of_the_signature() -> None:
    assert str(inspect.signature(tt.xpu.manual_seed)) == "(seed: 'int') -> 'None'"
    assert str(inspect.signature(tt.mps.is_available)) == "() -> 'bool'"
    assert tt.cpu.synchronize(device="cpu") is None and tt.xpu.memory_allocated(0) == 0
    for call, text in (
        (lambda: tt.xpu.manual_seed(), r"manual_seed\(\) missing a required argument: 'seed'"),
        (lambda: tt.xpu.manual_seed(1, 2), r"manual_seed\(\) too many positional arguments"),
        (lambda: tt.cpu.synchronize(where=1), r"synchronize\(\) got an unexpected keyword"),
        (lambda: tt.mps.is_available(1), r"is_available\(\) takes 0 positional arguments but 1"),
    ):
        with pytest.raises(TypeError, match=text):
            call()


def test_list_backends_returns_a_new_list_each_time() -> None:
    tt.compiler.list_backends().append("mine")
    assert tt.compiler.list_backends() == ["c", "numpy"]


@pytest.mark.parametrize("package", ["tinytorch", "torch"])
def test_modules_without_a_file_are_imported_by_both_names(package: str) -> None:
    def program(package: str, names: list[str]) -> None:
        import importlib

        import tinytorch

        tinytorch.install_as_torch()
        for name in names:
            importlib.import_module(f"{package}.{name}")
        print(importlib.import_module(package).backends.mps.is_built())

    assert run(program, package, " ".join(TABLED.values()).split()) == "False"


def test_importing_tinytorch_does_not_load_the_tables() -> None:
    def program() -> None:
        import sys

        import tinytorch

        print(tinytorch.__name__, *(name for name in sys.modules if "compat." in name))

    assert not re.search("tables|rows", run(program))
