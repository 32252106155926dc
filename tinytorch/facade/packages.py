"""How this package's modules are imported: packages late, those that call NumPy silent.

**Packages are read when a name of theirs is first asked for.**
A package that imports its modules while it is imported makes a ring with them: of two threads that
come in at different places, one by the package and one by a module, each holds the import lock that
the other waits for, and Python ends that by giving one of them half a module. So importing a
package runs none of it. What runs it, later, is whoever asks for a name that is no module's; others
wait for the whole of it, and modules do not ask for such names of their own package.

**Modules that call NumPy have no ``__name__`` once they are imported.** log(0) is -inf and 0 / 0 is
nan, silently, as in PyTorch; NumPy warns, at the line that called it, which is ours. Python drops a
warning from a place without a name (``warn_explicit`` takes it for one of a program that ends), and
it does so before it looks at any filter, so that no filter of the user's is changed or needed.
``numpy.errstate`` would do as well: its context variable alone takes 170 ns a call, a sixth of a
small one, and ``numpy.seterr`` would change the user's own NumPy.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType
from typing import Any, cast

_PREFIX = __name__.partition(".")[0] + "."
#: Names in packages that are also those of the modules they are in, which give way to them.
_NAMED_ALIKE = {
    _PREFIX + "autograd": ("gradcheck",),
    _PREFIX + "compat.higher_order_ops": ("associative_scan", "cond", "map", "scan", "while_loop"),
    _PREFIX + "nn.utils": ("spectral_norm", "weight_norm"),
    _PREFIX + "numpy": ("ndarray", "ufunc"),
}
#: Where the modules are that call NumPy.
_CALLERS = tuple(
    _PREFIX + room
    for room in (
        "autograd.engine",
        "backends.",
        "dispatch.promotion",
        "ops.",
        "optim._",
    )
)


def install() -> None:
    """Have packages imported from now on wait to be asked, and silent modules be so."""
    for name, module in list(sys.modules.items()):
        is_file = hasattr(module, "__file__") and not hasattr(module, "__path__")
        if name.startswith(_CALLERS) and is_file:
            module.__class__ = _SilentModule
            vars(module)["__name__"] = None
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
    for name in _NAMED_ALIKE.keys() & sys.modules.keys():
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
            return _published(fullname)
        if spec.submodule_search_locations is not None:
            if type(spec.loader) is SourceFileLoader:  # and none of a zip file, or of a tool
                spec.loader = _Loader(fullname, spec.loader.path)
        elif fullname.startswith(_CALLERS):
            loader: Any = _SilentLoader(spec.loader)
            spec.loader = loader
        return spec


def _published(fullname: str) -> ModuleSpec | None:
    """A module that its parent makes, and files in ``sys.modules``, when it is run."""
    parent = import_module(fullname.rpartition(".")[0])  # the whole of it
    body: _Body | None = vars(parent).get("__body__")
    if body is not None:
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
    """A package, of which functions and classes come before the modules named like them."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not isinstance(value, ModuleType) or name not in _NAMED_ALIKE.get(self.__name__, ()):
            super().__setattr__(name, value)


class _Loader(SourceFileLoader):
    """Leaves a package to be run later; one that has been run is run again at once."""

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return _Package(spec.name) if spec.name in _NAMED_ALIKE else None

    def exec_module(self, module: ModuleType) -> None:
        code = self.get_code(module.__name__)
        assert code is not None
        body: _Body | None = vars(module).get("__body__")
        if body is not None and body.begun:
            exec(code, vars(module))  # it is imported anew
            return
        module.__doc__ = code.co_consts[0]
        body = _Body(code, module)
        vars(module).update(__body__=body, __getattr__=body.attribute, __dir__=body.listing)


class _SilentModule(ModuleType):
    """A module whose own lines see no ``__name__``; to others it says it."""

    @property
    def __name__(self) -> str:
        return cast(ModuleSpec, self.__spec__).name

    @__name__.setter
    def __name__(self, name: str) -> None:
        vars(self)["__name__"] = name


class _SilentLoader:
    """Another loader, after which a module is silent."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader

    def __getattr__(self, name: str) -> Any:  # get_source and the like
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _SilentModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        vars(module)["__name__"] = None


class _Body:
    """What is written in a package, and whether it has been run.

    Nothing else tells that: modules of a package may be set in it before it is loaded itself.
    """

    def __init__(self, code: CodeType, module: ModuleType) -> None:
        self._code = code
        self._module = module
        self._lock = threading.RLock()
        self.begun = False
        self.attribute = self._attribute
        self.listing = self._listing

    def _attribute(self, name: str) -> Any:
        """The package's ``__getattr__`` until it has been run."""
        module, path = self._module, f"{self._module.__name__}.{name}"
        if not name.startswith("__") and name not in _NAMED_ALIKE.get(module.__name__, ()):
            if PathFinder.find_spec(path, module.__path__):
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
            if self.begun:
                return
            self.begun = True
            found = vars(self._module)
            try:
                exec(self._code, found)
            except BaseException:
                self.begun = False
                raise
            if found.get("__dir__") is self.listing:
                del found["__dir__"]
            if found.get("__getattr__") is self.attribute:
                del found["__getattr__"]
