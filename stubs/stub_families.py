"""Text of ``tinytorch/dispatch/index.py``: the names of each family of operations."""

from __future__ import annotations

import inspect
import sys
import textwrap
from collections.abc import Iterator
from typing import Any

from tinytorch.core.tensor import Tensor
from tinytorch.dispatch import registry
from tinytorch.dispatch.op import NAMESPACES, OPS
from tinytorch.ops.results import RESULTS

_PACKAGE = "tinytorch."
_PREFIXES = ("tinytorch.ops.", "tinytorch.numpy.functions.")
_HEAD = '''\
"""Which family of operations, a module of ``ops`` or ``numpy.functions``, holds which names.

Written by ``stubs/generate.py``, as the stubs are. By namespace (``""`` is the top level, under
``Tensor`` are the methods) and family.
"""

from typing import Final

FAMILIES: Final[dict[str, dict[str, str]]] = {
'''


def write_families() -> str:
    """The text of the module."""
    registry.load_all()
    found: dict[str, dict[str, list[str]]] = {}
    for space, name, module in _registered_names():
        if module.startswith(_PREFIXES):
            family = module.removeprefix(_PACKAGE)
            found.setdefault(space, {}).setdefault(family, []).append(name)
    lines = [_HEAD]
    for space, families in sorted(found.items()):
        lines.append(f'    "{space}": {{\n')
        for family, names in sorted(families.items()):
            lines += _entry(family, sorted(names))
        lines.append("    },\n")
    return "".join([*lines, "}\n"])


def _registered_names() -> Iterator[tuple[str, str, str]]:
    """Yield each namespace and name, with the module that defines its value."""
    for space, table in NAMESPACES.items():
        if space not in ("Tensor", "numpy"):  # all functions of NumPy are registered on import
            yield from (
                (space, name, _defining_module(function)) for name, function in table.items()
            )
    for name, value in vars(Tensor).items():
        yield "Tensor", name, _defining_module(value.fget if isinstance(value, property) else value)
    for name, op in OPS.items():
        if not op.public:
            yield "private", name, _defining_module(op.function)
    homes = {
        id(value): module.__name__ for module in _families() for value in vars(module).values()
    }
    for name in RESULTS:
        yield "return_types", name, homes[id(RESULTS[name.removesuffix("_out")])]


def _defining_module(value: Any) -> str:
    """Name of the module that defines a function, also if it is wrapped; empty without one."""
    return getattr(inspect.unwrap(value), "__module__", None) or ""


def _families() -> list[Any]:
    """The modules of operations, in reverse alphabetical order."""
    return [sys.modules[name] for name in sorted(sys.modules, reverse=True)
            if name.startswith(_PREFIXES)]  # fmt: skip


def _entry(family: str, names: list[str]) -> list[str]:
    """The source lines of one family in ``FAMILIES``: its key, and a string of its names."""
    begin = f'        "{family}": "'
    whole = f'{begin}{" ".join(names)}",'
    if len(whole) <= 100:
        return [whole + "\n"]
    text = " ".join(names) + '""",'
    return [line + "\n" for line in textwrap.wrap(
        text, 100, initial_indent=begin + '""', subsequent_indent=" " * 12)]  # fmt: skip
