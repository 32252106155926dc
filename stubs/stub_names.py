"""Names of a source module: which entities they stand for, and their names in a stub."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
#: Constructors whose result is a type variable: a stub repeats them.
TYPE_VARIABLES = ("TypeVar", "ParamSpec", "TypeVarTuple")


@dataclass(frozen=True)
class Entity:
    """A module, or with ``name`` a member of it."""

    module: str
    name: str = ""

    @property
    def word(self) -> str:
        """Its name in a stub, unless another entity has that name there."""
        return self.name or self.module.rpartition(".")[2]


@dataclass(frozen=True)
class Alias:
    """A type expression that replaces the name it is assigned to."""

    value: ast.expr
    scope: NameScope


class NameScope:
    """The top-level names of one source module.

    Attributes:
        module: Its dotted name.
        tree: Its syntax tree.
        names: The entity or alias of each name.
        own: The statement that defines each name of its own.
    """

    def __init__(self, module: str, path: Path, text: str) -> None:
        self.module = module
        self.package = module if path.name == "__init__.py" else module.rpartition(".")[0]
        self.tree = ast.parse(text, str(path))
        self.names: dict[str, Entity | Alias] = {}
        self.own: dict[str, ast.stmt] = {}
        for node in statements(self.tree.body):
            self._read(node)

    @staticmethod
    @cache
    def of(module: str) -> NameScope | None:
        """The scope of a module; None for a module that is not in this package."""
        path = source(module)
        return None if path is None else NameScope(module, path, path.read_text(encoding="utf-8"))

    def absolute(self, node: ast.ImportFrom) -> str:
        """The absolute name of the module that ``from ... import`` names."""
        if not node.level:
            return node.module or ""
        parts = self.package.split(".")
        parts = parts[: len(parts) - node.level + 1]
        return ".".join([*parts, *([node.module] if node.module else [])])

    def _read(self, node: ast.stmt) -> None:
        """Add the names that a top-level statement imports, defines or assigns."""
        if isinstance(node, ast.Import):
            for alias in node.names:
                root = alias.name if alias.asname else alias.name.partition(".")[0]
                self.names[alias.asname or root] = Entity(root)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                home = self.absolute(node)
                self.names[alias.asname or alias.name] = member(home, alias.name)
        elif isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            self._define(node.name, node)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            self._define(node.target.id, node)
            if node.value is not None and "TypeAlias" in ast.unparse(node.annotation):
                self.names[node.target.id] = Alias(node.value, self)
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            self._define(node.targets[0].id, node)
            if is_type_expression(node.value):
                self.names[node.targets[0].id] = Alias(node.value, self)

    def _define(self, name: str, node: ast.stmt) -> None:
        """Add a name that the module itself defines by a statement."""
        self.own[name] = node
        self.names[name] = Entity(self.module, name)

    def resolve(self, name: str) -> Entity | Alias | None:
        """The entity of a name in an annotation, followed to the module that defines it."""
        found = self.names.get(name)
        if found is None:
            return Entity("builtins", name) if hasattr(builtins, name) else None
        return follow(found) if isinstance(found, Entity) else found


def member(module: str, name: str) -> Entity:
    """The entity that ``from module import name`` imports: a submodule, or a member of a module."""
    dotted = f"{module}.{name}"
    return Entity(dotted) if source(dotted) else Entity(module, name)


def source(module: str) -> Path | None:
    """The file of a module of this package; None for another module, or one without a file."""
    if module.partition(".")[0] != "tinytorch":
        return None
    path = ROOT.joinpath(*module.split("."))
    found = (p for p in (path.with_suffix(".py"), path / "__init__.py") if p.is_file())
    return next(found, None)


def follow(entity: Entity) -> Entity | Alias:
    """Follow re-exports of this package's modules to the entity that is defined, or to an alias."""
    if not entity.name or entity.module.partition(".")[0] != "tinytorch":
        return entity
    scope = NameScope.of(entity.module)
    found = scope.names.get(entity.name) if scope is not None else None
    if found is None or found == entity:
        return entity
    return follow(found) if isinstance(found, Entity) else found


def statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements of a module or class that a type checker reads."""
    for node in body:
        if isinstance(node, ast.If):
            test = ast.unparse(node.test)
            yield from statements(node.orelse if test == "not TYPE_CHECKING" else node.body)
        else:
            yield node


def is_type_expression(node: ast.expr) -> bool:
    """Whether an assignment without annotation is an alias such as ``int | Sequence[int]``."""
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.BitOr)
    return isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name)
