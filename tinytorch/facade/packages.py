"""Import of this package's modules: packages lazily, modules that call NumPy without warnings.

**The ``__init__.py`` of a package is executed at the first access to one of its names.**
A package that imports its modules while it is imported forms a ring with them. If one thread
imports the package and another one a module, each holds the import lock that the other waits for,
and Python resolves that by a partially initialized module. So importing a package executes nothing.
The first access to a name other than a module's executes the package, and other threads wait for
the end of that. Modules do not use such names of their own package.

**Every module is an attribute of its package**, whether it has been imported or not: the package's
``__getattr__`` imports it, or waits for the thread that does.

**Modules that call NumPy have no ``__name__`` after they are imported.** log(0) is -inf and 0 / 0
is nan without a warning, as in PyTorch. NumPy warns at the line that called it, which is in such a
module. Python drops a warning from a module without a name (``warn_explicit`` assumes that the
interpreter is shutting down) before it reads any filter, so that the user's filters stay as they
are. ``numpy.errstate`` would suppress the warnings, too, but its context variable alone takes
170 ns a call, a sixth of a small one, and ``numpy.seterr`` would change the user's own NumPy.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import sys
import threading
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, FunctionType, ModuleType
from typing import Any, cast

from ..core.pickling import NamedModule
from ..state.tracebacks import short, shorten, shorten_namespace, shorten_published

_PREFIX = __name__.partition(".")[0] + "."
#: Names in packages that hide the module of the same name in the package. Names of modules that are
#: made of rows of ``reexports`` are added when these are found.
_NAMED_ALIKE: dict[str, tuple[str, ...]] = {
    _PREFIX + "autograd": ("gradcheck",),
    _PREFIX + "compat.higher_order_ops": ("associative_scan", "cond", "map", "scan", "while_loop"),
    _PREFIX + "nn.utils": ("spectral_norm", "weight_norm"),
    _PREFIX + "numpy": ("ndarray", "ufunc"),
}
#: Sentinel: a module has no such name.
_ABSENT = object()
#: Prefixes of the modules that call NumPy.
_CALLERS = tuple(
    _PREFIX + room
    for room in (
        "graph.engine",
        "backends.",
        "capture.",
        "dispatch.promotion",
        "numpy.functions.elementwise",
        "ops.",
        "optim._",
    )
)

#: Packages whose names programs do not use.
_INTERNAL = tuple(
    f"{_PREFIX}{package}."
    for package in (
        "backends.numpy", "backends.cupy", "checkpoint", "core", "dispatch", "facade", "graph",
        "numpy.functions", "ops",
    )
)  # fmt: skip

#: Modules in packages whose functions programs call.
_PUBLIC = frozenset(
    f"{package}.{name}"
    for package, names in {
        "autograd": "anomaly forward_ad functional grad_mode gradient_check graph variable",
        "backends": "cudnn",
        "core": "device relocation size tensor",
        "cuda": "amp graphs memory nvtx profiler random streams",
        "distributed": "process_group",
        "distributions": "constraint_registry constraints kl transforms",
        "fx": "_symbolic_trace node",
        "nn": "init",
        "nn.attention": "flex_attention",
        "nn.utils": "parametrizations parametrize prune rnn stateless",
        "numpy": "polynomial random",
        "ops.create": "untyped_storage typed_storage",
        "optim": "lr_scheduler swa_utils",
        "utils.data": "collate",
        "utils": "checkpoint cpp_extension dlpack graph_drawing hooks summary tensorboard",
    }.items()
    for name in names.split()
)


def install() -> None:
    """Install the finder, and prepare the modules that are loaded already in the same way."""
    for name, module in list(sys.modules.items()):
        if name.startswith(_PREFIX):
            _shorten(module, _is_public if hasattr(module, "__path__") else _is_public_module)
        is_file = hasattr(module, "__file__") and not hasattr(module, "__path__")
        if name.startswith(_CALLERS) and is_file:
            module.__class__ = _SilentModule
            names_of(module)["__name__"] = None
        elif name.startswith(_PREFIX) and hasattr(module, "__path__"):
            _LazyInit.wrap_executed(module)
        elif name.startswith(_PREFIX) and is_file:
            reexport(module)
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
    for name in _NAMED_ALIKE.keys() & sys.modules.keys():
        sys.modules[name].__class__ = Namespace


def _shorten(module: ModuleType, is_public: Callable[[str], bool]) -> None:
    """Shorten tracebacks of a module's public functions, before others import them.

    Of the modules of an internal package, classes and the names in ``__all__`` are public.
    """
    space = names_of(module)
    if not is_public(module.__name__):
        shorten_published(space)
    elif module.__name__.startswith(_INTERNAL):
        shorten_published(space)
        listed = ("__name__", *space.get("__all__", ()))
        names = [n for n, value in space.items() if n in listed or isinstance(value, type)]
        shorten_namespace({name: space[name] for name in names})
    else:
        shorten_namespace(space)


def _is_public(name: str) -> bool:
    """Whether programs call the functions of a package or top-level module of this full name."""
    return "._" not in name and not f"{name}.".startswith(_INTERNAL)


def _is_public_module(name: str) -> bool:
    """Whether programs call the functions of a module, given by its full name."""
    return name.removeprefix(_PREFIX) in _PUBLIC or (name.count(".") == 1 and _is_public(name))


class _Finder:
    """Finder of packages below this one and their modules, with the loaders of this file."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not fullname.startswith(_PREFIX):
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None:
            return _find_published(fullname) or _find_made(fullname)
        if spec.submodule_search_locations is not None:
            if type(spec.loader) is SourceFileLoader:  # not the loader of a zip file or of a tool
                spec.loader = _Loader(fullname, spec.loader.path)
        elif fullname.startswith(_CALLERS):
            loader: Any = _SilentLoader(spec.loader)
            spec.loader = loader
        else:
            file: Any = _FileLoader(spec.loader)
            spec.loader = file
        return spec


def _find_published(fullname: str) -> ModuleSpec | None:
    """Find a module that its parent stores in ``sys.modules`` when it is executed."""
    parent = import_module(fullname.rpartition(".")[0])  # until it is complete
    lazy: _LazyInit | None = names_of(parent).get("__body__")
    if lazy is not None:
        lazy.run()
    made = sys.modules.get(fullname)
    return None if made is None else alias(fullname, made.__name__)


def _find_made(fullname: str) -> ModuleSpec | None:
    """Find a module of PyTorch's that has no file here but a row of names."""
    if _row(fullname) is None:
        return None
    parent, _, name = fullname.rpartition(".")
    if not isinstance(names_of(sys.modules[parent]).get(name, sys), ModuleType):
        _NAMED_ALIKE[parent] = (*_NAMED_ALIKE.get(parent, ()), name)
    loader: Any = _MadeLoader()
    return ModuleSpec(fullname, loader, is_package=True)


def _row(module: str) -> str | None:
    """Return the row of ``reexports`` for a module, given by its full name, or None."""
    from .reexports import FILES  # 30 KB that most programs do not need

    return FILES.get(module[len(_PREFIX) :])


@functools.cache
def _sources(row: str) -> dict[str, tuple[str, str]]:
    """Return the sources of the names in a row of ``reexports``, whose syntax is described there.

    Returns:
        By name, the full name of the module that defines it, and its name in that module, which is
        empty for the module itself.
    """
    found = {}
    for clause in filter(None, row.split("; ")):
        source, *names = clause.split()
        module = source
        if source.startswith("/"):  # a module of this package
            module = (_PREFIX + source[1:].replace("/", ".")).rstrip(".")
        for name in names:
            here, renamed, there = name.partition("=")
            found[here] = module, there if renamed else here
    return found


def compute(module: str, own: Any, name: str) -> Any:
    """Return an attribute that is not in a module's namespace.

    Args:
        module: The full name of the module.
        own: The ``__getattr__`` that the module defines, or None. A name that it does not find is
            looked up among the names that PyTorch's file of the module's name imports.
        name: The attribute.

    Raises:
        AttributeError: If neither has the name.
    """
    try:
        if own is not None:
            return own(name)
        raise AttributeError(
            f"module {module!r} has no attribute {name!r}", name=name, obj=sys.modules.get(module)
        )
    except AttributeError:
        found = _ABSENT if name.startswith("__") else import_reexport(module, name)
        if found is _ABSENT:
            raise
        return found


def import_reexport(module: str, name: str, default: Any = _ABSENT) -> Any:
    """Return the value that PyTorch's file of a module's name imports as ``name``.

    Args:
        module: The full name of the module.
        name: The name of the value; a submodule of the name comes first.
        default: The result if there is no such value.
    """
    submodule = import_submodule(module, name)
    if submodule is not None:
        return submodule
    sources = _sources(_row(module) or "")
    if name not in sources:
        return default
    source, name_there = sources[name]
    found = import_module(source)
    return getattr(found, name_there) if name_there else found


_short_compute = short(compute)


def reexport(module: ModuleType) -> None:
    """Give a module a ``__getattr__`` for the names that PyTorch's file of its name imports."""
    names = names_of(module)
    own = names.get("__getattr__")
    if not isinstance(own, functools.partial):
        names["__getattr__"] = functools.partial(_short_compute, module.__name__, own)


def import_submodule(package: str, name: str) -> ModuleType | None:
    """Import a module of a package, or return None if there is none of that name.

    Args:
        package: The package's full name.
        name: The module's own name.
    """
    path = f"{package}.{name}"
    if "__path__" not in names_of(sys.modules[package]):
        return None
    if path in sys.modules or (
        _may_have(package, name) and importlib.util.find_spec(path) is not None
    ):
        return import_module(path)  # which waits for another thread that imports it
    return None


def _may_have(package: str, name: str) -> bool:
    """Whether a package may have a module of a name; if not, the import system is not searched.

    The test is faster than PathFinder, and errs on the side of True.
    """
    names, path = names_of(sys.modules[package]), f"{package}.{name}"
    lazy: _LazyInit | None = names.get("__body__")
    if _row(path) is not None or (lazy is not None and not lazy.begun):
        return True
    for finder in sys.meta_path:
        if type(finder).__module__.startswith(_PREFIX) and not isinstance(finder, _Finder):
            if finder.find_spec(path, names["__path__"]) is not None:
                return True
    try:
        files = [
            entry.partition(".")[0] for path in names["__path__"] for entry in os.listdir(path)
        ]
    except OSError:  # in a zip file
        return True
    return name in files


class _Alias:
    """Loader of an existing module by another name."""

    #: Own specs of the modules. The import system replaces them by the spec of the alias, but
    #: reload and pickle need the own one.
    _specs: dict[str, ModuleSpec | None] = {}

    def __init__(self, name: str) -> None:
        self._name = name

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        # Imported here: a finder runs under the lock of all imports, for which the thread that
        # imports the same module may be waiting.
        module = import_module(self._name)
        self._specs.setdefault(self._name, module.__spec__)
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._specs[self._name]


def alias(fullname: str, name: str) -> ModuleSpec:
    """Return the spec by which ``import fullname`` imports the module ``name``."""
    # Not a subclass of Loader, whose module takes 8 ms to import.
    loader: Any = _Alias(name)
    return ModuleSpec(fullname, loader)


def names_of(module: ModuleType) -> dict[str, Any]:
    """Names that a module holds; ``vars`` of a ``Namespace`` resolves all others first."""
    return _READ_NAMES(module)  # type: ignore[no-any-return]


_READ_NAMES: Any = vars(ModuleType)["__dict__"].__get__
_FILLING = threading.RLock()


class Namespace(NamedModule):
    """Module whose public names are resolved at their first use, or all at once by ``vars``.

    Functions and classes hide modules of the same name.
    """

    @property
    def __dict__(self) -> dict[str, Any]:  # type: ignore[override]
        names = names_of(self)
        with _FILLING:
            if "__filled__" not in names:
                names["__filled__"] = True  # for reads from within
                try:
                    for name in getattr(self, "__all__", None) or dir(self):
                        value = getattr(self, name)
                        if isinstance(value, (FunctionType, type)):  # others may change
                            names.setdefault(name, value)
                except BaseException:
                    del names["__filled__"]
                    raise
        return names

    def __setattr__(self, name: str, value: Any) -> None:
        if not isinstance(value, ModuleType) or name not in _NAMED_ALIKE.get(self.__name__, ()):
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        names = names_of(self)
        return names["__dir__"]() if "__dir__" in names else sorted(names)


class _Loader(SourceFileLoader):
    """Loader that defers the execution of a package; a reload executes it at once."""

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return Namespace(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        code = self.get_code(module.__name__)
        assert code is not None
        lazy: _LazyInit | None = names_of(module).get("__body__")
        if lazy is not None and lazy.begun:
            lazy.execute(code)  # a reload
            return
        module.__doc__ = code.co_consts[0]
        _LazyInit(code, module).install()


class _MadeLoader:
    """Loader of a module of names that are defined elsewhere."""

    def create_module(self, spec: ModuleSpec) -> None:
        """Return None: Python makes the module."""

    def exec_module(self, module: ModuleType) -> None:
        module.__doc__ = "Names of PyTorch's file of this name."
        reexport(module)


class _SilentModule(NamedModule):
    """Module without ``__name__`` among its globals, but with the attribute for others."""

    @property
    def __name__(self) -> str:
        return cast(ModuleSpec, self.__spec__).name

    @__name__.setter
    def __name__(self, name: str) -> None:
        vars(self)["__name__"] = name


class _FileLoader:
    """Loader that calls another one and then completes the module.

    Its functions get short tracebacks, and it gets the names that PyTorch's file of its name
    imports.
    """

    def __init__(self, loader: Any) -> None:
        self._loader = loader

    def __getattr__(self, name: str) -> Any:  # get_source and others
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        names_of(module).pop("__getattr__", None)  # of an earlier run
        self._loader.exec_module(module)
        name = module.__name__
        _shorten(module, _is_public_module)
        reexport(sys.modules[name])  # a file may put another module in its own place


class _SilentLoader(_FileLoader):
    """Loader that also removes the module's ``__name__``, which drops NumPy's warnings."""

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return _SilentModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        super().exec_module(module)
        names_of(module)["__name__"] = None


class _LazyInit:
    """Body of an ``__init__.py``, executed on first access.

    The package has the ``__getattr__`` and ``__dir__`` of this object, which call those that the
    body defines, so that no thread calls these before the whole body has run.
    """

    def __init__(self, code: CodeType, module: ModuleType) -> None:
        self._code = code
        self._module = module
        self._lock = threading.RLock()
        self._own = _BodyNamespace(module)
        self.begun = False

    @classmethod
    def wrap_executed(cls, module: ModuleType) -> None:
        """Install an instance in a package whose body has been executed already."""
        names = names_of(module)
        if "__body__" not in names:
            lazy = cls(compile("", module.__name__, "exec"), module)
            for name in ("__getattr__", "__dir__"):
                if name in names:
                    lazy._own[name] = names[name]
            lazy.begun = True
            lazy.install()

    def install(self) -> None:
        """Set the package's ``__getattr__`` and ``__dir__`` to those of this object."""
        names = names_of(self._module)
        names.update(__body__=self, __getattr__=self.attribute, __dir__=self.listing)

    def attribute(self, name: str) -> Any:
        """Return a module of the package, a name of its body, or a name that it computes."""
        try:
            return self._find(name)
        except Exception as error:
            shorten(error)
            raise

    def _find(self, name: str) -> Any:
        """Return the result of ``attribute``; an error has its whole traceback."""
        package, found = self._module.__name__, names_of(self._module)
        public = not name.startswith("__") and name not in _NAMED_ALIKE.get(package, ())
        if public and PathFinder.find_spec(f"{package}.{name}", self._module.__path__):
            return import_module(f"{package}.{name}")
        self.run()
        if name in found:
            return found[name]
        return compute(package, self._own.get("__getattr__"), name)

    def listing(self) -> list[str]:
        """Return the names that the body lists, or all that it defines."""
        self.run()
        return self._own["__dir__"]() if "__dir__" in self._own else sorted(names_of(self._module))

    def run(self) -> None:
        """Execute the body, or wait until another thread has done so."""
        with self._lock:
            if self.begun:
                return
            self.begun = True
            try:
                self.execute(self._code)
            except BaseException:
                self.begun = False
                raise
            if _is_public(self._module.__name__):
                shorten_namespace(names_of(self._module))

    def execute(self, code: CodeType) -> None:
        """Execute a body in the package's namespace."""
        exec(code, names_of(self._module), self._own)


class _BodyNamespace(dict[str, Any]):
    """Local namespace of a body: holds its ``__getattr__`` and ``__dir__``.

    Other names are stored in the module's namespace, from which they are also read.
    """

    def __init__(self, module: ModuleType) -> None:
        super().__init__()
        self._names = names_of(module)

    def __setitem__(self, name: str, value: Any) -> None:
        if name in ("__getattr__", "__dir__"):
            super().__setitem__(name, value)
        else:
            self._names[name] = value

    def __delitem__(self, name: str) -> None:
        del self._names[name]


def publish(module: str, files: str) -> None:
    """Make a module a package of modules with its names, for PyTorch's files in that package.

    ``fx.node.Node`` is ``fx.Node``. The import system finds the modules in ``sys.modules``, as it
    finds ``os.path``, and does not look for files.

    Args:
        module: The module's ``__name__``; each file gets all names that it defines.
        files: Names of the files, separated by spaces; a file in another is ``"outer.inner"``.
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
