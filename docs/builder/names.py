"""The public names, and the module in whose page each is described.

A name is public if the stubs declare it, or if ``__all__`` of a module without a stub lists it. An
object with several names is described once: under the first that a file of ``purposes/`` lists, or
else under the shortest.
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
from stub_names import NameScope  # noqa: E402
from stub_tables import table_entities, paths, tables  # noqa: E402

from tinytorch import dtypes  # noqa: E402
from tinytorch.core.tensor import Tensor  # noqa: E402
from tinytorch.dispatch import registry  # noqa: E402

from .purposes import names_with_heading  # noqa: E402

#: Inner folders of this library: their public names are at the top level.
INNER = {
    f"tinytorch.{room}"
    for room in ("checkpoint", "compat", "core", "dispatch", "facade", "ops", "state")
}


#: The module that creates unsupported functions and classes of PyTorch, which raise.
UNSUPPORTED = "tinytorch.facade.unsupported"


@dataclass(frozen=True)
class Name:
    """A public name such as ``Linear`` of ``tinytorch.nn``, with its value."""

    space: str
    name: str
    value: Any = field(compare=False)

    @property
    def full_name(self) -> str:
        return f"{self.space}.{self.name}"

    @property
    def home(self) -> str:
        """The module whose source defines the value; the public module if there is no source."""
        value = inspect.unwrap(self.value) if callable(self.value) else self.value
        file = getattr(getattr(value, "__code__", None), "co_filename", "")
        if file.startswith(str(ROOT / "tinytorch")):
            parts = Path(file).relative_to(ROOT).with_suffix("").parts
            return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        owner = value if inspect.isclass(value) or callable(value) else type(value)
        module = getattr(owner, "__module__", None) or ""
        return module if module.startswith("tinytorch.") else self.space


@cache
def modules() -> list[str]:
    """The public modules, in order of their number of dots."""
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
    """Whether a module is public: its package has its name, or the module has ``__all__``.

    Args:
        module: Full name of the module.
        parent: Full name of its package.
        last: Last part of its name.
    """
    if last.startswith("_"):
        return False
    scope = NameScope.of(module)
    listed = module in paths() or (scope is not None and "__all__" in scope.own)
    return listed or any(name.name == last and is_module(name.value) for name in names(parent))


@cache
def names(module: str) -> list[Name]:
    """The public names of a module, in alphabetical order."""
    registry.load_all()
    loaded = importlib.import_module(module)
    dir(loaded)  # runs the code of a lazy package
    found = {name for name in declared_names(module) if not name.startswith("_")}
    return [
        Name(module, name, value_of(module, name))
        for name in sorted(found, key=lambda name: (name.lower(), name))
    ]


def value_of(module: str, name: str) -> Any:
    """Value of a name of a module; the dtype if the NumPy backend does not have the name."""
    found = getattr(importlib.import_module(module), name, None)
    return dtypes.NAMES.get(name) if found is None else found


def declared_names(module: str) -> set[str]:
    """The names in a module's stub, or in its ``__all__``."""
    scope = NameScope.of(module) or NameScope(module, Path(f"{module}.py"), "")
    dynamic = set[str]()
    if stub_modules.has_getattr(scope.tree):
        dynamic = {*stub_modules.dynamic_names(module, scope)}
    listed = getattr(sys.modules[module], "__all__", None) if "__all__" in scope.own else None
    if module in tables() or listed is not None:
        return {*table_entities(module), *(listed or ()), *dynamic}
    shown = {name for name in scope.names if stub_modules.is_shown(scope, name)}
    inner = {name for name, node in scope.own.items() if is_internal(node)}
    return (shown | dynamic) - inner


def is_internal(node: ast.stmt) -> bool:
    """Whether a statement defines an alias or a type variable, for annotations alone."""
    if isinstance(node, ast.AnnAssign):
        return "TypeAlias" in ast.unparse(node.annotation)
    return isinstance(node, ast.Assign) and "TypeVar" in ast.unparse(node.value)


@cache
def described_names() -> dict[int, Name]:
    """The name under which each value is described, by the ``id`` of the value."""
    found: dict[int, Name] = {}
    every = [name for module in modules() for name in names(module) if is_shared(name.value)]
    for name in sorted(every, key=lambda name: not has_heading(name)):
        if not (name.space == "tinytorch" and is_from_numpy(name)):
            found.setdefault(id(name.value), name)
    return found


def has_heading(name: Name) -> bool:
    """Whether a file of ``purposes/`` lists a name, or the function of which it is a form."""
    return not {name.name, name.name.removesuffix("_")}.isdisjoint(names_with_heading(name.space))


def is_from_numpy(name: Name) -> bool:
    """Whether a name at the top level is also in ``tinytorch.numpy``, which describes it."""
    return name.home.startswith("tinytorch.numpy") and any(
        other.name == name.name and other.value is name.value for other in names("tinytorch.numpy")
    )


def is_shared(value: Any) -> bool:
    """Whether a value can be one object under two names: numbers and constants cannot."""
    return inspect.isclass(value) or inspect.isroutine(value) or hasattr(value, "__wrapped__")


def is_module(value: Any) -> bool:
    return isinstance(value, types.ModuleType)


@cache
def own(module: str) -> list[Name]:
    """The names that the page of this module describes."""
    return [
        name
        for name in names(module)
        if not is_module(name.value)
        and (not is_shared(name.value) or described_names()[id(name.value)] == name)
    ]


def other(module: str) -> list[tuple[Name, Name]]:
    """The names whose value another page describes, each with its name there."""
    return [
        (name, described_names()[id(name.value)])
        for name in names(module)
        if is_shared(name.value) and described_names()[id(name.value)] != name
    ]


def is_unsupported(name: Name) -> bool:
    """Whether a name can be imported, but raises when it is used."""
    value = inspect.unwrap(name.value) if callable(name.value) else name.value
    returned = getattr(value, "__annotations__", {}).get("return")
    try:
        returned = returned or inspect.signature(name.value).return_annotation
    except (TypeError, ValueError):  # a value, or a class without a signature
        return False
    return "NoReturn" in str(returned) or name.home == UNSUPPORTED


@cache
def methods() -> dict[str, Any]:
    """The public members in the ``__dict__`` of Tensor."""
    public = (name for name in dir(Tensor) if not name.startswith("_"))
    return {name: inspect.getattr_static(Tensor, name) for name in public}


@cache
def inplace_forms(module: str) -> dict[str, str]:
    """Names of a module's in-place functions, by the name without the underscore."""
    found = {name.name: name.value for name in own(module) if hasattr(name.value, "op")}
    return {
        name: f"{name}_"
        for name, value in found.items()
        if f"{name}_" in found and found[f"{name}_"].op is value.op
    }


@cache
def methods_of_operations() -> dict[str, list[str]]:
    """Names of the Tensor methods of each operation, with in-place forms, by function name."""
    in_place = {*inplace_forms("tinytorch").values()}
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
