"""Declarations of the names in a table of ``tinytorch.compat.tables``."""

from __future__ import annotations

import enum
import importlib
import inspect
import types
from functools import cache
from pathlib import Path
from typing import Any

from stub_names import Entity, NameScope
from stub_writer import Writer, declaration

from tinytorch.compat import import_hook
from tinytorch.compat.module_tables import Row, Table

ROOT = Path(__file__).resolve().parent.parent / "tinytorch"
#: The module whose scope resolves the annotations of rows.
ROWS = "tinytorch.compat.module_tables"


@cache
def tables() -> dict[str, Table]:
    """Every table, by the name of its module."""
    found = {}
    for path in sorted((ROOT / "compat" / "tables").glob("[a-z]*.py")):
        module = importlib.import_module(f"tinytorch.compat.tables.{path.stem}")
        found.update({f"tinytorch.{name}": table for name, table in module.TABLES.items()})
    return found


def paths() -> dict[str, Path]:
    """The modules without a file, each with the path that its file would have."""
    # Type checkers do not see names that are out of scope and raise when they are called.
    files = (text for file, text in import_hook.TABLED.items() if file != "distributed_names")
    names = " ".join(files).split()
    return {f"tinytorch.{name}": ROOT.joinpath(*name.split(".")).with_suffix(".py")
            for name in names}  # fmt: skip


def table_entities(module: str) -> dict[str, Entity]:
    """The entity of each name in a module's table."""
    rows = tables()[module].rows() if module in tables() else {}
    return {name: row_entity(module, name, row) for name, row in rows.items()}


def row_entity(module: str, name: str, row: Any) -> Entity:
    """The entity that a row of a table declares for a name.

    It is the name in this module, or the member of another module that the row refers to as
    ``"module:name"``, or a whole module.
    """
    if not isinstance(row, Row) or not row.place:
        return Entity(module, name)
    place, colon, inner = row.place.partition(":")
    return Entity(f"tinytorch.{place}".rstrip("."), inner or name if colon else "")


def write_table(writer: Writer, module: str) -> None:
    """Declare the names of a module's table."""
    home = importlib.import_module(module)
    dir(home)  # runs the code of a lazy package
    loaded = vars(home)
    writer.line(f"__all__ = {loaded['__all__']}\n")
    for name, entity in table_entities(module).items():
        value = loaded[name]
        if entity.module != module:
            place, word = (entity.module, entity.name) if entity.name else (
                entity.module.rpartition(".")[0], entity.module.rpartition(".")[2])  # fmt: skip
            writer.imports[name] = f"from {place} import {word} as {name}"
        elif isinstance(value, types.FunctionType):
            write_function(writer, name, value)
        elif isinstance(value, type):
            write_made_class(writer, name, value)
        else:
            ours = isinstance(value, bool | int | str)
            kind = Entity("builtins", type(value).__name__) if ours else Entity("typing", "Any")
            writer.line(f"{name}: {writer.word(kind)}")


def write_function(writer: Writer, name: str, value: Any, indent: str = "") -> None:
    """Declare a function that is created at run time and is in no source."""
    scope = NameScope.of(ROWS)
    assert scope is not None
    writer.function(declaration(name, inspect.signature(value)), scope, indent)


def write_made_class(writer: Writer, name: str, value: type) -> None:
    """Declare a class that is created at run time: bases, enumeration members, methods."""
    bases = [writer.word(Entity(base.__module__, base.__name__)) for base in value.__bases__]
    writer.line()
    writer.line(f"class {name}({', '.join(bases)}):")
    before = len(writer.lines)
    if issubclass(value, enum.Enum):
        for member in value.__members__.values():
            writer.line(f"    {member.name} = {member.value!r}")
    else:
        own = {n: f for n, f in vars(value).items() if isinstance(f, types.FunctionType)}
        for method, function in own.items():
            write_function(writer, method, function, "    ")
    if len(writer.lines) == before:
        writer.line("    ...")
    writer.line()
