"""The names of a module under those of PyTorch's files, too: ``fx.node.Node`` is ``fx.Node``."""

from __future__ import annotations

import sys
from types import ModuleType

from ..state.tracebacks import shorten_namespace
from .packages import names_of, reexport


def publish(module: str, files: str) -> None:
    """Make a package of a module, with these files in it; nothing is looked for on disk.

    The import system finds them in ``sys.modules``, as it does ``os.path``.

    Args:
        module: The module's ``__name__``; each file gets all that it defines.
        files: Names of the files, apart by spaces; one in another is ``"outer.inner"``.
    """
    table = names_of(sys.modules[module])
    table.setdefault("__path__", [])
    shorten_namespace(table)  # first, so that all these modules have the same functions
    names = {name: value for name, value in table.items() if not name.startswith("__")}
    for file in files.split():
        made = ModuleType(f"{module}.{file}", f"PyTorch's file {file!r}.")
        made.__dict__.update(names, __path__=[])
        outer, _, inner = file.rpartition(".")
        reexport(made)
        sys.modules[made.__name__] = made
        setattr(sys.modules[f"{module}.{outer}".rstrip(".")], inner, made)
