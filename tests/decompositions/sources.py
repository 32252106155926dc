"""PyTorch's operations that are written in Python, with ``torch`` standing for tinytorch.

Their sources are read where PyTorch is installed, ``torch`` becomes ``decomposed`` in them, and
what they import beside tensors and operations comes from ``stand_ins``.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.util
import re
import sys
from pathlib import Path
from typing import Any

from decompositions import stand_ins

ROOT = stand_ins.ROOT
SOURCES = ("_prims_common", "_refs", "_decomp.decompositions")


class _Changed(importlib.abc.InspectLoader):
    """Loads a source of PyTorch's with another name for ``torch``."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def get_source(self, fullname: str) -> str:
        return re.sub(r"\btorch\b", ROOT, self.path.read_text())

    def is_package(self, fullname: str) -> bool:
        return self.path.name == "__init__.py"


class _SourceFinder(importlib.abc.MetaPathFinder):
    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        rest = fullname.removeprefix(f"{ROOT}.")
        if rest == fullname or not rest.startswith(SOURCES):
            return None
        import torch

        base = Path(torch.__file__).parent.joinpath(*rest.split("."))
        found = [p for p in (base / "__init__.py", base.with_suffix(".py")) if p.exists()]
        return importlib.util.spec_from_loader(fullname, _Changed(found[0])) if found else None


def load() -> Any:
    """The stand-in for ``torch``, with its references and decompositions loaded."""
    if ROOT not in sys.modules:
        stand_ins.install()
        sys.meta_path.append(_SourceFinder())
        for name in ("_refs", "_refs.linalg", "_refs.fft", "_decomp.decompositions"):
            importlib.import_module(f"{ROOT}.{name}")
    return sys.modules[ROOT]
