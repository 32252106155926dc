"""``import torch`` gives tinytorch: what lets a PyTorch script run unchanged.

``torch.nn`` and ``tinytorch.nn`` become one module object, so whatever is imported by
either name is the same. PyTorch itself, installed or not, is never loaded.

Libraries ask their ``torch`` for its version, and compare dtypes with ``torch.bfloat16``, when
they are imported: while tinytorch stands in, ``__version__`` is that of the PyTorch whose API
it has, with its own behind a plus, and ``bfloat16``, ``complex32`` and the float8 types have
names though no tensor can be of them. Programs read texts, too,
``str(dtype).replace("torch.", "")``: dtypes, sizes and layouts show themselves as PyTorch's.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

from ... import dtypes
from ...torch_version import TorchVersion
from ..import_hook import alias

__all__ = ["facade", "install"]

#: The PyTorch whose API this is.
_API = "2.13.0"
#: Holds ``torch.py``, which spawned processes find where this one has its finder.
_FOLDER = str(Path(__file__).parent)
_OWN = __name__.partition(".")[0]


def install() -> None:
    """Make ``torch`` and ``torch.x`` other names of ``tinytorch`` and ``tinytorch.x``.

    Holds for the rest of the process and for the processes that ``multiprocessing``
    starts from it. Calling it again does nothing.

    Raises:
        RuntimeError: If PyTorch is loaded already.

    Example:
        Run in a process of its own::

            from tinytorch.compat.as_torch import install
            install()
            import torch.nn as nn   # tinytorch.nn
    """
    loaded = sys.modules.get("torch")
    if loaded is not None and loaded is not facade():
        where = getattr(loaded, "__file__", None)
        raise RuntimeError(
            f"tinytorch cannot stand in for torch: this process has imported torch from {where}"
        )
    if not any(isinstance(finder, _TorchFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _TorchFinder())
    _answer_for_torch(facade())
    if _FOLDER not in sys.path:
        # Behind the script's own folder, before any folder that may hold PyTorch.
        sys.path.insert(1, _FOLDER)


def _answer_for_torch(module: Any) -> None:
    """Give the module what libraries ask of PyTorch's alone."""
    own = module.__version__
    if "tinytorch" not in own:
        module.__version__ = TorchVersion(f"{_API}+tinytorch.{own}")
    for named in (dtypes.bfloat16, *dtypes.NAMED_ALONE):
        setattr(module, named.name, named)
    module.chalf = module.complex32
    dtypes.shown_as = "torch"
    for kind in (module.Tensor, module.dtype):
        kind.__module__ = "torch"  # by which libraries tell whose arrays they are given
    import_module(f"{_OWN}._C")
    module.__name__ = "torch"  # libraries look a class up by that name, and compare it


def facade() -> ModuleType:
    """The module ``tinytorch``."""
    return sys.modules[_OWN]


class _TorchFinder:
    """Answers for ``torch`` and everything below it, and for nothing else."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        root, _, part = fullname.partition(".")
        if root != "torch":
            return None
        module = _counterpart(fullname, part) if part else facade()
        return alias(fullname, module)


def _counterpart(fullname: str, part: str) -> ModuleType:
    name = f"{_OWN}.{part}"
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise  # the part exists; something it needs does not
        raise ModuleNotFoundError(
            f"No module named {fullname!r}: tinytorch, which stands in for torch here, "
            f"has no {part!r}",
            name=fullname,
        ) from None
