"""What another library is told of tensors once a program has imported it.

A library that keeps a list of the arrays it knows is told when its module is there: by a finder
that adds a call to how that module is loaded, or, where it is loaded already, at once. Nothing is
imported that the program does not import.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

#: By the module of another library, the one beside this whose ``register`` is called with it.
TOLD = {
    "einops._backends": "einops",
    "dask.tokenize": "dask",
    "dask.sizeof": "dask",
    "dask.array.core": "dask",
    "dask.array.backends": "dask",
    "distributed.protocol.serialize": "dask",
    "lightning.fabric.plugins.environments.mpi": "lightning",
    "lightning_fabric.plugins.environments.mpi": "lightning",
    "multiprocessing.reduction": "reductions",
    "pandas._libs.lib": "pandas",
    "pandas.core.common": "pandas",
    "pandas.core.construction": "pandas",
    "pandas.core.algorithms": "pandas",
    "pandas.core.groupby.grouper": "pandas",
    "pandas.core.indexing": "pandas",
    "pandas.core.arrays.categorical": "pandas",
    "pandas.core.reshape.merge": "pandas",
    "pandas.core.frame": "pandas",
    "pandas.core.generic": "pandas",
    "pandas.core.dtypes.cast": "pandas",
    "pandas.core.missing": "pandas",
    "pandas.core.indexes.base": "pandas",
    "pandas.core.indexes.range": "pandas",
    "pandas.core.indexes.multi": "pandas",
    "pandas.core.indexes.datetimelike": "pandas",
    "pandas.core.tools.timedeltas": "pandas",
}


def install() -> None:
    """Tell the libraries that are loaded, and those that will be; once is enough."""
    if any(isinstance(finder, _Finder) for finder in sys.meta_path):
        return
    sys.meta_path.insert(0, _Finder())
    for name in TOLD:
        if name in sys.modules:
            _tell(sys.modules[name])


def _tell(module: ModuleType) -> None:
    import_module(f"{__package__}.{TOLD[module.__name__]}").register(module)


class _Finder:
    """Finds the modules above as Python does, and nothing else."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname not in TOLD:
            return None
        others = (finder for finder in sys.meta_path if not isinstance(finder, _Finder))
        found = (finder.find_spec(fullname, path, target) for finder in others)
        spec = next((each for each in found if each is not None), None)
        if spec is not None and spec.loader is not None:
            told: Any = _Loader(spec.loader)
            spec.loader = told
        return spec


class _Loader:
    """Loads a module as another loader does, and tells it of tensors."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader
        self.create_module = loader.create_module

    def exec_module(self, module: Any) -> None:
        """Run the module; from then on it has the loader that it would have without this one."""
        module.__loader__ = module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        _tell(module)
