"""Startup of the Python programs that a program under ``python -m tinytorch`` starts.

The runner puts this folder in ``PYTHONPATH`` and sets ``TINYTORCH_AS_TORCH=1``, so that every
child interpreter imports this file first: tinytorch stands in for torch there, too. It is imported
when the child asks for torch, not before. The folder leaves ``sys.path`` at once, and another
``sitecustomize`` runs as it would without this one.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Any

_ROOTS = ("torch", "functorch")


class _Starter:
    """Finder that installs tinytorch as torch at the first import of torch."""

    def start(self) -> bool:
        """Install tinytorch as torch, if this interpreter has it; leave ``sys.meta_path``."""
        sys.meta_path[:] = [finder for finder in sys.meta_path if finder is not self]
        try:
            package = import_module("tinytorch")
        except ModuleNotFoundError as error:
            if error.name != "tinytorch":
                raise
            return False  # an interpreter of another environment
        package.install_as_torch()
        return True

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        """Find torch, functorch and everything below in tinytorch."""
        if fullname.partition(".")[0] in _ROOTS and self.start():
            return find_spec(fullname)
        return None

    def find_distributions(self, context: Any) -> Iterator[Any]:
        """Find the distribution that ``importlib.metadata`` calls torch."""
        if context.name == "torch" and self.start():
            from tinytorch.compat.as_torch import torch_distribution

            yield torch_distribution()


def _run_next(own: Any) -> None:
    """Run the ``sitecustomize`` that this one hides."""
    del sys.modules["sitecustomize"]
    try:
        import sitecustomize  # type: ignore[import-not-found]  # noqa: F401
    except ModuleNotFoundError as error:
        if error.name != "sitecustomize":
            raise
        sys.modules["sitecustomize"] = own


if __name__ == "sitecustomize":  # and not a tool that imports every module of the package
    _here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [folder for folder in sys.path if os.path.abspath(folder) != _here]
    if os.environ.get("TINYTORCH_AS_TORCH") == "1":
        sys.meta_path.insert(0, _Starter())
    _run_next(sys.modules["sitecustomize"])
