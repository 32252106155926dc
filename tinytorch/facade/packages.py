"""Packages that are read when a name of theirs is first asked for.

A package that imports its modules while it is imported makes a ring with them: of two threads that
come in at different places, one by the package and one by a module, each holds the import lock that
the other waits for, and Python ends that by giving one of them half a module. So importing a
package runs none of it. What runs it, later, is whoever asks for a name that is no module's; others
wait for the whole of it, and modules do not ask for such names of their own package.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType
from typing import Any

_PREFIX = __name__.partition(".")[0] + "."
#: Packages with a function named like the module it is in, whose place an import would take.
_NAMED_ALIKE = frozenset(
    _PREFIX + name for name in ("backends.cupy", "compat.higher_order_ops", "nn.utils")
)
#: Those that programs import the module of, too, and keep the function after that, as in PyTorch.
_KEPT = {
    _PREFIX + "autograd": {"gradcheck"},
    _PREFIX + "nn.utils": {"spectral_norm", "weight_norm"},
}


def install() -> None:
    """Have packages imported from now on wait to be asked; once is enough."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
    for name in _KEPT.keys() & sys.modules.keys():
        sys.modules[name].__class__ = _Package


class _Finder:
    """Finds packages below this one, and their modules, as Python does."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not fullname.startswith(_PREFIX):
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None:
            return None if fullname in _NAMED_ALIKE else _published(fullname)
        if spec.submodule_search_locations is not None:
            if type(spec.loader) is SourceFileLoader:  # and none of a zip file, or of a tool
                loader = _Whole if fullname in _NAMED_ALIKE else _Loader
                spec.loader = loader(fullname, spec.loader.path)
        return spec


def _published(fullname: str) -> ModuleSpec | None:
    """A module that its parent makes, and files in ``sys.modules``, when it is run."""
    parent = import_module(fullname.rpartition(".")[0])  # the whole of it
    body = getattr(vars(parent).get("__getattr__"), "__self__", None)
    if isinstance(body, _Body):
        body.run()
    made = sys.modules.get(fullname)
    return None if made is None else alias(fullname, made)


class _Alias:
    """Hands out a module that is loaded already."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module
        self._spec = module.__spec__

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        # The import system has put the alias's spec in the place of the module's own,
        # which reload and pickle go by.
        module.__spec__ = self._spec


def alias(fullname: str, module: ModuleType) -> ModuleSpec:
    """How ``import fullname`` finds a module that is loaded already."""
    # A Loader by what it does: the class's module takes 8 ms to import.
    loader: Any = _Alias(module)
    return ModuleSpec(fullname, loader, is_package=hasattr(module, "__path__"))


class _Package(ModuleType):
    """A package that keeps functions in the place of the modules they are named like."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (isinstance(value, ModuleType) and name in _KEPT[self.__name__]):
            super().__setattr__(name, value)


class _Whole(SourceFileLoader):
    """Runs a package when it is imported."""

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return _Package(spec.name) if spec.name in _KEPT else None


class _Loader(_Whole):
    """Leaves a package to be run later; one that has been run is run again at once."""

    def exec_module(self, module: ModuleType) -> None:
        code = self.get_code(module.__name__)
        assert code is not None
        if any(not name.startswith("__") for name in vars(module)):
            exec(code, vars(module))  # it is imported anew
            return
        module.__doc__ = code.co_consts[0]
        body = _Body(code, module)
        vars(module).update(__getattr__=body.attribute, __dir__=body.listing)


class _Body:
    """What is written in a package, and whether it has been run."""

    def __init__(self, code: CodeType, module: ModuleType) -> None:
        self._code = code
        self._module = module
        self._lock = threading.RLock()
        self._begun = False
        self.attribute = self._attribute
        self.listing = self._listing

    def _attribute(self, name: str) -> Any:
        """The package's ``__getattr__`` until it has been run."""
        module, path = self._module, f"{self._module.__name__}.{name}"
        if not name.startswith("__") and PathFinder.find_spec(path, module.__path__):
            return import_module(path)
        self.run()
        found = vars(module)
        if name in found:
            return found[name]
        own = found.get("__getattr__", self.attribute)
        if own is not self.attribute:
            return own(name)
        raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")

    def _listing(self) -> list[str]:
        self.run()
        return dir(self._module)

    def run(self) -> None:
        """Run it, or wait until another thread has."""
        with self._lock:
            if self._begun:
                return
            self._begun = True
            found = vars(self._module)
            try:
                exec(self._code, found)
            except BaseException:
                self._begun = False
                raise
            if found.get("__dir__") is self.listing:
                del found["__dir__"]
            if found.get("__getattr__") is self.attribute:
                del found["__getattr__"]
