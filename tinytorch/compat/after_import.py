"""Registration of tensors with other libraries, once a program has imported them.

A library that has a list of array types gets tensors into it when its module is loaded: a finder
adds a call to the loading of that module, or the call is made at once if the module is loaded
already. Nothing is imported that the program does not import.

References:
    https://einops.rocks
    https://lightning.ai/docs/fabric/stable/api/environments.html
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, ClassVar

from ..dispatch.tensor_protocols import DECLARATIONS


def register_einops(backends: ModuleType) -> None:
    """Add a backend for tensors to those of einops: ``einops.rearrange(tensor, "a b -> b a")``.

    Args:
        backends: The module ``einops._backends``. Its backend of PyTorch calls the functions of
            the module that it holds.
    """
    from ..core.tensor import Tensor
    from .as_torch import facade

    base: Any = vars(backends)["TorchBackend"]

    class TinytorchBackend(base):  # type: ignore[misc]
        framework_name: ClassVar[str] = __name__.partition(".")[0]

        def __init__(self) -> None:
            self.torch = facade()

        def is_appropriate_type(self, tensor: object) -> bool:
            return isinstance(tensor, Tensor)

        def is_float_type(self, tensor: Tensor) -> bool:
            return tensor.is_floating_point()

    # einops finds it among the subclasses, which hold weak references.
    vars(backends)["TinytorchBackend"] = TinytorchBackend


def register_lightning(module: ModuleType) -> None:
    """Have Lightning look for a launcher of MPI in the environment before it starts MPI.

    ``MPIEnvironment.detect`` imports ``mpi4py.MPI``, which starts MPI for one rank. Ranks that
    Lightning starts itself could not find each other after that.

    Args:
        module: ``lightning.fabric.plugins.environments.mpi``.
    """
    from ..distributed.rendezvous import has_launcher

    environment: Any = vars(module)["MPIEnvironment"]
    detect = environment.detect
    environment.detect = staticmethod(lambda: has_launcher() and detect())


#: Functions that register tensors with a module of another library, or the names of modules in this
#: package whose ``register`` does, by the name of the other library's module.
REGISTRATIONS: dict[str, str | Callable[[ModuleType], None]] = {
    "einops._backends": register_einops,
    "dask.tokenize": "dask",
    "dask.sizeof": "dask",
    "dask.array.core": "dask",
    "dask.array.backends": "dask",
    "distributed.protocol.serialize": "dask",
    "lightning.fabric.plugins.environments.mpi": register_lightning,
    "lightning_fabric.plugins.environments.mpi": register_lightning,
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
    "torchvision.extension": "torchvision",
    "torchvision.io.image": "torchvision",
}


#: Namespaces of operators that exist although no program declares them, by the names of the modules
#: whose ``declare`` does, relative to this package.
OPERATORS = {
    "image": ".torchvision", "profiler": "..library.operator", "torchvision": ".torchvision",
}  # fmt: skip


def install() -> None:
    """Register tensors with the libraries that are loaded, and with those that will be."""
    if any(isinstance(finder, _RegistrationFinder) for finder in sys.meta_path):
        return
    sys.meta_path.insert(0, _RegistrationFinder())
    DECLARATIONS.update({library: partial(_declare, library) for library in OPERATORS})
    for name in REGISTRATIONS:
        if name in sys.modules:
            _register(sys.modules[name])


def _declare(library: str) -> None:
    """Declare the operators of a library, one of ``OPERATORS``."""
    import_module(OPERATORS[library], __package__).declare(library)


def _register(module: ModuleType) -> None:
    """Call the registration of a library for its imported module, one of ``REGISTRATIONS``."""
    registration = REGISTRATIONS[module.__name__]
    if isinstance(registration, str):
        registration = import_module(f"{__package__}.{registration}").register
    registration(module)


class _RegistrationFinder:
    """Finder of the modules above alone, which finds them as Python does."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname not in REGISTRATIONS:
            return None
        others = (finder for finder in sys.meta_path if not isinstance(finder, _RegistrationFinder))
        found = (finder.find_spec(fullname, path, target) for finder in others)
        spec = next((each for each in found if each is not None), None)
        if spec is not None and spec.loader is not None:
            loader: Any = _RegistrationLoader(spec.loader)
            spec.loader = loader
        return spec


class _RegistrationLoader:
    """Loader that calls another one, and then registers tensors with the module."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader
        self.create_module = loader.create_module

    def exec_module(self, module: Any) -> None:
        """Execute the module, which gets the loader that it would have without this one."""
        module.__loader__ = module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        _register(module)
