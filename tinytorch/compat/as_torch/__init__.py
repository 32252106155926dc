"""tinytorch under the name ``torch``, so that a PyTorch script runs unchanged.

``torch.nn`` and ``tinytorch.nn`` become one module object, so that imports by either name are the
same. PyTorch itself, installed or not, is never loaded.

Libraries read the version of ``torch``, and compare dtypes with ``torch.bfloat16``, when they are
imported. While tinytorch stands in, ``__version__`` is the version of the PyTorch whose API it has,
with its own after a plus, and ``bfloat16``, ``complex32`` and the float8 types have names though no
tensor can have them. Programs also read texts, ``str(dtype).replace("torch.", "")``, so the texts
of dtypes, sizes and layouts are PyTorch's.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Iterator, Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from ... import dtypes
from ...facade.packages import names_of
from ...torch_version import TorchVersion
from ..import_hook import alias

__all__ = ["facade", "install_as_torch", "install_in_children", "uninstall_as_torch"]

#: Version of the PyTorch whose API this is.
_API = "2.13.0"
#: Folder with ``torch.py``, which spawned processes find, as they have no finder.
_FOLDER = str(Path(__file__).parent)
#: Top modules of PyTorch's distribution.
_ROOTS = ("torch", "functorch")
_OWN = __name__.partition(".")[0]
#: Changes by ``install_as_torch``, in order: an object, its attribute, and the former value.
_changed: list[tuple[Any, str, Any]] = []
_ABSENT = object()


def install_as_torch() -> None:
    """Make ``torch`` and ``torch.x`` other names of ``tinytorch`` and ``tinytorch.x``.

    It does for a notebook or a REPL what ``python -m tinytorch`` does for a script. It holds for
    the process, and for those that ``multiprocessing`` starts from it, until
    ``uninstall_as_torch()``. Until then ``tinytorch.__version__`` is the version of the PyTorch
    whose API this is, with ours after a plus, and the texts of dtypes, sizes and layouts are
    PyTorch's. A second call has no effect.

    Raises:
        RuntimeError: If PyTorch itself is loaded already.

    Example:
        >>> tt.install_as_torch()
        >>> import torch
        >>> import torch.nn as nn
        >>> torch is tt, nn is tt.nn
        (True, True)
        >>> tt.uninstall_as_torch()
    """
    loaded = sys.modules.get("torch")
    if loaded is not None and loaded is not facade():
        where = getattr(loaded, "__file__", None)
        raise RuntimeError(
            f"tinytorch cannot stand in for torch: this process has imported torch from {where}"
        )
    if not any(isinstance(finder, _TorchFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _TorchFinder())
        _imitate_torch(facade())
    if _FOLDER not in sys.path:
        # After the script's own folder, before any folder that may have PyTorch.
        sys.path.insert(1, _FOLDER)


def uninstall_as_torch() -> None:
    """Undo ``install_as_torch``: the next ``import torch`` finds PyTorch, if it is installed.

    Names that were imported from ``torch`` before stay names of tinytorch. Without
    ``install_as_torch()`` before, it has no effect.

    Example:
        >>> tt.install_as_torch()
        >>> tt.uninstall_as_torch()
        >>> tt.float32
        tinytorch.float32
    """
    sys.meta_path[:] = [each for each in sys.meta_path if not isinstance(each, _TorchFinder)]
    sys.path[:] = [folder for folder in sys.path if folder != _FOLDER]
    if not _changed:
        return
    while _changed:
        owner, name, before = _changed.pop()
        if before is _ABSENT:
            delattr(owner, name)
        else:
            setattr(owner, name, before)
    for name in [each for each in sys.modules if each.partition(".")[0] in _ROOTS]:
        del sys.modules[name]


def install_in_children() -> None:
    """Make Python programs that this process starts import tinytorch as torch, too.

    They inherit ``TINYTORCH_AS_TORCH=1``, unless it has another value, and a ``PYTHONPATH`` with
    this folder, whose ``sitecustomize.py`` reads the variable.
    """
    if os.environ.setdefault("TINYTORCH_AS_TORCH", "1") == "1":
        folders = os.environ.get("PYTHONPATH", "").split(os.pathsep)
        rest = [folder for folder in folders if folder and folder != _FOLDER]
        os.environ["PYTHONPATH"] = os.pathsep.join([_FOLDER, *rest])


def _imitate_torch(module: Any) -> None:
    """Give the module the names and texts that libraries expect of PyTorch only."""
    _change(module, "__version__", TorchVersion(f"{_API}+tinytorch.{module.__version__}"))
    for named in (*dtypes.LOW, *dtypes.NAMED_ALONE):
        _change(module, named.name, named)
    _change(module, "chalf", module.complex32)
    _change(dtypes, "shown_as", "torch")
    for kind in (module.Tensor, module.dtype):
        _change(kind, "__module__", "torch")  # by which libraries recognize arrays of PyTorch
    import_module(f"{_OWN}._C")
    _change(module, "__name__", "torch")  # libraries look a class up by that name, and compare it


def _change(owner: Any, name: str, value: Any) -> None:
    """Set an attribute of a module or class.

    Its previous value is added to ``_changed``, from which ``uninstall_as_torch`` restores it.
    """
    # Not ``vars`` of a module, which would resolve all of its names first.
    names = names_of(owner) if isinstance(owner, ModuleType) else vars(owner)
    _changed.append((owner, name, names.get(name, _ABSENT)))
    setattr(owner, name, value)


def facade() -> ModuleType:
    """Return the module ``tinytorch``."""
    return sys.modules[_OWN]


class _TorchFinder:
    """Finder of ``torch``, ``functorch`` and the modules in them.

    It also finds a distribution named torch, of the version ``torch.__version__``.
    """

    def find_distributions(self, context: Any) -> Iterator[Any]:
        """Yield the distribution that ``importlib.metadata`` finds under the name torch."""
        if context.name in (None, "torch"):
            yield torch_distribution()

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        root, _, part = fullname.partition(".")
        if root not in _ROOTS:
            return None
        part = part if root == "torch" else fullname
        return alias(fullname, _counterpart(fullname, part) if part else _OWN)


@functools.cache
def torch_distribution() -> Any:
    """``importlib.metadata``'s distribution named torch, of the version ``torch.__version__``."""
    from importlib.metadata import Distribution  # takes 20 ms

    class TorchDistribution(Distribution):
        def read_text(self, filename: str) -> str | None:
            """Contents of a file of the distribution, which has one."""
            if filename != "METADATA":
                return None
            return f"Metadata-Version: 2.1\nName: torch\nVersion: {facade().__version__}\n"

        def locate_file(self, path: Any) -> Any:
            """Path that a file of the distribution would have."""
            return Path(__file__).parent / path

    return TorchDistribution()


def _counterpart(fullname: str, part: str) -> str:
    """Return the full name of our module, which need not have been imported."""
    name = f"{_OWN}.{part}"
    if name in sys.modules or find_spec(name) is not None:
        return name
    raise ModuleNotFoundError(
        f"No module named {fullname!r}: tinytorch, which stands in for torch here, has no {part!r}",
        name=fullname,
    )


for _function in (install_as_torch, uninstall_as_torch):
    _function.__module__ = _OWN
