"""Registry of operations: names, and the modules to import for them.

Operations are defined in modules of ``tinytorch.ops`` and, those that NumPy alone has, of
``tinytorch.numpy.functions``; these modules are called families. A family is imported when
one of its names is looked up; ``index``, which is generated as the stubs are, lists the names of
every family. A name that is neither in the index nor registered since does not exist, and finding
that out imports nothing.

This is the one place that imports modules above it by a computed name. Code that uses an operation
without importing its family looks it up here.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from .index import FAMILIES

if TYPE_CHECKING:
    from .operation import Op

#: By namespace (or ``Tensor``, for its methods) and name, the family that defines it.
FAMILY_OF = {
    space: {name: family for family, names in families.items() for name in names.split()}
    for space, families in FAMILIES.items()
}


class LazyRegistry(dict[str, Any]):
    """Values by qualified name; a look-up of ``registry[name]`` imports the family of the name."""

    def __missing__(self, name: str) -> Any:
        load_for(name)
        if name not in self:
            raise KeyError(name)
        return self[name]


#: Every operation by its qualified name: ``sin``, ``nn.functional.linear``, ``linalg.norm``.
OPS: dict[str, Op] = LazyRegistry()

#: The functions of each public namespace: ``NAMESPACES["nn.functional"]["relu"]``.
NAMESPACES: dict[str, dict[str, Callable[..., Any]]] = {"": LazyRegistry()}


def families() -> list[str]:
    """Return the modules of operations: of the folders in ``tinytorch.ops``, NumPy's functions."""
    root = os.path.dirname(os.path.dirname(__file__))
    packages = [each for each in _scan_sorted(os.path.join(root, "ops")) if each.is_dir()]
    found = [f"ops.{each.name}.{file}" for each in packages for file in _modules(each)]
    functions = os.path.join(root, "numpy", "functions")
    return [*found, *(f"numpy.functions.{file}" for file in _modules(functions))]


def _modules(folder: str | os.DirEntry[str]) -> list[str]:
    """Names of the modules in a folder, without a leading underscore, in alphabetical order."""
    return list(dict.fromkeys(entry.name.partition(".")[0] for entry in _scan_sorted(folder)))


def _scan_sorted(folder: str | os.DirEntry[str]) -> list[os.DirEntry[str]]:
    """Entries of a folder whose names have no leading underscore, in alphabetical order."""
    entries = [entry for entry in os.scandir(folder) if not entry.name.startswith("_")]
    return sorted(entries, key=lambda entry: entry.name)


def load(family: str) -> None:
    """Import a family, or wait until the thread that imports it has finished."""
    import_module(f"tinytorch.{family}")


def load_all() -> None:
    """Import every family."""
    for name in families():
        load(name)


def load_for(name: str) -> None:
    """Import the family that defines an operation of this qualified name, if there is one.

    The index has private operations under ``"private"``, by their whole names.
    """
    space, _, last = name.rpartition(".")
    family = FAMILY_OF["private"].get(name) or FAMILY_OF.get(space, {}).get(last)
    if family is not None:
        load(family)


def load_numpy() -> Any:
    """Import NumPy's functions on tensors, the namespace of rules under ``create_graph``."""
    return import_module("tinytorch.numpy.functions")


def find(namespace: str, name: str, table: Mapping[str, Any] | None = None) -> Any:
    """Return the value called ``name`` in a namespace, or None; its family is imported.

    Args:
        namespace: As in the index.
        name: The name.
        table: Where families register their values of the namespace. Default: its functions.
    """
    if table is None:
        table = NAMESPACES.setdefault(namespace, {})
    family = FAMILY_OF.get(namespace, {}).get(name)
    if family is not None:
        load(family)  # even if the name is registered: the rest of the family may not be yet
    return table.get(name)


def names(namespace: str) -> list[str]:
    """Return every name of a namespace: those of the index, and those that programs registered."""
    return sorted({*FAMILY_OF.get(namespace, ()), *NAMESPACES.get(namespace, ())})
