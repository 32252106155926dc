"""Which public names there are, and in which module each is described.

A name is public if the stubs declare it, or ``__all__`` of a module without one. The same thing
under several names of modules is described once, where its name is shortest.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import sys
import types
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "stubs")]

import stub_modules  # noqa: E402
from stub_names import Scope  # noqa: E402
from stub_tables import homes, paths, tables  # noqa: E402

from tinytorch import dtypes  # noqa: E402
from tinytorch.core.tensor import Tensor  # noqa: E402
from tinytorch.dispatch import registry  # noqa: E402

#: Rooms of this library alone: what is public of them is at the top level.
INNER = {
    f"tinytorch.{room}"
    for room in ("checkpoint", "compat", "core", "dispatch", "facade", "ops", "state")
}


#: Where functions and classes are made that PyTorch has and that refuse here.
REFUSALS = "tinytorch.facade.unsupported"


@dataclass(frozen=True)
class Name:
    """A public name: ``tinytorch.nn`` and ``Linear``, with what it stands for."""

    space: str
    name: str
    value: Any = field(compare=False)

    @property
    def dotted(self) -> str:
        return f"{self.space}.{self.name}"

    @property
    def home(self) -> str:
        """The module in whose source it is written; its own where there is no source."""
        value = inspect.unwrap(self.value) if callable(self.value) else self.value
        file = getattr(getattr(value, "__code__", None), "co_filename", "")
        if file.startswith(str(ROOT / "tinytorch")):
            parts = Path(file).relative_to(ROOT).with_suffix("").parts
            return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        place = value if inspect.isclass(value) or callable(value) else type(value)
        module = getattr(place, "__module__", None) or ""
        return module if module.startswith("tinytorch.") else self.space


@cache
def modules() -> list[str]:
    """The public modules, those of few dots first."""
    files = sorted((ROOT / "tinytorch").rglob("*.py"))
    parts = [path.relative_to(ROOT).with_suffix("").parts for path in files]
    every = {".".join(part[:-1] if part[-1] == "__init__" else part) for part in parts}
    found = ["tinytorch"]
    for module in sorted(every | paths().keys(), key=lambda name: (name.count("."), name)):
        parent, _, last = module.rpartition(".")
        if parent in found and module not in INNER and is_public(module, parent, last):
            found.append(module)
    return found


def is_public(module: str, parent: str, last: str) -> bool:
    """Whether a module is named by the one it is in, or lists what is its own."""
    if last.startswith("_"):
        return False
    scope = Scope.of(module)
    listed = module in paths() or (scope is not None and "__all__" in scope.own)
    return listed or any(name.name == last and is_module(name.value) for name in names(parent))


@cache
def names(module: str) -> list[Name]:
    """The public names of a module, in alphabetical order."""
    registry.load_all()
    loaded = importlib.import_module(module)
    dir(loaded)  # has a package run
    found = {name for name in declared(module) if not name.startswith("_")}
    return [
        Name(module, name, value_of(module, name))
        for name in sorted(found, key=lambda name: (name.lower(), name))
    ]


def value_of(module: str, name: str) -> Any:
    """What a name stands for on NumPy; its dtype for one that NumPy's arrays do not have."""
    found = getattr(importlib.import_module(module), name, None)
    return dtypes.NAMES.get(name) if found is None else found


def declared(module: str) -> set[str]:
    """The names that a module's stub declares, or that its ``__all__`` lists."""
    scope = Scope.of(module) or Scope(module, Path(f"{module}.py"), "")
    dynamic = set[str]()
    if stub_modules.answers_for_more(scope.tree):
        dynamic = {*stub_modules.answered_names(module, scope)}
    listed = getattr(sys.modules[module], "__all__", None) if "__all__" in scope.own else None
    if module in tables() or listed is not None:
        return {*homes(module), *(listed or ()), *dynamic}
    shown = {name for name in scope.names if stub_modules.is_shown(scope, name)}
    inner = {name for name, node in scope.own.items() if is_internal(node)}
    return (shown | dynamic) - inner


def is_internal(node: ast.stmt) -> bool:
    """Whether a statement defines what only annotations use: an alias or a type variable."""
    if isinstance(node, ast.AnnAssign):
        return "TypeAlias" in ast.unparse(node.annotation)
    return isinstance(node, ast.Assign) and "TypeVar" in ast.unparse(node.value)


@cache
def described() -> dict[int, Name]:
    """Everything that is described, under the name by which it is, by the ``id`` of its value."""
    found: dict[int, Name] = {}
    for module in modules():
        for name in names(module):
            if is_shared(name.value) and not (module == "tinytorch" and is_numpys(name)):
                found.setdefault(id(name.value), name)
    return found


def is_numpys(name: Name) -> bool:
    """Whether a name at the top level is one of NumPy's dialect, which has it, too."""
    return name.home.startswith("tinytorch.numpy") and any(
        other.name == name.name and other.value is name.value for other in names("tinytorch.numpy")
    )


def is_shared(value: Any) -> bool:
    """Whether a value has an identity: numbers and constants are described wherever they are."""
    return inspect.isclass(value) or inspect.isroutine(value) or hasattr(value, "__wrapped__")


def is_module(value: Any) -> bool:
    return isinstance(value, types.ModuleType)


def own(module: str) -> list[Name]:
    """The names that are described under this module."""
    return [
        name
        for name in names(module)
        if not is_module(name.value)
        and (not is_shared(name.value) or described()[id(name.value)] == name)
    ]


def other(module: str) -> list[tuple[Name, Name]]:
    """The names that stand for what is described elsewhere, and as what it is."""
    return [
        (name, described()[id(name.value)])
        for name in names(module)
        if is_shared(name.value) and described()[id(name.value)] != name
    ]


def refuses(name: Name) -> bool:
    """Whether a name is there to be imported, and raises when it is used."""
    value = inspect.unwrap(name.value) if callable(name.value) else name.value
    gives = getattr(value, "__annotations__", {}).get("return")
    try:
        gives = gives or inspect.signature(name.value).return_annotation
    except (TypeError, ValueError):  # a value, or a class that tells no signature
        return False
    return "NoReturn" in str(gives) or name.home == REFUSALS


@cache
def methods() -> dict[str, Any]:
    """The public members of Tensor, as its class holds them."""
    public = (name for name in dir(Tensor) if not name.startswith("_"))
    return {name: inspect.getattr_static(Tensor, name) for name in public}


@cache
def in_place_forms() -> dict[str, str]:
    """The functions at the top level that are in-place forms, by the names of the plain ones."""
    found = {name.name: name.value for name in own("tinytorch") if hasattr(name.value, "op")}
    return {
        name: f"{name}_"
        for name, value in found.items()
        if f"{name}_" in found and found[f"{name}_"].op is value.op
    }


@cache
def methods_of_operations() -> dict[str, list[str]]:
    """The methods that are an operation's, its in-place form included, by the function's name."""
    in_place = {*in_place_forms().values()}
    functions = {
        id(name.value.op): name.name
        for name in own("tinytorch")
        if hasattr(name.value, "op") and name.name not in in_place
    }
    found: dict[str, list[str]] = {}
    for method, member in methods().items():
        function = functions.get(id(getattr(member, "op", None)))
        if function is not None:
            found.setdefault(function, []).append(method)
    return found
